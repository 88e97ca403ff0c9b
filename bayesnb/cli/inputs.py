"""From words on the command line to corpora and labels."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnb.cli import output

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    import numpy as np

    from bayesnb.corpus.records import Corpus, TableRows
    from bayesnb.scorer import Scorer

QUOTING = ("minimal", "none")
FORMATS = ("folders", "files", "document", "lines", "csv", "tsv", "parquet", "ndjson", "cs229", "svmlight")
TOKENS = ("words", "whitespace", "space")
STDIN = "-"
_ROW = re.compile(r"(?<![\w'\"])row (\d+)\b")


@dataclass(frozen=True)
class Reading:
    """How files are read: the options of the same names."""

    text: str | None = None
    label: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    quoting: str = "minimal"
    header: bool = True
    _noted: set[str] = field(default_factory=set, init=False, compare=False)

    def __post_init__(self) -> None:
        choice("--quoting", self.quoting, QUOTING)
        if self.format is not None:
            choice("--format", self.format, FORMATS)
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ValueError(f"--encoding {self.encoding}: use a name Python knows, such as latin-1") from None

    @property
    def _table(self) -> dict[str, Any]:
        return {"text": self.text, "encoding": self.encoding, "quoting": self.quoting, "header": self.header}

    def labelled(self, paths: Sequence[str]) -> Corpus:
        """Labelled documents from PATH or LABEL=PATH arguments, joined; columns that were guessed are remarked on.

        Raises
        ------
        ValueError
            Bad input, both kinds of argument at once, or files that do not fit together.
        """
        corpus = self._labelled(paths)
        self._note_guessed(corpus.columns)
        return corpus

    def _labelled(self, paths: Sequence[str]) -> Corpus:
        from bayesnb.cli.joining import joined
        from bayesnb.corpus.readers import read_corpus
        from bayesnb.corpus.records import CorpusError

        if STDIN in paths:
            raise CorpusError("standard input can be scored, but not learnt from: write it to a file first")
        pairs = [_label_and_path(argument) for argument in paths]
        options = self._table | {"format": self.format}
        if all(label is None for label, _ in pairs):
            return joined([read_corpus(path, label=self.label, **options) for _, path in pairs])
        if any(label is None for label, _ in pairs):
            raise CorpusError("PATH and LABEL=PATH cannot be mixed: give every path a label, or none")
        by_label: dict[str, list[str]] = {}
        for label, path in pairs:
            by_label.setdefault(str(label), []).append(path)
        return read_corpus(by_label, **options)

    def unlabelled(self, path: str, rows: TableRows | None = None) -> Corpus:
        """Documents to score; a folder that holds only folders is read folder by folder.

        Parameters
        ----------
        path : str
        rows : TableRows, optional
            Where a table puts what its rows hold.
        """
        from bayesnb.corpus.readers import read_documents

        nested = self.format is None and _holds_only_folders(Path(path))
        corpus = read_documents(path, format="folders" if nested else self.format, rows=rows, **self._table)
        self._note_guessed({role: name for role, name in corpus.columns.items() if role == "text"})
        return corpus

    def _note_guessed(self, columns: dict[str, str]) -> None:
        """One remark on the columns that nobody named."""
        guessed = {role: name for role, name in columns.items() if getattr(self, role) is None}
        found = ", ".join(f"{role} in column {name!r}" for role, name in guessed.items())
        if found and found not in self._noted:
            self._noted.add(found)
            output.note(f"guessed: {found}; if not so, give {' and '.join(f'--{role}' for role in guessed)}")


def counts_for(scorer: Scorer, corpus: Corpus) -> tuple[Any, np.ndarray, np.ndarray]:
    """Counts of a corpus in the model's columns, with the known and all tokens of each document.

    Raises
    ------
    ValueError
        The model is of texts and the corpus of counts, or the other way round, or columns are missing.
    """
    from bayesnb.corpus.records import CorpusError

    model = scorer.model
    refuse_categories(scorer)
    if model.tokens is not None and corpus.texts is None:
        raise CorpusError(f"{corpus.source} holds counts, but the model was fitted on texts")
    if model.tokens is None and corpus.X is None:
        what = "measurements" if model.settings.event == "gaussian" else "counts"
        raise CorpusError(
            f"{corpus.source} holds texts, but the model was fitted on {what}: give it a table with its columns"
        )
    with naming_rows(corpus):
        if model.tokens is not None:
            with output.progress("counting") as tell:
                return scorer._counted(corpus.texts, tell)
        X = _columns(corpus, model.state.tokens)
        return documents(scorer, X), sizes(scorer, X), sizes(scorer, corpus.X)


def refuse_categories(scorer: Scorer) -> None:
    """A ValueError for a model of categories, whose columns no reader here makes cells of."""
    if scorer.model.settings.event == "categorical":
        raise ValueError("the model is of categories, which this command does not read; use bayesnb.Scorer in Python")


def documents(scorer: Scorer, X: Any) -> Any:
    """Counts or measurements in the model's columns, sparse, as its event model reads them."""
    model = scorer.model
    return model.settings.documents(X.toarray() if model.settings.event == "gaussian" else X, model.state.tokens)


def sizes(scorer: Scorer, X: Any) -> np.ndarray:
    """Tokens of each row, shape (n,); of measurements each column is one."""
    import numpy as np

    if scorer.model.settings.event == "gaussian":
        return np.full(X.shape[0], float(X.shape[1]))
    return np.asarray(X.sum(axis=1), np.float64).ravel()


def labels_of(corpus: Corpus) -> Any:
    """Labels of a corpus; ValueError where it has none."""
    from bayesnb.corpus.records import CorpusError

    if corpus.y is None:
        raise CorpusError(f"{corpus.source} has no labels; give LABEL=PATH")
    return corpus.y


def true_labels(corpus: Corpus, classes: np.ndarray) -> np.ndarray:
    """Labels of a corpus in the type of the model's classes; ValueError where one is no class of the model."""
    import numpy as np

    y = [find_label(classes, str(label), corpus.source) for label in labels_of(corpus).tolist()]
    return np.array(y, classes.dtype)


def find_label(classes: np.ndarray, written: str, where: str = "--classes") -> Any:
    """The class whose label reads as written.

    Raises
    ------
    ValueError
        There is none such.
    """
    from bayesnb.corpus.nearby import suggestion

    for label in classes.tolist():
        if str(label) == written:
            return label
    known = ", ".join(str(label) for label in classes.tolist()[:10])
    near = suggestion(written, classes.tolist())
    raise ValueError(f"{where}: class {written!r} is not one of the classes: {known}{near}")


def choice(option: str, value: str, choices: Sequence[str], where: str = "") -> str:
    """An option's value, where it is one of its choices; ValueError that lists them, and the one spelt alike."""
    from bayesnb.corpus.nearby import suggestion

    if value in choices:
        return value
    listed = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
    raise ValueError(f"{option} is {listed}{where}, got {value!r}{suggestion(value, choices)}")


def place(corpus: Corpus, row: int) -> str:
    """Where a document of a corpus stands: its file, or file and row."""
    name = corpus.ids[row]
    return f"{corpus.source}, row {name}" if isinstance(name, int) else str(name)


@contextmanager
def naming_rows(corpus: Corpus) -> Iterator[None]:
    """Let a complaint about a row, counted from 0, name the file and the row in it."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        found = _ROW.search(message)
        if found is None or int(found[1]) >= len(corpus):
            raise
        named = message[: found.start()] + place(corpus, int(found[1])) + message[found.end() :]
        raise ValueError(named) from error


def paths_of(arguments: Iterable[str]) -> list[str]:
    """The paths of PATH or LABEL=PATH arguments."""
    return [path for _, path in map(_label_and_path, arguments)]


def _label_and_path(argument: str) -> tuple[str | None, str]:
    """The first "=" after which a path exists, so that a label may hold one too; else simply the first."""
    if Path(argument).exists() or "=" not in argument.lstrip("="):
        return None, argument
    parts = argument.split("=")
    splits = [("=".join(parts[:i]), "=".join(parts[i:])) for i in range(1, len(parts)) if parts[0]]
    return next((split for split in splits if Path(split[1]).exists()), splits[0] if splits else (None, argument))


def _holds_only_folders(path: Path) -> bool:
    if not path.is_dir():
        return False
    entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    return bool(entries) and all(entry.is_dir() for entry in entries)


def _columns(corpus: Corpus, tokens: Iterable[Any]) -> Any:
    from bayesnb.corpus.nearby import suggestion
    from bayesnb.corpus.records import CorpusError, in_columns

    names = [str(token) for token in tokens]
    X = in_columns(corpus, names)
    if X is None:
        there = set(corpus.tokens or ())
        missing = next(name for name in names if name not in there)
        near = suggestion(missing, corpus.tokens or ())
        raise CorpusError(f"{corpus.source} has no column {missing!r}, which the model expects{near}")
    return X
