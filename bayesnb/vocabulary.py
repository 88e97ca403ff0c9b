"""Which runs of tokens are counted, and which of them make the vocabulary: the options of texts, judged once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayesnb.given import is_whole, listed, shown

OPTIONS = ("ngram_range", "min_df", "max_features", "stop_words")


def ngram_range(value: Any) -> tuple[int, int]:
    """Shortest and longest run of tokens that is counted; ValueError unless 1 <= shortest <= longest, whole."""
    pair = tuple(value) if isinstance(value, (tuple, list)) or np.ndim(value) == 1 else ()
    if len(pair) == 2 and all(is_whole(n) for n in pair) and 1 <= pair[0] <= pair[1]:
        return int(pair[0]), int(pair[1])
    raise ValueError(
        f"ngram_range must be two whole numbers, 1 <= shortest <= longest, such as (1, 2); got {shown(value)}"
    )


def stop_words(value: Any) -> tuple[str, ...]:
    """Tokens that are left out, sorted, each once; none for None.

    Raises
    ------
    ValueError
        It is one string (there is no built-in list), or something in it is no string.
    """
    if value is None:
        return ()
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(f"stop_words must be a list of tokens, got {shown(value)}; no list has a name here")
    words = listed(value, "stop_words must be a list of tokens")
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise ValueError(f"stop_words must be strings, got {shown(wrong[0])}")
    return tuple(sorted(set(words)))


def min_df(value: Any) -> int | float:
    """Fewest documents that must hold a token: a number of at least 1, or a share of all of them.

    Raises
    ------
    ValueError
        It is neither a whole number >= 1 nor a float in [0, 1].
    """
    if is_whole(value) and value >= 1:
        return min(int(value), 2**53)  # more documents than there are
    if isinstance(value, (float, np.floating)) and 0 <= value <= 1:
        return float(value)
    raise ValueError(
        f"min_df must be a whole number of documents, at least 1, or a share of them such as 0.01; got {shown(value)}"
    )


def max_features(value: Any) -> int | None:
    """Most tokens that are kept; None for all. ValueError unless it is a whole number >= 1."""
    if value is None or (is_whole(value) and value >= 1):
        return None if value is None else int(value)
    raise ValueError(f"max_features must be a whole number of tokens, at least 1, or None; got {shown(value)}")


def prunes(least: int | float, most: int | None) -> bool:
    """Whether `min_df` and `max_features` can leave a token out: every token is in one document at least."""
    return most is not None or (isinstance(least, int) and least > 1) or (isinstance(least, float) and least > 0)


def kept(
    documents: np.ndarray, total: float, occurrences: np.ndarray, least: int | float, most: int | None
) -> np.ndarray:
    """Which tokens stay, as scikit-learn's CountVectorizer has it.

    Parameters
    ----------
    documents : ndarray, shape (V,)
        Documents (their weights) that hold each token.
    total : float
        All documents (their weights).
    occurrences : ndarray, shape (V,)
        What is counted of each token.
    least, most
        `min_df` and `max_features`. Of tokens that are counted equally often, the first stay.

    Returns
    -------
    ndarray of bool, shape (V,)
    """
    keep = (documents > 0) & (documents >= (least if isinstance(least, int) else least * total))
    if most is None or keep.sum() <= most:
        return keep
    candidates = np.flatnonzero(keep)
    best = candidates[np.argsort(-occurrences[candidates], kind="stable")[:most]]
    return np.isin(np.arange(len(keep)), best)


def none_left(tokens: int, least: int | float, documents: float) -> str:
    """What to say where `kept` leaves no token."""
    return (
        f"empty vocabulary: none of {tokens} distinct tokens is in min_df={least} of {documents:g} documents; "
        "lower min_df"
    )
