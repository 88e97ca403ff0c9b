"""Bursts: recovery of their strength, the data it needs, and its limit."""

import numpy as np
import pytest
from bayesnb.models import bursty
from pymc.model.transform.conditioning import remove_value_transforms

from bayesnb.checks.keystone import log_coefficient
from bayesnb.events.multinomial import Posterior, Statistics
from bayesnb.sampling import Documents
from tests.models import simulated


def test_strength_and_phi_are_recovered():
    """s = 40 and phi lie within their intervals as often as they should."""
    tree, made = simulated.fit("bursty"), simulated.truth("bursty")
    simulated.converged(tree, ["theta", "phi", "s"])
    true = {"theta": made["theta"], "phi": made["phi"], "s": np.full(2, simulated.BURSTS)}
    outside, allowed = simulated.recovered(tree, true)
    assert outside <= allowed


def density(data, prior, point):
    model = remove_value_transforms(bursty.build(data, prior, "dirichlet"))
    return float(model.compile_logp(mode="FAST_COMPILE")(point))


def test_it_tends_to_the_multinomial_model_as_s_grows():
    """At s = 1e7 the density of labels, documents, theta and phi is the closed form's, as near as n^2/(2 s phi)."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (6, 4)), np.array([0, 1, 1, 0, 1, 0])
    prior = simulated.flat(2.0, 2, 4)
    point = {"theta": np.array([0.3, 0.7]), "phi": rng.dirichlet(np.full(4, 5.0), 2), "s": np.full(2, 1e7)}
    posterior = Posterior(prior, Statistics.from_documents(X, y, 2))
    exact = posterior.log_evidence() + float(posterior.theta.log_density(point["theta"]))
    exact += float(posterior.phi.log_density(point["phi"]).sum()) + float(log_coefficient(np.array([3, 3])))
    of_s = 2 * (-np.log(1e7) - 0.5 * np.log(2 * np.pi) - np.log(1e5) ** 2 / 2)
    # each document adds sum_j x_j^2/(2 s phi_j) at most: with x <= 2 and phi > 0.01, 6 documents, under 2e-4
    assert density(Documents(X, y, 2), prior, point) == pytest.approx(exact + of_s, abs=2e-4)


def test_order_of_documents_and_explicit_zeros_change_nothing():
    """Only how many documents of a class show a token how often enters."""
    from scipy import sparse

    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (6, 4)).astype(float), np.array([0, 1, 1, 0, 1, 0])
    prior, order = simulated.flat(2.0, 2, 4), rng.permutation(6)
    point = {"theta": np.array([0.3, 0.7]), "phi": rng.dirichlet(np.full(4, 5.0), 2), "s": np.array([3.0, 80.0])}
    zeros = sparse.csr_array((X.ravel(), (np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6))), shape=(6, 4))
    first = density(Documents(X, y, 2), prior, point)
    assert density(Documents(X[order], y[order], 2), prior, point) == pytest.approx(first, abs=1e-11)
    assert density(Documents(zeros, y, 2), prior, point) == pytest.approx(first, abs=1e-11)


def test_a_document_without_label_is_refused_by_row():
    with pytest.raises(ValueError, match="row 1 has no label"):
        bursty.build(Documents(np.ones((2, 2)), np.array([0, -1]), 1), simulated.flat(1, 1, 2))
