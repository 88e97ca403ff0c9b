"""Hostile Parquet, NDJSON, MATRIX and svmlight: the right rows, or one line that names file, place and remedy."""

import io
import os
import subprocess
import sys
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesnb
from bayesnb.cli import main
from bayesnb.corpus import CorpusError, read_blocks, read_corpus, read_documents


def write(path, content):
    """A file of bytes, text, or a frame as Parquet."""
    if isinstance(content, pl.DataFrame):
        content.write_parquet(path, row_group_size=3)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def together(path):
    """Rows, texts, labels and reasons of all blocks."""
    found = list(read_blocks(path, size=1))
    skipped = {}
    for block in found:
        for reason, n in block.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + n
    return (
        [row for block in found for row in block.ids],
        [text for block in found for text in block.texts],
        [label for block in found for label in block.y.tolist()],
        skipped,
    )


def same_everywhere(path, ids, texts, labels, skipped):
    """Read at once, in blocks, by an estimator: these rows, and what was left out is told."""
    corpus = read_corpus(path)
    assert (corpus.ids, corpus.texts, corpus.y.tolist(), corpus.skipped) == (ids, texts, labels, skipped)
    assert together(path) == (ids, texts, labels, skipped)
    tc = bayesnb.TextClassifier(tokens="whitespace").fit_file(path)
    assert tc.classes_.tolist() == sorted(set(labels)) and tc.skipped_ == skipped


def fitted(path):
    return bayesnb.TextClassifier().fit_file(path)


def refused(path, message, reads=(read_corpus, together, fitted)):
    """At every entry one line, with the file's name."""
    for read in reads:
        with pytest.raises(CorpusError, match=message) as caught:
            read(path)
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)


# --- Parquet --------------------------------------------------------------------------------------------------

ROWS = {"label": ["x", "y", None, "x"], "text": ["tea", "win", "milk", None]}
LEFT_OUT = {"rows without a label": 1, "rows without a text": 1}


@pytest.mark.parametrize(
    "kind", [pl.String, pl.Categorical, pl.Enum(["x", "y", "tea", "win", "milk"])], ids=["string", "dictionary", "enum"]
)
def test_nulls_and_dictionaries_in_parquet(tmp_path, kind):
    """A null is missing, however strings are stored."""
    path = write(tmp_path / "t.parquet", pl.DataFrame(ROWS, schema={"label": kind, "text": kind}))
    same_everywhere(path, [1, 2], ["tea", "win"], ["x", "y"], LEFT_OUT)


@pytest.mark.parametrize(
    ("labels", "read"),
    [([True, False], ["true", "false"]), ([1, 0], ["1", "0"]), ([date(2020, 1, 1)] * 2, ["2020-01-01"] * 2)],
)
def test_labels_of_other_types_are_what_they_print_as(tmp_path, labels, read):
    path = write(tmp_path / "t.parquet", pl.DataFrame({"label": labels, "text": ["tea", "win"]}))
    same_everywhere(path, [1, 2], ["tea", "win"], read, {})


@pytest.mark.parametrize("cells", [[["tea"], ["win"]], [{"a": "tea"}, {"a": "win"}], [b"tea", b"win"]])
def test_lists_objects_and_bytes_are_no_text(tmp_path, cells):
    """Named as such, also where the text is guessed: the labels are not read as texts in their place."""
    path = write(tmp_path / "t.parquet", pl.DataFrame({"label": ["x", "y"], "text": cells}))
    refused(path, "row 1: column 'text' holds a list, an object or bytes where a text was expected: write it as a str")
    with pytest.raises(CorpusError, match="column 'text' holds a list"):
        read_documents(path)
    path = write(tmp_path / "t.parquet", pl.DataFrame({"label": cells, "text": ["a", "b"]}))
    refused(path, "row 1: column 'label' holds .* pass label= another column")


def test_columns_that_are_not_read_may_hold_anything(tmp_path):
    """A list beside text and label is no matter; in a table of counts its leaving out is told."""
    frame = pl.DataFrame({"label": ["x", "y"], "said": ["tea", "win"], "meta": [[1], [2]]})
    same_everywhere(write(tmp_path / "t.parquet", frame), [1, 2], ["tea", "win"], ["x", "y"], {})
    frame = pl.DataFrame({"label": ["x", "y"], "tea": [1, 2], "meta": [[1], [2]]})
    corpus = read_corpus(write(tmp_path / "n.parquet", frame))
    assert corpus.tokens == ["tea"] and corpus.skipped == {"column 'meta', of lists, objects or bytes": 1}


def test_infinity_in_parquet_is_a_number_out_of_range(tmp_path):
    """It is no word that a model of texts could learn."""
    path = write(tmp_path / "t.parquet", pl.DataFrame({"label": ["x", "y"], "a": [1.0, float("inf")]}))
    refused(path, "row 2: column 'a' is beyond the range of numbers", [read_corpus, read_documents])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame(), "t.parquet has no columns"),
        (pl.DataFrame(ROWS).head(0), "no row has both a label and a text"),
        (pl.DataFrame({"label": ["x"], "text": [None]}), "no row has both a label and a text"),
        (
            pl.DataFrame({"label": ["x\0", "x"], "text": ["a", "b"]}),
            "row 1: column 'label' has a label that holds a NUL",
        ),
    ],
)
def test_parquet_without_documents_is_an_error(tmp_path, frame, message):
    """NumPy drops a NUL at the end, which would make two labels one."""
    refused(write(tmp_path / "t.parquet", frame), message)


def whole():
    """A Parquet file of several row groups, as bytes."""
    out = io.BytesIO()
    pl.DataFrame({"label": ["x", "y"] * 50, "text": [f"t{i}" for i in range(100)]}).write_parquet(out, row_group_size=9)
    return out.getvalue()


@pytest.mark.parametrize("cut", [3, 4, 5, 8, 12, 0.5, -9, -4, -1])
def test_a_parquet_file_that_was_cut_short_says_so(tmp_path, cut):
    """Anywhere."""
    data = whole()
    path = write(tmp_path / "t.parquet", data[: int(len(data) * cut) if isinstance(cut, float) else cut])
    refused(path, "not a Parquet file.*(copy it again|pass its format)")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"label,text\nx,tea\n", "not a Parquet file; if it is another table, pass its format="),
        (b"\x1f\x8b\x08\x00abc", "it is compressed by gzip: unpack it first"),
        (b"", "is empty"),
    ],
)
def test_what_is_called_parquet_and_is_not(tmp_path, content, message):
    refused(write(tmp_path / "t.parquet", content), message)


@settings(max_examples=150, deadline=None)
@given(edits=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_parquet_file_gives_rows_or_one_line(tmp_path_factory, edits):
    """Whatever bytes a bad disk has changed: the error is ours, and blocks end as reading at once does."""
    data = bytearray(whole())
    for at, value in edits:
        data[int(at * len(data))] = value
    path = write(tmp_path_factory.getbasetemp() / "damaged.parquet", bytes(data))
    for read in (read_corpus, lambda path: list(read_blocks(path, size=1000))):
        try:
            read(path)
        except CorpusError as error:
            assert "\n" not in str(error) and "damaged.parquet" in str(error)


def grown(code, *arguments):
    """Megabytes that some code adds to a process that has read a small table."""
    setup = (
        "import resource, sys; from bayesnb.corpus import read_blocks, read_corpus; import polars\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "sum(len(block) for block in read_blocks(sys.argv[1])); before = peak()\n"
    )
    code = setup + code + "\nprint(peak() - before)"
    run = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True)
    return float(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes of the peak")
def test_text_that_packs_to_nothing_comes_in_blocks_all_the_same(tmp_path):
    """200 MB of one text in a file of some kilobytes: a block is bounded by its text, not by the file."""
    n = 200_000
    path = write(tmp_path / "small.parquet", pl.DataFrame(ROWS))
    frame = pl.DataFrame({"label": ["x", "y"] * (n // 2), "text": ["word " * 200] * n})
    frame.write_parquet(tmp_path / "t.parquet")
    assert os.path.getsize(tmp_path / "t.parquet") < 100_000
    code = f"assert sum(len(block) for block in read_blocks(sys.argv[2], size=2**22)) == {n}"
    assert grown(code, path, tmp_path / "t.parquet") < 80  # 10 to 20 here; 250 for all at once


# --- NDJSON ---------------------------------------------------------------------------------------------------


def test_keys_may_be_missing_and_lines_empty_objects(tmp_path):
    """Rows keep their numbers in blocks of one line each."""
    lines = ['{"text": "tea", "label": "x"}', "{}", '{"text": "b"}', '{"label": "y"}', '{"text": "win", "label": "y"}']
    path = write(tmp_path / "t.ndjson", "\n".join(lines))
    same_everywhere(path, [1, 5], ["tea", "win"], ["x", "y"], {"rows without a label": 2, "rows without a text": 1})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "text": "b", "label": "x"}', "line 3: the key 'text' is there twice: rename one"),
        ('{"text": "a", "label": "x", "m": {"k": 1, "k": 2}}', "line 3: the key 'k' is there twice"),
        ('{"text": ["a"], "label": "x"}', "row 3: column 'text' holds a list, an object .* pass text= another column"),
        ('{"text": "a", "label": {"k": 1}}', "row 3: column 'label' holds a list, an object .* label= another column"),
        ('{"text": "a", "label": ' + "9" * 5000 + "}", "row 3: column 'label' has a label of more than 256"),
        ('{"text": "a", "label": "x", "z": ' + "[" * 100_000, "line 3: JSON that cannot be read: .* too deeply"),
        ('{"text": "a", "label": "x"', "line 3: not JSON: .* write one object per line"),
        ('{"text": "a"} {"text": "b"}', "line 3: not JSON: Extra data at column 15: write one object per line"),
        ("[", "line 3: not JSON: .*one object per line"),
        ("NaN", "line 3: a JSON NoneType: write one object per line"),
    ],
)
def test_a_bad_line_far_down_is_named_at_every_entry(tmp_path, line, message):
    """Also where the lines before it were read in other blocks."""
    good = '{"text": "tea", "label": "x"}\n'
    refused(write(tmp_path / "t.ndjson", good * 2 + line + "\n" + good), message)


def test_numbers_in_ndjson_stay_as_written(tmp_path):
    """As in CSV: no digit is lost to a float, no number becomes Infinity; NaN is missing."""
    labels = ["1", "1.0", "0.1000000000000000055", "1e999", "-0", "12345678901234567890123", "true", "NaN", "Infinity"]
    lines = [f'{{"text": "tea", "label": {label}}}' for label in labels]
    path = write(tmp_path / "t.ndjson", "\n".join(lines))
    same_everywhere(path, list(range(1, 8)), ["tea"] * 7, labels[:7], {"rows without a label": 2})
    counts = write(tmp_path / "n.ndjson", '{"a": 1e2, "label": "x"}\n{"a": 3, "label": "y"}\n')
    assert read_corpus(counts).X.toarray().tolist() == [[100], [3]]
    counts = write(tmp_path / "n.ndjson", '{"a": 1, "label": "x"}\n{"a": 1e999, "label": "y"}\n')
    refused(counts, "row 2: column 'a' is beyond the range of numbers", [read_corpus])


def test_lines_of_ever_other_keys_do_not_fill_the_memory(tmp_path):
    """A table of all keys by all lines would take 4,000 times the file; many optional keys are no matter."""
    lines = [f'{{"text": "tea", "label": "x", "id{i}": 1}}\n' for i in range(5000)]
    path = write(tmp_path / "t.ndjson", "".join(lines))
    refused(path, "line 2[0-9]{3}: .* different keys in .* lines: give all lines the same", [read_corpus])
    lines = [f'{{"text": "tea", "label": "x", "k{i % 90}": 1}}\n' for i in range(5000)]
    assert len(read_corpus(write(tmp_path / "t.ndjson", "".join(lines)))) == 5000


# --- MATRIX ---------------------------------------------------------------------------------------------------

MATRIX = "NAME\n2 3\ntea milk gin\n1 1 2 1 7 -1\n0 1 5 -1\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # the sum of these steps comes round to a column that there is
        ("1 1 2 1 7", f"1 1 2 {2**63 - 1} 7 {2**63 - 1} 3", "line 4: steps must be at least 1 and stay below column 3"),
        ("1 1 2 1 7", f"1 1 2 {2**63 - 1} 7", "line 4: steps must"),
        ("1 1 2 1 7", f"1 1 {2**63} 1 7", "line 4: '9223372036854775808' is not a whole number of 64 bits"),
        ("1 1 2 1 7", "1 1 2.5 1 7", "line 4: '2.5' is not a whole number"),
        ("1 1 2 1 7", "1 1 1_0 1 7", "line 4: '1_0' is not a whole number"),
        ("1 1 2 1 7", "1 1 ٣ 1 7", "line 4: '٣' is not a whole number"),
        ("1 1 2 1 7", "1 1 2 -1 1 7", "line 4: expected a label, pairs"),
        ("1 1 2 1 7", "1 1 -2 1 7", "line 4: a count is negative"),
        ("1 1 2 1 7", "1 -1 2 1 7", "line 4: steps must"),
        ("5 -1\n", "5 -", "line 5: '-' is not a whole number"),
        ("5 -1\n", "5", "line 5: expected a label, pairs"),
        ("0 1 5 -1\n", "", "1 documents where line 2 announces 2; is the file cut short"),
        ("-1\n0", "-1\n\n0", "3 documents where line 2 announces 2; is there a blank line"),
        ("2 3", "999999999 3", "2 documents where line 2 announces 999999999"),
        ("2 3", "2 999999999", "line 3: 3 tokens where line 2 announces 999999999"),
        (MATRIX, "NAME\n0 3\ntea milk gin\n", "has no documents"),
        (MATRIX, "NAME\n0 0\n", "has no documents"),
        (MATRIX, "NAME\n2 3\n", "line 3: 0 tokens"),
    ],
)
def test_a_hostile_matrix_names_its_line(tmp_path, old, new, message):
    """No number wraps round, no header makes room for what is not there."""
    path = write(tmp_path / "MATRIX.BAD", MATRIX.replace(old, new))
    refused(path, message, [read_corpus, read_documents])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_a_matrix_is_recognised_in_any_encoding(tmp_path, encoding):
    """It is not read as one document."""
    path = write(tmp_path / "M", MATRIX.encode(encoding))
    assert read_documents(path, encoding=encoding).X.toarray().tolist() == [[0, 2, 7], [0, 5, 0]]


# --- svmlight -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("9007199254740993.5 1:1", "label 9007199254740993.5 is not a whole number"),
        ("1e300 1:1", "label 1e300 is not a whole number"),
        (f"{2**63} 1:1", f"label {2**63} is not a whole number"),
        ("nan 1:1", "label nan is not a whole number"),
        ("1_0 1:1", "label 1_0 is not a whole number"),
        ("1,2 1:1", "label 1,2 is not a whole number"),
        ("1 1_0:1", "'1_0' is not a whole number of 64 bits"),
        (f"1 {2**63}:1", "'9223372036854775808' is not a whole number"),
        ("1 a:1", "'a' is not a whole number"),
        ("1 1:1_0", "the value '1_0' is not a finite number"),
        ("1 1:1e999", "the value '1e999' is not a finite number"),
        ("1 1:inf", "the value 'inf' is not a finite number"),
        ("1 1:", "the value '' is not a finite number"),
        ("1 1:2:3", "expected pairs index:value"),
        ("1 3:1 1:2 3:4", "an index is negative or stands twice"),
        ("1 67108864:1", "index 67108864 is beyond"),
        ("1 67108000:1", "index 67108000 in a file of 2 values: a slip"),
    ],
)
def test_a_hostile_svmlight_line_is_named(tmp_path, line, message):
    """In our words; a stray index does not name millions of columns."""
    refused(write(tmp_path / "t.svm", "1 1:1\n" + line + "\n"), f"line 2: .*{message}", [read_corpus, read_documents])


def test_svmlight_is_read_as_written(tmp_path):
    """Labels of many digits stay two; values beyond 64 bits stay themselves; order, qid and comments do not matter."""
    path = write(tmp_path / "t.svm", f"{2**53 + 1} qid:3 3:1e20 1:2 # a:b\n{2**53}.0 2:1\n# none\n\n")
    corpus = read_corpus(path)
    assert corpus.y.tolist() == [2**53 + 1, 2**53] and corpus.y.dtype == np.int64
    assert corpus.X.toarray().tolist() == [[2, 0, 1e20], [0, 1, 0]] and corpus.ids == [1, 2]


def test_svmlight_files_of_other_widths_go_together(tmp_path, monkeypatch, capsys):
    """A column that a file does not have is all zeros: such a file can be scored, and joined with others."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.svm", "1 1:2 5:1\n-1 2:4 3:1\n")
    write(tmp_path / "b.svm", "1 1:2\n-1 2:4\n")
    write(tmp_path / "c.svm", "1 1:2 9:1\n-1 2:4 3:1\n")
    assert main(["fit", "a.svm", "-o", "m"]) == 0
    capsys.readouterr()
    scorer = bayesnb.Scorer.load(tmp_path / "m")
    for name, rows in (("b.svm", [[2, 0, 0, 0, 0], [0, 4, 0, 0, 0]]), ("c.svm", [[2, 0, 0, 0, 0], [0, 4, 1, 0, 0]])):
        assert main(["score", "m", name]) == 0
        cells = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
        expected = scorer.predict_proba(np.array(rows))
        assert np.allclose([float(row[2]) for row in cells], expected.max(axis=1), rtol=1e-12)
    assert main(["fit", "a.svm", "c.svm", "-o", "m"]) == 0
    fitted = bayesnb.load(tmp_path / "m").posterior_
    assert fitted.tokens.tolist() == [str(j) for j in range(1, 10)]
    assert fitted.statistics.feature_count.tolist() == [[0, 8, 2, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 1, 0, 0, 0, 1]]
    write(tmp_path / "t.csv", "tea,label\n1,x\n2,y\n")
    assert main(["fit", "t.csv", "-o", "m"]) == 0
    assert main(["score", "m", "a.svm"]) == 2  # columns with names are not numbers
    assert "has no column 'tea'" in capsys.readouterr().err


def test_labels_that_are_nearly_alike_are_pointed_out(tmp_path, monkeypatch, capsys):
    """A blank behind a label makes a class of its own."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", "label,text\nham,tea\nham ,milk\nspam,win\n")
    assert main(["fit", "t.csv", "--text", "text", "--label", "label", "-o", "m"]) == 0
    note = "bayesnb: 'ham' and 'ham ' are classes of their own; if they mean the same, write them alike\n"
    assert capsys.readouterr().err == note
