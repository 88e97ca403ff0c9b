"""The built-in corpora are what the sources say."""

import csv
import json
import re
from collections import Counter

from bayesnb.corpus import TOY_SPAM_TEST, Tokenizer, load_federalist, load_toy_spam, read_corpus


def test_toy_spam_has_the_published_counts(shared):
    """Mails, labels, vocabulary and counts per class equal the worked example's."""
    figures = json.loads((shared / "figures.json").read_text())["toy_spam"]
    corpus = load_toy_spam()
    assert corpus.texts == figures["train"] and corpus.y.tolist() == figures["labels"]
    assert list(TOY_SPAM_TEST) == figures["test"]
    counts = Tokenizer("space").count(corpus.texts)
    assert len(counts.tokens) == 14
    for label in ("spam", "ham"):
        assert counts.X[corpus.y == label].sum(axis=0).tolist() == figures[f"counts_{label}"]


def test_federalist_counts_are_those_of_the_texts(shared):
    """Counting again from the texts gives the table that is shipped."""
    corpus = load_federalist(rest=True)
    table = corpus.X.toarray().tolist()
    with (shared / "data/federalist/federalist.csv").open(encoding="utf-8", newline="") as file:
        papers = list(csv.DictReader(file))
    for paper, name, author, row in zip(papers, corpus.ids, corpus.y, table, strict=True):
        words = Counter(re.findall(r"[a-z']+", re.sub(r"<[cpSQdl]>", " ", paper["text"]).lower()))
        assert (int(paper["number"]), paper["author"]) == (name, author)
        assert row == [words[token] for token in corpus.tokens[:-1]] + [words.total() - sum(row[:-1])]


def test_federalist_has_the_known_facts():
    """Papers per author, and who wrote "upon"."""
    corpus = load_federalist()
    assert corpus.X.shape == (85, 35) and corpus.ids == list(range(1, 86))
    papers = {"HAMILTON": 51, "MADISON": 14, "JAY": 5, "HAMILTON AND MADISON": 3, "HAMILTON OR MADISON": 12}
    assert Counter(corpus.y.tolist()) == papers
    upon = corpus.X[:, [corpus.tokens.index("upon")]].toarray().ravel()
    by_author = {author: int(upon[corpus.y == author].sum()) for author in papers}
    assert by_author["HAMILTON"] == 374
    assert by_author["MADISON"] == 7
    assert by_author["HAMILTON OR MADISON"] == 3


def test_the_federalist_source_is_read_as_a_table(shared):
    """The CSV of the papers through the reader: authors as labels, every paper a text."""
    corpus = read_corpus(shared / "data/federalist/federalist.csv", label="author")
    assert len(corpus) == 85 and not corpus.skipped
    assert sum(label == "HAMILTON" for label in corpus.y) == 51
    assert corpus.texts[0].startswith(" To the People")
