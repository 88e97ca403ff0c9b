"""One parameter as the data arrive: prior, likelihood and posterior of a phi; test errors against training size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesnb import validate
from bayesnb.families import Beta
from bayesnb.plots import canvas

_POINTS = 512
_TAIL = 1e-4  # mass left out on either side of the axis


@canvas.drawn
def plot_parameter(model: Any, label: Any, token: Any, level: float = 0.95) -> Figure:
    """Prior, likelihood and posterior of one phi: the probability of a token in a class.

    All three are drawn as densities of phi: the likelihood phi^n (1 - phi)^(N - n) is scaled to integrate to 1, which
    makes it Beta(n + 1, N - n + 1). The prior is the marginal Beta of the cell.

    Parameters
    ----------
    model : fitted estimator or posterior
        Multinomial, Bernoulli or of categories.
    label, token : object
        A class and a token, as the model names them.
    level : float
        Of the credible interval that is shaded.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        The class or the token is unknown, or the level is not between 0 and 1.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> figure = bayesnb.plot_parameter(tc, "spam", "investors")
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['posterior', 'likelihood, scaled', 'prior']
    """
    posterior, level = canvas.posterior_of(model), validate.level(level)
    k, j = posterior.class_index(label), posterior.token_index(token)
    before = _cell(replace(posterior, statistics=posterior.statistics.scaled(0.0)), k, j)
    after = _cell(posterior, k, j)
    n, rest = float(after.a - before.a), float(after.b - before.b)
    total = n + rest
    likelihood = Beta(np.asarray(n + 1), np.asarray(rest + 1))
    lower, upper = after.interval(level)
    named = canvas.readable([label, token])
    fig = canvas.figure(
        6.4,
        3.4,
        f"What is known of the probability of {named[1]!r} in {named[0]!r}",
        f"Seen {n:,.6g} times in {total:,.6g}. Prior Beta({float(before.a):,.6g}, {float(before.b):,.6g}); "
        f"posterior Beta({float(after.a):,.6g}, {float(after.b):,.6g}), {level:.0%} interval {lower:.3g}–{upper:.3g}",
    )
    ax = fig.subplots()
    top = min(1.0, max(float(law.interval(1 - 2 * _TAIL)[1]) for law in (after, likelihood)) * 1.1)
    phi = np.linspace(0, top, _POINTS + 1)[1:]
    phi = phi[phi < 1]
    for i, (name, law, line) in enumerate(
        (("posterior", after, "-"), ("likelihood, scaled", likelihood, "--"), ("prior", before, ":"))
    ):
        ax.plot(phi, np.exp(law.log_density(phi)), line, color=canvas.colour(i), linewidth=1.8, label=name)
    inside = (phi >= lower) & (phi <= upper)
    density = np.exp(after.log_density(phi))
    ax.fill_between(phi[inside], density[inside], color=canvas.colour(0), alpha=0.15, linewidth=0)
    highest = max(density.max(), np.exp(likelihood.log_density(phi)).max())
    prior = np.exp(before.log_density(phi)).max()
    ax.set_ylim(0, 1.08 * max(highest, min(prior, 1.5 * highest)))  # an infinite prior leaves through the top
    ax.set_xlim(0, top)
    ax.set_xlabel("phi, probability of the token")
    ax.set_ylabel("density")
    canvas.legend(ax, loc="best")
    return fig


def _cell(posterior: Any, k: int, j: int) -> Beta:
    marginal = posterior.phi.marginal()
    return Beta(np.asarray(marginal.a[k, j]), np.asarray(marginal.b[k, j]))


@canvas.drawn
def plot_learning_curve(
    sizes: Sequence[int], errors: Mapping[str, Sequence[int]], n_test: int, level: float = 0.95
) -> Figure:
    """Test error rate against the number of training documents, with a credible band for each classifier.

    Parameters
    ----------
    sizes : sequence of int, length S
        Training documents.
    errors : mapping of str to sequence of int, length S
        Wrong answers on the test documents, by name of classifier.
    n_test : int
        Test documents.
    level : float
        Of the bands: equal-tailed intervals of Beta(errors + 1/2, n_test - errors + 1/2), the posterior of an error
        rate under Jeffreys' prior. They are about the test documents drawn, not about the training documents drawn.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Lengths differ, or a number of errors is not between 0 and `n_test`.

    Examples
    --------
    >>> import bayesnb
    >>> errors = {"multinomial": [31, 17, 9], "bernoulli": [40, 26, 15]}
    >>> figure = bayesnb.plot_learning_curve([50, 200, 800], errors, n_test=800)
    >>> figure.axes[0].get_ylabel()
    'test error rate'
    """
    level, size = validate.level(level), np.asarray(sizes, float)
    if not errors or size.ndim != 1 or not len(size) or not (size > 0).all():
        raise ValueError("sizes must be positive, and errors must name at least one classifier")
    fig = canvas.figure(
        6.8, 3.8, "Errors against training documents", f"{n_test:,} test documents; bands hold {level:.0%} each"
    )
    ax = fig.subplots()
    for i, (name, wrong) in enumerate(errors.items()):
        _curve(ax, size, _checked(wrong, len(size), n_test, name), n_test, level, i, name)
    ax.set_xscale("log")
    ax.set_xticks(size, [f"{value:,.6g}" for value in size])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.set_xlabel("training documents")
    ax.set_ylabel("test error rate")
    ax.grid(axis="y")
    canvas.legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1))  # beside the axes: curves may lie anywhere
    return fig


def _curve(ax: Axes, size: np.ndarray, wrong: np.ndarray, n_test: int, level: float, i: int, name: str) -> None:
    ends = Beta(wrong + 0.5, n_test - wrong + 0.5).interval(level)
    at = size * 1.02**i  # bands of several classifiers would hide one another's marks
    ax.fill_between(at, ends[:, 0], ends[:, 1], color=canvas.colour(i), alpha=0.13, linewidth=0)
    ax.plot(
        at, wrong / n_test, color=canvas.colour(i), marker=canvas.marker(i), markersize=5, linewidth=1.4,
        label=canvas.readable([name])[0],
    )  # fmt: skip


def _checked(wrong: Sequence[int], length: int, n_test: int, name: str) -> np.ndarray:
    counts = np.asarray(wrong, float)
    if counts.shape != (length,):
        raise ValueError(f"errors of {name!r} have shape {counts.shape}, expected {(length,)}: one a training size")
    if not ((counts >= 0) & (counts <= n_test)).all():
        raise ValueError(f"errors of {name!r} must lie between 0 and {n_test}, got {wrong!r}")
    return counts
