"""Several fitted candidates as one classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from bayesnb.events.base import Posterior, normalise
from bayesnb.model import Settings

NEGLIGIBLE = 1e-6  # of a weight: an optimiser's zero


@dataclass(frozen=True, eq=False)
class Member:
    """One fitted model, its weight in the mixture and the power on its likelihood."""

    settings: Settings
    posterior: Posterior
    weight: float
    power: float

    def log_proba(self, X: Any) -> np.ndarray:
        """Log P(y = k | x), shape (N, K), theta by its mean as candidates are scored."""
        likelihood = self.posterior.log_likelihood(self.settings.documents(X), self.settings.estimate)
        return normalise(self.posterior.log_theta("mean") + self.power * likelihood)


@dataclass(frozen=True, eq=False)
class Combination:
    """Fitted mixture sum_m w_m P_m(k | x) of event models, priors and estimates.

    Attributes
    ----------
    members : list of Member
        Those with a weight worth keeping; their weights sum to 1.
    read : callable, optional
        Turns texts into counts.
    """

    members: list[Member]
    read: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, members: list[Member], read: Callable[[Any], Any] | None = None) -> Self:
        """Keep the members that matter; what they leave of the weight is shared among them."""
        kept = [member for member in members if member.weight > NEGLIGIBLE]
        total = sum(member.weight for member in kept)
        return cls([replace(member, weight=member.weight / total) for member in kept], read)

    @property
    def classes_(self) -> np.ndarray:
        """Labels, shape (K,)."""
        return self.members[0].posterior.classes

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log P(y = k | x), shape (N, K)."""
        X = X if self.read is None else self.read(X)
        weight = np.array([member.weight for member in self.members])[:, None, None]
        return logsumexp([member.log_proba(X) for member in self.members], axis=0, b=weight)

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(y = k | x), shape (N, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable label of each document, shape (N,); the first class where several tie."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
