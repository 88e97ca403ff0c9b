"""Learning and scoring on a Dask cluster.

Each partition becomes totals where it lies, and the workers add these up in a tree; only the last sum travels. Sums of
whole numbers depend on no order, and a task that is run again gives the same, so the model is that of a single pass,
bit for bit, however the data are cut and whichever worker dies. (Measurements and fractional counts: up to rounding,
and the same bits for the same partitions.)

Whatever scheduler is current is used: that of the `distributed.Client` that was made last, or threads without one.
Nothing is left on it. The workers need bayesnb too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from dask.delayed import Delayed, delayed
except ImportError as error:
    raise ImportError("bayesnb.distributed needs Dask, which is missing: pip install 'bayesnb[dask]'") from error

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayesnb import categories, partitions, validate
from bayesnb.estimators import PosteriorClassifier, TextClassifier, load, restored
from bayesnb.events import cells
from bayesnb.model import Settings
from bayesnb.partitions import Read

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

_TOGETHER = 8  # totals that one task adds up: a tree of few levels whose tasks stay small


def fit[Classifier: PosteriorClassifier](
    clf: Classifier,
    data: Any,
    y: Any = None,
    *,
    text: str = "text",
    label: str = "label",
    format: str | None = None,
    encoding: str = "utf-8",
) -> Classifier:
    """Learn the posterior from partitioned documents, forgetting what was learnt before.

    Parameters
    ----------
    clf : estimator
        Is fitted, as by its own `fit`.
    data : Dask collection, path or list
        For a `TextClassifier`

        - a Dask DataFrame with a column of texts and one of labels;
        - a Dask Bag of pairs (text, label);
        - a path, or a list of paths, to tables of texts (CSV, TSV, Parquet, NDJSON) that every worker can read, each
          read whole by one task; see `bayesnb.read_corpus`. For files elsewhere, or larger than a worker, give a
          frame of ``dask.dataframe.read_parquet``.

        For the others

        - a Dask DataFrame of columns of numbers or categories, and one of labels;
        - a Dask Array (N, V), whose blocks may be sparse, with `y`.

        For all, a list of `Delayed` that are each a pair (X, y), as `fit` takes them: blocks of SciPy's CSR, say.
    y : dask.array.Array or array_like, shape (N,), optional
        Labels of a Dask Array, in the same rows; those of other data are in the data.
    text, label : str
        Columns of a frame or a table.
    format, encoding : str, optional
        Of files; as in `bayesnb.read_corpus`.

    Returns
    -------
    estimator
        `clf`. Where files were read, its `skipped_` counts rows that were left out for want of a text or label, by
        reason. What `min_df` and `max_features` leave out is judged once, after the last sum.

    Raises
    ------
    ValueError
        As `fit`, naming the partition or file, and the row in it; or every partition is empty. `clf` stays as it was.
    OSError
        A file cannot be read by the worker that should.

    Examples
    --------
    >>> import dask.bag
    >>> import bayesnb
    >>> from bayesnb import distributed
    >>> mail = dask.bag.from_sequence([("free prices now", "spam"), ("coffee at ten", "ham")], npartitions=2)
    >>> tc = distributed.fit(bayesnb.TextClassifier(), mail)
    >>> tc.predict(["free coffee prices"]).tolist()
    ['spam']
    """
    settings = clf._settings()  # what is wrong with them is said before anything is sent
    data = [data] if isinstance(data, Delayed) else data
    if y is None and hasattr(data, "numblocks"):
        raise ValueError("a Dask Array has no labels in it: pass y")
    reads_texts = isinstance(clf, TextClassifier)
    columns = [text, label] if reads_texts else [label]
    pieces = partitions.split(data, y, texts=reads_texts, needed=columns, only=reads_texts)
    read = {
        "frame": partial(partitions.labelled_frame, text=text if reads_texts else None, label=label),
        "bag": partitions.labelled_pairs,
        "blocks": partitions.labelled_block,
        "files": partial(partitions.labelled_file, text=text, label=label, format=format, encoding=encoding),
    }[pieces.kind]
    template = delayed(clone(clf), traverse=False)
    whole = _tree([delayed(_learnt)(template, read, item, place) for place, item in pieces]).compute()
    new = _fitted(clf, whole, settings)
    if pieces.kind == "files":
        new.skipped_ = whole.skipped
    return clf._become(new)


def score(
    model: PosteriorClassifier | str | os.PathLike[str],
    data: Any,
    *,
    level: float | None = None,
    text: str = "text",
    format: str | None = None,
    encoding: str = "utf-8",
) -> dd.DataFrame:
    """Label documents where they lie; nothing is computed before the result is asked for.

    Parameters
    ----------
    model : estimator, or path
        A fitted estimator, which is sent to the workers, or the path of a model file that all of them can read, which
        is better where it has many megabytes.
    data : Dask collection, path or list
        As for `fit`, without labels: a Dask DataFrame (other columns than the model's do not matter), a Series or Bag
        of texts, an Array, paths, or a list of `Delayed`.
    level : float, optional
        Also give the credible interval of the label's probability, as `predict_interval` does.
    text, format, encoding
        As for `fit`.

    Returns
    -------
    dask.dataframe.DataFrame
        A row for each document, partitioned as the data: `label` (the most probable class), `probability` (of that
        class), and with a level `lower` and `upper`. The index is that of a frame; ``path:row`` for files, where rows
        without a text are absent; else the number of the row within its partition.

    Raises
    ------
    ValueError
        Invalid arguments here; invalid documents when computed, naming the partition or file, and the row in it.

    Examples
    --------
    >>> import dask.bag
    >>> import bayesnb
    >>> from bayesnb import distributed
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> inbox = dask.bag.from_sequence(["free prices", "coffee"], npartitions=2)
    >>> distributed.score(tc, inbox).compute().label.tolist()
    ['spam', 'ham']
    """
    import dask.dataframe as dd

    if isinstance(model, (str, os.PathLike)):
        clf, shared = load(model), delayed(load)(os.fspath(model))
    else:
        check_is_fitted(model, "posterior_")
        clf, shared = model, delayed(restored)(delayed(model._model(), traverse=False))
    if level is not None:
        validate.level(level)
    data = [data] if isinstance(data, Delayed) else data
    reads_texts = isinstance(clf, TextClassifier)
    if reads_texts and hasattr(data, "to_frame"):  # a Dask Series of texts
        data = data.to_frame(text)
    names = [text] if reads_texts else list(getattr(clf, "feature_names_in_", ()))
    pieces = partitions.split(data, texts=reads_texts, needed=names, only=bool(names))
    read = {
        "frame": partial(partitions.documents_of_frame, columns=text if reads_texts else names or None),
        "bag": partitions.documents_of_block,
        "blocks": partitions.documents_of_block,
        "files": partial(partitions.documents_of_file, text=text, format=format, encoding=encoding),
    }[pieces.kind]
    parts = [delayed(_scored)(shared, read, item, place, level) for place, item in pieces]
    none = _answers(clf.classes_, np.zeros(0, np.int64), np.zeros((0, 3)), None, level)
    return dd.from_delayed(parts, meta=none, divisions=pieces.divisions)


# --- learning -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Part:
    """What some neighbouring partitions hold."""

    first: str
    last: str
    states: tuple[Any, ...]  # totals that add up each for itself; none where there is no document
    reading: dict[str, Any]  # attributes that reading gave the estimator: names of columns, say
    skipped: dict[str, int]

    def __str__(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


def _learnt(template: PosteriorClassifier, read: Callable[[Any], Read], item: Any, place: str) -> _Part:
    """Totals of one partition."""
    with partitions.naming(place):
        X, y, skipped = found = read(item)
        if found.empty:
            return _Part(place, place, (), {}, skipped)
        draft, settings = template._draft(), template._settings()
        states = draft._learn_part(X, y, settings)
    new = {name: value for name, value in vars(draft).items() if name not in vars(template)}
    return _Part(place, place, states, new, skipped)


def _tree(parts: list[Any]) -> Any:
    """Add up some neighbours at a time until one is left."""
    while len(parts) > 1:
        parts = [delayed(_added)(parts[i : i + _TOGETHER]) for i in range(0, len(parts), _TOGETHER)]
    return parts[0]


def _added(parts: list[_Part]) -> _Part:
    """Totals of several."""
    skipped = sum((Counter(part.skipped) for part in parts), Counter[str]())
    whole = _Part(parts[0].first, parts[-1].last, (), {}, dict(skipped))
    full = [part for part in parts if part.states]
    if not full:
        return whole
    for part in full[1:]:
        _refuse_other_kinds(full[0], part)
    with partitions.naming(str(whole)):
        states = tuple(first.add(*others) for first, *others in zip(*(part.states for part in full), strict=True))
    return replace(whole, states=states, reading=full[0].reading)


def _refuse_other_kinds(one: _Part, other: _Part) -> None:
    """Labels or categories of two types: adding them up could not say where they are."""
    a, b = one.states[0], other.states[0]
    kinds = [validate._kind(state.classes.tolist()[0]) for state in (a, b)]
    if kinds[0] != kinds[1]:
        raise ValueError(f"labels of several types: {one} has {kinds[0]}, {other} {kinds[1]}; make them all one type")
    if isinstance(a.statistics, cells.Statistics):
        with partitions.naming(f"{one} and {other}"):
            categories.refuse_other_kinds(categories.Known.of(a), categories.Known.of(b))


def _fitted[Classifier: PosteriorClassifier](clf: Classifier, whole: _Part, settings: Settings) -> Classifier:
    """A draft of the estimator that has learnt all."""
    if not whole.states:
        raise ValueError("every partition is empty: no document to learn from")
    new = clf._draft()
    for name in ("n_features_in_", "feature_names_in_"):
        new.__dict__.pop(name, None)
    new.__dict__.update(whole.reading)
    # formed anew: what comes from a worker may be another's memory, or writable
    state = new._whole(whole.states, settings)
    state = replace(state, statistics=replace(state.statistics))
    new._adopt(state, settings).posterior_.require(settings.estimate)
    return new


# --- scoring ------------------------------------------------------------------------------------------------


def _scored(
    clf: PosteriorClassifier, read: Callable[[Any], Read], item: Any, place: str, level: float | None
) -> pd.DataFrame:
    """Label, probability and perhaps interval of a partition's documents."""
    with partitions.naming(place):
        X, index, _ = read(item)
        if not partitions.size(X):
            return _answers(clf.classes_, np.zeros(0, np.int64), np.zeros((0, 3)), index, level)
        p = clf.predict_proba(X)
        best, at = p.argmax(axis=1), np.arange(len(p))
        values = p[at, best][:, None]
        if level is not None:
            values = np.concatenate([values, clf.predict_interval(X, level)[at, best]], axis=1)
    return _answers(clf.classes_, best, values, index, level)


def _answers(classes: np.ndarray, best: np.ndarray, values: np.ndarray, index: Any, level: float | None) -> Any:
    import pandas as pd

    label = pd.Series(classes)  # all of them: pandas infers a type from what it sees
    columns = {"label": label.iloc[best].array}
    names = ["probability"] if level is None else ["probability", "lower", "upper"]
    return pd.DataFrame(columns | {name: values[:, i] for i, name in enumerate(names)}, index=index)
