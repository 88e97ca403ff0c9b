"""The Gaussian event model: a document is a row of measurements, each normal on its own.

x_ij | y_i = k ~ Normal(mu_kj, sigma2_kj), and (mu_kj, sigma2_kj) ~ NormalInverseGamma(m0, kappa0, alpha0, beta0)
[1, section 3.3]. Of the n values of column j in class k only number, mean and sum of squared deviations M2 matter:

    kappa_n = kappa0 + n,    m_n = m0 + (n / kappa_n)(mean - m0),    alpha_n = alpha0 + n/2,
    beta_n = beta0 + (M2 + kappa0 (n / kappa_n)(mean - m0)^2) / 2

A missing cell (NaN) drops out of the totals and of the likelihood, which under this model is exact.

References
----------
.. [1] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC Press 2013.
.. [2] T. Chan, G. Golub and R. LeVeque, Algorithms for computing the sample variance, American Statistician 37 (1983).
.. [3] C. Fraley and A. Raftery, Bayesian regularization for normal mixture estimation and model-based clustering,
   Journal of Classification 24 (2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from bayesnb import given, validate
from bayesnb.events.base import Posterior as BasePosterior
from bayesnb.events.moments import UNSQUARABLE, MomentStatistics
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Point
from bayesnb.given import shown
from bayesnb.measurements import measurements
from bayesnb.normal import LOG_2PI, InverseGamma, NormalInverseGamma, StudentT

BLOCK = 2**16  # cells scored at a time: they stay in the processor's cache


class Statistics(MomentStatistics):
    """Number, mean and sum of squared deviations by class and column; see `MomentStatistics`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.gaussian import Statistics
    >>> n = Statistics.from_documents([[1.0], [2.0], [6.0], [7.0]], np.array([0, 0, 1, 1]), n_classes=2)
    >>> n.n.tolist(), n.mean.tolist(), n.M2.tolist()
    ([[2.0], [2.0]], [[1.5], [6.5]], [[0.5], [0.5]])
    """


class Estimated(Point):
    """A parameter that was estimated and has no posterior; only its value can be asked for."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(NO_PRIOR)

    variance = interval = draw = mean_log = variance_log = _refuse


NO_PRIOR = (
    "mu and sigma2 have no posterior: prior=None estimates them as scikit-learn does; "
    "give prior='weak' or a NormalInverseGamma(...)"
)


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the Gaussian model: exactly one of `normal` and `epsilon` is given.

    Parameters
    ----------
    theta : ClassPrior
        Of the class probabilities.
    normal : NormalInverseGamma, shape (K, V), optional
        Of mu and sigma2.
    epsilon : ndarray, shape (K, V), optional
        There is no prior: the estimate is the maximum of the likelihood with epsilon >= 0 added to each variance.

    Raises
    ------
    ValueError
        Both or neither of `normal` and `epsilon` are given, or `normal` is no NormalInverseGamma.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesnb
    >>> from bayesnb.events.gaussian import Prior
    >>> from bayesnb.events.theta import ClassPrior
    >>> normal = bayesnb.NormalInverseGamma(np.zeros((2, 1)), 0.01, 1.5, 2)
    >>> Prior(ClassPrior(concentration=np.ones(2)), normal).describe()
    'mu, sigma2 ~ NormalInverseGamma(0, 0.01, 1.5, 2), theta ~ Dirichlet(1)'
    """

    theta: ClassPrior
    normal: NormalInverseGamma | None = None
    epsilon: np.ndarray | None = None

    of: ClassVar[str] = "mu"

    def __post_init__(self) -> None:
        if (self.normal is None) == (self.epsilon is None):
            raise ValueError("the prior of the Gaussian model needs either normal, a NormalInverseGamma, or epsilon")
        if self.normal is not None and not isinstance(self.normal, NormalInverseGamma):
            raise ValueError("the prior of the Gaussian model's mu and sigma2 is a NormalInverseGamma of shape (K, V)")

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and columns, (K, V)."""
        return np.asarray(self.epsilon).shape if self.normal is None else self.normal.shape

    @classmethod
    def resolve(
        cls, theta: ClassPrior, prior: Any, var_smoothing: Any, estimate: str, statistics: MomentStatistics
    ) -> Self:
        """Read the estimators' arguments; what is set on the data's scale is computed from the totals, here.

        Parameters
        ----------
        theta : ClassPrior
            Of the class probabilities.
        prior : None, "weak" or NormalInverseGamma
            None: scikit-learn's rule. "weak": `weak`. A family is broadcast to (K, V).
        var_smoothing : number >= 0
            Share of the largest variance of any column that is added to each variance, without a prior.
        estimate : {"mle", "map", "mean", "predictive"}
            Without a prior only the first two exist.
        statistics : MomentStatistics
            Totals.

        Raises
        ------
        ValueError
            An argument is invalid, or the estimate needs a prior and there is none.
        """
        shape = (statistics.n_classes, statistics.n_tokens)
        if isinstance(prior, NormalInverseGamma):
            return cls(theta, prior.broadcast_to(shape))
        if isinstance(prior, str) and prior == "weak":
            return cls(theta, weak(statistics).broadcast_to(shape))
        if prior is not None:
            raise ValueError(
                f"the prior of the Gaussian model is None, 'weak' or NormalInverseGamma(...), got {shown(prior)}"
            )
        if validate.estimate(estimate) in ("mean", "predictive"):
            raise ValueError(f"estimate={estimate!r} needs a posterior: {NO_PRIOR}")
        return cls(theta, epsilon=np.full(shape, added_variance(statistics, var_smoothing)))

    @property
    def strength(self) -> np.ndarray:
        """Largest of kappa0 and 2 alpha0 in each class: how many documents the prior weighs as much as, shape (K,)."""
        if self.normal is None:
            return np.zeros(self.shape[0])
        return np.maximum(self.normal.kappa0, 2 * self.normal.alpha0).max(axis=1, initial=0.0)

    def describe(self) -> str:
        """The prior in one phrase."""
        if self.normal is None:
            largest = np.max(self.epsilon, initial=0.0)  # type: ignore[arg-type]
            return f"mu, sigma2 estimated (sigma2 + {largest:.3g}), {self.theta.describe()}"
        parts = self.normal.parameters
        flat = self.normal.m0.size and all((part == part.flat[0]).all() for part in parts)
        inside = ", ".join(f"{part.flat[0]:.12g}" for part in parts) if flat else "per column"
        return f"mu, sigma2 ~ NormalInverseGamma({inside}), {self.theta.describe()}"


def added_variance(statistics: MomentStatistics, var_smoothing: Any) -> float:
    """Share `var_smoothing` of the largest column variance of all data, in the units of the data squared.

    Where every column is constant, of the largest squared value, and where all are 0 of 1: a variance of 0 would make
    every density infinite.
    """
    share = smoothing_share(var_smoothing)
    _, mean, variance = statistics.pooled()
    return share * (variance.max(initial=0.0) or _squares(mean).max(initial=0.0) or 1.0)


def smoothing_share(var_smoothing: Any) -> float:
    """The estimators' `var_smoothing` as a float; ValueError where it is no number from 0 to 1e100."""
    share = given.real(var_smoothing)
    if not 0 <= share <= validate.MOST:
        what = f"at most {validate.MOST:g}, got {shown(var_smoothing)}"
        raise ValueError(f"var_smoothing must be a number >= 0 and {what}")
    return share


def weak(statistics: MomentStatistics) -> NormalInverseGamma:
    """A prior worth 1/100 observation of each mean and 3 of each variance, on the scale of each column, shape (V,).

    m0 is the column's mean over all classes, kappa0 = 0.01, alpha0 = 3/2 and beta0 half the column's variance, so that
    sigma2 has that variance as its mean [3, section 3.1, without the division by the number of classes]. Data in other
    units give the same answers. A constant column has no scale of its own: its squared value serves, or 1 where it
    is 0.
    """
    _, mean, variance = statistics.pooled()
    scale = np.where(variance > 0, variance, _squares(np.where(variance > 0, 0.0, mean)))
    beta = np.where(scale > 0, scale, 1.0) / 2
    return NormalInverseGamma(mean, np.full_like(mean, 0.01), np.full_like(mean, 1.5), beta)


def _squares(mean: np.ndarray) -> np.ndarray:
    large = np.flatnonzero(np.abs(mean) > 1e154)
    if len(large):
        raise ValueError(f"column {large[0]} has the mean {mean[large[0]]:g}: {UNSQUARABLE}")
    return mean**2


@dataclass(frozen=True, eq=False)
class Posterior(BasePosterior):
    """Posterior of the Gaussian model; see `bayesnb.events.base.Posterior`.

    Where the prior has no `normal`, mu and sigma2 are estimates without a posterior: `mu` and `sigma2` know their value
    only, and intervals, draws and evidence are a ValueError. Documents are dense; NaN is a missing cell, which drops
    out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.gaussian import Posterior, Prior, Statistics
    >>> from bayesnb.events.theta import ClassPrior
    >>> from bayesnb.families import NormalInverseGamma
    >>> prior = Prior(ClassPrior(concentration=np.ones(1)), NormalInverseGamma([[0.0]], 1, 2, 1))
    >>> t = Posterior(prior, Statistics.from_documents([[2.0]], np.array([0]), 1)).normal.predictive()
    >>> float(t.df[0, 0]), float(t.loc[0, 0]), float(t.scale2[0, 0].round(6))
    (5.0, 1.0, 1.2)
    """

    event: ClassVar[str] = "gaussian"
    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma2")

    @cached_property
    def normal(self) -> NormalInverseGamma:
        """Distribution of mu and sigma2, shape (K, V); ValueError where there is no prior."""
        n = self.statistics
        return self.normal_prior.updated(n.n, n.mean, n.M2)

    @property
    def normal_prior(self) -> NormalInverseGamma:
        """Prior distribution of mu and sigma2, shape (K, V); ValueError where there is none."""
        if self.prior.normal is None:
            raise ValueError(NO_PRIOR)
        return self.prior.normal

    @property
    def mu(self) -> StudentT | Estimated:
        """Distribution of the means, shape (K, V)."""
        return Estimated(self.mu_hat("map")) if self.prior.normal is None else self.normal.mu()

    @property
    def sigma2(self) -> InverseGamma | Estimated:
        """Distribution of the variances, shape (K, V)."""
        return Estimated(self.sigma2_hat("map")) if self.prior.normal is None else self.normal.sigma2()

    def mu_hat(self, estimate: str = "map") -> np.ndarray:
        """Estimated means.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}
            As in `sigma2_hat`.

        Returns
        -------
        ndarray, shape (K, V)
            In the units of the data.

        Raises
        ------
        ValueError
            As `sigma2_hat`.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.GaussianNB(prior="weak").fit([[1.0], [2.0], [6.0], [7.0]], ["low", "low", "high", "high"])
        >>> clf.posterior_.mu_hat("map").round(3).tolist()
        [[6.488], [1.512]]
        """
        return self._point(estimate)[0]

    def sigma2_hat(self, estimate: str = "map") -> np.ndarray:
        """Estimated variances: the joint mode with mu, the mean (also for "predictive"), or M2/n.

        Without a prior "map" is M2/n + epsilon, as in scikit-learn.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}

        Returns
        -------
        ndarray, shape (K, V)
            In the units of the data squared.

        Raises
        ------
        ValueError
            The estimate does not exist: nothing was measured, a variance is 0, the mean needs alpha > 1, or there is no
            prior; class and column are named.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.GaussianNB(prior="weak").fit([[1.0], [2.0], [6.0], [7.0]], ["low", "low", "high", "high"])
        >>> clf.posterior_.sigma2_hat("map").round(2).tolist(), clf.posterior_.sigma2_hat("mle").tolist()
        ([[0.88], [0.88]], [[0.25], [0.25]])
        """
        return self._point(estimate)[1]

    def require(self, estimate: str) -> None:
        """Raise a ValueError now, where the estimate does not exist for these data.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.GaussianNB(prior="weak").fit([[1.0], [1.0], [6.0], [7.0]], ["low", "low", "high", "high"])
        >>> clf.posterior_.require("mle")
        Traceback (most recent call last):
            ...
        ValueError: the variance in column 0 of class 'low' is 0, where every density is infinite; ...
        """
        self.theta_hat(estimate)
        _ = self._predictive_table if estimate == "predictive" else self._point(estimate)

    def log_likelihood(self, X: Any, estimate: str = "map") -> np.ndarray:
        """Log density of each document's cells that are not missing, given each class, shape (N, K).

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.GaussianNB(prior="weak").fit([[1.0], [2.0], [6.0], [7.0]], ["low", "low", "high", "high"])
        >>> clf.posterior_.log_likelihood([[2.5]], "predictive").round(2).tolist()  # classes high, low
        [[-4.1, -1.61]]
        """
        X = self._document(X)
        if validate.estimate(estimate) == "predictive":
            return _by_class(X, *self._predictive_table)
        mean, variance = self._point(estimate)
        return _by_class(X, mean, np.sqrt(variance), (np.log(variance) + LOG_2PI) / 2)

    def _document(self, X: Any) -> np.ndarray:
        X = measurements(X, type(self).__name__, self.tokens, missing="ignore")
        if X.shape[1] != self.statistics.n_tokens:
            raise ValueError(f"X has {X.shape[1]} features, but the model is expecting {self.statistics.n_tokens}")
        return X

    @cached_property
    def _predictive_table(self) -> tuple[np.ndarray, ...]:
        t = self.normal.predictive()
        return t.loc, np.sqrt(t.df) * np.sqrt(t.scale2), t.log_normalizer(), (t.df + 1) / 2

    def _point(self, estimate: str) -> tuple[np.ndarray, np.ndarray]:
        cache = self.__dict__.setdefault("_points", {})
        if validate.estimate(estimate) not in cache:
            cache[estimate] = self._new_point(estimate)
        return cache[estimate]

    def _new_point(self, estimate: str) -> tuple[np.ndarray, np.ndarray]:
        if estimate == "mle":
            return self._most_likely(np.zeros((1, 1)), "mle")
        if estimate == "map":
            return self._most_likely(self.prior.epsilon, "map") if self.prior.normal is None else self.normal.mode()
        heavy = np.argwhere(~(self.normal_prior.alpha0 + self.statistics.n / 2 > 1))
        if len(heavy):
            raise ValueError(
                f"sigma2 of {self._cell(heavy[0])} has no mean: its alpha is {self.normal.alpha0[tuple(heavy[0])]:g}, "
                "not above 1; use estimate='map' or 'predictive', or a prior with a larger alpha0"
            )
        return self.normal.mean()

    def _most_likely(self, epsilon: np.ndarray, estimate: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance + epsilon; a class without documents, if its probability is 0, may have any."""
        n = self.statistics
        unseen = np.flatnonzero((n.class_count == 0) & (self.theta_hat(estimate) == 0))
        empty = n.n == 0
        variance = np.divide(n.M2, n.n, out=np.zeros_like(n.M2), where=~empty) + epsilon
        variance[unseen] = np.where(variance[unseen] > 0, variance[unseen], 1.0)
        empty[unseen] = False
        remedy = "use prior='weak' or a NormalInverseGamma(...)"
        if empty.any():
            raise ValueError(f"nothing was measured in {self._cell(np.argwhere(empty)[0])}: no {estimate}; {remedy}")
        if (variance == 0).any():
            smoothed = "; estimate='map' without a prior adds var_smoothing" if estimate == "mle" else ""
            where = self._cell(np.argwhere(variance == 0)[0])
            raise ValueError(f"the variance in {where} is 0, where every density is infinite; {remedy}{smoothed}")
        return n.mean, variance

    def _cell(self, at: np.ndarray) -> str:
        return f"column {shown(self.tokens[at[1]])} of class {shown(self.classes[at[0]])}"

    def _log_evidence(self) -> float:
        n = self.statistics
        return float(self.normal_prior.log_evidence(n.n, n.mean, n.M2).sum())

    def _draw(self, rng: np.random.Generator, draws: int) -> dict[str, np.ndarray]:
        return dict(zip(("mu", "sigma2"), self.normal.draw(rng, (draws,)), strict=True))


def _by_class(X: np.ndarray, loc: np.ndarray, scale: np.ndarray, constant: np.ndarray, factor: Any = None) -> Any:
    """Minus the sum over each row's known cells of constant + energy((x - loc)/scale), for each class: (N, K).

    The energy is factor log(1 + z^2), of a Student-t, or without factor z^2/2, of a normal.
    """
    total = np.empty((len(X), len(loc)))
    rows = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        block = X[start : start + rows]
        known = ~np.isnan(block)
        filled = np.where(known, block, 0.0)
        for k in range(len(loc)):
            with np.errstate(over="ignore"):  # a density of 0
                square = ((filled - loc[k]) / scale[k]) ** 2
            lost = (square / 2 if factor is None else factor[k] * np.log1p(square)) + constant[k]
            total[start : start + rows, k] = -np.where(known, lost, 0.0).sum(axis=1)
    return total
