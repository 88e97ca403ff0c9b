"""How good are class probabilities: errors, log loss, Brier score, calibration error, confusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesnb.model import class_codes


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
        }


def evaluate(y: np.ndarray, log_probabilities: np.ndarray, classes: np.ndarray, bins: int = 15) -> Evaluation:
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
        No document, or a label that is not among the classes.
    """
    if not len(y):
        raise ValueError("no labelled document to evaluate on")
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
