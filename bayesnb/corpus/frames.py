"""NDJSON and Parquet as columns of strings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from .decoding import line_blocks, read_bytes, refuse_missing
from .records import CorpusError


def read_ndjson(path: Path, encoding: str) -> tuple[pl.DataFrame, int]:
    """Read one JSON object per line as columns of strings, and the number of blank lines.

    Python's json reads it, not polars, whose schema comes from the first hundred lines and which names no line in
    its errors. Numbers and booleans are kept as they print in JSON; fields that hold lists or objects are left out.

    Raises
    ------
    CorpusError
        Naming the line that is not a JSON object or holds a lone surrogate.
    """
    return next(iter(ndjson_blocks(path, encoding)))


def ndjson_blocks(path: Path, encoding: str, size: int | None = None) -> Iterator[tuple[pl.DataFrame, int]]:
    """Read lines as `read_ndjson` does, about `size` bytes at a time; each block has the columns that its lines have.

    Raises
    ------
    CorpusError
        As `read_ndjson`.
    """
    line, height, blanks = 0, 0, 0
    for block in line_blocks(path, encoding, size):
        lines = block.decode().removesuffix("\n").split("\n")
        frame, blank = _read_lines(lines, path, line)
        line, height, blanks = line + len(lines), height + frame.height, blanks + blank
        if height:
            yield frame, blanks
            blanks = 0
    if not height:
        raise CorpusError(f"{path} is empty")


def _read_lines(lines: list[str], path: Path, before: int) -> tuple[pl.DataFrame, int]:
    """Columns of the objects in some lines, and the number of blank ones."""
    columns: dict[str, list[str | None]] = {}
    nested: set[str] = set()
    height, blank = 0, 0
    for number, line in enumerate(lines, before + 1):
        if not line.strip():
            blank += 1
            continue
        for name, value in _parse_object(line, f"{path}, line {number}").items():
            if isinstance(value, dict | list):
                nested.add(name)
                value = None
            column = columns.setdefault(name, [])
            column.extend([None] * (height - len(column)))
            column.append(value if value is None or isinstance(value, str) else json.dumps(value))
        height += 1
    series = [
        pl.Series(name, column + [None] * (height - len(column)), dtype=pl.String)
        for name, column in columns.items()
        if name not in nested
    ]
    return pl.DataFrame(series), blank


def _parse_object(line: str, place: str) -> dict[str, object]:
    try:
        value = json.loads(line, parse_constant=lambda name: None)  # NaN is a missing value
    except json.JSONDecodeError as error:
        raise CorpusError(f"{place}: not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{place}: JSON that cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise CorpusError(f"{place}: a JSON {type(value).__name__}: write one object per line, {{...}}")
    if "\\ud" in line.lower():  # only an escape can make one
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise CorpusError(f"{place}: holds a lone surrogate") from error
    return value


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file as columns of strings; lists, structs and bytes are left out, NaN is null.

    Raises
    ------
    CorpusError
        If polars cannot read it.
    """
    data = read_bytes(path)
    if not data:
        raise CorpusError(f"{path} is empty")
    with _naming(path):
        return _plain(pl.read_parquet(data).lazy()).collect()


def parquet_blocks(path: Path, size: int) -> Iterator[pl.DataFrame]:
    """Read a Parquet file as `read_parquet` does, so many rows at a time as may take `size` bytes.

    Raises
    ------
    CorpusError
        As `read_parquet`.
    """
    refuse_missing(path)
    if not path.stat().st_size:
        raise CorpusError(f"{path} is empty")
    with _naming(path):
        table = _plain(pl.scan_parquet(path, glob=False))
        height = table.select(pl.len()).collect().item()
    # Text packs to about a third. Rows may be long or short, but a block of the average length is what is wanted.
    rows = max(1, size * height // (3 * path.stat().st_size))
    for start in range(0, max(height, 1), rows):
        with _naming(path):
            frame = table.slice(start, rows).collect()
        yield frame


def _plain(table: pl.LazyFrame) -> pl.LazyFrame:
    """The columns that can be read as strings."""
    schema = table.collect_schema()
    plain = [name for name, dtype in schema.items() if not dtype.is_nested() and dtype not in _NOT_TEXT]
    numbers = [name for name in plain if schema[name].is_float()]
    return table.select(plain).with_columns(pl.col(numbers).fill_nan(None)).cast(pl.String)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise CorpusError(f"{path}: not a Parquet file that polars can read: {str(error).splitlines()[0]}") from error


_NOT_TEXT = (pl.Binary, pl.Object)
