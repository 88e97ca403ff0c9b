"""`select` and `fit --power`: what exact leave-one-out chooses, from the shell."""

import csv
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesnb
from tests import test_cli
from tests.test_cli import HAM, SPAM, run, strict_json

mail = test_cli.mail  # fixture

COUNTS = "label,free,tea,rum\n0,3,0,1\n1,0,2,1\n0,2,1,0\n1,1,3,0\n0,1,0,1\n1,0,1,2\n"
LABELS = [0, 1, 0, 1, 0, 1]


@pytest.fixture
def mixed(mail):
    """The two folders with one mail each that tells against its folder, so that no score is perfect."""
    Path("mail/spam/odd.txt").write_text("coffee meeting with free free notes")
    Path("mail/ham/odd.txt").write_text("win free prices")
    return mail


def texts(folder):
    corpus = bayesnb.read_corpus(folder)
    return corpus.texts, corpus.y


def test_select_ranks_as_the_library_does(mixed, capsys):
    status, out, err = run(["select", "mail", "--json"], capsys)
    found, expected = strict_json(out), bayesnb.select(*texts("mail"))
    assert status == 0 and err == "" and found["documents"] == 8 and found["classes"] == ["ham", "spam"]
    assert [row["rank"] for row in found["rows"]] == expected.table.index.tolist()
    assert [row["estimate"] for row in found["rows"]] == expected.table.estimate.tolist()
    assert [row["errors"] for row in found["rows"]] == expected.table.errors.tolist()
    for name in ("log_score", "se", "difference", "difference_se", "weight"):
        # the same computation on the same counts; weights come from an optimiser
        assert [row[name] for row in found["rows"]] == pytest.approx(expected.table[name].tolist(), rel=1e-9, abs=1e-6)
    kinds = {(row["event"], row["binary"]) for row in found["rows"]}
    assert kinds == {("multinomial", False), ("multinomial", True), ("bernoulli", False)}
    assert found["best"] == found["rows"][0] and "held fixed" in found["note"]


def test_select_fits_the_best_and_says_how_one_would(mixed, capsys):
    """The model file is the one that the command it prints would write."""
    status, out, _ = run(["select", "mail", "-o", "best.model", "--json"], capsys)
    found = strict_json(out)
    words = shlex.split(found["fit"])
    assert status == 0 and words[:3] == ["bayesnb", "fit", "..."]
    status, out, _ = run(["fit", "mail", *words[3:], "-o", "again.model", "--json"], capsys)
    assert status == 0 and strict_json(out)["fingerprint"] == found["fingerprint"]
    expected = bayesnb.select(*texts("mail")).best.fit(*texts("mail"))
    loaded = bayesnb.load("best.model")
    for name in ("event", "prior", "estimate", "binary", "class_prior", "power", "tokens"):
        assert getattr(loaded, name) == getattr(expected, name)
    assert loaded.predict_proba(SPAM).tolist() == expected.predict_proba(SPAM).tolist()


def test_select_tempers_the_model_it_writes_on_request(mixed, capsys):
    status, out, _ = run(["select", "mail", "-o", "best.model", "--power", "auto", "--json"], capsys)
    best = bayesnb.select(*texts("mail")).best
    assert status == 0 and strict_json(out)["power"] == pytest.approx(bayesnb.fit_power(best, *texts("mail")), rel=1e-9)
    assert bayesnb.load("best.model").power == strict_json(out)["power"]


def test_the_table_fits_80_columns_and_csv_has_every_candidate(mixed, capsys):
    status, out, _ = run(["select", "mail", "--csv", "all.csv", "--top", "5"], capsys)
    lines = out.splitlines()
    assert status == 0 and all(len(line) <= 80 for line in lines)
    rows = list(csv.DictReader(Path("all.csv").read_text().splitlines()))
    below = sum(float(row["weight"]) >= 0.05 for row in rows[5:])  # what the mixture needs is shown wherever it ranks
    shown = sum(line.split()[0] in ("counts", "presence", "bernoulli") for line in lines if line)
    assert shown == 5 + below and ("below the first 5" in out) == (below > 0)
    assert len(rows) == len(bayesnb.select(*texts("mail")).table)
    assert [float(row["log_score"]) for row in rows] == sorted((float(row["log_score"]) for row in rows), reverse=True)
    assert rows[0]["prior"] in out and "to fit the best:\n  bayesnb fit ... --event" in out


def test_select_takes_counts_and_a_known_class_prior_of_numbers(mail, capsys):
    Path("c.csv").write_text(COUNTS)
    options = ["--label", "label", "--class-prior", "0=.9,1=.1"]
    status, out, _ = run(["select", "c.csv", *options, "-o", "c.model", "--json"], capsys)
    found = strict_json(out)
    expected = bayesnb.select(
        pd.read_csv("c.csv")[["free", "tea", "rum"]].to_numpy(), LABELS, class_prior={0: 0.9, 1: 0.1}
    )
    assert status == 0 and found["best"]["log_score"] == pytest.approx(expected.table.log_score.iloc[0], rel=1e-9)
    assert bayesnb.load("c.model").posterior_.theta_hat().tolist() == [0.9, 0.1]
    assert "--class-prior 0=.9,1=.1" in found["fit"]


def test_select_on_a_matrix_file_chooses_presence(shared, tmp_path, capsys):
    """Of 200 mails; it makes 3 errors on 800 others, where the default model makes 21."""
    folder = shared / "data" / "cs229_spam"
    command = ["select", str(folder / "MATRIX.TRAIN.200"), "--format", "cs229", "-o", str(tmp_path / "m"), "--json"]
    status, out, _ = run(command, capsys)
    found = strict_json(out)
    assert status == 0 and found["best"]["event"] == "bernoulli" and len(found["rows"]) == 45
    assert found["best"]["difference"] == 0 and sum(row["weight"] for row in found["rows"]) == pytest.approx(1)
    status, out, _ = run(["evaluate", str(tmp_path / "m"), str(folder / "MATRIX.TEST"), "--json"], capsys)
    assert strict_json(out)["errors"] == 3


# --- fit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_fitted_power_is_the_librarys_and_is_stored_shown_and_used(mixed, capsys, event):
    documents, y = texts("mail")
    expected = bayesnb.fit_power(bayesnb.TextClassifier(event=event), documents, y)
    assert expected < 1  # the two odd mails make it worth while
    command = ["fit", "mail", "-o", "p.model", "--event", event, "--power", "auto"]
    status, out, _ = run([*command, "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and found["power"] == pytest.approx(expected, rel=1e-9) and found["power_fitted"]
    assert "fitted by exact leave-one-out" in run(command, capsys)[1]
    assert strict_json(run(["inspect", "p.model", "--json"], capsys)[1])["power"] == found["power"]
    tempered = bayesnb.TextClassifier(event=event, power=found["power"]).fit(documents, y)
    rows = strict_json(run(["score", "p.model", "mail", "--json"], capsys)[1])["rows"]
    p = tempered.predict_proba(documents)
    assert [row["probability"] for row in rows] == p.max(axis=1).tolist()
    own = p[np.arange(len(y)), (y == "spam").astype(int)]
    evaluated = strict_json(run(["evaluate", "p.model", "mail", "--json"], capsys)[1])
    assert evaluated["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-12)


def test_a_given_power_is_kept(mail, capsys):
    status, out, _ = run(["fit", "mail", "-o", "p.model", "--power", ".25"], capsys)
    assert status == 0 and bayesnb.load("p.model").power == 0.25 and "to the power 0.25\n" in out


def test_a_power_of_counts_is_that_of_the_matrix(mail, capsys):
    Path("c.csv").write_text(COUNTS)
    assert run(["fit", "c.csv", "--label", "label", "-o", "c.model", "--power", "auto"], capsys)[0] == 0
    X = pd.read_csv("c.csv")[["free", "tea", "rum"]]
    assert bayesnb.load("c.model").power == pytest.approx(bayesnb.fit_power(bayesnb.MultinomialNB(), X, LABELS))


def test_where_no_power_helps_the_document_is_named(mail, capsys):
    """Left out, the only ham leaves its class without probability under the mode of theta."""
    for name in ("1.txt", "2.txt"):
        Path("mail/ham", name).unlink()
    status, out, err = run(["fit", "mail", "-o", "p.model", "--power", "auto"], capsys)
    assert status == 2 and out == "" and "mail/ham/0.txt has probability 0" in err and "--estimate mean" in err
    assert not Path("p.model").exists()


def test_fit_writes_what_the_estimators_write(mail, capsys):
    """The same settings, totals and names: the same fingerprint."""
    documents, y = texts("mail")
    for options, given in (
        ([], {}),
        (["--event", "bernoulli", "--prior", "empirical", "--estimate", "mean"],
         {"event": "bernoulli", "prior": "empirical", "estimate": "mean"}),
        (["--tokens", "space", "--binary", "--class-prior", "ham=.75,spam=.25"],
         {"tokens": "space", "binary": True, "class_prior": {"ham": 0.75, "spam": 0.25}}),
    ):  # fmt: skip
        found = strict_json(run(["fit", "mail", "-o", "m", *options, "--json"], capsys)[1])
        assert found["fingerprint"] == bayesnb.TextClassifier(**given).fit(documents, y).save("other")
    Path("c.csv").write_text(COUNTS)
    found = strict_json(run(["fit", "c.csv", "--label", "label", "-o", "m", "--json"], capsys)[1])
    X, labels = pd.read_csv("c.csv")[["free", "tea", "rum"]], np.array(LABELS).astype(str)
    assert found["fingerprint"] == bayesnb.MultinomialNB().fit(X, labels).save("other")


# --- remarks ------------------------------------------------------------------------------------------------


def test_guessed_columns_are_one_remark_and_named_ones_none(mail, capsys):
    Path("t.csv").write_text("Class,Message\nspam,free\nham,tea\n")
    command = ["fit", "t.csv", "-o", "t.model"]
    err = run(command, capsys)[2]
    assert (
        err
        == "bayesnb: guessed: text in column 'Message', label in column 'Class'; if not so, give --text and --label\n"
    )
    assert run([*command, "--text", "Message", "--label", "Class"], capsys)[2] == ""
    assert run([*command, "--text", "Message"], capsys)[2].startswith("bayesnb: guessed: label in column 'Class'; ")
    for paths in (["t.csv", "t.csv"], ["a=t.csv", "b=t.csv"]):
        assert len(run(["fit", *paths, "-o", "t.model"], capsys)[2].splitlines()) == 1
    for paths in (["t.csv"], ["t.csv", "t.csv"]):
        assert (
            run(["score", "t.model", *paths], capsys)[2]
            == "bayesnb: guessed: text in column 'Message'; if not so, give --text\n"
        )
    Path("c.csv").write_text(COUNTS)
    assert "guessed: label in column 'label'; if" in run(["fit", "c.csv", "-o", "c.model"], capsys)[2]


def test_labels_that_may_not_be_meant_are_remarked_on(mail, capsys):
    Path("t.csv").write_text("label,text\nNA,free\nham,tea\n,rum\nNA,win\n")
    status, _, err = run(["fit", "t.csv", "-o", "t.model", "--text", "text", "--label", "label"], capsys)
    assert status == 0 and err.splitlines() == [
        "bayesnb: left out 1: rows without a label",
        "bayesnb: 2 documents have the label 'NA', kept as a class of that name; if it means none, drop them",
    ]
    status, _, err = run(["fit", "spam=mail/spam", "-o", "one.model", "--power", "auto"], capsys)
    assert status == 0 and err == "bayesnb: there is one class only, 'spam': every document will be called that\n"
    assert bayesnb.load("one.model").power == 1


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["fit", "mail", "-o", "x", "--event", "bernouli"], "bernoulli"),
        (["fit", "mail", "-o", "x", "--estimate", "maen"], "mean"),
        (["fit", "mail", "-o", "x", "--prior", "jefreys"], "jeffreys"),
        (["fit", "mail", "-o", "x", "--format", "cs299"], "cs229"),
        (["fit", "mail", "-o", "x", "--quoting", "Minmal"], "minimal"),
        (["fit", "mail", "-o", "x", "--tokens", "word"], "words"),
        (["fit", "mail", "-o", "x", "--class-prior", "hem=.5,spam=.5"], "ham"),
        (["fit", "t.csv", "-o", "x", "--text", "mesage"], "Message"),
        (["fit", "mail", "-o", "x", "--alhpa", "1"], "--alpha"),
        (["score", "m.model", "mail/ham", "--threshold", "spma=.9"], "spam"),
        (["score", "c.model", "short.csv"], "te"),
        (["evaluate", "m.model", "Spam=mail/spam"], "spam"),
        (["ratios", "m.model", "--classes", "spam", "hm"], "ham"),
        (["sample", "m.model", "-o", "t.nc", "--sampler", "nutpy"], "nutpie"),
        (["selct", "mail"], "select"),
    ],
)
def test_what_a_misspelt_word_may_have_meant_is_asked(mail, capsys, arguments, near):
    Path("t.csv").write_text("label,Message\nspam,free\nham,tea\n")
    Path("c.csv").write_text(COUNTS)
    Path("short.csv").write_text("free,te,rum\n1,2,3\n")
    assert run(["fit", "mail", "-o", "m.model"], capsys)[0] == run(["fit", "c.csv", "-o", "c.model"], capsys)[0] == 0
    status, out, err = run(arguments, capsys)
    line = err.splitlines()[-1].replace("Did", "did")
    asked = (f"did you mean '{near}'", f"Possible options: {near}")  # the second is typer's
    assert status == 2 and out == "" and any(question in line for question in asked)


def test_nothing_near_is_suggested_where_nothing_is(mail, capsys):
    assert "did you mean" not in run(["fit", "mail", "-o", "x", "--estimate", "qqq"], capsys)[2]
    assert len(HAM) == 3
