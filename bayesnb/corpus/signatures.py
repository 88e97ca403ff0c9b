"""What the first bytes of a file say: that it is no text, or which encoding it is in."""

from __future__ import annotations

import codecs

HEAD = 4096  # bytes that are looked at

# The longer mark first: UTF-32's begins as UTF-16's does.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")

_UNPACK = "unpack it first"
# None of these is how a text begins. What may (GIF89a, ID3, RIFF) has NULs, which tell it apart.
_KINDS = (
    (b"\x1f\x8b", "compressed by gzip", _UNPACK),
    (b"BZh91AY&SY", "compressed by bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "compressed by xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", _UNPACK),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or export it as CSV"),
    (b"PK\x05\x06", "an empty zip archive", "look for the right file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a rar archive", _UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office file", "save it as plain text, or export it as CSV"),
    (b"{\\rtf1", "rich text (RTF)", "save it as plain text"),
    (b"%PDF-", "a PDF", "extract its text first"),
    (b"\x89PNG\r\n\x1a\n", "a picture", "look for the right file"),
    (b"\xff\xd8\xff", "a picture", "look for the right file"),
    (b"II*\0", "a picture", "look for the right file"),
    (b"MM\0*", "a picture", "look for the right file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export it as CSV or Parquet"),
    (b"SQLite format 3\0", "an SQLite database", "export it as CSV"),
    (b"ARROW1\0\0", "an Arrow file", "write it as Parquet"),
    (b"PAR1\x15", "a Parquet file", "pass format='parquet'"),
)


def kind_of(head: bytes) -> tuple[str, str] | None:
    """What a file is that is no text, and what to do about it."""
    return next(((kind, remedy) for mark, kind, remedy in _KINDS if head.startswith(mark)), None)


def mark_of(head: bytes) -> tuple[bytes, str] | None:
    """The byte order mark that a file begins with, and the encoding it stands for."""
    return next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), None)


def wide_name(head: bytes) -> str | None:
    """The wide encoding in which the first bytes are mostly plain letters, told by where their NULs are."""
    whole = head[:HEAD]
    whole = whole[: len(whole) // 4 * 4] or whole[: len(whole) // 2 * 2]
    for name in _WIDE:
        text = whole.decode(name, "replace").rstrip("\ufffd")  # a character may be cut in two
        plain = sum(char.isprintable() or char.isspace() for char in text)
        latin = sum(char < "\u0250" for char in text)
        if text and plain == len(text) and 2 * latin > len(text):
            return name
    return None


def fault_of(head: bytes, encoding: str, name: str) -> str | None:
    """Why a file that begins so cannot be text of an encoding (`name` is Python's for it), in words; or None.

    Bytes that are read in another encoding than their own need not be an error to a decoder: UTF-16 of the other
    byte order is Chinese to it, and any byte is a letter in latin-1.
    """
    kind, marked = kind_of(head), mark_of(head)
    if kind:
        return f"is {kind[0]}: {kind[1]}"
    if marked and not name.startswith((marked[1], "utf-8")):  # to utf-8 the first byte is wrong: the decoder says so
        return f"begins with the byte order mark of {marked[1]}, not {encoding}; pass encoding={marked[1]!r}"
    if not name.startswith(("utf-16", "utf-32")) or not head:
        return None
    if marked:
        turned = name not in ("utf-16", "utf-32") and head.startswith("\ufffe".encode(name))
        return f"has its bytes the other way round; pass encoding={marked[1]!r}" if turned else None
    found = wide_name(head) or ("utf-8" if _is_plain(head) else None)
    if name in ("utf-16", "utf-32"):
        wanted = found or f"{name}-le"
        return f"has no byte order mark, so that it is not {encoding}; pass the encoding, such as encoding={wanted!r}"
    enough = len(head) >= 4 if found != "utf-8" else len(head) >= 32  # a few characters may be anything
    return (
        f"is not {encoding} but reads as {found}; pass encoding={found!r}"
        if found not in (None, name) and enough
        else None
    )


def _is_plain(head: bytes) -> bool:
    """Whether all bytes are those of plain English text."""
    text = head.decode("latin-1")
    return text.isascii() and all(char.isprintable() or char.isspace() for char in text)


def advice(head: bytes, wide: bool) -> str:
    """Which encoding to try for bytes that the given one cannot read."""
    marked = mark_of(head)
    if marked and marked[1] != "utf-8":
        return f"pass encoding={marked[1]!r}, as its byte order mark says"
    if wide:
        return "pass the encoding it was written in, such as encoding='utf-8'"
    guess = wide_name(head) or "cp1252' or 'latin-1"
    return f"pass the encoding it was written in, such as encoding='{guess}'"
