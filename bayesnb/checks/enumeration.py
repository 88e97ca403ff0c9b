"""The models beyond conjugacy once more, in plain NumPy and another way: by enumeration and by quadrature.

Each function gives the log joint density of a small case at a point, to be compared with what the model file says.
Unseen classes are summed out by going through every assignment of classes to documents, each of which has a closed
form; a document's own token probabilities are integrated out by Gauss-Jacobi quadrature, exact for polynomials.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp, roots_jacobi

from bayesnb.checks.keystone import log_coefficient
from bayesnb.em import label_evidence
from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta
from bayesnb.sampling.modelfiles import Documents

__all__ = ["CASES", "Case"]

Point = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Case:
    """A small case of one model file and its reference density.

    Parameters
    ----------
    compared : str
        What the reference is, in words.
    y : tuple of int
        Labels of the documents, -1 for none.
    documents : bool
        Whether the file takes documents; else totals.
    """

    compared: str
    y: tuple[int, ...]
    documents: bool = True

    def data(self, rng: np.random.Generator) -> tuple[Any, Prior]:
        """Random documents of up to a dozen of four tokens, and a prior with another number in every cell."""
        k = max(self.y) + 1
        X = sparse.csr_array(rng.integers(0, 4, (len(self.y), 4)).astype(float))
        prior = Prior(ClassPrior(concentration=rng.uniform(0.5, 4, k)), rng.uniform(0.3, 5, (k, 4)))
        y = np.array(self.y)
        return Documents(X, y, k) if self.documents else Statistics.from_documents(X, y, k), prior


CASES = {
    "semi_supervised": Case("every assignment of classes, each in closed form", (0, 1, 2, -1, -1, -1)),
    "noisy_labels": Case("every assignment of classes, each in closed form", (0, 1, 2, 1, -1)),
    "bursty": Case("quadrature over each document's token probabilities", (0, 1, 1, 2, 0, 2)),
    "hierarchical": Case("closed form at each point of a grid on log a", (0, 1, 1, 2, 0), documents=False),
}


def random_point(name: str, data: Any, names: list[str], step: float, rng: np.random.Generator) -> Point:
    """A point anywhere in the support; `step`, from 0 to 1, goes through a grid where the model is compared on one."""
    k, v = data.n_classes, data.n_tokens
    draw: dict[str, Callable[[], Any]] = {
        "theta": lambda: rng.dirichlet(np.ones(k)),
        "phi": lambda: rng.dirichlet(np.ones(v), k),
        "g": lambda: rng.gamma(2, 2, (k, v)),
        "u": lambda: rng.uniform(0.05, 0.95),
        "s": lambda: rng.lognormal(2, 1, k),
        "a": lambda: 10.0 ** (4 * step - 2),
    }
    return {parameter: np.asarray(draw[parameter]()) for parameter in names}


def log_density(name: str, data: Any, prior: Prior, point: Point, weight: np.ndarray | None) -> float:
    """Log joint density of parameters and data at a point, likelihood coefficients as the file writes them.

    Parameters
    ----------
    name : str
        Of the model.
    data : Documents or Statistics
    prior : Prior
    point : dict
        With g in place of phi in the gamma form.
    weight : ndarray, shape (K,), optional
        w of the gamma form (`bayesnb.models._parts.token_probabilities`).
    """
    point, extra = dict(point), 0.0
    if "g" in point:
        extra = _law_of_scale(point["g"], prior, np.asarray(weight))
        point["phi"] = point["g"] / point["g"].sum(axis=1, keepdims=True)
    return extra + _REFERENCE[name](data, prior, point)


def _law_of_scale(g: np.ndarray, prior: Prior, weight: np.ndarray) -> float:
    """Log density of g less that of phi = g/s: s ~ Gamma(A + w, 1 + w/A), and the Jacobian s^-(V-1)."""
    s, total = g.sum(axis=1), prior.phi.sum(axis=1)
    shape, rate = total + weight, 1 + weight / total
    law = shape * np.log(rate) + (shape - 1) * np.log(s) - rate * s - gammaln(shape)
    return float((law - (g.shape[1] - 1) * np.log(s)).sum())


def _over_assignments(data: Documents, prior: Prior, point: Point, log_chance: np.ndarray) -> float:
    """Sum over all class assignments of their chance, evidence and closed-form posterior density."""
    terms = []
    for y in itertools.product(range(data.n_classes), repeat=len(data.y)):
        chance = log_chance[np.arange(len(y)), y].sum()
        if np.isfinite(chance):
            posterior = Posterior(prior, Statistics.from_documents(data.X, np.array(y), data.n_classes))
            density = posterior.theta.log_density(point["theta"]) + posterior.phi.log_density(point["phi"]).sum()  # type: ignore[union-attr]
            terms.append(chance + posterior.log_evidence() + density)
    return float(logsumexp(terms))


def _semi_supervised(data: Documents, prior: Prior, point: Point) -> float:
    labelled = data.y >= 0
    seen = Statistics.from_documents(data.X[labelled], data.y[labelled], data.n_classes)
    constant = log_coefficient(seen.class_count) + log_coefficient(seen.feature_count).sum()
    return float(constant) + _over_assignments(data, prior, point, label_evidence(data.y, data.n_classes))


def _noisy_labels(data: Documents, prior: Prior, point: Point) -> float:
    e = (data.n_classes - 1) / data.n_classes * float(point["u"])
    flips = float(Beta(1.0, 4.0).log_density(point["u"]))  # type: ignore[arg-type]
    return flips + _over_assignments(data, prior, point, label_evidence(data.y, data.n_classes, e))


def _bursty(data: Documents, prior: Prior, point: Point) -> float:
    s = point["s"]
    spread = -np.log(s) - 0.5 * np.log(2 * np.pi) - np.log(s / 100) ** 2 / 2  # of LogNormal(log 100, 1)
    seen = Statistics.from_documents(data.X, data.y, data.n_classes)
    none = replace(seen, feature_count=np.zeros_like(seen.feature_count))
    labels = Posterior(prior, none)  # with the labels only: its density of phi is the prior's
    density = labels.theta.log_density(point["theta"]) + labels.phi.log_density(point["phi"]).sum()  # type: ignore[union-attr]
    total = spread.sum() + density + labels.log_evidence() + log_coefficient(seen.class_count)
    for x, k in zip(data.X.toarray(), data.y, strict=True):
        total += _log_mean_product(s[k] * point["phi"][k], x)
    return float(total)


def _log_mean_product(c: np.ndarray, x: np.ndarray) -> float:
    """Log E[prod_j p_j^x_j], p ~ Dirichlet(c): stick by stick, v_j ~ Beta(c_j, c_j+1 + ..), independent."""
    total = 0.0
    for j in range(len(c) - 1):
        node, weight = roots_jacobi(int(x.sum()) // 2 + 2, c[j + 1 :].sum() - 1, c[j] - 1)
        v = (1 + node) / 2
        total += np.log(weight @ (v ** x[j] * (1 - v) ** x[j + 1 :].sum()) / weight.sum())
    return total


def _hierarchical(data: Statistics, prior: Prior, point: Point) -> float:
    a, mean = float(point["a"]), prior.phi.mean()
    at = Posterior(replace(prior, phi=prior.phi * (a / mean)), data)
    density = at.theta.log_density(point["theta"])  # type: ignore[union-attr]
    return float(-np.log(mean) - a / mean + at.log_evidence() + density + log_coefficient(data.class_count))


_REFERENCE: dict[str, Callable[..., float]] = {
    "semi_supervised": _semi_supervised,
    "noisy_labels": _noisy_labels,
    "bursty": _bursty,
    "hierarchical": _hierarchical,
}
