"""Bytes to text: the one place that knows encodings, and where in a file a byte was wrong."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

from .records import CorpusError

# The longer mark first: UTF-32's begins as UTF-16's does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_PACKED = (
    (b"\x1f\x8b", "it is compressed by gzip: unpack it first"),
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet: unpack it, or export it as CSV"),
)


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes; a missing file or a folder in its place is an OSError that says so."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder where a file was expected")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    return path.read_bytes()


def is_binary(data: bytes, encoding: str) -> bool:
    """Whether the bytes hold NULs that the encoding cannot explain."""
    return not is_wide(encoding) and b"\0" in data


def is_wide(encoding: str) -> bool:
    """Whether the encoding writes plain letters with NUL bytes, as UTF-16 and UTF-32 do."""
    try:
        return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    except LookupError as error:
        raise CorpusError(f"unknown encoding {encoding!r}: use a name Python knows, such as latin-1") from error


def decode(data: bytes, path: Path | str, encoding: str) -> str:
    """Decode a file's bytes; a byte order mark is not part of the text.

    Raises
    ------
    CorpusError
        Naming file, line and byte offset of what the encoding cannot read, and another one to try.
    """
    wide = is_wide(encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "ignore").count("\n") + 1
        value = f"0x{data[error.start]:02x}"
        raise CorpusError(
            f"{path}, line {line}: byte {value} at offset {error.start} is not {encoding}; {_advice(data, wide)}"
        ) from error
    except (LookupError, UnicodeError) as error:
        raise CorpusError(f"{path}: cannot be read as {encoding}: {error}") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CorpusError(f"{path}, line {line}: NUL character; a binary file? If it is text, {_advice(data, wide)}")
    return text.removeprefix("\ufeff")


def read_text(path: Path, encoding: str) -> str:
    """Read one text file."""
    return decode(read_bytes(path), path, encoding)


def _advice(data: bytes, wide: bool) -> str:
    """Suggest a remedy from the first bytes."""
    for mark, remedy in _PACKED:
        if data.startswith(mark):
            return remedy
    for mark, name in _MARKS:
        if data.startswith(mark):
            return f"pass encoding={name!r}, as its byte order mark says"
    if wide:
        return "pass the encoding it was written in, such as encoding='utf-8'"
    guess = "utf-16-le" if b"\0" in data else "cp1252' or 'latin-1"
    return f"pass the encoding it was written in, such as encoding='{guess}'"


def as_path(path: str | os.PathLike) -> Path:
    """Check that a path is one."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise CorpusError(f"expected the path of a file or folder, got {path!r}")
    if "\0" in os.fspath(path):
        raise CorpusError("the path holds a NUL character")
    return Path(path)
