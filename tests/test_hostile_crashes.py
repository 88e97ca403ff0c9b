"""Saving under a bad disk, a killer and a crowd: a reader finds one whole model, and nothing stays behind.

`test_atomic` kills a writer of a small model at every line it runs; here the file is large, so that kills fall into
writing, forcing to disk and renaming, and the system calls themselves break off in the middle.
"""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from bayesnb import atomic, storage
from tests.model_examples import matrix_model, text_model

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
LARGE = """
import os, signal, sys, time
import numpy as np
import bayesnb
from bayesnb import storage

def large(seed):
    rng = np.random.default_rng(seed)
    return bayesnb.GaussianNB().fit(rng.normal(size=(6, 100_000)), np.arange(6) % 2)
"""


def python(code, *arguments, timeout=300):
    """Output of a fresh interpreter, in lines."""
    command = [sys.executable, "-W", "ignore", "-c", LARGE + code, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=timeout)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


CLOCK = """
from bayesnb import atomic
path, n = sys.argv[1], int(sys.argv[2])
old, new = large(0), large(1)
first, other = old.save(path), new._model().fingerprint
write = atomic.write

def saving():
    "A child that tells when it begins to write."
    ready, begun = os.pipe()
    child = os.fork()
    if not child:
        atomic.write = lambda *given: (os.write(begun, b"."), write(*given))
        new.save(path)
        os._exit(0)
    os.read(ready, 1)
    os.close(ready), os.close(begun)
    return child, time.perf_counter()

took = []
for _ in range(3):
    child, started = saving()
    os.waitpid(child, 0)
    took.append(time.perf_counter() - started)
for moment in np.linspace(0, 1.5 * max(took), n):
    old.save(path)
    child, started = saving()
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = storage.load(path).fingerprint
    assert found in (first, other)
    print(found == other, len(os.listdir(os.path.dirname(path))) > 1)
old.save(path)
"""


@pytest.mark.parametrize("n", [20, pytest.param(200, marks=pytest.mark.long)])
def test_a_writer_of_a_large_model_killed_by_the_clock_leaves_a_whole_one(n, tmp_path):
    """Over the time that writing takes: the old model or the new one, and the next save removes the part."""
    lines = [tuple(line.split()) for line in python(CLOCK, tmp_path / "m", n)]
    assert len(lines) == n
    assert ("False", "True") in lines  # some kills fell while a part was on disk
    assert ("True", "False") in lines  # and some after the name was taken
    assert os.listdir(tmp_path) == ["m"]


CALLS = """
from bayesnb import atomic
import builtins, fcntl
path, old, new = sys.argv[1], large(0), large(1)
first, other = old.save(path), new._model().fingerprint

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(room, name, when):
    real = getattr(room, name)
    def call(*given, **named):
        if when == "before":
            die()
        made = real(*given, **named)
        die()
        return made
    setattr(room, name, call)

class Half:
    def __init__(self, file):
        self.file = file
    def __getattr__(self, name):
        return getattr(self.file, name)
    def __enter__(self):
        return self
    def __exit__(self, *_):
        self.file.close()
    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        die()

def half():
    create = atomic._create
    atomic._create = lambda *given: (lambda name, file: (name, Half(file)))(*create(*given))

calls = [(os, name) for name in ("open", "chmod", "fsync", "replace", "close")] + [(fcntl, "flock")]
ways = [(f"{when} {name}", lambda r=room, n=name, w=when: dying(r, n, w)) for room, name in calls
        for when in ("before", "after")]
for name, way in [*ways, ("half written", half)]:
    child = os.fork()
    if not child:
        way()
        new.save(path)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status), name
    found = storage.load(path).fingerprint
    assert found in (first, other), name
    print(name, "|", found == other, "|", len(os.listdir(os.path.dirname(path))) - 1)
    old.save(path)
    assert os.listdir(os.path.dirname(path)) == ["m"], name
"""


def test_a_kill_before_and_after_each_system_call_leaves_a_whole_model(tmp_path):
    """Also with half of the bytes written; only once the name is taken is it the new model."""
    lines = [line.split(" | ") for line in python(CALLS, tmp_path / "m")]
    new = {name for name, is_new, _ in lines if is_new == "True"}
    parts = {name for name, _, part in lines if part == "1"}
    assert len(lines) == 13
    assert new == {"after replace", "before close", "after close"}  # the folder's, which has been forced to disk
    assert {"half written", "before fsync", "after fsync", "before replace"} <= parts


FULL = """
import resource
path, old, new = sys.argv[1], large(0), large(1)
first = old.save(path)
size = os.path.getsize(path)
for share in (0.0, 0.3, 0.999):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size * share), resource.RLIM_INFINITY))
    try:
        new.save(path)
    except OSError as error:
        print(error.errno)
    assert os.listdir(os.path.dirname(path)) == ["m"]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
assert storage.load(path).fingerprint == first
"""


def test_a_disk_without_room_is_an_oserror_and_leaves_the_old_model(tmp_path):
    """The system refuses bytes in the middle of the file: no part stays."""
    assert python(FULL, tmp_path / "m") == [str(errno.EFBIG)] * 3


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_can_be_saved_to(number, tmp_path, monkeypatch):
    """As some network shares are; what a killed writer left there stays, since nobody knows whose it is."""

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    part = tmp_path / f"{atomic.PREFIX}part{atomic.SUFFIX}"
    part.write_bytes(b"part")
    monkeypatch.setattr(fcntl, "flock", refuse)
    fingerprint = storage.save(matrix_model(), tmp_path / "m")
    assert storage.load(tmp_path / "m").fingerprint == fingerprint
    assert sorted(os.listdir(tmp_path)) == sorted(["m", part.name])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("mode", [0o555, 0o700])
def test_a_folder_that_one_may_not_write_to_or_see_is_a_matter_of_permission(mode):
    """Not of a folder to be created; the old model stays. (Root may write anywhere: another user.)"""
    with tempfile.TemporaryDirectory() as top:  # the folders of pytest are closed to other users
        folder = os.path.join(top, "closed", "inner")
        os.makedirs(folder)
        path = os.path.join(folder, "m")
        old = storage.save(matrix_model(), path)
        for name, bits in ((top, 0o755), (folder, 0o755), (folder if mode == 0o555 else os.path.dirname(folder), mode)):
            os.chmod(name, bits)
        child = os.fork()
        if not child:
            try:
                os.setuid(65534) if os.getuid() == 0 else os.chmod(folder, 0)
                storage.save(text_model(), path)
            except PermissionError:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.chmod(folder, 0o755)  # noqa: S103
        assert storage.load(path).fingerprint == old


CROWD = """
path, turns = sys.argv[1], int(sys.argv[2])
models = [large(0), large(1), bayesnb.MultinomialNB().fit(np.eye(3), [0, 1, 1])]
wanted = [model._model().fingerprint for model in models]
models[0].save(path)
writers = []
for i in range(8):
    child = os.fork()
    if not child:
        for turn in range(turns):
            models[(i + turn) % 3].save(path)
        os._exit(0)
    writers.append(child)
readers = []
for i in range(2):
    child = os.fork()
    if not child:
        seen = set()
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0 if len(seen) > 1 else 3))
        while True:
            found = storage.load(path)
            assert found.fingerprint in wanted
            seen.add(found.fingerprint)
    readers.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in writers] == [0] * 8)
for child in readers:
    os.kill(child, signal.SIGTERM)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in readers] == [0] * 2)
assert storage.load(path).fingerprint in wanted
"""


@pytest.mark.parametrize("turns", [6, pytest.param(100, marks=pytest.mark.long)])
def test_eight_processes_that_save_to_one_path_and_two_that_load_from_it(turns, tmp_path):
    """Models of 3 MB and of 2 kB in turn: every load is one of them, and no temporary file is left."""
    assert python(CROWD, tmp_path / "m", turns, timeout=600) == ["True", "True"]
    assert os.listdir(tmp_path) == ["m"]


def test_an_interrupt_while_saving_leaves_the_old_model_and_no_part(tmp_path, monkeypatch):
    """Ctrl-C is no failure of the disk, and cleans up alike."""
    old = storage.save(matrix_model(), tmp_path / "m")

    def interrupted(_):
        signal.raise_signal(signal.SIGINT)
        time.sleep(1)

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        storage.save(text_model(), tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert storage.load(tmp_path / "m").fingerprint == old
    assert np.array_equal(storage.load(tmp_path / "m").state.classes, [0, 1])
