"""Pictures show what they are given: rows, ends, names, priors; and they leave nothing behind."""

import io
import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

import bayesnb
from bayesnb import plots
from bayesnb.checks.agreement import check_agreement
from bayesnb.contrast import token_ratios
from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.plots import canvas
from bayesnb.sampling import to_tree

TOKENS = ["free", "$$", "_x^", "meeting", "a\tb", ""]
COUNTS = [[1, 0, 2, 30, 4, 5], [40, 12, 3, 0, 4, 5]]


def posterior(a=2.0, counts=COUNTS, tokens=TOKENS, classes=("ham", "spam"), known=None):
    k = len(counts)
    theta = ClassPrior(known=known) if known is not None else ClassPrior(concentration=np.ones(k))
    prior = multinomial.Prior(theta, np.full(np.shape(counts), a))
    statistics = multinomial.Statistics(np.full(k, 10.0), counts)
    return multinomial.Posterior(prior, statistics, np.array(classes), np.array(tokens, object))


def shown(figure):
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def forest_lines(ax):
    """Ends of each row's interval, by row."""
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_ydata()) == 0]
    return {line.get_ydata()[0]: tuple(line.get_xdata()) for line in lines}


def row_labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def apart(one, other):
    """Whether what is drawn of the one lies nowhere on the other."""
    return not one.get_window_extent().overlaps(other.get_window_extent())


# --- token ratios ---------------------------------------------------------------------------------------------


def test_every_row_of_the_forest_has_the_ends_of_the_table():
    table = token_ratios(posterior(), "spam", "ham")
    ax = plots.plot_ratios(table).axes[0]
    by_label = {canvas.readable([token])[0]: row for token, row in table.iterrows()}
    lines = forest_lines(ax)
    assert len(lines) == len(TOKENS)
    for y, label in enumerate(row_labels(ax)):
        # the axis is in powers of ten of the log ends: rounding only
        np.testing.assert_allclose(lines[y], by_label[label][["lower", "upper"]].astype(float), rtol=1e-12)


def test_rows_are_ordered_by_the_end_of_the_interval_nearest_1():
    table = token_ratios(posterior(), "spam", "ham")
    strength = np.maximum(table["log_lower"], -table["log_upper"])
    expected = canvas.readable(strength.sort_values(ascending=False, kind="stable").index)
    assert row_labels(plots.plot_ratios(posterior()).axes[0]) == expected


def test_top_limits_the_rows_and_tokens_choose_them():
    assert len(row_labels(plots.plot_ratios(posterior(), top=2).axes[0])) == 2
    chosen = plots.plot_ratios(posterior(), "spam", "ham", tokens=["meeting", "$$"]).axes[0]
    assert set(row_labels(chosen)) == {"meeting", "$$"}
    from_table = plots.plot_ratios(token_ratios(posterior(), "spam", "ham"), tokens=["meeting", "$$"]).axes[0]
    assert row_labels(from_table) == row_labels(chosen)


def test_tokens_are_drawn_as_they_are_written():
    figure = plots.plot_ratios(posterior())
    labels = row_labels(figure.axes[0])
    assert {"$$", "_x^", "a\\tb", "''"} <= set(labels)
    assert not any(text.get_parse_math() for text in figure.findobj(Text) if "$" in text.get_text())
    figure.savefig(io.BytesIO(), format="svg")  # mathtext would refuse "$$"


def test_characters_beyond_the_first_font_are_drawn_without_a_warning():
    figure = plots.plot_ratios(posterior(tokens=["自由", "a\u2028", "ไทย", "😀", "é", "x" * 90]))
    figure.savefig(io.BytesIO(), format="png")  # a missing glyph is a warning, and so an error here
    labels = row_labels(figure.axes[0])
    assert "é" in labels
    assert "a\\u2028" in labels
    assert canvas.readable(["a\udc80"]) == ["a\\udc80"]
    assert "x" * 27 + "…" in labels
    assert "自由" in labels or "U+81EAU+7531" in labels  # where no font holds it, its code points


def test_counts_stand_beside_each_row():
    text = shown(plots.plot_ratios(posterior()))
    assert "40/64 vs 1/42" in text
    assert "0/64 vs 30/42" in text


def test_the_figure_says_its_prior_level_and_classes():
    text = shown(plots.plot_ratios(posterior(a=1.5), level=0.8))
    assert "phi ~ Dirichlet(1.5), theta ~ Dirichlet(1)" in text
    assert "80% credible interval" in text
    assert "spam over ham" in text


def test_exchanging_the_classes_mirrors_the_intervals():
    one = forest_lines(plots.plot_ratios(posterior(), "spam", "ham").axes[0])
    other = forest_lines(plots.plot_ratios(posterior(), "ham", "spam").axes[0])
    for y, (low, high) in one.items():
        np.testing.assert_allclose((1 / high, 1 / low), other[y], rtol=1e-9)


def test_ends_that_overflow_become_arrows_and_the_rest_stays_legible():
    table = token_ratios(posterior(), "spam", "ham").iloc[:3].copy()
    table.loc["free", ["log_upper", "upper"]] = [2000.0, np.inf]
    table.loc["$$", ["log_lower", "lower"]] = [-np.inf, 0.0]
    ax = plots.plot_ratios(table).axes[0]
    marks = {line.get_marker() for line in ax.lines}
    assert {"<", ">"} <= marks
    assert max(ax.get_xlim()) < 1e12
    assert min(ax.get_xlim()) > 1e-12


def test_a_median_that_overflows_is_drawn_as_an_arrow():
    table = token_ratios(posterior(), "spam", "ham").iloc[:2].copy()
    table.loc["free", ["ratio_median", "log_lower", "log_upper"]] = [np.inf, 800.0, 900.0]
    ax = plots.plot_ratios(table).axes[0]
    assert ">" in {line.get_marker() for line in ax.lines}


@pytest.mark.parametrize(
    ("classes", "token"),
    [
        (("ham", "spam"), "free"),
        (("talk.politics.mideast", "talk.politics.guns.weapons"), "free"),
        (("talk.politics.mideast", "talk.politics.guns.weapons"), "a token of thirty characters at the least"),
        (("{0}" * 13, "W" * 40), "W" * 40),
        (("{0}" * 13, "W" * 40), "自由" * 20),
    ],
)
@pytest.mark.parametrize("unit", [1, 10**4])
def test_texts_of_ratios_overlap_nowhere_and_lie_within_the_picture(classes, token, unit):
    """Long names of classes and tokens, and counts of many digits, which leave the axis little room."""
    model = posterior(counts=np.multiply(COUNTS, unit), classes=classes, tokens=[token, *TOKENS[1:]])
    table = token_ratios(model, classes[1], classes[0])
    table.loc[token, ["log_lower", "log_upper"]] = -np.inf, np.inf
    figure = plots.plot_ratios(table)
    ax = figure.axes[0]
    drawn = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label]
    drawn += [line for line in ax.lines if line.get_marker() in ("<", ">")]
    for one, other in itertools.combinations(drawn, 2):
        assert apart(one, other), (one, other)
    for text in drawn:
        extent = text.get_window_extent()
        assert figure.bbox.x0 <= extent.x0 < extent.x1 <= figure.bbox.x1, text
    texts = shown(figure)
    assert all(words in texts for words in ("more in", "n/N in", "(log scale; 1 = equally frequent)"))
    assert ax.get_window_extent().width > 0.25 * figure.bbox.width
    if max(map(len, classes)) < 28:
        assert texts.count(classes[0]) >= 2  # in the title and beside its arrow or below the axis


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.plot_ratios("text"), "fitted estimator"),
        (lambda: plots.plot_ratios(posterior(), top=0), "top must be"),
        (lambda: plots.plot_ratios(posterior(), level=2), "level must lie"),
        (lambda: plots.plot_ratios(posterior(), "spam", "eggs"), "eggs"),
        (lambda: plots.plot_ratios(posterior(), tokens=["nothere"]), "nothere"),
        (lambda: plots.plot_ratios(token_ratios(posterior(), "spam", "ham"), tokens=["nothere"]), "nothere"),
        (lambda: plots.plot_ratios(pd.DataFrame({"a": [1]})), "no column 'ratio_median'"),
        (lambda: plots.plot_ratios(token_ratios(posterior(), "spam", "ham").iloc[:0]), "no token"),
    ],
)
def test_bad_input_to_ratios_is_named_in_one_line(call, words):
    with pytest.raises(ValueError, match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_more_than_two_classes_must_be_named():
    three = posterior(counts=[*COUNTS, [3, 3, 3, 3, 3, 3]], classes=("a", "b", "c"))
    with pytest.raises(ValueError, match=r"there are 3 classes: name two, .*; or a numerator, against the others"):
        plots.plot_ratios(three)
    with pytest.raises(ValueError, match="name two"):
        plots.plot_ratios(three, denominator="a")
    with pytest.raises(ValueError, match="has only 'a'"):
        plots.plot_ratios(posterior(counts=[COUNTS[0]], classes=("a",)))
    with pytest.raises(ValueError, match="every pair"):
        plots.plot_ratios(token_ratios(three, None, None))
    assert "c over a" in shown(plots.plot_ratios(three, "c", "a"))
    assert "c over rest" in shown(plots.plot_ratios(three, "c"))


# --- estimates ------------------------------------------------------------------------------------------------


def test_map_equals_laplace_under_the_default_prior_and_the_figure_says_by_how_much():
    model = posterior(a=2.0)
    figure = plots.plot_map_vs_laplace(model)
    gap = np.abs(model.phi_hat("map") - (np.array(COUNTS) + 1) / (np.sum(COUNTS, 1, keepdims=True) + 6)).max()
    assert gap < 1e-15  # one formula by two routes
    assert f"largest |MAP − Laplace|: {canvas.short(gap)}" in shown(figure)
    assert "phi ~ Dirichlet(2)" in shown(figure)


def test_another_pseudo_count_shows_its_difference():
    model = posterior(a=2.0)
    gap = np.abs(model.phi_hat("map") - (np.array(COUNTS) + 3) / (np.sum(COUNTS, 1, keepdims=True) + 18)).max()
    assert gap > 0.01
    assert f"largest |MAP − Laplace|: {canvas.short(gap)}" in shown(plots.plot_map_vs_laplace(model, alpha=3))


def test_estimates_of_zero_are_counted_not_dropped_in_silence():
    model = posterior(a=1.0)  # the mode of an unseen token is 0
    assert "2 at 0 not drawn" in shown(plots.plot_map_vs_laplace(model))


@pytest.mark.parametrize("k", [2, 3, 8, 9, 60])
def test_classes_beyond_eight_are_grey_and_the_legend_keeps_clear_of_points_and_heads(k):
    """Class i has (i + 1) times the tokens of class 0, so of many the last seven are named."""
    model = posterior(counts=[[i + 1] * 6 for i in range(k)], classes=[f"comp.os.ms-windows {i}" for i in range(k)])
    figure = plots.plot_map_vs_laplace(model)
    left, right = figure.axes
    looks = [(*c.get_facecolor()[0][:3], c.get_paths()[0].vertices.tobytes()) for c in left.collections]
    assert len(set(looks)) == len(looks) == min(k, 8)
    assert sum(len(c.get_offsets()) for c in left.collections) == 6 * k
    named = range(k) if k <= 8 else range(k - 7, k)
    expected = [f"comp.os.ms-windows {i}" for i in named] + [f"{k - 7} other classes"] * (k > 8) + ["equal"]
    legend = left.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == expected
    points = np.concatenate([left.transData.transform(c.get_offsets()) for c in left.collections])
    assert not any(legend.get_window_extent().contains(*point) for point in points)
    for other in (*figure.texts, right, right.yaxis.label, *([left] if k > 3 else [])):
        assert apart(legend, other)
    assert right._left_title.get_window_extent().x1 <= figure.bbox.x1  # Matplotlib has no other name for it


def test_no_mode_is_an_error_for_the_map_picture_and_a_remark_for_shrinkage():
    model = posterior(a=0.5)
    with pytest.raises(ValueError, match="has no mode"):
        plots.plot_map_vs_laplace(model)
    assert "no mode" in shown(plots.plot_shrinkage(model))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_shrinkage_has_a_panel_a_class(k):
    model = posterior(counts=[[5, 1, 0, 2, 3, 9]] * k, classes=[f"c$_{i}$" for i in range(k)])
    figure = plots.plot_shrinkage(model)
    assert [ax.get_title() or ax.get_title(loc="left") for ax in figure.axes] == [f"c$_{i}$" for i in range(k)]


def test_of_many_classes_those_with_most_tokens_have_panels():
    X = np.ones((20, 3), int) * np.arange(1, 21)[:, None]
    figure = bayesnb.plot_shrinkage(bayesnb.MultinomialNB().fit(X, [f"c{i:02}" for i in range(20)]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == [f"c{i:02}" for i in range(8, 20)]


def test_an_axis_of_estimates_that_are_all_alike_has_ticks_to_read_them_by():
    clf = bayesnb.MultinomialNB().fit(np.ones((4, 8), int), ["a", "b"] * 2)
    left = bayesnb.plot_map_vs_laplace(clf).axes[0]
    ticks = [float(label.get_text()) for label in left.get_xticklabels()]
    low, high = left.get_xlim()
    assert len(ticks) >= 2 and all(low <= tick <= high for tick in ticks) and min(ticks) <= 1 / 8 <= max(ticks)


@pytest.mark.parametrize("truth", [["spam", "spam"], ["ham", "spam"]])
def test_a_class_looks_alike_whichever_documents_are_shown(truth):
    p = np.array([[0.3, 0.7], [0.4, 0.6]])
    figure = bayesnb.plot_class_probabilities(p, np.stack([p, p], axis=2), classes=["ham", "spam"], truth=truth)
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == "truly spam"]
    assert (line.get_color(), line.get_marker()) == (canvas.colour(1), canvas.marker(1))


def test_shrinkage_draws_mean_and_mode_times_the_total():
    model = posterior()
    ax = plots.plot_shrinkage(model).axes[0]
    clouds = {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections if "vlines" not in str(type(c))}
    n, total = np.array(COUNTS[0]), sum(COUNTS[0])
    for label, estimate in (("posterior mean", "mean"), ("MAP", "map")):
        expected = {(a, round(b, 9)) for a, b in zip(n, model.phi_hat(estimate)[0] * total, strict=True)}
        assert {(a, round(b, 9)) for a, b in clouds[label]} == expected


def test_pictures_of_estimates_know_the_bernoulli_model():
    prior = bernoulli.Prior.resolve(ClassPrior(concentration=np.ones(2)), None, 1.0, "map", (2, 3))
    model = bernoulli.Posterior(prior, bernoulli.Statistics([4, 6], [[1, 0, 4], [6, 2, 0]]))
    figure = plots.plot_map_vs_laplace(model)
    assert "Beta(2, 2)" in shown(figure)
    gap = np.abs(model.phi_hat("map") - (model.statistics.feature_count + 1) / np.array([[6], [8]])).max()
    assert f"largest |MAP − Laplace|: {canvas.short(gap)}" in shown(figure)
    assert "documents that hold the token" in shown(plots.plot_shrinkage(model))


# --- class probabilities --------------------------------------------------------------------------------------


def two_class(odds, low, high):
    """Probabilities and ends (n, 2), (n, 2, 2) from natural log-odds of the second class, small sides exact."""

    def expit(a):
        return 1 / (1 + np.exp(-np.asarray(a, float)))

    p = np.stack([expit(-np.asarray(odds)), expit(odds)], axis=1)
    first = np.stack([expit(-np.asarray(high)), expit(-np.asarray(low))], axis=1)
    return p, np.stack([first, np.stack([expit(low), expit(high)], axis=1)], axis=1)


def test_intervals_stand_on_the_log_odds_axis_however_near_1():
    odds = np.array([-20.0, 0.5, 60.0])
    p, ends = two_class(odds, odds - 2, odds + 3)
    assert p[2, 1] == 1.0  # rounding hides it; its complement does not
    lines = forest_lines(plots.plot_class_probabilities(p, ends).axes[0])
    for y, middle in enumerate(odds):
        np.testing.assert_allclose(lines[y], np.array([middle - 2, middle + 3]) / np.log(10), rtol=1e-9)


def test_the_other_class_mirrors_the_picture():
    odds = np.array([-5.0, 1.0])
    p, ends = two_class(odds, odds - 1, odds + 2)
    one = forest_lines(plots.plot_class_probabilities(p, ends, classes=["h", "m"], target="m").axes[0])
    other = forest_lines(plots.plot_class_probabilities(p, ends, classes=["h", "m"], target="h").axes[0])
    for y in one:
        np.testing.assert_allclose(one[y], -np.array(other[y])[::-1], rtol=1e-9)


def test_a_probability_of_exactly_1_is_an_arrow():
    p, ends = np.array([[0.0, 1.0], [0.4, 0.6]]), np.array([[[0, 0], [1, 1]], [[0.3, 0.5], [0.5, 0.7]]], float)
    ax = plots.plot_class_probabilities(p, ends).axes[0]
    assert [line.get_marker() for line in ax.lines].count(">") == 1
    assert np.isfinite(ax.get_xlim()).all()


def test_an_arrow_at_the_axis_keeps_clear_of_the_names_of_documents():
    """Both ends beyond the axis, names of any length."""
    p, ends = np.array([[0.4, 0.6], [0.3, 0.7]]), np.array([[[0, 1], [0, 1]], [[0.1, 0.5], [0.5, 0.9]]], float)
    ax = plots.plot_class_probabilities(p, ends, ["a name of more than thirty characters", "b"], truth=["s", "h"]).axes[
        0
    ]
    left, right = (next(line for line in ax.lines if line.get_marker() == mark) for mark in "<>")
    assert all(apart(left, label) for label in ax.get_yticklabels())
    assert apart(right, ax.get_legend())


@pytest.mark.parametrize("odds", [3.0, 25.0, 66.0, 600.0])
@pytest.mark.parametrize("name", ["d", "a name of more than thirty characters"])
def test_ticks_of_probabilities_stand_apart_and_some_remain(odds, name):
    """However sure a document is, and however little room its name and the legend leave."""
    p, ends = two_class([-odds, odds], [-odds - 2, odds - 2], [2 - odds, odds + 2])
    ax = plots.plot_class_probabilities(p, ends, [name, "b"], truth=["talk.politics.mideast", "h"]).axes[0]
    labels = ax.get_xticklabels()
    assert len(labels) >= 3
    assert "0.5" in [label.get_text() for label in labels]
    boxes = [label.get_window_extent() for label in labels]
    assert min(b.x0 - a.x1 for a, b in itertools.pairwise(boxes)) > boxes[0].height / 2  # about two spaces


def test_document_names_truth_prior_and_level_are_shown():
    p, ends = two_class([1.0, -1.0], [0.0, -2.0], [2.0, 0.0])
    figure = plots.plot_class_probabilities(
        p, ends, ["No. 49", "$x$"], classes=["h", "m"], truth=["m", "h"], level=0.9, prior="phi ~ Dirichlet(2)"
    )
    text = shown(figure)
    assert row_labels(figure.axes[0]) == ["No. 49", "$x$"]
    assert "90% credible interval" in text
    assert "phi ~ Dirichlet(2)" in text
    assert {t.get_text() for t in figure.axes[0].get_legend().get_texts()} == {"truly h", "truly m"}


def test_of_more_than_eight_true_classes_the_most_frequent_are_told_apart():
    """Nine classes, the first two of one document each: they are grey, with one entry in the legend."""
    truth = ["a", "b", *"cdefghi", *"cdefghi"]
    p, ends = two_class(np.zeros(16), np.full(16, -1.0), np.ones(16))
    ax = plots.plot_class_probabilities(p, ends, truth=truth).axes[0]
    dots = [line for line in ax.lines if len(line.get_xdata()) == 1]
    looks = {kind: (dot.get_color(), dot.get_marker()) for kind, dot in zip(truth, dots, strict=True)}
    assert len(set(looks.values())) == 8
    assert looks["a"] == looks["b"]
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == [*(f"truly {kind}" for kind in "cdefghi"), "2 other classes"]
    lines = [(line.get_color(), line.get_marker()) for line in ax.get_legend().get_lines()]
    assert lines == [looks[kind] for kind in "cdefghia"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"probabilities": [[0.5, 0.6]]}, "sum to 1.1"),
        ({"probabilities": [[0.5, np.nan]]}, "row 0, column 1 is nan"),
        ({"probabilities": [0.5]}, "documents, classes"),
        ({"intervals": [[[0.1, 0.2]]]}, "intervals must have shape"),
        ({"intervals": [[[0.6, 0.4], [0.4, 0.6]]]}, "interval of row 0, column 0"),
        ({"names": ["a", "b"]}, "names has 2 entries, 1 are needed"),
        ({"classes": ["a", "b"], "target": "c"}, "class 'c' is not among"),
        ({"level": 95}, "level must lie"),
    ],
)
def test_bad_class_probabilities_are_named_in_one_line(change, words):
    good = {"probabilities": [[0.5, 0.5]], "intervals": [[[0.4, 0.6], [0.4, 0.6]]]}
    with pytest.raises(ValueError, match=words) as error:
        plots.plot_class_probabilities(**(good | change))
    assert "\n" not in str(error.value)


# --- calibration ----------------------------------------------------------------------------------------------


def test_calibration_draws_accuracy_counts_and_jeffreys_intervals():
    p = np.array([[0.95, 0.05]] * 10 + [[0.3, 0.7]] * 4)
    y = ["a"] * 9 + ["b"] + ["b"] * 2 + ["a"] * 2
    figure = plots.plot_calibration(y, p, bins=10)
    upper, lower = figure.axes
    dots = next(line for line in upper.lines if line.get_marker() == "o")
    np.testing.assert_allclose(dots.get_xydata(), [[0.7, 0.5], [0.95, 0.9]])
    assert [bar.get_height() for bar in lower.patches if bar.get_height()] == [4, 10]
    # Jeffreys, Beta(9.5, 1.5) at 2.5% and 97.5%, by scipy.stats.beta.ppf
    np.testing.assert_allclose(upper.collections[0].get_segments()[1][:, 1], [0.6187, 0.9890], atol=5e-5)
    ece = (4 * 0.2 + 10 * 0.05) / 14
    assert f"expected calibration error {ece:.3f}" in shown(figure)
    assert "14 documents, 78.6% right" in shown(figure)


def test_the_legend_of_calibration_lies_on_no_data_and_no_head():
    """Bins across the whole axis, of many and of few documents."""
    p = np.linspace(0.5, 1, 60)
    figure = plots.plot_calibration(["a", "b", "a"] * 20, np.column_stack([p, 1 - p]))
    upper = figure.axes[0]
    for other in (upper.patch, *upper.lines, *figure.texts):  # bars end with the axes, dots are drawn whole
        assert apart(upper.get_legend(), other)
    assert upper.get_legend().get_window_extent().x0 > 0


@pytest.mark.parametrize(
    ("y", "p", "options", "words"),
    [
        (["a"], [[0.5, 0.5]], {}, "do not fit"),
        (["a", "b"], [[0.5, 0.5]], {}, "do not fit"),
        (["c"], [[0.5, 0.5]], {"classes": ["a", "b"]}, "c"),
        (["a"], [[0.5, 0.5]], {"classes": ["a", "b"], "bins": 0}, "bins must be"),
        ([None], [[0.5, 0.5]], {"classes": ["a", "b"]}, "missing label"),
    ],
)
def test_bad_calibration_input_is_named(y, p, options, words):
    with pytest.raises(ValueError, match=words):
        plots.plot_calibration(y, p, **options)


# --- draws ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree():
    return to_tree(posterior(), draws=500, seed=0)


def test_bars_have_the_area_and_curves_the_mean_of_the_posterior(tree):
    figure = plots.plot_agreement(tree, posterior(), parameters=[("phi", "spam", "$$"), ("theta", "ham")])
    phi, theta, _ = figure.axes
    for ax, mean in ((phi, posterior().phi.mean()[1, 1]), (theta, posterior().theta.mean()[0])):
        assert sum(bar.get_width() * bar.get_height() for bar in ax.patches) == pytest.approx(1)
        curve, line = ax.lines
        x, density = curve.get_data()
        assert np.trapezoid(density, x) == pytest.approx(1, abs=1e-3)  # drawn over 99.98% of it
        assert np.trapezoid(x * density, x) == pytest.approx(mean, rel=2e-3)
        assert line.get_xdata()[0] == pytest.approx(mean)


def test_every_z_score_is_drawn_against_the_threshold(tree):
    check = check_agreement(tree, posterior())
    ax = plots.plot_agreement(tree, posterior(), agreement=check).axes[-1]
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    np.testing.assert_array_equal(np.sort(check.table["z"]), dots.get_xdata())
    assert {line.get_xdata()[0] for line in ax.lines if line is not dots} == {check.threshold, -check.threshold}


def test_the_worst_parameter_and_the_most_probable_token_are_chosen(tree):
    check = check_agreement(tree, posterior())
    worst = check.table.iloc[int(check.table["z"].abs().argmax())]
    titles = [ax.get_title(loc="left") for ax in plots.plot_agreement(tree, posterior(), agreement=check).axes]
    name = [worst["class"], *canvas.readable([worst["token"]])] if worst["parameter"] == "phi" else [worst["class"]]
    assert f"{worst['parameter']}: {', '.join(name)}" in titles
    assert "phi: ham, meeting" in titles  # 30 of 42, the largest phi


def test_the_verdict_is_in_the_title(tree):
    assert "agree" in plots.plot_agreement(tree, posterior()).get_suptitle()
    other = posterior(counts=np.multiply(COUNTS, 3))
    assert "do not agree" in plots.plot_agreement(tree, other).get_suptitle()


def test_draws_of_chosen_tokens_are_compared_with_the_lumped_posterior():
    small = to_tree(posterior(), draws=500, tokens=["free", "meeting"])
    figure = plots.plot_agreement(small, posterior(), parameters=[("phi", "ham", "other")])
    assert figure.get_suptitle() == "Closed form and draws agree"
    # the other four tokens: 2 + 0 + 2 + 2 + 2 + 4 + 2 + 5 of 42 + 6 * 2
    assert figure.axes[0].lines[1].get_xdata()[0] == pytest.approx(19 / 54)
    assert "phi ~ Dirichlet(2)" in " ".join(shown(figure).split())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ([], "parameters is empty"),
        ([("mu", "ham")], "not in the draws"),
        ([("phi", "ham")], "not in the draws"),
        ([("phi", "ham", "nothere")], "no token 'nothere'"),
        ([("theta", "eggs")], "no class 'eggs'"),
    ],
)
def test_unknown_parameters_are_named(tree, parameters, words):
    with pytest.raises(ValueError, match=words):
        plots.plot_agreement(tree, posterior(), parameters=parameters)


# --- all pictures ---------------------------------------------------------------------------------------------


def test_pictures_need_no_pyplot_and_leave_settings_alone():
    code = (
        "import sys, matplotlib\n"
        "matplotlib.rcParams.update({'font.size': 33, 'axes.facecolor': 'black'})\n"
        "before = matplotlib.rcParams.copy()\n"
        "import numpy as np\n"
        "from bayesnb import plots\n"
        "figure = plots.plot_calibration(['a', 'b'], np.array([[.9, .1], [.2, .8]]))\n"
        "assert matplotlib.rcParams.copy() == before\n"
        "assert figure.axes[0].get_facecolor()[:3] == (1, 1, 1)\n"
        "assert figure.axes[0].get_yticklabels()[0].get_fontsize() < 12\n"
        "print([m for m in ('matplotlib.pyplot', 'pymc', 'arviz', 'sklearn') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_axes_have_labels_and_text_is_not_tiny():
    p, ends = two_class([1.0, -1.0], [0.0, -2.0], [2.0, 0.0])
    for figure in (
        plots.plot_ratios(posterior()),
        plots.plot_map_vs_laplace(posterior()),
        plots.plot_shrinkage(posterior()),
        plots.plot_class_probabilities(p, ends),
        plots.plot_calibration(["a", "b"], p),
    ):
        assert figure.get_suptitle()
        assert figure.axes[-1].get_xlabel()
        assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 8


@pytest.mark.parametrize("exponent", [-9, -3, -1, 0, 1, 2, 12])
def test_a_tick_of_the_odds_axis_stands_where_its_probability_is(exponent):
    odds = 10.0 ** canvas.odds_position(exponent)
    small = min(odds, 1 / odds) / (1 + min(odds, 1 / odds))
    assert small == pytest.approx(0.5 if exponent == 0 else 10.0 ** -abs(exponent), rel=1e-9)


def test_styles_of_the_user_come_back_after_an_error():
    before = matplotlib.rcParams.copy()
    with pytest.raises(ValueError, match="fitted"):
        plots.plot_shrinkage(None)
    assert matplotlib.rcParams.copy() == before


def test_the_picture_of_one_parameter_draws_its_prior_likelihood_and_posterior():
    """Toy spam: 'free' is 2 of 15 in spam, prior Dirichlet(2) over 14 tokens: Beta(2, 26) becomes Beta(4, 39)."""
    corpus = bayesnb.load_toy_spam()
    clf = bayesnb.TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    lines = {line.get_label(): line for line in bayesnb.plot_parameter(clf, "spam", "free").axes[0].lines}
    for name, law in {
        "posterior": stats.beta(4, 39),
        "prior": stats.beta(2, 26),
        "likelihood, scaled": stats.beta(3, 14),
    }.items():
        phi, density = lines[name].get_data()
        np.testing.assert_allclose(density, law.pdf(phi), rtol=1e-10)


def test_the_parameter_of_a_category_is_counted_within_its_column():
    """Two documents of 's', both 'a': Beta(2, 2) becomes Beta(4, 2), though each document has another column too."""
    clf = bayesnb.CategoricalNB().fit([["a", "x"], ["b", "x"], ["a", "y"], ["a", "x"]], ["h", "h", "s", "s"])
    figure = bayesnb.plot_parameter(clf, "s", clf.posterior_.tokens[0])
    assert "Seen 2 times in 2. Prior Beta(2, 2); posterior Beta(4, 2)" in " ".join(t.get_text() for t in figure.texts)


def test_a_parameter_that_the_model_does_not_have_is_refused_by_name():
    """The message says what was asked for."""
    corpus = bayesnb.load_toy_spam()
    clf = bayesnb.TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    with pytest.raises(ValueError, match="'gin' is not among"):
        bayesnb.plot_parameter(clf, "spam", "gin")


def test_learning_curve_bands_are_the_jeffreys_intervals_of_the_error_rate():
    """Bands against SciPy's Beta quantiles; zero errors included."""
    figure = bayesnb.plot_learning_curve([50, 400], {"a": [30, 0]}, 800)
    band = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    expected = stats.beta(np.array([30.5, 0.5])[:, None], np.array([770.5, 800.5])[:, None]).ppf([0.025, 0.975])
    for end in expected.ravel():
        assert np.abs(band - end).min() < 1e-9


def test_twenty_learning_curves_are_told_apart_and_the_legend_lies_on_none():
    """Colours begin again at the ninth, with another marker."""
    ax = bayesnb.plot_learning_curve([50, 400], {f"c{i}": [20 + i, i] for i in range(20)}, 800).axes[0]
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 20
    assert all(apart(ax.get_legend(), other) for other in (ax.patch, *ax.figure.texts))
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1


@pytest.mark.parametrize("wrong", [[1], [1, 801], [1, -1]])
def test_a_learning_curve_refuses_errors_that_cannot_be(wrong):
    """Of another length, or not between 0 and the number of test documents."""
    with pytest.raises(ValueError, match="errors of 'a'"):
        bayesnb.plot_learning_curve([50, 400], {"a": wrong}, 800)


def test_a_notebook_shows_a_picture_without_pyplot():
    """What IPython asks an object for: a PNG."""
    picture = plots.plot_ratios(posterior(), "spam", "ham")._repr_png_()
    assert picture.startswith(b"\x89PNG")
