"""The law of some documents' class probabilities over the posterior: two classes exactly, more by pair or lattice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import expit

from bayesnb.events.base import CountPosterior
from bayesnb.uncertainty.cumulants import Documents, difference_cumulants, score_cumulants, score_terms, tables
from bayesnb.uncertainty.inversion import LogGammaSum
from bayesnb.uncertainty.lattice import Scores, share_interval, share_largest
from bayesnb.uncertainty.quantiles import Terms, equal_tailed, probability_positive

_SIGNS = np.array([-1.0, 1.0, -1.0, 1.0])  # (-1)^m of the cumulants of -s


class ClassLaw:
    """Class probabilities of documents as functions of theta and phi, which follow the posterior.

    Parameters
    ----------
    posterior : CountPosterior
        Of theta and phi.
    X : csr_array, shape (n, V)
        Counts as the event model reads them.
    power : float
        Exponent of the likelihood.
    """

    def __init__(self, posterior: CountPosterior, X: sparse.csr_array, power: float) -> None:
        self.posterior, self.power = posterior, power
        self.documents = Documents(X, power)
        self.shape = X.shape[0], posterior.statistics.n_classes
        # a class whose known probability is 0 has that probability whatever the document
        self.live = np.flatnonzero(~np.isneginf(tables(posterior, 1).theta))

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
        return difference_cumulants(self.posterior, self.documents, a, b, 4)

    def _pair_terms(self, a: int, b: int, among: np.ndarray | None = None) -> Terms:
        def terms(rows: np.ndarray) -> LogGammaSum:
            return self._terms(rows if among is None else among[rows], a, b)

        return terms

    def _terms(self, rows: np.ndarray, a: int, b: int | None = None) -> LogGammaSum:
        return score_terms(self.posterior, self.documents.X[rows], a, b, self.power)

    # --- more -----------------------------------------------------------------------------------------------

    @cached_property
    def _scores(self) -> Scores:
        cumulants = score_cumulants(self.posterior, self.documents)[:, :, self.live]
        return Scores(cumulants, lambda rows, k: self._terms(rows, int(self.live[k])))

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
    return cumulants[:, :, a] + _SIGNS * cumulants[:, :, b]
