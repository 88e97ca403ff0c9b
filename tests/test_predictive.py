"""Predictive checks: moments of replicated totals against their exact values, and what goes in and out."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayesnb
from bayesnb.checks.predictive import sample_posterior_predictive, sample_prior_predictive
from bayesnb.events import bernoulli, categorical, gaussian, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, NormalInverseGamma
from bayesnb.sampling import to_tree
from tests.fits import presence, toy

THETA = ClassPrior(concentration=np.array([2.0, 3.0]))
A = np.array([[0.8, 2.0, 1.0, 3.0, 0.5], [1.0, 1.0, 4.0, 0.7, 2.0]])
COUNTS = np.array([[3, 0, 2, 1, 1], [4, 2, 0, 5, 1]])
BLOCK = np.array([0, 0, 1, 1, 1])


def case(event):
    if event == "multinomial":
        return multinomial.Posterior(multinomial.Prior(THETA, A), multinomial.Statistics([3, 6], COUNTS))
    if event == "bernoulli":
        return bernoulli.Posterior(bernoulli.Prior(THETA, Beta(A, A[::-1])), bernoulli.Statistics([3, 6], COUNTS))
    if event == "categorical":
        counts = [[3, 0, 2, 0, 1], [4, 2, 0, 5, 1]]
        totals = categorical.Statistics([3, 6], counts, BLOCK)
        return categorical.Posterior(categorical.Prior(THETA, A, BLOCK), totals)
    rng = np.random.default_rng(0)
    totals = gaussian.Statistics.from_documents(rng.normal(1, 2, (9, 5)), np.array([0] * 3 + [1] * 6), 2)
    return gaussian.Posterior(gaussian.Prior(THETA, NormalInverseGamma(A - 1, A, 5 + A, A)), totals)


def beta_binomial(n, a, b):
    """Mean and variance, vectorised."""
    law = stats.betabinom(n, a, b)
    return law.mean(), law.var()


def exact_moments(posterior, after):
    """Mean and variance of each replicated total, under the prior or after the data."""
    n = posterior.statistics
    c = THETA.concentration + after * n.class_count
    moments = {"n_class": beta_binomial(int(n.class_count.sum()), c, c.sum() - c)}
    if posterior.event == "gaussian":
        law = posterior.normal if after else posterior.prior.normal
        sigma2 = law.sigma2()
        s, s2 = sigma2.mean(), sigma2.variance() + sigma2.mean() ** 2
        moments["mean"] = law.m0, s * (1 / n.n + 1 / law.kappa0)
        d = n.n - 1
        moments["M2"] = d * s, (2 * d + d**2) * s2 - (d * s) ** 2
        return moments
    if posterior.event == "bernoulli":
        a, b = posterior.prior.phi.a, posterior.prior.phi.b
        hits, total = after * n.feature_count, n.class_count[:, None]
        moments["n_token"] = beta_binomial(total, a + hits, b + after * total - hits)
        return moments
    block = BLOCK if posterior.event == "categorical" else np.zeros(5, int)
    member = block[:, None] == block
    a = A + after * n.feature_count
    moments["n_token"] = beta_binomial(n.feature_count @ member, a, a @ member - a)
    return moments


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "categorical", "gaussian"])
def test_replicated_totals_have_the_exact_moments(event, after):
    """Mean and variance of every total, as compound laws have them, within 5.5 standard errors.

    Some 30 comparisons a case, 8 cases: 5.5 is exceeded with a chance below 1e-5 in all.
    """
    posterior = case(event)
    if after:
        tree = sample_posterior_predictive(posterior, draws=5000, chains=4, seed=1)["posterior_predictive"]
    else:
        tree = sample_prior_predictive(posterior, draws=5000, chains=4, seed=1)["prior_predictive"]
    for name, (mean, variance) in exact_moments(posterior, after).items():
        x = tree[name].values.reshape(20_000, *np.shape(mean))
        certain = variance == 0
        assert (x[:, certain] == mean[certain]).all()
        z = (x.mean(axis=0) - mean)[~certain] / np.sqrt(variance[~certain] / 20_000)
        assert np.abs(z).max() < 5.5, name
        square = (x - mean)[:, ~certain] ** 2
        z = (square.mean(axis=0) - variance[~certain]) / (square.std(axis=0) / np.sqrt(20_000))
        # heavy tails of M2 have a fourth moment at alpha = 5 and more, not many beyond: the error itself is rough
        assert np.abs(z).max() < (7 if name == "M2" else 5.5), name


def test_totals_of_the_same_draw_belong_together():
    """Each replicate has the observed numbers of documents and of tokens a class."""
    tree = sample_posterior_predictive(toy(), draws=20, chains=2)["posterior_predictive"]
    assert (tree["n_class"].sum("class") == 5).all()
    np.testing.assert_array_equal(
        tree["n_token"].sum("token").values, np.broadcast_to(toy().statistics.token_total, (2, 20, 2))
    )


def test_draws_of_a_sampler_are_used_one_for_one():
    """With a tree, replicates follow its phi: a phi that is certain gives certain totals."""
    posterior = toy()
    tree = to_tree(posterior, draws=30, chains=2)
    certain = np.zeros((2, 30, 2, 14))
    certain[..., 3] = 1
    tree["posterior"]["phi"].values[:] = certain
    found = sample_posterior_predictive(posterior, tree)
    drawn = found["posterior_predictive"]["n_token"]
    assert drawn.shape == (2, 30, 2, 14)
    assert (drawn.sel({"token": "for"}) == posterior.statistics.token_total).all()
    assert list(found["observed_data"]["n_token"].sel({"class": "spam"}).values[:3]) == [1, 0, 2]
    assert {"posterior", "posterior_predictive", "observed_data"} == set(found.children)


def test_a_known_class_prior_is_no_parameter():
    """Theta is left out of the parameters, and documents are spread by it."""
    found = sample_prior_predictive(presence(), draws=2000, chains=2)
    assert "theta" not in found["prior"]
    mean = found["prior_predictive"]["n_class"].mean(("chain", "draw")).values
    assert np.abs(mean - [6.3, 0.7]).max() < 5 * np.sqrt(7 * 0.09 / 4000)


def test_same_seed_same_replicates_and_estimators_are_taken():
    """An estimator or its posterior, the same draws for the same seed, others for another."""
    clf = bayesnb.MultinomialNB().fit([[2, 0], [0, 3], [1, 1]], ["a", "b", "b"])
    first, same, other = (
        bayesnb.sample_posterior_predictive(m, seed=s) for m, s in ((clf, 1), (clf.posterior_, 1), (clf, 2))
    )
    assert first.identical(same)
    assert not first.identical(other)
    assert list(first["posterior_predictive"]["class"].values) == ["a", "b"]


def test_bad_input_is_refused():
    """Draws of other tokens, fractional totals, and something that is no model."""
    with pytest.raises(ValueError, match="the draws are not of the token names"):
        sample_posterior_predictive(toy(), to_tree(toy(), draws=5, tokens=["coffee"]))
    half = multinomial.Posterior(toy().prior, multinomial.Statistics([2, 3], 0.5 * toy().statistics.feature_count))
    with pytest.raises(ValueError, match="totals are fractional"):
        sample_prior_predictive(half)
    with pytest.raises(ValueError, match="expected a fitted estimator"):
        sample_prior_predictive(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, "draws must be a whole number of at least 1, got 0"),
        ({"chains": 0}, "chains must be a whole number of at least 1, got 0"),
        ({"seed": None}, "seed must be a whole number of at least 0, got None"),
        ({"draws": 10**12}, r"the draws take 1\.\d+e\+06 GB .* choose fewer draws or chains$"),
    ],
)
def test_bad_numbers_are_refused(arguments, message):
    """Each by name, before anything is drawn; what would not fit in memory too."""
    for check in (sample_prior_predictive, sample_posterior_predictive):
        with pytest.raises(ValueError, match=message):
            check(toy(), **arguments)


def test_totals_and_variances_too_large_are_refused():
    """Above 2^63 NumPy cannot draw counts; variances above 1e308 would make every mean infinite or NaN."""
    many = multinomial.Posterior(toy().prior, multinomial.Statistics([2, 3], 1e19 * toy().statistics.feature_count))
    with pytest.raises(ValueError, match=r"a total of .* is too large to be drawn again"):
        sample_posterior_predictive(many, draws=2)
    vague = bayesnb.GaussianNB(prior=NormalInverseGamma(0, 1, 0.001, 1)).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="are too large for floating-point numbers: give a prior that says more"):
        sample_prior_predictive(vague)


def test_draws_that_are_not_of_this_posterior_are_refused():
    """Another container or event, without phi or theta, with NaN, or of a model with more than phi."""
    tree = to_tree(toy(), draws=5)
    draws = tree["posterior"].to_dataset()

    def refused(dataset, message):
        with pytest.raises(ValueError, match=message):
            sample_posterior_predictive(toy(), xr.DataTree.from_dict({"/posterior": dataset}))

    with pytest.raises(ValueError, match=r"expected as the xarray.DataTree that sample returns"):
        sample_posterior_predictive(toy(), "draws.nc")
    with pytest.raises(ValueError, match="draws are of a multinomial posterior, this one is bernoulli"):
        sample_posterior_predictive(presence(), tree)
    refused(draws.drop_vars("phi"), "holds no draws of phi")
    refused(draws.drop_vars("theta"), "hold no theta, which this posterior has")
    refused(draws * np.nan, "draws of theta are not finite, or no probabilities")
    refused(draws.assign(s=draws["theta"]), "hold s, by which documents do not follow phi alone")
