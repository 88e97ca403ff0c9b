"""What a fitted model is, apart from any interface: its settings, and what it has learnt.

The estimators, the scorer and the model files are three faces of these two frozen parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any, Self

import numpy as np

from bayesnb import categories, events, given, measurements, validate, vocabulary
from bayesnb.columns import columns_of
from bayesnb.events import empirical, gaussian, priors
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
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_features: int | None = None
    stop_words: tuple[str, ...] = ()

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
        for name in vocabulary.OPTIONS:
            object.__setattr__(self, name, getattr(vocabulary, name)(getattr(self, name)))
        if self.event in ("multinomial", "bernoulli"):  # Laplace estimates are shown beside others, whatever the prior
            priors.pseudo_count(self.alpha)
        if self.event == "gaussian":
            gaussian.smoothing_share(self.var_smoothing)
        for name in ("fit_prior", "binary"):
            given.flag(getattr(self, name), name)
        least, most = validate.POWERS
        if not least <= given.real(self.power) <= most:
            what = f"from {least:g} to {most:g}, got {given.shown(self.power)}"
            raise ValueError(f"power must be a number above 0, {what}")
        if not (self.binarize is None or np.isfinite(given.real(self.binarize))):
            raise ValueError(f"binarize must be a finite number or None, got {given.shown(self.binarize)}")
        for name in ("power", "binarize"):  # arrays cannot be multiplied by a fraction, nor compared with a huge number
            value = getattr(self, name)
            plain = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**53
            if value is not None and not plain:
                object.__setattr__(self, name, given.real(value))

    @property
    def reading(self) -> dict[str, Any]:
        """How documents become totals; only models that read alike can share theirs."""
        names = {"multinomial": ["binary"], "bernoulli": ["binarize"]}.get(self.event, ["missing"])
        return {name: getattr(self, name) for name in ["event", *names, *vocabulary.OPTIONS]}

    @property
    def cutting(self) -> dict[str, Any]:
        """What a `Tokenizer` is told beside its pattern."""
        return {"ngram_range": self.ngram_range, "stop_words": self.stop_words}

    @property
    def prunes(self) -> bool:
        """Whether only some of the tokens of the documents make the vocabulary."""
        return vocabulary.prunes(self.min_df, self.max_features)

    def documents(self, X: Any, columns: np.ndarray | None = None) -> Any:
        """X as the event model reads it: a CSR array of counts, or of presence as 0 and 1, or dense measurements."""
        if self.event == "gaussian":
            return measurements.measurements(X, "GaussianNB", columns, missing=self.missing)
        name = "BernoulliNB" if self.event == "bernoulli" else "MultinomialNB"
        if self.event == "bernoulli":
            return validate.presence(X, self.binarize, name, columns)
        if self.binary:
            return validate.presence(validate.counts(X, name, columns), 0.0, name, columns)
        return validate.counts(X, name, columns, stored=True)

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
            classes, codes = _coded(y)
        statistics = events.find(event).Statistics.from_documents(X, codes, len(classes), w)
        learnt = cls(statistics, classes, tokens, closed=declared, fixed=fixed)
        return learnt if w is None else learnt._without_unheld()

    def add(self, *others: State) -> Self:
        """Totals of all; classes and tokens are united, unless declared or fixed."""
        return self._combined(others, self.statistics.__class__.__add__)

    def decayed(self, decay: float) -> Self:
        """The totals with every document's weight multiplied by this number, 0 < decay <= 1; forgotten names go."""
        if decay == 1:
            return self
        return replace(self, statistics=self.statistics.scaled(decay))._without_unheld()

    def remove(self, other: State) -> Self:
        """Totals without the other's; names whose total returns to 0 go, unless declared or fixed.

        Raises
        ------
        ValueError
            A total would become negative: those documents were not all learnt. Nothing changes.
        """
        unknown = [label for label in other.classes if label not in set(self.classes.tolist())]
        if unknown:
            raise ValueError(f"cannot unlearn class {given.shown(unknown[0])}: it was never learnt")
        left = self._combined([other], self._subtract)
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

    def _combined(self, others: Sequence[State], operation: Any) -> Self:
        classes, tokens = reduce(self._with_classes, others, self.classes), self.tokens
        if not all(_same(tokens, other.tokens) for other in others):
            if self.fixed:
                raise ValueError("the columns of the two models differ; their tokens must be the same")
            tokens = _all_names([self.tokens, *(other.tokens for other in others)])
        rows, columns = _Places(classes), _Places(tokens)
        states: list[State] = [self, *others]
        statistics = reduce(operation, (state._spread(rows, columns) for state in states))
        return replace(self, statistics=statistics, classes=classes, tokens=tokens)

    def _with_classes(self, classes: np.ndarray, other: State) -> np.ndarray:
        if _same(classes, other.classes):
            return classes
        if not self.closed:
            return _union(classes, other.classes)
        class_codes(other.classes, classes)
        return classes

    def _spread(self, classes: _Places, tokens: _Places) -> CountStatistics:
        """The same totals laid out over more classes and tokens."""
        if _same(self.classes, classes.names) and _same(self.tokens, tokens.names):
            return self.statistics
        rows, columns = classes.of(self.classes), tokens.of(self.tokens)
        return self.statistics.spread(rows, len(classes.names), columns, len(tokens.names))


def _coded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels, sorted, and the position of each label among them."""
    if len(y) and y.dtype.kind in "iu" and y.dtype != np.uint64:
        low, high = int(y.min()), int(y.max())
        if high - low < len(y):  # a table of them is smaller than what sorting takes
            place = y.astype(np.int64) - low
            seen = np.bincount(place) > 0
            return (np.flatnonzero(seen) + low).astype(y.dtype), (np.cumsum(seen) - 1)[place]
    return np.unique(y, return_inverse=True)


def same_setting(a: Any, b: Any) -> bool:
    """Whether two values of a setting are equal: numbers, names, arrays, families, or one entry a column."""
    if a is b:
        return True
    if is_dataclass(a):
        return type(a) is type(b) and all(same_setting(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return isinstance(a, Mapping) and isinstance(b, Mapping) and dict(a) == dict(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same_setting, a, b))
    return np.array_equal(a, b)


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
            f"The target label(s) [{given.shown(label)}] in y do not exist in the initial classes "
            f"{given.shown(classes.tolist())}: "
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


def _all_names(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The names of several models, sorted, each once."""
    if any(part.dtype.kind != "O" for part in parts):
        return reduce(_union, parts)
    # tokens are all of one type; sorting merges runs that are sorted already, which a set would have torn up
    names = dict.fromkeys(sorted(chain.from_iterable(part.tolist() for part in parts)))
    return np.fromiter(names, object, len(names))


class _Places:
    """Names, and where each stands among them."""

    def __init__(self, names: np.ndarray) -> None:
        self.names = names

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {name: i for i, name in enumerate(self.names.tolist())}

    def of(self, names: np.ndarray) -> np.ndarray:
        """Positions of some of the names."""
        return np.fromiter(map(self._place.__getitem__, names.tolist()), np.int64, len(names))
