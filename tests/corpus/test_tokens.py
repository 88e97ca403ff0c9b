"""Tokens: two engines that read alike, on every code point there is."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnb.corpus.tokens import Tokenizer, is_newer, text_fault

PATTERNS = ["words", "whitespace", "space", "[a-z']+", r"\b\w+\b", r"[^\s,]+", r"[^ß\0]{3,}", r"(?:a|ß)+", "."]
EVERY_CHAR = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]


def bulk(pattern: str, texts: list[str]) -> list[list[str]]:
    """Tokens as the bulk engine cuts them."""
    from bayesnb.corpus.cutting import cut

    found = cut(Tokenizer(pattern), texts)
    ends = np.searchsorted(found.rows, np.arange(len(texts) + 1))
    flat = [found.names[i] for i in found.ids.tolist()]
    return [flat[begin:end] for begin, end in pairwise(ends.tolist())]


@pytest.mark.parametrize("pattern", ["words", "whitespace", "space", "[^ ]+"])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("xA", "Σb")])
def test_both_engines_agree_on_every_code_point(pattern, before, after):
    """Each code point, alone and inside a word, beside a sigma whose small form depends on it."""
    # Many to a text, spaced: an exhaustive walk in seconds. Of planes 4 to 13, all unassigned, a part is enough
    # inside a word.
    chars = [c for c in EVERY_CHAR if not before or not 0x40000 <= ord(c) < 0xE0000 or ord(c) % 97 == 0]
    words = [before + char + after for char in chars]
    texts = [" ".join(words[start : start + 100]) for start in range(0, len(words), 100)]
    tokenizer = Tokenizer(pattern)
    different = [t for t, cut in zip(texts, bulk(pattern, texts), strict=True) if tokenizer.tokens(t) != cut]
    assert not different, different[:5]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=60, deadline=None)  # a polars query now and then takes long on a busy machine
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_both_engines_agree_on_any_text(pattern, texts):
    """Whatever the texts, bulk and single tokens are equal."""
    tokenizer = Tokenizer(pattern)
    assert bulk(pattern, texts) == [tokenizer.tokens(text) for text in texts]


OPTIONS = [
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "stop_words": ["aa", "a", ""]},
    {"stop_words": ["aa", "Aß", "bb"]},
]


@pytest.mark.filterwarnings("ignore:stop word")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("pattern", ["words", "whitespace", "space", "[a-z' ]+", r"\b\w+\b"])
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text("aabbAß' \0\u3000Σ") | st.text(), max_size=4))
def test_runs_and_stop_words_are_alike_in_both_engines(pattern, options, texts):
    """Any text, lone surrogates included: the same tokens as often, or an error from both."""
    tokenizer = Tokenizer(pattern, **options)
    if any(text_fault(text) for text in texts):
        with pytest.raises(ValueError, match="lone surrogate"):
            tokenizer.count(texts)
        with pytest.raises(ValueError, match="lone surrogate"):
            [tokenizer.tokens(text) for text in texts]
        return
    counts = tokenizer.count(texts)
    rows = [dict(zip(counts.tokens, row, strict=True)) for row in counts.X.toarray().tolist()]
    found = [{token: n for token, n in row.items() if n} for row in rows]
    assert found == [dict(Counter(tokenizer.tokens(text))) for text in texts]
    assert counts.tokens == sorted(set().union(*found)) and counts.X.has_sorted_indices
    assert counts.n_total.tolist() == [len(tokenizer.tokens(text)) for text in texts]


def test_runs_are_count_vectorizers():
    """Tokens first, then pairs; stop words go before runs are formed, so their neighbours meet."""
    from sklearn.feature_extraction.text import CountVectorizer

    text = "The tea, and the milk: the tea again"
    theirs = CountVectorizer(ngram_range=(1, 2), stop_words=["the", "and"]).build_analyzer()(text)
    assert Tokenizer(ngram_range=(1, 2), stop_words=["the", "and"]).tokens(text) == theirs
    assert theirs[:5] == ["tea", "milk", "tea", "again", "tea milk"]


def test_tokens_that_share_eight_bytes_at_a_time_stay_apart():
    """Tokens of every length around what is compared at once, that differ in their last byte or in NULs alone."""
    stems = ["abcdefgh" * (n // 8) + "abcdefgh"[: n % 8] for n in range(1, 90)]
    words = [stem + end for stem in stems for end in ("", "x", "y", "\0", "\0\0", "é")]
    for pattern in ("space", "[^ ]+"):
        assert bulk(pattern, [" ".join(words), " ".join(reversed(words))]) == [words, words[::-1]]


def test_equal_hashes_are_not_taken_for_equal_tokens(monkeypatch):
    """Where hashes collide, all of them or a few, more are drawn until the bytes agree."""
    from bayesnb.corpus import cutting

    real = cutting._hash
    worse = {0: lambda code: code * np.uint64(0), 1: lambda code: code % np.uint64(3) << np.uint64(60)}
    monkeypatch.setattr(cutting, "_hash", lambda pieces, seed: worse.get(seed, lambda c: c)(real(pieces, seed)))
    text = " ".join(f"w{i % 97}" for i in range(1000))
    assert bulk("words", [text]) == [text.split()]


def test_the_table_of_unicode_15_is_polars_table():
    """Which code points are newer than 15.0: our table against Rust's property of that name."""
    known = pl.Series(EVERY_CHAR).str.contains(r"\p{Age:15.0}").to_list()
    assert [not is_newer(char) for char in EVERY_CHAR] == known
    if unicodedata.unidata_version == "15.0.0":  # Python 3.12: noncharacters are Cn yet not newer
        assert all(unicodedata.category(c) == "Cn" for c in EVERY_CHAR if is_newer(c))


def test_words_are_count_vectorizers_on_every_old_code_point():
    """`words` is scikit-learn's default analyzer wherever Unicode 15.0 has a character."""
    from sklearn.feature_extraction.text import CountVectorizer

    analyze = CountVectorizer().build_analyzer()
    tokenizer = Tokenizer("words")
    words = [f"x{c}y" for c in EVERY_CHAR if ord(c) < 0xF0000 and not is_newer(c)]  # not the private planes
    texts = [" ".join(words[start : start + 100]) for start in range(0, len(words), 100)]
    assert [t for t in texts if tokenizer.tokens(t) != analyze(t)] == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ΑΣ ΑΣ. ΑΣΑ Σ", ["ας", "ας", "ασα"]),  # a final sigma depends on what follows
        ("İstanbul", ["stanbul"]),  # İ lowers to i and a combining dot, which is no word character
        ("STRASSE straße", ["strasse", "straße"]),
        ("a\u2028bc\u0085de", ["bc", "de"]),
        ("snake_case x2 7 42", ["snake_case", "x2", "42"]),
        ("\U0002ebf0\U0002ebf1", []),  # letters of Unicode 15.1
        ("ab\U0002ebf0cd", ["ab", "cd"]),
        ("ab\ua7cbcd", ["ab", "cd"]),  # Unicode 16: its small letter is an old one
    ],
)
def test_words_of_awkward_texts(text, tokens):
    """Lowercasing in context, separators, and letters that are too new."""
    assert Tokenizer("words").tokens(text) == tokens
    assert bulk("words", [text]) == [tokens]


def test_whitespace_keeps_case_and_splits_on_pythons_spaces():
    r"""`whitespace` is what \S+ finds, on the information separators too."""
    text = "Ab\x1cCd\u3000É,f\u200bG"
    assert Tokenizer("whitespace").tokens(text) == re.findall(r"\S+", text) == ["Ab", "Cd", "É,f\u200bG"]


def test_space_counts_the_empty_string():
    """`space` splits on single spaces, as text.lower().split(" ") does."""
    counts = Tokenizer("space").count(["A  b ", ""])
    assert counts.tokens == ["", "a", "b"]
    assert counts.X.toarray().tolist() == [[2, 1, 1], [1, 0, 0]]


def test_counts_have_sorted_names_and_totals():
    """Names by code point, counts by document, known equal to all when every token has a column."""
    counts = Tokenizer("whitespace").count(["b é b", "", "Z b \U0001f600 \uffee"])
    assert counts.tokens == ["Z", "b", "é", "\uffee", "\U0001f600"]  # not UTF-16's order
    assert counts.X.toarray().tolist() == [[0, 2, 1, 0, 0], [0] * 5, [1, 1, 0, 1, 1]]
    assert counts.n_known.tolist() == counts.n_total.tolist() == [3, 0, 4]
    assert counts.X.dtype == np.int64 and counts.n_total.dtype == np.int64


def test_a_vocabulary_fixes_the_columns():
    """Only the given tokens are counted, in the given order; the others show in n_total."""
    counts = Tokenizer().count(["tea milk gin gin", "rum"], vocabulary=["tea", "absent", "gin"])
    assert counts.X.toarray().tolist() == [[1, 0, 2], [0, 0, 0]]
    assert (counts.n_known.tolist(), counts.n_total.tolist()) == ([3, 0], [4, 1])
    assert counts.tokens == ["tea", "absent", "gin"]


@pytest.mark.parametrize("vocabulary", [None, ["b", "a"]])
def test_batches_do_not_show(monkeypatch, vocabulary):
    """Cutting the documents into many batches changes nothing."""
    from bayesnb.corpus import counting

    texts = ["a b", "", "c", "b b a", "", "d a", ""]
    whole = Tokenizer("whitespace").count(texts, vocabulary)
    monkeypatch.setattr(counting, "_BATCH", 2)
    parts = Tokenizer("whitespace").count(texts, vocabulary)
    assert parts.tokens == whole.tokens
    assert (parts.X != whole.X).nnz == 0 and parts.X.has_sorted_indices
    assert parts.n_total.tolist() == whole.n_total.tolist() == [2, 0, 1, 3, 0, 2, 0]


@pytest.mark.parametrize("kind", [tuple, iter, np.array, pd.Series, pl.Series, lambda t: np.array(t, dtype=object)])
def test_texts_may_come_in_any_container(kind):
    """Whatever iterates over strings."""
    assert Tokenizer().count(kind(["tea tea", "né"]), kind(["né", "tea"])).X.toarray().tolist() == [[0, 2], [1, 0]]


def test_no_documents_and_no_tokens_give_empty_matrices():
    """Nothing to count is a matrix without rows or columns, not an error."""
    assert Tokenizer().count([]).X.shape == (0, 0)
    assert Tokenizer().count(["", "?"]).X.shape == (2, 0)
    assert Tokenizer().count([], ["a"]).X.shape == (0, 1)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "b\ud800"], r"row 1: the text holds a lone surrogate \(U\+D800\) at character 1"),
        (["a", None], "row 1: the text is missing"),
        (["a", float("nan")], "row 1: the text is missing"),
        (["a", pd.NA], "row 1: the text is missing"),
        (["a", 7], "row 1: the text is not a string but int"),
        ("one string", "texts is one string"),
    ],
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_that_is_none_is_named_by_row(pattern, texts, message):
    """Surrogates, missing values and other types are errors that name the row."""
    with pytest.raises(ValueError, match=message):
        Tokenizer(pattern).count(texts)


def test_one_text_with_a_surrogate_is_an_error():
    """The single engine refuses what the bulk engine refuses."""
    with pytest.raises(ValueError, match="lone surrogate"):
        Tokenizer("space").tokens("a\udfff")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("word", "unknown tokens 'word'; use words, whitespace, space"),
        ("", "unknown tokens"),
        ("(a)b", "capturing group"),
        ("(?P<x>a)", "capturing group"),
        ("a(?=b)", "look-around"),
        ("(?<!b)a", "look-around"),
        ("[a-z", "not a regular expression"),
        ("[[a]-z]+", "not a regular expression"),  # nested sets: Python warns, Rust nests
        ("a*", "matches the empty string"),
        (7, "tokens must be one of"),
    ],
)
def test_an_expression_that_would_need_a_special_engine_is_refused(pattern, message):
    """Look-around and its like, and what is no expression of a token, are refused at construction."""
    with pytest.raises(ValueError, match=message):
        Tokenizer(pattern)


def test_a_vocabulary_with_a_token_twice_is_refused():
    """Two columns of one name would share its counts."""
    with pytest.raises(ValueError, match="'a' twice"):
        Tokenizer().count(["a"], ["a", "b", "a"])


def test_tokens_of_one_document_load_no_table_reader():
    """The scorer's path imports neither polars nor pandas nor scikit-learn nor SciPy."""
    code = (
        "import sys; import bayesnb.corpus; from bayesnb.corpus.tokens import Tokenizer\n"
        "assert Tokenizer().tokens('Ab cd') == ['ab', 'cd']\n"
        "print(sorted({'polars', 'pandas', 'sklearn', 'scipy', 'pymc'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_stop_word_that_no_token_can_be_is_pointed_out():
    """Tokens are lowercased, so "The" stops nothing; "the" does."""
    with pytest.warns(UserWarning, match="stop word 'The' stops nothing"):
        assert Tokenizer("words", stop_words=["The"]).tokens("The end") == ["the", "end"]
    assert Tokenizer("words", stop_words=["the"]).tokens("The end") == ["end"]
