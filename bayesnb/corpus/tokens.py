"""How a text becomes tokens.

Two engines read alike: Python's ``re`` for one document, arrays for many (:mod:`bayesnb.corpus.cutting`). They share
`Tokenizer.prepare`, which lowercases in Python for both, and the second looks characters up in tables that the first
has filled, so that only the last step, cutting into tokens, has two implementations.

The Unicode tables of two Python versions differ. For ``words``, code points newer than Unicode 15.0 are separators,
and are blanked before lowercasing (Unicode 16 has capitals whose small letter is an old one).
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bayesnb import vocabulary
from bayesnb.given import shown

from .unicode15 import UNASSIGNED_EDGES

if TYPE_CHECKING:
    from .counting import TokenCounts

NAMED = ("words", "whitespace", "space")

_WORDS = re.compile(r"\w{2,}")
# What `words` makes of ASCII before splitting at blanks, small letters included.
_ASCII_WORDS = bytes(ord(chr(code).lower()) if re.match(r"\w", chr(code)) else 32 for code in range(128)).ljust(256)
# A class of characters and how many at least: its tokens are the runs of such characters. No other expression is cut
# by arrays.
_RUNS = re.compile(r"(\\[wWdDsS]|\[\^?(?:\\.|[^][\\])+\]|[^][\\(){}.^$|?*+])(?:\+|\{([1-9]\d{0,3}),\})", re.DOTALL)
# Look-around, back-references, atomic and conditional groups: a model file should need no special engine.
_PYTHON_ONLY = re.compile(r"\\[1-9]|\(\?(?:[=!>(]|<[=!]|P=)")


@dataclass(frozen=True)
class Tokenizer:
    r"""Cuts a text into tokens; the same rule for one document and for many.

    Parameters
    ----------
    pattern : str
        ``"words"``: lowercased, runs of two or more of Python's ``\w`` (what scikit-learn's `CountVectorizer` does);
        ``"whitespace"``: not lowercased, runs of ``\S``; ``"space"``: ``text.lower().split(" ")``, where the empty
        string is a token; anything else is a regular expression for one token, applied to the lowercased text. It
        must have no look-around, back-reference or capturing group.
    ngram_range : (int, int)
        Shortest and longest run of neighbouring tokens that is counted, as one token with spaces in it.
    stop_words : iterable of str
        Tokens that are left out, before runs are formed.

    Raises
    ------
    ValueError
        If the regular expression cannot be used, or another argument has no meaning; the message says why.

    Warns
    -----
    UserWarning
        A stop word is written as no token is, and stops nothing.

    Examples
    --------
    >>> from bayesnb.corpus import Tokenizer
    >>> Tokenizer("words").tokens("A free offer, don't wait!")
    ['free', 'offer', 'don', 'wait']
    >>> Tokenizer("whitespace").tokens("A free offer, don't wait!")
    ['A', 'free', 'offer,', "don't", 'wait!']
    >>> Tokenizer(ngram_range=(1, 2), stop_words=["the"]).tokens("The free offer")
    ['free', 'offer', 'free offer']
    """

    pattern: str = "words"
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: Any = ()

    def __post_init__(self):
        if not isinstance(self.pattern, str):
            names = ", ".join(NAMED)
            raise ValueError(f"tokens must be one of {names} or a regular expression, got {shown(self.pattern)}")
        if self.pattern not in NAMED:
            _compiled(self.pattern)
        object.__setattr__(self, "ngram_range", vocabulary.ngram_range(self.ngram_range))
        object.__setattr__(self, "stop_words", frozenset(vocabulary.stop_words(self.stop_words)))
        never = next((word for word in sorted(self.stop_words) if self.prepare(word) != word), None)
        if never is not None:
            hint = f"stop word {never!r} stops nothing: tokens are written as {self.prepare(never)!r}"
            warnings.warn(hint, UserWarning, stacklevel=3)

    def tokens(self, text: str) -> list[str]:
        """List the tokens of one document, in order, then its runs of two, of three and so on (microseconds).

        Raises
        ------
        ValueError
            If the text is not a string or holds a lone surrogate.
        """
        fault = text_fault(text)
        if fault:
            raise ValueError(f"the text {fault}")
        if self.pattern == "words" and text.isascii():  # thrice as fast as the expression
            found = [word for word in text.encode().translate(_ASCII_WORDS).decode().split() if len(word) > 1]
        else:
            found = self.cut(self.prepare(text))
        if self.stop_words:
            found = [token for token in found if token not in self.stop_words]
        return found if self.ngram_range == (1, 1) else runs_of(found, *self.ngram_range)

    def prepare(self, text: str) -> str:
        """What both engines see: lowercased; for ``words``, newer code points are blanks."""
        if self.pattern == "whitespace":
            return text
        return (blank_newer(text) if self.pattern == "words" else text).lower()

    def cut(self, prepared: str) -> list[str]:
        """Cut a prepared text with Python's engine."""
        if self.pattern == "words":
            return _WORDS.findall(prepared)
        if self.pattern == "whitespace":
            return prepared.split()  # what \S+ finds, faster
        if self.pattern == "space":
            return prepared.split(" ")
        # A match of nothing (r"\b") is not a token.
        return [token for token in _compiled(self.pattern).findall(prepared) if token]

    @property
    def runs(self) -> tuple[str, int] | None:
        """Class of characters and shortest length, where a token is a run of such characters."""
        if self.pattern in NAMED:
            return {"words": (r"\w", 2), "whitespace": (r"\S", 1)}.get(self.pattern)
        found = _RUNS.fullmatch(self.pattern)
        return (found[1], int(found[2] or 1)) if found else None

    def count(
        self,
        texts: Iterable[str],
        vocabulary: Iterable[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> TokenCounts:
        """Count tokens in many documents, in bulk.

        Parameters
        ----------
        texts : iterable of str
            The documents.
        vocabulary : iterable of str, or {token: column}, optional
            Count only these tokens, in this order. By default every token seen, sorted by code point.
        progress : callable, optional
            Told now and then how many documents are counted, and how many there are.

        Returns
        -------
        TokenCounts
            `X` (documents x tokens, int64 CSR), `tokens`, and per document `n_known` and `n_total`.

        Raises
        ------
        ValueError
            Naming the row that is not a string or holds a lone surrogate; if the vocabulary names a token twice.
        """
        from .counting import count_tokens

        return count_tokens(self, texts, vocabulary, progress)


def runs_of(tokens: list[str], shortest: int, longest: int) -> list[str]:
    """Runs of neighbouring tokens, joined by spaces: all of the shortest length, then the longer ones."""
    found: list[str] = []
    for n in range(shortest, min(longest, len(tokens)) + 1):
        found += map(" ".join, zip(*(tokens[i:] for i in range(n)), strict=False)) if n > 1 else tokens
    return found


def text_fault(text: object) -> str | None:
    """Say what is wrong with a document, or None."""
    if not isinstance(text, str):
        missing = repr(text) in ("None", "nan", "<NA>", "NaT")  # pandas' own may not be compared
        return "is missing" if missing else f"is not a string but {type(text).__name__}"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"holds a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}"
    return None


def blank_newer(text: str) -> str:
    """Replace code points newer than Unicode 15.0 by spaces."""
    if text.isascii():
        return text
    newer = {ord(char): " " for char in set(text) if is_newer(char)}
    return text.translate(newer) if newer else text


@lru_cache(maxsize=4096)
def is_newer(char: str) -> bool:
    """Whether a character was unassigned in Unicode 15.0."""
    return bisect_right(UNASSIGNED_EDGES, ord(char)) % 2 == 1


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a user's regular expression; refused is what engines that never go back in a text do not have."""
    advice = f"; use {', '.join(NAMED)} or a regular expression for one token"
    if pattern.isalnum() or not pattern:
        raise ValueError(f"unknown tokens {pattern!r}{advice}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set": a later Python may read it differently
            compiled = re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise ValueError(f"tokens {pattern!r} is not a regular expression: {error}") from error
    if compiled.groups:
        raise ValueError(f"tokens {pattern!r} has a capturing group: write (?:...) in place of (...)")
    if _PYTHON_ONLY.search(pattern.replace(r"\\", "")):
        raise ValueError(f"tokens {pattern!r} has a look-around or back-reference: write it without")
    if compiled.fullmatch(""):
        raise ValueError(f"tokens {pattern!r} matches the empty string: use + in place of *")
    return compiled
