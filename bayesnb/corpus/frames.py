"""NDJSON and Parquet as columns of strings."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from .decoding import read_bytes, read_text
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
    columns: dict[str, list[str | None]] = {}
    nested: set[str] = set()
    height, blank = 0, 0
    for number, line in enumerate(read_text(path, encoding).removesuffix("\n").split("\n"), 1):
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
    if not height:
        raise CorpusError(f"{path} is empty")
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
    try:
        frame = pl.read_parquet(data)
        plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype not in _NOT_TEXT]
        numbers = [name for name in plain if frame.schema[name].is_float()]
        return frame.select(plain).with_columns(pl.col(numbers).fill_nan(None)).cast(pl.String)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise CorpusError(f"{path}: not a Parquet file that polars can read: {str(error).splitlines()[0]}") from error


_NOT_TEXT = (pl.Binary, pl.Object)
