"""Label-by-token totals of many documents, added up without keeping the documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from .counting import in_batches
from .cutting import Cut, cut, firsts_of, numbered
from .tokens import Tokenizer


class ClassTotals:
    """Totals of the documents added so far; memory is bounded by classes and tokens, not by the documents.

    Parameters
    ----------
    tokenizer : Tokenizer
        Cuts the documents.
    presence : bool
        Count the documents that hold a token, not its occurrences.
    frequencies : bool
        Count the documents that hold each token also over all classes: `frequencies` is then there.
    vocabulary : sequence of str, optional
        Count only these tokens.
    n_classes : int
        Classes there are at least.

    Attributes
    ----------
    class_count : ndarray, shape (K,)
        Documents (their weights) of each class.
    grows : bool
        Whether tokens are added as they are met; with a vocabulary they are not.

    Notes
    -----
    Totals are sums: any split of the documents gives the same, bit for bit where weights are whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.corpus import ClassTotals, Tokenizer
    >>> totals = ClassTotals(Tokenizer())
    >>> totals.add(["free free prices", "coffee at ten"], np.array([1, 0]))
    >>> totals.add(["free coffee"], np.array([1]))
    >>> tokens, counts, _ = totals.result()
    >>> tokens.tolist(), counts.tolist(), totals.class_count.tolist()
    (['at', 'coffee', 'free', 'prices', 'ten'], [[1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 3.0, 1.0, 0.0]], [1.0, 2.0])
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        presence: bool = False,
        frequencies: bool = False,
        vocabulary: Sequence[str] | None = None,
        n_classes: int = 0,
    ) -> None:
        self.tokenizer, self.presence, self.grows = tokenizer, presence, vocabulary is None
        self.class_count = np.zeros(n_classes)
        self._column = {} if vocabulary is None else {token: column for column, token in enumerate(vocabulary)}
        self._table = np.zeros((len(self._column), n_classes))  # a row a token, for it is tokens that come
        self._frequency = np.zeros(len(self._column)) if frequencies else None

    def add(self, texts: list[str], codes: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add documents.

        Parameters
        ----------
        texts : list of str
        codes : ndarray of int, shape (documents,)
            Number of each one's class.
        weights : ndarray, shape (documents,), optional
            Weight of each: weight 3 is three copies.

        Raises
        ------
        ValueError
            A text is not a string or holds a lone surrogate; its row is named. Nothing changes.
        """
        codes = np.asarray(codes, np.int64)

        def work(documents: list[str], first: int) -> tuple[list[str], Any, Any]:
            rows = slice(first, first + len(documents))
            found = cut(self.tokenizer, documents, first)
            return self._counted(found, codes[rows], None if weights is None else weights[rows])

        parts = list(in_batches(work, texts))
        self._make_room(len(self._column), int(codes.max(initial=-1)) + 1)
        self.class_count += np.bincount(codes, weights, len(self.class_count))
        for part in parts:
            self._take(*part)

    def _counted(self, found: Cut, codes: np.ndarray, weights: np.ndarray | None) -> tuple[list[str], Any, Any]:
        """Names of a batch, its totals as classes, tokens and sums, and its documents a token."""
        rows, ids, width, frequency = found.rows, found.ids, max(len(found.names), 1), None
        if self.presence or self._frequency is not None:
            pairs = np.sort(rows * width + ids)
            held = np.divmod(pairs[firsts_of(pairs)], width)
            if self.presence:
                rows, ids = held
            if self._frequency is not None:
                frequency = np.bincount(held[1], None if weights is None else weights[held[0]], len(found.names))
        cells = codes[rows] * width + ids
        sums_of = _dense_sums if (codes.max(initial=0) + 1) * width <= 4 * len(cells) else _sparse_sums
        cells, sums = sums_of(cells, None if weights is None else weights[rows])
        return found.names, (*np.divmod(cells, width), sums), frequency

    def _take(self, names: list[str], cells: tuple[np.ndarray, np.ndarray, np.ndarray], frequency: Any) -> None:
        column = np.fromiter(map(self._column.get, names, repeat(-1)), np.int64, len(names))
        if self.grows:
            new = np.flatnonzero(column < 0)
            column[new] = len(self._column) + np.arange(len(new))
            self._column.update((names[i], j) for i, j in zip(new.tolist(), column[new].tolist(), strict=True))
        self._make_room(len(self._column), len(self.class_count))
        codes, ids, sums = cells
        known = column[ids] >= 0
        self._table[column[ids[known]], codes[known]] += sums[known]  # each cell is there once
        if self._frequency is not None:
            self._frequency[column[column >= 0]] += frequency[column >= 0]

    def _make_room(self, tokens: int, classes: int) -> None:
        height, width = self._table.shape
        if classes > width:
            self._table = np.pad(self._table, ((0, 0), (0, classes - width)))
            self.class_count = np.pad(self.class_count, (0, classes - width))
        if tokens > height:
            self._table = np.pad(self._table, ((0, max(tokens, height // 2 * 3) - height), (0, 0)))
        if self._frequency is not None and tokens > len(self._frequency):
            self._frequency = np.pad(self._frequency, (0, len(self._table) - len(self._frequency)))

    @property
    def n_tokens(self) -> int:
        """V, the tokens met so far, or the vocabulary's."""
        return len(self._column)

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Tokens sorted by code point (V,), their totals (K, V) and their documents (V,), if these were asked for."""
        names = sorted(self._column)
        order = np.fromiter(map(self._column.__getitem__, names), np.int64, len(names))
        frequency = None if self._frequency is None else self._frequency[order]
        return np.array([*names, None], object)[:-1], np.ascontiguousarray(self._table[order].T), frequency


def _dense_sums(cells: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct cells and the sum of the weights in each, where there are few cells."""
    sums = np.bincount(cells, weights)
    held = np.flatnonzero(sums)
    return held, sums[held]


def _sparse_sums(cells: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The same where most cells are empty."""
    place, held = numbered(cells)
    return held, np.bincount(place, weights, len(held))
