"""What a model answers to documents: a row each, with the reasons where one cannot be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesnb.cli import inputs

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    import numpy as np

    from bayesnb.evaluation import Drift
    from bayesnb.events.base import Posterior
    from bayesnb.scorer import Scorer

IMPOSSIBLE = "documents without class probabilities"


def beside(number: Any, cells: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """What a row has before its answer: its input columns, and its number unless one of them is its id.

    An input column with the name of a column of ours has input_ before it.
    """
    given = {_free(name, columns, cells): cell for name, cell in cells.items()}
    return ({} if "id" in given else {"id": number}) | given


def _free(name: str, columns: Sequence[str], cells: Mapping[str, Any]) -> str:
    free = name
    while free in columns or (free != name and free in cells):
        free = f"input_{free}"
    return free


@dataclass(frozen=True)
class Answers:
    """The answers to a batch of documents.

    Attributes
    ----------
    rows : list of tuple
        One for each document that has an answer, in order; see `Answering.columns`.
    answered : list of int
        Their positions in the batch.
    faults : dict
        Position of every other document: why it has no class probabilities.
    drift : Drift
        How well those that were answered fit the model.
    abstained : int
        Rows without a label.
    """

    rows: list[tuple]
    answered: list[int]
    faults: dict[int, str]
    drift: Drift
    abstained: int


@dataclass(frozen=True, eq=False)
class Answering:
    """How documents are answered.

    Parameters
    ----------
    scorer : Scorer
        What is asked.
    level : float
        Credible level of the intervals.
    thresholds : ndarray, shape (K,)
        A document gets the label k only where P(y = k | x) is at least this.
    abstain : float or None
        It gets a label only where the posterior probability that no other class is more probable is at least this.
    """

    scorer: Scorer
    level: float
    thresholds: np.ndarray
    abstain: float | None

    @classmethod
    def of(cls, scorer: Scorer, level: float, thresholds: Sequence[str], abstain: float | None) -> Answering:
        """Judge the options.

        Raises
        ------
        ValueError
            A level that is none, a threshold of an unknown class or outside 0..1.
        """
        from bayesnb import validate

        validate.level(level)
        if abstain is not None and not 0 < abstain < 1:
            raise ValueError(f"--abstain must lie strictly between 0 and 1, such as 0.95; got {abstain:g}")
        return cls(scorer, level, _thresholds(thresholds, scorer.classes), abstain)

    @property
    def may_abstain(self) -> bool:
        """Whether a row may have no label, and then names the most probable class in a column of its own."""
        return self.abstain is not None or bool((self.thresholds > 0).any())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the cells of a row."""
        label = ("label", "best") if self.may_abstain else ("label",)
        return (*label, "probability", "lower", "upper", "known_tokens", "tokens", "log_px", "fingerprint")

    def rows(self, X: Any, known: np.ndarray, total: np.ndarray) -> Answers:
        """Answer documents as the event model counts them, with the known and all tokens of each."""
        import numpy as np

        from bayesnb.evaluation import Drift
        from bayesnb.events.base import normalise
        from bayesnb.scorer import joint_and_density
        from bayesnb.uncertainty import class_probability_interval

        settings, posterior = self.scorer.model.settings, self.scorer.posterior
        joint, log_px = joint_and_density(posterior, settings, X)
        faults = _faults(joint)
        good = np.array([i for i in range(len(joint)) if i not in faults], np.intp)
        if faults:
            X, joint, log_px, known, total = X[good], joint[good], log_px[good], known[good], total[good]
        probability = np.exp(normalise(joint))
        best, at = probability.argmax(axis=1), np.arange(len(good))
        ends = class_probability_interval(posterior, X, self.level, settings.power)[at, best]
        named = posterior.classes[best].tolist()
        sure = self._sure(X, probability[at, best], best)
        given = [label if certain else None for label, certain in zip(named, sure, strict=True)]
        labels = [given, named] if self.may_abstain else [named]
        numbers = [probability[at, best], *ends.T, known.astype(int), total.astype(int), log_px]
        columns = [*labels, *(number.tolist() for number in numbers), [self.scorer.fingerprint] * len(good)]
        drift = Drift(len(good), float(total.sum()), float(known.sum()), terms(posterior, X), float(log_px.sum()))
        return Answers(list(zip(*columns, strict=True)), good.tolist(), faults, drift, int((~sure).sum()))

    def _sure(self, X: Any, probability: np.ndarray, best: np.ndarray) -> np.ndarray:
        """Whether the most probable class of each document is named, shape (n,)."""
        import numpy as np

        from bayesnb.uncertainty import probability_largest

        sure = probability >= self.thresholds[best]
        if self.abstain is not None:
            largest = probability_largest(self.scorer.posterior, X, self.scorer.model.settings.power)
            sure &= largest[np.arange(len(best)), best] >= self.abstain
        return sure


def summary(drift: Drift, abstained: int, skipped: Mapping[str, int]) -> dict[str, Any]:
    """What was counted over all documents, as plain values."""
    left_out = {reason: n for reason, n in skipped.items() if n}
    return {"documents": drift.documents, "abstained": abstained} | drift.as_dict() | {"skipped": left_out}


def terms(posterior: Posterior, X: Any) -> float:
    """Number of factors in p(x | k) over all documents; see `evaluation.Drift`."""
    return float(X.sum()) if posterior.event == "multinomial" else float(X.shape[0] * posterior.statistics.n_tokens)


def _faults(joint: np.ndarray) -> dict[int, str]:
    """Documents without class probabilities, by position, and why."""
    import numpy as np

    from bayesnb.events.base import normalise

    faults = {}
    for i in np.flatnonzero(~(joint < np.inf).all(axis=1) | np.isneginf(joint).all(axis=1)).tolist():
        try:
            normalise(joint[i : i + 1])
        except ValueError as error:
            faults[i] = str(error).removeprefix("row 0 ")
    return faults


def _thresholds(written: Sequence[str], classes: np.ndarray) -> np.ndarray:
    """Thresholds by class from LABEL=P, or P for every class that has none of its own; 0 where nothing is said."""
    import numpy as np

    given: dict[Any, float] = {}
    for word in written:
        label, equals, share = word.rpartition("=")
        key = inputs.find_label(classes, label, "--threshold") if equals else None
        try:
            p = float(share)
        except ValueError:
            p = float("nan")
        if not 0 <= p <= 1:
            raise ValueError(f"--threshold {word}: write LABEL=P, such as spam=.9, or P; P lies from 0 to 1")
        if key in given:
            raise ValueError(f"--threshold {word}: {'every class' if key is None else repr(label)} has one already")
        given[key] = p
    return np.array([given.get(label, given.get(None, 0.0)) for label in classes.tolist()])
