"""How a text becomes tokens.

Two engines read alike: Python's ``re`` for one document (a polars query costs some 400 us), polars for many
(:mod:`bayesnb.corpus.counting`). They share `Tokenizer.prepare`, which lowercases in Python for both, so that only
the last step, cutting into tokens, has two implementations.

Rust's and Python's Unicode tables have different ages: so are those of two Python versions. For ``words``, code
points newer than Unicode 15.0 are separators in both engines, and are blanked before lowercasing (Unicode 16 has
capitals whose small letter is an old one).
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .unicode15 import UNASSIGNED_EDGES

if TYPE_CHECKING:
    from .counting import TokenCounts

NAMED = ("words", "whitespace", "space")

_WORDS = re.compile(r"\w{2,}")
# Look-around, back-references, atomic and conditional groups: Rust's engine has none of them.
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
        must mean the same to Python and to Rust: no look-around, back-reference or capturing group.

    Raises
    ------
    ValueError
        If the regular expression cannot be used; the message says why.
    """

    pattern: str = "words"

    def __post_init__(self):
        if not isinstance(self.pattern, str):
            raise ValueError(f"tokens must be one of {', '.join(NAMED)} or a regular expression, got {self.pattern!r}")
        if self.pattern not in NAMED:
            _compiled(self.pattern)

    def tokens(self, text: str) -> list[str]:
        """List the tokens of one document, in order (microseconds; polars is not loaded).

        Raises
        ------
        ValueError
            If the text is not a string or holds a lone surrogate.
        """
        fault = text_fault(text)
        if fault:
            raise ValueError(f"the text {fault}")
        return self.cut(self.prepare(text))

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

    def count(self, texts: Iterable[str], vocabulary: Iterable[str] | None = None) -> TokenCounts:
        """Count tokens in many documents, in bulk.

        Parameters
        ----------
        texts : iterable of str
            The documents.
        vocabulary : iterable of str, optional
            Count only these tokens, in this order. By default every token seen, sorted by code point.

        Returns
        -------
        TokenCounts
            `X` (documents x tokens, int64 CSR), `tokens`, and per document `n_known` and `n_total`.

        Raises
        ------
        ValueError
            Naming the row that is not a string or holds a lone surrogate; if the vocabulary names a token twice;
            if the regular expression does not compile in Rust.
        """
        from .counting import count_tokens

        return count_tokens(self, texts, vocabulary)


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
    """Compile a user's regular expression, refusing what the two engines would not read alike."""
    advice = f"; use {', '.join(NAMED)} or a regular expression for one token"
    if pattern.isalnum() or not pattern:
        raise ValueError(f"unknown tokens {pattern!r}{advice}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set": Python and Rust read it differently
            compiled = re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise ValueError(f"tokens {pattern!r} is not a regular expression for both engines: {error}") from error
    if compiled.groups:
        raise ValueError(f"tokens {pattern!r} has a capturing group: write (?:...) in place of (...)")
    if _PYTHON_ONLY.search(pattern.replace(r"\\", "")):
        raise ValueError(f"tokens {pattern!r} has a look-around or back-reference, which bulk counting has not")
    if compiled.fullmatch(""):
        raise ValueError(f"tokens {pattern!r} matches the empty string: use + in place of *")
    return compiled
