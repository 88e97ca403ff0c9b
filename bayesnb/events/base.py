"""What every event model over counts shares: a posterior with named classes and tokens, and its statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayesnb import given, validate
from bayesnb.events.leftout import RowError
from bayesnb.events.statistics import CountStatistics
from bayesnb.events.table import LogTable, normalise
from bayesnb.families import Dirichlet, NoModeError, Point
from bayesnb.given import shown
from bayesnb.validate import _plain

__all__ = ["CountPosterior", "CountStatistics", "LogTable", "Posterior", "normalise"]


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """p(theta, parameters | D) in closed form: what every event model shares.

    Parameters
    ----------
    prior : Prior
        Of theta and of the event model's parameters.
    statistics : Statistics
        Totals of the data.
    classes, tokens : array_like, optional
        Names of the classes (K,) and tokens or columns (V,); by default their numbers.

    Raises
    ------
    ValueError
        The prior or the names do not fit the statistics.

    Examples
    --------
    >>> import bayesnb
    >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
    >>> posterior.event, posterior.classes.tolist(), posterior.parameters
    ('multinomial', ['ham', 'spam'], ('phi',))
    """

    prior: Any
    statistics: Any
    classes: np.ndarray = None  # type: ignore[assignment]
    tokens: np.ndarray = None  # type: ignore[assignment]

    event: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ("phi",)
    """Names of the event model's parameters, each (K, V): attributes of the posterior, and of its draws."""
    _given: ClassVar[tuple[str, ...]] = ()
    """Attributes beside the fields that cannot be computed from them."""

    def __post_init__(self) -> None:
        k, v = self.statistics.n_classes, self.statistics.n_tokens
        for what, shape, expected in (
            ("theta", (self.prior.theta.n_classes,), (k,)),
            (self.prior.of, self.prior.shape, (k, v)),
        ):
            if shape != expected:
                raise ValueError(f"the prior of {what} has shape {shape}, the statistics need {expected}")
        object.__setattr__(self, "classes", _names(self.classes, k, "classes"))
        object.__setattr__(self, "tokens", _names(self.tokens, v, "tokens"))

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not what is computed when first asked for, which is large and other threads add to."""
        return {name: self.__dict__[name] for name in (*(field.name for field in fields(self)), *self._given)}

    @cached_property
    def theta(self) -> Dirichlet | Point:
        """Distribution of the class probabilities, shape (K,)."""
        return self.prior.theta.posterior(self.statistics.class_count)

    @abstractmethod
    def require(self, estimate: str) -> None:
        """Raise a ValueError now, where the estimate does not exist for these data.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}

        Raises
        ------
        ValueError
            As `theta_hat`; or the parameters' estimate does not exist, which names where.
        """

    @abstractmethod
    def log_likelihood(self, X: Any, estimate: str = "map") -> np.ndarray:
        """Log p(x_i | y_i = k), shape (N, K).

        Parameters
        ----------
        X : documents, N of them
            Counts, 0/1 over cells or measurements, (N, V), as the event model reads them.
        estimate : {"map", "mean", "mle", "predictive"}
            Which parameters; "predictive" integrates them out.

        Returns
        -------
        ndarray, shape (N, K)
            In nats; -inf where a document is impossible.

        Raises
        ------
        ValueError
            The documents do not fit the model, or the estimate does not exist.
        """

    @abstractmethod
    def _document(self, X: Any) -> Any:
        """Documents as the event model reads them; ValueError where they do not fit the model."""

    @abstractmethod
    def _log_evidence(self) -> float:
        """Log evidence of the documents given their labels."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, draws: int) -> dict[str, np.ndarray]:
        """Independent draws of the event model's parameters, each of shape (draws, K, V)."""

    def theta_hat(self, estimate: str = "map") -> np.ndarray:
        """Estimated class probabilities.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}
            "predictive" is the mean here. A known theta is every estimate.

        Returns
        -------
        ndarray, shape (K,)
            They sum to 1.

        Raises
        ------
        ValueError
            There is no mode, or no document for the mle.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1], [1, 0], [0, 3]], ["ham", "ham", "spam"]).posterior_
        >>> [posterior.theta_hat(estimate).round(3).tolist() for estimate in ("map", "mean")]
        [[0.667, 0.333], [0.6, 0.4]]
        """
        validate.estimate(estimate)
        return self.prior.theta.estimate(self.statistics.class_count, estimate, self.classes)

    def log_theta(self, estimate: str = "map") -> np.ndarray:
        """Log of `theta_hat`.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}

        Returns
        -------
        ndarray, shape (K,)
            In nats; -inf where the estimate is 0.

        Raises
        ------
        ValueError
            As `theta_hat`.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1], [1, 0], [0, 3]], ["ham", "ham", "spam"]).posterior_
        >>> posterior.log_theta("mean").round(3).tolist()
        [-0.511, -0.916]
        """
        with np.errstate(divide="ignore"):
            return np.log(self.theta_hat(estimate))

    def log_joint(self, X: Any, estimate: str = "map", power: float = 1.0) -> np.ndarray:
        """Log p(y_i = k) + power * log p(x_i | y_i = k).

        Parameters
        ----------
        X, estimate
            As in `log_likelihood`; theta is estimated likewise.
        power : float
            Exponent of the likelihood.

        Returns
        -------
        ndarray, shape (N, K)
            In nats.

        Raises
        ------
        ValueError
            As `log_likelihood` and `theta_hat`.

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> np.exp(posterior.log_joint([[1, 0]])).round(6).tolist()  # 1/2 x 3/4 and 1/2 x 1/4
        [[0.375, 0.125]]
        """
        log_theta = self.log_theta(estimate)
        likelihood = self.log_likelihood(X, estimate)
        return log_theta + (likelihood if power == 1 else power * likelihood)

    def log_proba(self, X: Any, estimate: str = "map", power: float = 1.0) -> np.ndarray:
        """Log P(y_i = k | x_i): `log_joint` less its logsumexp over the classes.

        Parameters
        ----------
        X, estimate, power
            As in `log_joint`.

        Returns
        -------
        ndarray, shape (N, K)
            In nats; rows of its exponential sum to 1.

        Raises
        ------
        ValueError
            A document has probability 0 under every class, so that its class probabilities are 0/0.

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> [np.exp(posterior.log_proba([[3, 0]], estimate)).round(3).tolist() for estimate in ("mean", "predictive")]
        [[[0.889, 0.111]], [[0.833, 0.167]]]
        """
        return normalise(self.log_joint(X, estimate, power))

    def most_probable(self, X: Any, estimate: str = "map", power: float = 1.0) -> np.ndarray:
        """Position of the class with the largest P(y_i = k | x_i).

        Parameters
        ----------
        X, estimate, power
            As in `log_joint`.

        Returns
        -------
        ndarray of int, shape (N,)
            The first where several tie.

        Raises
        ------
        ValueError
            As `log_proba`.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.GaussianNB(prior="weak").fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1]).posterior_
        >>> posterior.most_probable([[2.5], [9.0]]).tolist()
        [0, 1]
        """
        return np.exp(self.log_proba(X, estimate, power)).argmax(axis=1)

    def log_predictive(self, X: Any) -> np.ndarray:
        """Log p(x_i | y_i = k, D) with the parameters integrated out.

        Parameters
        ----------
        X : documents, N of them
            As in `log_likelihood`.

        Returns
        -------
        ndarray, shape (N, K)
            In nats; of token sequences, without multinomial coefficient.

        Raises
        ------
        ValueError
            The documents do not fit the model, or its parameters have no posterior.

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> posterior = bayesnb.MultinomialNB(prior=1).fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> np.exp(posterior.log_predictive([[2, 0]])).round(6).tolist()  # 3/4 x 4/5 and 1/4 x 2/5
        [[0.6, 0.1]]
        """
        return self.log_likelihood(X, "predictive")

    def log_evidence(self) -> float:
        """Log p(labels, documents | prior), with theta and the parameters integrated out.

        Of token sequences, without multinomial coefficient.

        Returns
        -------
        float
            In nats.

        Raises
        ------
        ValueError
            The parameters have no prior (Gaussian model).

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> posterior = bayesnb.MultinomialNB(prior=1).fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> float(np.exp(posterior.log_evidence()).round(6))  # labels 1/2 x 1/3, tokens (1/2 x 2/3) squared
        0.018519
        """
        return self.prior.theta.log_evidence(self.statistics.class_count) + self._log_evidence()

    def draw(self, draws: int = 1000, chains: int = 4, seed: Any = 0) -> dict[str, np.ndarray]:
        """Exact, independent draws in the shape that ArviZ expects.

        Parameters
        ----------
        draws, chains : int
            Draws in each chain, and chains.
        seed : int or whatever `numpy.random.default_rng` takes
            The same seed gives the same draws.

        Returns
        -------
        dict
            ``theta`` (chains, draws, K) and each parameter, such as ``phi``, (chains, draws, K, V).

        Raises
        ------
        ValueError
            The parameters have no posterior (Gaussian model without prior).

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
        >>> {name: values.shape for name, values in posterior.draw(draws=500, chains=2).items()}
        {'theta': (2, 500, 2), 'phi': (2, 500, 2, 3)}
        """
        drawn: dict[str, np.ndarray] = {}
        draws, chains = given.whole(draws, "draws", 1), given.whole(chains, "chains", 1)
        for chain, rng in enumerate(given.seeded(seed).spawn(chains)):
            for name, values in ({"theta": self.theta.draw(rng, (draws,))} | self._draw(rng, draws)).items():
                drawn.setdefault(name, np.empty((chains, *values.shape)))[chain] = values
        return drawn

    def class_index(self, label: Any) -> int:
        """Position of a class label.

        Parameters
        ----------
        label : object

        Returns
        -------
        int

        Raises
        ------
        ValueError
            There is no such class; those there are are listed.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
        >>> posterior.class_index("spam")
        1
        >>> posterior.class_index("eggs")
        Traceback (most recent call last):
            ...
        ValueError: class 'eggs' is not among the classes: 'ham', 'spam'
        """
        return _position(self.classes, label, "class", "classes")

    def token_index(self, token: Any) -> int:
        """Position of a token.

        Parameters
        ----------
        token : object

        Returns
        -------
        int

        Raises
        ------
        ValueError
            The vocabulary has none such.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"]).posterior_
        >>> posterior.token_index("coffee")
        1
        """
        return _position(self.tokens, token, "token", "vocabulary")


@dataclass(frozen=True, eq=False)
class CountPosterior(Posterior):
    """p(theta, phi | D) of the event models over counts.

    Examples
    --------
    >>> import bayesnb
    >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
    >>> posterior.phi.concentration.tolist()
    [[4.0, 3.0, 2.0], [2.0, 3.0, 5.0]]
    """

    @property
    @abstractmethod
    def phi(self) -> Any:
        """Distribution of the token probabilities, shape (K, V)."""

    @abstractmethod
    def _phi_hat(self, estimate: str) -> np.ndarray: ...

    @abstractmethod
    def _new_table(self, estimate: str) -> LogTable: ...

    def _table(self, estimate: str) -> LogTable:
        """The table of an estimate, kept once computed."""
        return self._once("table", estimate, self._new_table)

    def _once(self, what: str, estimate: str, compute: Callable[[str], Any]) -> Any:
        """What is computed for an estimate when first asked for, and kept."""
        cache = self.__dict__.setdefault("_tables", {})
        if (what, estimate) not in cache:
            cache[what, estimate] = compute(estimate)
        return cache[what, estimate]

    @abstractmethod
    def _log_predictive(self, X: sparse.csr_array) -> np.ndarray: ...

    def phi_hat(self, estimate: str = "map") -> np.ndarray:
        """Estimated token probabilities, shape (K, V).

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}
            "predictive" is the mean here.

        Returns
        -------
        ndarray, shape (K, V)
            Rows, or the cells of a column, sum to 1 where the model is one of counts or categories.

        Raises
        ------
        ValueError
            The estimate does not exist: no mode (named by token and class), or 0/0 for the mle.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
        >>> posterior.phi_hat("map").round(3).tolist()
        [[0.5, 0.333, 0.167], [0.143, 0.286, 0.571]]
        >>> posterior.phi_hat("mle").round(3).tolist()
        [[0.667, 0.333, 0.0], [0.0, 0.25, 0.75]]
        """
        return self._explained(self._phi_hat, estimate)

    def log_phi(self, estimate: str = "map") -> np.ndarray:
        """Log of `phi_hat`.

        Parameters
        ----------
        estimate : {"map", "mean", "mle", "predictive"}

        Returns
        -------
        ndarray, shape (K, V)
            Read-only, in nats; -inf where the estimate is 0.

        Raises
        ------
        ValueError
            As `phi_hat`.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"]).posterior_
        >>> posterior.log_phi("mle").round(3).tolist()
        [[-0.405, -1.099, -inf], [-inf, -1.386, -0.288]]
        """
        return self._once("log_phi", estimate, self._log_phi)

    def _log_phi(self, estimate: str) -> np.ndarray:
        with np.errstate(divide="ignore"):
            log_phi = np.log(self.phi_hat(estimate))
        log_phi.setflags(write=False)
        return log_phi

    def require(self, estimate: str) -> None:
        """Raise the ValueError of `theta_hat` or `phi_hat` now, where the estimate does not exist for these data.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.MultinomialNB(prior=0.5, estimate="mean").fit([[2, 1, 0], [0, 1, 3]], ["ham", "spam"])
        >>> posterior = clf.posterior_
        >>> posterior.require("mean")
        >>> posterior.require("map")
        Traceback (most recent call last):
            ...
        ValueError: phi has no mode: the posterior concentration of token 2 in class 'ham' is below 1; ...
        """
        self.theta_hat(estimate)
        if estimate in ("mle", "map") and not self._surely_exists(estimate):
            self.phi_hat(estimate)

    def _surely_exists(self, estimate: str) -> bool:
        """Whether `phi_hat` of the mle or the map exists, as far as can be told without computing it."""
        return estimate == "map" and self.prior.lowest > 1

    def log_likelihood(self, X: Any, estimate: str = "map") -> np.ndarray:
        """Log p(x_i | y_i = k) of the token sequence, without multinomial coefficient, shape (N, K).

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> np.exp(posterior.log_likelihood([[1, 1]])).round(6).tolist()  # 3/4 x 1/4 in both
        [[0.1875, 0.1875]]
        """
        if estimate == "predictive":
            return self._log_predictive(self._stored(X))
        return self._explained(self._table, estimate).score(self._stored(X))

    def most_probable(self, X: Any, estimate: str = "map", power: float = 1.0) -> np.ndarray:
        """As every posterior's, without forming the class probabilities where one class clearly leads.

        Examples
        --------
        >>> import bayesnb
        >>> posterior = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).posterior_
        >>> posterior.most_probable([[3, 1], [1, 1], [1, 3]]).tolist()
        [0, 0, 1]
        """
        log_theta = self.log_theta(estimate)
        table = None if estimate == "predictive" else self._explained(self._table, estimate)
        if table is None or not table.finite or not np.isfinite(log_theta).all():
            return super().most_probable(X, estimate, power)
        X = self._stored(X)
        best, doubtful = table.leader(X, log_theta, power)
        if len(doubtful):
            best[doubtful] = super().most_probable(X[doubtful], estimate, power)
        return best

    def log_likelihood_left_out(self, X: Any, own: np.ndarray, weight: np.ndarray, estimate: str = "map") -> np.ndarray:
        """Log p(x_i | y_i) with document i itself taken out of the totals of its class, shape (N,).

        Parameters
        ----------
        X : array_like or scipy.sparse, shape (N, V)
            Documents that are part of the statistics.
        own : ndarray of int, shape (N,)
            Position of each one's class.
        weight : ndarray, shape (N,)
            Weight it was learnt with, all of which is taken out.
        estimate : str
            As in `log_likelihood`.

        Raises
        ------
        ValueError
            The totals do not hold a document, or the estimate does not exist without it.
        """
        return self._left_out(self._document(X), own, weight, validate.estimate(estimate))

    @abstractmethod
    def _left_out(self, X: sparse.csr_array, own: np.ndarray, weight: np.ndarray, estimate: str) -> np.ndarray: ...

    def _no_mode_left(self, row: int, error: NoModeError, estimate: str, unit: str) -> RowError:
        """The error for an estimate that does not exist once a document is left out."""
        why = self._empty(error.index[0], unit) if estimate == "mle" else self._explain_missing_mode(error)
        return RowError(int(row), "with ", f"left out, {why}")

    def _draw(self, rng: np.random.Generator, draws: int) -> dict[str, np.ndarray]:
        return {"phi": self.phi.draw(rng, (draws,))}

    def _document(self, X: Any) -> sparse.csr_array:
        """Documents as the event model reads them: canonical, of float64."""
        return validate.counts(self._stored(X))

    def _stored(self, X: Any) -> sparse.csr_array:
        """The same in the type they are stored in, duplicates apart."""
        X = self.statistics.document(validate.counts(X, type(self).__name__, self.tokens, stored=True))
        if X.shape[1] != self.statistics.n_tokens:
            raise ValueError(f"X has {X.shape[1]} features, but the model is expecting {self.statistics.n_tokens}")
        return X

    def _explained(self, compute: Callable[[str], Any], estimate: str) -> Any:
        try:
            return compute(validate.estimate(estimate))
        except NoModeError as error:
            raise ValueError(self._explain_missing_mode(error)) from None

    def _refuse_empty(self, total: np.ndarray, unit: str) -> None:
        empty = np.flatnonzero(total == 0)
        if len(empty):
            raise ValueError(self._empty(int(empty[0]), unit))

    def _empty(self, k: int, unit: str) -> str:
        label = shown(self.classes[k])
        return f"class {label} has no {unit}: the mle of its phi is 0/0; use estimate='mean'"

    def _explain_missing_mode(self, error: NoModeError) -> str:
        label = shown(self.classes[error.index[0]])
        if not error.unbounded:
            return (
                f"phi of class {label} has no unique mode: nothing was seen of it and every concentration is 1; "
                "use estimate='mean', or a prior above 1"
            )
        token = shown(self.tokens[error.index[1]])
        return (
            f"phi has no mode: the posterior concentration of token {token} in class {label} is below 1; "
            "use estimate='mean', or a prior of at least 1"
        )


def _names(value: Any, n: int, what: str) -> np.ndarray:
    if value is None:
        return np.arange(n)
    # strings in a list stay objects: a NumPy string drops trailing NULs and pads all names to the longest
    text = isinstance(value, (list, tuple)) and any(isinstance(name, str) for name in value)
    names = np.asarray(value, dtype=object if text else None)
    if names.shape != (n,):
        raise ValueError(f"{what} has shape {names.shape}, expected {(n,)}")
    return names


def _position(names: np.ndarray, wanted: Any, what: str, where: str) -> int:
    if given.is_name(wanted):
        one = np.empty((), object)  # as an object a trailing NUL counts, and a tuple is one name
        one[()] = _plain(wanted)
        found = np.flatnonzero(names == one)
        if len(found):
            return int(found[0])
    listed = ", ".join(map(shown, names[:10])) + (", ..." if len(names) > 10 else "")
    raise ValueError(f"{what} {shown(wanted)} is not among the {where}: {listed}")
