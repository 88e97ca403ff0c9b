"""Whatever value an argument has: it is used, or refused in one line; the object that was asked stays as it was.

As in `test_any_input`, few examples in a plain run and many under ``-m long``.
"""

import copy
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import event
from hypothesis import strategies as st

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
        if found.get(fact) and isinstance(found[fact].value, (np.ndarray, float)):
            assert np.isfinite(found[fact].value).all(), (fact, found[fact].value)
    if found.get("interval"):
        ends = found["interval"].value
        assert (ends[..., 0] <= ends[..., 1]).all()
    if name in ("Dirichlet", "Beta"):
        for fact in ("mean", "mode", "interval"):
            assert not found[fact] or ((found[fact].value >= 0) & (found[fact].value <= 1)).all()
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
@pytest.mark.parametrize("name", sorted(LONG))
def test_with_many_more_examples(name, capsys):
    """Each property of this file once more; says how many examples it ran."""
    LONG[name]()
    with capsys.disabled():
        print(f"\n{name}: {EXAMPLES[name]} examples; so far {dict(CALLS)}")
