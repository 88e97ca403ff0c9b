"""Ctrl-C and SIGTERM: quiet, 130 and 143, the file being written whole, and never obeyed halfway through a write."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bayesnb.cli import interrupts, main
from tests import test_cli

mail, model = test_cli.mail, test_cli.model  # fixtures

RUN = "from bayesnb.cli import run; run()"


@pytest.fixture
def clean(monkeypatch):
    """The module as it is when nothing has been interrupted."""
    monkeypatch.setattr(interrupts, "_received", 0)
    monkeypatch.setattr(interrupts, "_holds", 0)
    return lambda number=signal.SIGINT: interrupts._interrupt(number, None)


def test_an_interrupt_waits_for_the_end_of_a_write_and_a_second_does_not(clean):
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        clean()
        done.append("whole")
    assert done == ["whole"] and interrupts.status() == 130
    interrupts._received = 0
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        clean()
        clean()
        done.append("more")
    assert done == ["whole"]


def test_nothing_is_written_after_an_interrupt_that_was_lost_but_what_the_way_out_needs_is(clean):
    with pytest.raises(KeyboardInterrupt):
        clean(signal.SIGTERM)
    assert interrupts.status() == 143
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        done.append("a result")
    assert done == []
    with pytest.raises(KeyboardInterrupt):
        try:
            raise KeyboardInterrupt
        finally:
            with interrupts.held():
                done.append("a summary")
            done.append("and the rest")
    assert done == ["a summary", "and the rest"]


def test_an_interrupt_that_was_lost_is_the_status_also_of_a_command_that_has_none_of_its_own(clean, model):
    interrupts._received = signal.SIGINT
    assert main(["inspect", model]) == 130


# The n-th call of a function that opens, writes, syncs or renames a file is met by a signal before it happens.
AT_STEP = """
import os, signal, sys
number, at, calls = int(sys.argv[1]), int(sys.argv[2]), 0
def met(name):
    plain = getattr(os, name)
    def call(*given, **named):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), number)
        return plain(*given, **named)
    setattr(os, name, call)
sys.argv[:3] = ["bayesnb"]
import bayesnb.atomic, bayesnb.cli.commands
for name in ("open", "fsync", "replace", "chmod", "close"):
    met(name)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_any_step_of_writing_leaves_a_whole_file_and_no_other(model, number):
    arguments = ["ratios", model, "--csv", "target.csv"]
    assert subprocess.run([sys.executable, "-c", RUN, *arguments], stdout=subprocess.DEVNULL).returncode == 0
    whole = Path("target.csv").read_bytes()
    before = sorted(os.listdir("."))
    found = []
    for at in (1, 2, 3, 4, 5, 6):
        Path("target.csv").write_bytes(b"old")
        done = subprocess.run(
            [sys.executable, "-c", AT_STEP + RUN, str(int(number)), str(at), *arguments], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (128 + number, "")
        assert sorted(os.listdir(".")) == before
        found.append(Path("target.csv").read_bytes())
    assert set(found) <= {b"old", whole} and whole in found


WHILE_SAMPLING = """
import os, signal, threading
import nutpie
plain = nutpie.sample
def sample(*given, **named):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    return plain(*given, **named)
nutpie.sample = sample
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["draws.nc", "page.html", "demo/report.html"])
def test_ctrl_c_while_pymc_samples_leaves_nothing(model, name):
    """Although the sampler answers it with the draws so far."""
    arguments = {
        "draws.nc": ["sample", model, "-o", name, "--draws", "1000000"],
        "page.html": ["report", "mail", "-o", name, "--sample"],
        "demo/report.html": ["demo"],
    }[name]
    before = {*os.listdir(".")}
    command = [sys.executable, "-c", WHILE_SAMPLING + RUN, *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 130 and "Traceback" not in done.stderr and not Path(name).exists()
    assert {*os.listdir(".")} - before <= {"demo"}
    assert all(path.suffix == ".png" for path in Path("demo").glob("*"))


LATE_POLARS = """
from bayesnb.cli import stream
plain = stream.standard_input
def late():
    import polars
    return plain()
stream.standard_input = late
"""


@pytest.mark.parametrize("before", ["", LATE_POLARS])
def test_a_filter_that_is_stopped_has_whole_rows_and_its_summary(model, before):
    """Also where polars is loaded, which asks the system to go on waiting for input when a signal has come."""
    for number in (signal.SIGINT, signal.SIGTERM):
        arguments = ["score", model, "-", "-o", "rows.csv", "--summary", "s.json"]
        command = [sys.executable, "-c", f"{before}{RUN}", *arguments]
        with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1) as filter_:
            watchdog = threading.Timer(90, filter_.kill)  # one that does not hear the signal would wait for ever
            watchdog.start()
            filter_.stdin.write(b"free\ntea\n")
            filter_.stdin.flush()
            begun = time.monotonic()
            while not Path("rows.csv").exists() or Path("rows.csv").read_text().count("\n") < 3:
                assert time.monotonic() - begun < 60
                time.sleep(0.05)
            filter_.send_signal(number)
            assert filter_.wait() == 128 + number and filter_.stderr.read() == b""
            watchdog.cancel()
        assert [line.split(",")[:2] for line in Path("rows.csv").read_text().splitlines()[1:]] == [
            ["1", "free"],
            ["2", "tea"],
        ]
        assert test_cli.strict_json(Path("s.json").read_text())["summary"]["documents"] == 2
        Path("rows.csv").unlink()
        Path("s.json").unlink()


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["fit", "mail", "-o", "new"], ["score", "m.model", "mail/ham", "-o", "new"]])
def test_ctrl_c_is_quiet_at_every_moment_of_a_command(model, arguments):
    """Starting, importing, working, writing, ending."""

    def run(delay):
        command = [sys.executable, "-c", RUN, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if delay is not None:
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        return process.returncode, said

    before, begun = sorted(os.listdir(".")), time.monotonic()
    assert run(None) == (0, b"")
    lasted = time.monotonic() - begun
    whole, statuses = Path("new").stat().st_size, []
    for share in np.linspace(0.15, 1, 40):  # before that Python itself is starting
        Path("new").unlink(missing_ok=True)
        status, said = run(share * lasted)
        statuses.append(status)
        assert status in (0, 130) and said == b""
        assert sorted(os.listdir(".")) in (before, sorted([*before, "new"]))
        assert not Path("new").exists() or Path("new").stat().st_size == whole
    assert statuses.count(130) > 10
