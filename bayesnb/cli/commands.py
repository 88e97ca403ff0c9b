"""The commands, and what becomes of their errors: a line on stderr and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import typer
from typer.exceptions import Exit, TyperException

from bayesnb.cli import choosing, demo, draws, interrupts, learn, output, reporting, scoring, use, verify
from bayesnb.cli.wording import in_shell_words

app = typer.Typer(
    name="bayesnb",
    help="Naive Bayes whose parameters are posteriors.",
    epilog="Start with: bayesnb demo",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_SUMMARIES: dict[Any, tuple[str, ...]] = {
    # a summary that is whole in the list of commands, where a first sentence would be cut off; then examples
    demo.demo: ("Do the whole job on two built-in corpora.", "bayesnb demo", "bayesnb demo --out papers --seed 1"),
    learn.fit: (
        "Fit a model on labelled documents.",
        "bayesnb fit spam=mail/spam ham=mail/ham -o mail.model",
        "bayesnb fit mail.csv --text body --label folder -o mail.model",
        "bayesnb fit mail.csv --event bernoulli --estimate mean -o mail.model",
        "bayesnb fit mail.csv --power auto --min-df 2 -o mail.model",
    ),
    scoring.score: (
        "Score documents, with credible intervals.",
        "bayesnb score mail.model inbox/",
        "bayesnb score mail.model new.csv -o scores.csv",
        "tail -f mail.ndjson | bayesnb score mail.model - --json --on-error skip",
        "bayesnb score mail.model inbox/ --threshold spam=.99",
    ),
    use.evaluate: (
        "Score labelled documents; report errors and calibration.",
        "bayesnb evaluate mail.model spam=test/spam ham=test/ham",
        "bayesnb evaluate mail.model test.csv --csv confusion.csv",
    ),
    choosing.select: (
        "Rank event models, priors and estimates.",
        "bayesnb select mail.csv",
        "bayesnb select spam=mail/spam ham=mail/ham -o best.model --csv ranks.csv",
    ),
    learn.compare: (
        "Show MLE, Laplace, MAP and mean side by side.",
        "bayesnb compare spam=mail/spam ham=mail/ham",
        "bayesnb compare mail.csv --prior jeffreys --csv estimates.csv",
    ),
    use.ratios: (
        "Rank the tokens that tell classes apart.",
        "bayesnb ratios mail.model --classes spam ham --plot ratios.png",
        "bayesnb ratios mail.model --classes spam --top 50 --csv ratios.csv",
        "bayesnb ratios mail.model --classes all --level .99",
    ),
    reporting.report: (
        "Write one HTML page about all of it.",
        "bayesnb report spam=mail/spam ham=mail/ham -o report.html",
        "bayesnb report mail.csv --sample --seed 1 --model mail.model",
    ),
    draws.sample: (
        "Sample with PyMC and check against the closed form.",
        "bayesnb sample mail.model --token free --token meeting -o draws.nc",
        "bayesnb sample mail.model --model hierarchical -o draws.nc",
        "bayesnb sample mail.model --model my_model.py -o draws.nc",
    ),
    verify.verify: (
        "Check that models and closed forms agree.",
        "bayesnb verify",
        "bayesnb verify --model my_model.py",
    ),
    use.inspect: ("Show what a model file holds.", "bayesnb inspect mail.model"),
}
for command, (summary, *examples) in _SUMMARIES.items():
    app.command(
        short_help=summary,
        epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples),  # \b: lines stay as they are
        cls=use.OneLabelOrTwo if command is use.ratios else None,
    )(command)


def _version(asked: bool) -> None:
    if asked:
        from bayesnb import __version__

        output.say(f"bayesnb {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an internal error."),
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Naive Bayes whose parameters are posteriors."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; every failure is one line on stderr, never a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug, given = "--debug" in given, [word for word in given if word != "--debug"]  # wherever it stands
    streams = sys.stdout, sys.stderr
    output.accept_any_text(sys.stdout)
    try:
        status = app(given or ["--help"], prog_name="bayesnb", standalone_mode=False)
        with output.writing(output.STDOUT):
            sys.stdout.flush()
    except BaseException as error:
        sys.stdout, sys.stderr = streams  # typer wraps them when a pipe is closed
        return interrupts.status() or _status_of(error, debug)
    return interrupts.status() or (status if isinstance(status, int) else 0)


def _status_of(error: BaseException, debug: bool) -> int:
    """Say what went wrong, unless nothing did, and choose the exit status."""
    if _reader_left(error):
        _give_up_stdout()
        return 0
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return 130
    if isinstance(error, Exit):
        return error.exit_code
    if isinstance(error, TyperException):
        command = getattr(getattr(error, "ctx", None), "command_path", "bayesnb")
        return _fail(2, error.format_message().rstrip("."), hint=f"; see {command} --help")
    if not isinstance(error, Exception):
        raise error
    if debug:
        traceback.print_exception(error)
    if isinstance(error, OSError) and error.filename == output.STDOUT:
        _give_up_stdout()
    if isinstance(error, ValueError | OSError):
        return _fail(2, output.one_line(error))
    return _fail(3, f"internal error, {type(error).__name__}: {output.one_line(error)}", "; please report it (--debug)")


def _reader_left(error: BaseException) -> bool:
    """Whether who read the output has had enough; typer exits with 1 on its own accord when it notices first."""
    return isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    )


def _give_up_stdout() -> None:
    """What Python still flushes at exit must not complain."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(status: int, message: str, hint: str = "") -> int:
    output.note(" ".join(in_shell_words(message).split()) + hint)
    return status
