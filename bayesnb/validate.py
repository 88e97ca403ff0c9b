"""One validator per concept, used everywhere; every message names what, where and the remedy.

NumPy and `kernels` only; SciPy's sparse matrices and frames are looked at when given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb import given, kernels
from bayesnb.given import shown

ESTIMATES = ("mle", "map", "mean", "predictive")
POWERS = 1e-9, 1e9  # of a likelihood: cumulants of log-odds have powers of it
LEAST, MOST = 1e-100, 1e100  # of concentrations and counts: squares and ratios of them stay finite


def concentration(
    value: Any, name: str = "prior", shape: tuple[int, ...] | None = None, *, least: float = LEAST, most: float = MOST
) -> np.ndarray:
    """Prior concentrations as float64: from `least` to `most`, broadcast to `shape` where one is given.

    Raises
    ------
    ValueError
        A value is not a number, not finite, not above 0 or beyond those ends, or the shape does not fit.
    """
    a = given.floats(value, f"{name} must be numbers above 0")
    if a.size and not (distinct(a).min() >= least and distinct(a).max() <= most):
        bad = np.argwhere(~(np.isfinite(a) & (a > 0)))
        if len(bad):
            where = f" at {tuple(int(i) for i in bad[0])}" if a.ndim else ""
            raise ValueError(f"{name} must be above 0 and finite, got {a[tuple(bad[0])]:g}{where}")
        raise ValueError(f"{name} must lie between {least:g} and {most:g}, got {a.min():g}..{a.max():g}")
    if shape is None:
        return a
    try:
        return np.broadcast_to(a, shape)
    except ValueError:
        raise ValueError(
            f"{name} has shape {a.shape}, which does not fit {shape} (classes, tokens); "
            "give a number, one value a token, or one a class and token"
        ) from None


def distinct(a: np.ndarray) -> np.ndarray:
    """The cells of an array without those that broadcasting repeats."""
    return a[tuple(slice(None) if stride else slice(0, 1) for stride in a.strides)]


def level(value: Any, name: str = "level") -> float:
    """A credible level strictly between 0 and 1; `name` is what the message calls it.

    Raises
    ------
    ValueError
        It is anything else.
    """
    number = given.real(value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, such as 0.95; got {shown(value)}")
    return number


def percent(level: float) -> str:
    """A level in percent as it was given: six digits would make .9999999 100."""
    return f"{100 * level:.10g}"


def estimate(value: Any) -> str:
    """One of the four estimates.

    Raises
    ------
    ValueError
        It is none of them.
    """
    return given.choice(value, ESTIMATES, "estimate")


def known_prior(value: Any, n_classes: int) -> np.ndarray:
    """A known class prior: one probability a class, summing to 1 up to rounding.

    Raises
    ------
    ValueError
        Wrong length, a negative or missing value, or a sum that is not 1.
    """
    p = given.floats(value, "class_prior must be probabilities, one a class")
    if p.shape != (n_classes,):
        raise ValueError(
            f"Number of priors must match number of classes: class_prior has shape {p.shape}, "
            f"there are {n_classes} classes"
        )
    if not (p >= 0).all():
        bad = int(np.argmin(p >= 0))
        raise ValueError(f"Priors must be non-negative: class_prior[{bad}] is {p[bad]:g}")
    if not np.isclose(p.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1: class_prior sums to {p.sum():.6g}")
    # once normalised it stays as it is, so that a saved prior comes back bit for bit
    return p if abs(p.sum() - 1) < 1e-12 else p / p.sum()


def counts(X: Any, name: str = "the model", columns: Any = None, *, signed: bool = False, stored: bool = False) -> Any:
    """Counts as a canonical CSR array of float64; the caller's matrix is never written to.

    Parameters
    ----------
    X : array_like or scipy.sparse, shape (n, V)
        Non-negative numbers. Duplicate entries of a sparse matrix are summed before their sign is judged.
    name : str
        Who asks; scikit-learn's words for a negative value end in it.
    columns : sequence, optional
        Names of the columns for messages.
    signed : bool
        Negative numbers are allowed.
    stored : bool
        Leave the entries as they are stored, of one of `kernels.STORED` types and duplicates apart: for what only sums.

    Raises
    ------
    ValueError
        X is not two-dimensional or not numeric, or holds a negative, NaN or infinite value, or one above 1e100.
    TypeError
        A cell is of a type that is no number.
    """
    csr = _as_csr(X)
    mark = _mark(csr)
    if not mark or (mark == "signed" and not signed):
        mark = "signed" if signed else "counts"
        ends = (-np.finfo(float).max, np.finfo(float).max) if signed else (0.0, MOST)
        if not kernels.within(csr.data, *ends):
            csr = _canonical(csr)
            _refuse_bad_cell(csr, csr.data, name, columns, signed=signed)
    return _judged(csr if stored else _canonical(csr), mark)


def presence(X: Any, threshold: float | None, name: str, columns: Any = None) -> Any:
    """Presence as a CSR array of True: a cell above the threshold, implicit zeros included, is present.

    Parameters
    ----------
    X : array_like or scipy.sparse, shape (n, V)
        Any finite numbers.
    threshold : float or None
        None: X must already be 0 and 1.

    Raises
    ------
    ValueError
        As `counts`, or a cell that is neither 0 nor 1 where the threshold is None.
    """
    from scipy import sparse

    if _mark(X) == "presence" and (threshold is None or 0 <= threshold < 1):
        return X
    csr = counts(X, name, columns, signed=True, stored=True)
    csr = csr if csr.has_canonical_format else _canonical(csr)
    if threshold is None:
        odd = np.flatnonzero((csr.data != 0) & (csr.data != 1))
        if len(odd):
            row = int(np.searchsorted(csr.indptr, odd[0], side="right")) - 1
            raise ValueError(
                f"row {row}, column {csr.indices[odd[0]]} is {csr.data[odd[0]]:g}: with binarize=None X must hold "
                "0 and 1; give a threshold"
            )
        threshold = 0.0
    if threshold < 0:  # what is not stored is above the threshold too
        return _judged(sparse.csr_array(csr.toarray() > threshold), "presence")
    above = sparse.csr_array((csr.data > threshold, csr.indices, csr.indptr), shape=csr.shape)
    if not above.data.all():
        above = above.copy()
        above.eliminate_zeros()
    return _judged(above, "presence")


def _as_csr(X: Any) -> Any:
    """X as a CSR array that shares its entries where it can, of a type that `kernels` reads."""
    from scipy import sparse

    if _mark(X):
        return X
    if hasattr(getattr(X, "sparse", None), "to_coo"):  # a pandas frame of sparse columns only
        X = X.sparse.to_coo()
    if not sparse.issparse(X):
        return sparse.csr_array(
            given.numbers(X, "counts"), dtype=np.float64
        )  # some of NumPy's types SciPy does not know
    return _sparse(X)


def _sparse(X: Any) -> Any:
    from scipy import sparse

    if X.ndim != 2:
        raise ValueError(f"Expected 2D array of counts (documents, tokens), got a {X.ndim}D sparse array instead")
    if X.dtype.kind not in "biuf":
        complex_ = "Complex data not supported: " if X.dtype.kind == "c" else ""
        raise ValueError(f"{complex_}X must hold real numbers, its dtype is {X.dtype}")
    if X.format in ("csr", "csc") and X.nnz < kernels.ALONE:  # larger ones are judged as they are read
        _refuse_damaged(X)
    if X.format != "csr" or X.dtype not in kernels.STORED:
        X = X.astype(np.float64)  # before duplicates are summed, which a narrow type would overflow
    return sparse.csr_array(X)


def _refuse_damaged(X: Any) -> None:
    """SciPy follows row pointers and indices that lie outside the matrix: counts are lost, or the process is."""
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"the sparse matrix is damaged, build it again: {error}") from None


def _canonical(csr: Any) -> Any:
    """The same in float64 with sorted columns and no duplicates; the array itself where it is that already."""
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _judged(csr: Any, mark: str) -> Any:
    """Mark an array of our own as judged, so that the layers below need not read it all again.

    "signed" are numbers, "counts" are not negative, and "presence" is 1 wherever an entry is.
    """
    csr.__dict__["_judged"] = mark
    return csr


def _mark(X: Any) -> str:
    return getattr(X, "__dict__", {}).get("_judged", "")


def _refuse_bad_cell(csr, data: np.ndarray, name: str, columns: Any, *, signed: bool) -> None:
    good = np.isfinite(data) if signed else (data >= 0) & (data <= MOST)
    if good.all():
        return
    at = int(np.argmin(good))
    row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
    column: Any = int(csr.indices[at])
    if columns is not None and column < len(columns):
        column = shown(columns[column])
    where = f"row {row}, column {column}"
    if data[at] < 0:
        raise ValueError(
            f"Negative values in data passed to {name}: {data[at]:g} at {where}; counts must be >= 0 "
            "(for a hashed input use alternate_sign=False)"
        )
    if MOST < data[at] < np.inf:
        raise ValueError(f"a count of {data[at]:g} at {where} is beyond {MOST:g}: no sum over it is safe; rescale it")
    kind = "NaN" if np.isnan(data[at]) else "infinity"
    raise ValueError(f"Input X contains {kind} at {where}; {name} does not accept missing values, drop or fill it")


def sample_weight(value: Any, n: int) -> np.ndarray | None:
    """Weights of documents: one number a document, or one for all; None is kept.

    Raises
    ------
    ValueError
        Wrong shape, or a weight that is no number, negative, missing or above 1e100.
    """
    if value is None:
        return None
    w = given.floats(value, "sample_weight must be numbers, one a document")
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.shape != (n,):
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(n,)}: one weight a document")
    good = (w >= 0) & (w <= MOST)
    if not good.all():
        bad = int(np.argmin(good))
        most = f"at most {MOST:g}" if MOST < w[bad] < np.inf else "finite"
        raise ValueError(f"sample_weight must be >= 0 and {most}, got {w[bad]:g} at row {bad}")
    return w


def decay(value: Any) -> float:
    """A factor of forgetting, above 0 and at most 1.

    Raises
    ------
    ValueError
        It is anything else.
    """
    number = np.nan if isinstance(value, (bool, np.bool_)) else given.real(value)
    if not 0 < number <= 1:
        raise ValueError(
            f"decay must be a number above 0 and at most 1, such as 0.9 (1 forgets nothing); got {shown(value)}"
        )
    return number


def labels(y: Any) -> np.ndarray:
    """Labels as a one-dimensional array of one type: strings, integers, floats or booleans.

    Raises
    ------
    ValueError
        A label is missing (None, NaN, NA, masked) or of no such type, or y is not one-dimensional.
    TypeError
        Labels of several types that do not sort together.
    """
    if hasattr(y, "to_list"):  # pandas and polars series, whose missing values are None, NaN or NA
        y = y.to_list()
    try:
        array = np.asarray(y, dtype=object if isinstance(y, (list, tuple)) or np.ma.is_masked(y) else None)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1:
        what = f"an array of shape {array.shape}" if array.size else shown(y)
        raise ValueError(f"y should be a 1d array of labels, got {what} instead")
    if np.ma.is_masked(y):
        array = array.copy()
        array[np.ma.getmaskarray(y)] = None
    if array.dtype.kind == "T":  # a NumPy string that can be missing
        array = array.astype(object)
    if array.dtype.kind not in "biufUO":
        raise ValueError(f"y holds {array.dtype}: labels are {_LABELS}")
    if array.dtype.kind == "O":
        _refuse_mixed(array)
        array = _narrowed(array)
    if array.dtype.kind in "biuf":  # in this machine's order and a width that frames know
        with np.errstate(over="ignore"):
            array = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        kind = "missing label" if np.isnan(array[row]) else "infinite label"
        word = "NaN" if np.isnan(array[row]) else "infinity"
        raise ValueError(f"{kind} at row {row}: Input y contains {word}; drop that row")
    return array


_LABELS = "strings, whole numbers or booleans; make them strings, such as with str(label)"


def _refuse_mixed(array: np.ndarray) -> None:
    for row, label in enumerate(array):
        # by type first: comparing NA gives NA, which is neither true nor false
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")
        if missing or (isinstance(label, (float, np.floating)) and np.isnan(label)):
            raise ValueError(f"missing label at row {row}: it is {shown(label)}; drop that row or name its class")
    for row, label in enumerate(array):
        if not isinstance(label, _LABEL_TYPES) or isinstance(label, np.timedelta64):
            kind = type(label).__name__
            raise ValueError(f"label {shown(label)} at row {row} is of type {kind}: labels are {_LABELS}")
    kinds = {_kind(label): row for row, label in reversed(list(enumerate(array)))}
    if len(kinds) > 1:
        (one, i), (two, j) = sorted(kinds.items(), key=lambda item: item[1])[:2]
        raise TypeError(f"labels of several types: row {i} is {one}, row {j} is {two}; make them all one type")


_LABEL_TYPES = (bool, np.bool_, str, int, float, np.integer, np.floating)


def _kind(label: Any) -> str:
    for kind, types in (("bool", (bool, np.bool_)), ("str", str), ("number", (int, float, np.number))):
        if isinstance(label, types):
            return kind
    return type(label).__name__


def _narrowed(array: np.ndarray) -> np.ndarray:
    """Numbers and booleans get their own dtype; strings stay objects, for a NumPy string drops trailing NULs."""
    if len(array) and _kind(array[0]) in ("bool", "number"):
        numbers = np.array(array.tolist())
        changed = [row for row, (old, new) in enumerate(zip(array, numbers.tolist(), strict=True)) if old != new]
        if changed or numbers.dtype.kind not in "biuf":
            row = changed[0] if changed else 0
            raise ValueError(f"label {shown(array[row])} at row {row} is too large to be held as a number; use strings")
        return numbers
    return array


def _plain(label: Any) -> Any:
    """A label as Python prints it, without NumPy's type around it."""
    return label.item() if isinstance(label, np.generic) else label
