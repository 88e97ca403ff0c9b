"""Identity 2: each PyMC model's joint density minus the closed-form posterior is one known number everywhere."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
from bayesnb.models import bernoulli as bernoulli_model
from bayesnb.models import multinomial as multinomial_model
from hypothesis import given, settings
from hypothesis import strategies as st
from pymc.model.transform.conditioning import remove_value_transforms
from scipy import stats
from scipy.special import gammaln

from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet
from tests.fits import toy

SHAPE = (3, 4)
KNOWN = np.array([0.5, 0.2, 0.3])


def log_multinomial(n):
    """Log of the multinomial coefficient of each row."""
    return gammaln(n.sum(-1) + 1) - gammaln(n + 1).sum(-1)


def log_binomial(total, n):
    return gammaln(total + 1) - gammaln(n + 1) - gammaln(total - n + 1)


def scale_of(posterior):
    """c_k = N_k/A_k, 1 where there is no token."""
    total = posterior.statistics.token_total
    return np.where(total == 0, 1, total / posterior.prior.phi.sum(1))


def expected(posterior, form):
    """The number, from the closed form and the coefficients of the likelihood as it is written."""
    n = posterior.statistics
    constant = posterior.log_evidence() + log_multinomial(n.class_count)
    if form == "beta":
        return constant + log_binomial(n.class_count[:, None], n.feature_count).sum()
    constant += log_multinomial(n.feature_count).sum()
    if form == "gamma":
        shape = posterior.prior.phi.sum(1)
        constant += stats.nbinom.logpmf(n.token_total, shape, 1 / (1 + scale_of(posterior))).sum()
    return constant


def point_and_density(posterior, form, rng):
    """A random point, anywhere in the support, and the closed-form log posterior density there."""
    k, v = posterior.statistics.feature_count.shape
    point, density = {}, 0.0
    if isinstance(posterior.theta, Dirichlet):
        point["theta"] = rng.dirichlet(np.ones(k))
        density += float(posterior.theta.log_density(point["theta"]))
    if form == "gamma":
        point["g"] = rng.gamma(2, 3, (k, v))
        rate = 1 + scale_of(posterior)[:, None]
        return point, density + stats.gamma.logpdf(point["g"], posterior.phi.concentration, scale=1 / rate).sum()
    point["phi"] = rng.uniform(0.01, 0.99, (k, v)) if form == "beta" else rng.dirichlet(np.ones(v), k)
    return point, density + float(posterior.phi.log_density(point["phi"]).sum())


def log_density(model):
    # plain Python: compiling takes longer than all evaluations here
    return model.compile_logp(mode="FAST_COMPILE")


@cache
def compiled(form, known):
    """One model a form; every case below reaches it through its data alone."""
    theta = ClassPrior(known=np.full(3, 1 / 3)) if known else ClassPrior(concentration=np.ones(3))
    if form == "beta":
        prior = bernoulli.Prior(theta, Beta(np.ones(SHAPE), np.ones(SHAPE)))
        model = bernoulli_model.build(bernoulli.Statistics.zeros(*SHAPE), prior)
    else:
        prior = multinomial.Prior(theta, np.ones(SHAPE))
        model = multinomial_model.build(multinomial.Statistics.zeros(*SHAPE), prior, form)
    model = remove_value_transforms(model)
    return model, log_density(model)


def random_case(form, known, rng):
    """Counts with empty classes and tokens among them, and a concentration for each class and token, from .05 to 20."""
    theta = ClassPrior(known=KNOWN) if known else ClassPrior(concentration=rng.uniform(0.2, 5, 3))
    a, b = np.exp(rng.uniform(np.log(0.05), np.log(20), (2, *SHAPE)))
    n = rng.integers(0, 30, 3) * rng.integers(0, 2, 3)
    if form == "beta":
        totals = bernoulli.Statistics(n, rng.integers(0, n[:, None] + 1, SHAPE))
        return bernoulli.Posterior(bernoulli.Prior(theta, Beta(a, b)), totals)
    totals = multinomial.Statistics(n, rng.integers(0, 40, SHAPE) * (n > 0)[:, None] * rng.integers(0, 2, SHAPE))
    return multinomial.Posterior(multinomial.Prior(theta, a), totals)


def data_of(posterior):
    n, prior = posterior.statistics, posterior.prior
    data = {"class_count": n.class_count, "feature_count": n.feature_count}
    known = prior.theta.known is not None
    data |= {"theta": prior.theta.known} if known else {"theta_concentration": prior.theta.concentration}
    if isinstance(prior.phi, Beta):
        return data | {"phi_a": prior.phi.a, "phi_b": prior.phi.b}
    return data | {"phi_concentration": prior.phi}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("form", ["gamma", "dirichlet", "beta"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_joint_density_is_the_closed_form_plus_one_known_number(form, known, seed):
    """Whatever counts, concentrations and class prior: the model differs from the closed form by the log evidence."""
    rng = np.random.default_rng(seed)
    posterior = random_case(form, known, rng)
    model, logp = compiled(form, known)
    pm.set_data(data_of(posterior), model=model)
    constants = []
    for _ in range(4):
        point, density = point_and_density(posterior, form, rng)
        constants.append(float(logp(point)) - density)
    # terms of up to some thousand nats cancel: 1e-9 is a dozen roundings of them
    assert np.ptp(constants) < 1e-9
    assert constants[0] == pytest.approx(expected(posterior, form), abs=1e-9)


@pytest.mark.parametrize("form", ["gamma", "dirichlet"])
def test_toy_spam_has_the_published_constants(form):
    """The sequence evidence and the gamma form's constant of the toy corpus, computed elsewhere to 12 digits."""
    posterior = toy()
    assert posterior.log_evidence() == pytest.approx(-74.327552477562, abs=1e-11)
    model = remove_value_transforms(multinomial_model.build(posterior.statistics, posterior.prior, form))
    point, density = point_and_density(posterior, form, np.random.default_rng(0))
    constant = float(log_density(model)(point)) - density
    assert constant == pytest.approx(expected(posterior, form), abs=1e-10)
    if form == "gamma":
        assert constant == pytest.approx(-39.024027913998, abs=1e-10)
        # the same with c = 1: the total's law is the only part that knows c
        total, a = posterior.statistics.token_total, np.full(2, 14.0)
        other = stats.nbinom.logpmf(total, a, 1 / 2) - stats.nbinom.logpmf(total, a, 1 / (1 + scale_of(posterior)))
        assert constant + other.sum() == pytest.approx(-39.221707219465, abs=1e-10)


@pytest.mark.parametrize("form", ["gamma", "dirichlet", "beta"])
def test_one_class_makes_theta_a_constant(form):
    """With a single class theta is 1: no random variable, and the constant is still the evidence."""
    rng = np.random.default_rng(3)
    theta = ClassPrior(concentration=np.array([2.0]))
    if form == "beta":
        prior = bernoulli.Prior(theta, Beta(np.full((1, 3), 0.7), np.full((1, 3), 1.5)))
        posterior = bernoulli.Posterior(prior, bernoulli.Statistics([5], [[0, 5, 2]]))
        model = bernoulli_model.build(posterior.statistics, posterior.prior)
    else:
        posterior = multinomial.Posterior(
            multinomial.Prior(theta, np.full((1, 3), 0.7)), multinomial.Statistics([5], [[0, 5, 2]])
        )
        model = multinomial_model.build(posterior.statistics, posterior.prior, form)
    assert "theta" not in [rv.name for rv in model.free_RVs]
    point, density = point_and_density(posterior, form, rng)
    point.pop("theta")  # its density, a Dirichlet with one cell, is 1
    logp = log_density(remove_value_transforms(model))
    assert float(logp(point)) - density == pytest.approx(expected(posterior, form), abs=1e-10)


def test_bad_totals_and_forms_are_refused():
    """Fractional totals, an unknown form, one token, and data of probability 0 each say what is wrong."""
    good = toy()
    with pytest.raises(ValueError, match="form must be one of gamma, dirichlet, log_gamma; got 'beta'"):
        multinomial_model.build(good.statistics, good.prior, "beta")
    half = multinomial.Statistics([2, 3], np.array(good.statistics.feature_count) / 2)
    with pytest.raises(ValueError, match=r"feature_count is 0.5 at \(0, 3\): only whole counts"):
        multinomial_model.build(half, good.prior)
    one = multinomial.Statistics([2, 3], [[4], [3]])
    with pytest.raises(ValueError, match="at least two"):
        multinomial_model.build(one, multinomial.Prior(good.prior.theta, np.ones((2, 1))))
    impossible = toy(known=[0.0, 1.0])
    with pytest.raises(ValueError, match="class 0 has known probability 0 but 2 documents"):
        multinomial_model.build(impossible.statistics, impossible.prior)


@pytest.mark.parametrize("known", [None, KNOWN])
def test_the_form_for_large_vocabularies_is_the_gamma_form_less_what_only_data_enter(known):
    """Over the unconstrained variables the two densities differ by sum log Gamma(a) + log n!, and by nothing else."""
    rng = np.random.default_rng()
    theta = ClassPrior(known=known) if known is not None else ClassPrior(concentration=np.array([1.0, 2.0, 0.7]))
    prior = multinomial.Prior(theta, rng.uniform(0.3, 4, SHAPE))
    data = multinomial.Statistics([3, 2, 4], rng.integers(0, 9, SHAPE))
    gamma = multinomial_model.build(data, prior, "gamma")
    log_gamma = multinomial_model.build(data, prior, "log_gamma")
    density, other = gamma.compile_logp(), log_gamma.compile_logp()
    start = {name: value for name, value in gamma.initial_point().items() if name.startswith("theta")}
    differences = []
    for _ in range(10):
        shared = {name: value + rng.normal(size=value.shape) for name, value in start.items()}
        log_g = rng.normal(size=SHAPE)
        differences.append(other(shared | {"log_g": log_g}) - density(shared | {"g_log__": log_g}))
    constant = gammaln(prior.phi).sum() + gammaln(data.feature_count + 1).sum()
    # sums of some tens of terms of size up to 100
    np.testing.assert_allclose(differences, constant, rtol=1e-11)
