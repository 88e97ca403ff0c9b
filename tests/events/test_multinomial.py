"""The multinomial model against exact fractions, enumeration, scikit-learn and the identities of naive Bayes."""

from fractions import Fraction
from itertools import product
from math import factorial, fsum, log, prod

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import MultinomialNB

from bayesnb.events.base import normalise
from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior

modest = settings(deadline=None, max_examples=40)


def posterior(X, y, k=2, a=1.0, c=1.0, classes=None, tokens=None, known=None):
    statistics = Statistics.from_documents(np.asarray(X), np.asarray(y, int), k)
    theta = ClassPrior(known=known) if known is not None else ClassPrior(concentration=np.broadcast_to(c, (k,)))
    phi = np.broadcast_to(np.asarray(a, float), statistics.feature_count.shape)
    return Posterior(Prior(theta, phi), statistics, classes, tokens)


def smoothed(X, y, alpha, estimate, k=2):
    """The posterior as the estimators form it."""
    statistics = Statistics.from_documents(np.asarray(X), np.asarray(y, int), k)
    theta = ClassPrior.resolve(1.0, np.arange(k))
    return Posterior(Prior.resolve(theta, None, alpha, estimate, statistics.feature_count.shape), statistics)


@st.composite
def fitted(draw):
    """Documents, their classes, and a posterior's ingredients: concentrations from .05 to 20."""
    k, v, n = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X, y = rng.poisson(1.5, (n, v)), rng.integers(0, k, n)
    return X, y, k, np.exp(rng.uniform(-3, 3, (k, v))), np.exp(rng.uniform(-3, 3, k)), rng


# ---- identity 1, and scikit-learn


@pytest.mark.parametrize("alpha", [1e-17, 1e-10, 1e-3, 0.5, 1.0, 3.0, np.array([0.1, 1.0, 2.0, 1e-5])])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
def test_adding_alpha_is_scikit_learns_whatever_the_estimate(alpha, estimate):
    """Log probabilities to 1e-12 also for an alpha that 1 + alpha would round away."""
    rng = np.random.default_rng(6)
    X, y = rng.poisson(0.7, (12, 4)) * [1, 1, 1, 0], rng.integers(0, 3, 12)
    theirs = MultinomialNB(alpha=alpha).fit(X, y)
    post = smoothed(X, y, alpha, estimate, 3)
    np.testing.assert_allclose(post.log_phi(estimate), theirs.feature_log_prob_, atol=1e-12, rtol=1e-12)
    if estimate == "map":
        np.testing.assert_allclose(post.log_theta(), theirs.class_log_prior_, rtol=1e-12)
        np.testing.assert_allclose(post.log_joint(X), theirs.predict_joint_log_proba(X), rtol=1e-12)


@given(case=fitted())
@modest
def test_mode_under_one_plus_s_is_the_mean_under_s(case):
    X, y, k, s, _, _ = case
    n = posterior(X, y, k).statistics.feature_count
    laplace = (n + s) / (n + s).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior(X, y, k, a=1 + s).phi_hat("map"), laplace, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(posterior(X, y, k, a=s).phi_hat("mean"), laplace, rtol=1e-14)


def test_sample_weights_of_the_textbook():
    statistics = Statistics.from_documents([[1, 0], [0, 1]], np.array([0, 1]), 2, [3, 1])
    post = Posterior(Prior(ClassPrior(concentration=np.ones(2)), np.ones((2, 2))), statistics)
    np.testing.assert_allclose(post.phi_hat("mean"), [[4 / 5, 1 / 5], [1 / 3, 2 / 3]], rtol=1e-15)
    np.testing.assert_array_equal(post.theta_hat("map"), [3 / 4, 1 / 4])


# ---- identity 3: evidence


def exact_log_evidence(X, y, k, a, c):
    """Product of one-step-ahead fractions, token by token."""
    v = len(X[0])
    docs, counts, value = [0] * k, [[0] * v for _ in range(k)], Fraction(1)
    for x, label in zip(X, y, strict=True):
        value *= (c + docs[label]) / (k * c + sum(docs))
        docs[label] += 1
        for j, n in enumerate(x):
            for _ in range(n):
                value *= (a + counts[label][j]) / (v * a + sum(counts[label]))
                counts[label][j] += 1
    return float(mpmath.log(mpmath.mpf(value.numerator)) - mpmath.log(mpmath.mpf(value.denominator)))


@pytest.mark.parametrize("a", [Fraction(1), Fraction(1, 2), Fraction(1, 64), Fraction(20)])
def test_evidence_is_the_exact_product_of_fractions(a):
    rng = np.random.default_rng(7)
    X, y = rng.poisson(2, (9, 5)), rng.integers(0, 3, 9)
    exact = exact_log_evidence(X.tolist(), y.tolist(), 3, a, Fraction(3, 2))
    assert posterior(X, y, 3, a=float(a), c=1.5).log_evidence() == pytest.approx(exact, rel=1e-13)


@given(case=fitted())
@modest
def test_evidence_is_the_sum_of_one_step_ahead_predictives_in_any_order(case):
    X, y, k, a, c, rng = case
    steps = []
    order = rng.permutation(len(y))
    for i, row in enumerate(order):
        past = posterior(X[order[:i]], y[order[:i]], k, a, c)
        steps += [past.log_theta("mean")[y[row]], past.log_predictive(X[[row]])[0, y[row]]]
    assert fsum(steps) == pytest.approx(posterior(X, y, k, a, c).log_evidence(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("d", [1e9, 1e12, 1e15, 1e18])
def test_evidence_keeps_its_digits_at_any_count(d):
    """[[d, 0], [0, d]] with concentrations 1: labels 1/6 and twice 1/(d + 1)."""
    post = posterior([[d, 0], [0, d]], [0, 1])
    assert post.log_evidence() == pytest.approx(-log(6) - 2 * log(d + 1), rel=1e-14)


def test_evidence_keeps_its_digits_beside_small_concentrations():
    """Counts (0, 1e15) under Dirichlet(1e-5, 1e-5): close to log 1/2, of terms of 3e16."""
    post = posterior([[0, 1e15]], [0], 1, a=1e-5)
    with mpmath.workdps(50):
        a, n = mpmath.mpf(1e-5), mpmath.mpf(10) ** 15
        exact = mpmath.log(mpmath.rf(a, n) / mpmath.rf(2 * a, n))
    assert post.log_evidence() == pytest.approx(float(exact), rel=1e-13)


def test_the_mode_keeps_the_digits_of_small_weights_under_an_explicit_prior():
    """Concentration 1: the mode is n/N though 1 + n is 1."""
    statistics = Statistics([1e-16], [[1e-16, 3e-16]])
    post = Posterior(Prior.resolve(ClassPrior(known=np.ones(1)), 1.0, 1.0, "map", (1, 2)), statistics)
    np.testing.assert_allclose(post.phi_hat("map"), [[0.25, 0.75]], rtol=1e-14)


def test_a_huge_smoothing_gives_even_probabilities_and_not_probability_zero():
    """log of 1e39 ** 4 must not overflow; beyond 1e100 a concentration is refused in words."""
    post = smoothed([[2, 0], [0, 2]], [0, 1], 1e39, "predictive")
    np.testing.assert_allclose(np.exp(post.log_proba([[4, 4]], "predictive")), 0.5, rtol=1e-14)
    with pytest.raises(ValueError, match="between 1e-100 and 1e"):
        smoothed([[2, 0], [0, 2]], [0, 1], 1e300, "predictive")
    with pytest.raises(ValueError, match=r"count of 1e\+308 at row 0, column 0 is beyond"):
        post.log_proba([[1e308, 0]], "predictive")


def test_class_probabilities_that_are_no_numbers_are_refused():
    """A row with NaN or +inf is named, never normalised to NaN."""
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="row 1 has log densities"):
            normalise(np.array([[0.0, 0.0], [bad, 0.0]]))


def test_evidence_of_separate_and_shared_phi_gives_the_exact_bayes_factor():
    """Spam (2, 1), ham (0, 2): sequence evidences 1/36 apart and 1/60 together, labels aside: 5/3."""
    known = np.array([0.5, 0.5])
    labels = 2 * log(2)
    apart = posterior([[2, 1], [0, 2]], [0, 1], known=known).log_evidence() + labels
    together = posterior([[2, 3]], [0], 1).log_evidence()
    assert apart == pytest.approx(log(1 / 36), abs=1e-14)
    assert together == pytest.approx(log(1 / 60), abs=1e-14)


# ---- identity 6: weights and permutations


@given(case=fitted())
@modest
def test_permuting_documents_classes_and_tokens_permutes_the_answers(case):
    X, y, k, a, c, rng = case
    rows, ks, js = rng.permutation(len(y)), rng.permutation(k), rng.permutation(X.shape[1])
    one = posterior(X, y, k, a, c)
    two = posterior(X[rows][:, js], np.argsort(ks)[y][rows], k, a[ks][:, js], c[ks])
    for estimate in ("mean", "predictive"):
        np.testing.assert_allclose(
            two.log_joint(X[:, js], estimate), one.log_joint(X, estimate)[:, ks], rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(two.phi_hat("mean"), one.phi_hat("mean")[ks][:, js], rtol=1e-13)
    assert two.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-12, abs=1e-12)


# ---- identities 7 and 10: the predictive


@pytest.mark.parametrize("length", [0, 1, 3, 5])
def test_predictive_sums_to_one_over_all_documents_of_a_length(length):
    """Over all token sequences, and over all count vectors with their coefficients."""
    post = posterior([[3, 0, 1], [0, 2, 2]], [0, 1], a=[[0.3, 1.0, 2.5], [1.0, 0.05, 4.0]])
    sequences = np.array([np.bincount(s, minlength=3) for s in product(range(3), repeat=length)], int).reshape(-1, 3)
    np.testing.assert_allclose(np.exp(post.log_predictive(sequences)).sum(axis=0), 1, rtol=1e-13)
    vectors = np.unique(sequences, axis=0)
    coefficient = np.array([factorial(length) / prod(factorial(int(n)) for n in x) for x in vectors])
    np.testing.assert_allclose(coefficient @ np.exp(post.log_predictive(vectors)), 1, rtol=1e-13)


def test_predictive_of_a_repeated_token_is_polyas():
    """Seen once in three tokens: P("a a") = 2/5 3/6 = 1/5, where the plug-in says 4/25."""
    post = posterior([[1, 2]], [0], 1)
    assert np.exp(post.log_predictive([[2, 0]]))[0, 0] == pytest.approx(1 / 5, rel=1e-14)
    assert np.exp(post.log_likelihood([[2, 0]], "mean"))[0, 0] == pytest.approx(4 / 25, rel=1e-14)


@pytest.mark.parametrize("k", [1, 5, 20, 100, 10_000])
def test_predictive_odds_of_a_long_document_are_polyas(k):
    """Spam 3 of 4 tokens "a", ham 1 of 4: odds (k + 2)(k + 3)/6 after k times "a"; the plug-in says 2^k."""
    post = posterior([[1, 3], [3, 1]], [0, 1])
    ham, spam = post.log_predictive([[k, 0]])[0]
    assert spam - ham == pytest.approx(log((k + 2) * (k + 3) / 6), rel=1e-11)
    assert np.subtract(*post.log_likelihood([[k, 0]], "mean")[0][::-1]) == pytest.approx(k * log(2), rel=1e-13)


def test_predictive_keeps_its_digits_at_1e15_tokens():
    """3e14 of 1e15 tokens are "a" (uniform prior); exact P("a a") by fractions."""
    post = Posterior(Prior(ClassPrior(concentration=np.ones(1)), np.ones((1, 2))), Statistics([1.0], [[3e14, 7e14]]))
    n, total = 3 * 10**14 + 1, 10**15 + 2
    exact = mpmath.log(mpmath.mpf(n * (n + 1)) / (total * (total + 1)))
    assert post.log_predictive([[2, 0]])[0, 0] == pytest.approx(float(exact), rel=1e-14)


def test_predictive_reads_fractional_counts():
    post = posterior([[1, 2]], [0], 1)
    exact = mpmath.log(mpmath.beta(2.5, 3.25) / mpmath.beta(2, 3))
    assert post.log_predictive([[0.5, 0.25]])[0, 0] == pytest.approx(float(exact), rel=1e-13)


@given(case=fitted())
@modest
def test_lumping_tokens_adds_concentrations_and_counts(case):
    """The first token against the rest is the same model with two tokens: mean, variance and interval agree."""
    X, y, k, a, c, _ = case
    if X.shape[1] == 1:
        return
    lumped_X, lumped_a = (np.stack([z[:, 0], z[:, 1:].sum(axis=1)], axis=1) for z in (X, a))
    one, two = posterior(X, y, k, a, c).phi, posterior(lumped_X, y, k, lumped_a, c).phi
    for name in ("mean", "variance", "interval"):
        np.testing.assert_allclose(getattr(one, name)()[:, 0], getattr(two, name)()[:, 0], rtol=1e-9, atol=1e-300)


# ---- zeros and underflow


def test_alpha_zero_answers_what_can_be_answered_and_refuses_zero_over_zero():
    """h = (2, 0), s = (0, 3): [1, 0] is h for certain, [0, 0] is even, [1, 1] is impossible under both."""
    post = smoothed([[2, 0], [0, 3]], [0, 1], 0, "map")
    np.testing.assert_array_equal(np.exp(post.log_proba([[1, 0], [0, 0]])), [[1, 0], [0.5, 0.5]])
    np.testing.assert_array_equal(post.log_joint([[1, 1]]), [[-np.inf, -np.inf]])
    with pytest.raises(ValueError, match="row 1 has probability 0 under every class"):
        post.log_proba([[1, 0], [1, 1]])


@pytest.mark.parametrize("alpha", [1e-12, 1e-100])
def test_the_impossible_document_has_a_limit_as_alpha_goes_to_zero(alpha):
    """P(h | [1, 1]) tends to 3/5."""
    post = smoothed([[2, 0], [0, 3]], [0, 1], alpha, "map")
    assert np.exp(post.log_proba([[1, 1]]))[0, 0] == pytest.approx(3 / 5, abs=1e-12)


def test_a_class_of_probability_zero_and_an_impossible_token_give_no_nan():
    post = posterior([[2, 0], [0, 3]], [0, 1], known=np.array([1.0, 0.0]))
    joint = post.log_joint([[1, 0], [0, 1], [0, 0]], "map")
    np.testing.assert_array_equal(joint, [[0, -np.inf], [-np.inf, -np.inf], [0, -np.inf]])


def test_a_product_that_underflows_is_finite_in_logs():
    """0.001 ** 120 is 0.0 in double precision; so is a document of a million tokens."""
    post = Posterior(Prior(ClassPrior(concentration=np.ones(1)), np.ones((1, 1000))), Statistics.zeros(1, 1000))
    document = np.zeros((2, 1000))
    document[:, 0] = 120, 1e6
    assert 0.001**120 == 0
    np.testing.assert_allclose(
        post.log_likelihood(document, "mean")[:, 0], [-828.9306334778564, 1e6 * log(0.001)], rtol=1e-14
    )


# ---- estimates that do not exist, and bad documents


def test_a_missing_mode_names_token_and_class():
    post = posterior([[3, 1, 0], [1, 1, 1]], [0, 1], a=0.5, classes=["ham", "spam"], tokens=["tea", "rum", "gin"])
    with pytest.raises(ValueError, match=r"'gin' in class 'ham'.*estimate='mean'"):
        post.phi_hat("map")
    with pytest.raises(ValueError, match="'gin'"):
        post.log_joint([[1, 0, 0]], "map")
    np.testing.assert_allclose(post.phi_hat("mean")[0], [7 / 11, 3 / 11, 1 / 11], rtol=1e-15)


def test_a_fractional_count_below_one_under_a_small_prior_has_no_mode():
    statistics = Statistics.from_documents([[1, 1]], np.array([0]), 1, [0.25])
    prior = Prior(ClassPrior(concentration=np.ones(1)), np.full((1, 2), 0.5))
    with pytest.raises(ValueError, match="below 1"):
        Posterior(prior, statistics).phi_hat("map")


@pytest.mark.parametrize("estimate", ["map", "mle"])
def test_a_class_without_tokens_is_named_where_its_estimate_is_zero_over_zero(estimate):
    post = posterior([[1, 0]], [0], classes=["ham", "spam"], known=np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"'spam'.*estimate='mean'"):
        post.phi_hat(estimate)
    np.testing.assert_array_equal(post.phi_hat("mean")[1], [0.5, 0.5])


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_a_bad_count_in_a_new_document_is_named_by_row_and_token(bad):
    post = posterior([[1, 0]], [0], 1, tokens=["tea", "rum"])
    for method in (post.log_joint, post.log_predictive):
        with pytest.raises(ValueError, match="row 1, column 'rum'"):
            method([[1, 1], [0, bad]])


def test_a_document_of_another_width_is_refused_with_both_widths():
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 2"):
        posterior([[1, 0]], [0], 1).log_joint([[1, 0, 0]])
    with pytest.raises(ValueError, match="row 0, column 2"):
        posterior([[1, 0]], [0], 1).log_joint([[1, 0, -1]])


def test_names_are_found_or_the_error_lists_what_there_is():
    post = posterior([[1, 0]], [0], 1, classes=["ham"], tokens=["tea", "rum\0"])
    assert (post.class_index("ham"), post.token_index("rum\0")) == (0, 1)
    with pytest.raises(ValueError, match="class 'spam' is not among the classes: 'ham'"):
        post.class_index("spam")
    with pytest.raises(ValueError, match="token 'gin' is not among the vocabulary: 'tea'"):
        post.token_index("gin")
    with pytest.raises(ValueError, match=r"tokens has shape \(1,\), expected \(2,\)"):
        posterior([[1, 0]], [0], 1, tokens=["tea"])


# ---- exact draws


def test_exact_draws_have_the_shape_of_chains_and_the_exact_moments():
    post = posterior([[3, 0, 1], [0, 2, 2]], [0, 1], a=0.5)
    draws = post.draw(draws=5000, chains=4, seed=1)
    assert draws["theta"].shape == (4, 5000, 2) and draws["phi"].shape == (4, 5000, 2, 3)
    for name, family in (("theta", post.theta), ("phi", post.phi)):
        error = np.sqrt(family.variance() / 20_000)
        assert (abs(draws[name].mean(axis=(0, 1)) - family.mean()) < 5 * error).all()
    assert abs(np.corrcoef(draws["phi"][0, :, 0, 0], draws["phi"][1, :, 0, 0])[0, 1]) < 5 / np.sqrt(5000)


def test_one_seed_gives_one_set_of_draws_and_another_gives_others():
    post = posterior([[1, 0]], [0], 1)
    one, same, other = (post.draw(5, 2, seed)["phi"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.isclose(one, other).any()


def test_draws_under_a_known_class_prior_repeat_it():
    draws = posterior([[1, 0]], [0], known=np.array([0.9, 0.1])).draw(3, 2)
    np.testing.assert_array_equal(draws["theta"], np.broadcast_to([0.9, 0.1], (2, 3, 2)))
