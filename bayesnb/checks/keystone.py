"""Conjugate model files against their closed forms: the joint density is the posterior density times one known number.

With PyMC's value transforms removed, log p(parameters, data) - log p(parameters | data) is the log evidence plus the
coefficients of the likelihood as it is written, at every point. That takes evaluations only, no sampling, and no error
in a prior, a likelihood or an update can hide from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from bayesnb import events
from bayesnb.events.base import Posterior
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, NormalInverseGamma

__all__ = ["coefficients", "log_coefficient", "log_posterior", "random_case", "random_point"]

CLASSES, BLOCKS = 3, np.array([0, 0, 1, 1, 1])
"""Size of the random cases, and the columns of the categorical ones."""


def random_case(event: str, rng: np.random.Generator) -> Posterior:
    """A small posterior with a different concentration in every cell, from 0.3 to 5, and an empty class or token."""
    module, shape = events.find(event), (CLASSES, len(BLOCKS))
    theta = ClassPrior(concentration=rng.uniform(0.3, 5, CLASSES))
    a, b = rng.uniform(0.3, 5, (2, *shape))
    n = np.array([0, *rng.integers(4, 30, CLASSES - 1)])
    if event == "multinomial":
        counts = rng.integers(0, 20, shape) * (n > 0)[:, None] * (np.arange(shape[1]) > 0)
        return module.Posterior(module.Prior(theta, a), module.Statistics(n, counts))
    if event == "bernoulli":
        counts = rng.integers(0, n[:, None] + 1, shape)
        return module.Posterior(module.Prior(theta, Beta(a, b)), module.Statistics(n, counts))
    if event == "categorical":
        counts = np.concatenate([rng.multinomial(n, np.ones(size) / size) for size in np.bincount(BLOCKS)], axis=1)
        return module.Posterior(module.Prior(theta, a, BLOCKS), module.Statistics(n, counts, BLOCKS))
    y = np.repeat(np.arange(CLASSES), n)
    totals = module.Statistics.from_documents(rng.normal(2, 3, (len(y), shape[1])), y, CLASSES)
    normal = NormalInverseGamma(rng.normal(size=shape), a, b, rng.uniform(0.3, 5, shape))
    return module.Posterior(module.Prior(theta, normal), totals)


def blocks_of(posterior: Any) -> np.ndarray:
    """Which cells sum to one together: the column of each, and 0 for all where the model has no columns."""
    return getattr(posterior.statistics, "block", np.zeros(posterior.prior.shape[1], int))


def random_point(posterior: Any, names: list[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A point anywhere in the support of the named parameters.

    Raises
    ------
    ValueError
        A name that no closed form here has.
    """
    shape, block, point = posterior.prior.shape, blocks_of(posterior), {}
    for name in names:
        column = name.removeprefix("phi_")
        if name == "theta":
            point[name] = rng.dirichlet(np.ones(shape[0]))
        elif name == "phi" and posterior.event == "bernoulli":
            point[name] = rng.uniform(0.01, 0.99, shape)
        elif name == "phi":
            point[name] = _simplexes(block, shape[0], rng)
        elif column.isdigit() and (block == int(column)).any():
            point[name] = rng.dirichlet(np.ones((block == int(column)).sum()), shape[0])
        elif name in ("g", "sigma2"):
            point[name] = rng.gamma(2, 3, shape)
        elif name == "mu":
            point[name] = rng.normal(0, 3, shape)
        else:
            raise ValueError(
                f"parameter {name!r} is not one of a closed form (theta, phi, phi_0.., g, mu, sigma2), so there is "
                "nothing to verify it against"
            )
    return point


def _simplexes(block: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    g = rng.exponential(size=(rows, len(block)))
    return g / (g @ _member(block))[:, block]


def _member(block: np.ndarray) -> np.ndarray:
    return (block[:, None] == np.arange(block.max(initial=0) + 1)).astype(float)


def log_posterior(posterior: Any, point: dict[str, np.ndarray]) -> Any:
    """Closed-form log posterior density at a point of `random_point`, or at many, along leading axes: shape (...)."""
    lead = next(values.ndim - (1 if name == "theta" else 2) for name, values in point.items())

    def total(density: np.ndarray) -> np.ndarray:
        return np.sum(density, axis=tuple(range(lead, np.ndim(density))))

    density = posterior.theta.log_density(point["theta"]) if "theta" in point else 0.0
    if "sigma2" in point:
        return density + total(posterior.normal.log_density(point["mu"], point["sigma2"]))
    if "g" in point:
        shape, rate = posterior.prior.phi + posterior.statistics.feature_count, 1 + _scale(posterior)
        g = point["g"]
        return density + total(xlogy(shape - 1, g) - rate * g + xlogy(shape, rate) - gammaln(shape))
    return density + total(posterior.phi.log_density(_assembled(posterior, point)))


def _assembled(posterior: Any, point: dict[str, np.ndarray]) -> np.ndarray:
    """The (K, V) array phi from the point, which may hold it column by column."""
    if "phi" in point:
        return point["phi"]
    block, phi = blocks_of(posterior), np.empty(posterior.prior.shape)
    for j in np.unique(block):
        phi[:, block == j] = point[f"phi_{j}"]
    return phi


def _column_totals(posterior: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts and concentrations summed over each simplex, both (K, J)."""
    member = _member(blocks_of(posterior))
    return posterior.statistics.feature_count @ member, posterior.prior.phi @ member


def _scale(posterior: Any) -> np.ndarray:
    """The gamma form's constant c, N/A of each simplex and 1 where N = 0, laid out over the cells (K, V)."""
    total, strength = _column_totals(posterior)
    return np.where(total == 0, 1.0, total / strength)[:, blocks_of(posterior)]


def log_coefficient(n: np.ndarray) -> np.ndarray:
    """Log of the multinomial coefficient of counts, over the last axis."""
    return gammaln(n.sum(-1) + 1) - gammaln(n + 1).sum(-1)


def coefficients(posterior: Any, form: str) -> float:
    """What the likelihood, written over totals, adds to the log evidence of the documents."""
    n = posterior.statistics
    constant = float(log_coefficient(n.class_count))
    if posterior.event == "gaussian":
        return constant
    if posterior.event == "bernoulli":
        pairs = np.stack([n.feature_count, n.class_count[:, None] - n.feature_count], axis=-1)
        return constant + float(log_coefficient(pairs).sum())
    block = blocks_of(posterior)
    constant += sum(float(log_coefficient(n.feature_count[:, block == j]).sum()) for j in np.unique(block))
    if form != "gamma":
        return constant
    total, a = _column_totals(posterior)
    c = np.where(total == 0, 1.0, total / a)
    law = gammaln(total + a) - gammaln(a) - gammaln(total + 1) - a * np.log1p(c) + xlogy(total, c / (1 + c))
    return constant + float(law.sum())
