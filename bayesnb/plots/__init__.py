"""Pictures of a fitted model, each a Matplotlib `Figure`; save one with ``figure.savefig(path)``.

Token ratios are drawn here; estimates, probabilities and draws in the modules imported below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from bayesnb import contrast, given, validate
from bayesnb.plots import canvas
from bayesnb.plots.agreement import plot_agreement
from bayesnb.plots.estimates import plot_map_vs_laplace, plot_shrinkage
from bayesnb.plots.learning import plot_learning_curve, plot_parameter
from bayesnb.plots.probability import plot_calibration, plot_class_probabilities
from bayesnb.plots.ranks import plot_ranks

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "plot_agreement",
    "plot_calibration",
    "plot_class_probabilities",
    "plot_learning_curve",
    "plot_map_vs_laplace",
    "plot_parameter",
    "plot_ranks",
    "plot_ratios",
    "plot_shrinkage",
]

_FARTHEST = 300.0  # decades; beyond them a ratio overflows
_MARGIN = 2.4  # inches that names may take at either side of the axis
_BEYOND = 6.0  # decades that an interval may reach past all medians before it becomes an arrow


@canvas.drawn
def plot_ratios(
    model: Any,
    numerator: Any = None,
    denominator: Any = None,
    top: int = 20,
    level: float = 0.95,
    tokens: Iterable[Any] | None = None,
) -> Figure:
    """Forest plot of token ratios phi_numerator / phi_denominator with credible intervals.

    Tokens are ordered by how far their whole interval lies from 1, max(log lower, -log upper); the first are on top.
    At the right stand the raw counts, ``n/N`` in the numerator's and the denominator's class.

    Parameters
    ----------
    model : fitted estimator, posterior, or DataFrame
        A DataFrame is a table of `token_ratios`, whose interval is drawn as it is.
    numerator, denominator : class labels
        Without `denominator` the numerator is compared with all other classes pooled. Both may be left out where the
        model has two classes: the second is then compared with the first.
    top : int
        Rows at most.
    level : float
        Credible level of the intervals, where the model is no table already.
    tokens : iterable, optional
        Only these tokens.

    Returns
    -------
    Figure
        An interval that goes beyond the axis ends in an arrow.

    Raises
    ------
    ValueError
        Unknown class or token, no token to draw, or a table without the columns of `token_ratios`.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesnb
    >>> papers = bayesnb.load_federalist()
    >>> table = pd.DataFrame(papers.X.toarray(), columns=papers.tokens)
    >>> clf = bayesnb.MultinomialNB().fit(table, papers.y)
    >>> figure = bayesnb.plot_ratios(clf, "HAMILTON", "MADISON", top=5)
    >>> figure.savefig("ratios.png")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['upon', 'whilst', 'kind', 'consequently', 'although']
    """
    top = given.whole(top, "top", 1)
    table = _ratio_table(model, numerator, denominator, level, tokens)
    table = contrast.surest_first(table).head(top)
    told: dict[Any, Any] = {"numerator": "numerator", "denominator": "denominator"}
    told |= {"level": level, "prior": "not recorded in the table"} | table.attrs
    names = canvas.readable([told["numerator"], told["denominator"]])
    interval = f"{validate.percent(told['level'])}% credible interval (black: holds 1)"
    subtitle = f"Dot: median; line: {interval}. Prior: {told['prior']}"
    fig = canvas.figure(8, 0.85 + 0.24 * len(table), f"Token probability in {names[0]} over {names[1]}", subtitle)
    ax = fig.add_subplot()
    _forest(ax, table)
    _fit_names(fig, ax, names, _counts_at_margin(ax, table))
    return fig


def _ratio_table(model: Any, numerator: Any, denominator: Any, level: float, tokens: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(model, pd.DataFrame):
        missing = [name for name in ("ratio_median", "log_lower", "log_upper", "count_num") if name not in model]
        if missing:
            raise ValueError(f"the table has no column {missing[0]!r}; give one made by token_ratios")
        if model.index.nlevels > 1:
            raise ValueError("the table holds every pair of classes; give the table of one, token_ratios(a, b)")
        return model if tokens is None else _chosen(model, tokens)
    posterior = canvas.posterior_of(model)
    if numerator is None and denominator is None and len(posterior.classes) == 2:
        denominator, numerator = posterior.classes.tolist()
    k = len(posterior.classes)
    if numerator is None and k > 1:
        raise ValueError(
            f"there are {k} classes: name two, numerator and denominator; or a numerator, against the others"
        )
    return contrast.token_ratios(posterior, numerator, denominator, level=level, tokens=tokens)


def _chosen(table: pd.DataFrame, tokens: Iterable[Any]) -> pd.DataFrame:
    wanted = list(tokens)
    absent = [token for token in wanted if token not in table.index]
    if absent:
        raise ValueError(f"token {absent[0]!r} is not in the table; choose among its index")
    return table.loc[wanted]


def _forest(ax: Axes, table: pd.DataFrame) -> None:
    low, high = (table[name].to_numpy(float) / np.log(10) for name in ("log_lower", "log_upper"))
    with np.errstate(divide="ignore"):
        median = np.clip(np.log10(table["ratio_median"].to_numpy(float)), low, high)
    window = _window(low, median, high)
    ax.set_xlim(10.0 ** window[0], 10.0 ** window[1])  # first of all: a log axis that fits itself may overflow
    ax.set_xscale("log")
    y = np.arange(len(table))
    for i in range(len(table)):
        tint = canvas.colour(0 if low[i] > 0 else 1 if high[i] < 0 else 6)
        _interval(ax, i, (low[i], median[i], high[i]), window, tint)
    ax.axvline(1, color=canvas.MUTED, linewidth=1.2, zorder=1)
    canvas.log_ticks(ax.xaxis, *window)  # before any layout: Matplotlib's own ticks overflow on a very long axis
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_yticks(y, canvas.readable(table.index))
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0, pad=canvas.ARROW_PAD)


def _window(low: np.ndarray, median: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Decades to show: all medians and 1, and intervals unless they reach far past every median."""
    left, right = min(0.0, median.min()), max(0.0, median.max())
    left = max(np.min(low, initial=left), left - _BEYOND, -_FARTHEST)
    right = min(np.max(high, initial=right), right + _BEYOND, _FARTHEST)
    margin = min(0.04 * (right - left) + 0.02, 1.0)
    return left - margin, right + margin


def _interval(ax: Axes, y: int, at: tuple[float, float, float], window: tuple[float, float], tint: str) -> None:
    """One row, positions in decades: a line with its dot, and an arrow at an end that lies outside."""
    low, median, high = (10.0 ** np.clip(value, *window) for value in at)
    ax.plot([low, high], [y, y], color=tint, linewidth=1.6, solid_capstyle="butt")
    if at[0] < window[0]:
        ax.plot([low], [y], marker="<", color=tint, markersize=7, clip_on=False)
    if at[2] > window[1]:
        ax.plot([high], [y], marker=">", color=tint, markersize=7, clip_on=False)
    if window[0] <= at[1] <= window[1]:
        ax.plot([median], [y], marker="o", color=tint, markersize=5)


def _counts_at_margin(ax: Axes, table: pd.DataFrame) -> list[Text]:
    cells = []
    for i, row in enumerate(table[["count_num", "total_num", "count_den", "total_den"]].itertuples(index=False)):
        text = f"{row[0]:,.6g}/{row[1]:,.7g} vs {row[2]:,.6g}/{row[3]:,.7g}"
        cells.append(ax.text(1.03, i, text, color=canvas.MUTED, **_beside(ax)))
    return cells


def _beside(ax: Axes) -> dict[str, Any]:
    return {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 8.5}


def _fit_names(fig: Figure, ax: Axes, names: list[str], cells: list[Text]) -> None:
    """Above the rows which side is which class; names, whole in the title, are cut where they have too little room."""
    head, tail = "n/N in {} vs {}", "probability ratio {} / {} (log scale; 1 = equally frequent)"
    sides: tuple[tuple[str, list[str], dict[str, Any]], ...] = (
        ("more in {} →", names[:1], {"x": 1, "ha": "right", "color": canvas.colour(0)}),
        ("← more in {}", names[1:], {"x": 0, "color": canvas.colour(1)}),
    )
    heads = [ax.text(y=-0.95, s=words.format(*own), **_beside(ax), **style) for words, own, style in sides]
    counted = ax.text(1.03, -0.95, head.format(*names), color=canvas.INK, **_beside(ax))
    for text in (*heads, counted):
        text.set_in_layout(False)
    canvas.lay_out(fig)
    for label in (rows := ax.get_yticklabels()):
        canvas.fit(label, "{}", [label.get_text()], _MARGIN * fig.dpi)
    ax.set_yticks(ax.get_yticks(), [label.get_text() for label in rows])
    canvas.fit(counted, head, names, max(_MARGIN * fig.dpi, *(cell.get_window_extent().width for cell in cells)))
    counted.set_in_layout(True)
    canvas.lay_out(fig)
    _ticks(ax)
    canvas.lay_out(fig)
    inside = ax.get_window_extent()
    for text, (words, own, _) in zip(heads, sides, strict=True):
        canvas.fit(text, words, own, 0.48 * inside.width)
    middle = (inside.x0 + inside.x1) / 2
    canvas.fit(ax.xaxis.label, tail, names, 1.96 * min(middle, fig.bbox.width - middle))


def _ticks(ax: Axes) -> None:
    """As many as have room."""
    lower, upper = np.log10(ax.get_xlim())
    for most in (8, 6, 4, 2):
        canvas.log_ticks(ax.xaxis, lower, upper, most)
        if canvas.clear(ax.xaxis):
            return
