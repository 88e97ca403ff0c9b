"""Identity 2 for the categorical model file, and a real fit that agrees with the closed form."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
from bayesnb.models import categorical as model_file
from hypothesis import given, settings
from hypothesis import strategies as st
from pymc.model.transform.conditioning import remove_value_transforms
from scipy import stats
from scipy.special import gammaln

from bayesnb.checks.agreement import check_agreement
from bayesnb.events.categorical import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Dirichlet
from bayesnb.sampling import sample

BLOCK = np.array([0, 1, 0, 1, 1, 2, 2])  # the cells of a column need not stand together
KNOWN = np.array([0.5, 0.2, 0.3])


def log_multinomial(n):
    """Log of the multinomial coefficient of each row."""
    return gammaln(n.sum(-1) + 1) - gammaln(n + 1).sum(-1)


def columns_of(values):
    """The cells of each column, (K, C_j) each."""
    return [values[:, j == BLOCK] for j in range(3)]


def scale_of(posterior):
    """s_kj = N_kj/A_kj, 1 where there is no value, (K, J)."""
    total, strength = posterior.statistics.column_total, posterior.prior.phi @ posterior.statistics.member
    return np.where(total == 0, 1, total / strength)


def expected(posterior, form):
    """The number, from the closed form and the coefficients of the likelihood as it is written."""
    n = posterior.statistics
    constant = posterior.log_evidence() + log_multinomial(n.class_count)
    constant += sum(log_multinomial(part).sum() for part in columns_of(n.feature_count))
    if form == "gamma":
        strength = posterior.prior.phi @ n.member
        constant += stats.nbinom.logpmf(n.column_total, strength, 1 / (1 + scale_of(posterior))).sum()
    return constant


def point_and_density(posterior, form, rng):
    """A random point, anywhere in the support, and the closed-form log posterior density there."""
    shape = posterior.statistics.feature_count.shape
    point, density = {}, 0.0
    if isinstance(posterior.theta, Dirichlet) and shape[0] > 1:
        point["theta"] = rng.dirichlet(np.ones(shape[0]))
        density += float(posterior.theta.log_density(point["theta"]))
    if form == "gamma":
        point["g"] = rng.gamma(2, 3, shape)
        rate = 1 + scale_of(posterior)[:, BLOCK]
        return point, density + stats.gamma.logpdf(point["g"], posterior.phi.concentration, scale=1 / rate).sum()
    phi = np.empty(shape)
    for j in range(3):
        phi[:, j == BLOCK] = point[f"phi_{j}"] = rng.dirichlet(np.ones((j == BLOCK).sum()), shape[0])
    return point, density + float(posterior.phi.log_density(phi).sum())


def random_case(known, rng):
    """Counts with empty classes, cells and columns among them, and a concentration for each class and cell."""
    theta = ClassPrior(known=KNOWN) if known else ClassPrior(concentration=rng.uniform(0.2, 5, 3))
    n = rng.integers(0, 30, (3, 7)) * rng.integers(0, 2, (3, 7)) * rng.integers(0, 2, (3, 3))[:, BLOCK]
    documents = np.max([part.sum(axis=1) for part in columns_of(n)], axis=0) + rng.integers(0, 3, 3)
    prior = Prior(theta, np.exp(rng.uniform(np.log(0.05), np.log(20), (3, 7))), BLOCK)
    return Posterior(prior, Statistics(documents, n, BLOCK))


@cache
def compiled(form, known):
    """One model a form; every case reaches it through its data alone."""
    posterior = random_case(known, np.random.default_rng(0))
    model = remove_value_transforms(model_file.build(posterior.statistics, posterior.prior, form))
    return model, model.compile_logp(mode="FAST_COMPILE")


def data_of(posterior, form):
    n, prior = posterior.statistics, posterior.prior
    known = prior.theta.known is not None
    data = {"theta": prior.theta.known} if known else {"theta_concentration": prior.theta.concentration}
    data |= {"class_count": n.class_count, "phi_concentration": prior.phi}
    if form == "gamma":
        return data | {"feature_count": n.feature_count}
    return data | {f"feature_count_{j}": part for j, part in enumerate(columns_of(n.feature_count))}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("form", ["gamma", "dirichlet"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_joint_density_is_the_closed_form_plus_one_known_number(form, known, seed):
    """Whatever counts, concentrations and class prior: the spread over points, and the number."""
    rng = np.random.default_rng(seed)
    posterior = random_case(known, rng)
    model, logp = compiled(form, known)
    pm.set_data(data_of(posterior, form), model=model)
    constants = []
    for _ in range(4):
        point, density = point_and_density(posterior, form, rng)
        constants.append(float(logp(point)) - density)
    # terms of up to some thousand nats cancel: 1e-9 is a dozen roundings of them
    assert np.ptp(constants) < 1e-9
    assert constants[0] == pytest.approx(expected(posterior, form), abs=1e-9)


def test_phi_is_made_of_its_columns_in_the_order_of_the_cells():
    """In both forms phi sums to 1 in each column, and a cell's phi is its own."""
    posterior = random_case(False, np.random.default_rng(1))
    for form in ("gamma", "dirichlet"):
        model = model_file.build(posterior.statistics, posterior.prior, form)
        names = ["phi", "g"] if form == "gamma" else ["phi", "phi_0", "phi_1", "phi_2"]
        drawn = dict(
            zip(names, pm.draw([model[name] for name in names], random_seed=1, mode="FAST_COMPILE"), strict=True)
        )
        for j, part in enumerate(columns_of(drawn["phi"])):
            own = columns_of(drawn["g"])[j] if form == "gamma" else drawn[f"phi_{j}"]
            np.testing.assert_allclose(part, own / own.sum(axis=1, keepdims=True), rtol=1e-12)


def test_bad_totals_are_refused():
    """Fractional totals, no cell, and a column of one category each say what is wrong."""
    theta = ClassPrior(concentration=np.ones(1))

    def build(n, block):
        return model_file.build(Statistics([2], [n], block), Prior(theta, np.ones((1, len(n))), block))

    with pytest.raises(ValueError, match=r"feature_count is 0.5 at \(0, 1\): only whole counts"):
        build([1, 0.5], [0, 0])
    with pytest.raises(ValueError, match="column 1 has a single category"):
        build([1, 1, 2], [0, 0, 1])
    with pytest.raises(ValueError, match="no cell"):
        build([], np.zeros(0, int))


def small():
    """Two columns of 2 and 3 categories, two classes, a value missing."""
    block = np.array([0, 0, 1, 1, 1])
    n = Statistics([4, 3], [[3, 1, 0, 2, 1], [1, 2, 2, 1, 0]], block)
    return Posterior(Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 5), 1.5), block), n, ["ham", "spam"])


def test_a_real_fit_agrees_with_the_closed_form_and_not_with_another():
    """The gamma form by nutpie; the same draws fail against twice the data and prior, whose means are the same."""
    posterior = small()
    tree = sample(posterior, chains=2, draws=1500, seed=3)
    check = check_agreement(tree, posterior)
    assert check.passed, str(check)
    n, prior = posterior.statistics, posterior.prior
    double = Posterior(
        Prior(ClassPrior(concentration=np.full(2, 2.0)), 2 * prior.phi, n.block),
        Statistics(2 * n.class_count, 2 * n.feature_count, n.block),
        posterior.classes,
    )
    assert not check_agreement(tree, double).passed


def test_exact_draws_agree_with_the_closed_form():
    check = check_agreement(sample(small(), sampler="exact", seed=5), small())
    assert check.passed, str(check)
