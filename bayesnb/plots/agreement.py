"""Draws against the closed form: exact margins over histograms, and every z score against the threshold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesnb.events.base import CountPosterior
from bayesnb.families import Beta, Dirichlet
from bayesnb.plots import canvas
from bayesnb.sampling.aggregation import aggregate

if TYPE_CHECKING:
    import xarray as xr

    from bayesnb.checks.agreement import Agreement

_SHOWN = 5


@canvas.drawn
def plot_agreement(
    tree: xr.DataTree,
    model: Any,
    parameters: Iterable[tuple[str, ...]] | None = None,
    agreement: Agreement | None = None,
) -> Figure:
    """Exact marginal densities over histograms of draws, and all z scores against their threshold.

    Parameters
    ----------
    tree : xarray.DataTree
        Draws, as `sample` gives them.
    model : fitted estimator or posterior
        The closed form; where the draws are of chosen tokens only, the others are lumped here too.
    parameters : iterable of tuple, optional
        Which to draw: ``("phi", class, token)`` or ``("theta", class)``, by the names in the tree. By default those
        with the largest ``|z|`` and the most probable token.
    agreement : Agreement, optional
        What `check_agreement` gave for these two; computed where it is left out.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        The tree does not fit the model, or holds no such parameter.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample(tc, draws=500, sampler="exact")
    >>> figure = bayesnb.plot_agreement(tree, tc, [("phi", "spam", "investors"), ("theta", "spam")])
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['phi: spam, investors', 'theta: spam', '84 z scores, all comparisons']
    """
    from bayesnb.checks.agreement import check_agreement  # loads the sampler's libraries

    whole = canvas.posterior_of(model)
    posterior = _matching(tree, whole)
    check = check_agreement(tree, model) if agreement is None else agreement
    chosen = _most_telling(check, posterior) if parameters is None else [tuple(map(str, p)) for p in parameters]
    if not chosen:
        raise ValueError('parameters is empty; name one, such as ("phi", class, token), or leave it out')
    verdict = "agree" if check.passed else "do not agree"
    columns = 3
    rows = -(-(len(chosen) + 1) // columns)
    head = f"Closed form and draws {verdict}"
    subtitle = (
        f"Curve: exact posterior, dashed its mean; bars: {_size(tree)} draws. Largest |z| {check.max_z:.2f}, threshold "
    )
    subtitle += f"{check.threshold:.2f}; divergences: {check.n_divergences}. Prior: {whole.prior.describe()}"
    fig = canvas.figure(9, 2.3 * rows, head, subtitle)
    axes = fig.subplots(rows, columns, squeeze=False).ravel()
    for ax, name in zip(axes, chosen, strict=False):
        _margin_panel(ax, name, _draws(tree, name), _margin(posterior, name))
    _score_panel(axes[len(chosen)], check)
    for ax in axes[len(chosen) + 1 :]:
        ax.remove()
    return fig


def _matching(tree: xr.DataTree, posterior: CountPosterior) -> CountPosterior:
    """The posterior of the tokens that the tree holds."""
    if "posterior" not in tree or "phi" not in tree["posterior"].data_vars:
        raise ValueError("the tree has no draws of phi; give one made by sample")
    tokens = [str(t) for t in tree["posterior"]["phi"].coords["token"].values]
    names = _names_of(posterior.tokens, "tokens")
    if tokens == names:
        return posterior
    rest = tree.attrs.get("rest", "")
    chosen = [token for token in tokens if token != rest]
    unknown = [token for token in chosen if token not in names]
    if unknown:
        raise ValueError(
            f"the draws have a token {unknown[0]!r} that the model has not; give the model they were drawn from"
        )
    values = posterior.tokens.tolist()
    return aggregate(posterior, [values[names.index(token)] for token in chosen])


def _names_of(values: np.ndarray, what: str) -> list[str]:
    from bayesnb.sampling import names_of

    return names_of(values, what)


def _size(tree: xr.DataTree) -> str:
    sizes = tree["posterior"].sizes
    return f"{sizes['chain']} × {sizes['draw']:,}"


def _most_telling(check: Agreement, posterior: CountPosterior) -> list[tuple[str, ...]]:
    """The parameters with the largest |z|, and the most probable token of all."""
    mean = posterior.phi.mean()
    k, j = np.unravel_index(int(mean.argmax()), mean.shape)
    largest = ("phi", _names_of(posterior.classes, "classes")[k], _names_of(posterior.tokens, "tokens")[j])
    ranked = check.table.iloc[np.argsort(-np.abs(check.table["z"].to_numpy(float)))]
    found = dict.fromkeys([*_names(ranked)])
    return [*[name for name in found if name != largest][: _SHOWN - 1], largest]


def _names(table: Any) -> list[tuple[str, ...]]:
    rows = zip(table["parameter"], table["class"], table["token"], strict=True)
    return [(str(p), str(k)) if p == "theta" else (str(p), str(k), str(t)) for p, k, t in rows]


def _draws(tree: xr.DataTree, name: tuple[str, ...]) -> np.ndarray:
    values = tree["posterior"].data_vars
    if name[0] not in values or len(name) != values[name[0]].ndim - 1:
        raise ValueError(f'parameter {name!r} is not in the draws; write ("phi", class, token) or ("theta", class)')
    draws = values[name[0]]
    for dim, label in zip(draws.dims[2:], name[1:], strict=True):
        if label not in draws.coords[dim].values:
            raise ValueError(f"parameter {name!r}: the draws have no {dim} {label!r}")
        draws = draws.sel({dim: label})
    return draws.values.ravel()


def _margin(posterior: CountPosterior, name: tuple[str, ...]) -> Beta:
    family = posterior.theta if name[0] == "theta" else posterior.phi
    if not isinstance(family, (Dirichlet, Beta)):
        raise ValueError("theta is known, so it has no density to draw; name parameters of phi")
    margin = family.marginal()
    k = _names_of(posterior.classes, "classes").index(name[1])
    at: tuple[int, ...] = (k,) if name[0] == "theta" else (k, _names_of(posterior.tokens, "tokens").index(name[2]))
    return Beta(margin.a[at], margin.b[at])


def _margin_panel(ax: Axes, name: tuple[str, ...], draws: np.ndarray, exact: Beta) -> None:
    low, high = exact.interval(0.9998)
    ends = min(float(low), draws.min()), max(float(high), draws.max())
    ax.hist(draws, bins=40, range=ends, density=True, color=canvas.colour(5), alpha=0.75)
    x = np.linspace(float(low), float(high), 300)
    ax.plot(x, np.exp(exact.log_density(x)), color=canvas.INK, linewidth=1.4)
    ax.axvline(float(exact.mean()), color=canvas.colour(1), linewidth=1, linestyle="--")
    shown = canvas.readable(name[1:], limit=18)
    ax.set_title(f"{name[0]}: {', '.join(shown)}")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_locator(canvas.few_ticks())
    ax.set_xlabel("probability")


def _score_panel(ax: Axes, check: Agreement) -> None:
    z = np.sort(check.table["z"].to_numpy(float))
    lost = int((~np.isfinite(z)).sum())
    z = z[np.isfinite(z)]
    ax.plot(
        z, (np.arange(len(z)) + 0.5) / max(len(z), 1), color=canvas.colour(0), linewidth=0, marker=".", markersize=3
    )
    for sign in (-1, 1):
        ax.axvline(sign * check.threshold, color=canvas.colour(1), linewidth=1.2, linestyle="--")
    reach = 1.12 * max(check.threshold, float(np.abs(z).max(initial=0)))
    ax.set_xlim(-reach, reach)
    ax.set_ylim(0, 1)
    ax.grid()
    ax.set_title(f"{len(z):,} z scores" + (f" and {lost} infinite" if lost else ", all comparisons"))
    ax.set_xlabel("z; dashed: threshold")
    ax.set_ylabel("share below")
