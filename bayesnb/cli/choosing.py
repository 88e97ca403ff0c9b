"""The command that chooses a model by exact leave-one-out: select."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesnb.cli import fitting, inputs, options, output

if TYPE_CHECKING:
    from bayesnb.model import Settings
    from bayesnb.selection import Selection

_WEIGHTY = 0.05  # a share of the mixture that is shown wherever its candidate ranks


def select(
    paths: options.Paths,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Fit the best and write its model file.", show_default=False)
    ] = None,
    class_prior: options.ClassPrior = None,
    power: options.Power = "1",
    top: Annotated[int, typer.Option("--top", help="Candidates to show; --csv and --json have all.", min=1)] = 15,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every candidate to this CSV file.")] = None,
    tokens: options.Tokens = "words",
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Rank event models, priors and estimates by exact leave-one-out log score.

    The score is the sum over documents of log P(its label | it, all others), untempered; --power is for the model that
    is written. A difference within some two standard errors (se) says little. The weights are those of the mixture of
    candidates with the largest score.
    """
    from bayesnb import selection, storage

    exponent, known = fitting.power_from(power), fitting.class_prior_from(class_prior)
    fitting.check_tokens(tokens)
    reading = inputs.Reading(text, label, format, encoding, quoting, header)
    output.check_targets(out, csv, read=inputs.paths_of(paths))
    counted = fitting.Counted.read(paths, reading, tokens)
    shares = counted.settings("multinomial", {"class_prior": known}).class_prior
    output.note_skipped(counted.corpus.skipped)
    fitting.note_labels(counted)
    with output.progress("leaving out each document in turn") as tell, inputs.naming_rows(counted.corpus):
        found = selection.select(counted.X, counted.y, class_prior=shares, progress=tell)
    best, rows = found.candidates[0].settings, _rows(found)
    written: dict[str, Any] = {}
    if out is not None:
        model = counted.fitted(best, exponent)
        with output.writing(out):
            written = {"model": str(out), "fingerprint": storage.save(model, out), "power": model.settings.power}
    if csv is not None:
        output.write_csv(csv, list(rows[0]), [list(row.values()) for row in rows])
    command = _command(best, tokens if counted.tokens else None, class_prior)
    if json:
        extra = {"documents": len(counted.y), "classes": found.classes, "skipped": counted.corpus.skipped}
        output.emit_json({**extra, "note": found.note, "rows": rows, "best": rows[0], "fit": command, **written})
        return
    _say(rows, found.note, len(counted.y), top)
    output.say("to fit the best:")
    output.say(f"  {command}")
    if out is not None:
        tempered = f", power {written['power']:.4g}" if exponent != 1 else ""
        output.say(f"wrote {out} ({written['fingerprint'][:12]}){tempered}")


def _rows(found: Selection) -> list[dict[str, Any]]:
    """The ranked table, with each candidate's settings in the words of the options of fit."""
    numbers = found.table.drop(columns=["event", "prior", "estimate"]).reset_index().to_dict("records")
    return [
        {
            "rank": row.pop("rank"),
            "event": candidate.settings.event,
            "binary": candidate.settings.binary,
            "prior": _word(candidate.settings.prior),
            "estimate": candidate.settings.estimate,
            **{str(name): value for name, value in row.items()},
            "prior_described": candidate.row["prior"],
        }
        for candidate, row in zip(found.candidates, numbers, strict=True)
    ]


def _word(prior: Any) -> str:
    return prior if isinstance(prior, str) else f"{prior:g}"


def _command(best: Settings, tokens: str | None, class_prior: str | None) -> str:
    words = ["bayesnb", "fit", "...", "--event", best.event, *(["--binary"] if best.binary else [])]
    words += ["--prior", _word(best.prior), "--estimate", best.estimate]
    words += ["--tokens", tokens] if tokens not in (None, "words") else []
    words += ["--class-prior", class_prior] if class_prior is not None else []
    return " ".join(map(shlex.quote, words))


def _say(rows: list[dict[str, Any]], note: str, documents: int, top: int) -> None:
    best = rows[0]
    output.say(
        f"best of {len(rows)}: leave-one-out log score {output.shown(best['log_score'])} "
        f"(se {output.shown(best['se'])}) over {documents} documents"
    )
    shown = [
        (
            "presence" if row["binary"] else "bernoulli" if row["event"] == "bernoulli" else "counts",
            row["prior"], row["estimate"], row["difference"], row["difference_se"], row["errors"],
            round(row["weight"], 3),
        )
        for row in rows
        if row["rank"] <= top or row["weight"] >= _WEIGHTY
    ]  # fmt: skip
    output.print_table(("event", "prior", "estimate", "to best", "se", "errors", "weight"), shown, gap=2)
    output.say("counts: multinomial; presence: multinomial, --binary")
    if len(shown) > top:
        output.say(f"below the first {top}: those that weigh most in the mixture of all")
    held, colon, what = note.partition(": ")
    output.say(f"{held}:" if colon else held)
    output.say(f"  {what}")
