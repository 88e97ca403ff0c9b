"""Options of TextClassifier: what is counted, which tokens stay, and that files and merges keep to it."""

import pydoc_data.topics

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import bayesnb
from bayesnb import storage, vocabulary
from bayesnb.model import Settings
from bayesnb.scorer import Scorer
from tests.hostile_edits import setting
from tests.model_examples import edited, matrix_model

# Python's own documentation: 70 pages of English, by whether its topic stands in the first half of the alphabet
PAGES = dict(sorted(pydoc_data.topics.topics.items()))
TEXTS = [paragraph for page in PAGES.values() for paragraph in page.split("\n\n")]
LABELS = [name < "f" for name, page in PAGES.items() for _ in page.split("\n\n")]
STOP = ["the", "of", "is", "python"]

OPTIONS = {
    "pairs": {"ngram_range": (1, 2)},
    "runs of two and three": {"ngram_range": (2, 3), "min_df": 3},
    "documents": {"min_df": 5},
    "a share": {"min_df": 0.01},
    "all documents": {"min_df": 1.0},
    "most": {"max_features": 300},
    "stop words": {"stop_words": STOP},
    "presence": {"binary": True, "max_features": 300},
    "all": {"ngram_range": (1, 2), "min_df": 4, "max_features": 500, "stop_words": STOP, "binary": True},
}


def untied(texts, options):
    """`max_features` lowered to where no two tokens are counted equally often: scikit-learn's choice is then one."""
    if "max_features" not in options:
        return options
    counts = CountVectorizer(**options | {"max_features": None}).fit_transform(texts).sum(axis=0)
    ordered = np.sort(np.asarray(counts).ravel())[::-1]
    n = options["max_features"]
    while ordered[n - 1] == ordered[n]:
        n -= 1
    return options | {"max_features": n}


def assert_equals_scikit_learns(texts, labels, options):
    """Vocabulary and probabilities, of texts known and new, in bulk and one by one."""
    options = untied(texts[::2], options)
    ours = bayesnb.TextClassifier(**options).fit(texts[::2], labels[::2])
    theirs = make_pipeline(CountVectorizer(**options), MultinomialNB()).fit(texts[::2], labels[::2])
    assert ours.posterior_.tokens.tolist() == theirs[0].get_feature_names_out().tolist()
    new = texts[1::2]
    expected = theirs.predict_proba(new)
    # sums of some hundred logarithms below 15: rounding of 1e-13 in each log-odds, and long texts have more
    np.testing.assert_allclose(ours.predict_proba(new), expected, rtol=0, atol=1e-11)
    alone = np.concatenate([ours.predict_proba([text]) for text in new[:200]])
    np.testing.assert_allclose(alone, ours.predict_proba(new[:200]), rtol=0, atol=1e-12)
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_option_is_count_vectorizers(options):
    """On Python's documentation, with max_features where no tie decides."""
    everywhere = options.get("min_df") == 1.0  # or there would be no token left
    texts = [f"{text} everywhere" for text in TEXTS] if everywhere else TEXTS
    assert_equals_scikit_learns(texts, LABELS, options)


def test_options_are_count_vectorizers_on_real_mail(shared):
    """On Ling-Spam."""
    folder = shared / "data" / "lingspam"
    corpus = bayesnb.read_corpus({"spam": folder / "spam-train", "ham": folder / "nonspam-train"})
    order = np.random.default_rng(0).permutation(len(corpus))
    texts, labels = [corpus.texts[i] for i in order], corpus.y[order].tolist()
    assert_equals_scikit_learns(texts, labels, OPTIONS["all"] | {"max_features": 3000, "binary": False})


def test_presence_of_runs_is_bernoullis():
    """The Bernoulli model counts presence, and chooses tokens by it."""
    from sklearn.naive_bayes import BernoulliNB

    options = untied(TEXTS, {"ngram_range": (1, 2), "max_features": 200, "binary": True})
    theirs = make_pipeline(CountVectorizer(**options), BernoulliNB()).fit(TEXTS, LABELS)
    ours = bayesnb.TextClassifier(event="bernoulli", **options | {"binary": False}).fit(TEXTS, LABELS)
    assert ours.posterior_.tokens.tolist() == theirs[0].get_feature_names_out().tolist()
    np.testing.assert_allclose(ours.predict_proba(TEXTS), theirs.predict_proba(TEXTS), rtol=0, atol=1e-11)


def test_of_tokens_counted_equally_often_the_first_stay():
    """Ties are broken by the order of tokens, whatever the platform's sort does."""
    tc = bayesnb.TextClassifier(max_features=2).fit(["dd cc bb aa dd", "ee"], [0, 1])
    assert tc.posterior_.tokens.tolist() == ["aa", "dd"]


def test_weights_are_copies_for_the_choice_of_tokens_too():
    """A text of weight 3 is three documents to min_df, and one of weight 0 none."""
    texts, labels, weights = ["rare tea", "tea", "never never"], [0, 1, 1], [3, 1, 0]
    tc = bayesnb.TextClassifier(min_df=3).fit(texts, labels, sample_weight=weights)
    copies = bayesnb.TextClassifier(min_df=3).fit([*texts[:1] * 3, "tea"], [0, 0, 0, 1])
    assert tc.posterior_.tokens.tolist() == copies.posterior_.tokens.tolist() == ["rare", "tea"]
    assert np.array_equal(tc.feature_count_, copies.feature_count_)
    half = bayesnb.TextClassifier(min_df=0.5).fit(texts, labels, sample_weight=weights)
    assert half.posterior_.tokens.tolist() == ["rare", "tea"]


PARTS = [slice(0, 400), slice(400, 900), slice(900, 1300)]


def test_after_fit_has_chosen_tokens_totals_are_sums_of_them():
    """More texts, in any order, and fewer again: totals of the chosen tokens alone, to the bit."""
    first = bayesnb.TextClassifier(min_df=3, max_features=100).fit(TEXTS[PARTS[0]], LABELS[PARTS[0]])
    ways = []
    for order in ((1, 2), (2, 1)):
        tc = first.with_class_prior(1.0)
        for part in (PARTS[i] for i in order):
            tc.partial_fit(TEXTS[part], LABELS[part])
        ways.append(tc)
    one, other = ways
    assert one._model().fingerprint == other._model().fingerprint
    assert one.posterior_.tokens.tolist() == first.posterior_.tokens.tolist()
    everything = CountVectorizer(vocabulary=first.vocabulary_).transform(TEXTS[:1300]).toarray()
    labels = np.array(LABELS[:1300])
    assert np.array_equal(one.feature_count_, [everything[~labels].sum(axis=0), everything[labels].sum(axis=0)])
    for part in PARTS[1:]:
        one.unlearn(TEXTS[part], LABELS[part])
    assert one._model().fingerprint == first._model().fingerprint


def test_merging_wants_the_same_tokens_and_options():
    """Shards that chose their own tokens have no common totals; shards of one choice have."""
    chosen = bayesnb.TextClassifier(min_df=3).fit(TEXTS[PARTS[0]], LABELS[PARTS[0]])
    other = bayesnb.TextClassifier(min_df=3).fit(TEXTS[PARTS[1]], LABELS[PARTS[1]])
    with pytest.raises(ValueError, match="tokens must be the same"):
        chosen.merge(other)
    twice = chosen + chosen
    assert np.array_equal(twice.feature_count_, 2 * chosen.feature_count_)
    pairs = bayesnb.TextClassifier(ngram_range=(1, 2)).fit(["a bb cc"], [0])
    with pytest.raises(ValueError, match=r"ngram_range=\(1, 1\) reads documents in another way"):
        pairs.merge(bayesnb.TextClassifier().fit(["a bb cc"], [0]))


def test_runs_and_stop_words_are_order_free_under_every_verb():
    """They say how one text is read: batches, merges and unlearning add up as ever."""
    options = {"ngram_range": (1, 2), "stop_words": ["the"]}
    whole = bayesnb.TextClassifier(**options).fit(TEXTS[:900], LABELS[:900])
    parts = bayesnb.TextClassifier(**options).partial_fit(TEXTS[PARTS[1]], LABELS[PARTS[1]])
    parts.merge(bayesnb.TextClassifier(**options).fit(TEXTS[PARTS[0]], LABELS[PARTS[0]]))
    parts.partial_fit(TEXTS[PARTS[2]], LABELS[PARTS[2]]).unlearn(TEXTS[PARTS[2]], LABELS[PARTS[2]])
    assert parts._model().fingerprint == whole._model().fingerprint


def test_a_first_batch_cannot_choose_tokens():
    """It would choose by what happens to come first."""
    for options in ({"min_df": 2}, {"max_features": 5}, {"min_df": 0.5}):
        with pytest.raises(ValueError, match="min_df and max_features choose tokens by all documents"):
            bayesnb.TextClassifier(**options).partial_fit(TEXTS[:9], LABELS[:9])


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_model_file_reads_texts_as_its_model_did(tmp_path, options):
    """Loaded: the same options of the same types, the same bits, and learning goes on alike."""
    texts = [f"{text} everywhere" for text in TEXTS[:900]]
    tc = bayesnb.TextClassifier(**options).fit(texts, LABELS[:900])
    tc.save(tmp_path / "m")
    back = bayesnb.load(tmp_path / "m")
    for name, value in options.items():
        expected = tuple(sorted(value)) if name == "stop_words" else value
        assert getattr(back, name) == expected and type(getattr(back, name)) is type(expected)
    assert np.array_equal(back.predict_proba(TEXTS), tc.predict_proba(TEXTS))
    scorer = Scorer.load(tmp_path / "m")
    assert np.array_equal(scorer.predict_proba(TEXTS), tc.predict_proba(TEXTS))
    assert scorer.score(TEXTS[0]).tolist() == tc.predict_proba(TEXTS[:1])[0].tolist()
    for one in (tc, back):
        one.partial_fit(TEXTS[900:], LABELS[900:])
    assert back._model().fingerprint == tc._model().fingerprint
    assert back.fit(texts, LABELS[:900])._model().fingerprint == Scorer.load(tmp_path / "m").fingerprint


def test_each_option_makes_another_model():
    """A fingerprint tells how texts are read; options at their defaults leave it as it was before there were any."""
    models = [bayesnb.TextClassifier(**options).fit(["tea tea", "tea"], [0, 1])._model() for options in (
        {}, {"ngram_range": (1, 2)}, {"min_df": 2}, {"min_df": 1.0}, {"max_features": 9}, {"stop_words": ["x"]},
    )]  # fmt: skip
    assert len({model.fingerprint for model in models}) == len(models)
    packed, _ = storage._pack(models[0])
    assert not set(vocabulary.OPTIONS) & set(packed["settings"])


WRONG = {
    "ngram_range": [(0, 1), (2, 1), (1,), 2, (1.0, 2), "12", (1, True)],
    "min_df": [0, -1, 1.5, -0.1, float("nan"), "2", True, None],
    "max_features": [0, -3, 2.0, True, "5"],
    "stop_words": ["english", [1], 5, b"ab", [None]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_an_option_without_a_meaning_is_refused(name, value):
    """One line that names it, from the estimator and from the settings alike."""
    with pytest.raises(ValueError, match=f"{name} must be"):
        bayesnb.TextClassifier(**{name: value}).fit(["tea"], [0])
    with pytest.raises(ValueError, match=f"{name} must be"):
        Settings(**{name: value})


def test_numpy_numbers_are_numbers():
    """As they come out of a parameter search."""
    tc = bayesnb.TextClassifier(ngram_range=np.array([1, 2]), min_df=np.int64(1), max_features=np.int32(3))
    assert len(tc.fit(["aa bb cc dd"], [0]).vocabulary_) == 3
    assert type(Settings(min_df=np.float32(0.5)).min_df) is float


def test_a_vocabulary_that_is_empty_says_why():
    """Which filter emptied it, and of how many."""
    with pytest.raises(ValueError, match="none of 2 distinct tokens is in min_df=2 of 2 documents; lower min_df"):
        bayesnb.TextClassifier(min_df=2).fit(["tea", "rum"], [0, 1])
    with pytest.raises(ValueError, match="empty vocabulary: 2 documents hold no token"):
        bayesnb.TextClassifier(stop_words=["tea", "rum"]).fit(["tea", "rum"], [0, 1])


HOSTILE = [
    ("ngram_range", [2, 1], "ngram_range must be"),
    ("ngram_range", [1, 2.0], "ngram_range must be"),
    ("ngram_range", 3, "ngram_range: 3 is not list"),
    ("min_df", 0, "min_df must be"),
    ("min_df", True, "min_df: True is not int or float"),
    ("max_features", 1.0, "max_features: 1.0 is not"),
    ("stop_words", "english", "stop_words: 'english' is not list"),
    ("stop_words", ["a", 1], "stop_words must be"),
]


@pytest.mark.parametrize(("name", "value", "message"), HOSTILE)
def test_a_wrong_option_in_a_file_is_named(tmp_path, name, value, message):
    """Also where only the header is read."""
    bayesnb.TextClassifier().fit(["tea"], [0]).save(tmp_path / "m")
    edited(tmp_path / "m", setting(name, value))
    for read in (storage.load, storage.inspect):
        with pytest.raises(ValueError, match=f"m: .*{message}"):
            read(tmp_path / "m")


def test_options_of_texts_have_no_place_in_a_model_of_matrices(tmp_path):
    """A file that has them was made up."""
    storage.save(matrix_model(), tmp_path / "m")
    edited(tmp_path / "m", setting("min_df", 2))
    with pytest.raises(ValueError, match="min_df: it belongs to a model of texts"):
        storage.load(tmp_path / "m")
