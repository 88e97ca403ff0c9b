"""The law of some documents' class probabilities over the posterior: two classes exactly, more by pair or lattice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from bayesnb.events.base import Posterior
from bayesnb.uncertainty.counts import Counted
from bayesnb.uncertainty.cumulants import Documents, alternating, theta_cumulant
from bayesnb.uncertainty.inversion import Law
from bayesnb.uncertainty.lattice import Scores, share_interval, share_largest
from bayesnb.uncertainty.measured import Measured
from bayesnb.uncertainty.quantiles import Terms, equal_tailed, probability_positive

LEAST, MOST = 1e-50, 1e50
_READERS: dict[str, type[Documents]] = {
    "multinomial": Counted, "bernoulli": Counted, "categorical": Counted, "gaussian": Measured
}  # fmt: skip


def read(posterior: Posterior, X: Any, power: float) -> Documents:
    """Documents as the posterior reads them, with the laws of their scores.

    Raises
    ------
    ValueError
        X does not fit the model or has a count above 1e50, or its parameters have no posterior, or the event model no
        law of log-odds here.
    """
    if posterior.event not in _READERS:
        known = ", ".join(_READERS)
        raise ValueError(f"event model {posterior.event!r} has no law of log-odds here; those of {known} have")
    X = posterior._document(X)
    _refuse_extremes(posterior, X)
    return _READERS[posterior.event](posterior, X, power)


def _refuse_extremes(posterior: Posterior, X: Any) -> None:
    """Cumulants have the fourth powers of counts and reciprocal concentrations, which must stay in floating point."""
    theta = getattr(posterior.theta, "concentration", np.ones(1))
    least = min(getattr(posterior.prior, "lowest", 1.0), theta.min(initial=1.0))
    if least < LEAST:
        raise ValueError(f"a concentration is {least:g}: laws of log-odds are for concentrations from {LEAST:g} on")
    if isinstance(X, np.ndarray):
        return
    beyond = np.flatnonzero((X.data > MOST) | ((X.data < LEAST) & (X.data > 0)))
    if len(beyond):
        row = int(np.searchsorted(X.indptr, beyond[0], side="right")) - 1
        value = X.data[beyond[0]]
        raise ValueError(f"row {row} has a count of {value:g}: laws of log-odds are for {LEAST:g} to {MOST:g}")


class ClassLaw:
    """Class probabilities of documents as functions of theta and the other parameters, which follow the posterior.

    Parameters
    ----------
    documents : Documents
        With the laws of their class scores.
    """

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        posterior = documents.posterior
        self.shape = documents.X.shape[0], posterior.statistics.n_classes
        # a class whose known probability is 0 has that probability whatever the document
        self.live = np.flatnonzero(~np.isneginf(theta_cumulant(posterior, 1)))

    def interval(self, level: float) -> np.ndarray:
        """Equal-tailed intervals, shape (n, K, 2)."""
        result = np.zeros((*self.shape, 2))
        if len(self.live) == 1:
            result[:, self.live[0]] = 1.0
        elif len(self.live) == 2:
            a, b = self._two
            low, high = equal_tailed(self._pair_cumulants, self._pair_terms(a, b), level)
            expit(low, out=result[:, a, 0])
            expit(high, out=result[:, a, 1])
            expit(-high, out=result[:, b, 0])
            expit(-low, out=result[:, b, 1])
        else:
            self._several_intervals(result, level)
        return result

    def largest(self) -> np.ndarray:
        """Probability that each class is the most probable one, shape (n, K)."""
        result = np.zeros(self.shape)
        if len(self.live) == 1:
            result[:, self.live[0]] = 1.0
        elif len(self.live) == 2:
            a, b = self._two
            result[:, a], result[:, b] = probability_positive(self._pair_cumulants, self._pair_terms(a, b))
        else:
            self._several_largest(result)
        return result

    # --- two classes ----------------------------------------------------------------------------------------

    @property
    def _two(self) -> tuple[int, int]:
        return int(self.live[0]), int(self.live[1])

    @cached_property
    def _pair_cumulants(self) -> np.ndarray:
        a, b = self._two
        return self.documents.difference_cumulants(a, b, self.documents.orders)

    def _pair_terms(self, a: int, b: int, among: np.ndarray | None = None) -> Terms:
        def terms(rows: np.ndarray) -> Law:
            return self.documents.terms(rows if among is None else among[rows], a, b)

        return terms

    # --- more -----------------------------------------------------------------------------------------------

    @cached_property
    def _scores(self) -> Scores:
        cumulants = self.documents.score_cumulants(self.documents.orders)[:, :, self.live]
        return Scores(cumulants, lambda rows, k: self.documents.terms(rows, int(self.live[k])))

    def _several_intervals(self, result: np.ndarray, level: float) -> None:
        scores = self._scores
        rival, alone = scores.rivals()
        rest = np.flatnonzero(~alone.all(axis=1))
        result[np.ix_(rest, self.live)] = share_interval(scores, rest, level)
        for rows, k, r in _groups(rival, alone):
            terms = self._pair_terms(int(self.live[k]), int(self.live[r]), rows)
            low, high = equal_tailed(_difference(scores.cumulants[rows], k, r), terms, level)
            result[rows, self.live[k], 0], result[rows, self.live[k], 1] = expit(low), expit(high)

    def _several_largest(self, result: np.ndarray) -> None:
        scores = self._scores
        first, second, clear = scores.leaders()
        rest = np.flatnonzero(~clear)
        result[np.ix_(rest, self.live)] = share_largest(scores, rest)
        # the lower class number first: a certain tie is the first class's
        low, high = np.minimum(first, second), np.maximum(first, second)
        chosen = np.zeros((len(low), scores.n_classes), bool)
        chosen[np.arange(len(low)), low] = clear
        for rows, k, r in _groups(np.where(chosen, high[:, None], 0), chosen):
            terms = self._pair_terms(int(self.live[k]), int(self.live[r]), rows)
            above, below = probability_positive(_difference(scores.cumulants[rows], k, r), terms)
            result[rows, self.live[k]], result[rows, self.live[r]] = above, below


def _groups(rival: np.ndarray, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, int, int]]:
    """Rows that share a class k and its rival r, for every pair that occurs."""
    for k in range(rival.shape[1]):
        for r in np.unique(rival[chosen[:, k], k]):
            yield np.flatnonzero(chosen[:, k] & (rival[:, k] == r)), k, int(r)


def _difference(cumulants: np.ndarray, a: int, b: int) -> np.ndarray:
    return cumulants[:, :, a] + alternating(cumulants.shape[1]) * cumulants[:, :, b]
