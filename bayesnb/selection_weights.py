"""Weights for combining candidates, by convex optimisation of their leave-one-out scores.

`stacking_weights` maximises sum_i log sum_m w_m p_im over the simplex (Yao et al. 2018), a mixture of predictions.
`pooling_weights` maximises sum_i log P_w(y_i | x_i), P_w(k) proportional to theta_k prod_m p_m(x_i | k)^w_m, over w >= 0
with sum w <= 1, a geometric pool: weights that sum below 1 temper. Both are concave; a log barrier with Newton steps
reaches the optimum, and the Karush-Kuhn-Tucker conditions bound how far it is away.

References
----------
.. [1] Y. Yao, A. Vehtari, D. Simpson and A. Gelman, Using stacking to average Bayesian predictive distributions,
   Bayesian Analysis 13 (2018).
.. [2] S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, chapter 11.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import softmax

Objective = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]

TOLERANCE = 1e-7  # nats, of the sum of log scores


def stacking_weights(log_score: np.ndarray) -> np.ndarray:
    """Weights of a mixture, shape (M,), summing to 1.

    Parameters
    ----------
    log_score : ndarray, shape (N, M)
        Log p_m(y_i | x_i, D without i).

    Notes
    -----
    At the optimum g_m = mean_i p_im / sum_l w_l p_il is at most 1, and 1 where w_m > 0. The sum of log scores is within
    N (max g - 1) of the largest possible.
    """
    _, m = log_score.shape
    p = np.exp(log_score - log_score.max(axis=1, keepdims=True))  # a row's factor does not move the optimum
    n = len(p)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        # less n sum w, which is n wherever the gradient is 0: so the simplex needs no constraint
        ratio = p / (p @ w)[:, None]
        return float(np.log(p @ w).sum() - n * w.sum()), ratio.sum(axis=0) - n, -ratio.T @ ratio

    w = _climb(objective, np.full(m, 1 / m), bounded=False)
    return w / w.sum()


def pooling_weights(log_theta: np.ndarray, log_likelihood: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Exponents of a geometric pool, shape (M,), each >= 0 and summing to at most 1.

    Parameters
    ----------
    log_theta : ndarray, shape (N, K)
        Log class probabilities without document i.
    log_likelihood : ndarray, shape (M, N, K)
        Log p_m(x_i | k), in the column of its own class without document i.
    own : ndarray of int, shape (N,)
        Position of each document's class.
    """
    m, n, _ = log_likelihood.shape
    rows = np.arange(n)
    z = log_likelihood - log_likelihood[:, rows, own][:, :, None]  # against the own class

    def objective(w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        joint = log_theta + np.tensordot(w, z, 1)
        p = softmax(joint, axis=1)
        top = joint.max(axis=1)
        value = joint[rows, own] - top - np.log(np.exp(joint - top[:, None]).sum(axis=1))
        mean = np.einsum("mik,ik->mi", z, p)
        root = (z - mean[:, :, None]) * np.sqrt(p)
        spread = root.reshape(m, -1)
        return float(value.sum()), -mean.sum(axis=1), -spread @ spread.T

    return _climb(objective, np.full(m, 1 / (m + 1)), bounded=True)


def _climb(objective: Objective, w: np.ndarray, *, bounded: bool) -> np.ndarray:
    """Maximise a concave objective over w >= 0, and sum w <= 1 where bounded, from a point inside."""
    strength = 1.0
    while strength * (len(w) + 1) > TOLERANCE / 4:
        w = _newton(objective, w, strength, bounded)
        strength /= 8
    return w


def _newton(objective: Objective, w: np.ndarray, strength: float, bounded: bool) -> np.ndarray:
    for _ in range(60):
        value, gradient, hessian = objective(w)
        slack = 1 - w.sum()
        gradient = gradient + strength / w - (strength / slack if bounded else 0.0)
        hessian = hessian - np.diag(strength / w**2) - (strength / slack**2 if bounded else 0.0)
        # scaled by w: near the edge the barrier's curvature spans many decades
        step = w * np.linalg.solve(-hessian * w * w[:, None], gradient * w)
        gain = float(gradient @ step)
        if gain < 1e-2 * strength:
            break
        w = _backtrack(objective, w, step, gain, strength, bounded, value)
    return w


def _backtrack(
    objective: Objective, w: np.ndarray, step: np.ndarray, gain: float, strength: float, bounded: bool, value: float
) -> np.ndarray:
    def barrier(w: np.ndarray) -> float:
        return strength * (np.log(w).sum() + (np.log(1 - w.sum()) if bounded else 0.0))

    here, size = value + barrier(w), 1.0
    for _ in range(50):
        new = w + size * step
        if new.min() > 0 and not (bounded and new.sum() >= 1) and objective(new)[0] + barrier(new) > here + 0.1 * size * gain:
            return new
        size /= 2
    return w
