"""More than two classes: class probabilities evaluated on a fixed lattice of posterior points.

The class scores are independent, so a point of the unit cube becomes a point of the posterior through their quantile
functions. The points are a rank-1 lattice (j (1, g, g^2, ..) mod N + 1/2)/N with g found by minimising the P2
criterion of 10 dimensions with weights 1/d^2 (Sloan and Joe 1994, chapters 4 and 5): deterministic, and in every
single dimension equally spaced. The leading dimensions go to the classes with the highest scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from scipy import special

from bayesnb.uncertainty.inversion import Law, upper_deviations
from bayesnb.uncertainty.quantiles import departure, shapes, standardised, trusted

_GENERATORS = {8191: 1604, 32749: 23895}
_CELLS = 4_000_000  # doubles held at once
_NODES = 17
_REACH = 4.2  # the outermost of 32,749 points is at 4.17

ScoreTerms = Callable[[np.ndarray, int], Law]


def points_for(tail: float) -> int:
    """Lattice points so that some hundred lie beyond a quantile, from 8,191 up to 32,749."""
    return next((n for n in _GENERATORS if n * tail >= 100), max(_GENERATORS))


@cache
def _basis(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Shapes of the Cornish-Fisher map, (4, N), and interpolation from its Chebyshev nodes, (nodes, N), by size."""
    z = special.ndtri((np.arange(n_points) + 0.5) / n_points)
    skew, kurtosis, square = shapes(z)
    return np.stack([z, skew, kurtosis, square]), _interpolation(z)


def _order(n_points: int, dimension: int) -> np.ndarray:
    """Rank of each lattice point among the values that every dimension takes once; not kept: classes may be many."""
    multiplier = pow(_GENERATORS[n_points], dimension, n_points)
    return np.arange(n_points, dtype=np.int64) * multiplier % n_points


def _chebyshev() -> np.ndarray:
    return _REACH * np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)


def _interpolation(z: np.ndarray) -> np.ndarray:
    """Barycentric interpolation matrix from the Chebyshev nodes to z (Berrut and Trefethen 2004, section 5)."""
    k = np.arange(_NODES)
    weight = (-1.0) ** k * np.sin(np.pi * (k + 0.5) / _NODES)
    gap = z[None, :] - _chebyshev()[:, None]
    hit = gap == 0
    gap[hit] = 1.0
    ratio = weight[:, None] / gap
    ratio /= ratio.sum(axis=0)
    column = hit.any(axis=0)
    ratio[:, column] = hit[:, column]
    return ratio


class Scores:
    """Independent class scores of some documents.

    Parameters
    ----------
    cumulants : ndarray, shape (n, orders, K)
        Of the scores.
    terms : callable
        ``terms(rows, k)`` is the exact law of the scores of class k.
    """

    def __init__(self, cumulants: np.ndarray, terms: ScoreTerms) -> None:
        self.cumulants, self.terms = cumulants, terms
        self.n, _, self.n_classes = cumulants.shape
        self.mean, self.sd = cumulants[:, 0], np.sqrt(np.maximum(cumulants[:, 1], 0))
        self.g1, self.g2 = standardised(cumulants)
        self.rank = np.argsort(-self.mean, axis=1, kind="stable")
        # the bulk decides: beyond 2 sd the map may be less exact
        self.plain = trusted(2.0, departure(cumulants)) | (self.sd == 0)

    def rivals(self) -> tuple[np.ndarray, np.ndarray]:
        """Strongest rival of each class, and whether it is the only one that counts: two arrays (n, K).

        The others may move the log-odds of the two by a thousandth of their standard deviation at most.
        """
        rows = np.arange(self.n)
        first, second = self.rank[:, 0], self.rank[:, 1]
        rival = np.repeat(first[:, None], self.n_classes, axis=1)
        rival[rows, first] = second
        variance = self.sd**2
        spread = np.sqrt(variance + np.take_along_axis(variance, rival, axis=1))
        with np.errstate(divide="ignore"):
            margin = np.log(1e3 * self.n_classes) - np.log(np.minimum(spread, 1.0))
        alone = np.ones((self.n, self.n_classes), bool)
        for other in range(self.n_classes):
            gap = np.take_along_axis(self._least_gap(other), rival, axis=1)
            apart = (rival == other) | (np.arange(self.n_classes) == other)
            alone &= apart | (gap > margin)
        return rival, alone

    def _least_gap(self, other: int) -> np.ndarray:
        """How far each class's score stays above another's in all but 1e-4 of the posterior, (n, K)."""
        m = np.maximum(np.abs(self.g1), np.sqrt(np.abs(self.g2)))
        # 4 sd where the score is normal, 8.4 where its lower tail is an exponential; upper tails are never longer
        down = (4 + 2.2 * m) * self.sd
        up = (4 + 2.2 * np.maximum(self.g1, 0)) * self.sd
        return self.mean - self.mean[:, [other]] - np.sqrt(down**2 + up[:, [other]] ** 2)

    def leaders(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The two highest classes of each row, and whether no other can be the largest: three arrays (n,)."""
        first, second = self.rank[:, 0], self.rank[:, 1]
        clear = np.ones(self.n, bool)
        for other in range(self.n_classes):
            gap = self._least_gap(other)[np.arange(self.n), first]
            clear &= (first == other) | (second == other) | (gap > 0)
        return first, second, clear

    def shares(self, rows: np.ndarray, n_points: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Chunks of rows with their class probabilities on the lattice, (chunk, K, N), classes by rank."""
        nodes = {k: self._nodes_of(rows, k) for k in range(self.n_classes) if not self.plain[rows, k].all()}
        size = max(1, _CELLS // (self.n_classes * n_points))
        for chunk in np.split(rows, np.arange(size, len(rows), size)):
            score = self._on_lattice(chunk, n_points, nodes)
            score -= score.max(axis=1, keepdims=True)
            np.exp(score, out=score)
            score /= score.sum(axis=1, keepdims=True)
            yield chunk, score

    def _on_lattice(self, rows: np.ndarray, n_points: int, nodes: dict[int, np.ndarray]) -> np.ndarray:
        # relative to the highest mean: scores of thousands of nats would lose digits
        top = self.mean[rows, self.rank[rows, 0]]
        result = np.empty((len(rows), self.n_classes, n_points))
        shape, interpolation = _basis(n_points)
        for d in range(self.n_classes):
            k = self.rank[rows, d]
            sd, g1, g2 = self.sd[rows, k], self.g1[rows, k], self.g2[rows, k]
            by_size = np.stack([sd, sd * g1, sd * g2, sd * g1 * g1], axis=1) @ shape
            for one in np.unique(k[~self.plain[rows, k]]):
                at = np.flatnonzero((k == one) & ~self.plain[rows, k])
                by_size[at] = nodes[int(one)][rows[at]] @ interpolation
            result[:, d] = by_size[:, _order(n_points, d)]
            result[:, d] += (self.mean[rows, k] - top)[:, None]
        return result

    def _nodes_of(self, rows: np.ndarray, k: int) -> np.ndarray:
        """Exact quantiles less the mean at the Chebyshev nodes, (n, nodes), filled for the rows that need them."""
        result = np.zeros((self.n, _NODES))
        needed = rows[~self.plain[rows, k]]
        result[needed] = self._exact_nodes(needed, k)
        return result

    def _exact_nodes(self, rows: np.ndarray, k: int) -> np.ndarray:
        law, mean, sd = self.terms(rows, k), self.mean[rows, k], self.sd[rows, k]
        z = _chebyshev()
        nodes = np.empty((len(rows), _NODES))
        up = z >= 0
        nodes[:, up] = upper_deviations(law, special.ndtr(-z[up]), mean, sd)
        nodes[:, ~up] = -upper_deviations(law.negated(), special.ndtr(z[~up]), -mean, sd)
        return nodes


def share_interval(scores: Scores, rows: np.ndarray, level: float) -> np.ndarray:
    """Equal-tailed interval of each class probability, shape (rows, K, 2)."""
    tail = (1 - level) / 2
    n_points = points_for(tail)
    result = np.empty((len(rows), scores.n_classes, 2))
    done = 0
    for chunk, share in scores.shares(rows, n_points):
        part = np.empty((len(chunk), scores.n_classes, 2))
        for end, position in enumerate((tail * n_points - 0.5, (1 - tail) * n_points - 0.5)):
            part[..., end] = _order_statistic(share, position)
        by_class = result[done : done + len(chunk)]
        np.put_along_axis(by_class, scores.rank[chunk][..., None], part, axis=1)
        done += len(chunk)
    return result


def _order_statistic(share: np.ndarray, position: float) -> np.ndarray:
    """Between two neighbours in size, on the log scale, where small probabilities differ."""
    below = int(np.clip(np.floor(position), 0, share.shape[-1] - 2))
    part = np.partition(share, (below, below + 1), axis=-1)[..., below : below + 2]
    weight = np.clip(position - below, 0.0, 1.0)
    low, high = part[..., 0], part[..., 1]
    ratio = np.divide(high, low, out=np.ones_like(low), where=low > 0)
    return np.minimum(low * ratio**weight, high)


def share_largest(scores: Scores, rows: np.ndarray) -> np.ndarray:
    """Share of the lattice on which each class has the largest probability, shape (rows, K)."""
    result = np.zeros((len(rows), scores.n_classes))
    done = 0
    for chunk, share in scores.shares(rows, 8191):
        best = share.argmax(axis=1)
        for d in range(scores.n_classes):
            result[np.arange(done, done + len(chunk)), scores.rank[chunk, d]] = (best == d).mean(axis=1)
        done += len(chunk)
    return result
