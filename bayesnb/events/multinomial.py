"""The multinomial event model: a document is a sequence of tokens, each drawn from its class's phi.

phi_k ~ Dirichlet(a_k), token | y = k ~ Categorical(phi_k). After token counts n_k the posterior is
Dirichlet(a_k + n_k); the log evidence of the sequences is sum_k log B(a_k + n_k) - log B(a_k), and a new document
with counts x has log predictive probability log B(a_k + n_k + x) - log B(a_k + n_k)
(Gelman et al., Bayesian Data Analysis, 3rd ed., section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse, special

from bayesnb import validate
from bayesnb.events import empirical, leftout, priors
from bayesnb.events.base import CountPosterior, CountStatistics, LogTable
from bayesnb.events.rising import log_rising_sums
from bayesnb.events.statistics import _difference
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet, NoModeError, log_rising, mode_after, mode_of_excess
from bayesnb.logbeta import log_dirichlet_step


@dataclass(frozen=True, eq=False)
class Statistics(CountStatistics):
    """Documents and token occurrences by class; see `CountStatistics`.

    Raises
    ------
    ValueError
        Also where a class without documents would hold tokens.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.multinomial import Statistics
    >>> counts = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]  # of coffee, game, discount in three mails
    >>> n = Statistics.from_documents(counts, np.array([0, 0, 1]), n_classes=2)
    >>> n.class_count.tolist(), n.feature_count.tolist(), n.token_total.tolist()
    ([2.0, 1.0], [[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]], [4.0, 4.0])
    >>> (n + n - n).class_count.tolist()
    [2.0, 1.0]
    """

    def _check(self) -> None:
        left = np.argwhere(self.feature_count[self.class_count == 0])
        if len(left):
            k = int(np.flatnonzero(self.class_count == 0)[left[0][0]])
            raise ValueError(f"class {k} would hold token {left[0][1]} without holding a document")

    @cached_property
    def token_total(self) -> np.ndarray:
        """Tokens in each class, N_k, shape (K,)."""
        return self.feature_count.sum(axis=1)


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the multinomial model.

    Parameters
    ----------
    theta : ClassPrior
        Of the class probabilities.
    phi : ndarray, shape (K, V)
        Dirichlet concentrations a.
    smoothing : ndarray, shape (K, V), optional
        a - 1, for the mode alone: 1 + alpha does not hold the digits of a small alpha.
    name : str
        What it is called, where it was computed from totals.

    Raises
    ------
    ValueError
        A concentration is not a number from 1e-100 to 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.multinomial import Prior
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 3), 2.0))
    >>> prior.describe(), prior.strength.tolist()
    ('phi ~ Dirichlet(2), theta ~ Dirichlet(1)', [6.0, 6.0])
    """

    theta: ClassPrior
    phi: np.ndarray
    smoothing: np.ndarray | None = None
    name: str = ""

    of: ClassVar[str] = "phi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", validate.concentration(self.phi, "prior"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and tokens, (K, V)."""
        return self.phi.shape

    @classmethod
    def resolve(
        cls, theta: ClassPrior, prior: Any, alpha: Any, estimate: str, shape: tuple[int, int],
        statistics: Statistics | None = None,
    ) -> Self:  # fmt: skip
        """Read the estimators' arguments `prior`, `alpha` and `estimate` for a (K, V) model.

        The statistics are needed for the priors computed from them; see `bayesnb.events.empirical`.
        """
        rule = empirical.rule(prior, estimate)
        if rule is not None:
            statistics = Statistics.zeros(*shape) if statistics is None else statistics
            return cls(theta, *_from_totals(rule, alpha, statistics))
        a = priors.concentration(prior, alpha, estimate)
        if isinstance(a, Dirichlet):
            a = a.concentration
        if isinstance(a, Beta):
            raise ValueError("a Beta prior belongs to the Bernoulli model; give the multinomial a concentration")
        return cls(theta, validate.concentration(a, "prior", shape), priors.smoothing(prior, alpha, estimate, shape))

    @property
    def lowest(self) -> float:
        """Smallest concentration of phi; above 1 a mode always exists."""
        return float(validate.distinct(self.phi).min(initial=np.inf))

    @property
    def strength(self) -> np.ndarray:
        """Total concentration of each class: how many tokens the prior weighs as much as, shape (K,)."""
        return self.phi.sum(axis=1)

    def describe(self) -> str:
        """The prior in one phrase."""
        phi = self.name or priors.describe("Dirichlet", self.phi)
        return f"phi ~ {phi}, {self.theta.describe()}"


def _from_totals(rule: empirical.Rule, alpha: Any, statistics: Statistics) -> tuple[np.ndarray, None, str]:
    """Concentrations (K, V) of a prior computed from the totals, no smoothing, and what they are."""
    n, v = statistics.feature_count, statistics.n_tokens
    overall = n.sum(axis=0)
    share = empirical.shares(overall, overall.sum(), v) if rule.of_background else np.full(v, 1 / max(v, 1))
    strength = rule.strength
    if rule.name == "background":
        strength = v * priors.mean_alpha(alpha) if strength is None else strength
    else:
        m, total = np.broadcast_to(share, n.shape).ravel(), statistics.token_total
        terms = (np.append(m, np.ones_like(total)), np.append(n, total))
        strength = empirical.best_strength(*terms, np.repeat([1.0, -1.0], [n.size, len(total)]), v)
    law = f"{strength:.6g} x token shares" if rule.of_background else f"{strength / max(v, 1):.4g}"
    return np.tile(strength * share, (len(n), 1)), None, f"{rule.name}: Dirichlet({law})"


@dataclass(frozen=True, eq=False)
class Posterior(CountPosterior):
    """Posterior of the multinomial model; see `CountPosterior`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.multinomial import Posterior, Prior, Statistics
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 2), 2.0))
    >>> post = Posterior(prior, Statistics([1, 1], [[3, 1], [0, 2]]))
    >>> post.phi_hat("map")
    array([[0.66666667, 0.33333333],
           [0.25      , 0.75      ]])
    """

    event: ClassVar[str] = "multinomial"

    @cached_property
    def phi(self) -> Dirichlet:
        """Distribution of the token probabilities: Dirichlet(a + n), concentration of shape (K, V)."""
        return Dirichlet(self.prior.phi + self.statistics.feature_count)

    def _surely_exists(self, estimate: str) -> bool:
        some = self.statistics.token_total.all()
        return bool(some) if estimate == "mle" else self.prior.lowest > 1 or (self.prior.lowest == 1 and some)

    def _phi_hat(self, estimate: str) -> np.ndarray:
        n = self.statistics.feature_count
        if estimate == "map":
            s = self.prior.smoothing
            return mode_after(self.prior.phi, n) if s is None else mode_of_excess(s + n)
        if estimate != "mle":
            return self.phi.mean()
        self._refuse_empty(self.statistics.token_total, "token")
        return n / n.sum(axis=1, keepdims=True)

    def _new_table(self, estimate: str) -> LogTable:
        return LogTable(self._phi_hat(estimate))

    def _log_predictive(self, X: sparse.csr_array) -> np.ndarray:
        X = X if X.has_canonical_format else validate.counts(X)
        length, which = np.unique(X @ np.ones(X.shape[1]), return_inverse=True)
        whole = log_rising(self.phi.total, length[:, None])
        return log_rising_sums(X, self.phi.concentration, self._log_concentration) - whole[which]

    def _log_concentration(self) -> np.ndarray:
        return self._once("log_c", "predictive", lambda _: np.log(np.array(self.phi.concentration.T, order="C")))

    def _left_out(self, X: sparse.csr_array, own: np.ndarray, weight: np.ndarray, estimate: str) -> np.ndarray:
        left = leftout.remainder(self, X, own, weight)
        a = leftout.pseudo_counts(self.prior.phi, self.prior.smoothing, estimate)
        length = left.sum(left.x)
        c = a[left.own, left.column] + left.count
        total = a.sum(axis=1)[own] + _difference(self.statistics.token_total[own], weight * length)
        if estimate == "predictive":
            return left.sum(log_rising(c, left.x)) - log_rising(total, length)
        if estimate == "map" and self.statistics.n_tokens == 1:
            return np.zeros(len(own))
        self._refuse_no_mode_left(left, own, c, total, estimate)
        return left.sum(special.xlogy(left.x, c)) - special.xlogy(length, total)

    def _refuse_no_mode_left(
        self, left: leftout.Remainder, own: np.ndarray, c: np.ndarray, total: np.ndarray, estimate: str
    ) -> None:
        if len(c) and c.min() < 0:
            at = int(c.argmin())
            error = NoModeError((int(left.own[at]), int(left.column[at])), unbounded=True)
            raise self._no_mode_left(int(left.row[at]), error, estimate, "token")
        if len(total) and total.min() == 0:
            row = int(total.argmin())
            raise self._no_mode_left(row, NoModeError((int(own[row]),), unbounded=False), estimate, "token")

    def _log_evidence(self) -> float:
        return float(log_dirichlet_step(self.prior.phi, self.statistics.feature_count).sum())
