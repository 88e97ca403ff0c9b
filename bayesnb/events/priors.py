"""From the estimators' arguments to concentrations of phi: one rule for every event model over counts.

Adding s to each count is the mode under a prior of concentration 1 + s and the mean under concentration s, so what
`alpha` means depends on the estimate; `prior` is the concentration itself, whatever the estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb import given, validate
from bayesnb.events.empirical import NAMES
from bayesnb.families import Beta, Dirichlet

NAMED = {"laplace": None, "uniform": 1.0, "jeffreys": 0.5}


def laplace_concentration(alpha: Any, estimate: str) -> np.ndarray:
    """Concentration under which `estimate` is Laplace smoothing by `alpha`: 1 + alpha, alpha, or 1 for the mle.

    Parameters
    ----------
    alpha : number or array_like, shape (V,)
        Pseudo-count, >= 0.
    estimate : {"mle", "map", "mean", "predictive"}

    Raises
    ------
    ValueError
        alpha is negative or not a number, or 0 where the prior would be improper.
    """
    s = pseudo_count(alpha)
    if validate.estimate(estimate) == "mle":
        return np.ones_like(s)
    if estimate == "map":
        return 1.0 + s
    if not (s > 0).all():
        raise ValueError(f"alpha = 0 with estimate={estimate!r} is an improper prior; use estimate='mle' or alpha > 0")
    return s


def pseudo_count(alpha: Any, n_tokens: int | None = None) -> np.ndarray:
    """Laplace pseudo-count: a number, or one a token; of that many tokens, shape (V,), where their number is given.

    Raises
    ------
    ValueError
        It is negative, above 1e100 or no number, or of another length.
    """
    demand = "alpha must be a number >= 0, or one a token"
    s = given.floats(alpha, demand)
    if s.ndim > 1 or not (np.isfinite(s) & (s >= 0)).all():
        raise ValueError(f"{demand}; got {given.shown(alpha)}")
    if (s > validate.MOST).any():
        ends = f"between {validate.LEAST:g} and {validate.MOST:g}"
        raise ValueError(f"alpha must be 0 or lie {ends}, got {s.max():g}")
    if n_tokens is None:
        return s
    if s.shape not in ((), (1,), (n_tokens,)):
        raise ValueError(f"alpha has {len(s)} entries, but there are {n_tokens} tokens; give a number, or one a token")
    return np.broadcast_to(s, (n_tokens,))


def mean_alpha(alpha: Any) -> float:
    """Mean concentration of a token under Laplace's prior with the mean as estimate; what "background" spreads."""
    return float(laplace_concentration(alpha, "mean").mean())


def concentration(prior: Any, alpha: Any, estimate: str) -> Any:
    """Concentration of phi before broadcasting: a number, an array, a `Beta` or a `Dirichlet`.

    Raises
    ------
    ValueError
        An unknown name, or a named prior below 1 with an estimate that needs a mode.
    """
    if prior is None or (isinstance(prior, str) and prior == "laplace"):
        return laplace_concentration(alpha, estimate)
    if isinstance(prior, str):
        if prior.partition(":")[0] in NAMES:  # the others read these before they come here
            raise ValueError(f"prior={prior!r} is for the multinomial and Bernoulli models; give a concentration here")
        if prior not in NAMED:
            raise ValueError(f"prior {given.shown(prior)} is not known; named priors are {', '.join([*NAMED, *NAMES])}")
        if estimate == "map" and NAMED[prior] < 1:  # type: ignore[operator]
            raise ValueError(
                f"prior={prior!r} has concentrations below 1, where a mode may not exist; "
                "use estimate='mean' or 'predictive'"
            )
        return NAMED[prior]
    if isinstance(prior, (Beta, Dirichlet)):
        return prior
    return validate.concentration(prior)


def smoothing(prior: Any, alpha: Any, estimate: str, shape: tuple[int, int]) -> np.ndarray | None:
    """Concentration less 1 where it is known better than from 1 + alpha, which rounds a small alpha away."""
    if estimate != "map" or not (prior is None or (isinstance(prior, str) and prior == "laplace")):
        return None
    return np.broadcast_to(np.asarray(alpha, np.float64), shape)


def describe(name: str, a: np.ndarray) -> str:
    """One phrase for tables, such as ``phi ~ Dirichlet(2)``."""
    first = a.flat[0] if a.size else np.nan
    return f"{name}({first:.12g})" if (a == first).all() else f"{name}(per token)"
