"""Small inputs that break tools of this kind, each with its right answer, derived by hand as an exact fraction."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bayesnb
from bayesnb import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, TextClassifier

HS = ["h", "s"]
ENDS = ["ratio_median", "lower", "upper"]


def test_zero_smoothing_answers_where_there_is_an_answer():
    """0 log 0 = 0: [1, 0] is h, the empty document is even, and [1, 1] is impossible under both."""
    clf = MultinomialNB(alpha=0).fit([[2, 0], [0, 3]], HS)
    np.testing.assert_allclose(clf.predict_proba([[1, 0], [0, 0]]), [[1, 0], [0.5, 0.5]])
    with pytest.raises(ValueError, match="probability 0 under every class"):
        clf.predict_proba([[1, 1]])
    near = MultinomialNB(alpha=1e-9).fit([[2, 0], [0, 3]], HS)
    assert near.predict_proba([[1, 1]])[0, 0] == pytest.approx(3 / 5, abs=1e-8)


@pytest.mark.parametrize(
    ("a", "mode", "mean"),
    [(2, [4 / 7, 2 / 7, 1 / 7], [5 / 10, 3 / 10, 2 / 10]), (1, [3 / 4, 1 / 4, 0], [4 / 7, 2 / 7, 1 / 7])],
)
def test_mode_and_mean_of_three_counts(a, mode, mean):
    """Counts (3, 1, 0)."""
    posterior = MultinomialNB(prior=a).fit([[3, 1, 0]], ["h"]).posterior_
    np.testing.assert_allclose(posterior.phi_hat("map")[0], mode, rtol=1e-14)
    np.testing.assert_allclose(posterior.phi_hat("mean")[0], mean, rtol=1e-14)


def test_below_concentration_one_there_is_a_mean_and_no_mode():
    """Counts (3, 1, 0), Dirichlet(1/2): the mean is (7, 3, 1)/11, the density is unbounded at the edge."""
    with pytest.raises(ValueError, match="no mode"):
        MultinomialNB(prior=0.5).fit([[3, 1, 0]], ["h"])
    clf = MultinomialNB(prior=0.5, estimate="mean").fit([[3, 1, 0]], ["h"])
    np.testing.assert_allclose(clf.posterior_.phi_hat("mean")[0], [7 / 11, 3 / 11, 1 / 11], rtol=1e-14)


def test_presence_is_counted_once_a_document():
    """A mail with "win" seven times: (1 + 1)/(1 + 2), not (7 + 1)/3."""
    clf = TextClassifier(event="bernoulli").fit(["win " * 7, "tea"], ["spam", "ham"])
    p = clf.posterior_.phi_hat("map")[1, clf.posterior_.token_index("win")]
    assert p == pytest.approx(2 / 3, rel=1e-14)


def test_unknown_tokens_are_left_out_and_counted():
    """A document of "gin" alone is the prior, 1/2, and not a vote for the class with fewer tokens."""
    clf = TextClassifier().fit(["tea milk", "tea tea rum"], ["A", "B"])
    np.testing.assert_allclose(clf.predict_proba(["gin"]), [[0.5, 0.5]], rtol=1e-14)


def test_a_declared_class_without_documents_has_what_its_prior_gives():
    """The empty document: (2, 2, 1)/5 under the mean, (1, 1, 0)/2 under the mode, which is said."""
    for estimate in ("mean", "predictive"):
        clf = MultinomialNB(estimate=estimate).partial_fit([[1, 0], [0, 1]], ["h", "s"], classes=["h", "s", "t"])
        np.testing.assert_allclose(clf.predict_proba([[0, 0]]), [[2 / 5, 2 / 5, 1 / 5]], rtol=1e-14)
        np.testing.assert_allclose(clf.posterior_.phi_hat(estimate)[2], [1 / 2, 1 / 2])
    clf = MultinomialNB().partial_fit([[1, 0], [0, 1]], ["h", "s"], classes=["h", "s", "t"])
    with pytest.warns(UserWarning, match="'t'"):
        np.testing.assert_allclose(clf.predict_proba([[0, 0]]), [[1 / 2, 1 / 2, 0]], rtol=1e-14)


def test_an_undeclared_label_changes_nothing():
    clf = MultinomialNB().partial_fit([[1, 0], [0, 1]], [0, 1], classes=[0, 1])
    before = clf.class_count_.copy()
    with pytest.raises(ValueError, match="7"):
        clf.partial_fit([[4, 4]], [7])
    np.testing.assert_array_equal(clf.class_count_, before)


def test_a_known_class_prior_survives_learning_and_a_file(tmp_path):
    clf = TextClassifier(class_prior=[0.9, 0.1])
    for _ in range(2):
        clf.partial_fit(["tea", "rum"], ["h", "s"], classes=["h", "s"])
    clf.save(tmp_path / "m")
    for model in (clf, bayesnb.load(tmp_path / "m")):
        np.testing.assert_allclose(model.predict_proba([""]), [[0.9, 0.1]], rtol=1e-14)


@pytest.mark.parametrize("prior", [[0.5, 0.9], [-0.5, 1.5], [float("nan"), 1], [1.0]])
def test_class_priors_that_are_none_are_refused(prior):
    with pytest.raises(ValueError, match=r"[Pp]rior"):
        MultinomialNB(class_prior=prior).fit([[1, 0], [0, 1]], HS)


def test_class_priors_may_be_rounded_or_certain():
    ten = MultinomialNB(class_prior=[0.1] * 10).fit(np.eye(10), np.arange(10))
    assert ten.predict_proba(np.eye(10)[:1]).sum() == pytest.approx(1, abs=1e-12)
    clf = MultinomialNB(class_prior=[0, 1]).fit([[1, 0], [0, 1]], HS)
    np.testing.assert_array_equal(clf.predict_proba([[5, 0]]), [[0, 1]])


def test_class_priors_follow_the_sorted_labels_or_their_names():
    X, y = np.ones((4, 1)), ["zeta", "alpha", "alpha", "alpha"]
    np.testing.assert_allclose(MultinomialNB().fit(X, y).predict_proba([[0]]), [[3 / 4, 1 / 4]])
    by_order = MultinomialNB(class_prior=[0.9, 0.1]).fit([[1], [1]], ["spam", "ham"])
    by_name = MultinomialNB(class_prior={"spam": 0.1, "ham": 0.9}).fit([[1], [1]], ["spam", "ham"])
    for clf in (by_order, by_name):
        np.testing.assert_allclose(clf.predict_proba([[0]]), [[0.9, 0.1]])


def test_weights_are_copies():
    """Weight 3 on h: phi_h = (4, 1)/5, phi_s = (1, 2)/3, theta (3, 1)/4."""
    clf = MultinomialNB().fit([[1, 0], [0, 1]], HS, sample_weight=[3, 1])
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_), [[4 / 5, 1 / 5], [1 / 3, 2 / 3]], rtol=1e-14)
    np.testing.assert_allclose(np.exp(clf.class_log_prior_), [3 / 4, 1 / 4], rtol=1e-14)


@pytest.mark.parametrize(
    ("y", "error"),
    [
        (["a", None], ValueError),
        (["a", float("nan")], ValueError),
        (pd.Series(["a", None], dtype="str"), ValueError),
        (["a", 1], TypeError),
    ],
)
def test_labels_that_are_missing_or_mixed_are_refused(y, error):
    with pytest.raises(error, match=r"label|mixed|str"):
        MultinomialNB().fit([[1, 0], [0, 1]], y)


def test_labels_keep_their_type():
    assert MultinomialNB().fit([[1], [2]], pd.Series([1, 0], dtype="Int64")).classes_.tolist() == [0, 1]
    assert MultinomialNB().fit([[1], [2]], [True, False]).classes_.dtype == bool


def test_a_negative_count_is_refused_when_learning_and_when_scoring():
    clf = MultinomialNB().fit([[1, 0], [0, 1]], HS)
    with pytest.raises(ValueError, match=r"row 0.*column 0|Negative values"):
        clf.predict([[-3, 0]])
    with pytest.raises(ValueError, match="Negative values"):
        MultinomialNB().fit([[1, -1]], ["h"])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_counts_that_are_no_numbers_are_refused(bad, form):
    with pytest.raises(ValueError, match=r"NaN|infin|nan|inf"):
        MultinomialNB().fit(form(np.array([[1, bad], [0, 1]])), HS)


def test_a_missing_measurement_drops_out_of_the_product():
    """missing="ignore": the score is that of the other column alone, as if the cell had not been there."""
    X, y = np.array([[1.0, 5.0], [2.0, 6.0], [4.0, 1.0], [5.0, 2.0]]), ["h", "h", "s", "s"]
    both = GaussianNB(prior="weak", missing="ignore").fit(X, y)
    one = GaussianNB(prior="weak").fit(X[:, :1], y)
    np.testing.assert_allclose(both.predict_proba([[1.5, np.nan]]), one.predict_proba([[1.5]]), rtol=1e-10)


def test_presence_is_binarised_when_scoring_too_and_absence_counts():
    """X = [[3, 0], [0, 1]], alpha 1: [3, 0] is 4:1; the empty document is even."""
    clf = BernoulliNB().fit([[3, 0], [0, 1]], HS)
    np.testing.assert_allclose(clf.predict_proba([[3, 0], [0, 0]]), [[4 / 5, 1 / 5], [1 / 2, 1 / 2]], rtol=1e-14)
    with pytest.warns(UserWarning, match="column 0 is above binarize=0 in every row"):
        BernoulliNB().fit([[3, 0], [1, 1]], HS)
    with pytest.raises(ValueError, match="binarize=None"):
        BernoulliNB(binarize=None).fit([[3, 0], [0, 1]], HS)


def test_a_product_that_underflows_does_not_as_a_sum():
    """120 tokens of probability 0.001."""
    clf = MultinomialNB(estimate="mle").fit([[1, 999]], ["h"])
    assert clf.posterior_.log_likelihood([[120, 0]], "mle")[0, 0] == pytest.approx(-828.9306334778564, rel=1e-14)


@pytest.mark.parametrize("k", [5, 20, 100])
def test_predictive_odds_grow_as_a_square_where_plug_in_odds_double(k):
    """Spam has "a" 3 of 4 times, ham 1 of 4, Dirichlet(1): 2^k against (k + 2)(k + 3)/6."""
    X = [[1, 3], [3, 1]]
    plug_in = MultinomialNB(prior=1.0, estimate="mean").fit(X, ["ham", "spam"]).predict_log_proba([[k, 0]])[0]
    honest = MultinomialNB(prior=1.0, estimate="predictive").fit(X, ["ham", "spam"]).predict_log_proba([[k, 0]])[0]
    assert plug_in[1] - plug_in[0] == pytest.approx(k * np.log(2), rel=1e-12)
    assert honest[1] - honest[0] == pytest.approx(np.log((k + 2) * (k + 3) / 6), rel=1e-12)


def test_constant_columns_give_finite_even_answers():
    clf = GaussianNB().fit(np.ones((4, 1)), ["h", "h", "s", "s"])
    np.testing.assert_allclose(clf.predict_proba([[1.0]]), [[0.5, 0.5]])


def test_variances_of_large_and_of_narrow_numbers_keep_their_digits():
    """float64 {1e8, 1e8 + 1, 1e8 + 2}: 2/3; float32 {1e8, 1e8 + 8, 1e8 + 16}: 128/3."""
    for X, expected in (
        (1e8 + np.arange(3.0), 2 / 3),
        ((1e8 + 8 * np.arange(3)).astype(np.float32), 128 / 3),
    ):
        clf = GaussianNB(var_smoothing=0).fit(X[:, None], ["h"] * 3)
        assert clf.var_[0, 0] == pytest.approx(expected, rel=1e-12)


def test_duplicate_entries_are_one_presence():
    """Row 0 stores column 0 twice: counts [[1, 0], [0, 1]], as dense."""
    X = sparse.csr_array((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    clf = BernoulliNB().fit(X, HS)
    np.testing.assert_array_equal(clf.feature_count_, np.eye(2))
    np.testing.assert_allclose(clf.predict_proba([[1, 0]]), [[4 / 5, 1 / 5]], rtol=1e-14)


def test_sums_do_not_wrap_around():
    """int32 2e9 twice, and 300 ones of uint8, the float32 beyond 2^24."""
    big = sparse.csr_array(np.array([[2_000_000_000], [2_000_000_000]], np.int32))
    assert MultinomialNB().fit(big, ["h", "h"]).feature_count_[0, 0] == 4_000_000_000
    assert MultinomialNB().fit(np.ones((300, 1), np.uint8), ["h"] * 300).feature_count_[0, 0] == 300
    assert MultinomialNB().fit(np.array([[16777216], [1]], np.float32), ["h"] * 2).feature_count_[0, 0] == 16777217


def test_an_empty_document_is_the_prior_and_an_empty_vocabulary_an_error():
    clf = TextClassifier(class_prior=[0.75, 0.25]).fit(["tea", "rum"], HS)
    np.testing.assert_allclose(clf.predict_proba([""]), [[3 / 4, 1 / 4]], rtol=1e-14)
    with pytest.raises(ValueError, match=r"2 .*(token|vocabulary)|(token|vocabulary).* 2 "):
        TextClassifier().fit(["a", "b"], HS)


def test_two_ratios_to_the_digits_that_quadrature_gives():
    """Spam 3 of 10, ham 0 of 10, V = 5, Dirichlet(1); and 0 against 0, whose median is exactly 1."""
    clf = MultinomialNB(prior=1.0, estimate="mean").fit([[3, 0, 7, 0, 0], [0, 0, 10, 0, 0]], ["spam", "ham"])
    table = clf.token_ratios("spam", "ham")
    prize, none = table.iloc[0], table.iloc[1]
    assert prize["prob_greater"] == pytest.approx(214 / 225, rel=1e-12)
    np.testing.assert_allclose(prize[ENDS].astype(float), [5.2034, 0.76376, 147.294], 1e-5)
    assert prize["log_ratio_mean"] == pytest.approx(11 / 6, rel=1e-12)
    assert none["ratio_median"] == pytest.approx(1, abs=1e-12) and none["prob_greater"] == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(none[["lower", "upper"]].astype(float), [0.027383, 36.5185], 1e-4)


def test_the_bayes_factor_of_three_and_two_tokens():
    """Spam (2, 1), ham (0, 2), alpha 1: 5/3."""
    clf = MultinomialNB(prior=1.0, estimate="mean").fit([[2, 1], [0, 2]], ["spam", "ham"])
    assert np.exp(clf.token_ratios("spam", "ham")["log_bayes_factor"].iloc[0]) == pytest.approx(5 / 3, rel=1e-12)


def test_categories_that_were_not_seen_have_the_reserved_mass():
    """Codes 0..2 with 1 unseen: (0 + 1)/(2 + 3)."""
    clf = CategoricalNB().fit([[0], [2]], ["h", "h"])
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_[0][0]), [2 / 5, 1 / 5, 2 / 5], rtol=1e-14)


def test_answers_do_not_depend_on_the_hash_seed():
    """Tokens and their order are the same in every process."""
    code = (
        "import bayesnb; c = bayesnb.TextClassifier().fit(['red red blue', 'blue green'], ['A', 'B']);"
        "print(c.posterior_.tokens.tolist(), c.token_ratios('A', 'B')['ratio_median'].tolist())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1 and "red" in found.pop()


def test_nothing_here_warns_without_need():
    """A plain fit is silent."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultinomialNB().fit([[1, 0], [0, 1]], HS).predict([[1, 1]])
