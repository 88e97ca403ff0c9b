"""Choice by exact leave-one-out, stacking, and the fitted power."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import logsumexp

import bayesnb
from bayesnb.model import Settings
from bayesnb.selection import default_candidates
from bayesnb.selection.power import fit_power
from bayesnb.selection.weights import stacking_weights


@pytest.fixture(scope="module")
def corpus():
    """Sixty documents over 25 tokens of heavy-tailed frequency, in three classes that differ."""
    rng = np.random.default_rng(5)
    phi = rng.dirichlet(np.full(25, 0.3), 3)
    y = rng.integers(0, 3, 60)
    return np.stack([rng.multinomial(rng.integers(1, 15), phi[k]) for k in y]), np.array(["a", "b", "c"])[y]


# --- stacking -----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 8)), elements=st.floats(-40, 0)))
def test_stacking_weights_satisfy_the_conditions_of_an_optimum(log_score):
    """No direction gains: the bound on what any other weights could add is 1e-6 nats."""
    w = stacking_weights(log_score)
    assert (w >= 0).all() and abs(w.sum() - 1) < 1e-12
    with np.errstate(divide="ignore"):
        mixed = logsumexp(log_score, axis=1, b=w)
    slope = np.exp(log_score - mixed[:, None]).sum(axis=0)
    assert slope.max() - len(log_score) < 1e-6
    assert w @ np.abs(slope - len(log_score)) < 1e-6  # complementary slackness


def test_stacking_finds_known_weights_and_keeps_scores_that_underflow():
    score = np.log([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    # d/dw of 2 log(.1 + .8 w) + log(.9 - .8 w) is 0 at w = 17/24
    np.testing.assert_allclose(stacking_weights(score), [17 / 24, 7 / 24], atol=1e-8)
    np.testing.assert_allclose(stacking_weights(score - 5000), [17 / 24, 7 / 24], atol=1e-8)


def test_a_prior_of_many_documents_makes_weights_equal():
    score = np.log([[0.9, 0.1], [0.8, 0.1]])
    assert stacking_weights(score)[0] > 0.999
    np.testing.assert_allclose(stacking_weights(score, prior=1e6), 0.5, atol=1e-5)
    with pytest.raises(ValueError, match="prior must be"):
        stacking_weights(score, prior=-1)


# --- select -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chosen(corpus):
    return bayesnb.select(*corpus)


def test_the_ranking_is_that_of_refitting_every_candidate_without_every_document(corpus):
    """Fixed priors, so that a refit needs no care; the default class prior, by its mean."""
    X, y = corpus
    candidates = [c for c in default_candidates() if not isinstance(c.prior, str)][::2]
    selection = bayesnb.select(X, y, candidates=candidates)
    for rank, candidate in enumerate(selection.candidates[:6], start=1):
        log_score, keep = [], np.ones(len(y), bool)
        for i in range(len(y)):
            keep[i] = False
            clf = _estimator(candidate.settings)
            p = clf.partial_fit(X[keep], y[keep], classes=["a", "b", "c"]).predict_log_proba(X[[i]])[0]
            log_score.append(p[list("abc").index(y[i])])
            keep[i] = True
        row = selection.table.loc[rank]
        np.testing.assert_allclose(row.log_score, sum(log_score), rtol=1e-10)
        np.testing.assert_allclose(row.se, np.std(log_score, ddof=1) * np.sqrt(len(y)), rtol=1e-8)
    assert selection.table.log_score.is_monotonic_decreasing


def _estimator(chosen):
    if chosen.event == "bernoulli":
        return bayesnb.BernoulliNB(prior=chosen.prior, estimate=chosen.estimate)
    return bayesnb.MultinomialNB(prior=chosen.prior, estimate=chosen.estimate, binary=chosen.binary)


def test_the_table_holds_together(chosen, corpus):
    table = chosen.table
    assert table.index.tolist() == list(range(1, len(table) + 1))
    assert table.iloc[0].difference == 0 and table.iloc[0].difference_se == 0
    np.testing.assert_allclose(table.difference, table.log_score - table.log_score.iloc[0], atol=1e-9)
    assert not table.duplicated(["event", "prior", "estimate"]).any()
    assert abs(table.weight.sum() - 1) < 1e-9
    loo = chosen.best.fit(*corpus).loo(*corpus)
    np.testing.assert_allclose(loo.log_score.sum(), table.log_score.iloc[0], rtol=1e-10)
    assert loo.errors == table.errors.iloc[0]


def test_pairs_equal_in_distribution_are_listed_once(corpus):
    X, y = corpus
    assert not any(c.event == "bernoulli" and c.estimate == "predictive" for c in default_candidates())
    events = bayesnb.select(X > 0, y).table.event
    assert set(events) == {"multinomial", "bernoulli"}  # counts are presence already


def test_the_stacked_mixture_is_the_weighted_sum_of_the_members_probabilities(chosen, corpus):
    X, y = corpus
    expected = np.zeros((len(y), 3))
    for candidate, weight in zip(chosen.candidates, chosen.weights, strict=True):
        expected += weight * _estimator(candidate.settings).fit(X, y).predict_proba(X)
    # members of negligible weight, 1e-6 each at most, are left out
    np.testing.assert_allclose(chosen.stacked.predict_proba(X), expected, atol=1e-5)
    for mixture in (chosen.stacked, chosen.tempered):
        p = mixture.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(mixture.predict(X), mixture.classes_[p.argmax(axis=1)])
    assert len(chosen.tempered.members) > len(chosen.stacked.members)  # its prior leaves weight with several


def test_documents_and_tokens_in_another_order_give_the_same_table(chosen, corpus):
    X, y = corpus
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(y)), rng.permutation(25)
    other = bayesnb.select(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(other.table.log_score, chosen.table.log_score, rtol=1e-9)


def test_texts_give_a_classifier_of_texts():
    texts = ["free prices now", "free free offer", "coffee at ten", "lunch at noon"] * 2
    y = ["spam", "spam", "ham", "ham"] * 2
    chosen = bayesnb.select(texts, y)
    assert isinstance(chosen.best, bayesnb.TextClassifier)
    assert chosen.best.fit(texts, y).predict(["free coffee offer"]).tolist() == ["spam"]
    assert chosen.stacked.predict(["free offer unheard"]).tolist() == ["spam"]


@pytest.mark.parametrize(
    ("X", "y", "given", "message"),
    [
        ([[1, 2], [2, 1]], [0, 0], {}, "all documents are of class 0"),
        ([[1, 2]], [0], {}, "at least 2 documents"),
        (np.zeros((0, 2)), [], {}, "at least 2 documents"),
        ([[1, 2], [2, 1]], [0], {}, "inconsistent numbers of samples"),
        ([[1, -2], [2, 1]], [0, 1], {}, "Negative values in data passed to select"),
        ([[1, 2], [2, 1]], [0, 1], {"candidates": []}, "no candidate"),
        ([[1, 2], [2, 1]], [0, 1], {"candidates": [Settings(power=0.5)]}, "untempered"),
        ([[1, 0], [0, 1]], [0, 1], {"candidates": [Settings(estimate="mle", class_prior=[0.5, 0.5])]}, "row 0"),
        ([[1, 0], [0, 1]], [0, 1], {"candidates": [Settings(event="gaussian")]}, "not 'gaussian'"),
    ],
)
def test_what_cannot_be_chosen_between_is_said_in_one_line(X, y, given, message):
    with pytest.raises(ValueError, match=message):
        bayesnb.select(X, y, **given)


# --- power --------------------------------------------------------------------------------------------------


def test_the_fitted_power_beats_a_fine_grid(corpus):
    clf = bayesnb.MultinomialNB(alpha=0.1)
    power = bayesnb.fit_power(clf, *corpus)
    assert 0 < power < 1 and not hasattr(clf, "posterior_") and clf.power == 1

    def score(power):
        return bayesnb.MultinomialNB(alpha=0.1, power=power).fit(*corpus).loo(*corpus).log_score.sum()

    grid = np.linspace(0.01, 1, 100)
    values = np.array([score(p) for p in grid])
    assert score(power) >= values.max()
    assert (np.diff(values, 2) < 1e-9).all()  # concave, so the maximum is the only one


def test_a_power_stays_within_its_bounds():
    X, y = [[9, 0], [8, 1], [0, 9], [1, 8]], [0, 0, 1, 1]
    assert fit_power(bayesnb.MultinomialNB(), X, y) == 1.0  # no mistake: the score rises for ever
    assert fit_power(bayesnb.MultinomialNB(), X, y, largest=2.5) == 2.5
    assert fit_power(bayesnb.MultinomialNB(), X, [0, 1, 0, 1]) == 1e-6  # tokens mislead: better without
    with pytest.raises(ValueError, match="largest"):
        fit_power(bayesnb.MultinomialNB(), X, y, largest=0)
    with pytest.raises(ValueError, match="row 2 has probability 0 under its own class"):
        fit_power(bayesnb.MultinomialNB(), [[9, 1], [8, 1], [0, 9]], [0, 0, 1])


def test_best_of_cs229_makes_few_errors(shared):
    """Chosen on 200 training mails alone, it makes 3 errors on 800 test mails where plain multinomial makes 21."""
    train, test = (
        bayesnb.read_corpus(shared / "data" / "cs229_spam" / f"MATRIX.{part}", format="cs229")
        for part in ("TRAIN.200", "TEST")
    )
    best = bayesnb.select(train.X, train.y).best.fit(train.X, train.y)
    assert (best.predict(test.X) != test.y).sum() <= 5


def test_the_way_to_fit_the_power_that_the_estimators_document(corpus):
    X, y = corpus
    for clf in (bayesnb.MultinomialNB(alpha=0.1), bayesnb.BernoulliNB(alpha=0.1), bayesnb.GaussianNB(prior="weak")):
        untempered = clf.fit(X, y).loo(X, y).log_score.sum()
        power = bayesnb.fit_power(clf, X, y)
        tempered = clf.set_params(power=power).fit(X, y)
        assert tempered.loo(X, y).log_score.sum() >= untempered and 0 < power <= 1
        assert bayesnb.fit_power(tempered, X, y) == power  # whatever it was before


def test_what_a_selection_prints_is_short():
    """A few lines, whatever the corpus; leave-one-out likewise."""
    X, y = np.random.default_rng(0).poisson(1.0, (30, 5)), np.arange(30) % 2
    assert len(repr(bayesnb.select(X, y)).splitlines()) < 10
    assert len(repr(bayesnb.MultinomialNB().fit(X, y).loo(X, y))) < 400


def test_a_power_cannot_help_a_class_whose_prior_is_known_to_be_0():
    """The message names the class prior, and no estimate that would change nothing."""
    X, y = np.array([[3, 0, 1], [1, 0, 0], [0, 0, 2], [0, 0, 5]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"row 0 .* its class has class prior 0"):
        bayesnb.fit_power(bayesnb.MultinomialNB(estimate="mean", class_prior=[0.0, 1.0]), X, y)


def test_texts_may_come_as_a_column_or_an_array():
    texts, y = ["free prices", "coffee at ten", "free gift", "tea at noon"], ["spam", "ham", "spam", "ham"]
    want = bayesnb.select(texts, y).table
    for form in (pd.Series(texts), pd.Series(texts, dtype=object), pl.Series(texts), np.array(texts), tuple(texts)):
        table = bayesnb.select(form, y).table
        assert table.equals(want), type(form)
