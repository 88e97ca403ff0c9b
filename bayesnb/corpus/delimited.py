"""CSV and TSV: polars reads what is plainly well formed, Python's csv decides about the rest.

polars pads short rows, takes a lone CR for text and names no line in its errors. So a file goes to it only if every
quote stands in a well-formed quoted field, no CR stands alone and no row can be short (its last column has no
nulls). Any other file is read again, strictly, by Python's csv, which either gives the rows or names the line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import polars as pl

from .decoding import read_text
from .records import CorpusError

QUOTING = ("minimal", "none")


def read_delimited(path: Path, delimiter: str, encoding: str, header: bool, quoting: str) -> tuple[pl.DataFrame, int]:
    """Read a delimited file as columns of strings, and the number of blank lines in it.

    An empty field is null, whether quoted or not. Without a header the columns are column_1, column_2, ...

    Raises
    ------
    CorpusError
        Naming the line of a row that is too short or too long, or of a quote that is not closed as it should be.
    """
    if quoting not in QUOTING:
        raise CorpusError(f"quoting must be 'minimal' or 'none', got {quoting!r}")
    text = read_text(path, encoding)
    rows = _rows(text, path, delimiter, quoting)
    line, end, first = next(((line, end, row) for line, end, row in rows if row), (0, 0, []))
    if not first:
        raise CorpusError(f"{path} is empty")
    names = _check_names(first, f"{path}, line {line}") if header else [f"column_{j + 1}" for j in range(len(first))]
    body = _after_line(text, end if header else line - 1)
    frame, blank = _read_plain(body, len(names), delimiter, quoting), 0
    if frame is None:
        frame, blank = _read_strictly(text, path, delimiter, quoting, names, header)
    if not frame.height:
        raise CorpusError(f"{path} has a header but no rows")
    frame.columns = names
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all()).name.keep()), blank


def _check_names(names: list[str], place: str) -> list[str]:
    """Header names, each once; columns without a name are numbered."""
    named = [name or f"column_{j + 1}" for j, name in enumerate(names)]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        raise CorpusError(f"{place}: two columns are named {twice[0]!r}: rename one")
    return named


def _after_line(text: str, line: int) -> str:
    """The text behind a number of lines, counted as csv counts them."""
    ends = (found.end() for found in re.finditer(r"\r\n|\r|\n", text))
    return text[next(islice(ends, line - 1, None), len(text)) :] if line else text


def _read_plain(body: str, width: int, delimiter: str, quoting: str) -> pl.DataFrame | None:
    """Let polars read rows that it cannot misread; None if it might."""
    quotes = quoting == "minimal" and '"' in body
    height = body.count("\n") + (not body.endswith("\n"))
    inside = _newlines_in_quotes(body, delimiter) if quotes else 0
    if not body or inside is None or re.search(r"\r(?!\n)", body):
        return None
    try:
        frame = pl.read_csv(
            io.BytesIO(body.encode()),
            has_header=False,
            separator=delimiter,
            quote_char='"' if quotes else None,
            infer_schema=False,
        )
    except (pl.exceptions.PolarsError, UnicodeEncodeError):
        return None
    # The width is that of the first row; a short row leaves a null in the last column.
    plain = frame.shape == (height - inside, width) and not frame.to_series(-1).null_count()
    return frame if plain else None


def _newlines_in_quotes(body: str, delimiter: str) -> int | None:
    """Count newlines in quoted fields; None if a quote does not belong to a field that is closed as it should be."""
    # The quote first, then what is before it: the search can then run from quote to quote.
    field = rf'"(?<![^{delimiter}\n]")[^"]*+(?:""[^"]*+)*+"(?=[{delimiter}\r\n]|\Z)'
    quotes, newlines = 0, 0
    for found in re.finditer(field, body):
        quotes += found.group().count('"')
        newlines += found.group().count("\n")
    return newlines if quotes == body.count('"') else None


def _read_strictly(
    text: str, path: Path, delimiter: str, quoting: str, names: list[str], header: bool
) -> tuple[pl.DataFrame, int]:
    """Read with Python's csv, checking the width of every row."""
    columns: list[list[str]] = [[] for _ in names]
    blank, to_skip = 0, int(header)
    for line, end, row in _rows(text, path, delimiter, quoting):
        if not row:
            blank += 1
        elif to_skip:
            to_skip, blank = 0, 0
        elif len(row) != len(names):
            raise CorpusError(_width_message(path, line, end, row, names))
        else:
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    return pl.DataFrame({str(j): pl.Series(column, dtype=pl.String) for j, column in enumerate(columns)}), blank


def _width_message(path: Path, line: int, end: int, row: list[str], names: list[str]) -> str:
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    remedy = "" if end == line else f"; a quote runs on to line {end}: close it, or pass quoting='none'"
    return f"{path}, line {line}: {len(row)} fields where {len(names)} are expected ({shown}){remedy}"


def _rows(text: str, path: Path, delimiter: str, quoting: str) -> Iterator[tuple[int, int, list[str]]]:
    """First line, last line and fields of each row; a blank line has no fields."""
    lines = io.StringIO(text, newline="")
    if quoting == "none":
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    else:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    end = 0
    while True:
        start = end + 1
        try:
            with _long_fields():
                row = next(reader, None)
        except csv.Error as error:
            raise CorpusError(
                f"{path}, line {start}: a quoted field is not closed as it should be (read up to line "
                f"{reader.line_num}): double the quotes inside it, or pass quoting='none'"
            ) from error
        if row is None:
            return
        end = reader.line_num
        yield start, end, row


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift csv's limit of 131,072 characters a field: mails are longer. The limit is global, hence restored."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)
