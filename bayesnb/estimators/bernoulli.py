"""BernoulliNB: documents as sets of tokens, each present or absent."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from bayesnb.estimators.matrix import MatrixClassifier
from bayesnb.given import real


class BernoulliNB(MatrixClassifier):
    """Naive Bayes over presence, with the full posterior of its parameters.

    y ~ Categorical(theta), x_j ~ Bernoulli(phi_yj), theta ~ Dirichlet(c), phi_kj ~ Beta(a, b). Absent tokens count.

    Parameters
    ----------
    alpha : number >= 0 or array_like, shape (V,)
        Laplace pseudo-count s, with scikit-learn's meaning: the estimate is (n_kj + s) / (N_k + 2 s).
    binarize : float or None
        A cell above it is present; None: X is 0 and 1 already.
    prior : None, number, array_like of shape (V,) or (K, V), str or Beta
        Concentration a, for Beta(a, a), or a `Beta(a, b)`, whatever the estimate. None: 1 + alpha for "map", alpha
        for "mean" and "predictive", 1 for "mle". Names: "laplace" (as None), "uniform" (1), "jeffreys" (1/2);
        "background" (strength in documents), "empirical" and "empirical-background" as in `MultinomialNB`.
    class_prior, fit_prior, estimate, power, force_alpha
        As in `MultinomialNB`. "predictive" equals "mean": each cell is seen once a document.

    Attributes
    ----------
    posterior_, classes_, n_features_in_, feature_names_in_
        As in `MultinomialNB`; `posterior_.phi` is a `Beta` of shape (K, V).

    Examples
    --------
    >>> import bayesnb
    >>> clf = bayesnb.BernoulliNB().fit([[3, 0], [0, 1]], ["ham", "spam"])
    >>> clf.predict_proba([[3, 0]]).round(3).tolist()
    [[0.8, 0.2]]
    """

    _event = "bernoulli"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        binarize: float | None = 0.0,
        prior: Any = None,
        class_prior: Any = 1.0,
        fit_prior: bool = True,
        estimate: str = "map",
        power: float = 1.0,
        force_alpha: bool = True,
    ) -> None:
        self.alpha = alpha
        self.binarize = binarize
        self.prior = prior
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.estimate = estimate
        self.power = power
        self.force_alpha = force_alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """As `fit` of the other estimators; a column that is present in every row is pointed out: it tells nothing.

        Warns
        -----
        UserWarning
            A column is above `binarize` in every row.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.BernoulliNB().fit([[3, 0], [1, 0], [0, 1]], ["ham", "ham", "spam"])
        >>> clf.feature_count_.tolist()  # documents that hold the token, not its occurrences
        [[2.0, 0.0], [0.0, 1.0]]
        """
        super().fit(X, y, sample_weight)
        statistics = self.posterior_.statistics
        total = statistics.class_count.sum()
        constant = np.flatnonzero(statistics.feature_count.sum(axis=0) == total)
        if self.binarize is not None and len(constant) and total > 1:
            name = self.posterior_.tokens.tolist()[constant[0]]
            more = f" (and {len(constant) - 1} more)" if len(constant) > 1 else ""
            warnings.warn(
                f"column {name!r}{more} is above binarize={real(self.binarize):g} in every row, so that it tells "
                "nothing; is the threshold right?",
                UserWarning,
                stacklevel=2,
            )
        return self
