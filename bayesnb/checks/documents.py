"""Predictive checks of single documents: what a model's documents would look like, beside those that were observed.

Totals cannot show whether tokens come in bursts: the multinomial model fits every total, and still writes documents in
which hardly a token is repeated. So documents of the observed lengths and classes are drawn again, and a number that is
computed of each is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import validate
from bayesnb.em import label_evidence
from bayesnb.families import Dirichlet

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["repeats", "sample_documents"]

_CELLS = 4_000_000  # so many counts are drawn at a time


def repeats(X: np.ndarray) -> np.ndarray:
    """Share of each document's tokens that were in it before: 1 - distinct tokens / tokens, 0 where it is empty.

    Parameters
    ----------
    X : ndarray, shape (N, V)
        Counts.

    Returns
    -------
    ndarray, shape (N,)
    """
    n = X.sum(axis=1)
    return 1 - np.divide((X > 0).sum(axis=1), n, out=np.ones(len(X)), where=n > 0)


def sample_documents(
    clf_or_posterior: Any,
    X: Any,
    y: Any,
    tree: xr.DataTree | None = None,
    statistic: Callable[[np.ndarray], np.ndarray] = repeats,
    draws: int = 100,
    chains: int = 4,
    seed: int = 0,
) -> xr.DataTree:
    """A statistic of documents drawn from the posterior predictive, of the lengths and classes that were observed.

    Parameters
    ----------
    clf_or_posterior : estimator or Posterior
        Of the multinomial event model.
    X, y : array_like, shapes (N, V) and (N,)
        Documents and labels, as `sample` takes them. A document of unknown class, or whose label may be wrong by the
        draws' ``flip_rate``, is given a class with the probability that it has under each draw.
    tree : xarray.DataTree, optional
        Draws of `sample`: of theta and phi, with ``s`` those of bursty documents. By default exact draws.
    statistic : callable
        Takes counts (N, V) and returns a number for each document (N,); by default `repeats`.
    draws : int
        Replicates of each chain, spread over it where a tree holds more.
    chains : int
        Of exact draws.
    seed : int

    Returns
    -------
    xarray.DataTree
        Groups ``posterior_predictive``, with ``statistic`` (chain, draw, document), and ``observed_data``, with
        ``statistic`` (document).

    Raises
    ------
    ValueError
        Bad arguments, another event model, draws of other classes or tokens, or fractional counts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb import MultinomialNB
    >>> from bayesnb.checks.documents import sample_documents
    >>> X, y = np.array([[6, 0, 0], [0, 6, 0], [0, 0, 6]]), [0, 0, 0]
    >>> found = sample_documents(MultinomialNB().fit(X, y), X, y)
    >>> observed = found["observed_data"]["statistic"].mean().item()
    >>> bool((found["posterior_predictive"]["statistic"].mean("document") < observed).mean() > 0.99)
    True
    """
    import xarray as xr

    from bayesnb.checks.predictive import parameters_of
    from bayesnb.sampling import counted, posterior_of
    from bayesnb.sampling.limits import at_least, refuse_too_large
    from bayesnb.sampling.modelfiles import document_codes

    posterior = posterior_of(clf_or_posterior)
    draws, chains, seed = at_least(1, draws, "draws"), at_least(1, chains, "chains"), at_least(0, seed, "seed")
    if tree is None:
        refuse_too_large(posterior, draws, chains, ways_out="choose fewer draws or chains")
    if posterior.event != "multinomial":
        raise ValueError(f"documents are drawn by the multinomial event model; this posterior is {posterior.event}")
    counts = np.asarray(counted(clf_or_posterior, X, posterior).todense())
    codes = document_codes(y, posterior)
    if counts.shape != (len(codes), len(posterior.tokens)) or (counts != np.floor(counts)).any():
        raise ValueError(f"X of shape {counts.shape} must hold whole counts: a row a label, a column a token")
    known = _spread(parameters_of(posterior, tree, draws, chains, seed, ("s", "flip_rate")), draws)
    rng = np.random.default_rng([seed, 2])
    found = np.empty((*known["theta"].shape[:2], len(codes)))
    for at in np.ndindex(found.shape[:2]):
        found[at] = _replicate({name: values[at] for name, values in known.items()}, counts, codes, statistic, rng)
    dims = ("chain", "draw", "document")
    return xr.DataTree.from_dict(
        {
            "/posterior_predictive": xr.Dataset({"statistic": (dims, found)}),
            "/observed_data": xr.Dataset({"statistic": (dims[2:], _of(statistic, counts))}),
        }
    )


def _spread(parameters: dict[str, np.ndarray], draws: int) -> dict[str, np.ndarray]:
    """At most so many draws of each chain, evenly spread over it."""
    n = parameters["theta"].shape[1]
    at = np.unique(np.linspace(0, n - 1, min(draws, n)).round().astype(int))
    return {name: values[:, at] for name, values in parameters.items()}


def _replicate(
    draw: dict[str, np.ndarray], X: np.ndarray, codes: np.ndarray, statistic: Any, rng: np.random.Generator
) -> np.ndarray:
    """The statistic of one replicate of every document."""
    k = _classes(draw, X, codes, rng)
    lengths, found = X.sum(axis=1).astype(np.int64), np.empty(len(X))
    step = max(_CELLS // X.shape[1], 1)
    for i in range(0, len(X), step):
        rows = slice(i, i + step)
        p = draw["phi"][k[rows]]
        if "s" in draw:
            p = Dirichlet(np.maximum(draw["s"][k[rows], None] * p, validate.LEAST)).draw(rng)
        found[rows] = _of(statistic, rng.multinomial(lengths[rows], p))
    return found


def _classes(draw: dict[str, np.ndarray], X: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels where they are sure; else drawn from P(y | label, tokens, parameters), by the largest of Gumbel noise."""
    rate = float(draw.get("flip_rate", 0.0))
    if rate == 0 and (codes >= 0).all():
        return codes
    log_phi = np.log(np.maximum(draw["phi"], np.finfo(float).tiny))  # a draw that is 0 is of such a size
    with np.errstate(divide="ignore"):
        joint = X @ log_phi.T + np.log(draw["theta"]) + label_evidence(codes, len(log_phi), rate)
    return (joint + rng.gumbel(size=joint.shape)).argmax(axis=1)


def _of(statistic: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> np.ndarray:
    found = np.asarray(statistic(X), float)
    if found.shape != (len(X),):
        raise ValueError(f"statistic gave shape {found.shape} for {len(X)} documents; it must give a number for each")
    return found
