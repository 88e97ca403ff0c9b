"""A power on the likelihood, fitted by exact leave-one-out: naive Bayes probabilities that are not too sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from bayesnb import given, validate
from bayesnb.model import class_codes
from bayesnb.selection.loo import Parts, scored_parts

SMALLEST = 1e-6


def fit_power(clf: Any, X: Any, y: Any, sample_weight: Any = None, largest: float = 1.0) -> float:
    """Power that maximises the exact leave-one-out log score.

    Tokens are not independent given the class, so naive Bayes counts the same evidence several times and is too sure.
    The score sum_i w_i log P(y_i | x_i, D without i) is concave in the power, one number fitted to all documents.

    Parameters
    ----------
    clf : estimator
        Unfitted or fitted; it is not changed. A copy learns X and y.
    X, y, sample_weight
        Labelled documents, as for `fit`.
    largest : float
        Upper bound. Where the model makes no mistake at all the score rises for ever with the power, which says nothing
        of new documents: with 1 probabilities are tempered or left as they are.

    Returns
    -------
    float
        For the estimator's argument ``power``; between 1e-6 and `largest`.

    Raises
    ------
    ValueError
        As `fit` and `loo`; or a document is impossible under its own class, so that no power helps.

    Examples
    --------
    >>> import bayesnb
    >>> X, y = [[3, 1], [2, 2], [1, 3], [0, 2]], ["ham", "spam", "spam", "ham"]
    >>> 0 < bayesnb.fit_power(bayesnb.MultinomialNB(), X, y) <= 1
    True
    """
    from sklearn.base import clone

    if not SMALLEST <= given.real(largest) <= validate.POWERS[1]:
        what = f"from {SMALLEST:g} to {validate.POWERS[1]:g}, got {given.shown(largest)}"
        raise ValueError(f"largest must be a number above 0, {what}")
    if isinstance(clf, type) or not hasattr(clf, "_scored"):
        raise TypeError(f"fit_power needs an estimator such as MultinomialNB(), got {given.shown(clf)}")
    fitted = clone(clf).fit(X, y, sample_weight)
    posterior, settings, documents = fitted._scored(X)
    own = class_codes(validate.labels(y), posterior.classes)
    parts = scored_parts(posterior, documents, own, sample_weight, settings.estimate)
    return best_power(parts, validate.sample_weight(sample_weight, len(own)), given.real(largest))


def best_power(parts: Parts, weight: np.ndarray | None = None, largest: float = 1.0) -> float:
    """Maximise the log score over the power by halving on its slope, which falls; see `fit_power`."""
    rows = np.arange(len(parts.own))
    mine = parts.log_likelihood[rows, parts.own]
    lost = np.flatnonzero(np.isneginf(mine) | np.isneginf(parts.log_theta[rows, parts.own]))
    if len(lost):
        row = int(lost[0])
        raise ValueError(
            f"row {row} has probability 0 under its own class once it is left out, whatever the power; "
            + ("" if np.isneginf(mine[row]) else "its class has class prior 0 then: give a class_prior above 0, or ")
            + "use estimate='mean'"
        )
    w = np.ones(len(rows)) if weight is None else weight

    def slope(power: float) -> float:
        p = softmax(parts.log_joint(power), axis=1)
        expected = np.where(p > 0, parts.log_likelihood, 0.0)  # a class without probability has no part in the mean
        return float(w @ (mine - (p * expected).sum(axis=1)))

    low, high = np.log(SMALLEST), np.log(largest)
    if slope(largest) >= 0:
        return float(largest)
    if slope(SMALLEST) <= 0:
        return SMALLEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(np.exp(middle)) > 0 else (low, middle)
    return float(np.exp((low + high) / 2))
