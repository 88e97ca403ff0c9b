"""Corpora that come with the library: five toy mails, and The Federalist's function words."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from .records import Corpus

_TOY_SPAM = (
    ("investors free for qualified investors", "spam"),
    ("discount prices for game investors", "spam"),
    ("lets grab a coffee", "ham"),
    ("investors get a free discount", "spam"),
    ("our coffee game is a game for", "ham"),
)

#: Ten mails to score with a model of `load_toy_spam`.
TOY_SPAM_TEST = (
    "discount for coffee investors",
    "discount for coffee for investors",
    "a coffee is coffee",
    "a coffee is free",
    "investors coffee is free",
    "investors coffee is discount",
    "investors coffee is game",
    "investors coffee get game",
    "investors get prices free for qualified investors",
    "our coffee grab is lets coffee",
)


def load_toy_spam() -> Corpus:
    """Five mails, three of them spam, small enough to check by hand.

    Read them with ``Tokenizer("space")``: 14 tokens, 15 of spam and 11 of ham in all.

    Returns
    -------
    Corpus
        `texts` and `y` ("spam", "ham"); `ids` from 1.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> toy.texts[0], toy.y.tolist()
    ('investors free for qualified investors', ['spam', 'spam', 'ham', 'spam', 'ham'])
    >>> tc = bayesnb.TextClassifier(tokens="space").fit(toy.texts, toy.y)
    >>> tc.predict(bayesnb.corpus.TOY_SPAM_TEST).tolist().count("spam")
    6
    """
    texts = [text for text, _ in _TOY_SPAM]
    y = np.array([label for _, label in _TOY_SPAM])
    return Corpus(y, list(range(1, len(texts) + 1)), texts=texts, source="toy spam")


def load_federalist(rest: bool = False) -> Corpus:
    """Counts of 35 function words in the 85 Federalist Papers (1787-88).

    Counted in the text of the CC0 edition with authors, lowercased, tokens ``[a-z']+``. The words are those that
    Mosteller and Wallace (1964) found to tell Hamilton from Madison.

    Parameters
    ----------
    rest : bool
        Append a column "(rest)" with the number of all other words, so that rows sum to the papers' lengths.

    Returns
    -------
    Corpus
        `X` (85 x 35, or 36), `tokens` the words, `ids` the numbers of the papers, and `y` the author: "HAMILTON" (51
        papers), "MADISON" (14), "JAY" (5), "HAMILTON AND MADISON" (3 written together) and "HAMILTON OR MADISON" (12
        disputed).

    Examples
    --------
    >>> import bayesnb
    >>> papers = bayesnb.load_federalist()
    >>> papers.X.shape, papers.tokens[:5]
    ((85, 35), ['upon', 'also', 'an', 'by', 'of'])
    >>> int((papers.y == "HAMILTON OR MADISON").sum())
    12
    """
    from scipy import sparse

    table = files(__package__).joinpath("federalist.csv").read_text(encoding="utf-8")
    (_, _, *tokens), *rows = csv.reader(table.splitlines())
    counts = np.array([row[2:] for row in rows], dtype=np.int64)
    if not rest:
        counts, tokens = counts[:, :-1], tokens[:-1]
    y = np.array([row[1] for row in rows])
    return Corpus(y, [int(row[0]) for row in rows], X=sparse.csr_array(counts), tokens=tokens, source="The Federalist")
