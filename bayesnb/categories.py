"""Tables of categories as 0/1 rows over cells, those that they bring or those that a model has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesnb import given
from bayesnb.columns import KINDS, LARGEST_CODE, Column, kind_of
from bayesnb.events.cells import CODE, DECLARED, Cell, Documents, as_cells
from bayesnb.given import shown
from bayesnb.validate import _plain


@dataclass(frozen=True, eq=False)
class Known:
    """The cells that a model has.

    Parameters
    ----------
    cells : ndarray of Cell, shape (V,)
        In the order of columns and categories.
    flags : ndarray of int, shape (V,)
        See `bayesnb.events.cells.Statistics`.
    columns : sequence
        Names of the columns, (J,).
    """

    cells: np.ndarray
    flags: np.ndarray
    columns: Sequence[Any]

    @classmethod
    def of(cls, state: Any) -> Self:
        """The cells of a model's `State`."""
        return cls(state.tokens, state.statistics.flags, state.statistics.columns)

    def places(self) -> list[dict[Any, int]]:
        """Position of each category, a dictionary a column."""
        places: list[dict[Any, int]] = [{} for _ in self.columns]
        for at, cell in enumerate(self.cells.tolist()):
            places[cell.column][cell.category] = at
        return places

    def kinds(self) -> list[tuple[str | None, bool | None]]:
        """Kind of each column, and whether its categories are codes; None and None where it has none yet."""
        kinds: list[tuple[str | None, bool | None]] = [(None, None)] * len(self.columns)
        for cell, flag in zip(self.cells.tolist(), self.flags.tolist(), strict=True):
            kinds[cell.column] = kind_of(cell.category), bool(flag & CODE)
        return kinds


def choice(unseen: Any) -> str:
    """What to do about a category that was not learnt: "skip", "error" or "reserve"; ValueError otherwise."""
    return given.choice(unseen, ("skip", "error", "reserve"), "unseen")


def learn(columns: list[Column], min_categories: Any, known: Known | None) -> tuple[Documents, np.ndarray]:
    """Documents over the cells that they bring, and these cells.

    Parameters
    ----------
    columns : list of Column
    min_categories : None, int or array_like of int, shape (J,)
        Fewest categories of a column of codes.
    known : Known, optional
        What was learnt before: columns must be of the same kind.

    Raises
    ------
    ValueError
        A column is of another kind than before, or `min_categories` does not fit.
    """
    fewest = least(min_categories, len(columns))
    kinds = [(None, None)] * len(columns) if known is None else known.kinds()
    cells: list[Cell] = []
    flags: list[int] = []
    for j, (column, (kind, codes)) in enumerate(zip(columns, kinds, strict=True)):
        _refuse_other_kind(column, kind)
        for category, flag in _categories(column, codes, int(fewest[j])):
            cells.append(Cell(j, category))
            flags.append(flag)
    made = Known(as_cells(cells), np.array(flags, np.int64), [column.name for column in columns])
    block = np.fromiter((cell.column for cell in cells), np.int64, len(cells))
    return Documents(encode(columns, made), block, made.flags, made.columns), made.cells


def least(min_categories: Any, n_columns: int) -> np.ndarray:
    """Fewest categories of each column, shape (J,).

    Raises
    ------
    ValueError
        They are not whole numbers from 1 on, or not one a column.
    """
    if min_categories is None:
        return np.zeros(n_columns, np.int64)
    try:
        fewest = np.asarray(min_categories)
    except ValueError:  # rows of several lengths
        fewest = np.empty(0)
    if fewest.dtype.kind not in "iu" or np.ma.is_masked(min_categories):
        what = f"{fewest.dtype} instead: {shown(min_categories)}"
        raise ValueError(f"'min_categories' should have integral type. Got {what}")
    if fewest.shape not in ((), (n_columns,)):
        raise ValueError(f"'min_categories' should have shape ({n_columns},), one a column. Got {fewest.shape} instead")
    if (fewest < 1).any() or (fewest > LARGEST_CODE).any():
        wrong = fewest.min() if (fewest < 1).any() else fewest.max()
        raise ValueError(f"'min_categories' must be at least 1 and at most {LARGEST_CODE}, got {wrong}")
    return np.broadcast_to(fewest.astype(np.int64), (n_columns,))


def _categories(column: Column, codes: bool | None, fewest: int) -> Iterable[tuple[Any, int]]:
    """Categories that a column brings, sorted, each with its flags; `codes` says what was learnt there before."""
    if column.levels is not None and not codes:
        return [(level, DECLARED) for level in column.levels]
    values = column.values[~column.missing]
    if column.kind not in (None, "number") or codes is False:
        return [(_plain(value), 0) for value in sorted(set(values.tolist()))]
    if column.kind is None:
        values = values.astype(np.int64)
    if values.min(initial=0) < 0:
        what = f"column {shown(column.name)} holds codes, >= 0"
        raise ValueError(f"Negative values in data passed to CategoricalNB: {what}")
    top = max(int(values.max(initial=-1)) + 1, fewest)
    return [(code, CODE | DECLARED * (code < fewest)) for code in range(top)]


def _refuse_other_kind(column: Column, kind: str | None) -> None:
    if None not in (kind, column.kind) and kind != column.kind:
        raise ValueError(
            f"column {shown(column.name)} holds {KINDS[str(column.kind)]}, but {KINDS[str(kind)]} were learnt there"
        )


def refuse_other_kinds(one: Known, other: Known) -> None:
    """Raise a ValueError where a column has strings in one model and numbers in the other, or names and codes."""
    if tuple(one.columns) != tuple(other.columns):
        return  # which says what is wrong when the totals are added
    for name, mine, theirs in zip(one.columns, one.kinds(), other.kinds(), strict=True):
        if None not in (mine[0], theirs[0]) and mine != theirs:
            what = [f"{KINDS[str(kind)]}{' as codes' if codes else ''}" for kind, codes in (mine, theirs)]
            raise ValueError(f"column {shown(name)} holds {what[0]} in one model and {what[1]} in the other")


def encode(columns: list[Column], known: Known, unseen: str = "skip") -> sparse.csr_array:
    """Documents as 0/1 over the known cells; what is missing is absent.

    Parameters
    ----------
    columns : list of Column
    known : Known
    unseen : {"skip", "error", "reserve"}
        A category that is not known: absent, a ValueError, or the cell V + j of its column j.

    Raises
    ------
    ValueError
        A column is of another kind, there are more or fewer of them, or a category is unknown where that is an error.
    """
    v, n = len(known.cells), len(columns[0].values) if columns else 0
    at = np.empty((n, len(columns)), np.int64)
    for j, (column, places, (kind, _)) in enumerate(zip(columns, known.places(), known.kinds(), strict=True)):
        _refuse_other_kind(column, kind)
        at[:, j] = _positions(column.values, places)
        new = (at[:, j] < 0) & ~column.missing
        if unseen == "error" and new.any():
            row = int(np.argmax(new))
            raise ValueError(
                f"category {shown(column.values[row])} of column {shown(column.name)} at row {row} was not learnt; "
                "drop the row, or use unseen='skip' or 'reserve'"
            )
        at[new, j] = v + j if unseen == "reserve" else -1
        at[column.missing, j] = -1
    there = at >= 0
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    width = v + (len(columns) if unseen == "reserve" else 0)
    X = sparse.csr_array((np.ones(indptr[-1]), at[there], indptr), shape=(n, width))
    X.sort_indices()
    return X


def _positions(values: np.ndarray, places: dict[Any, int]) -> np.ndarray:
    """Position of the cell of each value, -1 where there is none."""
    codes = values.dtype != object and list(places) == list(range(len(places))) and values.min(initial=0) >= 0
    if not codes:
        return np.fromiter((places.get(value, -1) for value in values.tolist()), np.int64, len(values))
    table = np.fromiter([*places.values(), -1], np.int64, len(places) + 1)
    return table[np.minimum(values, len(places))]
