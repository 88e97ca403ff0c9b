"""TextClassifier.fit_file: the totals of fit, to the bit, from files that need not fit into memory."""

import json

import numpy as np
import polars as pl
import pytest

import bayesnb
from bayesnb.cli import fitting, main
from bayesnb.cli import texts as cli_texts
from bayesnb.corpus import CorpusError, blocks
from tests.corpus.test_blocks import ROWS, as_csv


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of some rows, so that each file has many."""
    read = blocks.read_blocks
    monkeypatch.setattr(blocks, "read_blocks", lambda *args, **options: read(*args, **options | {"size": 300}))


@pytest.fixture
def tables(tmp_path):
    """One table in every format."""
    (tmp_path / "t.csv").write_bytes(as_csv(ROWS).encode())
    (tmp_path / "t.tsv").write_bytes(as_csv(ROWS, "\r\n").replace(",", "\t").encode("utf-16"))
    lines = [json.dumps({"text": text, "label": label or None}) for label, text in ROWS]
    (tmp_path / "t.ndjson").write_text("\n".join(lines))
    nulls = [(label or None, text or None) for label, text in ROWS]
    pl.DataFrame(nulls, schema=["label", "text"], orient="row").write_parquet(tmp_path / "t.parquet", row_group_size=9)
    return tmp_path


OPTIONS = {
    "plain": {},
    "bernoulli": {"event": "bernoulli", "alpha": 0.5},
    "pairs, chosen": {"ngram_range": (1, 2), "min_df": 3, "max_features": 20, "stop_words": ["next"]},
    "presence": {"binary": True, "class_prior": {"l0": 0.5, "l1": 0.25, "l2": 0.25}, "power": 0.5},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    ("name", "reading"), [("t.csv", {}), ("t.tsv", {"encoding": "utf-16"}), ("t.ndjson", {}), ("t.parquet", {})]
)
def test_a_file_in_blocks_gives_the_model_of_fit(tables, name, reading, options):
    """Every format, event and option: one fingerprint, and the same rows left out."""
    corpus = bayesnb.read_corpus(tables / name, text="text", label="label", **reading)
    whole = bayesnb.TextClassifier(**options).fit(corpus.texts, corpus.y)
    tc = bayesnb.TextClassifier(**options).fit_file(tables / name, text="text", label="label", **reading)
    assert tc._model().fingerprint == whole._model().fingerprint
    assert tc.skipped_ == corpus.skipped and tc.skipped_
    assert tc.classes_.dtype == whole.classes_.dtype
    assert tc.predict_proba(corpus.texts).tobytes() == whole.predict_proba(corpus.texts).tobytes()


def test_several_files_are_one_corpus(tables):
    """In any order; a label may be in one of them alone."""
    (tables / "u.csv").write_text("text,label\nrum,a\ntea rum,b\n")
    names = [tables / "t.csv", str(tables / "u.csv")]
    one, other = (bayesnb.TextClassifier(min_df=2).fit_file(paths, "text", "label") for paths in (names, names[::-1]))
    assert one._model().fingerprint == other._model().fingerprint
    parts = [bayesnb.read_corpus(path, text="text", label="label") for path in names]
    whole = bayesnb.TextClassifier(min_df=2).fit(
        [text for part in parts for text in part.texts], np.concatenate([part.y for part in parts])
    )
    assert whole._model().fingerprint == one._model().fingerprint


def test_what_is_wrong_with_a_file_is_said_and_changes_nothing(tables):
    """A row in a late block, no token, no file: the classifier is as it was."""
    path = tables / "t.csv"
    tc = bayesnb.TextClassifier().fit_file(path)
    before = tc._model().fingerprint
    content = path.read_bytes() + b"alone\n"
    path.write_bytes(content)
    line = content.count(b"\n")
    with pytest.raises(CorpusError, match=rf"t\.csv, line {line}: 1 fields where 2 are expected"):
        tc.fit_file(path)
    (tables / "u.csv").write_text("text,label\n?,a\n!,b\n")
    with pytest.raises(ValueError, match="empty vocabulary: 2 documents hold no token by tokens='words'"):
        tc.fit_file(tables / "u.csv")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        tc.fit_file(tables / "missing.csv")
    with pytest.raises(ValueError, match="no file was given"):
        tc.fit_file([])
    with pytest.raises(ValueError, match=r"none of .* distinct tokens is in min_df=1000"):
        tc.set_params(min_df=1000).fit_file(tables / "t.ndjson")
    assert tc._model().fingerprint == before


@pytest.mark.parametrize("name", ["t.csv", "t.ndjson", "t.parquet"])
def test_the_command_reads_large_tables_in_blocks(tables, monkeypatch, capsys, name):
    """bayesnb fit: the same file of either way, and the same remarks."""
    arguments = ["fit", str(tables / name), "-o", str(tables / "m"), "--ngrams", "1", "2", "--min-df", "2", "--json"]
    assert main(arguments) == 0
    at_once = capsys.readouterr()
    monkeypatch.setattr(cli_texts, "LARGE", 10)
    monkeypatch.setattr(fitting.Counted, "of", lambda *_: pytest.fail("read at once"))
    assert main(arguments) == 0
    in_blocks = capsys.readouterr()
    assert json.loads(in_blocks.out) == json.loads(at_once.out)
    assert in_blocks.err == at_once.err and "guessed: text in column 'text'" in at_once.err


def test_the_command_reads_large_tables_of_counts_at_once(tables, monkeypatch, capsys):
    """They are no texts."""
    monkeypatch.setattr(cli_texts, "LARGE", 10)
    (tables / "n.csv").write_text("label,a,b\nx,1,2\ny,3,4\n")
    assert main(["fit", str(tables / "n.csv"), "-o", str(tables / "m")]) == 0
    assert "2 distinct tokens" in capsys.readouterr().out
