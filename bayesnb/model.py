"""What a fitted model is, apart from any interface: its settings, and what it has learnt.

The estimators, the scorer and the model files are three faces of these two frozen parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np

from bayesnb import categories, events, measurements, validate
from bayesnb.columns import columns_of
from bayesnb.events import empirical
from bayesnb.events.base import CountStatistics, Posterior
from bayesnb.events.theta import ClassPrior


@dataclass(frozen=True, eq=False)
class Settings:
    """The estimators' arguments; see `MultinomialNB` and `BernoulliNB` for their meaning.

    Raises
    ------
    ValueError
        An argument that no data could make valid.
    """

    event: str = "multinomial"
    alpha: Any = 1.0
    prior: Any = None
    class_prior: Any = 1.0
    fit_prior: bool = True
    estimate: str = "map"
    binary: bool = False
    power: float = 1.0
    binarize: float | None = 0.0
    var_smoothing: float = 1e-9
    missing: str = "error"
    min_categories: Any = None
    unseen: str = "skip"

    def __post_init__(self) -> None:
        events.find(self.event)
        for name in ("alpha", "prior", "class_prior"):  # the caller may go on using their array
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, value.copy())
        validate.estimate(self.estimate)
        object.__setattr__(self, "prior", empirical.canonical(self.prior))
        measurements.choice(self.missing)
        categories.choice(self.unseen)
        if not (isinstance(self.power, Real) and 0 < self.power < np.inf):
            raise ValueError(f"power must be a number above 0, got {self.power!r}")
        if not (self.binarize is None or (isinstance(self.binarize, Real) and np.isfinite(self.binarize))):
            raise ValueError(f"binarize must be a finite number or None, got {self.binarize!r}")

    @property
    def reading(self) -> dict[str, Any]:
        """How documents become totals; only models that read alike can share theirs."""
        names = {"multinomial": ["binary"], "bernoulli": ["binarize"]}.get(self.event, ["missing"])
        return {name: getattr(self, name) for name in ["event", *names]}

    def documents(self, X: Any, columns: np.ndarray | None = None) -> Any:
        """X as the event model reads it: a CSR array of counts, or of presence as 0 and 1, or dense measurements."""
        if self.event == "gaussian":
            return measurements.measurements(X, "GaussianNB", columns, missing=self.missing)
        name = "BernoulliNB" if self.event == "bernoulli" else "MultinomialNB"
        if self.event == "bernoulli":
            return validate.presence(X, self.binarize, name, columns)
        X = validate.counts(X, name, columns)
        return validate.presence(X, 0.0, name, columns) if self.binary else X

    def cells(self, X: Any, state: State) -> Any:
        """A table of categories as a CSR array over the cells that were learnt, with one a column for the unseen."""
        known = categories.Known.of(state)
        return categories.encode(columns_of(X, known.columns, self.missing), known, self.unseen)

    def posterior(self, state: State) -> Posterior:
        """Posterior of a state under these settings; the prior is formed here, never stored in the totals."""
        event = events.find(self.event)
        theta = ClassPrior.resolve(self.class_prior, state.classes, fit_prior=self.fit_prior)
        statistics = state.statistics
        if self.event == "categorical":
            return event.Posterior.resolve(theta, self, state)
        if self.event == "gaussian":  # whose priors may be set on the data's scale
            prior = event.Prior.resolve(theta, self.prior, self.var_smoothing, self.estimate, statistics)
        else:
            shape = (statistics.n_classes, statistics.n_tokens)
            prior = event.Prior.resolve(theta, self.prior, self.alpha, self.estimate, shape, statistics)
        return event.Posterior(prior, statistics, state.classes, state.tokens)


@dataclass(frozen=True, eq=False)
class State:
    """Totals with the names of their rows and columns.

    Parameters
    ----------
    statistics : Statistics
        Totals, (K,) and (K, V).
    classes, tokens : ndarray
        Names, sorted and unique, (K,) and (V,).
    closed : bool
        Classes were declared: another label is an error, and a class without documents stays.
    fixed : bool
        Columns are fixed (a matrix); otherwise tokens come and go with the documents (texts).
    """

    statistics: CountStatistics
    classes: np.ndarray
    tokens: np.ndarray
    closed: bool = False
    fixed: bool = True

    @classmethod
    def learn(
        cls, event: str, X: Any, y: np.ndarray, tokens: np.ndarray, *, weight: Any = None, classes: Any = None,
        fixed: bool = True,
    ) -> Self:  # fmt: skip
        """Totals of labelled documents; a document of weight 0 brings neither its class nor its tokens.

        Raises
        ------
        ValueError
            y and X differ in length, no document is left, or a label is not among the declared classes.
        """
        if len(y) != X.shape[0]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {len(y)}]")
        w = validate.sample_weight(weight, len(y))
        if w is not None and not w.all():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        declared = classes is not None
        if declared:
            codes = class_codes(y, classes)
        else:
            classes, codes = np.unique(y, return_inverse=True)
        statistics = events.find(event).Statistics.from_documents(X, codes, len(classes), w)
        learnt = cls(statistics, classes, tokens, closed=declared, fixed=fixed)
        return learnt if w is None else learnt._without_unheld()

    def add(self, other: State) -> Self:
        """Totals of both; classes and tokens are united, unless declared or fixed."""
        return self._combined(other, self.statistics.__class__.__add__)

    def remove(self, other: State) -> Self:
        """Totals without the other's; names whose total returns to 0 go, unless declared or fixed.

        Raises
        ------
        ValueError
            A total would become negative: those documents were not all learnt. Nothing changes.
        """
        unknown = [label for label in other.classes if label not in set(self.classes.tolist())]
        if unknown:
            raise ValueError(f"cannot unlearn class {unknown[0]!r}: it was never learnt")
        left = self._combined(other, self._subtract)
        return left._without_unheld()

    def _without_unheld(self) -> Self:
        """Without the classes and tokens of no document, unless they were declared or are fixed."""
        total = self.statistics
        keep = np.ones(len(self.classes), bool) if self.closed else total.class_count > 0
        held = np.ones(len(self.tokens), bool) if self.fixed else total.held
        if keep.all() and held.all():
            return self
        return replace(self, statistics=total.select(keep, held), classes=self.classes[keep], tokens=self.tokens[held])

    def _subtract(self, mine: CountStatistics, theirs: CountStatistics) -> CountStatistics:
        try:
            return mine - theirs
        except ValueError as error:
            raise ValueError(f"cannot unlearn documents that were not learnt: {error}") from None

    def _combined(self, other: State, operation: Any) -> Self:
        classes = self.classes
        if not _same(self.classes, other.classes):
            if self.closed:
                class_codes(other.classes, self.classes)
            else:
                classes = _union(self.classes, other.classes)
        tokens = self.tokens
        if not _same(self.tokens, other.tokens):
            if self.fixed:
                raise ValueError("the columns of the two models differ; their tokens must be the same")
            tokens = _union(self.tokens, other.tokens)
        statistics = operation(self._spread(classes, tokens), other._spread(classes, tokens))
        return replace(self, statistics=statistics, classes=classes, tokens=tokens)

    def _spread(self, classes: np.ndarray, tokens: np.ndarray) -> CountStatistics:
        """The same totals laid out over more classes and tokens."""
        if classes is self.classes and tokens is self.tokens:
            return self.statistics
        rows, columns = _positions(self.classes, classes), _positions(self.tokens, tokens)
        return self.statistics.spread(rows, len(classes), columns, len(tokens))


def class_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Positions of labels among declared classes.

    Raises
    ------
    ValueError
        A label that was not declared.
    """
    code = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [(row, label) for row, label in enumerate(y.tolist()) if label not in code]
    if unknown:
        row, label = unknown[0]
        raise ValueError(
            f"The target label(s) [{label!r}] in y do not exist in the initial classes {classes.tolist()}: "
            f"row {row}; declare it in classes= or drop the row"
        )
    return np.fromiter((code[label] for label in y.tolist()), np.int64, len(y))


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    # True == 1, but they are labels of two types
    return a is b or (len(a) == len(b) and (a.dtype.kind == "b") == (b.dtype.kind == "b") and bool((a == b).all()))


def _union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == b.dtype.kind:
        names = np.concatenate([a, b])
        return np.unique(validate.labels(names) if names.dtype.kind == "O" else names)
    return np.unique(validate.labels([*a.tolist(), *b.tolist()]))  # of several types: judged as one list would be


def _positions(names: np.ndarray, among: np.ndarray) -> np.ndarray:
    place = {name: i for i, name in enumerate(among.tolist())}
    return np.fromiter((place[name] for name in names.tolist()), np.int64, len(names))
