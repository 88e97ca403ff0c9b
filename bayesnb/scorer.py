"""The light reader of a model file: texts or counts in, class probabilities out.

Loads NumPy, scipy.special and scipy.sparse, never scikit-learn, polars, pandas or scipy.stats: what a small container
runs. Bulk scoring takes the same path as the estimators, so its answers are the same bit for bit; one text alone goes
the short way of `bayesnb.onetext`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from bayesnb import storage
from bayesnb.corpus.tokens import Tokenizer
from bayesnb.events.base import Posterior, normalise
from bayesnb.given import listed
from bayesnb.model import Settings
from bayesnb.onetext import OneText, is_one_text
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
        Tokens of the document that the model has learnt, and all its tokens; of a table of categories or measurements,
        columns with a known value, and all columns. With none known the answer is the class prior (for the Bernoulli
        model: that every token is absent), and a caller may prefer to abstain.
    log_px : ndarray, shape (n,)
        Log P(x), nats, of the known tokens and untempered: where its mean falls, documents have changed.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    n_known: np.ndarray
    n_tokens: np.ndarray
    log_px: np.ndarray


def joint_and_density(posterior: Posterior, settings: Settings, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Log joint probabilities (n, K) that classes are told by, and log P(x) (n,), from one pass over the documents.

    The first has the likelihood to the model's power; the second, log sum_k theta_k p(x | k), never has.
    """
    log_theta, likelihood = posterior.log_theta(settings.estimate), posterior.log_likelihood(X, settings.estimate)
    joint = log_theta + likelihood
    log_px = logsumexp(joint, axis=1)
    return joint if settings.power == 1 else log_theta + settings.power * likelihood, log_px


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
        """Read a model file.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Scorer

        Raises
        ------
        ValueError, OSError
            As `bayesnb.storage.load`.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> scorer = bayesnb.Scorer.load("mail.model")
        >>> scorer.fingerprint == fingerprint
        True
        """
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
        return Tokenizer(self.model.tokens, **self.model.settings.cutting)

    @property
    def classes(self) -> np.ndarray:
        """Class labels, sorted, shape (K,)."""
        return self.model.state.classes

    @cached_property
    def fingerprint(self) -> str:
        """The model's fingerprint, to go with every answer."""
        return self.model.fingerprint

    def score(self, text: str) -> np.ndarray:
        """P(y = k | text) of one text.

        Parameters
        ----------
        text : str

        Returns
        -------
        ndarray, shape (K,)
            Within 1e-12 of what `predict_proba` says.

        Raises
        ------
        ValueError
            It is no text, is impossible under every class, or the model reads matrices.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> bayesnb.Scorer.load("mail.model").score("free coffee prices").round(3).tolist()
        [0.333, 0.667]
        """
        return self._one(text)

    def predict_log_proba(self, documents: Any) -> np.ndarray:
        """Log P(y = k | x).

        Parameters
        ----------
        documents : iterable of str, or array_like or scipy.sparse of shape (n, V)
            Texts for a model of texts; for one of matrices counts, measurements or categories, in the columns learnt.

        Returns
        -------
        ndarray, shape (n, K)
            In nats, columns in the order of `classes`.

        Raises
        ------
        ValueError
            Invalid documents, or one that is impossible under every class.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> bayesnb.Scorer.load("mail.model").predict_log_proba(["free coffee prices", "lunch"]).round(3).tolist()
        [[-1.099, -0.405], [-0.693, -0.693]]
        """
        return self._log_proba(self._counted(documents)[0])

    def predict_proba(self, documents: Any) -> np.ndarray:
        """P(y = k | x). A list of one text takes the short way of `score`.

        Parameters
        ----------
        documents
            As in `predict_log_proba`.

        Returns
        -------
        ndarray, shape (n, K)
            Rows sum to 1.

        Raises
        ------
        ValueError
            As `predict_log_proba`.

        Examples
        --------
        >>> import bayesnb
        >>> fingerprint = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).save("counts.model")
        >>> bayesnb.Scorer.load("counts.model").predict_proba([[1, 0], [1, 3]]).round(3).tolist()
        [[0.75, 0.25], [0.1, 0.9]]
        """
        if is_one_text(documents) and self.model.tokens is not None:
            try:
                return self._one(documents[0])[None]
            except ValueError:
                pass  # the long way says it in its words
        return np.exp(self.predict_log_proba(documents))

    def predict(self, documents: Any) -> np.ndarray:
        """The most probable class of each document.

        Parameters
        ----------
        documents
            As in `predict_log_proba`.

        Returns
        -------
        ndarray, shape (n,)
            The first where several tie.

        Raises
        ------
        ValueError
            As `predict_log_proba`.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> bayesnb.Scorer.load("mail.model").predict(["free prices", "coffee"]).tolist()
        ['spam', 'ham']
        """
        return self.classes[self.predict_proba(documents).argmax(axis=1)]

    def predict_interval(self, documents: Any, level: float = 0.95) -> np.ndarray:
        """Credible interval of each class probability; see `uncertainty.class_probability_interval`.

        Parameters
        ----------
        documents
            As in `predict_log_proba`.
        level : float, 0 < level < 1
            Posterior probability inside.

        Returns
        -------
        ndarray, shape (n, K, 2)
            Lower and upper ends.

        Raises
        ------
        ValueError
            Also where the level is not between 0 and 1, or the model's parameters have no posterior.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> bayesnb.Scorer.load("mail.model").predict_interval(["free coffee prices"], level=0.5).round(2).tolist()
        [[[0.16, 0.66], [0.34, 0.84]]]
        """
        from bayesnb.uncertainty import class_probability_interval

        return class_probability_interval(self.posterior, self._counted(documents)[0], level, self.model.settings.power)

    def n_known(self, documents: Any) -> np.ndarray:
        """Tokens of each document that the model has learnt, or columns with a value.

        Parameters
        ----------
        documents
            As in `predict_log_proba`.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError
            Invalid documents.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> bayesnb.Scorer.load("mail.model").n_known(["free coffee prices", "lunch"]).tolist()
        [3, 0]
        """
        return self._counted(documents)[1]

    def score_many(self, documents: Any) -> Scores:
        """Probabilities, labels and how much of each document was known, in one pass.

        Parameters
        ----------
        documents
            As in `predict_log_proba`.

        Returns
        -------
        Scores

        Raises
        ------
        ValueError
            As `predict_log_proba`.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.model")
        >>> scores = bayesnb.Scorer.load("mail.model").score_many(["free coffee prices", "free lunch"])
        >>> scores.labels.tolist(), scores.n_known.tolist(), scores.n_tokens.tolist()
        (['spam', 'spam'], [3, 1], [3, 2])
        """
        X, n_known, n_tokens = self._counted(documents)
        joint, log_px = joint_and_density(self.posterior, self.model.settings, X)
        probabilities = np.exp(normalise(joint))
        return Scores(probabilities, self.classes[probabilities.argmax(axis=1)], n_known, n_tokens, log_px)

    def _log_proba(self, X: Any) -> np.ndarray:
        settings = self.model.settings
        return self.posterior.log_proba(X, settings.estimate, settings.power)

    def _counted(self, documents: Any, progress: Any = None) -> tuple[Any, np.ndarray, np.ndarray]:
        """Documents as the event model counts them, known tokens, all tokens."""
        settings, names = self.model.settings, self.model.state.tokens
        if self.model.tokens is not None:
            counted = self.tokenizer.count(_texts(documents), self._columns, progress)
            return settings.documents(counted.X), counted.n_known, counted.n_total
        if settings.event == "categorical":
            return self._celled(documents)
        if self.model.named_columns:
            _refuse_other_columns(documents, names)
        X = settings.documents(documents, names if self.model.named_columns else None)
        if settings.event == "gaussian":  # a column counts as a token
            return X, (~np.isnan(X)).sum(axis=1, dtype=float), np.full(len(X), float(X.shape[1]))
        n = X.sum(axis=1, dtype=np.float64)
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
    def _one(self) -> OneText:
        return OneText(self.tokenizer, self.model.settings, self.posterior, self._columns)


def _texts(documents: Iterable[str]) -> list[str]:
    if isinstance(documents, (str, bytes)):
        raise ValueError("one string was given where a list of texts is expected; write [text], or use score(text)")
    return documents.to_list() if hasattr(documents, "to_list") else listed(documents, "a list of texts is expected")


def _refuse_other_columns(documents: Any, names: np.ndarray) -> None:
    """A frame must have the columns that were learnt, in their order."""
    given = getattr(documents, "columns", None)
    if given is None or list(given) == names.tolist():
        return
    if len(given) != len(names):
        raise ValueError(f"X has {len(given)} columns, but the model is expecting {len(names)}")
    place = next(i for i, (one, other) in enumerate(zip(given, names, strict=True)) if one != other)
    raise ValueError(f"column {place} is {given[place]!r}, but the model learnt {names[place]!r} there; reorder X")
