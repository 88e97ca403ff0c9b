"""Whatever table, labels, weights or texts are handed in: the right answer, or a refusal in one line.

Inputs and the estimator's state stay as they were. Each property runs with few examples in a plain run and with many
under ``-m long``; no seed is picked. What was found wanting has a plain test of its own below.
"""

import copy
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import event
from hypothesis import strategies as st
from scipy import sparse

from bayesnb import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, TextClassifier
from bayesnb.corpus import Tokenizer

from . import any_input
from .any_input import FIVE, FOUR, TEXTS, anything
from .judged import CALLS, EXAMPLES, LONG, answers, assert_same, deeper, first_row, holds, judged


@st.composite
def cases(draw, what):
    """A table, what it holds, labels, the labels as a list, and a level."""
    X, held = draw(what)
    y, values = draw(any_input.labels(max(len(held), 1)))
    return X, held, y, values, draw(st.floats(1e-6, 1 - 1e-6))


@st.composite
def count_settings(draw):
    given = {"estimate": draw(st.sampled_from(["map", "map", "mean", "predictive", "mle"]))}
    given["alpha"] = draw(st.sampled_from([1.0, 1, 0.1, 0, 1e-9, 1e9]))
    given["power"] = draw(st.sampled_from([1.0, 1.0, 0.3, 2]))
    return given


def compared(make, case, *, dense_only=False):
    """Fit on a table and on what it holds as plain float64: the same answer from both, or both refused."""
    X, held, y, values, level = case
    clf, plain = make(), make()
    fitted = judged(lambda: clf.fit(X, y), X, y, state=clf)
    wanted = judged(lambda: plain.fit(np.array(held, np.float64), y), held, y, state=plain)
    event(f"fit {'answered' if fitted else 'refused'}")
    if dense_only and sparse.issparse(X):
        assert not fitted
        return
    if hasattr(X, "columns") and len(set(X.columns)) < len(X.columns):
        assert not fitted and "both named" in str(fitted.error)
        return
    assert bool(fitted) == bool(wanted), (fitted, wanted)
    if not fitted:
        return
    p, q = answers(clf, X, values), answers(plain, held, values)
    assert (p is None) == (q is None)
    if p is not None:
        assert_same(p, q, "probabilities")
    rows = X if not hasattr(X, "format") or X.format in ("csr", "csc") else X.tocsr()
    deeper(clf, X, first_row(rows), y, level)


# --- tables of numbers --------------------------------------------------------------------------------------


@holds(cases(any_input.tables()), count_settings(), st.booleans(), share=4)
def test_counts_in_any_container_give_the_answer_of_the_dense_table(case, given, binary):
    compared(lambda: MultinomialNB(**given, binary=binary), case)


@holds(cases(any_input.tables(signed=True)), count_settings(), st.sampled_from([0.0, 1.0, -1.0, 0.5, None]), share=3)
def test_presence_in_any_container_gives_the_answer_of_the_dense_table(case, given, binarize):
    compared(lambda: BernoulliNB(**given, binarize=binarize), case)


@holds(
    cases(any_input.tables(signed=True)),
    st.sampled_from([{}, {"prior": "weak"}, {"prior": "weak", "estimate": "predictive"}, {"estimate": "mle"}]),
    st.sampled_from(["error", "ignore"]),
    share=3,
)
def test_measurements_in_any_container_give_the_answer_of_the_dense_table(case, given, missing):
    compared(lambda: GaussianNB(**given, missing=missing), case, dense_only=True)


ESTIMATORS = [MultinomialNB, BernoulliNB, GaussianNB, lambda: GaussianNB(prior="weak", missing="ignore"), CategoricalNB]


@holds(st.sampled_from(ESTIMATORS), any_input.no_tables(), share=4)
def test_what_is_no_table_of_numbers_is_refused_by_every_verb(make, X):
    """CategoricalNB reads strings, and a masked cell is missing: what is not refused has proper probabilities."""
    clf = make()
    y = ["a", "b", "a"]
    fitted = judged(lambda: clf.fit(X, y), X, state=clf)
    if fitted:
        p = judged(lambda: clf.predict_proba(X), X, state=clf)
        assert not p or np.allclose(p.value.sum(axis=1), 1)
    clf = make().fit([[1, 0], [0, 1], [1, 1]], y)
    for verb in ("predict", "predict_proba", "predict_interval", "explain"):
        answer = judged(lambda verb=verb: getattr(clf, verb)(X), X, state=clf)
        assert not answer or not isinstance(answer.value, np.ndarray) or len(answer.value) == np.shape(X)[0]
    for verb in ("partial_fit", "unlearn", "loo"):
        judged(lambda verb=verb: getattr(copy.deepcopy(clf), verb)(X, y), X, state=clf)


# --- categories ---------------------------------------------------------------------------------------------

CATEGORY = [
    st.integers(0, 3), st.sampled_from(["a", "b", "", "\0", "\ud800"]), st.booleans(), st.sampled_from([0.0, 1.0, 2.0]),
    st.sampled_from([None, float("nan"), 1]), st.sampled_from([0, 2**24, -1, float("inf"), 10**400]),
    st.sampled_from(["a", 1, True]), st.sampled_from([0.5, 1.5]), st.sampled_from([b"a", 1j, object()]),
]  # fmt: skip


@st.composite
def category_tables(draw):
    """Columns of categories in a container, and the same as a list of rows."""
    n, columns = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    kinds = CATEGORY[:4] if draw(st.integers(0, 2)) else CATEGORY
    data = [draw(st.lists(draw(st.sampled_from(kinds)), min_size=n, max_size=n)) for _ in range(columns)]
    rows = [list(row) for row in zip(*data, strict=True)]
    objects = np.empty((n, columns), object)
    objects[:] = rows
    way = draw(st.sampled_from(["list", "tuple", "array", "fortran", "pandas", "masked"]))
    if way == "pandas":
        return pd.DataFrame({f"c{j}": pd.Series(column, dtype=object) for j, column in enumerate(data)}), rows
    ways = {"list": rows, "tuple": tuple(map(tuple, rows)), "array": objects, "fortran": np.asfortranarray(objects)}
    return (np.ma.masked_array(objects) if way == "masked" else ways[way]), rows


@holds(
    category_tables(),
    st.sampled_from(["skip", "error", "reserve"]),
    st.sampled_from(["error", "ignore"]),
    st.sampled_from(["map", "mean"]),
    share=3,
)
def test_categories_in_any_container_give_the_answer_of_the_list_of_rows(table, unseen, missing, estimate):
    X, rows = table
    y = [["s", "h"][i % 2] for i in range(len(rows))]
    clf, plain = (CategoricalNB(unseen=unseen, missing=missing, estimate=estimate) for _ in range(2))
    fitted, wanted = judged(lambda: clf.fit(X, y), X, state=clf), judged(lambda: plain.fit(rows, y), rows, state=plain)
    assert bool(fitted) == bool(wanted), (fitted, wanted)
    if fitted:
        p, q = answers(clf, X, y), answers(plain, rows, y)
        assert (p is None) == (q is None)
        assert p is None or (p == q).all()
        deeper(clf, X, first_row(X), y, 0.9)


# --- labels and weights -------------------------------------------------------------------------------------


@holds(st.sampled_from(FIVE), any_input.labels(4), share=2)
def test_labels_of_any_type_come_back_with_their_type(kind, labelled):
    (make, X), (y, values) = kind, labelled
    clf = make()
    assert judged(lambda: clf.fit(X, y), X, y, state=clf)
    answers(clf, X, values)
    for label in values[:2]:
        assert values[0] in clf.classes_[[clf.posterior_.class_index(label)]].tolist() or label != values[0]
    again = judged(lambda: make().partial_fit(X, y, classes=y).classes_, X, y)
    assert again and again.value.tolist() == clf.classes_.tolist()


@holds(st.sampled_from(FIVE), st.sampled_from(any_input.NO_LABELS) | anything, share=3)
def test_what_is_no_list_of_labels_is_refused_and_nothing_is_learnt(kind, y):
    make, X = kind
    clf, fitted = make(), make().fit(X, ["a", "b", "a", "b"])
    if judged(lambda: clf.fit(X, y), X, y, state=clf):
        answers(clf, X, list(y))
        return
    for verb in ("fit", "partial_fit", "unlearn", "loo"):
        assert not judged(lambda verb=verb: getattr(fitted, verb)(X, y), X, y, state=fitted)
    judged(lambda: make().partial_fit(X, ["a", "b", "a", "b"], classes=y), X, y)


@holds(
    st.sampled_from(FIVE),
    anything | st.lists(any_input.few | any_input.some | any_input.bad, min_size=4, max_size=4).map(np.array),
    share=3,
)
def test_weights_are_used_as_copies_or_refused(kind, weight):
    make, X = kind
    clf, y = make(), ["a", "b", "a", "b"]
    if not judged(lambda: clf.fit(X, y, sample_weight=weight), X, weight, state=clf):
        return
    w = np.ones(4) if weight is None else np.broadcast_to(np.asarray(weight, float), 4)
    assert ((w >= 0) & (w <= 1e100)).all()
    held = [label for label, share in zip(y, w, strict=True) if share > 0]
    assert_same(clf.class_count_, [sum(s for c, s in zip(y, w, strict=True) if c == k) for k in clf.classes_], "totals")
    if make is not GaussianNB:
        answers(clf, X, held)


# --- texts --------------------------------------------------------------------------------------------------

TOKENS = ["words", "whitespace", "space", r"\w+", "[a-z]"]


@holds(
    st.lists(any_input.texts, min_size=1, max_size=5),
    st.sampled_from(TOKENS),
    st.sampled_from(["multinomial", "bernoulli"]),
    st.lists(any_input.texts, min_size=1, max_size=3),
    share=4,
)
def test_texts_of_any_characters_are_what_their_tokens_are(texts, tokens, model, new):
    """The bulk tokenizer, the short way of one text and a matrix of counts of single texts' tokens agree."""
    y = [["s", "h"][i % 2] for i in range(len(texts))]
    clf = TextClassifier(event=model, tokens=tokens)
    fitted = judged(lambda: clf.fit(texts, y), texts, state=clf)
    surrogate = any("\ud800" <= c <= "\udfff" for text in texts for c in text)
    if surrogate:
        assert not fitted and "surrogate" in str(fitted.error)
        return
    cut = Tokenizer(tokens)
    assert bool(fitted) == any(map(cut.tokens, texts))
    if not fitted:
        return
    vocabulary = clf.posterior_.tokens.tolist()
    assert vocabulary == sorted({token for text in texts for token in cut.tokens(text)})
    answers(clf, texts, y)
    deeper(clf, texts, texts[:1], y, 0.9)
    one_by_one = [judged(lambda text=text: clf.predict_proba([text]), state=clf) for text in new]
    assert bool(judged(lambda: clf.predict_proba(new), new, state=clf)) == all(one_by_one)
    if all(one_by_one):
        counts = [[Counter(cut.tokens(text))[token] for token in vocabulary] for text in new]
        plain = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}[model]()
        seen = [[Counter(cut.tokens(text))[token] for token in vocabulary] for text in texts]
        judged_plain = judged(lambda: plain.fit(seen, y).predict_proba(counts))
        np.testing.assert_allclose(judged_plain.value, clf.predict_proba(new), atol=1e-12)
        np.testing.assert_allclose(np.vstack([p.value for p in one_by_one]), clf.predict_proba(new), atol=1e-12)


@holds(st.lists(any_input.texts | any_input.no_text, max_size=4) | anything, share=3)
def test_what_is_no_list_of_texts_is_refused_by_classifier_scorer_and_select(texts):
    clf = TextClassifier().fit(TEXTS, ["a", "b", "a", "c"])
    labels = ["a"] * (len(texts) if isinstance(texts, (list, str)) else 3)
    good = isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)
    for verb in ("predict", "predict_proba", "predict_interval"):
        answer = judged(lambda verb=verb: getattr(clf, verb)(texts), texts, state=clf)
        assert good or not answer or not len(list(texts))
    judged(lambda: TextClassifier().fit(texts, labels), texts)
    judged(lambda: clf.loo(texts, labels), texts, state=clf)
    judged(lambda: copy.deepcopy(clf).unlearn(texts, labels), texts)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LONG[__name__]))
def test_with_many_more_examples(name, capsys):
    """Each property of this file once more; says how many examples it ran."""
    LONG[__name__][name]()
    with capsys.disabled():
        print(f"\n{name}: {EXAMPLES[name]} examples; so far {dict(CALLS)}")


# --- what was found wanting, each with its right answer -----------------------------------------------------

NAMED = pd.DataFrame(FOUR, columns=["q", "q", "r"])
MASKED = np.ma.masked_array(FOUR, mask=[[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
ABAB = ["a", "b", "a", "b"]


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB])
def test_two_columns_of_one_name_are_named(make):
    with pytest.raises(ValueError, match=r"columns 0 and 1 of X are both named 'q'"):
        make().fit(NAMED, ABAB)


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB])
def test_a_masked_cell_is_a_missing_cell(make):
    for X in (MASKED, list(MASKED)):
        with pytest.raises(ValueError, match=r"contains NaN at row 0, column 0"):
            make().fit(X, ABAB)
    with pytest.raises(ValueError, match="missing label at row 1"):
        make().fit(FOUR, np.ma.masked_array([0, 1, 0, 1], mask=[0, 1, 0, 0]))
    with pytest.raises(ValueError, match=r"sample_weight .* got nan at row 2"):
        make().fit(FOUR, ABAB, sample_weight=np.ma.masked_array([1.0] * 4, mask=[0, 0, 1, 0]))


def test_a_masked_cell_drops_out_where_missing_cells_may():
    """Class a has 2 and 1 in column 0; without the 2 its mean is 1, and category 2 is not there."""
    assert GaussianNB(missing="ignore").fit(MASKED, ABAB).posterior_.statistics.mean[0, 0] == 1
    assert CategoricalNB(missing="ignore").fit(MASKED, ABAB).category_count_[0][0].tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB])
def test_no_row_and_no_column_are_refused_alike_by_every_estimator(make):
    clf = make().fit(FOUR, ABAB)
    for X in (FOUR[:0], FOUR[:, :0], pd.DataFrame({})):
        for call in (lambda X=X: clf.predict(X), lambda X=X: make().fit(X, [])):
            with pytest.raises(ValueError, match=r"Found array with 0 (sample|feature)\(s\)"):
                call()


@pytest.mark.parametrize("value", [1e155, 1e308])
def test_measurements_without_squares_are_named_by_row_and_column(value):
    X = [[1.0, 2.0], [2.0, value], [3.0, -value], [4.0, 1.0]]
    with pytest.raises(ValueError, match=rf"row 1, column 1 is 1e\+{round(np.log10(value))}.*rescale the column"):
        GaussianNB().fit(X, ["a"] * 4)


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB])
def test_whole_numbers_beyond_floating_point_are_no_overflow_error(make):
    with pytest.raises(ValueError, match="row 0, column 0"):
        make().fit([[10**400, 1], [1, 2]], ["a", "b"])
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        make().fit(FOUR, ABAB, sample_weight=[10**400] * 4)


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB])
@pytest.mark.parametrize("unit", ["M8[D]", "m8[s]"])
def test_dates_and_spans_of_time_are_no_numbers(make, unit):
    """The days since 1970 are no counts."""
    with pytest.raises((ValueError, TypeError), match=r"dtype is|a category, as an argument must be"):
        make().fit(FOUR.astype(unit), ABAB)
    with pytest.raises(ValueError, match="labels are strings, whole numbers or booleans"):
        make().fit(FOUR, np.array([1, 2, 1, 2], unit))
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        make().fit(FOUR, ABAB, sample_weight=np.array([1, 2, 1, 2], unit))


def test_a_date_that_is_missing_is_no_class():
    with pytest.raises(ValueError, match="labels are strings"):
        MultinomialNB().fit(FOUR, np.array(["2020-01-01", "NaT"] * 2, "M8[D]"))


def test_a_missing_string_is_a_missing_label():
    """Its documents were left out without a word."""
    with pytest.raises(ValueError, match="missing label at row 1"):
        MultinomialNB().fit(FOUR, np.array(["a", np.nan] * 2, np.dtypes.StringDType(na_object=np.nan)))


def test_labels_are_told_their_row_and_type():
    with pytest.raises(ValueError, match=r"label \(1, 2\) at row 0 is of type tuple"):
        MultinomialNB().fit(FOUR, np.array([(1, 2), None, None, None], object)[[0, 0, 0, 0]])
    with pytest.raises(ValueError, match=r"Unknown label type: continuous. Label 1.5 at row 2"):
        MultinomialNB().fit(FOUR, [0, 1, 1.5, 1])


@pytest.mark.parametrize("y", [[2.0**63, 0, 2.0**63, 0], [1e300, 0, 1e300, 0]])
def test_large_whole_floats_are_labels_without_a_warning(y):
    assert MultinomialNB().fit(FOUR, y).classes_.tolist() == [0, y[0]]


@pytest.mark.parametrize("dtype", ["f2", "g", ">i2", ">f8"])
def test_labels_of_every_width_and_order_of_bytes_make_tables(dtype):
    """pandas has no index of half or long floats."""
    clf = MultinomialNB().fit(FOUR, np.array([1, 0, 1, 0], dtype))
    assert clf.token_ratios().index.get_level_values("numerator").tolist() == [0, 0, 0]


def test_float16_codes_are_compared_with_what_float16_cannot_hold():
    assert CategoricalNB().fit(FOUR.astype(np.float16), ABAB).n_categories_.tolist() == [5, 4, 2]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1], [1, 2], [3]], "rows that differ in length"),
        (None, "Expected 2D array of .*got None"),
        (np.ones((3, 2)) + 1j, "Complex data not supported"),
        (np.ones(3), "Expected 2D array .*got 1D array"),
        (sparse.coo_array(np.ones(3)), "Expected 2D array .*1D sparse"),
        (np.array([["1", "2"]] * 3), "its dtype is <U1"),
    ],
)
@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB])
def test_what_is_wrong_with_a_table_is_one_line(make, X, words):
    with pytest.raises(ValueError, match=words) as error:
        make().fit(X, ["a", "b", "a"])
    assert "\n" not in str(error.value)


def test_weights_have_an_upper_end_as_counts_have():
    with pytest.raises(ValueError, match=r"sample_weight must be >= 0 and at most 1e\+100, got 1e\+200 at row 0"):
        MultinomialNB().fit(FOUR, ABAB, sample_weight=1e200)
    with pytest.raises(ValueError, match=r"feature_count would be 4e\+120 .*rescale"):
        MultinomialNB().fit(FOUR * 1e90, ABAB, sample_weight=1e30)


def test_very_long_labels_and_values_are_cut_short_in_messages():
    clf = MultinomialNB(estimate="mle").partial_fit(FOUR, ABAB, classes=["a", "b", "x" * 10_000])
    with pytest.raises(ValueError, match="class 'xxx") as error, pytest.warns(UserWarning, match="no document"):
        clf.predict(FOUR)
    assert len(str(error.value)) < 400
    with pytest.raises(ValueError, match="power must be") as error:
        MultinomialNB(power=np.ones((50, 50))).fit(FOUR, ABAB)
    assert len(str(error.value)) < 400 and "\n" not in str(error.value)


def test_a_category_that_is_a_lone_surrogate_is_explained():
    clf = CategoricalNB().fit([["\ud800"], ["b"]], ["x", "y"])
    assert clf.explain([["\ud800"]]).value.tolist() == [None, "\ud800"]


def test_a_row_of_missing_categories_is_explained_by_the_class_prior_alone():
    clf = CategoricalNB(missing="ignore").fit([["a"], ["b"]], ["x", "y"])
    assert clf.explain([[None]]).index.tolist() == ["(class prior)"]


def test_what_is_no_list_of_texts_is_named():
    clf = TextClassifier().fit(TEXTS, ABAB)
    for verb in (clf.predict, clf.predict_proba, clf.explain):
        with pytest.raises(ValueError, match="a list of texts is expected, got 3"):
            verb(3)


def test_a_text_of_a_million_characters_is_counted():
    clf = TextClassifier().fit(["free " * 200_000, "tea"], ["a", "b"])
    assert clf.feature_count_.tolist() == [[200_000, 0], [0, 1]]
    assert clf.predict(["tea " * 250_000]).tolist() == ["b"]
