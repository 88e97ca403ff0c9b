"""Choice of event model, prior and estimate by exact leave-one-out.

Candidates are ranked by sum_i log P(y_i | x_i, D without i), untempered and with theta by its mean: the one score that
compares event models, which describe different data. (Evidence ranks priors within one event model only.) No candidate
is fitted twice; every document is left out of every candidate in one pass. Classes, vocabulary and priors are held
fixed, also those computed from all the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesnb import given, validate
from bayesnb.events.base import Posterior, normalise
from bayesnb.model import Settings, State
from bayesnb.selection.combination import Combination, Member
from bayesnb.selection.loo import Parts, scored_parts
from bayesnb.selection.power import best_power
from bayesnb.selection.weights import stacking_weights

if TYPE_CHECKING:
    import pandas as pd

_CONCENTRATIONS = (0.001, 0.01, 0.1, "jeffreys", 1.0)
_COMPUTED = ("background:30", "background:300", "empirical", "empirical-background")
PRIORS: tuple[Any, ...] = _CONCENTRATIONS + _COMPUTED
_BERNOULLI = {"background:30": "background:0.1", "background:300": "background:1"}  # strengths in documents, not tokens


@dataclass(frozen=True, eq=False)
class Candidate:
    """One combination of event model, prior and estimate, with its leave-one-out scores.

    Attributes
    ----------
    settings : Settings
        What it is.
    posterior : Posterior
        Of all the documents.
    parts : Parts
        Class probabilities and likelihoods without each document.
    log_score : ndarray, shape (N,)
        Log P(y_i | x_i, D without i).
    errors : int
        Documents whose most probable class is not their own.
    """

    settings: Settings
    posterior: Posterior
    parts: Parts
    log_score: np.ndarray
    errors: int

    @property
    def row(self) -> dict[str, Any]:
        """Its names in the table."""
        return {
            "event": self.settings.event + (" (presence)" if self.settings.binary else ""),
            "prior": self.posterior.prior.describe().split(", theta")[0].removeprefix("phi ~ "),
            "estimate": self.settings.estimate,
        }


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates ranked by exact leave-one-out.

    Attributes
    ----------
    candidates : list of Candidate
        Best first.
    table : DataFrame
        A row each, best first: event, prior, estimate, log_score (nats), its standard error se, difference to the best
        and the standard error of the difference, errors, weight in the stacked combination.
    weights : ndarray, shape (M,)
        Stacking weights, which sum to 1.
    classes : ndarray, shape (K,)
        Labels.
    note : str
        What the scores hold fixed.
    """

    candidates: list[Candidate]
    table: pd.DataFrame
    weights: np.ndarray
    classes: np.ndarray
    text: Text | None = None
    note: str = "held fixed as documents are left out: classes, vocabulary, and priors computed from the documents"

    def __repr__(self) -> str:
        head = f"{type(self).__name__} of {len(self.candidates)} candidates, best first"
        return f"{head}\n{self.table.head().to_string()}"

    @property
    def best(self) -> Any:
        """An unfitted estimator: the candidate with the largest log score."""
        return estimator(self.candidates[0].settings, self.text)

    @cached_property
    def stacked(self) -> Combination:
        """Fitted mixture of the candidates' class probabilities, by the stacking weights."""
        return self._combination(self.weights, np.ones(len(self.weights)))

    @cached_property
    def tempered(self) -> Combination:
        """Fitted mixture of tempered candidates: each with its own power, then weights, both by leave-one-out.

        Raw probabilities are far too sure, so in the plain mixture one misjudged document can rule a candidate out. For
        the same reason the weights have a prior here that is worth one document, spread over the candidates: few
        documents then leave the weight with several.
        """
        powers = np.array([best_power(candidate.parts) for candidate in self.candidates])
        scores = [_log_score(c.parts, power) for c, power in zip(self.candidates, powers, strict=True)]
        return self._combination(stacking_weights(np.stack(scores, axis=1), prior=1.0), powers)

    def _combination(self, weights: np.ndarray, powers: np.ndarray) -> Combination:
        members = [
            Member(c.settings, c.posterior, float(weight), float(power))
            for c, weight, power in zip(self.candidates, weights, powers, strict=True)
        ]
        return Combination.of(members, None if self.text is None else self.text.read)


@dataclass(frozen=True)
class Text:
    """How texts become counts: the rule of tokens, and the vocabulary of all documents."""

    tokens: str
    vocabulary: list[str]

    def read(self, texts: Sequence[str]) -> Any:
        """Counts of the vocabulary's tokens, (N, V)."""
        from bayesnb.corpus.tokens import Tokenizer

        return Tokenizer(self.tokens).count(list(texts), vocabulary=self.vocabulary).X


def select(
    X: Any, y: Any, *, candidates: Iterable[Settings] | None = None, class_prior: Any = 1.0, tokens: str = "words",
    progress: Callable[[int, int], None] | None = None,
) -> Selection:  # fmt: skip
    """Rank event models, priors and estimates by exact leave-one-out log score.

    Parameters
    ----------
    X : array_like or scipy.sparse of counts, shape (N, V), or sequence of str
        Documents.
    y : array_like, shape (N,)
        Class labels, of two classes at least.
    candidates : iterable of Settings, optional
        By default `default_candidates`: counts, presence and the Bernoulli model, each with a grid of concentrations,
        Jeffreys', background and empirical priors, by posterior mean and, where it differs, predictive.
    class_prior : number, sequence or mapping
        As in `MultinomialNB`; with a number theta is scored by its mean.
    tokens : str
        For texts, as in `TextClassifier`.
    progress : callable, optional
        Told after each candidate how many are done, and how many there are.

    Returns
    -------
    Selection
        ``.table`` ranked, ``.best`` an unfitted estimator, ``.stacked`` and ``.tempered`` fitted mixtures.

    Raises
    ------
    ValueError
        No or one document, one class, no candidate, or invalid counts or labels.

    Examples
    --------
    >>> import bayesnb
    >>> X, y = [[3, 0, 1], [2, 1, 0], [0, 3, 1], [1, 4, 0]], ["ham", "ham", "spam", "spam"]
    >>> chosen = bayesnb.select(X, y)
    >>> chosen.best.fit(X, y).predict([[0, 2, 0]]).tolist()
    ['spam']
    """
    X, text = _counted(X, tokens)
    y = validate.labels(y)
    if len(y) != X.shape[0]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {len(y)}]")
    if len(y) < 2:
        raise ValueError(f"leave-one-out needs at least 2 documents, got {len(y)}")
    classes, own = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"all documents are of class {classes.tolist()[0]!r}: there is nothing to choose between")
    if candidates is None:
        candidates = default_candidates(class_prior, presence=bool((X.data > 1).any()))
    candidates = given.listed(candidates, "candidates must be a list of Settings")
    _refuse_unsuitable(candidates)
    scored = []
    for candidate in _scored(candidates, X, y, own):
        scored.append(candidate)
        if progress is not None:
            progress(len(scored), len(candidates))
    scored.sort(key=lambda candidate: -candidate.log_score.sum())  # stable: ties keep their order
    weights = stacking_weights(np.stack([candidate.log_score for candidate in scored], axis=1))
    return Selection(scored, _table(scored, weights), weights, classes, text)


def default_candidates(class_prior: Any = 1.0, *, presence: bool = True) -> list[Settings]:
    """What `select` chooses from: each pair that is equal in distribution once.

    Parameters
    ----------
    class_prior
        As in `MultinomialNB`.
    presence : bool
        Counts differ from presence, so that both are worth a look.
    """
    events = [("multinomial", False), ("multinomial", True)] if presence else [("multinomial", False)]
    found = [
        Settings(event=event, prior=prior, class_prior=class_prior, estimate=estimate, binary=binary)
        for event, binary in events
        for prior in PRIORS
        for estimate in ("mean", "predictive")
    ]
    # each of its cells is seen once a document: the predictive is the mean
    bernoulli = [_BERNOULLI.get(prior, prior) for prior in PRIORS]
    return found + [Settings(event="bernoulli", prior=p, class_prior=class_prior, estimate="mean") for p in bernoulli]


def estimator(settings: Settings, text: Text | None = None) -> Any:
    """The unfitted estimator of some settings."""
    from bayesnb import estimators  # a layer above: only who asks for an estimator loads scikit-learn

    given = {"prior": settings.prior, "class_prior": settings.class_prior, "estimate": settings.estimate}
    given |= {"alpha": settings.alpha, "fit_prior": settings.fit_prior, "power": settings.power}
    if settings.event == "multinomial":
        given["binary"] = settings.binary
    if text is not None:
        return estimators.TextClassifier(event=settings.event, tokens=text.tokens, **given)
    return {"multinomial": estimators.MultinomialNB, "bernoulli": estimators.BernoulliNB}[settings.event](**given)


def _counted(X: Any, tokens: str) -> tuple[sparse.csr_array, Text | None]:
    texts = X.tolist() if isinstance(X, np.ndarray) and X.ndim == 1 else X
    if hasattr(X, "to_list"):  # a column of pandas or polars
        texts = X.to_list()
    if isinstance(texts, (list, tuple)) and len(texts) and all(isinstance(text, str) for text in texts):
        from bayesnb.corpus.tokens import Tokenizer

        counted = Tokenizer(tokens).count(texts)
        return validate.counts(counted.X, "select"), Text(tokens, list(counted.tokens))
    return validate.counts(X, "select"), None


def _scored(candidates: list[Settings], X: sparse.csr_array, y: np.ndarray, own: np.ndarray) -> Iterator[Candidate]:
    """Score each; the totals of an event model are counted once."""
    read: dict[tuple[str, bool], tuple[Any, State]] = {}
    for settings in candidates:
        key = (settings.event, settings.binary)
        if key not in read:
            documents = settings.documents(X)
            read[key] = documents, State.learn(settings.event, documents, y, np.arange(X.shape[1]))
        documents, state = read[key]
        posterior = settings.posterior(state)
        parts = scored_parts(posterior, documents, own, None, settings.estimate, theta="mean")
        errors = int((np.exp(normalise(parts.log_joint())).argmax(axis=1) != own).sum())
        candidate = Candidate(settings, posterior, parts, _log_score(parts), errors)
        _refuse_impossible(candidate)
        yield candidate


def _log_score(parts: Parts, power: float = 1.0) -> np.ndarray:
    """Log P(y_i | x_i, D without i), shape (N,)."""
    return normalise(parts.log_joint(power))[np.arange(len(parts.own)), parts.own]


def _refuse_unsuitable(candidates: list[Settings]) -> None:
    if not candidates:
        raise ValueError("there is no candidate to choose from")
    for settings in candidates:
        if not isinstance(settings, Settings):
            raise TypeError(f"candidates must be a list of Settings, got {given.shown(settings)} in it")
        if settings.event not in ("multinomial", "bernoulli"):
            raise ValueError(f"select chooses between event models over counts, not {settings.event!r}")
        if settings.power != 1:
            raise ValueError("candidates are scored untempered; leave power at 1 and use fit_power on the best")


def _refuse_impossible(candidate: Candidate) -> None:
    rows = np.flatnonzero(np.isneginf(candidate.log_score))
    if len(rows):
        what = ", ".join(candidate.row.values())
        raise ValueError(f"candidate {what} gives row {rows[0]} probability 0 once it is left out; use estimate='mean'")


def _table(scored: list[Candidate], weights: np.ndarray) -> pd.DataFrame:
    import pandas as pd

    best, scale = scored[0].log_score, np.sqrt(len(scored[0].log_score))
    rows = []
    for candidate, weight in zip(scored, weights, strict=True):
        difference = candidate.log_score - best
        rows.append(
            candidate.row
            | {
                "log_score": candidate.log_score.sum(),
                "se": scale * candidate.log_score.std(ddof=1),
                "difference": difference.sum(),
                "difference_se": scale * difference.std(ddof=1),
                "errors": candidate.errors,
                "weight": weight,
            }
        )
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="rank"))
