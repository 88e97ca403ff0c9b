"""Tables that are scored: every row in gives a row out, with its own columns; a bad row costs itself alone."""

import csv
import io
import json
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesnb
from bayesnb.cli import lines, rows
from tests import test_cli, test_cli_filter
from tests.test_cli import run, strict_json
from tests.test_cli_filter import BAYESNB, objects, table

mail, model, filtered = test_cli.mail, test_cli.model, test_cli_filter.filtered  # fixtures

ANSWER = ["label", "probability", "lower", "upper", "known_tokens", "tokens", "log_px", "fingerprint"]
TABLE = [("a7", "free prices", "spam", "2"), ("b1", 'coffee, at "ten"\nor so', "ham", ""), ("c3", "win", "spam", "x")]


def write_csv(path, names, cells, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([names, *cells])
    Path(path).write_text(text.getvalue())
    return text.getvalue()


# --- columns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_the_columns_of_a_table_come_first_and_its_id_is_kept(model, capsys, name):
    write_csv(name, ["id", "text", "label", "note"], TABLE, "," if name == "t.csv" else "\t")
    status, out, err = run(["score", model, name], capsys)
    assert status == 0 and "guessed: text in column 'text'" in err
    assert out.splitlines()[0].split(",") == ["id", "text", "input_label", "note", *ANSWER]
    assert [tuple(row.values())[:4] for row in table(out)] == TABLE
    expected = bayesnb.load(model).predict([row[1] for row in TABLE]).tolist()
    assert [row["label"] for row in table(out)] == expected
    status, out, _ = run(["score", model, name, "--json"], capsys)
    assert [row["note"] for row in strict_json(out)["rows"]] == ["2", None, "x"]


def test_a_table_without_an_id_has_the_numbers_of_its_rows_and_several_their_names(model, capsys):
    write_csv("a.csv", ["text", "who"], [["free", "me"]])
    write_csv("b.csv", ["text", "when"], [["tea", "now"]])
    out = run(["score", model, "a.csv"], capsys)[1]
    assert out.startswith("id,text,who,label") and table(out)[0]["id"] == "1"
    out = run(["score", model, "a.csv", "b.csv", "mail/ham/0.txt"], capsys)[1]
    found = [(row["id"], row["text"], row["who"], row["when"]) for row in table(out)]
    assert found == [("a.csv:1", "free", "me", ""), ("b.csv:1", "tea", "", "now"), ("mail/ham/0.txt", "", "", "")]


def test_ndjson_and_parquet_keep_their_values(model, capsys):
    given = [
        {"id": 7, "text": "free", "deep": {"x": [1, None]}, "sure": True, "n": 2.5},
        {"text": "tea", "n": 10**20, "more": "later"},
    ]
    Path("t.ndjson").write_text("".join(json.dumps(row) + "\n" for row in given))
    rows_ = strict_json(run(["score", model, "t.ndjson", "--json"], capsys)[1])["rows"]
    assert {name: rows_[0][name] for name in given[0]} == given[0]
    assert (rows_[1]["id"], rows_[1]["n"], rows_[1]["more"]) == (2, 10**20, "later") and "deep" not in rows_[1]
    frame = pl.DataFrame(
        {"text": ["free", "tea"], "when": [pl.Series([0], dtype=pl.Date)[0]] * 2, "n": [1, None], "of": [[1], []],
         "raw": [b"x", b"y"], "day": pl.Series([1, 2], dtype=pl.Int64).cast(pl.Datetime)}
    )  # fmt: skip
    frame.write_parquet("t.parquet")
    rows_ = strict_json(run(["score", model, "t.parquet", "--json"], capsys)[1])["rows"]
    assert [(row["when"], row["n"], row["of"]) for row in rows_] == [("1970-01-01", 1, [1]), ("1970-01-01", None, [])]
    assert "raw" not in rows_[0] and rows_[0]["day"].startswith("1970-01-01")
    assert run(["score", model, "t.parquet", "-o", "rows.csv"], capsys)[0] == 0


def test_a_table_of_counts_keeps_what_is_no_count_of_the_model(mail, capsys):
    X = pd.DataFrame([[3, 0], [0, 2], [1, 1]], columns=["tea", "rum"])
    clf = bayesnb.MultinomialNB().fit(X, ["h", "s", "h"])
    clf.save("c.model")
    Path("c.csv").write_text("year,tea,rum,gin\n1999,2,0,5\n2003,1,1,0\n")
    rows_ = strict_json(run(["score", "c.model", "c.csv", "--json"], capsys)[1])["rows"]
    assert [(row["id"], row["year"], row["gin"]) for row in rows_] == [(1, "1999", "5"), (2, "2003", "0")]
    assert "tea" not in rows_[0]
    expected = clf.predict_proba(pd.DataFrame([[2, 0], [1, 1]], columns=["tea", "rum"])).max(axis=1)
    assert [row["probability"] for row in rows_] == expected.tolist()


# --- empty texts ----------------------------------------------------------------------------------------------


def test_an_empty_text_is_an_empty_document_in_a_table_as_in_a_folder_and_said(model, capsys):
    write_csv("t.csv", ["id", "text"], [["a", "free"], ["b", ""], ["c", "  "]])
    Path("mail/ham/3.txt").write_text("")
    status, out, err = run(["score", model, "t.csv", "mail/ham", "--json"], capsys)
    found = {row["id"]: row for row in strict_json(out)["rows"]}
    assert status == 0 and list(found) == ["a", "b", "c", *(f"mail/ham/{i}.txt" for i in range(4))]
    answers = [{name: found[i][name] for name in ANSWER} for i in ("b", "c", "mail/ham/3.txt")]
    assert answers[0] == answers[1] == answers[2] and answers[0]["tokens"] == 0
    prior = bayesnb.load(model).posterior_.theta_hat("map")
    assert answers[0]["probability"] == pytest.approx(prior.max())
    assert "t.csv: 2 of 3 documents hold no text; they are answered as empty ones" in err
    assert "mail/ham: 1 of 4 documents hold no text" in err and "left out" not in err


def test_a_null_is_no_text_and_left_out_as_before(model, capsys):
    Path("t.ndjson").write_text('{"text": null}\n{"text": ""}\n{"text": "tea"}\n')
    status, out, err = run(["score", model, "t.ndjson", "--json"], capsys)
    assert status == 0 and [row["id"] for row in strict_json(out)["rows"]] == [2, 3]
    assert "left out 1: t.ndjson: rows without a text" in err


# --- bad rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("t.csv", "text,n\nfree,1\nwin,money,2\ntea\ncoffee,4\n", ["line 3: 3 fields", "line 4: 1 field"]),
        ("t.tsv", "text\tn\nfree\t1\nwin\tmoney\t2\ntea\ncoffee\t4\n", ["line 3: 3 fields", "line 4: 1 field"]),
        ("t.ndjson", '{"text": "free"}\n{"text"\n[1]\n{"text": "coffee"}\n', ["line 2: not JSON", "line 3: a JSON"]),
    ],
)
def test_a_bad_row_of_a_table_costs_itself_alone_where_bad_rows_are_skipped(model, capsys, name, text, places):
    """The rows that are left keep their numbers; without --on-error skip the first is an error."""
    Path(name).write_text(text)
    status, out, err = run(["score", model, name, "--json"], capsys)
    assert status == 2 and out == "" and f"{name}, {places[0]}" in err
    status, out, err = run(["score", model, name, "--json", "--on-error", "skip"], capsys)
    found = strict_json(out)
    assert status == 0 and [(row["id"], row["text"]) for row in found["rows"]] == [(1, "free"), (4, "coffee")]
    assert found["skipped"] == {f"{name}: rows that cannot be read": 2} == found["summary"]["skipped"]
    assert all(f"left out: {name}, {place}" in err for place in places)


def test_bad_rows_of_counts_are_skipped_too(mail, capsys):
    X = pd.DataFrame([[3, 0], [0, 2]], columns=["tea", "rum"])
    bayesnb.MultinomialNB().fit(X, ["h", "s"]).save("c.model")
    Path("c.csv").write_text("tea,rum\n2,0\n1\n1,1\n")
    status, out, _ = run(["score", "c.model", "c.csv", "--json", "--on-error", "skip"], capsys)
    assert status == 0 and [row["id"] for row in strict_json(out)["rows"]] == [1, 3]


# --- a table into the filter ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_table_in_the_filter_is_answered_as_the_file_is(model, filtered, capsys, format, delimiter):
    text = write_csv(f"t.{format}", ["id", "text", "label", "note"], [*TABLE, ("d4", "", "", "")], delimiter)
    of_file = run(["score", model, f"t.{format}"], capsys)[1]
    status, out, err = filtered("\ufeff" + text, "--format", format)
    assert status == 0 and "guessed: text in column 'text'" in err
    for row, expected in zip(table(out), table(of_file), strict=True):
        for name in ("lower", "upper"):  # intervals of one batch are solved together
            assert float(row.pop(name)) == pytest.approx(float(expected.pop(name)), abs=1e-5)
        assert row == expected
    numbered = write_csv("n.csv", ["text", "n"], [row[1::2] for row in TABLE])
    out = filtered(numbered.replace("\n", "\r\n"), "--format", "csv", "--json")[1]
    assert [row["id"] for row in objects(out)] == [1, 2, 3]
    rows_ = objects(filtered("free,1\ntea,2\n", "--format", "csv", "--no-header", "--text", "column_1", "--json")[1])
    assert [(row["id"], row["column_1"], row["column_2"]) for row in rows_] == [(1, "free", "1"), (2, "tea", "2")]


def test_bad_rows_of_a_piped_table_are_named_by_line_and_skipped_on_request(filtered):
    text = 'text,n\n"two\nlines",1\n\nwin,money,2\n"free"x,3\ncoffee,4\n"tea'
    status, out, err = filtered(text, "--format", "csv", "--json")
    assert status == 2 and [row["text"] for row in objects(out)] == ["two\nlines"]
    assert "standard input, line 5: 3 fields where 2 are expected (text, n)" in err
    status, out, err = filtered(text, "--format", "csv", "--json", "--on-error", "skip")
    assert status == 0 and [(row["id"], row["text"]) for row in objects(out)] == [(1, "two\nlines"), (4, "coffee")]
    assert "left out line 6: a quoted field is not closed as it should be" in err
    assert "left out line 8: a quoted field is not closed" in err and "left out 1: blank lines" in err


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("text,text\nfree,1\n", [], "two columns are named 'text'"),
        ("a,b,c\nfree,1,2\n", [], "cannot tell which column is the text"),
        ("mesage,n\nfree,1\n", ["--text", "message"], "no column 'message'; did you mean 'mesage'"),
        ('"text,n\nfree,1\n', [], "a quoted field is not closed"),
    ],
)
def test_a_header_that_is_none_ends_the_filter_even_where_rows_are_skipped(filtered, text, options, said):
    status, out, err = filtered(text, "--format", "csv", "--on-error", "skip", *options)
    assert status == 2 and out == "" and said in err.splitlines()[-1]


def test_a_piped_table_of_counts_needs_the_columns_of_the_model(model, filtered):
    X = pd.DataFrame([[3, 0], [0, 2]], columns=["tea", "rum"])
    clf = bayesnb.MultinomialNB().fit(X, ["h", "s"])
    clf.save("c.model")
    status, out, _ = filtered("who,tea,rum\nme,2,0\n", "--format", "csv", "--json", model="c.model")
    (row,) = objects(out)
    assert status == 0 and row["who"] == "me" and row["probability"] == clf.predict_proba(X.iloc[:1] - [1, 0]).max()
    err = filtered("who,te,rum\nme,2,0\n", "--format", "csv", "--on-error", "skip", model="c.model")[2]
    assert "there is no column 'tea'; did you mean 'te'" in err and len(err.splitlines()) == 1


def test_rows_are_numbered_through_however_many_there_are(filtered):
    """More than comes in one read."""
    status, out, _ = filtered("text\n" + "free\n\n" * 20_000, "--format", "csv")
    assert status == 0 and [int(line.partition(",")[0]) for line in out.splitlines()[1:]] == [*range(1, 20_001)]


def test_a_row_is_answered_before_the_next_is_sent(model):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [*BAYESNB, "score", model, "-", "--format", "csv", "--text", "text"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=buffered) as filter_:
        watchdog = threading.Timer(60, filter_.kill)  # a row that stays in a buffer would be waited for
        watchdog.start()
        filter_.stdin.write("text\n")
        for number, text in enumerate(['"free\nprices"', "coffee"], 1):
            filter_.stdin.write(text + "\n")
            filter_.stdin.flush()
            heading = filter_.stdout.readline() if number == 1 else "id,text"
            found = filter_.stdout.readline() + (filter_.stdout.readline() if number == 1 else "")
            assert heading.startswith("id,text") and found.startswith(f"{number},{text},")
        watchdog.cancel()
        filter_.stdin.close()
        assert filter_.wait() == 0


def test_lines_that_begin_with_a_header_are_remarked_on(filtered):
    for first, format in (("id,text", "csv"), ("label\tmessage", "tsv"), ("Text,Date of birth", "csv")):
        err = filtered(f"{first}\nfree\n")[2]
        assert f"looks like the header of a table; if so, give --format {format}" in err
    for first in ("free, text me now", "text", "coffee at ten", "a text, of a longer sentence, is one"):
        assert "header" not in filtered(f"{first}\nfree\n")[2]
    assert "header" not in filtered("id,text\nfree\n", "--format", "lines")[2]


FIELD = st.text(st.sampled_from('ab ,"\n\r'), max_size=6)


@given(st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=5), st.integers(1, 9))
def test_rows_are_those_of_the_file_however_the_bytes_come(cells, size):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    stream, form = io.BytesIO(text.getvalue().encode()), rows.Form(",")
    found = [row for batch in rows.whole(lines.batches(lambda _: stream.read(size)), form) for row in batch]
    assert [form.fields(raw.decode()) for _, raw in found] == cells
    starts = np.cumsum([1, *("".join(row).count("\n") + 1 for row in cells)])[:-1]
    assert [number for number, _ in found] == starts.tolist()


def test_a_quote_that_is_never_closed_does_not_fill_the_memory():
    endless = [[(i, b'"' if i == 1 else bytes(1000))] for i in range(1, 50)]
    found = [row for batch in rows.whole(endless, rows.Form(","), longest=10_000) for row in batch]
    assert found[0] == (1, None) and sum(len(raw or b"") for _, raw in found) < 49_000


# --- confusion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 40])
def test_the_confusion_of_many_classes_is_a_list_that_fits_and_csv_has_it_all(mail, capsys, n):
    """As a matrix it would have no room for its numbers."""
    names = [f"class{i}" for i in range(n)]
    write_csv("t.csv", ["label", "text"], [(name, f"word{i}") for i, name in enumerate(names)])
    # the texts of the first class are the words of the second; each further class is right
    test = [(names[0], "word1")] * 3 + [(name, f"word{i}") for i, name in enumerate(names[1:], 1)]
    write_csv("test.csv", ["label", "text"], test)
    assert run(["fit", "t.csv", "-o", "k.model"], capsys)[0] == 0
    status, out, _ = run(["evaluate", "k.model", "test.csv", "--csv", "c.csv"], capsys)
    assert status == 0 and all(len(line) <= 80 for line in out.splitlines())
    cells = [line.split() for line in out.splitlines()]
    of_list, of_matrix = ["class0", "class1", "3"], ["class0", "0", "3"]
    assert (of_list in cells, of_matrix in cells) == (n == 40, n == 2)
    found = strict_json(run(["evaluate", "k.model", "test.csv", "--json"], capsys)[1])
    expected = {
        (true, taken): found["confusion"][i][j]
        for i, true in enumerate(found["classes"])
        for j, taken in enumerate(found["classes"])
    }
    written = {(row["true"], row["predicted"]): int(row["documents"]) for row in table(Path("c.csv").read_text())}
    assert written == expected and written[names[0], names[1]] == 3


# --- models of other kinds ------------------------------------------------------------------------------------


def test_models_of_measurements_and_categories_answer_or_refuse_in_one_line(model, capsys):
    X = pd.DataFrame({"a": [1.0, 2.0, 5.0, 6.5], "b": [0.5, 0.0, 3.0, 2.5]})
    clf = bayesnb.GaussianNB(prior="weak").fit(X, ["x", "x", "y", "y"])
    clf.save("g.model")
    X.to_csv("g.csv", index=False)
    rows_ = strict_json(run(["score", "g.model", "g.csv", "--json"], capsys)[1])["rows"]
    assert [row["probability"] for row in rows_] == pytest.approx(clf.predict_proba(X).max(axis=1).tolist())
    status, out, err = run(["score", "g.model", "mail/ham"], capsys)
    assert (
        status == 2
        and out == ""
        and err.splitlines()
        == ["bayesnb: mail/ham holds texts, but the model was fitted on measurements: give it a table with its columns"]
    )
    bayesnb.GaussianNB().fit(X, ["x", "x", "y", "y"]).save("g.model")
    status, out, err = run(["score", "g.model", "g.csv"], capsys)
    assert status == 2 and out == "" and len(err.splitlines()) == 1 and "have no posterior" in err
