"""Values as text for a page: escaped, numbers to sensible digits."""

from __future__ import annotations

import html
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Shown:
    """A number with a text of its own, such as ``1 − 10⁻⁹`` for a probability; `key` is what the column sorts by."""

    text: str
    key: float

    def __str__(self) -> str:
        return self.text


def escape(text: Any) -> str:
    """Text safe in HTML and its attributes; what UTF-8 or HTML cannot hold is shown as its Python escape."""
    return html.escape(legible(text))


def legible(text: Any) -> str:
    """Text in which what UTF-8 or HTML cannot hold is shown as its Python escape."""
    return "".join(c if _allowed(c) else ascii(c)[1:-1] for c in str(text))


def _allowed(c: str) -> bool:
    """No control, surrogate or mark that is not seen but moves what is; joiners are part of scripts and emoji."""
    return c in "\t\n\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def number(value: Any, digits: int = 4) -> str:
    """A value as text: whole numbers in full, others to some digits, very small or large ones as 1.2 × 10⁻⁹."""
    if is_missing(value):
        return "–"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, Shown) or not is_number(value):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    if 10.0 ** (digits - 1) <= abs(value) < 1e9:
        return f"{value:,.1f}".replace("-", "−")
    shown = f"{value:.{digits}g}" if 1e-4 <= abs(value) < 1e9 else f"{value:.{digits - 1}e}"
    if "e" in shown:
        mantissa, exponent = shown.split("e")
        power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        shown = f"{mantissa} × 10{power}"
    return shown.replace("-", "−")


def probability(p: float, rest: float, digits: int = 4) -> str:
    """A probability as text; near 1 by what is missing, since .99999 and 1 less 10⁻¹² are not the same.

    Parameters
    ----------
    p, rest : float
        The probability, and 1 less it, which may have digits of its own.
    digits : int
        Significant digits.
    """
    if p == 0 or rest == 0:  # what a double cannot tell from 0 or 1: it is 10⁻³⁰⁷ at least, and below 1 by 10⁻¹⁶
        return "less than 10⁻³⁰⁷" if p == 0 else "1 − less than 10⁻¹⁵"
    return f"1 − {number(rest, 2)}" if rest < 10.0**-digits else number(p, digits)


def several(n: int, thing: str) -> str:
    """A number of things, one or more."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def is_missing(value: Any) -> bool:
    """None, NaN, NA and NaT."""
    # by type first: comparing NA gives NA, which is neither true nor false
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (is_number(value) and value != value)


def is_number(value: Any) -> bool:
    """A number, or one that is missing; a truth value is none."""
    own = value is None or isinstance(value, Shown) or type(value).__name__ == "NAType"
    return own or (isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_)))


def sort_key(value: Any) -> str:
    """A number as JavaScript reads it."""
    value = value.key if isinstance(value, Shown) else value
    return "Infinity" if value == math.inf else "-Infinity" if value == -math.inf else repr(float(value))
