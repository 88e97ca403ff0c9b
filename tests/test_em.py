"""Expectation-maximisation: the closed form where all is known, ascent where it is not."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesnb.em import expectation_maximization, label_evidence
from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.sampling import Documents

rng = np.random.default_rng(4)
X = rng.multinomial(12, rng.dirichlet(np.ones(6), 3)[rng.integers(0, 3, 40)]).astype(float)
PRIOR = Prior(ClassPrior(concentration=np.array([2.0, 1.5, 3.0])), np.random.default_rng(5).uniform(1.2, 3, (3, 6)))
Y = np.concatenate([[0, 1, 2, 0, 1, 2], np.full(34, -1)])


def log_density(posterior, flip_rate, estimate):
    """Log posterior of (theta, phi), or for "mean" of their logarithms, up to a constant; classes summed out."""
    theta, log_phi = posterior.theta_hat(estimate), posterior.log_phi(estimate)
    a = np.log(theta) + X @ log_phi.T + label_evidence(Y, 3, flip_rate)
    less = 1 if estimate == "map" else 0
    prior = (PRIOR.theta.concentration - less) @ np.log(theta) + ((PRIOR.phi - less) * log_phi).sum()
    return logsumexp(a, axis=1).sum() + prior


@pytest.mark.parametrize("estimate", ["map", "mean"])
@pytest.mark.parametrize("flip_rate", [0.0, 0.2])
def test_every_step_climbs_the_density_and_the_end_does_not_move(estimate, flip_rate):
    """The density that the estimate maximises never falls, and the solution reproduces itself."""
    data = Documents(X, Y, 3)
    ends = [
        expectation_maximization(data, PRIOR, flip_rate, estimate, max_iterations=steps).posterior
        for steps in range(1, 12)
    ]
    heights = [log_density(end, flip_rate, estimate) for end in ends]
    assert np.diff(heights).min() > -1e-9
    assert heights[-1] > heights[0] + 1
    done = expectation_maximization(data, PRIOR, flip_rate, estimate)
    assert done.converged
    again = Posterior(PRIOR, Statistics(done.probabilities.sum(0), done.probabilities.T @ X))
    np.testing.assert_allclose(again.phi_hat(estimate), done.posterior.phi_hat(estimate), rtol=1e-6)


def test_with_every_label_known_it_is_the_closed_form():
    """Certain labels stay as they are: one step more, and the totals are the labelled ones."""
    y = np.arange(40) % 3
    end = expectation_maximization(Documents(X, y, 3), PRIOR)
    assert end.iterations == 1
    exact = Statistics.from_documents(X, y, 3)
    np.testing.assert_array_equal(end.posterior.statistics.feature_count, exact.feature_count)


def test_label_evidence_is_a_law_of_labels():
    """For every true class the chances of the K labels sum to 1; no label says nothing."""
    chances = np.exp(label_evidence(np.arange(4), 4, 0.3))
    np.testing.assert_allclose(chances.sum(axis=0), 1)
    assert chances[2, 2] == pytest.approx(0.7)
    assert (label_evidence(np.array([-1]), 4, 0.3) == 0).all()


@pytest.mark.parametrize("rate", [-0.1, 0.5, np.nan])
def test_bad_arguments_are_refused(rate):
    """A flip rate from (K-1)/K on, another estimate, and no label at all."""
    with pytest.raises(ValueError, match="flip_rate must lie in"):
        label_evidence(np.array([0]), 2, rate)
    with pytest.raises(ValueError, match="estimate must be map or mean"):
        expectation_maximization(Documents(X, Y, 3), PRIOR, estimate="mle")
    with pytest.raises(ValueError, match="no document is labelled"):
        expectation_maximization(Documents(X, np.full(40, -1), 3), PRIOR)
