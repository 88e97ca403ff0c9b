"""Token contrasts between two classes: the exact posterior of phi_a / phi_b, its direction, Bayes factors, a ranking.

Both classes' probabilities of a token have Beta posteriors (for the multinomial, the margin of the Dirichlet),
independent of each other, so the ratio's law is known exactly; `bayesnb.contrast.quadrature` says how it is computed.
The ratio's mean is not reported, since it is infinite wherever the denominator's first shape is at most 1; its median
is, and the mean of its log.

The log Bayes factor of "the two classes differ" against "they share one phi" is of the token sequences:
log [B(b1+n1, b2+N1-n1) B(m1+n2, m2+N2-n2) / (B(b1, b2) B(m1, m2))] - log [B(h1+n, h2+N-n) / B(h1, h2)] with
n = n1 + n2, N = N1 + N2 and h the prior both classes have (Kass and Raftery 1995, "Bayes factors", section 3).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesnb import validate
from bayesnb.contrast.law import (
    log_ratio_cdf,
    log_ratio_mean,
    log_ratio_quantile,
    log_ratio_sd,
    prob_greater,
    summarise,
)
from bayesnb.families import Dirichlet, excess
from bayesnb.logbeta import log_separate_gain
from bayesnb.validate import _plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "expected_wrong_direction",
    "log_bayes_factor",
    "log_ratio_cdf",
    "log_ratio_mean",
    "log_ratio_quantile",
    "log_ratio_sd",
    "prob_greater",
    "surest_first",
    "token_ratios",
]

Array = np.ndarray


def log_bayes_factor(
    n1: ArrayLike, total1: ArrayLike, n2: ArrayLike, total2: ArrayLike,
    prior1: tuple[ArrayLike, ArrayLike], prior2: tuple[ArrayLike, ArrayLike],
    shared: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:  # fmt: skip
    """Log Bayes factor of "different" against "same", above 0 where the data favour a difference.

    Parameters
    ----------
    n1, total1, n2, total2 : array_like
        Occurrences of the token and of all tokens, in either class.
    prior1, prior2 : pair of array_like
        Shapes of the Beta prior of phi in either class: the token's concentration, and that of all others.
    shared : pair of array_like, optional
        Shapes of the prior of the one phi under "same". By default what both classes have.

    Returns
    -------
    ndarray
        Natural log. NaN where a count is no integer (a sequence of tokens has none), and where the two priors
        differ and `shared` is not given.

    Examples
    --------
    >>> from bayesnb.contrast import log_bayes_factor
    >>> round(float(np.exp(log_bayes_factor(2, 3, 0, 2, (1, 1), (1, 1)))), 12)
    1.666666666667
    """
    arrays = (n1, total1, n2, total2, *prior1, *prior2, *(prior1 if shared is None else shared))
    n1, N1, n2, N2, b1, b2, m1, m2, h1, h2 = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in arrays))
    answer = log_separate_gain((b1, b2), (n1, N1 - n1), (m1, m2), (n2, N2 - n2), (h1, h2))
    known = np.all([v == np.floor(v) for v in (n1, N1, n2, N2)], axis=0)
    if shared is None:
        known &= (b1 == m1) & (b2 == m2)
    return np.where(known, answer, np.nan)


def expected_wrong_direction(log_lower: Array, log_upper: Array, wrong: Array) -> Array:
    """Share of wrong directions to expect among all tokens ranked at least as high.

    Tokens rank by the end of their interval that lies nearest 1, max(log lower, -log upper), the surest first; tokens
    that tie keep their order.

    Parameters
    ----------
    log_lower, log_upper : ndarray, shape (V,)
        Ends of the intervals of the log ratio.
    wrong : ndarray, shape (V,)
        Probability that the token's direction is the other one, min(P, 1 - P).

    Returns
    -------
    ndarray, shape (V,)
        Running mean of `wrong` down the ranking, in token order.
    """
    order = np.argsort(-np.maximum(log_lower, -log_upper), kind="stable")
    out = np.empty(len(order))
    out[order] = np.cumsum(np.asarray(wrong)[order]) / np.arange(1, len(order) + 1)
    return out


def surest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a `token_ratios` table ranked by the interval end nearest 1, max(log lower, -log upper).

    Tokens that tie keep their order.

    Raises
    ------
    ValueError
        No row, or an interval that is missing.
    """
    nearest = np.maximum(table["log_lower"].to_numpy(float), -table["log_upper"].to_numpy(float))
    if not len(table) or np.isnan(nearest).any():
        raise ValueError("there is no token to rank, or an interval is missing; give a table with its intervals")
    return table.iloc[np.argsort(-nearest, kind="stable")]


def token_ratios(
    posterior: Any,
    numerator: Any,
    denominator: Any,
    level: float = 0.95,
    tokens: Iterable[Any] | None = None,
    alpha: float | ArrayLike = 1.0,
) -> pd.DataFrame:
    """How much likelier each token is in one class than in another: exact posterior, a row per token.

    Parameters
    ----------
    posterior : Posterior
        Of `bayesnb.events.multinomial` or `bayesnb.events.bernoulli`.
    numerator, denominator : label
        The two classes: the ratio is phi_numerator / phi_denominator.
    level : float
        Probability inside the equal-tailed interval.
    tokens : iterable, optional
        Names of the tokens wanted, in this order; by default all.
    alpha : float or array_like, shape (V,)
        Pseudo-count s of `ratio_laplace`.

    Returns
    -------
    pandas.DataFrame, indexed by token
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
            See `log_bayes_factor`; NA for fractional counts, or where the classes' priors differ.
        expected_wrong_direction
            See `expected_wrong_direction`, among the tokens in this table.

        ``attrs`` holds numerator, denominator, level, event and the prior in words.

    Raises
    ------
    ValueError
        An unknown class or token, the same class twice, a level outside (0, 1), or a Beta shape of a token's phi
        outside 1e-15 to 1e18, the range that the ratio's law is computed for.
    """
    import pandas as pd

    level = validate.level(level)
    pair = _class_rows(posterior, numerator, denominator)
    chosen = _token_columns(posterior, tokens)
    a, b = _shapes(posterior.phi)
    columns = np.ix_(pair, chosen)
    (a1, a2), (b1, b2) = a[columns], b[columns]
    law = summarise(level, a1, b1, a2, b2)
    data = _counts(posterior, pair, chosen) | _point_ratios(posterior, pair, chosen, alpha)
    with np.errstate(over="ignore", under="ignore"):
        ends = {"ratio_median": np.exp(law["median"]), "lower": np.exp(law["lower"]), "upper": np.exp(law["upper"])}
    data |= ends | {
        "log_lower": law["lower"],
        "log_upper": law["upper"],
        "log_ratio_mean": log_ratio_mean(a1, b1, a2, b2),
        "log_ratio_sd": log_ratio_sd(a1, b1, a2, b2),
        "prob_greater": law["greater"],
        "log_bayes_factor": _bayes_factors(posterior, data, pair, chosen),
        "expected_wrong_direction": expected_wrong_direction(
            law["lower"], law["upper"], np.minimum(law["greater"], law["less"])
        ),
    }
    table = pd.DataFrame(data, index=pd.Index(posterior.tokens[chosen], name="token"))
    table.attrs = {"numerator": numerator, "denominator": denominator, "level": level}
    table.attrs |= {"event": posterior.event, "prior": posterior.prior.describe()}
    return table


def _class_rows(posterior: Any, numerator: Any, denominator: Any) -> list[int]:
    """Rows of the two classes, which must be known and differ."""
    classes = list(posterior.classes)
    for label in (numerator, denominator):
        if label not in classes:
            raise ValueError(f"unknown class {label!r}; there are {', '.join(repr(_plain(c)) for c in classes)}")
    pair = [classes.index(numerator), classes.index(denominator)]
    if pair[0] == pair[1]:
        others = ", ".join(repr(_plain(c)) for c in classes)
        raise ValueError(f"numerator and denominator are both {numerator!r}; choose two of the classes {others}")
    return pair


def _token_columns(posterior: Any, tokens: Iterable[Any] | None) -> NDArray[np.intp]:
    """Columns of the tokens asked for."""
    names = list(posterior.tokens)
    if tokens is None:
        return np.arange(len(names))
    if isinstance(tokens, str):
        tokens = [tokens]
    place = {name: i for i, name in enumerate(names)}
    wanted = list(tokens)
    unknown = [t for t in wanted if t not in place]
    if unknown:
        few = ", ".join(repr(_plain(t)) for t in names[:10]) + (", ..." if len(names) > 10 else "")
        raise ValueError(f"unknown token {unknown[0]!r} ({len(unknown)} in all); the {len(names)} tokens are {few}")
    return np.array([place[t] for t in wanted], dtype=np.intp)


def _shapes(phi: Any) -> tuple[Array, Array]:
    """Beta shapes of every cell, (K, V) each, of a Beta or of a Dirichlet's margins."""
    margin = phi.marginal() if hasattr(phi, "marginal") else phi
    return margin.a, margin.b


def _totals(posterior: Any) -> Array:
    """N_k: tokens of a class, or documents for the Bernoulli event."""
    statistics = posterior.statistics
    return statistics.class_count if posterior.event == "bernoulli" else statistics.token_total


def _counts(posterior: Any, pair: list[int], chosen: NDArray[np.intp]) -> dict[str, Array]:
    n, total = posterior.statistics.feature_count, _totals(posterior)
    counts = {f"count_{side}": n[k, chosen] for side, k in zip(("num", "den"), pair, strict=True)}
    return counts | {
        f"total_{side}": np.full(len(chosen), total[k]) for side, k in zip(("num", "den"), pair, strict=True)
    }


def _point_ratios(posterior: Any, pair: list[int], chosen: NDArray[np.intp], alpha: Any) -> dict[str, Array]:
    """Ratios of the modes and of the Laplace estimates."""
    n, total = posterior.statistics.feature_count[pair], _totals(posterior)[pair]
    s = np.broadcast_to(np.asarray(alpha, dtype=float), n.shape[1:])
    spread = 2 * s[chosen] if posterior.event == "bernoulli" else s.sum()
    smooth = (n[:, chosen] + s[chosen]) / (total[:, None] + spread)
    mode = _modes(posterior, pair)[:, chosen]
    with np.errstate(divide="ignore", invalid="ignore"):
        return {"ratio_map": mode[0] / mode[1], "ratio_laplace": smooth[0] / smooth[1]}


def _modes(posterior: Any, pair: list[int]) -> Array:
    """Modes of phi in the two classes, (2, V); NaN for a class, or a cell of the Bernoulli event, without one."""
    s, statistics = posterior.prior.smoothing, posterior.statistics
    if posterior.event == "bernoulli":
        n, total = statistics.feature_count[pair], statistics.class_count[pair][:, None]
        prior, absent = posterior.prior.phi, np.maximum(total - n, 0)
        first, second = (excess(v[pair], c) if s is None else s[pair] + c for v, c in ((prior.a, n), (prior.b, absent)))
        above = np.stack((first, second), axis=-1)
    else:
        n = statistics.feature_count[pair]
        above = excess(posterior.prior.phi[pair], n) if s is None else s[pair] + n
    total = above.sum(-1, keepdims=True)
    exists = (above >= 0).all(-1, keepdims=True) & (total > 0)
    mode = np.where(exists, above / np.where(exists, total, 1.0), np.nan)
    return mode[..., 0] if posterior.event == "bernoulli" else mode


def _bayes_factors(posterior: Any, data: dict[str, Array], pair: list[int], chosen: NDArray[np.intp]) -> Array:
    prior = posterior.prior.phi
    if posterior.event == "bernoulli":
        a, b = prior.a, prior.b
    else:
        a, b = _shapes(Dirichlet(prior))
    first, second = ((a[k, chosen], b[k, chosen]) for k in pair)
    n1, n2, total1, total2 = (data[f"{what}_{side}"] for what in ("count", "total") for side in ("num", "den"))
    return log_bayes_factor(n1, total1, n2, total2, first, second)
