"""What draws are compared by: exact mean, standard deviation and skewness of functions of a parameter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from bayesnb.families import Beta, InverseGamma, StudentT

Margin = Beta | StudentT | InverseGamma


class Moments(NamedTuple):
    """Exact mean, standard deviation and skewness of one quantity, an array each."""

    mean: np.ndarray
    sd: np.ndarray
    skewness: np.ndarray


def exact_moments(margin: Margin) -> dict[str, Moments]:
    """Exact moments of what is compared, the location of the parameter first.

    For Beta variables x: x, log x and (x - E x)^2. For inverse gamma ones, log x and (log x - E log x)^2. For Student-t
    ones b and b^2, with b = t / sqrt(nu + t^2) and t = (x - loc) / scale.

    Notes
    -----
    With central moments m_n, (x - E x)^2 has variance m_4 - m_2^2 and third central moment m_6 - 3 m_4 m_2 + 2 m_2^3.
    Those of Beta(a, b), of mean m and t = a + b, follow from E[f'(x) x (1 - x)] = t E[f(x) (x - m)] with
    f = (x - m)^n: m_(n+1) = n/(t + n) [(1 - 2 m) m_n + m (1 - m) m_(n-1)]. The logarithm of an inverse gamma variable
    has the cumulants (-1)^n psi_(n-1)(alpha). b^2 is Beta(1/2, nu/2), and the sign of b is independent of it.
    """
    if isinstance(margin, InverseGamma):
        return _of_inverse_gamma(margin)
    if isinstance(margin, StudentT):
        square = _of_beta(Beta(np.full_like(margin.df, 0.5), margin.df / 2))["value"]
        zero = np.zeros_like(margin.df)
        return {"bounded": Moments(zero, np.sqrt(square.mean), zero), "square of bounded": square}
    return _of_beta(margin)


def _of_beta(margin: Beta) -> dict[str, Moments]:
    a, b, variance = margin.a, margin.b, margin.variance()
    sd, log_sd = np.sqrt(variance), np.sqrt(margin.variance_log())
    with np.errstate(all="ignore"):  # concentrations of 1e-100 overflow; `judged` leaves such quantities out
        third = special.polygamma(2, a) - special.polygamma(2, a + b)
        # where a dwarfs b the difference is rounding: log x tends to -Gamma(b), of skewness -2/sqrt(b)
        log_skewness = np.clip(third / log_sd**3, -2 - 2 / np.sqrt(b), 0)
        spread = _of_square(_standard_moments(a, b))
    return {
        "value": Moments(margin.mean(), sd, 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a) * np.sqrt(b))),
        "log": Moments(margin.mean_log(), log_sd, log_skewness),
        "squared deviation": Moments(variance, variance * spread.sd, spread.skewness),
    }


def _standard_moments(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """E[((x - E x) / sd)^n] of Beta(a, b), n = 0..6."""
    t = a + b
    lean = (b - a) * np.sqrt(t + 1) / (np.sqrt(a) * np.sqrt(b))  # (1 - 2 m) / sd
    moments = [np.ones_like(t), np.zeros_like(t)]
    for n in range(1, 6):
        moments.append(n / (t + n) * (lean * moments[n] + (t + 1) * moments[n - 1]))
    return moments


def _of_square(c: list[np.ndarray]) -> Moments:
    """Moments of the square of a variable whose standardised moments are c."""
    variance = c[4] - 1
    return Moments(np.ones_like(c[4]), np.sqrt(variance), (c[6] - 3 * c[4] + 2) / variance**1.5)


def _of_inverse_gamma(margin: InverseGamma) -> dict[str, Moments]:
    variance, mean = margin.variance_log(), margin.mean_log()
    k3, k4, k6 = ((-1) ** n * special.polygamma(n - 1, margin.alpha) / variance ** (n / 2) for n in (3, 4, 6))
    spread = _of_square([*[np.zeros_like(k3)] * 4, 3 + k4, np.zeros_like(k3), 15 + 15 * k4 + 10 * k3**2 + k6])
    return {
        "log": Moments(mean, np.sqrt(variance), k3),
        "squared deviation of log": Moments(variance, variance * spread.sd, spread.skewness),
    }


def transform(quantity: str, x: np.ndarray, margin: Margin) -> np.ndarray:
    """The quantity of each draw x."""
    if isinstance(margin, StudentT):
        t = (x - margin.loc) / np.sqrt(margin.scale2)
        bounded = t / np.sqrt(margin.df + t * t)
        return bounded if quantity == "bounded" else bounded**2
    if quantity == "value":
        return x
    if quantity == "squared deviation":
        return (x - margin.mean()) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(x)
    return log if quantity == "log" else (log - margin.mean_log()) ** 2


MOST_SKEWED = 1.5
"""Up to this skewness the law of a mean is known well enough. Simulated means of squared gamma deviations exceed a
`normal_score` of 4.5 at most 7 times as often as they should, and a plain z of 4 up to 100 times as often."""
_SMALLEST_LOG = float(np.log(np.finfo(float).tiny))


def judged(quantity: str, moments: Moments, margin: Margin, n: int) -> np.ndarray:
    """Where the mean of n draws has a law that can be judged, of the shape of the margin.

    Not where it is skewed beyond MOST_SKEWED (a handful of draws then decide it), and not for logarithms of draws that
    double precision stores as 0 or infinity: their least or largest are 20 standard deviations away.
    """
    known = np.isfinite(moments.skewness) & (np.abs(moments.skewness) <= MOST_SKEWED * np.sqrt(n)) & (moments.sd > 0)
    if "log" not in quantity:
        return known
    mean, sd = margin.mean_log(), np.sqrt(margin.variance_log())  # type: ignore[union-attr]
    return known & (mean - 20 * sd > _SMALLEST_LOG) & (mean + 20 * sd < -_SMALLEST_LOG)


def normal_score(z: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """What a standard score is worth where its law is skewed: the normal one that is as unlikely.

    Parameters
    ----------
    z : ndarray
        (mean - exact) / standard error.
    skewness : ndarray
        Of the mean.

    Returns
    -------
    ndarray
        On the side of the long tail by Wilson and Hilferty's cube root, as for a gamma variable of that skewness
        (1931, PNAS 17:684), never larger than z. The short tail is lighter than the normal one: z itself.
    """
    g, size = np.abs(skewness), np.abs(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        cube_root = 6 / g * np.expm1(np.log1p(g * size / 2) / 3) + g / 6
    score = np.where((g > 0) & (z * skewness > 0), np.fmin(size, cube_root), size)
    return np.copysign(score, z)
