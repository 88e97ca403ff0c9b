"""Labelled text and tables in: readers, tokens, built-in corpora. Names load on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .blocks import read_blocks
    from .counting import TokenCounts
    from .datasets import TOY_SPAM_TEST, load_federalist, load_toy_spam
    from .readers import read_corpus, read_documents
    from .records import Corpus, CorpusError
    from .tokens import Tokenizer
    from .totals import ClassTotals

_HOME = {
    "ClassTotals": "totals",
    "Corpus": "records",
    "CorpusError": "records",
    "TOY_SPAM_TEST": "datasets",
    "TokenCounts": "counting",
    "Tokenizer": "tokens",
    "load_federalist": "datasets",
    "load_toy_spam": "datasets",
    "read_blocks": "blocks",
    "read_corpus": "readers",
    "read_documents": "readers",
}

__all__ = [
    "TOY_SPAM_TEST",
    "ClassTotals",
    "Corpus",
    "CorpusError",
    "TokenCounts",
    "Tokenizer",
    "load_federalist",
    "load_toy_spam",
    "read_blocks",
    "read_corpus",
    "read_documents",
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
