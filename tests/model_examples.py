"""Small models for the tests of files and scorer, and a hand on the parts of a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesnb import storage
from bayesnb.corpus.tokens import Tokenizer
from bayesnb.model import Settings, State

TEXTS = ["win cash win", "cash now", "tea now", "milk tea tea"]
LABELS = ["spam", "spam", "ham", "ham"]
X = np.array([[2.0, 0, 1], [0, 1, 0], [0, 3, 1], [1, 0, 0]])
NEW = np.array([[1.0, 1, 0], [0, 0, 0], [0, 5, 2]])


def learn_texts(texts: list[str], labels: Any, event: str = "multinomial", pattern: str = "words") -> State:
    """Totals of texts, as a TextClassifier keeps them."""
    counted = Tokenizer(pattern).count(texts)
    counts = Settings(event=event).documents(counted.X)
    return State.learn(event, counts, np.array(labels), np.array(counted.tokens, object), fixed=False)


def text_model(**settings: Any) -> storage.Model:
    """A model of the four texts."""
    made = Settings(**settings)
    return storage.Model(made, learn_texts(TEXTS, LABELS, made.event), tokens="words")


def matrix_model(labels: Any = (0, 0, 1, 1), names: list[str] | None = None, **settings: Any) -> storage.Model:
    """A model of the four rows of X."""
    made = Settings(**settings)
    tokens = np.arange(X.shape[1]) if names is None else np.array(names, object)
    y = labels if isinstance(labels, np.ndarray) else np.array(labels)
    state = State.learn(made.event, made.documents(X), y, tokens)
    return storage.Model(made, state, named_columns=names is not None)


@dataclass
class Parts:
    """A model file taken apart, to be changed and put together again."""

    table: dict[str, Any]
    document: dict[str, Any]
    data: bytes

    @classmethod
    def of(cls, path: Path) -> Parts:
        """Take a file apart."""
        raw = path.read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        table = json.loads(raw[8:end])
        return cls(table, json.loads(table.pop("__metadata__")["bayesnb"]), raw[end:])

    def header(self) -> str:
        """The header as JSON."""
        return json.dumps({"__metadata__": {"bayesnb": json.dumps(self.document)}, **self.table})

    def write(self, path: Path, header: str | None = None) -> None:
        """Put the file together."""
        text = (self.header() if header is None else header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + self.data)

    def put(self, name: str, values: Any) -> None:
        """Overwrite the bytes of an array with as many values of its type."""
        codes = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "I64": "<i8", "F64": "<f8"}
        begin, end = self.table[name]["data_offsets"]
        new = np.array(values, codes[self.table[name]["dtype"]]).tobytes()
        assert len(new) == end - begin
        self.data = self.data[:begin] + new + self.data[end:]


def edited(path: Path, edit: Callable[[Parts], object]) -> None:
    """Change a file through its parts."""
    parts = Parts.of(path)
    edit(parts)
    parts.write(path)
