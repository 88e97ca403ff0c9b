"""The concentration that is learnt: against a grid, and against what generated the data."""

import numpy as np
import pytest
from bayesnb.models import hierarchical
from scipy import stats
from scipy.special import logsumexp

from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.sampling.convergence import effective_size
from tests.models import simulated


def grid(posterior):
    """Posterior weights on a fine grid of log a, from the closed-form evidence; a ~ Exponential of mean 1 before."""
    log_a = np.linspace(np.log(0.05), np.log(20), 2001)
    evidence = [
        Posterior(Prior(posterior.prior.theta, np.exp(t) * posterior.prior.phi), posterior.statistics).log_evidence()
        for t in log_a
    ]
    log_w = np.array(evidence) - np.exp(log_a) + log_a
    return log_a, np.exp(log_w - logsumexp(log_w))


def test_draws_agree_with_a_grid_on_log_a_and_recover_what_generated_the_data():
    """Mean and variance of log a, and the means of phi given the data, within 5 Monte Carlo errors of the grid."""
    tree, made = simulated.fit("hierarchical"), simulated.truth("hierarchical")
    simulated.converged(tree, ["a", "theta", "phi"])
    outside, allowed = simulated.recovered(tree, {"a": 1.0, "theta": made["theta"], "phi": made["phi"]})
    assert outside <= allowed
    posterior = Posterior(simulated.flat(), Statistics.from_documents(made["X"], made["y"], 2))
    log_a, w = grid(posterior)
    mean = w @ log_a
    drawn = np.log(tree["posterior"]["a"].values)
    for found, exact in ((drawn, mean), ((drawn - mean) ** 2, w @ (log_a - mean) ** 2)):
        error = found.std() / np.sqrt(effective_size(found[..., None])[0])
        assert abs(found.mean() - exact) < 5 * error
    n, total = posterior.statistics.feature_count, posterior.statistics.token_total
    a = np.exp(log_a)[:, None, None]
    exact = np.einsum("g,gkj->kj", w, (a + n) / (50 * a + total[:, None]))
    phi = tree["posterior"]["phi"].values
    error = phi.std(axis=(0, 1)) / np.sqrt(effective_size(phi.reshape(2, 500, -1))).reshape(n.shape)
    # 100 comparisons at a chance of 3e-7 in all, as in check_agreement
    assert (np.abs(phi.mean(axis=(0, 1)) - exact) / error).max() < stats.norm.isf(3e-7 / 100)


def test_phi_is_completed_with_the_exact_law():
    """Given a, phi has mean and variance of Dirichlet(a b + n), with b of mean 1 whatever the size of the prior."""
    rng = np.random.default_rng(0)
    prior = Prior(simulated.flat().theta, np.array([[2.0, 4.0, 6.0], [4.0, 4.0, 4.0]]))
    data = Statistics([1, 1], [[3, 0, 1], [0, 9, 2]])
    phi = hierarchical.complete({"a": np.full((2, 4000), 0.7)}, data, prior, rng)["phi"]
    exact = stats.dirichlet(0.7 * prior.phi[0] / 4 + data.feature_count[0])
    z = (phi[:, :, 0].mean(axis=(0, 1)) - exact.mean()) / np.sqrt(exact.var() / 8000)
    assert np.abs(z).max() < 5
    square = (phi[:, :, 0] - exact.mean()) ** 2
    assert np.abs((square.mean(axis=(0, 1)) - exact.var()) / (square.std(axis=(0, 1)) / 8000**0.5)).max() < 5


def test_no_token_is_refused():
    with pytest.raises(ValueError, match="no token"):
        hierarchical.build(Statistics([1], np.zeros((1, 0))), Prior(simulated.flat(k=1).theta, np.ones((1, 0))))
