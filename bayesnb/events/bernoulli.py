"""The Bernoulli event model: a document is a set of tokens, each present or absent on its own.

phi_kj ~ Beta(a_kj, b_kj), x_ij | y_i = k ~ Bernoulli(phi_kj). With token j in n_kj of class k's N_k documents the
posterior is Beta(a + n_kj, b + N_k - n_kj) and the log evidence sum_kj log B(a + n_kj, b + N_k - n_kj) - log B(a, b).
Each cell is seen once per document, so the predictive equals the posterior mean
(Gelman et al., Bayesian Data Analysis, 3rd ed., section 2.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesnb import validate
from bayesnb.events import empirical, leftout, priors
from bayesnb.events.base import CountPosterior, CountStatistics, LogTable
from bayesnb.events.statistics import _difference
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet, NoModeError, excess
from bayesnb.logbeta import log_beta_step


@dataclass(frozen=True, eq=False)
class Statistics(CountStatistics):
    """Documents by class, and documents that hold each token; see `CountStatistics`.

    Raises
    ------
    ValueError
        Also where a token would be in more documents than its class has.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.bernoulli import Statistics
    >>> counts = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]  # of coffee, game, discount in three mails
    >>> Statistics.from_documents(counts, np.array([0, 0, 1]), n_classes=2).feature_count.tolist()
    [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """

    def _check(self) -> None:
        most = self.class_count * (1 + 1e-12)
        if (self.feature_count.max(axis=1, initial=0.0) > most).any():
            over = np.argwhere(self.feature_count > most[:, None])
            k, j = (int(i) for i in over[0])
            raise ValueError(
                f"token {j} would be in {self.feature_count[k, j]:g} documents of class {k}, "
                f"which has {self.class_count[k]:g}: presence is counted once a document"
            )

    @staticmethod
    def document(X: sparse.csr_array) -> sparse.csr_array:
        """How a row is read: a token with a count above 0 is present."""
        return validate.presence(X, 0.0, "BernoulliNB")


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the Bernoulli model.

    Parameters
    ----------
    theta : ClassPrior
        Of the class probabilities.
    phi : Beta, shape (K, V)
        Of the presence probabilities.
    smoothing : ndarray, shape (K, V), optional
        a - 1 = b - 1, for the mode alone: 1 + alpha does not hold the digits of a small alpha.
    name : str
        What it is called, where it was computed from totals.

    Raises
    ------
    ValueError
        `phi` is no Beta.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesnb
    >>> from bayesnb.events.bernoulli import Prior
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = Prior(ClassPrior(known=[0.9, 0.1]), bayesnb.Beta(np.ones((2, 3)), 4))
    >>> prior.describe(), prior.strength.tolist()
    ('phi ~ Beta(1, 4), theta known', [5.0, 5.0])
    """

    theta: ClassPrior
    phi: Beta
    smoothing: np.ndarray | None = None
    name: str = ""

    of: ClassVar[str] = "phi"

    def __post_init__(self) -> None:
        if not isinstance(self.phi, Beta):
            raise ValueError("the prior of the Bernoulli model's phi is a Beta(a, b) of shape (K, V)")

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and tokens, (K, V)."""
        return self.phi.a.shape

    @classmethod
    def resolve(
        cls, theta: ClassPrior, prior: Any, alpha: Any, estimate: str, shape: tuple[int, int],
        statistics: Statistics | None = None,
    ) -> Self:  # fmt: skip
        """Read the estimators' arguments; a concentration a is Beta(a, a).

        The statistics are needed for the priors computed from them; see `bayesnb.events.empirical`.
        """
        rule = empirical.rule(prior, estimate)
        if rule is not None:
            statistics = Statistics.zeros(*shape) if statistics is None else statistics
            return cls(theta, *_from_totals(rule, alpha, statistics))
        a = priors.concentration(prior, alpha, estimate)
        if isinstance(a, Dirichlet):
            raise ValueError("a Dirichlet prior belongs to the multinomial model; give the Bernoulli a Beta(a, b)")
        a, b = (a.a, a.b) if isinstance(a, Beta) else (a, a)
        phi = Beta(validate.concentration(a, "prior", shape), validate.concentration(b, "prior", shape))
        return cls(theta, phi, priors.smoothing(prior, alpha, estimate, shape))

    @property
    def lowest(self) -> float:
        """Smallest concentration of phi; above 1 a mode always exists."""
        return float(min(validate.distinct(shape).min(initial=np.inf) for shape in (self.phi.a, self.phi.b)))

    @property
    def strength(self) -> np.ndarray:
        """Largest a + b of each class: how many documents the prior weighs as much as, shape (K,)."""
        return (self.phi.a + self.phi.b).max(axis=1, initial=0.0)

    def describe(self) -> str:
        """The prior in one phrase."""
        a, b = self.phi.a, self.phi.b
        flat = a.size and (a == a.flat[0]).all() and (b == b.flat[0]).all()
        phi = f"Beta({a.flat[0]:.12g}, {b.flat[0]:.12g})" if flat else "Beta(per token)"
        return f"phi ~ {self.name or phi}, {self.theta.describe()}"


def _from_totals(rule: empirical.Rule, alpha: Any, statistics: Statistics) -> tuple[Beta, None, str]:
    """Beta (K, V) of a prior computed from the totals, no smoothing, and what it is."""
    n = statistics.feature_count
    documents = np.broadcast_to(statistics.class_count[:, None], n.shape)
    share = np.full(statistics.n_tokens, 0.5)
    if rule.of_background:
        share = empirical.shares(n.sum(axis=0), statistics.class_count.sum(), 2)
    strength = rule.strength
    if rule.name == "background":
        strength = 2 * priors.mean_alpha(alpha) if strength is None else strength
    else:
        m = np.broadcast_to(share, n.shape).ravel()
        absent = np.maximum(documents - n, 0.0)
        terms = (np.concatenate([m, 1 - m, np.ones_like(m)]), np.concatenate([n, absent, documents], axis=None))
        strength = empirical.best_strength(*terms, np.repeat([1.0, 1.0, -1.0], n.size), 2)
    half = f"{strength / 2:.4g}"
    law = f"{strength:.4g} documents at token shares" if rule.of_background else f"{half}, {half}"
    both = [np.tile(strength * part, (len(n), 1)) for part in (share, 1 - share)]
    return Beta(*both), None, f"{rule.name}: Beta({law})"


def _mode(above: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Mode of Beta(1 + above, 1 + beside); NoModeError where one is below 0 or both are 0."""
    if above.size and min(above.min(), beside.min()) < 0:
        bad = np.argwhere((above < 0) | (beside < 0))[0]
        raise NoModeError((int(bad[0]), int(bad[1])), unbounded=True)
    total = above + beside
    if not total.all():
        bad = np.argwhere(total == 0)[0]
        raise NoModeError((int(bad[0]), int(bad[1])), unbounded=False)
    return above / total


@dataclass(frozen=True, eq=False)
class Posterior(CountPosterior):
    """Posterior of the Bernoulli model; see `CountPosterior`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.bernoulli import Posterior, Prior, Statistics
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = Prior.resolve(ClassPrior(concentration=np.ones(2)), None, 1.0, "map", (2, 1))
    >>> Posterior(prior, Statistics([1, 1], [[1], [0]])).phi_hat("map")
    array([[0.66666667],
           [0.33333333]])
    """

    event: ClassVar[str] = "bernoulli"

    @cached_property
    def phi(self) -> Beta:
        """Distribution of the presence probabilities: Beta(a + n_kj, b + N_k - n_kj), shape (K, V)."""
        return Beta(self.prior.phi.a + self.statistics.feature_count, self.prior.phi.b + self._absent)

    @property
    def _absent(self) -> np.ndarray:
        """N_k - n_kj, which fractional weights may leave a rounding error below 0."""
        return np.maximum(self.statistics.class_count[:, None] - self.statistics.feature_count, 0.0)

    def _surely_exists(self, estimate: str) -> bool:
        some = self.statistics.class_count.all()
        return bool(some) if estimate == "mle" else self.prior.lowest > 1 or (self.prior.lowest == 1 and some)

    def _phi_hat(self, estimate: str) -> np.ndarray:
        return self._estimate(self.prior.phi, self.statistics.feature_count, self._absent, estimate)

    def _absence_hat(self, estimate: str) -> np.ndarray:
        """1 - phi, computed from the absences so that a small value keeps its digits."""
        return self._estimate(self.prior.phi.complement(), self._absent, self.statistics.feature_count, estimate)

    def _estimate(self, prior: Beta, n: np.ndarray, others: np.ndarray, estimate: str) -> np.ndarray:
        s = self.prior.smoothing
        if estimate == "map" and s is None:
            return _mode(excess(prior.a, n), excess(prior.b, others))
        if estimate == "map":
            return _mode(s + n, s + others)
        if estimate != "mle":
            return Beta(prior.a + n, prior.b + others).mean()
        self._refuse_empty(self.statistics.class_count, "document")
        return n / (n + others)

    def _new_table(self, estimate: str) -> LogTable:
        return LogTable(self._phi_hat(estimate), self._absence_hat(estimate))

    def _log_predictive(self, X: sparse.csr_array) -> np.ndarray:
        return self._table("mean").score(X)

    def _left_out(self, X: sparse.csr_array, own: np.ndarray, weight: np.ndarray, estimate: str) -> np.ndarray:
        result = np.empty(len(own))
        # what is left depends on class and weight only: one table for all documents that share them
        groups, group = np.unique(np.column_stack([own, weight]), axis=0, return_inverse=True)
        for g, (k, w) in enumerate(groups):
            rows = np.flatnonzero(group.ravel() == g)
            result[rows] = self._table_left_out(X[rows], rows, int(k), w, estimate).score(X[rows])[:, 0]
        return result

    def _table_left_out(self, X: sparse.csr_array, rows: np.ndarray, k: int, w: float, estimate: str) -> LogTable:
        """Table of class k without one document of weight w, for documents X that are among it."""
        documents = leftout.class_count(self, np.array([k]), np.array([w]), rows)[0]
        n = self.statistics.feature_count[k]
        present, absent = _difference(n, np.full_like(n, w)), _difference(np.full_like(n, documents), n)
        a, b = (self._pseudo_counts(shape[k], k, estimate) for shape in (self.prior.phi.a, self.prior.phi.b))
        hit, miss, total = a + present, b + absent, a + b + documents
        for row, j in leftout.where_some(X, present < 0, absent < 0):
            raise leftout.not_learnt(self, rows[row], k, j)
        for row, j in leftout.where_some(X, hit < 0, miss < 0):
            raise self._no_mode_left(rows[row], NoModeError((k, j), unbounded=True), estimate, "document")
        if not total.all():
            raise self._no_mode_left(rows[0], NoModeError((k,), unbounded=False), estimate, "document")
        # a cell that none of these documents can have counts for nothing: any value will do
        return LogTable(np.where(hit < 0, 1, hit / total)[None], np.where(miss < 0, 1, miss / total)[None])

    def _pseudo_counts(self, shape: np.ndarray, k: int, estimate: str) -> np.ndarray:
        s = self.prior.smoothing
        return leftout.pseudo_counts(shape, None if s is None else s[k], estimate)

    def _log_evidence(self) -> float:
        return sum(map(self._class_evidence, range(self.statistics.n_classes)))

    def _class_evidence(self, k: int) -> float:
        """Log evidence of one class's documents; tokens alike in prior and count are computed once."""
        a, b, n, absent = (
            v[k] for v in (self.prior.phi.a, self.prior.phi.b, self.statistics.feature_count, self._absent)
        )
        if not n.size or np.ptp(a) or np.ptp(b):
            return float(log_beta_step(a, b, n, absent).sum())
        _, first, times = np.unique(n, return_index=True, return_counts=True)
        return float(times @ log_beta_step(a[first], b[first], n[first], absent[first]))
