"""Special functions where SciPy's, or the difference of two of them, would lose digits."""

from __future__ import annotations

import numpy as np
from scipy import special


def log_rising(a, n):
    """Log of the rising factorial, log Gamma(a + n) - log Gamma(a), without cancellation.

    Parameters
    ----------
    a : array_like
        Start, > 0.
    n : array_like
        Step; any real number above -a.

    Returns
    -------
    ndarray
        Correct to rounding, also where a = 1e15 and n = 2, or a = 5 and n = 1e-6, where the difference of two
        log-gammas has few correct digits or none.

    Notes
    -----
    Up to 8 whole steps from below 1e30 are multiplied out. From a = 10 on, Stirling's series is subtracted term by
    term: its leading parts become a log1p, and what its tail leaves out, 1/(156 z^13) and smaller, is below 1e-15.
    A smaller a with a step below 1 is shifted up by
    Gamma(a + n)/Gamma(a) = Gamma(a + 10 + n)/Gamma(a + 10) prod_{i<10} (a + i)/(a + i + n); with a longer step
    nothing cancels and two log-gammas will do.
    """
    a, n = np.broadcast_arrays(np.asarray(a, float), np.asarray(n, float))
    result = np.zeros(a.shape)
    few = (n > 0) & (n <= 8) & (n == np.floor(n)) & (a < 1e30)  # a product of 8 beyond may overflow
    result[few] = _rising_product(a[few], n[few])
    left = ~few & (n != 0)
    large, far = left & (a >= 10), left & (a < 10) & (n >= 1)
    result[large] = _rising_stirling(a[large], n[large])
    result[far] = special.gammaln(a[far] + n[far]) - special.gammaln(a[far])
    near = left & ~large & ~far
    result[near] = _rising_stirling(a[near] + 10, n[near]) - _log_shift(a[near], n[near])
    return result[()]


def _rising_product(a, n):
    product = a.copy()
    for i in range(1, int(n.max(initial=0))):
        product *= np.where(n > i, a + i, 1.0)
    return np.log(product)


def _rising_stirling(a, n):
    end = a + n
    series = (a - 0.5) * np.log1p(n / a) + n * (np.log(end) - 1)
    return series - n / (12 * a * end) - (_stirling_tail(end) - _stirling_tail(a))


def _stirling_tail(z):
    """What Stirling's series holds after 1/(12 z), with its sign turned."""
    w = 1 / (z * z)
    return w / z * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * 691 / 360360))))


def _log_shift(a, n):
    """Log of prod_{i<10} (1 + n/(a + i)), from the product less 1 so that a small n keeps its digits."""
    excess = np.zeros_like(a)
    for i in range(1, 10):
        u = n / (a + i)
        excess += u + excess * u
    # the first factor by itself: with a near 0 its ratio may overflow
    first = np.where(n > a, np.log(a + np.maximum(n, 0)) - np.log(a), np.log1p(n / np.maximum(a, n)))
    return first + np.log1p(excess)


def log_beta(a, b):
    """Log of the Beta function; scipy.special.betaln loses digits where one argument is large."""
    small, large = np.minimum(a, b), np.maximum(a, b)
    return special.gammaln(small) - log_rising(large, small)


def log_gamma_draw(rng: np.random.Generator, a, size: tuple[int, ...]):
    """Logarithms of Gamma(a, 1) variates, exact also where the variate itself underflows.

    Uses Gamma(a) = Gamma(a + 1) U^(1/a) (Marsaglia and Tsang 2000, section 6), taken in logs.
    """
    g = rng.standard_gamma(np.asarray(a) + 1.0, size)
    boost = rng.standard_exponential(size)
    return np.log(g, out=g if isinstance(g, np.ndarray) else None) - boost / a
