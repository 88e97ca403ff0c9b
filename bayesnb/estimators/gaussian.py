"""GaussianNB: documents as rows of measurements."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from bayesnb import given, validate
from bayesnb.estimators.matrix import MatrixClassifier
from bayesnb.model import Settings


class GaussianNB(MatrixClassifier):
    """Naive Bayes over measurements, with the full posterior of their means and variances where a prior is given.

    y ~ Categorical(theta), x_j ~ Normal(mu_yj, sigma2_yj), theta ~ Dirichlet(c), and with a prior
    (mu_kj, sigma2_kj) ~ NormalInverseGamma(m0, kappa0, alpha0, beta0).

    Parameters
    ----------
    priors : array_like, shape (K,), optional
        scikit-learn's name for a class prior that is known; give `class_prior` or this.
    var_smoothing : number >= 0
        Without a prior: share of the largest variance of any column, over all that was learnt, which is added to each
        variance.
    prior : None, "weak" or NormalInverseGamma
        None: mu and sigma2 are estimated as scikit-learn does, and have no posterior: `predict_interval`, `explain`,
        `predict(abstain=)`, draws and evidence are a ValueError. "weak": a prior on the scale of the data, worth 1/100
        observation of each mean and 3 of each variance; see `bayesnb.events.gaussian.weak`. A `NormalInverseGamma` has
        parameters that are numbers, one a column, or (K, V).
    class_prior, fit_prior, power
        As in `MultinomialNB`.
    estimate : {"map", "mean", "mle", "predictive"}
        What predictions use: the joint mode of mu and sigma2, their means, the maximum of the likelihood (without
        `var_smoothing`), or the posterior itself with both integrated out (Student-t). Without a prior "map" is
        scikit-learn's estimate, and "mean" and "predictive" do not exist.
    missing : {"error", "ignore"}
        Whether a missing cell (NaN) is an error, or drops out of the totals and of the likelihood.

    Attributes
    ----------
    posterior_ : Posterior
        `.theta` (K,), `.mu` and `.sigma2` (K, V) are distributions; `.normal` is the joint one, `.log_evidence()`.
    classes_ : ndarray, shape (K,)
        Labels, sorted.
    n_features_in_ : int
        V.
    feature_names_in_ : ndarray, shape (V,)
        Column names, where X was a frame.

    Notes
    -----
    ``GaussianNB()`` predicts what scikit-learn's does, except that what is added to the variances comes from all that
    was learnt, with its weights, and not from the last batch; and that a variance is never 0: where every column is
    constant, `var_smoothing` is a share of the largest squared value.

    Examples
    --------
    >>> import bayesnb
    >>> clf = bayesnb.GaussianNB(prior="weak", estimate="predictive")
    >>> clf.fit([[1.0], [2.0], [6.0], [7.0]], ["small", "small", "large", "large"]).predict([[2.5]]).tolist()
    ['small']
    >>> clf.posterior_.mu.interval(0.95).shape
    (2, 1, 2)
    """

    _event = "gaussian"

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        prior: Any = None,
        class_prior: Any = 1.0,
        fit_prior: bool = True,
        estimate: str = "map",
        power: float = 1.0,
        missing: str = "error",
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.prior = prior
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.estimate = estimate
        self.power = power
        self.missing = missing

    @property
    def theta_(self) -> np.ndarray:
        """Estimated means, shape (K, V), under scikit-learn's name; the class probabilities are `class_prior_`."""
        return self.posterior_.mu_hat(self._fitted.estimate)

    @property
    def var_(self) -> np.ndarray:
        """Estimated variances, shape (K, V), with what was added to them; posterior means under "predictive"."""
        return self.posterior_.sigma2_hat(self._fitted.estimate)

    @property
    def class_prior_(self) -> np.ndarray:
        """Estimated class probabilities, shape (K,)."""
        return self.posterior_.theta_hat(self._fitted.estimate)

    @property
    def epsilon_(self) -> float:
        """What was added to each variance; 0 where there is a prior."""
        epsilon = self.posterior_.prior.epsilon
        return 0.0 if epsilon is None else float(epsilon.max(initial=0.0))

    def token_ratios(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: ratios are of token probabilities, which this model has none of.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], ["small", "small", "large", "large"]).token_ratios()
        Traceback (most recent call last):
            ...
        ValueError: GaussianNB has no token probabilities to compare; look at posterior_.mu and posterior_.sigma2
        """
        raise ValueError(
            "GaussianNB has no token probabilities to compare; look at posterior_.mu and posterior_.sigma2"
        )

    def with_class_prior(self, class_prior: Any) -> Self:
        """Return a copy with other base rates and the same mu and sigma2; as in `MultinomialNB`.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.GaussianNB(prior="weak")
        >>> clf = clf.fit([[1.0], [2.0], [6.0], [7.0]], ["small", "small", "large", "large"])
        >>> clf.with_class_prior({"large": 0.999, "small": 0.001}).class_prior_.tolist()
        [0.999, 0.001]
        """
        new = copy.copy(self)
        new.priors = None
        return super(GaussianNB, new).with_class_prior(class_prior)

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.priors is None:
            return settings
        if not (self.class_prior is None or (np.ndim(self.class_prior) == 0 and self.class_prior == 1.0)):
            raise ValueError("priors and class_prior are two names for one thing: give one of them")
        priors = given.floats(self.priors, "priors must be probabilities, one a class")
        return replace(settings, class_prior=validate.known_prior(priors, priors.size))

    def _validated(self, X: Any, settings: Settings, *, reset: bool) -> np.ndarray:
        X = self._table(X, "measurements", reset=reset)
        return settings.documents(X, getattr(self, "feature_names_in_", None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.classifier_tags.poor_score = False
        return tags
