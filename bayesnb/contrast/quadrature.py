"""The exact law of log R = log phi_1 - log phi_2 for independent phi_i ~ Beta(a_i, b_i), a row a token.

Method
------
For r >= 0, with t = logit(phi_1) and g_1 its density (log-concave, analytic, of tail slopes a_1 and b_1),

    H(r) = P(log R > r) = integral of g_1(t) I_x(a_2, b_2) dt,    x = phi_1(t) exp(-r) < 1,

where I is the regularised incomplete beta function. A negative r is the same question with the two betas exchanged,
so swapping them negates every quantile bit for bit. Integrating over the beta on the smaller side keeps x below 1: the
integrand has no end inside the range.

The integrand bends in two places: where g_1 peaks and where I rises. Both have a known place and width: in t a
Beta(a, b) is centred near log((a+1)/(b+1)) with scale sqrt(1/(a+1) + 1/(b+1)), also where a or b is tiny and a tail
is thousands of units long. Around each, t = centre + scale sinh(s) spreads Gauss-Legendre nodes finely near it and
geometrically far away; one panel where the two bends are close, two panels that meet between them otherwise. The
range ends where g_1 has fallen by exp(-27) (at r = 0, where the smaller probability keeps its relative precision, where
the product has fallen by exp(-34)). The order grows with the length of the panel in s.

Error: measured against quadrature at 40 digits for shapes from 1e-3 to 1e9, see tests/benchmarks/contrast_accuracy.py:
below 1e-10 in probability. The density is normalised through Stirling errors, not through log-gammas.

Quantiles solve H(r) = p by Householder steps of fourth order on the logit of H (its three derivatives are sums over
the same nodes), bracketed, started from the beta-prime law whose two log-gammas have the means and variances of the two
log-betas. A log ratio closer to 0 than 1e-300 (both phi within 1e-300 of 1) is returned as 0.

References
----------
Pham-Gia (2000), "Distributions of the ratios of independent beta variables and applications", the density as a
hypergeometric function, which does not converge usefully near r = 0. Householder (1970), The numerical treatment of a
single nonlinear equation. Smyth (2004), limma, appendix: inverse of trigamma.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesnb.logbeta import log_peak
from bayesnb.special import beta_share, log_beta

Array = np.ndarray

_FALL = 27.0  # the range of integration ends where the density has fallen by exp(-27): 2e-12
_FALL_TAIL = 34.0  # the same for a small probability, relative to its own largest contribution
_BLOCK = 1 << 15  # nodes handled at once: what stays in the cache of one core


@lru_cache(maxsize=64)
def _legendre(order: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(order)


def _centre(a: Array, b: Array) -> tuple[Array, Array]:
    """Place and scale of the bend of logit(phi); the mode log(a/b) lies far out in a tail where a shape is tiny."""
    return np.log((a + 1) / (b + 1)), np.sqrt(1 / (a + 1) + 1 / (b + 1))


def _fall(t: Array, a: Array, b: Array) -> Array:
    """How far the log density of logit(phi) at t lies below its peak, with its digits at shapes of 1e9."""
    d = t - np.log(a / b)
    least = np.minimum(a, b)
    s = np.where(a <= b, d, -d)
    over = np.maximum(s - 600, 0)  # beyond, log(1 + share (e^s - 1)) is a straight line
    rise = np.log1p(least / (a + b) * np.expm1(s - over)) + over
    return (a + b) * rise - least * s


def _slope(t: Array, a: Array, b: Array) -> Array:
    """Slope of `_fall`; (a + b) expit(t) - a would be 0 far out where b is below the rounding of a."""
    return b * special.expit(t) - a * special.expit(-t)


def _log_parts(t: Array) -> Array:
    """Log of phi = expit(t)."""
    return np.minimum(t, 0) - np.log1p(np.exp(-np.abs(t)))


def _beta_cdf(a: Array, b: Array, log_x: Array, rest: Array) -> Array:
    """I_x(a, b) from log x and 1 - x, both exact: x may underflow (tiny a), or 1 - x be below rounding (tiny b)."""
    a, b = np.broadcast_arrays(a, b, log_x)[:2]
    x = np.exp(log_x)
    out = beta_share(a, b, x)
    near = rest < 1e-3
    if near.any():
        out[near] = 1 - beta_share(b[near], a[near], rest[near])
        low = near & (out < 0.1)
        out[low] = beta_share(b[low], a[low], rest[low], upper=True)
    tiny = log_x < -600  # I_x = x^a / (a B(a, b)), the next term is below x
    if tiny.any():
        a, b, log_x = a[tiny], b[tiny], log_x[tiny]
        out[tiny] = np.exp(np.minimum(a * log_x - np.log(a) - log_beta(a, b), 0.0))
    return out


def _edge(start: Array, step: Array, drop: Array | float, fall, slope) -> Array:
    """Where a convex `fall` reaches `drop`, from a point on that side of its minimum; never short of it by much.

    Newton from within jumps beyond the edge, then comes back towards it from outside without crossing.
    """
    t = start + step
    for _ in range(12):
        t = t + (drop - fall(t)) / slope(t)
    return t


@dataclass(frozen=True)
class Pairs:
    """Pairs of Beta laws, one a row, all arrays (n,); with what quadrature over the first needs."""

    a1: Array
    b1: Array
    a2: Array
    b2: Array

    def take(self, rows: Array) -> Pairs:
        """The pairs in the rows chosen."""
        return Pairs(self.a1[rows], self.b1[rows], self.a2[rows], self.b2[rows])

    def swapped(self, where: Array) -> Pairs:
        """The two laws exchanged in the rows chosen."""
        pick = [np.where(where, v, u) for u, v in ((self.a1, self.a2), (self.b1, self.b2))]
        back = [np.where(where, u, v) for u, v in ((self.a1, self.a2), (self.b1, self.b2))]
        return Pairs(pick[0], pick[1], back[0], back[1])

    def extent(self) -> tuple[Array, Array]:
        """Range of logit(phi_1) that holds all but about exp(-27)."""
        centre, scale = _centre(self.a1, self.b1)
        mode = np.log(self.a1 / self.b1)

        def fall(t):
            return _fall(t, self.a1, self.b1)

        def slope(t):
            return _slope(t, self.a1, self.b1)

        low = _edge(np.minimum(centre, mode), -scale, _FALL, fall, slope)
        return low, _edge(np.maximum(centre, mode), scale, _FALL, fall, slope)

    def tail_extent(self) -> tuple[Array, Array]:
        """Range of t that matters to P(logit phi_1 > logit phi_2) where the first law lies lower."""
        a, b = self.a1 + self.a2, self.b1 + self.b2
        centre, scale = _centre(a, b)
        mode2 = np.log(self.a2 / self.b2)
        peak = np.where(np.log(self.a1 / self.b1) < mode2, np.log(a / b), np.log(self.a1 / self.b1))

        def fall(t):  # the log of I_phi(a2, b2) falls about as its density does below the mode
            return _fall(t, self.a1, self.b1) + _fall(np.minimum(t, mode2), self.a2, self.b2)

        def slope(t):
            return _slope(t, self.a1, self.b1) + np.where(t < mode2, _slope(t, self.a2, self.b2), 0.0)

        drop = fall(peak) + _FALL_TAIL
        low = _edge(np.minimum(centre, peak), -scale, drop, fall, slope)
        return low, _edge(np.maximum(centre, peak), scale, drop, fall, slope)


@dataclass(frozen=True)
class _Panel:
    """One stretch of t a row: t = centre + scale sinh(s), from s = first to s = last."""

    rows: NDArray[np.intp]
    centre: Array
    scale: Array
    first: Array
    last: Array

    @classmethod
    def between(cls, rows, centre, scale, low, high) -> _Panel:
        first, last = np.arcsinh((low - centre) / scale), np.arcsinh((high - centre) / scale)
        return cls(rows, centre, scale, first, last)

    def blocks(self, least: Array):
        """Rows, nodes and weights, in blocks of equal order."""
        order = np.maximum(4 * np.ceil((6 * (self.last - self.first) + 4) / 4), least[self.rows]).astype(int)
        for n in np.unique(order):
            chosen = np.flatnonzero(order == n)
            for part in np.array_split(chosen, max(1, len(chosen) * n // _BLOCK)):
                yield self.rows[part], *self._nodes(part, n)

    def _nodes(self, part: Array, order: int) -> tuple[Array, Array]:
        x, w = _legendre(order)
        half = ((self.last - self.first) / 2)[part, None]
        s = ((self.last + self.first) / 2)[part, None] + half * x
        scale = self.scale[part, None]
        return self.centre[part, None] + scale * np.sinh(s), half * w * scale * np.cosh(s)


def _panels(low: Array, high: Array, c1: Array, d1: Array, c2: Array, d2: Array) -> list[_Panel]:
    """Panels graded about two bends at c1 and c2 of scales d1 and d2."""
    together = np.abs(c1 - c2) < np.maximum(d1, d2)
    one, two = np.flatnonzero(together), np.flatnonzero(~together)
    narrow = d1 <= d2
    centre, scale = np.where(narrow, c1, c2)[one], 2 * np.minimum(d1, d2)[one]
    swap = c1 > c2
    cl, cr = np.minimum(c1, c2)[two], np.maximum(c1, c2)[two]
    dl, dr = np.where(swap, d2, d1)[two], np.where(swap, d1, d2)[two]
    middle = np.clip((cl + cr + dr - dl) / 2, low[two], high[two])  # both gradings are equally fine there
    return [
        _Panel.between(one, centre, scale, low[one], high[one]),
        _Panel.between(two, cl, 2 * dl, low[two], middle),
        _Panel.between(two, cr, 2 * dr, middle, high[two]),
    ]


def _bend(r: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Where, in t = logit(phi_1), I_x(a, b) with x = phi_1 exp(-r) bends, and its scale there.

    Either x passes the centre of Beta(a, b), or it stops growing since 1 - x is near 1 - exp(-r).
    """
    centre, scale = _centre(a, b)
    lost = -np.expm1(-r)  # 1 - exp(-r)
    flat = np.maximum(np.minimum(0.5, np.minimum(scale, 1) * lost), 1e-305)

    def place(t2: Array) -> tuple[Array, Array]:  # 1 - phi_1 where logit(x) = t2, and logit(phi_1) there
        rest = np.maximum(special.expit(-t2) - np.expm1(np.minimum(r, 700)) * special.expit(t2), flat)
        # a phi_1 that is lost beside 1 is taken from its own logarithm
        return rest, np.where(rest > 0.5, r + special.log_expit(t2), np.log1p(-np.minimum(rest, 0.5))) - np.log(rest)

    rest, bend = place(centre)
    width = scale * (lost + np.exp(-r) * rest) / rest  # by the slope of logit(x) there
    rise = bend - place(centre - scale)[1]  # below the bend logit(x) may be steeper
    return bend, np.where(rise > 0.05 * width, np.minimum(rise, width), width)


def _integrate(pairs: Pairs, r: Array, panels: list[_Panel], derivatives: bool = False) -> Array:
    """H(r), and where asked its three derivatives, shape (1 or 4, n)."""
    out = np.zeros((4 if derivatives else 1, len(r)))
    least = np.select([pairs.b1 + pairs.b2 < 2, pairs.b1 < 30], [192, 96], 24)  # phi_1 near 1: several bends
    peaks = log_peak(pairs.a1, pairs.b1), log_peak(pairs.a2, pairs.b2)
    for panel in panels:
        for rows, t, weight in panel.blocks(least):
            a1, b1, a2, b2 = (v[rows, None] for v in (pairs.a1, pairs.b1, pairs.a2, pairs.b2))
            weight = weight * np.exp(peaks[0][rows, None] - _fall(t, a1, b1))
            log_x = _log_parts(t) - r[rows, None]
            rest = -np.expm1(log_x)
            out[0, rows] += (weight * _beta_cdf(a2, b2, log_x, rest)).sum(1)
            if derivatives:
                log_rest = np.log(rest)
                density = weight * np.exp(peaks[1][rows, None] - _fall(log_x - log_rest, a2, b2) - log_rest)
                odds = np.exp(log_x) / rest
                score = a2 - (b2 - 1) * odds
                out[1, rows] -= density.sum(1)
                out[2, rows] += (density * score).sum(1)
                out[3, rows] += (density * ((b2 - 1) * odds / rest - score * score)).sum(1)
    return out


def upper_tail(pairs: Pairs, r: Array, extent: tuple[Array, Array] | None = None, derivatives: bool = False) -> Array:
    """P(log R > r) for r > 0, absolute error about 1e-12.

    Parameters
    ----------
    pairs : Pairs
        Rows of shapes.
    r : ndarray, shape (n,)
        Log ratios, above 0.
    extent : pair of ndarray, optional
        `pairs.extent()`, where it is known already.
    derivatives : bool
        Also the first three derivatives in r.

    Returns
    -------
    ndarray, shape (n,), or (4, n) with derivatives
    """
    c1, d1 = _centre(pairs.a1, pairs.b1)
    low, high = extent or pairs.extent()
    out = _integrate(pairs, r, _panels(low, high, c1, d1, *_bend(r, pairs.a2, pairs.b2)), derivatives)
    return out if derivatives else out[0]


def direction(pairs: Pairs) -> tuple[Array, Array]:
    """P(R > 1) and P(R < 1); the one that is near 0 keeps its relative precision, and the two sum to 1.

    Parameters
    ----------
    pairs : Pairs
        Rows of shapes.
    """
    c1, c2 = _centre(pairs.a1, pairs.b1)[0], _centre(pairs.a2, pairs.b2)[0]
    swap = (c1 > c2) | ((c1 == c2) & ((pairs.a1 > pairs.a2) | ((pairs.a1 == pairs.a2) & (pairs.b1 > pairs.b2))))
    lower = pairs.swapped(swap)
    (c1, d1), (c2, d2) = _centre(lower.a1, lower.b1), _centre(lower.a2, lower.b2)
    pooled, scale = _centre(lower.a1 + lower.a2, lower.b1 + lower.b2)
    far = c2 - c1 > 3 * (d1 + d2)  # a tail: what matters is where both laws meet, near the pooled one
    bends = [np.where(far, p, v) for v, p in ((c1, pooled), (d1, scale), (c2, pooled), (d2, scale))]
    small = _integrate(lower, np.zeros_like(c1), _panels(*lower.tail_extent(), *bends))[0]
    small = np.where((lower.a1 == lower.a2) & (lower.b1 == lower.b2), 0.5, np.minimum(small, 1.0))
    return np.where(swap, 1 - small, small), np.where(swap, small, 1 - small)
