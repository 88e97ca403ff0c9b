"""Totals of counts with one document taken out, for all documents in one pass over their cells.

Only the document's own cells of its own class change, so the cost is that of reading the documents once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesnb.events.statistics import _difference
from bayesnb.given import shown


class RowError(ValueError):
    """What is wrong with one row, which may have another number for the caller."""

    def __init__(self, row: int, before: str, after: str) -> None:
        self.row, self._words = row, (before, after)
        super().__init__(f"{before}row {row} {after}")

    def renumbered(self, rows: np.ndarray) -> RowError:
        """The same error where the rows given were these rows of a larger whole."""
        return RowError(int(rows[self.row]), *self._words)


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is left of the totals in the cells of each document, without that document.

    Attributes
    ----------
    row, column : ndarray of int, shape (nnz,)
        Where each cell is.
    own : ndarray of int, shape (nnz,)
        Class of its document.
    x : ndarray, shape (nnz,)
        Its count.
    count : ndarray, shape (nnz,)
        n_kj - w_i x_ij, the class's total without the document.
    n_rows : int
        N.
    """

    row: np.ndarray
    column: np.ndarray
    own: np.ndarray
    x: np.ndarray
    count: np.ndarray
    n_rows: int

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sum of one value a cell over each document, shape (N,)."""
        return np.bincount(self.row, values, self.n_rows)


def remainder(posterior: Any, X: sparse.csr_array, own: np.ndarray, weight: np.ndarray) -> Remainder:
    """Take each document out of its own class; ValueError where the totals do not hold it."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    k, j = own[row], X.indices
    count = _difference(posterior.statistics.feature_count[k, j], weight[row] * X.data)
    if len(count) and count.min() < 0:
        at = int(count.argmin())
        raise not_learnt(posterior, row[at], k[at], j[at])
    return Remainder(row, j, k, X.data, count, X.shape[0])


def class_count(posterior: Any, own: np.ndarray, weight: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Documents of each one's class without it, N_k - w_i, shape (N,); ValueError where that is negative."""
    left = _difference(posterior.statistics.class_count[own], weight)
    if len(left) and left.min() < 0:
        at = int(left.argmin())
        raise ValueError(
            f"row {rows[at]} cannot be left out: class {shown(posterior.classes[own[at]])} weighs less than it "
            "does; give the documents and weights that were learnt"
        )
    return left


def where_some(X: sparse.csr_array, present: np.ndarray, absent: np.ndarray) -> Iterator[tuple[int, int]]:
    """Row and token of documents that have one of the tokens `present`, or lack one of those `absent`, (V,) bool."""
    for cell in np.flatnonzero(present[X.indices] & (X.data > 0)):
        yield int(np.searchsorted(X.indptr, cell, side="right")) - 1, int(X.indices[cell])
    for row in np.flatnonzero(X @ absent.astype(float) < absent.sum()):
        lacked = np.setdiff1d(np.flatnonzero(absent), X.indices[X.indptr[row] : X.indptr[row + 1]])
        yield int(row), int(lacked[0])


def not_learnt(posterior: Any, row: int, k: int, j: int) -> RowError:
    """The error for a document that the totals cannot hold."""
    return RowError(
        int(row),
        "",
        f"cannot be left out: its token {shown(posterior.tokens[j])} is more than was learnt of class "
        f"{shown(posterior.classes[k])}; give the documents and weights that were learnt",
    )


def pseudo_counts(phi: np.ndarray, smoothing: np.ndarray | None, estimate: str) -> np.ndarray:
    """What an estimate of a Dirichlet's cells adds to each count: 0, a - 1 (the mode) or a (the mean)."""
    if estimate == "mle":
        return np.zeros_like(phi)
    if estimate == "map":
        return phi - 1 if smoothing is None else smoothing
    return phi
