"""What a reader returns, and what it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class CorpusError(ValueError):
    """A file that cannot be read as asked: one line that names file, place and remedy."""


class NotTextError(CorpusError):
    """A table of numbers where one of texts is asked for."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents, with their labels where they have them.

    Either `texts` or both `X` and `tokens` are given.

    Attributes
    ----------
    y : ndarray, shape (documents,), or None
        Labels: strings, as written; integers from MATRIX and svmlight files. None where the source has none.
    ids : list
        Where each document stands: the path of its file, or its row (from 1, the header not counted) or line.
    texts : list of str or None
        The documents, where they are text.
    X : scipy.sparse.csr_array or None, shape (documents, tokens)
        The counts, where the source holds counts: int64, or float64 if a value is not whole.
    tokens : list of str or None
        The columns of `X`.
    skipped : dict
        What was left out: reason to number.
    source : str
        What was read.
    columns : dict
        Which columns of a table were read as "text" and "label".
    """

    y: np.ndarray | None
    ids: list
    texts: list[str] | None = None
    X: csr_array | None = None
    tokens: list[str] | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    source: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kind = "texts" if self.texts is not None else f"{len(self.tokens or ())} tokens"
        labels = "no labels" if self.y is None else f"{len(np.unique(self.y))} labels"
        left_out = f", skipped {self.skipped}" if self.skipped else ""
        return f"Corpus({self.source}: {len(self)} documents, {kind}, {labels}{left_out})"


def join_texts(parts: Sequence[Corpus], labels: Sequence[str], source: str) -> Corpus:
    """One corpus from several of text, each of one class."""
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    y = np.repeat(np.array(labels, dtype=np.str_), [len(part) for part in parts])
    ids = [name for part in parts for name in part.ids]
    texts = [text for part in parts for text in part.texts or ()]
    return Corpus(y, ids, texts=texts, skipped=dict(skipped), source=source, columns=joined_columns(parts))


def joined_columns(parts: Sequence[Corpus]) -> dict[str, str]:
    """`Corpus.columns` of several corpora; different names of one role are listed."""
    roles = {role: None for part in parts for role in part.columns}
    return {role: " or ".join({part.columns[role]: None for part in parts if role in part.columns}) for role in roles}
