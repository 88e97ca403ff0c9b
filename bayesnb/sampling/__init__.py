"""Draws of the same posterior by PyMC, as an xarray DataTree that ArviZ reads and netCDF stores.

`sample` finds the model file, refuses what would not fit or not converge, runs the sampler, and names the coordinates;
`to_tree` puts exact, independent draws into the same container.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr
from scipy import sparse

from bayesnb import validate
from bayesnb.events.base import CountPosterior, Posterior
from bayesnb.sampling.aggregation import aggregate, chosen, lumping
from bayesnb.sampling.limits import at_least, refuse_small_concentration, refuse_too_large
from bayesnb.sampling.modelfiles import Documents, ModelFile, document_codes, find_model, first_line
from bayesnb.sampling.trees import DIMS, exact_groups, named, names_of

__all__ = ["Documents", "aggregate", "counted", "find_model", "names_of", "posterior_of", "sample", "to_tree"]

SAMPLERS = ("nutpie", "pymc", "exact")
LARGEST_FROZEN = 8_192
"""Up to so many cells of phi the data become constants of the compiled density: gradients at less than half the
price. Compiling takes minutes where they are many."""


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
        Documents and labels, for models that need them. An estimator takes what it was fitted on (texts, say), a
        posterior counts. -1, None and NaN mean that the class is unknown (-1 only where no class is called so).
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

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample(tc, draws=200, chains=2, sampler="exact")  # or by MCMC: sampler="nutpie", the default
    >>> dict(tree["posterior"].sizes)
    {'chain': 2, 'draw': 200, 'class': 2, 'token': 13}
    >>> drawn = tree["posterior"]["phi"].mean(("chain", "draw")).to_numpy()
    >>> bool(abs(drawn - tc.posterior_.phi.mean()).max() < 0.03)
    True
    """
    posterior = whole = posterior_of(clf_or_posterior)
    if tokens is not None:
        tokens = chosen(tokens)
        posterior = aggregate(whole, tokens)
    draws, chains = at_least(1, draws, "draws"), at_least(1, chains, "chains")
    tune, seed = at_least(0, tune, "tune"), at_least(0, seed, "seed")
    _choose_sampler(sampler)
    refuse_too_large(posterior, draws, chains, max_bytes)
    if sampler == "exact":
        _refuse_for_exact(posterior.event, model, form, X, y)
        groups = exact_groups(posterior, draws, chains, seed)
        made = {"model": posterior.event, "form": "closed", "tune": 0, "sampler_version": version("numpy")}
    else:
        file = find_model(posterior.event if model is None else model)
        _refuse_other_event(file, posterior)
        data = _data(file, clf_or_posterior, whole, posterior, tokens, X, y)
        settings = {"draws": draws, "tune": tune, "chains": chains, "random_seed": seed}
        settings |= {"progressbar": progress, "quiet": not progress}
        groups, form = _sampled(file, data, posterior, form, sampler, settings)
        made = {"model": file.name, "form": form, "tune": tune, "sampler_version": version(sampler)}
    lumped = tokens is not None and len(posterior.tokens) > len(tokens)
    made |= {"sampler": sampler, "seed": seed, "rest": names_of(posterior.tokens, "tokens")[-1] if lumped else ""}
    return named(groups, posterior, made)


def to_tree(clf_or_posterior: Any, draws: int = 1000, chains: int = 4, seed: int = 0, **options: Any) -> xr.DataTree:
    """Exact, independent draws in the container that `sample` returns.

    Parameters
    ----------
    clf_or_posterior, draws, chains, seed
        As in `sample`.
    **options
        `tokens` and `max_bytes` of `sample`.

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    ValueError
        As `sample`.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.sampling import to_tree
    >>> clf = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"])
    >>> tree = to_tree(clf, draws=100, chains=2)
    >>> dict(tree["posterior"].sizes), tree.attrs["sampler"]
    ({'chain': 2, 'draw': 100, 'class': 2, 'token': 3}, 'exact')
    """
    return sample(clf_or_posterior, draws=draws, chains=chains, seed=seed, sampler="exact", **options)


def posterior_of(clf_or_posterior: Any) -> Any:
    """Posterior of a fitted estimator; a posterior is returned as it is.

    Parameters
    ----------
    clf_or_posterior : estimator or Posterior

    Returns
    -------
    Posterior

    Raises
    ------
    ValueError
        It is neither, or the estimator is not fitted.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.sampling import posterior_of
    >>> clf = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"])
    >>> posterior_of(clf) is clf.posterior_
    True
    >>> posterior_of(bayesnb.MultinomialNB)
    Traceback (most recent call last):
        ...
    ValueError: expected a fitted estimator or a Posterior, got type without posterior_: fit it first
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


def _choose_sampler(sampler: str) -> None:
    if sampler not in SAMPLERS:
        raise ValueError(f"sampler must be one of {', '.join(SAMPLERS)}; got {sampler!r}")


def _refuse_for_exact(event: str, model: Any, form: Any, X: Any, y: Any) -> None:
    if (model is not None and model != event) or form is not None:
        raise ValueError(f"exact draws are of the closed form: leave model and form out, got {model!r}, {form!r}")
    if X is not None or y is not None:
        raise ValueError("exact draws are of the totals of the fit: leave X and y out")


def _refuse_other_event(file: ModelFile, posterior: Any) -> None:
    if file.ours and file.takes != posterior.event:
        raise ValueError(
            f"model {file.name} is of a {file.takes} posterior; this one is {posterior.event}: fit the estimator of "
            "that event model, or choose another model"
        )


def _sampled(
    file: ModelFile, data: Any, posterior: Any, form: str | None, sampler: str, settings: dict[str, Any]
) -> tuple[dict[str, xr.Dataset], str]:
    """Groups of the draws, and the form they were sampled in."""
    if file.name == posterior.event and isinstance(posterior, CountPosterior):
        refuse_small_concentration(posterior)
    size = data.X.size if file.needs_documents else posterior.statistics.n_classes * posterior.statistics.n_tokens
    if form is None and size > LARGEST_FROZEN:
        form = file.large
    model, start = file.build(data, posterior.prior, form), file.start(data, posterior.prior, form)
    groups = _run(model, file, sampler, size <= LARGEST_FROZEN, start, **settings)
    _complete(groups["posterior"], file, data, posterior.prior, settings["random_seed"])
    _warn_of_nan(groups["posterior"], file)
    return groups, form or (file.forms[0] if file.forms else "")


def _data(file: ModelFile, model: Any, whole: Any, posterior: Any, tokens: Any, X: Any, y: Any) -> Any:
    """What the model file's `build` takes: totals, or the documents in the columns that are sampled."""
    if not file.needs_documents:
        if X is not None or y is not None:
            raise ValueError(f"model {file.name} reads the totals of the fit: leave X and y out")
        return posterior.statistics
    if X is None or y is None:
        raise ValueError(
            f"model {file.name} needs the documents: give X and y (-1 or None for an unknown class); on the command "
            "line --data"
        )
    X, codes = counted(model, X, whole), document_codes(y, whole)
    if X.shape != (len(codes), len(whole.tokens)):
        raise ValueError(
            f"X has shape {X.shape}, expected {(len(codes), len(whole.tokens))}: a row a label, a column a token"
        )
    if tokens is not None:
        X = X @ lumping(whole, tokens)[0]
    return Documents(X, codes, len(whole.classes))


def counted(model: Any, X: Any, whole: Any) -> Any:
    """Documents as an estimator counts them, texts or presence too; a posterior knows of counts only.

    Parameters
    ----------
    model : estimator or Posterior
    X : documents
        As the estimator takes them; counts (N, V) for a posterior.
    whole : Posterior
        Of the estimator; names its columns.

    Returns
    -------
    scipy.sparse.csr_array, shape (N, V)

    Raises
    ------
    ValueError
        Invalid documents.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.sampling import counted
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> counted(tc, ["free free coffee"], tc.posterior_).toarray().tolist()  # of at, coffee, free, now, prices, ten
    [[0.0, 1.0, 2.0, 0.0, 0.0, 0.0]]
    """
    if isinstance(model, Posterior) or not hasattr(model, "_counts"):
        return validate.counts(X, "sample", whole.tokens)
    return sparse.csr_array(model._counts(X, model._fitted), dtype=np.float64)


def _run(
    model: Any, file: ModelFile, sampler: str, frozen: bool, start: dict[str, np.ndarray] | None, **settings: Any
) -> dict[str, xr.Dataset]:
    import pymc as pm
    from pymc.exceptions import SamplingError

    if sampler == "nutpie" and model.discrete_value_vars:
        names = ", ".join(variable.name for variable in model.discrete_value_vars)
        raise ValueError(
            f"model {file.name} has discrete variables ({names}), which nutpie cannot sample: sum them out, or give "
            "sampler='pymc'"
        )
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
    except (SamplingError, RuntimeError) as error:
        raise ValueError(
            f"model {file.name} could not be sampled: {first_line(error)} (where chains start, the density or its "
            "gradient may be no finite number, or the gradient of a coordinate exactly 0)"
        ) from error
    except Exception as error:
        if file.ours:
            raise
        raise ValueError(
            f"model {file.name} could not be sampled: {type(error).__name__}: {first_line(error)}"
        ) from error
    if tree["posterior"].sizes["draw"] < settings["draws"]:  # both samplers answer Ctrl-C with the draws so far
        raise KeyboardInterrupt
    groups = ("posterior", "sample_stats", "observed_data", "constant_data")
    return {group: tree[group].to_dataset() if group in tree else xr.Dataset() for group in groups}


def _complete(draws: xr.Dataset, file: ModelFile, data: Any, prior: Any, seed: int) -> None:
    """Add to the draws what the model has integrated out, drawn exactly given each of them; drop what it says."""
    known = {str(name): draws[name].values for name in draws.data_vars}
    for name, values in file.complete(known, data, prior, np.random.default_rng(seed)).items():
        if values is None:
            del draws[name]
            continue
        if np.shape(values)[:2] != (draws.sizes["chain"], draws.sizes["draw"]):
            raise ValueError(
                f"model {file.name}: complete gave {name} of shape {np.shape(values)}; it must start with chains and "
                f"draws, {(draws.sizes['chain'], draws.sizes['draw'])}"
            )
        draws[name] = (_dims(name, np.shape(values), data), values)


def _dims(name: str, shape: tuple[int, ...], data: Any) -> tuple[str, ...]:
    """Names of the dimensions: class and token where they fit."""
    if shape[2:] == (data.n_classes, data.n_tokens)[: len(shape) - 2]:
        return DIMS[: len(shape)]
    return (*DIMS[:2], *(f"{name}_dim_{i}" for i in range(len(shape) - 2)))


def _warn_of_nan(draws: xr.Dataset, file: ModelFile) -> None:
    for name, values in draws.data_vars.items():
        if not np.isfinite(values).all():
            warnings.warn(f"model {file.name}: some draws of {name} are not finite numbers", stacklevel=4)
