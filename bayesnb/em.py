"""Expectation-maximisation for documents whose class is unknown, or known from labels that may be wrong.

The classical answer to the question that `bayesnb.models.semi_supervised` and `noisy_labels` ask (Nigam, McCallum,
Thrun and Mitchell 2000, Machine Learning 39:103), and where their chains start. NumPy and SciPy only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesnb import validate
from bayesnb.events.base import normalise
from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.sampling.modelfiles import Documents

__all__ = ["Solution", "expectation_maximization", "label_evidence"]


@dataclass(frozen=True, eq=False)
class Solution:
    """Where expectation-maximisation ended.

    Parameters
    ----------
    posterior : Posterior
        Of theta and phi, had the documents been labelled by fractions: its statistics hold `probabilities`.
    probabilities : ndarray, shape (N, K)
        P(y_i = k) of every document given its label, its tokens and the estimates.
    iterations : int
    converged : bool
        Whether the last step moved no probability by more than the tolerance.
    """

    posterior: Posterior
    probabilities: np.ndarray
    iterations: int
    converged: bool


def label_evidence(y: np.ndarray, n_classes: int, flip_rate: float = 0.0) -> np.ndarray:
    """Log P(label z_i | class k), shape (N, K): 1 - e where they agree, e/(K-1) elsewhere, 1 where z_i is -1.

    Raises
    ------
    ValueError
        The flip rate e is outside [0, (K-1)/K), from where on a label speaks against its own class.
    """
    if not 0 <= flip_rate < max((n_classes - 1) / n_classes, 1e-300):
        raise ValueError(f"flip_rate must lie in [0, (K-1)/K), K = {n_classes}; got {flip_rate!r}")
    agrees = np.arange(n_classes) == y[:, None]
    chance = np.where(agrees, 1 - flip_rate, flip_rate / max(n_classes - 1, 1))
    with np.errstate(divide="ignore"):
        return np.log(np.where(y[:, None] < 0, 1.0, chance))


def expectation_maximization(
    data: Documents,
    prior: Prior,
    flip_rate: float = 0.0,
    estimate: str = "map",
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> Solution:
    """Alternate class probabilities of the documents and estimates of theta and phi, from the labelled fit on.

    Parameters
    ----------
    data : Documents
        Labels of -1 are unknown.
    prior : Prior
        Of the multinomial model.
    flip_rate : float
        Chance e that a label is wrong, each other class being as likely.
    estimate : {"map", "mean"}
        "map" climbs the posterior density of (theta, phi). "mean" climbs the density of their logarithms (softmax
        coordinates), which has a mode for every concentration above 0; there Markov chains can start.
    tolerance : float
        Largest change of a probability at which it ends.
    max_iterations : int

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        Another estimate, one that does not exist for these data, or no labelled document.
    """
    if estimate not in ("map", "mean"):
        raise ValueError(f"estimate must be map or mean for expectation-maximisation; got {estimate!r}")
    if not (data.y >= 0).any():
        raise ValueError("no document is labelled, so the classes are interchangeable: label one of each class")
    X, evidence = validate.counts(data.X), label_evidence(data.y, data.n_classes, flip_rate)
    p = np.where(data.y[:, None] < 0, 0.0, np.exp(evidence))
    for step in range(1, max_iterations + 1):
        posterior = Posterior(prior, Statistics(p.sum(axis=0), p.T @ X))
        last, p = p, np.exp(normalise(posterior.log_joint(X, estimate) + evidence))
        if np.abs(p - last).max() <= tolerance:
            return Solution(posterior, p, step, True)
    return Solution(posterior, p, max_iterations, False)
