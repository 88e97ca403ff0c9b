"""What a misspelt name may have meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 5000  # names looked through: each costs some microseconds


def suggestion(word: str, names: Iterable[object]) -> str:
    """``; did you mean 'x'?`` for the name that is spelt most alike, capitals aside; nothing where none is near."""
    import difflib

    folded = {str(name).casefold(): str(name) for name, _ in zip(names, range(_MOST), strict=False)}
    near = difflib.get_close_matches(word.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""
