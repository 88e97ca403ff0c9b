"""The filter: a line in, a row out, for as long as lines come."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesnb.cli import answers, growing, inputs, interrupts, lines, output
from bayesnb.cli.wording import in_shell_words
from bayesnb.evaluation import Drift


class Filter:
    """Answers lines in order; what went wrong and how well lines fit the model is counted.

    Parameters
    ----------
    answering : Answering
        How documents are answered.
    reader : LineReader
        How lines are read.
    rows : growing.Rows
        Where the rows go.
    skip : bool
        Whether a line that cannot be scored is left out; otherwise it ends the filter.
    """

    def __init__(
        self, answering: answers.Answering, reader: lines.LineReader, rows: growing.Rows, *, skip: bool
    ) -> None:
        self.answering, self.reader, self.rows, self.skip = answering, reader, rows, skip
        self.skipped: Counter[str] = Counter()
        self.drift, self.abstained = Drift(), 0

    def answer(self, batch: list[tuple[int, bytes | None]]) -> None:
        """Write the rows of some lines, and have them leave at once.

        Raises
        ------
        ValueError
            A line cannot be scored and is not to be skipped; the rows before it are written.
        """
        outcomes = self._outcomes(batch)
        try:
            for (number, _), outcome in zip(batch, outcomes, strict=False):
                if isinstance(outcome, lines.LineError):
                    self._leave_out(number, outcome)
                elif outcome is not None:
                    self.rows.put(*outcome)
        finally:
            self.rows.flush()

    def summary(self) -> dict[str, Any]:
        """What was counted so far."""
        return answers.summary(self.drift, self.abstained, self.skipped)

    def _outcomes(self, batch: list[tuple[int, bytes | None]]) -> list[Any]:
        """A row, a LineError, or None for each line; up to the first LineError where that ends the filter."""
        outcomes: list[Any] = []
        for _, raw in batch:
            try:
                outcomes.append(self.reader.read(raw))
            except lines.LineError as error:
                outcomes.append(error)
                if not self.skip:
                    break
        read = [i for i, line in enumerate(outcomes) if isinstance(line, lines.Line)]
        if read:
            found = self._answers([outcomes[i] for i in read])
            faults = {read[j]: lines.LineError(answers.IMPOSSIBLE, reason) for j, reason in found.faults.items()}
            if faults and not self.skip:  # what comes after it is not to be counted
                first = min(faults)
                return [*self._outcomes(batch[:first]), faults[first]]
            for i, fault in faults.items():
                outcomes[i] = fault
            for j, row in zip(found.answered, found.rows, strict=True):
                number = self.reader.number(batch[read[j]][0])
                outcomes[read[j]] = self._row(number, outcomes[read[j]].fields, row)
            self.drift, self.abstained = self.drift + found.drift, self.abstained + found.abstained
        self.skipped[lines.BLANK] += sum(line is None for line in outcomes)
        return outcomes

    def _answers(self, documents: list[lines.Line]) -> answers.Answers:
        import numpy as np
        from scipy import sparse

        scorer = self.answering.scorer
        indptr = np.cumsum([0, *(len(line.counts) for line in documents)])
        columns = np.fromiter((j for line in documents for j in line.counts), np.int64, indptr[-1])
        data = np.fromiter((n for line in documents for n in line.counts.values()), np.float64, indptr[-1])
        X = sparse.csr_array((data, columns, indptr), shape=(len(documents), len(scorer.model.state.tokens)))
        X.sort_indices()
        known = inputs.sizes(scorer, X)
        total = np.array([n if line.tokens is None else line.tokens for n, line in zip(known, documents, strict=True)])
        return self.answering.rows(inputs.documents(scorer, X), known, total)

    def _row(self, number: int, fields: dict[str, Any], row: tuple) -> tuple[dict[str, Any], dict[str, Any]]:
        """Input columns, and the answer, whose names are always the same."""
        answer = dict(zip(self.answering.columns, row, strict=True))
        return answers.beside(number, fields, self.answering.columns), answer

    def _leave_out(self, number: int, error: lines.LineError) -> None:
        if not self.skip:
            raise ValueError(f"standard input, line {number}: {error}")
        self.skipped[error.kind] += 1
        output.note(in_shell_words(f"left out line {number}: {error}"))


def run(
    filter_: Filter, read: Callable[[int], bytes], summary: Path | None, about: dict[str, Any], every: float = 60.0
) -> None:
    """Answer lines until they end; the summary's file is written every so many seconds while lines come, and then."""
    written = time.monotonic()

    def write() -> None:
        if summary is not None:
            output.write_json(summary, {**about, "summary": filter_.summary()})

    try:
        for batch in filter_.reader.documents(lines.batches(read)):
            filter_.answer(batch)
            if time.monotonic() - written > every:
                write()
                written = time.monotonic()
    finally:
        write()


def standard_input() -> Callable[[int], bytes]:
    """What reads standard input: whatever has come, waiting only where nothing has."""
    if sys.stdin is None:
        raise ValueError("standard input is closed; give a path, or send it lines")
    stream: Any = sys.stdin.buffer

    def read(size: int) -> bytes:
        interrupts.end_waiting()
        return stream.read1(size)

    return read
