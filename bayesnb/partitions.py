"""What a partition is: how partitioned data fall into pieces, and what a worker reads from one of them.

Nothing here imports Dask: its collections are known by what they have, and a worker sees frames, arrays, lists, paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesnb import validate

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["frame", "bag", "blocks", "files"]


class Read(NamedTuple):
    """What was read from one piece: documents, their labels or their index, and how many rows were left out, by why."""

    X: Any
    rows: Any
    skipped: dict[str, int]

    @property
    def empty(self) -> bool:
        """Whether there is neither a document nor a label."""
        return len(self.rows) == 0 == size(self.X)


@dataclass(frozen=True)
class Pieces:
    """Partitioned data as items that a task can take.

    Parameters
    ----------
    kind : str
        What the items are: Dask frames, bags, blocks (of a Dask Array, or Delayed), or paths.
    items : sequence
    divisions : tuple, optional
        Ends of a frame's partitions, where they are known.
    """

    kind: Kind
    items: Sequence[Any]
    divisions: tuple[Any, ...] | None = None
    places: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.items):
            raise ValueError("there is no partition and no file: the list is empty")
        files = self.kind == "files"
        places = [f"file {item}" if files else f"partition {i}" for i, item in enumerate(self.items)]
        object.__setattr__(self, "places", places)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return zip(self.places, self.items, strict=True)


def split(data: Any, y: Any = None, *, texts: bool, needed: Sequence[Any], only: bool) -> Pieces:
    """Cut data into pieces, one a partition or file.

    Parameters
    ----------
    data : Dask DataFrame, Bag or Array, path, or a list of paths or of Delayed
    y : Dask Array, Dask Series or array_like, optional
        Labels of a Dask Array.
    texts : bool
        Whether documents are texts.
    needed : sequence
        Columns that a frame must have.
    only : bool
        Whether a frame's other columns are of no use.

    Raises
    ------
    ValueError
        Data of another kind, or that do not fit together; a column is missing.
    """
    several = list(data) if isinstance(data, (list, tuple)) else [data]
    if hasattr(data, "numblocks") and hasattr(data, "to_delayed"):
        return Pieces("blocks", _of_array(data, y))
    if y is not None:
        raise ValueError("y goes with a Dask Array; the labels of other data are in the data")
    if _is_dask(data) and hasattr(data, "columns"):
        return _of_frame(data, needed, only)
    if all(map(_is_path, several)) or (_is_dask(data) and hasattr(data, "to_delayed")):
        if not texts:
            raise ValueError("files and bags hold texts, for a TextClassifier; read tables with dask.dataframe")
        is_bag = _is_dask(data)
        return Pieces("bag" if is_bag else "files", data.to_delayed() if is_bag else [os.fspath(p) for p in several])
    if all(map(_is_dask, several)):
        return Pieces("blocks", several)
    raise ValueError(
        f"data is {type(data).__name__}, which has no partitions: give a Dask DataFrame, Bag or Array, paths, or a "
        "list of Delayed; the estimator's own methods take what is in memory"
    )


def _is_dask(data: Any) -> bool:
    return hasattr(data, "__dask_graph__")


def _is_path(item: Any) -> bool:
    return isinstance(item, (str, os.PathLike))


def _of_frame(frame: Any, needed: Sequence[Any], only: bool) -> Pieces:
    names = list(frame.columns)
    missing = [name for name in needed if name not in names]
    if missing:
        listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"data has no column {missing[0]!r}; its columns: {listed}")
    frame = (frame[list(needed)] if only else frame).optimize()  # which may change the number of partitions
    return Pieces("frame", frame.to_delayed(), frame.divisions if frame.known_divisions else None)


def _of_array(X: Any, y: Any) -> Sequence[Any]:
    """Blocks of rows, with their labels where there are any."""
    if X.ndim > 1 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    blocks = _listed(X)
    if y is None:
        return blocks
    known = not np.isnan(X.shape[0])
    if hasattr(y, "to_delayed"):
        if known and hasattr(y, "rechunk") and not np.isnan(y.shape[0]):
            _refuse_other_length(X.shape[0], y.shape[0])
            y = y.rechunk((X.chunks[0],))
        labels = _listed(y)
        if len(labels) != len(blocks):
            raise ValueError(f"X has {len(blocks)} blocks of rows and y {len(labels)}; compute_chunk_sizes() on both")
        return list(zip(blocks, labels, strict=True))
    if not known:
        raise ValueError("the blocks of X are of unknown size: call X.compute_chunk_sizes() first")
    y = validate.labels(y)
    _refuse_other_length(X.shape[0], len(y))
    return list(zip(blocks, np.split(y, np.cumsum(X.chunks[0])[:-1]), strict=True))


def _refuse_other_length(n: int, labels: int) -> None:
    if n != labels:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {labels}]")


def _listed(collection: Any) -> list[Any]:
    parts = collection.to_delayed()
    return parts.ravel().tolist() if isinstance(parts, np.ndarray) else list(parts)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Complaints name the partition, or the file, which they may do already."""
    try:
        yield
    except (ValueError, TypeError) as error:
        told = str(error)
        raise ValueError(told if place.removeprefix("file ") in told else f"{place}: {told}") from None


def size(X: Any) -> int:
    """Number of documents."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


# --- on a worker: documents with labels ---------------------------------------------------------------------


def labelled_frame(frame: pd.DataFrame, text: Any, label: Any) -> Read:
    """Texts, or all columns but that of the labels where `text` is None."""
    return Read(frame.drop(columns=[label]) if text is None else frame[text], frame[label], {})


def labelled_pairs(pairs: Any) -> Read:
    """Texts and labels of a bag's partition."""
    pairs = list(pairs)
    for row, pair in enumerate(pairs):
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise ValueError(f"the element at row {row} is {pair!r}, not a pair (text, label)")
    return Read([text for text, _ in pairs], [label for _, label in pairs], {})


def labelled_block(block: Any) -> Read:
    """Documents and labels of one Delayed or of a block of an array."""
    if not (isinstance(block, (tuple, list)) and len(block) == 2):
        raise ValueError(f"it is {type(block).__name__}, not a pair (X, y)")
    X, y = block
    return Read(X, y, {})


def labelled_file(path: str, text: str, label: str, format: str | None, encoding: str) -> Read:
    """Texts and labels of a table."""
    from bayesnb.corpus import read_corpus

    corpus = read_corpus(path, text, label, format, encoding)
    if corpus.texts is None:
        raise ValueError(f"{path} holds counts, not texts; read it with dask.dataframe")
    return Read(corpus.texts, corpus.y, corpus.skipped)


# --- on a worker: documents to score, with the index of their rows ------------------------------------------


def documents_of_frame(frame: pd.DataFrame, columns: Any) -> Read:
    """The column of texts, or the columns that a model of matrices has."""
    return Read(frame if columns is None else frame[columns], frame.index, {})


def documents_of_block(block: Any) -> Read:
    """A block of rows, or a list of texts, numbered."""
    import pandas as pd

    block = block if hasattr(block, "shape") else list(block)
    return Read(block, pd.RangeIndex(size(block)), {})


def documents_of_file(path: str, text: str, format: str | None, encoding: str) -> Read:
    """Texts of a table, each named ``path:row``."""
    import pandas as pd

    from bayesnb.corpus import read_documents

    corpus = read_documents(path, text, format, encoding)
    names = [f"{path}:{row}" if isinstance(row, int) else row for row in corpus.ids]
    return Read(corpus.texts, pd.Index(names, dtype=object), corpus.skipped)
