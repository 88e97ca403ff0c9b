"""Do draws agree with the closed form? Every parameter, in units of the Monte Carlo error.

Draws of unknown quality are first gated on r_hat and effective sample size. Then the means of phi, of log phi and of
(phi - E phi)^2 are compared with their exact values, and so is theta unless it is known. The Gaussian model's sigma2 is
compared on the log scale and its mu on a bounded one, where all moments exist. Means of phi alone are too
weak: doubling prior and data together leaves every one unchanged, and only the spread tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from bayesnb.events.base import CountPosterior
from bayesnb.families import Beta, Dirichlet, InverseGamma, StudentT
from bayesnb.sampling import names_of, posterior_of
from bayesnb.sampling.aggregation import aggregate
from bayesnb.sampling.convergence import effective_size, r_hat

MINIMUM_ESS = 400
"""Below it the Monte Carlo error itself is not known well (Vehtari et al. 2021 ask for 100 from each of 4 chains)."""
MAXIMUM_R_HAT = 1.05
"""The largest of thousands at an effective size of 400 reaches 1.03 by chance; chains that disagree exceed 1.1."""
FALSE_ALARM = 3e-7
"""Chance that correct, normally distributed means fail on one side: 5 standard errors for a single comparison."""


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
        text = (
            f"The draws {'agree' if self.passed else 'do not agree'} with the closed form: {len(self.table):,} "
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
        ``z`` is (mean of the draws - exact) sqrt(ESS) / exact standard deviation. It passes where every r_hat is at
        most 1.05, every effective sample size at least 400 and every ``|z|`` at most Phi^-1(1 - 3e-7/m), with m the
        number of comparisons.

    Raises
    ------
    ValueError
        The draws are of other classes or tokens, hold no phi, or are too few to judge.
    """
    posterior = posterior_of(clf_or_posterior)
    for name in posterior.parameters:
        if "posterior" not in tree or name not in tree["posterior"].data_vars:
            raise ValueError(f"the tree holds no draws of {name} in its group posterior")
    draws = tree["posterior"].to_dataset()
    posterior = _matching(posterior, draws, str(tree.attrs.get("rest", "")))
    table = pd.concat(list(_comparisons(draws, posterior)), ignore_index=True)
    threshold = float(-special.ndtri(FALSE_ALARM / len(table)))
    diverging = tree["sample_stats"]["diverging"] if "sample_stats" in tree else 0
    return Agreement(table, threshold, int(np.sum(diverging)), tuple(_reasons(table, threshold, draws.sizes["chain"])))


def exact_moments(margin: Beta | StudentT | InverseGamma) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Exact mean and standard deviation of what is compared.

    For Beta variables x: x, log x and (x - E x)^2. For inverse gamma ones, log x and (log x - E log x)^2. For Student-t
    ones b and b^2, with b = t / sqrt(nu + t^2) and t = (x - loc) / scale.

    Notes
    -----
    The variance of (x - E x)^2 is mu4 - mu2^2 = mu2^2 (2 + excess kurtosis), with the excess kurtosis
    6 ((a - b)^2 (a + b + 1) - a b (a + b + 2)) / (a b (a + b + 2) (a + b + 3)). The logarithm of an inverse gamma
    variable has cumulants psi1(alpha) and psi3(alpha), so that its squared deviation has variance psi3 + 2 psi1^2. b^2
    is Beta(1/2, nu/2), and the sign of b is independent of it.
    """
    if isinstance(margin, InverseGamma):
        variance = margin.variance_log()
        sd = np.sqrt(special.polygamma(3, margin.alpha) + 2 * variance**2)
        return {"log": (margin.mean_log(), np.sqrt(variance)), "squared deviation of log": (variance, sd)}
    if isinstance(margin, StudentT):
        square = Beta(np.full_like(margin.df, 0.5), margin.df / 2)
        bounded = (np.zeros_like(margin.df), np.sqrt(square.mean()))
        return {"bounded": bounded, "square of bounded": (square.mean(), np.sqrt(square.variance()))}
    a, b, variance = margin.a, margin.b, margin.variance()
    t, ab = a + b, a * b
    excess = 6 * ((a - b) ** 2 * (t + 1) - ab * (t + 2)) / (ab * (t + 2) * (t + 3))
    return {
        "value": (margin.mean(), np.sqrt(variance)),
        "log": (margin.mean_log(), np.sqrt(margin.variance_log())),
        "squared deviation": (variance, variance * np.sqrt(2 + excess)),
    }


def _matching(posterior: CountPosterior, draws: Any, rest: str) -> CountPosterior:
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


def _comparisons(draws: Any, posterior: CountPosterior) -> Iterator[pd.DataFrame]:
    classes, tokens = names_of(posterior.classes, "classes"), names_of(posterior.tokens, "tokens")
    for name in posterior.parameters:
        exact = getattr(posterior, name)
        margin = exact if isinstance(exact, Beta | StudentT | InverseGamma) else exact.marginal()
        values = draws[name].transpose("chain", "draw", "class", "token").values
        yield from _compare(name, values, margin, [classes, tokens])
    if not isinstance(posterior.theta, Dirichlet) or len(classes) == 1:
        return
    if "theta" not in draws:
        raise ValueError(
            "the draws hold no theta, which this posterior has: was the class prior known when they were drawn?"
        )
    theta = draws["theta"].transpose("chain", "draw", "class").values
    yield from _compare("theta", theta, posterior.theta.marginal(), [classes, [""]])


def _compare(name: str, draws: np.ndarray, exact: Any, names: list[list[str]]) -> Iterator[pd.DataFrame]:
    x = draws.reshape(*draws.shape[:2], -1)
    margin = type(exact)(*(getattr(exact, part.name).ravel() for part in fields(exact)))
    where = pd.MultiIndex.from_product(names, names=["class", "token"]).to_frame(index=False)
    where.insert(0, "parameter", name)
    shared = r_hat(x)
    label = {"value": name, "squared deviation": "squared deviation"}
    for quantity, (mean, sd) in exact_moments(margin).items():
        # in units of its sd: squares of probabilities of 1e-6 must not look constant
        z = (_transform(quantity, x, margin) - mean) / sd
        ess, shift = effective_size(z), z.mean(axis=(0, 1))
        score = np.where(np.isfinite(shift) & np.isfinite(ess), shift * np.sqrt(ess), np.inf)
        found = {"sampled": mean + sd * shift, "exact": mean, "z": score, "ess": ess, "r_hat": shared}
        yield where.assign(quantity=label.get(quantity, f"{quantity} {name}"), **found)


def _transform(quantity: str, x: np.ndarray, margin: Any) -> np.ndarray:
    if "bounded" in quantity:
        t = (x - margin.loc) / np.sqrt(margin.scale2)
        bounded = t / np.sqrt(margin.df + t * t)
        return bounded if quantity == "bounded" else bounded**2
    if quantity == "squared deviation of log":
        return (np.log(x) - margin.mean_log()) ** 2
    if quantity == "value":
        return x
    if quantity == "log":
        with np.errstate(divide="ignore"):
            return np.log(x)
    return (x - margin.mean()) ** 2


def _reasons(table: pd.DataFrame, threshold: float, chains: int) -> Iterator[str]:
    if chains == 1:
        yield "one chain cannot show that it has converged; sample two or more"
    elif (bad := table[~(table["r_hat"] <= MAXIMUM_R_HAT)]).size:
        row = bad.iloc[int(bad["r_hat"].fillna(np.inf).argmax())]
        yield f"r_hat of {_place(row)} is {row['r_hat']:.3f}, above {MAXIMUM_R_HAT}"
    if (bad := table[~(table["ess"] >= MINIMUM_ESS)]).size:
        row = bad.iloc[int(bad["ess"].fillna(0).argmin())]
        yield f"the effective sample size of {_place(row)} is {row['ess']:.0f}, below {MINIMUM_ESS}; take more draws"
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
