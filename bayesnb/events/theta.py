"""The class probabilities theta: a Dirichlet prior, or a class prior that is known.

theta ~ Dirichlet(c), y_i ~ Categorical(theta); the posterior after class counts n is Dirichlet(c + n). A known
class prior makes theta a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import special

from bayesnb import validate
from bayesnb.families import Dirichlet, NoModeError, Point, mode_after
from bayesnb.given import shown
from bayesnb.logbeta import log_dirichlet_step


@dataclass(frozen=True, eq=False)
class ClassPrior:
    """Prior of theta: exactly one of its two fields is given.

    Parameters
    ----------
    concentration : ndarray, shape (K,), optional
        Concentrations c of the Dirichlet prior.
    known : ndarray, shape (K,), optional
        Class probabilities that are known, summing to 1.

    Raises
    ------
    ValueError
        Both or neither is given, or its numbers are no concentrations or no probabilities.

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, section 3.4.

    Examples
    --------
    >>> import bayesnb
    >>> import numpy as np
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = ClassPrior.resolve({"spam": 0.1, "ham": 0.9}, np.array(["ham", "spam"]))
    >>> prior.known.tolist(), prior.describe()
    ([0.9, 0.1], 'theta known')
    """

    concentration: np.ndarray | None = None
    known: np.ndarray | None = None

    def __post_init__(self) -> None:
        if (self.concentration is None) == (self.known is None):
            raise ValueError("a class prior needs either concentrations or known probabilities")
        if self.known is not None:
            object.__setattr__(self, "known", validate.known_prior(self.known, np.size(self.known)))
        else:
            c = np.atleast_1d(validate.concentration(self.concentration, "class_prior"))
            object.__setattr__(self, "concentration", c)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.known if self.concentration is None else self.concentration)  # type: ignore[arg-type]

    @classmethod
    def resolve(cls, class_prior: Any, classes: np.ndarray, *, fit_prior: bool = True) -> ClassPrior:
        """Read the estimators' argument.

        Parameters
        ----------
        class_prior : None, number, Dirichlet, sequence or mapping
            None is 1. A number is the concentration of theta, a `Dirichlet` one concentration a class; a
            sequence in the order of `classes`, or a mapping from label to probability, is a known class prior.
        classes : ndarray, shape (K,)
            Class labels, sorted.
        fit_prior : bool
            False, with no known class prior: theta is known to be uniform.

        Raises
        ------
        ValueError
            The numbers are no class prior, or a mapping names other classes.
        """
        k = len(classes)
        if isinstance(class_prior, Dirichlet):
            return cls(concentration=validate.concentration(class_prior.concentration, "class_prior", (k,)))
        if class_prior is None or isinstance(class_prior, Real):
            if not fit_prior:
                return cls(known=np.full(k, 1 / k))
            c = 1.0 if class_prior is None else class_prior
            return cls(concentration=validate.concentration(c, "class_prior", (k,)))
        class_prior = _named(class_prior)
        if isinstance(class_prior, Mapping):
            class_prior = _in_order(class_prior, classes)
        return cls(known=validate.known_prior(class_prior, k))

    def describe(self) -> str:
        """One phrase for tables, such as ``theta ~ Dirichlet(1)``."""
        if self.known is not None:
            return "theta known"
        c = np.asarray(self.concentration)
        return f"theta ~ Dirichlet({c[0]:.12g})" if (c == c[0]).all() else "theta ~ Dirichlet(per class)"

    def posterior(self, class_count: np.ndarray) -> Dirichlet | Point:
        """Distribution of theta after class counts n, shape (K,)."""
        if self.concentration is None:
            return Point(self.known)  # type: ignore[arg-type]
        return Dirichlet(self.concentration + class_count)

    def estimate(self, class_count: np.ndarray, estimate: str, classes: np.ndarray) -> np.ndarray:
        """Class probabilities, shape (K,): mle n/N, map (n + c - 1)/(N + sum(c - 1)), mean (n + c)/(N + sum c).

        Raises
        ------
        ValueError
            There is no mode, or no document for the mle.
        """
        if self.known is not None:
            return self.known
        if estimate == "mle":
            if not class_count.sum():
                raise ValueError("no document: the mle of the class probabilities is 0/0; use estimate='mean'")
            return class_count / class_count.sum()
        if estimate != "map":
            return self.posterior(class_count).mean()
        try:
            return mode_after(np.asarray(self.concentration), class_count)
        except NoModeError as error:
            raise _no_class_mode(error, classes) from None

    def log_evidence(self, class_count: np.ndarray) -> float:
        """Log P(y_1..y_N): log B(c + n) - log B(c), or sum n_k log theta_k where theta is known."""
        if self.known is not None:
            return float(special.xlogy(class_count, self.known).sum())
        return float(log_dirichlet_step(np.asarray(self.concentration), class_count))


def _named(class_prior: Any) -> Any:
    """A pandas Series whose index holds labels, as a mapping: reading it by position would mix the classes up."""
    index = getattr(class_prior, "index", None)
    if index is None or not hasattr(class_prior, "to_dict") or list(index) == list(range(len(class_prior))):
        return class_prior
    return class_prior.to_dict()


def _in_order(class_prior: Mapping, classes: np.ndarray) -> list[float]:
    names = list(classes)
    unknown = [label for label in class_prior if label not in names]
    if unknown:
        one = shown(unknown[0])
        raise ValueError(f"class_prior names class {one}, which is not among the classes {_listed(names)}")
    missing = [label for label in names if label not in class_prior]
    if missing:
        raise ValueError(
            f"Number of priors must match number of classes: class_prior names none for {shown(missing[0])}"
        )
    return [class_prior[label] for label in names]


def _no_class_mode(error: NoModeError, classes: np.ndarray) -> ValueError:
    if not error.unbounded:
        return ValueError("theta has no unique mode: class_prior is 1 and there is no document; use estimate='mean'")
    label = shown(classes[error.index[-1]])
    return ValueError(
        f"theta has no mode: the posterior concentration of class {label} is below 1; use estimate='mean'"
    )


def _listed(names: list) -> str:
    return ", ".join(shown(name) for name in names[:10]) + (", ..." if len(names) > 10 else "")
