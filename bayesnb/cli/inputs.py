"""From words on the command line to corpora, settings and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import validate
from bayesnb.corpus.records import Corpus, CorpusError
from bayesnb.model import Settings, State

if TYPE_CHECKING:
    from bayesnb.estimators import PosteriorClassifier
    from bayesnb.storage import Model


@dataclass(frozen=True)
class Reading:
    """How files are read: the options of the same names."""

    text: str | None = None
    label: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    quoting: str = "minimal"
    header: bool = True

    @property
    def _table(self) -> dict[str, Any]:
        return {"text": self.text, "encoding": self.encoding, "quoting": self.quoting, "header": self.header}

    def labelled(self, paths: Sequence[str]) -> Corpus:
        """Labelled documents from PATH or LABEL=PATH arguments, joined.

        Raises
        ------
        ValueError
            Bad input, both kinds of argument at once, or files that do not fit together.
        """
        from bayesnb.corpus.readers import read_corpus

        pairs = [_label_and_path(argument) for argument in paths]
        options = self._table | {"format": self.format}
        if all(label is None for label, _ in pairs):
            return _joined([read_corpus(path, label=self.label, **options) for _, path in pairs])
        if any(label is None for label, _ in pairs):
            raise CorpusError("PATH and LABEL=PATH cannot be mixed: give every path a label, or none")
        by_label: dict[str, list[str]] = {}
        for label, path in pairs:
            by_label.setdefault(str(label), []).append(path)
        return read_corpus(by_label, **options)

    def unlabelled(self, path: str) -> Corpus:
        """Documents to score; a folder that holds only folders is read folder by folder."""
        from bayesnb.corpus.readers import read_documents

        nested = self.format is None and _holds_only_folders(Path(path))
        return read_documents(path, format="folders" if nested else self.format, **self._table)


def settings_from(
    event: str, alpha: float, prior: str | None, class_prior: str | None, estimate: str, binary: bool
) -> dict[str, Any]:
    """Estimator arguments from options, judged before any file is read.

    Raises
    ------
    ValueError
        An option has no such value.
    """
    given = {
        "alpha": alpha,
        "prior": _number_or_name(prior),
        "class_prior": _class_prior(class_prior),
        "estimate": estimate,
    }
    if binary and event != "multinomial":
        raise ValueError("--binary goes with --event multinomial: the Bernoulli model counts presence anyway")
    if event == "multinomial":
        given["binary"] = binary
    Settings(event=event, **given)
    if not (alpha >= 0 and np.isfinite(alpha)):
        raise ValueError(f"--alpha must be a number >= 0, got {alpha:g}")
    return given


def fitted(corpus: Corpus, event: str, tokens: str, given: dict[str, Any]) -> PosteriorClassifier:
    """Fit an estimator on a corpus of texts, or of counts with named columns."""
    from bayesnb.estimators import TextClassifier, restored
    from bayesnb.storage import Model

    if corpus.y is None:
        raise CorpusError(f"{corpus.source} has no labels; give LABEL=PATH")
    if corpus.texts is not None:
        return TextClassifier(event=event, tokens=tokens, **given).fit(corpus.texts, corpus.y)
    settings, columns = Settings(event=event, **given), np.array(corpus.tokens, dtype=object)
    state = State.learn(event, settings.documents(corpus.X, columns), validate.labels(corpus.y), columns)
    settings.posterior(state).require(settings.estimate)
    return restored(Model(settings, state, tokens=None, named_columns=True))


def counts_for(model: Model, corpus: Corpus) -> tuple[Any, np.ndarray, np.ndarray]:
    """Counts of a corpus in the model's columns, with the known and all tokens of each document.

    Raises
    ------
    ValueError
        The model is of texts and the corpus of counts, or the other way round, or columns are missing.
    """
    from bayesnb.corpus.tokens import Tokenizer

    if model.tokens is not None:
        if corpus.texts is None:
            raise CorpusError(f"{corpus.source} holds counts, but the model was fitted on texts")
        counted = Tokenizer(model.tokens).count(corpus.texts, vocabulary=model.state.tokens.tolist())
        return model.settings.documents(counted.X), counted.n_known, counted.n_total
    if corpus.X is None:
        raise CorpusError(f"{corpus.source} holds texts, but the model was fitted on counts")
    X = _columns(corpus, model.state.tokens)
    n = np.asarray(corpus.X.sum(axis=1)).ravel()
    return model.settings.documents(X, model.state.tokens), np.asarray(X.sum(axis=1)).ravel(), n


def true_labels(corpus: Corpus, classes: np.ndarray) -> np.ndarray:
    """Labels of a corpus in the type of the model's classes; ValueError where one is no class of the model."""
    if corpus.y is None:
        raise CorpusError(f"{corpus.source} has no labels; give LABEL=PATH")
    return np.array([find_label(classes, str(label), corpus.source) for label in corpus.y.tolist()], classes.dtype)


def find_label(classes: np.ndarray, written: str, where: str = "--classes") -> Any:
    """The class whose label reads as written.

    Raises
    ------
    ValueError
        There is none such.
    """
    for label in classes.tolist():
        if str(label) == written:
            return label
    known = ", ".join(str(label) for label in classes.tolist()[:10])
    raise ValueError(f"{where}: class {written!r} is not one of the model's classes: {known}")


def _label_and_path(argument: str) -> tuple[str | None, str]:
    label, equals, path = argument.partition("=")
    if equals and label and not Path(argument).exists():
        return label, path
    return None, argument


def _holds_only_folders(path: Path) -> bool:
    if not path.is_dir():
        return False
    entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    return bool(entries) and all(entry.is_dir() for entry in entries)


def _joined(parts: list[Corpus]) -> Corpus:
    if len(parts) == 1:
        return parts[0]
    if any(part.texts is None for part in parts):
        return _joined_counts(parts)
    skipped = {reason: sum(p.skipped.get(reason, 0) for p in parts) for part in parts for reason in part.skipped}
    return Corpus(
        y=np.concatenate([part.y for part in parts if part.y is not None]),
        ids=[f"{part.source}:{name}" if isinstance(name, int) else name for part in parts for name in part.ids],
        texts=[text for part in parts for text in part.texts or ()],
        skipped=skipped,
        source=", ".join(part.source for part in parts),
    )


def _joined_counts(parts: list[Corpus]) -> Corpus:
    from scipy import sparse

    first = parts[0]
    for part in parts:
        if part.X is None or part.tokens != first.tokens:
            raise CorpusError(f"{part.source} and {first.source} do not have the same columns; fit them one by one")
    return Corpus(
        y=np.concatenate([part.y for part in parts if part.y is not None]),
        ids=[f"{part.source}:{name}" for part in parts for name in part.ids],
        X=sparse.csr_array(sparse.vstack([part.X for part in parts if part.X is not None])),
        tokens=first.tokens,
        skipped={reason: sum(p.skipped.get(reason, 0) for p in parts) for part in parts for reason in part.skipped},
        source=", ".join(part.source for part in parts),
    )


def _columns(corpus: Corpus, tokens: Iterable[Any]) -> Any:
    names = [str(token) for token in tokens]
    if corpus.tokens == names:
        return corpus.X
    place = {token: j for j, token in enumerate(corpus.tokens or ())}
    missing = [name for name in names if name not in place]
    if missing:
        raise CorpusError(f"{corpus.source} has no column {missing[0]!r}, which the model expects")
    return corpus.X[:, [place[name] for name in names]]  # type: ignore[index]


def _number_or_name(value: str | None) -> Any:
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return value


def _class_prior(value: str | None) -> Any:
    if value is None:
        return 1.0
    if "=" not in value:
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"--class-prior must be a number or LABEL=SHARE,..., got {value!r}") from None
    shares = {}
    for part in value.split(","):
        label, _, share = part.rpartition("=")
        try:
            shares[label] = float(share)
        except ValueError:
            raise ValueError(f"--class-prior: {part!r} is not LABEL=SHARE, such as ham=.9,spam=.1") from None
    return shares
