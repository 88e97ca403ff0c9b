"""Counts in sparse text formats: CS229's MATRIX and svmlight."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from .decoding import read_text
from .records import Corpus, CorpusError

# Every column of an svmlight file gets a name, seen or not: a stray index must not fill the memory.
_MOST_COLUMNS = 2**26


def is_matrix(path: Path) -> bool:
    """Whether a file's second line is "rows cols", as a MATRIX file's is."""
    with path.open("rb") as file:
        file.readline(10_000)
        return re.fullmatch(rb"\s*\d+\s+\d+\s*", file.readline(100)) is not None


def read_matrix(path: Path, encoding: str = "utf-8") -> Corpus:
    """Read a MATRIX file.

    Line 1 is a name, line 2 "rows cols", line 3 the tokens; then a line per document: an integer label, pairs of
    column step and count, and -1. Steps are from the column before; the first is the 0-based column.

    Raises
    ------
    CorpusError
        Naming the line that departs from that.
    """
    lines = read_text(path, encoding).rstrip().split("\n")
    shape = lines[1].split() if len(lines) > 1 else []
    if len(shape) != 2 or not all(re.fullmatch(r"\d{1,9}", part) for part in shape):
        raise CorpusError(f"{path}, line 2: expected 'rows cols', as a MATRIX file has")
    n_rows, n_columns = map(int, shape)
    tokens = lines[2].split() if len(lines) > 2 else []
    if len(tokens) != n_columns:
        raise CorpusError(f"{path}, line 3: {len(tokens)} tokens where line 2 announces {n_columns}")
    if len(set(tokens)) < len(tokens):
        raise CorpusError(f"{path}, line 3: a token is named twice")
    if len(lines) - 3 != n_rows:
        raise CorpusError(f"{path}: {len(lines) - 3} documents where line 2 announces {n_rows}")

    def parse(line: str) -> tuple[int, np.ndarray, np.ndarray]:
        return _matrix_row(line, n_columns)

    y, ids, X = _read_rows(path, lines[3:], 4, parse, n_columns)
    return Corpus(y, ids, X=X, tokens=tokens, source=str(path))


def _matrix_row(line: str, n_columns: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Label, columns and counts of one document."""
    numbers = np.array(line.split(), dtype=np.int64)
    if len(numbers) < 2 or numbers[-1] != -1 or len(numbers) % 2:
        raise ValueError("expected a label, pairs of step and count, and -1")
    steps, counts = numbers[1:-1:2], numbers[2:-1:2]
    columns = np.cumsum(steps)
    if len(steps) and (steps[0] < 0 or (steps[1:] < 1).any() or columns[-1] >= n_columns):
        raise ValueError(f"steps must be at least 1 and stay below column {n_columns}")
    if (counts < 0).any():
        raise ValueError("a count is negative")
    return int(numbers[0]), columns, counts


def read_svmlight(path: Path, encoding: str = "utf-8") -> Corpus:
    """Read an svmlight (libsvm) file: "label index:value ..." per line, # opens a comment.

    The tokens are the indices as written, from 0 if one is 0, else from 1; so files that start differently still
    name their columns alike.

    Raises
    ------
    CorpusError
        Naming the line that departs from that.
    """
    lines = read_text(path, encoding).split("\n")
    if not any(line.partition("#")[0].strip() for line in lines):
        raise CorpusError(f"{path} is empty")
    y, ids, X = _read_rows(path, lines, 1, _svmlight_row, None)
    first = int(0 not in X.indices)
    return Corpus(y, ids, X=X[:, first:], tokens=[str(j) for j in range(first, X.shape[1])], source=str(path))


def _svmlight_row(line: str) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Label, columns and values of one document; None for a blank line."""
    label, *pairs = line.partition("#")[0].split() or [""]
    if not label:
        return None
    cells = [pair.split(":") for pair in pairs if not pair.startswith("qid:")]
    if any(len(cell) != 2 for cell in cells):
        raise ValueError("expected pairs index:value")
    columns = np.array([int(index) for index, _ in cells], dtype=np.int64)
    values = np.array([float(value) for _, value in cells])
    if not np.isfinite(values).all():
        raise ValueError("a value is not a finite number")
    if columns.max(initial=0) >= _MOST_COLUMNS:
        raise ValueError(f"index {columns.max()} is beyond {_MOST_COLUMNS:,} columns")
    if (columns < 0).any() or len(np.unique(columns)) < len(columns):
        raise ValueError("an index is negative or stands twice")
    if float(label) != int(float(label)):
        raise ValueError(f"label {label} is not a whole number")
    return int(float(label)), columns, values


def _read_rows(
    path: Path, lines: list[str], first: int, parse: Callable, width: int | None
) -> tuple[np.ndarray, list[int], sparse.csr_array]:
    """Labels, row numbers and one sparse matrix from a line per document; an error names its line."""
    labels, columns, values, ids = [], [], [], []
    for number, line in enumerate(lines):
        try:
            row = parse(line)
        except (ValueError, OverflowError) as error:
            raise CorpusError(f"{path}, line {number + first}: {error}") from error
        if row is not None:
            labels.append(row[0])
            columns.append(row[1])
            values.append(row[2])
            ids.append(number + 1)
    data, indices = (np.concatenate(part) if part else np.zeros(0) for part in (values, columns))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    width = int(indices.max(initial=0)) + 1 if width is None else width
    if data.dtype.kind == "f" and (data == np.rint(data)).all():
        data = data.astype(np.int64)
    # most of scikit-learn takes 32-bit indices only
    index = np.int32 if max(len(data), width) <= np.iinfo(np.int32).max else np.int64
    X = sparse.csr_array((data, indices.astype(index), indptr.astype(index)), shape=(len(labels), width))
    X.sort_indices()
    return np.array(labels), ids, X
