"""Totals by class: sums that do not care how the documents came."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnb.corpus import ClassTotals, Tokenizer, counting

TEXTS = ["tea milk tea", "", "rum tea", "milk rum rum née", "tea"]
CODES = np.array([0, 2, 1, 1, 0])


def counted(texts, codes, tokenizer=None, weights=None, presence=False):
    """The same totals by way of a matrix of documents and tokens."""
    counts = (tokenizer or Tokenizer()).count(texts)
    X = counts.X.toarray()
    X = (X > 0) * 1 if presence else X
    member = (np.arange(codes.max() + 1)[:, None] == codes) * (1 if weights is None else weights)
    return counts.tokens, (member @ X).tolist(), member.sum(axis=1).tolist()


@pytest.mark.parametrize("frequencies", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 3.0, 0.25])])
def test_totals_are_sums_over_documents(presence, weights, frequencies):
    """Occurrences or presence, weighted or not, of classes with and without tokens."""
    totals = ClassTotals(Tokenizer(), presence=presence, frequencies=frequencies)
    totals.add(TEXTS, CODES, weights)
    tokens, counts, documents = totals.result()
    expected = counted(TEXTS, CODES, weights=weights, presence=presence)
    assert (tokens.tolist(), counts.tolist(), totals.class_count.tolist()) == expected
    held = counted(TEXTS, np.zeros(5, int), weights=weights, presence=True)
    assert (documents.tolist() if frequencies else held[1][0]) == held[1][0] and counts.flags.c_contiguous


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text("ab c", max_size=12), min_size=1, max_size=8),
    batch=st.sampled_from([1, 5, 2**22]),
    cut=st.integers(0, 8),
    ngrams=st.sampled_from([(1, 1), (1, 2)]),
)
def test_any_split_and_any_batches_give_the_same_bits(texts, batch, cut, ngrams):
    """Documents in one call or two, in many batches or one; many classes, so that most cells are empty."""
    codes = np.arange(len(texts)) * 7
    tokenizer, before = Tokenizer("whitespace", ngrams), counting._BATCH
    totals = ClassTotals(tokenizer, frequencies=True)
    try:
        counting._BATCH = batch
        for part in (slice(cut, None), slice(0, cut)):
            totals.add(texts[part], codes[part])
    finally:
        counting._BATCH = before
    whole = ClassTotals(tokenizer, frequencies=True)
    whole.add(texts, codes)
    for one, other in zip(totals.result(), whole.result(), strict=True):
        assert one.tolist() == other.tolist()
    expected = counted(texts, codes, tokenizer)
    assert (whole.result()[0].tolist(), whole.result()[1].tolist()) == expected[:2]


def test_a_vocabulary_is_all_that_is_counted():
    """Other tokens are left out, tokens that are absent stay with 0."""
    totals = ClassTotals(Tokenizer(), vocabulary=["milk", "rum", "gin"], n_classes=4)
    totals.add(TEXTS, CODES)
    tokens, counts, _ = totals.result()
    assert tokens.tolist() == ["gin", "milk", "rum"]
    assert counts.tolist() == [[0, 1, 0], [0, 1, 3], [0, 0, 0], [0, 0, 0]]
    assert totals.class_count.tolist() == [2, 2, 1, 0] and not totals.grows


def test_a_text_that_is_none_changes_nothing():
    """The row is named, and the totals are those of before, also where its batch is not the first."""
    totals = ClassTotals(Tokenizer())
    totals.add(TEXTS, CODES)
    before = totals.result()[1].tolist(), totals.class_count.tolist()
    with pytest.raises(ValueError, match="row 2: the text holds a lone surrogate"):
        totals.add(["gin", "gin", "\ud800"], np.array([0, 5, 0]))
    assert (totals.result()[1].tolist(), totals.class_count.tolist()) == before
