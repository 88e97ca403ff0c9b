"""Work of a few steps, most of which nobody can look into."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bayesnb.cli import output


class Steps:
    """Steps one after the other; while one goes on, its bar shows how much of all is done.

    Parameters
    ----------
    shares : sequence of number
        How long each takes, in any unit.
    """

    def __init__(self, shares: Sequence[float]) -> None:
        self._shares, self._next = list(shares), 0
        self._began = time.monotonic()

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show the next step while it goes on."""
        done, self._next = sum(self._shares[: self._next]), self._next + 1
        spent, name = time.monotonic() - self._began, f"{what} ({self._next} of {len(self._shares)})"
        with output.progress(name, sum(self._shares), done, spent):
            yield
