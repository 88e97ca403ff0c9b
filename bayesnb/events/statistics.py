"""Additive statistics of labelled documents, shared by every event model over counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesnb import kernels, validate

MOST = 1e110  # of a total: counts and weights go to 1e100 each, and a posterior adds many totals up


@dataclass(frozen=True, eq=False)
class CountStatistics:
    """Sufficient statistics of labelled documents; sums, so any split of the documents adds up to the same.

    Parameters
    ----------
    class_count : array_like, shape (K,)
        Documents (their weights) in each class.
    feature_count : array_like, shape (K, V)
        For the multinomial model the occurrences of each token in each class, n_kj; for the Bernoulli model the
        documents of the class that hold it.

    Raises
    ------
    ValueError
        Shapes that do not fit, or a total that is negative or not finite.
    """

    class_count: np.ndarray
    feature_count: np.ndarray

    COUNTS: ClassVar[tuple[str, ...]] = ("class_count", "feature_count")
    """Arrays that hold counts, the first (K,), the others (K, V); what a model file stores."""
    MEASURES: ClassVar[tuple[str, ...]] = ()
    """Arrays (K, V) of real numbers, likewise."""

    def __post_init__(self) -> None:
        n, f = _own(self.class_count), _own(self.feature_count)
        if n.ndim != 1 or f.ndim != 2 or len(f) != len(n):
            raise ValueError(f"class_count {n.shape} and feature_count {f.shape} must be (K,) and (K, V)")
        for name, value in (("class_count", n), ("feature_count", f)):
            _refuse_bad_total(name, value)
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Hold what this event model's totals must obey beside being non-negative."""

    @staticmethod
    def document(X: sparse.csr_array) -> sparse.csr_array:
        """How a row of counts is read by this event model: as it is, whatever the type of its numbers."""
        return X

    @classmethod
    def from_documents(cls, X: Any, y: np.ndarray, n_classes: int, sample_weight: Any = None) -> Self:
        """Count documents by class.

        Parameters
        ----------
        X : array_like or scipy.sparse, shape (N, V)
            Counts of tokens, >= 0.
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
        X = cls.document(validate.counts(X, stored=True))
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {X.shape[0]} and {y.shape}")
        if len(y) and y.dtype.kind not in "iu":
            raise ValueError(f"class codes must be integers, their dtype is {y.dtype}")
        if len(y) and not (y.min() >= 0 and y.max() < n_classes):
            raise ValueError(f"class codes must lie in 0..{n_classes - 1}, got {y.min()}..{y.max()}")
        w = validate.sample_weight(sample_weight, len(y))
        y = y.astype(np.int64, copy=False)
        totals = cls(_kept(np.bincount(y, w, n_classes)), _kept(kernels.count(X, y, n_classes, w)))
        refuse_beyond("feature_count", totals.feature_count)
        return totals

    @classmethod
    def zeros(cls, n_classes: int, n_tokens: int) -> Self:
        """Totals of no document."""
        return cls(np.zeros(n_classes), np.zeros((n_classes, n_tokens)))

    @property
    def n_classes(self) -> int:
        """K."""
        return self.feature_count.shape[0]

    @property
    def n_tokens(self) -> int:
        """V."""
        return self.feature_count.shape[1]

    @property
    def seen(self) -> np.ndarray:
        """Tokens seen in each class, shape (K,)."""
        return self.feature_count.sum(axis=1)

    @property
    def held(self) -> np.ndarray:
        """Which tokens any document holds, shape (V,), bool."""
        return self.feature_count.any(axis=0)

    def select(self, classes: np.ndarray, tokens: np.ndarray) -> Self:
        """Totals of some classes and tokens only, given as masks or positions."""
        return type(self)(self.class_count[classes], self.feature_count[classes][:, tokens])

    def spread(self, classes: np.ndarray, n_classes: int, tokens: np.ndarray, n_tokens: int) -> Self:
        """The same totals laid out over more classes and tokens: class k goes to row ``classes[k]``."""
        n, f = np.zeros(n_classes), np.zeros((n_classes, n_tokens))
        n[classes] = self.class_count
        f[np.ix_(classes, tokens)] = self.feature_count
        return type(self)(n, f)

    def scaled(self, factor: float) -> Self:
        """Totals of the same documents with every weight multiplied by a factor, 0 <= factor <= 1.

        What falls below `validate.LEAST` is 0: a class that stays away is forgotten before its digits are.
        """
        n, f = self.class_count * factor, self.feature_count * factor
        n[n < validate.LEAST] = 0.0
        f[(f < validate.LEAST) | (n == 0)[:, None]] = 0.0
        return replace(self, class_count=n, feature_count=f)

    def __add__(self, other: Self) -> Self:
        self._refuse_other_shape(other)
        n, f = self.class_count + other.class_count, self.feature_count + other.feature_count
        return type(self)(_kept(n), _kept(f))

    def __sub__(self, other: Self) -> Self:
        self._refuse_other_shape(other)
        n, f = _difference(self.class_count, other.class_count), _difference(self.feature_count, other.feature_count)
        for k in np.flatnonzero(n == 0):  # what an empty class seems to hold is the rounding of totals it had before
            f[k, (f[k] % 1 != 0) & (np.abs(f[k]) <= 1e-9 * self.feature_count[k])] = 0.0
        return type(self)(_kept(n), _kept(f))

    def _refuse_other_shape(self, other: CountStatistics) -> None:
        if type(other) is not type(self) or other.feature_count.shape != self.feature_count.shape:
            raise ValueError(
                f"statistics do not match: {type(self).__module__} {self.feature_count.shape} "
                f"and {type(other).__module__} {getattr(other, 'feature_count', np.empty(0)).shape}"
            )


def _difference(total: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Total less part; fractional weights leave rounding where a total returns to 0, whole numbers are exact."""
    changed = np.nonzero(part)  # of few documents that is little of a large table
    total, part, whole = total[changed], part[changed], total.copy()
    left = total - part
    # above 0 little more than the operands' own last places: beside 1e15 half a document is one; below 0 none is
    places = 3 * np.spacing(np.maximum(np.abs(total), np.abs(part)))
    relative = 1e-12 * np.abs(total)
    noise = np.where(left > 0, np.maximum(places, np.minimum(relative, 1e-12)), relative)
    fractional = (total % 1 != 0) | (part % 1 != 0)
    left[(left != 0) & (np.abs(left) <= noise) & fractional] = 0.0
    whole[changed] = left
    return whole


def _kept(array: np.ndarray) -> np.ndarray:
    """A new array that nobody else holds, closed for writing: totals take it over without a copy."""
    array = np.asarray(array, np.float64)
    array.setflags(write=False)
    return array


def _own(value: Any) -> np.ndarray:
    """The numbers as an array of float64 that nobody can write to."""
    closed = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value if closed and value.flags.owndata and not value.flags.writeable else _kept(np.array(value, np.float64))


def refuse_beyond(name: str, value: np.ndarray) -> None:
    """Raise a ValueError where a total is so large that posteriors of it leave floating point."""
    if value.size and value.max() > MOST:
        at = tuple(int(i) for i in np.unravel_index(value.argmax(), value.shape))
        raise ValueError(
            f"{name} would be {value[at]:g} at {at}, beyond {MOST:g}: weights and counts multiply; rescale one of them"
        )


def _refuse_bad_total(name: str, value: np.ndarray) -> None:
    if not value.size or (value.min() >= 0 and value.max() < np.inf):
        return
    bad = np.argwhere(~((value >= 0) & np.isfinite(value)))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise ValueError(f"{name} would be {value[at]:g} at {at}: totals cannot be negative or missing")
