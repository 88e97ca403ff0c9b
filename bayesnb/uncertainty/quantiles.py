"""Quantiles and tails of document log-odds: four cumulants where they are enough, the exact transform where not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from bayesnb.uncertainty.inversion import Law, upper_quantile, upper_tail

_TOLERANCE = 0.03
_ABSOLUTE = 0.001
_FAR = 6.0
_ROWS = 8192

Terms = Callable[[np.ndarray], Law]


def standardised(cumulants: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Skewness and excess kurtosis of cumulants (n, 4, ...); 0 where the variance is."""
    variance = cumulants[:, 1]
    safe = np.where(variance > 0, variance, 1.0)
    return cumulants[:, 2] / (safe * np.sqrt(safe)), cumulants[:, 3] / (safe * safe)


def departure(cumulants: np.ndarray) -> np.ndarray:
    """How far a law is from normal: the largest |g_r|^(1/r), with g_r the standardised cumulant of order r + 2.

    Parameters
    ----------
    cumulants : ndarray, shape (n, orders, ...)
        At least four; more see more.
    """
    variance = cumulants[:, 1]
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    parts = [np.abs(cumulants[:, r + 1] / sd ** (r + 2)) ** (1 / r) for r in range(1, cumulants.shape[1] - 1)]
    return np.max(parts, axis=0)


def cornish_fisher(z: float | np.ndarray, g1: np.ndarray, g2: np.ndarray) -> np.ndarray:
    """Standardised quantile at the normal point z, from skewness g1 and excess kurtosis g2.

    Cornish and Fisher (1938): z + g1 (z^2 - 1)/6 + g2 (z^3 - 3 z)/24 - g1^2 (2 z^3 - 5 z)/36.
    """
    skew, kurtosis, square = shapes(z)
    return z + g1 * skew + g2 * kurtosis + g1 * g1 * square


def shapes(z: float | np.ndarray) -> tuple:
    """Polynomials that g1, g2 and g1^2 multiply."""
    return (z * z - 1) / 6, z * (z * z - 3) / 24, -z * (2 * z * z - 5) / 36


def trusted(z: float | np.ndarray, m: np.ndarray) -> np.ndarray:
    """Whether the probability beyond the Cornish-Fisher quantile at z is right to 3 % of itself and to 0.001."""
    error = relative_error(z, m)
    return (error <= _TOLERANCE) & (error * special.ndtr(-np.abs(z)) <= _ABSOLUTE)


def relative_error(z: float | np.ndarray, m: np.ndarray) -> np.ndarray:
    """How wrong the probability beyond the Cornish-Fisher quantile at z may be, as a share of itself.

    The first terms left out are of third order in m, the `departure`. Against the exact transform, over 1,600
    documents of counts with concentrations from 0.1 to thousands and z from 0.7 to 4.3, with m of four cumulants, the
    error stayed below m^3 times the bracket. So it did over 1,500 documents of 1 to 19 measurements with
    alpha from 0.5 to thousands, where m is of six cumulants: in a sum of their scores the third may all but vanish
    while the fifth does not.
    """
    return m**3 * (0.05 + 0.02 * z**4 * (1 + z * z / 10))


def equal_tailed(cumulants: np.ndarray, terms: Terms, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the equal-tailed interval, two arrays of shape (n,).

    Parameters
    ----------
    cumulants : ndarray, shape (n, orders)
        Of the log-odds, at least four.
    terms : callable
        Gives the exact law of the rows asked for.
    level : float
        Probability inside.
    """
    tail = (1 - level) / 2
    z = -special.ndtri(tail)
    g1, g2 = standardised(cumulants)
    mean, sd = cumulants[:, 0], np.sqrt(np.maximum(cumulants[:, 1], 0))
    low, high = mean + sd * cornish_fisher(-z, g1, g2), mean + sd * cornish_fisher(z, g1, g2)
    rows = np.flatnonzero((sd > 0) & ~trusted(z, departure(cumulants)))
    for part in _some(rows):
        law, centre, scale = terms(part), mean[part], sd[part]
        high[part] = upper_quantile(law, tail, high[part], centre, scale)
        low[part] = -upper_quantile(law.negated(), tail, -low[part], -centre, scale)
    # two medians found apart may differ by rounding
    return np.minimum(low, high), np.maximum(low, high)


def probability_positive(cumulants: np.ndarray, terms: Terms) -> tuple[np.ndarray, np.ndarray]:
    """P(L > 0) and P(L < 0), two arrays of shape (n,); a constant 0 counts as positive."""
    g1, g2 = standardised(cumulants)
    mean, sd = cumulants[:, 0], np.sqrt(np.maximum(cumulants[:, 1], 0))
    flat = sd == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(flat, np.where(mean >= 0, -np.inf, np.inf), -mean / sd)
    z = _normal_point(y, g1, g2)
    above, below = special.ndtr(-z), special.ndtr(z)
    rows = np.flatnonzero(~flat & ~trusted(np.minimum(np.abs(z), 3.3), departure(cumulants)))
    for part in _some(rows):
        above[part], below[part] = _exact_positive(terms(part), mean[part], sd[part])
    return above, below


def _some(rows: np.ndarray) -> list[np.ndarray]:
    """Rows in parts, whose terms fit into memory."""
    return np.split(rows, np.arange(_ROWS, len(rows), _ROWS)) if len(rows) else []


def _exact_positive(law: Law, mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    above, below = np.empty(len(mean)), np.empty(len(mean))
    # the tail away from the mean is the small one, and keeps its digits
    up = mean < 0
    for side, sign, small, large in ((up, 1.0, above, below), (~up, -1.0, below, above)):
        rows = np.flatnonzero(side)
        if len(rows):
            part = law.take(rows) if sign > 0 else law.take(rows).negated()
            small[rows] = upper_tail(part, np.zeros(len(rows)), sign * mean[rows], sd[rows])
            large[rows] = 1 - small[rows]
    return above, below


def _normal_point(y: np.ndarray, g1: np.ndarray, g2: np.ndarray) -> np.ndarray:
    """The z whose Cornish-Fisher quantile is y; y itself far out, where the probability is below 1e-8."""
    z = np.clip(y, -_FAR, _FAR)
    for _ in range(20):
        slope = 1 + g1 * z / 3 + g2 * (z * z - 1) / 8 - g1 * g1 * (6 * z * z - 5) / 36
        step = (cornish_fisher(z, g1, g2) - y) / np.maximum(slope, 0.3)
        step = np.where(np.isfinite(step), step, 0.0)
        z = np.clip(z - step, -_FAR, _FAR)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return np.where(np.abs(y) > _FAR, y, z)
