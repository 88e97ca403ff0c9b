"""Toy corpora, read from the figures or small enough to enumerate."""

import json
from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(scope="session")
def figures(shared):
    return json.loads((shared / "figures.json").read_text())


@pytest.fixture(scope="session")
def toy(figures):
    """The five training sentences as counts, labels as codes (ham 0, spam 1), and the test sentences as counts."""
    spam = figures["toy_spam"]
    tokens = sorted({token for text in spam["train"] for token in text.split(" ")})

    def counted(texts):
        return np.array([[text.split(" ").count(token) for token in tokens] for text in texts])

    return SimpleNamespace(
        X=counted(spam["train"]),
        y=np.array([["ham", "spam"].index(label) for label in spam["labels"]]),
        test=counted(spam["test"]),
        classes=np.array(["ham", "spam"], dtype=object),
        tokens=np.array(tokens, dtype=object),
        figures=spam,
    )
