"""GaussianNB: scikit-learn's answers without a prior, the posterior's with one, and learning on totals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB as Reference

import bayesnb
from bayesnb import GaussianNB, NormalInverseGamma
from tests.model_examples import edited

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [9, 5, 6])
X = RNG.normal(size=(20, 3)) * [1.0, 5.0, 0.2] + (Y == "b")[:, None] * [1.0, -4.0, 0.1]
NEW = RNG.normal(size=(8, 3)) * [2.0, 6.0, 0.4]
PRIORS = {
    "weak": "weak",
    "numbers": NormalInverseGamma(0, 1, 2, 1),
    "per column": NormalInverseGamma([0, 1, 2], 1, 2, 1),
}


def same(a, b, atol=1e-10):
    np.testing.assert_allclose(a.predict_joint_log_proba(NEW), b.predict_joint_log_proba(NEW), rtol=1e-10, atol=atol)


@pytest.mark.parametrize("data", [load_iris, load_wine])
@pytest.mark.parametrize("options", [{}, {"var_smoothing": 1e-3}, {"priors": [0.2, 0.5, 0.3]}])
def test_predicts_what_scikit_learn_does(data, options):
    """Joint log densities, classes and the fitted attributes on real data, to 1e-10."""
    values, y = data(return_X_y=True)
    ours, theirs = GaussianNB(**options).fit(values, y), Reference(**options).fit(values, y)
    joint, expected = ours.predict_joint_log_proba(values), theirs.predict_joint_log_proba(values)
    np.testing.assert_allclose(joint, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(values), theirs.predict(values))
    for name in ("theta_", "var_", "class_prior_", "epsilon_", "class_count_", "classes_", "n_features_in_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-11, atol=1e-12)


def test_weights_are_scikit_learns():
    """Weighted means and variances; what is smoothed with differs, for ours has the weights too."""
    w = RNG.uniform(0.5, 3, len(Y))
    same(GaussianNB(var_smoothing=0).fit(X, Y, w), Reference(var_smoothing=0).fit(X, Y, w))


@pytest.mark.parametrize("prior", [None, *PRIORS.values()], ids=["none", *PRIORS])
def test_batches_merges_and_weights_are_the_whole(prior):
    """partial_fit in two batches, a + b, weight 2 as two copies, and unlearning: one and the same model."""
    make = lambda: GaussianNB(prior=prior)  # noqa: E731
    first = np.arange(len(Y)) % 2 == 0
    whole = make().fit(X, Y)
    same(make().partial_fit(X[first], Y[first], classes=["a", "b", "c"]).partial_fit(X[~first], Y[~first]), whole)
    same(make().fit(X[first], Y[first]) + make().fit(X[~first], Y[~first]), whole)
    same(make().fit(np.r_[X, NEW], np.r_[Y, ["a"] * 8]).unlearn(NEW, ["a"] * 8), whole)
    same(make().fit(X, Y, np.full(len(Y), 2)), make().fit(np.r_[X, X], np.r_[Y, Y]))


def test_one_scale_of_smoothing_whatever_the_batches():
    """[[0], [2]] then [[100], [102]]: 2.501e-6 is added in two batches as in one, where scikit-learn adds 1e-9."""
    clf = GaussianNB().partial_fit([[0.0], [2.0]], [0, 1], classes=[0, 1]).partial_fit([[100.0], [102.0]], [0, 1])
    assert clf.epsilon_ == pytest.approx(2.501e-6, rel=1e-14)


def test_one_row_and_a_class_without_rows():
    """[1, 2] -> 0 with classes 0 and 1: certain under the default, which says so; the posterior leaves 1 its share."""
    clf = GaussianNB().partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
    with pytest.warns(UserWarning, match="class 1 has no document and probability 0"):
        assert clf.predict_proba([[1.0, 2.0], [7.0, 7.0]]).tolist() == [[1, 0], [1, 0]]
    assert np.isfinite(clf.epsilon_)
    for estimate in ("mean", "predictive"):
        p = GaussianNB(prior="weak", estimate=estimate).partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
        at, far = p.predict_proba([[1.0, 2.0], [700.0, 700.0]])
        assert at[0] > 2 / 3
        assert far[1] > at[1] > 0
    known = GaussianNB(priors=[0.5, 0.5]).partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="nothing was measured in column 0 of class 1: no map; use prior='weak'"):
        known.predict([[1.0, 2.0]])


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
def test_one_row_of_each_class_is_enough_with_a_prior(name, estimate):
    """Finite probabilities that sum to 1, from single and from identical rows."""
    for rows in (1, 3):
        clf = GaussianNB(prior=PRIORS[name], estimate=estimate).fit(
            np.repeat([[0.0, 1, 2], [4, 1, 2]], rows, 0), [0] * rows + [1] * rows
        )
        np.testing.assert_allclose(clf.predict_proba(NEW).sum(axis=1), 1, rtol=1e-12)
        assert clf.predict([[0.1, 1, 2], [3.9, 1, 2]]).tolist() == [0, 1]


def test_float32_is_accumulated_in_float64():
    """1e8 + {0, 8, 16} in float32 has variance 128/3, where scikit-learn says 106.667."""
    values = np.array([[1e8], [1e8 + 8], [1e8 + 16], [1e8]], np.float32)
    clf = GaussianNB(var_smoothing=0, estimate="map").partial_fit(values[:3], [0, 0, 0], classes=[0])
    assert clf.var_[0, 0] == pytest.approx(128 / 3, rel=1e-15)


def test_missing_cells_are_an_error_or_drop_out():
    """Row and column are named; ignored, a column that is missing everywhere in a document says nothing of it."""
    gap = X.copy()
    gap[4, 1] = np.nan
    frame = pd.DataFrame(gap, columns=["height", "width", "depth"])
    with pytest.raises(ValueError, match=r"contains NaN at row 4, column 'width'.*missing='ignore'"):
        GaussianNB().fit(frame, Y)
    clf = GaussianNB(missing="ignore").fit(frame, Y)
    with pytest.raises(ValueError, match="contains infinity at row 0, column 'depth'"):
        clf.predict(pd.DataFrame([[0, 0, np.inf]], columns=frame.columns))
    document = frame.iloc[[4]]
    alone = GaussianNB(missing="ignore", var_smoothing=clf.epsilon_ / np.var(X[:, [0, 2]], axis=0).max())
    narrow = alone.fit(frame[["height", "depth"]], Y)
    np.testing.assert_allclose(
        clf.predict_proba(document), narrow.predict_proba(document[["height", "depth"]]), rtol=1e-9
    )
    assert clf.posterior_.statistics.n[0].tolist() == [9, 8, 9]
    with pytest.raises(ValueError, match="missing must be one of error, ignore; got 'drop'"):
        GaussianNB(missing="drop").fit(X, Y)


def test_frames_and_nullable_columns_are_read():
    """pandas with NA, polars with null, lists with None: the same totals as NaN in an array."""
    values = [[1.0, None], [2.0, 5.0], [3.0, 7.0]]
    frames = [
        pd.DataFrame(values, columns=["a", "b"]).convert_dtypes(),
        pl.DataFrame(values, schema=["a", "b"], orient="row"),
        np.array(values, dtype=float),
    ]
    for frame in frames:
        s = GaussianNB(missing="ignore").fit(frame, [0, 0, 0]).posterior_.statistics
        assert (s.n.tolist(), s.mean.tolist(), s.M2.tolist()) == ([[3, 2]], [[2, 6]], [[2, 2]])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        GaussianNB().fit(sparse.csr_array(X), Y)


def test_a_failed_call_changes_nothing():
    """An undeclared label, a removal of what was never learnt, a missing cell."""
    clf = GaussianNB(prior="weak").partial_fit(X, Y, classes=["a", "b", "c"])
    before, posterior = clf.predict_joint_log_proba(NEW), clf.posterior_
    for call, match in [
        (lambda: clf.partial_fit(NEW[:1], ["d"]), "do not exist in the initial classes"),
        (lambda: clf.unlearn([[500.0, 0, 0]], ["a"]), "cannot unlearn documents that were not learnt: M2 would be -"),
        (lambda: clf.unlearn(X, ["b"] * 20), "class_count would be -15"),
        (lambda: clf.partial_fit([[np.nan, 0, 0]], ["a"]), "contains NaN"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
        assert clf.posterior_ is posterior
    np.testing.assert_array_equal(clf.predict_joint_log_proba(NEW), before)


def test_class_priors_have_two_names():
    """`priors` and `class_prior` do the same, not both at once; a bad one is refused in scikit-learn's words."""
    given = [0.2, 0.5, 0.3]
    clf = GaussianNB(priors=given).fit(X, Y)
    same(clf, GaussianNB(class_prior=given).fit(X, Y))
    same(clf.with_class_prior({"a": 0.1, "b": 0.1, "c": 0.8}), GaussianNB(priors=[0.1, 0.1, 0.8]).fit(X, Y))
    np.testing.assert_array_equal(clf.class_prior_, given)
    for bad, match in [
        ([0.5, 0.5], "Number of priors must match number of classes"),
        ([-0.5, 0.5, 1.0], "Priors must be non-negative"),
        ([0.5, 0.5, 0.4], "The sum of the priors should be 1"),
    ]:
        with pytest.raises(ValueError, match=match):
            GaussianNB(priors=bad).fit(X, Y)
    with pytest.raises(ValueError, match="two names for one thing"):
        GaussianNB(priors=given, class_prior=given).fit(X, Y)


def test_what_needs_a_posterior_says_so():
    """Intervals, explanations, abstaining, draws and evidence without a prior; estimates of a posterior at the fit."""
    clf = GaussianNB().fit(X, Y)
    asked = [
        lambda: clf.predict_interval(NEW),
        lambda: clf.explain(NEW[0]),
        lambda: clf.predict(NEW, abstain=0.9),
        clf.posterior_.log_evidence,
        clf.posterior_.draw,
        clf.posterior_.mu.interval,
    ]
    for ask in asked:
        with pytest.raises(ValueError, match=r"have no posterior.*give prior='weak'"):
            ask()
    with pytest.raises(ValueError, match="estimate='predictive' needs a posterior"):
        GaussianNB(estimate="predictive").fit(X, Y)
    with pytest.raises(ValueError, match="no token probabilities"):
        clf.token_ratios("a", "b")


def test_intervals_explanations_and_abstaining(tmp_path):
    """From a frame with a gap: by column name with the value, intervals around the estimate, the same from a file."""
    frame = pd.DataFrame(NEW.copy(), columns=["height", "width", "depth"])
    frame.loc[2, "width"] = np.nan
    clf = GaussianNB(prior="weak", missing="ignore").fit(pd.DataFrame(X, columns=frame.columns), Y)
    ends, p = clf.predict_interval(frame, 0.99), clf.predict_proba(frame)
    assert ((ends[..., 0] < p) & (p < ends[..., 1])).all()
    table = clf.explain(frame.iloc[[2]], classes=("a", "b"))
    assert table.index.tolist() == ["(class prior)", "height", "depth"]
    assert table["value"].tolist()[1:] == NEW[2, [0, 2]].tolist()
    joint = clf.predict_joint_log_proba(frame.iloc[[2]])[0]
    assert table["contribution"].sum() == pytest.approx(joint[0] - joint[1], rel=1e-12)
    sure, bold = clf.predict(frame, abstain=0.999), clf.predict(frame, abstain=1e-9)
    assert (bold == clf.predict(frame)).all()
    assert [label for label in sure if label is not None] == [
        b for b, s in zip(bold, sure, strict=True) if s is not None
    ]
    assert None in sure.tolist()
    clf.save(tmp_path / "m")
    scorer = bayesnb.Scorer.load(tmp_path / "m")
    np.testing.assert_array_equal(scorer.predict_interval(frame, 0.99), ends)
    assert scorer.n_known(frame).tolist() == [3, 3, 2, 3, 3, 3, 3, 3]


def test_the_predictive_is_less_sure_than_the_plug_in():
    """Far from the data a Student-t's log-odds grow with the logarithm of the distance, a normal's with its square."""
    far = [[1e3, 0.0, 0.0]]
    odds = {}
    for estimate in ("map", "predictive"):
        joint = GaussianNB(prior="weak", estimate=estimate).fit(X, Y).predict_joint_log_proba(far)[0]
        odds[estimate] = np.ptp(joint)
    assert odds["predictive"] < 100 < 1e4 < odds["map"]


SAVED = [
    {},
    {"priors": [0.2, 0.5, 0.3]},
    *({"prior": prior, "estimate": "mean"} for prior in PRIORS.values()),
    {"prior": NormalInverseGamma(np.zeros((3, 3)), 1, [1.5, 2, 3], 1), "missing": "ignore", "var_smoothing": 0.5},
]


@pytest.mark.parametrize("options", SAVED)
def test_a_saved_model_predicts_the_same_bits_and_goes_on_learning(options, tmp_path):
    """Every form of prior comes back; learning after loading is learning without the break."""
    clf = GaussianNB(**options).fit(X, Y)
    fingerprint = clf.save(tmp_path / "m")
    loaded = bayesnb.load(tmp_path / "m")
    assert type(loaded) is GaussianNB
    assert loaded.save(tmp_path / "again") == fingerprint
    np.testing.assert_array_equal(loaded.predict_joint_log_proba(NEW), clf.predict_joint_log_proba(NEW))
    np.testing.assert_array_equal(bayesnb.Scorer.load(tmp_path / "m").predict_proba(NEW), clf.predict_proba(NEW))
    loaded.partial_fit(NEW, ["a"] * 8), clf.partial_fit(NEW, ["a"] * 8)
    np.testing.assert_array_equal(loaded.predict_joint_log_proba(NEW), clf.predict_joint_log_proba(NEW))


def second(values):
    """An edit that overwrites the second number of an array."""

    def edit(name):
        return lambda f: f.put(name, [1.0, values, *np.ones(7)])

    return edit


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (second(-1.0)("M2"), "M2 would be -1"),
        (second(np.nan)("mean"), "size of mean would be nan"),
        (second(-1.0)("prior.beta0"), "settings: .*beta0 must be above 0"),
        (lambda f: f.document["model"]["settings"].update(missing="drop"), "settings: missing must be one of"),
        (lambda f: f.document["model"]["settings"].update(var_smoothing="x"), "settings: var_smoothing"),
        (
            lambda f: f.document["model"]["settings"].update(prior={"normal_inverse_gamma": [1.0, 1.0]}),
            "settings: prior",
        ),
    ],
)
def test_a_hostile_file_is_refused(edit, match, tmp_path):
    """Totals that cannot be and settings that make no sense, named with the file."""
    normal = NormalInverseGamma(np.zeros((3, 3)), 1, 2, 1)
    GaussianNB(prior=normal, missing="ignore", var_smoothing=0.5).fit(X, Y).save(tmp_path / "m")
    edited(tmp_path / "m", edit)
    with pytest.raises(ValueError, match=f"model file .*m: .*{match}"):
        bayesnb.load(tmp_path / "m")
