"""Sums of log rising factorials over documents: what integrating phi out makes of their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesnb import kernels
from bayesnb.special import log_rising

_CELLS = 1 << 23  # of the table that is made at once


def log_rising_sums(X: Any, c: np.ndarray, log_c: Callable[[], np.ndarray]) -> np.ndarray:
    """Sum_j log Gamma(c_kj + x_ij) - log Gamma(c_kj), shape (N, K).

    Most counts of a corpus are 1, where a term is log c_kj. The others are few as pairs of a token and a count, whose
    terms are computed once a pair and added up like a document's tokens.

    Parameters
    ----------
    X : csr_array, shape (N, V)
        Counts without duplicates.
    c : ndarray, shape (K, V)
        Concentrations.
    log_c : callable
        Gives log c transposed, (V, K); not asked for where a few documents would not be worth it.
    """
    one = X.data == 1
    if np.count_nonzero(one) >= c.shape[1]:
        total = kernels.score(_of(X, one, np.ones(np.count_nonzero(one), bool)), log_c())
        rest = ~one
        X = _of(X, rest, X.data[rest])
    else:
        total = np.zeros((X.shape[0], len(c)))
    for first, last in _blocks(X, max(1, _CELLS // max(len(c), 1))):
        total[first:last] += _by_pair(X[first:last], c)
    return total


def _of(X: Any, chosen: np.ndarray, data: np.ndarray) -> sparse.csr_array:
    """The chosen entries of X, with these numbers."""
    at = np.flatnonzero(chosen)
    return sparse.csr_array((data, X.indices[at], np.searchsorted(at, X.indptr)), shape=X.shape)


def _blocks(X: Any, entries: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about that many entries in each; those without any are left out."""
    first = 0
    while X.indptr[first] < X.nnz:
        last = max(first + 1, int(np.searchsorted(X.indptr, X.indptr[first] + entries, side="right")) - 1)
        yield first, last
        first = last


def _by_pair(X: Any, c: np.ndarray) -> np.ndarray:
    count, which = np.unique(X.data, return_inverse=True)
    pair, column = np.unique(X.indices.astype(np.int64) * len(count) + which, return_inverse=True)
    table = log_rising(c[:, pair // len(count)], count[pair % len(count)])
    one_each = sparse.csr_array((np.ones(len(column), bool), column, X.indptr), shape=(X.shape[0], len(pair)))
    return kernels.score(one_each, np.ascontiguousarray(table.T))
