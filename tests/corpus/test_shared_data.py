"""Real corpora and real damage, from the shared folder."""

import json

import numpy as np
import pytest

from bayesnb.corpus import CorpusError, Tokenizer, read_corpus, read_documents
from bayesnb.corpus.delimited import read_delimited


def test_cs229_has_the_published_sizes(shared):
    """2144 and 800 documents of 1448 tokens, integer labels."""
    folder = shared / "data/cs229_spam"
    train, test = read_corpus(folder / "MATRIX.TRAIN"), read_corpus(folder / "MATRIX.TEST")
    assert train.X.shape == (2144, 1448) and test.X.shape == (800, 1448) and train.tokens == test.tokens
    assert np.unique(train.y).tolist() == [0, 1] and train.tokens[0] == "abil"


def test_crlf_and_a_missing_final_newline_change_nothing(shared):
    """The same MATRIX file with other line ends is the same corpus."""
    folder = shared / "data/cs229_spam"
    plain, crlf = read_corpus(folder / "MATRIX.TRAIN.100"), read_corpus(folder / "MATRIX.TRAIN.100.crlf")
    assert (plain.X != crlf.X).nnz == 0 and plain.tokens == crlf.tokens
    assert plain.y.tolist() == crlf.y.tolist()


def test_lingspam_has_the_published_features(shared):
    """700 training mails; 19,100 features, the empty string among them, as every file ends in one space."""
    folder = shared / "data/lingspam"
    corpus = read_corpus({"spam": folder / "spam-train", "ham": folder / "nonspam-train"})
    assert [int((corpus.y == label).sum()) for label in ("spam", "ham")] == [350, 350]
    assert not corpus.skipped and all(text.endswith(" ") for text in corpus.texts)
    counts = Tokenizer("space").count(corpus.texts)
    assert len(counts.tokens) == 19_100 and counts.tokens[0] == ""
    assert counts.X[:, [0]].toarray().min() >= 1


def test_csv_spectrum_reads_as_its_json_says(shared):
    """Every file of the suite gives the published rows (an empty field is null; stored here with LF throughout)."""
    folder = shared / "data/nasty/csv_spectrum"
    for path in sorted((folder / "csvs").iterdir()):
        expected = json.loads((folder / "json" / f"{path.stem}.json").read_text().replace("\\r", ""))
        frame, _ = read_delimited(path, ",", "utf-8", True, "minimal")
        rows = [{name: value or "" for name, value in row.items()} for row in frame.to_dicts()]
        if path.stem == "location_coordinates":  # its JSON is not a list, and has another phone number
            expected = [{**expected, "Contact Phone Number": "2095257564"}]
        assert rows == expected, path.name


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_iris_is_the_same_in_every_width(shared, encoding):
    """150 flowers, a Greek cell in the last row; read with the wrong encoding, the right one is named."""
    folder = shared / "data/nasty/dataprofiler"
    plain, _ = read_delimited(folder / "iris-utf-8.csv", ",", "utf-8", True, "minimal")
    wide, _ = read_delimited(folder / f"iris-{encoding}.csv", ",", encoding, True, "minimal")
    assert plain.shape == (150, 6) and plain.rows()[-1][4] == "λεί τη μ" and wide.equals(plain)
    with pytest.raises(CorpusError, match=f"encoding='{encoding}'"):
        read_corpus(folder / f"iris-{encoding}.csv", label="Species")


def test_iris_is_a_table_of_measurements(shared):
    """Four columns of numbers, three kinds of 50 flowers; the running Id is no measurement."""
    corpus = read_corpus(shared / "data/nasty/dataprofiler/iris.csv", label="Species")
    assert corpus.X.shape == (150, 4) and np.unique(corpus.y, return_counts=True)[1].tolist() == [50] * 3
    assert corpus.skipped == {"column 'Id', an identifier": 1}


def test_every_damaged_file_gives_rows_or_one_clear_error(shared):
    """No file crashes a reader, is padded, or gives an error of many lines."""
    for path in sorted((shared / "data/nasty/dataprofiler").iterdir()):
        wide = next((name for name in ("utf-16", "utf-32") if name in path.name), "utf-8")
        try:
            frame, _ = read_delimited(path, ",", wide, True, "minimal")
        except CorpusError as error:
            assert path.name in str(error) and "\n" not in str(error)
        else:
            lines = [line for line in path.read_bytes().decode(wide).splitlines() if line.strip()]
            assert frame.height == len(lines) - 1, path.name  # none of these has a newline in a field
        for read in (read_corpus, read_documents):
            try:
                assert len(read(path, format="csv", encoding=wide)) > 0
            except CorpusError as error:
                assert path.name in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("empty.csv", "is empty"),
        ("quote-test.txt", "line 2: a quoted field is not closed .*quoting='none'"),
        ("small-num-spaces.csv", "line 2: 2 fields where 1"),
        ("sparse-columns-test.csv", "line 1: two columns are named 'Test Col 7'"),
        ("sparse-first-and-last-column-header-and-author.txt", "line 2: 3 fields where 1"),
        ("sparse-first-and-last-column-header-and-author-description.txt", "line 4: 3 fields where 1"),
        ("iris-utf-16.csv", "line 1: byte 0xff at offset 0 is not utf-8; pass encoding='utf-16'"),
    ],
)
def test_known_damage_is_named(shared, name, message):
    """The line and the remedy, for each kind of damage among the files."""
    with pytest.raises(CorpusError, match=message):
        read_documents(shared / "data/nasty/dataprofiler" / name, format="csv")


def test_null_rows_are_counted(shared):
    """Iris with holes: flowers without a kind are dropped and counted, the missing measurement named."""
    path = shared / "data/nasty/dataprofiler/iris-with-null-rows.csv"
    frame, _ = read_delimited(path, ",", "utf-8", True, "minimal")
    corpus = read_corpus(path, text="Id", label="Species")
    assert frame.height == 24 and frame["Species"].null_count() == 5
    assert corpus.skipped == {"rows without a label": 5, "rows without a text": 1}
    with pytest.raises(CorpusError, match="row 6: column 'PetalLengthCm' is empty"):
        read_corpus(path, label="Species")
