"""NDJSON and Parquet as columns of strings."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .decoding import line_blocks, read_bytes, read_head
from .records import CorpusError
from .signatures import kind_of

# Lines that each have other keys would make a table of all keys by all lines, nearly all of it empty.
_FREE_CELLS, _EMPTIEST = 2**22, 100


def read_ndjson(path: Path, encoding: str, bad: dict[int, str] | None = None) -> tuple[pl.DataFrame, int]:
    """Read one JSON object per line as columns of strings, and the number of blank lines.

    Python's json reads it, not polars, whose schema comes from the first hundred lines and which names no line in
    its errors. Numbers are kept as they are written, booleans as they print in JSON. A column that holds a list or
    an object somewhere is one of booleans: where it does. Where `bad` is given, a line that is no object is a row of
    nulls, and its number (from 1) and fault go there.

    Raises
    ------
    CorpusError
        Naming the line that is not a JSON object, names a key twice or holds a lone surrogate.
    """
    return next(iter(ndjson_blocks(path, encoding, bad=bad)))


def ndjson_blocks(
    path: Path, encoding: str, size: int | None = None, bad: dict[int, str] | None = None
) -> Iterator[tuple[pl.DataFrame, int]]:
    """Read lines as `read_ndjson` does, about `size` bytes at a time; each block has the columns that its lines have.

    Raises
    ------
    CorpusError
        As `read_ndjson`.
    """
    line, height, blanks = 0, 0, 0
    for block in line_blocks(path, encoding, size):
        lines = block.decode().removesuffix("\n").split("\n")
        frame, blank, faults = _read_lines(lines, path, line, stop=bad is None)
        if bad is not None:
            bad.update({height + row: fault for row, fault in faults.items()})
        line, height, blanks = line + len(lines), height + frame.height, blanks + blank
        if height:
            yield frame, blanks
            blanks = 0
    if not height:
        raise CorpusError(f"{path} is empty")


def _read_lines(lines: list[str], path: Path, before: int, *, stop: bool) -> tuple[pl.DataFrame, int, dict[int, str]]:
    """Columns of the objects in some lines, the number of blank ones, and faults; the first is an error, or none is."""
    columns: dict[str, list[str | None]] = {}
    nested: dict[str, list[int]] = {}
    faults: dict[int, str] = {}
    height, blank, filled = 0, 0, 0
    for number, line in enumerate(lines, before + 1):
        if not line.strip():
            blank += 1
            continue
        try:
            found = _parse_object(line, f"{path}, line {number}")
        except CorpusError as error:
            if stop:
                raise
            found, faults[height + 1] = {}, str(error)
        for name, value in found.items():
            if isinstance(value, dict | list):
                nested.setdefault(name, []).append(height)
                value = None
            column = columns.setdefault(name, [])
            column.extend([None] * (height - len(column)))
            column.append(value if value is None or isinstance(value, str) else json.dumps(value))
            filled += 1
        height += 1
        if len(columns) * height > max(_FREE_CELLS, _EMPTIEST * filled):
            raise CorpusError(
                f"{path}, line {number}: {len(columns):,} different keys in {height:,} lines: give all lines the same "
                "keys, or only those of text and label"
            )
    series = [
        pl.Series(name, column + [None] * (height - len(column)), dtype=pl.String)
        if name not in nested
        else _marks(name, nested[name], height)
        for name, column in columns.items()
    ]
    return pl.DataFrame(series) if series else pl.DataFrame(height=height), blank, faults


def _marks(name: str, rows: list[int], height: int) -> pl.Series:
    marks = np.zeros(height, bool)
    marks[rows] = True
    return pl.Series(name, marks)


def _parse_object(line: str, place: str) -> dict[str, object]:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        hint = ": write one object per line, {...}"
        raise CorpusError(f"{place}: not JSON: {error.msg} at column {error.colno}{hint}") from error
    except RecursionError as error:
        raise CorpusError(f"{place}: JSON that cannot be read: its lists are nested too deeply") from error
    except ValueError as error:
        raise CorpusError(f"{place}: {error}") from error
    if not isinstance(value, dict):
        raise CorpusError(f"{place}: a JSON {type(value).__name__}: write one object per line, {{...}}")
    if "\\ud" in line.lower():  # only an escape can make one
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise CorpusError(f"{place}: holds a lone surrogate") from error
    return value


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, each of whose keys is there once: Python would take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} is there twice: rename one")
    return found


# NaN and Infinity are missing values. Numbers stay as written: a float has few digits, and an int of many takes long.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_of, parse_constant=lambda name: None, parse_int=str, parse_float=str
)


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file as columns of strings; NaN is null.

    A column of lists, structs or bytes is one of booleans, all true: none of it is text.

    Raises
    ------
    CorpusError
        If polars cannot read it.
    """
    data = read_bytes(path)
    _refuse_other(path, data)
    with _naming(path):
        return _plain(pl.read_parquet(data).lazy()).collect()


def parquet_blocks(path: Path, size: int) -> Iterator[pl.DataFrame]:
    """Read a Parquet file as `read_parquet` does, so many rows at a time as may take `size` bytes.

    Raises
    ------
    CorpusError
        As `read_parquet`.
    """
    _refuse_other(path, read_head(path))
    with _naming(path), path.open("rb") as file:
        # polars takes no name that is not UTF-8, but any file
        source: Any = path if os.fsencode(path).decode(errors="replace") == str(path) else file
        table = _plain(pl.scan_parquet(source, glob=False))
        height = table.select(pl.len()).collect().item()
        # Text packs to about a third. Rows may be long or short, but a block of the average length is what is wanted.
        rows = max(1, size * height // (3 * path.stat().st_size))
        for start in range(0, max(height, 1), rows):
            yield from _parts(table.slice(start, rows).collect(), size)


def _parts(frame: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Rows of a frame in parts of some `size` bytes, where text that repeats was packed to much less than a third."""
    strings = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    lengths = frame.select(pl.sum_horizontal(pl.lit(0), pl.col(strings).str.len_bytes())).to_series().cast(pl.Int64)
    if lengths.sum() <= 4 * size:
        yield frame
        return
    part = lengths.cum_sum().to_numpy() // size
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), frame.height]
    for start, end in pairwise(bounds):
        yield frame[start:end]


def _refuse_other(path: Path, head: bytes) -> None:
    if not head:
        raise CorpusError(f"{path} is empty")
    if not head.startswith(b"PAR1"):
        kind = kind_of(head)
        said = f"it is {kind[0]}: {kind[1]}" if kind else "if it is another table, pass its format="
        raise CorpusError(f"{path}: not a Parquet file; {said}")


def _plain(table: pl.LazyFrame) -> pl.LazyFrame:
    """The columns that can be read as strings, and which cannot."""
    columns = []
    for name, dtype in table.collect_schema().items():
        column = pl.col(name)
        if dtype.is_nested() or dtype in _NOT_TEXT:
            columns.append(pl.lit(True).alias(name))  # what is in it is not read
        elif dtype.is_float():  # infinity is no text either, but a number beyond all bounds
            text = pl.when(column.is_infinite()).then(pl.lit("1e999")).otherwise(column.fill_nan(None).cast(pl.String))
            columns.append(text.alias(name))
        else:
            columns.append(column.cast(pl.String))
    return table.with_columns(columns)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CorpusError(
            f"{path}: not a Parquet file that polars can read: {said}; if it was cut short, copy it again"
        ) from error


_NOT_TEXT = (pl.Binary, pl.Object)
