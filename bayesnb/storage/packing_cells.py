"""Cells of a categorical model in a file: the categories as UTF-8 beside their columns, and what kind each column has.

What is unpacked is hostile until checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb.events.cells import CODE, DECLARED, Cell, as_cells
from bayesnb.storage.packing import Arrays, as_objects, check_names, check_order, compact, pack_names, texts
from bayesnb.storage.tensorfile import is_count, naming

_READ: dict[str, Any] = {"str": str, "int": int, "bool": {"False": False, "True": True}.__getitem__}


ARRAYS = ("block", "flags")
"""What a file holds of `Statistics` beside its totals, (V,) each."""


def pack(state: Any) -> tuple[dict[str, Any], Arrays]:
    """Columns, by their names or their number, with the type of each one's categories; and arrays of the cells.

    Raises
    ------
    ValueError
        A category is no string, integer or boolean, or a name is no Unicode text.
    """
    tokens, statistics = state.tokens, state.statistics
    columns = statistics.columns
    kinds: list[str | None] = [None] * len(columns)
    for cell in tokens.tolist():
        kinds[cell.column] = type(cell.category).__name__
    named = any(isinstance(name, str) for name in columns)
    packed = {"columns": list(columns) if named else len(columns), "kinds": kinds}
    check(packed, named=named)
    categories = [str(cell.category) for cell in tokens.tolist()]
    for name in categories:
        check_names([name], ordered=False)
    arrays = {name: compact(getattr(statistics, name)) for name in ARRAYS}
    return packed, arrays | pack_names(as_objects(categories))


def check(packed: Any, *, named: bool) -> None:
    """Check the form of what `pack` returns; ValueError where it is wrong."""
    if not (isinstance(packed, dict) and set(packed) == {"columns", "kinds"}):
        raise ValueError("they must be an object of columns and kinds")
    columns, kinds = packed["columns"], packed["kinds"]
    if named:
        if not isinstance(columns, list):
            raise ValueError("columns must be a list of names")
        check_names(columns, ordered=False)
    elif not is_count(columns):
        raise ValueError(f"columns: {columns!r} is no number of columns")
    if not (isinstance(kinds, list) and all(kind is None or (type(kind) is str and kind in _READ) for kind in kinds)):
        raise ValueError("kinds must be a list of str, int, bool and null")
    if len(kinds) != (len(columns) if named else columns):
        raise ValueError("there must be one kind a column")


def unpack(packed: dict[str, Any], arrays: Arrays) -> tuple[np.ndarray, dict[str, Any]]:
    """Inverse of `pack`: the cells, and what `Statistics` needs beside its totals.

    Raises
    ------
    ValueError
        The cells are not in order, or a category is not of its column's type, or the flags do not go with it.
    """
    kinds, columns = packed["kinds"], packed["columns"]
    block, flags = (np.asarray(arrays[name]).astype(np.int64) for name in ARRAYS)
    with naming("tensor 'block'"):
        if not ((block >= 0) & (block < len(kinds))).all() or (np.diff(block) < 0).any():
            raise ValueError(f"it must rise within the {len(kinds)} columns")
    with naming("tensor 'flags'"):
        if not ((flags >= 0) & (flags <= CODE | DECLARED)).all():
            raise ValueError(f"they must lie in 0..{CODE | DECLARED}")
    with naming("tensor 'vocabulary'"):
        cells = [_cell(j, text, kinds[j]) for j, text in zip(block.tolist(), texts(arrays), strict=True)]
        for column in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(block)) + 1):
            _check_column([cells[i].category for i in column], flags[column])
    names = columns if isinstance(columns, list) else range(columns)
    return as_cells(cells), {"block": block, "flags": flags, "columns": names}


def _cell(column: int, text: str, kind: str | None) -> Cell:
    try:
        category = _READ[str(kind)](text)
    except (KeyError, ValueError):
        category = None
    if str(category) != text:
        raise ValueError(f"{text!r} is no category of type {kind} (column {column})")
    return Cell(column, category)


def _check_column(categories: list[Any], flags: np.ndarray) -> None:
    check_order(categories)
    coded = flags & CODE > 0
    if coded.any() and not (coded.all() and categories == list(range(len(categories)))):
        raise ValueError("codes must be 0, 1, .. in their column")
