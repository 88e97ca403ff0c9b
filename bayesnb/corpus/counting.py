"""Token counts of many documents, cut in batches by several threads and gathered into one sparse matrix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from .cutting import cut, firsts_of
from .tokens import Tokenizer

# Characters a thread cuts at a time: enough to hide the cost of a call, few enough for the caches and the memory.
_BATCH = 2**22
_THREADS = 4


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Counts of tokens in documents.

    Attributes
    ----------
    X : scipy.sparse.csr_array of int64, shape (documents, tokens)
        How often each token occurs in each document; column indices are sorted.
    tokens : list of str
        The column names.
    n_known, n_total : ndarray of int64, shape (documents,)
        Tokens of each document that have a column, and all its tokens.

    Examples
    --------
    >>> from bayesnb.corpus import Tokenizer
    >>> counts = Tokenizer().count(["free free prices", "coffee at ten"], vocabulary=["coffee", "free"])
    >>> counts.X.toarray().tolist(), counts.n_known.tolist(), counts.n_total.tolist()
    ([[0, 2], [1, 0]], [2, 1], [3, 3])
    """

    X: sparse.csr_array
    tokens: list[str]
    n_known: np.ndarray
    n_total: np.ndarray


def count_tokens(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    vocabulary: Iterable[str] | Mapping[str, int] | None,
    progress: Callable[[int, int], None] | None = None,
) -> TokenCounts:
    """See `Tokenizer.count`."""
    documents = listed(texts)
    known = None if vocabulary is None else _columns(vocabulary)
    parts, done = [], 0
    for part in in_batches(partial(_count_batch, tokenizer, known), documents):
        parts.append(part)
        done += len(part[2])
        if progress is not None:
            progress(done, len(documents))
    names = list(known) if known is not None else sorted(set().union(*(names for _, names, _ in parts)))
    place = known if known is not None else {name: column for column, name in enumerate(names)}
    matrices = [X if known is not None else _widened(X, own, place) for X, own, _ in parts]
    X = sparse.csr_array(sparse.vstack(matrices, format="csr"))
    return TokenCounts(X, names, X.sum(axis=1), np.concatenate([n for _, _, n in parts]))


def listed(texts: Iterable[str]) -> list[str]:
    """The documents as a list; ValueError where they are one string."""
    if isinstance(texts, str):
        raise ValueError("texts is one string: pass a list of documents")
    return list(texts)


def in_batches[Part](work: Callable[[list[str], int], Part], documents: list[str]) -> Iterator[Part]:
    """What `work` makes of some documents and the row of their first, for all documents in turn."""
    batches = list(_batches(documents))
    if len(batches) == 1:
        yield work(documents, 0)
        return
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, _THREADS)) as pool:
        yield from pool.map(work, (documents[rows] for rows in batches), (rows.start for rows in batches))


def _batches(documents: list[str]) -> Iterator[slice]:
    """Slices of about equal amounts of text, at least one."""
    try:
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    except TypeError:  # something is no text: one batch, which will say so
        lengths = np.zeros(len(documents), np.int64)
    batch = np.cumsum(lengths) // _BATCH
    bounds = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(documents)]
    yield from map(slice, bounds, bounds[1:])


def _columns(vocabulary: Iterable[str] | Mapping[str, int]) -> Mapping[str, int]:
    """Column of each token, each there once."""
    if isinstance(vocabulary, Mapping):
        return vocabulary
    if isinstance(vocabulary, str):
        raise ValueError("vocabulary is one string: pass a list of tokens")
    names = list(vocabulary)
    columns = {name: column for column, name in enumerate(names)}
    if len(columns) < len(names):
        twice = next(name for column, name in enumerate(names) if columns[name] != column)
        raise ValueError(f"vocabulary names the token {twice!r} twice")
    return columns


def _count_batch(
    tokenizer: Tokenizer, known: Mapping[str, int] | None, texts: list[str], first_row: int
) -> tuple[sparse.csr_array, list[str], np.ndarray]:
    """Counts of one batch, its column names if none are known (sorted), and its numbers of tokens."""
    found = cut(tokenizer, texts, first_row)
    lengths = np.bincount(found.rows, minlength=found.height)
    names = sorted(found.names) if known is None else []
    place = {name: column for column, name in enumerate(names)} if known is None else known
    columns = np.fromiter((place.get(name, -1) for name in found.names), np.int64, len(found.names))[found.ids]
    rows = found.rows
    if known is not None:
        has_column = columns >= 0
        rows, columns = rows[has_column], columns[has_column]
    return _counted(rows, columns, (found.height, len(place))), names, lengths


def _counted(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """How often each pair of row and column occurs; column indices are sorted."""
    pairs = np.sort(rows * shape[1] + columns)
    starts = np.flatnonzero(firsts_of(pairs))
    row, column = np.divmod(pairs[starts], max(shape[1], 1))
    counts = np.diff(starts, append=len(pairs))
    ends = np.searchsorted(row, np.arange(shape[0] + 1))
    return sparse.csr_array((counts, column, ends), shape=shape)


def _widened(X: sparse.csr_array, own: list[str], place: Mapping[str, int]) -> sparse.csr_array:
    """Move columns to their places in a wider matrix; places that increase keep the indices sorted."""
    columns = np.fromiter(map(place.__getitem__, own), np.int64, len(own))
    return sparse.csr_array((X.data, columns[X.indices], X.indptr), shape=(X.shape[0], len(place)))
