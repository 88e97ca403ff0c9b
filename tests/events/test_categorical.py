"""The categorical model against exact fractions, enumeration, scikit-learn and the identities of naive Bayes."""

from fractions import Fraction
from itertools import product
from math import fsum

import mpmath
import numpy as np
import pytest
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesnb.events import bernoulli, multinomial
from bayesnb.events.categorical import Cell, Documents, Posterior, Prior, Statistics, per_cell
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta

modest = settings(deadline=None, max_examples=25)


def cells(codes, sizes):
    """Rows of codes, -1 where missing, as 0/1 over the cells of columns of these sizes; and the column of each cell."""
    codes = np.asarray(codes).reshape(-1, len(sizes))
    start = np.concatenate([[0], np.cumsum(sizes)])
    X = np.zeros((len(codes), start[-1]))
    row, column = np.nonzero(codes >= 0)
    X[row, start[column] + codes[row, column]] = 1
    return X, np.repeat(np.arange(len(sizes)), sizes)


def posterior(codes, y, sizes, k=2, a=1.0, c=1.0, weight=None, **names):
    X, block = cells(codes, sizes)
    totals = Statistics.from_documents(X, np.asarray(y, int), k, weight, block=block)
    theta = ClassPrior(concentration=np.broadcast_to(c, (k,)))
    return Posterior(Prior(theta, np.broadcast_to(a, totals.feature_count.shape), block), totals, **names)


def smoothed(codes, y, sizes, alpha, estimate, k=2):
    """The posterior as the estimators form it."""
    X, block = cells(codes, sizes)
    totals = Statistics.from_documents(X, np.asarray(y, int), k, block=block)
    return Posterior(Prior.resolve(ClassPrior.resolve(1.0, np.arange(k)), None, alpha, estimate, totals), totals)


@st.composite
def fitted(draw):
    """Documents with some values missing, and a concentration for each class and cell, from .05 to 20."""
    k, n = draw(st.integers(1, 3)), draw(st.integers(1, 7))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.where(rng.random((n, len(sizes))) < 0.2, -1, rng.integers(0, sizes, (n, len(sizes))))
    a = np.exp(rng.uniform(-3, 3, (k, sum(sizes))))
    return codes, rng.integers(0, k, n), sizes, k, a, np.exp(rng.uniform(-3, 3, k)), rng


DOCUMENTS = [[0, 2], [0, 0], [1, 2], [0, -1]]  # two columns, of 2 and 3 categories
CLASSES = [0, 0, 0, 1]


def test_laplace_adds_s_to_each_category_of_the_columns_own_total():
    """(n + s)/(N_kj + s C_j): class 1 has one value in column 0 and none in column 1."""
    expected = [[Fraction(3, 5), Fraction(2, 5), Fraction(2, 6), Fraction(1, 6), Fraction(3, 6)]]
    expected += [[Fraction(2, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]]
    for estimate in ("map", "mean", "predictive"):
        phi = smoothed(DOCUMENTS, CLASSES, [2, 3], 1.0, estimate).phi_hat(estimate)
        np.testing.assert_allclose(phi, np.array(expected, float), rtol=1e-15)


@pytest.mark.parametrize("alpha", [1e-17, 1e-10, 1e-3, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
def test_adding_alpha_is_scikit_learns_whatever_the_estimate(alpha, estimate):
    """Identity 1, log probabilities to 1e-12."""
    rng = np.random.default_rng(8)
    codes, y = rng.integers(0, [3, 1, 4], (15, 3)), rng.integers(0, 3, 15)
    codes[:3], y[:3] = [2, 0, 3], [0, 1, 2]  # every class, and the largest codes
    theirs = sklearn.naive_bayes.CategoricalNB(alpha=alpha).fit(codes, y)
    post = smoothed(codes, y, [3, 1, 4], alpha, estimate, 3)
    np.testing.assert_allclose(
        post.log_phi(estimate), np.concatenate(theirs.feature_log_prob_, axis=1), rtol=1e-12, atol=1e-12
    )
    if estimate == "map":
        X, _ = cells(codes, [3, 1, 4])
        np.testing.assert_allclose(post.log_joint(X), theirs.predict_joint_log_proba(codes), rtol=1e-12)


@given(case=fitted())
@modest
def test_predictive_is_the_mean_and_sums_to_one_over_all_documents(case):
    """Each cell is seen once a document; all documents are enumerated, and a missing value sums its column out."""
    codes, y, sizes, k, a, c, _ = case
    post = posterior(codes, y, sizes, k, a, c)
    every, _ = cells(list(product(*map(range, sizes))), sizes)
    np.testing.assert_array_equal(post.log_predictive(every), post.log_likelihood(every, "mean"))
    np.testing.assert_allclose(np.exp(post.log_predictive(every)).sum(axis=0), 1, rtol=1e-12)
    known = (every[:, : sizes[0]] == [1] + [0] * (sizes[0] - 1)).all(axis=1)
    alone, _ = cells([[0] + [-1] * (len(sizes) - 1)], sizes)
    np.testing.assert_allclose(
        np.exp(post.log_predictive(every[known])).sum(axis=0), np.exp(post.log_predictive(alone))[0], rtol=1e-12
    )


@given(case=fitted())
@modest
def test_evidence_is_the_sum_of_one_step_ahead_predictives_in_any_order(case):
    """Identity 3, with missing values."""
    codes, y, sizes, k, a, c, rng = case
    order, steps = rng.permutation(len(y)), []
    for i, row in enumerate(order):
        past = posterior(codes[order[:i]], y[order[:i]], sizes, k, a, c)
        X, _ = cells(codes[row], sizes)
        steps += [past.log_theta("mean")[y[row]], past.log_predictive(X)[0, y[row]]]
    assert fsum(steps) == pytest.approx(posterior(codes, y, sizes, k, a, c).log_evidence(), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("a", [0.125, 1.0, 3.0])
def test_evidence_of_huge_counts_keeps_its_digits(a):
    """Counts near 1e15 beside single ones, where the evidence is of some tens of nats, against mpmath at 60 digits."""
    n = np.array([[1e15, 3.0, 0.0, 0.0, 7e14, 0], [2.0, 1.0, 4.0, 1e15, 6.0, 1.0]])
    block = np.array([0, 0, 0, 1, 1, 2])
    totals = Statistics([2e15, 2e15], n, block)
    theta = ClassPrior(known=np.array([0.5, 0.5]))
    found = Posterior(Prior(theta, np.full(n.shape, a), block), totals)._log_evidence()
    with mpmath.workdps(60):
        expected = mpmath.mpf(0)
        for row in n:
            for j in range(3):
                counts = [mpmath.mpf(c) for c in row[block == j]]
                expected += mpmath.fsum(mpmath.loggamma(a + c) - mpmath.loggamma(a) for c in counts)
                expected -= mpmath.loggamma(a * len(counts) + sum(counts)) - mpmath.loggamma(a * len(counts))
    # 1e-12 is what log_dirichlet_step promises
    assert found == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("a", [Fraction(1), Fraction(1, 2), Fraction(7, 64)])
def test_evidence_is_the_exact_product_of_fractions(a):
    rng = np.random.default_rng(9)
    codes, y = rng.integers(0, [2, 3], (12, 2)), rng.integers(0, 2, 12)
    value, docs, seen = Fraction(1), [0, 0], {}
    for row, k in zip(codes.tolist(), y.tolist(), strict=True):
        value *= Fraction(1 + docs[k], 2 + sum(docs))
        for j, code in enumerate(row):
            value *= (a + seen.get((k, j, code), 0)) / (a * (2, 3)[j] + docs[k])
            seen[k, j, code] = seen.get((k, j, code), 0) + 1
        docs[k] += 1
    exact = mpmath.log(mpmath.mpf(value.numerator)) - mpmath.log(mpmath.mpf(value.denominator))
    assert posterior(codes, y, [2, 3], a=float(a)).log_evidence() == pytest.approx(float(exact), rel=1e-13)


@given(case=fitted(), weighted=st.booleans())
@modest
def test_leaving_a_document_out_is_fitting_without_it(case, weighted):
    """Identity 4, to 1e-10, with weights."""
    codes, y, sizes, k, a, c, rng = case
    weight = rng.uniform(0.5, 3, len(y)) if weighted else np.ones(len(y))
    whole = posterior(codes, y, sizes, k, 1 + a, c, weight)
    X, _ = cells(codes, sizes)
    for estimate in ("map", "mean"):
        left = whole.log_likelihood_left_out(X, y, weight, estimate)
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            fresh = posterior(codes[rest], y[rest], sizes, k, 1 + a, c, weight[rest])
            assert left[i] == pytest.approx(fresh.log_likelihood(X[[i]], estimate)[0, y[i]], abs=1e-10)


def test_leaving_out_the_only_value_of_a_column_is_named_under_the_mle():
    post = posterior(DOCUMENTS, CLASSES, [2, 3], classes=["ham", "spam"])
    X, _ = cells(DOCUMENTS, [2, 3])
    with pytest.raises(ValueError, match="with row 3 left out, class 'spam' has no value in column 0"):
        post.log_likelihood_left_out(X, np.array(CLASSES), np.ones(4), "mle")


@given(case=fitted(), cut=st.integers(0, 7))
@modest
def test_totals_are_additive_and_subtract_bit_for_bit(case, cut):
    """Identity 5."""
    codes, y, sizes, k, _, _, _ = case
    X, block = cells(codes, sizes)
    whole, one, two = (
        Statistics.from_documents(X[part], y[part], k, block=block)
        for part in (slice(None), slice(0, cut), slice(cut, None))
    )
    for same in (one + two, two + one):
        assert same.feature_count.tobytes() == whole.feature_count.tobytes()
        assert same.block.tolist() == block.tolist()
    assert (whole - two).feature_count.tobytes() == one.feature_count.tobytes()


@given(case=fitted())
@modest
def test_weights_are_copies_and_permutations_permute_the_answers(case):
    """Identity 6: documents, classes, and cells, within and between columns."""
    codes, y, sizes, k, a, c, rng = case
    times = rng.integers(1, 4, len(y))
    one = posterior(codes, y, sizes, k, a, c, weight=times)
    two = posterior(np.repeat(codes, times, axis=0), np.repeat(y, times), sizes, k, a, c)
    assert one.statistics.feature_count.tobytes() == two.statistics.feature_count.tobytes()
    X, block = cells(codes, sizes)
    rows, ks, js = rng.permutation(len(y)), rng.permutation(k), rng.permutation(X.shape[1])
    totals = Statistics.from_documents(X[np.ix_(rows, js)], np.argsort(ks)[y][rows], k, times[rows], block=block[js])
    other = Posterior(Prior(ClassPrior(concentration=c[ks]), a[np.ix_(ks, js)], block[js]), totals)
    np.testing.assert_allclose(
        other.log_joint(X[:, js], "mean"), one.log_joint(X, "mean")[:, ks], rtol=1e-12, atol=1e-12
    )
    assert other.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-12, abs=1e-12)


def test_one_column_is_the_multinomial_model_of_documents_of_one_token():
    rng = np.random.default_rng(3)
    codes, y, a = rng.integers(0, 4, (20, 1)), rng.integers(0, 2, 20), rng.uniform(0.2, 3, (2, 4))
    post = posterior(codes, y, [4], a=a)
    X, _ = cells(codes, [4])
    other = multinomial.Posterior(
        multinomial.Prior(post.prior.theta, a), multinomial.Statistics.from_documents(X, y, 2)
    )
    assert post.log_evidence() == pytest.approx(other.log_evidence(), rel=1e-13)
    for estimate in ("mean", "predictive", "mle"):
        np.testing.assert_allclose(post.log_joint(X, estimate), other.log_joint(X, estimate), rtol=1e-13)


def test_columns_of_two_categories_are_the_bernoulli_model():
    rng = np.random.default_rng(4)
    codes, y = rng.integers(0, 2, (20, 3)), rng.integers(0, 2, 20)
    a, b = rng.uniform(0.2, 3, (2, 2, 3))
    post = posterior(codes, y, [2, 2, 2], a=np.stack([b, a], axis=2).reshape(2, 6))
    other = bernoulli.Posterior(
        bernoulli.Prior(post.prior.theta, Beta(a, b)), bernoulli.Statistics.from_documents(codes, y, 2)
    )
    assert post.log_evidence() == pytest.approx(other.log_evidence(), rel=1e-13)
    X, _ = cells(codes, [2, 2, 2])
    np.testing.assert_allclose(post.log_joint(X, "mean"), other.log_joint(codes, "mean"), rtol=1e-12)


def test_a_missing_mode_names_column_category_and_class():
    names = {"classes": ["ham", "spam"], "tokens": [Cell(0, "red"), Cell(0, "blue"), *(Cell(1, c) for c in range(3))]}
    post = posterior(DOCUMENTS, CLASSES, [2, 3], a=0.5, **names)
    with pytest.raises(ValueError, match=r"category 'blue' of column 0 in class 'spam' is below 1; use"):
        post.phi_hat("map")
    flat = posterior(DOCUMENTS, CLASSES, [2, 3], c=2.0, **names)
    with pytest.raises(ValueError, match=r"column 1 in class 'spam' has no unique mode.*estimate='mean'"):
        flat.phi_hat("map")
    with pytest.raises(ValueError, match=r"class 'spam' has no value in column 1.*estimate='mean'"):
        flat.phi_hat("mle")
    assert post.tokens.tolist() == ["0=red", "0=blue", "1=0", "1=1", "1=2"]


def test_a_category_alone_in_its_column_is_certain():
    post = posterior([[0], [0]], [0, 0], [1], k=1, a=0.5)
    for estimate in ("map", "mean", "mle"):
        assert post.phi_hat(estimate).tolist() == [[1.0]]
    assert post.phi.variance().tolist() == [[0.0]] and post.phi.interval().tolist() == [[[1.0, 1.0]]]


def test_impossible_totals_are_refused_and_nothing_changes():
    """Negative, more values than documents, other columns, two categories of one column."""
    X, block = cells(DOCUMENTS, [2, 3])
    whole = Statistics.from_documents(X, np.array(CLASSES), 2, block=block)
    other, _ = cells([[1, 1]], [2, 3])
    with pytest.raises(ValueError, match="negative"):
        whole - Statistics.from_documents(other, np.array([1]), 2, block=block)
    with pytest.raises(ValueError, match="column 0 would have 3 values in class 0, which has 2 documents"):
        whole - Statistics.from_documents(np.zeros((1, 5)), np.array([0]), 2, block=block)
    with pytest.raises(ValueError, match="the columns differ"):
        whole + Statistics.from_documents(X, np.array(CLASSES), 2, block=[0, 0, 1, 1, 2])
    with pytest.raises(ValueError, match="row 1 has 2 categories in column 1"):
        Statistics.from_documents([[1, 0, 0, 0, 1], [0, 1, 1, 1, 0]], np.array([0, 1]), 2, block=block)
    with pytest.raises(ValueError, match="row 0 has 2 categories in column 0"):
        posterior(DOCUMENTS, CLASSES, [2, 3]).log_likelihood([[1, 1, 0, 0, 0]], "mean")
    with pytest.raises(ValueError, match="same columns"):
        Posterior(Prior(ClassPrior(concentration=np.ones(2)), np.ones((2, 5)), [0, 0, 0, 1, 1]), whole)


def test_cells_that_stay_are_the_seen_the_declared_and_codes_below_them():
    X = sparse.csr_array(np.array([[1.0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]]))
    documents = Documents(X, np.array([0, 0, 0, 0, 1, 1, 2]), np.array([1, 1, 1, 1, 0, 2, 1]))
    assert Statistics.from_documents(documents, np.array([0, 0]), 1).held.tolist() == [1, 1, 1, 0, 0, 1, 0]


def test_exact_draws_have_the_exact_moments():
    """Means of phi, of log phi and of the product of two cells, in 5 standard errors."""
    post = posterior(DOCUMENTS, CLASSES, [2, 3], a=[[0.5, 2, 1, 0.3, 4]])
    phi = post.draw(draws=5000, chains=4, seed=1)["phi"].reshape(-1, 2, 5)
    np.testing.assert_allclose(phi @ post.statistics.member.toarray(), 1, rtol=1e-12)
    root = np.sqrt(len(phi))
    assert (abs(phi.mean(axis=0) - post.phi.mean()) < 5 * np.sqrt(post.phi.variance()) / root).all()
    log = np.log(phi)
    assert (abs(log.mean(axis=0) - post.phi.mean_log()) < 5 * np.sqrt(post.phi.variance_log()) / root).all()
    # columns are independent, cells of one column are not: E[phi_1 phi_2] = a_1 a_2 / (A (A + 1))
    a, total = post.phi.concentration[0], post.phi.total[0]
    for i, j, mean in ((0, 2, a[0] * a[2] / (total[0] * total[2])), (2, 4, a[2] * a[4] / (total[2] * (total[2] + 1)))):
        both = phi[:, 0, i] * phi[:, 0, j]
        assert abs(both.mean() - mean) < 5 * both.std() / root


def test_numbers_a_column_are_spread_over_its_cells():
    block = np.array([0, 0, 1, 1, 1])
    assert per_cell([1, 2], block, 2, (5,), "prior").tolist() == [1, 1, 2, 2, 2]
    assert per_cell([[1, 3], 2], block, 2, (5,), "prior").tolist() == [1, 3, 2, 2, 2]
    assert per_cell([[[1, 3], [4, 5]], [6, 7, 8]], block, 2, (2, 5), "prior").tolist() == [
        [1, 3, 6, 7, 8],
        [4, 5, 6, 7, 8],
    ]
    assert per_cell([1, 2, 3, 4, 5], block, 2, (2, 5), "prior").tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match=r"prior has 3 entries.*2 columns.*5 cells"):
        per_cell([1, 2, 3], block, 2, (2, 5), "prior")
    with pytest.raises(ValueError, match=r"prior of column 1 is .*its 3 categories"):
        per_cell([1, [2, 3]], block, 2, (2, 5), "prior")
