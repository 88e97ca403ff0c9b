"""How good are class probabilities: errors, log loss, Brier score, calibration; and whether documents have changed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from bayesnb import given, validate
from bayesnb.model import class_codes

BINS = 15


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of predicted class probabilities against the true labels.

    Attributes
    ----------
    documents, errors : int
        Number scored, and number whose most probable class is not the true one.
    log_loss : float
        Mean of -log P(true class), nats; infinite where a true class had probability 0.
    brier : float
        Mean of sum_k (P_k - 1[y = k])^2, from 0 to 2 (Brier 1950).
    ece : float
        Expected calibration error of the top label over `bins` equal-width bins: mean |accuracy - confidence|
        (Guo et al. 2017).
    confusion : ndarray, shape (K, K)
        Documents by true class (rows) and predicted class (columns).
    reliability : ndarray, shape (bins, 3)
        Documents, mean confidence and accuracy in each bin; NaN where a bin is empty.
    classes : ndarray, shape (K,)
        Labels of rows and columns.
    """

    documents: int
    errors: int
    log_loss: float
    brier: float
    ece: float
    confusion: np.ndarray
    reliability: np.ndarray
    classes: np.ndarray

    @property
    def error_rate(self) -> float:
        """Share of documents that were misjudged."""
        return self.errors / self.documents

    @property
    def bins(self) -> list[dict[str, Any]]:
        """The reliability table row by row: lower, upper, documents, confidence, accuracy (None in an empty bin).

        A bin holds the documents whose top label has lower <= probability < upper, the last one also probability 1.
        """
        ends = np.linspace(0, 1, len(self.reliability) + 1).tolist()
        return [
            {
                "lower": lower,
                "upper": upper,
                "documents": int(n),
                "confidence": float(confidence) if n else None,
                "accuracy": float(accuracy) if n else None,
            }
            for lower, upper, (n, confidence, accuracy) in zip(ends, ends[1:], self.reliability, strict=False)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, fit for JSON; an infinite log loss is None."""
        return {
            "documents": self.documents,
            "errors": self.errors,
            "error_rate": self.error_rate,
            "log_loss": self.log_loss if np.isfinite(self.log_loss) else None,
            "brier": self.brier,
            "ece": self.ece,
            "classes": self.classes.tolist(),
            "confusion": self.confusion.tolist(),
            "reliability": self.bins,
        }


def evaluate(y: np.ndarray, log_probabilities: np.ndarray, classes: np.ndarray, bins: int = BINS) -> Evaluation:
    """Score class probabilities against true labels.

    Parameters
    ----------
    y : ndarray, shape (N,)
        True labels.
    log_probabilities : ndarray, shape (N, K)
        Log P(y_i = k | x_i).
    classes : ndarray, shape (K,)
        Label of each column.
    bins : int
        Equal-width bins of the top label's probability on [0, 1].

    Raises
    ------
    ValueError
        No document, a label that is not among the classes, or numbers that are no log probabilities of them.
    """
    y, classes, bins = validate.labels(y), validate.labels(classes), given.whole(bins, "bins", 1)
    log_probabilities = given.points(log_probabilities, "log_probabilities")
    if not len(y):
        raise ValueError("no labelled document to evaluate on")
    if log_probabilities.shape != (len(y), len(classes)):
        raise ValueError(f"log_probabilities has shape {log_probabilities.shape}, expected {(len(y), len(classes))}")
    if log_probabilities.max() > 1e-9:  # of rounding
        row = int(log_probabilities.max(axis=1).argmax())
        raise ValueError(f"log_probabilities must be at most 0, got {log_probabilities[row].max():g} at row {row}")
    true = class_codes(y, classes)
    probability = np.exp(log_probabilities)
    predicted = probability.argmax(axis=1)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (true, predicted), 1)
    reliability = reliability_table(probability.max(axis=1), predicted == true, bins)
    held = reliability[:, 0] > 0
    gap = np.abs(reliability[held, 1] - reliability[held, 2])
    return Evaluation(
        documents=len(y),
        errors=int((predicted != true).sum()),
        log_loss=float(-log_probabilities[np.arange(len(y)), true].mean()),
        brier=float(((probability - np.eye(len(classes))[true]) ** 2).sum(axis=1).mean()),
        ece=float((reliability[held, 0] * gap).sum() / len(y)),
        confusion=confusion,
        reliability=reliability,
        classes=classes,
    )


def reliability_table(confidence: np.ndarray, right: np.ndarray, bins: int) -> np.ndarray:
    """Documents, mean confidence and accuracy in equal-width bins of confidence, shape (bins, 3)."""
    which = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    n = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(which, confidence, bins) / n
        accuracy = np.bincount(which, right, bins) / n
    return np.column_stack([n, mean, accuracy])


@dataclass(frozen=True)
class Drift:
    """How well documents fit the model, whatever their class: sums, which add up over batches.

    Documents that come to use other tokens have more that the model does not know, and a lower probability under it.
    No labels are needed. To see a change, compare with the same numbers of documents as they were when it learnt.

    Attributes
    ----------
    documents : int
        Documents looked at.
    tokens, known_tokens : float
        All their tokens, and those that the model has learnt.
    terms : float
        Factors of p(x | k): known tokens as the event model counts them, or columns times documents for the Bernoulli
        model, where absence counts too.
    log_px : float
        Sum of log P(x) = log sum_k theta_k p(x | k), nats, of the known tokens and untempered, whatever the power.
    """

    documents: int = 0
    tokens: float = 0.0
    known_tokens: float = 0.0
    terms: float = 0.0
    log_px: float = 0.0

    def __add__(self, other: Drift) -> Self:
        return type(self)(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def unknown_token_share(self) -> float:
        """Share of the tokens that the model has not learnt; 0 where there is no token."""
        return 1 - self.known_tokens / self.tokens if self.tokens else 0.0

    @property
    def log_px_per_document(self) -> float | None:
        """Mean log P(x); None without documents."""
        return self.log_px / self.documents if self.documents else None

    @property
    def log_px_per_token(self) -> float | None:
        """Mean log P(x) for each of `terms`, which long and short documents share; None without one."""
        return self.log_px / self.terms if self.terms else None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, fit for JSON."""
        return {
            "tokens": self.tokens,
            "known_tokens": self.known_tokens,
            "unknown_token_share": self.unknown_token_share,
            "log_px_per_document": self.log_px_per_document,
            "log_px_per_token": self.log_px_per_token,
        }
