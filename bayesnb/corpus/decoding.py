"""Bytes to text: the one place that knows encodings, and where in a file a byte was wrong."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

from .records import CorpusError

# The longer mark first: UTF-32's begins as UTF-16's does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

LONGEST = 2**29  # bytes of a line or row that is read in blocks: nothing may take a whole file into memory

_PACKED = (
    (b"\x1f\x8b", "it is compressed by gzip: unpack it first"),
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet: unpack it, or export it as CSV"),
)


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes; a missing file or a folder in its place is an OSError that says so."""
    refuse_missing(path)
    return path.read_bytes()


def refuse_missing(path: Path) -> None:
    """OSError where a file is missing or a folder stands in its place."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder where a file was expected")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")


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
    try:
        is_wide(encoding)
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, path, encoding, data) from error
    except (LookupError, UnicodeError) as error:
        raise CorpusError(f"{path}: cannot be read as {encoding}: {error}") from error
    _refuse_nul(text, path, encoding, data)
    return text.removeprefix("\ufeff")


def read_text(path: Path, encoding: str) -> str:
    """Read one text file."""
    return decode(read_bytes(path), path, encoding)


def utf8_pieces(path: Path, encoding: str, size: int | None = None) -> Iterator[bytes]:
    """A text file as UTF-8, some `size` bytes at a time or all at once; a piece may end anywhere but in a character.

    Raises
    ------
    CorpusError
        As `decode`; and where a text has no UTF-8, for it holds a lone surrogate.
    """
    line = 1
    for text in [read_text(path, encoding)] if size is None else _decoded(path, encoding, size):
        try:
            yield text.encode()
        except UnicodeEncodeError as error:
            line += text.count("\n", 0, error.start)
            raise CorpusError(f"{path}, line {line}: holds a lone surrogate; is it {encoding}?") from error
        line += text.count("\n")


def line_blocks(path: Path, encoding: str, size: int | None = None) -> Iterator[bytes]:
    r"""A text file as UTF-8, whole lines of about `size` bytes at a time; only \n ends a line.

    Raises
    ------
    CorpusError
        As `utf8_pieces`; and where a line is longer than `LONGEST`.
    """
    rest, line = b"", 1
    for piece in utf8_pieces(path, encoding, size):
        end = 0 if size is None else piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            line += piece.count(b"\n")
            rest = piece[end:]
        else:
            rest += piece
        if size is not None and len(rest) > LONGEST:
            raise CorpusError(
                f"{path}, line {line}: a line of more than {LONGEST >> 20} MB; is it one document a line?"
            )
    if rest:
        yield rest


def _decoded(path: Path, encoding: str, size: int) -> Iterator[str]:
    """A text file in pieces, decoded as a whole would be."""
    decode(b"", path, encoding)  # refuses what is no encoding of texts
    make = codecs.lookup(encoding).incrementaldecoder
    if make is None:
        yield read_text(path, encoding)
        return
    decoder, head, offset, line, begun = make(), b"", 0, 1, False
    for data in _chunks(path, size):
        head = head or data
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:  # its bytes begin with those of a character that was cut in two
            held = len(error.object) - len(data)
            raise _undecodable(error, path, encoding, head, offset - held, line) from error
        except UnicodeError as error:
            raise CorpusError(f"{path}: cannot be read as {encoding}: {error}") from error
        _refuse_nul(text, path, encoding, head, line)
        offset, line = offset + len(data), line + text.count("\n")
        if text:
            yield text if begun else text.removeprefix("\ufeff")
            begun = True


def _chunks(path: Path, size: int) -> Iterator[bytes]:
    """The bytes of a file, and none at its end."""
    refuse_missing(path)
    with path.open("rb") as file:
        while data := file.read(size):
            yield data
    yield b""


def _undecodable(
    error: UnicodeDecodeError, path: Path | str, encoding: str, head: bytes, offset: int = 0, line: int = 1
) -> CorpusError:
    """What to say of bytes that are no text; `offset` and `line` are where the bytes at hand begin."""
    line += error.object[: error.start].decode(encoding, "ignore").count("\n")
    value = f"0x{error.object[error.start]:02x}"
    advice = _advice(head, is_wide(encoding))
    return CorpusError(
        f"{path}, line {line}: byte {value} at offset {offset + error.start} is not {encoding}; {advice}"
    )


def _refuse_nul(text: str, path: Path | str, encoding: str, head: bytes, line: int = 1) -> None:
    if "\0" in text:
        line += text.count("\n", 0, text.index("\0"))
        advice = _advice(head, is_wide(encoding))
        raise CorpusError(f"{path}, line {line}: NUL character; a binary file? If it is text, {advice}")


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
