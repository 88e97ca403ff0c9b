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
from bayesnb.cli import commands, main
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
    assert main(["fit", str(path), "-o", str(folder / "m.model"), "--json"]) == 0
    return folder, str(path), str(folder / "m.model")


def command_lines(folder):
    place, table, model = folder
    return {
        "fit": ["fit", table, "-o", str(place / "fit.model")],
        "score": ["score", model, table],
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
    "fit", "score", "evaluate", "select", "compare", "ratios", "ratios all", "report", "sample", "inspect", "verify",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_json_is_strict_and_alone_on_stdout(folder, name, capsys):
    assert main([*command_lines(folder)[name], "--json"]) in (0, 1)  # 1: draws may disagree, which is told as JSON, too
    assert strict_json(capsys.readouterr().out)


def width(line):
    """Columns of a terminal that a line takes: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("score", "sample")])
def test_tables_fit_80_columns_whatever_tokens_and_labels_are(folder, name, capsys):
    assert main(command_lines(folder)[name]) == 0
    tables, inside = [], False
    for line in capsys.readouterr().out.splitlines():
        inside = inside or "───" in line
        if inside and not line.strip():
            inside = False
        if inside:
            tables.append(line)
    assert tables or name in ("inspect",)
    assert all(width(line) <= 80 for line in tables), [line for line in tables if width(line) > 80]


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
    ],
    ids=["fit", "score", "select", "report"],
)
def test_long_work_shows_how_much_is_done_and_how_much_time_is_left(large, arguments, work):
    shown, status = at_terminal(arguments, large)
    assert status == 0, shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    bars = re.findall(rf"{work}\S*[^%\r\n]* (\d+)% (\S+) left", plain)
    shares = [int(share) for share, _ in bars]
    assert len(set(shares)) >= 2 and shares == sorted(shares), plain
    assert any(re.fullmatch(r"\d+:\d\d:\d\d", left) for share, left in bars if 0 < int(share) < 100), bars


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
    "score": ["score", "m.model", "few.csv", "-o", "target.csv"],
    "ratios": ["ratios", "m.model", "--csv", "target.csv", "--plot", "target.svg"],
    "report": ["report", "few.csv", "-o", "target.html", "--model", "target"],
    "sample": ["sample", "m.model", "-o", "target.nc", "--sampler", "exact", "--draws", "50"],
}


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_ctrl_c_at_any_moment_leaves_the_old_file_or_the_new_one_and_nothing_else(name, large, tmp_path):
    arguments = WRITERS[name]
    for source in ("few.csv", "m.model"):
        os.link(large / source, tmp_path / source)
    written = {word for word in arguments if word.startswith("target")}

    def start():
        for word in written:
            (tmp_path / word).write_bytes(OLD)
        return subprocess.Popen(
            [*PROGRAM, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    begun, process = time.monotonic(), start()
    said = process.communicate(timeout=120)[1]
    whole = process.returncode
    assert whole in (0, 1), said  # 1: so few draws may disagree
    lasted = time.monotonic() - begun
    new = {word: (tmp_path / word).stat().st_size for word in written}
    statuses = []
    for share in (0.5, 0.8, 0.95):
        process = start()
        time.sleep(share * lasted)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1]
        statuses.append(process.returncode)
        # a shell says 130 for both: caught, or by the system once Python is on its way out
        assert process.returncode in (whole, 130, -signal.SIGINT), said
        assert "Traceback" not in said
        assert {path.name for path in tmp_path.iterdir()} == {"few.csv", "m.model", *written}
        for word in written:
            found = (tmp_path / word).read_bytes()
            assert found == OLD or len(found) > 0.9 * new[word]  # dates may change a few bytes
    assert set(statuses) - {whole}  # else no signal came in time to show anything
