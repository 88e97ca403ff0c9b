"""Large tables in blocks: together they are the table, and errors still know their line."""

import csv
import io
import json
from collections import Counter

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesnb.corpus import CorpusError, decoding, delimited, read_blocks, read_corpus
from bayesnb.corpus.records import NotTextError

ROWS = [(f"l{i % 3}", f'row {i}, "quoted"\nnext é \U0001f600 line {"x" * (i % 7)}') for i in range(40)]
ROWS[7], ROWS[11], ROWS[12] = ("", "no label"), ("l1", ""), ("l2", "\r\n\r\n")


def as_csv(rows, end="\n"):
    """Rows with a header, quoted where they must be."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end).writerows([("label", "text"), *rows])
    return out.getvalue()


def together(path, **options):
    """All that the blocks of a table hold."""
    blocks = list(read_blocks(path, **options))
    skipped = sum((Counter(block.skipped) for block in blocks), Counter())
    labels = [label for block in blocks for label in block.y.tolist()]
    return [i for b in blocks for i in b.ids], labels, [t for b in blocks for t in b.texts], dict(skipped), len(blocks)


def whole(path, **options):
    """The same of the table read at once."""
    corpus = read_corpus(path, **options)
    return corpus.ids, corpus.y.tolist(), corpus.texts, corpus.skipped


@pytest.mark.parametrize("size", [1, 7, 64, 300, 2**20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "shift_jis"])
def test_blocks_of_any_size_are_the_table(tmp_path, size, end, encoding):
    """Newlines in quotes, missing cells, row numbers, and characters that a block cuts in two."""
    path = tmp_path / "t.csv"
    text = as_csv(ROWS, end)
    text = text.replace("é", "日").replace("\U0001f600", "") if encoding == "shift_jis" else text
    path.write_bytes(text.encode(encoding))
    *found, n = together(path, encoding=encoding, size=size)
    assert found == list(whole(path, encoding=encoding))
    assert n > 5 or (size > 64 and n > (size < 2**20))


@settings(max_examples=300, deadline=None)  # polars' first query is slow
@given(body=st.text('ab",\n\r', max_size=40), size=st.integers(1, 30), quoting=st.sampled_from(["minimal", "none"]))
@example(body='a",b\n"c\n",d\ne,f\n', size=4, quoting="minimal")
@example(body='a,5" disk\nb,c\n"d","e\n', size=9, quoting="minimal")
@example(body="a,b\rc,d\r\ne,f\r", size=4, quoting="minimal")
def test_damaged_text_reads_alike_in_blocks_and_at_once(tmp_path_factory, body, size, quoting):
    """Whatever the quotes and line ends: the same rows, or the same complaint of the same line."""
    path = tmp_path_factory.getbasetemp() / "damaged.csv"
    path.write_bytes(b"a,b\n" + body.encode())

    def outcome(size):
        try:
            blocks = list(delimited.delimited_blocks(path, ",", "utf-8", True, quoting, size))
        except CorpusError as error:
            return str(error)
        return [row for frame, _ in blocks for row in frame.rows()], sum(blank for _, blank in blocks)

    assert outcome(size) == outcome(None)


@pytest.mark.parametrize("size", [1, 50, 10**6])
def test_ndjson_in_blocks_is_the_file(tmp_path, size):
    """Keys that some lines lack, blank lines, and no newline at the end."""
    path = tmp_path / "t.ndjson"
    lines = [json.dumps({"label": a, "text": b, "n": 3} if a else {"text": b}) for a, b in ROWS]
    lines.insert(3, " ")
    path.write_text("\n".join(lines))
    assert together(path, size=size)[:4] == whole(path)


@pytest.mark.parametrize("size", [1, 2000, 10**6])
def test_parquet_in_blocks_is_the_file(tmp_path, size):
    """Nulls, and more than one row group."""
    path = tmp_path / "a[1].parquet"
    pl.DataFrame(ROWS, schema=["label", "text"], orient="row").with_columns(
        pl.when(pl.all() != "").then(pl.all()).name.keep()
    ).write_parquet(path, row_group_size=9)
    assert together(path, size=size)[:4] == whole(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"label,text\n" + b"a,b\n" * 30 + b"c\n", "line 32: 1 fields where 2 are expected"),
        ("t.csv", b"label,text\n" + b'a,"b\nb"\n' * 30 + b"c,d\xff\n", "line 62: byte 0xff at offset 254 is not utf-8"),
        ("t.csv", b"label,text\n" + b"a,b\n" * 30 + b'c,"d\n', "line 32: a quoted field is not closed"),
        ("t.csv", b"label,text\n" + b"a,b\n" * 30 + b"c,\0\n", "line 32: NUL character"),
        ("t.csv", b"label,text\n" + b"a,b\n" * 30 + b"c,d\xe2\x82", "line 32: byte 0xe2 at offset 134 is not utf-8"),
        ("t.csv", b"label,text\n" + b",b\n" * 30, "no row has both a label and a text"),
        ("t.csv", b"label,text\n\n\n\n\n\n\n\n", "has a header but no rows"),
        ("t.csv", b"\n\n\n\n\n\n\n\n\n\n", "is empty"),
        ("t.csv", b"a,b,c\nx,y,z\n", "cannot tell which column is the text"),
        ("t.ndjson", b'{"text": "a", "label": "b"}\n' * 30 + b"[1]\n", "line 31: a JSON list"),
        ("t.ndjson", b"\n\n\n", "is empty"),
        ("t.parquet", b"PAR1", "not a Parquet file"),
        ("t.parquet", b"", "is empty"),
        ("t.txt", b"a", "cannot tell from its name which table it is"),
    ],
)
def test_errors_in_any_block_name_file_and_line(tmp_path, name, content, message):
    """As reading at once does."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as caught:
        list(read_blocks(path, size=16))
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_quote_that_is_never_closed_does_not_take_the_file_into_memory(tmp_path, monkeypatch):
    """A row may be long, but not without end; nor may a line of NDJSON."""
    monkeypatch.setattr(delimited, "LONGEST", 200)
    monkeypatch.setattr(decoding, "LONGEST", 200)
    path = tmp_path / "t.csv"
    path.write_bytes(b'label,text\na,b\nc,"d\n' + b"e,f\n" * 1000)
    with pytest.raises(CorpusError, match=r"line 3: a row of more than .* is a quote not closed"):
        list(read_blocks(path, size=16))
    path = tmp_path / "t.ndjson"
    path.write_bytes(b'{"label": "a", "text": "b"}\n' + b" " * 1000)
    with pytest.raises(CorpusError, match="line 2: a line of more than"):
        list(read_blocks(path, size=16))


def test_a_table_of_numbers_is_no_table_of_texts(tmp_path):
    """It is told apart, so that a caller can read it as counts."""
    path = tmp_path / "t.csv"
    path.write_text("label,a,b\nx,1,2\ny,3,4\n")
    with pytest.raises(NotTextError, match="is a table of numbers"):
        list(read_blocks(path))


def test_blocks_come_one_at_a_time(tmp_path):
    """An error far down does not keep the first block: it has been read by then."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"label,text\n" + b"a,b\n" * 30 + b"c\n")
    blocks = read_blocks(path, size=16)
    assert next(blocks).texts == ["b"]
    with pytest.raises(CorpusError, match="line 32"):
        list(blocks)
