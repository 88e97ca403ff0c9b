"""Data is data: nothing that is read is run, nothing is sent anywhere, and only the model file that is named runs."""

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bayesnb.corpus.tokens import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*(ROOT / "bayesnb").rglob("*.py"), *(ROOT / "models").rglob("*.py")])
# modules that run what they read, start other programs, or talk to a network
REFUSED_MODULES = {
    "pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "code", "codeop", "runpy",
    "subprocess", "pty", "ctypes", "cffi", "socket", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc", "requests",
    "httpx", "aiohttp", "webbrowser", "yaml",
}  # fmt: skip
REFUSED_CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "os.execv", "os.spawnv", "os.posix_spawn",
    "np.load", "numpy.load", "np.fromfile", "pd.read_pickle", "pandas.read_pickle", "pl.read_ipc", "tempfile.mktemp",
}  # fmt: skip
# where code is imported by a name that is not written there: the facades' own parts, and models by name or path
IMPORTS_BY_NAME = {"bayesnb/__init__.py", "bayesnb/corpus/__init__.py", "bayesnb/sampling/modelfiles.py"}


def dotted(node):
    """`a.b.c` of a call's function, or "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def complaints(text, name):
    """What a source file does that data must never be able to reach."""
    found = []
    for node in ast.walk(ast.parse(text)):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or ""]
        found += [f"{name}:{node.lineno} imports {m}" for m in modules if m.split(".")[0] in REFUSED_MODULES]
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            if called in REFUSED_CALLS or (called.endswith("import_module") and name not in IMPORTS_BY_NAME):
                found.append(f"{name}:{node.lineno} calls {called}")
            if any(k.arg in ("shell", "allow_pickle") and getattr(k.value, "value", True) for k in node.keywords):
                found.append(f"{name}:{node.lineno} passes shell or allow_pickle")
    return found


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from subprocess import run", "eval('1')", "np.load(f)", "f(shell=True)",
     "importlib.import_module(name)", "import urllib.request"],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(text):
    assert complaints(text, "some.py")


def test_no_source_runs_data_starts_programs_or_opens_connections():
    assert len(SOURCES) > 100
    found = [
        line for path in SOURCES for line in complaints(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]
    assert found == []


WATCH = """
import json, os, sys
events = []
WATCHED = ("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.Popen", "os.system", "os.exec",
           "os.posix_spawn", "os.fork", "os.forkpty", "ctypes.dlopen", "urllib.Request", "pickle.find_class")
HERE = os.getcwd()
def hook(event, args):
    if event in WATCHED:
        events.append([event, repr(args)[:200]])
    if event == "exec" and getattr(args[0], "co_filename", "").startswith(HERE):
        events.append(["ran", args[0].co_filename])
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
    if writes and isinstance(args[0], str):
        events.append(["wrote", os.path.abspath(args[0])])
from bayesnb.cli import main
import bayesnb.cli.commands, bayesnb.estimators, bayesnb.plots, bayesnb.report, bayesnb.corpus.readers, polars, pandas
import matplotlib.backends.backend_agg, matplotlib.backends.backend_svg
bayesnb.TextClassifier().fit(["one two", "two three"], ["x", "y"]).predict(["two"])  # libraries look around once
sys.addaudithook(hook)
for line in json.loads(sys.argv[1]):
    status = main(line)
    events.append(["status", status])
sys.stdout.flush()
print("EVENTS" + json.dumps(events))
"""
HOSTILE = "open('DANGER', 'w').write('x'); import os; os.system('touch DANGER-system')\n"


@pytest.fixture
def folder(tmp_path):
    """Data beside files that are named like modules which the program imports."""
    rows = [
        ("spam", "__import__('os').system('touch DANGER-cell')"),
        ("ham", "{{7*7}} ${x} $(touch DANGER-shell) `touch DANGER-t`"),
    ]
    text = "label,text\n" + "".join(f'{label},"{cell}"\n' for label, cell in rows * 3)
    (tmp_path / "mail.csv").write_text(text)
    lines = [json.dumps({"label": label, "text": cell, "py/object": "os.system"}) for label, cell in rows * 3]
    (tmp_path / "mail.ndjson").write_text("\n".join(lines))
    for name in ("random", "numpy", "polars", "sitecustomize", "usercustomize", "multinomial", "typing_extensions"):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    for package in ("bayesnb", "models"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(HOSTILE)
    return tmp_path


def test_reading_learning_and_scoring_run_nothing_and_send_nothing(folder):
    lines = [
        ["fit", "mail.csv", "-o", "mail.model"],
        ["fit", "mail.ndjson", "-o", "other.model", "--power", "auto"],
        ["score", "mail.model", "mail.csv", "-o", "scores.csv"],
        ["evaluate", "mail.model", "mail.csv"],
        ["ratios", "mail.model", "--plot", "ratios.svg", "--csv", "ratios.csv"],
        ["inspect", "mail.model"],
        ["select", "mail.csv"],
        ["compare", "mail.csv"],
        ["report", "mail.csv", "-o", "page.html"],
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-c", WATCH, json.dumps(lines)], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert "EVENTS" in done.stdout, done.stderr
    events = json.loads(done.stdout.rpartition("EVENTS")[2])
    assert [value for name, value in events if name == "status"] == [0] * len(lines), done.stderr
    wrote = {value for name, value in events if name == "wrote"}
    outside = {path for path in wrote if not path.startswith(str(folder)) and not path.startswith("/dev/")}
    # compiled loops and the table of fonts are kept for the next time
    assert {path for path in outside if "__pycache__" not in path and "matplotlib" not in path} == set()
    assert [event for event in events if event[0] not in ("status", "wrote")] == []
    assert not list(folder.glob("DANGER*"))


@pytest.mark.parametrize("command", [["inspect", "mail.model"], ["score", "mail.model", "mail.csv"]])
def test_the_installed_command_imports_nothing_from_the_folder_it_runs_in(folder, command):
    script = Path(sys.executable).with_name("bayesnb")
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    fit = subprocess.run([script, "fit", "mail.csv", "-o", "mail.model"], cwd=folder, capture_output=True, timeout=120)
    assert fit.returncode == 0, fit.stderr
    done = subprocess.run([script, *command], cwd=folder, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not list(folder.glob("DANGER*"))


def test_of_model_files_only_the_one_that_is_named_runs(folder, monkeypatch):
    """A model's name means ours, whatever stands in the folder; a path means that file, and none beside it."""
    from bayesnb.sampling.modelfiles import find_model as find

    monkeypatch.chdir(folder)
    assert find("multinomial").ours
    (folder / "mine.py").write_text("import numpy\ndef build(data, prior, form=None):\n    raise ValueError('built')\n")
    found = find("mine.py")
    assert not found.ours and not list(folder.glob("DANGER*"))
    with pytest.raises(ValueError, match="built"):
        found.build(None, None)


@pytest.mark.parametrize("tokens", ["words", "whitespace", "space", r"[a-z]+(?:-[a-z]+)*"])
@pytest.mark.parametrize("piece", ["a", "-", "a-", " ", "\x85", "é̀", "\U0001f600", "a" * 40 + "!"], ids=ascii)
def test_cutting_takes_time_in_proportion_to_the_text(tokens, piece):
    """Four times the text: 4 times as long where time is in proportion, 16 where it grows with the square."""
    cut = Tokenizer(tokens)

    def seconds(length):
        text = (piece * (length // len(piece) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            cut.count([text])
            best = min(best, time.perf_counter() - start)
        return best

    short = seconds(50_000)
    assert seconds(200_000) < 9 * short + 0.05  # between 4 and 16; what is done in no time at all is no evidence
