"""A smaller model of chosen tokens that is exact: every other token lumped into one cell.

Under a Dirichlet, cells that are lumped add their concentrations and their counts (the sum of independent gammas of
one rate is a gamma); under independent Betas a column can simply be left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesnb.events.base import CountPosterior, Posterior
from bayesnb.families import Beta
from bayesnb.given import is_name, listed, shown


def aggregate(posterior: CountPosterior, tokens: Iterable[Any]) -> CountPosterior:
    """Posterior of the chosen tokens, in the order given.

    Parameters
    ----------
    posterior : Posterior or fitted estimator
        Of V tokens.
    tokens : iterable
        Tokens of the vocabulary, each once.

    Returns
    -------
    Posterior
        Multinomial: of the chosen tokens and a last cell ``other`` that lumps the rest (named ``(other)`` where the
        vocabulary has a token ``other``; absent where every token was chosen). Bernoulli: of the chosen tokens.
        Its `phi` is exactly the margin of the given posterior's.

    Raises
    ------
    ValueError
        A token is unknown or given twice, or none is given.

    Examples
    --------
    >>> from bayesnb.events.multinomial import Posterior, Prior, Statistics
    >>> from bayesnb.events.theta import ClassPrior
    >>> from bayesnb.sampling import aggregate
    >>> import numpy as np
    >>> prior = Prior(ClassPrior(concentration=np.ones(1)), np.ones((1, 4)))
    >>> small = aggregate(Posterior(prior, Statistics([1], [[5, 0, 2, 1]]), tokens=["a", "b", "c", "d"]), ["c"])
    >>> small.phi.concentration, list(small.tokens)
    (array([[3., 9.]]), ['c', 'other'])
    """
    posterior = getattr(posterior, "posterior_", posterior)
    if not isinstance(posterior, Posterior):
        raise TypeError(f"a posterior or a fitted estimator is needed, got {shown(posterior)}")
    if posterior.event == "gaussian":
        return _columns(posterior, positions(posterior, tokens))
    lump, names = lumping(posterior, tokens)
    statistics = posterior.statistics
    small = type(statistics)(statistics.class_count, statistics.feature_count @ lump)
    phi = posterior.prior.phi
    phi = Beta(phi.a @ lump, phi.b @ lump) if isinstance(phi, Beta) else phi @ lump
    return replace(posterior, prior=replace(posterior.prior, phi=phi), statistics=small, tokens=names)


def _columns(posterior: Any, at: list[int]) -> Any:
    """Posterior of some columns of measurements: all are independent, so that the others can simply be left out."""
    normal = posterior.normal_prior
    normal = type(normal)(*(part[:, at] for part in normal.parameters))
    statistics = posterior.statistics.select(slice(None), at)
    prior = replace(posterior.prior, normal=normal)
    return replace(posterior, prior=prior, statistics=statistics, tokens=posterior.tokens[at])


def lumping(posterior: CountPosterior, tokens: Iterable[Any]) -> tuple[sparse.csr_array, np.ndarray]:
    """Which new cell each token goes to, as a 0/1 matrix (V, cells), and the names of the cells."""
    if posterior.event == "categorical":
        raise ValueError("cells of several columns cannot be lumped into one: leave tokens out and sample all of them")
    at = positions(posterior, tokens)
    chosen = sparse.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(posterior.tokens), len(at)))
    names = posterior.tokens[at]
    if posterior.event != "multinomial" or len(at) == len(posterior.tokens):
        return chosen, names
    rest = np.ones((len(posterior.tokens), 1))
    rest[at] = 0
    named = np.empty(len(at) + 1, object)
    named[:-1], named[-1] = names.tolist(), rest_name(posterior)
    return sparse.csr_array(sparse.hstack([chosen, sparse.csr_array(rest)])), named


def positions(posterior: CountPosterior, tokens: Iterable[Any]) -> list[int]:
    """Where the chosen tokens are in the vocabulary.

    Raises
    ------
    ValueError
        A token is unknown or given twice, or none is given.
    """
    at: dict[int, Any] = {}
    for token in chosen(tokens):
        j = posterior.token_index(token)
        if j in at:
            raise ValueError(f"token {token!r} is chosen twice in tokens")
        at[j] = token
    return list(at)


def chosen(tokens: Any) -> list[Any]:
    """Tokens as a list of at least one name; ValueError where they are something else, such as a single token."""
    found = listed(tokens, f"write tokens=[{shown(tokens)}]: tokens must be a list of tokens")
    if not found:
        raise ValueError("tokens is empty; choose at least one token, or leave it out for all")
    for token in found:
        if not is_name(token):
            raise ValueError(f"tokens must be a list of names, got {shown(token)} in it")
    return found


def rest_name(posterior: CountPosterior) -> str:
    """Name of the cell that lumps the tokens not chosen; no token of the vocabulary is called so."""
    name, taken = "other", set(map(str, posterior.tokens.tolist()))
    while name in taken:
        name = f"({name})"
    return name
