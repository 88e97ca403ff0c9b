"""Estimators added up, what keeps them apart, and labels whose type is no part of a model."""

from dataclasses import replace

import numpy as np
import pytest

import bayesnb
from bayesnb import storage
from tests.model_examples import matrix_model

X = np.array([[2, 1, 0], [0, 1, 3], [1, 0, 2]])
Y = ["h", "s", "h"]
ESTIMATORS = [bayesnb.MultinomialNB, bayesnb.BernoulliNB, bayesnb.CategoricalNB, bayesnb.GaussianNB]


@pytest.mark.parametrize("make", ESTIMATORS)
def test_sum_adds_estimators_and_changes_none(make):
    parts = [make().fit(X[i : i + 1], Y[i : i + 1]) for i in range(3)]
    before = [part.posterior_ for part in parts]
    total, whole = sum(parts), make().fit(X, Y)
    assert total.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_array_equal(total.class_count_, whole.class_count_)
    np.testing.assert_allclose(total.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9)
    assert [part.posterior_ for part in parts] == before


def test_sum_of_texts_is_one_fit_bit_for_bit():
    texts, labels = ["tea milk tea", "rum tea", "rum and milk"], ["a", "b", "b"]
    parts = [bayesnb.TextClassifier().fit([text], [label]) for text, label in zip(texts, labels, strict=True)]
    assert sum(parts)._model().fingerprint == bayesnb.TextClassifier().fit(texts, labels)._model().fingerprint


def test_the_sum_of_one_is_a_copy():
    clf = bayesnb.MultinomialNB().fit(X, Y)
    alone = sum([clf])
    alone.partial_fit(X, Y)
    assert clf.class_count_.tolist() == [2, 1] and alone.class_count_.tolist() == [4, 2]


def test_only_0_is_nothing_to_add_to():
    clf = bayesnb.MultinomialNB().fit(X, Y)
    for other in (1, 0.0, [], None):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate list"):
            other + clf
    with pytest.raises(ValueError, match="not fitted"):
        sum([bayesnb.MultinomialNB()])


DIFFERENT = {
    "alpha": (bayesnb.MultinomialNB, {"alpha": 0.5}, "alpha=1.0 in the first and alpha=0.5 in the second"),
    "prior": (bayesnb.MultinomialNB, {"prior": [2.0, 2.0, 3.0]}, "prior=None in the first"),
    "family": (bayesnb.BernoulliNB, {"prior": bayesnb.Beta(2, 3)}, "prior=None in the first"),
    "class_prior": (bayesnb.MultinomialNB, {"class_prior": {"h": 0.5, "s": 0.5}}, "class_prior=1.0 in the first"),
    "estimate": (bayesnb.MultinomialNB, {"estimate": "mean"}, "estimate='map' in the first"),
    "power": (bayesnb.MultinomialNB, {"power": 0.5}, "power=1.0 in the first"),
    "unseen": (bayesnb.CategoricalNB, {"unseen": "reserve"}, "unseen='skip' in the first"),
    "var_smoothing": (bayesnb.GaussianNB, {"var_smoothing": 0.1}, "var_smoothing=1e-09 in the first"),
    "binary": (bayesnb.MultinomialNB, {"binary": True}, "binary=True reads documents in another way"),
}


@pytest.mark.parametrize(("make", "given", "message"), DIFFERENT.values(), ids=DIFFERENT)
def test_estimators_of_different_settings_are_not_added(make, given, message):
    """The line names the setting and both values; nothing changes, and set_params is the remedy it names."""
    one, other = make().fit(X, Y), make(**given).fit(X, Y)
    before = one.posterior_
    for add in (lambda: one + other, lambda: one.merge(other), lambda: sum([one, other])):
        with pytest.raises(ValueError, match=message) as caught:
            add()
        assert "\n" not in str(caught.value)
    assert one.posterior_ is before
    if "binary" not in given:
        other.set_params(**{name: one.get_params()[name] for name in given})
        assert (one + other).class_count_.tolist() == [4, 2]


SAME = [
    {"alpha": [1.0, 2.0, 3.0]},
    {"alpha": np.array([1.0, 2.0, 3.0])},
    {"prior": bayesnb.Dirichlet([2.0, 3.0, 4.0])},
    {"class_prior": {"h": 0.25, "s": 0.75}},
    {"prior": ("background", 50), "estimate": "mean"},
]


@pytest.mark.parametrize("given", SAME, ids=str)
def test_equal_settings_given_twice_are_equal(given):
    one, other = (bayesnb.MultinomialNB(**given).fit(X, Y) for _ in range(2))
    assert (one + other).class_count_.tolist() == [4, 2]


def test_a_prior_a_column_of_several_lengths_equals_itself():
    one, other = (bayesnb.CategoricalNB(prior=[[2.0] * 3, 1.5, 2]).fit(X, Y) for _ in range(2))
    assert (one + other).class_count_.tolist() == [4, 2]
    with pytest.raises(ValueError, match="prior="):
        one.merge(bayesnb.CategoricalNB(prior=[[2.0, 2.0, 9.0], 1.5, 2]).fit(X, Y))


SAME_LABELS = [
    [np.array([0, 1], kind) for kind in (np.int8, np.int32, np.int64, np.uint8, np.uint64)],
    [np.array(["h", "s"]), np.array(["h", "s"], object), np.array(["h", "s"], "U9")],
    [np.array([1.0, 2.0], kind) for kind in (np.float16, np.float32, np.float64)],
]


@pytest.mark.parametrize("kinds", SAME_LABELS, ids=["integers", "strings", "floats"])
def test_equal_labels_of_several_numpy_types_have_one_fingerprint_and_keep_their_type(kinds, tmp_path):
    prints = set()
    for labels in kinds:
        clf = bayesnb.MultinomialNB().fit(X[:2], labels)
        prints.add(clf.save(tmp_path / "m"))
        back = storage.load(tmp_path / "m")
        assert back.fingerprint in prints
        assert back.state.classes.dtype.kind == labels.dtype.kind
    assert len(prints) == 1


def test_one_as_integer_float_and_boolean_are_three_labels():
    models = [matrix_model(np.array([0, 0, 1, 1]).astype(kind)) for kind in (int, float, bool)]
    models.append(replace(models[0], state=replace(models[0].state, classes=np.array(["0", "1"]))))
    assert len({model.fingerprint for model in models}) == 4


def test_a_class_prior_by_label_is_told_by_its_labels_alone():
    by = [{"class_prior": {kind(0): 0.5, kind(1): 0.5}} for kind in (int, np.int32, np.int64)]
    assert len({matrix_model(**given).fingerprint for given in by}) == 1
