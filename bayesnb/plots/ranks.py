"""Ranks of simulation-based calibration: every quantity against its band, and the histograms of the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesnb.plots import canvas

if TYPE_CHECKING:
    from bayesnb.checks.calibration import Calibration

__all__ = ["plot_ranks"]

_SHOWN = 5


@canvas.drawn
def plot_ranks(result: Calibration) -> Figure:
    """Empirical distribution of every quantity's ranks less the uniform, and histograms of the five least uniform.

    Parameters
    ----------
    result : Calibration
        Of `bayesnb.calibrate`.

    Returns
    -------
    Figure
        Lines within the grey band have passed. A line that bends up at the left has draws that lie too high; an S that
        rises first, draws that are too narrow.

    Raises
    ------
    ValueError
        `result` is something else.

    Examples
    --------
    >>> import bayesnb
    >>> result = bayesnb.calibrate("bernoulli", replications=50, sampler="exact")
    >>> figure = bayesnb.plot_ranks(result)
    >>> len(figure.axes)  # all quantities, and the five least uniform
    6
    """
    if not hasattr(result, "ranks"):
        raise ValueError(f"expected the result of calibrate, got {type(result).__name__}")
    table, columns = result.table, 3
    worst = np.argsort(table["p_value"].to_numpy(float), kind="stable")[:_SHOWN]
    rows = -(-(len(worst) + 1) // columns)
    title = f"Ranks of true parameters are {'uniform' if result.passed else 'not uniform'}: {result.model}"
    subtitle = (
        f"{len(result.ranks)} replications, ranks among {result.draws} draws, form {result.form}, {len(table)} "
        f"quantities, {result.n_divergences} divergences. Grey: where all must lie; histograms: the least uniform."
    )
    fig = canvas.figure(9, 2.3 * rows, title, subtitle)
    axes = fig.subplots(rows, columns, squeeze=False).ravel()
    _ecdf_panel(axes[0], result)
    for ax, at in zip(axes[1:], worst, strict=False):
        _histogram(ax, result, int(at))
    for ax in axes[len(worst) + 1 :]:
        ax.remove()
    return fig


def _ecdf_panel(ax: Axes, result: Calibration) -> None:
    from bayesnb.checks.calibration import band

    share, lower, upper = band(result)
    ends = np.concatenate([[0.0], share, [1.0]])
    low, high = (np.concatenate([[0.0], end - share, [0.0]]) for end in (lower, upper))
    ax.fill_between(ends, low, high, color=canvas.GRID)
    for passed in (True, False):
        for ranks in result.ranks.T[result.table["passed"].to_numpy(bool) == passed]:
            below = (ranks[:, None] < ends * (result.draws + 1)).mean(axis=0)
            tint, width = (canvas.colour(0), 0.8) if passed else (canvas.colour(1), 1.6)
            ax.plot(ends, below - ends, color=tint, linewidth=width)
    ax.axhline(0, color=canvas.MUTED, linewidth=1)
    ax.set_xlim(0, 1)
    ax.set_title(f"all {len(result.table)} quantities")
    ax.set_xlabel("rank / (draws + 1)")
    ax.set_ylabel("share below − expected")


def _histogram(ax: Axes, result: Calibration, at: int) -> None:
    row = result.table.iloc[at]
    bins = np.linspace(-0.5, result.draws + 0.5, 11).tolist()
    ax.hist(result.ranks[:, at], bins=bins, color=canvas.colour(0 if row["passed"] else 1), alpha=0.75)
    ax.axhline(len(result.ranks) / 10, color=canvas.INK, linewidth=1, linestyle="--")
    name = ", ".join(str(part) for part in (row["class"], row["token"]) if part != "")
    ax.set_title(f"{row['quantity']}" + (f": {name}" if name else "") + f", p {row['p_value']:.2g}")
    ax.set_xlabel("rank; dashed: expected")
    ax.set_ylabel("replications")
