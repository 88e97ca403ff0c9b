"""MultinomialNB: documents as counts of tokens."""

from __future__ import annotations

from typing import Any

from bayesnb.estimators.matrix import MatrixClassifier


class MultinomialNB(MatrixClassifier):
    """Naive Bayes over counts, with the full posterior of its parameters.

    y ~ Categorical(theta), tokens of a document ~ Categorical(phi_y), theta ~ Dirichlet(c), phi_k ~ Dirichlet(a).

    Parameters
    ----------
    alpha : number >= 0 or array_like, shape (V,)
        Laplace pseudo-count s, with scikit-learn's meaning: the estimate is (n_kj + s) / (N_k + sum s).
    prior : None, number, array_like of shape (V,) or (K, V), str or Dirichlet
        Concentration a of phi, whatever the estimate. None: 1 + alpha for "map", alpha for "mean" and "predictive",
        1 for "mle". Names: "laplace" (as None), "uniform" (1), "jeffreys" (1/2); computed from the totals of all
        documents "background" (proportional to each token's share; total strength that of Laplace's prior, or
        "background:500", or ("background", 500)), "empirical" (the one concentration of largest evidence) and
        "empirical-background" (the strength of largest evidence). Those below 1 need "mean" or "predictive".
    class_prior : None, number, Dirichlet, sequence or mapping
        A number is the concentration c of theta (None: 1), a `Dirichlet` one a class. Probabilities, in the order
        of the sorted classes or as ``{"ham": .9, "spam": .1}``, are a class prior that is known.
    fit_prior : bool
        False, with no known class prior: all classes are known to be equally probable.
    estimate : {"map", "mean", "mle", "predictive"}
        What predictions use: the mode of the posterior, its mean, the maximum of the likelihood, or the posterior
        itself with phi integrated out (Dirichlet-multinomial).
    binary : bool
        Count presence: a token occurs at most once a document.
    power : number > 0
        Exponent on the likelihood p(x | y); below 1 it tempers probabilities that are too sure. To fit it by exact
        leave-one-out: ``clf.set_params(power=bayesnb.fit_power(clf, X, y)).fit(X, y)``.
    force_alpha : bool
        As in scikit-learn: False raises an alpha below 1e-10 to 1e-10.

    Attributes
    ----------
    posterior_ : Posterior
        `.theta` (K,) and `.phi` (K, V) are families with mean, mode, variance, interval, draw; `.log_evidence()`.
    classes_ : ndarray, shape (K,)
        Labels, sorted.
    n_features_in_ : int
        V.
    feature_names_in_ : ndarray, shape (V,)
        Column names, where X was a frame.

    Notes
    -----
    With the default, ``estimate="map"`` and alpha = s, the concentration is 1 + s and its mode equals Laplace smoothing
    by s; predictions equal scikit-learn's for the same alpha.

    Examples
    --------
    >>> import bayesnb
    >>> clf = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"])
    >>> clf.predict([[0, 0, 1]]).tolist()
    ['spam']
    >>> clf.posterior_.phi.interval(0.95).shape
    (2, 3, 2)
    """

    _event = "multinomial"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        prior: Any = None,
        class_prior: Any = 1.0,
        fit_prior: bool = True,
        estimate: str = "map",
        binary: bool = False,
        power: float = 1.0,
        force_alpha: bool = True,
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.estimate = estimate
        self.binary = binary
        self.power = power
        self.force_alpha = force_alpha

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
