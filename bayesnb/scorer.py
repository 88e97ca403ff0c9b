"""The light reader of a model file: texts or counts in, class probabilities out.

Loads NumPy, scipy.special and scipy.sparse (and polars, once texts are scored in bulk), never scikit-learn, pandas or
scipy.stats: what a small container runs. Bulk scoring takes the same path as the estimators, so its answers are the
same bit for bit; `Scorer.score` is a short way for one text that polars would keep waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Self

import numpy as np

from bayesnb import storage
from bayesnb.corpus.tokens import Tokenizer
from bayesnb.events.base import CountPosterior, Posterior, normalise
from bayesnb.model import Settings
from bayesnb.storage import tensorfile


@dataclass(frozen=True, eq=False)
class Scores:
    """What a batch of documents was found to be.

    Attributes
    ----------
    probabilities : ndarray, shape (n, K)
        P(y = k | x), columns in the order of `Scorer.classes`; rows sum to 1.
    labels : ndarray, shape (n,)
        The most probable class; the first where several tie.
    n_known, n_tokens : ndarray, shape (n,)
        Tokens of the document that the model has learnt, and all its tokens. With none known the answer is the class
        prior (for the Bernoulli model: that every token is absent), and a caller may prefer to abstain.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    n_known: np.ndarray
    n_tokens: np.ndarray


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores documents with a model as it is in a file.

    Parameters
    ----------
    model : Model
        Settings and totals; see `Scorer.load`.

    Raises
    ------
    ValueError
        The settings do not fit the totals, or the estimate does not exist for them.

    Examples
    --------
    >>> import tempfile, os, bayesnb
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     fingerprint = tc.save(path)
    ...     scorer = bayesnb.Scorer.load(path)
    >>> scorer.classes.tolist()
    ['ham', 'spam']
    >>> scorer.score("free coffee").round(3)
    array([0.5, 0.5])
    """

    model: storage.Model

    def __post_init__(self) -> None:
        self.posterior.require(self.model.settings.estimate)
        if self.model.tokens is not None:
            _ = self.tokenizer

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model file; errors as `bayesnb.storage.load`."""
        model = storage.load(path)
        with tensorfile.naming(f"model file {fspath(path)}"):
            return cls(model)

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior that scores."""
        return self.model.settings.posterior(self.model.state)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Cuts texts as the model's were cut; ValueError for a model of matrices."""
        if self.model.tokens is None:
            raise ValueError("this model reads matrices of counts, not texts; use predict_proba(X)")
        return Tokenizer(self.model.tokens)

    @property
    def classes(self) -> np.ndarray:
        """Class labels, sorted, shape (K,)."""
        return self.model.state.classes

    @cached_property
    def fingerprint(self) -> str:
        """The model's fingerprint, to go with every answer."""
        return self.model.fingerprint

    def score(self, text: str) -> np.ndarray:
        """P(y = k | text) of one text, shape (K,); within 1e-12 of what `predict_proba` says.

        Raises
        ------
        ValueError
            It is no text, is impossible under every class, or the model reads matrices.
        """
        counts: dict[Any, int] = Counter(map(self._columns.get, self.tokenizer.tokens(text)))
        counts.pop(None, None)
        columns = sorted(counts)
        return self._single.probabilities(
            np.array(columns, np.intp), np.array([counts[column] for column in columns], np.float64)
        )

    def predict_log_proba(self, documents: Any) -> np.ndarray:
        """Log P(y = k | x), shape (n, K).

        Parameters
        ----------
        documents : iterable of str, or array_like or scipy.sparse of shape (n, V)
            Texts for a model of texts, counts for a model of matrices.

        Raises
        ------
        ValueError
            Invalid documents, or one that is impossible under every class.
        """
        return self._log_proba(self._counted(documents)[0])

    def predict_proba(self, documents: Any) -> np.ndarray:
        """P(y = k | x), shape (n, K); as `predict_log_proba`."""
        return np.exp(self.predict_log_proba(documents))

    def predict(self, documents: Any) -> np.ndarray:
        """The most probable class of each document, shape (n,); as `predict_log_proba`."""
        return self.classes[self.predict_proba(documents).argmax(axis=1)]

    def n_known(self, documents: Any) -> np.ndarray:
        """Tokens of each document that the model has learnt, shape (n,)."""
        return self._counted(documents)[1]

    def score_many(self, documents: Any) -> Scores:
        """Probabilities, labels and how much of each document was known, in one pass; as `predict_log_proba`."""
        X, n_known, n_tokens = self._counted(documents)
        probabilities = np.exp(self._log_proba(X))
        return Scores(probabilities, self.classes[probabilities.argmax(axis=1)], n_known, n_tokens)

    def _log_proba(self, X: Any) -> np.ndarray:
        settings = self.model.settings
        return self.posterior.log_proba(X, settings.estimate, settings.power)

    def _counted(self, documents: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Documents as the event model counts them, known tokens, all tokens."""
        settings, names = self.model.settings, self.model.state.tokens
        if self.model.tokens is not None:
            counted = self.tokenizer.count(_texts(documents), vocabulary=names.tolist())
            return settings.documents(counted.X), counted.n_known, counted.n_total
        if settings.event == "categorical":
            return self._celled(documents)
        if self.model.named_columns:
            _refuse_other_columns(documents, names)
        X = settings.documents(documents, names if self.model.named_columns else None)
        n = X.sum(axis=1)
        return X, n, n

    def _celled(self, documents: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """The same of a table of categories, where a column counts as a token."""
        state: Any = self.model.state
        if self.model.named_columns:
            _refuse_other_columns(documents, np.array(state.statistics.columns, object))
        X = self.model.settings.cells(documents, state)
        return X, X[:, : len(state.tokens)].sum(axis=1), np.full(X.shape[0], float(state.statistics.n_columns))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {token: column for column, token in enumerate(self.model.state.tokens.tolist())}

    @cached_property
    def _single(self) -> _SingleDocument | _GeneralDocument:
        settings = self.model.settings
        threshold = settings.binarize
        plain = settings.event == "multinomial" or (threshold is not None and threshold >= 0)
        plain = plain and (settings.event, settings.estimate) != ("multinomial", "predictive")
        if plain and isinstance(self.posterior, CountPosterior):
            return _SingleDocument(settings, self.posterior)
        return _GeneralDocument(settings, self.posterior)


class _SingleDocument:
    """One document by a few rows of the table that bulk scoring multiplies with; the sums run in the same order."""

    def __init__(self, settings: Settings, posterior: CountPosterior) -> None:
        bernoulli = settings.event == "bernoulli"
        # the Bernoulli predictive is the mean: each cell is seen once a document
        estimate = "mean" if bernoulli and settings.estimate == "predictive" else settings.estimate
        self.table = posterior._table(estimate)
        self.log_theta = posterior.log_theta(settings.estimate)
        self.power = settings.power
        self.present_above = settings.binarize if bernoulli else 0.0 if settings.binary else None

    def probabilities(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Class probabilities of a document with these counts in these columns, shape (K,)."""
        table = self.table
        if self.present_above is None:
            total = (table._weight[columns] * counts[:, None]).sum(axis=0) + table._constant
        else:
            columns = columns[counts > self.present_above]
            total = table._weight[columns].sum(axis=0) + table._constant
        if table._never is not None:
            total[table._never[columns].sum(axis=0) > 0] = -np.inf
        if table._always is not None:
            total[table._always[columns].sum(axis=0) < table._always.sum(axis=0)] = -np.inf
        joint = self.log_theta + (total if self.power == 1 else self.power * total)
        largest = joint.max()
        if largest == -np.inf:
            normalise(joint[None])  # says that the document is impossible
        shifted = joint - largest
        return np.exp(shifted - np.log(np.exp(shifted).sum()))


class _GeneralDocument:
    """One document by the general path, for settings that have no table."""

    def __init__(self, settings: Settings, posterior: Posterior) -> None:
        self.settings, self.posterior = settings, posterior

    def probabilities(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Class probabilities of a document with these counts in these columns, shape (K,)."""
        from scipy import sparse

        row = (counts, columns, np.array([0, len(columns)]))
        X = self.settings.documents(sparse.csr_array(row, shape=(1, self.posterior.statistics.n_tokens)))
        return np.exp(self.posterior.log_proba(X, self.settings.estimate, self.settings.power))[0]


def _texts(documents: Iterable[str]) -> list[str]:
    if isinstance(documents, (str, bytes)):
        raise ValueError("one string was given where a list of texts is expected; write [text], or use score(text)")
    return documents.to_list() if hasattr(documents, "to_list") else list(documents)


def _refuse_other_columns(documents: Any, names: np.ndarray) -> None:
    """A frame must have the columns that were learnt, in their order."""
    given = getattr(documents, "columns", None)
    if given is None or list(given) == names.tolist():
        return
    if len(given) != len(names):
        raise ValueError(f"X has {len(given)} columns, but the model is expecting {len(names)}")
    place = next(i for i, (one, other) in enumerate(zip(given, names, strict=True)) if one != other)
    raise ValueError(f"column {place} is {given[place]!r}, but the model learnt {names[place]!r} there; reorder X")
