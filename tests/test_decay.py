"""Forgetting: old totals to the weight decay, which is a power prior."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesnb

TEXTS = ["tea milk tea", "rum tea", "rum and milk, rum", "tea and rum", "milk milk tea", "and rum"]
WORDS = [["red", 0], ["red", 1], ["blue", 2], ["blue", 2], ["red", 2], ["blue", 0]]
Y = ["a", "b", "b", "a", "a", "b"]
COUNTS = np.array([[2, 1, 0], [0, 1, 3], [1, 0, 2], [3, 1, 0], [1, 2, 0], [0, 0, 4]])
MEASURES = COUNTS + np.array([1e4, 0.5, -3.0]) + np.arange(6)[:, None] ** 2 / 7

EXAMPLES = {
    "multinomial": (lambda: bayesnb.MultinomialNB(), COUNTS),
    "multinomial, background prior": (lambda: bayesnb.MultinomialNB(prior="background", estimate="mean"), COUNTS),
    "bernoulli": (lambda: bayesnb.BernoulliNB(), COUNTS),
    "categorical": (lambda: bayesnb.CategoricalNB(), pd.DataFrame(WORDS)),
    "gaussian": (lambda: bayesnb.GaussianNB(prior="weak"), MEASURES),
    "gaussian as scikit-learn's": (lambda: bayesnb.GaussianNB(), MEASURES),
    "texts": (lambda: bayesnb.TextClassifier(), TEXTS),
    "texts, bernoulli": (lambda: bayesnb.TextClassifier(event="bernoulli", estimate="mean"), TEXTS),
}
EVERY = pytest.mark.parametrize(("make", "X"), EXAMPLES.values(), ids=EXAMPLES)


def totals(clf):
    statistics = clf.posterior_.statistics
    return {name: getattr(statistics, name) for name in statistics.COUNTS + statistics.MEASURES}


def assert_alike(one, other, X):
    """Names equal; totals and predictions equal up to the order of a few sums (M2 of values near 1e4: 1e-12 of it)."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.posterior_.tokens.tolist() == other.posterior_.tokens.tolist()
    for name, value in totals(one).items():
        np.testing.assert_allclose(value, totals(other)[name], rtol=1e-12, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-10, atol=1e-12)


@EVERY
@pytest.mark.parametrize("decay", [0.9, 0.3, 1e-3])
def test_k_decays_give_the_first_batch_the_sample_weight_decay_to_the_k(make, X, decay):
    """Three batches of two documents, forgotten between: one fit with weights d^2, d and 1."""
    clf = make()
    for batch in (slice(0, 2), slice(2, 4), slice(4, 6)):
        clf.partial_fit(X[batch], Y[batch], decay=decay)
    assert_alike(clf, make().fit(X, Y, sample_weight=np.repeat([decay**2, decay, 1.0], 2)), X)


def test_the_posterior_is_the_power_prior_of_theta_and_phi():
    """Log posterior less (log prior + d x old log likelihood + new log likelihood) is one number at every point."""
    clf = bayesnb.MultinomialNB(prior=1.5, class_prior=2.0).fit(COUNTS[:4], Y[:4])
    clf.partial_fit(COUNTS[4:], Y[4:], decay=0.3)
    rng = np.random.default_rng(0)
    code = np.array([["a", "b"].index(label) for label in Y])
    gaps = []
    for _ in range(20):
        theta, phi = rng.dirichlet([2, 2]), rng.dirichlet([2, 2, 2], size=2)
        document = np.log(theta)[code] + (COUNTS * np.log(phi)[code]).sum(axis=1)
        prior = stats.dirichlet([2, 2]).logpdf(theta) + sum(stats.dirichlet([1.5] * 3).logpdf(row) for row in phi)
        posterior = clf.posterior_.theta.log_density(theta) + clf.posterior_.phi.log_density(phi).sum()
        gaps.append(posterior - (prior + 0.3 * document[:4].sum() + document[4:].sum()))
    assert np.ptp(gaps) < 1e-11  # terms of some hundreds


def test_the_posterior_is_the_power_prior_of_mu_and_sigma2():
    prior = bayesnb.NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    x, new = np.array([0.3, 1.1, 2.4]), np.array([5.0, 4.2])
    clf = bayesnb.GaussianNB(prior=prior).fit(x[:, None], [0, 0, 0]).partial_fit(new[:, None], [0, 0], decay=0.4)
    gaps = []
    for mu, sigma2 in [(0.0, 1.0), (2.0, 3.0), (5.0, 0.5), (-1.0, 8.0), (1.5, 0.2)]:
        normal = stats.norm(mu, np.sqrt(sigma2))
        expected = prior.log_density(mu, sigma2) + 0.4 * normal.logpdf(x).sum() + normal.logpdf(new).sum()
        gaps.append(float(clf.posterior_.normal.log_density(mu, sigma2).item()) - expected)
    assert np.ptp(gaps) < 1e-11  # terms of some hundreds


@EVERY
def test_decay_1_is_no_decay_byte_for_byte(make, X, tmp_path):
    files = []
    for given in ({}, {"decay": 1}, {"decay": 1.0}):
        clf = make().partial_fit(X[:4], Y[:4]).partial_fit(X[4:], Y[4:], **given)
        clf.save(tmp_path / "m")
        files.append((clf._model().fingerprint, {name: value.tobytes() for name, value in totals(clf).items()}))
    assert files[0] == files[1] == files[2]


def test_the_first_batch_has_nothing_to_forget():
    clf = bayesnb.MultinomialNB().partial_fit(COUNTS, Y, decay=0.5)
    assert clf.class_count_.tolist() == [3, 3]


@EVERY
@pytest.mark.parametrize("decay", [0, -0.5, 1.0000001, np.nan, np.inf, None, "0.9", True, [0.9]])
def test_a_decay_outside_0_to_1_is_refused_and_changes_nothing(make, X, decay):
    clf = make().fit(X, Y)
    before = dict(clf.__dict__)
    with pytest.raises(ValueError, match="decay must be a number above 0 and at most 1"):
        clf.partial_fit(X[:1], Y[:1], decay=decay)
    assert clf.__dict__ == before


@EVERY
def test_a_batch_that_fails_forgets_nothing(make, X):
    """An undeclared label is found before, and a missing one while, the batch is learnt."""
    clf = make().partial_fit(X, Y, classes=["a", "b"])
    before = clf._state, clf.posterior_
    for labels in (["c"], [None]):
        with pytest.raises(ValueError, match=r"do not exist in the initial classes|missing label"):
            clf.partial_fit(X[:1], labels, decay=0.5)
    assert (clf._state, clf.posterior_) == before


@EVERY
def test_unlearning_what_was_decayed_wants_the_weight_that_is_left(make, X):
    """The whole weight is refused; decay^2 leaves what later batches taught, up to rounding."""
    clf = make().fit(X[:2], Y[:2])
    for batch in (slice(2, 4), slice(4, 6)):
        clf.partial_fit(X[batch], Y[batch], decay=0.5)
    with pytest.raises(ValueError, match="cannot unlearn"):
        clf.unlearn(X[:4], Y[:4])
    clf.unlearn(X[:2], Y[:2], sample_weight=[0.25, 0.25])
    assert_alike(clf, make().fit(X[2:4], Y[2:4], sample_weight=[0.5, 0.5]).partial_fit(X[4:], Y[4:]), X)


def test_a_class_and_a_token_that_stay_away_are_forgotten_and_declared_ones_stay():
    """After 0.5^400 = 4e-121 the class is gone, not a class of one denormal document."""
    growing = bayesnb.TextClassifier().fit(["tea", "tea gin", "rum"], ["a", "a", "b"])
    closed = bayesnb.MultinomialNB(estimate="mean").partial_fit([[1, 0], [0, 1]], ["a", "b"], classes=["a", "b"])
    for _ in range(400):
        growing.partial_fit(["tea"], ["a"], decay=0.5)
        closed.partial_fit([[1, 0]], ["a"], decay=0.5)
    assert growing.classes_.tolist() == ["a"] and growing.posterior_.tokens.tolist() == ["tea"]
    assert closed.classes_.tolist() == ["a", "b"] and closed.class_count_.tolist() == [2, 0]
    assert closed.feature_count_.tolist() == [[2, 0], [0, 0]]


def test_measurements_of_a_class_that_stays_away_are_forgotten():
    clf = bayesnb.GaussianNB(prior="weak").fit([[0.0], [2.0], [9.0]], ["a", "a", "b"])
    clf.partial_fit([[8.0]], ["b"], decay=1e-99).partial_fit([[8.0]], ["b"], decay=1e-99)
    assert clf.classes_.tolist() == ["b"]
    assert totals(clf)["n"].tolist() == [[1.0]] and totals(clf)["mean"].tolist() == [[8.0]]
