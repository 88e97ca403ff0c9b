"""The header of a CSV or TSV: names of columns, and what is a header no longer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .records import CorpusError

TEXT_NAMES = ("text", "message", "body", "mail", "email", "sms", "document", "content")
LABEL_NAMES = ("label", "class", "target", "category", "y")

DELIMITERS = {"csv": ",", "tsv": "\t"}
_CALLED = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


def header_names(names: list[str], place: str, delimiter: str) -> list[str]:
    """Header names, each once; columns without a name are numbered.

    Raises
    ------
    CorpusError
        A name is there twice, or the line is no header of such a file.
    """
    if names[0].startswith("sep="):
        raise CorpusError(f"{place}: {names[0]!r} is a note to Excel: delete that line")
    if len(names) == 1:
        _refuse_other_delimiter(names[0], place, delimiter)
    named = [name or number for name, number in zip(names, numbered(len(names)), strict=True)]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        remedy = "rename one, or pass header=False if the first line is data"
        raise CorpusError(f"{place}: two columns are named {twice[0]!r}: {remedy}")
    return named


def numbered(width: int) -> list[str]:
    """Names of columns that have none."""
    return [f"column_{j + 1}" for j in range(width)]


def width_message(path: Path, line: int, end: int, row: list[str], names: list[str]) -> str:
    """What to say of a row that stands in some lines and has another number of fields than there are columns."""
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    if end > line:
        remedy = f"a quote runs on to line {end}: close it, or pass quoting='none'"
    elif len(names) == 1:
        remedy = "if what stands above it is no header, delete that; if a text holds delimiters, quote it"
    elif len(row) > len(names):
        remedy = "quote the fields that hold delimiters"
    else:
        remedy = "complete the row, or delete it"
    return f"{path}, line {line}: {len(row)} fields where {len(names)} are expected ({shown}); {remedy}"


def _refuse_other_delimiter(name: str, place: str, delimiter: str) -> None:
    """CorpusError where a header of one name is several with another delimiter between them."""
    for mark, called in _CALLED.items():
        parts = name.split(mark)
        if mark != delimiter and len(parts) > 1 and all(part and part == part.strip() for part in parts):
            format = next((name for name, part in DELIMITERS.items() if part == mark), None)
            remedy = f"pass format={format!r}" if format else "write the file with commas or tabs"
            raise CorpusError(
                f"{place}: one column, {name!r}, whose name has {called} in it; if they part columns, {remedy}; "
                "if not, rename it"
            )
