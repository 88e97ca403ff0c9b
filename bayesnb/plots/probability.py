"""Pictures of class probabilities: their intervals on the log-odds axis, and whether they are calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import special

from bayesnb import given, validate
from bayesnb.evaluation import reliability_table
from bayesnb.model import class_codes
from bayesnb.plots import canvas

_FLOOR = 1e-300  # smaller probabilities are drawn as arrows


@canvas.drawn
def plot_class_probabilities(
    probabilities: Any,
    intervals: Any,
    names: Sequence[Any] | None = None,
    *,
    classes: Sequence[Any] | None = None,
    target: Any = None,
    truth: Sequence[Any] | None = None,
    level: float = 0.95,
    prior: str = "",
    title: str = "",
) -> Figure:
    """Class probabilities of documents with their credible intervals, on the log-odds axis.

    On that axis 1e-9 and 1 - 1e-9 can be seen; ticks carry probabilities.

    Parameters
    ----------
    probabilities : array_like, shape (n, K)
        P(y = k | x), rows sum to 1.
    intervals : array_like, shape (n, K, 2)
        Lower and upper ends, as `predict_interval` gives them at `level`.
    names : sequence of n names, optional
        Of the documents; by default their numbers.
    classes : sequence of K labels, optional
    target : class label, optional
        The class drawn; by default the last.
    truth : sequence of n labels, optional
        Marks each document by its true class; of more than eight classes the seven most frequent have colours.
    level : float
        Credible level that the intervals have.
    prior : str
        Which prior, for the subtitle, as ``posterior.prior.describe()``.
    title : str, optional

    Returns
    -------
    Figure
        A row a document, in the order given; an end at exactly 0 or 1 is an arrow.

    Raises
    ------
    ValueError
        Shapes that do not fit, no document, a value outside [0, 1], ends out of order, or an unknown class.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> mails = ["free discount", "coffee game"]
    >>> p, ends = tc.predict_proba(mails), tc.predict_interval(mails)
    >>> figure = bayesnb.plot_class_probabilities(p, ends, mails, classes=tc.classes_, target="spam")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['free discount', 'coffee game']
    """
    p, ends = _probabilities(probabilities), given.floats(intervals, "intervals must be numbers")
    _refuse_bad_intervals(ends, p)
    n, k = p.shape
    labels = np.arange(k) if classes is None else _one_each(classes, k, "classes")
    at = k - 1 if target is None else _class_position(labels, target)
    rows = canvas.readable(range(n) if names is None else _one_each(names, n, "names"), limit=40)
    shown = canvas.readable([labels[at]])[0]
    subtitle = (
        f"Dot: probability; line: {validate.percent(validate.level(level))}% credible interval over the parameters."
    )
    subtitle += f" Prior: {prior}" if prior else ""
    fig = canvas.figure(8, 0.75 + 0.25 * n, title or f"Probability of class {shown}", subtitle)
    ax = fig.add_subplot()
    odds = _log_odds(p, at), *(_log_odds(ends[:, :, e], at, opposite=ends[:, :, 1 - e]) for e in (0, 1))
    kinds = None if truth is None else canvas.readable(_one_each(truth, n, "truth"))
    _rows_of_odds(ax, np.column_stack(odds), kinds, canvas.readable(labels))
    ax.set_yticks(range(n), rows)
    ax.set_xlabel(f"P({shown} | document), log-odds scale")
    _odds_ticks(fig, ax)
    return fig


def _probabilities(value: Any) -> np.ndarray:
    p = given.floats(value, "probabilities must be numbers")
    if p.ndim != 2 or not p.size or p.shape[1] < 2:
        raise ValueError(f"probabilities must be (documents, classes), at least one and two; got shape {p.shape}")
    bad = np.argwhere(~((p >= 0) & (p <= 1)))
    if len(bad):
        raise ValueError(
            f"probabilities must lie in [0, 1]; row {bad[0][0]}, column {bad[0][1]} is {p[tuple(bad[0])]:g}"
        )
    off = np.flatnonzero(np.abs(p.sum(axis=1) - 1) > 1e-6)
    if len(off):
        raise ValueError(f"class probabilities of row {off[0]} sum to {p[off[0]].sum():.6g}, not 1; give all classes")
    return p


def _refuse_bad_intervals(ends: np.ndarray, p: np.ndarray) -> None:
    if ends.shape != (*p.shape, 2):
        raise ValueError(f"intervals must have shape {(*p.shape, 2)}, got {ends.shape}; give those of predict_interval")
    good = (ends[..., 0] >= 0) & (ends[..., 0] <= ends[..., 1]) & (ends[..., 1] <= 1)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise ValueError(f"interval of row {row}, column {column} is {ends[row, column].tolist()}: not within [0, 1]")


def _one_each(values: Sequence[Any], n: int, what: str) -> np.ndarray:
    found = np.asarray(values, dtype=object)
    if found.shape != (n,):
        raise ValueError(f"{what} has {found.size} entries, {n} are needed")
    return found


def _class_position(labels: np.ndarray, target: Any) -> int:
    found = np.flatnonzero(labels == target)
    if not len(found):
        raise ValueError(f"class {target!r} is not among the classes {labels.tolist()}")
    return int(found[0])


def _log_odds(p: np.ndarray, at: int, opposite: np.ndarray | None = None) -> np.ndarray:
    value, rest = canvas.with_complement(p, at, opposite)
    with np.errstate(divide="ignore"):
        return np.log10(value) - np.log10(rest)


def _rows_of_odds(ax: Axes, odds: np.ndarray, kinds: list[str] | None, classes: list[str]) -> None:
    finite = odds[np.abs(odds) < -np.log10(_FLOOR)]
    left, right = min(-1.0, finite.min(initial=0)), max(1.0, finite.max(initial=0))
    left, right = left - 0.04 * (right - left), right + 0.04 * (right - left)
    looks, groups = _kinds(kinds, classes, len(odds))
    for y, ((dot, low, high), (tint, mark)) in enumerate(zip(odds, looks, strict=True)):
        ax.plot(np.clip([low, high], left, right), [y, y], color=tint, linewidth=1.8, solid_capstyle="butt")
        if min(low, dot) < left:
            ax.plot([left], [y], marker="<", color=tint, markersize=7, clip_on=False)
        if max(high, dot) > right:
            ax.plot([right], [y], marker=">", color=tint, markersize=7, clip_on=False)
        if left <= dot <= right:
            ax.plot([dot], [y], marker=mark, color=tint, markersize=5.5, clip_on=False)
    ax.axvline(0, color=canvas.MUTED, linewidth=1.2, zorder=1)
    ax.set_xlim(left, right)
    ax.set_ylim(len(odds) - 0.4, -0.6)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0, pad=canvas.ARROW_PAD)
    _legend_of_kinds(ax, groups)


def _odds_ticks(fig: Figure, ax: Axes) -> None:
    """As many ticks as have room: names of documents and the legend may leave the axis little."""
    canvas.lay_out(fig)
    for most in range(8, 0, -1):
        ticks = canvas.decades(*ax.get_xlim(), most)
        ax.set_xticks([canvas.odds_position(e) for e in ticks], [canvas.odds_label(e) for e in ticks])
        if canvas.clear(ax.xaxis):
            return


def _kinds(kinds: list[str] | None, classes: list[str], n: int) -> tuple[list[tuple[str, str]], list[canvas.Group]]:
    """Colour and marker of each row, and what the legend says of them.

    They go by the classes' positions, so that a class looks alike in every picture, whichever documents are shown.
    """
    if kinds is None:
        return [(canvas.colour(0), canvas.marker(0))] * n, []
    names = classes if set(kinds) <= set(classes) else sorted(set(kinds))
    groups = canvas.groups(names, [kinds.count(name) for name in names])
    looks = {names[k]: (group.colour, group.marker) for group in groups for k in group.members}
    seen = [group for group in groups if any(names[k] in kinds for k in group.members)]
    return [looks[kind] for kind in kinds], seen


def _legend_of_kinds(ax: Axes, groups: list[canvas.Group]) -> None:
    for group in groups:
        label = f"truly {group.label}" if len(group.members) == 1 else group.label
        ax.plot([], [], color=group.colour, marker=group.marker, linewidth=1.8, label=label)
    if groups:
        canvas.legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1))


@canvas.drawn
def plot_calibration(y: Any, probabilities: Any, classes: Sequence[Any] | None = None, bins: int = 15) -> Figure:
    """Reliability diagram: how often the most probable class was right, against how probable it was said to be.

    Parameters
    ----------
    y : array_like, shape (n,)
        True labels.
    probabilities : array_like, shape (n, K)
        P(y = k | x), as `predict_proba` gives them for documents the model has not seen.
    classes : sequence of K labels, optional
        Label of each column; by default the sorted labels of y.
    bins : int
        Equal-width bins of the top class's probability on [0, 1].

    Returns
    -------
    Figure
        Accuracy with 95% Jeffreys intervals (Brown, Cai and DasGupta 2001, section 4.3) and, beneath, the number of
        documents in each bin. The title gives the expected calibration error (Guo et al. 2017).

    Raises
    ------
    ValueError
        Shapes that do not fit, no document, a label that is not among the classes, or bins below 1.

    Examples
    --------
    >>> import bayesnb
    >>> papers = bayesnb.load_federalist()
    >>> scored = bayesnb.MultinomialNB(estimate="predictive").fit(papers.X, papers.y).loo(papers.X, papers.y)
    >>> figure = bayesnb.plot_calibration(papers.y, scored.probabilities)
    >>> figure.axes[1].get_xlabel()
    'probability given to the most probable class'
    """
    bins = given.whole(bins, "bins", 1)
    p, y = _probabilities(probabilities), validate.labels(y)
    labels = np.unique(y) if classes is None else validate.labels(classes)
    if len(y) != len(p) or len(labels) != p.shape[1]:
        raise ValueError(f"{len(y)} labels and {len(labels)} classes do not fit probabilities of shape {p.shape}")
    right = p.argmax(axis=1) == class_codes(y, labels)
    n, confidence, accuracy = reliability_table(p.max(axis=1), right, bins).T
    held = n > 0
    ece = float((n[held] * np.abs(confidence - accuracy)[held]).sum() / len(y))
    subtitle = f"{len(y):,} documents, {right.mean():.1%} right, expected calibration error {ece:.3f}"
    fig = canvas.figure(5.2, 5.0, "Calibration of the most probable class", subtitle + ". Bars: 95% Jeffreys intervals")
    upper, lower = fig.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _reliability(upper, confidence[held], accuracy[held], n[held])
    lower.bar((np.arange(bins) + 0.5) / bins, n, width=0.92 / bins, color=canvas.colour(5))
    lower.set_xlim(np.floor(10 / len(labels)) / 10 - 0.02, 1.02)
    lower.set_yscale("symlog", linthresh=1)
    tops = [10**e for e in range(int(np.log10(n.max())) + 1)]
    lower.set_yticks([0, *tops], ["0", *(f"{value:,}" for value in tops)])
    lower.minorticks_off()
    lower.set_ylabel("documents")
    lower.set_xlabel("probability given to the most probable class")
    return fig


def _reliability(ax: Axes, confidence: np.ndarray, accuracy: np.ndarray, n: np.ndarray) -> None:
    hits = np.round(accuracy * n)
    low = np.where(hits > 0, special.betaincinv(hits + 0.5, n - hits + 0.5, 0.025), 0.0)
    high = np.where(hits < n, special.betaincinv(hits + 0.5, n - hits + 0.5, 0.975), 1.0)
    ax.plot([0, 1], [0, 1], color=canvas.MUTED, linewidth=1, linestyle="--", label="calibrated", zorder=0)
    ax.vlines(confidence, low, high, color=canvas.colour(0), linewidth=1.6)
    ax.plot(confidence, accuracy, "o", color=canvas.colour(0), markersize=5, clip_on=False, label="observed in a bin")
    ax.set_ylim(-0.02, 1.02)
    ax.grid()
    ax.set_ylabel("share that was right")
    # above the axes: an interval may lie anywhere within them
    canvas.legend(ax, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)
