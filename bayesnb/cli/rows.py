"""Rows of a CSV or TSV that comes line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bayesnb.cli import lines
from bayesnb.corpus.headers import DELIMITERS

if TYPE_CHECKING:
    from bayesnb.cli import inputs

_OPEN = "unexpected end of data"  # what csv says of a quote that is not closed


@dataclass(frozen=True)
class Form:
    """How rows are written; see `bayesnb.read_corpus`."""

    delimiter: str
    quoting: str = "minimal"

    def fields(self, row: str) -> list[str]:
        """The fields of a row, which may be of several lines.

        Raises
        ------
        LineError
            A quote stands where none may, or is not closed.
        """
        try:
            rows = list(self._parsed(row))
        except csv.Error as error:
            said = "is not closed" if _OPEN in str(error) else "is not closed as it should be"
            remedy = "double the quotes inside it, or give --quoting none"
            raise lines.LineError(lines.BAD_ROW, f"a quoted field {said}: {remedy}") from None
        if len(rows) != 1:
            raise lines.LineError(lines.BAD_ROW, "a carriage return outside quotes")
        return rows[0]

    def is_open(self, row: bytes) -> bool:
        """Whether a quoted field goes on in the next line."""
        try:
            list(self._parsed(row.decode("latin-1")))  # where quotes and delimiters stand is the same in any encoding
        except csv.Error as error:
            return _OPEN in str(error)
        return False

    def _parsed(self, row: str) -> Iterator[list[str]]:
        quoting: Literal[0, 3] = csv.QUOTE_NONE if self.quoting == "none" else csv.QUOTE_MINIMAL
        before = csv.field_size_limit(lines.LONGEST)
        try:
            text = io.StringIO(row, newline="")
            yield from csv.reader(text, delimiter=self.delimiter, quoting=quoting, strict=True)
        finally:
            csv.field_size_limit(before)  # the limit is global


def whole(
    batches: Iterable[list[tuple[int, bytes | None]]], form: Form, longest: int = lines.LONGEST
) -> Iterator[list[tuple[int, bytes | None]]]:
    """Rows with the number of their first line, each as soon as its last line is there.

    Parameters
    ----------
    batches : iterable of list of (int, bytes or None)
        Lines, as from `lines.batches`.
    form : Form
    longest : int
        Bytes of a row; a longer one comes as None.
    """
    held: list[bytes] = []
    first, size = 0, 0
    for batch in batches:
        rows: list[tuple[int, bytes | None]] = []
        for number, line in batch:
            first = first if held else number
            if line is not None:
                held.append(line)
                size += len(line) + 1
                # within a field only a quote can end it
                if b'"' in line or len(held) > 1:
                    goes_on = form.is_open(b"\n".join(held)) if b'"' in line else True
                    if goes_on and size <= longest:
                        continue
            rows.append((first, None if line is None or size > longest + 1 else b"\n".join(held)))
            held, size = [], 0
        if rows:
            yield rows
    if held:
        yield [(first, b"\n".join(held))]


class Table:
    """Reads the rows of a table as documents.

    Parameters
    ----------
    reader : LineReader
        What makes documents of columns.
    reading : Reading
        Options.

    Attributes
    ----------
    numbers : dict
        Number of each row that came last, by its first line; blank lines are no rows.
    """

    def __init__(self, reader: lines.LineReader, reading: inputs.Reading) -> None:
        self._reader, self._header = reader, reading.header
        self._form = Form(DELIMITERS[str(reading.format)], reading.quoting)
        self._names: list[str] = []
        self.numbers: dict[int, int] = {}
        self._rows = 0

    def rows(self, batches: Iterable[list[tuple[int, bytes | None]]]) -> Iterator[list[tuple[int, bytes | None]]]:
        """Rows behind the header, each as soon as it is whole; ValueError where the header is none."""
        for batch in whole(batches, self._form, lines.LONGEST):
            while batch and not self._names:
                number, raw = batch[0]
                if raw is None or raw.strip():
                    self._begin(number, raw)
                batch = batch[1:] if self._header or not self._names else batch
            there = [number for number, raw in batch if raw is None or raw.strip()]
            self.numbers = {number: row for row, number in enumerate(there, self._rows + 1)}
            self._rows += len(there)
            if batch:
                yield batch

    def line(self, row: str) -> lines.Line:
        """The document of a row; LineError where there is none."""
        fields = self._form.fields(row)
        if len(fields) != len(self._names):
            shown = ", ".join(self._names[:8]) + (", ..." if len(self._names) > 8 else "")
            said = f"{len(fields)} fields where {len(self._names)} are expected ({shown})"
            raise lines.LineError(lines.BAD_ROW, said)
        cells = {name: cell or None for name, cell in zip(self._names, fields, strict=True)}
        text = self._reader.text
        found = self._reader.of_fields(cells if text is None else {**cells, text: cells[text] or ""})
        return replace(found, fields=cells)

    def _begin(self, number: int, raw: bytes | None) -> None:
        """Take the names of the columns from the first row, and see that those that are needed are there."""
        from bayesnb.corpus.headers import header_names, numbered
        from bayesnb.corpus.nearby import suggestion

        place, reader = f"standard input, line {number}", self._reader
        try:
            first = self._form.fields(reader.decoded(raw or b""))
        except lines.LineError as error:
            raise ValueError(f"{place}: {error}") from None
        self._names = header_names(first, place, self._form.delimiter) if self._header else numbered(len(first))
        if reader.reads_texts and reader.text is None:
            reader.text = lines.guessed(self._names, "a table")
        needed = [str(reader.text)] if reader.reads_texts else reader.columns
        missing = next((name for name in needed if name not in self._names), None)
        if missing is not None:
            raise ValueError(f"{place}: there is no column {missing!r}{suggestion(missing, self._names)}")


def looks_like_header(line: str) -> str | None:
    """The format of a table whose header a line may be, for it names a column of texts or labels among others."""
    from bayesnb.corpus.headers import LABEL_NAMES, TEXT_NAMES

    for format, delimiter in DELIMITERS.items():
        names: list[str] = []
        with suppress(lines.LineError):
            names = [name.strip().casefold() for name in Form(delimiter).fields(line)]
        named = {*names} & {*TEXT_NAMES, *LABEL_NAMES}
        if len(names) > 1 and named and all(name and len(name) < 40 and name.count(" ") < 3 for name in names):
            return format
    return None
