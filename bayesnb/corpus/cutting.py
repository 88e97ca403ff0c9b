"""Many texts into numbered tokens: arrays look characters up in tables that Python's ``re`` has filled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import numpy as np

from .tokens import Tokenizer, text_fault

_LONGEST = 64  # bytes of a token that are compared eight at a time; the few longer ones go through a dictionary
_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)  # masks of the first n bytes of eight


@dataclass(frozen=True, eq=False)
class Cut:
    """Tokens of many documents.

    Attributes
    ----------
    names : list of str
        The distinct tokens.
    ids : ndarray of int64, shape (tokens,)
        Which of them each token is.
    rows : ndarray of int64, shape (tokens,)
        The document each token is in.
    height : int
        How many documents there are.
    """

    names: list[str]
    ids: np.ndarray
    rows: np.ndarray
    height: int


def cut(tokenizer: Tokenizer, texts: list[str], first_row: int = 0) -> Cut:
    """Cut documents into tokens, and these into runs of several where the tokenizer asks for them.

    Raises
    ------
    ValueError
        A text is not a string or holds a lone surrogate; its row is named, counted from `first_row`.
    """
    encoded = _encoded(tokenizer, texts, first_row)
    if not encoded:
        return Cut([], np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
    separator = _separator(tokenizer)
    found = _by_expression(tokenizer, texts) if separator is None else _by_bytes(tokenizer, encoded, separator)
    if tokenizer.stop_words:
        found = _without(found, tokenizer.stop_words)
    return found if tokenizer.ngram_range == (1, 1) else _runs_of(found, *tokenizer.ngram_range)


def _encoded(tokenizer: Tokenizer, texts: list[str], first_row: int) -> list[bytes]:
    """Prepared texts as UTF-8; the row that cannot be one is named."""
    try:
        if all(map(str.isascii, texts)):  # what `prepare` does to them, without a call in Python for each
            return list(map(str.encode, texts if tokenizer.pattern == "whitespace" else map(str.lower, texts)))
        return [tokenizer.prepare(text).encode() for text in texts]
    except (AttributeError, TypeError, UnicodeEncodeError):
        for row, text in enumerate(texts, first_row):
            fault = text_fault(text)
            if fault:
                raise ValueError(f"row {row}: the text {fault}") from None
        raise


# --- one engine: any expression -----------------------------------------------------------------------------


def _by_expression(tokenizer: Tokenizer, texts: list[str]) -> Cut:
    numbers: dict[str, int] = {}
    ids: list[int] = []
    lengths = []
    for text in texts:
        tokens = tokenizer.cut(tokenizer.prepare(text))
        ids += [numbers.setdefault(token, len(numbers)) for token in tokens]
        lengths.append(len(tokens))
    rows = np.repeat(np.arange(len(texts)), lengths)
    return Cut(list(numbers), np.array(ids, np.int64), rows, len(texts))


# --- the other: runs of characters, or what lies between single spaces ----------------------------------------


@lru_cache(maxsize=8)
def _members(characters: str) -> np.ndarray:
    """Which code points a class of characters holds, as Python's ``re`` has it; bool, shape (0x110000,)."""
    table = np.zeros(0x110000, bool)
    for run in re.finditer(f"{characters}+", "".join(map(chr, range(0x110000)))):
        table[run.start() : run.end()] = True
    table.setflags(write=False)
    return table


def _separator(tokenizer: Tokenizer) -> bytes | None:
    """A byte that is in no token, to stand between documents; None where tokens are not cut by bytes."""
    if tokenizer.pattern == "space":
        return b" "
    if tokenizer.runs is None:
        return None
    outside = np.flatnonzero(~_members(tokenizer.runs[0])[:128])
    return bytes([outside[-1]]) if len(outside) else None


def _by_bytes(tokenizer: Tokenizer, encoded: list[bytes], separator: bytes) -> Cut:
    text = separator + separator.join(encoded) + separator * 8  # eight bytes can be read from any place in a token
    if tokenizer.runs is None:
        bounds = np.flatnonzero(np.frombuffer(text, np.uint8) == separator[0])
        starts, ends = bounds[:-8] + 1, bounds[1:-7]
    else:
        starts, ends = _runs_in(text, *tokenizer.runs)
    ids, first = _numbered(text, starts, ends - starts)
    names = _stretches(text, starts[first], ends[first], separator)
    begins = np.cumsum(np.fromiter(chain([0], map(len, encoded)), np.int64, len(encoded) + 1) + 1)
    rows = np.repeat(np.arange(len(encoded)), np.diff(np.searchsorted(starts, begins)))
    return Cut(names, ids, rows, len(encoded))


def _stretches(text: bytes, starts: np.ndarray, ends: np.ndarray, separator: bytes) -> list[str]:
    """What stands in some places of a text, which do not hold the separator; one by one takes three times as long."""
    if not len(starts):
        return []
    lengths = ends - starts + 1
    behind = np.cumsum(lengths)
    together = np.frombuffer(text, np.uint8)[np.arange(behind[-1]) + np.repeat(ends + 1 - behind, lengths)]
    together[behind - 1] = separator[0]
    return together[:-1].tobytes().decode().split(separator.decode())


def _runs_in(text: bytes, characters: str, shortest: int) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of a class of characters begin and end, in bytes; `text` has none at its ends."""
    table = _members(characters)
    if text.isascii():
        inside = np.frombuffer(text.translate(table[:256].tobytes()), bool)
    else:
        inside = table[np.frombuffer(text.decode().encode("utf-32-le"), "<u4")]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    if shortest > 1:
        enough = ends - starts >= shortest
        starts, ends = starts[enough], ends[enough]
    if not text.isascii():
        of_char = np.flatnonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80)
        starts, ends = of_char[starts], of_char[ends]
    return starts, ends


def _numbered(text: bytes, starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the stretches of a text by what they hold, and find one stretch of each kind.

    By sorting a hash of each; that equal hashes mean equal bytes is checked, not hoped for.
    """
    pieces = list(_pieces(text, starts, lengths))
    ids, first = _ranked(_hash(pieces, 0))
    for seed in count(1):
        if _holds(ids, first, pieces):
            break
        ids, first = _paired(ids, _ranked(_hash(pieces, seed))[0])
    return ids, first


def _pieces(text: bytes, starts: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """What a stretch is, in numbers: its length, and eight bytes at a time; with the stretches as long as that."""
    yield slice(None), lengths.view(np.uint64)
    view = np.ndarray((len(text) - 7,), "<u8", text, strides=(1,))
    yield slice(None), view[starts] & _BYTES[np.minimum(lengths, 8)]
    at = np.flatnonzero(lengths > 8)
    for offset in range(8, _LONGEST, 8):
        yield at, view[starts[at] + offset] & _BYTES[np.minimum(lengths[at] - offset, 8)]
        at = at[lengths[at] > offset + 8]
        if not len(at):
            return
    numbers: dict[bytes, int] = {}  # of the few that are longer still
    ends = (starts + lengths)[at].tolist()
    whole = (text[start:end] for start, end in zip(starts[at].tolist(), ends, strict=True))
    yield at, np.array([numbers.setdefault(stretch, len(numbers)) for stretch in whole], np.uint64)


def _hash(pieces: list[tuple[Any, np.ndarray]], seed: int) -> np.ndarray:
    factors = np.random.default_rng(seed).integers(0, 2**64, len(pieces), np.uint64) | np.uint64(1)
    code = pieces[0][1] * factors[0]
    for factor, (at, piece) in zip(factors[1:], pieces[1:], strict=True):
        code[at] += piece * factor
    return code


def _holds(ids: np.ndarray, first: np.ndarray, pieces: list[tuple[Any, np.ndarray]]) -> bool:
    """Whether each stretch is equal to the one that stands for its number: first in length, then in all its bytes."""
    found = np.empty(len(ids), np.uint64)
    for at, piece in pieces:
        found[at] = piece  # what a stretch without this piece has here does not matter: its length has told it apart
        if not np.array_equal(found[first][ids[at]], piece):
            return False
    return True


def _paired(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number pairs of numbers in order, and find one of each."""
    ids, kinds = numbered(one * (other.max(initial=0) + 1) + other)
    first = np.empty(len(kinds), np.int64)
    first[ids] = np.arange(len(ids))
    return ids, first


def numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place of each value among the distinct ones, and these in order: `np.unique`, several times as fast."""
    kinds = np.sort(values)
    kinds = kinds[firsts_of(kinds)]
    return np.searchsorted(kinds, values), kinds


def _ranked(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number hashes in order, by their upper bits, and find one of each: the lower bits carry the place along."""
    bits = np.uint64(max(len(code), 1).bit_length())
    packed = code >> bits
    packed <<= bits
    packed |= np.arange(len(code), dtype=np.uint64)
    packed.sort()  # numbers alone sort ten times as fast as an argsort
    order = (packed & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
    packed >>= bits
    new = firsts_of(packed)
    first = order[new]
    new[:1] = False
    ids = np.empty(len(code), np.int64)
    ids[order] = np.cumsum(new)
    return ids, first


def firsts_of(ordered: np.ndarray) -> np.ndarray:
    """Whether each value of a sorted array differs from the one before it."""
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


# --- what is made of tokens ---------------------------------------------------------------------------------


def _without(found: Cut, stop_words: frozenset[str]) -> Cut:
    """Without some tokens."""
    stays = np.array([name not in stop_words for name in found.names], bool)
    number = np.cumsum(stays) - 1
    kept = stays[found.ids]
    names = [name for name, stay in zip(found.names, stays.tolist(), strict=True) if stay]
    return replace(found, names=names, ids=number[found.ids[kept]], rows=found.rows[kept])


def _runs_of(found: Cut, shortest: int, longest: int) -> Cut:
    """Runs of neighbouring tokens in place of tokens."""
    names, ids, places = found.names, found.ids, np.arange(len(found.ids))
    levels = [(names, ids, found.rows)]
    for n in range(2, longest + 1):
        if not len(places):  # nor is there a longer run, however many lengths are left to try
            break
        last = places + n - 1
        inside = last < len(found.ids)
        inside[inside] = found.rows[last[inside]] == found.rows[places[inside]]
        places, last, ids = places[inside], last[inside], ids[inside]
        pair = ids * len(found.names) + found.ids[last]  # below 2^63: both are below the tokens of a batch
        ids, kinds = numbered(pair)
        starts, ends = np.divmod(kinds, max(len(found.names), 1))
        names = [f"{names[a]} {found.names[b]}" for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        levels.append((names, ids, found.rows[places]))
    none = np.zeros(0, np.int64)
    return _joined(levels[shortest - 1 :] or [([], none, none)], found.height)


def _joined(levels: list[tuple[list[str], np.ndarray, np.ndarray]], height: int) -> Cut:
    """Runs of several lengths as one; a token with a space in it may be called as a run is."""
    numbers: dict[str, int] = {}
    ids = []
    for names, of_level, _ in levels:
        number = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        ids.append(number[of_level])
    rows = np.concatenate([of_level for _, _, of_level in levels])
    return Cut(list(numbers), np.concatenate(ids), rows, height)
