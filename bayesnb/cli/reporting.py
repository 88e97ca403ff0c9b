"""The command that writes one page about everything: report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesnb.cli import fitting, inputs, options, output, texts
from bayesnb.cli.learn import describe_fit, say_fit
from bayesnb.cli.wording import in_shell_words

if TYPE_CHECKING:
    from bayesnb.checks.agreement import Agreement
    from bayesnb.storage import Model

_SAMPLED_WHOLE = 1_000  # probabilities: some seconds
_SAMPLED = 20  # tokens otherwise, all others lumped into one, which is exact


def report(
    paths: options.Paths,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the page goes.")] = Path("report.html"),
    event: options.Event = "multinomial",
    alpha: options.Alpha = 1.0,
    prior: options.Prior = None,
    class_prior: options.ClassPrior = None,
    estimate: options.Estimate = "map",
    binary: options.Binary = False,
    power: options.Power = "1",
    classes: Annotated[
        tuple[str, str],
        typer.Option("--classes", metavar="NUMERATOR DENOMINATOR", help="Whose tokens to compare.", show_default=False),
    ] = ("", ""),
    level: options.Level = 0.95,
    top: Annotated[int, typer.Option("--top", help="Tokens, estimates and documents shown.", min=1)] = 20,
    sample: Annotated[
        bool, typer.Option("--sample", help="Sample with PyMC, too, and show that both agree (takes seconds).")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --sample.", min=0)] = 0,
    model: Annotated[
        Path | None, typer.Option("--model", help="Write the model file, too.", show_default=False)
    ] = None,
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
) -> int:
    """Write one HTML page about labelled documents and their model; it opens offline.

    The data, the prior and its strength, MLE, Laplace, MAP and mean, token ratios with credible intervals, errors and
    calibration of exact leave-one-out, and the documents it gets wrong and is least sure of, with the reasons.

    Exit status 1 if --sample finds that PyMC and the closed form disagree.
    """
    from bayesnb import report as pages
    from bayesnb import storage, validate

    given = fitting.settings_from(event, alpha, prior, class_prior, estimate, binary)
    exponent = fitting.power_from(power)
    validate.level(level)
    fitting.check_tokens(tokens)
    of_texts = texts.options_from(ngrams, min_df, max_features, stop_words)
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(out, model, read=inputs.paths_of(paths))
    counted = fitting.Counted.read(paths, reading, tokens, of_texts, presence=binary or event == "bernoulli")
    with output.working("fitting"):
        fitted = counted.fitted(counted.settings(event, given), exponent)
    pair = _pair(fitted.state.classes, classes)
    output.note_skipped(counted.corpus.skipped)
    fitting.note_labels(counted)
    tree, agreement = _draws(fitted, seed) if sample else (None, None)
    with output.progress("making the sections") as tell, inputs.naming_rows(counted.corpus):
        page = pages.whole_page(
            fitted, counted.corpus, counted.documents(fitted.settings), classes=pair, level=level, tree=tree,
            agreement=agreement, top=top, wording=in_shell_words, progress=tell,
            footer=pages.footer(seed if sample else None, fingerprint=fitted.fingerprint, tokens=tokens),
        )  # fmt: skip
    with output.progress("drawing the page") as tell:  # before writing, which Ctrl-C has to wait for
        html = pages.render(page, tell)
    output.write_bytes(out, html.encode())
    if model is not None:
        with output.writing(model):
            storage.save(fitted, model)
    _say(out, model, fitted, exponent is None, page.lead, agreement, json)
    return 0 if agreement is None or agreement.passed else 1


def _pair(known: Any, written: tuple[str, str]) -> tuple[Any, Any] | None:
    if written == ("", ""):
        return None
    return inputs.find_label(known, written[0]), inputs.find_label(known, written[1])


def _draws(model: Model, seed: int) -> tuple[Any, Agreement]:
    """Draws of every parameter where they are few, else of the tokens that tell classes apart and the rest as one."""
    from bayesnb import contrast
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample

    posterior: Any = model.settings.posterior(model.state)
    chosen = None
    if posterior.statistics.feature_count.size > _SAMPLED_WHOLE and len(posterior.classes) > 1:
        table = contrast.surest_first(contrast.token_ratios(posterior, *posterior.classes[:2].tolist()))
        chosen = table.index[:_SAMPLED].tolist()
        output.note(f"of {posterior.statistics.n_tokens:,} tokens {_SAMPLED} are sampled, all others lumped into one")
    with output.working("sampling with PyMC"):
        tree = sample(posterior, tokens=chosen, seed=seed)
        return tree, check_agreement(tree, posterior)


def _say(
    out: Path, written: Path | None, model: Model, power_fitted: bool, found: str, agreement: Any, json: bool
) -> None:
    summary = describe_fit(model.settings.posterior(model.state), model.settings) | {"power_fitted": power_fitted}
    if json:
        files = {"report": str(out), "model": None if written is None else str(written), "summary": found}
        agreed = None if agreement is None else {"passed": agreement.passed, "max_z": agreement.max_z}
        output.emit_json(summary | files | {"fingerprint": model.fingerprint, "agreement": agreed})
    else:
        say_fit(summary)
        output.say_sentence(found)
        if agreement is not None:
            output.say_sentence(str(agreement))
        output.say(f"wrote {' and '.join(str(path) for path in (out, written) if path is not None)}")
