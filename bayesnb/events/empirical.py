"""Priors computed from the totals when a posterior is formed: background shares, evidence-maximising strength.

Both are of the form a_kj = S m_j, the same for every class: m_j is the token's share of all occurrences (background) or
1/V, and S, the total strength, is given or the one that maximises the evidence sum_k log B(a + n_k) - log B(a) [1].
For the Bernoulli model they are Beta(S r_j, S (1 - r_j)), r_j the share of all documents that hold the token, or 1/2.

The maximisation is over this one number only. Over a whole free vector it is degenerate where classes are few: with two
classes, a token that both use alike drives its concentration without bound, and one that neither uses drives it to 0.

References
----------
.. [1] T. Minka, Estimating a Dirichlet distribution, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import special

from bayesnb.given import real, shown
from bayesnb.special import log_rising

NAMES = ("background", "empirical", "empirical-background")
BOUNDS = (1e-3, 1e6)  # of the mean concentration of a cell: evidence may rise for ever towards either end


@dataclass(frozen=True)
class Rule:
    """A named prior that needs the totals.

    Attributes
    ----------
    name : {"background", "empirical", "empirical-background"}
    strength : float or None
        Total strength of "background"; None: that of Laplace's prior with the same alpha.
    """

    name: str
    strength: float | None = None

    @property
    def of_background(self) -> bool:
        """Concentrations are proportional to overall shares, not all alike."""
        return self.name != "empirical"


def canonical(prior: Any) -> Any:
    """``("background", 500)`` as the name "background:500", which a model file can hold; anything else as it is."""
    if isinstance(prior, (tuple, list)) and len(prior) == 2 and isinstance(prior[0], str):
        name, strength = prior
        return f"{name}:{real(strength)!r}" if isinstance(strength, (Real, np.number)) else f"{name}:{shown(strength)}"
    return prior


def rule(prior: Any, estimate: str) -> Rule | None:
    """Read a prior's name; None where it is not computed from the totals.

    Raises
    ------
    ValueError
        The strength is no number above 0 or does not belong to the name, or the estimate needs a mode.
    """
    prior = canonical(prior)
    name, colon, given = prior.partition(":") if isinstance(prior, str) else ("", "", "")
    if name not in NAMES:
        return None
    if colon and name != "background":
        raise ValueError(f"prior={prior!r}: {name!r} takes no strength, it finds its own")
    if estimate == "map":
        raise ValueError(
            f"prior={prior!r} may have concentrations below 1, where a mode may not exist; "
            "use estimate='mean' or 'predictive'"
        )
    return Rule(name, _strength(prior, given) if colon else None)


def _strength(prior: str, given: str) -> float:
    try:
        strength = float(given)
    except ValueError:
        strength = np.nan
    if not 0 < strength < np.inf:
        raise ValueError(f"prior={prior!r}: the strength must be a number above 0, such as 'background:500'")
    return strength


def shares(count: np.ndarray, total: float, cells: int) -> np.ndarray:
    """Shares (n_j + 1)/(N + cells): each token's of all occurrences, with one more seen of each as the floor."""
    return (count + 1) / (total + cells)


def best_strength(share: np.ndarray, count: np.ndarray, sign: np.ndarray, cells: int) -> float:
    """Strength S that maximises sum_t sign_t log[Gamma(S m_t + n_t)/Gamma(S m_t)].

    Parameters
    ----------
    share, count, sign : ndarray, shape (T,)
        m_t, n_t, and +1 for a cell or -1 for a total. Equal terms are counted once.
    cells : int
        How many share the strength; `BOUNDS` are of S/cells.

    Returns
    -------
    float
        Where the evidence is flat, as without data, `cells`: a mean concentration of 1.
    """
    seen = count > 0
    terms, inverse = np.unique(np.stack([share[seen], count[seen]], axis=1), axis=0, return_inverse=True)
    weight = np.bincount(inverse.ravel(), sign[seen], len(terms))
    m, n = terms.T

    def evidence(log_s: float) -> float:
        return float(weight @ log_rising(np.exp(log_s) * m, n))

    def slope(log_s: float) -> float:
        a = np.exp(log_s) * m
        return float(weight @ (a * (special.digamma(a + n) - special.digamma(a))))

    grid = np.log(cells) + np.linspace(np.log(BOUNDS[0]), np.log(BOUNDS[1]), 64)
    values = np.array([evidence(log_s) for log_s in grid])
    if np.ptp(values) <= 1e-9 * np.abs(values).max(initial=1.0):
        return float(cells)
    at = int(values.argmax())
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    if slope(low) <= 0 or slope(high) >= 0:  # no maximum inside: the evidence rises towards a bound
        return float(np.exp(grid[at]))
    for _ in range(60):  # halved to rounding
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return float(np.exp((low + high) / 2))
