"""Totals are additive, weights are copies, and a removal of what was never added is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesnb.events import bernoulli, multinomial

MODELS = [multinomial, bernoulli]
modest = settings(deadline=None, max_examples=40)


@st.composite
def corpora(draw, max_count=6):
    """Up to 8 documents over up to 4 tokens in 3 classes, and a generator for permutations and splits."""
    n, v = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    cell = st.integers(0, max_count)
    X = np.array(draw(st.lists(st.lists(cell, min_size=v, max_size=v), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return X, y, np.random.default_rng(draw(st.integers(0, 2**32)))


def same(a, b):
    np.testing.assert_array_equal(a.class_count, b.class_count)
    np.testing.assert_array_equal(a.feature_count, b.feature_count)


@pytest.mark.parametrize("model", MODELS)
def test_totals_are_those_counted_by_hand(model):
    s = model.Statistics.from_documents([[7, 0], [0, 1], [2, 2]], np.array([0, 1, 0]), 3)
    np.testing.assert_array_equal(s.class_count, [2, 1, 0])
    expected = [[9, 2], [0, 1], [0, 0]] if model is multinomial else [[2, 1], [0, 1], [0, 0]]
    np.testing.assert_array_equal(s.feature_count, expected)
    assert (s.n_classes, s.n_tokens) == (3, 2)


@pytest.mark.parametrize("model", MODELS)
@given(corpus=corpora(max_count=10**9))
@modest
def test_any_split_in_any_order_gives_the_same_totals_bit_for_bit(model, corpus):
    X, y, rng = corpus
    whole = model.Statistics.from_documents(X, y, 3)
    parts = np.array_split(rng.permutation(len(y)), rng.integers(1, len(y) + 1))
    total = model.Statistics.zeros(3, X.shape[1])
    for part in parts:
        total = total + model.Statistics.from_documents(X[part], y[part], 3)
    same(total, whole)


@pytest.mark.parametrize("model", MODELS)
@given(corpus=corpora())
@modest
def test_fractional_weights_split_to_rounding(model, corpus):
    X, y, rng = corpus
    w = rng.random(len(y))
    whole = model.Statistics.from_documents(X, y, 3, w)
    total = model.Statistics.zeros(3, X.shape[1])
    for i in rng.permutation(len(y)):
        total = total + model.Statistics.from_documents(X[[i]], y[[i]], 3, w[i])
    np.testing.assert_allclose(total.feature_count, whole.feature_count, rtol=1e-12)
    np.testing.assert_allclose(total.class_count, whole.class_count, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS)
@given(corpus=corpora(max_count=10**9))
@modest
def test_adding_and_then_removing_changes_nothing(model, corpus):
    X, y, rng = corpus
    cut = rng.integers(0, len(y) + 1)
    kept, other = (model.Statistics.from_documents(X[i], y[i], 3) for i in (slice(cut), slice(cut, None)))
    same((kept + other) - other, kept)


@pytest.mark.parametrize("model", MODELS)
@given(corpus=corpora())
@modest
def test_removing_every_fractional_document_leaves_no_more_than_rounding(model, corpus):
    """And exactly 0 where one removal takes all: a token that nothing is left of must not keep 1e-17."""
    X, y, rng = corpus
    w = rng.random(len(y))
    left = model.Statistics.from_documents(X, y, 3, w)
    for i in rng.permutation(len(y)):
        left = left - model.Statistics.from_documents(X[[i]], y[[i]], 3, w[i])
    assert np.allclose(left.feature_count, 0, atol=1e-12) and np.allclose(left.class_count, 0, atol=1e-12)
    same(model.Statistics([0.1 * 3], [[0.1 * 3]]) - model.Statistics([0.3], [[0.3]]), model.Statistics.zeros(1, 1))


def test_whole_numbers_are_subtracted_exactly_at_any_size():
    """One occurrence left of 1e15 is not rounding."""
    large = multinomial.Statistics([1e15], [[1e15, 2]])
    left = large - multinomial.Statistics([1e15 - 1], [[1e15 - 1, 2]])
    np.testing.assert_array_equal(left.feature_count, [[1, 0]])
    np.testing.assert_array_equal(left.class_count, [1])


def test_a_document_beside_a_large_fractional_total_is_not_rounding():
    """Half a document left of 1e15 + 1/2 is four units of its last place."""
    large = multinomial.Statistics([1e15 + 0.5], [[1e15 + 0.5, 1e6 + 2**-20]])
    left = large - multinomial.Statistics([1e15], [[1e15, 1e6]])
    np.testing.assert_array_equal(left.class_count, [0.5])
    np.testing.assert_array_equal(left.feature_count, [[0.5, 2**-20]])


@pytest.mark.parametrize("model", MODELS)
def test_a_removal_below_zero_is_refused_and_changes_nothing(model):
    s = model.Statistics.from_documents([[1, 0], [0, 1]], np.array([0, 1]), 2)
    before = s.class_count.copy(), s.feature_count.copy()
    with pytest.raises(ValueError, match=r"feature_count would be -1 at \(0, 1\)|class_count would be -1 at \(0,\)"):
        s - model.Statistics.from_documents([[0, 1], [0, 1]], np.array([0, 0]), 2)
    np.testing.assert_array_equal(s.class_count, before[0])
    np.testing.assert_array_equal(s.feature_count, before[1])


def test_a_bernoulli_removal_that_leaves_more_presences_than_documents_is_refused():
    """Two documents hold token 0; taking out an empty document leaves two presences in one document."""
    s = bernoulli.Statistics([2], [[2, 0]])
    with pytest.raises(ValueError, match="token 0 would be in 2 documents of class 0, which has 1"):
        s - bernoulli.Statistics([1], [[0, 0]])


@pytest.mark.parametrize("model", MODELS)
@given(corpus=corpora())
@modest
def test_weight_three_is_three_copies_and_weight_zero_none(model, corpus):
    X, y, rng = corpus
    w = rng.integers(0, 4, len(y))
    weighted = model.Statistics.from_documents(X, y, 3, w)
    same(weighted, model.Statistics.from_documents(np.repeat(X, w, axis=0), np.repeat(y, w), 3))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"])
@pytest.mark.parametrize("model", MODELS)
def test_sparse_and_dense_documents_give_the_same_totals(model, form):
    X, y = np.array([[2, 0, 1], [0, 0, 3], [1, 1, 0]]), np.array([1, 0, 1])
    for kind in ("array", "matrix"):
        s = model.Statistics.from_documents(getattr(sparse, f"{form}_{kind}")(X), y, 2)
        same(s, model.Statistics.from_documents(X, y, 2))


@pytest.mark.parametrize(
    ("X", "total"), [(np.full((300, 1), 1, np.uint8), 300), (np.full((2, 1), 2_000_000_000, np.int32), 4_000_000_000)]
)
def test_totals_do_not_overflow_the_type_of_the_counts(X, total):
    for form in (X, sparse.csr_array(X), sparse.coo_array(X)):
        s = multinomial.Statistics.from_documents(form, np.zeros(len(X), int), 1)
        assert s.feature_count[0, 0] == total


def test_single_precision_counts_are_summed_in_double_precision():
    X = np.array([[16_777_216], [1]], np.float32)
    assert multinomial.Statistics.from_documents(X, np.zeros(2, int), 1).feature_count[0, 0] == 16_777_217


@pytest.mark.parametrize("model", MODELS)
def test_statistics_cannot_be_changed_and_do_not_alias_the_callers_arrays(model):
    n, f = np.array([1.0]), np.array([[1.0, 0.0]])
    s = model.Statistics(n, f)
    n[0] = f[0, 0] = 99
    assert s.class_count[0] == 1 and s.feature_count[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        s.feature_count[0, 0] = 2
    with pytest.raises(AttributeError):
        s.class_count = n


@pytest.mark.parametrize(
    ("n", "f"), [([1], [1, 2]), ([1, 2], [[1, 2]]), ([[1]], [[1]]), ([np.nan], [[1]]), ([1], [[np.inf]]), ([1], [[-1]])]
)
def test_totals_of_wrong_shape_or_value_are_refused(n, f):
    with pytest.raises(ValueError, match=r"must be|would be"):
        multinomial.Statistics(n, f)


def test_statistics_of_different_models_or_shapes_do_not_mix():
    for other in (bernoulli.Statistics.zeros(2, 2), multinomial.Statistics.zeros(2, 3)):
        with pytest.raises(ValueError, match="do not match"):
            multinomial.Statistics.zeros(2, 2) + other


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0], "inconsistent numbers of samples"),
        ([0, 2], r"0\.\.1, got 0\.\.2"),
        ([0, -1], "class codes"),
        ([0.5, 1], "integers"),
    ],
)
def test_class_codes_are_checked(y, words):
    with pytest.raises(ValueError, match=words):
        multinomial.Statistics.from_documents([[1], [1]], np.array(y), 2)
