"""Bursts: recovery of their strength, the data it needs, and its limit."""

import numpy as np
import pytest
from bayesnb.models import bursty
from pymc.initial_point import make_initial_point_fn
from pymc.model.transform.conditioning import remove_value_transforms

from bayesnb.checks.documents import sample_documents
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


def test_documents_of_the_model_repeat_tokens_as_the_data_do_and_multinomial_ones_do_not():
    """The share of repeated tokens: within the middle 99.9 % of replicates of this model, beyond all of the other's.

    With s = 40 the second of two equal tokens is (1 + 40 p)/(41 p) times as likely: some 20 % more repeats among 30.
    """
    made = simulated.truth("bursty")
    X, y = made["X"], made["z"]
    posterior = Posterior(simulated.flat(), Statistics.from_documents(X, y, 2))
    shares = {}
    for name, tree in (("bursty", simulated.fit("bursty")), ("multinomial", None)):
        found = sample_documents(posterior, X, y, tree)
        drawn = found["posterior_predictive"]["statistic"].mean("document").values
        shares[name] = (drawn >= found["observed_data"]["statistic"].mean().item()).mean()
    assert 5e-4 < shares["bursty"] < 1 - 5e-4
    assert shares["multinomial"] == 0


def test_empty_documents_say_nothing_and_break_nothing():
    """An empty document changes the density by its label alone; where all are empty, the prior of phi stays."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (6, 4)).astype(float), np.array([0, 1, 1, 0, 1, 0])
    X[5] = 0
    prior = simulated.flat(2.0, 2, 4)
    point = {"theta": np.array([0.3, 0.7]), "phi": rng.dirichlet(np.ones(4), 2), "s": np.array([3.0, 80.0])}
    whole = density(Documents(X, y, 2), prior, point)
    without = density(Documents(X[:5], y[:5], 2), prior, point)
    label = log_coefficient(np.array([3, 3])) - log_coefficient(np.array([2, 3])) + np.log(0.3)
    assert whole == pytest.approx(without + label, abs=1e-10)
    none = Documents(0 * X, y, 2)
    elsewhere = point | {"phi": rng.dirichlet(np.ones(4), 2)}
    prior_ratio = np.log(elsewhere["phi"]).sum() - np.log(point["phi"]).sum()  # Dirichlet(2)
    ratio = density(none, prior, elsewhere) - density(none, prior, point)
    assert ratio == pytest.approx(prior_ratio, abs=1e-10)


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


@pytest.mark.parametrize("form", ["gamma", "dirichlet"])
@pytest.mark.parametrize("v", [3, 4, 5])
def test_no_coordinate_is_level_where_chains_start(form, v):
    """Also where documents, or a class of them, say nothing: nutpie refuses a gradient of exactly 0."""
    data, prior = Documents(np.zeros((3, v)), np.array([0, 1, 1]), 3), simulated.flat(2.0, 3, v)
    model = bursty.build(data, prior, form)
    start = bursty.start(data, prior, form)
    point = make_initial_point_fn(model=model, overrides=start, jitter_rvs=set(), return_transformed=True)(0)
    slope = model.compile_dlogp(vars=[model["phi" if form == "dirichlet" else "g"], model["s"]], mode="FAST_COMPILE")
    assert (slope(point) != 0).all()
