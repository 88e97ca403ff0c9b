"""Which classes are compared, and in which order; the pooled rest of the classes as a class of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesnb import given
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta
from bayesnb.given import shown
from bayesnb.validate import _plain

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sides:
    """Whose phi is divided by whose.

    Parameters
    ----------
    posterior : Posterior
        That holds the classes compared.
    rows : ndarray, shape (G,)
        Numbers of the classes that take part.
    pairs : ndarray, shape (P, 2)
        Numerator and denominator of each pair, as places in `rows`.
    told : dict
        What to call them.
    """

    posterior: Any
    rows: Index
    pairs: Index
    told: dict[str, Any]


def compared(posterior: Any, numerator: Any, denominator: Any) -> Sides:
    """Find the classes named; a numerator alone stands against the rest, and nobody named means every pair.

    Raises
    ------
    ValueError
        See `token_ratios`.
    """
    classes = [_plain(c) for c in posterior.classes]
    if len(classes) < 2:
        raise ValueError(f"ratios compare two classes; the model has only {', '.join(map(shown, classes)) or 'none'}")
    if posterior.event == "multinomial" and len(posterior.tokens) == 1:
        token = shown(posterior.tokens[0])
        raise ValueError(f"token {token} is the only one, of probability 1 in every class: there is no ratio to judge")
    if numerator is None:
        if denominator is not None:
            other = shown(denominator)
            raise ValueError(f"denominator {other} needs a numerator; give both, or neither for every pair")
        every = np.arange(len(classes))
        return Sides(posterior, every, np.array(list(combinations(every, 2))), {})
    first = _class_row(classes, numerator)
    if denominator is None and len(classes) > 2:
        others = np.delete(np.arange(len(classes)), first)
        rest = "rest"
        while rest in classes:
            rest = f"the {rest}"
        told = {"numerator": numerator, "denominator": rest, "pooled": [classes[k] for k in others]}
        return Sides(_against_rest(posterior, first, others, rest), np.arange(2), np.array([[0, 1]]), told)
    denominator = classes[1 - first] if denominator is None else denominator
    second = _class_row(classes, denominator)
    if first == second:
        listed = ", ".join(map(shown, classes))
        raise ValueError(f"numerator and denominator are both {shown(numerator)}; choose two of the classes {listed}")
    told = {"numerator": numerator, "denominator": denominator}
    return Sides(posterior, np.array([first, second]), np.array([[0, 1]]), told)


def _class_row(classes: list[Any], label: Any) -> int:
    label = _plain(label)
    if not given.is_name(label) or label not in classes:
        raise ValueError(f"unknown class {shown(label)}; there are {', '.join(map(shown, classes))}")
    return classes.index(label)


def _against_rest(posterior: Any, k: int, others: Index, rest: str) -> Any:
    """The posterior of two classes: number k, and the others pooled under the prior that they share."""
    prior, statistics, rows = posterior.prior, posterior.statistics, [k, int(others[0])]
    beta = isinstance(prior.phi, Beta)
    for shape in (prior.phi.a, prior.phi.b) if beta else (prior.phi,):
        differs = np.argwhere(shape[others] != shape[others[0]])
        if len(differs):
            one, two = (shown(posterior.classes[others[i]]) for i in (0, differs[0][0]))
            token = shown(posterior.tokens[differs[0][1]])
            raise ValueError(
                f"classes {one} and {two} have different priors of token {token}, so they cannot be pooled; "
                "name two classes, or give a prior that all classes share"
            )
    pooled = replace(
        prior,
        theta=ClassPrior(concentration=np.ones(2)),
        phi=Beta(prior.phi.a[rows], prior.phi.b[rows]) if beta else prior.phi[rows],
        smoothing=None if prior.smoothing is None else prior.smoothing[rows],
    )
    totals = (np.stack([v[k], v[others].sum(axis=0)]) for v in (statistics.class_count, statistics.feature_count))
    names = np.array([posterior.classes[k], rest], dtype=object)
    return type(posterior)(pooled, type(statistics)(*totals), names, posterior.tokens)


def token_columns(posterior: Any, tokens: Iterable[Any] | None) -> Index:
    """Columns of the tokens asked for."""
    names = list(posterior.tokens)
    if tokens is None:
        return np.arange(len(names))
    if isinstance(tokens, str):
        tokens = [tokens]
    place = {name: i for i, name in enumerate(names)}
    wanted = given.listed(tokens, "tokens must be a list of tokens")
    unknown = [t for t in wanted if not given.is_name(t) or t not in place]
    if unknown:
        few = ", ".join(map(shown, names[:10])) + (", ..." if len(names) > 10 else "")
        first = f"unknown token {shown(unknown[0])} ({len(unknown)} in all)"
        raise ValueError(f"{first}; the {len(names)} tokens are {few}")
    return np.array([place[t] for t in wanted], dtype=np.intp)


def index_of(names: Array) -> pd.Index:
    """Names of classes or tokens; strings as objects, since those of Arrow hold no lone surrogate."""
    import pandas as pd

    return pd.Index(names, dtype=object if names.dtype.kind in "OU" else None)


def row_index(sides: Sides, names: Array, *, every: bool) -> pd.Index:
    """Tokens; where every pair is shown (numerator, denominator, token), from codes: a list of tuples would be slow."""
    import pandas as pd

    if not every:
        return index_of(names).rename("token")
    codes, levels = pd.factorize(names)
    first, second = (np.repeat(side, len(names)) for side in sides.pairs.T)
    classes = index_of(sides.posterior.classes)
    arrays: list[Any] = [first, second, np.tile(codes, len(sides.pairs))]
    sides_and_tokens: list[Any] = [classes, classes, index_of(np.asarray(levels))]
    return pd.MultiIndex(levels=sides_and_tokens, codes=arrays, names=["numerator", "denominator", "token"])
