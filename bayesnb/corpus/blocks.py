"""Large tables of texts, a block of rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from .decoding import as_path
from .delimited import delimited_blocks
from .frames import ndjson_blocks, parquet_blocks
from .headers import DELIMITERS
from .readers import table_format
from .records import Corpus, CorpusError, NotTextError
from .tables import choose, no_rows, texts_of

SIZE = 2**25


def read_blocks(
    path: str | os.PathLike,
    text: str | None = None,
    label: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    *,
    header: bool = True,
    quoting: str = "minimal",
    size: int = SIZE,
) -> Iterator[Corpus]:
    """Read a table of labelled texts in blocks, each in memory at a time.

    Parameters
    ----------
    path : path
        A CSV, TSV, NDJSON or Parquet file. Blocks of a CSV end where a row ends, also where quoted fields hold
        newlines; of Parquet, whole row groups are read.
    text, label, format, encoding, header, quoting
        As in `read_corpus`. Columns that are not named are guessed from the first block; those that are named must
        be in it.
    size : int
        Bytes of a block, about; of Parquet, bytes of its text.

    Yields
    ------
    Corpus
        Of texts. Together they are what `read_corpus` reads; a block may have no documents.

    Raises
    ------
    CorpusError
        As `read_corpus`; and of a table of numbers, which is no table of texts, a `NotTextError`.
    OSError
        If the file is missing or cannot be opened.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesnb import corpus
    >>> mail = pd.DataFrame({"text": ["free prices", "coffee at ten"] * 50, "label": ["spam", "ham"] * 50})
    >>> mail.to_csv("mail.csv", index=False)
    >>> sum(len(block) for block in corpus.read_blocks("mail.csv", size=1000))
    100
    """
    place = as_path(path)
    source, rows, documents = str(place), 0, 0
    for frame, blank in _frames(place, table_format(place, format), encoding, header, quoting, size):
        if not rows:
            names = _columns(frame, source, text, label)
        corpus = texts_of(_completed(frame, *names), source, *names, rows)
        if blank:
            corpus.skipped["blank lines"] = blank
        rows, documents = rows + frame.height, documents + len(corpus)
        yield corpus
    if not documents:
        raise CorpusError(no_rows(source, "label"))


def _frames(
    path: Path, format: str, encoding: str, header: bool, quoting: str, size: int
) -> Iterator[tuple[pl.DataFrame, int]]:
    """Columns of strings of some rows, and the blank lines among them."""
    if format == "parquet":
        return ((frame, 0) for frame in parquet_blocks(path, size))
    if format == "ndjson":
        return ndjson_blocks(path, encoding, size)
    return delimited_blocks(path, DELIMITERS[format], encoding, header, quoting, size)


def _columns(frame: pl.DataFrame, source: str, text: str | None, label: str | None) -> tuple[str, str]:
    chosen, label_name = choose(frame, source, text, label)
    if chosen is None or label_name is None:
        raise NotTextError(f"{source} is a table of numbers: read_corpus reads it as counts; or pass text=")
    return chosen, label_name


def _completed(frame: pl.DataFrame, text: str, label: str) -> pl.DataFrame:
    """A block whose lines may lack a key that others have."""
    missing = [name for name in (text, label) if name not in frame.columns]
    return frame.with_columns(pl.Series(name, [None] * frame.height, pl.String) for name in missing)
