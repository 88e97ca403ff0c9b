"""Class probabilities of one text, in microseconds: the short way that a batch of one takes."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from math import exp
from typing import Any

import numpy as np

from bayesnb.corpus.tokens import Tokenizer
from bayesnb.events.base import CountPosterior, Posterior, normalise
from bayesnb.model import Settings

_FEW = 64  # tokens whose sums differ from the bulk's, in rounding, by less than the promised 1e-12


def is_one_text(documents: Any) -> bool:
    """Whether documents are a list of one string: whatever else they are goes the long way."""
    return type(documents) is list and len(documents) == 1 and type(documents[0]) is str


class OneText:
    """A model laid out for one text at a time; it looks at nothing that may change.

    Parameters
    ----------
    tokenizer : Tokenizer
        Cuts texts as the model's were cut.
    settings : Settings
    posterior : Posterior
        Its tokens are those of texts.
    column : dict
        Column of each token, in their order.

    Notes
    -----
    Two classes under the multinomial model need one number a token, log phi_1j - log phi_0j, from one dictionary.
    Everything else takes the sums that bulk scoring takes, in its order; so do near ties, which must fall alike.
    """

    def __init__(self, tokenizer: Tokenizer, settings: Settings, posterior: Posterior, column: dict[str, int]) -> None:
        self._tokens, self._column = tokenizer.tokens, column
        self._sums = _sums_for(settings, posterior)
        self._binary = settings.binary
        self._base, self._difference = 0.0, None
        if isinstance(self._sums, _TableSums):
            self._difference = self._sums.differences(column)
            if self._difference is not None:
                self._base = float(self._sums.log_theta[1] - self._sums.log_theta[0])

    def __call__(self, text: str) -> np.ndarray:
        """P(y = k | text), shape (K,); within 1e-12 of what bulk scoring says.

        Raises
        ------
        ValueError
            It is no text, or impossible under every class.
        """
        tokens = self._tokens(text)
        if self._difference is not None and len(tokens) <= _FEW:
            once = dict.fromkeys(tokens) if self._binary else tokens
            odds = self._base + sum(map(self._difference.get, once, repeat(0.0)))
            if abs(odds) > 1e-9 * (1 + len(tokens)):
                small = exp(-abs(odds))
                large = 1 / (1 + small)
                small *= large
                return np.array((small, large) if odds > 0 else (large, small))
        counts: Counter[Any] = Counter(map(self._column.get, tokens))
        counts.pop(None, None)
        columns = sorted(counts)
        return self._sums(np.array(columns, np.intp), np.array([counts[column] for column in columns], np.float64))


class _TableSums:
    """One document by a few rows of the table that bulk scoring multiplies with; the sums run in the same order."""

    def __init__(self, settings: Settings, posterior: CountPosterior) -> None:
        bernoulli = settings.event == "bernoulli"
        # the Bernoulli predictive is the mean: each cell is seen once a document
        estimate = "mean" if bernoulli and settings.estimate == "predictive" else settings.estimate
        self.table = posterior._table(estimate)
        self.log_theta = posterior.log_theta(settings.estimate)
        self.power = settings.power
        self.present_above = settings.binarize if bernoulli else 0.0 if settings.binary else None
        self.multinomial = not bernoulli

    def differences(self, column: dict[str, int]) -> dict[str, float] | None:
        """What each token adds to the log-odds of two classes; None where that is not all there is to them."""
        weight = self.table._weight
        if not self.multinomial or weight.shape[1] != 2 or self.table._never is not None:
            return None
        if not np.isfinite(self.log_theta).all():
            return None
        return dict(zip(column, (self.power * (weight[:, 1] - weight[:, 0])).tolist(), strict=True))

    def __call__(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
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


class _GeneralSums:
    """One document by the general path, for settings that have no table."""

    def __init__(self, settings: Settings, posterior: Posterior) -> None:
        self.settings, self.posterior = settings, posterior

    def __call__(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Class probabilities of a document with these counts in these columns, shape (K,)."""
        from scipy import sparse

        row = (counts, columns, np.array([0, len(columns)]))
        X = self.settings.documents(sparse.csr_array(row, shape=(1, self.posterior.statistics.n_tokens)))
        return np.exp(self.posterior.log_proba(X, self.settings.estimate, self.settings.power))[0]


def _sums_for(settings: Settings, posterior: Posterior) -> _TableSums | _GeneralSums:
    threshold = settings.binarize
    plain = settings.event == "multinomial" or (threshold is not None and threshold >= 0)
    plain = plain and (settings.event, settings.estimate) != ("multinomial", "predictive")
    if plain and isinstance(posterior, CountPosterior):
        return _TableSums(settings, posterior)
    return _GeneralSums(settings, posterior)
