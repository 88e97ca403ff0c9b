"""Stacking weights: the mixture of candidates with the largest leave-one-out log score, by convex optimisation.

The weights maximise sum_i log sum_m w_m p_m(y_i | x_i, D without i) over the simplex [1], which is concave. A log
barrier with Newton steps [2] reaches the optimum, and the Karush-Kuhn-Tucker conditions bound how far it is away.

References
----------
.. [1] Y. Yao, A. Vehtari, D. Simpson and A. Gelman, Using stacking to average Bayesian predictive distributions,
   Bayesian Analysis 13 (2018).
.. [2] S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, chapter 11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-7  # nats, of the sum of log scores


def stacking_weights(log_score: np.ndarray, prior: float = 0.0) -> np.ndarray:
    """Weights of a mixture, shape (M,), summing to 1.

    Parameters
    ----------
    log_score : ndarray, shape (N, M)
        Log p_m(y_i | x_i, D without i); finite for one candidate at least of each document.
    prior : float
        Documents that a Dirichlet(1 + prior/M) prior of the weights is worth: (prior/M) sum_m log w_m is added to the
        sum of log scores.

    Notes
    -----
    Without a prior g_m = mean_i p_im / sum_l w_l p_il is at most 1 at the optimum, and 1 where w_m > 0. The sum of log
    scores is within N (max g - 1) of the largest possible, here below 1e-7.
    """
    if not 0 <= prior < np.inf:
        raise ValueError(f"prior must be a number of documents >= 0, got {prior!r}")
    mixture = _Mixture.of(log_score)
    m = log_score.shape[1]
    w, strength = np.full(m, 1 / m), 1.0
    last = max(prior, TOLERANCE / 2) / m
    while True:
        w = _newton(mixture, w, max(strength, last))
        if strength <= last:
            return w / w.sum()
        strength /= 8


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Sum of log scores of a mixture, less N sum w.

    That term is N wherever the slope is 0, so weights need not be held to sum to 1.
    """

    p: np.ndarray
    same: int
    n: int

    @classmethod
    def of(cls, log_score: np.ndarray) -> _Mixture:
        p = np.exp(log_score - log_score.max(axis=1, keepdims=True))  # a row's factor does not move the optimum
        alike = p.min(axis=1) > 1 - 1e-13  # most documents are plain to every candidate: counted, not computed
        return cls(p[~alike], int(alike.sum()), len(p))

    def value(self, w: np.ndarray) -> float:
        total = w.sum()
        return float(np.log(self.p @ w).sum() + self.same * np.log(total) - self.n * total)

    def slope_and_curvature(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio, total = self.p / (self.p @ w)[:, None], w.sum()
        # without BLAS: matrices this small lose more by its threads waiting for a core than they gain
        curvature = -np.einsum("im,il->ml", ratio, ratio) - self.same / total**2
        return ratio.sum(axis=0) + self.same / total - self.n, curvature


def _newton(mixture: _Mixture, w: np.ndarray, strength: float) -> np.ndarray:
    """Maximise the mixture's value + strength sum log w."""
    for _ in range(100):
        slope, curvature = mixture.slope_and_curvature(w)
        # in units of w, since near the edge the barrier's curvature spans many decades
        scaled = (slope * w + strength, -curvature * w * w[:, None] + strength * np.eye(len(w)))
        step = np.linalg.solve(scaled[1], scaled[0])
        gain = float(scaled[0] @ step)
        if gain < 1e-9 * strength:
            break
        here, size = mixture.value(w) + strength * np.log(w).sum(), 1.0
        new = w
        while size > 1e-15:
            new = w * (1 + size * step)
            if new.min() > 0 and mixture.value(new) + strength * np.log(new).sum() >= here + 0.1 * size * gain:
                break
            size /= 2
        else:
            break  # no step gains what rounding lets one see
        w = new
    return w
