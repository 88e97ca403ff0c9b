"""Documents under every event model, through the laws of their class scores over p(theta, parameters | D).

A score is s_k = log h_k + power * log p(x | parameters of k), with theta = h / sum h and independent gamma variates h:
the scores of the classes are independent, theta included, and the log-odds of a and b are s_a - s_b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import special

from bayesnb.events.base import Posterior
from bayesnb.families import Point
from bayesnb.uncertainty.inversion import Law


def polygamma(order: int, a: np.ndarray) -> np.ndarray:
    """Cumulant number `order` of the logarithm of a Gamma(a) variate: psi^(order - 1)(a)."""
    return special.digamma(a) if order == 1 else special.polygamma(order - 1, a)


def theta_cumulant(posterior: Posterior, order: int) -> np.ndarray:
    """One cumulant of each log h_k, shape (K,); of a known theta its logarithm, and 0 beyond the first."""
    theta = posterior.theta
    if not isinstance(theta, Point):
        return polygamma(order, theta.concentration)
    return theta.mean_log() if order == 1 else np.zeros_like(theta.value)


class Documents(ABC):
    """Some documents, and the laws of their class scores.

    Parameters
    ----------
    posterior : Posterior
        Of theta and of the event model's parameters.
    X : csr_array or ndarray, shape (n, V)
        Documents as the posterior reads them.
    power : float
        Exponent of the likelihood.
    """

    orders: ClassVar[int] = 4
    """Cumulants that tell how far a score is from normal; see `quantiles.trusted`."""

    def __init__(self, posterior: Posterior, X: Any, power: float) -> None:
        self.posterior, self.X, self.power = posterior, X, power

    @abstractmethod
    def score_cumulants(self, orders: int) -> np.ndarray:
        """Cumulants of every class score, shape (n, orders, K)."""

    @abstractmethod
    def difference_cumulants(self, a: int, b: int, orders: int) -> np.ndarray:
        """Cumulants of s_a - s_b, shape (n, orders)."""

    @abstractmethod
    def terms(self, rows: np.ndarray, a: int, b: int | None = None) -> Law:
        """Exact law of s_a - s_b of some rows, or of s_a alone where b is None."""


def signed(part: np.ndarray, order: int, a: int, b: int) -> np.ndarray:
    """Part of a cumulant of a difference, from the parts of each class along the first axis: odd orders subtract."""
    return part[a] - part[b] if order % 2 else part[a] + part[b]


def alternating(orders: int) -> np.ndarray:
    """(-1)^m, m = 1, 2, ..: what turns the cumulants of s into those of -s."""
    return (-1.0) ** np.arange(1, orders + 1)


Terms = list[tuple[np.ndarray, ...]]


def theta_terms(posterior: Posterior, k: int, sign: float, n: int) -> tuple[Terms, float]:
    """Log h_k of n rows times a sign: its log-gamma terms (row, c, step, weight) and its constant."""
    if isinstance(posterior.theta, Point):
        return [], sign * float(posterior.theta.mean_log()[k])
    return [filled(np.arange(n), np.full(n, posterior.theta.concentration[k]), np.full(n, sign), 1.0)], 0.0


def filled(row: np.ndarray, c: np.ndarray, step: np.ndarray, weight: float) -> tuple[np.ndarray, ...]:
    """Log-gamma terms of one weight."""
    return row, c, step, np.full(len(row), weight)
