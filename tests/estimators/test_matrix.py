"""MultinomialNB and BernoulliNB: what they predict, learn, forget and refuse."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import bayesnb
from bayesnb import BernoulliNB, MultinomialNB

PAIRS = [
    (MultinomialNB, sklearn.naive_bayes.MultinomialNB),
    (BernoulliNB, sklearn.naive_bayes.BernoulliNB),
]


def corpora(max_count=9):
    """Counts of some documents, every one of at least two classes present."""
    shape = st.tuples(st.integers(2, 12), st.integers(1, 6))
    return shape.flatmap(
        lambda s: st.tuples(
            hnp.arrays(np.int64, s, elements=st.integers(0, max_count)),
            hnp.arrays(np.int64, s[0], elements=st.integers(0, 2)),
        )
    )


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@given(data=corpora(), alpha=st.sampled_from([1e-3, 0.5, 1.0, 7.0]))
@settings(deadline=None, max_examples=60)
def test_predicts_what_scikit_learn_predicts(ours, theirs, data, alpha):
    X, y = data
    mine, other = ours(alpha=alpha).fit(X, y), theirs(alpha=alpha).fit(X, y)
    # both sum some tens of float64 logarithms of size below 20
    np.testing.assert_allclose(mine.feature_log_prob_, other.feature_log_prob_, atol=1e-12)
    np.testing.assert_allclose(mine.class_log_prior_, other.class_log_prior_, atol=1e-12)
    np.testing.assert_allclose(mine.predict_joint_log_proba(X), other.predict_joint_log_proba(X), atol=1e-10)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("ours", [MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
@given(data=corpora())
@settings(deadline=None, max_examples=30)
def test_predict_is_the_argmax_of_proba_and_rows_sum_to_one(ours, estimate, data):
    X, y = data
    clf = ours(estimate=estimate).fit(X, y)
    probability = clf.predict_proba(X)
    assert np.array_equal(clf.predict(X), clf.classes_[probability.argmax(1)])
    np.testing.assert_allclose(probability.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(np.log(probability), clf.predict_log_proba(X), rtol=1e-9, atol=1e-12)


def test_rows_sum_to_one_for_very_long_documents():
    clf = MultinomialNB().fit([[3, 1], [1, 3]], ["a", "b"])
    long = clf.predict_proba([[10**9 + 3, 10**9]])
    np.testing.assert_allclose(long.sum(1), 1, atol=1e-12)


@pytest.mark.parametrize("ours", [MultinomialNB, BernoulliNB])
def test_every_container_of_the_same_counts_gives_the_same_answer(ours):
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.7, (30, 5)), rng.choice(["x", "y", "z"], 30)
    want = ours().fit(X, y).predict_log_proba(X)
    forms = [
        getattr(sparse, f"{f}_{k}")
        for f in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for k in ("array", "matrix")
    ]
    for form in forms:
        assert np.array_equal(ours().fit(form(X), y).predict_log_proba(form(X)), want), form
    names = list("abcde")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        clf = ours().fit(frame, y)
        assert np.array_equal(clf.predict_log_proba(frame), want)
        assert clf.feature_names_in_.tolist() == names == clf.posterior_.tokens.tolist()
    for kind in (np.int8, np.uint8, np.int32, np.float32, np.float64):
        assert np.array_equal(ours().fit(X.astype(kind), y).predict_log_proba(X.astype(kind)), want)


def test_input_is_left_as_it_was_and_may_be_read_only():
    parts = np.array([1.0, 1.0, 2.0]), np.array([1, 1, 0]), np.array([0, 2, 3])
    X = sparse.csr_array(parts, shape=(2, 2))
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    before = X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()
    clf = MultinomialNB().fit(X, [0, 1])
    assert clf.feature_count_.tolist() == [[0, 2], [2, 0]]
    clf.predict_proba(X)
    assert (X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()) == before


def test_duplicate_entries_of_a_sparse_cell_are_one_presence():
    X = sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    clf = BernoulliNB().fit(X, [0, 1])
    assert clf.feature_count_.tolist() == [[1, 0], [0, 1]]
    np.testing.assert_allclose(clf.predict_proba(X)[0], [0.8, 0.2], rtol=1e-12)


def test_alpha_zero_never_gives_nan():
    clf = MultinomialNB(alpha=0).fit([[2, 0], [0, 3]], ["h", "s"])
    assert clf.predict_proba([[1, 0]]).tolist() == [[1, 0]]
    assert clf.predict_proba([[0, 0]]).tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match=r"row 0 has probability 0 under every class.*alpha > 0"):
        clf.predict_proba([[1, 1]])
    tiny = MultinomialNB(alpha=1e-12).fit([[2, 0], [0, 3]], ["h", "s"])
    # the limit of (1/2)(s)/(s)... as alpha falls is 3/5; the error is of the order of alpha
    np.testing.assert_allclose(tiny.predict_proba([[1, 1]])[0, 0], 0.6, atol=1e-11)


def test_negative_alpha_and_other_settings_are_refused():
    X, y = [[1, 0], [0, 1]], [0, 1]
    for wrong in (
        {"alpha": -1},
        {"estimate": "mode"},
        {"prior": "flat"},
        {"prior": -1.0},
        {"power": 0},
        {"alpha": "x"},
    ):
        with pytest.raises(ValueError):
            MultinomialNB(**wrong).fit(X, y)


def test_bernoulli_binarises_the_same_at_fit_and_predict():
    clf = BernoulliNB().fit([[3, 0], [0, 1]], [0, 1])
    np.testing.assert_allclose(clf.predict_proba([[3, 0]]), [[0.8, 0.2]], rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba([[0, 0]]), [[0.5, 0.5]], rtol=1e-12)
    with pytest.raises(ValueError, match="row 0, column 0 is 3: with binarize=None"):
        BernoulliNB(binarize=None).fit([[3, 0], [0, 1]], [0, 1])


@pytest.mark.parametrize("binarize", [-1.0, 0.0, 0.5, 2.0])
def test_bernoulli_threshold_counts_what_is_not_stored(binarize):
    X = np.array([[0.0, -2.0, 3.0], [0.6, 0.0, 1.0], [2.5, 0.0, 0.0]])
    ours = BernoulliNB(binarize=binarize).fit(sparse.csr_array(X), [0, 1, 1])
    present = binarize < X
    assert np.array_equal(ours.feature_count_, [present[0], present[1:].sum(axis=0)])


def test_weight_three_is_three_copies_and_weight_zero_none():
    X, y = np.array([[1, 0], [0, 1], [9, 9]]), np.array(["h", "s", "t"])
    weighted = MultinomialNB().fit(X, y, sample_weight=[3, 1, 0])
    copied = MultinomialNB().fit(X[[0, 0, 0, 1]], y[[0, 0, 0, 1]])
    assert weighted.classes_.tolist() == ["h", "s"]
    np.testing.assert_allclose(np.exp(weighted.feature_log_prob_), [[4 / 5, 1 / 5], [1 / 3, 2 / 3]], rtol=1e-12)
    assert np.array_equal(weighted.predict_log_proba(X), copied.predict_log_proba(X))


def test_class_prior_has_scikit_learns_meaning_and_its_refusals():
    X, y = [[1, 0], [0, 1]], ["ham", "spam"]
    empty = [[0, 0]]
    assert MultinomialNB(class_prior=[0.9, 0.1]).fit(X, y).predict_proba(empty) == pytest.approx(np.array([[0.9, 0.1]]))
    by_name = MultinomialNB(class_prior={"spam": 0.1, "ham": 0.9}).fit(X, y)
    assert by_name.predict_proba(empty) == pytest.approx(np.array([[0.9, 0.1]]))
    assert MultinomialNB(class_prior=[0, 1]).fit(X, y).predict_proba(empty).tolist() == [[0, 1]]
    assert MultinomialNB(fit_prior=False).fit([[1, 0]] * 2 + [[0, 1]], ["a", "a", "b"]).predict_proba(
        empty
    ).tolist() == [[0.5, 0.5]]
    for wrong, words in (
        ([0.5, 0.9], "The sum of the priors should be 1"),
        ([-0.5, 1.5], "Priors must be non-negative"),
        ([0.5, np.nan], "Priors must be non-negative"),
        ([1.0], "Number of priors must match number of classes"),
        ({"ham": 1.0}, "names none for 'spam'"),
        ({"ham": 0.5, "eggs": 0.5}, "names class 'eggs'"),
    ):
        with pytest.raises(ValueError, match=words):
            MultinomialNB(class_prior=wrong).fit(X, y)
    ten = MultinomialNB(class_prior=[0.1] * 10).fit(np.eye(10), np.arange(10))
    np.testing.assert_allclose(ten.predict_proba(np.zeros((1, 10))), 0.1, rtol=1e-12)


def test_known_class_prior_survives_partial_fit():
    clf = MultinomialNB(class_prior=[0.9, 0.1])
    for _ in range(2):
        clf.partial_fit([[1, 0], [0, 1]], ["a", "b"], classes=["a", "b"])
    assert clf.predict_proba([[0, 0]]) == pytest.approx(np.array([[0.9, 0.1]]))


def test_labels_are_sorted_and_keep_their_type():
    clf = MultinomialNB().fit(np.eye(4), ["zeta", "alpha", "alpha", "alpha"])
    assert np.exp(clf.class_log_prior_) == pytest.approx([3 / 4, 1 / 4])
    assert MultinomialNB().fit(np.eye(2), pd.Series([1, 0], dtype="Int64")).classes_.tolist() == [0, 1]
    assert MultinomialNB().fit(np.eye(2), [True, False]).classes_.dtype == bool
    for missing in (["a", None], ["a", np.nan], pd.Series(["a", None], dtype="str")):
        with pytest.raises(ValueError, match="missing label at row 1"):
            MultinomialNB().fit(np.eye(2), missing)
    with pytest.raises(TypeError, match="row 0 is str, row 1 is number"):
        MultinomialNB().fit(np.eye(2), ["a", 1])


def test_an_undeclared_label_is_refused_and_changes_nothing():
    clf = MultinomialNB().partial_fit([[1, 0], [0, 1]], [0, 1], classes=[0, 1])
    before = clf.posterior_
    with pytest.raises(ValueError, match=r"\[7\] in y do not exist in the initial classes.*row 2"):
        clf.partial_fit([[1, 0], [0, 1], [4, 4]], [0, 1, 7])
    assert clf.posterior_ is before
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        clf.partial_fit([[1, 0]], [0], classes=[0, 1, 7])


def test_classes_never_declared_grow():
    clf = MultinomialNB().partial_fit([[1, 0]], ["b"])
    clf.partial_fit([[0, 1]], ["a"])
    assert clf.classes_.tolist() == ["a", "b"]
    whole = MultinomialNB().fit([[1, 0], [0, 1]], ["b", "a"])
    assert np.array_equal(clf.predict_log_proba(np.eye(2)), whole.predict_log_proba(np.eye(2)))


def test_a_declared_class_without_documents_keeps_its_prior_under_the_mean_and_is_named_under_the_mode():
    X, y, classes = [[1, 0], [0, 1]], ["h", "s"], ["h", "s", "t"]
    mean = MultinomialNB(estimate="mean").partial_fit(X, y, classes=classes)
    np.testing.assert_allclose(mean.predict_proba([[0, 0]]), [[0.4, 0.4, 0.2]], rtol=1e-12)
    np.testing.assert_allclose(np.exp(mean.feature_log_prob_[2]), [0.5, 0.5], rtol=1e-12)
    mode = MultinomialNB().partial_fit(X, y, classes=classes)
    with pytest.warns(UserWarning, match="class 't'"):
        assert mode.predict_proba([[0, 0]]).tolist() == [[0.5, 0.5, 0]]


@pytest.mark.parametrize("ours", [MultinomialNB, BernoulliNB])
@given(data=corpora(), cut=st.integers(1, 11))
@settings(deadline=None, max_examples=40)
def test_batches_merges_and_unlearning_give_the_same_totals_bit_for_bit(ours, data, cut):
    X, y = data
    cut = min(cut, len(y) - 1)
    whole = ours().fit(X, y)
    first, second = ours().fit(X[:cut], y[:cut]), ours().fit(X[cut:], y[cut:])
    for other in (ours().fit(X[cut:], y[cut:]).partial_fit(X[:cut], y[:cut]), first + second, second + first):
        assert np.array_equal(other.classes_, whole.classes_)
        assert np.array_equal(other.feature_count_, whole.feature_count_)
        assert np.array_equal(other.predict_log_proba(X), whole.predict_log_proba(X))
    less = whole.unlearn(X[cut:], y[cut:])
    assert np.array_equal(less.classes_, first.classes_)
    assert less.feature_count_.tobytes() == first.feature_count_.tobytes()


def test_merge_changes_the_first_and_plus_neither():
    a, b = MultinomialNB().fit([[1, 0]], ["x"]), MultinomialNB().fit([[0, 1]], ["y"])
    both = a + b
    assert a.classes_.tolist() == ["x"] and both.classes_.tolist() == ["x", "y"]
    assert a.merge(b) is a and a.classes_.tolist() == ["x", "y"]


def test_unlearning_what_was_not_learnt_is_refused_and_changes_nothing():
    clf = MultinomialNB().fit([[1, 0], [0, 1]], [0, 1])
    before = clf.posterior_
    for X, y in (([[2, 0]], [0]), ([[1, 0]], [5]), ([[0, 1]], [0])):
        with pytest.raises(ValueError, match="unlearn"):
            clf.unlearn(X, y)
    assert clf.posterior_ is before


def test_with_class_prior_keeps_phi_and_leaves_the_original():
    clf = MultinomialNB().fit([[1, 0], [0, 1]], ["ham", "spam"])
    other = clf.with_class_prior({"ham": 0.99, "spam": 0.01})
    assert other.predict_proba([[0, 0]]) == pytest.approx(np.array([[0.99, 0.01]]))
    assert clf.predict_proba([[0, 0]]) == pytest.approx(np.array([[0.5, 0.5]]))
    assert np.array_equal(other.feature_log_prob_, clf.feature_log_prob_)


def test_no_mode_names_token_and_class():
    frame = pd.DataFrame([[2, 0], [1, 1]], columns=["free", "tea"])
    with pytest.raises(ValueError, match="token 'tea' in class 'ham' is below 1; use estimate='mean'"):
        MultinomialNB(prior=0.5).fit(frame, ["ham", "spam"])
    MultinomialNB(prior=0.5, estimate="mean").fit(frame, ["ham", "spam"])
    with pytest.raises(ValueError, match="class 'ham' has no unique mode"):
        MultinomialNB(prior=1.0).fit([[0, 0], [1, 1]], ["ham", "spam"])


@pytest.mark.parametrize(
    ("prior", "estimate", "concentration"),
    [(None, "map", 3.0), (None, "mean", 2.0), (None, "predictive", 2.0), (None, "mle", 1.0), (0.7, "mean", 0.7)],
)
def test_what_alpha_means_depends_on_the_estimate_and_prior_never(prior, estimate, concentration):
    clf = MultinomialNB(alpha=2.0, prior=prior, estimate=estimate).fit(np.eye(2), [0, 1])
    assert (clf.posterior_.prior.phi == concentration).all()


@pytest.mark.parametrize("name", ["jeffreys", "uniform", "laplace"])
def test_named_priors(name):
    clf = MultinomialNB(prior=name, estimate="mean").fit(np.eye(2), [0, 1])
    assert (clf.posterior_.prior.phi == {"jeffreys": 0.5, "uniform": 1.0, "laplace": 1.0}[name]).all()
    if name == "jeffreys":
        with pytest.raises(ValueError, match="use estimate='mean'"):
            MultinomialNB(prior=name).fit(np.eye(2) + 5, [0, 1])


def test_a_prior_per_token_and_per_class_and_token():
    X, y = np.array([[2, 1], [0, 3]]), [0, 1]
    vector = MultinomialNB(prior=[2.0, 3.0], estimate="mean").fit(X, y)
    np.testing.assert_allclose(np.exp(vector.feature_log_prob_), [[4 / 8, 4 / 8], [2 / 8, 6 / 8]], rtol=1e-12)
    matrix = MultinomialNB(prior=[[2.0, 3.0], [1.0, 1.0]], estimate="mean").fit(X, y)
    np.testing.assert_allclose(np.exp(matrix.feature_log_prob_), [[4 / 8, 4 / 8], [1 / 5, 4 / 5]], rtol=1e-12)
    beta = BernoulliNB(prior=bayesnb.Beta(2.0, 5.0), estimate="mean").fit(X, y)
    np.testing.assert_allclose(np.exp(beta.feature_log_prob_), [[3 / 8, 3 / 8], [2 / 8, 3 / 8]], rtol=1e-12)
    with pytest.raises(ValueError, match=r"shape \(3,\), which does not fit \(2, 2\)"):
        MultinomialNB(prior=[1.0, 2.0, 3.0]).fit(X, y)


def test_bad_counts_are_named_by_row_and_column():
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=["free", "tea"])
    clf = MultinomialNB().fit(frame, [0, 1])
    with pytest.raises(ValueError, match=r"Negative values in data passed to MultinomialNB.*row 1, column 'tea'"):
        clf.predict(pd.DataFrame([[1, 0], [0, -3]], columns=["free", "tea"]))
    with pytest.raises(ValueError, match="NaN at row 0, column 1"):
        MultinomialNB().fit([[1, np.nan], [0, 1]], [0, 1])
    with pytest.raises(ValueError, match="infinity at row 0, column 1"):
        MultinomialNB().fit([[1, np.inf], [0, 1]], [0, 1])
    with pytest.raises(ValueError, match="features"):
        MultinomialNB().fit(np.eye(2), [0, 1]).predict([[1, 2, 3]])


def test_power_tempers_the_likelihood_only():
    X, y = np.array([[3, 1], [1, 3], [1, 2]]), [0, 1, 1]
    plain, half = MultinomialNB().fit(X, y), MultinomialNB(power=0.5).fit(X, y)
    likelihood = plain.predict_joint_log_proba(X) - plain.class_log_prior_
    np.testing.assert_allclose(half.predict_joint_log_proba(X), plain.class_log_prior_ + likelihood / 2, rtol=1e-12)


def test_binary_is_the_multinomial_over_presence():
    X, y = np.array([[3, 1, 0], [0, 3, 2]]), [0, 1]
    once = MultinomialNB(binary=True).fit(X, y)
    want = MultinomialNB().fit(X > 0, y)
    assert np.array_equal(once.predict_log_proba(X), want.predict_log_proba(X > 0))


@pytest.mark.parametrize("ours", [MultinomialNB, BernoulliNB, bayesnb.GaussianNB, bayesnb.CategoricalNB])
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "unlearn"])
def test_a_call_that_fails_leaves_a_fitted_estimator_as_it_was(ours, verb):
    frame = pd.DataFrame([[1, 0, 2], [0, 1, 1], [1, 1, 0]], columns=["a", "b", "c"])
    clf = ours().fit(frame, ["x", "y", "y"])
    before, held = clf.predict_log_proba(frame), vars(clf).copy()
    with pytest.raises(ValueError):
        getattr(clf, verb)(pd.DataFrame([[1, -1, 0], [0, np.inf, 1]], columns=["a", "b", "c"]), ["x", "y"])
    assert vars(clf) == held
    assert np.array_equal(clf.predict_log_proba(frame), before)


@pytest.mark.parametrize(
    "change",
    [{"estimate": "mean"}, {"estimate": "predictive"}, {"alpha": 5.0}, {"class_prior": [0.9, 0.1]}, {"binary": True}],
)
def test_parameters_set_after_fit_take_effect_with_the_next_fit(tmp_path, change):
    X, y = np.array([[3, 1], [0, 2], [1, 4]]), ["h", "s", "s"]
    clf = MultinomialNB().fit(X, y)
    before = clf.predict_log_proba(X)
    clf.set_params(**change)
    assert np.array_equal(clf.predict_log_proba(X), before)
    clf.save(tmp_path / "m")
    assert np.array_equal(bayesnb.load(tmp_path / "m").predict_log_proba(X), before)
    assert not np.array_equal(clf.fit(X, y).predict_log_proba(X), before)


def test_totals_read_in_two_ways_are_not_mixed():
    X, y = np.array([[3, 1], [0, 2]]), ["h", "s"]
    clf = MultinomialNB().fit(X, y)
    with pytest.raises(ValueError, match="binary=True reads documents in another way"):
        clf.merge(MultinomialNB(binary=True).fit(X, y))
    with pytest.raises(ValueError, match="fit again"):
        clf.set_params(binary=True).partial_fit(X, y)
    with pytest.raises(TypeError, match="merges with its own kind only"):
        clf.merge(sklearn.naive_bayes.MultinomialNB().fit(X, y))


def test_unlearning_cannot_leave_tokens_without_a_document():
    clf = MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["h", "s"])
    with pytest.raises(ValueError, match="unlearn"):
        clf.unlearn([[0, 1, 0]], ["h"])


def test_a_series_of_class_priors_is_read_by_label():
    X, y = np.eye(2), ["h", "s"]
    clf = MultinomialNB(class_prior=pd.Series({"s": 0.9, "h": 0.1})).fit(X, y)
    np.testing.assert_allclose(np.exp(clf.class_log_prior_), [0.1, 0.9], rtol=1e-14)
    by_position = MultinomialNB(class_prior=pd.Series([0.3, 0.7])).fit(X, y)
    np.testing.assert_allclose(np.exp(by_position.class_log_prior_), [0.3, 0.7], rtol=1e-14)


def test_the_callers_arrays_are_not_kept():
    X, y, prior = np.eye(2), ["h", "s"], np.array([0.9, 0.1])
    clf = MultinomialNB(class_prior=prior).fit(X, y)
    prior[:] = [0.1, 0.9]
    np.testing.assert_allclose(np.exp(clf.class_log_prior_), [0.9, 0.1], rtol=1e-14)


def test_labels_too_large_for_one_number_type_are_refused_not_merged():
    for labels in ([2**53 + 1, 2**53, 1.0, 0], [2**63, 2**63 + 1, -1, 0]):
        with pytest.raises(ValueError, match=r"too large|infinite"):
            MultinomialNB().fit(np.eye(4), labels)
    clf = MultinomialNB().partial_fit([[1, 0]], np.array([2**60 + 1]))
    clf.partial_fit([[0, 1]], np.array([2**60 + 3], np.uint64))
    assert clf.classes_.tolist() == [2**60 + 1, 2**60 + 3]
    with pytest.raises(TypeError, match="several types"):
        MultinomialNB().partial_fit([[1, 0]], [True]).partial_fit([[1, 0]], [1])
