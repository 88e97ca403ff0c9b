"""TextClassifier: from texts and labels to a fitted model in one object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesnb import storage
from bayesnb.corpus.tokens import Tokenizer
from bayesnb.estimators.base import PosteriorClassifier
from bayesnb.model import Settings


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

    Attributes
    ----------
    posterior_ : Posterior
        `.tokens` is the sorted vocabulary.
    classes_ : ndarray, shape (K,)
        Labels, sorted.

    Notes
    -----
    Tokens that were never learnt are left out of a document to score: they say nothing about its class. Learning
    more texts adds their tokens; unlearning drops tokens whose total returns to 0.

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

    _tokenizer: Tokenizer

    @property
    def _event(self) -> str:
        return self.event

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each token."""
        return {token: j for j, token in enumerate(self.posterior_.tokens.tolist())}

    def _one(self, x: Any) -> list[str]:
        return [x] if isinstance(x, str) else x

    def _counts(self, X: Any, settings: Settings) -> Any:
        counted = self._tokenizer.count(_texts(X), vocabulary=self.posterior_.tokens.tolist())
        return settings.documents(counted.X)

    def _reading(self, settings: Settings) -> dict[str, Any]:
        counted = self._tokenizer.pattern if settings is self._fitted else self.tokens
        return super()._reading(settings) | {"tokens": counted}

    def _read(self, X: Any, settings: Settings, *, reset: bool) -> tuple[Any, np.ndarray, bool]:
        texts = _texts(X)
        if reset:
            self._tokenizer = Tokenizer(self.tokens)
        counted = self._tokenizer.count(texts)
        if reset and not counted.tokens:
            raise ValueError(
                f"empty vocabulary: {len(texts)} documents hold no token by tokens={self.tokens!r}; "
                "choose other tokens or look at the texts"
            )
        return settings.documents(counted.X), np.array(counted.tokens, dtype=object), False

    def _model(self) -> storage.Model:
        return storage.Model(self._fitted, self._state, tokens=self._tokenizer.pattern, named_columns=True)

    @classmethod
    def from_model(cls, model: storage.Model) -> Self:
        """Return the fitted classifier that a model file holds."""
        new = cls._restored(model, event=model.settings.event, tokens=model.tokens)
        new._tokenizer = Tokenizer(new.tokens)
        return new

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _texts(X: Any) -> list[str]:
    if isinstance(X, (str, bytes)):
        raise ValueError("one string was given where a list of texts is expected; write [text]")
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        raise ValueError(f"a {type(X).__name__} was given where a list of texts is expected; pass its column of texts")
    texts = X.to_list() if hasattr(X, "to_list") else list(X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"text at row {row} is {text!r}, not a string; drop that row or fill it")
    return texts
