"""TextClassifier: from texts and labels to a fitted model in one object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from bayesnb import events, given, storage, validate, vocabulary
from bayesnb.corpus.tokens import Tokenizer
from bayesnb.estimators.base import PosteriorClassifier, _targets
from bayesnb.model import Settings, State, class_codes
from bayesnb.onetext import OneText, is_one_text

Path = str | PathLike[str]


class TextClassifier(PosteriorClassifier):
    """Naive Bayes over texts: tokens, counts and posterior together.

    Parameters
    ----------
    event : {"multinomial", "bernoulli"}
        Event model: occurrences of tokens, or their presence and absence.
    tokens : str
        "words" (lowercased, two letters or digits at least, as scikit-learn's CountVectorizer), "whitespace" (not
        lowercased), "space" (lowercased, split at each single space) or a regular expression of a token.
    alpha, prior, class_prior, fit_prior, estimate, binary, power
        As in `MultinomialNB` and `BernoulliNB`; one value a token is possible only where the tokens do not change.
    ngram_range : (int, int)
        Shortest and longest run of neighbouring tokens that is counted: (1, 2) counts "new", "york" and "new york".
    min_df : int or float
        Keep only tokens that so many documents hold, or such a share of the documents (their weights).
    max_features : int, optional
        Keep only so many tokens, those that are counted most often; of equals, the first.
    stop_words : list of str, optional
        Tokens, written as they are cut (lowercased, say), that are left out before runs are formed.

    Attributes
    ----------
    posterior_ : Posterior
        `.tokens` is the sorted vocabulary.
    classes_ : ndarray, shape (K,)
        Labels, sorted.
    skipped_ : dict
        After `fit_file`: what was left out of the files, reason to number.

    Notes
    -----
    Tokens that were never learnt are left out of a document to score: they say nothing about its class. Learning
    more texts adds their tokens; unlearning drops tokens whose total returns to 0.

    `min_df` and `max_features` judge all documents at once, so `fit` or `fit_file` must see them all; the vocabulary
    they choose is closed from then on. `partial_fit` and `unlearn` then count its tokens only, and `merge` wants the
    same one. So totals stay sums, in any order, of the tokens that were chosen. `ngram_range`, `stop_words` and
    `binary` say how one document is read, and go with every verb.

    Examples
    --------
    >>> import bayesnb
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> tc.predict(["free coffee prices"]).tolist()
    ['spam']
    """

    def __init__(
        self,
        *,
        event: str = "multinomial",
        tokens: str = "words",
        alpha: Any = 1.0,
        prior: Any = None,
        class_prior: Any = 1.0,
        fit_prior: bool = True,
        estimate: str = "map",
        binary: bool = False,
        power: float = 1.0,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 1,
        max_features: int | None = None,
        stop_words: Sequence[str] | None = None,
    ) -> None:
        self.event = event
        self.tokens = tokens
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.estimate = estimate
        self.binary = binary
        self.power = power
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_features = max_features
        self.stop_words = stop_words

    _tokenizer: Tokenizer
    skipped_: dict[str, int]

    @property
    def _event(self) -> str:
        return given.choice(self.event, ("multinomial", "bernoulli"), "event")

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each token."""
        return dict(_columns(self.__dict__))

    # --- learning -------------------------------------------------------------------------------------------

    def fit_file(
        self,
        path: Path | Sequence[Path],
        text: str | None = None,
        label: str | None = None,
        format: str | None = None,
        encoding: str = "utf-8",
        *,
        header: bool = True,
        quoting: str = "minimal",
        progress: Callable[[float], None] | None = None,
    ) -> Self:
        """Learn the posterior from tables on disk, a block of some 32 MB at a time.

        Memory is bounded by the vocabulary and a block, not by the files. The totals are those of `fit` with all
        their texts and labels, bit for bit.

        Parameters
        ----------
        path : path or sequence of paths
            CSV, TSV, NDJSON or Parquet; of Parquet a row group must fit into memory.
        text, label, format, encoding, header, quoting
            As in `read_corpus`; columns that are not named are guessed from the first block.
        progress : callable, optional
            Told after each block about how many bytes have been read so far.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `fit`; and, naming file and line, what is wrong with a file.
        OSError
            A file is missing or cannot be opened.

        Examples
        --------
        >>> import bayesnb
        >>> import pandas as pd
        >>> texts = ["free prices now", "coffee at ten", "free coffee", None]
        >>> mail = pd.DataFrame({"label": ["spam", "ham", "spam", "ham"], "text": texts})
        >>> mail.to_csv("mail.csv", index=False)
        >>> tc = bayesnb.TextClassifier().fit_file("mail.csv", text="text", label="label")
        >>> tc.class_count_.tolist(), tc.skipped_
        ([1.0, 2.0], {'rows without a text': 1})
        """
        from bayesnb.corpus.blocks import SIZE, read_blocks

        new, settings = self._draft(), self._settings()
        new._tokenizer = Tokenizer(self.tokens, **settings.cutting)
        totals = new._totals(settings, frequencies=settings.prunes)
        numbers: dict[str, int] = {}
        done = 0
        skipped: Counter[str] = Counter()
        for place in [path] if isinstance(path, (str, PathLike)) else path:
            for block in read_blocks(place, text, label, format, encoding, header=header, quoting=quoting):
                labels, own = np.unique(np.asarray(block.y), return_inverse=True)
                code = np.array([numbers.setdefault(name, len(numbers)) for name in labels.tolist()], np.int64)
                totals.add(block.texts or [], code[own])
                skipped.update(block.skipped)
                done += SIZE
                if progress is not None:
                    progress(done)
        if not numbers:
            raise ValueError("no file was given")
        if not totals.n_tokens:
            raise ValueError(self._no_tokens(int(totals.class_count.sum())))
        names = sorted(numbers)
        order = np.array([numbers[name] for name in names])
        state = _state_of(totals, np.array(names, np.str_), order, settings)
        new._adopt(state, settings).posterior_.require(settings.estimate)
        new.skipped_ = dict(skipped)
        return self._become(new)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Learn from more texts; see `MultinomialNB.partial_fit`.

        Raises
        ------
        ValueError
            Also at the first call where `min_df` or `max_features` choose tokens: they have to see all texts.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().partial_fit(["free prices now"], ["spam"])
        >>> tc = tc.partial_fit(["coffee at ten"], ["ham"])
        >>> tc.classes_.tolist(), sorted(tc.vocabulary_)
        (['ham', 'spam'], ['at', 'coffee', 'free', 'now', 'prices', 'ten'])
        """
        settings = self._settings()
        if settings.prunes and not hasattr(self, "_state"):
            raise ValueError(
                "min_df and max_features choose tokens by all documents, which a first batch is not: fit all of them "
                "(or fit_file), or leave both at their defaults"
            )
        return super().partial_fit(X, y, classes, sample_weight, decay)

    def _learn(
        self, X: Any, y: Any, weight: Any, settings: Settings, *, reset: bool, classes: np.ndarray | None = None
    ) -> State:
        texts = _texts(X)
        if reset:
            self._tokenizer = Tokenizer(self.tokens, **settings.cutting)
        y = _targets(self, y)
        if len(y) != len(texts):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(texts)}, {len(y)}]")
        w = validate.sample_weight(weight, len(y))
        held = np.ones(len(y), bool) if w is None else w > 0  # a text of weight 0 brings neither class nor tokens
        closed, codes = classes is not None, np.zeros(len(y), np.int64)
        if classes is None:
            classes, codes[held] = np.unique(y[held], return_inverse=True)
        else:
            codes[held] = class_codes(y[held], classes)
        known = None if reset or not self._state.fixed else self._state.tokens.tolist()
        choose = reset and settings.prunes
        totals = self._totals(settings, frequencies=choose, vocabulary=known, n_classes=len(classes))
        totals.add(texts, codes, w)
        if reset and not totals.n_tokens:
            raise ValueError(self._no_tokens(len(texts)))
        state = replace(_state_of(totals, classes, np.arange(len(classes)), settings), closed=closed)
        return state if w is None else state._without_unheld()

    def _learn_part(self, X: Any, y: Any, settings: Settings) -> tuple[State, ...]:
        """Totals of some texts; with all their tokens, and the documents of each where tokens are chosen later."""
        texts, y = _texts(X), _targets(self, y)
        if len(y) != len(texts):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(texts)}, {len(y)}]")
        self._tokenizer = Tokenizer(self.tokens, **settings.cutting)
        classes, codes = np.unique(y, return_inverse=True)
        totals = self._totals(settings, frequencies=settings.prunes, n_classes=len(classes))
        totals.add(texts, codes)
        tokens, counts, documents = totals.result()
        parts = [(classes, totals.class_count, counts)]
        if documents is not None:
            parts.append((np.zeros(1), totals.class_count.sum(keepdims=True), documents[None]))
        kind = events.find(settings.event).Statistics
        return tuple(State(kind(n, cells), names, tokens, fixed=False) for names, n, cells in parts)

    def _whole(self, states: tuple[State, ...], settings: Settings) -> State:
        state, *documents = states
        if not len(state.tokens):
            raise ValueError(self._no_tokens(int(state.statistics.class_count.sum())))
        return _pruned(state, documents[0].statistics.feature_count[0], settings) if documents else state

    def _totals(self, settings: Settings, **options: Any) -> Any:
        from bayesnb.corpus.totals import ClassTotals

        presence = settings.binary or settings.event == "bernoulli"
        return ClassTotals(self._tokenizer, presence=presence, **options)

    def _no_tokens(self, n: int) -> str:
        return (
            f"empty vocabulary: {n} documents hold no token by tokens={self.tokens!r}; "
            "choose other tokens or look at the texts"
        )

    def _reading(self, settings: Settings) -> dict[str, Any]:
        counted = self._tokenizer.pattern if settings is self._fitted else self.tokens
        return super()._reading(settings) | {"tokens": counted}

    def _adopt(self, state: State, settings: Settings) -> Self:
        for name in _CACHES:  # a draft has those of the model it was copied from
            self.__dict__.pop(name, None)
        return super()._adopt(state, settings)

    # --- predicting -----------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(y = k | x), shape (N, K), columns in the order of `classes_`. A list of one text takes microseconds.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> tc.predict_proba(["free coffee prices", "lunch"]).round(3).tolist()  # nothing is known of lunch
        [[0.333, 0.667], [0.5, 0.5]]
        """
        one = self._one_text(X)
        return super().predict_proba(X) if one is None else one[0][None]

    def predict(self, X: Any, abstain: float | None = None) -> np.ndarray:
        """Most probable label of each text; see `MultinomialNB.predict`. A list of one text takes microseconds.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> tc.predict(["free prices", "coffee"]).tolist()
        ['spam', 'ham']
        """
        one = self._one_text(X) if abstain is None else None
        return super().predict(X, abstain) if one is None else one[1][[one[0].argmax()]]

    def _one_text(self, X: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Probabilities and classes where X is one text that can be scored in the short way."""
        if not is_one_text(X):
            return None
        now = self.__dict__  # the state of this moment, whole, while another thread may learn
        one = now.get("_alone")
        if one is None:
            one = now["_alone"] = _short_way(now)
        try:
            return (one(X[0]), now["classes_"]) if one else None
        except ValueError:
            return None  # the long way says it in its words

    def _one(self, x: Any) -> list[str]:
        return [x] if isinstance(x, str) else x

    def _counts(self, X: Any, settings: Settings) -> Any:
        counted = self._tokenizer.count(_texts(X), vocabulary=_columns(self.__dict__))
        return settings.documents(counted.X)

    # --- files ----------------------------------------------------------------------------------------------

    def _model(self) -> storage.Model:
        return storage.Model(self._fitted, self._state, tokens=self._tokenizer.pattern, named_columns=True)

    @classmethod
    def from_model(cls, model: storage.Model) -> Self:
        """Return the fitted classifier that a model file holds.

        Parameters
        ----------
        model : Model
            As `bayesnb.storage.load` gives it.

        Returns
        -------
        TextClassifier

        Examples
        --------
        >>> import bayesnb
        >>> from bayesnb import storage
        >>> tc = bayesnb.TextClassifier().fit(["free prices", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.safetensors")
        >>> bayesnb.TextClassifier.from_model(storage.load("mail.safetensors")).predict(["free"]).tolist()
        ['spam']
        """
        new = cls._restored(model, event=model.settings.event, tokens=model.tokens)
        new._tokenizer = Tokenizer(new.tokens, **model.settings.cutting)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in _CACHES}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


_CACHES = ("_alone", "_columns")


def _columns(now: dict[str, Any]) -> dict[str, int]:
    """Column of each token in the state of a moment, kept once computed."""
    found = now.get("_columns")
    if found is None:
        found = now["_columns"] = {token: column for column, token in enumerate(now["posterior_"].tokens.tolist())}
    return found


def _short_way(now: dict[str, Any]) -> OneText | Literal[False]:
    """How one text is scored by a fitted classifier; False where it is not fitted, or has a warning to give."""
    if "posterior_" not in now:
        return False
    posterior, settings = now["posterior_"], now["_fitted"]
    if (posterior.statistics.class_count == 0).any():
        return False
    return OneText(now["_tokenizer"], settings, posterior, _columns(now))


def _state_of(totals: Any, classes: np.ndarray, order: np.ndarray, settings: Settings) -> State:
    """What was learnt of some classes; of the tokens that `min_df` and `max_features` leave, where these were asked."""
    tokens, counts, documents = totals.result()
    statistics = events.find(settings.event).Statistics(totals.class_count[order], counts[order])
    state = State(statistics, classes, tokens, fixed=not totals.grows)
    return state if documents is None else _pruned(state, documents, settings)


def _pruned(state: State, documents: np.ndarray, settings: Settings) -> State:
    """The tokens that `min_df` and `max_features` leave, for good, given the documents (V,) that hold each."""
    n, counts = state.statistics.class_count.sum(), state.statistics.feature_count
    keep = vocabulary.kept(documents, n, counts.sum(axis=0), settings.min_df, settings.max_features)
    if not keep.any():
        raise ValueError(vocabulary.none_left(len(keep), settings.min_df, n))
    statistics = state.statistics.select(np.ones(len(state.classes), bool), keep)
    return replace(state, statistics=statistics, tokens=state.tokens[keep], fixed=True)


def _texts(X: Any) -> list[str]:
    if isinstance(X, (str, bytes)):
        raise ValueError("one string was given where a list of texts is expected; write [text]")
    if isinstance(X, Mapping) or given.is_frame(X):
        raise ValueError(f"a {type(X).__name__} was given where a list of texts is expected; pass its column of texts")
    texts = X.to_list() if hasattr(X, "to_list") else given.listed(X, "a list of texts is expected")
    for row, text in enumerate(texts if set(map(type, texts)) - {str} else ()):
        if not isinstance(text, str):
            raise ValueError(f"text at row {row} is {given.shown(text)}, not a string; drop that row or fill it")
    return texts
