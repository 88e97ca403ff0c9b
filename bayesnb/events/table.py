"""Scores of documents under fixed token probabilities, and the class probabilities that scores stand for."""

from __future__ import annotations

from functools import cached_property, reduce

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from bayesnb import kernels

_FEW = 8  # classes


class LogTable:
    """What scoring documents under fixed probabilities needs, laid out once: the matrices are (V, K), in C order.

    Parameters
    ----------
    p : ndarray, shape (K, V)
        Probability of each token.
    absence : ndarray, shape (K, V), optional
        Probability that it is absent, 1 - p with all its digits, where absence counts (the Bernoulli model).
    """

    def __init__(self, p: np.ndarray, absence: np.ndarray | None = None) -> None:
        self._weight, self._never = _finite_log(p)
        self._constant, self._always = np.zeros(len(p)), None
        if absence is not None:
            log_absence, self._always = _finite_log(absence)
            self._weight -= log_absence
            self._constant += log_absence.sum(axis=0)

    @property
    def finite(self) -> bool:
        """Whether no document is impossible under any class."""
        return self._never is None and self._always is None

    def score(self, X: sparse.csr_array) -> np.ndarray:
        """Log p(x_i | k) with 0 log 0 = 0, shape (N, K); -inf where what happened has probability 0."""
        total = kernels.score(X, self._weight)
        total += self._constant
        if self._never is not None:
            total[kernels.score(X, self._never) > 0] = -np.inf
        if self._always is not None:
            total[self._always.sum(axis=0) - kernels.score(X, self._always) > 0] = -np.inf
        return total

    @cached_property
    def _difference(self) -> np.ndarray:
        return self._weight[:, 0] - self._weight[:, 1]

    def leader(self, X: sparse.csr_array, log_theta: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
        """Position of the largest log_theta + power * score of each document, and where rounding may have chosen it.

        Two classes are told apart by one column of differences.
        """
        base = log_theta + power * self._constant
        if len(base) != 2:
            best, top, gap = kernels.leader(X, self._weight, base, power)
            return best, np.flatnonzero(~(gap > 1e-9 + 1e-12 * np.abs(top)))
        total, length = kernels.difference(X, self._difference)
        odds = (base[0] - base[1]) + power * total
        return (odds < 0).astype(np.intp), np.flatnonzero(~(np.abs(odds) >= 1e-9 * (1 + max(power, 1.0) * length)))


def _finite_log(p: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Logarithms with 0 in place of -inf, and 1 where that was; both (V, K)."""
    with np.errstate(divide="ignore"):
        weight = np.array(p.T, dtype=float, order="C")
        np.log(weight, out=weight)
    if not weight.size or weight.min() > -np.inf:
        return weight, None
    impossible = np.isneginf(weight)
    weight[impossible] = 0.0
    return weight, impossible.astype(float)


def normalise(joint: np.ndarray) -> np.ndarray:
    """Log class probabilities from log joint densities, shape (N, K); ValueError where a row has none."""
    if joint.size and not (joint.min() > -np.inf and joint.max() < np.inf):
        _refuse_improper(joint)
    if joint.shape[1] > _FEW:
        return log_softmax(joint, axis=1)
    # the same by columns: rows are too short for loops of their own
    top = reduce(np.maximum, joint.T)
    shifted = joint - top[:, None]
    shifted -= np.log(reduce(np.add, np.exp(shifted).T))[:, None]
    return shifted


def _refuse_improper(joint: np.ndarray) -> None:
    unknown = np.flatnonzero(~(joint < np.inf).all(axis=1))
    if len(unknown):
        raise ValueError(
            f"row {unknown[0]} has log densities {joint[unknown[0]]}, beyond floating point: its values or the prior "
            "are too extreme; rescale them"
        )
    impossible = np.flatnonzero(np.isneginf(joint).all(axis=1))
    if len(impossible):
        raise ValueError(
            f"row {impossible[0]} has probability 0 under every class, so its class probabilities are 0/0; "
            "fit again with alpha > 0, and not with estimate='mle'"
        )
