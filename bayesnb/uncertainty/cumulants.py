"""Cumulants of a document's class scores over p(theta, phi | D), and quantiles from them.

A score is s_k = log h_k + power * log p(x | phi_k), with theta = h / sum h and independent gamma variates h: the
scores of the classes are independent, theta included, and the log-odds of a and b are s_a - s_b.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse, special

from bayesnb.events.base import CountPosterior
from bayesnb.families import Point
from bayesnb.uncertainty.inversion import LogGammaSum

_NONE = np.empty(0)


def polygamma(order: int, a: np.ndarray) -> np.ndarray:
    """Cumulant number `order` of the logarithm of a Gamma(a) variate: psi^(order - 1)(a)."""
    return special.digamma(a) if order == 1 else special.polygamma(order - 1, a)


@dataclass(frozen=True, eq=False)
class Tables:
    """What one cumulant of every class score is made of.

    Parameters
    ----------
    token : ndarray, shape (K, V)
        Per occurrence of a token; times count^m.
    length : ndarray, shape (K,)
        Subtracted, times (document length)^m; 0 where the length does not matter.
    constant : ndarray, shape (K,)
        Of every document: the columns of the Bernoulli model when absent.
    theta : ndarray, shape (K,)
        Of log h_k; where theta is known, its logarithm in the first cumulant and 0 in the others.
    """

    token: np.ndarray
    length: np.ndarray
    constant: np.ndarray
    theta: np.ndarray


def tables(posterior: CountPosterior, order: int) -> Tables:
    """Tables of one order, formed once a posterior."""
    cache = posterior.__dict__.setdefault("_cumulants", {})
    if order not in cache:
        cache[order] = _tables(posterior, order)
    return cache[order]


def _tables(posterior: CountPosterior, m: int) -> Tables:
    theta = posterior.theta
    if isinstance(theta, Point):
        h = theta.mean_log() if m == 1 else np.zeros_like(theta.value)
    else:
        h = polygamma(m, theta.concentration)
    zero = np.zeros(len(h))
    if posterior.event == "multinomial":
        c = posterior.phi.concentration
        return Tables(polygamma(m, c), polygamma(m, posterior.phi.total), zero, h)
    present, absent = polygamma(m, posterior.phi.a), polygamma(m, posterior.phi.b)
    either = polygamma(m, posterior.phi.a + posterior.phi.b)
    return Tables(present - absent, zero, (absent - either).sum(axis=1), h)


class Documents:
    """Counts as an event model reads them, ready for sums of count^m times a table.

    Nearly all counts of a corpus are 1, so every power of them is the count plus what a few larger counts add.

    Parameters
    ----------
    X : csr_array, shape (n, V)
        Counts as `CountPosterior` reads them.
    power : float
        Exponent of the likelihood.
    """

    def __init__(self, X: sparse.csr_array, power: float = 1.0) -> None:
        self.X, self.power = X, power

    @cached_property
    def _more(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column and count of the entries that are not 1."""
        at = np.flatnonzero(self.X.data != 1)
        row = np.repeat(np.arange(self.X.shape[0]), np.diff(np.searchsorted(at, self.X.indptr)))
        return row, self.X.indices[at], self.X.data[at]

    @cached_property
    def length(self) -> np.ndarray:
        """Tokens of each document, shape (n,)."""
        row, _, count = self._more
        return np.diff(self.X.indptr) + np.bincount(row, count - 1, self.X.shape[0])

    def sums(self, columns: list[np.ndarray]) -> np.ndarray:
        """Sum_j x_ij^m t_mkj for tables t_1, t_2, .. of shape (K, V): (n, orders, K)."""
        stacked = np.ascontiguousarray(np.concatenate(columns).T)
        total = (self.X @ stacked).reshape(-1, len(columns), len(columns[0]))
        row, column, count = self._more
        raised = count
        for m in range(1, len(columns) if len(row) else 0):
            raised = raised * count
            for k, one in enumerate(columns[m]):
                total[:, m, k] += np.bincount(row, (raised - count) * one[column], len(total))
        return total


def score_cumulants(posterior: CountPosterior, documents: Documents, orders: int = 4) -> np.ndarray:
    """Cumulants of every class score, shape (n, orders, K)."""
    parts = [tables(posterior, m) for m in range(1, orders + 1)]
    total = documents.sums([part.token for part in parts])
    for m, part in enumerate(parts, start=1):
        if (part.length != 0).any():
            taken = documents.length[:, None] ** m * part.length
            total[:, m - 1] -= taken
            if m == 2:
                _drop_rounding(total[:, 1], taken)
        total[:, m - 1] += part.constant
        total[:, m - 1] *= documents.power**m
        total[:, m - 1] += part.theta
    return total


def difference_cumulants(posterior: CountPosterior, documents: Documents, a: int, b: int, orders: int) -> np.ndarray:
    """Cumulants of s_a - s_b, shape (n, orders); the differences are taken before the product."""
    parts = [tables(posterior, m) for m in range(1, orders + 1)]
    total = documents.sums([_signed(part.token, m, a, b)[None] for m, part in enumerate(parts)])[:, :, 0]
    n = documents.length
    raised = np.ones_like(n)
    for m, part in enumerate(parts):
        raised = raised * n
        column = total[:, m]
        if (part.length != 0).any():
            column -= raised * _signed(part.length, m, a, b)
            if m == 1:
                _drop_rounding(column, raised * _signed(part.length, m, a, b))
        column += _signed(part.constant, m, a, b)
        column *= documents.power ** (m + 1)
        column += _signed(part.theta, m, a, b)
    return total


def _drop_rounding(variance: np.ndarray, taken: np.ndarray) -> None:
    """Where a total's variance is all but equal to its only cell's, phi is known and their difference is rounding."""
    variance[variance <= 1e-13 * taken] = 0.0


def _signed(part: np.ndarray, m: int, a: int, b: int) -> np.ndarray:
    """Part of the (m + 1)-th cumulant of a difference: odd ones subtract, even ones add."""
    return part[a] + part[b] if m % 2 else part[a] - part[b]


# --- the exact law ------------------------------------------------------------------------------------------


def score_terms(posterior: CountPosterior, X: sparse.csr_array, a: int, b: int | None, power: float) -> LogGammaSum:
    """s_a - s_b of each document as a sum of log-gamma variates, or s_a alone where b is None."""
    parts = [_class_terms(posterior, X, a, power)]
    if b is not None:
        parts.append(_class_terms(posterior, X, b, power).negated())
    shared = [np.concatenate(part) for part in zip(*(part.shared for part in parts), strict=True)]
    row, c, step, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "c", "step", "weight")
    )
    shift = np.sum([part.shift for part in parts], axis=0)
    return LogGammaSum(row, c, step, weight, shift, (shared[0], shared[1], shared[2]))


def _class_terms(posterior: CountPosterior, X: sparse.csr_array, k: int, power: float) -> LogGammaSum:
    n = X.shape[0]
    row, count = np.repeat(np.arange(n), np.diff(X.indptr)), power * X.data
    if posterior.event == "multinomial":
        length = np.bincount(row, count, n)
        terms = [(row, posterior.phi.concentration[k, X.indices], count, 1.0)]
        terms.append((np.arange(n), np.full(n, posterior.phi.total[k]), length, -1.0))
        shared = (_NONE, _NONE, _NONE)
    else:
        present, absent = posterior.phi.a[k], posterior.phi.b[k]
        terms = [(row, present[X.indices], count, 1.0), (row, absent[X.indices], count, -1.0)]
        shared = _repeated(absent, present + absent, power)
    shift = np.zeros(n)
    if isinstance(posterior.theta, Point):
        shift += posterior.theta.mean_log()[k]
    else:
        terms.append((np.arange(n), np.full(n, posterior.theta.concentration[k]), np.ones(n), 1.0))
    row, c, step, weight = (np.concatenate(part) for part in zip(*(_filled(*term) for term in terms), strict=True))
    kept = step != 0
    return LogGammaSum(row[kept], c[kept], step[kept], weight[kept], shift, shared)


def _filled(row: np.ndarray, c: np.ndarray, step: np.ndarray, weight: float) -> tuple[np.ndarray, ...]:
    return row, c, step, np.full(len(row), weight)


def _repeated(absent: np.ndarray, either: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms of all columns absent; columns with the same counts are one term with a weight."""
    up, times_up = np.unique(absent, return_counts=True)
    down, times_down = np.unique(either, return_counts=True)
    c = np.concatenate([up, down])
    return c, np.full(len(c), power), np.concatenate([times_up, -times_down]).astype(float)


def refuse_unknown_event(posterior: CountPosterior) -> None:
    """Raise a ValueError for an event model whose cumulants are not written here."""
    if posterior.event not in ("multinomial", "bernoulli"):
        raise ValueError(f"event model {posterior.event!r} has no law of log-odds here; use multinomial or bernoulli")
