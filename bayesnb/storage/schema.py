"""What a model file of schema 1 must say of itself, field by field, before any array is looked at."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bayesnb import events, vocabulary
from bayesnb.storage import packing, packing_cells, tensorfile
from bayesnb.storage.tensorfile import naming

VERSION = 1
LISTED = 1000  # classes whose totals the header repeats for `inspect`

_DOCUMENT = {"schema", "date", "versions", "meta", "fingerprint", "summary", "model"}
_MODEL = {"kind", "tokens", "columns", "n_tokens", "classes", "closed", "fixed", "settings"}
_COUNTS = ("U8", "U16", "U32", "F64")

Expected = tuple[tuple[str, ...], tuple[int, ...] | None]  # element types; shape, or None for any length


def _check_version(version: Any) -> None:
    if tensorfile.is_count(version) and version > VERSION:
        raise ValueError(f"schema: {version} is newer than {VERSION}, the newest this version reads; upgrade bayesnb")
    if not tensorfile.is_count(version) or version != VERSION:
        raise ValueError(f"schema: {version!r} is none that was ever released")


def check(document: dict[str, Any]) -> dict[str, Expected]:
    """Check the document, and name the arrays its model needs, with the types and the shape each must have.

    Raises
    ------
    ValueError
        The schema is newer (the remedy is named), a key is missing, unknown or of another type.
    """
    _check_version(document.get("schema"))
    _check_keys("document", document, _DOCUMENT)
    with naming("date"):
        if datetime.fromisoformat(document["date"]).utcoffset() is None:
            raise ValueError(f"{document['date']!r} names no time zone")
    versions = document["versions"]
    if not (isinstance(versions, dict) and all(isinstance(value, str) for value in versions.values())):
        raise ValueError("versions: they must be strings by name")
    if not isinstance(document["meta"], dict):
        raise ValueError("meta: it must be an object")
    fingerprint = document["fingerprint"]
    if not (isinstance(fingerprint, str) and len(fingerprint) == 64 and set(fingerprint) <= set("0123456789abcdef")):
        raise ValueError("fingerprint: it must be 64 hexadecimal digits")
    needed = expected(document["model"])
    _check_summary(document["summary"], len(document["model"]["classes"]["values"]))
    return needed


def _check_summary(summary: Any, n_classes: int) -> None:
    _check_keys("summary", summary, {"prior", "class_count", "tokens_seen"})
    if not isinstance(summary["prior"], str):
        raise ValueError("summary: prior must be a string")
    for name in ("class_count", "tokens_seen"):
        totals = summary[name]
        if (totals is None) != (n_classes > LISTED):
            raise ValueError(f"summary: {name} must be given for up to {LISTED} classes")
        if totals is not None and not (
            isinstance(totals, list) and [type(t) in (int, float) for t in totals] == [True] * n_classes
        ):
            raise ValueError(f"summary: {name} must be one number a class")


def _check_keys(name: str, value: Any, expected: set[str]) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: it must be an object")
    if set(value) != expected:
        missing, unknown = sorted(expected - set(value)), sorted(set(value) - expected)
        raise ValueError(f"{name}: missing {missing}, unknown {unknown}")


def expected(packed: Any) -> dict[str, Expected]:
    """Check the model's part of the document; as `check`.

    Raises
    ------
    ValueError
        A field is missing, unknown, malformed or does not go with another.
    """
    has_cells = isinstance(packed, dict) and "cells" in packed
    _check_keys("model", packed, _MODEL | ({"cells"} if has_cells else set()))
    _check_kind(packed)
    for name in ("closed", "fixed"):
        if type(packed[name]) is not bool:
            raise ValueError(f"{name}: {packed[name]!r} is not true or false")
    if not tensorfile.is_count(packed["n_tokens"]):
        raise ValueError(f"n_tokens: {packed['n_tokens']!r} is no number of tokens")
    with naming("classes"):
        k, v = len(packing.unpack_labels(packed["classes"])), packed["n_tokens"]
        if not k:
            raise ValueError("there is none; learn from labelled documents first")
    with naming("settings"):
        shapes = packing.check_settings(packed["settings"])
        of_texts = [name for name in vocabulary.OPTIONS if name in packed["settings"]]
        if of_texts and packed["kind"] != "text":
            raise ValueError(f"{of_texts[0]}: it belongs to a model of texts")
        statistics = events.find(packed["settings"]["event"]).Statistics
    needed: dict[str, Expected] = dict.fromkeys(statistics.COUNTS, (_COUNTS, (k, v)))
    needed |= dict.fromkeys(statistics.MEASURES, (("F64",), (k, v))) | {"class_count": (_COUNTS, (k,))}
    if has_cells != (packed["settings"]["event"] == "categorical"):
        raise ValueError("cells: they belong to a categorical model, and to no other")
    if has_cells:
        with naming("cells"):
            packing_cells.check(packed["cells"], named=packed["columns"] == "names")
        needed |= dict.fromkeys(packing_cells.ARRAYS, (_COUNTS, (v,)))
    if has_cells or packed["columns"] == "names":
        needed |= {"vocabulary": (("U8",), None), "vocabulary_offsets": (("I64",), (v + 1,))}
    return needed | {name: (("F64",), shape) for name, shape in shapes.items()}


def _check_kind(packed: dict[str, Any]) -> None:
    tokens, kind = packed["tokens"], packed["kind"]
    if not (tokens is None or isinstance(tokens, str)):
        raise ValueError(f"tokens: {tokens!r} is no pattern of tokens")
    if kind != ("matrix" if tokens is None else "text"):
        raise ValueError(f"kind: {kind!r} does not go with tokens {tokens!r}")
    if packed["columns"] not in (("names", "range") if kind == "matrix" else ("names",)):
        raise ValueError(f"columns: {packed['columns']!r} does not go with kind {kind!r}")


def check_tensors(tensors: dict[str, tensorfile.Tensor], needed: dict[str, Expected]) -> None:
    """Hold the table of arrays against what the model needs; ValueError that names the array that differs."""
    _check_keys("tensors", tensors, set(needed))
    for name, (dtypes, shape) in needed.items():
        tensor = tensors[name]
        if tensor.dtype not in dtypes:
            raise ValueError(f"tensor {name!r}: dtype {tensor.dtype} is not {' or '.join(dtypes)}")
        if tensor.shape != shape and not (shape is None and len(tensor.shape) == 1):
            raise ValueError(f"tensor {name!r}: shape {tensor.shape} must be {shape or '(bytes,)'}")
