"""Tables for people, strict JSON for programs, progress for whoever watches."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnb import atomic
from bayesnb.cli import interrupts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesnb.evaluation import Drift

STDOUT = "standard output"


def visible(text: str) -> str:
    """Text on one line, whose control characters are shown and not obeyed."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def say(line: str = "") -> None:
    """Print a line for people, on stdout."""
    with writing(STDOUT):
        print(visible(line))


def say_sentence(text: str) -> None:
    """Print a sentence for people, on stdout, in lines that fit as tables do."""
    from rich.text import Text

    console = _console()
    for line in Text(visible(text)).wrap(console, console.width):
        say(line.plain.rstrip())


def _console() -> Any:
    """What draws on stdout, to fit the terminal, or 80 columns where there is none."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False, file=sys.stdout)
    if not sys.stdout.isatty():
        console.width = 80
    return console


def note(line: str) -> None:
    """Print a remark that is no result, on stderr; where nobody can read it, the result matters more."""
    with suppress(OSError):
        print(f"bayesnb: {visible(line)}", file=sys.stderr, flush=True)


def note_skipped(skipped: dict[str, int]) -> None:
    """Report what a reader left out, if anything."""
    for reason, n in skipped.items():
        note(f"left out {n}: {reason}")


def one_line(error: BaseException) -> str:
    """What an error says, the file first where it is the system's."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def emit_json(value: Any) -> None:
    """Print one strict JSON value; numbers that are not finite become null."""
    with writing(STDOUT):
        print(json.dumps(plain(value), allow_nan=False))


def plain(value: Any) -> Any:
    """Python values from NumPy's, fit for strict JSON; bytes of a file name that are no text are shown as escapes."""
    if isinstance(value, dict):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # adding 0 takes the sign from -0
    return None if type(value).__name__ == "NAType" else value


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None, gap: int = 3) -> None:
    """Print a table that fits the terminal, 80 columns where there is none; its columns stand `gap` apart."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, title=None, pad_edge=False, show_edge=False, padding=(0, gap // 2, 0, (gap - 1) // 2)
    )
    for j, name in enumerate(columns):
        number = all(isinstance(row[j], Number) for row in rows)
        table.add_column(Text(visible(name)), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    if title:
        say(title)
    with writing(STDOUT):
        _console().print(table)


def shown(value: Any) -> str:
    """A cell as text: four significant digits, control characters visible, nothing for a missing value."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:z.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:z.4g}"
    return visible(str(value))


def brief(name: Any, most: int = 48) -> str:
    """A name in a table for people; CSV and JSON have the whole of it."""
    text = visible(str(name))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def probability(p: float) -> str:
    """A probability as text; near 1 by what is missing, since 0.99999 and 1 - 1e-12 are not the same."""
    return shown(p) if p < 0.9999 or p == 1 else f"1 - {1 - p:.1e}"


def check_targets(*paths: Path | None, read: Iterable[str | Path] = ()) -> None:
    """Refuse, before any work is done, a path that no file could be written to, or that is read.

    Parameters
    ----------
    *paths : Path or None
        Files to be written.
    read : iterable of path
        What the command reads.

    Raises
    ------
    ValueError
        Its folder does not exist, it is a folder or device itself, or it is a file to be read.
    """
    sources = [Path(source) for source in read]
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}; make it first")
        if path.is_dir():
            raise ValueError(f"{path} is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is no regular file; choose another name")
        if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
            raise ValueError(f"{path} is read, and would be overwritten; choose another name")
    named = [path.resolve() for path in paths if path is not None]
    if len(set(named)) < len(named):
        raise ValueError(f"{named[-1].name} is named for two files; give each a name of its own")


@contextmanager
def writing(what: str | Path) -> Iterator[None]:
    """Make an error of the system name what could not be written, and not a temporary file or nothing."""
    try:
        with nullcontext() if what == STDOUT else interrupts.held():
            yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, f"could not be written: {error.strerror or error}", str(what)) from error


def accept_any_text(stream: Any) -> None:
    """Show as an escape what the encoding of a stream has no letter for; an error would help nobody."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a CSV file, whole or not at all."""
    text = io.StringIO(newline="")
    put_csv(text, columns, rows)
    write_bytes(path, text.getvalue().encode())


def put_csv(file: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write CSV to an open file; numbers keep every digit."""
    writer = csv.writer(file, lineterminator="\n")
    with writing(STDOUT) if file is sys.stdout else nullcontext():
        writer.writerow(plain(list(columns)))
        for row in rows:
            writer.writerow(["" if cell is None else cell for cell in plain(list(row))])


def cell(value: Any) -> Any:
    """A cell of CSV: nothing where nothing is known, JSON for lists and objects."""
    value = plain(value)
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value)
    return "" if value is None else value


def write_figure(path: Path, figure: Figure, **options: Any) -> None:
    """Write a picture of the kind that its name ends in, whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), **options)
    write_bytes(path, picture.getvalue())


def write_json(path: Path, value: Any) -> None:
    """Write one strict JSON value to a file, whole or not at all."""
    write_bytes(path, (json.dumps(plain(value), allow_nan=False) + "\n").encode())


def write_ndjson(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write a JSON object a line to a file, whole or not at all."""
    text = "".join(json.dumps(plain(record), allow_nan=False) + "\n" for record in records)
    write_bytes(path, text.encode())


def say_drift(drift: Drift) -> None:
    """Print how well documents fit the model."""
    say(f"tokens the model does not know: {drift.unknown_token_share:.1%}")
    if drift.log_px_per_document is not None:
        each = "-" if drift.log_px_per_token is None else f"{drift.log_px_per_token:z.4f}"
        say(f"mean log P(x) of the known tokens: {drift.log_px_per_document:z.4f} a document, {each} a token")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    with writing(path):
        atomic.write(path, data)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on and for how long, on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from bayesnb.cli import bars

    with bars.elapsing(visible(what)):
        yield


@contextmanager
def progress(
    what: str, total: float | None = None, done: float = 0.0, spent: float = 0.0
) -> Iterator[Callable[..., None]]:
    """Show how much of some work is done and how much time is left, on stderr, where that is a terminal.

    Parameters
    ----------
    what : str
        The work, in a word or two.
    total : number, optional
        Size of all of it, in any unit; None where it will be told.
    done, spent : number
        How much was done before, and how many seconds that took.

    Yields
    ------
    callable
        To be told how much is done so far and, where that was not known before, of how much.
    """
    if not sys.stderr.isatty():
        yield lambda done, of=None: None
        return
    from bayesnb.cli import bars

    with bars.filling(visible(what), total, done, spent) as tell:
        yield tell
