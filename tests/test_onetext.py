"""One text the short way: the bulk's answer, at any length, for every kind of model, whatever another thread does."""

import copy
import pickle
import re
import sys
import threading
from itertools import combinations_with_replacement, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesnb
from bayesnb import onetext, storage
from bayesnb.scorer import Scorer
from tests.model_examples import LABELS, TEXTS, text_model
from tests.test_scorer import EVENTS

OPTIONS = EVENTS | {
    "pairs": {"ngram_range": (1, 2), "stop_words": ["now"]},
    "pairs of presence": {"ngram_range": (2, 2), "binary": True, "power": 0.4},
    "chosen": {"max_features": 3},
    "mle": {"estimate": "mle"},
    "bernoulli mle": {"estimate": "mle", "event": "bernoulli"},
    "words apart": {"tokens": "whitespace"},
    "an expression": {"tokens": "[a-z]+"},
}
DOCUMENT = st.lists(
    st.sampled_from(["win", "cash", "now", "tea", "milk", "gin", "Tea", "WIN", "née,", "x"]), max_size=200
).map(" ".join)


def fitted(**given):
    """A classifier of the four texts; a prior a cell needs as many tokens as they hold."""
    return bayesnb.TextClassifier(**given).fit(TEXTS, LABELS)


def batched(model, text):
    """The row of a batch of two, which never takes the short way."""
    return model.predict_proba((text, text))[1]


@pytest.mark.parametrize("given_", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=25, deadline=None)
@given(text=DOCUMENT | st.text())
def test_one_text_is_the_row_of_a_batch(given_, text):
    """To 1e-12, in all three verbs; where the batch is an error it is the same error."""
    tc = fitted(**given_)
    scorer = Scorer(tc._model())
    try:
        expected = batched(tc, text)
    except ValueError as error:
        for call in (tc.predict_proba, scorer.predict_proba, tc.predict):
            with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
                call([text])
        return
    for found in (tc.predict_proba([text]), scorer.predict_proba([text]), scorer.score(text)[None]):
        assert found.shape == (1, 2) and found.dtype == np.float64
        np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-12)
    label = tc.predict([text])
    assert label.tolist() == tc.predict((text, text))[1:].tolist() and label.dtype == tc.classes_.dtype


def test_the_short_way_is_taken(monkeypatch):
    """By the estimator and the scorer, for a list of one string and nothing else."""
    tc = fitted()
    scorer = Scorer(tc._model())
    expected = tc.predict_proba(["tea win"])
    monkeypatch.setattr("bayesnb.corpus.tokens.Tokenizer.count", lambda *_, **__: pytest.fail("counted in bulk"))
    assert np.array_equal(tc.predict_proba(["tea win"]), expected)
    assert np.array_equal(scorer.predict_proba(["tea win"]), expected)
    for documents in (("tea",), np.array(["tea"]), ["tea", "win"]):
        with pytest.raises(BaseException, match="counted in bulk"):
            tc.predict_proba(documents)


def test_small_probabilities_keep_their_digits():
    """The smaller of two is e^-d / (1 + e^-d), never 1 minus the larger."""
    tc = bayesnb.TextClassifier(alpha=1e-9).fit(["aa " * 50, "bb " * 50], [0, 1])
    found, expected = tc.predict_proba(["aa aa"])[0], batched(tc, "aa aa")
    assert 0 < found[1] < 1e-20
    assert found[1] == pytest.approx(expected[1], rel=1e-12)
    assert tc.predict_proba(["aa " * 60])[0].tolist() == [1.0, 0.0]  # 1e-600: beyond the smallest number, no error


def test_ties_fall_as_in_a_batch():
    """Odds of exactly 1 whose logarithms do not cancel to the last bit: the same label either way, for all of them."""
    once = {"aa": 0, "bb": 1, "cc": 2, "dd": 3, "ee": 5}  # phi is to 1, 2, 3, 4, 6 in x and to 6, 4, 3, 2, 1 in y
    x = " ".join(token for token, n in once.items() for _ in range(n))
    y = " ".join(token for token, n in zip(once, (5, 3, 2, 1, 0), strict=True) for _ in range(n))
    tc = bayesnb.TextClassifier().fit([x, y], ["x", "y"])
    texts = [" ".join(tokens) for n in range(6) for tokens in combinations_with_replacement(once, n)]
    odds = {"aa": (6, 1), "bb": (4, 2), "cc": (1, 1), "dd": (2, 4), "ee": (1, 6)}
    ties = [t for t in texts if prod(odds[w][0] for w in t.split()) == prod(odds[w][1] for w in t.split())]
    assert len(ties) == 20
    assert [tc.predict([text])[0] for text in texts] == tc.predict(texts).tolist()


def test_many_classes_take_the_sums_of_a_batch():
    """Three classes, and one."""
    for labels in ("abca", "aaaa"):
        tc = bayesnb.TextClassifier().fit(TEXTS, list(labels))
        np.testing.assert_allclose(tc.predict_proba(["win tea"])[0], batched(tc, "win tea"), rtol=1e-12)


def test_learning_on_changes_the_short_way_too():
    """Nothing of an earlier state answers for a later one, nor for a copy with other base rates."""
    tc = fitted()
    before = tc.predict_proba(["tea gin"])
    tc.partial_fit(["gin", "rum gin"], ["spam", "spam"])
    np.testing.assert_allclose(tc.predict_proba(["tea gin"])[0], batched(tc, "tea gin"), atol=1e-12)
    assert not np.allclose(tc.predict_proba(["tea gin"]), before)
    other = tc.with_class_prior({"ham": 0.01, "spam": 0.99})
    np.testing.assert_allclose(other.predict_proba(["tea gin"])[0], batched(other, "tea gin"), atol=1e-12)
    assert set(tc.vocabulary_) == set(tc.posterior_.tokens.tolist())


def test_what_is_laid_out_for_speed_is_not_pickled():
    """A file of a classifier that has scored is as large as that of one that has not."""
    tc = fitted()
    size = len(pickle.dumps(tc))
    tc.predict_proba(["tea"])
    tc.predict_proba(["tea", "win"])
    assert {"_alone", "_columns"} <= set(tc.__dict__) and len(pickle.dumps(tc)) < 2 * size
    assert not {"_alone", "_columns"} & set(copy.deepcopy(tc).__dict__)
    again = pickle.loads(pickle.dumps(tc))  # noqa: S301
    assert np.array_equal(again.predict_proba(["tea"]), tc.predict_proba(["tea"]))


def test_a_warning_is_given_one_by_one_too():
    """A declared class without documents: the short way stands aside."""
    tc = bayesnb.TextClassifier().partial_fit(TEXTS, LABELS, classes=["eggs", "ham", "spam"])
    with pytest.warns(UserWarning, match="class 'eggs' has no document"):
        assert tc.predict_proba(["tea"])[0, 0] == 0


def test_a_classifier_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        bayesnb.TextClassifier().predict_proba(["tea"])
    tc = bayesnb.TextClassifier()
    with pytest.raises(NotFittedError):
        tc.predict(["tea"])
    assert tc.fit(TEXTS, LABELS).predict(["tea"]).tolist() == ["ham"]


STATES = 12


def test_scoring_while_another_thread_learns_sees_one_state():
    """Each answer, of one text or several, is that of some state between two batches, and they come in order."""
    text, batches = "tea gin rum", [(["gin"] * 40, ["spam"] * 40), (["rum"] * 70, ["ham"] * 70)] * (STATES // 2)
    alone, reference = [], fitted()
    for texts, labels in [([], []), *batches]:
        if texts:
            reference.partial_fit(texts, labels)
        alone.append(batched(reference, text))
    assert min(abs(a[0] - b[0]) for a, b in pairwise(alone)) > 1e-6  # states can be told apart
    tc, seen, done = fitted(), [], threading.Event()

    def score():
        while not done.is_set():
            seen.append(tc.predict_proba([text])[0])
            seen.append(batched(tc, text))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=score) for _ in range(2)]
    try:
        for thread in threads:
            thread.start()
        for texts, labels in batches:
            tc.partial_fit(texts, labels)
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    distance = np.abs(np.array(seen)[:, None, 0] - np.array(alone)[None, :, 0])
    assert distance.min(axis=1).max() < 1e-12 and len(seen) > STATES
    np.testing.assert_allclose(tc.predict_proba([text])[0], alone[-1], atol=1e-12)


def test_a_scorer_of_matrices_is_not_taken_for_one_of_texts():
    """A list of one string is then no document at all."""
    scorer = Scorer(storage.Model(text_model().settings, text_model().state, tokens=None, named_columns=True))
    with pytest.raises(ValueError):
        scorer.predict_proba(["tea"])
    assert not onetext.is_one_text(("tea",)) and onetext.is_one_text(["tea"])
