"""Draws of the same posterior by PyMC, as an xarray DataTree that ArviZ reads and netCDF stores.

`sample` finds the model file, refuses what would not fit or not converge, runs the sampler, and names the coordinates;
`to_tree` puts exact, independent draws into the same container.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
import xarray as xr

from bayesnb import events, validate
from bayesnb.events.base import CountPosterior, Posterior
from bayesnb.families import Beta, Dirichlet
from bayesnb.sampling.aggregation import aggregate, lumping
from bayesnb.sampling.modelfiles import Documents, ModelFile, document_codes, find_model

__all__ = ["Documents", "aggregate", "find_model", "sample", "to_tree"]

SAMPLERS = ("nutpie", "pymc", "exact")
LARGEST_FROZEN = 8_192
"""Up to so many cells of phi the data become constants of the compiled density: gradients at less than half the
price. Compiling takes minutes where they are many."""
SMALLEST_CONCENTRATION = 0.2
"""Below it g spreads over so many orders of magnitude that chains look converged and are not: with 200 tokens, .1
leaves an effective sample size of 198 of 2000 and .05 one of 2, without a divergence."""


def sample(
    clf_or_posterior: Any,
    model: str | os.PathLike[str] | None = None,
    form: str | None = None,
    tokens: Iterable[Any] | None = None,
    X: Any = None,
    y: Any = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int = 0,
    sampler: str = "nutpie",
    max_bytes: float | None = None,
    progress: bool = False,
) -> xr.DataTree:
    """Draws of theta and phi, or of theta, mu and sigma2, by Markov chain Monte Carlo.

    Parameters
    ----------
    clf_or_posterior : estimator or Posterior
        A fitted estimator, or its `posterior_`.
    model : str or path, optional
        Name of a model, or the path of a user's own model file. By default the event model of the posterior.
    form : str, optional
        How the model is written, where it knows several ways; "gamma" (the default) or "dirichlet" for the multinomial.
    tokens : iterable, optional
        Sample these tokens only; the multinomial model lumps all others into one cell, which is exact.
    X, y : array_like, shapes (N, V) and (N,), optional
        Documents and labels (-1 or None: unknown), for models that need them.
    draws, tune, chains : int
        Draws kept and draws for tuning, in each chain.
    seed : int
        The same seed gives the same draws, whatever the number of cores.
    sampler : {"nutpie", "pymc", "exact"}
        "exact" takes independent draws of the closed form instead.
    max_bytes : number, optional
        Refuse draws larger than this; by default half of the memory that is free.
    progress : bool
        Show progress on standard error.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (theta (chain, draw, class) unless it is known, phi (chain, draw, class, token), or mu and
        sigma2 likewise), ``sample_stats``, ``observed_data`` and ``constant_data``. Classes and tokens are named by
        strings, in their order; NUL, which netCDF cannot store, is written as its symbol U+2400. The root's attributes
        say how it was made.

    Raises
    ------
    ValueError
        Bad arguments, an unknown or faulty model file, draws that would not fit in memory, or concentrations below
        0.2, which the sampler does not explore.
    """
    posterior = whole = posterior_of(clf_or_posterior)
    if tokens is not None:
        tokens = tokens if isinstance(tokens, str) else list(tokens)
        posterior = aggregate(whole, tokens)
    draws, chains = _at_least(1, draws, "draws"), _at_least(1, chains, "chains")
    tune, seed = _at_least(0, tune, "tune"), _at_least(0, seed, "seed")
    _choose_sampler(sampler)
    _refuse_too_large(posterior, draws, chains, max_bytes)
    name = posterior.event if model is None else model
    if sampler == "exact":
        if name != posterior.event or form is not None:
            raise ValueError(f"exact draws are of the closed form: leave model and form out, got {model!r}, {form!r}")
        tree = _exact(posterior, draws, chains, seed)
        made = {"model": posterior.event, "form": "closed", "tune": 0, "sampler_version": version("numpy")}
    else:
        file = find_model(name)
        if file.name in events.MODELS and file.name != posterior.event:
            raise ValueError(f"model {file.name} is not of this posterior, which is {posterior.event}")
        data = _data(file, whole, posterior, tokens, X, y)
        if file.name == posterior.event and isinstance(posterior, CountPosterior):
            _refuse_small_concentration(posterior)
        size = data.X.size if file.needs_documents else posterior.statistics.n_classes * posterior.statistics.n_tokens
        if form is None and size > LARGEST_FROZEN:
            form = file.large
        chosen = form or (file.forms[0] if file.forms else "")
        built = file.build(data, posterior.prior, form)
        settings = {"draws": draws, "tune": tune, "chains": chains, "random_seed": seed}
        settings |= {"progressbar": progress, "quiet": not progress}
        start = file.start(data, posterior.prior, form)
        tree = _run(built, file, sampler, size <= LARGEST_FROZEN, start, **settings)
        _complete(tree["posterior"], file, data, posterior.prior, seed)
        made = {"model": file.name, "form": chosen, "tune": tune, "sampler_version": version(sampler)}
    lumped = tokens is not None and len(posterior.tokens) > len(tokens)
    made |= {"sampler": sampler, "seed": seed, "rest": posterior.tokens[-1] if lumped else ""}
    return _named(tree, posterior, made)


def to_tree(clf_or_posterior: Any, draws: int = 1000, chains: int = 4, seed: int = 0, **options: Any) -> xr.DataTree:
    """Exact, independent draws in the container that `sample` returns; `options` are `tokens` and `max_bytes`."""
    return sample(clf_or_posterior, draws=draws, chains=chains, seed=seed, sampler="exact", **options)


def posterior_of(clf_or_posterior: Any) -> Any:
    """Posterior of a fitted estimator; a posterior is returned as it is.

    Raises
    ------
    ValueError
        It is neither, or the estimator is not fitted.
    """
    if isinstance(clf_or_posterior, Posterior):
        return clf_or_posterior
    try:
        return clf_or_posterior.posterior_
    except AttributeError as error:
        if isinstance(error, ValueError):  # scikit-learn's NotFittedError is both, and says it better
            raise
        kind = type(clf_or_posterior).__name__
        raise ValueError(
            f"expected a fitted estimator or a Posterior, got {kind} without posterior_: fit it first"
        ) from None


def names_of(values: np.ndarray, what: str) -> list[str]:
    """Class or token names as distinct strings that netCDF can store.

    Raises
    ------
    ValueError
        Two names are written alike.
    """
    names = [str(value).replace("\0", "\u2400") for value in values.tolist()]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two {what} are written {twice!r}; rename one of them before sampling")
    return names


def _at_least(least: int, value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def _choose_sampler(sampler: str) -> None:
    if sampler not in SAMPLERS:
        raise ValueError(f"sampler must be one of {', '.join(SAMPLERS)}; got {sampler!r}")


def _data(file: ModelFile, whole: CountPosterior, posterior: CountPosterior, tokens: Any, X: Any, y: Any) -> Any:
    """What the model file's `build` takes: totals, or the documents in the columns that are sampled."""
    if not file.needs_documents:
        if X is not None or y is not None:
            raise ValueError(f"model {file.name} reads the totals of the fit: leave X and y out")
        return posterior.statistics
    if X is None or y is None:
        raise ValueError(f"model {file.name} needs the documents: give X and y (-1 for an unknown class)")
    X = validate.counts(X, "sample", whole.tokens)
    if X.shape[1] != len(whole.tokens) or X.shape[0] != len(y):
        raise ValueError(
            f"X has shape {X.shape}, expected {(len(y), len(whole.tokens))}: a row a label, a column a token"
        )
    if tokens is not None:
        X = X @ lumping(whole, tokens)[0]
    return Documents(X, document_codes(y, whole), len(whole.classes))


def _refuse_too_large(posterior: CountPosterior, draws: int, chains: int, max_bytes: float | None) -> None:
    k, v = posterior.statistics.n_classes, posterior.statistics.n_tokens
    need = 8 * chains * draws * k * (v * len(posterior.parameters) + 1)
    limit = _free_memory() / 2 if max_bytes is None else max_bytes
    if need > limit:
        raise ValueError(
            f"the draws take {need / 1e9:.3g} GB ({chains} chains x {draws:,} draws x {k} classes x {v:,} tokens), "
            f"above the limit of {limit / 1e9:.3g} GB: choose tokens=[...], fewer draws or chains, or a larger "
            "max_bytes; posterior.draw gives exact draws, as few at a time as wanted"
        )


def _free_memory() -> float:
    """Bytes that can be had without swapping; where the system does not say, 4 GB."""
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo") as lines:
        return 1024.0 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    return 4e9


def _refuse_small_concentration(posterior: CountPosterior) -> None:
    phi = posterior.phi
    smallest = np.minimum(phi.a, phi.b) if isinstance(phi, Beta) else phi.concentration
    small = np.argwhere(smallest < SMALLEST_CONCENTRATION)
    if len(small):
        k, j = small[0]
        raise ValueError(
            f"the posterior concentration of token {posterior.tokens.tolist()[j]!r} in class "
            f"{posterior.classes.tolist()[k]!r} is {smallest[k, j]:.3g}: below {SMALLEST_CONCENTRATION} the sampler "
            "fails without a sign; use posterior.draw (or sampler='exact'), which draws in logs, or a larger prior"
        )


def _run(
    model: Any, file: ModelFile, sampler: str, frozen: bool, start: dict[str, np.ndarray] | None, **settings: Any
) -> dict[str, xr.Dataset]:
    import pymc as pm

    keep = [rv.name for rv in model.unobserved_RVs if rv.name not in file.auxiliary]
    # PyMC's own parallel chains fork this process, which threads in it do not survive; nutpie's are threads, and
    # PyMC would give it physical cores only
    options: dict[str, Any] = {"cores": 1}
    if sampler == "nutpie":
        cores = min(settings["chains"], os.cpu_count() or 1)
        options = {"cores": cores, "compile_kwargs": {"freeze_model": frozen}}
    if start is not None:  # from this very point: jitter would carry chains to other modes
        options["initvals"] = start
        if sampler == "nutpie":
            options["compile_kwargs"]["jitter_rvs"] = set()
        else:
            options["init"] = "adapt_diag"
    try:
        with contextlib.redirect_stdout(sys.stderr):
            tree = pm.sample(
                model=model,
                nuts_sampler=sampler,
                var_names=keep,
                compute_convergence_checks=False,
                **settings,
                **options,
            )
    except (pm.SamplingError, RuntimeError) as error:
        raise ValueError(f"model {file.name} could not be sampled: {str(error).splitlines()[0]}") from error
    if tree["posterior"].sizes["draw"] < settings["draws"]:  # both samplers answer Ctrl-C with the draws so far
        raise KeyboardInterrupt
    groups = ("posterior", "sample_stats", "observed_data", "constant_data")
    return {group: tree[group].to_dataset() if group in tree else xr.Dataset() for group in groups}


def _complete(draws: xr.Dataset, file: ModelFile, data: Any, prior: Any, seed: int) -> None:
    """Add to the draws what the model has integrated out, drawn exactly given each of them; drop what it says."""
    known = {str(name): draws[name].values for name in draws.data_vars}
    dims = ("chain", "draw", "class", "token")
    for name, values in file.complete(known, data, prior, np.random.default_rng(seed)).items():
        if values is None:
            del draws[name]
        else:
            draws[name] = (dims[: values.ndim], values)


def _exact(posterior: CountPosterior, draws: int, chains: int, seed: int) -> dict[str, xr.Dataset]:
    drawn = posterior.draw(draws, chains, seed)
    dims = ("chain", "draw", "class", "token")
    names = list(posterior.parameters)
    if isinstance(posterior.theta, Dirichlet) and len(posterior.classes) > 1:
        names.insert(0, "theta")
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    constant, observed = _data_groups(posterior)
    concentration = posterior.prior.theta.concentration
    constant |= {"theta_concentration": concentration} if "theta" in names else {"theta": posterior.theta.mean()}
    return {
        "posterior": xr.Dataset({name: (dims[: drawn[name].ndim], drawn[name]) for name in names}, coords),
        "sample_stats": xr.Dataset({"diverging": (dims[:2], np.zeros((chains, draws), bool))}, coords),
        "observed_data": xr.Dataset({name: (dims[2 : 2 + v.ndim], v) for name, v in observed.items()}),
        "constant_data": xr.Dataset({name: (dims[2 : 2 + v.ndim], v) for name, v in constant.items()}),
    }


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


def _named(groups: dict[str, xr.Dataset], posterior: CountPosterior, made: dict[str, Any]) -> xr.DataTree:
    """The tree with names for coordinates, and with how it was made; only what netCDF can store."""
    names = {"class": names_of(posterior.classes, "classes"), "token": names_of(posterior.tokens, "tokens")}
    named = {}
    for group, dataset in groups.items():
        coords = {dim: np.array(v, object) for dim, v in names.items() if dataset.sizes.get(dim) == len(v)}
        named[f"/{group}"] = _storable(dataset.assign_coords(coords))
    tree = xr.DataTree.from_dict(named)
    tree.attrs = {
        **made,
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
    dataset.attrs = {k: v if isinstance(v, str | int | float) else json.dumps(v) for k, v in dataset.attrs.items()}
    return dataset
