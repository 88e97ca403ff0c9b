"""The rows of a table with the values that they hold, to go along with what is said about them."""

from __future__ import annotations

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

import polars as pl

from .decoding import read_bytes, read_text

_LONG = 1000  # digits: Python refuses to read an int of many more


def cells_of(
    frame: pl.DataFrame, path: Path, format: str, encoding: str, rows: list[int], omit: Set[str]
) -> list[dict[str, Any]]:
    """The columns of some rows, counted from 1: strings or None from CSV and TSV, values as JSON has them from others.

    Parameters
    ----------
    frame : polars.DataFrame
        The table as strings.
    path, format, encoding
        The file, for NDJSON and Parquet are read again, with their values.
    rows : list of int
    omit : set of str
        Columns to leave out.
    """
    at = [row - 1 for row in rows]
    if format == "ndjson":
        lines = [line for line in read_text(path, encoding).split("\n") if line.strip()]
        return [{name: cell for name, cell in _object(lines[i]).items() if name not in omit} for i in at]
    if format == "parquet":
        frame = _valued(frame, pl.read_parquet(read_bytes(path)))
    names = [name for name in frame.columns if name not in omit]
    return frame.select(names)[at].to_dicts() if names else [{} for _ in at]


def _object(line: str) -> Any:
    return json.loads(line, parse_constant=lambda name: None, parse_int=_whole)


def _whole(written: str) -> int | str:
    return int(written) if len(written) < _LONG else written


def _valued(frame: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Numbers, booleans, lists and objects as they are, anything else as text; bytes are left out."""
    columns = []
    for name, dtype in table.schema.items():
        if dtype.is_nested():
            cells = [json.loads(json.dumps(cell, default=str)) for cell in table[name].to_list()]
            columns.append(pl.Series(name, cells, dtype=pl.Object))
        elif dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean:
            columns.append(table[name])
        elif dtype not in (pl.Binary, pl.Object):
            columns.append(frame[name])
    return pl.DataFrame(columns)
