"""Quantiles and tail probabilities of document log-odds, from their exact transform.

A document's log-odds over p(theta, phi | D) is a signed sum of logarithms of gamma variates. Its cumulant
generating function is K(s) = sum_i w_i [log Gamma(c_i + s x_i) - log Gamma(c_i)] (measurements add terms of their own,
see `bayesnb.uncertainty.normalsum`), and its upper tail

    P(L > q) = 1/pi integral_0^inf Re[exp(K(s) - s q) / s] dt,   s = s0 + i t,   0 < s0 < s_max,

with s_max the nearest pole. The midpoint rule on that line converges geometrically (Abate and Whitt 1992, section 5;
Daniels 1987 for the tilted line), and the tilt s0 keeps the relative precision of a small tail. The lower
tail is the upper tail of -L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from scipy import sparse, special

_DIGITS = 18.0  # the first alias of the midpoint rule is exp(-18) = 1.5e-8 of the tail
_BLOCK = 32
_MOST_NODES = 8192
_ROWS = 512
_CHERNOFF = np.array([1.5, 2.0, 2.9, 5.0, 9.0])  # at least two of them below the pole, in units of the tilt

Transform = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Law(Protocol):
    """Independent random variables, one a row, known by their cumulant generating function."""

    def __len__(self) -> int: ...

    def negated(self) -> Self:
        """The variables with their sign turned."""

    def take(self, rows: np.ndarray) -> Self:
        """Some of the rows, in that order."""

    def pole(self) -> np.ndarray:
        """First pole of the transform at s > 0, shape (n,); infinite where there is none."""

    def transform(self) -> Transform:
        """What evaluates K(s) - s centre at any s, (nodes,) and (n,) -> (n, nodes); called after `take`."""


@dataclass(frozen=True, eq=False)
class LogGammaSum:
    """Independent sums, one a row, of w log G(c) x with G(c) standard gamma variates.

    Parameters
    ----------
    row, c, step, weight : ndarray, shape (terms,)
        Row of each term, its concentration c, its factor x (negative where it is subtracted) and w: 1, or -1 for
        the total of a Dirichlet, whose log-gamma is divided out.
    shift : ndarray, shape (n,)
        A constant added to each row.
    shared : tuple of ndarray
        (c, step, weight) of terms that every row has.
    """

    row: np.ndarray
    c: np.ndarray
    step: np.ndarray
    weight: np.ndarray
    shift: np.ndarray
    shared: tuple[np.ndarray, np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.shift)

    def negated(self) -> LogGammaSum:
        """The sums with their sign turned."""
        c, step, weight = self.shared
        return replace(self, step=-self.step, shift=-self.shift, shared=(c, -step, weight))

    def take(self, rows: np.ndarray) -> LogGammaSum:
        """Some of the rows, in that order."""
        place = np.full(len(self), -1)
        place[rows] = np.arange(len(rows))
        new = place[self.row]
        kept = new >= 0
        return LogGammaSum(
            new[kept], self.c[kept], self.step[kept], self.weight[kept], self.shift[rows], self.shared
        )  # fmt: skip

    def pole(self) -> np.ndarray:
        """First pole of the transform at s > 0, shape (n,); infinite where there is none."""
        edge = np.full(len(self), np.inf)
        found = (self.step < 0) & (self.weight > 0)
        np.minimum.at(edge, self.row[found], self.c[found] / -self.step[found])
        c, step, weight = self.shared
        found = (step < 0) & (weight > 0)
        return np.minimum(edge, (c[found] / -step[found]).min(initial=np.inf))

    def transform(self) -> _Transform:
        """What evaluates K of every row at any s."""
        pairs, place = np.unique(self.c + 1j * self.step, return_inverse=True)
        weights = sparse.csr_array((self.weight, (self.row, place)), shape=(len(self), len(pairs)))
        return _Transform(weights, pairs.real, pairs.imag, *self.shared, self.shift)


@dataclass(frozen=True, eq=False)
class _Transform:
    """K(s) by one sparse product over the distinct (c, x): the counts of a corpus repeat."""

    weights: sparse.csr_array
    c: np.ndarray
    step: np.ndarray
    shared_c: np.ndarray
    shared_step: np.ndarray
    shared_weight: np.ndarray
    shift: np.ndarray

    def __call__(self, s: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """K(s) - s centre, shape (n, nodes)."""
        value = self.weights @ complex_rise(self.c[:, None], self.step[:, None] * s)
        value = value + (self.shift - centre)[:, None] * s
        if len(self.shared_c):
            value += self.shared_weight @ complex_rise(self.shared_c[:, None], self.shared_step[:, None] * s)
        return value


def complex_rise(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Log Gamma(a + n) - log Gamma(a) for real a and complex n, also where a is huge.

    Stirling's series subtracted term by term where both ends are large, as `special.log_rising` does for real n.
    """
    a = np.broadcast_to(np.asarray(a, float), n.shape)
    end = a + n
    large = (a >= 50) & (end.real >= 50)
    if not large.any():
        return special.loggamma(end) - special.gammaln(a)
    result = np.empty(n.shape, complex)
    result[~large] = special.loggamma(end[~large]) - special.gammaln(a[~large])
    a, n, end = a[large], n[large], end[large]
    u, v = n.real / a, n.imag / a
    log_ratio = _log1p(u, v)
    tail = 1 / end**3 - 1 / a**3  # the next term, z^-5/1260, is below 3e-12 from 50 on
    result[large] = (a - 0.5) * log_ratio + n * (np.log(a) + log_ratio - 1) - n / (12 * a * end) - tail / 360
    return result


def complex_log1p(z: np.ndarray) -> np.ndarray:
    """Log(1 + z) of complex z, right also where z is small."""
    return _log1p(z.real, z.imag)


def _log1p(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 0.5 * np.log1p(x * (2 + x) + y * y) + 1j * np.arctan2(y, 1 + x)


def upper_quantile(total: Law, tail: float, start: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Point q of each row with P(L > q) = tail, shape (n,).

    Parameters
    ----------
    total : Law
        The sums, none of variance 0.
    tail : float
        Probability above the point.
    start : ndarray, shape (n,)
        First guess.
    mean, sd : ndarray, shape (n,)
        Of the sums.
    """
    z = -special.ndtri(tail)
    result = np.empty(len(total))
    for rows, line in _lines(total, np.full(len(total), z), np.full(len(total), -np.log(tail)), mean, sd):
        guess = np.clip((start - mean)[rows], -8 * sd[rows], (8 + abs(z)) * sd[rows])
        result[rows] = mean[rows] + line.solve(tail, guess, sd[rows])
    return result


def upper_deviations(total: Law, tails: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Many points q of each row with P(L > q) = tail, less the mean, shape (n, tails); right to 0.3 % of the tail.

    Tails from 1/2 down to 1e-5: tabulated every twentieth of a standard deviation and interpolated in the normal score.
    """
    result = np.empty((len(total), len(tails)))
    ones = np.ones(len(total))
    for rows, line in _lines(total, 1.5 * ones, -np.log(np.min(tails)) * ones, mean, sd):
        result[rows] = line.deviations(-special.ndtri(tails), sd[rows])
    return result


def upper_tail(total: Law, point: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """P(L > point) of each row, shape (n,); best where the point lies above the mean."""
    z = np.minimum((point - mean) / sd, 30.0)
    result = np.empty(len(total))
    for rows, line in _lines(total, z, 1 + np.maximum(z, 0) ** 2 / 2, mean, sd):
        result[rows] = np.clip(line.tail((point - mean)[rows]), 0.0, 1.0)
    return result


def _lines(total: Law, z: np.ndarray, depth: np.ndarray, mean: np.ndarray, sd: np.ndarray):
    """Rows that may share a line of integration, and what was integrated along it."""
    edge = total.pole()
    tilt = np.minimum(np.maximum(z, 0.7) / sd, edge / 3)
    # rounded to powers of sqrt 2, so that many rows share their nodes
    step = np.floor(2 * np.log2(tilt))
    depth = np.ceil(depth / 4) * 4 + _DIGITS
    keys, group = np.unique(np.stack([step, depth, np.floor(np.log2(sd))]), axis=1, return_inverse=True)
    for g, key in enumerate(keys.T):
        members, s0 = np.flatnonzero(group == g), 2 ** (key[0] / 2)
        for rows in np.split(members, np.arange(_ROWS, len(members), _ROWS)):
            transform = total.take(rows).transform()
            below = np.minimum(z[rows], 0) * sd[rows]
            period = _period(transform, s0, key[1], mean[rows] + below, edge[rows])
            for one in np.unique(period):
                some = rows[period == one]
                own = transform if len(some) == len(rows) else total.take(some).transform()
                yield some, _Line.through(own, s0, 2 * np.pi / one, mean[some])


def _period(transform: Transform, s0: float, depth: float, least: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Distance y of the midpoint rule's aliases from points of at least `least`, so that both are below exp(-depth).

    The rule with step 2 pi/y adds exp(-s0 y) P(L > q - y) and exp(s0 y) P(L > q + y), of which Chernoff's bound is
    exp(K(s) - s q - (s - s0) y) for any s between s0 and the pole.
    """
    s = s0 * _CHERNOFF
    with np.errstate(all="ignore"):
        bound = (transform(s.astype(complex), least).real + depth) / (s - s0)
    bound = np.where(s < edge[:, None], bound, np.inf).min(axis=1)
    shortest = depth / s0
    return shortest * 2 ** np.maximum(np.ceil(2 * np.log2(np.maximum(bound / shortest, 1.0))) / 2, 0)


@dataclass(frozen=True, eq=False)
class _Line:
    """Nodes s of a vertical line and the weights exp(K(s) - s mean) h / (pi s) on it, (n, nodes)."""

    s: np.ndarray
    value: np.ndarray

    @classmethod
    def through(cls, transform: Transform, s0: float, h: float, centre: np.ndarray) -> _Line:
        nodes, values, largest = [], [], None
        for first in range(0, _MOST_NODES, _BLOCK):
            s = s0 + 1j * h * (first + 0.5 + np.arange(_BLOCK))
            value = np.exp(transform(s, centre)) / s
            nodes.append(s)
            values.append(value)
            size = np.abs(value)
            largest = size.max(axis=1) if largest is None else largest
            if (size[:, -1] <= 1e-11 * largest).all():
                break
        else:
            # an algebraic decay (few tokens, theta known): the taper is a normal error of 6/T added to L
            reach = _MOST_NODES * h / 6
            values = [v * np.exp(-0.5 * (s.imag / reach) ** 2) for v, s in zip(values, nodes, strict=True)]
        return cls(np.concatenate(nodes), np.concatenate(values, axis=1) * (h / np.pi))

    def tail(self, y: np.ndarray) -> np.ndarray:
        """P(L - mean > y) of each row."""
        return (self.value * np.exp(-y[:, None] * self.s)).real.sum(axis=1)

    def _tail_and_density(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernel = self.value * np.exp(-y[:, None] * self.s)
        return kernel.real.sum(axis=1), (kernel @ self.s).real

    def deviations(self, z: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """Points with the tails of some normal points z, (n, z); the kernel of the table is shared by the rows."""
        y = np.arange(-1.5 * sd.min(), 15 * sd.max(), sd.min() / 20)
        kernel = np.exp(-np.outer(self.s, y))
        p = self.value.real @ kernel.real - self.value.imag @ kernel.imag
        # between table points the normal score of the tail is all but straight, in light and heavy tails alike
        score = np.maximum.accumulate(-special.ndtri(np.clip(p, 1e-300, 1 - 1e-16)), axis=1)
        return np.stack([np.interp(z, row, y) for row in score])

    def solve(self, tail: float, y: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """Newton's method on the log tail, kept inside a bracket."""
        low, high = np.full(len(y), -np.inf), np.full(len(y), np.inf)
        for _ in range(60):
            p, density = self._tail_and_density(y)
            above = p > tail
            low, high = np.where(above, y, low), np.where(above, high, y)
            with np.errstate(all="ignore"):
                new = y + p / density * np.log(p / tail)
            open_step = np.where(above, y + 2 * sd, y - 2 * sd)
            halved = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, open_step)
            good = (density > 0) & (p > 0) & (new >= low) & (new <= high) & (np.abs(new - y) < 20 * sd)
            new = np.where(good, new, halved)
            moved, y = np.abs(new - y), new
            # Newton's step squares the error; a halving that small says that only rounding is left
            if (moved <= np.where(good, 1e-8, 1e-13) * sd).all():
                break
        return y
