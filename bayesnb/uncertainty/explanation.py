"""Where a document's log-odds come from: a table of class prior and tokens, absent tokens, length, or columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesnb import given, validate
from bayesnb.events.base import CountPosterior, Posterior, normalise
from bayesnb.families import Point
from bayesnb.normal import LOG_2PI
from bayesnb.uncertainty.classlaw import read
from bayesnb.uncertainty.cumulants import polygamma
from bayesnb.uncertainty.inversion import Law, LogGammaSum, upper_quantile
from bayesnb.uncertainty.measured import normal_cells

if TYPE_CHECKING:
    import pandas as pd

CLASS_PRIOR, ABSENT, LENGTH = "(class prior)", "(absent tokens)", "(length)"
_NONE = (np.empty(0), np.empty(0), np.empty(0))
# name of the index, of what a document holds there, and that of the class prior
_HEADS: dict[str, tuple[str, str, Any]] = {
    "categorical": ("column", "value", None),
    "gaussian": ("column", "value", np.nan),
}


def explain(
    posterior: Posterior, x: Any, estimate: str = "map", power: float = 1.0, classes: Any = None,
    level: float = 0.95,
) -> pd.DataFrame:  # fmt: skip
    """Log-odds of one document, part by part.

    Parameters
    ----------
    posterior : Posterior
        Of any event model; a Gaussian one needs a prior of mu and sigma2.
    x : array_like or scipy.sparse, shape (1, V)
        Counts of one document, 0/1 over the cells of the categorical model, or measurements (NaN: missing).
    estimate : {"map", "mean", "mle", "predictive"}
        How the score is computed.
    power : float
        Exponent of the likelihood.
    classes : pair of labels, optional
        Class in favour and class against; by default the predicted class and the runner-up.
    level : float
        Of the intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by token, in the order of the vocabulary: ``count``, ``contribution`` (nats; above 0 speaks for the
        first class), ``lower`` and ``upper``. Rows beside the tokens present: ``(class prior)``, whose count is 1;
        ``(absent tokens)`` of the Bernoulli model, pooled; ``(length)`` of the multinomial predictive. Of categories
        and measurements: indexed by column, with the category or number as ``value`` in place of the count; the class
        prior's is missing, and so are the rows of columns that drop out. Contributions sum to the difference of the
        two joint log probabilities. ``attrs["classes"]`` holds the two labels.

    Raises
    ------
    ValueError
        More or less than one document, fewer than two classes, an unknown or repeated label, a level outside (0, 1),
        a document that is impossible under both classes, or parameters without a posterior.

    Notes
    -----
    A row's interval is the equal-tailed posterior interval of its part of log P(a | x) - log P(b | x) under theta and
    phi, or mu and sigma2: for a token, count times the log ratio of its two phi; for a measurement, the log ratio of
    its two densities. **Intervals do not add up**: the ends of the sum are nearer to each other than the sums of the
    ends; the sum's own interval is that of `class_probability_interval`.

    The multinomial predictive has no such parts. Its rows are those of phi = g / sum g with gamma variates g: x log g
    for a token, -n log sum g for the length. The contribution of a predictive is the logarithm of a mean and may lie
    outside the interval.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import uncertainty
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> document = [[int(token in ("free", "coffee")) for token in tc.posterior_.tokens]]
    >>> table = uncertainty.explain(tc.posterior_, document)
    >>> [str(label) for label in table.attrs["classes"]], table.contribution.round(2).to_dict()
    (['ham', 'spam'], {'(class prior)': -0.41, 'coffee': 1.3, 'free': -0.89})
    """
    import pandas as pd

    level = validate.level(level)
    documents = read(posterior, x, power)
    X: Any = documents.X
    if X.shape[0] != 1:
        raise ValueError(f"explain takes one document, got {X.shape[0]}; give one row, such as X[[0]]")
    if not isinstance(X, np.ndarray):
        X = sparse.csr_array(X, copy=True)
        X.eliminate_zeros()
    a, b = _pair(posterior, posterior.log_joint(X, estimate, power), classes)
    gamma_form = estimate == "predictive" and posterior.event == "multinomial"
    parts = _PARTS["gamma" if gamma_form else posterior.event]
    names, held, point, ends = parts(posterior, X, estimate, a, b, level)
    prior_point, prior_ends = _class_prior(posterior, estimate, a, b, level)
    ends, prior_ends = np.sort(ends, axis=0), np.sort(prior_ends)  # at a level near 0 they are equal up to rounding
    index, what, of_prior = _HEADS.get(posterior.event, ("token", "count", 1.0))
    rows = pd.Index([CLASS_PRIOR, *names], name=index, dtype=object)
    table = pd.DataFrame(
        {
            what: pd.Series([of_prior, *held], rows, dtype=object if of_prior is None else float),  # strings stay so
            "contribution": np.concatenate([[prior_point], power * point]),
            "lower": np.concatenate([prior_ends[:1], power * ends[0]]),
            "upper": np.concatenate([prior_ends[1:], power * ends[1]]),
        },
        index=rows,
    )
    table.attrs["classes"] = (posterior.classes[a], posterior.classes[b])
    return table


def _pair(posterior: Posterior, joint: np.ndarray, classes: Any) -> tuple[int, int]:
    if joint.shape[1] < 2:
        raise ValueError("explain compares two classes, but the model has one")
    normalise(joint)
    if classes is None:
        a, b = (int(k) for k in np.argsort(-joint[0], kind="stable")[:2])
    else:
        named = given.listed(classes, "classes must be two different labels")
        if len(named) != 2:
            raise ValueError(f"classes must be two different labels, got {given.shown(classes)}")
        a, b = (posterior.class_index(label) for label in named)
        if a == b:
            raise ValueError(f"classes must be two different labels, got {given.shown(classes)}")
    if np.isneginf(joint[0, [a, b]]).all():
        raise ValueError("the document has probability 0 under both classes, so that they cannot be compared")
    return a, b


def _class_prior(posterior: Posterior, estimate: str, a: int, b: int, level: float) -> tuple[float, np.ndarray]:
    log_theta = posterior.log_theta(estimate)
    point = float(log_theta[a] - log_theta[b])
    if isinstance(posterior.theta, Point):
        return point, np.array([point, point])
    t = posterior.theta.concentration
    return point, _interval(np.zeros(2, int), t[[a, b]], np.array([1.0, -1.0]), np.ones(2), level)[:, 0]


def _ratio_parts(posterior: CountPosterior, X: sparse.csr_array, estimate: str, a: int, b: int, level: float) -> tuple:
    """Parts under point estimates: count times log phi_a / phi_b, with the exact law of the ratio."""
    log_phi = posterior.log_phi(estimate)
    seen, count = X.indices, X.data
    margin = posterior.phi.marginal()
    ends = _ratio_ends(margin.a[a, seen], margin.b[a, seen], margin.a[b, seen], margin.b[b, seen], level)
    parts = [list(posterior.tokens[seen]), count, count * (log_phi[a, seen] - log_phi[b, seen]), count * ends]
    if posterior.event == "bernoulli":
        absent = np.setdiff1d(np.arange(X.shape[1]), seen)
        parts[0].append(ABSENT)
        parts[1] = np.append(count, len(absent))
        parts[2] = np.append(parts[2], _absent_point(posterior, estimate, a, b, absent))
        parts[3] = np.concatenate([parts[3], _absent_ends(posterior, a, b, absent, level)], axis=1)
    return tuple(parts)


def _ratio_ends(a1: np.ndarray, b1: np.ndarray, a2: np.ndarray, b2: np.ndarray, level: float) -> np.ndarray:
    """Intervals of the log ratio of a Beta(a1, b1) and a Beta(a2, b2) variate, shape (2, ratios)."""
    from bayesnb.contrast.law import log_ratio_quantile

    shapes, tail = (a1, b1, a2, b2), (1 - level) / 2
    return np.stack([log_ratio_quantile(tail, *shapes), log_ratio_quantile(tail, *shapes, upper=True)])


def _absent_point(posterior: CountPosterior, estimate: str, a: int, b: int, absent: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        log_absence = np.log(posterior._absence_hat(estimate)[:, absent])  # type: ignore[attr-defined]
    return float(log_absence[a].sum() - log_absence[b].sum())


def _absent_ends(posterior: CountPosterior, a: int, b: int, absent: np.ndarray, level: float) -> np.ndarray:
    if not len(absent):
        return np.zeros((2, 1))
    up, both = posterior.phi.b[:, absent], (posterior.phi.a + posterior.phi.b)[:, absent]
    c = np.concatenate([up[a], both[a], up[b], both[b]])
    v = len(absent)
    step = np.repeat([1.0, 1.0, -1.0, -1.0], v)
    return _interval(np.zeros(4 * v, int), c, step, np.repeat([1.0, -1.0, 1.0, -1.0], v), level)


def _category_parts(
    posterior: CountPosterior, X: sparse.csr_array, estimate: str, a: int, b: int, level: float
) -> tuple:
    """Parts of a row of categories: log phi_a / phi_b of each, certain where its column has no other."""
    log_phi, c = posterior.log_phi(estimate), posterior.phi.concentration
    block, every = posterior.statistics.block, np.arange(X.shape[1])
    seen = X.indices[np.argsort(block[X.indices])]  # cells reserved for the unseen come last of all columns'
    others = [c[:, (block == block[cell]) & (every != cell)].sum(axis=1) for cell in seen]
    rest = np.array(others).reshape(len(seen), len(c))
    ends = np.zeros((2, len(seen)))
    some = rest.all(axis=1)
    ends[:, some] = _ratio_ends(c[a, seen[some]], rest[some, a], c[b, seen[some]], rest[some, b], level)
    named = [posterior._named(cell) for cell in seen]  # type: ignore[attr-defined]
    return [name for name, _ in named], [value for _, value in named], log_phi[a, seen] - log_phi[b, seen], ends


def _measured_parts(posterior: Any, X: np.ndarray, estimate: str, a: int, b: int, level: float) -> tuple:
    """Parts of a row of measurements: the log ratio of the densities of each under the two classes."""
    column = np.flatnonzero(~np.isnan(X[0]))
    x, row = X[0, column], np.arange(len(column))
    if estimate == "predictive":
        there = np.where(np.isnan(X[0]), 0.0, X[0])  # missing cells drop out below; a density has no missing point
        log_density = posterior.normal.predictive().log_density(there)
    else:
        mu, sigma2 = posterior.mu_hat(estimate), posterior.sigma2_hat(estimate)
        log_density = -(LOG_2PI + np.log(sigma2) + (X[0] - mu) ** 2 / sigma2) / 2
    made = normal_cells(posterior)
    law = made.sum(row, column, x, {a: 1.0, b: -1.0}, [], np.zeros(len(column)))
    one, two = (made.cumulants(k, column, x, 2) for k in (a, b))
    ends = _ends(law, one[0] - two[0], np.hypot(np.sqrt(one[1]), np.sqrt(two[1])), level)  # the sum may overflow
    return list(posterior.tokens[column]), x, (log_density[a] - log_density[b])[column], ends


def _gamma_parts(posterior: CountPosterior, X: sparse.csr_array, estimate: str, a: int, b: int, level: float) -> tuple:
    """Parts of the multinomial predictive: Gamma(c + x)/Gamma(c) a token, Gamma(C)/Gamma(C + n) the length."""
    from bayesnb.special import log_rising

    c, total = posterior.phi.concentration, posterior.phi.total
    n = X.data.sum()
    first = np.append(c[a, X.indices], total[a])
    second = np.append(c[b, X.indices], total[b])
    count = np.append(X.data, n)
    sign = np.append(np.ones(X.nnz), -1.0)
    point = sign * (log_rising(first, count) - log_rising(second, count))
    row = np.arange(len(count))
    ends = _interval(
        np.concatenate([row, row]), np.concatenate([first, second]), np.repeat([1.0, -1.0], len(row)),
        np.ones(2 * len(row)), level,
    )  # fmt: skip
    ends = count * np.where(sign > 0, ends, -ends[::-1])
    return [*posterior.tokens[X.indices], LENGTH], count, point, ends


def _interval(row: np.ndarray, c: np.ndarray, step: np.ndarray, weight: np.ndarray, level: float) -> np.ndarray:
    """Equal-tailed intervals of sums of log-gamma variates, one a row, shape (2, rows)."""
    n = int(row.max()) + 1
    law = LogGammaSum(row, c, step, weight, np.zeros(n), _NONE)
    mean = np.bincount(row, weight * step * polygamma(1, c), n)
    sd = np.sqrt(np.bincount(row, weight * step**2 * polygamma(2, c), n))
    return _ends(law, mean, sd, level)


def _ends(law: Law, mean: np.ndarray, sd: np.ndarray, level: float) -> np.ndarray:
    """Equal-tailed intervals of laws of these means and standard deviations, shape (2, rows)."""
    tail = (1 - level) / 2
    low = -upper_quantile(law.negated(), tail, 2 * sd - mean, -mean, sd)
    return np.stack([low, upper_quantile(law, tail, mean + 2 * sd, mean, sd)])


_PARTS: dict[str, Callable[..., tuple]] = {
    "multinomial": _ratio_parts,
    "gamma": _gamma_parts,
    "bernoulli": _ratio_parts,
    "categorical": _category_parts,
    "gaussian": _measured_parts,
}
