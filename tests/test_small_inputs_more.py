"""More small inputs that break tools of this kind, with their right answers: containers, modes, contrasts."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bayesnb
from bayesnb import families
from bayesnb.normal import NormalInverseGamma

COUNTS = [[3, 0, 1], [0, 2, 0], [1, 1, 4]]
Y = ["h", "s", "s"]


def test_find_map_without_the_jacobian_is_the_mode_and_with_it_the_mean():
    """Counts (3, 1, 0) under Dirichlet(2): the Jacobian of the simplex transform adds 1 to every exponent of phi."""
    import pymc as pm
    from scipy.optimize import minimize

    counts, a = np.array([3, 1, 0]), 2.0
    with warnings.catch_warnings(), pm.Model() as model:
        warnings.simplefilter("ignore")  # PyMC announces that find_MAP will return something else one day
        pm.Multinomial("n", 4, pm.Dirichlet("phi", np.full(3, a)), observed=counts)
        found = pm.find_MAP(progressbar=False)["phi"]
        logp = model.compile_logp(jacobian=True)
        name = model.value_vars[0].name
        best = minimize(lambda x: -logp({name: x}), np.zeros(2), method="Nelder-Mead", tol=1e-12).x
        with_jacobian = model.rvs_to_transforms[model["phi"]].backward(best).eval()
    law = families.Dirichlet(a + counts)
    # optimisers stop at differences of about the square root of the machine's precision
    np.testing.assert_allclose(found, law.mode(), atol=1e-5)
    np.testing.assert_allclose(with_jacobian, law.mean(), atol=1e-5)


def test_a_tiny_prior_loses_against_measurements_and_explain_shows_both():
    """N(0, .01) against N(5, .01) at .1: 1,200 nats of likelihood, 27.6 of prior."""
    x = np.array([-0.1, 0.1, 4.9, 5.1])[:, None]  # variance .01 in each class
    clf = bayesnb.GaussianNB(priors=[1e-12, 1 - 1e-12], var_smoothing=0).fit(x, [0, 0, 1, 1])
    assert clf.predict([[0.1]]).tolist() == [0]
    gap = np.diff(clf.predict_joint_log_proba([[0.1]]))[0, 0]
    assert -gap == pytest.approx((24.01 - 0.01) / 0.02 - np.log(1e12), rel=1e-12)
    weak = bayesnb.GaussianNB(priors=[1e-12, 1 - 1e-12], prior="weak", estimate="mean").fit(
        np.repeat(x, 3, 0), [0] * 6 + [1] * 6
    )
    table = weak.explain([0.1])
    joint = weak.predict_joint_log_proba([[0.1]])[0]
    a = weak.classes_.tolist().index(table.attrs["classes"][0])
    assert table["contribution"].iloc[0] == pytest.approx(np.log(1e-12) * (1 if a == 0 else -1), rel=1e-9)
    assert table["contribution"].sum() == pytest.approx(joint[a] - joint[1 - a], rel=1e-12)


def test_batches_of_one_and_classes_absent_from_a_batch_are_the_whole():
    one = bayesnb.GaussianNB(prior="weak", estimate="predictive").partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
    assert np.isfinite(one.predict_proba([[1.0, 2.0]])).all()
    first, second, classes = [[0.0], [2.0]], [[100.0], [102.0]], [0, 1]
    parts = bayesnb.GaussianNB().partial_fit(first, [0, 0], classes=classes).partial_fit(second, [1, 1])
    whole = bayesnb.GaussianNB().fit(first + second, [0, 0, 1, 1])
    np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-15)
    assert parts.epsilon_ == pytest.approx(2.501e-6, rel=1e-12)  # 1e-9 of the variance of all four


@pytest.mark.parametrize(
    ("data", "df", "loc", "scale2"), [([], 4, 0, 1), ([2.0], 5, 1, 6 / 5), ([2.0, 2.0], 6, 4 / 3, 28 / 27)]
)
def test_the_normal_inverse_gamma_predictive(data, df, loc, scale2):
    x = np.array(data)
    mean, m2 = (x.mean(), ((x - x.mean()) ** 2).sum()) if len(x) else (0.0, 0.0)
    law = NormalInverseGamma(0.0, 1.0, 2.0, 1.0).updated(float(len(x)), mean, m2).predictive()
    assert (float(law.df), float(law.loc), float(law.scale2)) == pytest.approx((df, loc, scale2), rel=1e-14)


FORMATS = ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"]


@pytest.mark.parametrize("kind", [f"{f}_{k}" for f in FORMATS for k in ("array", "matrix")])
@pytest.mark.parametrize("make", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_every_sparse_container_is_the_dense_array(kind, make):
    X = getattr(sparse, kind)(np.array(COUNTS, float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a column above binarize in every row
        dense, found = make().fit(COUNTS, Y), make().fit(X, Y)
    assert found.feature_count_.tolist() == dense.feature_count_.tolist()
    np.testing.assert_array_equal(found.predict_proba(X), dense.predict_proba(COUNTS))


def test_a_sparse_vector_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"1D|1-D|one-dimensional|2-?[Dd]") as error:
        bayesnb.MultinomialNB().fit(sparse.coo_array(np.array([1, 0, 2])), [0, 1, 0])
    assert str(error.value).count("\n") <= 1  # scikit-learn's own words take two


@pytest.mark.parametrize("make", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_the_caller_s_matrix_is_neither_changed_nor_need_it_be_writable(make):
    """Unsorted, with a duplicate and an explicit zero, 64-bit indices, closed for writing."""
    parts = np.array([2.0, 1.0, 1.0, 0.0, 5.0]), np.array([2, 0, 2, 1, 1]), np.array([0, 4, 5])
    X = sparse.csr_array((2, 3))
    X.data, X.indices, X.indptr = (part.copy() for part in parts)
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    found = make().fit(X, [0, 1])
    assert found.feature_count_.tolist() == make().fit([[1, 0, 3], [0, 5, 0]], [0, 1]).feature_count_.tolist()
    found.predict_proba(X)
    for kept, part in zip((X.data, X.indices, X.indptr), parts, strict=True):
        assert kept.tolist() == part.tolist()


def test_frames_of_any_kind_keep_their_names_and_give_the_same_model():
    dense = pd.DataFrame(COUNTS, columns=["a", "b", "c"])
    models = [
        bayesnb.MultinomialNB().fit(frame, Y)
        for frame in (
            dense,
            dense.astype(pd.SparseDtype(float, 0)),
            dense.astype("Int64"),
            pl.DataFrame(dense.to_dict("list")),
        )
    ]
    for model in models:
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.feature_count_.tolist() == models[0].feature_count_.tolist()
    with pytest.raises(ValueError, match=r"NaN|missing|NA"):
        bayesnb.MultinomialNB().fit(pd.DataFrame({"a": [1, None], "b": [0, 1]}, dtype="Int64"), [0, 1])


def test_a_large_sparse_frame_stays_sparse():
    """10^5 x 10^4: dense it were 8 GB."""
    rng = np.random.default_rng(1)
    X = sparse.coo_array(
        (np.ones(1000), (rng.integers(0, 10**5, 1000), rng.integers(0, 100, 1000))), shape=(10**5, 100)
    )
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X))
    y = np.arange(10**5) % 2
    found = bayesnb.MultinomialNB().fit(frame, y)
    assert found.feature_count_.tolist() == bayesnb.MultinomialNB().fit(sparse.csr_array(X), y).feature_count_.tolist()


def test_swapping_the_classes_negates_every_log_ratio():
    """A "red red blue", B "blue green", Dirichlet(1/2): red speaks for A, green for B."""
    clf = bayesnb.TextClassifier(prior=0.5, estimate="mean").fit(["red red blue", "blue green"], ["A", "B"])
    there, back = clf.token_ratios("A", "B"), clf.token_ratios("B", "A")
    np.testing.assert_array_equal(there["log_ratio_mean"], -back["log_ratio_mean"])
    np.testing.assert_allclose(there["log_lower"], -back["log_upper"], rtol=1e-9)
    assert there["log_ratio_mean"].loc["red"] > 0 > there["log_ratio_mean"].loc["green"]
    assert (there.attrs["numerator"], there.attrs["denominator"]) == ("A", "B")


def test_a_token_that_is_frequent_in_a_class_need_not_speak_for_it():
    """phi_h = (.9, .1), phi_s = (.8, .2): token 0 leads in s and speaks for h."""
    clf = bayesnb.MultinomialNB(estimate="mle").fit([[9, 1], [8, 2]], ["h", "s"])
    contrast = np.diff(clf.feature_log_prob_, axis=0)[0]
    np.testing.assert_allclose(contrast, [np.log(0.8 / 0.9), np.log(2)], rtol=1e-12)
    assert not hasattr(clf, "coef_")


def test_the_prior_s_strength_is_told_beside_the_data():
    """Concentration 1 for 50,000 tokens outweighs 1,000 tokens: 98 % of the posterior."""
    X = sparse.csr_array((np.full(2, 500.0), ([0, 1], [0, 1])), shape=(2, 50_000))
    clf = bayesnb.MultinomialNB(prior=1.0, estimate="mean").fit(X, [0, 1])
    strength = float(np.max(clf.posterior_.prior.strength))
    assert strength == 50_000
    assert strength / (strength + 1000) == pytest.approx(0.98, abs=0.001)


def test_two_more_hits_beside_huge_counts_keep_their_digits():
    """n = 3e14 of N = 1e15, alpha 1, V = 2: two more hits have log probability -2.407945608651867."""
    clf = bayesnb.MultinomialNB(prior=1.0, estimate="predictive").fit([[3e14, 7e14], [1, 1]], [0, 1])
    assert clf.posterior_.log_predictive([[2, 0]])[0, 0] == pytest.approx(-2.407945608651867, rel=1e-14)


def test_samples_that_would_fill_the_memory_are_refused_with_ways_out():
    X = sparse.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(2, 2_000_000))
    clf = bayesnb.MultinomialNB().fit(X, [0, 1])
    with pytest.raises(ValueError, match="tokens=") as error:
        bayesnb.sample(clf, draws=1000, chains=4)
    assert "draw" in str(error.value) and "GB" in str(error.value)
