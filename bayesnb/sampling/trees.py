"""The container of draws: groups, names of classes and tokens, and only what netCDF can store."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from bayesnb.families import Beta, Dirichlet

DIMS = ("chain", "draw", "class", "token")


def names_of(values: np.ndarray, what: str) -> list[str]:
    """Class or token names as distinct strings that netCDF can store: NUL as U+2400, lone surrogates escaped.

    Parameters
    ----------
    values : ndarray
    what : str
        What the error calls them: "classes" or "tokens".

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        Two names are written alike.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.sampling import names_of
    >>> names_of(np.array([0, 1]), "classes")
    ['0', '1']
    >>> names_of(np.array([1, "1"], object), "classes")
    Traceback (most recent call last):
        ...
    ValueError: two classes are written '1'; rename one of them before sampling
    """
    names = [_storable_name(str(value)) for value in values.tolist()]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two {what} are written {twice!r}; rename one of them before sampling")
    return names


def _storable_name(name: str) -> str:
    return name.replace("\0", "\u2400").encode("utf-8", "backslashreplace").decode()


def exact_groups(posterior: Any, draws: int, chains: int, seed: int) -> dict[str, xr.Dataset]:
    """Independent draws of the closed form, in the groups that a sampler's draws have.

    Raises
    ------
    ValueError
        A draw is beyond the range of floating-point numbers.
    """
    drawn = finite_draws(posterior, posterior.draw, draws, chains, seed)
    names = list(posterior.parameters)
    if isinstance(posterior.theta, Dirichlet) and len(posterior.classes) > 1:
        names.insert(0, "theta")
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    constant, observed = _data_groups(posterior)
    concentration = posterior.prior.theta.concentration
    constant |= {"theta_concentration": concentration} if "theta" in names else {"theta": posterior.theta.mean()}
    return {
        "posterior": xr.Dataset({name: (DIMS[: drawn[name].ndim], drawn[name]) for name in names}, coords),
        "sample_stats": xr.Dataset({"diverging": (DIMS[:2], np.zeros((chains, draws), bool))}, coords),
        "observed_data": xr.Dataset({name: (DIMS[2 : 2 + v.ndim], v) for name, v in observed.items()}),
        "constant_data": xr.Dataset({name: (DIMS[2 : 2 + v.ndim], v) for name, v in constant.items()}),
    }


def finite_draws(posterior: Any, draw: Any, *arguments: Any) -> dict[str, np.ndarray]:
    """What `draw` gives for the arguments; ValueError where a value is beyond the range of floating-point numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        drawn = draw(*arguments)
    for name, values in drawn.items():
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            at = bad[0][2:]
            token = f" of token {posterior.tokens.tolist()[at[1]]!r}" if len(at) > 1 else ""
            raise ValueError(
                f"draws of {name}{token} in class {posterior.classes.tolist()[at[0]]!r} are too large for floating-"
                "point numbers: give a prior that says more (alpha of the NormalInverseGamma of 1, say)"
            )
    return drawn


def _data_groups(posterior: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Constant and observed data, apart from theta's, under the names that the model files give them."""
    n, prior = posterior.statistics, posterior.prior
    constant = {name: getattr(n, name) for name in n.COUNTS + n.MEASURES}
    if posterior.event == "gaussian":
        parts = zip(("m0", "kappa0", "alpha0", "beta0"), prior.normal.parameters, strict=True)
        return constant | dict(parts), {"n_class": n.class_count}
    beta = isinstance(prior.phi, Beta)
    constant |= {"phi_a": prior.phi.a, "phi_b": prior.phi.b} if beta else {"phi_concentration": prior.phi}
    return constant, {"n_class": n.class_count, "n_token": n.feature_count}


def named(groups: dict[str, xr.Dataset], posterior: Any, made: dict[str, Any]) -> xr.DataTree:
    """The tree with names for coordinates, and with how it was made; only what netCDF can store."""
    names = {"class": names_of(posterior.classes, "classes"), "token": names_of(posterior.tokens, "tokens")}
    trees = {}
    for group, dataset in groups.items():
        coords = {dim: np.array(v, object) for dim, v in names.items() if dataset.sizes.get(dim) == len(v)}
        trees[f"/{group}"] = _storable(dataset.assign_coords(coords))
    tree = xr.DataTree.from_dict(trees)
    seed = made["seed"] if made["seed"] < 2**63 else str(made["seed"])  # netCDF has no larger whole number
    tree.attrs = {
        **made,
        "seed": seed,
        "event": posterior.event,
        "prior": posterior.prior.describe(),
        "bayesnb_version": version("bayesnb"),
        "pymc_version": version("pymc"),
    }
    return tree


def _storable(dataset: xr.Dataset) -> xr.Dataset:
    """Objects (messages, most of them None) become strings, and lists in attributes JSON."""
    for name, variable in dataset.data_vars.items():
        if variable.dtype == object:
            dataset[name] = variable.copy(
                data=np.vectorize(lambda v: "" if v is None else str(v), otypes=[object])(variable)
            )
    kept = {k: v for k, v in dataset.attrs.items() if k != "sample_dims"}  # ArviZ trips over it as text, not without it
    dataset.attrs = {k: v if isinstance(v, str | int | float) else json.dumps(v) for k, v in kept.items()}
    return dataset
