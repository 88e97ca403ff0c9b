"""Writing a file whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: no locks, so what a killed writer left behind stays there
    fcntl = None

PREFIX, SUFFIX = ".bayesnb-", ".tmp"


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path`: a reader, or a crash at any moment, sees the old file or the new one, never a part.

    The bytes go to a temporary file in the same folder, are forced to disk, and take the path's name in one step.
    A file that is replaced passes on its mode bits; a symbolic link stays, and the file it points to is written.
    Temporary files of writers that died are removed; a writer holds a lock on its own, so that a file of a living
    writer, in this container or another, is never taken for dead.

    Parameters
    ----------
    path : str or path-like
        Where; the folder must exist.
    data : bytes
        What.

    Raises
    ------
    ValueError
        The path names something that is no file, such as a folder or a device.
    OSError
        The folder is missing or not writable, or the disk is full. An old file is whole, no temporary file is left.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    _refuse_missing(folder)
    mode = _mode(target)
    _remove_stale(folder)
    temporary, file = _create(folder, mode)
    try:
        with file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:  # an open file cannot be renamed there
                file.close()
            os.replace(temporary, target)  # still locked, or a cleaner could take it just before
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _refuse_missing(folder: str) -> None:
    """Say that there is no such folder; one that may not be looked into says so itself."""
    found = False
    with suppress(FileNotFoundError, NotADirectoryError):
        found = stat.S_ISDIR(os.stat(folder).st_mode)
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no such folder; create it first", folder)


def _mode(target: str) -> int | None:
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise ValueError(f"{target} exists and is no regular file; choose another path")
    return stat.S_IMODE(found)


def _create(folder: str, mode: int | None) -> tuple[str, BinaryIO]:
    """A new file that only this writer holds; until it is whole nobody may read more than the old one allowed."""
    while True:
        name = os.path.join(folder, f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
        created = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        file = open(created, "wb")  # noqa: SIM115  (the caller closes it)
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: then a cleaner gets none either, and takes nothing
                fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(created).st_nlink:  # a cleaner came between creating and locking
                file.close()
                continue
        return name, file


def _remove_stale(folder: str) -> None:
    """Remove temporary files that nobody holds locked: their writers are dead."""
    if fcntl is None:
        return
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)]
    for name in names:
        with suppress(OSError):
            held = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name)
            finally:
                os.close(held)


def _sync_folder(folder: str) -> None:
    if fcntl is None:
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno != errno.EINVAL:  # file systems that cannot sync a folder say so like this
            raise
    finally:
        os.close(opened)
