"""The container of a model file: safetensors, read with suspicion.

A file is eight bytes (the length of the header), a header in JSON, and arrays one behind the other. Everything the
header claims is held against the size of the file before anything is allocated, and nothing in it is ever run.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

KEY = "bayesnb"  # one metadata key: with several the library writes them in random order
MAX_HEADER = 2**24
_LONGEST = 1000  # characters of a complaint
DTYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}


@dataclass(frozen=True)
class Tensor:
    """Where one array lies: element type, shape, and its first byte and the one past its last in the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """What stands before the arrays: our metadata, the table of arrays (not yet looked at), where they start."""

    document: dict[str, Any]
    table: dict[str, Any]
    start: int
    size: int

    def tensors(self) -> dict[str, Tensor]:
        """Arrays by name, which fill the rest of the file without gap or overlap.

        Raises
        ------
        ValueError
            An entry is malformed, or does not fit its neighbours, its own shape, or the file.
        """
        found = {}
        for name, entry in self.table.items():
            with naming(f"tensor {name!r}"):
                found[name] = _tensor(entry, self.start, self.size)
        end = self.start
        for name, tensor in sorted(found.items(), key=lambda item: (item[1].begin, item[1].end)):
            if tensor.begin != end:
                raise ValueError(f"tensor {name!r}: data_offsets leave a gap or overlap at byte {end}")
            end = tensor.end
        if end != self.size:
            raise ValueError(f"size: the arrays end at byte {end}, the file at {self.size}; it is cut or has a tail")
        return found


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Any complaint about the content inside is a ValueError that begins with `what`."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        said = str(error)
        if len(said) <= _LONGEST:
            raise ValueError(f"{what}: {said}") from error
        # what it quotes is as long as whoever wrote the file liked
        raise ValueError(f"{what}: {said[: _LONGEST // 2]} ... {said[-_LONGEST // 4 :]}") from None


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The file to read; ValueError if it is no regular file (a pipe would block), OSError if it cannot be opened."""
    with naming(f"model file {os.fspath(path)}"):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("path: not a regular file")
        with open(path, "rb") as file:
            yield file


def read_header(file: BinaryIO) -> Header:
    """Read and parse the header.

    Raises
    ------
    ValueError
        It is longer than the file or than 16 MiB, is not UTF-8 or JSON, names a key twice, or holds no metadata
        of this library.
    """
    size = os.fstat(file.fileno()).st_size
    first = file.read(8)
    if len(first) < 8:
        raise ValueError(f"this is no bayesnb model file, or it was cut: header length: it has {size} bytes")
    length = int.from_bytes(first, "little")
    if length > MAX_HEADER or length > size - 8:
        raise ValueError(
            f"this is no bayesnb model file, or it was cut: header length: {length} bytes are claimed, {size - 8} "
            f"follow and {MAX_HEADER} are allowed"
        )
    table = parse(file.read(length).decode("utf-8"), "header")
    metadata = table.pop("__metadata__", None)
    if not (isinstance(metadata, dict) and list(metadata) == [KEY] and isinstance(metadata[KEY], str)):
        raise ValueError(f"__metadata__: it must hold the one key {KEY!r}; this is no bayesnb model file")
    return Header(parse(metadata[KEY], KEY), table, 8 + length, size)


def parse(text: str, field: str) -> dict[str, Any]:
    """Parse strict JSON, an object: no key twice, no NaN, no infinity; ValueError that names `field` otherwise."""
    with naming(field):
        try:
            value = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        except MemoryError:  # 16 MiB of empty lists take half a gigabyte
            raise ValueError("it takes more memory than there is") from None
        if not isinstance(value, dict):
            raise ValueError("not a JSON object")
    return value


def read_arrays(file: BinaryIO, tensors: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """Read the arrays into memory of our own, closed for writing.

    They are not mapped: a disk that fails, or a program that writes the file over in place, would end this process.

    Raises
    ------
    ValueError
        The file is shorter than it was when its header was checked.
    OSError
        The disk fails.
    """
    found = {}
    for name, tensor in tensors.items():
        array = np.empty(tensor.shape, DTYPES[tensor.dtype])  # no more than the file holds: `Header.tensors` asked it
        file.seek(tensor.begin)
        if file.readinto(array.reshape(-1).view(np.uint8)) < array.nbytes:  # type: ignore[attr-defined]
            raise ValueError(f"tensor {name!r}: it ends before its last byte; the file was cut while it was read")
        array.setflags(write=False)
        found[name] = array
    return found


def is_count(value: Any) -> bool:
    """Whether a JSON value is an integer >= 0; True and 1.0 are none."""
    return type(value) is int and value >= 0


def _tensor(entry: Any, start: int, size: int) -> Tensor:
    if not (isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}):
        raise ValueError("an entry has exactly dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
    if not (isinstance(shape, list) and len(shape) <= 2 and all(map(is_count, shape))):
        raise ValueError(f"shape {shape!r} is not one or two lengths")
    if not (isinstance(offsets, list) and len(offsets) == 2 and all(map(is_count, offsets))):
        raise ValueError(f"data_offsets {offsets!r} are not two positions")
    begin, end = offsets
    if not begin <= end <= size - start:
        raise ValueError(f"data_offsets {offsets} lie outside the {size - start} bytes of arrays; the file is cut")
    if end - begin != math.prod(shape) * DTYPES[dtype].itemsize:
        raise ValueError(f"data_offsets {offsets} do not fit shape {shape} of {dtype}")
    return Tensor(dtype, tuple(shape), start + begin, start + end)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} stands there twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")
