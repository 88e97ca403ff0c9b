"""Token counts of many documents: cut by polars, several threads at a time, gathered into one sparse matrix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from scipy import sparse

from .tokens import NAMED, Tokenizer, blank_newer, text_fault

# Python's \w{2,} and \S+ in Rust's terms; equal on every code point up to Unicode 15.0 (a test walks them all).
_RUST = {"words": r"[[\p{L}\p{N}_]&&\p{Age:15.0}]{2,}", "whitespace": r"[^\s\x1c-\x1f]+"}
_NEWER = r"[^\p{Age:15.0}]"

# Expressions that mean the same to both engines on any text: plain characters and plain classes, at least one each
# time. Others (\w and \b have other tables, $ and empty matches other rules) are left to Python, which is slower.
_PORTABLE = re.compile(
    r"(?:(?:\[\^?[^][\\^&~|:]+\]|[^][\\(){}.^$|?*+])(?:\+|\{[1-9]\d*(?:,\d*)?\})?)+", flags=re.DOTALL
)

# Characters a thread cuts at a time: large enough to hide the cost of a query, small enough to bound memory.
_BATCH = 2**23


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Counts of tokens in documents.

    Attributes
    ----------
    X : scipy.sparse.csr_array of int64, shape (documents, tokens)
        How often each token occurs in each document; column indices are sorted.
    tokens : list of str
        The column names.
    n_known, n_total : ndarray of int64, shape (documents,)
        Tokens of each document that have a column, and all its tokens.
    """

    X: sparse.csr_array
    tokens: list[str]
    n_known: np.ndarray
    n_total: np.ndarray


def count_tokens(tokenizer: Tokenizer, texts: Iterable[str], vocabulary: Iterable[str] | None) -> TokenCounts:
    """See `Tokenizer.count`."""
    if isinstance(texts, str):
        raise ValueError("texts is one string: pass a list of documents")
    documents = list(texts)
    engine = _engine(tokenizer)
    known = None if vocabulary is None else _vocabulary(vocabulary)
    work = partial(_count_batch, tokenizer, engine, known)
    batches = list(_batches(documents))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        parts = list(pool.map(work, (documents[rows] for rows in batches), (rows.start for rows in batches)))
    return _gather(parts, known)


def _engine(tokenizer: Tokenizer) -> str | None:
    """Rust's expression for the tokens; None where Python cuts them."""
    if tokenizer.pattern in NAMED:
        return _RUST.get(tokenizer.pattern)
    try:
        pl.Series([""]).str.contains(tokenizer.pattern)
    except pl.exceptions.ComputeError as error:
        reason = str(error).split("\n\nThis error")[0].splitlines()[-1]
        raise ValueError(f"tokens {tokenizer.pattern!r} does not compile in bulk: {reason}") from error
    portable = _PORTABLE.fullmatch(tokenizer.pattern) and "--" not in tokenizer.pattern
    return tokenizer.pattern if portable else None


def _vocabulary(tokens: Iterable[str]) -> pl.Series:
    """Token names as a series, each once."""
    if isinstance(tokens, str):
        raise ValueError("vocabulary is one string: pass a list of tokens")
    names = pl.Series("token", list(tokens), dtype=pl.String)
    twice = names.filter(names.is_duplicated())
    if len(twice):
        raise ValueError(f"vocabulary names the token {twice[0]!r} twice")
    return names


def _batches(documents: list[str]) -> Iterator[slice]:
    """Slices of about equal amounts of text."""
    start, size = 0, 0
    for row, text in enumerate(documents):
        size += len(text) if isinstance(text, str) else 0
        if size > _BATCH:
            yield slice(start, row + 1)
            start, size = row + 1, 0
    if start < len(documents) or not documents:
        yield slice(start, len(documents))


def _count_batch(
    tokenizer: Tokenizer, engine: str | None, known: pl.Series | None, texts: list[str], first_row: int
) -> tuple[sparse.csr_array, pl.Series, np.ndarray]:
    """Counts of one batch, its column names (sorted, or the known ones) and its numbers of tokens."""
    tokens, lengths = _cut(tokenizer, engine, texts, first_row)
    names = tokens.unique().sort() if known is None else known  # polars sorts UTF-8 bytes: code point order
    columns = _positions(tokens, names)
    found = columns.is_not_null().to_numpy()
    rows = np.repeat(np.arange(len(texts)), lengths)[found]
    entries = (np.ones(len(rows), np.int64), (rows, columns.drop_nulls().to_numpy()))
    X = sparse.coo_array(entries, shape=(len(texts), len(names))).tocsr()  # sums duplicates
    X.sort_indices()
    return X, names, lengths


def _cut(tokenizer: Tokenizer, engine: str | None, texts: list[str], first_row: int) -> tuple[pl.Series, np.ndarray]:
    """All tokens of a batch in order, and how many each document has."""
    raw = _series(texts, first_row)
    if tokenizer.pattern != "space" and engine is None:
        lists = pl.Series("token", [tokenizer.tokens(text) for text in texts], dtype=pl.List(pl.String))
    else:
        prepared = pl.Series("token", _prepare(tokenizer, texts, raw), dtype=pl.String)
        lists = prepared.str.split(" ") if engine is None else prepared.str.extract_all(engine)
    lengths = lists.list.len().to_numpy().astype(np.int64)
    if not lengths.any():
        return pl.Series("token", [], dtype=pl.String), lengths
    return lists.filter(pl.Series(lengths > 0)).reshape((-1,)), lengths


def _series(texts: list[str], first_row: int) -> pl.Series:
    """Documents as a series; the row that cannot be one is named."""
    try:
        raw = pl.Series(texts, dtype=pl.String, strict=True)
        if not raw.null_count():
            return raw
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        pass
    for row, text in enumerate(texts, first_row):
        fault = text_fault(text)
        if fault:
            raise ValueError(f"row {row}: the text {fault}")
    raise ValueError(f"rows {first_row} to {first_row + len(texts) - 1}: the texts are not all strings")


def _prepare(tokenizer: Tokenizer, texts: list[str], raw: pl.Series) -> list[str]:
    """`Tokenizer.prepare` for many: the rare texts with newer code points are found in bulk."""
    if tokenizer.pattern == "whitespace":
        return texts
    if tokenizer.pattern == "words":
        texts = list(texts)
        for row in raw.str.contains(_NEWER).arg_true().to_list():
            texts[row] = blank_newer(texts[row])
    return [text.lower() for text in texts]


def _positions(tokens: pl.Series, names: pl.Series) -> pl.Series:
    """Where each token stands among the names; null where it does not."""
    table = pl.DataFrame({"token": names, "column": np.arange(len(names))})
    frame = pl.DataFrame({"token": tokens})
    return frame.join(table, on="token", how="left", maintain_order="left")["column"]


def _gather(parts: list[tuple[sparse.csr_array, pl.Series, np.ndarray]], known: pl.Series | None) -> TokenCounts:
    """Stack the batches over the union of their tokens."""
    names = known
    if names is None:
        names = pl.concat([part_names for _, part_names, _ in parts]).unique().sort()
        parts = [(_widen(X, _positions(part, names), len(names)), part, n) for X, part, n in parts]
    X = sparse.csr_array(sparse.vstack([X for X, _, _ in parts], format="csr"))
    return TokenCounts(X, names.to_list(), X.sum(axis=1), np.concatenate([n for _, _, n in parts]))


def _widen(X: sparse.csr_array, columns: pl.Series, width: int) -> sparse.csr_array:
    """Move columns to their places in a wider matrix; increasing places keep the indices sorted."""
    return sparse.csr_array((X.data, columns.to_numpy()[X.indices], X.indptr), shape=(X.shape[0], width))
