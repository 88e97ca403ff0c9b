"""The command line: `bayesnb COMMAND`. Arguments in, one exit status out; the work is done elsewhere.

Exit status: 0 done, 1 a check failed, 2 bad input or usage, 3 internal error, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer
from typer.exceptions import Exit, TyperException

from bayesnb.cli import demo, draws, learn, use, verify

app = typer.Typer(
    name="bayesnb",
    help="Naive Bayes whose parameters are posteriors.",
    epilog="Start with: bayesnb demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    demo.demo,
    learn.fit,
    use.score,
    use.evaluate,
    learn.compare,
    use.ratios,
    draws.sample,
    verify.verify,
    use.inspect,
):
    app.command()(command)


@app.callback()
def _options(debug: bool = typer.Option(False, "--debug", help="Show the traceback of an internal error.")) -> None:
    """Naive Bayes whose parameters are posteriors."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; every failure is one line on stderr, never a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug, arguments = "--debug" in given, [word for word in given if word != "--debug"]  # wherever it stands
    try:
        status = app(arguments, prog_name="bayesnb", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # whoever read the output has had enough; what Python still flushes at exit must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exit as stop:
        return stop.exit_code
    except TyperException as error:
        return _fail(2, error.format_message(), hint="; see bayesnb --help")
    except (ValueError, OSError) as error:
        if debug:
            traceback.print_exc()
        return _fail(2, _one_line(error))
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _fail(3, f"internal error, {type(error).__name__}: {_one_line(error)}", "; please report it (--debug)")
    return status if isinstance(status, int) else 0


def _fail(status: int, message: str, hint: str = "") -> int:
    print(f"bayesnb: {' '.join(message.split())}{hint}", file=sys.stderr)
    return status


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main())
