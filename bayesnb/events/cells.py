"""Cells of the categorical model, a column with one of its categories each, and the totals over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from bayesnb import validate
from bayesnb.events.statistics import CountStatistics

CODE = 1  # of a column of codes 0..max: stays while a larger code of its column does
DECLARED = 2  # stays, whatever its total
UNSEEN = "(unseen)"  # name of the cell that stands for every category not learnt


class Cell(NamedTuple):
    """A column, by its position, with one of its categories."""

    column: int
    category: Any


def as_cells(cells: Iterable[Cell]) -> np.ndarray:
    """Cells as a one-dimensional array of objects, which NumPy would otherwise make two-dimensional."""
    cells = list(cells)
    return np.fromiter(cells, object, len(cells))


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents over cells, with what the cells are.

    Parameters
    ----------
    X : csr_array, shape (N, V)
        1 where the document has the cell, else 0.
    block : ndarray of int, shape (V,)
        Column of each cell.
    flags : ndarray of int, shape (V,), optional
        `CODE`, `DECLARED`, both or neither; see `Statistics`.
    columns : sequence, optional
        Names of the columns (J,).
    """

    X: Any
    block: np.ndarray
    flags: np.ndarray | None = None
    columns: Sequence[Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(N, V)."""
        return self.X.shape

    def __getitem__(self, rows: Any) -> Documents:
        return replace(self, X=self.X[rows])


@dataclass(frozen=True, eq=False)
class Statistics(CountStatistics):
    """Documents by class, and documents that have each cell; see `CountStatistics`.

    Parameters
    ----------
    block : array_like of int, shape (V,)
        Column of each cell; -1 where these documents do not know it, which is none of a whole model's.
    flags : array_like of int, shape (V,), optional
        Which cells stay when their total returns to 0: `CODE` while a larger code of the column stays, `DECLARED`
        always, 0 never. The codes of a column must be in order.
    columns : sequence of str or int, optional
        Names of the columns (J,), of which the last may have no cell; by default their numbers.

    Raises
    ------
    ValueError
        Also where a class would have more values in a column than it has documents.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.categorical import Statistics
    >>> colour_then_size = [0, 0, 1, 1, 1]
    >>> n = Statistics([2, 1], [[2, 0, 1, 1, 0], [0, 1, 0, 0, 1]], colour_then_size, columns=["colour", "size"])
    >>> n.n_columns, n.column_total.tolist()
    (2, [[2.0, 2.0], [1.0, 1.0]])
    """

    block: np.ndarray = None  # type: ignore[assignment]
    flags: np.ndarray = None  # type: ignore[assignment]
    columns: tuple[Any, ...] = None  # type: ignore[assignment]

    def _check(self) -> None:
        v = self.n_tokens
        for name, missing in (("block", -1), ("flags", 0)):
            given = getattr(self, name)
            value = np.full(v, missing) if given is None else np.array(given, np.int64)
            if value.shape != (v,):
                raise ValueError(f"{name} has shape {value.shape}, expected {(v,)}: one a cell")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        columns = range(int(self.block.max(initial=-1)) + 1) if self.columns is None else self.columns
        object.__setattr__(self, "columns", tuple(columns))
        if len(self.block) and not -1 <= self.block.min() <= self.block.max() < self.n_columns:
            raise ValueError(f"block must lie in 0..{self.n_columns - 1}, got {self.block.min()}..{self.block.max()}")
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        # sums of fractional weights differ in their last places by the order of summation
        over = np.argwhere(self.column_total > self.class_count[:, None] * (1 + 1e-9) + 1e-9)
        if len(over):
            k, j = (int(i) for i in over[0])
            raise ValueError(
                f"column {self.columns[j]!r} would have {self.column_total[k, j]:g} values in class {k}, which has "
                f"{self.class_count[k]:g} documents: a document has one category a column"
            )

    @property
    def n_columns(self) -> int:
        """J."""
        return len(self.columns)

    @cached_property
    def member(self) -> sparse.csr_array:
        """Which column each cell is in, as a 0/1 matrix (V, J)."""
        cells = np.flatnonzero(self.block >= 0)
        return sparse.csr_array((np.ones(len(cells)), (cells, self.block[cells])), (self.n_tokens, self.n_columns))

    @cached_property
    def column_total(self) -> np.ndarray:
        """Documents of each class that have a value in each column, N_kj, shape (K, J)."""
        return self.feature_count @ self.member

    @property
    def token_total(self) -> np.ndarray:
        """N_kj laid out over the cells, shape (K, V)."""
        return self.column_total[:, self.block]

    @property
    def held(self) -> np.ndarray:
        """Which cells stay: those of some document, the declared ones, and codes below them; shape (V,), bool."""
        own = self.feature_count.any(axis=0) | (self.flags & DECLARED > 0)
        last = np.full(self.n_columns, -1)
        np.maximum.at(last, self.block[own], np.flatnonzero(own))
        return own | ((self.flags & CODE > 0) & (np.arange(self.n_tokens) < last[self.block]))

    @staticmethod
    def document(X: sparse.csr_array) -> sparse.csr_array:
        """How a row is read: a cell with a count above 0 is there."""
        return validate.presence(X, 0.0, "CategoricalNB")

    @classmethod
    def from_documents(
        cls, X: Any, y: np.ndarray, n_classes: int, sample_weight: Any = None, *, block: Any = None
    ) -> Self:
        """Count documents by class; X is a `Documents`, or 0/1 over cells with the `block` of each.

        Raises
        ------
        ValueError
            As `CountStatistics.from_documents`; or a row has two categories in one column.
        """
        if not isinstance(X, Documents):
            X = Documents(cls.document(validate.counts(X)), block)
        of_none = cls(np.zeros(0), np.zeros((0, X.shape[1])), X.block, X.flags, X.columns)
        of_none.refuse_two_categories(X.X)
        totals = super().from_documents(X.X, y, n_classes, sample_weight)
        return replace(totals, block=of_none.block, flags=of_none.flags, columns=of_none.columns)

    def refuse_two_categories(self, X: sparse.csr_array) -> None:
        """Raise a ValueError where a row of 0/1 has several cells of one column."""
        twice = (X @ self.member).tocoo()
        bad = np.flatnonzero(twice.data > 1)
        if len(bad):
            row, column = int(twice.coords[0][bad[0]]), self.columns[twice.coords[1][bad[0]]]
            raise ValueError(f"row {row} has {twice.data[bad[0]]:g} categories in column {column!r}; it can have one")

    def select(self, classes: np.ndarray, tokens: np.ndarray) -> Self:
        """Totals of some classes and cells only, given as masks or positions."""
        part = super().select(classes, tokens)
        return replace(part, block=self.block[tokens], flags=self.flags[tokens], columns=self.columns)

    def spread(self, classes: np.ndarray, n_classes: int, tokens: np.ndarray, n_tokens: int) -> Self:
        """The same totals laid out over more classes and cells, whose columns these documents do not know."""
        block, flags = np.full(n_tokens, -1), np.zeros(n_tokens, np.int64)
        block[tokens], flags[tokens] = self.block, self.flags
        wide = super().spread(classes, n_classes, tokens, n_tokens)
        return replace(wide, block=block, flags=flags, columns=self.columns)

    def with_unseen(self) -> Self:
        """The same with a last cell a column, which no document has."""
        n = np.concatenate([self.feature_count, np.zeros((self.n_classes, self.n_columns))], axis=1)
        block = np.concatenate([self.block, np.arange(self.n_columns)])
        flags = np.concatenate([self.flags, np.full(self.n_columns, DECLARED)])
        return type(self)(self.class_count, n, block, flags, self.columns)

    def __add__(self, other: Self) -> Self:
        return replace(super().__add__(other), **self._united(other), flags=self.flags | other.flags)

    def __sub__(self, other: Self) -> Self:
        return replace(super().__sub__(other), **self._united(other), flags=self.flags)

    def _united(self, other: Self) -> dict[str, Any]:
        both = (self.block >= 0) & (other.block >= 0)
        if self.columns != other.columns or (self.block[both] != other.block[both]).any():
            raise ValueError(f"the columns differ: {_few(self.columns)} and {_few(other.columns)}")
        return {"block": np.maximum(self.block, other.block), "columns": self.columns}


def _few(columns: tuple[Any, ...]) -> str:
    return f"{len(columns)} columns " + ", ".join(map(repr, columns[:10])) + (", .." if len(columns) > 10 else "")
