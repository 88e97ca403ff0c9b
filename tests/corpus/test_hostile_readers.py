"""Hostile text and tables: each gives the right rows, or one line that names file, place and remedy, at every entry."""

import os
import pickle
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesnb
from bayesnb.cli import main
from bayesnb.corpus import CorpusError, decoding, delimited, read_blocks, read_corpus, read_documents

MANY = "label,text\n" + "x,tea milk and more of it\ny,win a prize today\n" * 4


def fitted(path, **options):
    return bayesnb.TextClassifier().fit_file(path, **options)


def blocks(path, **options):
    return list(read_blocks(path, size=64, **options))


ENTRIES = {"corpus": read_corpus, "documents": read_documents, "blocks": blocks, "fit_file": fitted}


@pytest.fixture(params=ENTRIES)
def entry(request):
    """Each way a table comes in."""
    return ENTRIES[request.param]


def write(path, content, encoding="utf-8"):
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def refused(read, path, message, kind=CorpusError):
    """One line that names the file."""
    with pytest.raises(kind, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value) and path.name in str(caught.value)


def said(arguments, capsys):
    """Exit status and stderr of the command line."""
    status = main([str(word) for word in arguments])
    return status, capsys.readouterr().err


# --- encodings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wide", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_wide_encoding_without_a_mark_is_told_by_its_nuls(tmp_path, entry, wide):
    """The advice is the encoding the file is in, and following it reads the file."""
    path = write(tmp_path / "t.csv", MANY, wide)
    refused(entry, path, f"encoding='{wide}'")
    assert read_corpus(path, encoding=wide).y.tolist() == ["x", "y"] * 4


@pytest.mark.parametrize(
    ("written", "read", "advised"),
    [
        ("utf-16-le", "utf-16-be", "utf-16-le"),
        ("utf-16-be", "utf-16-le", "utf-16-be"),
        ("utf-16-be", "utf-16", "utf-16-be"),  # Python would take this machine's order
        ("utf-16-le", "utf-16", "utf-16-le"),
        ("utf-32-be", "utf-32", "utf-32-be"),
        ("utf-8", "utf-16", "utf-8"),
        ("utf-8", "utf-16-le", "utf-8"),  # English in pairs of bytes is Chinese
        ("utf-8-sig", "latin-1", "utf-8"),
        ("utf-8-sig", "cp1252", "utf-8"),
        ("utf-16", "latin-1", "utf-16"),
        ("utf-16", "utf-16-be", "utf-16"),
        ("utf-32", "utf-16", "utf-32"),  # its mark begins with the other's
    ],
)
def test_text_of_another_encoding_is_never_read_as_letters(tmp_path, entry, written, read, advised):
    """These decode without an error, to letters that nobody wrote."""
    path = write(tmp_path / "t.csv", MANY, written)
    refused(partial(entry, encoding=read), path, f"encoding='{advised}'")
    assert len(read_corpus(path, encoding=advised)) == 8


@pytest.mark.parametrize("text", ["茶と牛乳、今日の賞品", "Ωμέγα άλφα βήτα", "ĀāĂă", "愀"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16"])
def test_scripts_far_from_latin_are_not_taken_for_swapped_bytes(tmp_path, text, encoding):
    """What is refused is what reads better the other way round."""
    assert read_documents(write(tmp_path / "a.txt", text, encoding), encoding=encoding).texts == [text]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_several_byte_order_marks_are_no_text_either(tmp_path, entry, encoding):
    """Files that were put one behind the other, or written twice, have two."""
    path = write(tmp_path / "t.csv", "\ufeff\ufeff" + MANY, encoding)
    assert (
        entry(path, encoding=encoding, text="text") and read_corpus(path, encoding=encoding).columns["label"] == "label"
    )


def test_one_nul_in_a_text_does_not_suggest_another_encoding(tmp_path, entry):
    """UTF-16 would have one in every other place."""
    refused(entry, write(tmp_path / "t.csv", MANY + "x,a\0b\n"), "line 10: NUL character.*take the NULs out")


def test_cp1252_is_named_with_line_and_offset(tmp_path, entry):
    """A curly quote in an otherwise plain file."""
    path = write(tmp_path / "t.csv", MANY.encode() + b"x,\x93tea\x94\n")
    refused(entry, path, rf"line 10: byte 0x93 at offset {len(MANY) + 2} is not utf-8; .*'cp1252' or 'latin-1'")
    assert read_corpus(path, encoding="cp1252").texts[-1] == "“tea”"


def test_line_separators_stay_in_their_text(tmp_path):
    """U+0085, U+2028, form feed, and a CR in quotes end no row; a lone CR outside them does."""
    text = 'a\u0085b\u2028c\x0cd\x1ce\r"f"'
    path = write(tmp_path / "t.csv", 'label,text\r\nx,"' + text.replace('"', '""') + '"\ry,g h\n')
    assert read_corpus(path).texts == [text, "g h"]
    assert [t for block in blocks(path) for t in block.texts] == [text, "g h"]
    assert sorted(bayesnb.TextClassifier(tokens="whitespace").fit_file(path).vocabulary_) == ['"f"', *"abcdegh"]


def test_lines_of_an_old_mac_are_lines(tmp_path):
    """Where there is no newline at all, CR ends a line, of texts and of counts."""
    lines = write(tmp_path / "l.txt", "one\rtwo\r\rthree\r")
    assert read_documents(lines, format="lines").texts == ["one", "two", "three"]
    counts = write(tmp_path / "M", "NAME\r1 2\rtea milk\r1 0 3 1 4 -1\r")
    assert read_corpus(counts).X.toarray().tolist() == [[3, 4]]
    svm = write(tmp_path / "t.svm", "1 1:2\r-1 2:3\r")
    assert read_corpus(svm).X.toarray().tolist() == [[2, 0], [0, 3]]


# --- rows and headers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x;text\na;tea\nb;milk\n", "line 1: one column, 'x;text', .*semicolons.* write the file with commas or tabs"),
        ("label\ttext\nx\ttea\n", r"line 1: one column, .*tabs.* pass format='tsv'"),
        ("label|text\nx|tea\n", "line 1: one column, .*bars"),
        ("sep=,\nlabel,text\nx,tea\n", "line 1: 'sep=' is a note to Excel: delete that line"),
        ("Our mails\nlabel,text\nx,tea\n", r"line 2: 2 fields where 1 are expected \(Our mails\); .*delete that"),
        ("label,text\nx,tea\ny\n", "line 3: 1 fields where 2 .*; complete the row, or delete it"),
        ("label,text\nx,tea, milk\n", "line 2: 3 fields where 2 .*; quote the fields that hold delimiters"),
        ("1,1,x\n2,3,y\n", "line 1: two columns are named '1': rename one, or pass header=False"),
        ('label,text\nx,"tea\ny,milk\n', "line 2: a quoted field is not closed"),
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ("label,text\n", "has a header but no rows"),
        ("label,text", "has a header but no rows"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_one_line(tmp_path, entry, content, message):
    """Each with what to do about it; a header of one column with other delimiters is not read as one text."""
    refused(entry, write(tmp_path / "t.csv", content), message)


def test_commas_in_a_tsv_are_pointed_out(tmp_path, entry):
    """The other way round."""
    refused(entry, write(tmp_path / "t.tsv", "label,text\nx,tea\n"), "commas.*pass format='csv'")


@pytest.mark.parametrize("name", ["what they said; why", "text, as sent", "a; b"])
def test_a_sentence_as_header_is_a_name(tmp_path, name):
    """With blanks beside the mark it is one column."""
    assert read_documents(write(tmp_path / "t.tsv", f"{name}\ntea\n")).texts == ["tea"]


def test_a_first_document_is_not_taken_for_the_header(tmp_path):
    """Where the column of labels is called as one of them, the file has no header: a document would be lost."""
    body = "ham,see you at ten\nspam,win a prize\nham,coffee now\nspam,free prize\nham,at ten\nspam,win now\n"
    path = write(tmp_path / "t.csv", body)
    for read in (read_corpus, read_documents, lambda p: next(read_blocks(p)), fitted):
        refused(read, path, "'ham' is a label, and the name of their column: pass header=False .*or label='ham'")
    assert len(read_corpus(path, header=False)) == 6
    assert len(read_corpus(path, label="ham")) == 5


@pytest.mark.parametrize("read", [read_corpus, fitted, lambda path: next(read_blocks(path))])
def test_a_text_as_label_does_not_fill_the_memory(tmp_path, read):
    """Labels are kept as wide as the longest: one of a megabyte in 3,000 rows would take 12 GB."""
    path = write(tmp_path / "t.csv", "label,text\n" + "a,b c\n" * 3000 + "w" * 10**6 + ",x\n")
    refused(read, path, "row 3001: column 'label' has a label of more than 256 characters; is it the text.*label=")
    path = write(tmp_path / "ok.csv", f"label,text\n{'w' * 256},tea\n")
    assert len(read_corpus(path).y[0]) == 256


def test_many_columns_take_a_time_that_grows_with_them(tmp_path):
    """Four times the columns took sixteen times the time, 22 s for 10,000: a table of counts has as many."""

    def seconds(width):
        row = ",1" * width + "\n"
        header = "label" + "".join(f",c{j}" for j in range(width)) + "\n"
        path = write(tmp_path / "t.csv", header + "x" + row + "y" + row)
        start = time.perf_counter()
        assert read_corpus(path).X.shape == (2, width)
        return time.perf_counter() - start

    seconds(10)  # polars starts its threads
    assert seconds(8000) < 10 * seconds(2000) + 0.5  # linear is 4, square 16


def test_an_error_in_a_worker_arrives_whole():
    """Exceptions are pickled between processes."""
    for error in (CorpusError("a"), decoding_error()):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  (our own bytes)


def decoding_error():
    from bayesnb.corpus.delimited import _OpenQuoteError

    return _OpenQuoteError("t.csv, line 2: a quoted field", 3)


# --- places ---------------------------------------------------------------------------------------------------


def test_pipes_and_devices_are_no_files(tmp_path, entry):
    """A pipe that nobody writes to is waited for without end; a device may have no end."""
    os.mkfifo(tmp_path / "p.csv")
    outcome = []

    def attempt():
        try:
            outcome.append(entry(tmp_path / "p.csv"))
        except OSError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(10)
    assert outcome == [f"{tmp_path / 'p.csv'} is a pipe or a device, not a file: write what it gives to a file first"]
    with pytest.raises(OSError, match="pipe or a device"):
        entry("/dev/zero", format="csv")


def test_a_pipe_ends_the_command_line_with_one_line(tmp_path, capsys):
    os.mkfifo(tmp_path / "p.csv")
    status, err = said(["fit", tmp_path / "p.csv", "-o", tmp_path / "m"], capsys)
    assert status == 2 and err.count("\n") == 1 and "is a pipe or a device" in err


@pytest.mark.parametrize("target", ["nowhere.csv", "loop.csv"])
def test_a_link_that_leads_nowhere_is_not_a_missing_file(tmp_path, entry, target):
    """Also one that leads to itself."""
    (tmp_path / "loop.csv").symlink_to(target)
    refused(entry, tmp_path / "loop.csv", "is a symbolic link that leads to", FileNotFoundError)


def test_a_file_within_a_file_does_not_exist(tmp_path, entry):
    write(tmp_path / "a.csv", MANY)
    refused(entry, tmp_path / "a.csv" / "b.csv", "does not exist", FileNotFoundError)


def test_an_unreadable_file_is_an_os_error(tmp_path, entry):
    """Root may read anything."""
    if os.geteuid() == 0:
        pytest.skip("root may read any file")
    path = write(tmp_path / "t.csv", MANY)
    path.chmod(0)
    refused(entry, path, "Permission denied", PermissionError)


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
def test_a_name_that_is_no_utf_8_is_a_name(tmp_path, suffix):
    """Of a table of any kind, read whole or in blocks (polars takes no such name)."""
    import polars as pl

    plain = tmp_path / f"plain.{suffix}"
    frame = pl.DataFrame({"label": ["x", "y"], "text": ["tea", "win"]})
    getattr(frame, f"write_{suffix}")(plain)
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9." + suffix.encode())
    os.rename(plain, path)
    assert read_corpus(path).texts == ["tea", "win"]
    assert [t for block in read_blocks(path) for t in block.texts] == ["tea", "win"]


def test_a_name_of_two_lines_is_shown_on_one(tmp_path, entry):
    """So are escape sequences in a column's name."""
    path = write(tmp_path / "a\nb.csv", "\x1b[31mlabel,text\ny\n")
    with pytest.raises(CorpusError, match=r"a\\nb.csv, line 2: 1 fields .*\(\\x1b\[31mlabel, text\)"):
        entry(path)


# --- class folders --------------------------------------------------------------------------------------------


@pytest.fixture
def mails(tmp_path):
    """Two class folders."""
    for name in ("ham/1.txt", "ham/2.txt", "spam/1.txt"):
        (tmp_path / "mails" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mails" / name).write_text(f"text of {name}")
    return tmp_path / "mails"


BINARY = {
    "a.pdf": (b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n", "is a PDF: extract its text first"),
    "b.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is a PDF"),
    "c.png": (b"\x89PNG\r\n\x1a\n\xff\xfe", "is a picture"),
    "d.jpg": (b"\xff\xd8\xff\xe0JFIF", "is a picture"),
    "e.docx": (b"PK\x03\x04\x14\x01", "is a zip archive or a spreadsheet: unpack it, or export it as CSV"),
    "f.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Office file: save it as plain text"),
    "g.gz": (b"\x1f\x8b\x08\x08", "is compressed by gzip: unpack it first"),
    "h.rtf": (b"{\\rtf1\\ansi Hello}", "is rich text .* save it as plain text"),
    "i.o": (b"\x7fELF\0\0", "line 1: NUL character; a binary file"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_files_that_are_no_text_are_left_out_and_counted(mails, encoding):
    """By how they begin: some hold no NUL, some are plain ASCII, and in latin-1 any byte is a letter."""
    for name, (content, _) in BINARY.items():
        write(mails / "ham" / name, content)
    corpus = read_corpus(mails, encoding=encoding)
    assert corpus.texts == ["text of ham/1.txt", "text of ham/2.txt", "text of spam/1.txt"]
    assert corpus.skipped == {"binary files": len(BINARY)}
    for name, (_, message) in BINARY.items():
        refused(partial(read_documents, encoding=encoding), mails / "ham" / name, message)


@pytest.mark.parametrize(
    "text", ["PAR1 is a gene", "GIF89a is a format", "BZh", "PK", "RIFF raff", "II*", "Rar!", "sep="]
)
def test_texts_that_begin_like_other_things_are_texts(mails, text):
    (mails / "ham" / "3.txt").write_text(text)
    assert text in read_corpus(mails).texts


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be"])
def test_a_text_of_another_encoding_is_no_binary_file(mails, encoding):
    """It is not left out, but named with its encoding."""
    path = write(mails / "ham" / "3.txt", "a mail with plain words", encoding)
    for read in (read_corpus, read_documents):
        with pytest.raises(CorpusError, match=f"3.txt.*encoding='{encoding}'"):
            read(mails if read is read_corpus else path.parent)


def test_what_other_systems_hide_is_hidden(mails, capsys):
    """The notes of archives and file managers are counted with the hidden files, and the command line says so."""
    for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
        write(mails / "ham" / name, b"x")
    write(mails / "._1.txt", b"x")
    (mails / "__MACOSX").mkdir()
    corpus = read_corpus(mails)
    assert len(corpus) == 3 and corpus.skipped == {"hidden files": 5}
    status, err = said(["fit", mails, "-o", mails.parent / "m"], capsys)
    assert status == 0 and err == "bayesnb: left out 5: hidden files\n"


def test_an_empty_class_folder_says_what_to_do(mails):
    """Also one of folders only."""
    (mails / "eggs" / "deep").mkdir(parents=True)
    with pytest.raises(CorpusError, match=r"eggs has no documents \(skipped: 1 folders .*\): put text files into it"):
        read_corpus(mails)


def test_pipes_loops_and_deeper_folders_in_a_class_folder_are_counted(mails):
    os.mkfifo(mails / "ham" / "pipe")
    (mails / "ham" / "loop").symlink_to("loop")
    (mails / "ham" / "up").symlink_to("..")
    assert read_corpus(mails).skipped == {
        "neither files nor folders": 2,
        "folders inside a folder of documents": 1,
    }


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_names_that_are_no_utf_8_may_be_documents_but_not_labels(mails):
    """No model file could keep such a label: it is refused before any work is done."""
    write(mails / "ham" / os.fsdecode(b"caf\xe9.txt"), "tea")
    assert len(read_corpus(mails)) == 4
    with pytest.raises(CorpusError, match=r"label 'caf\\+udce9' is not UTF-8: rename it"):
        read_corpus({os.fsdecode(b"caf\xe9"): mails / "ham"})
    (mails / os.fsdecode(b"caf\xe9")).mkdir()
    with pytest.raises(CorpusError, match="is not UTF-8"):
        read_corpus(mails)


def test_a_file_that_vanishes_while_its_folder_is_read_is_named(mails, monkeypatch):
    """Between the listing and the reading; never half a corpus."""
    read = decoding.Path.read_bytes

    def vanishing(path):
        (mails / "ham" / "2.txt").unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(decoding.Path, "read_bytes", vanishing)
    assert read_corpus(mails).skipped == {"neither files nor folders": 1}  # gone before it was looked at
    monkeypatch.setattr(decoding.Path, "is_file", lambda path: True)  # and between the look and the reading
    write(mails / "ham" / "2.txt", "x")
    with pytest.raises(FileNotFoundError, match=r"2\.txt does not exist"):
        read_corpus(mails)


def test_a_table_that_grows_while_read_gives_whole_rows(tmp_path):
    """What was appended meanwhile is read too; a row that is half written is an error of its line."""
    path = write(tmp_path / "t.csv", MANY)
    found = read_blocks(path, size=64)
    texts = list(next(found).texts)
    with path.open("a") as file:
        file.write("y,late\n")
    texts += [text for block in found for text in block.texts]
    assert texts[-1] == "late" and len(texts) == 9
    found = read_blocks(path, size=64)
    next(found)
    with path.open("a") as file:
        file.write("y")
    with pytest.raises(CorpusError, match="line 11: 1 fields where 2"):
        list(found)


def many_files(root, n):
    for label in ("ham", "spam"):
        (root / label).mkdir(parents=True)
        for number in range(n // 2):
            (root / label / f"{number}.txt").write_text(f"words of mail {number}")
    start = time.perf_counter()
    corpus = read_corpus(root)
    assert len(corpus) == n and np.unique(corpus.y, return_counts=True)[1].tolist() == [n // 2] * 2
    return time.perf_counter() - start


def test_a_thousand_files_are_read_at_once(tmp_path):
    """0.04 s here; a hundred times that is no longer reading files."""
    assert many_files(tmp_path / "m", 1000) < 4


@pytest.mark.long
def test_ten_thousand_files_are_read_at_once(tmp_path):
    """0.4 s here."""
    assert many_files(tmp_path / "m", 10_000) < 40


def one_long_row(path, words):
    """A document of many words, among short ones, quoted or not, or with a stray quote."""
    for before, behind in (("", ""), ('"', '"'), ('5" ', "")):
        long = before + "tea " * words + behind
        write(path, f"label,text\nx,{long}\ny,win\n")
        found = list(read_blocks(path, size=2**16))
        assert [len(text) for block in found for text in block.texts] == [4 * words + 3 * (before == '5" '), 3]
    return path


def test_a_row_may_be_far_longer_than_a_block(tmp_path):
    """2 MB in blocks of 64 kB."""
    path = one_long_row(tmp_path / "t.csv", 500_000)
    assert fitted(path).posterior_.statistics.feature_count.sum() == 500_000 + 1  # "5" is one letter


@pytest.mark.parametrize("before", ["", '"', '5" '])
def test_a_long_row_is_looked_through_only_when_it_has_doubled(tmp_path, monkeypatch, before):
    """Once a block would take a time that grows with the square of the row: a quarter of an hour for 100 MB."""
    looks = []
    last = delimited._last_row_end
    monkeypatch.setattr(delimited, "_last_row_end", lambda data, form: looks.append(len(data)) or last(data, form))
    behind = '"' if before == '"' else ""
    path = write(tmp_path / "t.csv", f"label,text\nx,{before}{'tea ' * 2**18}{behind}\ny,win\n")
    assert sum(len(block) for block in read_blocks(path, size=2**10)) == 2
    assert len(looks) < 20 and sum(looks) < 4 * path.stat().st_size  # 1,024 looks at a block each time


@pytest.mark.long
def test_a_line_of_100_mb_is_a_row(tmp_path):
    """In CSV and NDJSON."""
    one_long_row(tmp_path / "t.csv", 25_000_000)
    path = write(tmp_path / "t.ndjson", '{"label": "x", "text": "' + "tea " * 25_000_000 + '"}\n')
    assert [len(block.texts[0]) for block in read_blocks(path)] == [100_000_000]


# --- any damage at all ----------------------------------------------------------------------------------------

SEEDS = {
    "t.csv": MANY.encode(),
    "t.tsv": MANY.replace(",", "\t").encode(),
    "t.ndjson": b'{"label": "x", "text": "tea"}\n{"label": "y", "text": "win \\u00e9"}\n',
    "MATRIX": b"NAME\n2 3\ntea milk gin\n1 1 2 1 7 -1\n0 1 5 -1\n",
    "t.svm": b"1 1:2 3:1.5 # note\n-1 qid:4 2:1\n",
    "a.txt": "tea and café".encode(),
}
TRICKS = [
    b"",
    b"\0",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"\xff",
    b"\xff\xfe",
    b"-1",
    b"9" * 25,
    b"1e999",
    b"NaN",
    b"[",
    b"{}",
    b":",
]


@settings(max_examples=400, deadline=None)  # polars' first query is slow
@given(
    name=st.sampled_from(sorted(SEEDS)),
    cuts=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 8), st.sampled_from(TRICKS)), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-16", "latin-1"]),
)
def test_no_damage_gives_another_librarys_error(tmp_path_factory, name, cuts, encoding):
    """Bytes taken out and put in anywhere: rows, or one line of ours."""
    data = SEEDS[name]
    for at, length, trick in cuts:
        data = data[:at] + trick + data[at + length :]
    path = write(tmp_path_factory.getbasetemp() / name, data)
    for read in ENTRIES.values():
        try:
            read(path, encoding=encoding)
        except ValueError as error:
            assert "\n" not in str(error)
            assert type(error).__module__.startswith("bayesnb") or type(error) is ValueError
            assert not any(word in str(error) for word in ("literal", "convert", "polars.", "Traceback"))
