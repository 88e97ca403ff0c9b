"""The command that scores documents: score."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesnb.cli import inputs, options, output
from bayesnb.cli.wording import in_shell_words

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    from bayesnb.cli.answers import Answering
    from bayesnb.corpus.records import Corpus
    from bayesnb.evaluation import Drift

ON_ERROR = ("fail", "skip")
UNREADABLE = "whole files that cannot be read"
_BATCH = 2**12  # documents between two looks at the progress bar
_SHOWN = ("probability", "lower", "upper")


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
    log_px is log P(x) of the known tokens: where it falls, documents have changed. PATH - is a filter: it reads lines,
    or NDJSON, and answers each at once, its columns first, as CSV or, with --json, as a JSON object.
    """
    from bayesnb.cli.answers import Answering
    from bayesnb.scorer import Scorer

    inputs.choice("--on-error", on_error, ON_ERROR)
    reading = inputs.Reading(text, None, format, encoding, quoting, header)
    stdout = out is None or str(out) == inputs.STDIN
    target = None if stdout else out
    output.check_targets(target, summary)
    answering = Answering.of(Scorer.load(model_file), level, threshold or (), abstain)
    skip = on_error == "skip"
    if inputs.STDIN in paths:
        _filter(answering, paths, reading, target, summary, skip=skip, json=json)
        return
    scored = _Scored(answering, reading, skip=skip)
    for path in paths:
        scored.add(path, several=len(paths) > 1)
    output.note_skipped(scored.skipped)
    if scored.unreadable and not scored.rows:
        raise ValueError(f"no document was scored; {scored.unreadable}; to skip single lines, pipe the file into -")
    found = scored.summary()
    if summary is not None:
        output.write_json(summary, found)
    if target is not None:
        scored.write(target)
    if json:
        records = [dict(zip(scored.columns, row, strict=True)) for row in scored.rows]
        output.emit_json({**found, "rows": records, "skipped": scored.skipped})
    elif target is not None:
        output.say(f"wrote {target}: {len(scored.rows)} documents")
    elif out is None and sys.stdout.isatty():
        scored.show()
    else:
        output.put_csv(sys.stdout, scored.columns, scored.rows)


def _filter(
    answering: Answering, paths: list[str], reading: inputs.Reading, target: Path | None, summary: Path | None, *,
    skip: bool, json: bool,
) -> None:  # fmt: skip
    """Answer the lines of standard input."""
    from bayesnb.cli import lines, stream

    if len(paths) > 1:
        raise ValueError("- reads standard input and stands alone; score the other paths by themselves")
    reader, read = lines.LineReader(answering.scorer, reading), stream.standard_input()
    rows = output.Rows(target, ndjson=json if target is None or _of_no_kind(target) else _is_ndjson(target))
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


class _Scored:
    """Rows of files and folders, with what was counted on the way."""

    def __init__(self, answering: Answering, reading: inputs.Reading, *, skip: bool) -> None:
        from bayesnb.evaluation import Drift

        self.answering, self.reading, self.skip = answering, reading, skip
        self.columns = ("id", *answering.columns)
        self.rows: list[tuple] = []
        self.skipped: Counter[str] = Counter()
        self.drift: Drift = Drift()
        self.abstained = 0
        self.unreadable = ""  # the first file that could not be read, and why

    def add(self, path: str, *, several: bool) -> None:
        """Score the documents of a path.

        Raises
        ------
        ValueError, OSError
            One cannot be scored and is not to be skipped; it is named by file and row.
        """
        from bayesnb.cli.answers import IMPOSSIBLE

        for corpus in self._read(path):
            self.skipped.update({f"{path}: {reason}": n for reason, n in corpus.skipped.items()})
            try:
                X, known, total = inputs.counts_for(self.answering.scorer, corpus)
            except ValueError as error:
                self._leave_out(path, corpus.source, str(error), UNREADABLE)
                continue
            names = [f"{corpus.source}:{name}" if several and isinstance(name, int) else name for name in corpus.ids]
            with output.progress(f"scoring {path}", len(names)) as tell:
                for start in range(0, len(names), _BATCH):
                    batch = slice(start, start + _BATCH)
                    found = self.answering.rows(X[batch], known[batch], total[batch])
                    for i, reason in found.faults.items():
                        self._leave_out(path, inputs.place(corpus, start + i), reason, IMPOSSIBLE)
                    rows = zip(found.answered, found.rows, strict=True)
                    self.rows += [(names[start + i], *row) for i, row in rows]
                    self.drift, self.abstained = self.drift + found.drift, self.abstained + found.abstained
                    tell(start + _BATCH)

    def _read(self, path: str) -> Iterator[Corpus]:
        """The documents of a path; file by file where a folder holds one that cannot be read and is to be skipped."""
        try:
            with output.working(f"reading {path}"):
                corpus = self.reading.unlabelled(path)
            yield corpus
            return
        except (ValueError, OSError) as error:
            folder = Path(path)
            if not self.skip or not folder.exists():
                raise
            if not folder.is_dir():
                self._leave_out(path, path, output.one_line(error), UNREADABLE)
                return
        for entry in sorted(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
            yield from self._read(str(entry))

    def _leave_out(self, path: str, place: str, reason: str, kind: str) -> None:
        message = reason if reason.startswith(place) else f"{place} {reason}"
        if not self.skip:
            raise ValueError(message)
        self.skipped[f"{path}: {kind}"] += 1
        if kind == UNREADABLE:
            self.unreadable = self.unreadable or message
        output.note(in_shell_words(f"left out: {message}"))

    def summary(self) -> dict[str, Any]:
        """What the answers rest on, and what was counted."""
        from bayesnb.cli import answers

        return {**_about(self.answering), "summary": answers.summary(self.drift, self.abstained, self.skipped)}

    def write(self, path: Path) -> None:
        """Write the rows to a file, whole or not at all."""
        if _is_ndjson(path):
            output.write_ndjson(path, [dict(zip(self.columns, row, strict=True)) for row in self.rows])
        else:
            output.write_csv(path, self.columns, self.rows)

    def show(self) -> None:
        """Print a table for people."""
        shown = self.columns[: self.columns.index("log_px")]
        rows = [
            [output.probability(cell) if name in _SHOWN else cell for name, cell in zip(shown, row, strict=False)]
            for row in self.rows
        ]
        about = _about(self.answering)
        output.say(f"prior: {about['prior']}")
        title = f"{about['level']:.0%} credible intervals; model {about['fingerprint'][:12]}"
        headings = ["known" if name == "known_tokens" else name for name in shown]
        output.print_table(headings, rows, title, gap=2)
        output.say_drift(self.drift)
