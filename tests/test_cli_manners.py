"""Manners of the command line: help with examples, progress for whoever watches, Ctrl-C, tables of 80 columns, JSON."""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

import numpy as np
import pandas as pd
import pytest
import typer.main

import bayesnb
from bayesnb.cli import commands, main, output
from bayesnb.cli.steps import Steps
from tests.test_cli import strict_json

APP = typer.main.get_command(commands.app)
PROGRAM = [sys.executable, "-c", "from bayesnb.cli import run; run()"]
LONG_WORD, CJK, LONG_LABEL = "w" * 60, "自由貿易" * 12, "a label of more words than fit into a column of a table " * 2


# --- help -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(APP.commands))
def test_help_fits_80_columns_and_ends_with_examples_that_the_command_understands(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    examples = [line.strip() for line in shown.partition("Examples:\n")[2].splitlines() if line.strip()]
    assert examples
    for line in examples:
        command, *words = shlex.split(line.rpartition("| ")[2])
        assert (command, words[0]) == ("bayesnb", name)
        context = APP.commands[name].make_context(name, words[1:])
        assert context.params


def test_help_without_a_command_lists_every_command_whole_within_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for name, command in APP.commands.items():
        assert re.search(rf"^  {name} +{re.escape(command.short_help)}$", shown, re.MULTILINE)


# --- JSON -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose tokens, labels and name are long, and a model of it."""
    folder = tmp_path_factory.mktemp("manners")
    rng = np.random.default_rng(5)
    words = [LONG_WORD, CJK, "free", "ten", "coffee", "prices"]
    rows = [(LONG_LABEL if i % 2 else "短い", " ".join(rng.choice(words, 12))) for i in range(40)]
    path = folder / ("a file with a name of some length " * 3 + ".csv")
    pd.DataFrame(rows, columns=["label", "text"]).to_csv(path, index=False)
    (folder / "mail" / ("自由" * 30)).mkdir(parents=True)
    (folder / "mail" / ("自由" * 30) / f"{LONG_WORD}.txt").write_text("free coffee")
    assert main(["fit", str(path), "-o", str(folder / "m.model"), "--json"]) == 0
    return folder, str(path), str(folder / "m.model")


def command_lines(folder):
    place, table, model = folder
    return {
        "fit": ["fit", table, "-o", str(place / "fit.model")],
        "score": ["score", model, table],
        "score folder": ["score", model, str(place / "mail"), "--threshold", ".99"],
        "evaluate": ["evaluate", model, table],
        "select": ["select", table],
        "compare": ["compare", table],
        "ratios": ["ratios", model],
        "ratios all": ["ratios", model, "--classes", "all"],
        "report": ["report", table, "-o", str(place / "page.html")],
        "sample": ["sample", model, "-o", str(place / "draws.nc"), "--sampler", "exact", "--draws", "500"],
        "inspect": ["inspect", model],
        "verify": ["verify", "--model", "multinomial"],
    }


NAMES = [
    "fit", "score", "score folder", "evaluate", "select", "compare", "ratios", "ratios all", "report", "sample",
    "inspect", "verify",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_json_is_strict_and_alone_on_stdout(folder, name, capsys):
    assert main([*command_lines(folder)[name], "--json"]) in (0, 1)  # 1: draws may disagree, which is told as JSON, too
    assert strict_json(capsys.readouterr().out)


def width(line):
    """Columns of a terminal that a line takes: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("name", NAMES)
def test_tables_fit_80_columns_whatever_tokens_and_labels_are(folder, name, capsys, monkeypatch):
    if name.startswith("score"):  # a table on a terminal only
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("TERM", "dumb")
    assert main(command_lines(folder)[name]) in (0, 1)  # 1: draws may disagree
    lines = capsys.readouterr().out.splitlines()
    start = next((i for i, line in enumerate(lines) if "───" in line), len(lines))
    assert start < len(lines) or name == "inspect"
    # what ends a command may name a file, on a line of its own
    wide = [line for line in lines[start:] if width(line) > 80 and not line.startswith("wrote ")]
    assert not wide


@pytest.mark.parametrize("word", ["one two", CJK[:24], LONG_WORD])
def test_a_sentence_fits_and_ends_its_lines_at_words(word, capsys):
    output.say_sentence(f"{word} " * 15 + "end")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines) == f"{word} " * 15 + "end" and len(lines) > 1
    assert all(width(line) <= 80 for line in lines)


# --- a terminal, and a pipe -----------------------------------------------------------------------------------


def at_terminal(arguments, cwd):
    """What a command shows on stderr where that is a terminal of 100 columns, and its exit status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=cwd, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 120)[0]:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return shown.decode(), process.wait(timeout=60)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that is read in blocks, three of them, and a model."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(2)
    words = np.array([f"word{i}" for i in range(3000)])
    lines = [f"{'ab'[i % 2]},{' '.join(rng.choice(words, 100))}\n" for i in range(2000)]
    block = "".join(lines)
    with (folder / "large.csv").open("w") as file:
        file.write("label,text\n")
        for _ in range(2**26 // len(block) + 1):
            file.write(block)
    (folder / "some.csv").write_text("label,text\n" + block * 3)
    (folder / "more.csv").write_text("label,text\n" + block * 15)
    (folder / "few.csv").write_text("label,text\n" + "".join(lines[:500]))
    bayesnb.TextClassifier().fit([line[2:] for line in lines], [line[0] for line in lines]).save(folder / "m.model")
    return folder


@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (["fit", "large.csv", "-o", "l.model"], "reading and counting"),
        (["score", "m.model", "more.csv", "-o", "rows.csv"], "scoring more.csv"),
        (["select", "some.csv"], "leaving out"),
        (["report", "few.csv", "-o", "page.html"], "drawing the page"),
        (["evaluate", "m.model", "more.csv"], "counting"),
        (["compare", "more.csv"], "counting"),
    ],
    ids=["fit", "score", "select", "report", "evaluate", "compare"],
)
def test_long_work_shows_how_much_is_done_and_how_much_time_is_left(large, arguments, work):
    shown, status = at_terminal(arguments, large)
    assert status == 0, shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    bars = re.findall(rf"{work}\S*[^%\r\n]* (\d+)% (\S+) left", plain)
    shares = [int(share) for share, _ in bars]
    assert len(set(shares)) >= 2 and shares == sorted(shares), plain
    assert any(re.fullmatch(r"\d+:\d\d:\d\d", left) for share, left in bars if 0 < int(share) < 100), bars


def test_steps_show_what_was_done_before_and_the_time_left_at_that_pace(monkeypatch, capsys):
    """Three quarters took 30 seconds, so a quarter takes 10; what is printed meanwhile reaches stdout alone."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    steps = Steps([3, 1])
    with steps.step("sampling"):
        pass
    steps._began -= 30
    with steps.step("drawing"):
        print("a result")
    shown = capsys.readouterr()
    err = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.err)
    assert re.search(r"sampling \(1 of 2\) \S+ +0% -:--:-- left", err)
    assert re.findall(r"drawing \(2 of 2\) [^%]* (\d+)% (\S+) left", err)[0] == ("75", "0:00:10")
    assert shown.out == "a result\n" and "a result" not in err


def test_a_pipe_gets_no_progress(large):
    done = subprocess.run(
        [*PROGRAM, "score", "m.model", "some.csv", "-o", "rows.csv"], cwd=large, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "guessed" not in line] == []


# --- Ctrl-C ---------------------------------------------------------------------------------------------------

OLD = b"an old file"
WRITERS = {
    "fit": ["fit", "few.csv", "-o", "target"],
    "select": ["select", "few.csv", "-o", "target", "--csv", "target.csv"],
    "score": ["score", "m.model", "few.csv", "-o", "target.csv", "--summary", "target.json"],
    "ratios": ["ratios", "m.model", "--csv", "target.csv", "--plot", "target.svg"],
    "compare": ["compare", "few.csv", "--csv", "target.csv"],
    "report": ["report", "few.csv", "-o", "target.html", "--model", "target"],
    "sample": ["sample", "m.model", "-o", "target.nc", "--sampler", "exact", "--draws", "50"],
    "demo": ["demo", "-o", "."],
}
PICTURES = [
    f"{name}_{kind}.png" for name in ("toy_spam", "federalist") for kind in ("agreement", "map_vs_laplace", "ratios")
]
DEMO = {"report.html", "federalist_disputed.png", *PICTURES}


@pytest.mark.parametrize("name", ["fit", "score", "compare"])
def test_ctrl_c_leaves_the_old_file_or_the_new_one_and_nothing_else(name, large, tmp_path):
    statuses = interrupted(name, large, tmp_path, (0.5, 0.8, 0.95))
    assert 130 in statuses  # else no signal came in time to show anything


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_ctrl_c_at_any_moment_leaves_the_old_file_or_the_new_one_and_nothing_else(name, large, tmp_path):
    statuses = interrupted(name, large, tmp_path, np.linspace(0.2, 1, 17))  # before that Python itself is starting
    assert statuses.count(130) >= 5


def interrupted(name, large, folder, shares):
    """Exit statuses of a command that is interrupted after shares of its duration; what it leaves is checked."""
    arguments = WRITERS[name]
    for source in ("few.csv", "m.model"):
        os.link(large / source, folder / source)
    written = DEMO if name == "demo" else {word for word in arguments if word.startswith("target")}

    def run(delay):
        for word in written:
            (folder / word).write_bytes(OLD)
        begun = time.monotonic()
        process = subprocess.Popen(
            [*PROGRAM, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if delay is not None:
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1]
        return process.returncode, said, time.monotonic() - begun

    whole, said, lasted = run(None)
    assert whole in (0, 1), said  # 1: so few draws may disagree
    new = {word: (folder / word).stat().st_size for word in written}
    statuses = []
    for share in shares:
        status, said, took = run(share * lasted)
        statuses.append(status)
        lasted = min(lasted, took) if status != 130 else lasted  # the first run may have waited for the disk
        # a shell says 130, too, where Python had not yet begun to catch the signal
        assert status in (whole, 130, -signal.SIGINT) and "Traceback" not in said, (status, said)
        assert {path.name for path in folder.iterdir()} == {"few.csv", "m.model", *written}
        for word in written:
            found = (folder / word).read_bytes()
            assert found == OLD or len(found) > 0.9 * new[word]  # dates may change a few bytes
    return statuses
