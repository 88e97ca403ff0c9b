"""Sums of log densities of normal variables whose mean and variance have a posterior, from their exact transform.

With tau = 1/sigma2 ~ Gamma(alpha, rate beta) and mu | tau ~ Normal(m, 1/(kappa tau)), tau (x - mu)^2 given tau is a
noncentral chi-square variate of one degree of freedom over kappa, whose transform is exponential in tau; the integral
over tau is then a gamma function. With d = x - m, v = 1/kappa, delta = d^2 / (2 beta), the log density Y of x has

    log E exp(r Y) = -r/2 log(2 pi beta) + log Gamma(alpha + r/2) - log Gamma(alpha)
                     - (alpha + r/2) log(1 + delta r / (1 + v r)) - log(1 + v r) / 2

for r > max(-2 alpha, -1/(v + delta)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from bayesnb.uncertainty.inversion import LogGammaSum, Transform, complex_log1p

_CELLS = 1 << 15  # complex numbers at once: they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class NormalSum:
    """Independent sums, one a row, of log densities x Y and of log-gamma variates.

    Parameters
    ----------
    gammas : LogGammaSum
        The log-gamma variates, among them those of the variances; constants are its shifts.
    row, alpha, v, delta, step : ndarray, shape (terms,)
        Row of each log density, what it is made of (see the module), and its factor x, negative where it is subtracted.
    """

    gammas: LogGammaSum
    row: np.ndarray
    alpha: np.ndarray
    v: np.ndarray
    delta: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.gammas)

    def negated(self) -> NormalSum:
        """The sums with their sign turned."""
        return replace(self, gammas=self.gammas.negated(), step=-self.step)

    def take(self, rows: np.ndarray) -> NormalSum:
        """Some of the rows, in that order."""
        place = np.full(len(self), -1)
        place[rows] = np.arange(len(rows))
        new = place[self.row]
        kept = np.flatnonzero(new >= 0)
        kept = kept[np.argsort(new[kept], kind="stable")]
        return NormalSum(
            self.gammas.take(rows), new[kept], self.alpha[kept], self.v[kept], self.delta[kept], self.step[kept]
        )

    def pole(self) -> np.ndarray:
        """First pole of the transform at s > 0, shape (n,); infinite where there is none."""
        edge = self.gammas.pole()
        found = self.step < 0
        np.minimum.at(edge, self.row[found], 1 / (-self.step * (self.v + self.delta))[found])
        return edge

    def transform(self) -> _Transform:
        """What evaluates K of every row at any s; rows must be in order, as `take` leaves them."""
        pairs, place = np.unique(self.v + 1j * self.step, return_inverse=True)
        times = sparse.csr_array((np.ones(len(place)), (self.row, place)), shape=(len(self), len(pairs)))
        return _Transform(self, self.gammas.transform(), times, (pairs.real * pairs.imag)[:, None])


@dataclass(frozen=True, eq=False)
class _Transform:
    """K(s), with the log(1 + v r) once for each distinct one: columns of a class share their kappa."""

    of: NormalSum
    gammas: Transform
    times: sparse.csr_array
    v: np.ndarray

    def __call__(self, s: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """K(s) - s centre, shape (n, nodes)."""
        value = self.gammas(s, centre) - 0.5 * (self.times @ complex_log1p(self.v * s))
        of = self.of
        for part, starts in _pieces(of.row, max(1, _CELLS // len(s))):
            r = of.step[part, None] * s
            lost = complex_log1p(of.delta[part, None] * r / (1 + of.v[part, None] * r))
            lost *= of.alpha[part, None] + r / 2
            value[of.row[part][starts]] -= np.add.reduceat(lost, starts, axis=0)
        return value


def _pieces(row: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Stretches of the terms, which are in the order of rows, and where in them a row begins."""
    for first in range(0, len(row), size):
        part = slice(first, first + size)
        yield part, np.flatnonzero(np.diff(row[part], prepend=-1))
