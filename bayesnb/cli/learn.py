"""Commands that learn from labelled documents: fit, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import fitting, inputs, options, output, texts


def fit(
    paths: options.Paths,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model file goes.", show_default=False)],
    event: options.Event = "multinomial",
    alpha: options.Alpha = 1.0,
    prior: options.Prior = None,
    class_prior: options.ClassPrior = None,
    estimate: options.Estimate = "map",
    binary: options.Binary = False,
    power: options.Power = "1",
    tokens: options.Tokens = "words",
    ngrams: options.Ngrams = (1, 1),
    min_df: options.MinDf = "1",
    max_features: options.MaxFeatures = None,
    stop_words: options.StopWords = None,
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Fit a model on labelled documents and write its file.

    Tables of texts that are large are read in blocks, so that they need not fit into memory; --power auto looks at
    every document again, and needs them all.

    With --power auto the likelihood is raised to the power, at most 1, that has the largest exact leave-one-out log
    score: tokens are not independent, and class probabilities of long documents are then less often too sure.
    """
    from bayesnb import storage

    given = fitting.settings_from(event, alpha, prior, class_prior, estimate, binary)
    exponent = fitting.power_from(power)
    fitting.check_tokens(tokens)
    of_texts = texts.options_from(ngrams, min_df, max_features, stop_words)
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(out, read=inputs.paths_of(paths))
    if exponent is not None and texts.are_large(paths, reading):
        clf = texts.fitted(paths, reading, event=event, tokens=tokens, power=exponent, **given, **of_texts)
        model, skipped = clf._model(), clf.skipped_
    else:
        counted = fitting.Counted.read(paths, reading, tokens, of_texts, presence=binary or event == "bernoulli")
        with output.working("fitting"):
            model, skipped = counted.fitted(counted.settings(event, given), exponent), counted.corpus.skipped
    with output.writing(out):
        fingerprint = storage.save(model, out)
    output.note_skipped(skipped)
    fitting.note_classes(model.state.classes, model.state.statistics.class_count)
    posterior = model.settings.posterior(model.state)
    fitting.note_zeros(posterior, model.settings.estimate)
    summary = describe_fit(posterior, model.settings)
    summary |= {"power_fitted": exponent is None, "skipped": skipped, "model": str(out), "fingerprint": fingerprint}
    if json:
        output.emit_json(summary)
        return
    say_fit(summary)
    output.say(f"wrote {out} ({fingerprint[:12]})")


def describe_fit(posterior: Any, settings: Any) -> dict[str, Any]:
    """What was learnt, as plain values."""
    seen = posterior.statistics.feature_count.sum(axis=1)
    return {
        "event": posterior.event,
        "estimate": settings.estimate,
        "power": settings.power,
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
    if summary["power"] != 1 or summary.get("power_fitted"):
        fitted = ", fitted by exact leave-one-out" if summary.get("power_fitted") else ""
        output.say(f"the likelihood is raised to the power {summary['power']:.4g}{fitted}")
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
    """Show MLE, Laplace, MAP and posterior mean side by side, and their largest differences."""
    from bayesnb.comparison import compare_estimates
    from bayesnb.model import Settings
    from bayesnb.storage import Model

    # alpha means what it means to the MAP; a prior that is named may have no mode, which is no error here
    estimate = "map" if prior in (None, "laplace") else "mean"
    settings = Settings(event=event, **fitting.settings_from(event, alpha, prior, None, estimate, False))
    fitting.check_tokens(tokens)
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(csv, read=inputs.paths_of(paths))
    counted = fitting.Counted.read(paths, reading, tokens)
    state, corpus = counted.learnt(settings), counted.corpus
    table = compare_estimates(Model(settings, state))
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
        output.say_sentence(str(agreed))
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
    rows = [(*map(output.brief, key), *row) for key, row in zip(*_split(_most_moved(table, top)[columns]), strict=True)]
    output.say(f"prior: {table.attrs['prior']}; the {len(rows)} of {len(table)} estimates that smoothing moves most")
    output.print_table(("class", "token", *columns), rows)
    for name, value in differences.items():
        output.say(f"largest |{name}|: {output.shown(value)}")
    if table["map"].isna().any():
        output.say("map is missing: where a posterior concentration is below 1 there is no mode")


def _split(table: Any) -> tuple[list[tuple], list[list[Any]]]:
    return table.index.tolist(), table.to_numpy().tolist()
