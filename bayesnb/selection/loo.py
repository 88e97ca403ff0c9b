"""Exact leave-one-out: each document scored by the model that never saw it, all in one pass.

Leaving a document out changes the totals of its own class only, and theta. So every other class scores it as before,
and its own class from the totals less its counts; nothing is fitted again. Classes, vocabulary and prior stay, and the
document goes with its whole weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesnb import validate
from bayesnb.events import leftout
from bayesnb.events.base import CountPosterior, Posterior, normalise
from bayesnb.given import shown


@dataclass(frozen=True, eq=False)
class Loo:
    """Exact leave-one-out scores of labelled documents.

    Attributes
    ----------
    probabilities : ndarray, shape (N, K)
        P(y = k | x_i, D without i).
    log_score : ndarray, shape (N,)
        Log P(y_i | x_i, D without i), in nats.
    errors : int
        Documents whose most probable class is not their own.
    log_joint : ndarray, shape (N, K)
        Log theta_k + power * log p(x_i | k), both without document i.
    note : str
        What was held fixed, and which classes a single document leaves without probability.
    """

    probabilities: np.ndarray
    log_score: np.ndarray
    errors: int
    log_joint: np.ndarray
    note: str

    def __repr__(self) -> str:
        found = f"{self.errors} errors, log score {self.total:.6g} nats"
        return f"{type(self).__name__} of {len(self.log_score)} documents: {found}; {self.note}"

    @property
    def total(self) -> float:
        """Sum of the log scores."""
        return float(self.log_score.sum())


@dataclass(frozen=True, eq=False)
class Parts:
    """Leave-one-out in its two parts, before a power joins them.

    Attributes
    ----------
    log_theta : ndarray, shape (N, K)
        Log class probabilities without document i.
    log_likelihood : ndarray, shape (N, K)
        Log p(x_i | k), in the column of its own class without document i.
    own : ndarray of int, shape (N,)
        Position of each document's class.
    """

    log_theta: np.ndarray
    log_likelihood: np.ndarray
    own: np.ndarray

    def log_joint(self, power: float = 1.0) -> np.ndarray:
        """Log theta_k + power * log p(x_i | k), shape (N, K)."""
        return self.log_theta + (self.log_likelihood if power == 1 else power * self.log_likelihood)


def leave_one_out(
    posterior: Posterior, X: Any, own: np.ndarray, weight: Any = None, estimate: str = "map", power: float = 1.0
) -> Loo:
    """Score every document by the posterior without it.

    Parameters
    ----------
    posterior : Posterior
        Of documents of which these are some.
    X : documents
        As the event model counts them, (N, V).
    own : ndarray of int, shape (N,)
        Position of each document's class.
    weight : array_like, shape (N,), optional
        Weights they were learnt with.
    estimate : {"mle", "map", "mean", "predictive"}
    power : float
        Exponent on the likelihood.

    Raises
    ------
    ValueError
        The totals do not hold a document; an estimate does not exist without one; or one is then impossible under
        every class. The row is named.
    """
    parts = scored_parts(posterior, X, own, weight, estimate)
    joint = parts.log_joint(power)
    log_p = normalise(joint)
    rows = np.arange(len(own))
    errors = int((np.exp(log_p).argmax(axis=1) != own).sum())
    return Loo(np.exp(log_p), log_p[rows, own], errors, joint, _note(posterior, parts))


def scored_parts(
    posterior: Posterior, X: Any, own: np.ndarray, weight: Any = None, estimate: str = "map", theta: str | None = None
) -> Parts:
    """Class probabilities and likelihoods without each document in turn; see `leave_one_out`.

    `theta` is the estimate of the class probabilities, where it is to differ from that of the event model.
    """
    own = np.asarray(own)
    weight = validate.sample_weight(1.0 if weight is None else weight, len(own))
    validate.estimate(estimate)
    log_theta = _log_theta(posterior, own, weight, estimate if theta is None else theta)
    likelihood = np.array(posterior.log_likelihood(X, estimate))
    if len(likelihood) != len(own):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(likelihood)}, {len(own)}]")
    # nothing need be known of phi where the class itself is left without probability
    left = np.flatnonzero(np.isfinite(log_theta[np.arange(len(own)), own]))
    likelihood[np.arange(len(own)), own] = 0.0
    likelihood[left, own[left]] = _own_likelihood(posterior, X, own, weight, estimate, left)
    return Parts(log_theta, likelihood, own)


def _own_likelihood(
    posterior: Posterior, X: Any, own: np.ndarray, weight: np.ndarray, estimate: str, rows: np.ndarray
) -> np.ndarray:
    if not isinstance(posterior, CountPosterior):
        return np.array([_own_likelihood_again(posterior, X, own, weight, estimate, i) for i in rows])
    if len(rows) == len(own):
        return posterior.log_likelihood_left_out(X, own, weight, estimate)
    try:
        return posterior.log_likelihood_left_out(validate.counts(X)[rows], own[rows], weight[rows], estimate)
    except leftout.RowError as error:
        raise error.renumbered(rows) from None


def _own_likelihood_again(
    posterior: Posterior, X: Any, own: np.ndarray, weight: np.ndarray, estimate: str, i: int
) -> float:
    """The same for one document by subtracting its totals, where cells are dense and nothing can be saved."""
    x, k = X[i : i + 1], own[i : i + 1]
    statistics = posterior.statistics
    try:
        part = type(statistics).from_documents(x, k, statistics.n_classes, weight[i : i + 1])
        left = replace(posterior, statistics=statistics - part)
        return left.log_likelihood(x, estimate)[0, own[i]]
    except ValueError as error:
        raise ValueError(f"with row {i} left out, {error}") from None


def _log_theta(posterior: Posterior, own: np.ndarray, weight: np.ndarray, estimate: str) -> np.ndarray:
    """Log of the class probabilities without each document, shape (N, K)."""
    prior, n = posterior.prior.theta, posterior.statistics.class_count
    rows = np.arange(len(own))
    count = np.tile(n, (len(own), 1))
    count[rows, own] = leftout.class_count(posterior, own, weight, rows)
    if prior.known is not None:
        value = np.tile(prior.known, (len(own), 1))
    else:
        value = count + (0.0 if estimate == "mle" else prior.concentration - (1.0 if estimate == "map" else 0.0))
        _refuse_no_theta(posterior, value, estimate)
        value = value / value.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.log(value)


def _refuse_no_theta(posterior: Posterior, value: np.ndarray, estimate: str) -> None:
    for row, k in np.argwhere(value < 0):
        label = shown(posterior.classes[k])
        raise ValueError(
            f"with row {row} left out, theta has no mode: the posterior concentration of class {label} is below 1; "
            "use estimate='mean'"
        )
    for row in np.flatnonzero(value.sum(axis=1) == 0):
        raise ValueError(f"with row {row} left out, no document is left: theta has no {estimate}; use estimate='mean'")


def _note(posterior: Posterior, parts: Parts) -> str:
    held = f"held fixed: classes, vocabulary and prior ({posterior.prior.describe()})"
    alone = np.unique(parts.own[np.isneginf(parts.log_theta[np.arange(len(parts.own)), parts.own])])
    if not len(alone):
        return held
    labels = ", ".join(shown(posterior.classes[k]) for k in alone)
    what = f"class {labels} has" if len(alone) == 1 else f"classes {labels} have each"
    return f"{held}; log score -inf: without its only document {what} probability 0 (use estimate='mean')"
