"""Prior and posterior predictive checks: what totals would the model have produced, beside those that were observed.

Given the parameters, totals of as many documents, tokens or values as were observed are drawn directly (for counts from
the multinomial law, the Dirichlet form of the model: the gamma form would also replicate the number of tokens, which
is an artefact of how it is written). The parameters are exact draws of prior or posterior, or those of a sampler.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb.events.base import Posterior
from bayesnb.families import Dirichlet

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["prior_draws", "replicate", "sample_posterior_predictive", "sample_prior_predictive"]

_DIMS = ("chain", "draw", "class", "token")


def sample_prior_predictive(clf_or_posterior: Any, draws: int = 1000, chains: int = 4, seed: int = 0) -> xr.DataTree:
    """Totals that the prior expects, for as many documents and tokens as were observed.

    Parameters
    ----------
    clf_or_posterior : estimator or Posterior
        A fitted estimator, or its `posterior_`: of every event model.
    draws, chains : int
        Independent draws in each chain, and chains.
    seed : int

    Returns
    -------
    xarray.DataTree
        Groups ``prior`` (the parameters), ``prior_predictive`` and ``observed_data``. The latter two hold ``n_class``
        (..., class), documents in each class out of N, and of the event model: ``n_token`` (..., class, token),
        occurrences out of N_k tokens (multinomial), documents out of n_k (Bernoulli) or values out of N_kj
        (categorical); or ``mean`` and ``M2`` of n_kj values (Gaussian), NaN and 0 where there are none.

    Raises
    ------
    ValueError
        Bad arguments, a Gaussian model without prior, or one whose values are too large for floating-point numbers;
        totals that would not fit in memory, or are fractional.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier(tokens="space").fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample_prior_predictive(tc, draws=100, chains=2)
    >>> dict(tree["prior_predictive"]["n_token"].sizes)
    {'chain': 2, 'draw': 100, 'class': 2, 'token': 14}
    >>> tree["prior_predictive"]["n_class"].sum("class").to_numpy().min().item()  # always five documents
    5.0
    """
    from bayesnb.sampling.trees import finite_draws

    posterior = _posterior(clf_or_posterior, draws, chains, seed)
    parameters = finite_draws(posterior, prior_draws, posterior, draws, chains, seed)
    return _tree(posterior, parameters, "prior", "prior_predictive", seed)


def sample_posterior_predictive(
    clf_or_posterior: Any, tree: xr.DataTree | None = None, draws: int = 1000, chains: int = 4, seed: int = 0
) -> xr.DataTree:
    """Totals that would be observed if the same number of documents and tokens were collected again.

    Parameters
    ----------
    clf_or_posterior : estimator or Posterior
        Whose totals were observed.
    tree : xarray.DataTree, optional
        Draws of `sample`, of any model that has theta and phi (or mu and sigma2), for the same classes and tokens. By
        default exact draws of the posterior.
    draws, chains : int
        Exact draws in each chain, and chains, where no tree is given.
    seed : int

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``posterior_predictive`` and ``observed_data``, as `sample_prior_predictive`.

    Raises
    ------
    ValueError
        Bad arguments, a Gaussian model without prior, draws of another event model, of other classes or tokens or that
        are no probabilities; totals that would not fit in memory, or are fractional.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier(tokens="space").fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample_posterior_predictive(tc, draws=500, chains=2)
    >>> spam = {"class": "spam", "token": "investors"}
    >>> seen = tree["observed_data"]["n_token"].sel(spam).item()
    >>> again = tree["posterior_predictive"]["n_token"].sel(spam)
    >>> seen, bool(0.05 < (again >= seen).mean() < 0.95)  # as often as this model expects
    (4.0, True)
    """
    posterior = _posterior(clf_or_posterior, draws, chains, seed)
    parameters = parameters_of(posterior, tree, draws, chains, seed)
    if tree is not None and (other := {"s", "flip_rate"} & set(tree["posterior"].data_vars)):
        raise ValueError(
            f"the draws hold {min(other)}, by which documents do not follow phi alone: totals say nothing of that; use "
            "bayesnb.checks.documents.sample_documents"
        )
    return _tree(posterior, parameters, "posterior", "posterior_predictive", seed)


def prior_draws(posterior: Posterior, draws: int, chains: int, seed: Any) -> dict[str, np.ndarray]:
    """Exact draws of the parameters from the prior, as `Posterior.draw` gives them from the posterior."""
    return replace(posterior, statistics=posterior.statistics - posterior.statistics).draw(draws, chains, seed)


def replicate(posterior: Any, parameters: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Totals drawn for each draw of the parameters, as many documents, tokens or values as the posterior's statistics.

    Parameters
    ----------
    posterior : Posterior
        Its statistics say how many.
    parameters : dict of str to ndarray
        ``theta`` (..., K), and ``phi`` or ``mu`` and ``sigma2`` (..., K, V).
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to ndarray
        ``n_class`` (..., K), and ``n_token`` or ``mean`` and ``M2`` (..., K, V).
    """
    n = posterior.statistics
    totals = {"n_class": rng.multinomial(int(_whole(n.class_count.sum())), parameters["theta"]).astype(float)}
    if posterior.event == "gaussian":
        return totals | _moments(n.n, parameters["mu"], parameters["sigma2"], rng)
    phi = parameters["phi"]
    if posterior.event == "bernoulli":
        return totals | {"n_token": rng.binomial(_whole(n.class_count)[:, None], phi).astype(float)}
    block = getattr(n, "block", np.zeros(n.n_tokens, int))
    counts = np.empty(phi.shape)
    for j in np.unique(block):
        of_column = block == j
        trials = _whole(n.feature_count[:, of_column].sum(axis=1))
        counts[..., of_column] = rng.multinomial(trials, phi[..., of_column])
    return totals | {"n_token": counts}


def _moments(n: np.ndarray, mu: np.ndarray, sigma2: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Mean ~ Normal(mu, sigma2/n) and, independently, M2 ~ sigma2 chi-square(n - 1)."""
    n = _whole(n)
    some = np.maximum(n, 1)
    mean = np.where(n > 0, mu + np.sqrt(sigma2 / some) * rng.standard_normal(mu.shape), np.nan)
    chi2 = 2 * rng.standard_gamma(np.maximum((n - 1) / 2, 0), mu.shape)
    return {"mean": mean, "M2": sigma2 * chi2}


def _whole(counts: np.ndarray) -> np.ndarray:
    if (counts != np.floor(counts)).any():
        raise ValueError("totals are fractional: documents of fractional weight cannot be drawn again")
    if counts.max(initial=0) >= 2**63:
        raise ValueError(f"a total of {counts.max():.3g} is too large to be drawn again; the most is 2**63 - 1")
    return counts.astype(np.int64)


def _posterior(clf_or_posterior: Any, draws: Any, chains: Any, seed: Any) -> Posterior:
    from bayesnb.sampling import posterior_of  # loads xarray
    from bayesnb.sampling.limits import at_least, refuse_too_large

    posterior = posterior_of(clf_or_posterior)
    at_least(0, seed, "seed")
    draws, chains = at_least(1, draws, "draws"), at_least(1, chains, "chains")
    # parameters, and replicated totals of the same size
    refuse_too_large(posterior, draws, chains, copies=2, ways_out="choose fewer draws or chains")
    return posterior


def parameters_of(
    posterior: Posterior, tree: Any, draws: int, chains: int, seed: int, others: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:
    """Parameters by name, exact draws where there is no tree; theta, where it is known, from the posterior.

    Raises
    ------
    ValueError
        As `sample_posterior_predictive` does.
    """
    from bayesnb.checks.agreement import drawn_parameters
    from bayesnb.sampling.trees import finite_draws

    if tree is None:
        return finite_draws(posterior, posterior.draw, draws, chains, seed)
    held = drawn_parameters(tree, posterior)
    _refuse_other_names(held, posterior)
    found = {}
    for name in [name for name in ("theta", *posterior.parameters, *others) if name in held]:
        found[name] = held[name].transpose("chain", "draw", "class", "token", missing_dims="ignore").values
        if not np.isfinite(found[name]).all() or (name in ("theta", "phi") and (found[name] < 0).any()):
            raise ValueError(f"draws of {name} are not finite, or no probabilities: the sampler has failed")
    if "theta" not in found and isinstance(posterior.theta, Dirichlet) and len(posterior.classes) > 1:
        raise ValueError("the draws hold no theta, which this posterior has: was the class prior known for them?")
    shape = (held.sizes["chain"], held.sizes["draw"], len(posterior.classes))
    return {"theta": np.broadcast_to(posterior.theta.mean(), shape)} | found


def _refuse_other_names(draws: xr.Dataset, posterior: Posterior) -> None:
    from bayesnb.sampling import names_of

    own = {"class": names_of(posterior.classes, "classes"), "token": names_of(posterior.tokens, "tokens")}
    for dim, expected in own.items():
        if dim not in draws.coords or [str(name) for name in draws[dim].values] != expected:
            raise ValueError(f"the draws are not of the {dim} names of this posterior; give the one they were drawn of")


def _tree(posterior: Any, parameters: dict[str, np.ndarray], group: str, predictive: str, seed: int) -> xr.DataTree:
    import xarray as xr

    from bayesnb.sampling import names_of

    # a stream of its own: the exact draws are made from the seed itself
    totals = replicate(posterior, parameters, np.random.default_rng([seed, 1]))
    n = posterior.statistics
    observed = {"n_class": n.class_count}
    observed |= {"n_token": n.feature_count} if "n_token" in totals else {"mean": n.mean, "M2": n.M2}
    if not isinstance(posterior.theta, Dirichlet):
        parameters = {name: values for name, values in parameters.items() if name != "theta"}
    names = {"class": names_of(posterior.classes, "classes"), "token": names_of(posterior.tokens, "tokens")}
    coords = {dim: np.array(values, object) for dim, values in names.items()}
    chains, draws = totals["n_class"].shape[:2]
    coords |= {"chain": np.arange(chains), "draw": np.arange(draws)}
    groups = {group: (parameters, 0), predictive: (totals, 0), "observed_data": (observed, 2)}
    return xr.DataTree.from_dict({f"/{name}": _dataset(*arrays, coords) for name, arrays in groups.items()})


def _dataset(arrays: dict[str, np.ndarray], first: int, coords: dict[str, np.ndarray]) -> xr.Dataset:
    import xarray as xr

    placed = {name: (_DIMS[first : first + values.ndim], values) for name, values in arrays.items()}
    used = {dim for dims, _ in placed.values() for dim in dims}
    return xr.Dataset(placed, {dim: values for dim, values in coords.items() if dim in used})
