"""What alpha and prior mean under each estimate, and how prior, Beta and Dirichlet are read."""

import numpy as np
import pytest

from bayesnb.events import bernoulli, multinomial, priors
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet

THETA = ClassPrior(concentration=np.ones(2))


@pytest.mark.parametrize(
    ("estimate", "concentration"), [("map", 1.25), ("mean", 0.25), ("predictive", 0.25), ("mle", 1.0)]
)
@pytest.mark.parametrize("prior", [None, "laplace"])
def test_alpha_is_the_concentration_under_which_the_estimate_adds_alpha(prior, estimate, concentration):
    assert priors.concentration(prior, 0.25, estimate) == concentration


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
def test_a_given_prior_is_the_concentration_whatever_the_estimate_and_alpha(estimate):
    np.testing.assert_array_equal(priors.concentration([2.0, 3.0], 7.0, estimate), [2.0, 3.0])


def test_alpha_zero_is_the_mle_or_an_improper_prior():
    assert priors.laplace_concentration(0, "map") == 1
    for estimate in ("mean", "predictive"):
        with pytest.raises(ValueError, match="improper prior"):
            priors.laplace_concentration(0, estimate)


@pytest.mark.parametrize("alpha", [-1, np.nan, np.inf, "abc", [1, -1], [[1.0]], None])
def test_alpha_must_be_a_number_or_one_a_token(alpha):
    with pytest.raises(ValueError, match="alpha must be a number"):
        priors.laplace_concentration(alpha, "map")


def test_named_priors_below_one_are_refused_for_the_mode_at_once():
    assert priors.concentration("jeffreys", 1.0, "mean") == 0.5
    with pytest.raises(ValueError, match="use estimate='mean'"):
        priors.concentration("jeffreys", 1.0, "map")
    with pytest.raises(ValueError, match="named priors are laplace, uniform, jeffreys"):
        priors.concentration("jefreys", 1.0, "mean")


def test_each_event_model_takes_its_own_family_and_refuses_the_other():
    phi = multinomial.Prior.resolve(THETA, Dirichlet([1.0, 2.0, 3.0]), 1.0, "map", (2, 3)).phi
    np.testing.assert_array_equal(phi, [[1, 2, 3], [1, 2, 3]])
    beta = bernoulli.Prior.resolve(THETA, Beta(2.0, [1.0, 5.0, 9.0]), 1.0, "map", (2, 3)).phi
    np.testing.assert_array_equal(beta.a, np.full((2, 3), 2.0))
    np.testing.assert_array_equal(beta.b[1], [1, 5, 9])
    with pytest.raises(ValueError, match="Beta prior belongs to the Bernoulli"):
        multinomial.Prior.resolve(THETA, Beta(1, 1), 1.0, "map", (2, 3))
    with pytest.raises(ValueError, match="Dirichlet prior belongs to the multinomial"):
        bernoulli.Prior.resolve(THETA, Dirichlet([1.0, 1.0, 1.0]), 1.0, "map", (2, 3))


def test_a_prior_of_another_shape_is_refused_with_both_shapes():
    with pytest.raises(ValueError, match=r"\(4,\), which does not fit \(2, 3\)"):
        multinomial.Prior.resolve(THETA, np.ones(4), 1.0, "map", (2, 3))
    three = multinomial.Prior(ClassPrior(concentration=np.ones(3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="prior of theta"):
        multinomial.Posterior(three, multinomial.Statistics.zeros(2, 3))
    narrow = multinomial.Prior(THETA, np.ones((2, 1)))
    with pytest.raises(ValueError, match="prior of phi"):
        multinomial.Posterior(narrow, multinomial.Statistics.zeros(2, 3))


def test_an_improper_prior_is_refused_where_it_is_built():
    with pytest.raises(ValueError, match="above 0"):
        multinomial.Prior(THETA, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Beta"):
        bernoulli.Prior(THETA, np.ones((2, 3)))
