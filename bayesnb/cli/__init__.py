"""The command line: `bayesnb COMMAND`. Arguments in, one exit status out; the work is done elsewhere.

Exit status: 0 done, 1 a check failed, 2 bad input or usage, 3 internal error, 130 interrupted, 143 terminated. This
file imports nothing that takes time, so that Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from bayesnb.cli import interrupts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; every failure is one line on stderr, never a traceback."""
    _open_streams()
    try:
        from bayesnb.cli import commands

        return commands.main(arguments)
    except KeyboardInterrupt:
        return interrupts.status() or 130


def run() -> None:
    """Entry point of the installed command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background job ignores Ctrl-C
        # an interrupt inside the start of an extension module may surface as any exception, or be printed and lost
        signal.signal(signal.SIGINT, interrupts.leave)
        from bayesnb.cli import commands  # noqa: F401

    try:
        interrupts.install()
        status = main()
    except KeyboardInterrupt:
        status = interrupts.status()
    interrupts.finish()
    sys.exit(status)


def _open_streams() -> None:
    """Put the null device where the shell closed stdout or stderr (`>&-`): nobody reads, which is no error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (open as long as Python runs)
