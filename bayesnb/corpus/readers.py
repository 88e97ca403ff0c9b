"""One entry for labelled documents of every kind, one for documents to score."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .decoding import as_path, mode_of, refuse_missing
from .headers import DELIMITERS
from .records import Corpus, CorpusError, TableRows, join_texts, label_of

PathLike = str | os.PathLike

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
FORMATS = ("folders", "files", "document", "lines", "csv", "tsv", "parquet", "ndjson", "cs229", "svmlight")


def read_corpus(
    path: PathLike | Mapping[str, PathLike | Sequence[PathLike]],
    text: str | None = None,
    label: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    *,
    header: bool = True,
    quoting: str = "minimal",
) -> Corpus:
    """Read labelled documents.

    Parameters
    ----------
    path : path or {label: path or list of paths}
        A folder with one subfolder per class (labels are their names), a table (CSV, TSV, Parquet, NDJSON), a
        MATRIX or an svmlight file. With a label given: a folder of one-document files, a text file with one document
        per line, or a table whose rows all have that label.
    text, label : str, optional
        Columns of a table. By default guessed from common names; of two columns, one tells the other. A table that
        has only numbers beside its label is a table of counts.
    format : str, optional
        "folders", "files", "document", "lines", "csv", "tsv", "parquet", "ndjson", "cs229" (MATRIX) or "svmlight";
        by default told from the name, or from the second line of a MATRIX file.
    encoding : str
        Any of Python's. A byte order mark is dropped.
    header : bool
        Whether the first line of a CSV or TSV names the columns; else they are column_1, column_2, ...
    quoting : {"minimal", "none"}
        Whether quotes in a CSV or TSV enclose fields, or are plain characters.

    Returns
    -------
    Corpus
        Rows without a label or text (null, or an empty field), hidden and binary files are counted in `skipped`.

    Raises
    ------
    CorpusError
        A ValueError of one line that names file, place and remedy.
    OSError
        If a file or folder is missing or cannot be opened.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesnb
    >>> mail = pd.DataFrame({"text": ["free prices", "coffee at ten", None], "label": ["spam", "ham", "ham"]})
    >>> mail.to_csv("mail.csv", index=False)
    >>> corpus = bayesnb.read_corpus("mail.csv")
    >>> corpus.texts, corpus.y.tolist(), corpus.skipped
    (['free prices', 'coffee at ten'], ['spam', 'ham'], {'rows without a text': 1})

    One file a class, with a document in each line:

    >>> from pathlib import Path
    >>> for label, line in {"spam": "free prices", "ham": "coffee at ten"}.items():
    ...     characters = Path(f"{label}.txt").write_text(line)
    >>> bayesnb.read_corpus({"spam": "spam.txt", "ham": "ham.txt"})
    Corpus(spam.txt, ham.txt: 2 documents, texts, 2 labels)
    """
    options = _Options(text, format, encoding, header, quoting)
    if not isinstance(path, Mapping):
        return _read(as_path(path), options, label)
    if not path:
        raise CorpusError("no labels: pass {label: path} with at least one")
    pairs = [(label_of(str(name)), as_path(place)) for name, places in path.items() for place in _listed(places)]
    parts = [_texts_only(_read(place, options, False, alone="lines")) for _, place in pairs]
    for (_, place), part in zip(pairs, parts, strict=True):
        if isinstance(part.ids[0], int):
            part.ids[:] = [f"{place}:{row}" for row in part.ids]
    return join_texts(parts, [name for name, _ in pairs], ", ".join(str(place) for _, place in pairs))


def read_documents(
    path: PathLike,
    text: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    *,
    header: bool = True,
    quoting: str = "minimal",
    rows: TableRows | None = None,
) -> Corpus:
    """Read documents without labels, as one has them to score.

    Parameters
    ----------
    path : path
        A folder of one-document files, a text file that is one document, a table, a MATRIX or svmlight file (whose
        labels are kept).
    text, format, encoding, header, quoting
        As in `read_corpus`.
    rows : TableRows, optional
        Where to put what else the rows of a table hold. An empty text in a CSV or TSV is then an empty document.

    Returns
    -------
    Corpus
        With `y` None unless the format always has labels.

    Raises
    ------
    CorpusError, OSError
        As `read_corpus`.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesnb import corpus
    >>> pd.DataFrame({"text": ["free prices", "coffee at ten"]}).to_csv("inbox.csv", index=False)
    >>> inbox = corpus.read_documents("inbox.csv")
    >>> inbox.texts, inbox.y is None, inbox.ids
    (['free prices', 'coffee at ten'], True, [1, 2])
    """
    return _read(as_path(path), _Options(text, format, encoding, header, quoting, rows), False, alone="document")


class _Options:
    """The reading options both entries share, checked."""

    def __init__(
        self, text: str | None, format: str | None, encoding: str, header: bool, quoting: str,
        rows: TableRows | None = None,
    ) -> None:  # fmt: skip
        if format is not None and format not in FORMATS:
            raise CorpusError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
        self.text, self.format, self.encoding, self.header, self.quoting = text, format, encoding, header, quoting
        self.rows = rows


def _read(path: Path, options: _Options, label: str | bool | None, alone: str | None = None) -> Corpus:
    """Read one path; `label` False asks for no labels, and `alone` is then what a plain text file is."""
    format = options.format or _format_of(path, alone, options.encoding)
    if format == "cs229":
        from .matrix import read_matrix

        return read_matrix(path, options.encoding)
    if format == "svmlight":
        from .matrix import read_svmlight

        return read_svmlight(path, options.encoding)
    if format in ("folders", "files", "document", "lines"):
        return _read_documents(path, format, options.encoding, label)
    return _read_table(path, format, options, label)


def _format_of(path: Path, alone: str | None, encoding: str) -> str:
    """Tell the format from the path."""
    if stat.S_ISDIR(mode_of(path)):
        return "files" if alone else "folders"
    refuse_missing(path)
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    from .matrix import is_matrix

    if is_matrix(path, encoding):
        return "cs229"
    if alone is None:
        raise CorpusError(f"{path}: cannot tell its format from its name: pass format= one of {', '.join(FORMATS)}")
    return alone


def table_format(path: Path, format: str | None = None) -> str:
    """Format of a table: "csv", "tsv", "parquet" or "ndjson"; CorpusError where it is none of them."""
    found = format or _SUFFIXES.get(path.suffix.lower(), "")
    if found not in ("csv", "tsv", "parquet", "ndjson"):
        said = f"format {format!r} is no table" if format else "cannot tell from its name which table it is"
        raise CorpusError(f"{path}: {said}: pass format= csv, tsv, parquet or ndjson")
    return found


def _read_documents(path: Path, format: str, encoding: str, label: str | bool | None) -> Corpus:
    """Read documents that are files or lines."""
    from . import folders

    if format == "folders":
        corpus = folders.read_class_folders(_folder(path), encoding)
        return corpus if label is not False else replace(corpus, y=None)
    if label is not False:
        raise CorpusError(f"{path}: format {format!r} has no labels: pass {{label: path}}")
    if format == "files":
        return folders.read_files(_folder(path), encoding)
    return folders.read_document(path, encoding) if format == "document" else folders.read_lines(path, encoding)


def _folder(path: Path) -> Path:
    if not stat.S_ISDIR(mode_of(path)):
        raise NotADirectoryError(f"{path} is a file where a folder was expected")
    return path


def _read_table(path: Path, format: str, options: _Options, label: str | bool | None) -> Corpus:
    """Read a table of texts or counts."""
    from . import delimited, frames
    from .tables import corpus_from_frame

    blank, rows, bad = 0, options.rows, None
    if rows is not None:
        bad, rows.blank = rows.bad, format in ("csv", "tsv")
    if format == "parquet":
        frame = frames.read_parquet(path)
    elif format == "ndjson":
        frame, blank = frames.read_ndjson(path, options.encoding, bad)
    else:
        frame, blank = delimited.read_delimited(
            path, DELIMITERS[format], options.encoding, options.header, options.quoting, bad
        )
    corpus = corpus_from_frame(frame, str(path), options.text, label, rows)
    if rows is not None:
        from .cells import cells_of

        rows.cells += cells_of(frame, path, format, options.encoding, corpus.ids, rows.omit)
    if blank:
        corpus.skipped["blank lines"] = blank
    return corpus


def _listed(places: PathLike | Sequence[PathLike]) -> Sequence[PathLike]:
    if isinstance(places, str | os.PathLike):
        return [places]
    if not isinstance(places, Sequence) or not places:
        raise CorpusError(f"expected a path or a list of paths for a label, got {places!r}")
    return places


def _texts_only(corpus: Corpus) -> Corpus:
    if corpus.texts is None:
        raise CorpusError(f"{corpus.source} holds counts: pass it alone, with a column of labels")
    return corpus
