"""Distributions of a normal variable whose mean and variance are unknown: the conjugate prior and its margins.

Frozen and vectorised: parameters of shape (K, V) are K x V independent distributions. NumPy and SciPy's special
functions only. Formulas as in Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, section 3.3, with
nu = 2 alpha and nu sigma_0^2 = 2 beta.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import special

from bayesnb import given, validate
from bayesnb.logbeta import log_gamma_density
from bayesnb.special import log_beta, log_gamma_draw, log_rising

__all__ = ["InverseGamma", "NormalInverseGamma", "StudentT"]

Size = int | tuple[int, ...] | None
LOG_2PI = np.log(2 * np.pi)
_MOST = 1e120  # of what a posterior counts: priors and sums over many documents


@dataclass(frozen=True, eq=False)
class StudentT:
    """Student's t distributions, one a cell: loc + sqrt(scale2) T with T of `df` degrees of freedom.

    Parameters
    ----------
    df : array_like
        Degrees of freedom nu, > 0.
    loc : array_like
        Centre.
    scale2 : array_like
        Squared scale, > 0; the variance is scale2 nu / (nu - 2).

    Raises
    ------
    ValueError
        A parameter is not a finite number, df or scale2 is not above 0, or the shapes do not broadcast.

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, appendix A.

    Examples
    --------
    >>> import bayesnb
    >>> bayesnb.NormalInverseGamma(0, 1, 2, 1).predictive().interval(0.5).round(4)
    array([-0.7407,  0.7407])
    """

    df: np.ndarray
    loc: np.ndarray
    scale2: np.ndarray

    def __post_init__(self) -> None:
        _set(self, df=_positive(self.df, "df"), loc=_location(self.loc, "loc"), scale2=_positive(self.scale2, "scale2"))

    def mean(self) -> np.ndarray:
        """Mean, shape (...).

        Raises
        ------
        ValueError
            A df is at most 1, where there is none.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> float(StudentT(df=7, loc=1.7, scale2=0.0025).mean())
        1.7
        """
        _refuse_heavy(self.df, 1.0, "the mean of a Student-t needs df > 1")
        return self.loc

    def mode(self) -> np.ndarray:
        """Mode, which is also the median: loc.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> float(StudentT(df=7, loc=1.7, scale2=0.0025).mode())
        1.7
        """
        return self.loc

    def variance(self) -> np.ndarray:
        """Variance, scale2 df/(df - 2), shape (...).

        Raises
        ------
        ValueError
            A df is at most 2, where there is none.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> float(StudentT(df=7, loc=1.7, scale2=0.0025).variance().round(6))
        0.0035
        """
        _refuse_heavy(self.df, 2.0, "the variance of a Student-t needs df > 2")
        with np.errstate(over="ignore"):  # beyond the largest float: infinite
            return self.scale2 * (self.df / (self.df - 2))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Equal-tailed interval.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        ndarray, shape (..., 2)
            Lower and upper ends, infinite beyond the largest float.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> StudentT(df=7, loc=1.7, scale2=0.0025).interval(0.9).round(3).tolist()
        [1.605, 1.795]
        """
        half = _half_width(self.df, self.scale2, (1 - validate.level(level)) / 2)
        return np.stack([self.loc - half, self.loc + half], axis=-1)

    def log_normalizer(self) -> np.ndarray:
        """Log of what the kernel (1 + t^2/nu)^(-(nu + 1)/2) is divided by.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> float(StudentT(df=1, loc=0, scale2=1).log_normalizer().round(6))  # log pi: it is Cauchy's
        1.14473
        """
        return 0.5 * (np.log(np.pi * self.df) + np.log(self.scale2)) - log_rising(self.df / 2, 0.5)

    def log_density(self, x: Any) -> np.ndarray:
        """Log density.

        Parameters
        ----------
        x : array_like
            Where; it broadcasts with the parameters.

        Returns
        -------
        ndarray
            In nats.

        Examples
        --------
        >>> from bayesnb.families import StudentT
        >>> StudentT(df=1, loc=0, scale2=1).log_density([0.0, 1.0]).round(4).tolist()
        [-1.1447, -1.8379]
        """
        with np.errstate(over="ignore"):  # a density of 0
            t = (given.points(x, "x", self.df.shape) - self.loc) / (np.sqrt(self.df) * np.sqrt(self.scale2))
            return -(self.df + 1) / 2 * np.log1p(t * t) - self.log_normalizer()

    def draw(self, rng: np.random.Generator, size: Size = ()) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.

        Returns
        -------
        ndarray, shape (*size, ...)

        Examples
        --------
        >>> import numpy as np
        >>> from bayesnb.families import StudentT
        >>> StudentT(df=7, loc=[1.7, 1.8], scale2=0.0025).draw(np.random.default_rng(0), 100).shape
        (100, 2)
        """
        t = given.generator(rng).standard_t(self.df, (*given.size(size), *self.df.shape))
        return self.loc + np.sqrt(self.scale2) * t


@dataclass(frozen=True, eq=False)
class InverseGamma:
    """Inverse gamma distributions, one a cell: density proportional to x^(-alpha - 1) exp(-beta / x), x > 0.

    Parameters
    ----------
    alpha, beta : array_like, of shapes that broadcast
        Shape and scale, > 0. Mean beta/(alpha - 1), mode beta/(alpha + 1), variance
        beta^2 / ((alpha - 1)^2 (alpha - 2)).

    Raises
    ------
    ValueError
        A parameter is not a finite number above 0, or the shapes do not broadcast.

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, appendix A.

    Examples
    --------
    >>> import bayesnb
    >>> sigma2 = bayesnb.NormalInverseGamma(0, 1, 3, 4).sigma2()
    >>> float(sigma2.mean()), float(sigma2.mode()), sigma2.interval(0.9).round(3).tolist()
    (2.0, 1.0, [0.635, 4.892])
    """

    alpha: np.ndarray
    beta: np.ndarray

    def __post_init__(self) -> None:
        _set(self, alpha=_positive(self.alpha, "alpha"), beta=_positive(self.beta, "beta"))

    def mean(self) -> np.ndarray:
        """Mean, beta/(alpha - 1), shape (...).

        Raises
        ------
        ValueError
            An alpha is at most 1, where there is none.

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=3, beta=4).mean())
        2.0
        """
        _refuse_heavy(self.alpha, 1.0, "the mean of sigma2 needs alpha > 1")
        with np.errstate(over="ignore"):  # beyond the largest float: infinite
            return self.beta / (self.alpha - 1)

    def mode(self) -> np.ndarray:
        """Mode of this margin, beta/(alpha + 1).

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=3, beta=4).mode())
        1.0
        """
        return self.beta / (self.alpha + 1)

    def variance(self) -> np.ndarray:
        """Variance, beta^2/((alpha - 1)^2 (alpha - 2)), shape (...).

        Raises
        ------
        ValueError
            An alpha is at most 2, where there is none.

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=3, beta=4).variance())
        4.0
        >>> InverseGamma(alpha=2, beta=4).variance()
        Traceback (most recent call last):
            ...
        ValueError: the variance of sigma2 needs alpha > 2, it is 2; use the mode or an interval
        """
        _refuse_heavy(self.alpha, 2.0, "the variance of sigma2 needs alpha > 2")
        with np.errstate(over="ignore"):  # beyond the largest float: infinite
            return (self.beta / (self.alpha - 1)) ** 2 / (self.alpha - 2)

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Equal-tailed interval.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        ndarray, shape (..., 2)
            Lower and upper ends, infinite beyond the largest float.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> InverseGamma(alpha=3, beta=4).interval(0.9).round(3).tolist()
        [0.635, 4.892]
        """
        tail = (1 - validate.level(level)) / 2
        precision = [special.gammainccinv(self.alpha, tail), special.gammaincinv(self.alpha, tail)]
        with np.errstate(divide="ignore", over="ignore"):
            return self.beta[..., None] / np.stack(precision, axis=-1)

    def log_normalizer(self) -> np.ndarray:
        """Log of what the kernel is divided by: log Gamma(alpha) - alpha log beta.

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=3, beta=1).log_normalizer().round(6))  # log Gamma(3) = log 2
        0.693147
        """
        return special.gammaln(self.alpha) - self.alpha * np.log(self.beta)

    def log_density(self, x: Any) -> np.ndarray:
        """Log density.

        Parameters
        ----------
        x : array_like
            Where; it broadcasts with the parameters.

        Returns
        -------
        ndarray
            In nats; -inf where x <= 0.

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> InverseGamma(alpha=1, beta=1).log_density([1.0, -1.0]).round(4).tolist()  # the density is exp(-1/x) / x^2
        [-1.0, -inf]
        """
        x = given.points(x, "x", self.alpha.shape)
        inside = np.where(x > 0, x, 1.0)
        with np.errstate(over="ignore"):  # a density of 0
            density = log_gamma_density(self.alpha, self.beta / inside) - np.log(inside)
        return np.where(x > 0, density, -np.inf)[()]

    def mean_log(self) -> np.ndarray:
        """E[log x] = log beta - psi(alpha).

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=1, beta=1).mean_log().round(4))  # Euler's constant
        0.5772
        """
        return np.log(self.beta) - special.digamma(self.alpha)

    def variance_log(self) -> np.ndarray:
        """Var[log x] = psi1(alpha).

        Examples
        --------
        >>> from bayesnb.families import InverseGamma
        >>> float(InverseGamma(alpha=1, beta=1).variance_log().round(4))  # pi^2 / 6
        1.6449
        """
        return special.polygamma(1, self.alpha)

    def draw(self, rng: np.random.Generator, size: Size = (), *, log: bool = False) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.
        log : bool
            Draw log x, which never overflows.

        Returns
        -------
        ndarray, shape (*size, ...)

        Examples
        --------
        >>> import numpy as np
        >>> from bayesnb.families import InverseGamma
        >>> x = InverseGamma(alpha=3, beta=4).draw(np.random.default_rng(0), 1000)
        >>> x.shape, bool((x > 0).all())
        ((1000,), True)
        """
        x = np.log(self.beta) - log_gamma_draw(rng, self.alpha, (*given.size(size), *self.alpha.shape))
        if log:
            return x
        with np.errstate(over="ignore"):  # an alpha near 0 goes beyond the largest float
            return np.exp(x)


@dataclass(frozen=True, eq=False)
class NormalInverseGamma:
    """Normal-inverse-gamma distributions of (mu, sigma2), one a cell.

    sigma2 ~ InverseGamma(alpha0, beta0), mu | sigma2 ~ Normal(m0, sigma2 / kappa0): the conjugate prior of a normal
    variable's mean and variance. The prior is worth kappa0 observations of the mean and 2 alpha0 of the variance.

    Parameters
    ----------
    m0 : array_like
        Centre of mu, in the units of the data.
    kappa0 : array_like
        > 0.
    alpha0 : array_like
        > 0.
    beta0 : array_like
        > 0, in the units of the data squared. All four are broadcast to one shape (...).

    Raises
    ------
    ValueError
        A parameter is out of range or the shapes do not broadcast.

    Notes
    -----
    Joint mode (m0, beta0/(alpha0 + 3/2)); means m0 and beta0/(alpha0 - 1). Margins: mu is Student-t with 2 alpha0
    degrees of freedom, centre m0 and squared scale beta0/(alpha0 kappa0); sigma2 is inverse gamma. A new observation is
    Student-t with the same degrees of freedom and centre, and squared scale beta0 (kappa0 + 1)/(alpha0 kappa0).

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, section 3.3, with nu = 2 alpha0 and nu sigma_0^2 = 2 beta0.

    Examples
    --------
    >>> import bayesnb
    >>> after = bayesnb.NormalInverseGamma(0, 1, 2, 1).updated(n=1, mean=2, M2=0)
    >>> [float(part) for part in (after.m0, after.kappa0, after.alpha0, after.beta0)]
    [1.0, 2.0, 2.5, 2.0]
    """

    m0: np.ndarray
    kappa0: np.ndarray
    alpha0: np.ndarray
    beta0: np.ndarray

    def __post_init__(self) -> None:
        # kappa0 and alpha0 count observations
        counts = {name: validate.concentration(getattr(self, name), name, most=_MOST) for name in ("kappa0", "alpha0")}
        _set(self, m0=_location(self.m0, "m0"), **counts, beta0=_positive(self.beta0, "beta0"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the parameters."""
        return self.m0.shape

    @property
    def parameters(self) -> tuple[np.ndarray, ...]:
        """(m0, kappa0, alpha0, beta0)."""
        return self.m0, self.kappa0, self.alpha0, self.beta0

    def broadcast_to(self, shape: tuple[int, ...], name: str = "prior") -> Self:
        """The same distribution in every cell of a larger shape.

        Parameters
        ----------
        shape : tuple of int
            Such as (K, V).
        name : str
            What the error calls it.

        Returns
        -------
        NormalInverseGamma
            Of that shape.

        Raises
        ------
        ValueError
            The shape does not fit.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.NormalInverseGamma(0, 1, 2, 1).broadcast_to((2, 3)).shape
        (2, 3)
        """
        try:
            return type(self)(*(np.broadcast_to(part, shape) for part in self.parameters))
        except ValueError:
            raise ValueError(
                f"{name} has shape {self.shape}, which does not fit {shape} (classes, columns); "
                "give numbers, one value a column, or one a class and column"
            ) from None

    def updated(self, n: Any, mean: Any, M2: Any) -> NormalInverseGamma:
        """Posterior after n observations with this mean and sum of squared deviations from it.

        Parameters
        ----------
        n : array_like
            How many, >= 0; they may be weights. All three broadcast to `shape`.
        mean : array_like
            Their mean, in the units of the data.
        M2 : array_like
            Sum of their squared deviations from it, >= 0.

        Returns
        -------
        NormalInverseGamma
            (m, kappa, alpha, beta) as `bayesnb.events.gaussian` states them.

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> heights = np.array([1.62, 1.75, 1.71])
        >>> prior = bayesnb.NormalInverseGamma(1.7, 1, 2, 0.01)
        >>> after = prior.updated(3, heights.mean(), ((heights - heights.mean()) ** 2).sum())
        >>> float(after.m0.round(4)), float(after.kappa0), float(after.alpha0)
        (1.695, 4.0, 3.5)
        """
        kappa, alpha = self.kappa0 + n, self.alpha0 + np.asarray(n) / 2
        m = self.m0 + n / kappa * (mean - self.m0)
        return NormalInverseGamma(m, kappa, alpha, self.beta0 + self._added(n, mean, M2))

    def _added(self, n: Any, mean: Any, M2: Any) -> np.ndarray:
        """What the observations add to beta: half of their squares about their mean and of its distance from m0."""
        return (M2 + self.kappa0 * (n / (self.kappa0 + n)) * (mean - self.m0) ** 2) / 2

    def mu(self) -> StudentT:
        """Margin of mu.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).mu().interval(0.95).round(3).tolist()
        [1.591, 1.809]
        """
        with np.errstate(over="ignore"):  # an infinite scale is refused
            return StudentT(2 * self.alpha0, self.m0, self.beta0 / (self.alpha0 * self.kappa0))

    def sigma2(self) -> InverseGamma:
        """Margin of sigma2.

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).sigma2().mean())
        0.012
        """
        return InverseGamma(self.alpha0, self.beta0)

    def predictive(self) -> StudentT:
        """Distribution of the next observation.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).predictive().interval(0.95).round(3).tolist()
        [1.455, 1.945]
        """
        with np.errstate(over="ignore"):  # an infinite scale is refused
            return StudentT(2 * self.alpha0, self.m0, self.beta0 / self.alpha0 * ((self.kappa0 + 1) / self.kappa0))

    def mean(self) -> tuple[np.ndarray, np.ndarray]:
        """Means of mu and sigma2, each of shape (...).

        Raises
        ------
        ValueError
            An alpha0 is at most 1, where sigma2 has none.

        Examples
        --------
        >>> import bayesnb
        >>> [float(part) for part in bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).mean()]
        [1.7, 0.012]
        """
        return self.m0, self.sigma2().mean()

    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint mode of (mu, sigma2): (m0, beta0/(alpha0 + 3/2)), each of shape (...).

        Examples
        --------
        >>> import bayesnb
        >>> [float(part.round(6)) for part in bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).mode()]
        [1.7, 0.006]
        """
        return self.m0, self.beta0 / (self.alpha0 + 1.5)

    def variance(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances of mu and sigma2, each of shape (...).

        Raises
        ------
        ValueError
            An alpha0 is at most 2, where sigma2 has none.

        Examples
        --------
        >>> import bayesnb
        >>> [float(part.round(6)) for part in bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).variance()]
        [0.003, 9.6e-05]
        """
        return self.mu().variance(), self.sigma2().variance()

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Equal-tailed intervals of mu and of sigma2, each for itself.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        mu, sigma2 : ndarray, shape (..., 2)
            Lower and upper ends, in the units of the data and their square.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> import bayesnb
        >>> mu, sigma2 = bayesnb.NormalInverseGamma(1.7, 4, 3.5, 0.03).interval(0.95)
        >>> mu.round(3).tolist(), sigma2.round(4).tolist()
        ([1.591, 1.809], [0.0037, 0.0355])
        """
        return self.mu().interval(level), self.sigma2().interval(level)

    def log_normalizer(self) -> np.ndarray:
        """Log of what sigma2^(-alpha0 - 3/2) exp(-(beta0 + kappa0 (mu - m0)^2 / 2) / sigma2) is divided by.

        Examples
        --------
        >>> import bayesnb
        >>> float(bayesnb.NormalInverseGamma(0, 1, 2, 1).log_normalizer().round(6))  # log sqrt(2 pi)
        0.918939
        """
        return self.sigma2().log_normalizer() + 0.5 * (LOG_2PI - np.log(self.kappa0))

    def log_density(self, mu: Any, sigma2: Any) -> np.ndarray:
        """Joint log density of (mu, sigma2).

        Parameters
        ----------
        mu, sigma2 : array_like
            Where; they broadcast with the parameters.

        Returns
        -------
        ndarray
            In nats; -inf where sigma2 <= 0.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.NormalInverseGamma(0, 1, 2, 1).log_density(0, [1.0, -1.0]).round(4).tolist()
        [-1.9189, -inf]
        """
        variance = given.points(sigma2, "sigma2", self.shape)
        mu = given.points(mu, "mu", np.broadcast_shapes(variance.shape, self.shape))
        there = (variance > 0) & (variance < np.inf)  # the density is 0 elsewhere
        inside = np.where(there, variance, 1.0)
        with np.errstate(over="ignore"):  # a density of 0
            energy = ((mu - self.m0) / np.sqrt(inside) * np.sqrt(self.kappa0)) ** 2 / 2
        density = self.sigma2().log_density(inside) + (np.log(self.kappa0) - LOG_2PI - np.log(inside)) / 2 - energy
        return np.where(there, density, -np.inf)[()]

    def log_evidence(self, n: Any, mean: Any, M2: Any) -> np.ndarray:
        """Log density of n observations with this mean and sum of squares, in their order, (mu, sigma2) integrated out.

        The difference of the two log normalizers less n/2 log 2 pi, written without cancellation.

        Parameters
        ----------
        n, mean, M2 : array_like
            As in `updated`.

        Returns
        -------
        ndarray, shape (...)
            In nats.

        Examples
        --------
        >>> import bayesnb
        >>> prior = bayesnb.NormalInverseGamma(0, 1, 2, 1)
        >>> float(prior.log_evidence(1, 2.0, 0.0).round(6))
        -2.713697
        >>> float(prior.predictive().log_density(2.0).round(6))
        -2.713697
        """
        half, added = np.asarray(n) / 2, self._added(n, mean, M2)
        scale = -self.alpha0 * np.log1p(added / self.beta0) - half * np.log(self.beta0 + added)
        return log_rising(self.alpha0, half) + scale - 0.5 * np.log1p(n / self.kappa0) - half * LOG_2PI

    def draw(self, rng: np.random.Generator, size: Size = ()) -> tuple[np.ndarray, np.ndarray]:
        """Independent draws of mu and sigma2.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.

        Returns
        -------
        mu, sigma2 : ndarray, shape (*size, ...)

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> mu, sigma2 = bayesnb.NormalInverseGamma(0, 1, 2, 1).draw(np.random.default_rng(0), 1000)
        >>> mu.shape, bool((sigma2 > 0).all())
        ((1000,), True)
        """
        sigma2 = self.sigma2().draw(rng, size)
        with np.errstate(over="ignore"):  # so wide that a draw may be infinite
            return self.m0 + np.sqrt(sigma2 / self.kappa0) * rng.standard_normal(sigma2.shape), sigma2


def _set(family: Any, **values: np.ndarray) -> None:
    """Give the family its parameters, broadcast to one shape."""
    try:
        arrays: Iterable[np.ndarray] = np.broadcast_arrays(*values.values())
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in values.items())
        raise ValueError(f"the parameters of {type(family).__name__} do not broadcast: {shapes}") from None
    for name, array in zip(values, arrays, strict=True):
        object.__setattr__(family, name, array)


def _half_width(df: np.ndarray, scale2: np.ndarray, tail: float) -> np.ndarray:
    """Point of a centred Student-t with that probability above it; infinite beyond the largest float.

    From t = sqrt(df) e^20 on the tail is (df/t^2)^(df/2) / (df B(df/2, 1/2)) to rounding. SciPy's quantile is capped
    near 1e150, which for a df of 0.001 leaves 0.35 above it where 0.025 was asked for.
    """
    above_root = -(np.log(df) + log_beta(df / 2, 0.5) + np.log(tail)) / df
    far = above_root > 20
    near = np.sqrt(scale2) * -special.stdtrit(np.where(far, 1.0, df), tail)
    with np.errstate(over="ignore"):
        return np.where(far, np.exp(above_root + (np.log(df) + np.log(scale2)) / 2), near)


def _positive(value: Any, name: str) -> np.ndarray:
    ends = np.finfo(np.float64)  # scales of measurements have no natural size
    return validate.concentration(value, name, least=float(ends.smallest_subnormal), most=float(ends.max))


def _location(value: Any, name: str) -> np.ndarray:
    array = given.floats(value, f"{name} must be numbers")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = f" at {tuple(int(i) for i in bad[0])}" if array.ndim else ""
        raise ValueError(f"{name} must be finite, got {array[tuple(bad[0])]:g}{where}")
    return array


def _refuse_heavy(shape: np.ndarray, above: float, why: str) -> None:
    bad = np.argwhere(~(shape > above))
    if len(bad):
        where = f" at {tuple(int(i) for i in bad[0])}" if shape.ndim else ""
        raise ValueError(f"{why}, it is {shape[tuple(bad[0])]:g}{where}; use the mode or an interval")
