"""Combinations of log-betas, digammas and trigammas that keep their digits from 1e-3 to beyond 1e9.

Differences of ``gammaln`` cancel: at a count of 1e9 they carry an error near 1e-6. Here every large part is taken out
on paper first (Stirling's formula with its error term kept, Loader's deviance for the entropies), so what is left is as
small as the answer.

References
----------
Loader (2000), "Fast and accurate computation of binomial probabilities": the deviance ``bd0`` and Stirling error.
DLMF 5.11 (Stirling series and its error), 5.11.2 and 5.15.8 (digamma and trigamma series).
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

Array = np.ndarray

LARGE = 10.0  # from here the asymptotic series below reach 1e-16
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = {1: -1 / 2, 2: -1 / 12, 4: 1 / 120, 6: -1 / 252, 8: 1 / 240, 10: -1 / 132, 12: 691 / 32760}
_TRIGAMMA = {1: 1.0, 2: 1 / 2, 3: 1 / 6, 5: -1 / 30, 7: 1 / 42, 9: -1 / 30, 11: 5 / 66, 13: -691 / 2730}


def stirling_error(x: ArrayLike) -> Array:
    """Log Gamma(x) - [(x - 1/2) log x - x + log(2 pi)/2], for x > 0; DLMF 5.11.1 from 10 on."""
    x = np.asarray(x, dtype=float)
    large = np.maximum(x, LARGE)
    series = np.polynomial.polynomial.polyval(large**-2, _STIRLING) / large
    small = np.minimum(x, LARGE)
    direct = special.gammaln(small) - (small - 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    return np.where(x >= LARGE, series, direct)


def log_peak(a: ArrayLike, b: ArrayLike) -> Array:
    """Log density of logit(phi), phi ~ Beta(a, b), at its mode log(a/b): of the order of log(a), never of a."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    spread = 0.5 * np.log(a * (b / (a + b)) / (2 * np.pi))
    return spread + stirling_error(a + b) - stirling_error(a) - stirling_error(b)


def _deviance(x: Array, mean: Array, excess: Array) -> Array:
    """Return x log(x / mean) - excess, where excess = x - mean is known better than by subtraction (Loader's bd0)."""
    v = excess / mean
    small = np.where(np.abs(v) < 0.02, v, 0.0)
    # (1+v) log(1+v) - v = sum_k (-v)^k / (k (k-1)), k >= 2; 8 terms reach 1e-16 relative below 0.02
    series = sum((-small) ** k / (k * (k - 1)) for k in range(2, 11))
    direct = x * np.log(x / mean) - excess
    return np.where(np.abs(v) < 0.02, mean * series, direct)


def log_beta_excess(x1: Array, y1: Array, x2: Array, y2: Array, x: Array, y: Array) -> Array:
    """Log B(x1, y1) + log B(x2, y2) - log B(x, y), where (x, y) is about the sum of the two pairs.

    With phi = x / (x + y) and s_i = x_i + y_i the large parts are s_i KL(phi_i || phi), two deviances each, and
    (x1 + x2 - x) log phi + (y1 + y2 - y) log(1 - phi), whose factors are of the size of the prior.
    """
    total = x + y
    excess = (x1 + x2 - x) * np.log(x / total) + (y1 + y2 - y) * np.log(y / total)
    for u, v in ((x1, y1), (x2, y2)):
        surplus = (u * y - v * x) / total
        size = u + v
        excess = excess + _deviance(u, size * (x / total), surplus) + _deviance(v, size * (y / total), -surplus)
    return excess - log_peak(x1, y1) - log_peak(x2, y2) + log_peak(x, y)


def _drop(a: Array, b: Array, series: dict[int, float]) -> Array:
    """Sum of c_k (a^-k - (a+b)^-k), each difference built from b / (a (a+b)) without cancelling."""
    near, far = 1 / a, 1 / (a + b)
    step = b * near * far
    power, difference, total = np.ones_like(a), np.zeros_like(a), np.zeros_like(a)
    for k in range(1, max(series) + 1):
        difference = near * difference + step * power  # a^-k - (a+b)^-k
        power = power * far
        total = total + series.get(k, 0.0) * difference
    return total


def digamma_drop(a: ArrayLike, b: ArrayLike) -> Array:
    """psi(a) - psi(a + b): the mean of log phi, phi ~ Beta(a, b)."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    large = np.maximum(a, LARGE)
    series = _drop(large, b, _DIGAMMA) - np.log1p(b / large)
    return np.where(a >= LARGE, series, special.digamma(a) - special.digamma(a + b))


def trigamma_drop(a: ArrayLike, b: ArrayLike) -> Array:
    """psi1(a) - psi1(a + b): the variance of log phi, phi ~ Beta(a, b)."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    small = np.minimum(a, LARGE)
    series = _drop(np.maximum(a, LARGE), b, _TRIGAMMA)
    return np.where(a >= LARGE, series, special.zeta(2, small) - special.zeta(2, small + b))


def inverse_trigamma(value: Array) -> Array:
    """The x > 0 with psi1(x) = value, to about 1e-6 relative (Smyth's Newton steps; enough for a starting point)."""
    x = np.where(value > 2, 1 / np.sqrt(np.maximum(value - 1, 1.0)), 0.5 + 1 / value)
    for _ in range(3):
        now = special.zeta(2, x)
        x = x + now * (1 - now / value) / (-2 * special.zeta(3, x))
    return np.where(value < 1e-6, 0.5 + 1 / value, x)
