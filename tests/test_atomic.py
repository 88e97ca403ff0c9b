"""Saving: whole or not at all, whatever happens on the way."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from bayesnb import atomic, storage
from tests.model_examples import matrix_model, text_model


def leftovers(folder):
    """Temporary files in a folder."""
    return [name for name in os.listdir(folder) if name.startswith(atomic.PREFIX)]


@pytest.mark.parametrize("call", ["replace", "fsync", "chmod"])
def test_a_failure_leaves_the_old_file_and_nothing_else(call, tmp_path, monkeypatch):
    """The disk fails while writing: the error comes through, the old model loads, no temporary file stays."""
    old = storage.save(matrix_model(), tmp_path / "m")

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no space left"):
        patched.setattr(os, call, fail)
        storage.save(text_model(), tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert storage.load(tmp_path / "m").fingerprint == old


def test_file_and_folder_are_forced_to_disk_in_order(tmp_path, monkeypatch):
    """The file before it takes the name, the folder after it."""
    done = []
    sync, replace = os.fsync, os.replace

    def synced(opened):
        found = os.fstat(opened)
        done.append("folder" if stat.S_ISDIR(found.st_mode) else found.st_size)
        sync(opened)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("replace"), replace(*names)))
    atomic.write(tmp_path / "f", b"12345")
    assert done == [5, "replace", "folder"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_replaced_file_passes_on_its_mode(mode, tmp_path):
    """Mode bits of the old file."""
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    atomic.write(path, b"new")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, b"new")


def test_a_private_file_is_private_while_it_is_written(tmp_path, monkeypatch):
    """The temporary file never has more mode bits than the file it replaces."""
    path, seen = tmp_path / "m", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (seen.append(stat.S_IMODE(os.fstat(fd).st_mode)), sync(fd)))
    atomic.write(path, b"new")
    assert seen[0] == 0o600


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_follows_the_umask(mask, tmp_path):
    """As any file the user makes."""
    before = os.umask(mask)
    try:
        atomic.write(tmp_path / "m", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o666 & ~mask


def test_a_link_stays_and_its_target_is_written(tmp_path):
    """Also where the target is in another folder, or is not there yet."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "m")
    for content in (b"first", b"second"):
        atomic.write(link, content)
        assert link.is_symlink()
        assert (tmp_path / "real" / "m").read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_what_is_no_file_is_not_replaced(tmp_path):
    """A folder and a pipe stay; a missing folder is named."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ValueError, match=f"{name} exists and is no regular file"):
            atomic.write(tmp_path / name, b"x")
    with pytest.raises(FileNotFoundError, match=r"no such folder.*missing"):
        atomic.write(tmp_path / "missing" / "m", b"x")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_temporary_files_of_dead_writers_go_and_those_of_living_ones_stay(tmp_path):
    """A lock tells them apart; files of others are not touched."""
    dead, living = (tmp_path / f"{atomic.PREFIX}{name}{atomic.SUFFIX}" for name in ("dead", "living"))
    for file in (dead, living, tmp_path / ".other.tmp"):
        file.write_bytes(b"part")
    with open(living, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        atomic.write(tmp_path / "m", b"new")
        assert sorted(os.listdir(tmp_path)) == sorted([living.name, ".other.tmp", "m"])
    atomic.write(tmp_path / "m", b"new")
    assert sorted(os.listdir(tmp_path)) == [".other.tmp", "m"]


def test_a_writer_whose_new_file_was_cleaned_away_takes_another(tmp_path, monkeypatch):
    """Between creating and locking a cleaner may take the file for dead."""
    lock, taken = fcntl.flock, []

    def late(file, how):
        if how == fcntl.LOCK_EX and not taken:
            taken.append(file.fileno())
            atomic._remove_stale(str(tmp_path))
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    atomic.write(tmp_path / "m", b"new")
    assert taken
    assert os.listdir(tmp_path) == ["m"]


KILLED = """
import os, signal, sys
from bayesnb import atomic, storage
from tests.model_examples import matrix_model

os.fsync = lambda opened: None  # slow, and a killed process, unlike a lost machine, cannot tell
folder = sys.argv[1]
path = os.path.join(folder, "m")
before, new = matrix_model(), matrix_model(alpha=2.0)
old = storage.save(before, path)
for moment in range(1000):
    child = os.fork()
    if not child:
        left = moment
        def step(frame, event, argument):
            global left
            if frame.f_code.co_filename != atomic.__file__:
                return None
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return step
        sys.settrace(step)
        storage.save(new, path)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    found = storage.load(path).fingerprint
    part = sum(name.startswith(atomic.PREFIX) for name in os.listdir(folder))
    print(os.WIFSIGNALED(status), found == old, found == new.fingerprint, part)
    storage.save(before, path)
    assert os.listdir(folder) == ["m"]
    if not status:
        break
"""


def test_a_kill_at_any_line_leaves_a_whole_model(tmp_path):
    """SIGKILL at each line that saving runs: the old model or the new one, and the next save cleans up."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert not ran.returncode, ran.stderr
    killed, old, new, parts = zip(*(line.split() for line in ran.stdout.splitlines()), strict=True)
    assert killed == ("True",) * (len(killed) - 1) + ("False",)
    assert all((a == "True") != (b == "True") for a, b in zip(old, new, strict=True))
    # the three stages were all met: before, with a part on disk, after the new file took the name
    assert len(killed) > 30
    assert "1" in parts
    assert new.count("True") > 2


LOOP = """
import sys
from bayesnb import storage
from tests.model_examples import matrix_model
models = [matrix_model(), matrix_model(alpha=2.0)]
print("ready", flush=True)
for turn in range(int(sys.argv[2])):
    storage.save(models[turn % 2], sys.argv[1])
"""


def writer(path, turns):
    """A process that saves two models in turn."""
    return subprocess.Popen(
        [sys.executable, "-c", LOOP, str(path), str(turns)], stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )  # fmt: skip


def test_processes_that_save_to_one_path_leave_one_whole_model(tmp_path):
    """Two writers at once and a reader: every load is one of the two models, no temporary file is left."""
    path = tmp_path / "m"
    wanted = {storage.save(matrix_model(), path), matrix_model(alpha=2.0).fingerprint}
    running = [writer(path, 10) for _ in range(2)]
    while any(one.poll() is None for one in running):
        assert storage.load(path).fingerprint in wanted
        time.sleep(0.05)
    assert [one.wait() for one in running] == [0, 0]
    for one in running:
        one.stdout.close()
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.long
def test_two_hundred_kills_at_random_moments(tmp_path):
    """A writer killed by the clock: always a whole model, and the last save leaves no part."""
    path = tmp_path / "m"
    wanted = {storage.save(matrix_model(), path), matrix_model(alpha=2.0).fingerprint}
    for wait in np.random.default_rng(0).uniform(0, 0.05, 200):
        with writer(path, 10**6) as one:
            one.stdout.readline()
            time.sleep(wait)
            one.send_signal(signal.SIGKILL)
        assert storage.load(path).fingerprint in wanted
    storage.save(matrix_model(), path)
    assert os.listdir(tmp_path) == ["m"]
