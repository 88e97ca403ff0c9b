"""Commands that learn from labelled documents: fit, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import inputs, options, output


def fit(
    paths: options.Paths,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model file goes.", show_default=False)],
    event: options.Event = "multinomial",
    alpha: options.Alpha = 1.0,
    prior: options.Prior = None,
    class_prior: options.ClassPrior = None,
    estimate: options.Estimate = "map",
    binary: options.Binary = False,
    tokens: options.Tokens = "words",
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Fit a model on labelled documents and write its file.

    Example: bayesnb fit spam=mail/spam ham=mail/ham -o mail.model
    """
    given = inputs.settings_from(event, alpha, prior, class_prior, estimate, binary)
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(out)
    with output.working("reading and counting"):
        corpus = reading.labelled(paths)
        clf = inputs.fitted(corpus, event, tokens, given)
    with output.writing(out):
        fingerprint = clf.save(out)
    output.note_skipped(corpus.skipped)
    summary = describe_fit(clf) | {"skipped": corpus.skipped, "model": str(out), "fingerprint": fingerprint}
    if json:
        output.emit_json(summary)
        return
    say_fit(summary)
    output.say(f"wrote {out} ({fingerprint[:12]})")


def describe_fit(clf: Any) -> dict[str, Any]:
    """What was learnt, as plain values."""
    posterior = clf.posterior_
    seen = posterior.statistics.feature_count.sum(axis=1)
    return {
        "event": posterior.event,
        "estimate": clf.estimate,
        "prior": posterior.prior.describe(),
        "prior_strength": posterior.prior.strength,
        "documents": posterior.statistics.class_count.sum(),
        "vocabulary": posterior.statistics.n_tokens,
        "classes": [
            {"label": label, "documents": n, "tokens": m}
            for label, n, m in zip(posterior.classes.tolist(), posterior.statistics.class_count, seen, strict=True)
        ],
    }


def say_fit(summary: dict[str, Any]) -> None:
    """Print what was learnt, for people."""
    what = "tokens" if summary["event"] == "multinomial" else "token presences"
    rows = [(c["label"], c["documents"], c["tokens"]) for c in summary["classes"]]
    output.print_table(("class", "documents", what), rows)
    output.say(f"{summary['vocabulary']} distinct tokens; event model: {summary['event']}")
    output.say(f"prior: {summary['prior']}; estimate: {summary['estimate']}")
    strength = output.plain(summary["prior_strength"])
    strongest = max(strength) if isinstance(strength, list) else strength
    unit = "tokens" if summary["event"] == "multinomial" else "documents for each token"
    output.say(f"the prior weighs as much as {strongest:.6g} {unit} a class")


def compare(
    paths: options.Paths,
    event: options.Event = "multinomial",
    alpha: options.Alpha = 1.0,
    prior: options.Prior = None,
    top: Annotated[int, typer.Option("--top", help="Rows to show; --csv writes all.", min=0)] = 20,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every row to this file.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Add PyMC's posterior mean (takes seconds).")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --sample.")] = 0,
    tokens: options.Tokens = "words",
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> int:
    """Show MLE, Laplace, MAP and posterior mean side by side, and their largest differences.

    Example: bayesnb compare spam=mail/spam ham=mail/ham
    """
    from bayesnb.comparison import compare_estimates
    from bayesnb.model import Settings

    # alpha means what it means to the MAP; a prior that is named may have no mode, which is no error here
    estimate = "map" if prior in (None, "laplace") else "mean"
    settings = Settings(event=event, **inputs.settings_from(event, alpha, prior, None, estimate, False))
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(csv)
    with output.working("reading and counting"):
        corpus = reading.labelled(paths)
        state = inputs.learnt(corpus, settings, tokens)
    table = compare_estimates(settings, state)
    agreed = _add_sampled(table, settings.posterior(state), seed) if sample else None
    output.note_skipped(corpus.skipped)
    if csv is not None:
        flat = table.reset_index()
        output.write_csv(csv, list(flat.columns), flat.to_numpy(dtype=object).tolist())
    differences = _differences(table)
    if json:
        shown = _most_moved(table, top).reset_index().to_dict("records")
        output.emit_json({"prior": table.attrs["prior"], "largest_differences": differences, "rows": shown})
    else:
        _say_comparison(table, differences, top)
    if agreed is not None and not json:
        output.say(str(agreed))
    return 0 if agreed is None or agreed.passed else 1


def _add_sampled(table: Any, posterior: Any, seed: int) -> Any:
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample

    with output.working("sampling with PyMC"):
        tree = sample(posterior, seed=seed)
        agreement = check_agreement(tree, posterior)
    table["pymc_mean"] = tree["posterior"]["phi"].mean(("chain", "draw")).to_numpy().ravel()
    return agreement


def _differences(table: Any) -> dict[str, float]:
    pairs = {"map - laplace": ("map", "laplace"), "mean - map": ("mean", "map"), "mle - laplace": ("mle", "laplace")}
    if "pymc_mean" in table:
        pairs["pymc mean - mean"] = ("pymc_mean", "mean")
    return {name: float((table[a] - table[b]).abs().max()) for name, (a, b) in pairs.items()}


def _most_moved(table: Any, top: int) -> Any:
    moved = (table["laplace"] - table["mle"]).abs()
    return table.loc[moved.sort_values(ascending=False, kind="stable").index[:top]]


def _say_comparison(table: Any, differences: dict[str, float], top: int) -> None:
    columns = [name for name in table.columns if name not in ("total", "map_minus_laplace")]
    rows = [(*key, *row) for key, row in zip(*_split(_most_moved(table, top)[columns]), strict=True)]
    output.say(f"prior: {table.attrs['prior']}; the {len(rows)} of {len(table)} estimates that smoothing moves most")
    output.print_table(("class", "token", *columns), rows)
    for name, value in differences.items():
        output.say(f"largest |{name}|: {output.shown(value)}")


def _split(table: Any) -> tuple[list[tuple], list[list[Any]]]:
    return table.index.tolist(), table.to_numpy().tolist()
