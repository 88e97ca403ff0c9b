"""A model file of every kind, and random ways to make one wrong: any field, any entry of the table, any number."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np

import bayesnb
from tests.model_examples import LABELS, TEXTS, Parts

COUNTS = np.array([[2, 1, 0], [0, 1, 3], [1, 0, 2], [1, 1, 1]])
NAMES = np.array([["a", "b"], ["b", "c"], ["a", "c"], ["é", "b"]], object)
Y = ["h", "s", "h", "s"]
TINY = ["win tea tea", "", "ünow the cash"]


def estimators() -> dict[str, tuple[Any, Any]]:
    """A fitted estimator of every event model and kind of setting, and documents for it."""
    text = bayesnb.TextClassifier(class_prior={"ham": 0.75, "spam": 0.25}, ngram_range=(1, 2), stop_words=["the"])
    presence = bayesnb.TextClassifier(event="bernoulli", tokens=r"[a-zü]+", prior=bayesnb.Beta(2.0, 1.5))
    family = bayesnb.NormalInverseGamma(0.0, 1.0, 2.0, 1.0)
    counted = {
        "multinomial": bayesnb.MultinomialNB(),
        "bernoulli": bayesnb.BernoulliNB(prior=bayesnb.Beta([2.0, 1.5, 3.0], 1.25)),
        "gaussian": bayesnb.GaussianNB(prior=family, estimate="mean"),
        "gaussian mle": bayesnb.GaussianNB(),
        "categorical": bayesnb.CategoricalNB(),
    }
    made = {name: (clf.fit(COUNTS, Y), COUNTS) for name, clf in counted.items()}
    fractions = bayesnb.MultinomialNB(prior=np.full((2, 3), 1.5), estimate="predictive", power=0.5)
    made["fractions"] = fractions.fit(COUNTS, Y, sample_weight=[0.5, 0.25, 1, 1]), COUNTS
    made["text"] = text.fit([*TEXTS[:-1], "ümilk tea"], LABELS), TINY
    made["text presence"] = presence.fit(TEXTS, LABELS), TINY
    made["categories"] = bayesnb.CategoricalNB(unseen="reserve", estimate="mean").fit(NAMES, Y), NAMES
    return made


HUGE = "1e999"  # valid JSON, and infinite once it is read
# what takes the place of a value, wherever it stood
HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, -(2**70), 10**400,
    0.0, -0.0, 1.0, 0.5, -1.5, 1e308, 5e-324, HUGE,
    "", "a", "words", "\ud800", "\x00", "\n\x1b[31m", "é" * 1000, "(" * 3000, "(a{0,9999}){0,9999}", "(?P<a>b)",
    [], {}, [1], [[]], ["a"], {"a": 1}, {"array": []}, {"array": [0]}, {"array": [0, 2**62]}, {"array": [2, 3]},
    {"type": "object", "values": []}, {"type": "float64", "values": [1.0, 2.0]},
    {"beta": [1.0, 1.0]}, {"dirichlet": 1.0}, {"normal_inverse_gamma": [0.0, 1.0, 1.0, 1.0]},
    "background", "empirical", "jeffreys", "weak", "multinomial", "bernoulli", "gaussian", "categorical",
]  # fmt: skip
_VALUES = {
    "u": [0, 1, 3, 255],
    "i": [0, -1, 1, 2**62, -(2**63), 2**63 - 1],
    "f": [np.nan, np.inf, -np.inf, -1.0, 1e308, 5e-324, 0.0, 0.5, -0.0, 2.0**53],
}


def mutated(original: Path, place: Path, rng: random.Random) -> str:
    """Write a copy of a file with one fault, or two; what was done to it."""
    parts, done = Parts.of(original), []
    for _ in range(rng.choice([1, 1, 1, 2])):
        edit = rng.choice([_document, _document, _numbers, _table])
        done.append(edit(parts, rng))
        if edit is _table:
            break  # nobody can say where the numbers are any more
    header = parts.header().replace(rf"\"{HUGE}\"", HUGE).replace(f'"{HUGE}"', HUGE)
    parts.write(place, header)
    return "; ".join(done)


def _document(parts: Parts, rng: random.Random) -> str:
    return _one_field(parts.document, rng)


def _table(parts: Parts, rng: random.Random) -> str:
    return _one_field(parts.table, rng)


def _numbers(parts: Parts, rng: random.Random) -> str:
    """One number of one array."""
    name = rng.choice(sorted(parts.table))
    begin, end = parts.table[name]["data_offsets"]
    kind = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "I64": "<i8", "F64": "<f8"}[parts.table[name]["dtype"]]
    values = np.frombuffer(parts.data[begin:end], kind).copy()
    at, new = rng.randrange(values.size), rng.choice(_VALUES[values.dtype.kind])
    values[at] = new
    parts.data = parts.data[:begin] + values.tobytes() + parts.data[end:]
    return f"{name}[{at}] = {new}"


def _one_field(root: Any, rng: random.Random) -> str:
    """Drop, add, repeat, shift or replace something of a JSON value."""
    *path, last = rng.choice(list(_paths(root)))
    at = root
    for key in path:
        at = at[key]
    where, how = [*path, last], rng.random()
    if how < 0.08:
        del at[last]
        return f"without {where}"
    if how < 0.14 and isinstance(at, dict):
        extra = rng.choice(["x", "", "é", "prior", "array", "cells", "columns"])
        at[extra] = copy.deepcopy(rng.choice(HOSTILE))
        return f"{[*path, extra]} = {at[extra]!r:.80}"
    if how < 0.2 and isinstance(at, list):
        at.insert(last, copy.deepcopy(at[last]))
        return f"{where} twice"
    if how < 0.35 and type(at[last]) in (int, float):
        at[last] += rng.choice([1, -1, 0.5, 255, 1e-9, 10**12])
    else:
        at[last] = copy.deepcopy(rng.choice(HOSTILE))
    return f"{where} = {at[last]!r:.80}"


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """The way to every value inside a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
        yield from _paths(value[key], (*path, key))
