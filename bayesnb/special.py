"""Special functions where SciPy's, or the difference of two of them, would lose digits."""

from __future__ import annotations

import numpy as np
from scipy import special

from bayesnb import given


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


def beta_share(a, b, x, *, upper: bool = False):
    """Regularised incomplete beta function I_x(a, b): probability below x, or with `upper` above it, under Beta(a, b).

    Notes
    -----
    Where both shapes are whole numbers, as counts with a prior of 1 are, SciPy's is a sum that is off by up to 5e-8 for
    an a below 40 beside a b of 1e9 and more. From a = 50 down and b = 1e5 up the substitution 1 - x = exp(-u/N) with
    N = b + (a - 1)/2 leaves [P(a, u) + c P(a + 2, u)]/(1 + c) with c = (a - 1) a (a + 1)/(24 N^2), of incomplete gamma
    functions P; what is left out is of the order of c^2, below 1e-12 (DiDonato and Morris 1992, section 9).
    """
    a, b, x = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float), np.asarray(x, float))
    narrow = (a <= 50) & (b >= 1e5)
    beta, gamma = (special.betaincc, special.gammaincc) if upper else (special.betainc, special.gammainc)
    if not narrow.any():
        return beta(a, b, x)
    out = np.empty(a.shape)
    out[~narrow] = beta(a[~narrow], b[~narrow], x[~narrow])
    a, b, x = a[narrow], b[narrow], x[narrow]
    n = b + (a - 1) / 2
    with np.errstate(divide="ignore"):  # x = 1
        u = -n * np.log1p(-x)
    c = (a - 1) * a * (a + 1) / (24 * n * n)
    out[narrow] = (gamma(a, u) + c * gamma(a + 2, u)) / (1 + c)
    return out[()]


def beta_quantile(a, b, tail, *, upper: bool = False):
    """The x that has probability `tail` below it, or with `upper` above it, under Beta(a, b).

    Parameters
    ----------
    a, b : array_like
        Shapes, > 0.
    tail : float
        Probability, between 0 and 1.
    upper : bool
        Which side it is on.

    Returns
    -------
    ndarray
        SciPy's quantile where `beta_share` confirms it to 1e-7 of the tail, and the root of that function elsewhere:
        `betaincinv` is wrong by a factor of 2 at (1000, 1e9), where a is exactly 1000, and by 1 % of the
        tail at 1e15. A quantile below every float is the smallest normal one.
    """
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    x = np.array((special.betainccinv if upper else special.betaincinv)(a, b, tail))
    # SciPy's quantile of its own wrong function (see `beta_share`) is off by no more than that
    wrong = ~(np.abs(beta_share(a, b, x, upper=upper) - tail) <= 1e-7 * tail) & ~(x < 3e-308)
    if wrong.any():
        a, b = a[wrong], b[wrong]
        x[wrong] = _bisected(lambda v: (beta_share(a, b, v, upper=upper) > tail) == upper, len(a))
    return x[()]


def _bisected(too_low, n: int):
    """Largest of the floats in [0, 1) that are still `too_low`, of n at once: the bits of floats >= 0 are ordered."""
    low, high = np.zeros(n, np.int64), np.full(n, np.float64(1.0).view(np.int64))
    while (high - low > 1).any():
        middle = low + (high - low) // 2
        below = too_low(middle.view(np.float64))
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low.view(np.float64)


def log_gamma_draw(rng: np.random.Generator, a, size: tuple[int, ...]):
    """Logarithms of Gamma(a, 1) variates, exact also where the variate itself underflows.

    Uses Gamma(a) = Gamma(a + 1) U^(1/a) (Marsaglia and Tsang 2000, section 6), taken in logs.
    """
    g = given.generator(rng).standard_gamma(np.asarray(a) + 1.0, size)
    boost = rng.standard_exponential(size)
    return np.log(g, out=g if isinstance(g, np.ndarray) else None) - boost / a
