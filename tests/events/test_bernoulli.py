"""The Bernoulli model against exact fractions, enumeration, scikit-learn and the identities of naive Bayes."""

from fractions import Fraction
from itertools import product
from math import fsum, log

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB

from bayesnb.events.bernoulli import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta

modest = settings(deadline=None, max_examples=40)


def posterior(X, y, k=2, a=1.0, b=1.0, c=1.0, **names):
    statistics = Statistics.from_documents(np.asarray(X), np.asarray(y, int), k)
    shape = statistics.feature_count.shape
    prior = Prior(
        ClassPrior(concentration=np.broadcast_to(c, (k,))), Beta(np.broadcast_to(a, shape), np.broadcast_to(b, shape))
    )
    return Posterior(prior, statistics, **names)


def smoothed(X, y, alpha, estimate, k=2):
    """The posterior as the estimators form it."""
    statistics = Statistics.from_documents(np.asarray(X), np.asarray(y, int), k)
    theta = ClassPrior.resolve(1.0, np.arange(k))
    return Posterior(Prior.resolve(theta, None, alpha, estimate, statistics.feature_count.shape), statistics)


@st.composite
def fitted(draw):
    k, v, n = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a, b = np.exp(rng.uniform(-3, 3, (2, k, v)))
    return rng.poisson(0.8, (n, v)), rng.integers(0, k, n), k, a, b, np.exp(rng.uniform(-3, 3, k)), rng


@pytest.mark.parametrize(
    ("a", "n", "total"), [(1.0, 1e15, 1e15), (1e-3, 0.0, 1e15), (1.0, 1e15 - 3, 1e15), (1e9, 5, 8)]
)
def test_evidence_keeps_its_digits_at_any_count(a, n, total):
    """1e15 documents under Beta(1, 1) that all hold the token: -log(1e15 + 1), of terms of 3e16."""
    prior = Prior(ClassPrior(known=np.ones(1)), Beta(np.full((1, 2), a), np.full((1, 2), a)))
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.beta(a + mpmath.mpf(n), a + mpmath.mpf(total) - n) / mpmath.beta(a, a))
    got = Posterior(prior, Statistics([total], [[n, n]])).log_evidence()
    assert got == pytest.approx(2 * float(exact), rel=1e-12)


def test_the_mode_keeps_the_digits_of_small_weights_under_an_explicit_prior():
    """Beta(1, 1): the mode is n/N though 1 + n is 1."""
    prior = Prior.resolve(ClassPrior(known=np.ones(1)), 1.0, 1.0, "map", (1, 1))
    assert Posterior(prior, Statistics([4e-17], [[1e-17]])).phi_hat("map")[0, 0] == pytest.approx(0.25, rel=1e-14)


def test_presence_is_counted_once_a_document():
    """ "win" seven times in the only spam: (1 + 1)/(1 + 2) = 2/3, not (7 + 1)/3."""
    post = posterior([[7], [0]], [1, 0], a=2.0, b=2.0)
    np.testing.assert_allclose(post.phi_hat("map"), [[1 / 3], [2 / 3]], rtol=1e-15)
    np.testing.assert_allclose(posterior([[7], [0]], [1, 0]).phi_hat("mean"), [[1 / 3], [2 / 3]], rtol=1e-15)


def test_new_documents_are_read_as_presence_too():
    """X = (3, 0), (0, 1): the document (3, 0) has odds (2/3 2/3) : (1/3 1/3) = 4 : 1."""
    post = posterior([[3, 0], [0, 1]], [0, 1])
    for document in ([[3, 0]], [[1, 0]], [[0.5, 0]]):
        assert np.exp(post.log_proba(document, "mean"))[0, 0] == pytest.approx(4 / 5, rel=1e-14)


def test_absent_tokens_count():
    """The empty document is even where the columns are alike; with unequal columns it leaves the prior."""
    assert np.exp(posterior([[3, 0], [0, 1]], [0, 1]).log_proba([[0, 0]], "mean"))[0, 0] == pytest.approx(1 / 2)
    post = posterior([[1, 1], [0, 1]], [0, 1])
    joint = post.log_likelihood([[0, 0]], "mean")[0]
    np.testing.assert_allclose(np.exp(joint), [1 / 3 * 1 / 3, 2 / 3 * 1 / 3], rtol=1e-14)


@pytest.mark.parametrize("alpha", [1e-17, 1e-10, 1e-3, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
def test_adding_alpha_is_scikit_learns_whatever_the_estimate(alpha, estimate):
    """Log probabilities to 1e-12; scikit-learn's joint to 1e-9, for it takes log(1 - exp(.)) for the absences."""
    rng = np.random.default_rng(8)
    X, y = rng.poisson(0.7, (15, 4)) * [1, 1, 1, 0], rng.integers(0, 3, 15)
    theirs = BernoulliNB(alpha=alpha).fit(X, y)
    post = smoothed(X, y, alpha, estimate, 3)
    np.testing.assert_allclose(post.log_phi(estimate), theirs.feature_log_prob_, atol=1e-12, rtol=1e-12)
    if estimate == "map":
        np.testing.assert_allclose(post.log_theta(), theirs.class_log_prior_, rtol=1e-12)
        if alpha >= 1e-3:
            np.testing.assert_allclose(post.log_joint(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


@given(case=fitted())
@modest
def test_mode_is_the_stated_formula_and_scores_are_products_over_all_columns(case):
    X, y, k, a, b, _, _ = case
    post = posterior(X, y, k, a=1 + a, b=1 + b)
    n, total = post.statistics.feature_count, post.statistics.class_count[:, None]
    phi = (n + a) / (total + a + b)
    np.testing.assert_allclose(post.phi_hat("map"), phi, rtol=1e-12)
    present = (X > 0)[:, None, :]
    by_hand = np.where(present, np.log(phi), np.log((total - n + b) / (total + a + b))).sum(axis=2)
    np.testing.assert_allclose(post.log_likelihood(X, "map"), by_hand, rtol=1e-11, atol=1e-12)


def test_predictive_is_the_mean():
    """Each cell is seen once a document, so that integrating phi out is putting its mean in."""
    post = posterior([[1, 0, 2], [0, 1, 1]], [0, 1], a=0.3, b=2.0)
    X = np.array(list(product([0, 1], repeat=3)))
    np.testing.assert_array_equal(post.phi_hat("predictive"), post.phi_hat("mean"))
    np.testing.assert_array_equal(post.log_joint(X, "predictive"), post.log_joint(X, "mean"))
    np.testing.assert_array_equal(post.log_predictive(X), post.log_likelihood(X, "mean"))


def test_predictive_sums_to_one_over_all_documents():
    post = posterior([[1, 0, 2, 0], [0, 1, 1, 0]], [0, 1], a=[[0.3, 1, 2, 0.01]], b=2.0)
    documents = np.array(list(product([0, 1], repeat=4)))
    np.testing.assert_allclose(np.exp(post.log_predictive(documents)).sum(axis=0), 1, rtol=1e-13)


@given(case=fitted())
@modest
def test_evidence_is_the_sum_of_one_step_ahead_predictives_in_any_order(case):
    X, y, k, a, b, c, rng = case
    order, steps = rng.permutation(len(y)), []
    for i, row in enumerate(order):
        past = posterior(X[order[:i]], y[order[:i]], k, a, b, c)
        steps += [past.log_theta("mean")[y[row]], past.log_predictive(X[[row]])[0, y[row]]]
    assert fsum(steps) == pytest.approx(posterior(X, y, k, a, b, c).log_evidence(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b"), [(Fraction(1), Fraction(1)), (Fraction(1, 2), Fraction(7)), (Fraction(1, 64),) * 2]
)
def test_evidence_is_the_exact_product_of_fractions(a, b):
    rng = np.random.default_rng(9)
    X, y = rng.integers(0, 2, (10, 4)), rng.integers(0, 2, 10)
    value, docs, present = Fraction(1), [0, 0], [[0] * 4, [0] * 4]
    for x, k in zip(X.tolist(), y.tolist(), strict=True):
        value *= Fraction(1 + docs[k], 2 + sum(docs))
        for j, hit in enumerate(x):
            value *= ((a + present[k][j]) if hit else (b + docs[k] - present[k][j])) / (a + b + docs[k])
            present[k][j] += hit
        docs[k] += 1
    exact = mpmath.log(mpmath.mpf(value.numerator)) - mpmath.log(mpmath.mpf(value.denominator))
    assert posterior(X, y, a=float(a), b=float(b)).log_evidence() == pytest.approx(float(exact), rel=1e-13)


@given(case=fitted())
@modest
def test_permuting_documents_classes_and_tokens_permutes_the_answers(case):
    X, y, k, a, b, c, rng = case
    rows, ks, js = rng.permutation(len(y)), rng.permutation(k), rng.permutation(X.shape[1])
    one = posterior(X, y, k, a, b, c)
    two = posterior(X[rows][:, js], np.argsort(ks)[y][rows], k, a[ks][:, js], b[ks][:, js], c[ks])
    np.testing.assert_allclose(two.log_joint(X[:, js], "mean"), one.log_joint(X, "mean")[:, ks], rtol=1e-12, atol=1e-12)
    assert two.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-12, abs=1e-12)


def test_swapping_presence_and_absence_swaps_the_beta():
    X, y = np.array([[1, 0], [1, 1], [0, 0]]), [0, 0, 1]
    one, two = posterior(X, y, a=0.3, b=4.0), posterior(1 - X, y, a=4.0, b=0.3)
    np.testing.assert_allclose(one.phi.mean(), two.phi.complement().mean(), rtol=1e-15)
    np.testing.assert_allclose(one.log_joint(X, "mean"), two.log_joint(1 - X, "mean"), rtol=1e-13)
    assert one.log_evidence() == pytest.approx(two.log_evidence(), rel=1e-14)


def test_a_rare_absence_keeps_its_digits():
    """Present in all of 1e15 documents, Beta(1, 1e-7): 1 - phi would be 0, the exact mean absence is 1e-22."""
    prior = Prior(ClassPrior(concentration=np.ones(1)), Beta([[1.0]], [[1e-7]]))
    post = Posterior(prior, Statistics([1e15], [[1e15]]))
    assert post.phi_hat("mean")[0, 0] == 1
    assert post.log_predictive([[0]])[0, 0] == pytest.approx(log(1e-7) - log(1e15), rel=1e-14)


def test_the_mle_scores_impossible_presences_and_absences_without_nan():
    """Class 0 always holds token 0 and never token 1; class 1 is the other way round."""
    post = posterior([[1, 0], [0, 1]], [0, 1])
    expected = [[log(1 / 2), -np.inf], [-np.inf, log(1 / 2)], [-np.inf, -np.inf], [-np.inf, -np.inf]]
    np.testing.assert_array_equal(post.log_joint([[1, 0], [0, 1], [1, 1], [0, 0]], "mle"), expected)
    with pytest.raises(ValueError, match="row 0 has probability 0 under every class"):
        post.log_proba([[0, 0]], "mle")


def test_the_mle_of_fractional_weights_stays_a_probability():
    """The sum of the weights and of the presences may differ in the last place."""
    w = np.full(10, 0.1)
    s = Statistics.from_documents(np.ones((10, 1)), np.zeros(10, int), 1, w)
    off = Statistics(s.class_count, s.feature_count * (1 + 4e-16))
    post = Posterior(Prior(ClassPrior(concentration=np.ones(1)), Beta([[1.0]], [[1.0]])), off)
    assert post.phi_hat("mle")[0, 0] == 1 and post.phi.b[0, 0] == 1


def test_a_missing_mode_names_token_and_class():
    names = {"classes": ["ham", "spam"], "tokens": ["tea", "gin"]}
    post = posterior([[1, 0], [1, 1]], [0, 1], a=0.5, b=3.0, **names)
    with pytest.raises(ValueError, match=r"'gin' in class 'ham'.*estimate='mean'"):
        post.phi_hat("map")
    flat = posterior([[1, 0]], [0], c=2.0, **names)
    for estimate in ("map", "mle"):
        with pytest.raises(ValueError, match=r"'spam'.*estimate='mean'"):
            flat.log_joint([[1, 0]], estimate)


def test_a_product_of_ten_thousand_probabilities_is_finite_in_logs():
    """8,000 near .5 and 2,000 near .99 multiply to 0.0 in double precision."""
    rng = np.random.default_rng(10)
    p = np.concatenate([0.5 + rng.uniform(-0.01, 0.01, 8000), 0.99 + rng.uniform(-0.005, 0.005, 2000)])
    assert np.prod(p) == 0
    prior = Prior(ClassPrior(concentration=np.ones(1)), Beta(p[None], 1 - p[None]))
    post = Posterior(prior, Statistics.zeros(1, len(p)))
    exact = fsum(log(value) for value in p)
    assert post.log_predictive(np.ones((1, len(p))))[0, 0] == pytest.approx(exact, rel=1e-13)


def test_exact_draws_have_the_exact_moments():
    post = posterior([[1, 0, 1], [0, 1, 1]], [0, 1], a=0.5, b=2.0)
    draws = post.draw(draws=5000, chains=4, seed=1)
    assert draws["phi"].shape == (4, 5000, 2, 3)
    error = np.sqrt(post.phi.variance() / 20_000)
    assert (abs(draws["phi"].mean(axis=(0, 1)) - post.phi.mean()) < 5 * error).all()
