"""Folders, files, lines, encodings and sparse formats."""

import os

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from bayesnb.corpus import CorpusError, read_corpus, read_documents

WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


@pytest.fixture
def mails(tmp_path):
    """A small folder of class folders."""
    for label, texts in {"ham": ["tea", "milk"], "spam": ["win"]}.items():
        (tmp_path / "mails" / label).mkdir(parents=True)
        for number, text in enumerate(texts):
            (tmp_path / "mails" / label / f"{number}.txt").write_text(text)
    return tmp_path / "mails"


def test_class_folders_give_labels(mails):
    """Folder names are the labels, file paths the ids, in sorted order."""
    corpus = read_corpus(mails)
    assert corpus.texts == ["tea", "milk", "win"] and corpus.y.tolist() == ["ham", "ham", "spam"]
    assert corpus.ids[2] == str(mails / "spam" / "0.txt") and corpus.skipped == {}
    assert "3 documents" in repr(corpus)


def test_what_is_no_document_is_counted(mails):
    """Hidden and binary files, nested folders and strays are left out, and said."""
    (mails / "README").write_text("about")
    (mails / ".git").mkdir()
    (mails / "ham" / ".DS_Store").write_bytes(b"\0\1")
    (mails / "ham" / "picture.png").write_bytes(b"\x89PNG\0\xff")
    (mails / "spam" / "nested").mkdir()
    os.symlink("nowhere", mails / "spam" / "broken")
    corpus = read_corpus(mails)
    assert len(corpus) == 3
    assert corpus.skipped == {
        "hidden files": 2,
        "files beside the class folders": 1,
        "binary files": 1,
        "folders inside a folder of documents": 1,
        "neither files nor folders": 1,
    }


def test_labels_may_be_given_for_paths(mails, tmp_path):
    """A folder, two folders, a file of lines and a table, each under its label."""
    lines = tmp_path / "lines.txt"
    lines.write_bytes("one\u2028still\r\n\ntwo\x0c\n".encode())
    (tmp_path / "t.csv").write_text("text\nfrom a table\n")
    corpus = read_corpus({"a": mails / "ham", "b": [mails / "spam", lines], "c": str(tmp_path / "t.csv")})
    assert corpus.y.tolist() == ["a", "a", "b", "b", "b", "c"]
    assert corpus.texts[2:] == ["win", "one\u2028still", "two\x0c", "from a table"]
    assert corpus.skipped == {"blank lines": 1}
    assert corpus.ids[3:] == [f"{lines}:1", f"{lines}:3", f"{tmp_path / 't.csv'}:1"]


def test_documents_to_score(mails):
    """A folder of files is its documents, a file is one; neither has labels."""
    assert read_documents(mails / "ham").texts == ["tea", "milk"]
    alone = read_documents(mails / "spam" / "0.txt")
    assert alone.texts == ["win"] and alone.y is None and len(alone) == 1
    assert read_documents(mails, format="folders").y is None
    assert read_documents(mails / "spam" / "0.txt", format="lines").ids == [1]


def test_an_empty_file_is_an_empty_document(mails):
    """Nothing in a mail is not nothing to score."""
    (mails / "ham" / "9.txt").write_text("")
    assert read_corpus(mails).texts[2] == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", *WIDE])
@pytest.mark.parametrize("name", ["t.csv", "t.ndjson", "0.txt"])
def test_byte_order_marks_are_not_text(tmp_path, encoding, name):
    """With and without a mark, in every width, in tables and documents."""
    content = {"t.csv": "text\nnaïve\n", "t.ndjson": '{"text": "naïve"}\n', "0.txt": "naïve"}[name]
    path = tmp_path / name
    for mark in ("", "\ufeff"):
        path.write_bytes((mark + content).encode(encoding))
        assert read_documents(path, encoding=encoding).texts == ["naïve"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman"])
def test_any_of_pythons_encodings_is_read(tmp_path, encoding):
    """Single-byte encodings, in a table and in a folder."""
    (tmp_path / "t.csv").write_bytes("label,text\nx,café\n".encode(encoding))
    assert read_corpus(tmp_path / "t.csv", encoding=encoding).texts == ["café"]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a\nb\ncaf\xe9 x", "utf-8", "line 3: byte 0xe9 at offset 7 is not utf-8; pass .*cp1252' or 'latin-1'"),
        ("café".encode("utf-16"), "utf-8", "encoding='utf-16', as its byte order mark says"),
        ("café".encode("utf-32"), "utf-8", "encoding='utf-32', as its byte order mark says"),
        ("cafe".encode("utf-16-le"), "utf-8", "line 1: NUL character.*encoding='utf-16-le'"),
        (b"a\nb\x81", "cp1252", "line 2: byte 0x81 at offset 3 is not cp1252"),
        (b"abc", "utf-16", "is not utf-16.*encoding='utf-8'"),
        (b"abc", "utf-nonsense", "unknown encoding 'utf-nonsense'"),
        (b"abc", "rot13", "cannot be read as rot13"),
        (b"\x1f\x8b\x08\x00", "utf-8", "compressed by gzip: unpack it first"),
        (b"PK\x03\x04\xff\xfe", "utf-8", "a zip archive or a spreadsheet"),
    ],
)
def test_bytes_that_cannot_be_read_are_located(tmp_path, content, encoding, message):
    """File, line, offset and the encoding to try."""
    path = tmp_path / "mail.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as caught:
        read_documents(path, encoding=encoding)
    assert "\n" not in str(caught.value)


def test_missing_and_misplaced_paths_are_os_errors(mails):
    """A missing path, a folder for a file, a file for a folder."""
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        read_corpus(mails / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        read_documents(mails / "nowhere", format="csv")
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        read_documents(mails / "nowhere", format="files")
    with pytest.raises(IsADirectoryError, match="is a folder where a file was expected"):
        read_corpus(mails, format="csv")
    with pytest.raises(NotADirectoryError, match="is a file where a folder was expected"):
        read_corpus(mails / "ham" / "0.txt", format="folders")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda mails: {"path": mails / "ham"}, "has no subfolders: make one per class"),
        (lambda mails: {"path": mails / "ham" / "0.txt"}, "cannot tell its format from its name: pass format="),
        (lambda mails: {"path": mails / "ham" / "0.txt", "format": "lines"}, "has no labels: pass {label: path}"),
        (lambda mails: {"path": mails, "format": "xml"}, "unknown format 'xml': use one of folders"),
        (lambda mails: {"path": {}}, "no labels"),
        (lambda mails: {"path": {"a": []}}, "expected a path or a list of paths"),
        (lambda mails: {"path": 7}, "expected the path of a file or folder, got 7"),
        (lambda mails: {"path": ""}, "expected the path"),
        (lambda mails: {"path": {"a": mails}}, "has no documents .skipped: 2 folders inside"),
    ],
)
def test_a_wrong_request_says_what_to_do(mails, arguments, message):
    """One line with the remedy."""
    with pytest.raises(CorpusError, match=message):
        read_corpus(**arguments(mails))


MATRIX = "NAME\n2 3\ntea milk gin\n1 1 2 1 7 -1\n0 1 5 -1\n"


def test_a_matrix_file_is_recognised(tmp_path):
    """Steps add up to columns; labels are integers."""
    path = tmp_path / "MATRIX.TINY"
    path.write_text(MATRIX)
    corpus = read_corpus(path)
    assert corpus.X.toarray().tolist() == [[0, 2, 7], [0, 5, 0]] and corpus.tokens == ["tea", "milk", "gin"]
    assert corpus.y.tolist() == [1, 0] and corpus.y.dtype == np.int64 and corpus.ids == [1, 2]
    assert read_documents(path).X.shape == (2, 3)
    with pytest.raises(CorpusError, match="holds counts"):
        read_corpus({"a": path})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 3", "3 3", "2 documents where line 2 announces 3"),
        ("2 3", "2 4", "line 3: 3 tokens where line 2 announces 4"),
        ("2 3", "two 3", "line 2: expected 'rows cols'"),
        ("milk", "tea", "line 3: a token is named twice"),
        ("0 1 5 -1", "0 1 5", "line 5: expected a label, pairs"),
        ("0 1 5 -1", "0 3 5 -1", "line 5: steps must be at least 1 and stay below column 3"),
        ("0 1 5 -1", "0 1 5 0 1 -1", "line 5: steps must"),
        ("0 1 5 -1", "0 -1 5 -1", "line 5: steps must"),
        ("0 1 5 -1", "0 1 -5 -1", "line 5: a count is negative"),
        ("0 1 5 -1", "0 1 x -1", "line 5: 'x' is not a whole number"),
        ("0 1 5 -1", "0 1 99999999999999999999 -1", "line 5: '9+' is not a whole number of 64 bits"),
    ],
)
def test_a_damaged_matrix_names_its_line(tmp_path, old, new, message):
    """Every departure from the format, one line each."""
    path = tmp_path / "MATRIX.BAD"
    path.write_text(MATRIX.replace(old, new))
    with pytest.raises(CorpusError, match=message):
        read_corpus(path, format="cs229")


def test_a_matrix_that_was_read_goes_into_scikit_learns_linear_models(tmp_path):
    """They take 32-bit indices only."""
    path = tmp_path / "counts.svmlight"
    path.write_text("1 1:2 3:1\n-1 2:4\n")
    corpus = read_corpus(path, format="svmlight")
    assert corpus.X.indices.dtype == corpus.X.indptr.dtype == np.int32
    assert LinearSVC().fit(corpus.X, corpus.y).predict(corpus.X).tolist() == [1, -1]


def test_svmlight_columns_are_named_as_written(tmp_path):
    """Indices from 0 or from 1, comments, signs; a file whose column 1 is empty keeps its names."""
    path = tmp_path / "t.svmlight"
    path.write_text("# head\n+1 1:2 3:1.5 # note\n-1 qid:4 2:1\n\n")
    corpus = read_corpus(path)
    assert corpus.tokens == ["1", "2", "3"] and corpus.y.tolist() == [1, -1]
    assert corpus.X.toarray().tolist() == [[2, 0, 1.5], [0, 1, 0]]
    path.write_text("1 0:2 2:1\n")
    assert read_corpus(path).tokens == ["0", "1", "2"]
    path.write_text("1 2:7\n")
    assert read_corpus(path).tokens == ["1", "2"] and read_corpus(path).X.dtype == np.int64


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2", "expected pairs index:value"),
        ("1 -2:1", "negative or stands twice"),
        ("1 2:1 2:1", "negative or stands twice"),
        ("1 2:nan", "not a finite number"),
        ("1 99999999999:1", "beyond"),
        ("1.5 2:1", "label 1.5 is not a whole number"),
        ("spam 2:1", "label spam is not a whole number"),
    ],
)
def test_a_damaged_svmlight_names_its_line(tmp_path, line, message):
    """The second line is bad, and the error says so."""
    path = tmp_path / "t.svm"
    path.write_text("1 1:1\n" + line + "\n")
    with pytest.raises(CorpusError, match=f"line 2: .*{message}"):
        read_corpus(path)
