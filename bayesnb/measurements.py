"""The validator of dense measurements: real numbers, some of which may be missing. NumPy only."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb import given

MISSING = ("error", "ignore")


def measurements(X: Any, name: str = "the model", columns: Any = None, *, missing: str = "error") -> np.ndarray:
    """Measurements as a dense float64 array, whatever type they come in; the caller's array is never written to.

    Parameters
    ----------
    X : array_like, shape (N, V)
        Real numbers; NaN (None in a list) is a missing cell.
    name : str
        Who asks, for messages.
    columns : sequence, optional
        Names of the columns for messages.
    missing : {"error", "ignore"}
        Whether a missing cell is an error or stays NaN.

    Raises
    ------
    ValueError
        X is not two-dimensional or not numeric, or a cell is infinite or (if it matters) missing; row and column are
        named.
    TypeError
        X is sparse, or a cell is of a type that is no number.
    """
    if hasattr(X, "toarray"):
        raise TypeError(f"Sparse data was passed, but {name} needs a dense array: give X.toarray()")
    dense = given.numbers(X, "measurements").astype(np.float64, order="C", copy=False)
    _refuse(dense, np.isinf(dense), "infinity", f"{name} accepts finite numbers only", columns)
    if choice(missing) == "error":
        _refuse(dense, np.isnan(dense), "NaN", "fill the cell, drop the row, or use missing='ignore'", columns)
    return dense


def choice(missing: Any) -> str:
    """What to do with missing cells; ValueError where it is neither "error" nor "ignore"."""
    return given.choice(missing, MISSING, "missing")


def _refuse(X: np.ndarray, bad: np.ndarray, what: str, remedy: str, columns: Any) -> None:
    if not bad.any():
        return
    row, column = (int(i) for i in np.argwhere(bad)[0])
    named = column if columns is None or column >= len(columns) else given.shown(columns[column])
    raise ValueError(f"Input X contains {what} at row {row}, column {named}; {remedy}")
