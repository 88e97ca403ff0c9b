"""Ctrl-C and SIGTERM: what is being written is written, nothing else is, and the exit status tells.

An interrupt may surface as any exception where it meets the start of an extension module, or be lost there. So it is
also remembered, and obeyed before the next file is written. Imports nothing that takes time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_received = 0
_holds = 0
_owner = os.getpid()


def install() -> None:
    """Obey SIGINT and SIGTERM from now on, unless whoever started us has them ignored."""
    for number, usual in ((signal.SIGINT, _IN_PYTHON), (signal.SIGTERM, (signal.SIG_DFL,))):
        if signal.getsignal(number) in usual:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _unraisable


def status() -> int:
    """Exit status of what was interrupted, as shells have it; 0 where nothing was."""
    return 128 + _received if _received else 0


def finish() -> None:
    """Let nothing disturb the end of Python any more: the status is settled."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Let the writing of a file end before an interrupt is obeyed; a second one is obeyed at once.

    Raises
    ------
    KeyboardInterrupt
        At once if an interrupt was lost before, else at the end if one came meanwhile.
    """
    global _holds
    before = _received
    if before and sys.exc_info()[0] is None:  # what is still to be written on the way out is
        raise KeyboardInterrupt
    _holds += 1
    try:
        yield
    finally:
        _holds -= 1
    if _received != before:
        raise KeyboardInterrupt


def end_waiting() -> None:
    """Let an interrupt end the waiting for input also where a library, as polars does, has asked that it goes on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _interrupt and hasattr(signal, "siginterrupt"):
            signal.siginterrupt(number, True)


def leave(number: int, frame: FrameType | None) -> None:
    """Handler while nothing is written or open yet."""
    os._exit(128 + number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _received
    if os.getpid() != _owner:  # a worker of a sampler, which has inherited this
        _received = 0
        if number == signal.SIGTERM:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise KeyboardInterrupt
    first, _received = not _received, number
    if not (first and _holds):
        raise KeyboardInterrupt


def _unraisable(found: Any) -> None:
    if not _received:  # else it is the interrupt, in a place that cannot raise
        sys.__unraisablehook__(found)


_IN_PYTHON = (signal.default_int_handler, leave)
