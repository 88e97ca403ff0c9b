"""What callers give, whatever it comes in: numbers, tables, names and choices, or one line that says what it is not.

NumPy only; frames are looked at when given.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

_LARGEST = int(sys.float_info.max)
_NO_NUMBERS = (complex, np.complexfloating, np.datetime64, np.timedelta64)  # which float() takes, losing what they are


def shown(value: Any) -> str:
    """A value for a message: its repr on one line, cut short."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # an object's own, or a whole number beyond Python's limit of digits
        return f"a {type(value).__name__}"
    text = " ".join(line.strip() for line in text.split("\n"))
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"


# --- one value ----------------------------------------------------------------------------------------------


def real(value: Any) -> float:
    """One real number as a float; NaN where it is none, infinite or the largest float where it is beyond."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (Real, Decimal)) or isinstance(value, _NO_NUMBERS):
        return math.nan
    if isinstance(value, Rational):
        above, below = int(value.numerator), int(value.denominator)
        if abs(above) > below * _LARGEST:
            return math.copysign(sys.float_info.max, 1 if above > 0 else -1)
    try:
        return float(value)
    except ValueError:  # Decimal's signalling NaN
        return math.nan


def whole(value: Any, name: str, least: int = 0) -> int:
    """A whole number from `least` on; ValueError where it is none."""
    if is_whole(value) and least <= value <= sys.maxsize:
        return int(value)
    raise ValueError(f"{name} must be a whole number, at least {least}; got {shown(value)}")


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, and neither a boolean nor a span of time."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def flag(value: Any, name: str) -> bool:
    """True or False, also as 1 or 0; ValueError where it is neither."""
    if isinstance(value, (bool, np.bool_)) or (is_whole(value) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {shown(value)}")


def choice(value: Any, options: Iterable[str], name: str) -> str:
    """One of some names; ValueError where it is none of them."""
    if isinstance(value, str) and value in options:
        return value
    raise ValueError(f"{name} must be one of {', '.join(options)}; got {shown(value)}")


def is_name(value: Any) -> bool:
    """Whether it can name a class or a token: one value that has a hash, and no array or matrix."""
    missing = type(value).__name__ in ("NAType", "NaTType")  # which are equal to nothing, themselves included
    try:
        hash(value)
    except TypeError:
        return False
    return not missing and np.ndim(value) == 0


def listed(value: Any, demand: str) -> list[Any]:
    """The items of a list, an array or anything else that has some; ValueError where it has none to give."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        try:
            return list(value)
        except TypeError:  # an array of no dimension, or a matrix that is sparse
            pass
    raise ValueError(f"{demand}, got {shown(value)}")


def size(value: Any) -> tuple[int, ...]:
    """Shape of draws: None is one, a number that many; ValueError where it is no shape."""
    if value is None:
        return ()
    return tuple(whole(n, "size") for n in (value if isinstance(value, (tuple, list)) else (value,)))


def generator(rng: Any) -> np.random.Generator:
    """A source of random numbers; TypeError where it is none."""
    if isinstance(rng, np.random.Generator):
        return rng
    raise TypeError(f"rng must be a numpy.random.Generator, such as numpy.random.default_rng(0); got {shown(rng)}")


def seeded(seed: Any) -> np.random.Generator:
    """The source of random numbers of a seed; ValueError where it is none."""
    try:
        if np.asarray(seed).dtype.kind in "mM":
            raise TypeError
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed must be a whole number, at least 0, or a list of them; got {shown(seed)}") from None


# --- numbers ------------------------------------------------------------------------------------------------


def floats(value: Any, demand: str) -> np.ndarray:
    """Real numbers of any shape as float64: NaN where one is missing or masked, infinite beyond the largest float.

    Parameters
    ----------
    value : number or array_like
    demand : str
        What the message says they must be.

    Raises
    ------
    ValueError
        They are something else.
    """
    try:
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        if array.dtype.kind in "biufO":
            return _float64(array)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{demand}, got {shown(value)}")


def points(value: Any, name: str, shape: tuple[int, ...] = ()) -> np.ndarray:
    """Where a density with parameters of that shape is asked for.

    Raises
    ------
    ValueError
        It is no number, or missing, or of a shape that does not broadcast with the parameters'.
    """
    x = floats(value, f"{name} must be numbers")
    if np.isnan(x).any():
        raise ValueError(f"{name} must be numbers, one is NaN")
    return fitting(x, name, shape)


def fitting(array: np.ndarray, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The array; ValueError where its shape does not broadcast with that of the others."""
    try:
        np.broadcast_shapes(array.shape, shape)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}, which does not fit the others' {shape}") from None
    return array


def _float64(array: np.ndarray) -> np.ndarray:
    """Numbers or objects as float64; TypeError, ValueError or OverflowError where one is no real number."""
    if isinstance(array, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(array), np.nan, array.data)
    if array.dtype.kind == "O" and any(issubclass(kind, _NO_NUMBERS) for kind in set(map(type, array.flat))):
        raise TypeError("not a real number")
    with np.errstate(over="ignore"):  # of a wider type: infinite
        return array.astype(np.float64, copy=False)


# --- tables -------------------------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether it is a frame of pandas or polars."""
    return (hasattr(X, "iloc") or hasattr(X, "get_columns")) and hasattr(X, "columns")


def refuse_repeated_names(X: Any) -> None:
    """Raise a ValueError where two columns of a frame have one name."""
    place: dict[Any, int] = {}
    for j, name in enumerate(X.columns):
        if name in place:
            raise ValueError(
                f"columns {place[name]} and {j} of X are both named {shown(name)}: columns are known by their names; "
                "rename one"
            )
        place[name] = j


def table(X: Any, what: str, *, objects: bool = False) -> np.ndarray:
    """A dense table as an array with two dimensions, of whatever type; a masked array stays one.

    Parameters
    ----------
    X : array_like or frame, shape (N, V)
    what : str
        What its cells are, for messages.
    objects : bool
        Keep what a list holds as it is: NumPy makes numbers beside strings strings.

    Raises
    ------
    ValueError
        It has not two dimensions, or rows of several lengths.
    """
    if is_frame(X):
        X = _of_frame(X)
    listed = isinstance(X, (list, tuple))
    if listed and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)  # NumPy's own array would forget the masks
    try:
        array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X, object if objects and listed else None)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.ndim == 2:
        return array
    expected = f"Expected 2D array of {what} (documents, columns), got"
    if array.ndim == 0:
        raise ValueError(f"{expected} {shown(X)}")
    if listed and array.dtype.kind == "O":
        raise ValueError(f"{expected} a list of rows that differ in length, or whose cells are lists; make it a table")
    raise ValueError(
        f"{expected} {array.ndim}D array instead. Reshape your data: array.reshape(1, -1) if it is one document"
    )


def _of_frame(X: Any) -> np.ndarray:
    """Cells of a frame; the missing values of pandas' own types are NaN."""
    if not hasattr(X, "iloc") or all(isinstance(dtype, np.dtype) for dtype in X.dtypes):
        return X.to_numpy()
    numeric = all(dtype.kind in "biuf" for dtype in X.dtypes)
    return X.to_numpy(np.float64 if numeric else object, na_value=np.nan)


def numbers(X: Any, what: str) -> np.ndarray:
    """A dense table of real numbers, as booleans, integers or floats; a missing or masked cell is NaN.

    Raises
    ------
    ValueError
        As `table`; or a cell is no real number, and where.
    TypeError
        A cell is of a type that no number is read from, and where.
    """
    array = table(X, what)
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported: {what} are real numbers")
    if kind not in "biufO":
        raise ValueError(f"X must hold numbers, its dtype is {array.dtype}; convert it, such as with X.astype(float)")
    plain = kind in "biu" or (kind == "f" and array.dtype.itemsize <= 8)
    if plain and not isinstance(array, np.ma.MaskedArray):
        return array
    try:
        return _float64(array)
    except (TypeError, ValueError, OverflowError) as error:
        wrong = TypeError if isinstance(error, TypeError) else ValueError
        raise wrong(f"X must hold numbers: {error}{_first_unreadable(array)}") from None


def _first_unreadable(array: np.ndarray) -> str:
    for (row, column), cell in np.ndenumerate(array):
        try:
            _float64(np.array([cell, None], object)[:1])
        except (TypeError, ValueError, OverflowError):
            return f" ({shown(cell)} at row {row}, column {column})"
    return ""
