"""Quantiles and tails of document log-odds: four cumulants where they are enough, the exact transform where not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from bayesnb.uncertainty.inversion import LogGammaSum, upper_quantile, upper_tail

_TOLERANCE = 0.03
_ABSOLUTE = 0.001
_FAR = 6.0

Terms = Callable[[np.ndarray], LogGammaSum]


def standardised(cumulants: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Skewness and excess kurtosis of cumulants (n, 4, ...); 0 where the variance is."""
    variance = cumulants[:, 1]
    safe = np.where(variance > 0, variance, 1.0)
    return cumulants[:, 2] / (safe * np.sqrt(safe)), cumulants[:, 3] / (safe * safe)


def cornish_fisher(z: float | np.ndarray, g1: np.ndarray, g2: np.ndarray) -> np.ndarray:
    """Standardised quantile at the normal point z, from skewness g1 and excess kurtosis g2.

    Cornish and Fisher (1938): z + g1 (z^2 - 1)/6 + g2 (z^3 - 3 z)/24 - g1^2 (2 z^3 - 5 z)/36.
    """
    skew, kurtosis, square = shapes(z)
    return z + g1 * skew + g2 * kurtosis + g1 * g1 * square


def shapes(z: float | np.ndarray) -> tuple:
    """Polynomials that g1, g2 and g1^2 multiply."""
    return (z * z - 1) / 6, z * (z * z - 3) / 24, -z * (2 * z * z - 5) / 36


def trusted(z: float | np.ndarray, g1: np.ndarray, g2: np.ndarray) -> np.ndarray:
    """Whether the probability beyond the Cornish-Fisher quantile at z is right to 3 % of itself and to 0.001.

    The first terms left out are of third order in m = max(|g1|, sqrt |g2|). Against the exact transform, over 1,600
    documents of both event models with concentrations from 0.1 to thousands and z from 0.7 to 4.3, the relative
    error stayed below m^3 times the bracket.
    """
    m = np.maximum(np.abs(g1), np.sqrt(np.abs(g2)))
    error = m**3 * (0.05 + 0.02 * z**4 * (1 + z * z / 10))
    return (error <= _TOLERANCE) & (error * special.ndtr(-np.abs(z)) <= _ABSOLUTE)


def equal_tailed(cumulants: np.ndarray, terms: Terms, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the equal-tailed interval, two arrays of shape (n,).

    Parameters
    ----------
    cumulants : ndarray, shape (n, 4)
        Of the log-odds.
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
    rows = np.flatnonzero((sd > 0) & ~trusted(z, g1, g2))
    if len(rows):
        law, centre, scale = terms(rows), mean[rows], sd[rows]
        high[rows] = upper_quantile(law, tail, high[rows], centre, scale)
        low[rows] = -upper_quantile(law.negated(), tail, -low[rows], -centre, scale)
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
    rows = np.flatnonzero(~flat & ~trusted(np.minimum(np.abs(z), 3.3), g1, g2))
    if len(rows):
        above[rows], below[rows] = _exact_positive(terms(rows), mean[rows], sd[rows])
    return above, below


def _exact_positive(law: LogGammaSum, mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
