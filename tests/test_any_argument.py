"""Whatever value an argument has: it is used, or refused in one line; the object that was asked stays as it was.

As in `test_any_input`, few examples in a plain run and many under ``-m long``.
"""

import copy
import fractions
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import event
from hypothesis import strategies as st
from scipy import stats

import bayesnb
from bayesnb import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, TextClassifier, evaluation, report
from bayesnb.sampling import aggregate

from . import any_input
from .any_input import FIVE, FOUR, TEXTS, anything
from .judged import CALLS, EXAMPLES, LONG, answers, deeper, holds, judged

# --- arguments ----------------------------------------------------------------------------------------------


@holds(st.data(), share=12)
def test_any_value_of_any_parameter_gives_proper_probabilities_or_is_refused(data):
    make, X = data.draw(st.sampled_from(FIVE))
    name = data.draw(st.sampled_from(sorted(make().get_params())))
    value = data.draw(anything)
    if name == "min_categories" and isinstance(value, int) and value > 1000:
        value = 1000  # so many cells in each column take their time
    other = data.draw(st.sampled_from([{}, {}, {"estimate": "mean"}, {"estimate": "predictive"}, {"prior": 0.5}]))
    if make is GaussianNB and "prior" in other:
        other = {"prior": "weak"}
    clf, y = make(**(other | {name: value})), ["a", "b", "a", "b"]
    fitted = judged(lambda: clf.fit(X, y), X, value, state=clf)
    event(f"{name} {'answered' if fitted else 'refused'}")
    if fitted:
        answers(clf, X, y)
        deeper(clf, X, X[:1], y, 0.9)
        judged(lambda: clf.token_ratios("a", "b"), state=clf)
        judged(lambda: make(**(other | {name: value})).partial_fit(X, y).merge(clf), state=clf)


ABC = ["a", "b", "a", "c"]
MODELS = [
    (clf.fit(X, ABC), X)
    for clf, X in [
        (MultinomialNB(), FOUR),
        (MultinomialNB(estimate="predictive"), FOUR),
        (BernoulliNB(), FOUR),
        (CategoricalNB(), FOUR),
        (GaussianNB(prior="weak"), FOUR),
        (TextClassifier(), TEXTS),
        (TextClassifier(event="bernoulli", estimate="mean"), TEXTS),
    ]
]

VERBS = {
    "level": lambda m, X, v: m.predict_interval(X[:1], level=v),
    "abstain": lambda m, X, v: m.predict(X[:1], abstain=v),
    "predict": lambda m, X, v: m.predict(v),
    "explain": lambda m, X, v: m.explain(v),
    "explain classes": lambda m, X, v: m.explain(X[:1], classes=v),
    "explain level": lambda m, X, v: m.explain(X[:1], level=v),
    "class prior": lambda m, X, v: m.with_class_prior(v).predict(X),
    "decay": lambda m, X, v: copy.deepcopy(m).partial_fit(X, ABC, decay=v).class_count_,
    "merge": lambda m, X, v: m.merge(v),
    "unlearn": lambda m, X, v: m.unlearn(v, v),
    "loo": lambda m, X, v: m.loo(v, v),
    "loo weights": lambda m, X, v: m.loo(X, ABC, v),
    "numerator": lambda m, X, v: m.token_ratios(v),
    "denominator": lambda m, X, v: m.token_ratios("a", v),
    "ratio level": lambda m, X, v: m.token_ratios("a", "b", level=v),
    "ratio tokens": lambda m, X, v: m.token_ratios("a", "b", tokens=v),
    "shared": lambda m, X, v: m.token_ratios("a", "b", shared=v),
    "class": lambda m, X, v: m.posterior_.class_index(v),
    "token": lambda m, X, v: m.posterior_.token_index(v),
    "aggregate": lambda m, X, v: aggregate(m, v),
    "aggregate what": lambda m, X, v: aggregate(v, ["free"]),
    "draws": lambda m, X, v: m.posterior_.draw(draws=v if not isinstance(v, int) or v < 99 else -1),
    "chains": lambda m, X, v: m.posterior_.draw(2, chains=v if not isinstance(v, int) or v < 99 else -1),
    "seed": lambda m, X, v: m.posterior_.draw(2, 2, seed=v),
    "power of": lambda m, X, v: bayesnb.fit_power(v, FOUR, ABC),
    "largest power": lambda m, X, v: bayesnb.fit_power(MultinomialNB(), FOUR, ABC, largest=v),
    "power X": lambda m, X, v: bayesnb.fit_power(type(m)(), v, ABC),
    "select": lambda m, X, v: bayesnb.select(v, ABC),
    "select y": lambda m, X, v: bayesnb.select(FOUR, v),
    "candidates": lambda m, X, v: bayesnb.select(FOUR, ABC, candidates=v),
    "select prior": lambda m, X, v: bayesnb.select(FOUR, ABC, class_prior=v),
    "compare": lambda m, X, v: bayesnb.compare_estimates(v),
    "evaluate": lambda m, X, v: evaluation.evaluate(v, np.log(np.full((3, 3), 1 / 3)), m.classes_),
    "evaluate p": lambda m, X, v: evaluation.evaluate(["a"] * 3, v, m.classes_),
    "evaluate classes": lambda m, X, v: evaluation.evaluate(["a"] * 3, np.log(np.full((3, 3), 1 / 3)), v),
    "bins": lambda m, X, v: evaluation.evaluate(
        ["a"], np.log([[1 / 3] * 3]), m.classes_, bins=v if not isinstance(v, int) or v < 9999 else -1
    ),
}


@holds(st.sampled_from(MODELS), st.sampled_from(sorted(VERBS)), anything, share=25)
def test_any_argument_of_any_verb_is_used_or_refused(model, verb, value):
    (clf, X), call = model, VERBS[verb]
    answer = judged(lambda: call(clf, X, value), value, X, state=clf)
    event(f"{verb} {'answered' if answer else 'refused'}")
    if answer:
        assert_no_nan(answer.value)


def assert_no_nan(value):
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        assert not np.isnan(value).any()
    if isinstance(value, dict):
        for part in value.values():
            assert_no_nan(part)


# --- families -----------------------------------------------------------------------------------------------

positive = st.one_of(
    st.floats(1e-3, 1e3), st.sampled_from([1e-100, 1e-15, 0.5, 1, 2, 1e15, 1e100]), st.floats(1e-100, 1e100)
)
parameter = st.one_of(positive, positive, st.lists(positive, min_size=1, max_size=3), anything)
FAMILY = {
    "Dirichlet": lambda a, b, c, d: bayesnb.Dirichlet(a),
    "Beta": lambda a, b, c, d: bayesnb.Beta(a, b),
    "normal": lambda a, b, c, d: bayesnb.NormalInverseGamma(d, a, b, c),
    "mu": lambda a, b, c, d: bayesnb.NormalInverseGamma(d, a, b, c).mu(),
    "sigma2": lambda a, b, c, d: bayesnb.NormalInverseGamma(d, a, b, c).sigma2(),
    "predictive": lambda a, b, c, d: bayesnb.NormalInverseGamma(d, a, b, c).predictive(),
}
FACTS = ["mean", "mode", "variance", "interval", "log_normalizer", "mean_log", "variance_log", "marginal"]


def each(answer):
    """The arrays of an answer: of both variables where there are two."""
    if not answer:
        return []
    return answer.value if isinstance(answer.value, tuple) else [answer.value]


@holds(
    st.sampled_from(sorted(FAMILY)),
    parameter,
    parameter,
    parameter,
    st.floats(-1e150, 1e150) | anything,
    anything,
    share=12,
)
def test_families_of_any_parameters_have_finite_facts_or_refuse(name, a, b, c, d, x):
    made = judged(lambda: FAMILY[name](a, b, c, d), a, b, c, d)
    if not made:
        return
    law = made.value
    found = {fact: judged(getattr(law, fact), state=law) for fact in FACTS if hasattr(law, fact)}
    for fact in ("mean", "mode", "variance", "mean_log", "variance_log", "log_normalizer"):
        for part in each(found.get(fact)):
            assert (np.isfinite(part) | ((name not in ("Dirichlet", "Beta")) & (part == np.inf))).all(), (fact, part)
    for ends in each(found.get("interval")):
        assert (ends[..., 0] <= ends[..., 1]).all()
    if name in ("Dirichlet", "Beta"):
        for fact in ("mean", "mode", "interval"):
            assert all(((part >= 0) & (part <= 1)).all() for part in each(found[fact]))
        assert found["mean"] and found["variance"] and (found["variance"].value >= 0).all()
    at = judged(lambda: law.log_density(x) if name != "normal" else law.log_density(x, x), x, state=law)
    assert not at or not np.isnan(at.value).any()
    drawn = judged(lambda: law.draw(np.random.default_rng(0), 3), state=law)
    assert drawn and all(
        not np.isnan(part).any() and len(part) == 3 for part in ([drawn.value] if name != "normal" else drawn.value)
    )
    judged(lambda: law.draw(np.random.default_rng(0), x if not isinstance(x, int) or x < 99 else -1), x, state=law)
    judged(lambda: law.draw(x), x, state=law)
    judged(lambda: law.interval(x) if hasattr(law, "interval") else law.mean(), x, state=law)


# --- files, pictures, pages ---------------------------------------------------------------------------------


@holds(st.sampled_from([*FIVE, (lambda: GaussianNB(prior="weak"), FOUR)]), any_input.labels(4), share=2)
def test_a_saved_model_answers_alike_whatever_its_labels(kind, labelled):
    """Those that have no form in a file are refused."""
    (make, X), (y, values) = kind, labelled
    clf = make().fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if not judged(lambda: clf.save(path), state=clf):
            return
        for model in (bayesnb.Scorer.load(path), bayesnb.load(path)):
            for verb in ("predict_proba", "predict", "predict_interval"):
                mine, theirs = (judged(lambda m=m, v=verb: getattr(m, v)(X), X) for m in (clf, model))
                assert bool(mine) == bool(theirs)
                assert not mine or (mine.value == theirs.value).all()
            assert {type(v) for v in model.predict(X).tolist()} <= {type(v) for v in values}


@holds(st.lists(any_input.NAMES, min_size=3, max_size=3, unique=True), any_input.labels(4))
def test_ratios_estimates_and_pages_take_any_names(names, labelled):
    y, values = labelled
    clf = MultinomialNB().fit(pd.DataFrame(FOUR, columns=pd.Index(names, dtype=object)), y)
    if len(set(values)) < 2:
        return
    table = judged(lambda: clf.token_ratios(values[0]), state=clf)
    assert table and table.value.index.tolist() == names
    assert not table.value.drop(columns="ratio_map").isna().any(axis=None)
    assert (table.value.lower <= table.value.ratio_median).all() and (
        table.value.ratio_median <= table.value.upper
    ).all()
    estimates = judged(lambda: bayesnb.compare_estimates(clf), state=clf)
    assert estimates and np.allclose(estimates.value.groupby(level="class", sort=False)["map"].sum(), 1)
    sections = [
        report.prior_section(clf),
        report.ratios_section(table.value),
        report.map_laplace_section(estimates.value),
    ]
    assert judged(lambda: report.render(report.Page("any", "", sections)))


PICTURES = {
    "ratios": lambda m, v: bayesnb.plot_ratios(m, "a", "b", top=v),
    "ratio classes": lambda m, v: bayesnb.plot_ratios(m, v, "b"),
    "parameter": lambda m, v: bayesnb.plot_parameter(m, "a", v),
    "parameter class": lambda m, v: bayesnb.plot_parameter(m, v, 0),
    "level": lambda m, v: bayesnb.plot_parameter(m, "a", 0, level=v),
    "model": lambda m, v: bayesnb.plot_shrinkage(v),
    "alpha": lambda m, v: bayesnb.plot_map_vs_laplace(m, alpha=v),
    "calibration y": lambda m, v: bayesnb.plot_calibration(v, [[0.5, 0.5]] * 3),
    "calibration p": lambda m, v: bayesnb.plot_calibration(["a", "b", "a"], v),
    "calibration bins": lambda m, v: bayesnb.plot_calibration(
        ["a", "b", "a"], [[0.5, 0.5]] * 3, bins=v if not isinstance(v, int) or v < 999 else -1
    ),
}


@holds(st.sampled_from(sorted(PICTURES)), anything)
def test_any_argument_of_a_picture_is_used_or_refused(name, value):
    clf = MODELS[0][0]
    judged(lambda: PICTURES[name](clf, value), value, state=clf)
    plt.close("all")


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LONG[__name__]))
def test_with_many_more_examples(name, capsys):
    """Each property of this file once more; says how many examples it ran."""
    LONG[__name__][name]()
    with capsys.disabled():
        print(f"\n{name}: {EXAMPLES[name]} examples; so far {dict(CALLS)}")


# --- what was found wanting, each with its right answer -----------------------------------------------------

COUNTED = MODELS[0][0]
HUGE = 10**400


def test_a_list_is_no_token_and_no_class():
    """[0] was compared cell by cell, and found."""
    for wanted in ([0], np.array([0]), (0,), pd.NA, {}):
        with pytest.raises(ValueError, match="is not among the vocabulary: 0, 1, 2"):
            COUNTED.posterior_.token_index(wanted)
        with pytest.raises(ValueError, match="unknown token"):
            COUNTED.token_ratios("a", "b", tokens=[wanted])
    with pytest.raises(ValueError, match=r"class \['a'\] is not among the classes"):
        COUNTED.posterior_.class_index(["a"])
    with pytest.raises(ValueError, match=r"unknown class \['a'\]"):
        COUNTED.token_ratios(["a"])


def test_an_estimator_is_aggregated_as_its_posterior():
    """Class a has 2 + 1 of token 0 and 1 each of the others: with the prior 2 each, (5, 6)."""
    small = aggregate(COUNTED, [0])
    assert small.phi.concentration[0].tolist() == [5, 6] and small.tokens.tolist() == [0, "other"]
    with pytest.raises(TypeError, match="a posterior or a fitted estimator is needed, got 3"):
        aggregate(3, [0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: COUNTED.explain(FOUR[0], classes=3), "classes must be two different labels, got 3"),
        (lambda: COUNTED.token_ratios("a", "b", tokens=3), "tokens must be a list of tokens, got 3"),
        (lambda: COUNTED.posterior_.draw(draws=2.5), "draws must be a whole number, at least 1; got 2.5"),
        (lambda: COUNTED.posterior_.draw(chains=-1), "chains must be a whole number"),
        (lambda: COUNTED.posterior_.draw(seed="a"), "seed must be a whole number"),
        (lambda: COUNTED.predict_interval(FOUR, level=HUGE), "level must lie strictly between 0 and 1"),
        (lambda: bayesnb.fit_power(3, FOUR, ABC), "fit_power needs an estimator"),
        (lambda: bayesnb.fit_power(COUNTED, FOUR, ABC, largest="1"), "largest must be a number"),
        (lambda: bayesnb.select(FOUR, ABC, candidates=[1]), "candidates must be a list of Settings, got 1 in it"),
        (lambda: bayesnb.select("abc", ABC), "Expected 2D array of counts .*got 'abc'"),
        (lambda: evaluation.evaluate(["a"], [[0.0]], ["a", "b"]), r"log_probabilities has shape \(1, 1\)"),
        (lambda: evaluation.evaluate(["a"], [[0.5]], ["a"]), "log_probabilities must be at most 0, got 0.5 at row 0"),
        (lambda: evaluation.evaluate(["a"], [[0.0]], ["a"], bins=0.5), "bins must be a whole number"),
        (lambda: MultinomialNB(alpha=[1, HUGE]).fit(FOUR, ABC), "alpha must be a number >= 0"),
        (lambda: MultinomialNB(alpha=-1, prior=1).fit(FOUR, ABC), "alpha must be a number >= 0"),
        (lambda: MultinomialNB(power=HUGE).fit(FOUR, ABC), "power must be a number above 0, from 1e-09 to 1e"),
        (lambda: MultinomialNB(fit_prior="yes").fit(FOUR, ABC), "fit_prior must be True or False, got 'yes'"),
        (lambda: MultinomialNB(estimate=np.ones(2)).fit(FOUR, ABC), "estimate must be one of mle"),
        (lambda: GaussianNB(var_smoothing=HUGE).fit(FOUR, ABC), "var_smoothing must be a number >= 0"),
        (lambda: CategoricalNB(min_categories=2**40).fit(FOUR, ABC), "at most 16777216, got 1099511627776"),
        (lambda: TextClassifier(event=[]).fit(TEXTS, ABC), "event must be one of multinomial, bernoulli"),
        (lambda: bayesnb.Dirichlet([]), "concentration has no cell"),
        (lambda: bayesnb.Dirichlet([1, 2]).log_density([1, 2, 3]), "x has shape"),
        (lambda: bayesnb.Beta([1, 2], [1, 2, 3]), r"b has shape \(3,\), which does not fit"),
        (lambda: bayesnb.Beta(1, 2).log_density(np.nan), "one is NaN"),
        (lambda: bayesnb.Beta(1, 2).draw(np.random.default_rng(0), -1), "size must be a whole number"),
        (lambda: bayesnb.NormalInverseGamma(0, 1, 1e300, 1), "alpha0 must lie between"),
        (lambda: bayesnb.plot_calibration(["a", "b"], "0.5"), "probabilities must be numbers, got '0.5'"),
    ],
)
def test_an_argument_without_meaning_is_one_line(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_draws_want_a_generator():
    with pytest.raises(TypeError, match="rng must be a numpy"):
        bayesnb.Dirichlet([1, 2]).draw(0)


def test_a_fraction_is_a_number_where_numbers_are():
    half = MultinomialNB(power=fractions.Fraction(1, 2)).fit(FOUR, ABC).predict_proba(FOUR)
    assert (half == MultinomialNB(power=0.5).fit(FOUR, ABC).predict_proba(FOUR)).all()
    whole = MultinomialNB(power=True).fit(FOUR, ABC).predict_interval(FOUR)
    assert (whole == COUNTED.predict_interval(FOUR)).all()
    ends = COUNTED.predict_interval(FOUR, level=fractions.Fraction(1, 2))
    assert (ends == COUNTED.predict_interval(FOUR, level=0.5)).all()


def test_ratios_beside_a_huge_smoothing_are_finite():
    """Tokens 0 and 1 are so rare that phi is Gamma(a)/4.5e16: the ratio of 0 is that of Gamma(4) to Gamma(5)."""
    clf = MultinomialNB(alpha=[0, 0, 2.0**55 + 8]).fit(FOUR, ["a", "b", "a", "b"])
    table = clf.token_ratios("a", "b", level=0.5)
    beta = stats.betaprime(4, 5)
    np.testing.assert_allclose(
        table.loc[0, ["lower", "ratio_median", "upper"]].astype(float), beta.ppf([0.25, 0.5, 0.75])
    )


def test_counts_of_1e15_give_their_exact_ratio():
    """phi_a = (1e15 + 1, 2)/(1e15 + 3) and phi_b the other way round: one token speaks (1e15 + 1) to 2."""
    clf = MultinomialNB().fit([[1e15, 1], [1, 1e15]], ["a", "b"])
    assert clf.predict_proba([[0, 1]])[0, 0] == pytest.approx(2 / (1e15 + 3), rel=1e-14)


def test_the_digits_of_a_tiny_prior_are_in_the_mode():
    """phi_a = (3, 1, 1) - 1 + 1e-38: of a count of 1 the mode is 1e-38/2, which was rounded to 0."""
    clf = MultinomialNB(prior=1e-38).fit(FOUR, ["a", "b", "a", "b"])
    np.testing.assert_allclose(clf.posterior_.phi_hat("map")[0], [1, 5e-39, 5e-39], rtol=1e-14)


def test_intervals_say_up_to_which_count_they_go():
    clf = MultinomialNB().fit(FOUR * 1e60, ABC)
    with pytest.raises(ValueError, match=r"row 0 has a count of 2e\+60: .* 1e-50 to 1e\+50"):
        clf.predict_interval(FOUR[:1] * 1e60)
    with pytest.raises(ValueError, match="a concentration is 1e-100: laws of log-odds are"):
        MultinomialNB(prior=1e-100, estimate="mean").fit(FOUR, ABC).predict_interval(FOUR)


def test_densities_far_out_are_0_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bayesnb.NormalInverseGamma(0, 1, 2, 1).mu().log_density(1e300) < -1000
        assert bayesnb.NormalInverseGamma(0, 1e-100, 1, 1).log_density(4e223, 4e223) < -1000
        one, wide = (bayesnb.NormalInverseGamma(0, 1, 2, beta).predictive().log_normalizer() for beta in (1, 1e308))
        assert wide - one == pytest.approx(0.5 * np.log(1e308), rel=1e-13)
        ends = bayesnb.NormalInverseGamma(0, 1, 2, 1).log_density([0, np.inf, np.inf], [np.inf, 1, np.inf])
        assert ends.tolist() == [-np.inf] * 3


def test_a_measurement_far_out_is_explained_without_a_warning():
    """Each variance of the two parts is a float, their sum is none."""
    clf = GaussianNB(prior="weak").fit(FOUR, ABC)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = clf.explain([[0.0, 0.0, 4.733117487379409e76]])
    assert (table["lower"] <= table["upper"]).all()


def test_a_threshold_beyond_all_floats_lies_beyond_all_values():
    with pytest.warns(UserWarning, match=r"above binarize=-1.79769e\+308 in every row"):
        clf = BernoulliNB(binarize=-HUGE).fit(FOUR, ABC)
    assert clf.posterior_.statistics.feature_count.sum() == FOUR.size


def test_a_lazy_frame_is_no_table_and_resolves_nothing():
    with pytest.raises(ValueError, match="Expected 2D array"):
        COUNTED.predict(pl.DataFrame({"a": [1]}).lazy())


def test_names_that_utf8_cannot_hold_are_shown_on_the_page():
    clf = MultinomialNB().fit(
        pd.DataFrame(FOUR, columns=pd.Index(["\ud800", "b", "c"], dtype=object)), ["\ud801", "b"] * 2
    )
    table = clf.token_ratios("b", "\ud801")
    assert table.index.tolist() == ["\ud800", "b", "c"]
    page = report.render(report.Page("any", "", [report.ratios_section(table)]))
    assert r"n in \ud801" in page and page.encode()
