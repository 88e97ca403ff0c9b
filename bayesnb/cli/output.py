"""Tables for people, strict JSON for programs, progress for whoever watches."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bayesnb import atomic


def say(line: str = "") -> None:
    """Print a line for people, on stdout."""
    print(line)


def note(line: str) -> None:
    """Print a remark that is no result, on stderr."""
    print(f"bayesnb: {line}", file=sys.stderr)


def note_skipped(skipped: dict[str, int]) -> None:
    """Report what a reader left out, if anything."""
    for reason, n in skipped.items():
        note(f"left out {n}: {reason}")


def emit_json(value: Any) -> None:
    """Print one strict JSON value; numbers that are not finite become null."""
    print(json.dumps(plain(value), allow_nan=False, ensure_ascii=False))


def plain(value: Any) -> Any:
    """Python values from NumPy's, fit for strict JSON."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if type(value).__name__ == "NAType" else value


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Print a table that fits the terminal, 80 columns where there is none."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=None, pad_edge=False, show_edge=False)
    for j, name in enumerate(columns):
        number = all(isinstance(row[j], int | float | np.number) for row in rows)
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    if title:
        say(title)
    console = Console(markup=False, highlight=False, emoji=False, file=sys.stdout)
    if not sys.stdout.isatty():
        console.width = 80
    console.print(table)


def shown(value: Any) -> str:
    """A cell as text: four significant digits, control characters visible, nothing for a missing value."""
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        x = float(value)
        return f"{x:.0f}" if x.is_integer() and abs(x) < 1e6 else f"{x:.4g}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def probability(p: float) -> str:
    """A probability as text; near 1 by what is missing, since 0.99999 and 1 - 1e-12 are not the same."""
    return shown(p) if p < 0.9999 or p == 1 else f"1 - {1 - p:.1e}"


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a CSV file, whole or not at all."""
    text = io.StringIO(newline="")
    put_csv(text, columns, rows)
    atomic.write(path, text.getvalue().encode())


def put_csv(file: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write CSV to an open file; numbers keep every digit."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if cell is None else cell for cell in plain(list(row))])


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let a library that wants a path write beside `path`, and move the file into place when that has succeeded."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder; make it first, {path.name} was not written")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".bayesnb-") as folder:
        temporary = Path(folder) / path.name
        write(temporary)
        temporary.replace(path)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
