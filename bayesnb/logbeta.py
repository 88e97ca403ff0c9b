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

_PLAIN, _LEAST = 100.0, 1e-290  # up to these a density's terms are small enough to be subtracted as they are
LARGE = 10.0  # from here the asymptotic series below reach 1e-16
_BLOCK = 1 << 14  # cells handled at once: what stays in the cache of one core
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = {1: -1 / 2, 2: -1 / 12, 4: 1 / 120, 6: -1 / 252, 8: 1 / 240, 10: -1 / 132, 12: 691 / 32760, 14: -1 / 12}
_TRIGAMMA = {1: 1.0, 2: 1 / 2, 3: 1 / 6, 5: -1 / 30, 7: 1 / 42, 9: -1 / 30, 11: 5 / 66, 13: -691 / 2730, 15: 7 / 6}


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


def log_gamma_density(a: ArrayLike, y: ArrayLike) -> Array:
    """Log density of log G at G = y, G ~ Gamma(a, 1); for a of 1e15 too, where a log y and log Gamma(a) are 1e16.

    Saddlepoint form: half of log(a/(2 pi)) less the deviance of y from a, both of the size of the answer.
    """
    a, y = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(y, dtype=float))
    near = (a > _PLAIN) & (y > _LEAST) & np.isfinite(y)
    safe = np.where(near, y, a)
    fall = _deviance(a, safe, a - safe)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        plain = np.where(y < np.inf, a * np.log(y) - y - special.gammaln(a), -np.inf)
        return np.where(near, 0.5 * np.log(a / (2 * np.pi)) - stirling_error(a) - fall, plain)


def log_dirichlet_density(a: ArrayLike, x: ArrayLike) -> tuple[Array, Array]:
    """Log density at x, shape (..., V) -> (...), in saddlepoint form, and whether it is the better one there.

    With A the total, the parts are log a_j, log x_j and the deviances of a_j from A x_j, which stay small where
    (a_j - 1) log x_j and the log gammas are 1e16. It is for totals above 100 and x above 1e-290.
    """
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(x, dtype=float))
    total = a.sum(-1)
    good = (total > _PLAIN) & (x > _LEAST).all(-1)
    x = np.where(good[..., None], x, a / total[..., None])
    mean = total[..., None] * x
    parts = 0.5 * np.log(a / (2 * np.pi)) - np.log(x) - stirling_error(a) - _deviance(a, mean, a - mean)
    return parts.sum(-1) - 0.5 * np.log(total / (2 * np.pi)) + stirling_error(total), good


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
    a + n would round n away beside a large a. Where priors differ by magnitudes these parts may be far larger than the
    three log evidences, which are then subtracted as they are.
    """
    parts = _gain_parts(prior1, counts1, prior2, counts2, shared)
    gain = np.sum(parts, axis=0)
    if all((own == h).all() for prior in (prior1, prior2) for own, h in zip(prior, shared, strict=True)):
        return gain
    both = (counts1[0] + counts2[0], counts1[1] + counts2[1])
    pairs = ((prior1, counts1), (prior2, counts2), (shared, both))
    steps = [sign * log_beta_step(a, b, n, m) for sign, ((a, b), (n, m)) in zip((1, 1, -1), pairs, strict=True)]
    smaller = np.max(np.abs(steps), axis=0) < np.max(np.abs(parts), axis=0)
    return np.where(smaller, np.sum(steps, axis=0), gain)


def _gain_parts(prior1: Pair, counts1: Pair, prior2: Pair, counts2: Pair, shared: Pair) -> list[Array]:
    pooled = tuple(h + (c1 + c2) for h, c1, c2 in zip(shared, counts1, counts2, strict=True))
    parts = [-_drift(prior1, prior2, shared, counts1, counts2, pooled), log_peak(*pooled) - log_peak(*shared)]
    for prior, own, other in ((prior1, counts1, counts2), (prior2, counts2, counts1)):
        after = (prior[0] + own[0], prior[1] + own[1])
        change = (shared[0] - prior[0], shared[1] - prior[1])
        parts += [_apart(after, pooled, (change[0] + other[0], change[1] + other[1])), -log_peak(*after)]
        parts += [-_apart(prior, shared, change), log_peak(*prior)]
    return parts


def _apart(own: Pair, pooled: Pair, more: Pair) -> Array:
    """Return s KL(phi || phi'), phi and phi' the means under the shapes `own` and `pooled` = own + more."""
    total, size = pooled[0] + pooled[1], own[0] + own[1]
    terms = _smaller_products(own, more, pooled)
    surplus = (terms[0] - terms[1]) / total
    hit, miss = (_deviance(v, size * (w / total), e) for v, w, e in zip(own, pooled, (surplus, -surplus), strict=True))
    return hit + miss


def _smaller_products(own: Pair, more: Pair, pooled: Pair) -> Pair:
    """Own_0 q_1 and own_1 q_0, with the same difference for q = more and q = pooled; those that cancel least."""
    first, second = ((own[0] * q[1], own[1] * q[0]) for q in (more, pooled))
    fewer = np.abs(first[0]) + np.abs(first[1]) <= second[0] + second[1]
    return tuple(np.where(fewer, a, b) for a, b in zip(first, second, strict=True))


def _drift(prior1: Pair, prior2: Pair, shared: Pair, counts1: Pair, counts2: Pair, pooled: Pair) -> Array:
    """Sum of c_i log(p_i / p'_i), p the mean under `shared`, p' under `pooled`, c = prior1 + prior2 - shared."""
    total, size = pooled[0] + pooled[1], shared[0] + shared[1]
    hits, misses = counts1[0] + counts2[0], counts1[1] + counts2[1]
    surplus = (shared[0] * misses - shared[1] * hits) / total
    weights = [a + b - h for a, b, h in zip(prior1, prior2, shared, strict=True)]
    first, second = (c / h for c, h in zip(weights, shared, strict=True))
    means = [size * (w / total) for w in pooled]
    hit, miss = (_deviance(h, m, e) for h, m, e in zip(shared, means, (surplus, -surplus), strict=True))
    near = first * hit + second * miss + (first - second) * surplus
    # a phi that moved far: beside c/h of 1e14 the deviances' last places would be millions of nats
    moved = [_log_ratio(h, m, e / m) for h, m, e in zip(shared, means, (surplus, -surplus), strict=True)]
    far = np.maximum(np.abs(surplus / means[0]), np.abs(surplus / means[1])) > 0.02
    return np.where(far, weights[0] * moved[0] + weights[1] * moved[1], near)


def _log_ratio(x: Array, mean: Array, v: Array) -> Array:
    """Log of x / mean = 1 + v, whose v is known better than by subtraction."""
    small = np.abs(v) < 0.5
    return np.where(small, np.log1p(np.where(small, v, 0.0)), np.log(x / mean))


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
    large, first, _ = _lifted(a, b)
    return _drop(large, b, _DIGAMMA) - np.log1p(b / large) - first


def trigamma_drop(a: ArrayLike, b: ArrayLike) -> Array:
    """psi1(a) - psi1(a + b): the variance of log phi, phi ~ Beta(a, b)."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    large, _, second = _lifted(a, b)
    return _drop(large, b, _TRIGAMMA) + second


def _lifted(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """A lifted to `LARGE` in whole steps, sum of 1/x - 1/(x + b) over the steps x below it, and of their squares."""
    x, first, second = np.array(a, order="C"), np.zeros(a.shape), np.zeros(a.shape)
    low = np.flatnonzero(a.ravel() < LARGE)
    flat, rest = x.reshape(-1), b.ravel()
    while len(low):
        at, more = flat[low], rest[low]
        gap = more / (at + more) / at  # never 1/x - 1/(x + b): with a small b that would leave no digits
        first.reshape(-1)[low] += gap
        second.reshape(-1)[low] += gap * (1 / at + 1 / (at + more))
        flat[low] = at + 1
        low = low[flat[low] < LARGE]
    return x, first, second


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
