"""Distribution function, quantiles and moments of log R = log phi_a - log phi_b, independent Beta laws, a row a token.

The method and its error are described in `bayesnb.contrast.quadrature`. Equal rows are solved once.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesnb.contrast.quadrature import Pairs, direction, upper_tail
from bayesnb.logbeta import digamma_drop, inverse_trigamma, trigamma_drop
from bayesnb.special import log_beta

Array = np.ndarray
Sides = tuple[Array, Array]
Gammas = tuple[Array, Array, Array]

SHAPES = (1e-15, 1e18)  # of the Beta laws: measured to 1e-11 in probability below 1e9, 1e-9 at 1e15, 1e-7 at 1e18
_CLOSE = 1e-13  # a quantile's probability is right when it is this close
_SLACK = 1e-12  # or when the next step can change it by no more than this
_BLOCK = 4096  # rows a thread solves at once
_LEAST = 1e-300  # a log ratio closer to 0 is 0


def _rows(*values: ArrayLike) -> tuple[tuple[int, ...], list[Array]]:
    """Broadcast to one shape and flatten; the last four are shapes of Beta laws."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))
    least, most = SHAPES
    for name, v in zip(("a1", "b1", "a2", "b2"), arrays[-4:], strict=True):
        bad = np.flatnonzero(~(np.isfinite(v) & (v > 0)))
        if bad.size:
            raise ValueError(f"{name} must be finite and above 0, a Beta law's shape; row {bad[0]} is {v.flat[bad[0]]}")
        far = np.flatnonzero((v < least) | (v > most))
        if far.size:
            raise ValueError(
                f"{name} is {v.flat[far[0]]:g} in row {far[0]}: the law of a ratio is computed for Beta shapes (prior "
                f"plus counts) from {least:g} to {most:g}; give a more moderate prior, or rescale the counts"
            )
    return arrays[0].shape, [v.ravel() for v in arrays]


def distinct(columns: list[Array]) -> tuple[list[Array], NDArray[np.intp]]:
    """Distinct rows and where each row went (`numpy.unique` over an axis sorts bytes, ten times slower)."""
    order = np.lexsort(columns)
    ranked = [c[order] for c in columns]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([c[1:] != c[:-1] for c in ranked], axis=0)
    inverse = np.empty(len(order), dtype=np.intp)
    inverse[order] = np.cumsum(new) - 1
    return [c[new] for c in ranked], inverse


def log_ratio_cdf(r: ArrayLike, a1: ArrayLike, b1: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Array:
    """P(log R <= r) where R = phi_a / phi_b, phi_a ~ Beta(a1, b1), phi_b ~ Beta(a2, b2).

    Parameters
    ----------
    r : array_like
        Natural log of the ratio; infinities allowed.
    a1, b1, a2, b2 : array_like
        Shapes above 0; all five broadcast.

    Returns
    -------
    ndarray
        Probabilities, absolute error below 1e-10 for shapes from 1e-15 to 1e11, 1e-9 to 1e15, 1e-7 to 1e18.

    Raises
    ------
    ValueError
        A shape outside 1e-15 to 1e18, or r is NaN.

    Examples
    --------
    >>> from bayesnb.contrast import log_ratio_cdf
    >>> float(log_ratio_cdf(0.0, 1, 15, 1, 15))
    0.5
    """
    shape, (r, *columns) = _rows(r, a1, b1, a2, b2)
    if np.isnan(r).any():
        raise ValueError(f"r must be a number; entry {np.flatnonzero(np.isnan(r))[0]} is NaN")
    (r, *columns), inverse = distinct([r, *columns])
    pairs = Pairs(*columns)
    out = np.where(r > 0, 1.0, 0.0)
    inside = np.flatnonzero(np.isfinite(r) & (r != 0))
    up = r[inside] > 0
    tail = upper_tail(pairs.take(inside).swapped(~up), np.abs(r[inside]))
    out[inside] = np.where(up, 1 - tail, tail)
    at_one = np.flatnonzero(r == 0)
    out[at_one] = direction(pairs.take(at_one))[1]
    return np.clip(out, 0.0, 1.0)[inverse].reshape(shape)


def log_ratio_quantile(
    p: ArrayLike, a1: ArrayLike, b1: ArrayLike, a2: ArrayLike, b2: ArrayLike, *, upper: bool = False
) -> Array:
    """The r with P(log R <= r) = p, or with `upper` P(log R > r) = p; |cdf(r) - p| <= 1e-8.

    The upper quantile at p of a to b is, bit for bit, minus the lower quantile at p of b to a.

    Parameters
    ----------
    p : array_like
        Probabilities; 0 and 1 give infinities.
    a1, b1, a2, b2 : array_like
        Shapes of the two Beta laws; all five broadcast.
    upper : bool
        p is the probability above, not below: 1 - p would lose the digits of a small p.

    Returns
    -------
    ndarray
        Log ratios; those within 1e-300 of 0 are 0.

    Raises
    ------
    ValueError
        p outside [0, 1], or a shape outside 1e-15 to 1e18.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.contrast import log_ratio_quantile
    >>> np.exp(log_ratio_quantile([0.025, 0.5, 0.975], 12, 990, 4, 998)).round(2).tolist()  # 11 and 3 of 1,000 tokens
    [1.08, 3.18, 11.81]
    """
    shape, (p, *columns) = _rows(p, a1, b1, a2, b2)
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if bad.size:
        raise ValueError(f"p must lie between 0 and 1; entry {bad[0]} is {p[bad[0]]}")
    (p, *columns), inverse = distinct([p, *columns])
    below, above = (1 - p, p) if upper else (p, 1 - p)
    pairs = Pairs(*columns)
    return _quantile(below, above, pairs, direction(pairs), _matched_gammas(pairs))[inverse].reshape(shape)


def prob_greater(a1: ArrayLike, b1: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Array:
    """P(phi_a > phi_b); near 0 it keeps its relative precision (near 1, ask for the exchanged pair).

    Parameters
    ----------
    a1, b1, a2, b2 : array_like
        Shapes of the two Beta laws; all four broadcast.

    Returns
    -------
    ndarray
        Probabilities, of the broadcast shape.

    Raises
    ------
    ValueError
        A shape outside 1e-15 to 1e18.

    Examples
    --------
    >>> from bayesnb.contrast import prob_greater
    >>> float(prob_greater(2, 1, 1, 2).round(6))
    0.833333
    >>> float(prob_greater(12, 990, 4, 998).round(3))  # 11 and 3 of 1,000 tokens
    0.983
    """
    shape, columns = _rows(a1, b1, a2, b2)
    columns, inverse = distinct(columns)
    return direction(Pairs(*columns))[0][inverse].reshape(shape)


def log_ratio_mean(a1: ArrayLike, b1: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Array:
    """E[log R] = psi(a1) - psi(a1+b1) - psi(a2) + psi(a2+b2). (E[R] itself is infinite for a2 <= 1.)

    Parameters
    ----------
    a1, b1, a2, b2 : array_like
        Shapes of the Beta laws of phi_a and phi_b, which must be above 0 (not checked here); all four broadcast.

    Returns
    -------
    ndarray
        In nats, of the broadcast shape.

    Examples
    --------
    >>> from bayesnb.contrast import log_ratio_mean
    >>> float(log_ratio_mean(12, 990, 4, 998).round(3))
    1.187
    """
    return digamma_drop(a1, b1) - digamma_drop(a2, b2)


def log_ratio_sd(a1: ArrayLike, b1: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Array:
    """Standard deviation of log R; its variance is psi1(a1) - psi1(a1+b1) + psi1(a2) - psi1(a2+b2).

    Parameters
    ----------
    a1, b1, a2, b2 : array_like
        Shapes of the Beta laws of phi_a and phi_b, which must be above 0 (not checked here); all four broadcast.

    Returns
    -------
    ndarray
        In nats, of the broadcast shape.

    Examples
    --------
    >>> from bayesnb.contrast import log_ratio_sd
    >>> float(log_ratio_sd(12, 990, 4, 998).round(3))
    0.607
    """
    return np.sqrt(trigamma_drop(a1, b1) + trigamma_drop(a2, b2))


def summarise(level: float, a1: Array, b1: Array, a2: Array, b2: Array) -> dict[str, Array]:
    """Median and ends of the equal-tailed interval of log R, and P(R > 1) and P(R < 1), all from one solve.

    Parameters
    ----------
    level : float
        Probability inside the interval.
    a1, b1, a2, b2 : ndarray, shape (n,)
        Shapes of the two Beta laws.

    Returns
    -------
    dict of ndarray, shape (n,)
        Keys median, lower, upper, greater, less.
    """
    columns, inverse = distinct(_rows(a1, b1, a2, b2)[1])
    starts = range(0, len(columns[0]), _BLOCK)
    blocks = [Pairs(*(c[i : i + _BLOCK] for c in columns)) for i in starts]
    if len(blocks) < 2:
        parts = [_summary(level, block) for block in blocks]
    else:  # SciPy's and NumPy's loops release the interpreter lock
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = list(pool.map(partial(_summary, level), blocks))
    names = ("median", "lower", "upper", "greater", "less")
    if not parts:
        return {name: np.empty(0) for name in names}
    return {name: v[inverse] for name, v in zip(names, np.concatenate(parts, axis=1), strict=True)}


def _summary(level: float, pairs: Pairs) -> Array:
    """Median, ends, P(R > 1) and P(R < 1), shape (5, n)."""
    n, tail = len(pairs.a1), (1 - level) / 2
    sides, gammas = direction(pairs), _matched_gammas(pairs)
    below = np.repeat([0.5, tail, 1 - tail], n)
    above = np.repeat([0.5, 1 - tail, tail], n)
    thrice = np.tile(np.arange(n), 3)
    g1, g2, shift = (v[thrice] for v in gammas)
    ends = _quantile(below, above, pairs.take(thrice), (sides[0][thrice], sides[1][thrice]), (g1, g2, shift))
    return np.concatenate([ends.reshape(3, n), np.stack(sides)])


def _quantile(below: Array, above: Array, pairs: Pairs, sides: Sides, gammas: Gammas) -> Array:
    """The r that has these probabilities below and above it, from P(R > 1), P(R < 1) and `_matched_gammas`."""
    greater, less = sides
    out = np.where(below <= 0, -np.inf, np.where(above <= 0, np.inf, 0.0))
    inside = (below > 0) & (above > 0)
    positive, negative = inside & (above < greater), inside & (below < less)
    rows = np.flatnonzero(positive ^ negative)  # both: by rounding, at r = 0 itself
    up = positive[rows]
    target = np.where(up, above[rows], below[rows])
    g1, g2, shift = (v[rows] for v in gammas)
    start = _beta_prime_tail(target, np.where(up, g1, g2), np.where(up, g2, g1), np.where(up, shift, -shift))
    r = _solve(target, pairs.take(rows).swapped(~up), start)
    out[rows] = np.where(up, r, -r)
    return out


def _matched_gammas(pairs: Pairs) -> tuple[Array, Array, Array]:
    """Shapes of log-gammas with the variances of the two log phi, and what to add to have their mean difference."""
    shapes = [inverse_trigamma(trigamma_drop(a, b)) for a, b in ((pairs.a1, pairs.b1), (pairs.a2, pairs.b2))]
    means = [
        digamma_drop(a, b) - special.digamma(g)
        for a, b, g in zip((pairs.a1, pairs.a2), (pairs.b1, pairs.b2), shapes, strict=True)
    ]
    return shapes[0], shapes[1], means[0] - means[1]


def _beta_prime_tail(p: Array, a1: Array, a2: Array, shift: Array) -> Array:
    """Upper quantile of shift + log of Gamma(a1) / Gamma(a2): near that of log R where a is small beside b."""
    share = special.betaincinv(a2, a1, p)
    log_share = np.log(np.maximum(share, 1e-300))
    tiny = share < 1e-290  # I_x(a, b) = x^a / (a B(a, b))
    if tiny.any():
        a, b = a2[tiny], a1[tiny]
        log_share[tiny] = (np.log(p[tiny]) + np.log(a) + log_beta(a, b)) / a
    return shift - log_share + np.log(np.maximum(1 - share, 1e-16))


def _solve(target: Array, pairs: Pairs, start: Array) -> Array:
    """The r > 0 with P(log R > r) = target, which is below P(R > 1), searched from `start`."""
    result = np.zeros(len(target))
    rows: Array = np.arange(len(target))
    r = np.where(np.isfinite(start), np.maximum(start, 1e-6), 1.0)
    low, high = np.zeros_like(r), np.full_like(r, np.inf)
    extent, missed = pairs.extent(), np.full_like(r, np.inf)
    for _ in range(300):
        with np.errstate(all="ignore"):  # a step that is no number is refused below, and the bracket cut
            values = upper_tail(pairs, r, extent, derivatives=True)
            step, remaining = _householder(values, target, r, pairs.b1 + pairs.b2 < 2)
        miss = values[0] - target
        low, high = np.where(miss > 0, r, low), np.where(miss > 0, high, r)
        # a step is taken if it stays inside the bracket and the last one helped; else the bracket is cut
        good = (step > low) & (step < high) & (np.abs(miss) < 0.5 * missed)
        nearly = good & (remaining < _SLACK)
        done = (np.abs(miss) < _CLOSE) | nearly | (high * (1 - 4e-16) <= low) | (high < _LEAST)
        result[rows[done]] = np.where(nearly, step, np.where(high < _LEAST, 0.0, r))[done]
        if done.all():
            break
        r = np.where(good, step, _cut(low, high))
        missed = np.where(good, np.abs(miss), np.inf)
        keep = np.flatnonzero(~done)
        rows, r, low, high, missed, target = (v[keep] for v in (rows, r, low, high, missed, target))
        pairs, extent = pairs.take(keep), (extent[0][keep], extent[1][keep])
    else:
        result[rows] = r
    return result


def _cut(low: Array, high: Array) -> Array:
    """A point between: geometric where the bracket spans magnitudes, far out where it has no upper end."""
    finite = np.where(np.isfinite(high), high, 1.0)
    ground = np.maximum(low, np.minimum(_LEAST, finite / 4))
    inside = np.where(finite > 4 * low, np.sqrt(ground) * np.sqrt(finite), (low + finite) / 2)
    return np.where(np.isfinite(high), inside, 4 * low + 1)


def _householder(values: Array, target: Array, r: Array, in_log: Array) -> tuple[Array, Array]:
    """Fourth-order step on logit H, in log r where H behaves as a power of r near 0; and what it may leave in H."""
    p, h1, h2, h3 = values
    h1, h2, h3 = (
        np.where(in_log, r * h1, h1),
        np.where(in_log, r * h1 + r * r * h2, h2),
        np.where(in_log, r * h1 + 3 * r * r * h2 + r**3 * h3, h3),
    )
    q = 1 - p
    k1, k2, k3 = 1 / p + 1 / q, 1 / q**2 - 1 / p**2, 2 / p**3 + 2 / q**3
    f1 = k1 * h1
    f2, f3 = k1 * h2 + k2 * h1**2, k1 * h3 + 3 * k2 * h1 * h2 + k3 * h1**3
    gap = special.logit(target) - special.logit(p)
    y = gap / f1
    c2, c3 = f2 / (2 * f1), f3 / (6 * f1)
    bent = np.maximum(np.abs(c2 * y), np.sqrt(np.abs(c3)) * np.abs(y))
    step = np.where(bent < 0.3, y - c2 * y**2 + (2 * c2**2 - c3) * y**3, y)
    remaining = 10 * np.abs(h1 * y) * bent**3
    moved = np.where(in_log, r * np.exp(np.clip(step, -50, 50)), r + step)
    return moved, np.where((np.abs(gap) < 1) & (bent < 0.2), remaining, np.inf)
