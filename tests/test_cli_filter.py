"""`bayesnb score M -`: a line in, a row out, at once, in order, in bounded memory; bad lines are named."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesnb
from bayesnb.cli import growing, lines, main
from bayesnb.corpus.tokens import Tokenizer
from tests import test_cli
from tests.test_cli import HAM, SPAM, run, strict_json

mail, model = test_cli.mail, test_cli.model  # fixtures
BAYESNB = [sys.executable, "-m", "bayesnb"]


@pytest.fixture
def filtered(model, capsys, monkeypatch):
    """Run `score m.model -` on some bytes."""

    def score(data, *options, model="m.model"):
        data = data if isinstance(data, bytes) else data.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return run(["score", model, "-", *options], capsys)

    return score


def objects(out):
    return [strict_json(line) for line in out.splitlines()]


def table(out):
    return list(csv.DictReader(io.StringIO(out)))


def test_each_line_is_answered_as_its_document_is(filtered, capsys):
    texts = [*SPAM, *HAM, "gin"]
    status, out, err = filtered("\n".join(texts), "--json")
    rows = objects(out)
    assert status == 0 and err == "" and [row["text"] for row in rows] == texts
    assert [row["id"] for row in rows] == list(range(1, 8))
    Path("lines.ndjson").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    status, out, _ = run(["score", "m.model", "lines.ndjson", "--json"], capsys)
    for row, expected in zip(rows, strict_json(out)["rows"], strict=True):
        assert list(row) == list(expected)
        ends = [(r.pop("lower"), r.pop("upper")) for r in (row, expected)]
        assert row == expected
        # intervals of one batch are solved together, to 1e-6 of posterior probability
        assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_rows_carry_the_fingerprint_of_the_model(filtered, capsys):
    fingerprint = strict_json(run(["inspect", "m.model", "--json"], capsys)[1])["fingerprint"]
    for options in ([], ["--json"]):
        out = filtered("free\ntea\n", *options)[1]
        rows = objects(out) if options else table(out)
        assert [row["fingerprint"] for row in rows] == [fingerprint] * 2


def test_a_line_is_answered_before_the_next_is_sent_and_ctrl_c_is_quiet(model):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [*BAYESNB, "score", model, "-"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True, env=buffered) as filter_:
        watchdog = threading.Timer(60, filter_.kill)  # a line that stays in a buffer would be waited for
        watchdog.start()
        heading = None
        for number, text in enumerate(["free prices", "coffee", "win"], 1):
            filter_.stdin.write(text + "\n")
            filter_.stdin.flush()
            heading = heading or filter_.stdout.readline()
            assert filter_.stdout.readline().startswith(f"{number},{text},")
        watchdog.cancel()
        filter_.send_signal(signal.SIGINT)
        assert filter_.wait() == 130 and filter_.stderr.read() == ""


def test_a_reader_that_leaves_is_no_failure(model):
    with subprocess.Popen([*BAYESNB, "score", model, "-"], stdin=-1, stdout=-1, stderr=-1) as filter_:
        filter_.stdin.write(b"free\n")
        filter_.stdin.flush()
        filter_.stdout.readline()
        filter_.stdout.close()
        filter_.stdin.write(b"free\n" * 1000)
        filter_.stdin.close()
        assert filter_.wait() == 0 and filter_.stderr.read() == b""


LIGHT = """
import io, sys
from bayesnb.cli import main
sys.stdin = io.TextIOWrapper(io.BytesIO(b"free prices\\ncoffee\\n"))
assert main(["score", sys.argv[1], *sys.argv[2:]]) == 0
heavy = ("sklearn", "pandas", "polars", "scipy.stats", "pymc", "arviz", "xarray", "matplotlib", "numba")
print(*[name for name in heavy if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [["-", "--json", "--abstain", ".6"], ["mail/ham"]])
def test_scoring_imports_nothing_heavy(mail, classes, options):
    """Intervals of two classes and of more, and abstaining; lines and files."""
    labels = ["spam", "ham", "other"][:classes]
    bayesnb.TextClassifier().fit([*SPAM, *HAM][:6], (labels * 3)[:6]).save("l.model")
    done = subprocess.run([sys.executable, "-c", LIGHT, "l.model", *options], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (0, "")


# --- lines --------------------------------------------------------------------------------------------------


@given(st.binary(max_size=60).map(lambda data: data.replace(b"a", b"\n")), st.integers(1, 9), st.integers(1, 20))
def test_however_the_bytes_come_the_lines_are_the_same(data, size, longest):
    """Each line once, with its number; a longer one than is kept is there without its bytes."""
    stream = io.BytesIO(data)
    found = [line for batch in lines.batches(lambda _: stream.read(size), longest) for line in batch]
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert found == [(i, line if len(line) <= longest else None) for i, line in enumerate(expected, 1)]


def test_all_lines_of_a_read_come_together_and_none_is_waited_for():
    reads = iter([b"one\ntwo\nthr", b"ee\n", b"four", b""])
    assert [len(batch) for batch in lines.batches(lambda _: next(reads))] == [2, 1, 1]


def test_a_line_without_end_does_not_fill_the_memory():
    left = iter(range(1000))
    tracemalloc.start()
    batches = list(lines.batches(lambda size: bytes(size) if next(left, None) is not None else b"", longest=2**20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert batches == [[(1, None)]] and peak < 2**22  # of 64 MB that were read


def test_line_ends_marks_and_blank_lines(filtered):
    """A byte order mark, CRLF, blank lines that are counted and keep their number, a last line without an end."""
    status, out, err = filtered("\ufefffree tea\r\n\r\n  \ncoffee", "--json")
    assert status == 0 and [(row["id"], row["text"]) for row in objects(out)] == [(1, "free tea"), (4, "coffee")]
    assert err == "bayesnb: left out 2: blank lines\n"


def test_nothing_gives_nothing(filtered):
    assert filtered("") == (0, "", "") == filtered("", "--json")


# --- bad lines ----------------------------------------------------------------------------------------------


BAD = [
    (b"caf\xe9", [], "byte 0xe9 at offset 3 is not utf-8", "lines that are no text"),
    (b"\xed\xa0\x80", [], "byte 0xed at offset 0 is not utf-8", "lines that are no text"),
    (b"a\0b", [], "a NUL character", "lines that are no text"),
    (b'{"text": "\\ud800"}', ["--format", "ndjson"], "a lone surrogate", "lines that are no text"),
    (b'{"text": "x", "\\udfff": 1}', ["--format", "ndjson"], "a lone surrogate", "lines that are no text"),
    (b'{"text": "x"', ["--format", "ndjson"], "not JSON", "lines that are no JSON object"),
    (
        b'{"text": "x", "text": "y"}',
        ["--format", "ndjson"],
        "the key 'text' is there twice",
        "lines that are no JSON object",
    ),
    (b"[1]", ["--format", "ndjson"], "a JSON list, not an object", "lines that are no JSON object"),
    (b"[" * 100_000, ["--format", "ndjson"], "JSON that cannot be read", "lines that are no JSON object"),
    (b'{"text": null}', ["--format", "ndjson"], "no text in 'text'", "lines without a document"),
    (b'{"text": ["x"]}', ["--format", "ndjson"], "no text in 'text'", "lines without a document"),
    (b'{"txt": "x"}', ["--text", "text"], "no text in 'text'", "lines without a document"),
    (b"win coffee", ["mle"], "has probability 0 under every class", "documents without class probabilities"),
]


@pytest.mark.parametrize(("line", "options", "said", "kind"), BAD, ids=[repr(line)[:20] for line, *_ in BAD])
def test_a_bad_line_is_named_and_ends_the_filter_or_is_left_out(filtered, capsys, line, options, said, kind):
    """With the rows before it written; or counted on stderr and in the summary, with all others answered."""
    asked = {}
    if options == ["mle"]:
        assert run(["fit", "mail", "-o", "mle.model", "--estimate", "mle"], capsys)[0] == 0
        asked, options = {"model": "mle.model"}, []
    good = b'{"text": "%s"}' if options else b"%s"
    data = b"\n".join([good % b"free", line, good % b"coffee", line])
    status, out, err = filtered(data, "--json", *options, "--summary", "s.json", **asked)
    named = [remark for remark in err.splitlines() if "line 2" in remark]
    assert status == 2 and [row["text"] for row in objects(out)] == ["free"]
    assert len(named) == 1 and f"standard input, line 2: {said}" in named[0]
    summary = strict_json(Path("s.json").read_text())["summary"]
    assert summary["documents"] == 1 and summary["skipped"] == {}
    status, out, err = filtered(data, "--json", *options, "--on-error", "skip", "--summary", "s.json", **asked)
    assert status == 0 and [row["text"] for row in objects(out)] == ["free", "coffee"]
    assert f"left out line 2: {said}" in err and f"left out line 4: {said}" in err and f"left out 2: {kind}" in err
    summary = strict_json(Path("s.json").read_text())["summary"]
    assert summary["documents"] == 2 and summary["skipped"] == {kind: 2}


def test_a_remark_on_a_skipped_line_is_in_the_words_of_the_shell(filtered, capsys):
    run(["fit", "mail", "-o", "mle.model", "--estimate", "mle"], capsys)
    err = filtered("win coffee", "--on-error", "skip", model="mle.model")[2]
    assert "fit again with alpha > 0, and not with --estimate mle" in err and "estimate='" not in err


def test_a_line_that_is_too_long_is_named(filtered, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 10)
    monkeypatch.setattr(lines.batches, "__defaults__", (10,))
    status, out, err = filtered("free\nfree free free\ncoffee\n", "--json", "--on-error", "skip")
    assert status == 0 and [row["id"] for row in objects(out)] == [1, 3]
    assert "left out line 2: longer than 10 bytes" in err and "left out 1: lines too long" in err


# --- NDJSON -------------------------------------------------------------------------------------------------


def test_input_columns_are_kept_before_the_answer_and_ours_keep_their_names(filtered):
    given = [
        {"id": "a7", "message": "free prices", "date": None, "deep": {"x": [1, 2.5]}},
        {"message": "coffee at ten", "label": "spam", "tokens": 3, "input_label": "was here"},
    ]
    status, out, err = filtered("".join(json.dumps(row) + "\n" for row in given), "--json")
    first, second = objects(out)
    assert status == 0 and "guessed: text in column 'message'" in err and len(err.splitlines()) == 1
    assert list(first)[:5] == ["id", "message", "date", "deep", "label"]
    assert {name: first[name] for name in given[0]} == given[0] and first["label"] == "spam"
    assert (second["id"], second["label"], second["input_tokens"], second["tokens"]) == (2, "ham", 3, 3)
    assert (second["input_label"], second["input_input_label"]) == ("was here", "spam")


def test_csv_has_the_columns_of_the_first_row_and_says_what_it_drops(filtered):
    given = '{"text": "free", "n": [1]}\n{"text": "coffee", "label": "x", "n": true}\n{"text": "a,b\\nc"}\n'
    status, out, err = filtered(given)
    rows = table(out)
    assert status == 0 and [row["label"] for row in rows] == ["spam", "ham", "ham"]  # ours, not the input's
    assert [row["n"] for row in rows] == ["[1]", "true", ""] and rows[2]["text"] == "a,b\nc"
    assert "column 'input_label' is not in the first row" in err


@pytest.mark.parametrize(
    ("line", "options", "column"),
    [
        ('{"text": "free"}', [], "text"),
        ('{"Message": "free", "a": 1, "b": 2}', [], "Message"),
        ('{"only": "free"}', [], "only"),
        ('{"label": "x", "other": "free"}', [], "other"),
        ('{"a": 1, "b": "free"}', ["--text", "b"], "b"),
        ('{"a": 1, "b": 12}', ["--text", "b"], "b"),
        ('{"text": "free"}', ["--format", "lines"], None),
        ("{free", [], None),
        ("free", [], None),
        ("12", [], None),
    ],
)
def test_the_first_line_tells_lines_from_objects(filtered, line, options, column):
    """By the rules for tables: a common name, the only column, or the one beside the label."""
    status, out, _ = filtered(line, "--json", *options)
    (row,) = objects(out)
    assert status == 0 and (row["text"] == line if column is None else row[column] == json.loads(line)[column])
    scored = line if column is None else str(json.loads(line)[column])
    assert row["tokens"] == len(Tokenizer().tokens(scored))


@pytest.mark.parametrize("line", ['{"a": "free", "b": "x", "c": 1}', '{"text": "x", "body": "y"}'])
def test_objects_whose_text_is_not_plain_are_asked_about(filtered, line):
    status, out, err = filtered(line)
    assert status == 2 and out == "" and "pass --text one of" in err and "--format lines" in err


def test_a_model_of_counts_reads_objects_with_its_columns(model, filtered):
    X = pd.DataFrame([[3, 0], [0, 2], [1, 1]], columns=["tea", "rum"])
    clf = bayesnb.MultinomialNB().fit(X, ["h", "s", "h"])
    clf.save("c.model")
    given = '{"tea": 2, "rum": 0, "who": "me"}\n{"rum": 1}\n{"rum": -1, "tea": 0}\n{"rum": "1", "tea": 1.5}\n'
    status, out, err = filtered(given, "--json", "--on-error", "skip", model="c.model")
    rows = objects(out)
    expected = clf.predict_proba(pd.DataFrame([[2, 0], [1.5, 1]], columns=["tea", "rum"]))
    assert status == 0 and [row["probability"] for row in rows] == expected.max(axis=1).tolist()
    assert rows[0]["who"] == "me" and rows[0]["known_tokens"] == 2
    assert "line 2: no number in 'tea'" in err and "line 3: -1 in 'rum'" in err
    assert filtered("tea tea", "--format", "lines", model="c.model")[0] == 2


def test_a_model_of_categories_is_refused_in_one_line(model, filtered, capsys):
    X = pd.DataFrame({"a": ["x", "y"], "b": ["u", "u"]})
    bayesnb.CategoricalNB().fit(X, [0, 1]).save("k.model")
    X.to_csv("k.csv", index=False)
    for status, out, err in (filtered("{}", model="k.model"), run(["score", "k.model", "k.csv"], capsys)):
        assert status == 2 and out == "" and "the model is of categories" in err.splitlines()[-1]


# --- where rows go ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [("r.csv", [], "csv"), ("r.csv", ["--json"], "csv"), ("r.ndjson", [], "json"), ("r", ["--json"], "json")],
)
def test_rows_go_to_a_file_and_the_summary_to_stdout(filtered, name, options, kind):
    status, out, _ = filtered("free\ntea\n", "-o", name, *options)
    text = Path(name).read_text()
    rows = objects(text) if kind == "json" else table(text)
    assert status == 0 and [row["text"] for row in rows] == ["free", "tea"]
    if options:
        assert strict_json(out)["summary"]["documents"] == 2
    else:
        assert out == f"wrote {name}: 2 documents\n"


def test_dash_is_stdout(filtered, capsys):
    assert filtered("free\n", "-o", "-")[1] == filtered("free\n")[1] != ""
    assert run(["score", "m.model", "mail/ham", "-o", "-"], capsys) == run(["score", "m.model", "mail/ham"], capsys)


def test_files_are_written_as_ndjson_where_so_named(model, capsys):
    assert run(["score", model, "mail/ham", "-o", "r.ndjson"], capsys)[0] == 0
    assert (
        objects(Path("r.ndjson").read_text())
        == strict_json(run(["score", model, "mail/ham", "--json"], capsys)[1])["rows"]
    )


def test_the_summary_is_there_also_when_a_line_ends_the_filter(filtered):
    assert filtered(b"free\n\xff\n", "--summary", "s.json")[0] == 2
    found = strict_json(Path("s.json").read_text())
    assert found["summary"]["documents"] == 1 and found["prior"].startswith("phi ~ Dirichlet(2)")


def test_the_summary_is_kept_up_to_date_while_lines_come(model, capsys):
    from bayesnb.cli import answers, stream
    from bayesnb.scorer import Scorer

    scorer = Scorer.load(model)
    answering = answers.Answering.of(scorer, 0.95, (), None)
    reader = lines.LineReader(scorer, stream.inputs.Reading())
    filter_ = stream.Filter(answering, reader, growing.Rows(None, ndjson=True), skip=False)
    seen, reads = [], [b"free\n", b"tea\nrum\n", b""]

    def read(size):
        if Path("s.json").exists():
            seen.append(strict_json(Path("s.json").read_text())["summary"]["documents"])
        return reads.pop(0)

    stream.run(filter_, read, Path("s.json"), {}, every=0.0)
    assert seen == [1, 3]


def test_a_closed_stdin_is_said(model, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    status, _, err = run(["score", model, "-"], capsys)
    assert status == 2 and "standard input is closed" in err


# --- labels that are not given ------------------------------------------------------------------------------


def test_a_threshold_withholds_its_label_below_it_and_nothing_else(filtered):
    """The most probable class goes into "best"; no other takes its place; a bare number is for every class."""
    texts = ["win free money now cheap prices", "free", "coffee", "meeting notes coffee see you at ten"]
    p = bayesnb.load("m.model").predict_proba(texts)
    for options, least in (
        (["--threshold", "spam=.9"], {"spam": 0.9, "ham": 0}),
        (["--threshold", ".9"], {"spam": 0.9, "ham": 0.9}),
        (["--threshold", ".9", "--threshold", "ham=.1"], {"spam": 0.9, "ham": 0.1}),
    ):
        rows = objects(filtered("\n".join(texts), "--json", *options)[1])
        for row, (ham, spam) in zip(rows, p, strict=True):
            best = "spam" if spam > ham else "ham"
            assert row["best"] == best and row["probability"] == pytest.approx(max(ham, spam))
            assert row["label"] == (best if max(ham, spam) >= least[best] else None)
        assert {row["label"] for row in rows} >= {None, "ham"}
    exactly = float(p[1, 1])
    assert objects(filtered("free", "--json", "--threshold", f"spam={exactly!r}")[1])[0]["label"] == "spam"


def test_abstaining_is_that_of_predict_and_counted(filtered, capsys):
    texts = [*SPAM, *HAM, "free", "gin", "coffee"]
    expected = bayesnb.load("m.model").predict(texts, abstain=0.9).tolist()
    assert None in expected and "spam" in expected
    Path("t.ndjson").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for status, out, _ in (
        filtered("\n".join(texts), "--json", "--abstain", ".9", "--summary", "s.json"),
        run(["score", "m.model", "t.ndjson", "-o", "rows.ndjson", "--abstain", ".9", "--json"], capsys),
    ):
        rows = objects(out) if "rows" not in out else strict_json(out)["rows"]
        assert status == 0 and [row["label"] for row in rows] == expected
    assert strict_json(Path("s.json").read_text())["summary"]["abstained"] == expected.count(None)
    assert table(filtered("gin", "--abstain", ".9")[1])[0]["label"] == ""


# --- files --------------------------------------------------------------------------------------------------


def test_an_impossible_document_in_a_file_is_named_by_file_and_row_and_does_not_stop_the_rest(mail, capsys):
    run(["fit", "mail", "-o", "mle.model", "--estimate", "mle"], capsys)
    Path("new.csv").write_text("text,n\nfree,1\nfree coffee,2\ncoffee,3\n")
    for command in (["score", "mle.model", "new.csv"], ["evaluate", "mle.model", "ham=new.csv"]):
        status, out, err = run([*command, "--text", "text"], capsys)
        assert status == 2 and out == "" and len(err.splitlines()) == 1
        assert "new.csv, row 2 has probability 0" in err or "new.csv:2 has probability 0" in err
    command = ["score", "mle.model", "new.csv", "mail/ham", "--text", "text", "--on-error", "skip", "--json"]
    status, out, err = run(command, capsys)
    found = strict_json(out)
    assert status == 0 and [row["id"] for row in found["rows"]][:2] == ["new.csv:1", "new.csv:3"]
    assert len(found["rows"]) == 5 and "left out: new.csv, row 2 has probability 0" in err
    assert found["summary"]["skipped"] == found["skipped"] == {"new.csv: documents without class probabilities": 1}


def test_a_file_that_cannot_be_read_is_left_out_of_its_folder(model, capsys):
    Path("mail/ham/bad.txt").write_bytes(b"caf\xe9")
    assert run(["score", model, "mail/ham"], capsys)[0] == 2
    status, out, err = run(["score", model, "mail/ham", "--on-error", "skip", "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and [row["id"] for row in found["rows"]] == [f"mail/ham/{i}.txt" for i in range(3)]
    assert "left out: mail/ham/bad.txt, line 1: byte 0xe9" in err and sum(found["skipped"].values()) == 1
    assert run(["score", model, "mail/nowhere", "--on-error", "skip"], capsys)[0] == 2


def test_a_table_on_a_terminal_shows_who_is_best_within_80_columns(model, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    assert main(["score", model, "mail/ham", "--threshold", ".99999"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in shown) and any(line.startswith("mean log P(x)") for line in shown)
    assert [line.split()[1:3] for line in shown if line.startswith("mail/ham")] == [["-", "ham"]] * 3


def test_a_table_that_cannot_be_read_at_all_is_no_success(model, capsys):
    """Under --on-error skip a byte that is no text costs the whole file; with no row left that is an error."""
    Path("one.ndjson").write_bytes(b'{"text":"refund"}\n{"text":"\xff"}\n')
    status, _, err = run(["score", "m.model", "one.ndjson", "--on-error", "skip"], capsys)
    assert status == 2 and "no document was scored" in err
