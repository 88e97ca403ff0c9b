"""From words on the command line to corpora, settings and labels."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    import numpy as np

    from bayesnb.corpus.records import Corpus
    from bayesnb.estimators import PosteriorClassifier
    from bayesnb.model import Settings, State
    from bayesnb.storage import Model

EVENTS = ("multinomial", "bernoulli")
QUOTING = ("minimal", "none")


@dataclass(frozen=True)
class Reading:
    """How files are read: the options of the same names."""

    text: str | None = None
    label: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    quoting: str = "minimal"
    header: bool = True

    def __post_init__(self) -> None:
        if self.quoting not in QUOTING:
            raise ValueError(f"--quoting is {' or '.join(QUOTING)}, got {self.quoting!r}")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ValueError(f"--encoding {self.encoding}: use a name Python knows, such as latin-1") from None

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
        from bayesnb.cli.joining import joined
        from bayesnb.corpus.readers import read_corpus
        from bayesnb.corpus.records import CorpusError

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
    from bayesnb.events import empirical, priors
    from bayesnb.model import Settings

    if event not in EVENTS:
        raise ValueError(f"--event is {' or '.join(EVENTS)} for texts and counts, got {event!r}")
    if not 0 <= alpha < float("inf"):
        raise ValueError(f"--alpha must be a number >= 0, got {alpha:g}")
    if binary and event != "multinomial":
        raise ValueError("--binary goes with --event multinomial: the Bernoulli model counts presence anyway")
    given = {
        "alpha": alpha,
        "prior": _number_or_name(prior),
        "class_prior": _class_prior(class_prior),
        "estimate": estimate,
    }
    if event == "multinomial":
        given["binary"] = binary
    Settings(event=event, **given)
    if empirical.rule(given["prior"], estimate) is None:
        priors.concentration(given["prior"], alpha, estimate)
    return given


def fitted(corpus: Corpus, event: str, tokens: str, given: dict[str, Any]) -> PosteriorClassifier:
    """Fit an estimator on a corpus of texts, or of counts with named columns."""
    from bayesnb.estimators import TextClassifier, restored
    from bayesnb.model import Settings
    from bayesnb.storage import Model

    given = given | {"class_prior": _for_classes(given["class_prior"], corpus)}
    if corpus.texts is not None:
        return TextClassifier(event=event, tokens=tokens, **given).fit(corpus.texts, _labels_of(corpus))
    settings = Settings(event=event, **given)
    state = learnt(corpus, settings, tokens)
    settings.posterior(state).require(settings.estimate)
    return restored(Model(settings, state, tokens=None, named_columns=True))


def learnt(corpus: Corpus, settings: Settings, tokens: str) -> State:
    """Totals of a corpus, whatever may then be estimated from them.

    Raises
    ------
    ValueError
        The corpus has no labels, or its texts hold no token.
    """
    import numpy as np

    from bayesnb import validate
    from bayesnb.corpus.tokens import Tokenizer
    from bayesnb.model import State

    y = validate.labels(_labels_of(corpus))
    if corpus.texts is None:
        columns = np.array(corpus.tokens, dtype=object)
        return State.learn(settings.event, settings.documents(corpus.X, columns), y, columns)
    counted = Tokenizer(tokens).count(corpus.texts)
    if not counted.tokens:
        raise ValueError(
            f"empty vocabulary: {len(y)} documents hold no token by tokens={tokens!r}; "
            "choose other tokens or look at the texts"
        )
    names = np.array(counted.tokens, dtype=object)
    return State.learn(settings.event, settings.documents(counted.X), y, names, fixed=False)


def _labels_of(corpus: Corpus) -> Any:
    from bayesnb.corpus.records import CorpusError

    if corpus.y is None:
        raise CorpusError(f"{corpus.source} has no labels; give LABEL=PATH")
    return corpus.y


def _for_classes(class_prior: Any, corpus: Corpus) -> Any:
    """A known class prior by the labels the corpus has: a label that is written 0 may be the number."""
    import numpy as np

    if not isinstance(class_prior, dict):
        return class_prior
    classes = np.unique(_labels_of(corpus))
    return {find_label(classes, written, "--class-prior"): share for written, share in class_prior.items()}


def counts_for(model: Model, corpus: Corpus) -> tuple[Any, np.ndarray, np.ndarray]:
    """Counts of a corpus in the model's columns, with the known and all tokens of each document.

    Raises
    ------
    ValueError
        The model is of texts and the corpus of counts, or the other way round, or columns are missing.
    """
    import numpy as np

    from bayesnb.corpus.records import CorpusError
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
    import numpy as np

    y = [find_label(classes, str(label), corpus.source) for label in _labels_of(corpus).tolist()]
    return np.array(y, classes.dtype)


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
    raise ValueError(f"{where}: class {written!r} is not one of the classes: {known}")


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
    from bayesnb.corpus.records import CorpusError

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
    shares: dict[str, float] = {}
    for part in value.split(","):
        label, _, share = part.rpartition("=")
        if label in shares:
            raise ValueError(f"--class-prior names {label!r} twice; give each class one share")
        try:
            shares[label] = float(share)
        except ValueError:
            raise ValueError(f"--class-prior: {part!r} is not LABEL=SHARE, such as ham=.9,spam=.1") from None
    return shares
