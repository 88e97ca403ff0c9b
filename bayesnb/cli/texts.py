"""Which runs of tokens are counted, and texts that are too many for memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnb.cli import inputs, output

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    import numpy as np

    from bayesnb.estimators import TextClassifier
    from bayesnb.model import Settings

LARGE = 2**26  # bytes of tables from which on they are read in blocks


def options_from(
    ngrams: tuple[int, int], min_df: str, max_features: int | None, stop_words: Path | None
) -> dict[str, Any]:
    """Arguments of a `TextClassifier` from options, judged before any corpus is read.

    Raises
    ------
    ValueError
        An option has no such value.
    """
    from bayesnb import vocabulary
    from bayesnb.corpus.decoding import read_text

    words = [] if stop_words is None else read_text(stop_words, "utf-8").split("\n")
    given = {
        "ngram_range": ngrams,
        "min_df": _number(min_df),
        "max_features": max_features,
        "stop_words": [word.removesuffix("\r") for word in words if word.strip()],
    }
    found = {}
    for name, value in given.items():
        try:
            found[name] = getattr(vocabulary, name)(value)
        except ValueError as error:
            raise ValueError(f"--{'ngrams' if name == 'ngram_range' else name.replace('_', '-')}: {error}") from None
    return found


def _number(written: str) -> Any:
    """A whole number of documents, or a share; what is neither is judged later."""
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


def are_large(paths: Sequence[str], reading: inputs.Reading) -> bool:
    """Whether labelled texts are tables that are better read in blocks."""
    from bayesnb.corpus.blocks import read_blocks
    from bayesnb.corpus.readers import table_format
    from bayesnb.corpus.records import CorpusError, NotTextError

    places = [Path(path) for path in paths]
    if not all(place.is_file() for place in places) or sum(place.stat().st_size for place in places) < LARGE:
        return False
    try:
        for place in places:
            table_format(place, reading.format)
    except CorpusError:
        return False
    try:
        first = next(read_blocks(places[0], label=reading.label, format=reading.format, size=2**20, **reading._table))
    except NotTextError:
        return False
    reading._note_guessed(first.columns)
    return True


def fitted(paths: Sequence[str], reading: inputs.Reading, **given: Any) -> TextClassifier:
    """A `TextClassifier` with these arguments, of tables that are read in blocks."""
    from bayesnb.estimators import TextClassifier

    places: list[Any] = list(paths)
    clf = TextClassifier(**given)
    options: dict[str, Any] = {"label": reading.label, "format": reading.format, **reading._table}
    with output.progress("reading and counting", sum(Path(path).stat().st_size for path in paths)) as tell:
        return clf.fit_file(places, progress=tell, **options)


def chosen(X: Any, settings: Settings, *, presence: bool) -> np.ndarray:
    """Columns that the settings leave, as positions; see `bayesnb.vocabulary.kept`.

    Raises
    ------
    ValueError
        None is left.
    """
    import numpy as np

    from bayesnb import vocabulary

    if not settings.prunes:
        return np.arange(X.shape[1])
    documents = np.bincount(X.indices, minlength=X.shape[1])
    occurrences = documents if presence else X.sum(axis=0)
    keep = vocabulary.kept(documents, X.shape[0], occurrences, settings.min_df, settings.max_features)
    if not keep.any():
        raise ValueError(vocabulary.none_left(X.shape[1], settings.min_df, X.shape[0]))
    return np.flatnonzero(keep)


def refuse_for_counts(settings: Settings, source: str) -> None:
    """ValueError where options of texts are given for counts."""
    from bayesnb.model import Settings
    from bayesnb.vocabulary import OPTIONS

    plain = Settings()
    for name in OPTIONS:
        if getattr(settings, name) != getattr(plain, name):
            option = "--ngrams" if name == "ngram_range" else f"--{name.replace('_', '-')}"
            raise ValueError(f"{source} holds counts, and {option} goes with texts")
