"""Effective sample size and r_hat of many quantities at once.

ArviZ computes the same numbers one quantity at a time, which takes longer than the sampling from a few thousand on; a
test holds both to the same value. NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import special, stats

_CELLS = 512  # so many quantities at a time bound the memory of the Fourier transforms


def effective_size(x: np.ndarray) -> np.ndarray:
    """Effective sample size for the mean of each quantity.

    Parameters
    ----------
    x : ndarray, shape (chains, draws, M)
        At least 8 draws a chain.

    Returns
    -------
    ndarray, shape (M,)
        Chains are split in halves and autocorrelations are summed by Geyer's initial monotone sequence
        (Vehtari et al. 2021, Bayesian Analysis 16:667, without ranks). NaN where the draws are constant or not finite.
    """
    halves = _halves(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [_geyer(halves[..., i : i + _CELLS]) for i in range(0, x.shape[-1], _CELLS)]
    # draws that stand still: rounding of their mean would look like independent noise
    return np.where(np.ptp(x, axis=(0, 1)) == 0, np.nan, np.concatenate(parts))


def r_hat(x: np.ndarray) -> np.ndarray:
    """Split, rank-normalised r_hat, the larger of bulk and folded (Vehtari et al. 2021, section 4).

    Parameters
    ----------
    x : ndarray, shape (chains, draws, M)

    Returns
    -------
    ndarray, shape (M,)
        NaN with one chain, or where all draws are equal.
    """
    if len(x) < 2:
        return np.full(x.shape[-1], np.nan)
    halves = _halves(x)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.maximum(_ratio(_normal_scores(halves)), _ratio(_normal_scores(folded)))


def summary(draws: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """Largest r_hat and smallest effective sample size of all quantities, arrays (chains, draws, ...) by name.

    NaN where a chain or some draws more are needed, or a quantity stands still.
    """
    quantities = [x.reshape(*x.shape[:2], -1) for x in draws.values()]
    if not quantities or quantities[0].shape[1] < 8:
        return float("nan"), float("nan")
    return (
        float(np.max([r_hat(x).max() for x in quantities])),
        float(np.min([effective_size(x).min() for x in quantities])),
    )


def _halves(x: np.ndarray) -> np.ndarray:
    """Chains in halves, the middle draw of an odd number left out, shape (2 chains, draws // 2, M)."""
    n = x.shape[1] // 2
    if n < 4:
        raise ValueError(f"to judge convergence at least 8 draws a chain are needed, got {x.shape[1]}")
    return np.concatenate([x[:, :n], x[:, -n:]])


def _normal_scores(x: np.ndarray) -> np.ndarray:
    rank = stats.rankdata(x.reshape(-1, x.shape[-1]), axis=0)
    return special.ndtri((rank - 3 / 8) / (len(rank) + 1 / 4)).reshape(x.shape)


def _ratio(x: np.ndarray) -> np.ndarray:
    n = x.shape[1]
    between = n * x.mean(axis=1).var(axis=0, ddof=1)
    within = x.var(axis=1, ddof=1).mean(axis=0)
    return np.sqrt((between / within + n - 1) / n)


def _geyer(x: np.ndarray) -> np.ndarray:
    chains, n, cells = x.shape
    covariance = _autocovariance(x)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + x.mean(axis=1).var(axis=0, ddof=1)
    rho = 1 - (within - covariance) / total
    rho[0] = 1
    last = np.ones(cells, int)  # per quantity, the odd lag its sum of positive pairs ends with
    for t in range(1, n - 3, 2):
        positive = (last == t) & (rho[t - 1] + rho[t] > 0)
        if not positive.any():
            break
        last[positive] = t + 2
    tau = _sum_monotone(rho, last - 2)
    return np.where(np.isfinite(total) & (total > 0), chains * n / np.maximum(tau, 1 / np.log10(chains * n)), np.nan)


def _sum_monotone(rho: np.ndarray, last: np.ndarray) -> np.ndarray:
    """-1 + 2 sum of rho up to the odd lag `last`, each pair no larger than the one before, + a positive even one."""
    tau = -np.ones(rho.shape[1])
    previous = np.full(rho.shape[1], np.inf)
    for t in range(1, int(last.max()) + 1, 2):
        pair = np.minimum(rho[t - 1] + rho[t], previous)
        tau += np.where(t <= last, 2 * pair, 0)
        previous = np.where(t <= last, pair, previous)
    beyond = np.take_along_axis(rho, last[None] + 1, axis=0)[0]
    return tau + np.maximum(beyond, 0)


def _autocovariance(x: np.ndarray) -> np.ndarray:
    """Mean over chains of the autocovariance at each lag, shape (draws, M)."""
    n = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    return np.fft.irfft(power.mean(axis=0), size, axis=0)[:n] / n
