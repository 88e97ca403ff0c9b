"""The hot passes over sparse counts: totals by class, and sums of a table's rows for each document.

Small input goes through SciPy, large input through compiled loops (`bayesnb.loops`) that read counts as they are
stored, in several threads; numba is imported with the first large input only. Both ways add in the order of the entries
and in float64, so that their answers are the same to the last bit wherever the processor rounds each product.

Threads are started for a call and end with it: nothing is held that a forked process could be left without. Their
number is `BAYESNB_NUM_THREADS`, else `OMP_NUM_THREADS`, else the processors this process may use, eight at most.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

STORED = [np.dtype(kind) for kind in (bool, np.uint8, np.int32, np.int64, np.float32, np.float64)]
"""Types of entries that are read as they are."""
ALONE = 1 << 22  # entries from which numba's import of half a second is worth its while
LOADED = 1 << 16  # the same once it is imported
PART = 1 << 18  # fewest entries worth a thread
_BLOCK = 1 << 16  # values judged at once: they stay in the cache of one core
_FEW = 4  # classes
_TURNS = 4
_MOST_THREADS = 8  # more wait for memory


def threads() -> int:
    """How many threads a large pass may use.

    Raises
    ------
    ValueError
        ``BAYESNB_NUM_THREADS`` is set to something other than a number above 0.
    """
    asked = os.environ.get("BAYESNB_NUM_THREADS", "").strip()
    if asked:
        if not (asked.isdecimal() and int(asked)):
            raise ValueError(f"BAYESNB_NUM_THREADS must be a whole number above 0, got {asked!r}")
        return int(asked)
    shared = os.environ.get("OMP_NUM_THREADS", "").strip()  # what joblib tells the processes it starts
    if shared.isdecimal() and int(shared):
        return min(int(shared), _MOST_THREADS)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_THREADS)


def compiled(X: Any) -> Any:
    """The compiled loops where X has entries enough for them and numba can be imported, else None."""
    if X.nnz < (LOADED if "bayesnb.loops" in sys.modules else ALONE):
        return None
    try:
        from bayesnb import loops
    except ImportError:  # numba refuses a NumPy newer than itself: slower, and right
        return None
    return loops


def within(values: np.ndarray, least: float, most: float) -> bool:
    """Whether all values lie between two ends, NaN nowhere, in one pass over memory."""
    if values.dtype.kind in "bu" and least <= 0:
        return True
    whole = values.dtype.kind == "i"  # no whole number is beyond the ends we know

    def judged(start: int, stop: int) -> bool:
        for at in range(start, stop, _BLOCK):
            block = values[at : min(at + _BLOCK, stop)]
            if not (float(block.min()) >= least and (whole or float(block.max()) <= most)):
                return False
        return True

    return all(_each(judged, _cut(len(values))))


def count(X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Totals of documents by class.

    Parameters
    ----------
    X : csr_array, shape (N, V)
        Counts of any real type; duplicate entries add up.
    codes : ndarray of int, shape (N,)
        Class of each document, 0..K-1.
    n_classes : int
        K.
    weight : ndarray of float64, shape (N,), optional
        Weight of each document.

    Returns
    -------
    ndarray, shape (K, V)
        Of float64. The same whatever the number of threads: they share no sum unless every term is a whole number.

    Raises
    ------
    ValueError
        The row pointers or column indices of X are invalid.
    """
    loops = compiled(X)
    if loops is None:
        return _count_by_scipy(X, codes, n_classes, weight)
    arrays, codes = _arrays(X), np.asarray(codes, np.int64)
    whole = weight is None and X.data.dtype.kind in "biu"  # such sums may be taken apart without changing a digit
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, np.float64)
    total = np.zeros((n_classes, X.shape[1]))
    shares = _shares(X, codes, n_classes, by_rows=whole and total.size <= X.nnz)
    tables = [np.zeros_like(total) if own else total for _, own in shares]

    def add(rows: np.ndarray, table: np.ndarray) -> int:
        return loops.count(*arrays, _fixed(rows), _fixed(codes), _fixed(weight), table)

    _refuse_outside(_each(add, [(rows, table) for (rows, _), table in zip(shares, tables, strict=True)]), X)
    for table in tables:
        if table is not total:
            total += table
    return total


def score(X: Any, table: np.ndarray) -> np.ndarray:
    """X @ table, shape (N, K): sums of each document's counts times the tokens' rows of a (V, K) table of float64.

    Raises
    ------
    ValueError
        The row pointers or column indices of X are invalid.
    """
    loops = compiled(X)
    if loops is None:
        return X @ table
    total = np.empty((X.shape[0], table.shape[1]))
    _over_rows(X, lambda arrays, *ends: loops.score(*arrays, _fixed(table), *ends, total))
    return total


def difference(X: Any, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X @ column, shape (N,), and the length of each document; errors as `score`."""
    loops = compiled(X)
    if loops is None:
        both = X @ np.stack([column, np.ones_like(column)], axis=1)
        return both[:, 0], both[:, 1]
    total, length = np.empty(X.shape[0]), np.empty(X.shape[0])
    _over_rows(X, lambda arrays, *ends: loops.difference(*arrays, _fixed(column), *ends, total, length))
    return total, length


def leader(
    X: Any, table: np.ndarray, base: np.ndarray, power: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where base + power * (X @ table) is largest in each row, without holding the (N, K) matrix; errors as `score`.

    Returns
    -------
    best : ndarray of int, shape (N,)
        The first position of the largest value.
    top, gap : ndarray, shape (N,)
        That value, and how far the next one is below it.
    """
    loops = compiled(X)
    if loops is None:
        return _leader(X @ table, base, power)
    n = X.shape[0]
    best, top, gap = np.empty(n, np.int64), np.empty(n), np.empty(n)
    fixed = _fixed(table), _fixed(base), float(power)
    _over_rows(X, lambda arrays, *ends: loops.leader(*arrays, *fixed, *ends, best, top, gap))
    return best, top, gap


def _leader(values: np.ndarray, base: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values *= power
    values += base
    best, rows = values.argmax(axis=1), np.arange(len(values))
    top = values[rows, best]
    values[rows, best] = -np.inf
    return best, top, top - values.max(axis=1, initial=-np.inf)


def _count_by_scipy(X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None) -> np.ndarray:
    from scipy import sparse

    n = X.shape[0]
    weight = np.ones(n) if weight is None else weight
    if n_classes <= _FEW:  # a dense membership adds zeros too, which is less than what a sparse product takes
        dense = np.zeros((n, n_classes))
        dense[np.arange(n), codes] = weight
        return np.array((X.T @ dense).T, order="C")
    member = sparse.csr_array((weight, (codes, np.arange(n))), shape=(n_classes, n))
    return (member @ X).toarray()


# --- sharing the work out ---------------------------------------------------------------------------------------


def _each(work: Callable[..., Any], parts: Sequence[tuple]) -> list[Any]:
    """What the work makes of each part; this thread and others take the next one as long as there are any."""
    found: list[Any] = [None] * len(parts)
    left = deque(enumerate(parts))

    def take() -> None:
        while left:
            try:
                at, part = left.popleft()
            except IndexError:  # another thread was quicker
                return
            found[at] = work(*part)

    helpers = min(threads(), len(parts)) - 1
    if helpers < 1:
        take()
        return found
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(helpers) as pool:
        helping: list[Any] = []
        with suppress(RuntimeError):  # no thread can be started, as while the interpreter ends: this one does it all
            helping.extend(pool.submit(take) for _ in range(helpers))
        take()
        for one in helping:
            one.result()
    return found


def _cut(n: int, turns: int = _TURNS) -> list[tuple[int, int]]:
    """Entries 0..n cut into even ranges, some turns for each thread, so that none waits long for one held up."""
    ends = np.linspace(0, n, max(1, min(turns * threads(), n // PART)) + 1).astype(np.int64).tolist()
    return list(pairwise(ends))


def _over_rows(X: Any, work: Callable[..., int]) -> None:
    """Do the work on ranges of rows with about as many entries each."""
    _refuse_outside(_each(partial(work, _arrays(X)), _row_ranges(X)), X)


def _row_ranges(X: Any, turns: int = _TURNS) -> list[tuple[int, int]]:
    inner = [int(np.searchsorted(X.indptr, at)) for at, _ in _cut(X.nnz, turns)[1:]]
    return list(zip([0, *inner], [*inner, X.shape[0]], strict=True))


def _shares(X: Any, codes: np.ndarray, n_classes: int, *, by_rows: bool) -> list[tuple[np.ndarray, bool]]:
    """Rows for each thread, and whether it needs a table of its own.

    By whole classes, which then share one table; where those are uneven and rows may be taken apart, by rows.
    """
    ranges = _row_ranges(X, turns=1)
    size = np.bincount(codes, np.diff(X.indptr), n_classes)
    owner, load = np.zeros(n_classes, np.int64), np.zeros(len(ranges))
    for k in np.argsort(-size, kind="stable"):
        owner[k] = load.argmin()
        load[owner[k]] += size[k]
    if by_rows and load.max() * len(ranges) > 1.2 * size.sum():
        return [(np.arange(first, last), first > 0) for first, last in ranges]
    return [(np.flatnonzero(owner[codes] == part), False) for part in range(len(ranges))]


# --- arrays as the loops read them ------------------------------------------------------------------------------


def _arrays(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries, columns and row pointers in one of a few types, read-only so that one compiled variant fits all."""
    data = X.data.view(np.uint8) if X.data.dtype == bool else X.data
    if data.dtype not in STORED:
        data = data.astype(np.float64)
    index = np.result_type(X.indices, X.indptr)
    if (np.diff(X.indptr) < 0).any() or X.indptr[0] < 0 or X.indptr[-1] > min(len(data), len(X.indices)):
        raise ValueError("the row pointers of the sparse matrix are invalid: they must not decrease, nor pass its end")
    return _fixed(data), _fixed(X.indices.astype(index, copy=False)), _fixed(X.indptr.astype(index, copy=False))


def _fixed(array: np.ndarray) -> np.ndarray:
    """A read-only view, contiguous, aligned and in the machine's byte order."""
    view = np.require(np.asarray(array, array.dtype.newbyteorder("=")), requirements=["C", "A"]).view()
    view.flags.writeable = False
    return view


def _refuse_outside(outside: list[int], X: Any) -> None:
    if any(outside):
        raise ValueError(
            f"the sparse matrix has {sum(outside)} column indices outside 0..{X.shape[1] - 1}: it is damaged, build it "
            "again"
        )
