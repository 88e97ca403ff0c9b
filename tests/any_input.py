"""Strategies: tables in any container, labels of any type, any text, any value where a number is expected."""

import datetime
import decimal
import fractions
import tempfile

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

import bayesnb

# --- any value ----------------------------------------------------------------------------------------------

ODD = [
    None, True, -1, 0, 1, 2, 0.5, 0.95, 10**400, -(10**400), 2**63, 5e-324, 1e-100, 1e100, 1e300, float("nan"),
    float("inf"), -float("inf"), 1j, "", "a", "abc", "1", "map", "mean", "\ud800", b"1", [], [1, 2, 3], [1.0, 2.0],
    [0.5, 0.5], [[1], [1, 2]], [[1.0, 2.0, 3.0]] * 2, (1, 2), ("a", "b"), ["a", "b"], {}, {"a": 0.5, "b": 0.5},
    {"a": 1}, {1}, object(), int, np.timedelta64(3, "D"), np.datetime64("2020-01-01"), np.longdouble("1e4000"),
    np.float32(0.5), np.int8(3), np.str_("jeffreys"), np.array([]), np.array([1.0, 2.0, 3.0]), np.ones((2, 3)),
    np.array(0.5), np.ma.masked, np.ma.masked_array([1.0, 2.0, 3.0], mask=[1, 0, 0]), np.array([1, 2, 3], "m8[D]"),
    np.zeros(3, [("a", "f8")]), decimal.Decimal("0.9"), fractions.Fraction(1, 2), pd.Series([1.0, 2.0, 3.0]),
    pd.Series([0.5, 0.5], index=["a", "b"]), pd.NA, pd.NaT, pd.DataFrame({"a": [1]}), pl.Series([1.0, 2.0, 3.0]),
    pl.DataFrame({"a": [1]}), sparse.csr_array([[1.0, 2.0, 3.0]]), bayesnb.Dirichlet([1, 2]), bayesnb.Beta(1, 2),
    bayesnb.NormalInverseGamma(0, 1, 2, 1), bayesnb.MultinomialNB, bayesnb.MultinomialNB(), iter(()), range(3),
    datetime.date(2020, 1, 1), "background:2", ("background", 2), "empirical", "words", r"\w", "(", (1, 1), "weak",
]  # fmt: skip
anything = st.one_of(
    st.sampled_from(ODD), st.floats(), st.integers(), st.text(max_size=4), st.lists(st.floats(), max_size=4),
    st.floats(1e-3, 3),
)  # fmt: skip

# --- tables of numbers --------------------------------------------------------------------------------------

few = st.integers(0, 4).map(float)
some = st.sampled_from([0.5, 1.5, 200.0, 255.0, 7e4, 2.0**31, 2.0**53 + 2, 1e15, 1e99, 1e-99, 5e-324, -0.0])
bad = st.sampled_from([-1.0, -1e-300, 1e101, 1e154, 1e308, np.nan, np.inf, -np.inf])


@st.composite
def grids(draw, signed: bool = False) -> np.ndarray:
    """Float64 of 0 to 6 rows and 0 to 4 columns: mostly small numbers, at times extreme or bad ones."""
    cell = draw(st.sampled_from([few, few, few | some, few | some | bad]))
    cell = cell | st.floats(-9, 9, width=32) if signed else cell
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4)) | st.tuples(st.integers(0, 2), st.integers(0, 2)))
    rows = [[draw(cell) for _ in range(shape[1])] for _ in range(shape[0])]
    return np.array(rows, np.float64).reshape(shape)


DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">i4", "O"]


@st.composite
def arrays(draw, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The grid as a dense array of some type and layout, and what this holds as float64."""
    dtype = draw(st.sampled_from(DTYPES))
    if np.dtype(dtype).kind in "iu":
        ends = np.iinfo(dtype)
        inside = np.isfinite(grid) & (grid >= float(ends.min)) & (grid < float(ends.max))
        grid = np.where(inside, grid, 1.0)
    with np.errstate(over="ignore"):
        X = grid.astype(dtype)
        held = X.astype(np.float64)
    return draw(layouts(X)), held


@st.composite
def layouts(draw, X: np.ndarray) -> np.ndarray:
    """The same values lying in memory in some way."""
    kind = draw(st.sampled_from(["plain", "fortran", "backwards", "spread", "closed", "mapped", "wide", "masked"]))
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if kind == "spread":
        large = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        large[::2, ::3] = X
        return large[::2, ::3]
    if kind == "wide" and len(X) and (X[:1] == X).all():
        return np.broadcast_to(X[:1], X.shape)
    if kind == "mapped" and X.size and X.dtype != object:
        with tempfile.TemporaryFile() as file:
            mapped = np.memmap(file, X.dtype, "w+", shape=X.shape)
        mapped[:] = X
        return mapped
    if kind == "masked":
        return np.ma.masked_array(X)
    X = X.copy()
    X.setflags(write=kind != "closed")
    return X


@st.composite
def sparse_tables(draw, grid: np.ndarray) -> tuple:
    """The grid in a sparse format: with zeros kept, entries split in two, columns out of order, long indices."""
    dtype = draw(st.sampled_from(["f8", "f4", "i4", "u1", "i8", "?"]))
    with np.errstate(over="ignore", invalid="ignore"):
        whole = dtype in "i4u1i8?"
        values = np.where(np.isfinite(grid) & (grid >= 0) & (grid < 128), grid, 1.0) if whole else grid
        held = values.astype(dtype).astype(np.float64)
    rows, columns = np.nonzero(np.ones(held.shape)) if draw(st.booleans()) else np.nonzero(held)
    data = held[rows, columns]
    if dtype == "f8" and draw(st.booleans()):  # each entry twice, in halves
        rows, columns, data = np.tile(rows, 2), np.tile(columns, 2), np.tile(data / 2, 2)
        held = np.zeros(held.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(held, (rows, columns), data)
    order = draw(st.permutations(range(len(data))))
    index = draw(st.sampled_from([np.int32, np.int64]))
    rows, columns, data = (part[list(order)] for part in (rows, columns, data))
    coo = sparse.coo_array((data.astype(dtype), (rows.astype(index), columns.astype(index))), shape=held.shape)
    form = draw(st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "unsorted"]))
    if form == "unsorted":
        coo = sparse.coo_array((data.astype(dtype), (rows, columns)), shape=held.shape)
        by_row = np.argsort(rows, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(held)))])
        X = sparse.csr_array((data.astype(dtype)[by_row], columns[by_row], indptr), shape=held.shape)
    else:
        X = coo.asformat(form) if min(held.shape, default=0) else sparse.csr_array(held.shape)
    return (getattr(sparse, f"{X.format}_matrix")(X) if draw(st.booleans()) else X), held


NAMES = st.sampled_from(["", "a", " a", "A", "\0", "\N{SNOWMAN}", "\ud800", "x" * 300, "nan", "0"])


@st.composite
def frames(draw, grid: np.ndarray) -> tuple:
    """The grid as a frame of pandas or polars with odd names, now and then a repeated one."""
    names = draw(st.lists(NAMES, min_size=grid.shape[1], max_size=grid.shape[1], unique=draw(st.integers(0, 9)) > 0))
    kind = draw(st.sampled_from(["pandas", "pandas", "polars", "Float64", "Int64", "boolean", "category", "int names"]))
    if kind == "polars" and len(set(names)) == len(names) and "\ud800" not in names:
        dtype = draw(st.sampled_from([pl.Float64, pl.Float32]))
        frame = pl.DataFrame(grid, schema=dict.fromkeys(names, dtype)) if grid.size else pl.DataFrame({})
        return frame, frame.to_numpy().astype(np.float64)
    if kind in ("Int64", "boolean"):
        grid = np.where(np.isfinite(grid) & (np.abs(grid) < 2**50), np.trunc(grid), 1.0) % (
            2 if kind == "boolean" else 2**53
        )
    if "\ud800" in names:
        kind = "pandas"  # which cannot convert it
    frame = pd.DataFrame(grid, columns=range(grid.shape[1]) if kind == "int names" else pd.Index(names, dtype=object))
    if kind in ("Float64", "Int64", "boolean", "category"):
        frame = frame.astype("Int64" if kind == "boolean" else kind).astype(kind)
    return frame, grid


@st.composite
def tables(draw, signed: bool = False) -> tuple:
    """A table of numbers in any container, and what it holds as float64."""
    grid = draw(grids(signed))
    kind = draw(st.sampled_from(["array", "array", "sparse", "frame", "list", "tuple"]))
    if kind in ("list", "tuple"):
        rows = [[None if np.isnan(c) else int(c) if c == 3 else c for c in row] for row in grid.tolist()]
        return (rows if kind == "list" else tuple(map(tuple, rows))), grid if grid.size else np.array(rows, float)
    return draw({"array": arrays, "sparse": sparse_tables, "frame": frames}[kind](grid))


@st.composite
def no_tables(draw):
    """What is no table of numbers."""
    X = draw(st.sampled_from([np.ones((3, 2)), np.arange(6.0).reshape(3, 2)]))
    mask = np.ma.masked_array(X, mask=np.eye(3, 2, dtype=bool))
    return draw(
        st.sampled_from(
            [
                X + 1j, X.astype("i8").astype("M8[D]"), X.astype("i8").astype("m8[s]"), X.astype(str), X.astype("S"),
                np.zeros((3, 2), [("a", "f8")]), X[0], X[None], X[:0], X[:, :0], mask, mask.tolist(), list(mask),
                [[1], [1, 2], [3]], [[1, [2]], [3, 4], [5, 6]], [[1, "x"], [2, 3], [4, 5]], [[10**400, 1]] * 3,
                [[object(), 1]] * 3, [[1j, 1]] * 3, [[pd.NA, 1]] * 3, [[np.timedelta64(1, "D"), 1]] * 3, [1, 2, 3],
                sparse.coo_array(X[0]), sparse.csr_array(X + 1j), pd.Series(X[0]), pl.Series(X[0]),
                pd.DataFrame({"a": pd.date_range("2020", periods=3), "b": 1}), pd.DataFrame({"a": ["x", "y", "z"]}),
                pd.DataFrame(X, columns=["q", "q"]), pd.DataFrame(X, columns=[1, "q"]),
                pl.DataFrame({"a": [[1]] * 3}),
                pl.DataFrame({"a": [datetime.date(2020, 1, 1)] * 3}), pl.DataFrame({"a": [1.0]}).lazy(), {1, 2},
                {"a": 1},
                "abc", b"abc", None, 3, object(), iter(X), pd.DataFrame({}),
                pd.DataFrame({"a": [1, None, 2]}, dtype="Int64"),
                np.full((3, 2), np.longdouble("1e4000")),
            ]
        )
    )  # fmt: skip


# --- labels -------------------------------------------------------------------------------------------------

LABELS = [
    st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63), 0]), st.sampled_from([-0.0, 1.0, 2.0**60, 1e300]),
    st.booleans(), st.text(max_size=2), st.sampled_from(["a", "a\0", "", "\ud800", "x" * 10_000, "\N{SNOWMAN}"]),
]  # fmt: skip


@st.composite
def labels(draw, n: int) -> tuple:
    """Labels of n documents in any container, and the same as a list."""
    values = draw(st.lists(draw(st.sampled_from(LABELS)), min_size=n, max_size=n))
    kind = type(values[0]) if values else int
    ways = ["list", "tuple", "object", "series"]
    if kind in (int, float, bool):
        ways += ["array", "back", "masked"]
    if kind is int and all(-128 <= v < 128 for v in values):
        ways += ["i1", ">i2", "f2", "Int64"]
    if kind is str and not any("\0" in v or "\ud800" in v or any("\ud800" <= c < "\ue000" for c in v) for v in values):
        ways += ["category", "polars", "U", "T"]
    way = draw(st.sampled_from(ways))
    array = np.array([*values, None], object)[:-1]
    y = {
        "list": lambda: values, "tuple": lambda: tuple(values), "object": lambda: array,
        "series": lambda: pd.Series(array, dtype=object), "array": lambda: np.array(values, kind),
        "back": lambda: np.array(values, kind)[::-1][::1][::-1],
        "masked": lambda: np.ma.masked_array(np.array(values, kind)),
        "i1": lambda: np.array(values, "i1"), ">i2": lambda: np.array(values, ">i2"),
        "f2": lambda: np.array(values, "f2"),
        "Int64": lambda: pd.Series(values, dtype="Int64"), "category": lambda: pd.Categorical(values),
        "polars": lambda: pl.Series(values, dtype=pl.String), "U": lambda: np.array(values, str),
        "T": lambda: np.array(values, np.dtypes.StringDType()),
    }[way]()  # fmt: skip
    return y, [float(v) for v in values] if way == "f2" else values


NO_LABELS = [
    None, "abcd", 3, [None, "a", "a", "a"], [1.0, np.nan, 1.0, 0.0], [1, "a", 1, 1], [b"a", b"b", b"a", b"b"],
    [1.5, 0, 1, 0],
    [object()] * 4, [(1, 2), (1, 3)] * 2, [[1], [2, 3]] * 2, [10**30, 1, 1, 1], [1j] * 4, np.array([1j] * 4),
    np.eye(4),
    np.array(["2020", "NaT"] * 2, "M8[D]"), np.array([1, 2] * 2, "m8[D]"), [datetime.date(2020, 1, 1)] * 4, [1, 0],
    [],
    np.ma.masked_array([1, 0, 1, 0], mask=[0, 1, 0, 0]),
    np.array(["a", np.nan] * 2, np.dtypes.StringDType(na_object=np.nan)),
    pd.Series(["a", None] * 2), pd.Series([1, None] * 2, dtype="Int64"), pl.Series([1, None] * 2),
    np.zeros(4, [("a", "i4")]),
    [decimal.Decimal(1)] * 4, [True, 1, True, 0], {1: 2, 3: 4, 5: 6, 7: 8}, sparse.csr_array([[1, 0, 1, 0]]),
    [np.inf, 0, 1, 1],
    pd.date_range("2020", periods=4), [np.timedelta64(1, "D")] * 4, [np.complex128(1)] * 4, iter("abab"),
]  # fmt: skip

# --- texts --------------------------------------------------------------------------------------------------

words = st.sampled_from(
    ["free", "coffee", "Free", "\u0130stanbul", "\u00df", "na\u00efve", "\u65e5\u672c", "x1", "\N{SNOWMAN}", "a\0b"]
)
texts = st.one_of(
    st.lists(words, max_size=5).map(" ".join),
    st.text(max_size=12),
    st.text(st.characters(), max_size=12),  # with lone surrogates
    st.sampled_from(["", "\0", "\ud800", "free " * 3, "\r\n\t", "\U0010ffff", "e\u0301"]),
)
no_text = st.sampled_from([None, b"free", 3, float("nan"), ["free"], object(), np.nan, pd.NA, {}, np.str_("free")])

# --- four documents ---------------------------------------------------------------------------------------

FOUR = np.array([[2, 0, 1], [0, 3, 1], [1, 1, 0], [4, 0, 0]])
TEXTS = ["free now", "tea at ten", "free tea", "ten ten"]
FIVE = [
    (bayesnb.MultinomialNB, FOUR),
    (bayesnb.BernoulliNB, FOUR),
    (bayesnb.CategoricalNB, FOUR),
    (bayesnb.GaussianNB, FOUR),
    (bayesnb.TextClassifier, TEXTS),
]
