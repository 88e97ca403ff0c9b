"""The table of token ratios; what equal rows have in common is computed once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesnb import validate
from bayesnb.contrast.cells import Cells
from bayesnb.contrast.evidence import log_bayes_factor
from bayesnb.contrast.law import distinct, summarise
from bayesnb.contrast.ranking import expected_wrong_direction
from bayesnb.contrast.sides import compared, row_index, token_columns
from bayesnb.logbeta import digamma_drop, trigamma_drop

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray
Index = NDArray[np.intp]

EVENTS = ("multinomial", "bernoulli")


def token_ratios(
    posterior: Any,
    numerator: Any = None,
    denominator: Any = None,
    level: float = 0.95,
    tokens: Iterable[Any] | None = None,
    alpha: Any = 1.0,
    shared: Any = None,
) -> pd.DataFrame:
    """How much likelier each token is in one class than in another: exact posterior, a row per token.

    Parameters
    ----------
    posterior : Posterior
        Of `bayesnb.events.multinomial` or `bayesnb.events.bernoulli`.
    numerator, denominator : label, optional
        The two classes: the ratio is phi_numerator / phi_denominator. Without a denominator: all other classes pooled
        into one, their counts and totals added, under the prior that they share; with two classes that is the other
        one. Without either: every pair of classes, the one that comes first in `posterior.classes` as numerator.
    level : float
        Probability inside the equal-tailed interval.
    tokens : iterable, optional
        Names of the tokens wanted, in this order; by default all.
    alpha : float or array_like, shape (V,)
        Pseudo-count s of `ratio_laplace`.
    shared : float, array_like of shape (V,), Dirichlet or Beta, optional
        Prior of the one phi that both classes have under "same", for `log_bayes_factor`: a concentration as the
        estimators read it. By default the classes' own prior, where they have the same one.

    Returns
    -------
    pandas.DataFrame
        Indexed by token; where every pair was asked for by (numerator, denominator, token), pair after pair. Columns:

        count_num, count_den, total_num, total_den
            Occurrences of the token and of all tokens (Bernoulli: documents) in either class.
        ratio_map
            Ratio of the modes; NA where a class has no mode, and for 0/0.
        ratio_laplace
            (n1+s)(N2+sV) / ((n2+s)(N1+sV)); Bernoulli: 2s for sV. NA for 0/0, which takes s = 0.
        ratio_median, lower, upper, log_lower, log_upper
            Posterior median of the ratio, ends of its interval, and the natural logs of the ends, which stay finite
            where the ends leave the range of floating point.
        log_ratio_mean, log_ratio_sd, prob_greater
            Posterior mean and standard deviation of the natural log of the ratio, P(ratio > 1).
        log_bayes_factor
            Of "different" against "same"; NA for fractional counts, and where the classes' priors differ and `shared`
            is not given. It falls without bound as the prior widens, see `log_bayes_factor`.
        expected_wrong_direction
            See `expected_wrong_direction`, among the rows of this table.

        ``attrs`` holds level, event, the prior in words, numerator and denominator (not where every pair was asked
        for), ``pooled``, the classes behind the denominator "rest" ("the rest" beside a class of that name), and
        ``note``: why Bayes factors are missing, or "".

    Raises
    ------
    ValueError
        An unknown class or token, the same class twice, a denominator alone, a single class or token, classes to be
        pooled whose priors differ, an event model without ratios, a level outside (0, 1), or a Beta shape of a token's
        phi outside 1e-15 to 1e18, the range that the ratio's law is computed for.

    Notes
    -----
    The rest is modelled as if its documents came from one class: right where its classes share phi, and otherwise
    narrower than what is known about any one of them. Every pair of K classes makes K(K - 1)/2 rows a token, of some
    150 bytes each; those equal in prior, counts and totals are solved once. Name `tokens` where that is too much.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> table = bayesnb.contrast.token_ratios(tc.posterior_, "spam", "ham", tokens=["investors", "game"])
    >>> table[["count_num", "count_den", "ratio_median", "lower", "upper"]].round(2)
               count_num  count_den  ratio_median  lower  upper
    token
    investors        4.0        0.0          2.93   0.68  21.88
    game             1.0        2.0          0.64   0.12   2.85
    """
    import pandas as pd

    level = validate.level(level)
    if posterior.event not in EVENTS:
        raise ValueError(f"event model {posterior.event!r} has no ratios of tokens; use {' or '.join(EVENTS)}")
    sides, chosen = compared(posterior, numerator, denominator), token_columns(posterior, tokens)
    cells = Cells(sides.posterior, sides.rows, chosen, alpha, shared)
    data, note = _columns(cells, sides.pairs, level)
    table = pd.DataFrame(data, index=row_index(sides, posterior.tokens[chosen], every=numerator is None))
    table.attrs.update(sides.told)
    table.attrs |= {"level": level, "event": posterior.event, "prior": posterior.prior.describe(), "note": note}
    return table


def _columns(cells: Cells, pairs: Index, level: float) -> tuple[dict[str, Array], str]:
    """Columns of the table, pair after pair, and what to note about them."""
    first, second = pairs.T

    def both(name: str, values: Array) -> dict[str, Array]:
        return {f"{name}_num": values[first].ravel(), f"{name}_den": values[second].ravel()}

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        points = {
            "ratio_map": (cells.mode[first] / cells.mode[second]).ravel(),
            "ratio_laplace": (cells.laplace[first] / cells.laplace[second]).ravel(),
        }
    case, place = _cases(cells, pairs, level)
    wrong, note = case.pop("wrong"), _note(np.isnan(case["log_bayes_factor"]), case.pop("whole"), place)
    rows = {name: v[place] for name, v in case.items()}
    rows["expected_wrong_direction"] = expected_wrong_direction(rows["log_lower"], rows["log_upper"], wrong[place])
    return both("count", cells.count) | both("total", cells.total) | points | rows, note


def _cases(cells: Cells, pairs: Index, level: float) -> tuple[dict[str, Array], Index]:
    """What depends on prior, counts and totals alone, once for each distinct pair of these; and each row's case."""
    arrays = (cells.count, cells.total, *cells.prior, *cells.law, *cells.same)
    (n, total, p1, p2, a, b, *same), code = distinct([v.ravel() for v in arrays])
    code = code.reshape(cells.count.shape)
    mean, variance = digamma_drop(a, b), trigamma_drop(a, b)
    keys, place = np.unique((code[pairs[:, 0]] * len(n) + code[pairs[:, 1]]).ravel(), return_inverse=True)
    i, j = np.divmod(keys, max(len(n), 1))
    law = summarise(level, a[i], b[i], a[j], b[j])
    shared = (same[0][i], same[1][i]) if same else None
    whole = (n == np.floor(n)) & (total == np.floor(total))
    with np.errstate(over="ignore", under="ignore"):
        ends = {"ratio_median": np.exp(law["median"]), "lower": np.exp(law["lower"]), "upper": np.exp(law["upper"])}
    return ends | {
        "log_lower": law["lower"],
        "log_upper": law["upper"],
        "log_ratio_mean": mean[i] - mean[j],
        "log_ratio_sd": np.sqrt(variance[i] + variance[j]),
        "prob_greater": law["greater"],
        "log_bayes_factor": log_bayes_factor(n[i], total[i], n[j], total[j], (p1[i], p2[i]), (p1[j], p2[j]), shared),
        "wrong": np.minimum(law["greater"], law["less"]),
        "whole": whole[i] & whole[j],
    }, place


def _note(missing: Array, whole: Array, place: Index) -> str:
    """Why Bayes factors are missing, and in how many rows."""
    reasons = (
        (missing & ~whole, "counts are fractional, so that no sequence of tokens has them"),
        (missing & whole, 'the classes\' priors differ; give shared=, the prior of the one phi under "same"'),
    )
    rows = [(int(cases[place].sum()), why) for cases, why in reasons]
    said = [f"log_bayes_factor is missing in {n} of {len(place)} rows: {why}" for n, why in rows if n]
    return "; ".join(said)
