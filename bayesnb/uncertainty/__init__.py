"""What a document's class probability could be: its law over the posterior of the parameters.

Everything here is about P(y = k | x, theta, phi) as theta and phi vary over p(theta, phi | D), with mu and sigma2 for
phi where documents are measurements: how well the class probability is known. It is not the chance of being right,
which is ``estimate="predictive"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb import validate
from bayesnb.events.base import Posterior
from bayesnb.uncertainty.classlaw import ClassLaw, read
from bayesnb.uncertainty.cumulants import theta_cumulant
from bayesnb.uncertainty.explanation import explain

__all__ = ["class_probability_interval", "explain", "log_odds_cumulants", "probability_largest"]


def log_odds_cumulants(posterior: Posterior, X: Any, a: int, b: int, orders: int = 4, power: float = 1.0) -> np.ndarray:
    """Cumulants of each document's log-odds between two classes, over the posterior of theta and phi.

    Parameters
    ----------
    posterior : Posterior
        Of any event model; a Gaussian one needs a prior of mu and sigma2.
    X : array_like or scipy.sparse, shape (n, V)
        Counts, 0/1 over the cells of the categorical model, or measurements, where NaN is a missing cell.
    a, b : int
        Positions of the classes; the log-odds are log P(a | x) - log P(b | x).
    orders : int
        How many cumulants, from the mean on.
    power : float
        Exponent of the likelihood.

    Returns
    -------
    ndarray, shape (n, orders)
        Mean, variance, third cumulant and so on, in nats to that power. The mean is infinite where the known
        probability of one class is 0.

    Raises
    ------
    ValueError
        X does not fit the model, its parameters have no posterior, or the known probability of both classes is 0.

    Notes
    -----
    log phi of a Dirichlet is a log-gamma variate less the logarithm of the gamma total, so that cumulant m >= 2 is,
    for the multinomial model with n = sum_j x_j,

        psi_m(t_a) + (-1)^m psi_m(t_b) + sum_j x_j^m [psi_m(c_aj) + (-1)^m psi_m(c_bj)]
        - n^m [psi_m(C_a) + (-1)^m psi_m(C_b)]

    with psi_m the polygamma function of order m - 1, t and c the posterior concentrations and C the row sums; m = 1
    subtracts b from a. The Bernoulli and categorical models have psi_m(chosen) - psi_m(all) per column. The log density
    of a measurement has those of `bayesnb.uncertainty.normalsum`; with d = x - m the mean is
    (psi(alpha) - log(2 pi beta) - alpha d^2/beta - 1/kappa)/2 and the variance
    psi1(alpha)/4 + alpha d^2/(kappa beta) + 1/(2 kappa^2) + alpha d^4/(4 beta^2) - d^2/(2 beta). A known
    theta adds log theta_a - log theta_b to the mean and nothing else; the power multiplies the rest by power^m.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import uncertainty
    >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
    >>> uncertainty.log_odds_cumulants(posterior, [[0, 0, 1]], 1, 0, orders=2).round(3).tolist()  # mean and variance
    [[0.972, 1.933]]
    """
    if orders < 1:
        raise ValueError(f"orders must be at least 1, got {orders!r}")
    if np.isneginf(theta_cumulant(posterior, 1)[[a, b]]).all():
        raise ValueError(f"classes {a} and {b} both have known probability 0: their log-odds do not exist")
    return read(posterior, X, power).difference_cumulants(a, b, orders)


def class_probability_interval(posterior: Posterior, X: Any, level: float = 0.95, power: float = 1.0) -> np.ndarray:
    """Equal-tailed credible interval of P(y = k | x, theta, phi) over p(theta, phi | D).

    It says how well the class probability is known, given what was learnt; it is **not** the chance of being
    right, which is ``estimate="predictive"``. Intervals of several classes are each for itself.

    Parameters
    ----------
    posterior : Posterior
        Of any event model; a Gaussian one needs a prior of mu and sigma2.
    X : array_like or scipy.sparse, shape (n, V)
        Counts, 0/1 over the cells of the categorical model, or measurements, where NaN is a missing cell.
    level : float
        Posterior probability inside the interval, between 0 and 1.
    power : float
        Exponent of the likelihood.

    Returns
    -------
    ndarray, shape (n, K, 2)
        Lower and upper end for each document and class. Small values keep their full relative precision: ends are
        the logistic function of signed log-odds, never 1 minus something.

    Raises
    ------
    ValueError
        The level is not between 0 and 1, X does not fit the model, or its parameters have no posterior.

    Notes
    -----
    Two classes: quantiles of the log-odds from four cumulants (Cornish-Fisher), where the probability beyond them
    is right to 3 % of itself and to 0.001, and otherwise by inverting the exact transform, right to 1e-6 (0.001 for a
    single measurement under a known theta, where kappa is near 0: its law has a sharp end).

    More classes: where two of them hold all of the probability, as for two. Elsewhere from a fixed lattice of
    8,191 posterior points (32,749 where the tails are below 1.2 %): the posterior probability beyond an end is right
    to 0.002 at level 0.95.

    References
    ----------
    Cornish and Fisher, Moments and cumulants in the specification of distributions, 1938. Sloan and Joe, Lattice
    Methods for Multiple Integration, Oxford 1994, chapters 4 and 5.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import uncertainty
    >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
    >>> uncertainty.class_probability_interval(posterior, [[0, 0, 1]], level=0.8).round(2).tolist()
    [[[0.06, 0.68], [0.32, 0.94]]]
    """
    level = validate.level(level)
    return ClassLaw(read(posterior, X, power)).interval(level)


def probability_largest(posterior: Posterior, X: Any, power: float = 1.0) -> np.ndarray:
    """Posterior probability that each class has the largest class probability, shape (n, K).

    A class that is most probable under nearly all parameters that the data allow can be named with confidence in the
    name, whatever its probability. A tie that holds for certain counts for the first class.

    Parameters
    ----------
    posterior : Posterior
        Of any event model; a Gaussian one needs a prior of mu and sigma2.
    X : array_like or scipy.sparse, shape (n, V)
        Counts, 0/1 over the cells of the categorical model, or measurements, where NaN is a missing cell.
    power : float
        Exponent of the likelihood.

    Returns
    -------
    ndarray, shape (n, K)
        Rows sum to 1. With two classes right to 0.001; with more from 8,191 lattice points, right to about 0.002.

    Raises
    ------
    ValueError
        X does not fit the model, or its parameters have no posterior.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import uncertainty
    >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
    >>> uncertainty.probability_largest(posterior, [[0, 0, 1], [0, 1, 0]]).round(2).tolist()
    [[0.24, 0.76], [0.53, 0.47]]
    """
    return ClassLaw(read(posterior, X, power)).largest()
