"""Documents of files and folders with their answers, and what was counted on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnb.cli import answers, inputs, output
from bayesnb.cli.wording import in_shell_words
from bayesnb.corpus.records import Corpus, TableRows
from bayesnb.evaluation import Drift

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    import numpy as np

UNREADABLE = "whole files that cannot be read"
BAD_ROWS = "rows that cannot be read"
_BATCH = 2**12  # documents between two looks at the progress bar
_SHOWN = ("probability", "lower", "upper")


class Scored:
    """Rows of files and folders, with what was counted on the way.

    Parameters
    ----------
    answering : Answering
        How documents are answered.
    reading : Reading
        How files are read.
    skip : bool
        Whether what cannot be scored is left out and counted; otherwise it is an error.

    Attributes
    ----------
    rows : list of (dict, tuple)
        What each row has before its answer, and the answer: see `Answering.columns`.
    """

    def __init__(self, answering: answers.Answering, reading: inputs.Reading, *, skip: bool) -> None:
        self.answering, self.reading, self.skip = answering, reading, skip
        self.rows: list[tuple[dict[str, Any], tuple]] = []
        self.skipped: Counter[str] = Counter()
        self.drift, self.abstained = Drift(), 0
        self.unreadable = ""  # the first file that could not be read, and why

    def add(self, path: str, *, several: bool) -> None:
        """Score the documents of a path.

        Raises
        ------
        ValueError, OSError
            One cannot be scored and is not to be skipped; it is named by file and row.
        """
        for corpus, table in self._read(path):
            self.skipped.update({f"{path}: {reason}": n for reason, n in corpus.skipped.items()})
            try:
                X, known, total = inputs.counts_for(self.answering.scorer, corpus)
            except ValueError as error:
                self._leave_out(path, corpus.source, str(error), UNREADABLE)
                continue
            _note_empty(corpus)
            with output.progress(f"scoring {path}", len(corpus)) as tell:
                for start in range(0, len(corpus), _BATCH):
                    batch = slice(start, start + _BATCH)
                    self._answer(path, corpus, start, (X[batch], known[batch], total[batch]), _given(
                        corpus, table, batch, self.answering.columns, several=several
                    ))  # fmt: skip
                    tell(start + _BATCH)

    def _answer(
        self, path: str, corpus: Corpus, start: int, documents: tuple[Any, np.ndarray, np.ndarray], given: list[dict]
    ) -> None:
        found = self.answering.rows(*documents)
        for i, reason in found.faults.items():
            self._leave_out(path, inputs.place(corpus, start + i), reason, answers.IMPOSSIBLE)
        self.rows += [(given[i], row) for i, row in zip(found.answered, found.rows, strict=True)]
        self.drift, self.abstained = self.drift + found.drift, self.abstained + found.abstained

    def _read(self, path: str) -> Iterator[tuple[Corpus, TableRows]]:
        """The documents of a path; file by file where a folder holds one that cannot be read and is to be skipped."""
        model = self.answering.scorer.model
        table = TableRows(self.skip, frozenset() if model.tokens else frozenset(map(str, model.state.tokens)))
        try:
            with output.working(f"reading {path}"):
                corpus = self.reading.unlabelled(path, table)
            self._leave_out_rows(path, table)
            yield corpus, table
            return
        except (ValueError, OSError) as error:
            folder = Path(path)
            if not self.skip or not folder.exists():
                raise
            if not folder.is_dir():
                self._leave_out_rows(path, table)
                self._leave_out(path, path, output.one_line(error), UNREADABLE)
                return
        for entry in sorted(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
            yield from self._read(str(entry))

    def _leave_out_rows(self, path: str, table: TableRows) -> None:
        for fault in table.faults.values():
            self._leave_out(path, path, fault, BAD_ROWS)

    def _leave_out(self, path: str, place: str, reason: str, kind: str) -> None:
        message = reason if reason.startswith(place) else f"{place} {reason}"
        if not self.skip:
            raise ValueError(message)
        self.skipped[f"{path}: {kind}"] += 1
        if kind == UNREADABLE:
            self.unreadable = self.unreadable or message
        output.note(in_shell_words(f"left out: {message}"))

    def summary(self) -> dict[str, Any]:
        """What was counted, as plain values."""
        return answers.summary(self.drift, self.abstained, self.skipped)

    def records(self) -> list[dict[str, Any]]:
        """The rows as objects."""
        return [{**given, **dict(zip(self.answering.columns, row, strict=True))} for given, row in self.rows]

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows of a table; what only some rows have is empty in the others."""
        before = list({name: None for given, _ in self.rows for name in given} or ["id"])
        cells = [[output.cell(value) for value in (*map(given.get, before), *row)] for given, row in self.rows]
        return [*before, *self.answering.columns], cells

    def show(self, about: Mapping[str, Any]) -> None:
        """Print a table for people: answers only, for input columns may be of any width."""
        columns = self.answering.columns[: self.answering.columns.index("log_px")]
        rows = [
            [given["id"], *(output.probability(c) if n in _SHOWN else c for n, c in zip(columns, row, strict=False))]
            for given, row in self.rows
        ]
        output.say(f"prior: {about['prior']}")
        title = f"{about['level']:.0%} credible intervals; model {about['fingerprint'][:12]}"
        headings = ["id", *("known" if name == "known_tokens" else name for name in columns)]
        output.print_table(headings, rows, title, gap=2)
        output.say_drift(self.drift)


def _given(corpus: Corpus, table: TableRows, rows: slice, columns: tuple[str, ...], *, several: bool) -> list[dict]:
    """What some rows have before their answers."""
    names = [f"{corpus.source}:{n}" if several and isinstance(n, int) else n for n in corpus.ids[rows]]
    cells = table.cells[rows] if table.cells else [{}] * len(names)
    return [answers.beside(name, row, columns) for name, row in zip(names, cells, strict=True)]


def _note_empty(corpus: Corpus) -> None:
    empty = sum(not text.strip() for text in corpus.texts or ())
    if empty:
        output.note(
            f"{corpus.source}: {empty} of {len(corpus)} documents hold no text; they are answered as empty ones"
        )
