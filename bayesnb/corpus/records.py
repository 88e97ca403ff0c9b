"""What a reader returns, and what it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class CorpusError(ValueError):
    """A file that cannot be read as asked: one line that names file, place and remedy.

    Names of files, columns and labels may hold line ends or bytes that are no text; these are shown as escapes.

    Parameters
    ----------
    message : str

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesnb
    >>> mail = pd.DataFrame({"subject": ["free prices"], "kind": ["spam"]})
    >>> mail.to_csv("mail.csv", index=False)
    >>> bayesnb.read_corpus("mail.csv", text="body", label="kind")
    Traceback (most recent call last):
        ...
    bayesnb.corpus.records.CorpusError: mail.csv has no column 'body'; its columns: 'subject', 'kind'
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))


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
    grows : bool
        Whether columns are numbered and a file need not have them all (svmlight): those that it lacks are zeros.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> toy, len(toy), toy.ids
    (Corpus(toy spam: 5 documents, texts, 2 labels), 5, [1, 2, 3, 4, 5])
    """

    y: np.ndarray | None
    ids: list
    texts: list[str] | None = None
    X: csr_array | None = None
    tokens: list[str] | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    source: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    grows: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kind = "texts" if self.texts is not None else f"{len(self.tokens or ())} tokens"
        labels = "no labels" if self.y is None else f"{len(np.unique(self.y))} labels"
        left_out = f", skipped {self.skipped}" if self.skipped else ""
        return f"Corpus({self.source}: {len(self)} documents, {kind}, {labels}{left_out})"


@dataclass(eq=False)
class TableRows:
    """What becomes of each row of a table, for who answers every one; `read_documents` fills it.

    An empty text in a CSV or TSV is then an empty document, as an empty file in a folder is.

    Attributes
    ----------
    skip : bool
        Leave out rows that cannot be read; else the first is an error.
    omit : frozenset of str
        Columns that `cells` leaves out.
    cells : list of dict
        The columns of each document's row: strings from CSV and TSV, None where a cell is empty; values from others.
    faults : dict of int to str
        Rows that were left out, counted from 1, and why.
    blank : bool
        Whether an empty cell is an empty text: CSV has no other way to write one.
    """

    skip: bool = False
    omit: frozenset[str] = frozenset()
    cells: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)
    blank: bool = False

    @property
    def bad(self) -> dict[int, str] | None:
        """Where a reader puts rows that it cannot read; None where they are errors."""
        return self.faults if self.skip else None


def label_of(name: str) -> str:
    """A label that is the name of a folder, or was written on a command line.

    Raises
    ------
    CorpusError
        It holds bytes that are no UTF-8: no model file could keep it.
    """
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(f"label {name!r} is not UTF-8: rename it") from error
    return name


def join_texts(parts: Sequence[Corpus], labels: Sequence[str], source: str) -> Corpus:
    """One corpus from several of text, each of one class."""
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    y = np.repeat(np.array(labels, dtype=np.str_), [len(part) for part in parts])
    ids = [name for part in parts for name in part.ids]
    texts = [text for part in parts for text in part.texts or ()]
    return Corpus(y, ids, texts=texts, skipped=dict(skipped), source=source, columns=joined_columns(parts))


def in_columns(corpus: Corpus, names: Sequence[str]) -> csr_array | None:
    """Counts in columns of these names; None where the corpus lacks one that it cannot do without."""
    from scipy import sparse

    X, place = corpus.X, {token: j for j, token in enumerate(corpus.tokens or ())}
    if X is None or corpus.tokens == list(names):
        return X
    lacking = [name for name in names if name not in place]
    if lacking and not (corpus.grows and all(name.isdecimal() for name in names)):
        return None
    if lacking:
        X = sparse.csr_array(sparse.hstack([X, sparse.csr_array((X.shape[0], 1), dtype=X.dtype)], format="csr"))
    return X[:, [place.get(name, X.shape[1] - 1) for name in names]]


def joined_columns(parts: Sequence[Corpus]) -> dict[str, str]:
    """`Corpus.columns` of several corpora; different names of one role are listed."""
    roles = {role: None for part in parts for role in part.columns}
    return {role: " or ".join({part.columns[role]: None for part in parts if role in part.columns}) for role in roles}
