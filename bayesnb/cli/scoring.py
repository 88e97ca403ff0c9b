"""The command that scores documents: score."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesnb.cli import inputs, options, output

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    from bayesnb.cli.answers import Answering

ON_ERROR = ("fail", "skip")


def score(
    model_file: options.ModelFile,
    paths: options.Documents,
    level: options.Level = 0.95,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            metavar="LABEL=P",
            help="Give this label only where its probability is at least P; else no label. P alone: any label.",
        ),
    ] = None,
    abstain: Annotated[
        float | None,
        typer.Option(
            "--abstain",
            help="Give a label only where the posterior probability that it is the most probable one is at least this.",
            show_default=False,
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            help="fail, or skip: leave out and count what cannot be scored.",
            autocompletion=options.one_of(ON_ERROR),
        ),
    ] = "fail",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the rows to this file: NDJSON if so named, else CSV; - is stdout."),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="Write counts, skips and measures of drift to this JSON file.")
    ] = None,
    text: options.Text = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    quoting: options.Quoting = "minimal",
    header: options.Header = True,
    json: options.Json = False,
) -> None:
    """Score documents: a row for each, with the credible interval of its label's probability.

    The interval says what the probability could be, given how little was learnt; it is not the chance of being right.
    A table on a terminal, CSV into a pipe or file. A row without a label names the most probable class as "best".
    log_px is log P(x) of the known tokens: where it falls, documents have changed.

    The columns of a table come first in its rows. An empty text, as of CSV, is an empty document; rows of NDJSON or
    Parquet that have no text are left out and counted.
    PATH - is a filter: it reads lines, NDJSON, or a table with --format csv or tsv, and answers each at once, its
    columns first, as CSV or, with --json, as a JSON object; its --out grows as rows come. Any other --out is written
    whole or not at all.
    """
    from bayesnb.cli.answers import Answering
    from bayesnb.cli.scored import Scored
    from bayesnb.scorer import Scorer

    inputs.choice("--on-error", on_error, ON_ERROR)
    reading = inputs.Reading(text, None, format, encoding, quoting, header)
    stdout = out is None or str(out) == inputs.STDIN
    target = None if stdout else out
    output.check_targets(target, summary, read=[model_file, *paths])
    scorer = Scorer.load(model_file)
    inputs.refuse_categories(scorer)
    answering = Answering.of(scorer, level, threshold or (), abstain)
    skip = on_error == "skip"
    if inputs.STDIN in paths:
        _filter(answering, paths, reading, target, summary, skip=skip, json=json)
        return
    scored = Scored(answering, reading, skip=skip)
    for path in paths:
        scored.add(path, several=len(paths) > 1)
    output.note_skipped(scored.skipped)
    if scored.unreadable and not scored.rows:
        raise ValueError(f"no document was scored; {scored.unreadable}; to skip single lines, pipe the file into -")
    about = _about(answering)
    found = {**about, "summary": scored.summary()}
    if summary is not None:
        output.write_json(summary, found)
    if target is not None and _is_ndjson(target):
        output.write_ndjson(target, scored.records())
    elif target is not None:
        output.write_csv(target, *scored.table())
    if json:
        output.emit_json({**found, "rows": scored.records(), "skipped": scored.skipped})
    elif target is not None:
        output.say(f"wrote {target}: {len(scored.rows)} documents")
    elif out is None and sys.stdout.isatty():
        scored.show(about)
    else:
        output.put_csv(sys.stdout, *scored.table())


def _filter(
    answering: Answering, paths: list[str], reading: inputs.Reading, target: Path | None, summary: Path | None, *,
    skip: bool, json: bool,
) -> None:  # fmt: skip
    """Answer the lines of standard input."""
    from bayesnb.cli import growing, lines, stream

    if len(paths) > 1:
        raise ValueError("- reads standard input and stands alone; score the other paths by themselves")
    reader, read = lines.LineReader(answering.scorer, reading), stream.standard_input()
    rows = growing.Rows(target, ndjson=json if target is None or _of_no_kind(target) else _is_ndjson(target))
    filter_ = stream.Filter(answering, reader, rows, skip=skip)
    about = _about(answering)
    try:
        stream.run(filter_, read, summary, about)
    finally:
        rows.close()
        output.note_skipped(filter_.summary()["skipped"])
    if target is not None and json:
        output.emit_json({**about, "summary": filter_.summary()})
    elif target is not None:
        output.say(f"wrote {target}: {filter_.drift.documents} documents")


def _is_ndjson(path: Path) -> bool:
    return path.suffix.lower() in (".ndjson", ".jsonl")


def _of_no_kind(path: Path) -> bool:
    return not _is_ndjson(path) and path.suffix.lower() != ".csv"


def _about(answering: Answering) -> dict[str, Any]:
    """What the answers rest on."""
    prior, fingerprint = answering.scorer.posterior.prior.describe(), answering.scorer.fingerprint
    return {"prior": prior, "level": answering.level, "fingerprint": fingerprint}
