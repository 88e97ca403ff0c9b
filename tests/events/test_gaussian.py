"""The Gaussian event model: totals without cancellation, and closed forms against scipy.stats and by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayesnb.events.gaussian import NO_PRIOR, Posterior, Prior, Statistics, weak
from bayesnb.events.theta import ClassPrior
from bayesnb.families import NormalInverseGamma

modest = settings(deadline=None, max_examples=40)
NIG = NormalInverseGamma(0, 1, 2, 1)


def learn(X, y=None, n_classes=1, weight=None):
    y = np.zeros(len(X), int) if y is None else np.asarray(y)
    return Statistics.from_documents(X, y, n_classes, weight)


def posterior_of(statistics, normal=NIG, **names):
    shape = (statistics.n_classes, statistics.n_tokens)
    theta = ClassPrior(concentration=np.ones(statistics.n_classes))
    return Posterior(Prior(theta, normal.broadcast_to(shape)), statistics, **names)


def resolved(statistics, prior=None, share=1e-9, estimate="map", theta=None):
    theta = theta or ClassPrior(concentration=np.ones(statistics.n_classes))
    return Posterior(Prior.resolve(theta, prior, share, estimate, statistics), statistics)


def close(a, b, scale=1.0):
    """Equal totals, to 1e-12 of the spread and of the values' size."""
    np.testing.assert_allclose(a.class_count, b.class_count, rtol=1e-12)
    np.testing.assert_allclose(a.n, b.n, rtol=1e-12)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(a.M2, b.M2, rtol=1e-12, atol=1e-12 * scale**2 * max(1, a.n.max(initial=0)))


@st.composite
def corpora(draw):
    """Up to 12 documents over up to 3 columns of one scale and any location, with gaps and weights, in 3 classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, v = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = draw(st.sampled_from([0.0, 1.0, -30.0])) + rng.normal(size=(n, v))
    X[rng.random((n, v)) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    w = rng.choice([[1.0, 1.0], [0.25, 3.5]], axis=0)[rng.integers(0, 2, n)]
    return X, rng.integers(0, 3, n), w, rng


# --- totals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "dtype", "variance"), [([0, 1, 2], np.float64, 2 / 3), ([0, 8, 16], np.float32, 128 / 3)]
)
def test_large_values_keep_their_variance(values, dtype, variance):
    """1e8 + {0, 1, 2}, and 1e8 + {0, 8, 16} in float32: whole, one by one, and in two batches of any size."""
    X = (1e8 + np.array(values)[:, None]).astype(dtype)
    for cuts in ([], [1], [2], [1, 2]):
        parts = [learn(part) for part in np.split(X, cuts)]
        total = sum(parts[1:], parts[0])
        # the two means are whole numbers or their halves: 1e8 + 1/2 is exact, thirds are not merged here
        assert float(total.M2[0, 0] / total.n[0, 0]) == pytest.approx(variance, rel=1e-7 if len(cuts) else 1e-15)
    assert float(learn(X).M2[0, 0]) / 3 == pytest.approx(variance, rel=1e-15)


def test_moments_are_those_of_exact_fractions():
    """Weighted numbers of mixed size against rational arithmetic, rounded once."""
    rng = np.random.default_rng(2)
    x, w = rng.normal(1000, 1, 30), rng.uniform(0.1, 4, 30)
    s = learn(x[:, None], weight=w)
    exact_w, exact_x = [Fraction(v) for v in w], [Fraction(v) for v in x]
    total = sum(exact_w)
    mean = sum(a * b for a, b in zip(exact_w, exact_x, strict=True)) / total
    m2 = sum(a * (b - mean) ** 2 for a, b in zip(exact_w, exact_x, strict=True))
    assert [s.n[0, 0], s.mean[0, 0], s.M2[0, 0]] == pytest.approx([float(total), float(mean), float(m2)], rel=1e-14)


@modest
@given(case=corpora())
def test_any_split_merges_to_the_same_totals(case):
    """Parts in any order, a part without documents among them."""
    X, y, w, rng = case
    part = rng.integers(0, 4, len(X))
    pieces = [learn(X[part == p], y[part == p], 3, w[part == p]) for p in rng.permutation(5)]
    merged = sum(pieces[1:], pieces[0])
    close(merged, learn(X, y, 3, w), scale=31)


@modest
@given(case=corpora())
def test_removing_what_was_added_restores_the_totals(case):
    """Also where a class becomes empty, and where nothing is left at all."""
    X, y, w, rng = case
    kept = rng.random(len(X)) < 0.5
    rest = learn(X[~kept], y[~kept], 3, w[~kept])
    close(learn(X, y, 3, w) - rest, learn(X[kept], y[kept], 3, w[kept]), scale=31)
    nothing = learn(X, y, 3, w) - learn(X, y, 3, w)
    close(nothing, Statistics.zeros(3, X.shape[1]), scale=0)


def test_documents_learnt_one_by_one_can_be_unlearnt_one_by_one():
    """A thousand merges gather rounding; what is left at the end is still nothing, not an error."""
    X = np.random.default_rng(5).normal(50, 1, (1000, 2))
    total = Statistics.zeros(1, 2)
    for row in X:
        total = total + learn(row[None])
    close(total, learn(X), scale=50)
    for row in X[::-1]:
        total = total - learn(row[None])
    close(total, Statistics.zeros(1, 2), scale=0)


@pytest.mark.parametrize(
    ("learnt", "removed", "match"),
    [
        ([[1.0], [2.0]], [[1.0], [2.0], [3.0]], r"class_count would be -1"),
        ([[1.0], [np.nan]], [[1.0], [2.0]], r"n would be -1 at \(0, 0\)"),
        ([[1.0], [2.0], [3.0]], [[-50.0]], "M2 would be -"),
        ([[1.0], [2.0]], [[4.0], [6.0]], "M2 would be -"),
    ],
)
def test_a_removal_of_what_was_never_learnt_is_refused(learnt, removed, match):
    """Where a total would be negative; what was learnt stays as it is."""
    total = learn(learnt)
    before = [part.tobytes() for part in (total.class_count, total.n, total.mean, total.M2)]
    with pytest.raises(ValueError, match=match):
        total - learn(removed)
    assert [part.tobytes() for part in (total.class_count, total.n, total.mean, total.M2)] == before


@modest
@given(case=corpora())
def test_a_weight_is_copies(case):
    """Weight 3 is three documents, weight 0 none."""
    X, y, _, rng = case
    w = rng.integers(0, 4, len(X))
    close(learn(X, y, 3, w), learn(np.repeat(X, w, axis=0), np.repeat(y, w), 3), scale=31)


def test_missing_cells_drop_out():
    """Each column has the moments of its own known cells; the class has all its documents."""
    s = learn([[1.0, np.nan], [3.0, 7.0], [np.nan, np.nan]], [0, 0, 1], 2)
    np.testing.assert_array_equal(s.class_count, [2, 1])
    np.testing.assert_array_equal(s.n, [[2, 1], [0, 0]])
    np.testing.assert_array_equal(s.mean, [[2, 7], [0, 0]])
    np.testing.assert_array_equal(s.M2, [[2, 0], [0, 0]])
    assert s.held.all()


def test_a_constant_column_has_no_spread_at_all():
    """0.1 has no exact sum of ten; M2 is 0 to the bit, also merged, weighted and after a removal."""
    whole = learn(np.full((10, 1), 0.1), weight=np.linspace(0.1, 3, 10))
    part = learn(np.full((3, 1), 0.1))
    for s in (whole, whole + part, whole + part - part):
        assert (s.M2[0, 0], s.mean[0, 0]) == (0.0, 0.1)


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ({"mean": [[np.nan]]}, "size of mean would be nan"),
        ({"M2": [[-1.0]]}, "M2 would be -1"),
        ({"n": [[3.0]]}, "column 0 has 3 values in class 0, which has 2 documents"),
        ({"n": [[0.0]]}, "M2 must be 0 where n is 0"),
        ({"n": [[1.0, 1.0]]}, r"must be \(K,\), \(K, V\)"),
    ],
)
def test_totals_that_cannot_be_are_refused(bad, match):
    """Each is named."""
    good = {"class_count": [2.0], "n": [[2.0]], "mean": [[1.0]], "M2": [[0.5]]}
    assert Statistics(**good).n_tokens == 1
    with pytest.raises(ValueError, match=match):
        Statistics(**good | bad)


def test_infinite_cells_and_bad_codes_are_refused():
    with pytest.raises(ValueError, match="contains infinity at row 1, column 0"):
        learn([[1.0, 2.0], [np.inf, 1.0]])
    with pytest.raises(ValueError, match=r"integers in 0\.\.1"):
        learn([[1.0]], [2], 2)
    with pytest.raises(ValueError, match="M2 would be inf"):
        learn([[1e200], [-1e200]])


# --- priors -------------------------------------------------------------------------------------------------


def test_the_weak_prior_is_on_the_scale_of_each_column():
    """The column's mean over all classes, 0.01 observation of the mean, 3 of the variance."""
    X, y = np.array([[1.0], [3.0], [8.0]]), [0, 0, 1]
    prior = weak(learn(X, y, 2))
    assert [float(p[0]) for p in prior.parameters] == pytest.approx([4, 0.01, 1.5, X.var() / 2], rel=1e-15)
    assert prior.sigma2().mean() == pytest.approx(X.var(), rel=1e-15)


@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
def test_the_weak_prior_does_not_know_the_units(estimate):
    """Columns in other units, and shifted, give the same class probabilities: variances of 1e6 and 1e-4 among them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    X[y == 1] += 0.7
    plain = resolved(learn(X, y, 2), "weak").log_proba(X, estimate)
    other = X * [1e3, 1e-2, 7.0] + [5.0, 0.0, -2.0]
    # a column that lost a digit to its shift keeps the rest
    np.testing.assert_allclose(resolved(learn(other, y, 2), "weak").log_proba(other, estimate), plain, atol=1e-10)


@pytest.mark.parametrize("value", [1.0, 0.0, -1e-30, 1e150])
@pytest.mark.parametrize(
    ("prior", "estimate"), [("weak", "map"), ("weak", "mean"), ("weak", "predictive"), (None, "map")]
)
def test_constant_columns_are_finite_and_say_nothing(value, prior, estimate):
    """x = c everywhere in two classes of equal size: probability 1/2 at c and at 2 c, finite whatever c is."""
    posterior = resolved(learn(np.full((6, 2), value), [0, 1] * 3, 2), prior)
    np.testing.assert_allclose(posterior.log_proba([[value, value], [2 * value, value]], estimate), np.log(0.5))


def test_smoothing_is_of_the_totals_and_not_of_the_last_batch():
    """[[0], [2]] then [[100], [102]]: 1e-9 of the variance of all four, 2501, in two batches as in one."""
    X, y = np.array([[0.0], [2.0], [100.0], [102.0]]), np.array([0, 1, 0, 1])
    for s in (learn(X, y, 2), learn(X[:2], y[:2], 2) + learn(X[2:], y[2:], 2)):
        assert resolved(s).prior.epsilon.max() == pytest.approx(2.501e-6, rel=1e-14)


def test_arguments_that_make_no_prior_are_refused():
    """A number, an unknown name, a shape that does not fit, an estimate without a posterior, a bad var_smoothing."""
    s = learn([[1.0, 2.0], [2.0, 1.0]], [0, 1], 2)
    for prior in (2.0, "jeffreys"):
        with pytest.raises(ValueError, match=r"is None, 'weak' or NormalInverseGamma\(...\), got"):
            resolved(s, prior)
    with pytest.raises(ValueError, match=r"prior has shape \(3,\), which does not fit \(2, 2\)"):
        resolved(s, NormalInverseGamma([0.0, 1, 2], 1, 1, 1))
    for estimate in ("mean", "predictive"):
        with pytest.raises(ValueError, match=f"estimate='{estimate}' needs a posterior.*prior='weak'"):
            resolved(s, None, estimate=estimate)
    for share in (-1e-9, np.nan, "x"):
        with pytest.raises(ValueError, match="var_smoothing must be a number >= 0"):
            resolved(s, None, share)
    with pytest.raises(ValueError, match="either normal"):
        Prior(ClassPrior(concentration=np.ones(2)))


# --- posterior ----------------------------------------------------------------------------------------------


def test_scores_are_sums_of_normal_and_student_log_densities():
    """Each estimate against scipy.stats, with a missing cell that counts for nothing, over several blocks of rows."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(3, 2, (30, 4)), rng.integers(0, 3, 30)
    posterior = posterior_of(learn(X, y, 3), NormalInverseGamma([0.0, 1, 2, 3], 0.5, 2.5, 2.0))
    new = rng.normal(3, 2, (20_000, 4))
    new[7, 2] = np.nan
    known = ~np.isnan(new)
    for estimate in ("mle", "map", "mean"):
        law = stats.norm(posterior.mu_hat(estimate), np.sqrt(posterior.sigma2_hat(estimate)))
        expected = np.where(known[:, None], law.logpdf(np.nan_to_num(new)[:, None]), 0).sum(-1)
        np.testing.assert_allclose(posterior.log_likelihood(new, estimate), expected, rtol=1e-12, atol=1e-11)
    t = posterior.normal.predictive()
    expected = stats.t(t.df, t.loc, np.sqrt(t.scale2)).logpdf(np.nan_to_num(new)[:, None])
    expected = np.where(known[:, None], expected, 0).sum(-1)
    np.testing.assert_allclose(posterior.log_predictive(new), expected, rtol=1e-11, atol=1e-11)


def test_estimates_are_the_textbooks():
    """One cell with values 2 and 2 under NIG(0, 1, 2, 1): m = 4/3, alpha = 3, beta = 7/3."""
    posterior = posterior_of(learn([[2.0], [2.0]]))
    found = [(float(posterior.mu_hat(e)[0, 0]), float(posterior.sigma2_hat(e)[0, 0])) for e in ("map", "mean")]
    assert found == [pytest.approx((4 / 3, 7 / 3 / 4.5)), pytest.approx((4 / 3, 7 / 6))]
    mle = posterior_of(learn([[2.0], [4.0], [4.5]]))
    assert (mle.mu_hat("mle")[0, 0], mle.sigma2_hat("mle")[0, 0]) == pytest.approx((3.5, 3.5 / 3))


@modest
@given(case=corpora())
def test_evidence_is_the_sum_of_one_step_ahead_predictives(case):
    """In any order of the documents, labels and missing cells included."""
    X, y, _, rng = case
    order = rng.permutation(len(X))
    step, total = posterior_of(Statistics.zeros(3, X.shape[1])), 0.0
    for i in order:
        total += step.log_joint(X[i : i + 1], "predictive")[0, y[i]]
        step = replace(step, statistics=step.statistics + learn(X[i : i + 1], y[i : i + 1], 3))
    # a dozen steps of up to a few hundred nats
    assert posterior_of(learn(X, y, 3)).log_evidence() == pytest.approx(total, rel=1e-12, abs=1e-11)


def test_taking_a_document_out_is_refitting_without_it():
    """Exact leave-one-out under a prior that is held fixed."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 2)), np.repeat([0, 1], 6)
    full = resolved(learn(X, y, 2), "weak")
    for i in range(12):
        without = replace(full, statistics=full.statistics - learn(X[i : i + 1], y[i : i + 1], 2))
        again = replace(full, statistics=learn(np.delete(X, i, 0), np.delete(y, i), 2))
        for estimate in ("map", "predictive"):
            np.testing.assert_allclose(
                without.log_joint(X[i : i + 1], estimate), again.log_joint(X[i : i + 1], estimate), atol=1e-10
            )


def test_priors_do_count():
    """N(0, .01) against N(5, .01) at 0.1: 1200 nats of likelihood outweigh the 27.6 of a prior of 1e-12."""
    s = Statistics([10, 10], [[10], [10]], [[0.0], [5.0]], [[0.1], [0.1]])
    theta = ClassPrior(known=np.array([1e-12, 1 - 1e-12]))
    plain = resolved(s, share=0.0, theta=theta)
    likelihood, joint = plain.log_likelihood([[0.1]])[0], plain.log_joint([[0.1]])[0]
    assert likelihood[0] - likelihood[1] == pytest.approx(1200, rel=1e-12)
    assert joint[0] - joint[1] == pytest.approx(1200 + np.log(1e-12), rel=1e-12)
    # Student-t with 13 degrees of freedom: two orders of magnitude less sure of what ten values each can show
    t = resolved(s, "weak", theta=theta).log_predictive([[0.1]])[0]
    assert 5 < t[0] - t[1] < 50


def test_draws_are_exact():
    """Means of mu and of log sigma2 within 5 standard errors, every cell; the shape that ArviZ expects."""
    posterior = posterior_of(learn([[1.0, 5.0], [2.0, 5.5], [0.0, 9.0]], [0, 0, 1], 2))
    drawn = posterior.draw(draws=4000, chains=2, seed=0)
    assert {name: value.shape for name, value in drawn.items()} == {
        "theta": (2, 4000, 2), "mu": (2, 4000, 2, 2), "sigma2": (2, 4000, 2, 2)
    }  # fmt: skip
    mu, sigma2 = posterior.mu, posterior.sigma2
    for values, mean, variance in [
        (drawn["mu"], mu.mean(), mu.variance()),
        (np.log(drawn["sigma2"]), sigma2.mean_log(), sigma2.variance_log()),
    ]:
        assert (np.abs(values.mean(axis=(0, 1)) - mean) < 5 * np.sqrt(variance / 8000)).all()


def test_without_a_prior_the_estimate_is_scikit_learns_and_nothing_more():
    """mu and sigma2 have a value; variance, interval, draws, evidence and the joint posterior are refused."""
    s = learn([[1.0], [3.0], [8.0], [8.5]], [0, 0, 1, 1], 2)
    posterior = resolved(s)
    added = 1e-9 * np.var([1, 3, 8, 8.5])
    np.testing.assert_allclose(posterior.sigma2.mean(), [[1 + added], [0.0625 + added]], rtol=1e-14)
    np.testing.assert_array_equal(posterior.mu.mode(), [[2.0], [8.25]])
    refused = [
        posterior.mu.interval, posterior.sigma2.variance, posterior.draw, posterior.log_evidence,
        lambda: posterior.mu.draw(np.random.default_rng(0)), lambda: posterior.normal,
        lambda: posterior.log_predictive([[1.0]]), lambda: posterior.mu_hat("mean"),
    ]  # fmt: skip
    for ask in refused:
        with pytest.raises(ValueError) as error:
            ask()
        assert str(error.value) == NO_PRIOR


def test_estimates_that_do_not_exist_name_class_and_column():
    """A variance of 0, nothing measured, a mean of sigma2 that is infinite."""
    names = {"classes": ["a", "b"], "tokens": ["height", "width"]}
    flat = posterior_of(learn([[1.0, 2.0], [2.0, 2.0], [1.0, 1.0], [2.0, 2.0]], [0, 0, 1, 1], 2), **names)
    for ask in (flat.require, flat.mu_hat, lambda e: flat.log_joint([[1.0, 1.0]], e)):
        with pytest.raises(ValueError, match=r"variance in column 'width' of class 'a' is 0.*prior='weak'"):
            ask("mle")
    flat.require("map")
    gap = replace(flat, statistics=learn([[1.0, 2.0], [2.0, 3.0], [1.0, np.nan], [2.0, np.nan]], [0, 0, 1, 1], 2))
    with pytest.raises(ValueError, match="nothing was measured in column 'width' of class 'b': no mle"):
        gap.require("mle")
    gap.require("predictive")
    heavy = posterior_of(learn([[1.0], [2.0]], [0, 0], 2), NormalInverseGamma(0, 1, 0.5, 1))
    with pytest.raises(ValueError, match=r"sigma2 of column 0 of class 1 has no mean: its alpha is 0\.5, not above 1"):
        heavy.require("mean")
    heavy.require("predictive")


def test_bad_documents_are_refused():
    """Another number of columns, an infinite cell named by its column, a sparse matrix."""
    posterior = posterior_of(learn([[1.0, 2.0]]), tokens=["a", "b"])
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 2"):
        posterior.log_joint(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="infinity at row 0, column 'b'"):
        posterior.log_joint([[0.0, -np.inf]])


def test_permuting_classes_and_columns_permutes_the_answer():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    classes, columns = np.array([2, 0, 1]), np.array([1, 2, 0])
    plain = resolved(learn(X, y, 3), "weak")
    moved = resolved(learn(X[:, columns], np.argsort(classes)[y], 3), "weak")
    np.testing.assert_allclose(
        moved.log_joint(X[:, columns], "mean"), plain.log_joint(X, "mean")[:, classes], rtol=1e-13, atol=1e-12
    )
    assert moved.log_evidence() == pytest.approx(plain.log_evidence(), rel=1e-13)


def test_the_prior_is_described():
    s = learn([[1.0, 4.0], [3.0, 2.0]], [0, 1], 2)
    assert posterior_of(s).prior.describe() == "mu, sigma2 ~ NormalInverseGamma(0, 1, 2, 1), theta ~ Dirichlet(1)"
    assert "per column" in resolved(s, "weak").prior.describe()
    assert resolved(s).prior.describe() == "mu, sigma2 estimated (sigma2 + 1e-09), theta ~ Dirichlet(1)"
    assert (resolved(s).prior.strength.tolist(), posterior_of(s).prior.strength.tolist()) == ([0, 0], [4, 4])
