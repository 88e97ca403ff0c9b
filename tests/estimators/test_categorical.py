"""CategoricalNB: what it reads, predicts, learns, forgets, stores and refuses."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bayesnb
from bayesnb import CategoricalNB
from tests.model_examples import edited

X = [["red", 0, True], ["red", 2, False], ["blue", 2, False], ["blue", 0, True]]
Y = ["warm", "warm", "cold", "cold"]
FRAME = pd.DataFrame(X, columns=["colour", "size", "wet"])


def tables():
    """Codes of some documents in some columns, and classes; the largest code may be one that is never seen below."""
    shape = st.tuples(st.integers(2, 12), st.integers(1, 5))
    return shape.flatmap(
        lambda s: st.tuples(
            hnp.arrays(np.int64, s, elements=st.integers(0, 5)),
            hnp.arrays(np.int64, s[0], elements=st.integers(0, 2)),
        )
    )


@given(data=tables(), alpha=st.sampled_from([1e-3, 0.5, 1.0, 7.0]), fewest=st.sampled_from([None, 3, 9]))
@settings(deadline=None, max_examples=50)
def test_predicts_what_scikit_learn_predicts(data, alpha, fewest):
    """Attributes too; gaps among the codes and `min_categories` count in both."""
    codes, y = data
    mine = CategoricalNB(alpha=alpha, min_categories=fewest).fit(codes, y)
    other = sklearn.naive_bayes.CategoricalNB(alpha=alpha, min_categories=fewest).fit(codes, y)
    assert mine.n_categories_.tolist() == np.asarray(other.n_categories_).tolist()
    for name in ("category_count_", "feature_log_prob_"):
        for one, two in zip(getattr(mine, name), getattr(other, name), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-12)
    # some tens of logarithms of size below 20 are summed
    np.testing.assert_allclose(mine.predict_joint_log_proba(codes), other.predict_joint_log_proba(codes), atol=1e-10)
    np.testing.assert_allclose(mine.predict_proba(codes), other.predict_proba(codes), atol=1e-10)
    assert np.array_equal(mine.predict(codes), mine.classes_[mine.predict_proba(codes).argmax(1)])


def test_min_categories_a_column_and_its_refusals():
    clf = CategoricalNB(min_categories=[2, 5]).fit([[0, 1], [0, 0]], [0, 1])
    assert clf.n_categories_.tolist() == [2, 5]
    for wrong, words in (([2], r"shape \(2,\)"), (2.5, "integral type"), (0, "at least 1"), ("x", "integral type")):
        with pytest.raises(ValueError, match=words):
            CategoricalNB(min_categories=wrong).fit([[0, 1], [0, 0]], [0, 1])


def test_numbers_are_codes_and_anything_else_is_known_by_its_name():
    clf = CategoricalNB().fit(FRAME, Y)
    assert [names.tolist() for names in clf.categories_] == [["blue", "red"], [0, 1, 2], [False, True]]
    assert clf.posterior_.tokens.tolist()[:3] == ["colour=blue", "colour=red", "size=0"]
    # phi of "red": (2 + 1)/(2 + 2) and (0 + 1)/(2 + 2); "size" and "wet" are alike in both classes
    np.testing.assert_allclose(clf.predict_proba(FRAME)[:, 1], [3 / 4, 3 / 4, 1 / 4, 1 / 4], rtol=1e-12)


def test_every_container_of_the_same_table_gives_the_same_answer():
    want = CategoricalNB().fit(X, Y).predict_log_proba(X)
    frames = [FRAME, pl.DataFrame(FRAME.to_dict("list")), FRAME.astype({"size": "Int64", "wet": "boolean"})]
    frames += [
        FRAME.astype({"colour": "category"}),
        pl.DataFrame(FRAME.to_dict("list")).cast({"colour": pl.Categorical}),
    ]
    for frame in frames:
        clf = CategoricalNB().fit(frame, Y)
        assert np.array_equal(clf.predict_log_proba(frame), want)
        assert clf.feature_names_in_.tolist() == ["colour", "size", "wet"]
    assert np.array_equal(CategoricalNB().fit(np.array(X, object), Y).predict_log_proba(np.array(X, object)), want)
    codes = np.array([[3, 0], [1, 1], [0, 0]])
    want = CategoricalNB().fit(codes, [0, 1, 1]).predict_log_proba(codes)
    for kind in (np.int8, np.uint64, np.float32, np.float64, object):
        assert np.array_equal(CategoricalNB().fit(codes.astype(kind), [0, 1, 1]).predict_log_proba(codes), want)


def test_declared_categories_are_there_without_a_document():
    """pandas Categorical and polars Enum; numbers in them are names, and what comes later is added."""
    series = pd.Series(pd.Categorical(["m", "s"], categories=["l", "m", "s"]))
    sizes = pd.DataFrame({"size": series, "year": pd.Categorical([2001, 1999], categories=[2001, 1999, 1950])})
    clf = CategoricalNB().fit(sizes, [0, 1])
    assert [names.tolist() for names in clf.categories_] == [["l", "m", "s"], [1950, 1999, 2001]]
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_[0]), [[1 / 4, 2 / 4, 1 / 4], [1 / 4, 1 / 4, 2 / 4]])
    enum = pl.DataFrame({"size": pl.Series(["m", "s"], dtype=pl.Enum(["s", "l", "m"])), "year": [1, 0]})
    assert CategoricalNB().fit(enum, [0, 1]).categories_[0].tolist() == ["l", "m", "s"]
    more = pd.DataFrame({"size": ["xl"], "year": [2005]})
    assert [names.tolist() for names in clf.partial_fit(more, [1]).categories_] == [
        ["l", "m", "s", "xl"],
        [1950, 1999, 2001, 2005],
    ]
    clf.unlearn(more, [1])
    assert [names.tolist() for names in clf.categories_] == [["l", "m", "s"], [1950, 1999, 2001]]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0, 1], [0, -2]], r"Negative values in data passed to CategoricalNB \(input X\): -2 at row 1, column 1"),
        ([[0, 1], [0, None]], "NaN at row 1, column 1: the value is missing"),
        ([[0, 1.0], [0, np.nan]], "NaN at row 1, column 1"),
        ([["a", "b"], ["a", pd.NA]], "NaN at row 1, column 1"),
        ([[0, 1], [np.inf, 0]], "infinity: inf at row 1, column 0"),
        ([["a", 1], [2, 1]], r"column 0 holds strings \(row 0\) and numbers \(row 1\)"),
        ([[True, 1], [1, 1]], r"column 0 holds booleans \(row 0\) and numbers \(row 1\)"),
        ([[10**9, 1], [1, 1]], "code 1000000000 at row 0, column 0 is too large"),
    ],
)
def test_bad_values_are_named_by_row_and_column(table, words):
    good = CategoricalNB().fit([[0, 1], [2, 3]], [0, 1])
    with pytest.raises(ValueError, match=words):
        CategoricalNB().fit(table, [0, 1])
    if table[0][0] == 0:
        with pytest.raises(ValueError, match=words):
            good.predict(table)


def test_fractions_are_cut_off_with_a_warning():
    with pytest.warns(UserWarning, match="1.5 at row 0, column 0 is no whole number.*code 1"):
        clf = CategoricalNB().fit([[1.5], [0.0]], [0, 1])
    assert clf.n_categories_.tolist() == [2]


def test_a_column_of_another_kind_than_was_learnt_is_refused():
    clf = CategoricalNB().fit(FRAME, Y)
    numbers = FRAME.assign(colour=[0, 1, 1, 0])
    for attempt in (clf.predict, lambda frame: clf.partial_fit(frame, Y), lambda frame: clf.unlearn(frame, Y)):
        with pytest.raises(ValueError, match="column 'colour' holds numbers, but strings were learnt there"):
            attempt(numbers)
    with pytest.raises(
        ValueError, match="column 'colour' holds strings in one model and numbers as codes in the other"
    ):
        clf.merge(CategoricalNB().fit(numbers, Y))
    with pytest.raises(ValueError, match="columns differ"):
        clf.merge(CategoricalNB().fit(FRAME.rename(columns={"wet": "dry"}), Y))


def test_an_unseen_category_is_skipped_refused_or_given_the_reserved_mass():
    """Two "red" of the first class, one "blue" of the second; the document is "gin"."""
    table, y = [["red"], ["red"], ["blue"]], [0, 0, 1]
    skip = CategoricalNB().fit(table, y)
    np.testing.assert_allclose(skip.predict_proba([["gin"]]), [[2 / 3, 1 / 3]], rtol=1e-12)
    with pytest.raises(ValueError, match="category 'gin' of column 0 at row 1 was not learnt"):
        CategoricalNB(unseen="error").fit(table, y).predict([["red"], ["gin"]])
    reserve = CategoricalNB(unseen="reserve").fit(table, y)
    # (0 + 1)/(2 + 3) against (0 + 1)/(1 + 3), times 2 : 1
    np.testing.assert_allclose(reserve.predict_proba([["gin"]])[0, 0], (2 / 5) / (2 / 5 + 1 / 4), rtol=1e-12)
    np.testing.assert_allclose(np.exp(reserve.feature_log_prob_[0]), [[1 / 5, 3 / 5, 1 / 5], [2 / 4, 1 / 4, 1 / 4]])
    assert reserve.posterior_.tokens.tolist() == ["0=blue", "0=red", "0=(unseen)"]
    both = CategoricalNB(unseen="reserve").fit([["red", 0], ["red", 1], ["blue", 1]], y)
    apart = [CategoricalNB(unseen="reserve").fit(table, y), CategoricalNB(unseen="reserve").fit([[0], [1], [1]], y)]
    joint = sum(one.predict_joint_log_proba([[value]]) for one, value in zip(apart, ("red", 7), strict=True))
    np.testing.assert_allclose(both.predict_joint_log_proba([["red", 7]]), joint - both.class_log_prior_, rtol=1e-12)
    codes = CategoricalNB().fit([[0], [2]], [0, 1])
    np.testing.assert_allclose(codes.predict_proba([[7]]), [[1 / 2, 1 / 2]], rtol=1e-12)
    with pytest.raises(ValueError, match="unseen must be"):
        CategoricalNB(unseen="guess").fit(table, y)


def test_missing_values_drop_out_of_totals_and_likelihood():
    """The other column is as if alone, and a document of nothing has the class prior."""
    table = [["red", None], ["blue", "x"], [None, "y"], ["red", "x"]]
    clf = CategoricalNB(missing="ignore").fit(table, [0, 0, 1, 1])
    assert clf.posterior_.statistics.column_total.tolist() == [[2, 1], [1, 2]]
    first = CategoricalNB().fit([["red"], ["blue"], ["red"]], [0, 0, 1])
    np.testing.assert_allclose(clf.feature_log_prob_[0], first.feature_log_prob_[0], rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba([[None, np.nan]]), [[1 / 2, 1 / 2]], rtol=1e-12)
    nothing = CategoricalNB(missing="ignore").fit([["a", None], ["b", None]], [0, 1])
    assert nothing.n_categories_.tolist() == [2, 0]
    assert nothing.partial_fit([["a", 3]], [0]).n_categories_.tolist() == [2, 4]


def test_weight_zero_brings_neither_category_nor_class_and_three_is_three_copies():
    weighted = CategoricalNB().fit([["a", 0], ["b", 1], ["z", 9]], ["h", "s", "t"], sample_weight=[3, 1, 0])
    copied = CategoricalNB().fit([["a", 0]] * 3 + [["b", 1]], ["h"] * 3 + ["s"])
    assert weighted.classes_.tolist() == ["h", "s"]
    assert weighted.posterior_.tokens.tolist() == copied.posterior_.tokens.tolist()
    assert np.array_equal(weighted.predict_log_proba([["a", 1]]), copied.predict_log_proba([["a", 1]]))


@given(data=tables(), cut=st.integers(1, 11), named=st.booleans())
@settings(deadline=None, max_examples=30)
def test_batches_merges_and_unlearning_give_the_same_totals_bit_for_bit(data, cut, named):
    """Categories and larger codes come with the batch that brings them, and go with it."""
    codes, y = data
    codes = codes.astype(str).astype(object) if named else codes
    cut = min(cut, len(y) - 1)
    whole = CategoricalNB().fit(codes, y)
    first, second = CategoricalNB().fit(codes[:cut], y[:cut]), CategoricalNB().fit(codes[cut:], y[cut:])
    again = CategoricalNB().fit(codes[cut:], y[cut:]).partial_fit(codes[:cut], y[:cut])
    for other in (again, first + second, second + first):
        assert other.posterior_.tokens.tolist() == whole.posterior_.tokens.tolist()
        assert other.feature_count_.tobytes() == whole.feature_count_.tobytes()
        assert np.array_equal(other.predict_log_proba(codes), whole.predict_log_proba(codes))
    less = whole.unlearn(codes[cut:], y[cut:])
    assert less._model().fingerprint == first._model().fingerprint


def test_categories_that_a_later_batch_declares_or_leaves_gaps_below_stay():
    """Codes below the largest that is left, and what a type declares, whichever batch brought them."""
    clf = CategoricalNB().fit([[0]], [0]).partial_fit([[3], [5]], [0, 0]).unlearn([[5]], [0])
    assert clf.n_categories_.tolist() == [4]
    declared = pd.DataFrame({"size": pd.Categorical(["m"], categories=["m", "l"])})
    sizes = CategoricalNB().fit(pd.DataFrame({"size": ["s"]}), [0])
    for learnt in (sizes.partial_fit(declared, [0]), sizes + CategoricalNB().fit(declared, [0])):
        assert learnt.unlearn(declared, [0]).categories_[0].tolist() == ["l", "m", "s"]


def test_unlearning_what_was_not_learnt_is_refused_and_changes_nothing():
    clf = CategoricalNB().fit([["a", 0], ["b", 1]], [0, 1])
    before = clf.posterior_
    for table, y in (([["a", 1]], [0]), ([["z", 0]], [0]), ([["a", 0]], [7])):
        with pytest.raises(ValueError, match="unlearn"):
            clf.unlearn(table, y)
    assert clf.posterior_ is before


def test_a_prior_for_each_column_category_or_class():
    table, y = [[0, 0], [1, 2]], [0, 1]
    for prior, expected in (
        (2.0, [3 / 5, 2 / 5]),
        ([1.0, 4.0], [2 / 3, 1 / 3]),
        ([[1.0, 3.0], 4.0], [2 / 5, 3 / 5]),
        ([1.0, 3.0, 1, 1, 1], [2 / 5, 3 / 5]),
    ):
        clf = CategoricalNB(prior=prior, estimate="mean").fit(table, y)
        np.testing.assert_allclose(np.exp(clf.feature_log_prob_[0][0]), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="not a family"):
        CategoricalNB(prior=bayesnb.Beta(1, 1)).fit(table, y)
    with pytest.raises(ValueError, match="category 1 of column 0 in class 0 is below 1"):
        CategoricalNB(prior=0.5).fit(table, y)


MODELS = {
    "names": lambda: CategoricalNB().fit(FRAME, Y),
    "numbers": lambda: CategoricalNB(min_categories=[2, 4], alpha=0.5).fit([[0, 1], [3, 0]], [0, 1]),
    "reserve": lambda: CategoricalNB(unseen="reserve", missing="ignore").fit(
        [["a=b", 2], ["c\0", None]], [True, False]
    ),
    "ragged": lambda: CategoricalNB(prior=[[2.0, 3.0], 1.5, [1, 2]]).fit(X, Y),
    "declared": lambda: CategoricalNB().fit(FRAME.astype({"colour": pd.CategoricalDtype(["red", "blue", "é"])}), Y),
    "no value": lambda: CategoricalNB(missing="ignore").fit([["a", None], ["b", None]], [0, 1]),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_saved_model_comes_back_and_goes_on_learning(make, tmp_path):
    """The same bits of probability, categories, flags and settings; learning after it equals learning without it."""
    clf = make()
    fingerprint = clf.save(tmp_path / "m")
    back = bayesnb.load(tmp_path / "m")
    assert back._model().fingerprint == fingerprint
    assert back.posterior_.tokens.tolist() == clf.posterior_.tokens.tolist()
    assert [n.tolist() for n in back.categories_] == [n.tolist() for n in clf.categories_]
    assert (
        getattr(back, "feature_names_in_", np.array([])).tolist()
        == getattr(clf, "feature_names_in_", np.array([])).tolist()
    )
    documents = (
        FRAME
        if hasattr(clf, "feature_names_in_")
        else X
        if clf.n_features_in_ == 3
        else [[n[0] if len(n) else None for n in clf.categories_]]
    )
    want = clf.predict_proba(documents)
    assert back.predict_proba(documents).tobytes() == want.tobytes()
    assert bayesnb.Scorer.load(tmp_path / "m").predict_proba(documents).tobytes() == want.tobytes()
    for one in (clf, back):
        one.set_params(prior=None).partial_fit(documents, clf.classes_[np.zeros(len(documents), int)])
    assert back._model().fingerprint == clf._model().fingerprint


def test_intervals_explanations_and_abstaining(tmp_path):
    """By column name with the category seen; an unseen one drops out, or has the row of the reserved cell."""
    clf = CategoricalNB().fit(FRAME, Y)
    ends, p = clf.predict_interval(FRAME, 0.99), clf.predict_proba(FRAME)
    assert ((ends[..., 0] < p) & (p < ends[..., 1])).all()
    document = pd.DataFrame([["red", 7, True]], columns=FRAME.columns)
    table = clf.explain(document, classes=("warm", "cold"))
    assert table.index.tolist() == ["(class prior)", "colour", "wet"]
    assert table["value"].tolist() == [None, "red", True]
    joint = clf.predict_joint_log_proba(document)[0]
    assert table["contribution"].sum() == pytest.approx(joint[1] - joint[0], rel=1e-12)
    reserve = CategoricalNB(unseen="reserve").fit(FRAME, Y).explain(document)
    assert reserve["value"].tolist() == [None, "red", "(unseen)", True]
    assert clf.predict(FRAME, abstain=0.999).tolist() == [None] * 4
    assert clf.predict(FRAME, abstain=1e-9).tolist() == clf.predict(FRAME).tolist()
    clf.save(tmp_path / "m")
    np.testing.assert_array_equal(bayesnb.Scorer.load(tmp_path / "m").predict_interval(FRAME, 0.99), ends)


def test_a_category_alone_in_its_column_says_nothing():
    """Its contribution and both ends are 0, and intervals are those without the column."""
    table = [["x", "a"], ["x", "b"], ["x", "b"]]
    clf, without = CategoricalNB().fit(table, [0, 1, 1]), CategoricalNB().fit([row[1:] for row in table], [0, 1, 1])
    assert clf.explain(["x", "a"]).loc[0].tolist() == ["x", 0, 0, 0]
    np.testing.assert_allclose(
        clf.predict_interval(table), without.predict_interval([row[1:] for row in table]), rtol=1e-6
    )


def cells_of_file(**values):
    def edit(parts):
        parts.document["model"]["cells"] |= values

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (cells_of_file(kinds=["str", "int"]), "one kind a column"),
        (cells_of_file(kinds=["str", "int", "code"]), "kinds must be"),
        (cells_of_file(kinds=["int", "int", "bool"]), "'blue' is no category of type int"),
        (cells_of_file(kinds=[None, "int", "bool"]), "'blue' is no category of type None"),
        (cells_of_file(columns=["a", "a", "b"]), "'a' stands there twice"),
        (cells_of_file(columns=3), "list of names"),
        (lambda parts: parts.put("block", [0, 0, 1, 1, 1, 2, 3]), "block.*3 columns"),
        (lambda parts: parts.put("block", [0, 1, 0, 1, 1, 2, 2]), "block"),
        (lambda parts: parts.put("flags", [0, 0, 1, 1, 4, 0, 0]), "flags"),
        (lambda parts: parts.put("flags", [0, 0, 1, 0, 1, 0, 0]), "codes must be 0, 1"),
        (lambda parts: parts.put("flags", [2, 0, 1, 1, 1, 0, 0]), "fingerprint"),
        (lambda parts: parts.document["model"].pop("cells"), "cells"),
        (
            lambda parts: parts.put("feature_count", [[0, 2, 1, 0, 1, 2, 1], [2, 0, 1, 0, 1, 1, 1]]),
            "a document has one",
        ),
    ],
)
def test_a_damaged_file_is_refused_by_file_and_field(edit, words, tmp_path):
    CategoricalNB().fit(FRAME, Y).save(tmp_path / "m")
    edited(tmp_path / "m", edit)
    with pytest.raises(ValueError, match=f"model file .*m: .*{words}"):
        bayesnb.load(tmp_path / "m")


def test_a_fitted_file_shows_its_settings(tmp_path):
    CategoricalNB(unseen="reserve").fit(FRAME, Y).save(tmp_path / "m")
    told = bayesnb.storage.inspect(tmp_path / "m")
    json.dumps(told, allow_nan=False)
    assert (told["event"], told["unseen"], told["n_tokens"], told["tokens_seen"]) == (
        "categorical",
        "reserve",
        7,
        [6, 6],
    )


def test_what_has_no_meaning_for_categories_is_refused():
    clf = CategoricalNB().fit(FRAME, Y)
    with pytest.raises(ValueError, match="no ratios"):
        clf.token_ratios("warm", "cold")
    with pytest.raises(ValueError, match="cannot be lumped"):
        bayesnb.sample(clf, tokens=["colour=red"], sampler="exact")
