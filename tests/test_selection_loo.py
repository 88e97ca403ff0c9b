"""Exact leave-one-out equals refitting without the document, whatever the model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bayesnb
from bayesnb.model import Settings, State
from bayesnb.selection.loo import leave_one_out, scored_parts

ROUNDING = 1e-10  # asked for; sums of some thirty logarithms are off by 1e-14


def refitted(posterior, X, own, weight, i, estimate, power):
    """Joint scores of document i from totals that were counted without it, the prior held fixed."""
    others = np.arange(len(own)) != i
    kind = type(posterior.statistics)
    statistics = kind.from_documents(X[others], own[others], posterior.statistics.n_classes, weight[others])
    return replace(posterior, statistics=statistics).log_joint(X[i : i + 1], estimate, power)[0]


def assert_equals_refits(posterior, X, own, weight, estimate, power):
    try:
        parts = scored_parts(posterior, X, own, weight, estimate)
    except ValueError as error:
        if "with row" not in str(error):  # the estimate does not exist with all documents either
            with pytest.raises(ValueError):
                posterior.log_joint(X, estimate, power)
            return
        row = int(str(error).split("with row ")[1].split()[0])
        with pytest.raises(ValueError):
            refitted(posterior, X, own, weight, row, estimate, power)
        return
    for i in range(len(own)):
        if np.isneginf(parts.log_theta[i, own[i]]):
            left = posterior.statistics.class_count - weight[i] * (np.arange(parts.log_theta.shape[1]) == own[i])
            assert posterior.prior.theta.estimate(left, estimate, posterior.classes)[own[i]] == 0
            continue  # a refit of the emptied class may have no phi; its theta of 0 decides
        expected = refitted(posterior, X, own, weight, i, estimate, power)
        np.testing.assert_allclose(parts.log_joint(power)[i], expected, rtol=ROUNDING, atol=ROUNDING)


@st.composite
def corpora(draw):
    n, v, k = draw(st.integers(2, 7)), draw(st.integers(1, 5)), draw(st.integers(2, 3))
    X = draw(hnp.arrays(float, (n, v), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 9.0])))
    own = draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))
    # quarters add up without rounding, so that a refit's zero is a zero
    weight = draw(hnp.arrays(float, n, elements=st.sampled_from([0.25, 1.0, 1.0, 3.0])))
    return X, own, weight, k


PRIORS = st.sampled_from([None, 0.3, 1.0, 2.5, "jeffreys", "background:3", "empirical", "empirical-background"])
CLASS_PRIORS = st.sampled_from([1.0, 0.5, 2.0, "known"])


@settings(max_examples=150, deadline=None)
@given(
    corpora(),
    st.sampled_from(["multinomial", "presence", "bernoulli"]),
    st.sampled_from(["mle", "map", "mean", "predictive"]),
    PRIORS,
    CLASS_PRIORS,
    st.sampled_from([1.0, 0.3]),
)
def test_leaving_a_document_out_equals_refitting_without_it(corpus, event, estimate, prior, class_prior, power):
    """Every event model over counts, estimate, prior, class prior, weight and power; also where there is no mode."""
    X, own, weight, k = corpus
    if estimate == "map" and isinstance(prior, str):
        prior = None
    known = [0.2, 0.5, 0.3] if k == 3 else [0.2, 0.8]
    chosen = Settings(
        event=event if event == "bernoulli" else "multinomial", binary=event == "presence", estimate=estimate,
        prior=prior, class_prior=known if class_prior == "known" else class_prior, power=power,
    )  # fmt: skip
    documents = chosen.documents(X)
    state = State.learn(chosen.event, documents, own, np.arange(X.shape[1]), weight=weight, classes=np.arange(k))
    assert_equals_refits(chosen.posterior(state), documents, own, weight, estimate, power)


@settings(max_examples=40, deadline=None)
@given(corpora(), st.sampled_from(["mle", "map", "mean"]), st.sampled_from([0.0, 0.5, 1.0]))
def test_categories_left_out_equal_refits(corpus, estimate, alpha):
    X, own, weight, _ = corpus
    clf = bayesnb.CategoricalNB(alpha=alpha or (1.0 if estimate == "mean" else 0.0), estimate=estimate)
    try:
        posterior, chosen, documents = clf.fit(X.astype(int), own, weight)._scored(X.astype(int))
    except ValueError:
        return  # no such estimate for these data
    own = np.searchsorted(clf.classes_, own)
    parts = None
    try:
        parts = scored_parts(posterior, documents, own, weight, estimate)
    except ValueError as error:
        assert "row" in str(error)
        return
    rows = np.arange(len(own))
    for i in rows[np.isfinite(parts.log_joint()[rows, own])]:
        left = clf.__class__(**clf.get_params()).partial_fit(X.astype(int), own, range(len(clf.classes_)), weight)
        left.unlearn(X[i : i + 1].astype(int), own[i : i + 1], weight[i : i + 1])
        if left.posterior_.statistics.n_tokens == posterior.statistics.n_tokens:  # else a category went with it
            expected = left.posterior_.log_likelihood(left._counts(X[i : i + 1].astype(int), chosen), estimate)
            np.testing.assert_allclose(parts.log_likelihood[i, own[i]], expected[0, own[i]], atol=ROUNDING)


def test_measurements_left_out_equal_refits():
    """The Gaussian model, with its prior held fixed, and with a missing cell."""
    rng = np.random.default_rng(3)
    X, own, weight = rng.normal(size=(12, 3)), np.repeat([0, 1], 6), rng.integers(1, 5, 12) / 4
    X[4, 1] = np.nan
    clf = bayesnb.GaussianNB(prior="weak", estimate="predictive", missing="ignore").fit(X, own, weight)
    loo = clf.loo(X, own, weight)
    for i in range(12):
        expected = refitted(clf.posterior_, X, own, weight, i, "predictive", 1.0)
        np.testing.assert_allclose(loo.log_joint[i], expected, atol=ROUNDING)


@pytest.fixture
def mails():
    texts = ["free prices now", "free free offer", "prices offer now", "coffee at ten", "coffee now", "lunch at noon"]
    return texts, ["spam"] * 3 + ["ham"] * 3


def test_texts_are_left_out_as_counts_are(mails):
    texts, y = mails
    tc = bayesnb.TextClassifier(estimate="predictive").fit(texts, y)
    loo = tc.loo(texts, y)
    for i in range(len(texts)):
        # matrices keep their columns, so the vocabulary stays as it is
        counts = tc._counts(texts, tc._settings()).toarray()
        keep = np.arange(len(texts)) != i
        clf = bayesnb.MultinomialNB(estimate="predictive").fit(counts[keep], np.array(y)[keep])
        np.testing.assert_allclose(loo.probabilities[i], clf.predict_proba(counts[[i]])[0], rtol=ROUNDING)
    assert loo.errors == sum(loo.probabilities.argmax(1) != (np.array(y) == "spam"))
    true = np.array(y) == "spam"
    np.testing.assert_allclose(loo.log_score, np.log(loo.probabilities[np.arange(len(y)), true.astype(int)]))


def test_a_class_with_one_document_is_named_where_its_score_is_minus_infinity(mails):
    texts, y = mails
    more = [*texts, "lunch offer"], [*y, "odd"]
    loo = bayesnb.TextClassifier().fit(*more).loo(*more)
    assert np.isneginf(loo.log_score[-1]) and np.isfinite(loo.log_score[:-1]).all()
    assert "'odd'" in loo.note and "use estimate='mean'" in loo.note
    mean = bayesnb.TextClassifier(estimate="mean").fit(*more).loo(*more)
    assert np.isfinite(mean.log_score).all() and "'odd'" not in mean.note


def test_the_note_says_what_was_held_fixed():
    X, y = [[1, 0], [0, 2], [2, 1]], [0, 1, 1]
    loo = bayesnb.MultinomialNB(prior="empirical", estimate="mean").fit(X, y).loo(X, y)
    assert "held fixed" in loo.note and "empirical: Dirichlet(" in loo.note


def test_some_of_the_documents_are_scored_as_among_all():
    X, y = np.array([[1, 0], [0, 2], [2, 1], [3, 3]]), np.array([0, 1, 1, 0])
    clf = bayesnb.BernoulliNB().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.warns(UserWarning, match="class 2 has no document"):
        part, whole = clf.loo(X[2:], y[2:]), clf.loo(X, y)
    np.testing.assert_array_equal(part.log_score, whole.log_score[2:])


@pytest.mark.parametrize("kind", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_a_document_that_was_not_learnt_is_named(kind):
    clf = kind().fit([[1, 0], [1, 0], [0, 3], [0, 1]], ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match=r"row 1 cannot be left out.*'b'.*learnt"):
        clf.loo([[1, 0], [1, 0]], ["a", "b"])
    with pytest.raises(ValueError, match="row 0 cannot be left out"):
        clf.loo([[1, 0]], ["a"], sample_weight=[5])
    with pytest.raises(ValueError, match="'c'"):
        clf.loo([[1, 0]], ["c"])


def test_a_document_that_lacks_a_token_all_learnt_ones_have_is_named():
    clf = bayesnb.BernoulliNB().fit([[1, 0], [1, 1], [0, 3], [0, 1]], ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match=r"row 0 cannot be left out.*token 0.*'a'"):
        clf.loo([[0, 1]], ["a"])


def test_a_missing_mode_names_row_token_and_class():
    X, y = [[1, 0], [1, 1], [0, 3], [1, 1]], ["a", "a", "b", "b"]
    clf = bayesnb.MultinomialNB(prior=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"with row 1 left out, phi has no mode.*token 1 in class 'a'"):
        clf.loo(X, y)


def test_the_order_of_documents_classes_and_tokens_does_not_matter():
    rng = np.random.default_rng(11)
    X, y = rng.poisson(1, (20, 6)), rng.integers(0, 3, 20)
    base = bayesnb.MultinomialNB(prior="empirical-background", estimate="predictive").fit(X, y).loo(X, y)
    rows, columns, names = rng.permutation(20), rng.permutation(6), np.array(["z", "m", "a"])
    other_X, other_y = X[rows][:, columns], names[y[rows]]
    other = bayesnb.MultinomialNB(prior="empirical-background", estimate="predictive").fit(other_X, other_y)
    other = other.loo(other_X, other_y)
    np.testing.assert_allclose(other.log_score, base.log_score[rows], rtol=ROUNDING)
    np.testing.assert_allclose(other.probabilities, base.probabilities[rows][:, ::-1], rtol=ROUNDING)


def test_weight_three_leaves_out_three_copies():
    X, own = np.array([[2.0, 0], [1, 1], [0, 2], [1, 2]]), np.array([0, 0, 1, 1])
    chosen = Settings(estimate="mean")
    heavy = State.learn("multinomial", chosen.documents(X), own, np.arange(2), weight=[3, 1, 1, 1])
    light = State.learn("multinomial", chosen.documents(X[1:]), own[1:], np.arange(2))
    score = leave_one_out(chosen.posterior(heavy), chosen.documents(X), own, [3, 1, 1, 1], "mean").log_joint[0]
    np.testing.assert_allclose(score, chosen.posterior(light).log_joint(X[:1], "mean")[0], rtol=ROUNDING)
