"""Columns of a table of categories: numbers are codes, anything else is known by its name.

NumPy only; frames are looked at when given.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesnb import given
from bayesnb.given import shown

LARGEST_CODE = 2**24
"""Codes 0..max are all cells of the model, so that one large identifier would fill the memory."""
KINDS = {"number": "numbers", "str": "strings", "bool": "booleans"}


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str or int
        Its name, or its position.
    kind : {"number", "str", "bool"} or None
        Of its categories; None where every value is missing.
    values : ndarray, shape (N,)
        int64 where the kind is "number", else objects; anything where missing.
    missing : ndarray of bool, shape (N,)
        Where there is no value.
    levels : tuple, optional
        Categories that are declared, sorted: numbers are then names and no codes.
    """

    name: Any
    kind: str | None
    values: np.ndarray
    missing: np.ndarray
    levels: tuple[Any, ...] | None = None

    def rows(self, chosen: np.ndarray) -> Column:
        """Some rows only; what is declared stays declared."""
        missing = self.missing[chosen]
        kind = None if self.levels is None and missing.all() else self.kind
        return replace(self, kind=kind, values=self.values[chosen], missing=missing)


def columns_of(X: Any, names: Sequence[str] | None, missing: str, model: str = "CategoricalNB") -> list[Column]:
    """The columns of a table, with missing values found.

    Parameters
    ----------
    X : array_like or frame, shape (N, J)
        Categories. Missing are None, NaN and the missing values of frames.
    names : sequence of str, optional
        Names of the columns.
    missing : {"error", "ignore"}
        What to do about missing values.
    model : str
        Who asks.

    Raises
    ------
    ValueError
        X is no table, a value is missing (by row and column), negative or infinite, or a column holds values of
        several kinds.
    TypeError
        A value is neither a number nor a string nor a boolean, or X is sparse.
    """
    if sparse.issparse(X):
        raise TypeError(f"Sparse data was passed to {model}, but a 0 that is not stored is a category; use X.toarray()")
    raw = list(_raw_columns(X))
    if names is not None and len(raw) != len(names):
        raise ValueError(f"X has {len(raw)} features, but {model} is expecting {len(names)} features as input")
    if not raw:
        raise ValueError(f"Found array with 0 feature(s) (shape=({len(X)}, 0)) while a minimum of 1 is required.")
    columns = []
    for j, (values, levels) in enumerate(raw):
        column = _column(j if names is None else names[j], values, levels, model)
        if missing == "error" and column.missing.any():
            row = int(np.argmax(column.missing))
            raise ValueError(
                f"Input X contains NaN at row {row}, column {shown(column.name)}: the value is missing; fill it, drop "
                "the row, or use missing='ignore'"
            )
        columns.append(column)
    return columns


def _raw_columns(X: Any) -> Iterable[tuple[np.ndarray, list[Any] | None]]:
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        series = [X.iloc[:, j] for j in range(X.shape[1])]
        return [(np.asarray(s, object), _levels(s.dtype)) if _is_named(s.dtype) else (_array(s), None) for s in series]
    if hasattr(X, "get_columns"):  # polars
        return [(_of_polars(s), _levels(s.dtype)) for s in X.get_columns()]
    table = given.table(X, "categories", objects=True)
    if np.ma.is_masked(table):
        missing = np.ma.getmaskarray(table)
        table = np.ma.getdata(table).astype(object)
        table[missing] = None
    table = np.ma.getdata(table)
    return [(table[:, j], None) for j in range(table.shape[1])]


def _array(series: Any) -> np.ndarray:
    """Values of a pandas column; one of pandas' own types keeps its missing values as objects."""
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.to_numpy(dtype=object)


def _of_polars(series: Any) -> np.ndarray:
    if series.dtype.is_numeric() and not series.null_count():
        return series.to_numpy()
    return np.array([*series.to_list(), None], object)[:-1]


def _is_named(dtype: Any) -> bool:
    return type(dtype).__name__ in ("CategoricalDtype", "Enum")


def _levels(dtype: Any) -> list[Any] | None:
    """Declared categories of a pandas Categorical or a polars Enum."""
    return list(dtype.categories.to_list()) if _is_named(dtype) else None


def _column(name: Any, values: np.ndarray, levels: list[Any] | None, model: str) -> Column:
    if levels is not None:
        return _declared(name, values, levels)
    kind = values.dtype.kind
    if kind == "f":
        with np.errstate(over="ignore"):  # of a wider type: infinite, which is refused
            values = values.astype(np.float64, copy=False)  # a narrower one cannot hold the largest code
    if kind in "iuf":
        return _codes(name, values, np.isnan(values) if kind == "f" else np.zeros(len(values), bool), model)
    if kind == "c":
        raise ValueError("Complex data not supported: categories are whole numbers, strings or booleans")
    objects = values.astype(object)
    missing = np.fromiter(map(_is_missing, objects), bool, len(objects))
    found = _one_kind(name, objects, missing)
    if found == "number":
        numbers = np.zeros(len(objects))
        numbers[~missing] = [given.real(value) for value in objects[~missing]]
        return _codes(name, numbers, missing, model)
    return Column(name, found, objects, missing)


def _declared(name: Any, values: np.ndarray, levels: list[Any]) -> Column:
    missing = np.fromiter(map(_is_missing, values), bool, len(values))
    named = np.array([*levels, None], object)[:-1]
    kind = _one_kind(name, named, np.zeros(len(named), bool))
    for level in levels if kind == "number" else ():
        if not (given.real(level).is_integer() and abs(level) < 2**63):
            raise ValueError(
                f"column {shown(name)} has the category {level!r}: make them strings, such as with .astype(str)"
            )
    if kind == "number":
        numbers = np.zeros(len(values), np.int64)
        numbers[~missing] = values[~missing].astype(np.int64)
        return Column(name, kind, numbers, missing, tuple(sorted(map(int, levels))))
    return Column(name, kind, values, missing, tuple(sorted(levels)))


def _codes(name: Any, values: np.ndarray, missing: np.ndarray, model: str) -> Column:
    """A column of codes, numbers from 0 on; a fraction is cut off, with a warning."""
    numbers = np.where(missing, 0, values)
    for wrong, what in (
        (~np.isfinite(numbers), "Input X contains infinity: {} at row {}, column {}; {} reads whole numbers"),
        (
            numbers < 0,
            "Negative values in data passed to {3} (input X): {0:g} at row {1}, column {2}; codes are >= 0",
        ),
        (
            numbers >= LARGEST_CODE,
            "code {:.15g} at row {}, column {} is too large for {}, which keeps codes 0..max; make it a string",
        ),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(what.format(values[row], row, shown(name), model))
    codes = np.trunc(numbers)
    if (codes != numbers).any():
        row = int(np.argmax(codes != numbers))
        warnings.warn(
            f"{values[row]} at row {row}, column {shown(name)} is no whole number: {model} reads code "
            f"{codes[row]:.0f}, as scikit-learn does; bin such values, or use GaussianNB",
            UserWarning,
            stacklevel=8,
        )
    return Column(name, None if missing.all() else "number", codes.astype(np.int64), missing)


def _is_missing(value: Any) -> bool:
    # by type first: comparing NA gives NA, which is neither true nor false
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def kind_of(value: Any) -> str | None:
    """Which of `KINDS` a category is; None where it is none."""
    for kind, types in (("bool", (bool, np.bool_)), ("str", str), ("number", (int, float, np.number))):
        if isinstance(value, types):
            return kind
    return None


def _one_kind(name: Any, values: np.ndarray, missing: np.ndarray) -> str | None:
    first: dict[str, int] = {}
    for row in np.flatnonzero(~missing).tolist():
        kind = kind_of(values[row])
        if kind is None:
            raise TypeError(
                f"row {row}, column {shown(name)} is {shown(values[row])}: a category, as an argument must be a "
                "string or a number; make it a string"
            )
        first.setdefault(kind, row)
    if len(first) > 1:
        (one, i), (two, j) = sorted(first.items(), key=lambda item: item[1])[:2]
        raise ValueError(
            f"column {shown(name)} holds {KINDS[one]} (row {i}) and {KINDS[two]} (row {j}); make them all one kind"
        )
    return next(iter(first), None)
