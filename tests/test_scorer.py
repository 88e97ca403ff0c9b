"""The scorer: bulk answers are the estimators' bit for bit, and one text takes a short way to the same."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bayesnb
from bayesnb import storage
from bayesnb.events import multinomial
from bayesnb.families import Beta
from bayesnb.model import Settings, State
from bayesnb.scorer import Scorer
from tests.model_examples import LABELS, NEW, TEXTS, X, learn_texts, matrix_model, text_model

DOCUMENTS = ["win now", "tea tea TEA milk gin", "", "gin", "win win cash tea now milk now"]

SETTINGS = {
    "map": {},
    "mean": {"estimate": "mean", "alpha": 0.3},
    "predictive": {"estimate": "predictive"},
    "power": {"power": 0.37},
    "known prior": {"class_prior": {"spam": 0.9, "ham": 0.1}},
    "uniform": {"fit_prior": False},
    "prior a cell": {"prior": np.linspace(1.1, 3, 10).reshape(2, 5)},
}
EVENTS = {
    f"{event}, {name}": {"event": event, **given}
    for event in ("multinomial", "bernoulli")
    for name, given in SETTINGS.items()
} | {
    "binary": {"binary": True},
    "beta": {"event": "bernoulli", "prior": Beta(1.2, 3.4)},
}


@pytest.mark.parametrize("given", EVENTS.values(), ids=EVENTS)
def test_bulk_answers_are_the_estimators(given, tmp_path):
    """TextClassifier, its file and the scorer of that file: the same bits in every verb."""
    tc = bayesnb.TextClassifier(**given).fit(TEXTS, LABELS)
    fingerprint = tc.save(tmp_path / "m")
    scorer = Scorer.load(tmp_path / "m")
    assert scorer.fingerprint == fingerprint
    for verb in ("predict_proba", "predict_log_proba", "predict"):
        assert getattr(scorer, verb)(DOCUMENTS).tolist() == getattr(tc, verb)(DOCUMENTS).tolist()


@pytest.mark.parametrize("estimator", [bayesnb.MultinomialNB(), bayesnb.BernoulliNB(binarize=1.0)])
def test_a_matrix_model_takes_matrices(estimator, tmp_path):
    """Dense, sparse and lists, as the estimator; numbers of counted tokens beside."""
    estimator.fit(X, [0, 0, 1, 1]).save(tmp_path / "m")
    scorer = Scorer.load(tmp_path / "m")
    expected = estimator.predict_proba(NEW)
    for documents in (NEW, sparse.csc_array(NEW), NEW.tolist()):
        assert scorer.predict_proba(documents).tobytes() == expected.tobytes()
    assert scorer.predict(NEW).tolist() == estimator.predict(NEW).tolist()
    assert scorer.n_known(NEW).tolist() == ([2, 0, 7] if isinstance(estimator, bayesnb.MultinomialNB) else [0, 0, 2])


@pytest.mark.parametrize("given", EVENTS.values(), ids=EVENTS)
def test_one_text_takes_the_short_way_to_the_same(given):
    """`score` of each text is the row of `predict_proba`, to 1e-12 (the same sums in the same order)."""
    scorer = Scorer(text_model(**given))
    single = np.array([scorer.score(text) for text in DOCUMENTS])
    np.testing.assert_allclose(single, scorer.predict_proba(DOCUMENTS), rtol=1e-12, atol=0)


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text("ab cd", max_size=30), min_size=1, max_size=5),
    event=st.sampled_from(["multinomial", "bernoulli"]),
    estimate=st.sampled_from(["map", "mean", "predictive"]),
    binary=st.booleans(),
    power=st.sampled_from([1.0, 0.5]),
)
def test_any_text_scores_alike_on_both_ways(texts, event, estimate, binary, power):
    """Any settings and any documents of known and unknown tokens."""
    made = Settings(event=event, estimate=estimate, binary=binary, power=power)
    state = learn_texts(["ab ab cd", "ab ba", "cd dd dd ac"], [2, 1, 2], event, "whitespace")
    scorer = Scorer(storage.Model(made, state, tokens="whitespace"))
    bulk = scorer.score_many(texts)
    np.testing.assert_allclose([scorer.score(text) for text in texts], bulk.probabilities, rtol=1e-12, atol=0)
    np.testing.assert_allclose(bulk.probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert bulk.labels.tolist() == scorer.classes[bulk.probabilities.argmax(axis=1)].tolist()


def test_a_document_of_a_million_tokens_sums_to_one():
    """Log joint probabilities near -1e6 leave no rounding in the sum of the probabilities."""
    scorer = Scorer(text_model())
    text = "now tea win " * 300_000
    assert scorer.score(text).sum() == pytest.approx(1, rel=0, abs=1e-12)
    assert scorer.predict_proba([text]).sum() == pytest.approx(1, rel=0, abs=1e-12)


def test_unknown_tokens_are_dropped_and_counted():
    """P = prior for a document of unknown tokens, and n_known = 0 says so."""
    scores = Scorer(text_model(class_prior={"ham": 0.75, "spam": 0.25})).score_many(DOCUMENTS)
    assert scores.n_known.tolist() == [2, 4, 0, 0, 7]
    assert scores.n_tokens.tolist() == [2, 5, 0, 1, 7]
    np.testing.assert_allclose(scores.probabilities[2:4], [[0.75, 0.25]] * 2, rtol=1e-15)
    assert scores.labels[2:4].tolist() == ["ham", "ham"]


def test_labels_keep_their_type():
    """Integers stay integers, strings strings."""
    assert Scorer(matrix_model(np.array([7, 7, 9, 9], np.int16))).predict(NEW).dtype == np.int16
    assert isinstance(Scorer(text_model()).predict(["win"])[0], str)


def test_no_document_gives_no_row():
    """An empty batch has K columns."""
    scores = Scorer(text_model()).score_many([])
    assert scores.probabilities.shape == (0, 2)
    assert scores.labels.shape == scores.n_known.shape == (0,)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_an_impossible_document_is_an_error_on_both_ways(event):
    """mle: a token that ham never has and one that spam never has: 0/0, never NaN."""
    scorer = Scorer(text_model(event=event, estimate="mle"))
    for call in (scorer.score, lambda text: scorer.predict_proba([text])):
        with pytest.raises(ValueError, match="probability 0 under every class"):
            call("milk win cash tea")


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_document_impossible_under_one_class_is_certain(event):
    """mle: exactly 0 and 1. The Bernoulli ham has tea in all its documents, so without tea it is no ham."""
    scorer = Scorer(text_model(event=event, estimate="mle"))
    text = "cash win" if event == "multinomial" else "cash"
    for row in (scorer.score(text), scorer.predict_proba([text])[0]):
        assert row.tolist() == [0, 1]


def test_a_token_that_every_document_has_may_not_be_absent():
    """Bernoulli mle: ham always has aa, so a document without it is certainly spam, though ham knows its bb."""
    state = learn_texts(["aa bb", "aa", "bb", ""], ["ham", "ham", "spam", "spam"], "bernoulli")
    scorer = Scorer(storage.Model(Settings(event="bernoulli", estimate="mle"), state, tokens="words"))
    assert scorer.score("bb").tolist() == scorer.predict_proba(["bb"])[0].tolist() == [0, 1]


def test_a_threshold_counts_as_in_bulk():
    """Bernoulli over texts: present is above the threshold, also where it is none or negative."""
    state = text_model(event="bernoulli").state
    for threshold, texts in ((1.0, DOCUMENTS), (0.5, DOCUMENTS), (-1.0, DOCUMENTS), (None, ["win now", ""])):
        scorer = Scorer(storage.Model(Settings(event="bernoulli", binarize=threshold), state, tokens="words"))
        single = np.array([scorer.score(text) for text in texts])
        np.testing.assert_allclose(single, scorer.predict_proba(texts), rtol=1e-12, atol=0)


def test_columns_of_a_frame_must_be_those_learnt():
    """Names in another order would give another document."""
    scorer = Scorer(matrix_model(names=["a", "b", "c"]))
    frame = pd.DataFrame(NEW, columns=["a", "b", "c"])
    assert scorer.predict_proba(frame).tobytes() == scorer.predict_proba(NEW).tobytes()
    with pytest.raises(ValueError, match="column 1 is 'c', but the model learnt 'b'"):
        scorer.predict_proba(frame[["a", "c", "b"]])
    with pytest.raises(ValueError, match="X has 2 columns, but the model is expecting 3"):
        scorer.predict_proba(frame[["a", "b"]])


def test_wrong_documents_are_named():
    """Texts for a matrix model, one string for a list, no text at all, negative counts, another width."""
    texts, matrix = Scorer(text_model()), Scorer(matrix_model(names=["a", "b", "c"]))
    for call, match in (
        (lambda: matrix.score("win"), "reads matrices"),
        (lambda: texts.predict("win"), "write .text."),
        (lambda: texts.predict(["win", None]), "row 1: the text is missing"),
        (lambda: texts.score(None), "the text is missing"),
        (lambda: texts.score("win \ud800"), "surrogate"),
        (lambda: matrix.predict([[1, 0, 0], [0, -2, 0]]), "-2 at row 1, column 'b'"),
        (lambda: matrix.predict([[1, 0]]), "2 features"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


def test_a_pattern_that_is_none_names_the_file(tmp_path):
    """The tokens of a hostile file are judged on loading."""
    model = storage.Model(Settings(), text_model().state, tokens="(a)(b)")
    storage.save(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"model file .*m: .*capturing group"):
        Scorer.load(tmp_path / "m")


def test_an_estimate_that_does_not_exist_is_said_on_construction():
    """No mode: not at the first document."""
    statistics = multinomial.Statistics([1, 1], [[1, 0], [0, 1]])
    state = State(statistics, np.array(["a", "b"]), np.arange(2))
    with pytest.raises(ValueError, match="no mode"):
        Scorer(storage.Model(Settings(prior=0.5), state))


LIGHT = """
import sys
from bayesnb.scorer import Scorer
scorer = Scorer.load(sys.argv[1])
scorer.score("win tea")
before_bulk = [name for name in ("polars", "safetensors") if name in sys.modules]
scorer.score_many(["win tea"])
heavy = ("sklearn", "pandas", "scipy.stats", "pymc", "arviz", "xarray", "matplotlib", "numba", "torch")
print(before_bulk, [name for name in heavy if name in sys.modules])
"""


def test_the_scorer_is_light(tmp_path):
    """Neither scikit-learn, pandas, scipy.stats nor PyMC; polars only once texts come in bulk."""
    storage.save(text_model(), tmp_path / "m")
    ran = subprocess.run([sys.executable, "-c", LIGHT, str(tmp_path / "m")], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[] []"
