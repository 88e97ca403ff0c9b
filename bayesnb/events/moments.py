"""Additive first and second moments of labelled measurements, without cancellation.

Number, mean and sum of squared deviations from it are merged by the formulas of Chan, Golub and LeVeque (1983), in
float64 whatever the data come in: values near 1e8 that differ by 1 keep their variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bayesnb import validate
from bayesnb.events.statistics import _difference, _refuse_bad_total
from bayesnb.measurements import measurements

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class MomentStatistics:
    """Sufficient statistics of labelled measurements; merging parts gives those of the whole to 1e-12.

    Parameters
    ----------
    class_count : array_like, shape (K,)
        Documents (their weights) in each class.
    n : array_like, shape (K, V)
        Those of them where the column is not missing.
    mean : array_like, shape (K, V)
        Mean of their values; 0 where there is none.
    M2 : array_like, shape (K, V)
        Sum of squared deviations from the mean.

    Raises
    ------
    ValueError
        Shapes that do not fit, a number that is not finite, a negative total, or more values than documents.
    """

    class_count: np.ndarray
    n: np.ndarray
    mean: np.ndarray
    M2: np.ndarray

    COUNTS: ClassVar[tuple[str, ...]] = ("class_count", "n")
    MEASURES: ClassVar[tuple[str, ...]] = ("mean", "M2")

    def __post_init__(self) -> None:
        parts = {name: np.array(getattr(self, name), np.float64) for name in self.COUNTS + self.MEASURES}
        count, n, mean, m2 = parts.values()
        if count.ndim != 1 or n.ndim != 2 or len(n) != len(count) or not n.shape == mean.shape == m2.shape:
            shapes = ", ".join(f"{name} {value.shape}" for name, value in parts.items())
            raise ValueError(f"{shapes} must be (K,), (K, V), (K, V) and (K, V)")
        _refuse_unsquarable(m2)
        for name in ("class_count", "n", "M2"):
            _refuse_bad_total(name, parts[name])
        _refuse_bad_total("the size of mean", np.abs(mean))
        over = np.argwhere(n > count[:, None] * (1 + 1e-12))
        if len(over):
            k, j = (int(i) for i in over[0])
            raise ValueError(f"column {j} has {n[k, j]:g} values in class {k}, which has {count[k]:g} documents")
        if (m2[n == 0] != 0).any():
            raise ValueError("M2 must be 0 where n is 0")
        mean[n == 0] = 0.0
        for name, value in parts.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def from_documents(cls, X: Any, y: np.ndarray, n_classes: int, sample_weight: Any = None) -> Self:
        """Moments by class.

        Parameters
        ----------
        X : array_like, shape (N, V)
            Measurements; NaN is a missing cell and drops out.
        y : ndarray of int, shape (N,)
            Class codes 0..K-1.
        n_classes : int
            K.
        sample_weight : array_like, shape (N,), optional
            Weight of each document; weight 3 is three copies.

        Raises
        ------
        ValueError
            X or the weights are invalid, or codes are out of range or of another length.
        """
        X, y = measurements(X, missing="ignore"), np.asarray(y)
        if y.shape != (len(X),):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {len(X)} and {y.shape}")
        if len(y) and (y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= n_classes):
            raise ValueError(f"class codes must be integers in 0..{n_classes - 1}")
        w = validate.sample_weight(sample_weight, len(y))
        w = np.ones(len(y)) if w is None else w
        parts = [_moments(X[y == k], w[y == k]) for k in range(n_classes)]
        n, mean, m2 = (np.array([part[i] for part in parts]).reshape(n_classes, X.shape[1]) for i in range(3))
        for k, j in np.argwhere(~np.isfinite(m2))[:1]:
            size = np.where(y == k, np.abs(np.nan_to_num(X[:, j])), -1.0)
            row = int(size.argmax())
            raise ValueError(f"M2 would be {np.inf:g}: row {row}, column {j} is {X[row, j]:g}; {UNSQUARABLE}")
        return cls(np.bincount(y, w, n_classes) if len(y) else np.zeros(n_classes), n, mean, m2)

    @classmethod
    def zeros(cls, n_classes: int, n_tokens: int) -> Self:
        """Moments of no document."""
        cells = np.zeros((n_classes, n_tokens))
        return cls(np.zeros(n_classes), cells, cells, cells)

    @property
    def n_classes(self) -> int:
        """K."""
        return self.n.shape[0]

    @property
    def n_tokens(self) -> int:
        """V, the columns."""
        return self.n.shape[1]

    @property
    def seen(self) -> np.ndarray:
        """Values seen in each class, shape (K,)."""
        return self.n.sum(axis=1)

    @property
    def held(self) -> np.ndarray:
        """Which columns any document has a value in, shape (V,), bool."""
        return self.n.any(axis=0)

    def pooled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number, mean and variance M2/n of each column over all classes, each (V,); 0 where there is no value."""
        empty = np.zeros(self.n_tokens)
        total = (empty, empty, empty)
        for k in range(self.n_classes):
            total = _merged(total, (self.n[k], self.mean[k], self.M2[k]))
        _refuse_unsquarable(total[2])
        return total[0], total[1], _ratio(total[2], total[0])

    def select(self, classes: np.ndarray, tokens: np.ndarray) -> Self:
        """Moments of some classes and columns only, given as masks or positions."""
        return type(self)(self.class_count[classes], *(part[classes][:, tokens] for part in self._cells))

    def spread(self, classes: np.ndarray, n_classes: int, tokens: np.ndarray, n_tokens: int) -> Self:
        """The same moments laid out over more classes and columns: class k goes to row ``classes[k]``."""
        count, cells = np.zeros(n_classes), np.zeros((3, n_classes, n_tokens))
        count[classes] = self.class_count
        for layer, part in zip(cells, self._cells, strict=True):
            layer[np.ix_(classes, tokens)] = part
        return type(self)(count, *cells)

    @property
    def _cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.n, self.mean, self.M2

    def scaled(self, factor: float) -> Self:
        """Moments of the same documents with every weight multiplied by a factor, 0 < factor <= 1; means stay.

        What falls below `validate.LEAST` documents is 0, as for counts.
        """
        count, n, m2 = self.class_count * factor, self.n * factor, self.M2 * factor
        count[count < validate.LEAST] = 0.0
        n[(n < validate.LEAST) | (count == 0)[:, None]] = 0.0
        return type(self)(count, n, self.mean, np.where(n > 0, m2, 0.0))

    def __add__(self, other: Self) -> Self:
        self._refuse_other_shape(other)
        return type(self)(self.class_count + other.class_count, *_merged(self._cells, other._cells))

    def __sub__(self, other: Self) -> Self:
        self._refuse_other_shape(other)
        return type(self)(_difference(self.class_count, other.class_count), *_removed(self._cells, other._cells))

    def _refuse_other_shape(self, other: MomentStatistics) -> None:
        if type(other) is not type(self) or other.n.shape != self.n.shape:
            shape = getattr(other, "n", np.empty(0)).shape
            raise ValueError(f"statistics do not match: {self.n.shape} and {type(other).__name__} {shape}")


def _refuse_unsquarable(m2: np.ndarray) -> None:
    bad = np.argwhere(~np.isfinite(m2))
    if len(bad):
        *k, j = (int(i) for i in bad[0])
        where = f"column {j} of class {k[0]}" if k else f"column {j}"
        raise ValueError(f"the sum of squares M2 would be inf in {where}: {UNSQUARABLE}")


UNSQUARABLE = "values of 1e154 and more have squares beyond floating point; rescale the column"
Moments = tuple[np.ndarray, np.ndarray, np.ndarray]  # number, mean, sum of squared deviations


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)


def _moments(X: np.ndarray, w: np.ndarray) -> Moments:
    """Weighted moments of each column's cells that are not missing.

    Deviations are from the first value first: a constant column has M2 = 0 exactly, and a large mean costs no digits.
    """
    if not len(X):
        return np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    known = ~np.isnan(X)
    weight = np.where(known, w[:, None], 0.0)
    first = np.where(known.any(axis=0), X[known.argmax(axis=0), np.arange(X.shape[1])], 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest float: refused as not finite
        shifted = np.where(known, X - first, 0.0)
        n = weight.sum(axis=0)
        mean = _ratio((weight * shifted).sum(axis=0), n)
        deviation = np.where(known, shifted - mean, 0.0)
        # the second term would be 0 without rounding (Chan et al., 1.7)
        m2 = (weight * deviation**2).sum(axis=0) - _ratio((weight * deviation).sum(axis=0) ** 2, n)
    return n, first + mean, np.maximum(m2, 0.0)


def _merged(a: Moments, b: Moments) -> Moments:
    """Moments of two parts together (Chan et al., 2.1)."""
    n = a[0] + b[0]
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest float: refused as not finite
        delta = np.where((a[0] > 0) & (b[0] > 0), b[1] - a[1], 0.0)
        # from the larger part, whose mean needs the smaller correction
        mean = np.where(b[0] > a[0], b[1] - delta * _ratio(a[0], n), a[1] + delta * _ratio(b[0], n))
        return n, mean, a[2] + b[2] + delta**2 * (a[0] * _ratio(b[0], n))


def _removed(whole: Moments, part: Moments) -> Moments:
    """Moments of what is left; the reverse of `_merged`.

    M2 is left with the rounding of the two means, `slack`: below it what is left is 0. Many merges may have gathered
    more, which depends on a history that totals do not have: up to a millionth of M2 below 0 counts as 0. Further below
    it the part was not in the whole, and the constructor says so.
    """
    n = _difference(whole[0], part[0])
    gone = n <= 0
    share = np.where(gone, 0.0, _ratio(part[0], n))
    weight = np.where(gone, part[0], share * whole[0])
    with np.errstate(over="ignore", invalid="ignore"):  # of a part that was not in the whole: refused as not finite
        delta = np.where((whole[0] > 0) & (part[0] > 0), whole[1] - part[1], 0.0)
        m2 = whole[2] - part[2] - weight * delta**2
        error = 16 * EPSILON * np.maximum(np.abs(whole[1]), np.abs(part[1]))
        slack = 16 * EPSILON * whole[2] + 2 * error * np.sqrt(weight * whole[2]) + weight * error**2
    nothing = (m2 >= -(slack + 1e-6 * whole[2])) & ((m2 <= slack) | (n == 0))
    return n, whole[1] + share * delta, np.where(nothing, 0.0, m2)
