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
from .any_input import FIVE, TEXTS, anything
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
    assert not judged(lambda: clf.fit(X, y), X, y, state=clf)
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
    labels = ["a"] * (len(texts) if hasattr(texts, "__len__") else 1)
    good = isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)
    for verb in ("predict", "predict_proba", "predict_interval"):
        answer = judged(lambda verb=verb: getattr(clf, verb)(texts), texts, state=clf)
        assert good or not answer or not len(list(texts))
    judged(lambda: TextClassifier().fit(texts, labels), texts)
    judged(lambda: clf.loo(texts, labels), texts, state=clf)
    judged(lambda: copy.deepcopy(clf).unlearn(texts, labels), texts)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LONG))
def test_with_many_more_examples(name, capsys):
    """Each property of this file once more; says how many examples it ran."""
    LONG[name]()
    with capsys.disabled():
        print(f"\n{name}: {EXAMPLES[name]} examples; so far {dict(CALLS)}")
