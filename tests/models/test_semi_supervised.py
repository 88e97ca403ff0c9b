"""Unlabelled documents: recovery, convergence at 50 tokens, the start, and what is refused."""

import numpy as np
import pymc as pm
import pytest
from bayesnb.models import multinomial, semi_supervised
from pymc.initial_point import make_initial_point_fn
from pymc.model.transform.conditioning import remove_value_transforms
from scipy import sparse

from bayesnb.em import expectation_maximization
from bayesnb.events.multinomial import Statistics
from bayesnb.sampling import Documents
from tests.models import simulated


def test_chains_converge_at_50_tokens_and_recover_what_generated_the_data():
    """20 labels among 200 documents; the truths lie within their intervals as often as they should."""
    tree, made = simulated.fit("semi_supervised"), simulated.truth("semi_supervised")
    simulated.converged(tree, ["theta", "phi"])
    outside, allowed = simulated.recovered(tree, {"theta": made["theta"], "phi": made["phi"]})
    assert outside <= allowed


def test_unlabelled_documents_sharpen_phi():
    """With 180 documents beside the 20 labelled ones, phi's standard deviations are below those of the labels alone.

    Documents nearly all of whose classes are plain are worth labelled ones, a factor of sqrt(10) less prior: half.
    """
    made = simulated.truth("semi_supervised")
    alone = simulated.flat().phi + np.array([made["X"][:20][made["y"][:20] == k].sum(axis=0) for k in range(2)])
    total = alone.sum(axis=1, keepdims=True)
    sd = np.sqrt(alone * (total - alone) / total**2 / (total + 1))
    drawn = simulated.fit("semi_supervised")["posterior"]["phi"].values.std(axis=(0, 1))
    assert np.median(drawn / sd) < 0.6


@pytest.mark.parametrize("form", ["gamma", "dirichlet"])
def test_chains_start_at_the_solution_of_expectation_maximisation(form):
    """Theta and phi of the start are a thousandth beside those that EM in softmax coordinates ends at."""
    data, prior = simulated.documents("semi_supervised"), simulated.flat(1.5)
    point = semi_supervised.start(data, prior, form)
    end = expectation_maximization(data, prior, estimate="mean").posterior
    phi = point["phi"] if form == "dirichlet" else point["g"] / point["g"].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(phi, end.phi_hat("mean"), rtol=1.01e-3)
    np.testing.assert_allclose(point["theta"], end.theta_hat("mean"), rtol=1.01e-3)
    # a mode in those coordinates: every small step from it is downhill
    model = semi_supervised.build(data, prior, "dirichlet")
    logp = model.compile_logp(mode="FAST_COMPILE")
    names = {v.name: model.rvs_to_transforms[rv] for rv, v in model.rvs_to_values.items()}
    at = {"theta": end.theta_hat("mean"), "phi": end.phi_hat("mean")}
    top = {f"{n}_simplex__": names[f"{n}_simplex__"].forward(pm.math.constant(at[n])).eval() for n in at}
    rng, best = np.random.default_rng(0), float(logp(top))
    for _ in range(5):
        # its second-order loss is some 1e-4; a first-order gain would be as large as that at a slope of 0.01
        moved = {n: x + 1e-3 * rng.standard_normal(np.shape(x)) for n, x in top.items()}
        assert float(logp(moved)) < best


@pytest.mark.parametrize("form", ["gamma", "dirichlet"])
@pytest.mark.parametrize("y", [[0, 1, 0, 1], [0, 1, -1, -1]])
def test_no_coordinate_is_level_where_chains_start(form, y):
    """The gradient is finite and nowhere exactly 0, which nutpie refuses; with every document labelled it would be."""
    X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.0, 2.0, 1.0]])
    data, prior = Documents(sparse.csr_array(X), np.array(y), 2), simulated.flat(2.0, 2, 3)
    model = semi_supervised.build(data, prior, form)
    start = semi_supervised.start(data, prior, form)
    point = make_initial_point_fn(model=model, overrides=start, jitter_rvs=set(), return_transformed=True)(0)
    slope = model.compile_dlogp(mode="FAST_COMPILE")(point)
    assert np.isfinite(slope).all()
    assert (slope != 0).all()


def test_with_every_document_labelled_it_is_the_closed_form():
    """Nothing is left to sum out: the density is that of the multinomial model."""
    made = simulated.truth("semi_supervised")
    X, y = made["X"][:6, :4], np.array([0, 1, 0, 1, 1, 0])
    prior = simulated.flat(1.5, 2, 4)
    data, totals = Documents(sparse.csr_array(X), y, 2), Statistics.from_documents(X, y, 2)
    models = semi_supervised.build(data, prior, "dirichlet"), multinomial.build(totals, prior, "dirichlet")
    point = {"theta": np.array([0.3, 0.7]), "phi": np.random.default_rng(1).dirichlet(np.ones(4), 2)}
    one, two = (float(remove_value_transforms(m).compile_logp(mode="FAST_COMPILE")(point)) for m in models)
    assert one == pytest.approx(two, abs=1e-11)


def test_what_cannot_be_sampled_is_refused():
    """No label, one token, a fractional count, and in the gamma form a small concentration without counts."""
    X, y = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([0, -1])
    with pytest.raises(ValueError, match="no document is labelled"):
        semi_supervised.build(Documents(X, np.array([-1, -1]), 1), simulated.flat(1, 1, 2))
    with pytest.raises(ValueError, match="at least two"):
        semi_supervised.build(Documents(X[:, :1], y, 1), simulated.flat(1, 1, 1))
    with pytest.raises(ValueError, match=r"X is 0\.5 in row 1, column 1: only whole counts"):
        semi_supervised.build(Documents(np.array([[1.0, 2.0], [0.0, 0.5]]), y, 1), simulated.flat(1, 1, 2))
    with pytest.raises(ValueError, match=r"token 0 in class 1 is 0.1: below 0.2"):
        semi_supervised.build(Documents(X, np.array([0, -1]), 2), simulated.flat(0.1, 2, 2))
    semi_supervised.build(Documents(X, np.array([0, -1]), 2), simulated.flat(0.1, 2, 2), "dirichlet")
