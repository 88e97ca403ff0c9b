"""Commands that use a model file: evaluate, ratios, inspect; score has a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from bayesnb.cli import inputs, options, output


def evaluate(
    model_file: options.ModelFile,
    paths: options.Paths,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write how often each class was taken for which to this CSV file.")
    ] = None,
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Score labelled documents and report errors, log loss, Brier score and calibration.

    Documents that the model was learnt from flatter it: report and select leave each of them out in turn.
    Calibration: documents in 15 bins of their top label's probability, how probable it was and how often right. log
    P(x) and the share of unknown tokens need no labels: compare them with those of documents to come.
    """
    from bayesnb.scorer import Scorer

    output.check_targets(csv, read=[model_file, *inputs.paths_of(paths)])
    scorer = Scorer.load(model_file)
    inputs.refuse_categories(scorer)
    with output.working("reading"):
        corpus = inputs.Reading(text, label, format, encoding, quoting, header).labelled(paths)
    found, drift = _evaluated(scorer, corpus)
    output.note_skipped(corpus.skipped)
    prior, settings = scorer.posterior.prior.describe(), scorer.model.settings
    if csv is not None:
        output.write_csv(csv, _CONFUSION, _confusions(found))
    if json:
        extra = {"prior": prior, "fingerprint": scorer.fingerprint, "skipped": corpus.skipped}
        output.emit_json(found.as_dict() | drift.as_dict() | extra)
        return
    power = f"; power: {settings.power:.4g}" if settings.power != 1 else ""
    output.say(f"prior: {prior}; estimate: {settings.estimate}{power}")
    output.say(f"documents {found.documents}, errors {found.errors}, error rate {found.error_rate:.4f}")
    output.say(f"log loss {found.log_loss:z.4f}, Brier score {found.brier:.4f}, calibration error {found.ece:.4f}")
    output.say_drift(drift)
    _say_confusion(found)
    bins = [(f"{b['lower']:.3f} to {b['upper']:.3f}", *list(b.values())[2:]) for b in found.bins if b["documents"]]
    output.print_table(("probability", "documents", "mean", "share right"), bins, "reliability of the top label")


def _evaluated(scorer: Any, corpus: Any) -> tuple[Any, Any]:
    """Scores against the labels, and how well the documents fit the model."""
    from bayesnb.cli.answers import terms
    from bayesnb.evaluation import Drift, evaluate
    from bayesnb.events.base import normalise
    from bayesnb.scorer import joint_and_density

    y, posterior = inputs.true_labels(corpus, scorer.classes), scorer.posterior
    X, known, total = inputs.counts_for(scorer, corpus)
    with output.working("scoring"), inputs.naming_rows(corpus):
        joint, log_px = joint_and_density(posterior, scorer.model.settings, X)
        log_p = normalise(joint)
        drift = Drift(len(y), float(total.sum()), float(known.sum()), terms(posterior, X), float(log_px.sum()))
        return evaluate(y, log_p, posterior.classes), drift


_CONFUSION = ("true", "predicted", "documents")
_WIDEST, _MOST = 8, 15  # classes of a matrix that fits the terminal; else rows of a list


def _confusions(found: Any) -> list[tuple[Any, Any, int]]:
    """Every class, each it was taken for, and how often: the matrix by rows."""
    classes = found.classes.tolist()
    return [(true, taken, found.confusion[i, j]) for i, true in enumerate(classes) for j, taken in enumerate(classes)]


def _say_confusion(found: Any) -> None:
    """Print the matrix of true and predicted classes, or what is most in it."""
    classes = [str(label) for label in found.classes.tolist()]
    if len(classes) <= _WIDEST:
        rows = [(label, *row) for label, row in zip(classes, found.confusion.tolist(), strict=True)]
        output.print_table(("true \\ predicted", *classes), rows)
        return
    wrong = sorted((row for row in _confusions(found) if row[0] != row[1] and row[2]), key=lambda row: -row[2])
    if wrong:
        more = f"; {len(wrong) - _MOST} more in --csv" if len(wrong) > _MOST else ""
        output.print_table(_CONFUSION, wrong[:_MOST], f"what was taken for what most often{more}")


_ALONE = "\0"  # stands in for a second label that was not given: no word of a command line holds it


class OneLabelOrTwo(TyperCommand):
    """A command with one argument whose `--classes` takes one label or two."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give `--classes` the two words that it is declared with."""
        args = [word for given in args for word in _apart(given)]
        if "--classes" not in args:
            return super().parse_args(ctx, args)
        second = args.index("--classes") + 2
        if len(args) < second:
            ctx.fail("Option '--classes' requires one label or two, or 'all'.")
        names = {name for option in self.params for name in option.opts}
        alone = [*args[:second], _ALONE, *args[second:]]
        if len(args) <= second or args[second].partition("=")[0] in names:
            return super().parse_args(ctx, alone)
        # two words follow; where nothing else names the model, the second does
        model = self.make_parser(ctx).parse_args(list(args))[0].get("model_file")
        return super().parse_args(ctx, alone if model is None else args)


def _apart(word: str) -> list[str]:
    name, equals, value = word.partition("=")
    return [name, value] if equals and name == "--classes" else [word]


def ratios(
    model_file: options.ModelFile,
    classes: Annotated[
        tuple[str, str],
        typer.Option(
            "--classes",
            metavar="NUMERATOR [DENOMINATOR]",
            help="Two classes; one, against the others pooled; or 'all', for every pair. Needed unless there are two.",
        ),
    ] = ("", ""),
    top: Annotated[int, typer.Option("--top", help="Tokens to show.", min=1)] = 25,
    level: options.Level = 0.95,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every token to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the tokens shown (.png, .svg, .pdf).")] = None,
    json: options.Json = False,
) -> None:
    """Rank tokens by how surely their probabilities differ between classes, with exact credible intervals.

    Ranked by the end of the interval of phi_numerator / phi_denominator that lies nearest 1.
    """
    from bayesnb import contrast, storage, validate

    validate.level(level)
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    output.check_targets(csv, plot, read=[model_file])
    model = storage.load(model_file)
    posterior = model.settings.posterior(model.state)
    numerator, denominator = _sides(posterior.classes, classes)
    if plot is not None and numerator is None:
        raise ValueError(f"--plot {plot} draws one pair of classes; name them in place of --classes all")
    with output.working("ratios"):
        table = contrast.token_ratios(posterior, numerator, denominator, level=level, alpha=model.settings.alpha)
    flat = contrast.surest_first(table).reset_index()
    if csv is not None:
        output.write_csv(csv, list(flat.columns), flat.to_numpy(dtype=object).tolist())
    if plot is not None:
        from bayesnb.plots import plot_ratios

        output.write_figure(plot, plot_ratios(table, top=top))
    if table.attrs["note"]:
        output.note(table.attrs["note"])
    if json:
        told = {"numerator": None, "denominator": None} | table.attrs
        output.emit_json(told | {"rows": flat.head(top).to_dict("records")})
        return
    _say_ratios(table.attrs, flat.head(top))


def _sides(classes: Any, written: tuple[str, str]) -> tuple[Any, Any]:
    """Numerator and denominator; None for the rest, or for every pair."""
    first, second = written
    if second == _ALONE:
        if first == "all" and "all" not in map(str, classes.tolist()):
            return None, None
        return inputs.find_label(classes, first), None
    if written != ("", ""):
        return inputs.find_label(classes, first), inputs.find_label(classes, second)
    if len(classes) != 2:
        raise ValueError(
            f"there are {len(classes)} classes: name two, --classes NUMERATOR DENOMINATOR; one, against the others; "
            "or --classes all"
        )
    one, two = classes.tolist()
    return two, one


def _say_ratios(told: Mapping[Any, Any], shown: Any) -> None:
    """Print the rows, with the classes of each row where they vary."""
    every, pooled = "numerator" not in told, told.get("pooled")
    pair = ("numerator", "denominator") if every else (str(told["numerator"]), str(told["denominator"]))
    cells = [
        (
            output.brief(r.token), *((f"{r.numerator} / {r.denominator}",) if every else ()),
            f"{r.count_num:g}/{r.total_num:g}", f"{r.count_den:g}/{r.total_den:g}",
            r.ratio_median, r.lower, r.upper, output.probability(r.prob_greater),
        )
        for r in shown.itertuples()
    ]  # fmt: skip
    from bayesnb import validate

    interval = f"posterior median and {validate.percent(told['level'])}% interval; prior: {told['prior']}"
    output.say(f"phi_{pair[0]} / phi_{pair[1]}: {interval}")
    if pooled:
        output.say(f"rest: {', '.join(map(str, pooled))}, pooled as one class")
    counts = ("classes", "n/N", "n/N") if every else pair
    columns = ("token", *counts, "median", "lower", "upper", "P(ratio>1)")
    output.print_table(columns, cells)


def inspect(model_file: options.ModelFile, json: options.Json = False) -> None:
    """Show what a model file holds, without loading its arrays."""
    from bayesnb import storage

    header = storage.inspect(model_file)
    if json:
        output.emit_json(header)
        return
    for name, value in header.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key}: {output.shown(item)}" for key, item in value.items()) or None
        output.say(f"{name:20} {output.shown(value)}")
