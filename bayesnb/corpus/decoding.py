"""Bytes to text: the one place that knows encodings, and where in a file a byte was wrong."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from .records import CorpusError
from .signatures import HEAD, advice, fault_of, kind_of, mark_of, wide_name

LONGEST = 2**29  # bytes of a line or row that is read in blocks: nothing may take a whole file into memory


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes; a missing file or a folder in its place is an OSError that says so."""
    refuse_missing(path)
    return path.read_bytes()


def mode_of(path: Path) -> int:
    """What kind of thing is at a path, as `os.stat` has it; OSError where there is nothing, or no way to it."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        said = "is a symbolic link that leads to no file" if path.is_symlink() else "does not exist"
        raise FileNotFoundError(f"{path} {said}") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(f"{path} is a symbolic link that leads to itself") from error
        raise


def refuse_missing(path: Path) -> None:
    """OSError where a file is missing, or a folder, a pipe or a device stands in its place."""
    mode = mode_of(path)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder where a file was expected")
    if not stat.S_ISREG(mode):  # a pipe gives its bytes once, or waits for ever; a device may have no end
        raise OSError(f"{path} is a pipe or a device, not a file: write what it gives to a file first")


def is_binary(data: bytes, encoding: str) -> bool:
    """Whether a file is no text in any encoding: by how it begins, or by NULs that no encoding explains."""
    if kind_of(data):
        return True
    return not is_wide(encoding) and b"\0" in data and not mark_of(data) and not wide_name(data)


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
    head = data[:HEAD]
    _refuse_head(head, path, encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, path, encoding, head) from error
    except (LookupError, UnicodeError) as error:
        raise CorpusError(f"{path}: cannot be read as {encoding}: {error}") from error
    _refuse_nul(text, path, encoding, head)
    return text.lstrip("\ufeff")


def read_text(path: Path, encoding: str) -> str:
    """Read one text file."""
    return decode(read_bytes(path), path, encoding)


def lines_of(text: str) -> list[str]:
    r"""Lines that end in \n, whatever stands before it; in \r where there is no \n, as on old Macs."""
    return text.split("\n" if "\n" in text else "\r")


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
    rest: list[bytes] = []  # pieces: a long line is put together once
    held, line = 0, 1
    for piece in utf8_pieces(path, encoding, size):
        end = 0 if size is None else piece.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, piece[:end]])
            line += piece.count(b"\n")
            piece, rest, held = piece[end:], [], 0
        rest.append(piece)
        held += len(piece)
        if size is not None and held > LONGEST:
            raise CorpusError(
                f"{path}, line {line}: a line of more than {LONGEST >> 20} MB; is it one document a line?"
            )
    if held:
        yield b"".join(rest)


def _decoded(path: Path, encoding: str, size: int) -> Iterator[str]:
    """A text file in pieces, decoded as a whole would be."""
    decode(b"", path, encoding)  # refuses what is no encoding of texts
    make = codecs.lookup(encoding).incrementaldecoder
    if make is None:
        yield read_text(path, encoding)
        return
    head = read_head(path)
    _refuse_head(head, path, encoding)
    decoder, offset, line, begun = make(), 0, 1, False
    for data in _chunks(path, size):
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:  # its bytes begin with those of a character that was cut in two
            held = len(error.object) - len(data)
            raise _undecodable(error, path, encoding, head, offset - held, line) from error
        except UnicodeError as error:
            raise CorpusError(f"{path}: cannot be read as {encoding}: {error}") from error
        _refuse_nul(text, path, encoding, head, line)
        offset, line = offset + len(data), line + text.count("\n")
        text = text if begun else text.lstrip("\ufeff")
        if text:
            yield text
            begun = True


def read_head(path: Path) -> bytes:
    """The first bytes of a file."""
    refuse_missing(path)
    with path.open("rb") as file:
        return file.read(HEAD)


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
    remedy = advice(head, is_wide(encoding))
    return CorpusError(
        f"{path}, line {line}: byte {value} at offset {offset + error.start} is not {encoding}; {remedy}"
    )


def _refuse_nul(text: str, path: Path | str, encoding: str, head: bytes, line: int = 1) -> None:
    if "\0" in text:
        line += text.count("\n", 0, text.index("\0"))
        other = mark_of(head) or (None if is_wide(encoding) else wide_name(head))
        remedy = f"If it is text, {advice(head, is_wide(encoding))}" if other else "If it is text, take the NULs out"
        raise CorpusError(f"{path}, line {line}: NUL character; a binary file? {remedy}")


def _refuse_head(head: bytes, path: Path | str, encoding: str) -> None:
    """CorpusError where a file's first bytes show that it is no text of an encoding."""
    is_wide(encoding)  # an unknown encoding is an error
    fault = fault_of(head, encoding, codecs.lookup(encoding).name)
    if fault:
        raise CorpusError(f"{path} {fault}")


def as_path(path: str | os.PathLike) -> Path:
    """Check that a path is one."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise CorpusError(f"expected the path of a file or folder, got {path!r}")
    if "\0" in os.fspath(path):
        raise CorpusError("the path holds a NUL character")
    return Path(path)
