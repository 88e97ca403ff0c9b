"""CSV and TSV: polars reads what is plainly well formed, Python's csv decides about the rest.

polars pads short rows, takes a lone CR for text and names no line in its errors. So rows go to it only if every quote
stands in a well-formed quoted field, no CR stands alone and no row can be short (its last column has no nulls). Any
others are read again, strictly, by Python's csv, which either gives the rows or names the line. A file may come in
blocks, which end where a row ends.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from .decoding import LONGEST, utf8_pieces
from .headers import header_names, numbered, width_message
from .records import CorpusError

QUOTING = ("minimal", "none")
_PIECE = 2**22


def read_delimited(
    path: Path, delimiter: str, encoding: str, header: bool, quoting: str, bad: dict[int, str] | None = None
) -> tuple[pl.DataFrame, int]:
    """Read a delimited file as columns of strings, and the number of blank lines in it.

    An empty field is null, whether quoted or not. Without a header the columns are column_1, column_2, ...
    Where `bad` is given, a row of another width is one of nulls, and its number (from 1) and fault go there.

    Raises
    ------
    CorpusError
        Naming the line of a row that is too short or too long, or of a quote that is not closed as it should be.
    """
    return next(iter(delimited_blocks(path, delimiter, encoding, header, quoting, bad=bad)))


def delimited_blocks(
    path: Path,
    delimiter: str,
    encoding: str,
    header: bool,
    quoting: str,
    size: int | None = None,
    bad: dict[int, str] | None = None,
) -> Iterator[tuple[pl.DataFrame, int]]:
    """Read a delimited file as `read_delimited` does, rows of about `size` bytes at a time.

    Raises
    ------
    CorpusError
        As `read_delimited`; and where a row is longer than `LONGEST`.
    """
    if quoting not in QUOTING:
        raise CorpusError(f"quoting must be 'minimal' or 'none', got {quoting!r}")
    form, names, line, rows, blanks = _Form(path, delimiter, quoting), None, 0, 0, 0
    for block, inside in _whole(encoding, form) if size is None else _whole_rows(encoding, form, size):
        body, before = block, line
        line += _lines(block)
        if names is None:
            begin, end, first = next((row for row in form.rows(block, before) if row[2]), (0, 0, []))
            if not first:
                continue
            names = header_names(first, f"{path}, line {begin}", delimiter) if header else numbered(len(first))
            skip = (end if header else begin - 1) - before
            body, before = block[_after(block, skip) :], before + skip
            inside = inside if inside is None or not header else inside - (end - begin)
        frame, blank = _read_plain(body, inside, len(names), form), 0
        if frame is None:
            frame, blank, faults = _read_strictly(body, before, names, form, stop=bad is None)
            if bad is not None:
                bad.update({rows + row: fault for row, fault in faults.items()})
        del block, body
        frame.columns = names
        rows, blanks = rows + frame.height, blanks + blank
        if rows:
            yield _with_nulls(frame), blanks
            blanks = 0
    if names is None:
        raise CorpusError(f"{path} is empty")
    if not rows:
        raise CorpusError(f"{path} has a header but no rows")


@dataclass(frozen=True)
class _Form:
    """A file and how it is written."""

    path: Path
    delimiter: str
    quoting: str

    def rows(self, data: bytes, before: int = 0) -> Iterator[tuple[int, int, list[str]]]:
        """First line, last line and fields of each row, behind some lines; a blank line has no fields."""
        lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
        if self.quoting == "none":
            reader = csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=True)
        else:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        end = before
        while True:
            start = end + 1
            try:
                with _long_fields():
                    row = next(reader, None)
            except csv.Error as error:
                raise _OpenQuoteError(
                    f"{self.path}, line {start}: a quoted field is not closed as it should be (read up to line "
                    f"{before + reader.line_num}): double the quotes inside it, or pass quoting='none'",
                    reader.line_num,
                ) from error
            if row is None:
                return
            end = before + reader.line_num
            yield start, end, row


class _OpenQuoteError(CorpusError):
    """A quote that is not closed as it should be, seen after some lines."""

    def __init__(self, message: str, lines: int = 0) -> None:  # pickle has the message only
        super().__init__(message)
        self.lines = lines


# --- blocks ---------------------------------------------------------------------------------------------------


def _whole(encoding: str, form: _Form) -> Iterator[tuple[bytes, int | None]]:
    """All of a file as one block."""
    data = b"".join(utf8_pieces(form.path, encoding))
    yield data, _newlines_in_quotes(data, len(data), form)


def _whole_rows(encoding: str, form: _Form, size: int) -> Iterator[tuple[bytes, int | None]]:
    """A file in blocks that end where rows end, with what `_newlines_in_quotes` says of each."""
    parts: list[bytes] = []
    line, held, wanted = 0, 0, size
    for piece in _gathered(utf8_pieces(form.path, encoding, min(size, _PIECE)), size):
        parts.append(piece)
        held += len(piece)
        del piece
        if held < wanted:
            continue
        data = b"".join(parts)
        parts.clear()
        end = _last_row_end(data, form)
        inside = _newlines_in_quotes(data, end, form) if 2 * end > len(data) else None
        if inside is None:  # a quote is where none should be: then quotes that are counted do not tell where rows end
            end = _strict_row_end(data, line, form)
        wanted = size
        if end:
            rest, data = data[end:], data[:end]
            line += _lines(data)
            yield data, inside
            data = rest
        elif len(data) <= LONGEST:  # a long row is looked through again only when it has doubled
            wanted = min(2 * len(data), LONGEST + 1)
        else:
            raise CorpusError(
                f"{form.path}, line {line + 1}: a row of more than {LONGEST >> 20} MB; is a quote not closed? "
                "Pass quoting='none' where quotes are plain characters"
            )
        parts, held = [data], len(data)
        del data
    if held:
        data = b"".join(parts)
        yield data, _newlines_in_quotes(data, len(data), form)


def _gathered(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Pieces put together to some size; small ones are decoded, so that what that takes is small."""
    parts: list[bytes] = []
    for piece in pieces:
        parts.append(piece)
        if sum(map(len, parts)) >= size:
            yield b"".join(parts)
            parts = []
    yield b"".join(parts)


def _last_row_end(data: bytes, form: _Form) -> int:
    """Where the last whole row ends, if every quote opens or closes a field; 0 where there is no whole row."""
    end = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
    if form.quoting == "none" or b'"' not in data:
        return end
    quotes = data.count(b'"', 0, end)
    while quotes % 2:
        before = data.rfind(b"\n", 0, data.rfind(b'"', 0, end)) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    return end


def _strict_row_end(data: bytes, before: int, form: _Form) -> int:
    """The same as Python's csv has it, whose word is final."""
    ends, whole = [0], data.endswith(b"\n")
    try:
        for _, end, _ in form.rows(data, before):
            ends.append(end - before)  # one by one: an error keeps those before it
    except _OpenQuoteError as error:
        if error.lines < _lines(data) and len(ends) == 1:  # not for want of more data; rows before it come first
            raise
        whole = True
    return _after(data, ends[-1] if whole else ends[-2] if len(ends) > 1 else 0)


def _lines(data: bytes) -> int:
    """Line ends, as csv counts them."""
    return data.count(b"\n") + sum(1 for _ in re.finditer(rb"\r(?!\n)", data))


def _after(data: bytes, lines: int) -> int:
    """Where the text begins that is behind a number of lines, counted as csv counts them."""
    ends = (found.end() for found in re.finditer(rb"\r\n|\r|\n", data))
    return next(islice(ends, lines - 1, None), len(data)) if lines else 0


# --- rows -----------------------------------------------------------------------------------------------------


def _read_plain(body: bytes, inside: int | None, width: int, form: _Form) -> pl.DataFrame | None:
    """Let polars read rows that it cannot misread; None if it might."""
    if not body or inside is None or re.search(rb"\r(?!\n)", body):
        return None
    if body.endswith(form.delimiter.encode()):  # polars does not see the empty field behind it
        return None
    quotes = form.quoting == "minimal" and b'"' in body
    height = body.count(b"\n") + (not body.endswith(b"\n"))
    try:
        frame = pl.read_csv(
            io.BytesIO(body),
            has_header=False,
            separator=form.delimiter,
            quote_char='"' if quotes else None,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError:
        return None
    # The width is that of the first row; a short row leaves a null in the last column.
    plain = frame.shape == (height - inside, width) and not frame.to_series(-1).null_count()
    return frame if plain else None


def _newlines_in_quotes(data: bytes, end: int, form: _Form) -> int | None:
    """Count newlines in quoted fields; None if a quote does not belong to a field that is closed as it should be."""
    if form.quoting == "none" or data.find(b'"', 0, end) < 0:
        return 0
    # The quote first, then what is before it: the search can then run from quote to quote.
    field = rf'"(?<![^{form.delimiter}\n]")[^"]*+(?:""[^"]*+)*+"(?=[{form.delimiter}\r\n]|\Z)'
    quotes, newlines = 0, 0
    for found in re.compile(field.encode()).finditer(data, 0, end):
        quotes += data.count(b'"', *found.span())
        newlines += data.count(b"\n", *found.span())
    return newlines if quotes == data.count(b'"', 0, end) else None


def _with_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    """Empty fields as nulls; column by column, for a query of all takes a time that grows with the square of them."""
    empty = [(column, column == "") for column in frame]
    return pl.DataFrame([column.set(found, None) if found.any() else column for column, found in empty])


def _read_strictly(
    body: bytes, before: int, names: list[str], form: _Form, *, stop: bool
) -> tuple[pl.DataFrame, int, dict[int, str]]:
    """Read with Python's csv, checking the width of every row; the first fault is an error, or all come back."""
    columns: list[list[str | None]] = [[] for _ in names]
    blank, faults = 0, {}
    for line, end, row in form.rows(body, before):
        if not row:
            blank += 1
            continue
        values: list[str | None] = [*row]
        if len(row) != len(names):
            fault = CorpusError(width_message(form.path, line, end, row, names))
            if stop:
                raise fault
            values, faults[len(columns[0]) + 1] = [None] * len(names), str(fault)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    series = {str(j): pl.Series(column, dtype=pl.String) for j, column in enumerate(columns)}
    return pl.DataFrame(series), blank, faults


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift csv's limit of 131,072 characters a field: mails are longer. The limit is global, hence restored."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)
