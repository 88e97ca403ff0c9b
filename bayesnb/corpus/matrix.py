"""Counts in sparse text formats: CS229's MATRIX and svmlight."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from .decoding import lines_of, read_head, read_text
from .records import Corpus, CorpusError

# Every column of an svmlight file gets a name, seen or not: a stray index must not fill the memory.
_MOST_COLUMNS = 2**26
_FREE_COLUMNS = 2**20  # and beyond these, a file has to hold something for its columns
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")  # Python's int takes 1_0 and digits of other scripts too
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INT64 = np.iinfo(np.int64)
# Lines of nothing else go to NumPy, and to Python's int and float, at full speed.
_PLAIN_COUNTS = re.compile(r"[0-9+\-\s]*", re.ASCII)
_PLAIN_PAIRS = re.compile(r"[0-9+\-.eE:\s]*", re.ASCII)


def is_matrix(path: Path, encoding: str = "utf-8") -> bool:
    """Whether a file's second line is "rows cols", as a MATRIX file's is."""
    try:
        head = read_head(path).decode(encoding, "replace")
    except (LookupError, UnicodeError):  # whoever reads it will say so
        return False
    lines = lines_of(head)
    return len(lines) > 1 and re.fullmatch(r"\s*[0-9]+\s+[0-9]+\s*", lines[1]) is not None


def read_matrix(path: Path, encoding: str = "utf-8") -> Corpus:
    """Read a MATRIX file.

    Line 1 is a name, line 2 "rows cols", line 3 the tokens; then a line per document: an integer label, pairs of
    column step and count, and -1. Steps are from the column before; the first is the 0-based column.

    Raises
    ------
    CorpusError
        Naming the line that departs from that.
    """
    lines = lines_of(read_text(path, encoding).rstrip())
    shape = lines[1].split() if len(lines) > 1 else []
    if len(shape) != 2 or not all(re.fullmatch(r"[0-9]{1,9}", part) for part in shape):
        raise CorpusError(f"{path}, line 2: expected 'rows cols', as a MATRIX file has")
    n_rows, n_columns = map(int, shape)
    tokens = lines[2].split() if len(lines) > 2 else []
    if len(tokens) != n_columns:
        raise CorpusError(f"{path}, line 3: {len(tokens)} tokens where line 2 announces {n_columns}")
    if len(set(tokens)) < len(tokens):
        raise CorpusError(f"{path}, line 3: a token is named twice")
    found = max(len(lines) - 3, 0)
    if found != n_rows:
        remedy = "is the file cut short?" if found < n_rows else "is there a blank line among them?"
        raise CorpusError(f"{path}: {found} documents where line 2 announces {n_rows}; {remedy}")
    if not n_rows:
        raise CorpusError(f"{path} has no documents")

    def parse(line: str) -> tuple[int, np.ndarray, np.ndarray]:
        return _matrix_row(line, n_columns)

    y, ids, X = _read_rows(path, lines[3:], 4, parse, n_columns)
    return Corpus(y, ids, X=X, tokens=tokens, source=str(path))


def _matrix_row(line: str, n_columns: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Label, columns and counts of one document."""
    numbers = _wholes(line)
    if len(numbers) < 2 or numbers[-1] != -1 or len(numbers) % 2:
        raise ValueError("expected a label, pairs of step and count, and -1")
    steps, counts = numbers[1:-1:2], numbers[2:-1:2]
    # each step by itself first: the sum of huge ones would come round to a column that exists
    if len(steps) and (steps[0] < 0 or (steps[1:] < 1).any() or steps.max() >= n_columns or steps.sum() >= n_columns):
        raise ValueError(f"steps must be at least 1 and stay below column {n_columns}")
    if (counts < 0).any():
        raise ValueError("a count is negative")
    return int(numbers[0]), np.cumsum(steps), counts


def _wholes(line: str) -> np.ndarray:
    """The whole numbers of a line; ValueError that names one that is none."""
    if _PLAIN_COUNTS.fullmatch(line):
        try:
            return np.array(line.split(), dtype=np.int64)
        except (ValueError, OverflowError):
            pass  # which of them it was is said below
    return np.array([_whole(part) for part in line.split()], np.int64)


def _whole(written: str) -> int:
    """A whole number of 64 bits, in plain digits."""
    if not _WHOLE.fullmatch(written) or not _INT64.min <= int(written) <= _INT64.max:
        raise ValueError(f"{written[:40]!r} is not a whole number of 64 bits")
    return int(written)


def read_svmlight(path: Path, encoding: str = "utf-8") -> Corpus:
    """Read an svmlight (libsvm) file: "label index:value ..." per line, # opens a comment.

    The tokens are the indices as written, from 0 if one is 0, else from 1; so files that start differently still
    name their columns alike.

    Raises
    ------
    CorpusError
        Naming the line that departs from that.
    """
    lines = lines_of(read_text(path, encoding))
    if not any(line.partition("#")[0].strip() for line in lines):
        raise CorpusError(f"{path} is empty")
    y, ids, X = _read_rows(path, lines, 1, _svmlight_row, None)
    if X.shape[1] > max(_FREE_COLUMNS, 1000 * X.nnz):
        raise CorpusError(
            f"{path}, line {_line_of_last_column(X, ids)}: index {X.shape[1] - 1} in a file of {X.nnz:,} values: "
            "a slip? If not, number the columns from 1"
        )
    first = int(0 not in X.indices)
    tokens = [str(j) for j in range(first, X.shape[1])]
    return Corpus(y, ids, X=X[:, first:], tokens=tokens, source=str(path), grows=True)


def _svmlight_row(line: str) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Label, columns and values of one document; None for a blank line."""
    label, *pairs = line.partition("#")[0].split() or [""]
    if not label:
        return None
    cells = [pair.split(":") for pair in pairs if not pair.startswith("qid:")]
    if any(len(cell) != 2 for cell in cells):
        raise ValueError("expected pairs index:value")
    columns, values = _pairs(cells, plain=_PLAIN_PAIRS.fullmatch(line) is not None)
    if columns.max(initial=0) >= _MOST_COLUMNS:
        raise ValueError(f"index {columns.max()} is beyond {_MOST_COLUMNS:,} columns")
    if (columns < 0).any() or len(np.unique(columns)) < len(columns):
        raise ValueError("an index is negative or stands twice")
    return _label(label), columns, values


def _pairs(cells: list[list[str]], *, plain: bool) -> tuple[np.ndarray, np.ndarray]:
    """Indices and finite values; ValueError that names one that is none."""
    if plain:
        try:
            columns, values = np.array([int(j) for j, _ in cells], np.int64), np.array([float(v) for _, v in cells])
        except (ValueError, OverflowError):
            pass  # which of them it was is said below
        else:
            if np.isfinite(values).all():
                return columns, values
    return np.array([_whole(j) for j, _ in cells], np.int64), np.array([_number(v) for _, v in cells])


def _number(written: str) -> float:
    """A finite number in plain digits."""
    value = float(written) if _NUMBER.fullmatch(written) else np.nan
    if not np.isfinite(value):
        raise ValueError(f"the value {written[:40]!r} is not a finite number")
    return value


def _label(written: str) -> int:
    """A whole number, which some write as 1.0; never by way of a float, which has few digits."""
    try:
        return _whole(re.sub(r"\.0*$", "", written))
    except ValueError:
        raise ValueError(f"label {written[:40]} is not a whole number: number the classes 0, 1, 2 and so on") from None


def _line_of_last_column(X: sparse.csr_array, ids: list[int]) -> int:
    return ids[int(np.searchsorted(X.indptr, X.indices.argmax(), side="right")) - 1]


def _read_rows(
    path: Path, lines: list[str], first: int, parse: Callable, width: int | None
) -> tuple[np.ndarray, list[int], sparse.csr_array]:
    """Labels, row numbers and one sparse matrix from a line per document; an error names its line."""
    labels, columns, values, ids = [], [], [], []
    for number, line in enumerate(lines):
        try:
            row = parse(line)
        except ValueError as error:
            raise CorpusError(f"{path}, line {number + first}: {error}") from error
        if row is not None:
            labels.append(row[0])
            columns.append(row[1])
            values.append(row[2])
            ids.append(number + 1)
    data, indices = (np.concatenate(part) if part else np.zeros(0) for part in (values, columns))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    width = int(indices.max(initial=0)) + 1 if width is None else width
    if data.dtype.kind == "f" and (data == np.rint(data)).all() and (np.abs(data) < 2**53).all():
        data = data.astype(np.int64)
    # most of scikit-learn takes 32-bit indices only
    index = np.int32 if max(len(data), width) <= np.iinfo(np.int32).max else np.int64
    X = sparse.csr_array((data, indices.astype(index), indptr.astype(index)), shape=(len(labels), width))
    X.sort_indices()
    return np.array(labels, np.int64), ids, X
