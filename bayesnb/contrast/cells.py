"""What each class knows of each token: counts, prior and posterior shapes, point estimates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesnb import validate
from bayesnb.contrast.law import SHAPES
from bayesnb.events.priors import pseudo_count
from bayesnb.families import Beta, Dirichlet, excess
from bayesnb.given import shown

Array = np.ndarray
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cells:
    """What some classes know of some tokens.

    Parameters
    ----------
    posterior : Posterior
        Of the multinomial or the Bernoulli model.
    rows, chosen : ndarray
        Numbers of the K classes and V tokens; every array is (K, V).
    alpha, shared
        As in `token_ratios`.
    """

    posterior: Any
    rows: Index
    chosen: Index
    alpha: Any
    shared: Any

    @cached_property
    def _bernoulli(self) -> bool:
        return self.posterior.event == "bernoulli"

    @cached_property
    def _all_counts(self) -> Array:
        """Counts of every token of the vocabulary in these classes."""
        return self.posterior.statistics.feature_count[self.rows]

    @cached_property
    def count(self) -> Array:
        """Occurrences of the token, or documents that hold it."""
        return self._all_counts[:, self.chosen]

    @cached_property
    def total(self) -> Array:
        """Tokens of the class, or documents for the Bernoulli event."""
        statistics = self.posterior.statistics
        total = statistics.class_count if self._bernoulli else statistics.token_total
        return np.broadcast_to(total[self.rows, None], self.count.shape)

    @cached_property
    def law(self) -> tuple[Array, Array]:
        """Beta shapes of the posterior of phi, all within the range of the ratio's law."""
        a, b = self._shapes(self.posterior.phi)
        far = np.argwhere(~((np.minimum(a, b) >= SHAPES[0]) & (np.maximum(a, b) <= SHAPES[1])))
        if len(far):
            k, j = map(int, far[0])
            raise self._beyond(k, j, a[k, j], b[k, j])
        return a, b

    def _beyond(self, k: int, j: int, a: float, b: float) -> ValueError:
        token = shown(self.posterior.tokens[self.chosen[j]])
        return ValueError(
            f"phi of token {token} in class {shown(self.posterior.classes[self.rows[k]])} is Beta({a:g}, {b:g}): "
            f"the law of a ratio is computed for Beta shapes (prior plus counts) from {SHAPES[0]:g} to "
            f"{SHAPES[1]:g}; give a more moderate prior, or rescale the counts"
        )

    @cached_property
    def prior(self) -> tuple[Array, Array]:
        """Beta shapes of the prior of phi."""
        phi = self.posterior.prior.phi
        return self._shapes(phi if self._bernoulli else Dirichlet(phi))

    def _shapes(self, phi: Any) -> tuple[Array, Array]:
        own = Beta(phi.a[self.rows], phi.b[self.rows]) if self._bernoulli else Dirichlet(phi.concentration[self.rows])
        return self._of_chosen(own)

    def _of_chosen(self, phi: Beta | Dirichlet) -> tuple[Array, Array]:
        margin = phi.marginal()
        return margin.a[..., self.chosen], margin.b[..., self.chosen]

    @cached_property
    def same(self) -> tuple[Array, ...]:
        """Beta shapes of the one phi under "same", where they were given."""
        if self.shared is None:
            return ()
        prior = _shared_prior(self.shared, self.posterior.statistics.n_tokens, bernoulli=self._bernoulli)
        return tuple(np.broadcast_to(s, self.count.shape) for s in self._of_chosen(prior))

    @cached_property
    def laplace(self) -> Array:
        """(n + s)/(N + sum s); Bernoulli: (n + s)/(N + 2s)."""
        s = pseudo_count(self.alpha, self.posterior.statistics.n_tokens)
        spread = 2 * s[self.chosen] if self._bernoulli else s.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.count + s[self.chosen]) / (self.total + spread)

    @cached_property
    def mode(self) -> Array:
        """Mode of phi; NaN for a class, or a cell of the Bernoulli event, without one."""
        prior, n = self.posterior.prior, self._all_counts
        s = None if prior.smoothing is None else prior.smoothing[self.rows]
        if self._bernoulli:
            absent = np.maximum(self.posterior.statistics.class_count[self.rows, None] - n, 0)
            both = ((prior.phi.a, n), (prior.phi.b, absent))
            above = np.stack([excess(a[self.rows], c) if s is None else s + c for a, c in both], axis=-1)
            above = above[:, self.chosen]
        else:
            above = excess(prior.phi[self.rows], n) if s is None else s + n
        total = above.sum(-1, keepdims=True)
        exists = (above >= 0).all(-1, keepdims=True) & (total > 0)
        mode = np.where(exists, above / np.where(exists, total, 1.0), np.nan)
        return mode[..., 0] if self._bernoulli else mode[:, self.chosen]


def _shared_prior(value: Any, n_tokens: int, *, bernoulli: bool) -> Beta | Dirichlet:
    """The prior of one phi, read as the estimators read theirs.

    Raises
    ------
    ValueError
        The family of the other event model, a concentration that is not above 0, or a shape other than (V,).
    """
    if isinstance(value, Dirichlet if bernoulli else Beta):
        fitting = "a Beta(a, b) for the Bernoulli model" if bernoulli else "a concentration for the multinomial model"
        raise ValueError(f"shared is a {type(value).__name__}; give {fitting}")
    if not bernoulli:
        value = value.concentration if isinstance(value, Dirichlet) else value
        return Dirichlet(validate.concentration(value, "shared", (n_tokens,)))
    pair = (value.a, value.b) if isinstance(value, Beta) else (value, value)
    a, b = (validate.concentration(v, "shared", (n_tokens,)) for v in pair)
    return Beta(a, b)
