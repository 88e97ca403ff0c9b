"""Priors computed from the totals: background shares, and the strength that the evidence prefers."""

import numpy as np
import pytest
from scipy.special import gammaln

import bayesnb
from bayesnb.events import bernoulli, multinomial
from bayesnb.events.empirical import BOUNDS, best_strength
from bayesnb.events.theta import ClassPrior
from bayesnb.model import Settings, State

COMPUTED = ["background", "background:7", ("background", 2.5), "empirical", "empirical-background"]


@pytest.fixture(scope="module")
def corpus():
    """Sixty documents over 25 tokens of heavy-tailed frequency, in three classes that differ."""
    rng = np.random.default_rng(5)
    phi = rng.dirichlet(np.full(25, 0.3), 3)
    y = rng.integers(0, 3, 60)
    return np.stack([rng.multinomial(rng.integers(1, 15), phi[k]) for k in y]), np.array(["a", "b", "c"])[y]


def posterior_of(corpus, prior, event="multinomial", estimate="mean"):
    chosen = Settings(event=event, prior=prior, estimate=estimate)
    X, y = corpus
    return chosen.posterior(State.learn(event, chosen.documents(X), y, np.arange(X.shape[1])))


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("prior", COMPUTED)
def test_evidence_is_the_product_of_one_step_predictives_with_the_prior_held_fixed(corpus, prior, event):
    fixed = posterior_of(corpus, prior, event).prior
    X, y = corpus
    module = {"multinomial": multinomial, "bernoulli": bernoulli}[event]
    own, total = np.unique(y, return_inverse=True)[1], 0.0
    statistics = module.Statistics.zeros(3, 25)
    for i in np.random.default_rng(1).permutation(len(y)):
        total += module.Posterior(fixed, statistics).log_joint(X[i : i + 1], "predictive")[0, own[i]]
        statistics = statistics + module.Statistics.from_documents(X[i : i + 1], own[i : i + 1], 3)
    # sums of some thousand logarithms
    np.testing.assert_allclose(module.Posterior(fixed, statistics).log_evidence(), total, rtol=1e-11)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("prior", ["empirical", "empirical-background"])
def test_the_empirical_strength_beats_every_strength_of_a_fine_grid(corpus, prior, event):
    best = posterior_of(corpus, prior, event)
    theta = best.prior.theta

    def evidence(factor):
        if event == "multinomial":
            return multinomial.Posterior(
                multinomial.Prior(theta, best.prior.phi * factor), best.statistics
            ).log_evidence()
        phi = bayesnb.Beta(best.prior.phi.a * factor, best.prior.phi.b * factor)
        return bernoulli.Posterior(bernoulli.Prior(theta, phi), best.statistics).log_evidence()

    top = evidence(1.0)
    assert all(evidence(factor) < top for factor in np.exp(np.linspace(-5, 5, 1000)))
    # the slope in log strength vanishes; its central difference is good to about 1e-6 of the curvature
    slope = (evidence(np.exp(1e-4)) - evidence(np.exp(-1e-4))) / 2e-4
    curvature = (evidence(np.exp(1e-2)) + evidence(np.exp(-1e-2)) - 2 * top) / 1e-4
    assert abs(slope) < 1e-4 * abs(curvature)


def test_the_scalar_empirical_concentration_maximises_the_textbook_evidence(corpus):
    """Against log Gamma written out, and named in the description."""
    posterior = posterior_of(corpus, "empirical")
    n = posterior.statistics.feature_count

    def evidence(a):
        rows = gammaln(25 * a) - gammaln(25 * a + n.sum(1)) + (gammaln(a + n) - gammaln(a)).sum(1)
        return rows.sum()

    grid = np.exp(np.linspace(np.log(0.01), np.log(10), 4001))
    a = posterior.prior.phi[0, 0]
    assert abs(np.log(a) - np.log(grid[np.argmax([evidence(x) for x in grid])])) <= np.log(1000) / 4000
    assert posterior.prior.describe() == f"phi ~ empirical: Dirichlet({a:.4g}), theta ~ Dirichlet(1)"


def test_background_concentrations_are_proportional_to_shares_with_a_floor():
    corpus = np.array([[3, 1, 0], [2, 0, 0]]), np.array(["a", "b"])
    given = posterior_of(corpus, ("background", 18)).prior
    np.testing.assert_allclose(given.phi, [[12, 4, 2]] * 2)
    assert "background: Dirichlet(18 x token shares)" in given.describe()
    np.testing.assert_allclose(posterior_of(corpus, "background").prior.strength, [3, 3])  # Laplace's: alpha V
    beta = posterior_of(corpus, "background:4", "bernoulli").prior.phi
    np.testing.assert_allclose(beta.a[0], [3, 2, 1])
    np.testing.assert_allclose(beta.a + beta.b, 4)


def test_a_pair_and_a_name_mean_the_same_and_survive_a_model_file(corpus, tmp_path):
    X, y = corpus
    for prior in COMPUTED:
        clf = bayesnb.MultinomialNB(prior=prior, estimate="predictive").fit(X, y)
        clf.save(tmp_path / "model")
        again = bayesnb.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_log_proba(X), clf.predict_log_proba(X))
        assert again.posterior_.prior.describe() == clf.posterior_.prior.describe()
    pair, name = (
        bayesnb.MultinomialNB(prior=p, estimate="mean").fit(X, y) for p in (("background", 7), "background:7")
    )
    np.testing.assert_array_equal(pair.feature_log_prob_, name.feature_log_prob_)


def test_a_computed_prior_follows_the_totals(corpus):
    X, y = corpus
    clf = bayesnb.MultinomialNB(prior="empirical", estimate="mean").fit(X[:40], y[:40])
    whole = bayesnb.MultinomialNB(prior="empirical", estimate="mean").fit(X, y)
    np.testing.assert_array_equal(clf.partial_fit(X[40:], y[40:]).feature_log_prob_, whole.feature_log_prob_)


@pytest.mark.parametrize(
    ("prior", "estimate", "message"),
    [
        ("background", "map", "use estimate='mean' or 'predictive'"),
        ("empirical", "map", "use estimate='mean' or 'predictive'"),
        ("background:x", "mean", "number above 0"),
        ("background:-1", "mean", "number above 0"),
        ("background:inf", "mean", "number above 0"),
        ("empirical:3", "mean", "takes no strength"),
        ("emprical", "mean", "empirical-background"),
        (("background", None), "mean", "number above 0"),
    ],
)
@pytest.mark.parametrize("kind", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_what_a_named_prior_cannot_be_is_said_at_once(kind, prior, estimate, message):
    with pytest.raises(ValueError, match=message):
        kind(prior=prior, estimate=estimate).fit([[5, 5], [5, 5]], [0, 1])


def test_the_categorical_model_says_that_it_has_no_such_prior():
    with pytest.raises(ValueError, match="multinomial and Bernoulli"):
        bayesnb.CategoricalNB(prior="empirical", estimate="mean").fit([[1], [0]], [0, 1])


def test_evidence_without_a_maximum_ends_at_a_bound_and_without_data_at_one():
    uniform, single = np.full(4, 1e6), np.array([1e6, 0, 0, 0])  # too even, or one token only
    for count, expected in ((uniform, BOUNDS[1]), (single, BOUNDS[0]), (np.zeros(4), 1.0)):
        m, n = np.append(np.full(4, 0.25), 1), np.append(count, count.sum())
        np.testing.assert_allclose(best_strength(m, n, np.array([1, 1, 1, 1, -1.0]), 4), 4 * expected)
    nothing = multinomial.Prior.resolve(ClassPrior(concentration=np.ones(2)), "empirical", 1.0, "mean", (2, 3))
    np.testing.assert_allclose(nothing.phi, 1.0)
