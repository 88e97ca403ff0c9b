"""TextClassifier: texts in, posterior out."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import bayesnb

TEXTS = ["tea milk tea", "rum tea", "rum and milk, rum"]
LABELS = ["a", "b", "b"]


def test_equals_scikit_learns_pipeline():
    ours = bayesnb.TextClassifier().fit(TEXTS, LABELS)
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, LABELS)
    assert ours.posterior_.tokens.tolist() == theirs[0].get_feature_names_out().tolist()
    np.testing.assert_allclose(ours.predict_proba(TEXTS), theirs.predict_proba(TEXTS), atol=1e-12)


def test_unknown_tokens_say_nothing_of_the_class():
    tc = bayesnb.TextClassifier(fit_prior=False).fit(TEXTS, LABELS)
    np.testing.assert_allclose(tc.predict_proba(["gin", "", "gin tea"])[:2], 0.5, rtol=1e-12)
    assert np.array_equal(tc.predict_proba(["gin tea"]), tc.predict_proba(["tea"]))


def test_learning_and_unlearning_tokens_give_the_same_bytes(tmp_path):
    tc = bayesnb.TextClassifier().fit(TEXTS, LABELS)
    once = tc.save(tmp_path / "once")
    tc.partial_fit(["gin and tonic", "tea"], ["c", "a"])
    assert "tonic" in tc.vocabulary_ and tc.classes_.tolist() == ["a", "b", "c"]
    tc.unlearn(["gin and tonic", "tea"], ["c", "a"])
    assert "tonic" not in tc.vocabulary_ and tc.classes_.tolist() == ["a", "b"]
    assert tc.save(tmp_path / "again") == once


def test_batches_equal_the_whole_in_any_order():
    whole = bayesnb.TextClassifier().fit(TEXTS, LABELS)
    parts = bayesnb.TextClassifier()
    for i in (2, 0, 1):
        parts.partial_fit([TEXTS[i]], [LABELS[i]])
    assert parts.posterior_.tokens.tolist() == whole.posterior_.tokens.tolist()
    assert np.array_equal(parts.feature_count_, whole.feature_count_)


def test_an_empty_vocabulary_says_how_many_documents_and_which_tokens():
    with pytest.raises(ValueError, match="empty vocabulary: 2 documents hold no token by tokens='words'"):
        bayesnb.TextClassifier().fit(["a", "b"], [0, 1])


def test_what_is_no_list_of_texts_is_refused():
    tc = bayesnb.TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match=r"write \[text\]"):
        tc.predict("tea")
    with pytest.raises(ValueError, match="text at row 1 is None"):
        tc.predict(["tea", None])


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_saved_classifier_predicts_bit_for_bit_and_goes_on_learning(tmp_path, event):
    tc = bayesnb.TextClassifier(event=event, tokens="space", alpha=0.5).fit(TEXTS, LABELS)
    tc.save(tmp_path / "m")
    back = bayesnb.load(tmp_path / "m")
    assert np.array_equal(back.predict_log_proba(TEXTS), tc.predict_log_proba(TEXTS))
    assert np.array_equal(
        back.partial_fit(["tea"], ["b"]).predict_log_proba(TEXTS),
        tc.partial_fit(["tea"], ["b"]).predict_log_proba(TEXTS),
    )


def test_a_text_of_weight_zero_brings_no_token():
    weighted = bayesnb.TextClassifier().fit([*TEXTS, "gin"], [*LABELS, "c"], sample_weight=[1, 1, 1, 0])
    assert weighted.posterior_.tokens.tolist() == bayesnb.TextClassifier().fit(TEXTS, LABELS).posterior_.tokens.tolist()
    assert weighted.classes_.tolist() == ["a", "b"]


def test_tokens_changed_after_fit_take_effect_with_the_next_fit(tmp_path):
    tc = bayesnb.TextClassifier().fit(TEXTS, LABELS)
    before = tc.predict_log_proba(TEXTS)
    tc.set_params(tokens="whitespace")
    assert np.array_equal(tc.predict_log_proba(TEXTS), before)
    with pytest.raises(ValueError, match="tokens='whitespace' reads documents in another way"):
        tc.partial_fit(TEXTS, LABELS)
    tc.save(tmp_path / "m")
    assert np.array_equal(bayesnb.load(tmp_path / "m").predict_log_proba(TEXTS), before)
    with pytest.raises(ValueError, match="tokens="):
        bayesnb.TextClassifier().fit(TEXTS, LABELS).merge(bayesnb.TextClassifier(tokens="space").fit(TEXTS, LABELS))


def test_a_frame_or_mapping_is_no_list_of_texts():
    import pandas as pd

    with pytest.raises(ValueError, match="pass its column of texts"):
        bayesnb.TextClassifier().fit(pd.DataFrame({"t": TEXTS}), LABELS)
