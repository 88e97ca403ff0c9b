"""Which column of a table is the text and which the label; a table of numbers as counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy import sparse

from .headers import LABEL_NAMES, TEXT_NAMES
from .nearby import suggestion
from .records import Corpus, CorpusError, TableRows

_LONGEST_LABEL = 256  # characters; as long as the name of a folder may be

_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def corpus_from_frame(
    frame: pl.DataFrame, source: str, text: str | None, label: str | bool | None, rows: TableRows | None = None
) -> Corpus:
    """Make a corpus of a table whose cells are strings or null.

    Parameters
    ----------
    frame : polars.DataFrame
        The table; a column of booleans marks the rows where something is that is no text.
    source : str
        Its name in messages.
    text, label : str or None
        Column names; None guesses from common names, or from what the columns hold. ``label=False``: no labels.
    rows : TableRows, optional
        What became of the rows so far.

    Raises
    ------
    CorpusError
        If a column does not exist or cannot be guessed; the message lists the columns.
    """
    text, label_name = choose(frame, source, text, label)
    if text is None:
        return _counts(frame, source, label_name, rows)
    corpus = texts_of(frame, source, text, label_name, rows=rows)
    if not len(corpus):
        raise CorpusError(no_rows(source, label_name))
    return corpus


def choose(
    frame: pl.DataFrame, source: str, text: str | None, label: str | bool | None
) -> tuple[str | None, str | None]:
    """Names of the text column (None: a table of numbers) and of the label column (None: unlabelled).

    Raises
    ------
    CorpusError
        As `corpus_from_frame`.
    """
    for name in (text, label):
        if isinstance(name, str) and name not in frame.columns:
            near = suggestion(name, frame.columns)
            raise CorpusError(f"{source} has no column {name!r}; its columns: {_listed(frame.columns)}{near}")
    if text is not None and text == label:
        raise CorpusError(f"{source}: {text!r} is given as both text and label")
    label_name = label if isinstance(label, str) else _named(frame, source, LABEL_NAMES, "label", [text])
    readable = frame.select(pl.col(pl.String))
    if text is None:
        others = [name for name in readable.columns if name != label_name]
        if (label_name is not None or label is False) and others and _are_numbers(frame.select(others)):
            return None, label_name
        text = _named(frame, source, TEXT_NAMES, "text", [label_name])
    pair = readable if readable.width > 1 else frame  # what cannot be read may be the text, which is then said
    if pair.width == 2 and {text, label_name} <= {None, *pair.columns}:
        text, label_name = _complete_pair(pair, source, text, label_name)
    if text is None and label is False and frame.width == 1:
        text = frame.columns[0]
    for role, name, wanted in (("text", text, True), ("label", label_name, label is not False)):
        if name is None and wanted:
            raise CorpusError(_cannot_guess(frame, source, role))
    return text, None if label is False else label_name


def _named(
    frame: pl.DataFrame, source: str, names: Sequence[str], role: str, taken: Sequence[str | None]
) -> str | None:
    """The one column with a common name for its role."""
    found = [name for name in frame.columns if name.strip().casefold() in names and name not in taken]
    if len(found) > 1:
        raise CorpusError(f"{source}: the {role} could be any of {_listed(found)}: pass {role}=")
    return found[0] if found else None


def _complete_pair(
    frame: pl.DataFrame, source: str, text: str | None, label: str | None
) -> tuple[str | None, str | None]:
    """With two columns, one tells the other; with neither named, labels repeat and texts do not."""
    first, second = frame.columns
    if text is None and label is None:
        a, b = (frame[name].drop_nulls().n_unique() for name in frame.columns)
        label = first if a < b else second
        # Each label at least twice on average, and at least two texts to a label.
        if 2 * min(a, b) > min(frame[label].count(), max(a, b)):
            return None, None
        if (frame[label] == label).any():  # a first document that was taken for the header would be lost
            raise CorpusError(
                f"{source}: {label!r} is a label, and the name of their column: pass header=False if the first line is "
                f"data, or label={label!r} if not"
            )
    if text is None:
        return (second if label == first else first), label
    return text, label or (second if text == first else first)


def _cannot_guess(frame: pl.DataFrame, source: str, role: str) -> str:
    if not frame.width:
        return f"{source} has no columns"
    remedy = f"pass {role}= one of its columns: {_listed(frame.columns)}"
    if any(name.replace(".", "", 1).isdecimal() or " " in name.strip() for name in frame.columns):
        remedy += "; or header=False if the first line is data"
    return f"{source}: cannot tell which column is the {role}; {remedy}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")


def no_rows(source: str, label: str | None) -> str:
    """What to say of a table none of whose rows is a document."""
    return f"{source}: no row has {'a text' if label is None else 'both a label and a text'}"


def texts_of(
    frame: pl.DataFrame, source: str, text: str, label: str | None, before: int = 0, rows: TableRows | None = None
) -> Corpus:
    """Texts and labels of the rows that have both, behind a number of rows; the others are counted.

    Where `rows` are given, their faults are left out, and an empty text may be one.

    Raises
    ------
    CorpusError
        A text or a label is neither a string nor a number, or a label is as long as a text.
    """
    _refuse_marked(frame, source, text, label, before)
    numbers, texts = np.arange(before + 1, before + 1 + frame.height), frame[text]
    no_label = frame[label].is_null().to_numpy() if label is not None else np.zeros(frame.height, bool)
    no_text = texts.is_null().to_numpy() & ~no_label
    bad = np.isin(numbers, [] if rows is None else [*rows.faults])
    if rows is not None and rows.blank:
        texts, no_text = texts.fill_null(""), np.zeros(frame.height, bool)
    kept = ~(no_label | no_text | bad)
    reasons = {"rows without a label": int(no_label.sum()), "rows without a text": int((no_text & ~bad).sum())}
    y = None if label is None else _labels(frame[label].filter(kept), source, numbers[kept])
    skipped = {reason: count for reason, count in reasons.items() if count}
    columns = {"text": text} if label is None else {"text": text, "label": label}
    ids = numbers[kept].tolist()
    return Corpus(y, ids, texts=texts.filter(kept).to_list(), skipped=skipped, source=source, columns=columns)


def _refuse_marked(frame: pl.DataFrame, source: str, text: str | None, label: str | None, before: int = 0) -> None:
    """CorpusError where a row has something that is no text in the column of texts or of labels."""
    for role, name in (("text", text), ("label", label)):
        if name is not None and frame[name].dtype == pl.Boolean and frame[name].any():
            row = before + 1 + int(frame[name].arg_true()[0])
            raise CorpusError(
                f"{source}, row {row}: column {name!r} holds a list, an object or bytes where a {role} was expected: "
                f"write it as a string, or pass {role}= another column"
            )


def _labels(column: pl.Series, source: str, rows: pl.Series | np.ndarray) -> np.ndarray:
    """Labels as an array of strings, each as wide as the longest: a text among them would fill the memory."""
    faults = (
        (column.str.len_chars() > _LONGEST_LABEL, f"a label of more than {_LONGEST_LABEL} characters; is it the text"),
        (column.str.contains("\0", literal=True), "a label that holds a NUL character; is it a label"),
    )
    for found, said in faults:
        if found.any():
            row = rows[int(found.arg_true()[0])]
            raise CorpusError(f"{source}, row {row}: column {column.name!r} has {said}? Pass label= another column")
    return np.array(column.to_list(), dtype=np.str_)


def _counts(frame: pl.DataFrame, source: str, label: str | None, given: TableRows | None = None) -> Corpus:
    """Counts of a table whose columns, but for the label, are numbers."""
    rows = np.arange(1, frame.height + 1)
    skipped: dict[str, int] = {}
    if given is not None and given.faults:
        kept = ~np.isin(rows, [*given.faults])
        rows, frame = rows[kept], frame.filter(kept)
    _refuse_marked(frame, source, None, label)
    if label is not None:
        present = frame[label].is_not_null()
        rows, frame = rows[present.to_numpy()], frame.filter(present)
        if len(present) > frame.height:
            skipped["rows without a label"] = len(present) - frame.height
    if not frame.height:
        raise CorpusError(f"{source}: no row has a label")
    y = None if label is None else _labels(frame[label], source, rows)
    columns = [name for name in frame.columns if name != label]
    for name in [name for name in columns if frame[name].dtype == pl.Boolean]:
        columns.remove(name)
        skipped[f"column {name!r}, of lists, objects or bytes"] = 1
    headless = all(name.startswith("column_") for name in columns)
    for name in [name for name in columns if not headless and _is_identifier(frame[name])]:
        columns.remove(name)
        skipped[f"column {name!r}, an identifier"] = 1
    if not columns:
        raise CorpusError(f"{source} has no column of counts; its columns: {_listed(frame.columns)}")
    X = _matrix(frame.select(columns), source, rows)
    read = {} if label is None else {"label": label}
    return Corpus(y, rows.tolist(), X=X, tokens=columns, skipped=skipped, source=source, columns=read)


def _are_numbers(frame: pl.DataFrame) -> bool:
    """Whether every cell that is not null is written as a finite number."""
    return all(
        column.null_count() < len(column) and column.str.strip_chars().str.contains(_NUMBER).all() for column in frame
    )


def _is_identifier(column: pl.Series) -> bool:
    """Whether a column called id, or one without a name, holds a different value in every row: no count does."""
    named = column.name.strip().casefold() in ("id", "index") or column.name.startswith("column_")
    return named and len(column) > 2 and column.n_unique() == len(column)


def _matrix(frame: pl.DataFrame, source: str, rows: np.ndarray) -> sparse.csr_array:
    """The cells as numbers: int64 where all are whole, else float64."""
    empty = frame.select(pl.any_horizontal(pl.all().is_null())).to_series().arg_true()
    if len(empty):
        row = empty[0]
        name = next(column.name for column in frame if column[row] is None)
        raise CorpusError(f"{source}, row {rows[row]}: column {name!r} is empty: write 0 where nothing was counted")
    values = frame.select(pl.all().str.strip_chars().cast(pl.Float64)).to_numpy()
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise CorpusError(f"{source}, row {rows[row]}: column {frame.columns[column]!r} is beyond the range of numbers")
    whole = (values == np.rint(values)).all() and (np.abs(values) < 2**53).all()
    return sparse.csr_array(values.astype(np.int64) if whole else values)
