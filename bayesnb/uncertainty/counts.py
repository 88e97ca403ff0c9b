"""Class scores of documents over counts: sums of log-gamma variates (multinomial, Bernoulli, categorical)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from bayesnb import kernels
from bayesnb.events.base import CountPosterior
from bayesnb.uncertainty.cumulants import Documents, filled, polygamma, signed, theta_cumulant, theta_terms
from bayesnb.uncertainty.cumulants import Terms as TermList
from bayesnb.uncertainty.inversion import LogGammaSum

_NONE = np.empty(0)


_KEPT = 1 << 22  # cells of a table of all tokens that is worth keeping
_HELD = 1 << 20  # cells of one for some tokens, which is not


@dataclass(frozen=True, eq=False)
class Tables:
    """What one cumulant of every class score is made of, beside the tokens that are present.

    Parameters
    ----------
    length : ndarray, shape (K,)
        Subtracted, times (document length)^m; 0 where the length does not matter.
    constant : ndarray, shape (K,)
        Of every document: the columns of the Bernoulli model when absent.
    theta : ndarray, shape (K,)
        Of log h_k; where theta is known, its logarithm in the first cumulant and 0 in the others.
    """

    length: np.ndarray
    constant: np.ndarray
    theta: np.ndarray


def tables(posterior: CountPosterior, order: int) -> Tables:
    """Tables of one order, formed once a posterior."""
    return _once(posterior, ("rest", order), lambda: _tables(posterior, order))


def _once(posterior: CountPosterior, name: tuple[str, int], compute: Callable[[], Any]) -> Any:
    cache = posterior.__dict__.setdefault("_cumulants", {})
    if name not in cache:
        cache[name] = compute()
    return cache[name]


def _tables(posterior: CountPosterior, m: int) -> Tables:
    h = theta_cumulant(posterior, m)
    zero = np.zeros(len(h))
    if posterior.event == "multinomial":
        return Tables(polygamma(m, posterior.phi.total), zero, h)
    return Tables(zero, _of_absence(posterior, m) if posterior.event == "bernoulli" else zero, h)


def _is_kept(posterior: CountPosterior) -> bool:
    return posterior.event == "categorical" or posterior.statistics.feature_count.size <= _KEPT


def _all_tokens(posterior: CountPosterior, m: int) -> np.ndarray:
    """Cumulant of an occurrence of each token, times count^m, shape (K, V); formed once a posterior."""
    compute = _of_category if posterior.event == "categorical" else _of_tokens
    return _once(posterior, ("tokens", m), lambda: compute(posterior, m))


def _of_tokens(posterior: CountPosterior, m: int, columns: Any = slice(None)) -> np.ndarray:
    """Cumulant of an occurrence of some tokens, shape (K, columns)."""
    phi = posterior.phi
    if posterior.event == "multinomial":
        return polygamma(m, phi.concentration[:, columns])
    return polygamma(m, phi.a[:, columns]) - polygamma(m, phi.b[:, columns])


def _of_absence(posterior: CountPosterior, m: int) -> np.ndarray:
    """Cumulant of the absence of every token, shape (K,); columns with the same counts are judged once."""
    total = np.empty(len(posterior.phi.a))
    for k, (a, b) in enumerate(zip(posterior.phi.a, posterior.phi.b, strict=True)):
        pair, times = np.unique(a + 1j * b, return_counts=True)
        total[k] = times @ (polygamma(m, pair.imag) - polygamma(m, pair.real + pair.imag))
    return total


def _of_category(posterior: CountPosterior, m: int) -> np.ndarray:
    """Cumulant of log phi of each cell, psi_m(c) - psi_m(C) with C the total of its column, shape (K, V)."""
    if m <= 2:  # a nearly certain category keeps its digits there
        return posterior.phi.mean_log() if m == 1 else posterior.phi.variance_log()
    return polygamma(m, posterior.phi.concentration) - polygamma(m, posterior.phi.total)


class Counted(Documents):
    """Documents over counts, ready for sums of count^m times a table.

    Nearly all counts of a corpus are 1, so every power of them is the count plus what a few larger counts add.
    """

    posterior: CountPosterior

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
        total = kernels.score(self.X, stacked).reshape(-1, len(columns), len(columns[0]))
        row, column, count = self._more
        raised = count
        for m in range(1, len(columns) if len(row) else 0):
            raised = raised * count
            for k, one in enumerate(columns[m]):
                total[:, m, k] += np.bincount(row, (raised - count) * one[column], len(total))
        return total

    def _of_present(self, orders: int, of_classes: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Sums of what is made of the tokens' tables, (n, orders, rows); large tables are formed for some tokens only.

        A thousand classes with a hundred thousand tokens would fill gigabytes, of which a document needs some rows.
        """
        posterior, order = self.posterior, range(1, orders + 1)
        if _is_kept(posterior):
            return self.sums([of_classes(_all_tokens(posterior, m), m) for m in order])
        used = np.unique(self.X.indices)
        pieces = np.array_split(used, 1 + len(used) * posterior.statistics.n_classes // _HELD)
        parts = (
            Counted(posterior, self.X[:, some], self.power).sums(
                [of_classes(_of_tokens(posterior, m, some), m) for m in order]
            )
            for some in pieces
        )
        return reduce(np.add, parts)

    def score_cumulants(self, orders: int) -> np.ndarray:
        """Cumulants of every class score, shape (n, orders, K)."""
        parts = [tables(self.posterior, m) for m in range(1, orders + 1)]
        total = self._of_present(orders, lambda table, m: table)
        for m, part in enumerate(parts, start=1):
            if (part.length != 0).any():
                taken = self.length[:, None] ** m * part.length
                total[:, m - 1] -= taken
                if m == 2:
                    _drop_rounding(total[:, 1], taken)
            total[:, m - 1] += part.constant
            total[:, m - 1] *= self.power**m
            total[:, m - 1] += part.theta
        return total

    def difference_cumulants(self, a: int, b: int, orders: int) -> np.ndarray:
        """Cumulants of s_a - s_b, shape (n, orders); the differences are taken before the product."""
        parts = [tables(self.posterior, m) for m in range(1, orders + 1)]
        total = self._of_present(orders, lambda table, m: signed(table, m, a, b)[None])[:, :, 0]
        raised = np.ones_like(self.length)
        for m, part in enumerate(parts, start=1):
            raised = raised * self.length
            column = total[:, m - 1]
            if (part.length != 0).any():
                taken = raised * signed(part.length, m, a, b)
                column -= taken
                if m == 2:
                    _drop_rounding(column, taken)
            column += signed(part.constant, m, a, b)
            column *= self.power**m
            column += signed(part.theta, m, a, b)
        return total

    def terms(self, rows: np.ndarray, a: int, b: int | None = None) -> LogGammaSum:
        """Exact law of s_a - s_b of some rows, or of s_a alone where b is None."""
        X = self.X[rows]
        parts = [_class_terms(self.posterior, X, a, self.power)]
        if b is not None:
            parts.append(_class_terms(self.posterior, X, b, self.power).negated())
        shared = [np.concatenate(part) for part in zip(*(part.shared for part in parts), strict=True)]
        row, c, step, weight = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "c", "step", "weight")
        )
        shift = np.sum([part.shift for part in parts], axis=0)
        return LogGammaSum(row, c, step, weight, shift, (shared[0], shared[1], shared[2]))


def _drop_rounding(variance: np.ndarray, taken: np.ndarray) -> None:
    """Where a total's variance is all but equal to its only cell's, phi is known and their difference is rounding."""
    variance[variance <= 1e-13 * taken] = 0.0


def _class_terms(posterior: CountPosterior, X, k: int, power: float) -> LogGammaSum:
    n = X.shape[0]
    row, count = np.repeat(np.arange(n), np.diff(X.indptr)), power * X.data
    shared = (_NONE, _NONE, _NONE)
    terms: TermList
    if posterior.event == "multinomial":
        length = np.bincount(row, count, n)
        terms = [filled(row, posterior.phi.concentration[k, X.indices], count, 1.0)]
        terms.append(filled(np.arange(n), np.full(n, posterior.phi.total[k]), length, -1.0))
    elif posterior.event == "categorical":
        c, total = (part[k, X.indices] for part in (posterior.phi.concentration, posterior.phi.total))
        count = np.where(c == total, 0.0, count)  # a category alone in its column is certain
        terms = [filled(row, c, count, 1.0), filled(row, total, count, -1.0)]
    else:
        present, absent = posterior.phi.a[k], posterior.phi.b[k]
        terms = [filled(row, present[X.indices], count, 1.0), filled(row, absent[X.indices], count, -1.0)]
        shared = _repeated(absent, present + absent, power)
    of_theta, constant = theta_terms(posterior, k, 1.0, n)
    row, c, step, weight = (np.concatenate(part) for part in zip(*terms, *of_theta, strict=True))
    kept = step != 0
    return LogGammaSum(row[kept], c[kept], step[kept], weight[kept], np.full(n, constant), shared)


def _repeated(absent: np.ndarray, either: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms of all columns absent; columns with the same counts are one term with a weight."""
    up, times_up = np.unique(absent, return_counts=True)
    down, times_down = np.unique(either, return_counts=True)
    c = np.concatenate([up, down])
    return c, np.full(len(c), power), np.concatenate([times_up, -times_down]).astype(float)
