"""Do draws agree with the closed form? Every parameter, in units of the Monte Carlo error.

Draws of unknown quality are first gated on r_hat and effective sample size. Then the means of phi, of log phi and of
(phi - E phi)^2 are compared with their exact values, and so is theta unless it is known. The Gaussian model's sigma2 is
compared on the log scale and its mu on a bounded one, where all moments exist. Means of phi alone are too
weak: doubling prior and data together leaves every one unchanged, and only the spread tells.

Each mean has the Monte Carlo error of its own effective sample size. The gate of 400 is on the parameters themselves;
squares mix more slowly, and a tenth of the draws is enough to know their error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import special

from bayesnb.blocks import BlockDirichlet
from bayesnb.checks.moments import Margin, exact_moments, judged, normal_score, transform
from bayesnb.events.base import Posterior
from bayesnb.families import Beta, Dirichlet
from bayesnb.sampling import names_of, posterior_of
from bayesnb.sampling.aggregation import aggregate
from bayesnb.sampling.convergence import effective_size, r_hat

if TYPE_CHECKING:
    import xarray as xr

MINIMUM_ESS = 400
"""Of each parameter. Below it the Monte Carlo error itself is not known well (Vehtari et al. 2021 ask for 100 from each
of 4 chains)."""
MINIMUM_ESS_OF_SPREAD = 100
"""Of log phi and of squared deviations: their means are then known to a tenth of a standard deviation. A right run of
2 x 500 draws of 20,000 tokens leaves 152 for the least of 80,000 of them."""
MAXIMUM_R_HAT = 1.05
"""The largest of thousands at an effective size of 400 reaches 1.03 by chance; chains that disagree exceed 1.1."""
FALSE_ALARM = 3e-7
"""Chance that correct means of known error fail on one side: 5 standard errors for a single comparison. The error is
estimated, within some 5 % at 1000 independent draws; over 100,000 comparisons that makes it some 2e-6."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Result of `check_agreement`.

    Parameters
    ----------
    table : DataFrame
        A row a comparison: parameter, class, token (empty for theta), quantity, sampled (mean of the draws), exact, z,
        ess, and the parameter's r_hat (NaN for a single chain).
    threshold : float
        Largest ``|z|`` that passes.
    n_divergences : int
        Divergent transitions after tuning; reported, not judged.
    reasons : tuple of str
        Why it failed, in words; empty where it passed.
    """

    table: pd.DataFrame = field(repr=False)
    threshold: float
    n_divergences: int
    reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the draws agree with the closed form."""
        return not self.reasons

    @property
    def max_z(self) -> float:
        """Largest ``|z|`` of the table."""
        return float(self.table["z"].abs().max())

    @property
    def min_ess(self) -> float:
        """Smallest effective sample size of the table."""
        return float(self.table["ess"].min())

    @property
    def max_r_hat(self) -> float:
        """Largest r_hat of the table."""
        return float(self.table["r_hat"].max())

    def __str__(self) -> str:
        worst = self.table.iloc[int(self.table["z"].abs().argmax())]
        verdict = "do not agree" if self.max_z > self.threshold else "are too few or too unlike to be said to agree"
        text = (
            f"The draws {'agree' if self.passed else verdict} with the closed form: {len(self.table):,} "
            f"comparisons, largest |z| {self.max_z:.2f} for {_place(worst)} (threshold {self.threshold:.2f}), smallest "
            f"effective sample size {self.min_ess:,.0f}, largest r_hat {self.max_r_hat:.3f}, "
            f"{self.n_divergences} divergences."
        )
        return " ".join([text, *(f"Failed: {reason}." for reason in self.reasons)])


def check_agreement(tree: Any, clf_or_posterior: Any) -> Agreement:
    """Compare draws with the exact posterior.

    Parameters
    ----------
    tree : xarray.DataTree
        From `sample`, or read back from a file. Where it was sampled for chosen tokens, the posterior is aggregated
        to the same.
    clf_or_posterior : estimator or Posterior
        Whose posterior the draws should have.

    Returns
    -------
    Agreement
        ``z`` is (mean of the draws - exact) sqrt(ESS) / exact standard deviation; where the exact law of such a mean
        is skewed and z lies on the side of its long tail, the normal score of the same probability. It passes where
        every r_hat is at most 1.05, the effective sample size at least 400 for every parameter and 100 for its
        logarithm and its squared deviation, and every ``|z|`` at most Phi^-1(1 - 3e-7/m), with m the number of
        comparisons. Left out are cells that are the constant 1, logarithms that draws underflow (concentrations below
        0.03), and squared deviations that a handful of the draws decide (below some 30 / draws).

    Raises
    ------
    ValueError
        The draws are of another event model, of other classes or tokens, hold no phi, or are too few to judge.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample(tc, draws=500, chains=4, sampler="exact")
    >>> check = bayesnb.check_agreement(tree, tc)
    >>> check.passed, check.max_z < check.threshold, check.n_divergences
    (True, True, 0)

    Draws of another posterior do not agree:

    >>> bayesnb.check_agreement(tree, bayesnb.TextClassifier(alpha=2).fit(toy.texts, toy.y)).passed
    False
    """
    posterior = posterior_of(clf_or_posterior)
    draws = drawn_parameters(tree, posterior)
    posterior = _matching(posterior, draws, str(tree.attrs.get("rest", "")))
    comparisons = list(_comparisons(draws, posterior))
    if not comparisons:
        raise ValueError("every parameter of this posterior is a constant: there is nothing to compare")
    table = pd.concat(comparisons, ignore_index=True)
    threshold = float(-special.ndtri(FALSE_ALARM / len(table)))
    diverging = tree["sample_stats"]["diverging"] if "sample_stats" in tree else 0
    reasons = [*_impossible(draws, posterior), *_reasons(table, threshold, draws.sizes["chain"])]
    return Agreement(table, threshold, int(np.sum(diverging)), tuple(reasons))


def drawn_parameters(tree: Any, posterior: Posterior) -> xr.Dataset:
    """The group posterior of a tree, with the dimensions that the parameters of this posterior need.

    Raises
    ------
    ValueError
        It is no such tree, is of another event model, or lacks a parameter or a dimension.
    """
    import xarray as xr

    if not isinstance(tree, xr.DataTree):
        raise ValueError(
            f"draws are expected as the xarray.DataTree that sample returns (xarray.open_datatree reads one back from "
            f"a file), got {type(tree).__name__}"
        )
    event = tree.attrs.get("event", posterior.event)
    if event != posterior.event:
        raise ValueError(f"the draws are of a {event} posterior, this one is {posterior.event}")
    for name in posterior.parameters:
        if "posterior" not in tree or name not in tree["posterior"].data_vars:
            raise ValueError(f"the tree holds no draws of {name} in its group posterior")
        if set(dims := tree["posterior"][name].dims) != {"chain", "draw", "class", "token"}:
            raise ValueError(f"draws of {name} have the dimensions {dims}, expected chain, draw, class and token")
    return tree["posterior"].to_dataset()


def _matching(posterior: Any, draws: Any, rest: str) -> Any:
    """The posterior of the cells that were drawn, in their order."""
    drawn = {dim: [str(name) for name in draws[dim].values] for dim in ("class", "token")}
    if drawn["class"] != names_of(posterior.classes, "classes"):
        raise ValueError(
            f"the draws are of the classes {drawn['class']}, the posterior of {posterior.classes.tolist()}"
        )
    place = {name: j for j, name in enumerate(names_of(posterior.tokens, "tokens"))}
    if drawn["token"] == list(place):
        return posterior
    chosen = drawn["token"][:-1] if rest else drawn["token"]
    unknown = [name for name in chosen if name not in place]
    if unknown:
        raise ValueError(f"the draws hold token {unknown[0]!r}, which is not in the vocabulary of the posterior")
    own = posterior.tokens.tolist()
    smaller = aggregate(posterior, [own[place[name]] for name in chosen])
    if len(smaller.tokens) != len(drawn["token"]):
        raise ValueError(f"the draws hold {len(drawn['token'])} tokens of the {len(own)} of the posterior, and no rest")
    return smaller


def _comparisons(draws: Any, posterior: Any) -> Iterator[pd.DataFrame]:
    classes, tokens = names_of(posterior.classes, "classes"), names_of(posterior.tokens, "tokens")
    for name in posterior.parameters:
        varies = _varying(getattr(posterior, name))
        if varies.any():
            values = draws[name].transpose("chain", "draw", "class", "token").values[..., varies]
            kept = [token for token, one in zip(tokens, varies, strict=True) if one]
            yield from _compare(name, values, _margin(getattr(posterior, name), varies), [classes, kept])
    random = isinstance(posterior.theta, Dirichlet) and len(classes) > 1
    if random and "theta" not in draws:
        raise ValueError(
            "the draws hold no theta, which this posterior has: was the class prior known when they were drawn?"
        )
    if not random and "theta" in draws:
        raise ValueError("the draws hold theta, which is known in this posterior: its class prior is another one")
    if random:
        theta = draws["theta"].transpose("chain", "draw", "class").values
        yield from _compare("theta", theta, posterior.theta.marginal(), [classes, [""]])


def _varying(exact: Any) -> np.ndarray:
    """Which cells are random, (V,): one that has its simplex to itself is the constant 1."""
    if isinstance(exact, BlockDirichlet):
        return np.bincount(exact.block)[exact.block] > 1
    if isinstance(exact, Dirichlet):
        return np.full(exact.concentration.shape[-1], exact.concentration.shape[-1] > 1)
    if not isinstance(exact, Margin):
        raise ValueError("this posterior only estimates its parameters, without a prior: there is nothing to compare")
    return np.ones(np.shape(getattr(exact, fields(exact)[0].name))[-1], bool)


def _margin(exact: Any, varies: np.ndarray) -> Margin:
    """Distribution of each of those cells alone, (K, V)."""
    if isinstance(exact, BlockDirichlet):
        return BlockDirichlet(exact.concentration[..., varies], exact.block[varies]).marginal()
    return exact.marginal() if isinstance(exact, Dirichlet) else exact


def _compare(name: str, draws: np.ndarray, exact: Margin, names: list[list[str]]) -> Iterator[pd.DataFrame]:
    x = draws.reshape(*draws.shape[:2], -1)
    margin = type(exact)(*(getattr(exact, part.name).ravel() for part in fields(exact)))
    where = pd.MultiIndex.from_product(names, names=["class", "token"]).to_frame(index=False)
    where.insert(0, "parameter", name)
    shared, n = r_hat(x), x.shape[0] * x.shape[1]
    for i, (quantity, moments) in enumerate(exact_moments(margin).items()):
        keep = judged(quantity, moments, margin, n)
        if i == 0:
            _refuse_too_few(keep, where, n)
        mean, sd, skewness = (part[keep] for part in moments)
        some = type(margin)(*(getattr(margin, part.name)[keep] for part in fields(margin)))
        # in units of its sd: squares of probabilities of 1e-6 must not look constant
        z = (transform(quantity, x[..., keep], some) - mean) / sd
        ess, shift = effective_size(z), z.mean(axis=(0, 1))
        score = normal_score(shift * np.sqrt(ess), skewness / np.sqrt(np.fmin(ess, n)))
        score = np.where(np.isfinite(shift) & np.isfinite(ess), score, np.inf)
        found = {"sampled": mean + sd * shift, "exact": mean, "z": score, "ess": ess, "r_hat": shared[keep]}
        label = {"value": name, "squared deviation": quantity}.get(quantity, f"{quantity} {name}")
        yield where[keep].assign(quantity=label, **found)


def _refuse_too_few(judged: np.ndarray, where: pd.DataFrame, n: int) -> None:
    if not judged.all():
        row = where.iloc[int(judged.argmin())]
        token = f"token {row['token']!r} in " if row["token"] else ""
        raise ValueError(
            f"the posterior concentration of {row['parameter']}, {token}class {row['class']!r} is so small that nearly "
            f"all of {n:,} draws are 0 or 1 and cannot be judged: take more draws, or a larger prior"
        )


def _impossible(draws: Any, posterior: Any) -> Iterator[str]:
    """Draws that no posterior has, in words."""
    for name in [*posterior.parameters, *(["theta"] if "theta" in draws else [])]:
        values = draws[name].values
        if (bad := ~np.isfinite(values)).any():
            yield f"{bad.sum():,} draws of {name} are not finite numbers"
        elif name in ("phi", "theta") and (bad := (values < 0) | (values > 1 + 1e-6)).any():
            yield f"{bad.sum():,} draws of {name} are no probabilities"
        elif name == "phi" and not isinstance(posterior.phi, Beta):
            constant = draws[name].transpose(..., "token").values[..., ~_varying(posterior.phi)]
            if (np.abs(constant - 1) > 1e-6).any():
                yield "phi of a cell that has its column to itself is not 1"


def _reasons(table: pd.DataFrame, threshold: float, chains: int) -> Iterator[str]:
    if chains == 1:
        yield "one chain cannot show that it has converged; sample two or more"
    elif (bad := table[~(table["r_hat"] <= MAXIMUM_R_HAT)]).size:
        row = bad.iloc[int(bad["r_hat"].fillna(np.inf).argmax())]
        yield f"r_hat of {_place(row)} is {row['r_hat']:.3f}, above {MAXIMUM_R_HAT}"
    itself = table["quantity"].isin({*table["parameter"], "bounded mu", "log sigma2"})
    for rows, least in ((table[itself], MINIMUM_ESS), (table[~itself], MINIMUM_ESS_OF_SPREAD)):
        if (bad := rows[~(rows["ess"] >= least)]).size:
            row = bad.iloc[int(bad["ess"].fillna(0).argmin())]
            yield f"the effective sample size of {_place(row)} is {row['ess']:.0f}, below {least}; take more draws"
    if (bad := table[table["z"].abs() > threshold]).size:
        row = bad.iloc[int(bad["z"].abs().argmax())]
        yield (
            f"{len(bad)} of {len(table):,} means are off, the most {_place(row)}: {row['sampled']:.6g} sampled, "
            f"{row['exact']:.6g} exact, z {row['z']:.1f}"
        )


def _place(row: pd.Series) -> str:
    quantity = f"{row['quantity']} of {row['parameter']}" if row["quantity"] == "squared deviation" else row["quantity"]
    token = f"token {row['token']!r} in " if row["parameter"] != "theta" else ""
    return f"{quantity}, {token}class {row['class']!r}"
