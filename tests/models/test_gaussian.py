"""Identity 2 for the Gaussian model file: its joint density minus the closed-form posterior is one known number."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
from bayesnb.models import gaussian as gaussian_model
from hypothesis import given, settings
from hypothesis import strategies as st
from pymc.model.transform.conditioning import remove_value_transforms
from scipy.special import gammaln

from bayesnb import GaussianNB, check_agreement, sample
from bayesnb.checks.moments import exact_moments, transform
from bayesnb.events.gaussian import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Dirichlet, InverseGamma, NormalInverseGamma, StudentT

SHAPE = (3, 2)
KNOWN = np.array([0.5, 0.2, 0.3])


def random_case(known, rng):
    """Up to 9 documents in 3 classes, some of them empty, with missing cells, and any prior."""
    theta = ClassPrior(known=KNOWN) if known else ClassPrior(concentration=rng.uniform(0.2, 5, 3))
    normal = NormalInverseGamma(rng.normal(size=SHAPE), *np.exp(rng.uniform(-2, 2, (3, *SHAPE))))
    X = rng.normal(2, 3, (rng.integers(0, 10), 2))
    X[rng.random(X.shape) < 0.2] = np.nan
    return Posterior(Prior(theta, normal), Statistics.from_documents(X, rng.integers(0, 3, len(X)), 3))


@cache
def compiled(known):
    """One model; every case reaches it through its data alone."""
    posterior = random_case(known, np.random.default_rng(0))
    model = remove_value_transforms(gaussian_model.build(posterior.statistics, posterior.prior))
    return model, model.compile_logp(mode="FAST_COMPILE")


def data_of(posterior):
    n, prior = posterior.statistics, posterior.prior
    data = {name: getattr(n, name) for name in ("class_count", "n", "mean", "M2")}
    data |= {name: getattr(prior.normal, name) for name in ("m0", "kappa0", "alpha0", "beta0")}
    if prior.theta.known is not None:
        return data | {"theta": prior.theta.known}
    return data | {"theta_concentration": prior.theta.concentration}


def point_and_density(posterior, rng):
    """A random point, anywhere in the support, and the closed-form log posterior density there."""
    shape = posterior.statistics.n.shape
    point = {"mu": rng.normal(1, 3, shape), "sigma2": np.exp(rng.uniform(-1, 3, shape))}
    density = posterior.normal.log_density(point["mu"], point["sigma2"]).sum()
    if isinstance(posterior.theta, Dirichlet) and shape[0] > 1:
        point["theta"] = rng.dirichlet(np.ones(shape[0]))
        density += float(posterior.theta.log_density(point["theta"]))
    return point, density


def expected(posterior):
    """Log evidence, and the coefficient of the Multinomial that the class counts are written as."""
    n = posterior.statistics.class_count
    return posterior.log_evidence() + gammaln(n.sum() + 1) - gammaln(n + 1).sum()


@pytest.mark.parametrize("known", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_joint_density_is_the_closed_form_plus_the_log_evidence(known, seed):
    """Whatever values, gaps, prior and class prior: the same number at every point, and which it is."""
    rng = np.random.default_rng(seed)
    posterior = random_case(known, rng)
    model, logp = compiled(known)
    pm.set_data(data_of(posterior), model=model)
    constants = []
    for _ in range(4):
        point, density = point_and_density(posterior, rng)
        constants.append(float(logp(point)) - density)
    # terms of up to some thousand nats cancel: 1e-9 is a dozen roundings of them
    assert np.ptp(constants) < 1e-9
    assert constants[0] == pytest.approx(expected(posterior), abs=1e-9)


def test_one_class_makes_theta_a_constant():
    """With a single class theta is 1: no random variable, and the constant is still the evidence."""
    prior = Prior(ClassPrior(concentration=np.array([2.0])), NormalInverseGamma([[0.0]], 1, 2, 1))
    posterior = Posterior(prior, Statistics.from_documents([[2.0], [2.0]], np.array([0, 0]), 1))
    model = gaussian_model.build(posterior.statistics, posterior.prior)
    assert sorted(rv.name for rv in model.free_RVs) == ["mu", "sigma2"]
    point, density = point_and_density(posterior, np.random.default_rng(1))
    logp = remove_value_transforms(model).compile_logp(mode="FAST_COMPILE")
    assert float(logp(point)) - density == pytest.approx(expected(posterior), abs=1e-11)


def test_what_cannot_be_sampled_is_refused():
    """No prior, no column, an unknown form, fractional class totals."""
    prior = Prior(ClassPrior(concentration=np.ones(1)), NormalInverseGamma([[0.0]], 1, 2, 1))
    totals = Statistics([2.0], [[2.0]], [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="no prior of mu and sigma2 to sample from: fit with prior='weak'"):
        gaussian_model.build(totals, Prior(prior.theta, epsilon=np.zeros((1, 1))))
    with pytest.raises(ValueError, match="form must be one of moments; got 'gamma'"):
        gaussian_model.build(totals, prior, "gamma")
    with pytest.raises(ValueError, match="no column"):
        gaussian_model.build(Statistics.zeros(1, 0), prior)
    with pytest.raises(ValueError, match=r"class_count is 2\.5 .*only whole counts"):
        gaussian_model.build(Statistics([2.5], [[2.5]], [[0.0]], [[1.0]]), prior)


def measured(prior="weak"):
    """Two columns of two classes, one of them with three rows only."""
    X = np.array([[1.0, 50], [2, 40], [1.5, 47], [4, 20], [5, 30], [3.5, 25], [4, 31], [6, 22]])
    return GaussianNB(prior=prior).fit(X, ["few"] * 3 + ["more"] * 5).posterior_


def test_sampled_and_exact_draws_agree_with_the_closed_form():
    """NUTS and exact draws of theta, mu and sigma2, by name; a posterior with another prior is told apart."""
    posterior = measured()
    for tree in (sample(posterior, chains=2, draws=1500, seed=3), sample(posterior, sampler="exact")):
        draws = tree["posterior"]
        assert {name: draws[name].dims[2:] for name in draws.data_vars} == {
            "theta": ("class",), "mu": ("class", "token"), "sigma2": ("class", "token")
        }  # fmt: skip
        assert draws["class"].values.tolist() == ["few", "more"]
        np.testing.assert_array_equal(tree["constant_data"]["M2"], posterior.statistics.M2)
        check = check_agreement(tree, posterior)
        assert check.passed, str(check)
        assert set(check.table["parameter"]) == {"theta", "mu", "sigma2"}
        other = check_agreement(tree, measured(NormalInverseGamma([3.0, 30.0], 0.01, 2.5, [2.0, 60.0])))
        assert not other.passed


def test_chosen_columns_are_sampled_alone():
    """Columns are independent: one alone has the margin it has among all."""
    tree = sample(measured(), tokens=[1], sampler="exact", draws=500)
    assert tree["posterior"]["mu"].shape == (4, 500, 2, 1)
    assert check_agreement(tree, measured()).passed
    with pytest.raises(ValueError, match="have no posterior"):
        sample(GaussianNB().fit([[0.0], [1.0]], [0, 1]), sampler="exact")


@pytest.mark.parametrize("margin", [InverseGamma(1.2, 3.0), StudentT(2.4, 1.0, 4.0)])
def test_moments_of_heavy_tails_are_exact(margin):
    """What is compared has a mean and a deviation where the parameter itself has no variance: against exact draws."""
    x = margin.draw(np.random.default_rng(7), 40_000)
    for quantity, (mean, sd, _) in exact_moments(margin).items():
        found = transform(quantity, x, margin)
        assert abs(found.mean() - mean) < 5 * sd / 200, quantity
        # fourth moments of a squared log reach some 50 sd^4: ten per cent is 5 errors of the deviation
        assert found.std() == pytest.approx(sd, rel=0.1), quantity
