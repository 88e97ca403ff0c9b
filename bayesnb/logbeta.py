"""Combinations of log-betas, digammas and trigammas that keep their digits from 1e-6 to beyond 1e9.

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

from bayesnb.special import _stirling_tail, log_rising

Array = np.ndarray
Pair = tuple[Array, ...]

LARGE = 10.0  # from here the asymptotic series below reach 1e-16
_BLOCK = 1 << 14  # cells handled at once: what stays in the cache of one core
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
    # (1+v) log(1+v) - v = sum_k (-v)^k / (k (k-1)), k >= 2; 9 terms reach 1e-16 relative below 0.02
    series = np.zeros_like(small)
    for k in range(10, 1, -1):
        series = 1 / (k * (k - 1)) - small * series
    series = small * small * series
    direct = x * np.log(x / mean) - excess
    return np.where(np.abs(v) < 0.02, mean * series, direct)


def log_separate_gain(prior1: Pair, counts1: Pair, prior2: Pair, counts2: Pair, shared: Pair) -> Array:
    """Log evidence of two counts of hits and misses, each with a phi of its own, less that with one phi for both.

    Parameters
    ----------
    prior1, prior2, shared : pair of ndarray
        Beta shapes of the phi of the first, of the second, and of the one that both would have.
    counts1, counts2 : pair of ndarray
        Hits and misses.

    Notes
    -----
    Stirling's formula leaves, with (x, y) the shapes after all counts, s_1 KL(phi_1 || phi) + s_2 KL(phi_2 || phi)
    after the counts, less the same before them, less sums of the size of the prior times log phi's move. What a
    deviance needs, the hits in excess of its mean, is put together from counts and differences of priors alone:
    a + n would round n away beside a large a.
    """
    pooled = tuple(h + (c1 + c2) for h, c1, c2 in zip(shared, counts1, counts2, strict=True))
    gain = -_drift(prior1, prior2, shared, counts1, counts2, pooled) + log_peak(*pooled) - log_peak(*shared)
    for prior, own, other in ((prior1, counts1, counts2), (prior2, counts2, counts1)):
        after = (prior[0] + own[0], prior[1] + own[1])
        change = (shared[0] - prior[0], shared[1] - prior[1])
        gain = gain + _apart(after, pooled, (change[0] + other[0], change[1] + other[1])) - log_peak(*after)
        gain = gain - _apart(prior, shared, change) + log_peak(*prior)
    return gain


def _apart(own: Pair, pooled: Pair, more: Pair) -> Array:
    """Return s KL(phi || phi'), phi and phi' the means under the shapes `own` and `pooled` = own + more."""
    total, size = pooled[0] + pooled[1], own[0] + own[1]
    surplus = (own[0] * more[1] - own[1] * more[0]) / total
    hit, miss = (_deviance(v, size * (w / total), e) for v, w, e in zip(own, pooled, (surplus, -surplus), strict=True))
    return hit + miss


def _drift(prior1: Pair, prior2: Pair, shared: Pair, counts1: Pair, counts2: Pair, pooled: Pair) -> Array:
    """Sum of c_i log(p_i / p'_i), p the mean under `shared`, p' under `pooled`, c = prior1 + prior2 - shared."""
    total, size = pooled[0] + pooled[1], shared[0] + shared[1]
    hits, misses = counts1[0] + counts2[0], counts1[1] + counts2[1]
    surplus = (shared[0] * misses - shared[1] * hits) / total
    first, second = ((a + b - h) / h for a, b, h in zip(prior1, prior2, shared, strict=True))
    hit = _deviance(shared[0], size * (pooled[0] / total), surplus)
    miss = _deviance(shared[1], size * (pooled[1] / total), -surplus)
    return first * hit + second * miss + (first - second) * surplus


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


def log_beta_step(a: ArrayLike, b: ArrayLike, n: ArrayLike, m: ArrayLike) -> Array:
    """Log B(a + n, b + m) - log B(a, b): log probability of a sequence of n hits and m misses, phi ~ Beta(a, b).

    Parameters
    ----------
    a, b : array_like
        Shapes, above 0.
    n, m : array_like
        Counts, whole or fractional, at least 0; all four broadcast.

    Returns
    -------
    ndarray
        At most 0; relative error below 1e-12 for shapes from 1e-6 to 1e9 and whole counts to 1e15.

    Notes
    -----
    Factors (a + i)/(a + b + i) are taken out one by one until the shapes reach 10. Stirling's formula then gives, with
    s = a + b, N = n + m, p = a/s and p' = (a + n)/(s + N),
    n log p' + m log(1 - p') - s KL(p || p') - log[(1 + n/a)(1 + m/b)/(1 + N/s)]/2 - (the three drops of its error).
    All of these are at most 0, so nothing cancels.
    """
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (a, b, n, m)))
    out = np.empty(arrays[0].shape)
    flat, columns = out.reshape(-1), [v.reshape(-1) for v in arrays]
    for i in range(0, len(flat), _BLOCK):
        flat[i : i + _BLOCK] = _step(*(v[i : i + _BLOCK] for v in columns))
    return out[()]


def log_dirichlet_step(a: ArrayLike, n: ArrayLike) -> Array:
    """Log of prod_j Gamma(a_j + n_j)/Gamma(a_j) over Gamma(A + N)/Gamma(A), the evidence of counts n, row by row.

    Parameters
    ----------
    a, n : array_like, shape (..., V)
        Concentrations above 0, and counts of at least 0.

    Returns
    -------
    ndarray, shape (...)
        At most 0, with the relative error of `log_beta_step`.

    Notes
    -----
    Broken like a stick: each cell that was seen against all that follow it, those never seen last. Every piece is the
    log of a probability, so the sum does not cancel.
    """
    a, n = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(n, dtype=float))
    seen = n > 0
    after = _following(np.where(seen, a, 0.0)) + np.where(seen, 0.0, a).sum(-1, keepdims=True)
    some = seen & (after > 0)
    pieces = np.zeros(a.shape)
    pieces[some] = log_beta_step(a[some], after[some], n[some], _following(n)[some])
    return pieces.sum(-1)


def _following(x: Array) -> Array:
    """Sum of the cells after each one, added up from the end so that a large one before takes no digits."""
    sums = np.zeros(x.shape)
    np.cumsum(x[..., :0:-1], axis=-1, out=sums[..., -2::-1] if x.shape[-1] > 1 else sums[..., :0])
    return sums


def _step(a: Array, b: Array, n: Array, m: Array) -> Array:
    first, a, n = _peel(a, b, n)
    second, b, m = _peel(b, a, m)
    hit, miss, s, size = a + n, b + m, a + b, n + m
    total = hit + miss
    surplus = (a * m - b * n) / total  # a - s p'
    apart = _deviance(a, s * (hit / total), surplus) + _deviance(b, s * (miss / total), -surplus)
    u, v, w = n / a, m / b, size / s
    half = np.log1p(np.minimum(u, v)) + np.log1p(np.where(u > v, b, a) / s * np.abs(u - v) / (1 + w))
    drops = _error_drop(a, n) + _error_drop(b, m) - _error_drop(s, size)
    return -(first + second + n * np.log1p(miss / hit) + m * np.log1p(hit / miss) + apart + half / 2 + drops)


def _peel(a: Array, b: Array, n: Array) -> tuple[Array, Array, Array]:
    """Minus the logs of the first factors of (a)_n/(a + b)_n, as many as lift a to `LARGE`; a and n without them."""
    count = np.minimum(np.floor(n), np.ceil(np.maximum(LARGE - a, 0)))
    lost = np.zeros_like(a)
    for i in range(int(count.max(initial=0))):
        rows = np.flatnonzero(count > i)
        lost[rows] += np.log1p(b[rows] / (a[rows] + i))
    return lost, a + count, n - count


def _error_drop(a: Array, n: Array) -> Array:
    """Stirling error of a less that of a + n; where a is below `LARGE`, n must be of the order of 1."""
    large = np.maximum(a, LARGE)
    drop = n / (12 * large * (large + n)) + _stirling_tail(large + n) - _stirling_tail(large)
    low = np.flatnonzero((a < LARGE) & (n > 0))
    x, step = a[low], n[low]
    drop[low] = (x - 0.5) * np.log1p(step / x) + step * (np.log(x + step) - 1) - log_rising(x, step)
    return np.where((a < LARGE) & (n == 0), 0.0, drop)
