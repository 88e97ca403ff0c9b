"""Model files: what comes back is what was saved, in value, type and bit."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnb import storage
from bayesnb.events import multinomial
from bayesnb.families import Beta, Dirichlet
from bayesnb.model import Settings, State
from bayesnb.scorer import Scorer
from tests.model_examples import NEW, X, learn_texts, matrix_model, text_model

DATA = Path(__file__).parent / "data"

LABEL_ARRAYS = {
    "str": np.array(["ham", "ham", "spam", "spam"]),
    "object": np.array(["", "", "b\x00", "b\x00"], object),
    "non-ascii": np.array(["ä", "ä", "日本", "\U0001f600"], object),
    "int64": np.array([-5, -5, 2**62, 2**62]),
    "int8": np.array([1, 1, 0, 0], np.int8),
    "uint64": np.array([2**64 - 1, 2**64 - 1, 0, 0], np.uint64),
    "float64": np.array([0.1, 0.1, 1 / 3, 1e300]),
    "float32": np.array([0.1, 0.1, 1 / 3, 3.0], np.float32),
    "bool": np.array([True, True, False, False]),
    "one class": np.array(["only"] * 4),
}

EVENTS = ("multinomial", "bernoulli")
PRIORS = {
    "alpha": {"alpha": 0.1 + 0.2},
    "alpha a token": {"alpha": [1.0, 1 / 3, 2.0]},
    "number": {"prior": 1.7},
    "name": {"prior": "jeffreys", "estimate": "mean"},
    "a token": {"prior": np.array([2.0, 1.5, 1.1])},
    "a class and token": {"prior": np.array([[2.0, 1.5, 1.1], [3.0, 1.2, 7.0]])},
    "class prior None": {"class_prior": None},
    "class prior number": {"class_prior": 2.5},
    "class prior Dirichlet": {"class_prior": Dirichlet([2.0, 1.1])},
    "class prior known": {"class_prior": [0.9, 0.1]},
    "class prior by label": {"class_prior": {1: 0.9, 0: 0.1}},
    "uniform": {"fit_prior": False},
    "power": {"power": 0.3},
    "predictive": {"estimate": "predictive"},
    "mle": {"estimate": "mle"},
}
ONE_EVENT = {
    "Dirichlet": {"event": "multinomial", "prior": Dirichlet([2.0, 3.0, 1.5])},
    "binary": {"event": "multinomial", "binary": True},
    "Beta of numbers": {"event": "bernoulli", "prior": Beta(2.0, 1.5)},
    "Beta of arrays": {"event": "bernoulli", "prior": Beta([2.0, 1.5, 3.0], np.full((2, 3), 1.25))},
    "Beta of both": {"event": "bernoulli", "prior": Beta([2.0, 1.5, 3.0], 1.25)},
    "threshold": {"event": "bernoulli", "binarize": 1.5},
}
BOTH = {f"{event}, {name}": {"event": event, **given} for event in EVENTS for name, given in PRIORS.items()}
FORMS = BOTH | ONE_EVENT


def same_value(a, b) -> bool:
    """Equal settings; those of several numbers compared as arrays, bit for bit."""
    if isinstance(a, Beta):
        return isinstance(b, Beta) and np.array_equal(a.a, b.a) and np.array_equal(a.b, b.b)
    if isinstance(a, Dirichlet):
        return isinstance(b, Dirichlet) and np.array_equal(a.concentration, b.concentration)
    return a == b if isinstance(a, (dict, str, type(None))) else np.array_equal(a, b)


def assert_same(a: storage.Model, b: storage.Model) -> None:
    assert (a.kind, a.tokens, a.named_columns) == (b.kind, b.tokens, b.named_columns)
    assert (a.state.closed, a.state.fixed) == (b.state.closed, b.state.fixed)
    for name in ("classes", "tokens"):
        one, other = getattr(a.state, name), getattr(b.state, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    for name in ("class_count", "feature_count"):
        assert getattr(a.state.statistics, name).tobytes() == getattr(b.state.statistics, name).tobytes()
    for name in Settings.__dataclass_fields__:
        assert same_value(getattr(a.settings, name), getattr(b.settings, name)), name


@pytest.mark.parametrize("y", LABEL_ARRAYS.values(), ids=LABEL_ARRAYS)
def test_labels_come_back_with_their_type(y, tmp_path):
    """Strings, integers, floats and booleans keep value and dtype."""
    model = matrix_model(y)
    assert storage.save(model, tmp_path / "m") == model.fingerprint
    assert_same(model, storage.load(tmp_path / "m"))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_setting_comes_back(form, tmp_path):
    """Each way to give a prior, for both events, comes back as it was given and predicts the same bits."""
    model = matrix_model(**form)
    storage.save(model, tmp_path / "m")
    loaded = storage.load(tmp_path / "m")
    assert_same(model, loaded)
    known = X[:1]  # possible also under the mle, which gives unseen tokens probability 0
    assert Scorer(loaded).predict_proba(known).tobytes() == Scorer(model).predict_proba(known).tobytes()


def test_text_models_and_named_columns_come_back(tmp_path):
    """The pattern of tokens, and the names of columns in their unsorted order."""
    for model in (text_model(), text_model(event="bernoulli"), matrix_model(names=["z", "", "a\x00ü"])):
        storage.save(model, tmp_path / "m")
        assert_same(replace(model, named_columns=True), storage.load(tmp_path / "m"))


def test_a_closed_model_stays_closed(tmp_path):
    """Declared classes are still declared after loading, also one without documents."""
    declared = np.array([0, 1, 7])
    made = Settings(class_prior=2.0)
    state = State.learn("multinomial", made.documents(X), np.array([0, 0, 1, 1]), np.arange(3), classes=declared)
    model = storage.Model(made, replace(state, closed=True))
    storage.save(model, tmp_path / "m")
    assert_same(model, storage.load(tmp_path / "m"))


def test_a_new_process_predicts_the_same_bits(tmp_path):
    """Text and matrix, both events: predictions of a process that only has the file are equal bit for bit."""
    models = [text_model(), text_model(event="bernoulli", prior=1.3), matrix_model(estimate="predictive", power=0.7)]
    code = (
        "import sys, numpy as np; from bayesnb.scorer import Scorer\n"
        "for path in sys.argv[1:]:\n"
        "    scorer = Scorer.load(path)\n"
        "    text = scorer.model.kind == 'text'\n"
        "    docs = ['win tea tea', '', 'gin'] if text else np.array([[1.0, 1, 0], [0, 0, 0], [0, 5, 2]])\n"
        "    print(scorer.predict_proba(docs).tobytes().hex())"
    )
    paths = [tmp_path / str(i) for i in range(len(models))]
    expected = []
    for model, path in zip(models, paths, strict=True):
        storage.save(model, path)
        documents = ["win tea tea", "", "gin"] if model.kind == "text" else NEW
        expected.append(Scorer(model).predict_proba(documents).tobytes().hex())
    ran = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == expected


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_learning_goes_on_after_loading(event, tmp_path):
    """Save, load, learn more: the same totals, names and fingerprint as without the break."""
    more = learn_texts(["gin now", "rum"], ["spam", "eggs"], event)
    model = text_model(event=event)
    storage.save(model, tmp_path / "m")
    loaded = storage.load(tmp_path / "m")
    unbroken = replace(model, state=model.state.add(more))
    resumed = replace(loaded, state=loaded.state.add(more))
    assert resumed.fingerprint == unbroken.fingerprint != model.fingerprint


def test_learning_and_unlearning_give_the_same_bytes(tmp_path):
    """A file after learning and unlearning is the file before, byte for byte, new class and tokens included."""
    model = text_model()
    more = learn_texts(["gin now", "rum"], ["spam", "eggs"])
    back = replace(model, state=model.state.add(more).remove(more))
    date = "2024-02-03T04:05:06Z"
    assert storage.save(model, tmp_path / "a", date=date) == storage.save(back, tmp_path / "b", date=date)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_fingerprint_is_of_the_model_alone(tmp_path):
    """Date and meta do not change it; a count, a label's type, a setting and the pattern of tokens do."""
    model = matrix_model()
    assert storage.save(model, tmp_path / "a", date="2024-01-01T00:00:00Z") == storage.save(model, tmp_path / "b")
    assert replace(model, meta={"source": "x"}).fingerprint == model.fingerprint
    texts = text_model()
    others = [
        replace(model, settings=Settings(alpha=1.0 + 2**-52)),
        replace(model, state=replace(model.state, classes=np.array([0.0, 1.0]))),
        replace(model, state=replace(model.state, closed=True)),
        replace(model, state=replace(model.state, statistics=multinomial.Statistics([2, 2], [[2, 1, 1], [1, 3, 2]]))),
        texts,
        replace(texts, tokens="whitespace"),
    ]
    assert len({one.fingerprint for one in [model, *others]}) == 7


def test_fractions_and_large_counts_come_back_to_the_bit(tmp_path):
    """Counts are stored in a smaller type only where it holds them exactly."""
    for largest in (0.1, 255, 256, 65536, 2.0**32 - 1, 2.0**32, 2.0**53 + 2, 1e300, 5e-324):
        statistics = multinomial.Statistics([2, largest], [[0, largest], [3, 0]])
        model = storage.Model(Settings(), State(statistics, np.array(["a", "b"]), np.arange(2)))
        storage.save(model, tmp_path / "m")
        assert_same(model, storage.load(tmp_path / "m"))


def test_the_file_is_what_safetensors_reads(tmp_path):
    """The library reads our file: one metadata key, sorted JSON, arrays with our values."""
    from safetensors import safe_open

    storage.save(text_model(prior=[2.0, 3.0, 1.5, 2.0, 2.0]), tmp_path / "m")
    with safe_open(tmp_path / "m", "numpy") as file:
        assert list(file.metadata()) == ["bayesnb"]
        text = file.metadata()["bayesnb"]
        assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
        assert json.loads(text)["schema"] == 1
        assert file.get_tensor("feature_count").tolist() == [[0, 1, 1, 3, 0], [2, 0, 1, 0, 2]]
        assert file.get_tensor("vocabulary").tobytes() == b"cashmilknowteawin"
        assert file.get_tensor("prior").tolist() == [2.0, 3.0, 1.5, 2.0, 2.0]


def test_inspect_reads_the_header_alone(tmp_path, monkeypatch):
    """What the file holds in plain values, without a look at the arrays."""
    model = text_model(prior=[2.0, 3.0, 1.5, 2.0, 2.0], class_prior={"ham": 0.75, "spam": 0.25})
    fingerprint = storage.save(replace(model, meta={"from": "post"}), tmp_path / "m", date="2024-02-03T04:05:06Z")
    monkeypatch.setattr(np, "memmap", None)
    told = storage.inspect(tmp_path / "m")
    json.dumps(told, allow_nan=False)
    expected = {
        "schema": 1, "date": "2024-02-03T04:05:06Z", "fingerprint": fingerprint, "event": "multinomial",
        "kind": "text", "tokens": "words", "classes": ["ham", "spam"], "class_count": [2, 2], "tokens_seen": [5, 5],
        "n_tokens": 5, "estimate": "map", "prior": "array of shape (5,)", "class_prior": {"ham": 0.75, "spam": 0.25},
        "prior_described": "phi ~ Dirichlet(per token), theta known", "meta": {"from": "post"},
        "bytes": (tmp_path / "m").stat().st_size,
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected
    assert set(told["versions"]) == {"bayesnb", "numpy", "python"}


def test_the_date_is_utc(tmp_path):
    """A date of now, with its time zone."""
    storage.save(matrix_model(), tmp_path / "m")
    date = np.datetime64(storage.inspect(tmp_path / "m")["date"].removesuffix("Z"))
    assert abs(date - np.datetime64("now")) < np.timedelta64(60, "s")


def test_the_multinomial_file_of_schema_1_still_predicts():
    """P(spam) by hand: Dirichlet(2) and MAP give (n + 1)/(5 + 5), the class prior is known, 3/4 and 1/4."""
    scorer = Scorer.load(DATA / "model_schema1_multinomial.safetensors")
    assert scorer.classes.tolist() == ["ham", "spam"]
    for text, spam, ham in (("win win now", 3 * 3 * 2, 2), ("MILK gin", 1, 2), ("", 1, 1)):
        exact = Fraction(spam, 4) / (Fraction(spam, 4) + Fraction(3 * ham, 4))
        # a few roundings of logarithms below 10
        assert scorer.predict_proba([text])[0, 1] == pytest.approx(float(exact), rel=1e-14)
        assert scorer.score(text)[1] == pytest.approx(float(exact), rel=1e-14)


def test_the_bernoulli_file_of_schema_1_still_predicts():
    """P(0 | a, c present, b absent) by hand from Beta(2, 1), Dirichlet(2, 1), posterior means: 1024/1399."""
    scorer = Scorer.load(DATA / "model_schema1_bernoulli.safetensors")
    assert scorer.classes.tolist() == [0, 1]
    assert scorer.model.state.tokens.tolist() == ["a", "b", "c"]
    zero = Fraction(4, 6) * Fraction(4, 5) * (1 - Fraction(3, 5)) * Fraction(2, 5)
    one = Fraction(2, 6) * Fraction(2, 4) * (1 - Fraction(3, 4)) * Fraction(3, 4)
    assert zero / (zero + one) == Fraction(1024, 1399)
    assert scorer.predict_proba([[7, 0, 1]])[0, 0] == pytest.approx(1024 / 1399, rel=1e-14)


NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), min_size=1, max_size=6, unique=True)


@settings(max_examples=60, deadline=None)
@given(classes=NAMES, tokens=NAMES, text=st.booleans())
def test_any_unicode_names_come_back(tmp_path_factory, classes, tokens, text):
    """Labels and tokens of any text: empty, NULs, astral, combining, line ends."""
    path = tmp_path_factory.getbasetemp() / "any"
    names = np.array([*(sorted(tokens) if text else tokens), None], object)[:-1]
    labels = np.array([*sorted(classes), None], object)[:-1]
    statistics = multinomial.Statistics(np.ones(len(labels)), np.ones((len(labels), len(names))))
    model = storage.Model(Settings(), State(statistics, labels, names), "space" if text else None, True)
    assert storage.save(model, path) == storage.load(path).fingerprint
    assert_same(model, storage.load(path))


REFUSED = {
    "surrogate label": (lambda: matrix_model(np.array(["a", "a", "\ud800", "\ud800"], object)), "classes.*surrogate"),
    "surrogate token": (lambda: matrix_model(names=["a", "b", "\udfff"]), "tokens.*surrogate"),
    "infinite label": (lambda: matrix_model(np.array([0.0, 0.0, np.inf, np.inf])), "classes.*finite"),
    "label of bytes": (lambda: matrix_model(np.array([b"a", b"a", b"b", b"b"])), "classes.*cannot be stored"),
    "names twice": (lambda: matrix_model(names=["a", "b", "a"]), "tokens.*'a' stands there twice"),
    "names without names": (lambda: replace(matrix_model(names=["a", "b", "c"]), named_columns=False), "tokens"),
    "meta": (lambda: replace(matrix_model(), meta={"x": {1, 2}}), "meta"),
    "prior of another shape": (lambda: replace(matrix_model(), settings=Settings(prior=[2.0, 2.0])), "prior"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "match"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_form_in_a_file_is_refused(make, match, tmp_path):
    """A ValueError that names file and field, and no file is written."""
    with pytest.raises(ValueError, match=f"model file .*m: cannot save: .*{match}"):
        storage.save(make(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_more_than_a_thousand_classes_come_back(tmp_path):
    """Totals are then not repeated in the header, and inspect says None."""
    statistics = multinomial.Statistics(np.ones(1001), np.ones((1001, 2)))
    model = storage.Model(Settings(), State(statistics, np.arange(1001), np.arange(2)))
    storage.save(model, tmp_path / "m")
    assert_same(model, storage.load(tmp_path / "m"))
    assert storage.inspect(tmp_path / "m")["class_count"] is None
