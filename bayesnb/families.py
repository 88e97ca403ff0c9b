"""Distributions the parameters have: Dirichlet, Beta, a known constant, and from `bayesnb.normal` those of a normal.

Frozen and vectorised over rows: a `Dirichlet` with concentration of shape (K, V) is K independent
Dirichlet distributions over V cells. NumPy and SciPy's special functions only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayesnb import given, validate
from bayesnb.logbeta import digamma_drop, log_dirichlet_density, trigamma_drop
from bayesnb.normal import InverseGamma, NormalInverseGamma, StudentT
from bayesnb.special import beta_quantile, log_beta, log_gamma_draw, log_rising

__all__ = [
    "Beta",
    "Dirichlet",
    "InverseGamma",
    "NoModeError",
    "NormalInverseGamma",
    "Point",
    "StudentT",
    "excess",
    "log_beta",
    "log_gamma_draw",
    "log_rising",
    "mode_after",
    "mode_of_excess",
]


_MOST = 1e120  # of a posterior's concentrations: priors, counts and sums of either over many cells
Size = int | tuple[int, ...] | None


class NoModeError(ValueError):
    """The density has no mode, or no unique one.

    Attributes
    ----------
    index : tuple of int
        Where: the row, and for an unbounded density the cell, that has none.
    unbounded : bool
        True where a concentration below 1 sends the density to infinity at an edge, False where the
        density is flat and every point is a mode.
    """

    def __init__(self, index: tuple[int, ...], *, unbounded: bool) -> None:
        self.index, self.unbounded = index, unbounded
        why = "a concentration is below 1" if unbounded else "every concentration is 1"
        super().__init__(f"no mode at {index}: {why}; use the mean instead")


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """Dirichlet distributions, one a row.

    Parameters
    ----------
    concentration : array_like, shape (..., V)
        Positive concentrations a.

    Raises
    ------
    ValueError
        A concentration is not a number from 1e-100 to 1e120.

    Notes
    -----
    Density prod_j x_j^(a_j - 1) Gamma(A) / prod_j Gamma(a_j) with A = sum_j a_j, on the simplex.
    Mean a/A; mode (a - 1)/(A - V) for a >= 1; variance m (1 - m)/(A + 1) with m the mean. A cell's margin is
    Beta(a_j, A - a_j).

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, appendix A. The moments of log x are derivatives of the log
    normalizer, which is that of an exponential family in log x.

    Examples
    --------
    >>> import bayesnb
    >>> bayesnb.Dirichlet([5, 3, 2]).mean()
    array([0.5, 0.3, 0.2])
    """

    concentration: np.ndarray

    def __post_init__(self) -> None:
        value = np.atleast_1d(validate.concentration(self.concentration, "concentration", most=_MOST))
        if not value.shape[-1]:
            raise ValueError("concentration has no cell: a Dirichlet is over one at least")
        object.__setattr__(self, "concentration", value)

    @property
    def total(self) -> np.ndarray:
        """Sum of each row, A, shape (...)."""
        return self.concentration.sum(-1)

    def mean(self) -> np.ndarray:
        """Mean, shape (..., V).

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).mean().tolist()
        [0.6, 0.3, 0.1]
        """
        return self.concentration / self.total[..., None]

    def mode(self) -> np.ndarray:
        """Mode, shape (..., V).

        Raises
        ------
        NoModeError
            A concentration is below 1, or all of a row are exactly 1.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).mode().round(3).tolist()
        [0.714, 0.286, 0.0]
        >>> bayesnb.Dirichlet([6, 3, 0.5]).mode()
        Traceback (most recent call last):
            ...
        bayesnb.families.NoModeError: no mode at (2,): a concentration is below 1; use the mean instead
        """
        a = self.concentration
        if a.shape[-1] > 1:
            _refuse_unbounded(a - 1)
        return mode_of_excess(a - 1)

    def variance(self) -> np.ndarray:
        """Variance of each cell, shape (..., V).

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).variance().round(4).tolist()
        [0.0218, 0.0191, 0.0082]
        """
        a, total = self.concentration, self.total[..., None]
        if a.shape[-1] == 1:
            return np.zeros_like(a)
        return (a / total) * (_rest(a) / total) / (total + 1)  # 1 - m would lose the digits of a small rest

    def marginal(self) -> Beta:
        """Distribution of each cell alone: Beta(a_j, A - a_j), shape (..., V).

        Raises
        ------
        ValueError
            There is one cell, which is the constant 1.

        Examples
        --------
        >>> import bayesnb
        >>> share = bayesnb.Dirichlet([6, 3, 1]).marginal()
        >>> share.a.tolist(), share.b.tolist()
        ([6.0, 3.0, 1.0], [4.0, 7.0, 9.0])
        """
        a = self.concentration
        return Beta(a, _rest(a))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Equal-tailed credible interval of each cell.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        ndarray, shape (..., V, 2)
            Lower and upper ends.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).interval(0.9).round(3).tolist()
        [[0.345, 0.831], [0.098, 0.55], [0.006, 0.283]]
        """
        if self.concentration.shape[-1] == 1:
            validate.level(level)
            return np.ones((*self.concentration.shape, 2))
        return self.marginal().interval(level)

    def log_normalizer(self) -> np.ndarray:
        """Log of the constant that the density is divided by: sum log Gamma(a_j) - log Gamma(A).

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> float(np.exp(bayesnb.Dirichlet([2, 1]).log_normalizer()).round(6))
        0.5
        """
        a = self.concentration[..., ::-1]  # broken like a stick, so that a huge cell takes no digits from the others
        return log_beta(a[..., 1:], np.cumsum(a, axis=-1)[..., :-1]).sum(-1)

    def log_density(self, x) -> np.ndarray:
        """Log density at a point of the simplex.

        Parameters
        ----------
        x : array_like, shape (..., V)
            Cells of a row must sum to 1; this is not checked.

        Returns
        -------
        ndarray, shape (...)
            In nats; -inf where a cell is negative.

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.Dirichlet([2, 1]).log_density([0.25, 0.75]).round(4))  # the density is 2 x_1
        -0.6931
        """
        x = given.points(x, "x", self.concentration.shape)
        if x.shape[-1:] != self.concentration.shape[-1:]:
            raise ValueError(f"x has shape {x.shape}, but a point has {self.concentration.shape[-1]} cells")
        inside = ((x >= 0) & (x < np.inf)).all(-1)
        x = np.where(inside[..., None], x, 0.0)
        kernel = special.xlogy(self.concentration - 1, np.maximum(x, 0)).sum(-1)
        density, good = log_dirichlet_density(self.concentration, np.maximum(x, 0))
        return np.where(inside, np.where(good, density, kernel - self.log_normalizer()), -np.inf)[()]

    def mean_log(self) -> np.ndarray:
        """E[log x_j] = psi(a_j) - psi(A), shape (..., V).

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).mean_log().round(3).tolist()
        [-0.546, -1.329, -2.829]
        """
        return digamma_drop(self.concentration, _others(self.concentration))

    def variance_log(self) -> np.ndarray:
        """Var[log x_j] = psi1(a_j) - psi1(A), shape (..., V).

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Dirichlet([6, 3, 1]).variance_log().round(3).tolist()
        [0.076, 0.29, 1.54]
        """
        return trigamma_drop(self.concentration, _others(self.concentration))

    def draw(self, rng: np.random.Generator, size: Size = (), *, log: bool = False) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.
        log : bool
            Draw log x, which never underflows.

        Returns
        -------
        ndarray, shape (*size, ..., V)

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> x = bayesnb.Dirichlet([6, 3, 1]).draw(np.random.default_rng(0), 1000)
        >>> x.shape, bool(np.allclose(x.sum(axis=1), 1))
        ((1000, 3), True)
        """
        g = log_gamma_draw(rng, self.concentration, (*given.size(size), *self.concentration.shape))
        g -= g.max(axis=-1, keepdims=True)
        x = np.exp(g)
        total = x.sum(axis=-1, keepdims=True)
        return np.subtract(g, np.log(total), out=g) if log else np.divide(x, total, out=x)


@dataclass(frozen=True, eq=False)
class Beta:
    """Beta distributions, one a cell.

    Parameters
    ----------
    a, b : array_like, of shapes that broadcast
        Positive shapes.

    Raises
    ------
    ValueError
        A shape is not a number from 1e-100 to 1e120, or the two do not broadcast.

    Notes
    -----
    Density x^(a - 1) (1 - x)^(b - 1) / B(a, b) on (0, 1). Mean a/(a + b); mode (a - 1)/(a + b - 2) for a, b >= 1;
    variance a b / ((a + b)^2 (a + b + 1)).

    References
    ----------
    As for `Dirichlet`: Beta(a, b) is the first cell of Dirichlet(a, b).

    Examples
    --------
    >>> import bayesnb
    >>> float(bayesnb.Beta(2, 2).mode())
    0.5
    """

    a: np.ndarray
    b: np.ndarray

    def __post_init__(self) -> None:
        a, b = (validate.concentration(v, name, most=_MOST) for name, v in (("a", self.a), ("b", self.b)))
        a, b = np.broadcast_arrays(a, given.fitting(b, "b", a.shape))
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    def complement(self) -> Beta:
        """Distribution of 1 - x; asked for rather than subtracted, small values keep their digits.

        Examples
        --------
        >>> import bayesnb
        >>> f"{bayesnb.Beta(3, 1e-20).complement().mean():.3g}"  # where 1 - mean is 0
        '3.33e-21'
        """
        return Beta(self.b, self.a)

    def mean(self) -> np.ndarray:
        """Mean, shape (...).

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Beta([3, 1], 1).mean().tolist()
        [0.75, 0.5]
        """
        return self.a / (self.a + self.b)

    def mode(self) -> np.ndarray:
        """Mode, shape (...).

        Raises
        ------
        NoModeError
            A shape is below 1, or both are exactly 1.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Beta([3, 2], 2).mode().round(3).tolist()
        [0.667, 0.5]
        """
        above = np.stack([self.a, self.b], axis=-1) - 1
        _refuse_unbounded(above)
        return mode_of_excess(above)[..., 0]

    def variance(self) -> np.ndarray:
        """Variance, shape (...).

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.Beta(3, 1).variance().round(6))
        0.0375
        """
        total = self.a + self.b
        return (self.a / total) * (self.b / total) / (total + 1)

    def marginal(self) -> Beta:
        """Distribution of each cell alone: this one; so that a Dirichlet and a Beta can be asked alike.

        Examples
        --------
        >>> import bayesnb
        >>> law = bayesnb.Beta([3, 1], 1)
        >>> law.marginal() is law
        True
        """
        return self

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Equal-tailed credible interval.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        ndarray, shape (..., 2)
            Lower and upper ends.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Beta(3, 1).interval(0.9).round(3).tolist()
        [0.368, 0.983]
        """
        tail = (1 - validate.level(level)) / 2
        lower, upper = (beta_quantile(self.a, self.b, tail, upper=side) for side in (False, True))
        # at a level near 0 two ends found apart may differ by rounding
        return np.stack([np.minimum(lower, upper), np.maximum(lower, upper)], axis=-1)

    def log_normalizer(self) -> np.ndarray:
        """Log of the Beta function, log B(a, b).

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> float(np.exp(bayesnb.Beta(2, 1).log_normalizer()).round(6))
        0.5
        """
        return log_beta(self.a, self.b)

    def log_density(self, x) -> np.ndarray:
        """Log density.

        Parameters
        ----------
        x : array_like
            Where; it broadcasts with the shapes.

        Returns
        -------
        ndarray
            In nats; -inf outside [0, 1].

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.Beta(2, 2).log_density([0.5, 1.5]).round(4).tolist()  # the density is 6 x (1 - x)
        [0.4055, -inf]
        """
        x = given.points(x, "x", self.a.shape)
        inside = np.clip(x, 0, 1)
        kernel = special.xlogy(self.a - 1, inside) + special.xlog1py(self.b - 1, -inside)
        cells = np.stack([inside, 1 - inside], axis=-1)
        density, good = log_dirichlet_density(np.stack([self.a, self.b], axis=-1), cells)
        return np.where(inside == x, np.where(good, density, kernel - self.log_normalizer()), -np.inf)[()]

    def mean_log(self) -> np.ndarray:
        """E[log x] = psi(a) - psi(a + b).

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.Beta(2, 1).mean_log().round(6))
        -0.5
        """
        return digamma_drop(self.a, self.b)

    def variance_log(self) -> np.ndarray:
        """Var[log x] = psi1(a) - psi1(a + b).

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.Beta(2, 1).variance_log().round(6))
        0.25
        """
        return trigamma_drop(self.a, self.b)

    def draw(self, rng: np.random.Generator, size: Size = (), *, log: bool = False) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.
        log : bool
            Draw log x, which never underflows.

        Returns
        -------
        ndarray, shape (*size, ...)

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> bayesnb.Beta([3, 1], 1).draw(np.random.default_rng(0), (4, 100)).shape
        (4, 100, 2)
        """
        shape = (*given.size(size), *self.a.shape)
        g = log_gamma_draw(rng, self.a, shape)
        g = g - np.logaddexp(g, log_gamma_draw(rng, self.b, shape))
        return g if log else np.exp(g)


@dataclass(frozen=True, eq=False)
class Point:
    """A quantity that is known: all of its probability lies on one value.

    Parameters
    ----------
    value : array_like
        The value.

    Examples
    --------
    >>> from bayesnb.families import Point
    >>> theta = Point([0.9, 0.1])
    >>> theta.mean().tolist(), theta.variance().tolist(), theta.interval().tolist()
    ([0.9, 0.1], [0.0, 0.0], [[0.9, 0.9], [0.1, 0.1]])
    """

    value: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", given.floats(self.value, "value must be numbers"))

    def mean(self) -> np.ndarray:
        """The value.

        Examples
        --------
        >>> from bayesnb.families import Point
        >>> Point([0.9, 0.1]).mean().tolist(), Point([0.9, 0.1]).mode().tolist()
        ([0.9, 0.1], [0.9, 0.1])
        """
        return self.value

    mode = mean

    def variance(self) -> np.ndarray:
        """Zero.

        Examples
        --------
        >>> from bayesnb.families import Point
        >>> Point([0.9, 0.1]).variance().tolist()
        [0.0, 0.0]
        """
        return np.zeros_like(self.value)

    def interval(self, level: float = 0.95) -> np.ndarray:
        """The value twice.

        Parameters
        ----------
        level : float, 0 < level < 1
            Has no effect.

        Returns
        -------
        ndarray, shape (..., 2)

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> from bayesnb.families import Point
        >>> Point([0.9, 0.1]).interval(0.95).tolist()
        [[0.9, 0.9], [0.1, 0.1]]
        """
        validate.level(level)
        return np.stack([self.value, self.value], axis=-1)

    def mean_log(self) -> np.ndarray:
        """Log of the value.

        Examples
        --------
        >>> from bayesnb.families import Point
        >>> Point([1.0, 0.0]).mean_log().tolist()
        [0.0, -inf]
        """
        with np.errstate(divide="ignore"):
            return np.log(self.value)

    def variance_log(self) -> np.ndarray:
        """Zero.

        Examples
        --------
        >>> from bayesnb.families import Point
        >>> Point([0.9, 0.1]).variance_log().tolist()
        [0.0, 0.0]
        """
        return np.zeros_like(self.value)

    def draw(self, rng: np.random.Generator, size: Size = (), *, log: bool = False) -> np.ndarray:
        """Copies of the value.

        Parameters
        ----------
        rng : numpy.random.Generator
            Is not used.
        size : int or tuple of int, optional
            How many; by default one.
        log : bool
            Copies of its log.

        Returns
        -------
        ndarray, shape (*size, ...)

        Examples
        --------
        >>> import numpy as np
        >>> from bayesnb.families import Point
        >>> Point([0.9, 0.1]).draw(np.random.default_rng(0), 2).tolist()
        [[0.9, 0.1], [0.9, 0.1]]
        """
        return np.broadcast_to(self.mean_log() if log else self.value, (*given.size(size), *self.value.shape)).copy()


def mode_of_excess(above: np.ndarray) -> np.ndarray:
    """Mode of Dirichlet distributions with concentrations 1 + `above`, all >= 0, shape (..., V).

    Raises
    ------
    NoModeError
        All of a row are 0.
    """
    total = above.sum(-1)
    if above.shape[-1] == 1:
        return np.ones_like(above)
    if not total.all():
        raise NoModeError(tuple(int(i) for i in np.argwhere(total == 0)[0]), unbounded=False)
    return above / total[..., None]


def mode_after(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Mode of Dirichlet distributions with concentrations a + n, shape (..., V), with the digits of small counts n.

    Raises
    ------
    NoModeError
        An a + n is below 1, or all of a row are 1.
    """
    above = excess(a, n)
    if above.shape[-1] > 1:
        _refuse_unbounded(above)
    return mode_of_excess(above)


def excess(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(a + n) - 1 with the digits of a small n, or of a small a: below 0 exactly where a + n rounds to less than 1."""
    above = np.where(n >= 0.5, a + (n - 1), (a - 1) + n)
    return np.where((above < 0) & (a + n >= 1), 0.0, above)


def _rest(a: np.ndarray) -> np.ndarray:
    """Sum of the other cells of each row, A - a_j, of which there must be some."""
    if a.shape[-1] == 1:
        raise ValueError("a Dirichlet with one cell is the constant 1 and has no Beta margin")
    return _others(a)


def _others(a: np.ndarray) -> np.ndarray:
    """A - a_j, which must not round to 0 beside a large a_j."""
    rest = a.sum(-1, keepdims=True) - a
    largest = a.argmax(-1)[..., None]
    others = np.where(np.arange(a.shape[-1]) == largest, 0.0, a).sum(-1, keepdims=True)
    np.put_along_axis(rest, largest, others, axis=-1)
    return rest


def _refuse_unbounded(above: np.ndarray) -> None:
    below = np.argwhere(above < 0)
    if below.size:
        raise NoModeError(tuple(int(i) for i in below[0]), unbounded=True)
