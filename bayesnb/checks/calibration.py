"""Simulation-based calibration: does inference recover parameters as often as its intervals say?

Parameters are drawn from the prior and data from the model; the model is fitted to the data; then the true value is as
good as a draw of the posterior, and its rank among L independent draws is uniform on 0..L [1]. This sees the prior, the
likelihood, the sampler and the way data enter at once. The joint log density is ranked beside the parameters: it sees
errors that leave each margin right [2].

References
----------
.. [1] S. Talts et al., Validating Bayesian inference algorithms with simulation-based calibration, 2018.
.. [2] M. Modrák et al., Simulation-based calibration checking for Bayesian computation: the choice of test quantities
   shapes sensitivity, Bayesian Analysis 2023.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from bayesnb import events
from bayesnb.checks import keystone
from bayesnb.checks.predictive import prior_draws, replicate
from bayesnb.checks.refit import Refit
from bayesnb.checks.verification import event_of
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet, NormalInverseGamma
from bayesnb.sampling import modelfiles
from bayesnb.sampling.limits import at_least

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Calibration", "Refit", "band", "calibrate"]

FAILURE_RATE = 1e-5
"""Chance, at most, that a correct model fails one call of `calibrate`, over all of its quantities and thresholds."""
BINS = 20
DOCUMENTS, LENGTH = 12, 5
"""Size of the simulated data: small, so that prior and likelihood both matter."""
_CONCENTRATION = np.array([[0.6, 1.0, 2.5], [3.0, 1.5, 0.8]])  # another number in every cell: no two can be confused


@dataclass(frozen=True, eq=False)
class Calibration:
    """Result of `calibrate`.

    Parameters
    ----------
    model, form : str
        What was calibrated.
    ranks : ndarray of int, shape (replications, M)
        Draws below the true value, 0..L, of each of the M quantities.
    draws : int
        L.
    table : DataFrame
        A row a quantity: quantity, class, token (numbers, empty where it has none), mean_rank (0 to 1, 0.5 expected),
        p_value (exact upper bound, over all thresholds) and passed.
    n_divergences : int
        Divergent transitions in all refits; reported, not judged.
    """

    model: str
    form: str
    ranks: np.ndarray = field(repr=False)
    draws: int
    table: pd.DataFrame = field(repr=False)
    n_divergences: int

    @property
    def passed(self) -> bool:
        """Whether the ranks of every quantity are uniform."""
        return bool(self.table["passed"].all())

    def __str__(self) -> str:
        worst = self.table.iloc[int(self.table["p_value"].argmin())]
        name = " ".join(str(part) for part in worst[["quantity", "class", "token"]] if part != "")
        return (
            f"{self.model} ({self.form}): ranks of {len(self.table)} quantities in {len(self.ranks)} replications "
            f"{'are' if self.passed else 'are not'} uniform; smallest p {worst['p_value']:.2g} for {name}, threshold "
            f"{FAILURE_RATE / len(self.table):.2g}; {self.n_divergences} divergences."
        )


def calibrate(
    model: str | os.PathLike[str] = "multinomial",
    form: str | None = None,
    replications: int = 200,
    draws: int = 99,
    prior: Any = None,
    seed: int = 0,
    sampler: str = "nutpie",
) -> Calibration:
    """Rank true parameters among draws, over many data sets simulated from the model.

    The model is compiled once; each refit sets its `pymc.Data` to what ``build`` makes of the new totals. So a file
    that takes data by another way is fitted to the wrong data, and fails.

    Parameters
    ----------
    model : str or path
        A conjugate event model, or the path of a user's file with the parameters of one.
    form : str, optional
    replications : int
        Simulated data sets, at least 20.
    draws : int
        L, draws that a true value is ranked among.
    prior : Prior, optional
        What parameters are drawn from and the model is given; by default a small one with another number in each cell.
    seed : int
    sampler : {"nutpie", "exact"}
        "exact" calibrates the closed form in place of the sampler.

    Returns
    -------
    Calibration
        A quantity passes where the number of ranks below each of 19 thresholds lies in its exact binomial range, at a
        level that makes the chance of any failure at most `FAILURE_RATE` (Bonferroni, over thresholds and quantities).

    Raises
    ------
    ValueError
        Bad arguments, no such model or one without closed form, a faulty file, or draws that are not finite.

    Examples
    --------
    >>> import bayesnb
    >>> result = bayesnb.calibrate("bernoulli", replications=50, sampler="exact")
    >>> result.passed, result.ranks.shape[0], result.draws
    (True, 50, 99)
    """
    if sampler not in ("nutpie", "exact"):
        raise ValueError(f"sampler must be nutpie or exact, got {sampler!r}")
    at_least(20, replications, "replications")
    at_least(BINS - 1, draws, "draws")
    at_least(0, seed, "seed")
    file = modelfiles.find_model(model)
    event = event_of(file, form)
    _refuse_form(file, form)
    empty = _empty(event, prior)
    wanted = _names(empty)
    fit = None if sampler == "exact" else Refit(file, form, empty.statistics, empty.prior, wanted, draws)
    ranks, names = [], []
    for rng in np.random.default_rng(seed).spawn(replications):
        truth, posterior = _simulated(empty, rng)
        if fit is None:
            exact = posterior.draw(draws, 1, rng)
            found = {name: exact[name][0] for name in wanted}
        else:
            found = fit(posterior.statistics, posterior.prior, int(rng.integers(2**31)))
        names = list(_labels(found))
        ranks.append(np.concatenate([_rank(truth, found, rng), _density_rank(posterior, truth, found, rng)]))
    table = _judged(np.array(ranks), [*names, ("log density", "", "")], draws)
    form = "closed" if fit is None else form or (file.forms[0] if file.forms else "")
    return Calibration(file.name, form, np.array(ranks), draws, table, 0 if fit is None else fit.divergences)


def _refuse_form(file: modelfiles.ModelFile, form: str | None) -> None:
    if form is not None and file.forms and form not in (*file.forms, file.large):
        raise ValueError(f"form must be one of {', '.join(file.forms)}; got {form!r}")


def _empty(event: str, prior: Any) -> Any:
    """Posterior of no data under the prior."""
    module = events.find(event)
    if prior is not None and not isinstance(prior, module.Prior):
        kind = type(prior).__name__
        raise ValueError(f"prior must be a bayesnb.events.{event}.Prior, such as a posterior's own .prior; got {kind}")
    if prior is None:
        theta = ClassPrior(concentration=np.array([2.0, 3.0]))
        a = _CONCENTRATION
        if event == "categorical":
            prior = module.Prior(theta, np.concatenate([a, a[:, :2]], axis=1), np.array([0, 0, 0, 1, 1]))
        elif event == "gaussian":
            prior = module.Prior(theta, NormalInverseGamma(a - 1, 0.5 + a, 2 + a, a))
        else:
            prior = module.Prior(theta, Beta(a, a[::-1]) if event == "bernoulli" else a)
    if event == "categorical":
        return module.Posterior(prior, module.Statistics(np.zeros(prior.shape[0]), np.zeros(prior.shape), prior.block))
    return module.Posterior(prior, module.Statistics.zeros(*prior.shape))


def _simulated(empty: Any, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], Any]:
    """True parameters from the prior, and the closed-form posterior of data drawn from them."""
    truth = {name: values[0, 0] for name, values in prior_draws(empty, 1, 1, rng).items()}
    n = rng.multinomial(DOCUMENTS, truth["theta"]).astype(float)
    kind, shape = type(empty.statistics), empty.prior.shape
    if empty.event == "gaussian":
        many = np.broadcast_to(n[:, None], shape)
        sizes = kind(n, many, np.zeros(shape), np.zeros(shape))
        drawn = replicate(replace(empty, statistics=sizes), truth, rng)
        return truth, replace(empty, statistics=kind(n, many, np.nan_to_num(drawn["mean"]), drawn["M2"]))
    # totals that say how many tokens or values there are: all in the first cell of each column
    trials = np.zeros(shape)
    if empty.event != "bernoulli":
        block = keystone.blocks_of(empty)
        trials[:, [int(np.argmax(block == j)) for j in np.unique(block)]] = n[:, None]
        trials *= LENGTH if empty.event == "multinomial" else 1
    sizes = replace(empty.statistics, class_count=n, feature_count=trials)
    drawn = replicate(replace(empty, statistics=sizes), truth, rng)
    return truth, replace(empty, statistics=replace(sizes, feature_count=drawn["n_token"]))


def _names(empty: Any) -> list[str]:
    """Parameters with a distribution: all but a theta that is known, or of one class."""
    random = isinstance(empty.theta, Dirichlet) and empty.prior.shape[0] > 1
    return [name for name in empty.draw(1, 1) if name != "theta" or random]


def _labels(found: dict[str, np.ndarray]) -> Iterator[tuple[str, Any, Any]]:
    for name, values in found.items():
        for at in np.ndindex(values.shape[1:]):
            yield name, at[0], at[1] if len(at) > 1 else ""


def _rank(truth: dict[str, np.ndarray], found: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """How many draws lie below the true value, of each parameter."""
    return np.concatenate([_below(values, truth[name], rng).ravel() for name, values in found.items()])


def _below(values: np.ndarray, true: Any, rng: np.random.Generator) -> np.ndarray:
    """Draws below a value; of those equal to it, as probabilities of 1e-400 are, a share by lot keeps ranks uniform."""
    return (values < true).sum(axis=0) + rng.integers(0, (values == true).sum(axis=0), endpoint=True)


def _density_rank(
    posterior: Any, truth: dict[str, np.ndarray], found: dict[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    at_truth = keystone.log_posterior(posterior, {name: truth[name] for name in found})
    return np.array([_below(keystone.log_posterior(posterior, found), at_truth, rng)])


def _judged(ranks: np.ndarray, names: list[tuple[str, Any, Any]], draws: int) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(names, columns=["quantity", "class", "token"])
    thresholds, p = _thresholds(draws)
    below = (ranks[:, :, None] < thresholds).sum(axis=0)  # (M, thresholds)
    tail = np.minimum(stats.binom.cdf(below, len(ranks), p), stats.binom.sf(below - 1, len(ranks), p))
    value = np.minimum(2 * tail.min(axis=1) * len(thresholds), 1)
    table["mean_rank"] = ranks.mean(axis=0) / draws
    table["p_value"] = value
    table["passed"] = value >= FAILURE_RATE / len(table)
    return table


def _thresholds(draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Ranks r that cut 0..L into bins as even as can be, and P(rank < r)."""
    at = np.unique(np.round(np.linspace(0, draws + 1, BINS + 1)).astype(int))[1:-1]
    return at, at / (draws + 1)


def band(result: Calibration) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the share of ranks below each threshold must lie: thresholds as shares of L + 1, lower and upper ends."""
    n, (_, p) = len(result.ranks), _thresholds(result.draws)
    tail = FAILURE_RATE / len(result.table) / len(p) / 2
    return p, np.asarray(stats.binom.ppf(tail, n, p)) / n, np.asarray(stats.binom.isf(tail, n, p)) / n
