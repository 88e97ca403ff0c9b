"""What the search of `tests/test_security.py` leaves out: writing, assertions, our own patterns, and cells in CSV."""

import ast
import csv
import json
import re
import time

import pytest

from bayesnb import given
from bayesnb.cli import main, wording
from tests.test_security import ROOT, SOURCES, dotted

# the only places that open files for writing: everything else goes through `atomic.write`, whole or not at all
WRITERS = {
    "bayesnb/atomic.py": "writes every file",
    "bayesnb/cli/__init__.py": "the null device",
    "bayesnb/cli/commands.py": "the null device",
    "bayesnb/cli/growing.py": "the rows of `score`, as they come, into the file that was named",
}
OPENS = {"open", "os.open", "io.open", "write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "to_csv"}


def tree_of(path):
    return path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def opens_for_writing(call):
    """A call that may create or change a file: a mode with w, a, x or +, flags of os.open, or a method that writes."""
    name = dotted(call.func)
    last = name.rpartition(".")[2]
    if last not in OPENS or name.startswith(("output.", "atomic.")):
        return False
    if last != "open":
        return True
    given_ = [*call.args, *(word.value for word in call.keywords)]
    text = " ".join(ast.unparse(argument) for argument in given_)
    modes = [a.value for a in given_ if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any(len(mode) <= 3 and set(mode) & set("wax+") for mode in modes) or bool(re.search("O_(WR|RDWR|CRE)", text))


@pytest.mark.parametrize(
    "text", ["open(f, 'w')", "path.open(mode='ab')", "os.open(f, os.O_CREAT)", "p.write_text('')", "table.to_csv(f)"]
)
def test_the_search_for_writers_finds_them(text):
    assert opens_for_writing(ast.parse(text).body[0].value)


def test_files_are_written_in_one_place():
    """Temporary names, modes and what a crash leaves are then one module's affair."""
    found = {
        name
        for name, tree in map(tree_of, SOURCES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and opens_for_writing(node)
    }
    # the command line has a function of that name, which ends in `atomic.write`
    assert found - {"bayesnb/cli/output.py"} <= set(WRITERS), found - set(WRITERS)


def test_no_check_is_an_assertion():
    """`python -O` takes assertions away. One stands for the type checker alone: what it says is so by construction."""
    found = [
        f"{name}: {ast.unparse(node.test)}"
        for name, tree in map(tree_of, SOURCES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    assert set(found) <= {"bayesnb/cli/lines.py: self._tokenizer is not None"}


def test_compiled_loops_stay_compiled():
    """`objmode` would run Python objects inside them."""
    for name, tree in map(tree_of, SOURCES):
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
            n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)
        }
        assert not names & {"objmode", "mktemp", "unsafe_load", "literal_struct"}, name


# --- our own patterns ---------------------------------------------------------------------------------------


def patterns():
    """Every pattern that is written in the sources, with how it is used."""
    for name, tree in map(tree_of, SOURCES):
        for node in ast.walk(tree):
            called = dotted(node.func) if isinstance(node, ast.Call) else ""
            if called.startswith("re.") and isinstance(node.args[0], ast.Constant):
                yield pytest.param(called[3:], node.args[0].value, id=f"{name}:{node.lineno}")
    for name in ("_GIVEN", "_BARE", "_CLASS_PRIOR"):  # put together from parts
        yield pytest.param("sub", getattr(wording, name).pattern, id=f"wording.{name}")


PIECES = [" ", "\n", "\n ", "\r", "\t", "a", "0", "0.", "1e", "'", '"', "\\", "\\'", "[", "[a", "(?", "=", "x,", "é"]
PIECES += ["row ", "row 1", " or '", "alpha='", "alpha='\\", 'text="', "<defs> ", "<style>", ' style="', "--", "1 1:"]


@pytest.mark.parametrize(("use", "pattern"), list(patterns()))
def test_our_own_patterns_take_time_in_proportion_to_the_text(use, pattern):
    """32,000 characters in 0.1 s: 1 ms where time is in proportion to them, 2 s where it grows with the square."""
    compiled = re.compile(pattern)
    empty = b"" if isinstance(pattern, bytes) else ""
    act = {"fullmatch": compiled.fullmatch, "match": compiled.match}.get(use, lambda text: compiled.sub(empty, text))
    for piece in PIECES:
        for end in ("", "!"):
            text = piece * (32_000 // len(piece)) + end
            text = text.encode() if isinstance(pattern, bytes) else text
            best = float("inf")
            for _ in range(3):  # another process may take the core once
                start = time.perf_counter()
                act(text)
                best = min(best, time.perf_counter() - start)
                if best < 0.1:
                    break
            assert best < 0.1, (piece, end)


@pytest.mark.parametrize("value", [" " * 200_000, "\t" * 200_000, [" " * 200_000, 1]], ids=["blanks", "tabs", "list"])
def test_a_long_value_is_shown_short_and_at_once(value):
    """An option of 200,000 blanks is cut in a message, not searched for minutes."""
    start = time.perf_counter()
    assert len(given.shown(value)) <= 200
    assert time.perf_counter() - start < 1


# --- cells that a spreadsheet would compute -----------------------------------------------------------------

FORMULAS = ["=1+1", "+1+cmd|' /C calc'!A0", "-2", "@SUM(A1)", '=HYPERLINK("x";"y")', "\t=1"]


def test_cells_are_written_as_they_are(tmp_path, capsys):
    """A CSV is for programs: an id, label or token comes back as it went in, also where a spreadsheet sees a formula.

    A quote put before it would make another token of it, and none of the same name would be found again.
    """
    mails = tmp_path / "mails.ndjson"
    rows = [{"id": f, "label": f, "text": f"{word} meeting"} for f, word in zip(FORMULAS, "abcdef" * 2, strict=False)]
    mails.write_text("\n".join(json.dumps(row) for row in rows * 2))
    model, scores, ratios = (tmp_path / name for name in ("m", "scores.csv", "ratios.csv"))
    assert main(["fit", str(mails), "-o", str(model), "--tokens", "whitespace"]) == 0
    assert main(["score", str(model), str(mails), "-o", str(scores)]) == 0
    assert main(["ratios", str(model), "--classes", "=1+1", "@SUM(A1)", "--csv", str(ratios)]) == 0
    capsys.readouterr()
    with scores.open(newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert set(FORMULAS) <= cells
