"""Commands that use a model file: score, evaluate, ratios, inspect."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import inputs, options, output

_ROW = ("id", "label", "probability", "lower", "upper", "known_tokens", "tokens")


def score(
    model_file: options.ModelFile,
    paths: options.Documents,
    level: options.Level = 0.95,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rows to this CSV file.")] = None,
    text: options.Text = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Score documents: a row for each, with the credible interval of its label's probability.

    The interval says what the probability could be, given how little was learnt; it is not the chance of being right.
    A table on a terminal, CSV into a pipe or file.

    Example: bayesnb score mail.model inbox/
    """
    from bayesnb import storage, validate

    validate.level(level)
    output.check_targets(out)
    model = storage.load(model_file)
    posterior = model.settings.posterior(model.state)
    reading, rows = inputs.Reading(text, None, format, encoding, quoting, header), []
    skipped: dict[str, int] = {}
    for path in paths:
        with output.working(f"scoring {path}"):
            corpus = reading.unlabelled(path)
            rows += _scored_rows(model, posterior, corpus, level, several=len(paths) > 1)
        skipped |= {f"{path}: {reason}": n for reason, n in corpus.skipped.items()}
    output.note_skipped(skipped)
    if out is not None:
        output.write_csv(out, _ROW, rows)
    if json:
        records = [dict(zip(_ROW, row, strict=True)) for row in rows]
        prior = posterior.prior.describe()
        output.emit_json({"prior": prior, "level": level, "rows": records, "skipped": skipped})
    elif out is not None:
        output.say(f"wrote {out}: {len(rows)} documents")
    elif sys.stdout.isatty():
        shown = [(*row[:2], *map(output.probability, row[2:5]), *row[5:]) for row in rows]
        output.print_table(_ROW, shown, f"{level:.0%} credible intervals; prior: {posterior.prior.describe()}")
    else:
        output.put_csv(sys.stdout, _ROW, rows)


def _scored_rows(model: Any, posterior: Any, corpus: Any, level: float, *, several: bool) -> list[tuple]:
    import numpy as np

    from bayesnb.uncertainty import class_probability_interval

    X, known, total = inputs.counts_for(model, corpus)
    probability = np.exp(posterior.log_proba(X, model.settings.estimate, model.settings.power))
    best = probability.argmax(axis=1)
    interval = class_probability_interval(posterior, X, level, model.settings.power)
    at = np.arange(len(best))
    names = [f"{corpus.source}:{name}" if several and isinstance(name, int) else name for name in corpus.ids]
    ends = interval[at, best]
    labels = posterior.classes[best].tolist()
    columns = (names, labels, probability[at, best], ends[:, 0], ends[:, 1], known.astype(int), total.astype(int))
    return list(zip(*columns, strict=True))


def evaluate(
    model_file: options.ModelFile,
    paths: options.Paths,
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Score labelled documents and report errors, log loss, Brier score and calibration.

    Example: bayesnb evaluate mail.model spam=test/spam ham=test/ham
    """
    from bayesnb import storage
    from bayesnb.evaluation import evaluate as scores

    model = storage.load(model_file)
    posterior = model.settings.posterior(model.state)
    with output.working("scoring"):
        corpus = inputs.Reading(text, label, format, encoding, quoting, header).labelled(paths)
        y = inputs.true_labels(corpus, posterior.classes)
        X, known, total = inputs.counts_for(model, corpus)
        found = scores(y, posterior.log_proba(X, model.settings.estimate, model.settings.power), posterior.classes)
    output.note_skipped(corpus.skipped)
    unknown = 1 - float(known.sum()) / float(total.sum()) if total.sum() else 0.0
    if json:
        extra = {"unknown_token_share": unknown, "prior": posterior.prior.describe(), "skipped": corpus.skipped}
        output.emit_json(found.as_dict() | extra)
        return
    output.say(f"prior: {posterior.prior.describe()}; estimate: {model.settings.estimate}")
    output.say(f"documents {found.documents}, errors {found.errors}, error rate {found.error_rate:.4f}")
    output.say(f"log loss {found.log_loss:z.4f}, Brier score {found.brier:.4f}, calibration error {found.ece:.4f}")
    output.say(f"tokens the model does not know: {unknown:.1%}")
    columns = ("true \\ predicted", *(str(label) for label in found.classes.tolist()))
    rows = [(str(c), *row) for c, row in zip(found.classes.tolist(), found.confusion.tolist(), strict=True)]
    output.print_table(columns, rows)


def ratios(
    model_file: options.ModelFile,
    classes: Annotated[
        tuple[str, str],
        typer.Option("--classes", metavar="NUMERATOR DENOMINATOR", help="Classes; needed where there are not two."),
    ] = ("", ""),
    top: Annotated[int, typer.Option("--top", help="Tokens to show.", min=1)] = 25,
    level: options.Level = 0.95,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every token to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the tokens shown (.png, .svg, .pdf).")] = None,
    json: options.Json = False,
) -> None:
    """Rank tokens by how surely their probabilities differ between two classes, with exact credible intervals.

    Ranked by the end of the interval of phi_numerator / phi_denominator that lies nearest 1.

    Example: bayesnb ratios mail.model --classes spam ham --top 25 --plot ratios.png
    """
    from bayesnb import contrast, storage, validate

    validate.level(level)
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    output.check_targets(csv, plot)
    model = storage.load(model_file)
    posterior = model.settings.posterior(model.state)
    numerator, denominator = _pair(posterior.classes, classes)
    with output.working("ratios"):
        table = contrast.token_ratios(posterior, numerator, denominator, level=level, alpha=model.settings.alpha)
    ranked = contrast.surest_first(table)
    flat = ranked.reset_index()
    if csv is not None:
        output.write_csv(csv, list(flat.columns), flat.to_numpy(dtype=object).tolist())
    if plot is not None:
        from bayesnb.plots import plot_ratios

        _save_figure(plot_ratios(table, top=top), plot)
    prior = posterior.prior.describe()
    if json:
        rows = flat.head(top).to_dict("records")
        extra = {"numerator": numerator, "denominator": denominator, "level": level, "prior": prior}
        output.emit_json(extra | {"rows": rows})
        return
    shown: Any = flat.head(top)
    cells = [
        (
            r.token, f"{r.count_num:g}/{r.total_num:g}", f"{r.count_den:g}/{r.total_den:g}",
            r.ratio_median, r.lower, r.upper, r.prob_greater,
        )
        for r in shown.itertuples()
    ]  # fmt: skip
    output.say(f"phi_{numerator} / phi_{denominator}: posterior median and {level:.0%} interval; prior: {prior}")
    columns = ("token", str(numerator), str(denominator), "median", "lower", "upper", "P(ratio>1)")
    output.print_table(columns, cells)


def _pair(classes: Any, written: tuple[str, str]) -> tuple[Any, Any]:
    if written != ("", ""):
        return inputs.find_label(classes, written[0]), inputs.find_label(classes, written[1])
    if len(classes) != 2:
        raise ValueError(f"name two of the {len(classes)} classes: --classes NUMERATOR DENOMINATOR")
    one, two = classes.tolist()
    return two, one


def _save_figure(figure: Any, path: Path) -> None:
    import io

    from bayesnb import atomic

    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower())
    with output.writing(path):
        atomic.write(path, picture.getvalue())


def inspect(model_file: options.ModelFile, json: options.Json = False) -> None:
    """Show what a model file holds, without loading its arrays.

    Example: bayesnb inspect mail.model
    """
    from bayesnb import storage

    header = storage.inspect(model_file)
    if json:
        output.emit_json(header)
        return
    for name, value in header.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key}: {output.shown(item)}" for key, item in value.items()) or None
        output.say(f"{name:20} {output.shown(value)}")
