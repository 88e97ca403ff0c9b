"""Pictures of the estimates of phi: MAP beside Laplace, and what the prior does to rare tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesnb.events.base import CountPosterior
from bayesnb.events.priors import pseudo_count
from bayesnb.plots import canvas

_MOST_PANELS = 12
_MANY = 500  # marks from which a cloud is drawn in pixels, its text still in outlines


@canvas.drawn
def plot_map_vs_laplace(model: Any, alpha: Any = None) -> Figure:
    """MAP against Laplace-smoothed estimates of phi, and how far MAP and mean move from the MLE.

    Parameters
    ----------
    model : fitted estimator or posterior
    alpha : number or array_like, shape (V,), optional
        Laplace pseudo-count s; by default the estimator's `alpha`, and 1 for a posterior.

    Returns
    -------
    Figure
        Left: MAP against (n + s)/(N + s V) (Bernoulli: N + 2 s), equal where the prior is 1 + s; of more than eight
        classes the seven with most tokens have colours. Right: both estimates of the same posterior against the MLE
        n/N, zeros drawn at the edge.

    Raises
    ------
    ValueError
        The posterior has no mode, a class holds nothing (MLE 0/0), or alpha is negative.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> figure = bayesnb.plot_map_vs_laplace(tc)
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['largest |MAP − Laplace|: 0', 'rare tokens move most, relative to their size']
    """
    posterior = canvas.posterior_of(model)
    s = pseudo_count(getattr(model, "alpha", 1.0) if alpha is None else alpha, posterior.statistics.n_tokens)
    mode, laplace = posterior.phi_hat("map"), _laplace(posterior, s)
    gap = float(np.abs(mode - laplace).max())
    groups = canvas.groups(canvas.readable(posterior.classes), posterior.statistics.feature_count.sum(axis=1))
    few = len(groups) <= 3  # a longer legend would lie on the points
    fig = canvas.figure(
        8.6 if few else 9, 3.9, "MAP estimates and Laplace smoothing", f"Prior: {posterior.prior.describe()}"
    )
    left, right = fig.subplots(1, 2)
    _scatter_by_class(left, laplace, mode, groups)
    left.set_title(f"largest |MAP − Laplace|: {canvas.short(gap)}")
    left.set_xlabel(f"Laplace estimate, pseudo-count {_phrase(s)}")
    left.set_ylabel("MAP estimate, posterior mode")
    _shrink_panel(right, posterior, mode)
    for ax in (left, right):
        ax.grid()
    right.set_title(f"rare tokens move most,{' ' if few else '\n'}relative to their size")
    canvas.legend(left, loc="upper left", bbox_to_anchor=(0, 1) if few else (1.01, 1))
    canvas.legend(right, loc="upper left")
    return fig


def _phrase(s: np.ndarray) -> str:
    return f"s = {s.flat[0]:g}" if (s == s.flat[0]).all() else "s per token"


def _laplace(posterior: CountPosterior, s: np.ndarray) -> np.ndarray:
    n = posterior.statistics.feature_count
    s = np.broadcast_to(s, n.shape[1:])
    if posterior.event == "bernoulli":
        return (n + s) / (posterior.statistics.class_count[:, None] + 2 * s)
    return (n + s) / (n.sum(axis=1, keepdims=True) + s.sum())


def _scatter_by_class(ax: Axes, x: np.ndarray, y: np.ndarray, groups: list[canvas.Group]) -> None:
    both = (x > 0) & (y > 0)
    for label, members, tint, mark in groups:
        at = both[members]
        style: dict[str, Any] = {"color": tint, "marker": mark, "alpha": 0.6, "linewidths": 0}
        style["zorder"] = 0.5 if tint == canvas.OTHERS else 1  # named classes lie on the others
        ax.scatter(x[members][at], y[members][at], s=16, label=label, rasterized=at.sum() > _MANY, **style)
    shown = np.concatenate([x[both], y[both]])
    if not len(shown):
        raise ValueError("every MAP or Laplace estimate is 0, so a log axis can show none; use a larger prior")
    ends = np.log10(shown.min()) - 0.15, np.log10(shown.max()) + 0.15
    line = 10.0 ** np.array(ends)
    ax.plot(line, line, color=canvas.MUTED, linewidth=1, linestyle="--", label="equal", zorder=0)
    _log_log(ax, ends, ends)
    if (~both).any():
        ax.text(0.98, 0.02, f"{(~both).sum():,} at 0 not drawn", transform=ax.transAxes, ha="right", fontsize=8)


def _log_log(ax: Axes, x: Any, y: Any) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, ends in ((ax.xaxis, x), (ax.yaxis, y)):
        canvas.log_ticks(axis, ends[0], ends[1], most=6)
    ax.set_xlim(*10.0 ** np.asarray(x))
    ax.set_ylim(*10.0 ** np.asarray(y))


def _shrink_panel(ax: Axes, posterior: CountPosterior, mode: np.ndarray) -> None:
    mle, mean = posterior.phi_hat("mle"), posterior.phi_hat("mean")
    positive = np.concatenate([a[a > 0] for a in (mle, mode, mean)])
    low, high = np.log10([positive.min(), positive.max()])
    zero = low - 0.45  # where an MLE of 0 stands
    x = np.log10(np.where(mle > 0, mle, 10.0**zero))
    for name, value, k in (("MAP", mode, 0), ("posterior mean", mean, 1)):
        style: dict[str, Any] = {"color": canvas.colour(k), "marker": "o+"[k], "alpha": 0.7, "linewidths": k}
        kept = value > 0
        ax.scatter(10.0 ** x[kept], value[kept], s=16 + 14 * k, label=name, rasterized=kept.sum() > _MANY, **style)
    line = 10.0 ** np.array([low - 0.1, high + 0.15])
    ax.plot(line, line, color=canvas.MUTED, linewidth=1, linestyle="--", label="equal to MLE", zorder=0)
    _log_log(ax, (zero - 0.25, high + 0.15), (low - 0.15, high + 0.15))
    kept_ticks = [10.0**zero, *(t for t in ax.get_xticks() if np.log10(t) > low - 0.1)]
    ax.set_xticks(kept_ticks, ["0", *map(canvas.tick_text, kept_ticks[1:])])
    ax.set_xlabel("MLE, n/N")
    ax.set_ylabel("estimate of the token's probability")


@canvas.drawn
def plot_shrinkage(model: Any) -> Figure:
    """How far the prior moves a token's probability from n/N, by how often the token was seen.

    Parameters
    ----------
    model : fitted estimator or posterior

    Returns
    -------
    Figure
        A panel a class, of more than twelve for those with most tokens: estimate times N against the count n. The MLE
        is the diagonal; MAP and posterior mean lie above it where the prior adds probability, at rare tokens, and
        below where it takes it away.

    Raises
    ------
    ValueError
        A class holds nothing, so that its MLE is 0/0.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> figure = bayesnb.plot_shrinkage(tc)
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['ham', 'spam']
    """
    posterior = canvas.posterior_of(model)
    posterior.phi_hat("mle")
    names = canvas.readable(posterior.classes)
    missing = "" if _has_mode(posterior) else ". This posterior has no mode: no MAP"
    largest = np.argsort(-posterior.statistics.feature_count.sum(axis=1), kind="stable")[:_MOST_PANELS]
    chosen = sorted(largest.tolist())
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    most = f". {len(chosen)} of {len(names)} classes, with most tokens" if len(chosen) < len(names) else ""
    fig = canvas.figure(
        1.2 + 3.4 * columns,
        3.4 * rows,
        "What the prior does to rare tokens",
        f"Prior: {posterior.prior.describe()}{missing}{most}",
    )
    axes = fig.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[len(chosen) :]:
        ax.remove()
    for ax, index in zip(axes, chosen, strict=False):
        _shrinkage_of_class(ax, posterior, index, has_mode=not missing)
        ax.set_title(names[index])
    canvas.legend(axes[0], loc="upper left")
    return fig


def _has_mode(posterior: CountPosterior) -> bool:
    try:
        posterior.phi_hat("map")
    except ValueError:
        return False
    return True


def _shrinkage_of_class(ax: Axes, posterior: CountPosterior, k: int, *, has_mode: bool) -> None:
    n = posterior.statistics.feature_count[k]
    bernoulli = posterior.event == "bernoulli"
    total = posterior.statistics.class_count[k] if bernoulli else n.sum()
    estimates = {"posterior mean": posterior.phi_hat("mean")[k] * total}
    if has_mode:
        estimates["MAP"] = posterior.phi_hat("map")[k] * total
    top = max(n.max(), *(value.max() for value in estimates.values()))
    ax.plot([0, top], [0, top], color=canvas.MUTED, linewidth=1, linestyle="--", label="MLE: no shrinkage", zorder=0)
    for i, (name, value) in enumerate(estimates.items()):
        at = np.unique(np.column_stack([n, value]), axis=0)  # tokens of one count and prior coincide
        if i == 0:
            ax.vlines(at[:, 0], at[:, 0], at[:, 1], color=canvas.colour(1), linewidth=1, alpha=0.4, zorder=0.5)
        style: dict[str, Any] = {"color": canvas.colour(1 - i), "marker": "+o"[i], "linewidths": 1 - i, "alpha": 0.8}
        ax.scatter(at[:, 0], at[:, 1], s=22, label=name, rasterized=len(at) > _MANY, **style)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_yscale("symlog", linthresh=1)
    powers = range(int(np.log10(max(top, 1))) + 1)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0, *(10**e for e in powers)], ["0", *map(canvas.power_of_ten, powers)])
    ax.set_xlim(-0.15, top * 1.25)
    ax.set_ylim(-0.15, top * 1.25)
    ax.grid()
    unit = "documents that hold the token" if bernoulli else "occurrences of the token"
    ax.set_xlabel(f"{unit}, n (of N = {total:,.6g})")
    ax.set_ylabel("estimate × N")
