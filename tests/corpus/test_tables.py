"""Tables: which rows and columns come out, and which line is blamed."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesnb.corpus import CorpusError, delimited, read_corpus, read_documents


@pytest.fixture
def table(tmp_path):
    """Write a file and give its path."""

    def write(content, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def test_text_and_label_are_found_by_name(table):
    """Common names, in any case and place; other columns are left alone."""
    corpus = read_corpus(table("ID,Label,date,Message\n1,spam,x,win money\n2,ham,y,hello\n"))
    assert corpus.texts == ["win money", "hello"] and corpus.y.tolist() == ["spam", "ham"]
    assert corpus.ids == [1, 2] and corpus.skipped == {} and corpus.X is None


def test_labels_stay_as_written(table):
    """A label 007 stays 007, not the number 7."""
    assert read_corpus(table("label,text\n007,a\n7,b\n")).y.tolist() == ["007", "7"]


def test_two_columns_tell_each_other(table):
    """One named column names the other; with neither, labels repeat and texts do not."""
    rows = "".join(f"{'ham' if i % 2 else 'spam'},mail {i}\n" for i in range(8))
    for header in ("v1,v2", "label,v2", "v1,text", "label,text"):
        corpus = read_corpus(table(f"{header}\n{rows}"))
        assert corpus.y.tolist()[:2] == ["spam", "ham"] and corpus.texts[0] == "mail 0"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1x,2x\n3x,4x\n", r"cannot tell which column is the text; pass text= one of its columns: 'a', 'b'"),
        ("a,b,label\nx,y,z\n", "cannot tell which column is the text"),
        ("text,message,label\nx,y,z\n", "the text could be any of 'text', 'message': pass text="),
        ("text,label,class\nx,y,z\n", "the label could be any of 'label', 'class': pass label="),
        ("1,x y,2\n2,z,3\n", "or header=False if the first line is data"),
    ],
)
def test_what_cannot_be_guessed_is_asked_for(table, content, message):
    """An unclear table is an error that lists the columns."""
    with pytest.raises(CorpusError, match=message):
        read_corpus(table(content))


def test_a_missing_column_lists_those_there_are(table):
    """text= and label= must name columns."""
    path = table("label,text\nx,y\n")
    with pytest.raises(CorpusError, match=r"no column 'body'; its columns: 'label', 'text'"):
        read_corpus(path, text="body")
    with pytest.raises(CorpusError, match="both text and label"):
        read_corpus(path, text="text", label="text")


def test_rows_without_label_or_text_are_counted(table):
    """Empty fields are missing values; ids keep the rows' numbers."""
    corpus = read_corpus(table('label,text\nham,a\n,b\nspam,\n"",""\n\nspam,c\n'))
    assert corpus.texts == ["a", "c"] and corpus.ids == [1, 5]
    assert corpus.skipped == {"rows without a label": 2, "rows without a text": 1, "blank lines": 1}


def test_newlines_and_odd_separators_stay_inside_a_text(table):
    """Quoted newlines are kept as written; U+0085, U+2028 and form feed end no line."""
    text = 'a\r\nb\nc\u0085d\u2028e\x0cf, "g"'
    quoted = '"' + text.replace('"', '""') + '"'
    for end in ("\n", "\r\n"):
        corpus = read_corpus(table(f"label,text{end}x,{quoted}{end}y,h\u2028i{end}"))
        assert corpus.texts == [text, "h\u2028i"] and corpus.y.tolist() == ["x", "y"]


@pytest.mark.parametrize("final", ["", "\n"])
def test_a_lone_cr_ends_a_row_as_on_old_macs(table, final):
    """What polars would read as one odd header is read as three rows."""
    corpus = read_corpus(table("label,text\rx,a\ry,b" + final))
    assert corpus.texts == ["a", "b"] and corpus.y.tolist() == ["x", "y"]


def test_a_quote_inside_an_unquoted_field_is_a_character(table):
    """5" disk: the quote opens nothing."""
    assert read_corpus(table('label,text\nx,5" disk\ny,3" or 5"\n')).texts == ['5" disk', '3" or 5"']


def test_a_field_may_be_longer_than_csvs_limit(table):
    """A mail of 200,000 characters, read by either reader; the global limit is left as it was."""
    before = csv.field_size_limit()
    long = "word " * 40_000
    assert read_corpus(table(f"text,label\n{long},x\n")).texts == [long]
    assert read_corpus(table(f'text,label\n{long}5" x,x\n')).texts == [long + '5" x']
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("label,text\nx,a\ny\n", r"t.csv, line 3: 1 fields where 2 are expected \(label, text\)"),
        ("label,text\nx,a\ny,b,c\n", "line 3: 3 fields where 2"),
        ("\n\nlabel,text\nx,a\n\ny\n", "line 6: 1 fields"),
        ('label,text\nx,"a\nb"\ny\n', "line 4: 1 fields"),
        ("label,text,\nx,a,\ny,b\n", "line 3: 2 fields where 3"),
        ('label,text\nx,"a\ny,"b\n', r"line 2: a quoted field is not closed .*line 3.*quoting='none'"),
        ('label,text\nx,"a\ny,b\n', "line 2: a quoted field is not closed"),
        ('label,text\nx,"a" b\ny,b\n', "line 2: a quoted field is not closed"),
        ('label,text\nx,a\n"y,b\n"z\n', "line 3: a quoted field is not closed"),
        ('label,text\n"x\ny",\n"z\n"\n', r"line 4: 1 fields where 2 .*a quote runs on to line 5.*quoting='none'"),
        ("label,label\nx,a\n", "line 1: two columns are named 'label'"),
        ("label,text\n", "has a header but no rows"),
        ("label,text\n\n\n", "has a header but no rows"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("\ufeff", "is empty"),
        ("label,text\n,a\n,b\n", "no row has both a label and a text"),
        ("label,text\nx,a\0b\n", "line 2: NUL character"),
    ],
)
def test_a_damaged_table_is_one_clear_line(table, content, message):
    """The error names the line; a short row is never padded."""
    with pytest.raises(CorpusError, match=message) as caught:
        read_corpus(table(content))
    assert "\n" not in str(caught.value)


def test_quoting_none_takes_quotes_as_characters(table):
    """What the error about quotes suggests works."""
    corpus = read_corpus(table('label\ttext\nx\t"a\ny\tb "c"\n', "t.tsv"), quoting="none")
    assert corpus.texts == ['"a', 'b "c"']
    with pytest.raises(CorpusError, match="quoting must be 'minimal' or 'none'"):
        read_corpus(table("label,text\nx,a\n"), quoting="all")


def test_without_a_header_columns_are_numbered(table):
    """The first line is data."""
    path = table("ham\thello there\nspam\twin\n", "SMSSpamCollection")
    corpus = read_corpus(path, text="column_2", format="tsv", header=False)
    assert corpus.texts == ["hello there", "win"] and corpus.y.tolist() == ["ham", "spam"]


@settings(max_examples=150, deadline=None)  # polars' first query is slow
@given(
    rows=st.lists(st.tuples(*[st.text('ab",\n\r \u2028é\t', max_size=6) | st.just("x")] * 3), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_pythons_writer_writes_is_read_back(tmp_path_factory, rows, end):
    """Any fields survive a round trip, whichever of the two readers took the file."""
    out = io.StringIO(newline="")
    # Python before 3.12.3 wrote a lone CR without quotes
    quoting = csv.QUOTE_ALL if any("\r" in value for row in rows for value in row) else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator=end, quoting=quoting).writerows([("a", "b", "c"), *rows])
    path = tmp_path_factory.getbasetemp() / "round_trip.csv"
    path.write_bytes(out.getvalue().encode())
    frame, _ = delimited.read_delimited(path, ",", "utf-8", True, "minimal")
    assert frame.rows() == [tuple(value or None for value in row) for row in rows]


@settings(max_examples=300, deadline=None)
@given(body=st.text('a",\n\r', max_size=20))
@example(body=",a\n,a,")
def test_polars_reads_only_what_it_reads_as_csv_does(tmp_path_factory, body):
    """On any damaged text, the fast reader either stands aside or gives the strict reader's rows."""
    form = delimited._Form(Path("t.csv"), ",", "minimal")
    data = body.encode()
    frame = delimited._read_plain(data, delimited._newlines_in_quotes(data, len(data), form), 2, form)
    if frame is not None:
        rows = [row for row in csv.reader(io.StringIO(body, newline=""), strict=True) if row]
        assert [tuple(value or "" for value in row) for row in frame.rows()] == [tuple(row) for row in rows]


def test_rows_that_polars_loses_are_read_again(table, monkeypatch):
    """The number of rows is known beforehand: a reader that gives another is not believed."""
    read = pl.read_csv
    monkeypatch.setattr(pl, "read_csv", lambda *args, **options: read(*args, **options).head(1))
    assert read_corpus(table("label,text\nx,a\ny,b\n")).texts == ["a", "b"]


def test_plain_files_do_go_to_polars(table, monkeypatch):
    """The fast reader is not dead code: quoted commas and newlines are plain enough."""
    monkeypatch.setattr(delimited, "_read_strictly", lambda *args: pytest.fail("read by csv"))
    assert len(read_corpus(table('label,text\nx,"a, ""b""\nc"\ny,d\n'))) == 2


def test_a_table_of_numbers_is_counts(table):
    """All but the label numeric: a sparse matrix with the columns' names; an id is no count."""
    corpus = read_corpus(table("id,tea,milk,label\n10,1,0,ham\n11,2, 3,spam\n12,0,0,ham\n13,1,1,\n"))
    assert corpus.X.toarray().tolist() == [[1, 0], [2, 3], [0, 0]] and corpus.X.dtype == np.int64
    assert corpus.tokens == ["tea", "milk"] and corpus.texts is None and corpus.ids == [1, 2, 3]
    assert corpus.skipped == {"rows without a label": 1, "column 'id', an identifier": 1}


def test_a_count_column_called_text_is_no_text(table):
    """In a table of counts, "text" and "mail" are words."""
    corpus = read_corpus(table("text,mail,label\n1,0,a\n2,1,b\n0,0,a\n"))
    assert corpus.tokens == ["text", "mail"]


def test_numbers_that_are_not_whole_are_floats(table):
    """A table of measurements keeps its fractions and signs."""
    corpus = read_corpus(table("x,y\n-1.5,a\n2e1,b\n"))
    assert corpus.X.toarray().tolist() == [[-1.5], [20.0]] and corpus.y.tolist() == ["a", "b"]


@pytest.mark.parametrize("cell", ["1_0", "nan", "inf", "0x1", "１"])
def test_what_only_looks_like_a_number_is_none(table, cell):
    """Python's float would take these."""
    with pytest.raises(CorpusError, match="cannot tell which column is the text"):
        read_corpus(table(f"a,b,label\n1,{cell},x\n"))


def test_an_empty_or_huge_count_is_named(table):
    """A missing count is not zero; a number too large is not infinity."""
    with pytest.raises(CorpusError, match="row 2: column 'b' is empty"):
        read_corpus(table("a,b,label\n1,1,x\n1,,y\n"))
    with pytest.raises(CorpusError, match="row 1: column 'b' is beyond the range"):
        read_corpus(table("a,b,label\n1,1e999,x\n1,2,y\n"))


def test_documents_to_score_need_no_label(table):
    """One column, a named column, or counts: all are read without labels."""
    assert read_documents(table("body\nhello\n")).texts == ["hello"]
    assert read_documents(table("anything\nhello\nyou\n")).texts == ["hello", "you"]
    labelled = read_documents(table("label,text\nham,hello\n,you\n"))
    assert labelled.texts == ["hello", "you"] and labelled.y is None and labelled.skipped == {}
    counts = read_documents(table("tea,milk\n1,0\n"))
    assert counts.X.toarray().tolist() == [[1, 0]] and counts.y is None


def test_ndjson_reads_strings_numbers_and_nulls(table):
    """Values as JSON prints them, missing keys as null, blank lines counted."""
    lines = [
        '{"text": "a\\u2028b", "label": 7}',
        "",
        '{"label": "x", "text": "c\u2028d", "meta": {"k": 1}}',
        '{"text": "e"}',
    ]
    corpus = read_corpus(table("\r\n".join(lines) + "\n", "t.jsonl"))
    assert corpus.texts == ["a\u2028b", "c\u2028d"] and corpus.y.tolist() == ["7", "x"]
    assert corpus.skipped == {"rows without a label": 1, "blank lines": 1}


def test_ndjson_labels_may_change_type_late(table):
    """Label 1 in the first thousand lines, "spam" after: none is lost."""
    lines = [json.dumps({"text": f"t{i}", "label": 1 if i < 1000 else "spam"}) for i in range(1010)]
    corpus = read_corpus(table("\n".join(lines), "t.ndjson"))
    assert np.unique(corpus.y, return_counts=True)[1].tolist() == [1000, 10]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', "line 2: not JSON: .* at column"),
        ("[1]", "line 2: a JSON list: write one object per line"),
        ('{"text": "\\ud800"}', "line 2: holds a lone surrogate"),
        ("[" * 100_000, "line 2: JSON that cannot be read"),
    ],
)
def test_a_bad_ndjson_line_is_named(table, line, message):
    """The second line is bad, and the error says so."""
    with pytest.raises(CorpusError, match=message):
        read_corpus(table('{"text": "a", "label": "x"}\n' + line, "t.ndjson"))


def test_parquet_reads_text_and_counts(tmp_path):
    """Text with labels of another type; counts; nulls and NaN are missing labels."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": ["a", "b", None], "label": [7, None, 8], "list": [[1], [2], [3]]}).write_parquet(path)
    corpus = read_corpus(path)
    assert corpus.texts == ["a"] and corpus.y.tolist() == ["7"]
    assert corpus.skipped == {"rows without a label": 1, "rows without a text": 1}
    pl.DataFrame({"tea": [1, 2], "milk": [0.5, 0.0], "label": [float("nan"), 1.0]}).write_parquet(path)
    corpus = read_corpus(path)
    assert corpus.X.toarray().tolist() == [[2.0, 0.0]] and corpus.y.tolist() == ["1.0"]


def test_a_file_that_is_no_parquet_is_one_line(table):
    """polars' message is kept to its first line."""
    for content in (b"", b"PAR1 not really"):
        with pytest.raises(CorpusError, match=r"t\.parquet") as caught:
            read_corpus(table(content, "t.parquet"))
        assert "\n" not in str(caught.value)
