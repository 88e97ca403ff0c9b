"""The command line as a user runs it: results on stdout, remarks on stderr, an exit status that tells."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesnb
from bayesnb.cli import main

SPAM = ["free prices now", "win free money", "cheap prices, win now"]
HAM = ["coffee at ten", "see you at the meeting", "meeting notes and coffee"]


def strict_json(text):
    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError(f"a key twice: {[key for key, _ in pairs]}")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


@pytest.fixture
def mail(tmp_path, monkeypatch):
    """Two folders of mails in an otherwise empty working folder."""
    for label, texts in (("spam", SPAM), ("ham", HAM)):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for i, text in enumerate(texts):
            (tmp_path / "mail" / label / f"{i}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(mail, capsys):
    assert main(["fit", "mail", "-o", "m.model"]) == 0
    capsys.readouterr()
    return "m.model"


def run(arguments, capsys):
    status = main(arguments)
    return status, *capsys.readouterr()


def test_fit_says_what_was_learnt_and_which_prior(mail, capsys):
    status, out, err = run(["fit", "spam=mail/spam", "ham=mail/ham", "-o", "m.model"], capsys)
    assert status == 0 and err == ""
    assert "phi ~ Dirichlet(2), theta ~ Dirichlet(1)" in out and "estimate: map" in out and "wrote m.model" in out
    assert bayesnb.load("m.model").classes_.tolist() == ["ham", "spam"]


def test_score_gives_a_row_per_document_equal_to_the_library(model, capsys):
    status, out, _ = run(["score", model, "mail/spam", "mail/ham/0.txt", "--json"], capsys)
    rows = strict_json(out)["rows"]
    tc = bayesnb.load(model)
    texts = [*SPAM, HAM[0]]
    assert status == 0 and [row["label"] for row in rows] == tc.predict(texts).tolist()
    probability, interval = tc.predict_proba(texts), tc.predict_interval(texts)
    for row, p, ends in zip(rows, probability, interval, strict=True):
        k = p.argmax()
        assert (row["probability"], row["lower"], row["upper"]) == (p[k], *ends[k])
    assert rows[3]["known_tokens"] == 3 == rows[3]["tokens"] and rows[3]["id"].endswith("0.txt")


def test_score_writes_csv_into_a_pipe_and_a_file(model, capsys):
    _, out, _ = run(["score", model, "mail/ham"], capsys)
    columns = "id,label,probability,lower,upper,known_tokens,tokens,log_px,fingerprint"
    assert out.splitlines()[0] == columns and len(out.splitlines()) == 4
    status, said, _ = run(["score", model, "mail/ham", "-o", "rows.csv"], capsys)
    assert status == 0 and Path("rows.csv").read_text() == out and "rows.csv" in said


def test_evaluate_reports_errors_and_calibration(model, capsys):
    status, out, _ = run(["evaluate", model, "mail", "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and found["documents"] == 6 and found["errors"] == 0
    assert found["confusion"] == [[3, 0], [0, 3]] and found["unknown_token_share"] == 0
    tc = bayesnb.load(model)
    p = tc.predict_proba([*HAM, *SPAM])[np.arange(6), [0, 0, 0, 1, 1, 1]]
    assert found["log_loss"] == pytest.approx(-np.log(p).mean()) and found["brier"] == pytest.approx(
        2 * ((1 - p) ** 2).mean()
    )
    bins = found["reliability"]
    assert len(bins) == 15 and sum(row["documents"] for row in bins) == 6 and bins[0]["confidence"] is None
    assert found["ece"] == pytest.approx(1 - p.mean())  # every answer is right
    status, out, _ = run(["evaluate", model, "mail"], capsys)
    assert "share right" in out and "mean log P(x)" in out and all(len(line) <= 80 for line in out.splitlines())


def test_compare_finds_map_and_laplace_equal(mail, capsys):
    status, out, _ = run(["compare", "mail", "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and found["largest_differences"]["map - laplace"] < 1e-12
    assert found["prior"].startswith("phi ~ Dirichlet(2)")
    status, out, _ = run(["compare", "mail", "--csv", "all.csv"], capsys)
    assert status == 0 and "largest |map - laplace|:" in out and "phi ~ Dirichlet(2)" in out
    assert len(Path("all.csv").read_text().splitlines()) == 1 + 2 * len(
        bayesnb.TextClassifier().fit(SPAM + HAM, [0] * 6).vocabulary_
    )


def test_ratios_rank_by_the_end_nearest_one_and_name_the_prior(model, capsys):
    status, out, _ = run(["ratios", model, "--classes", "spam", "ham", "--json", "--top", "5"], capsys)
    found = strict_json(out)
    nearest = [max(row["log_lower"], -row["log_upper"]) for row in found["rows"]]
    assert status == 0 and len(nearest) == 5 and nearest == sorted(nearest, reverse=True)
    assert found["prior"].startswith("phi ~ Dirichlet(2)") and found["numerator"] == "spam"
    status, out, _ = run(["ratios", model, "--plot", "r.png", "--csv", "r.csv"], capsys)
    assert status == 0 and Path("r.png").read_bytes()[:4] == b"\x89PNG" and "Dirichlet(2)" in out
    assert all(len(line) <= 80 for line in out.splitlines()[1:])


def test_inspect_reads_the_header(model, capsys):
    status, out, _ = run(["inspect", model, "--json"], capsys)
    assert status == 0 and strict_json(out)["schema"] == 1
    assert run(["inspect", model], capsys)[0] == 0


COMMANDS = ["fit", "score", "evaluate", "select", "compare", "ratios", "sample", "inspect", "demo"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_takes_json(command, capsys):
    status, out, _ = run([command, "--help"], capsys)
    assert status == 0 and "--json" in out


BAD = [
    (["fit", "nowhere.csv", "-o", "x"], "nowhere.csv"),
    (["fit", "mail", "-o", "no/such/folder/x"], "no"),
    (["fit", "mail", "-o", "x", "--event", "gauss"], "gauss"),
    (["fit", "mail", "-o", "x", "--alpha", "-1"], "alpha"),
    (["fit", "mail", "-o", "x", "--prior", "flat"], "flat"),
    (["fit", "mail", "-o", "x", "--tokens", "(a)"], "tokens"),
    (["fit", "mail", "-o", "x", "--tokens", "[xyz]{40}"], "empty vocabulary: 6 documents"),
    (["fit", "mail", "-o", "x", "--estimate", "mode"], "mode"),
    (["fit", "mail", "-o", "x", "--class-prior", "ham=.9,eggs=.1"], "eggs"),
    (["fit", "mail", "-o", "x", "--prior", "0.5"], "token"),
    (["fit", "null.csv", "-o", "x"], "label"),
    (["fit", "counts.csv", "-o", "x", "--label", "label"], "Negative"),
    (["score", "m.model", "nowhere"], "nowhere"),
    (["score", "m.model", "mail/ham", "--level", "1.5"], "1.5"),
    (["score", "mail/ham/0.txt", "mail/ham"], "0.txt"),
    (["score", "m.model", "mail/ham", "--abstain", "1"], "--abstain"),
    (["score", "m.model", "mail/ham", "--threshold", "spam=1.5"], "spam=1.5"),
    (["score", "m.model", "mail/ham", "--threshold", "eggs=.5"], "eggs"),
    (["score", "m.model", "mail/ham", "--threshold", ".5", "--threshold", ".6"], "every class has one already"),
    (["score", "m.model", "mail/ham", "--on-error", "stop"], "--on-error is fail or skip, got 'stop'"),
    (["score", "m.model", "mail/ham", "--summary", "no/such"], "no/such"),
    (["score", "m.model", "-", "mail/ham"], "stands alone"),
    (["score", "m.model", "-", "--format", "parquet"], "--format lines, ndjson, csv or tsv, not parquet"),
    (["score", "m.model", "-", "--encoding", "utf-16"], "line by line"),
    (["evaluate", "m.model", "-"], "standard input"),
    (["fit", "mail", "-o", "x", "--power", "0"], "--power"),
    (["fit", "mail", "-o", "x", "--power", "high"], "--power must be a number above 0, or auto; got 'high'"),
    (["select", "spam=mail/spam"], "all documents are of class 'spam'"),
    (["select", "mail", "-o", "no/such/x"], "no/such"),
    (["evaluate", "m.model", "eggs=mail/ham"], "eggs"),
    (["ratios", "m.model", "--classes", "spam", "eggs"], "eggs"),
    (["ratios", "m.model", "--level", "0"], "level"),
    (["ratios", "m.model", "--plot", "r.bmp"], "r.bmp"),
    (["sample", "m.model", "-o", "t.nc", "--token", "nosuch"], "nosuch"),
    (["sample", "m.model", "-o", "t.nc", "--model", "nosuch"], "nosuch"),
    (["inspect", "nowhere.model"], "nowhere.model"),
    (["frobnicate"], "frobnicate"),
    (["fit", "mail"], "out"),
    (["score", "m.model", "mail", "--frob"], "--frob"),
]


@pytest.mark.parametrize(("arguments", "named"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_line_that_names_it_status_two_and_nothing_written(model, capsys, arguments, named):
    Path("null.csv").write_text("label,text\n,free\n,tea\n")
    Path("counts.csv").write_text("label,free,tea\nspam,3,-1\nham,0,2\n")
    before = sorted(os.listdir("."))
    status, out, err = run(arguments, capsys)
    assert status == 2 and out == ""
    remarks = ("bayesnb: left out", "bayesnb: there is one class only")
    lines = [line for line in err.splitlines() if not line.startswith(remarks)]
    assert len(lines) == 1 and named in lines[0] and lines[0].startswith("bayesnb: ")
    assert sorted(os.listdir(".")) == before


def test_labels_and_ids_of_numbers_keep_their_type(shared, tmp_path, capsys):
    folder = shared / "data" / "cs229_spam"
    assert main(["fit", str(folder / "MATRIX.TRAIN.50"), "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    status, out, _ = run(["evaluate", str(tmp_path / "m"), str(folder / "MATRIX.TEST"), "--json"], capsys)
    assert status == 0 and strict_json(out)["errors"] == 31 and strict_json(out)["classes"] == [0, 1]


def test_csv_with_leading_zeros_and_nulls(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("label,text\n007,free tea\n008,rum tea\n,lost\n")
    status, out, err = run(["fit", "t.csv", "-o", "m", "--json"], capsys)
    assert status == 0 and [c["label"] for c in strict_json(out)["classes"]] == ["007", "008"]
    assert "left out 1" in err and sum(strict_json(out)["skipped"].values()) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["inspect", "m.model", "--json"]])
def test_a_closed_pipe_is_quiet(model, arguments):
    command = f"{sys.executable} -c 'import sys; from bayesnb.cli import run; run()' {' '.join(arguments)}"
    done = subprocess.run(f"{command} | true", shell=True, capture_output=True, text=True)  # noqa: S602
    assert done.returncode == 0 and done.stderr == ""


def test_an_internal_error_is_one_line_and_a_traceback_only_on_request(monkeypatch, capsys, model):
    from bayesnb import storage

    monkeypatch.setattr(storage, "inspect", lambda path: 1 / 0)
    status, _, err = run(["inspect", model], capsys)
    assert status == 3 and len(err.splitlines()) == 1 and "report it" in err
    status, _, err = run(["inspect", model, "--debug"], capsys)
    assert status == 3 and "Traceback" in err


def test_interrupt_is_130(monkeypatch, capsys, model):
    from bayesnb import storage

    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "inspect", interrupt)
    assert run(["inspect", model], capsys)[0] == 130


def test_the_installed_command_runs(model):
    done = subprocess.run(["bayesnb", "score", model, "mail/ham/0.txt"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[1].split(",")[1] == "ham"


def test_demo_does_the_whole_job(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(["demo", "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and found["toy_spam"]["agreement"]["passed"] and found["federalist"]["agreement"]["passed"]
    assert found["toy_spam"]["map_minus_laplace"] < 1e-12
    assert {row["author"] for row in found["federalist"]["disputed"]} == {"MADISON"}
    assert len(found["federalist"]["disputed"]) == 12
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
