"""What a model is in JSON and arrays: labels with their type, settings with their form, names as UTF-8.

`pack_*` and `unpack_*` are inverses. Small things are JSON, whose numbers Python writes and reads bit for bit;
arrays go beside it under the name of their field, and JSON keeps their shape. What is unpacked is hostile until
checked.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from bayesnb import vocabulary
from bayesnb.families import Beta, Dirichlet, NormalInverseGamma
from bayesnb.model import Settings
from bayesnb.storage.tensorfile import is_count, naming
from bayesnb.validate import _plain

Arrays = dict[str, np.ndarray]

SETTINGS = tuple(field.name for field in fields(Settings))
_TYPES: dict[str, tuple[type, ...]] = {
    "event": (str,),
    "alpha": (float, dict),
    "prior": (type(None), str, float, dict),
    "class_prior": (type(None), float, dict),
    "fit_prior": (bool,),
    "estimate": (str,),
    "binary": (bool,),
    "power": (float,),
    "binarize": (type(None), float),
    "var_smoothing": (float,),
    "missing": (str,),
    "min_categories": (type(None), float, dict),
    "unseen": (str,),
    "ngram_range": (list,),
    "min_df": (int, float),
    "max_features": (type(None), int),
    "stop_words": (list,),
}
_DEFAULT = {field.name: field.default for field in fields(Settings)}
# written where they are no default
_LATER = frozenset(("var_smoothing", "missing", "min_categories", "unseen", *vocabulary.OPTIONS))
_FAMILIES: dict[str, tuple[type, tuple[str, ...]]] = {
    "beta": (Beta, ("a", "b")),
    "normal_inverse_gamma": (NormalInverseGamma, ("m0", "kappa0", "alpha0", "beta0")),
}
_COUNTERS = ("uint8", "uint16", "uint32")
_NUMBERS = {"bool": bool} | dict.fromkeys(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), int
) | dict.fromkeys(("float16", "float32", "float64"), float)  # fmt: skip

_OF_KIND = {bool: "bool", int: "int64", float: "float64"}
_WIDEST = {"object": "str", "str": "str"} | {name: _OF_KIND[kind] for name, kind in _NUMBERS.items()}


def pack_labels(labels: np.ndarray) -> dict[str, Any]:
    """Labels and the type of their array; strings in an array of objects keep trailing NULs, so both kinds exist.

    Raises
    ------
    ValueError
        A label is no string, integer, float or boolean, is infinite, or a string that is no Unicode text.
    """
    kind = {"O": "object", "U": "str"}.get(labels.dtype.kind, labels.dtype.name)
    values = labels.tolist()
    if kind not in _NUMBERS:
        values = [str(value) if isinstance(value, str) else value for value in values]
    result = {"type": kind, "values": values}
    unpack_labels(result)
    return result


def unpack_labels(packed: Any) -> np.ndarray:
    """Inverse of `pack_labels`; ValueError where the labels are not of their type, sorted and each there once."""
    if not (isinstance(packed, dict) and set(packed) == {"type", "values"} and isinstance(packed["values"], list)):
        raise ValueError("they must be an object of type and values")
    kind, values = packed["type"], packed["values"]
    if kind in ("object", "str"):
        check_names(values, ordered=True)
        text = np.array(values, object if kind == "object" else np.str_)
        if text.tolist() != values:
            raise ValueError("a string that ends in NUL needs type object")
        return text
    expected = _NUMBERS.get(kind) if isinstance(kind, str) else None
    if expected is None:
        raise ValueError(f"labels of type {kind!r} cannot be stored; use strings, integers, floats or booleans")
    wrong = [value for value in values if type(value) is not expected]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not of type {kind}")
    with np.errstate(over="ignore"):
        labels = np.array(values, kind)
    if labels.tolist() != values or not np.isfinite(labels).all():
        raise ValueError(f"a label is not a finite {kind}")
    check_order(values)
    return labels


def label_kind(packed: dict[str, Any]) -> dict[str, Any]:
    """Packed labels with one name for all types that can hold them: how wide NumPy made them is no part of a model.

    Whether they are strings, whole numbers, floats or booleans stays: 1, 1.0 and True are different labels.
    """
    return packed | {"type": _WIDEST[packed["type"]]}


def check_names(names: list[Any], *, ordered: bool) -> None:
    """Refuse names that are no Unicode text, or are there twice, or (if `ordered`) are not sorted."""
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise ValueError(f"name {name!r} at {place} is a {type(name).__name__}, not a string")
        if not name.isascii():
            _refuse_surrogate(name, place)
    if ordered:
        check_order(names)
    elif len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!r} stands there twice")


def check_order(names: list[Any]) -> None:
    """Refuse names that do not increase strictly."""
    if not all(map(operator.lt, names, names[1:])):
        place, (one, other) = next(item for item in enumerate(pairwise(names)) if not item[1][0] < item[1][1])
        why = "stands there twice" if one == other else f"is followed by {other!r}: they must be sorted"
        raise ValueError(f"{one!r} at {place} {why}")


def _refuse_surrogate(name: str, place: int) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"name {name!r} at {place} holds a lone surrogate at character {error.start}") from None


def pack_names(names: np.ndarray) -> Arrays:
    """Names as UTF-8 bytes one behind the other, and where each begins; (V + 1,) with the end of the last."""
    encoded = [str(name).encode() for name in names.tolist()]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return {"vocabulary": np.frombuffer(b"".join(encoded), np.uint8), "vocabulary_offsets": offsets}


def unpack_names(arrays: Arrays, *, ordered: bool) -> np.ndarray:
    """Inverse of `pack_names`; ValueError that names the array where bytes or places are wrong."""
    names = texts(arrays)
    with naming("tensor 'vocabulary'"):
        check_names(names, ordered=ordered)
    return as_objects(names)


def texts(arrays: Arrays) -> list[str]:
    """What `pack_names` put behind each other, with nothing asked of it but that it is text."""
    blob, offsets = arrays["vocabulary"].tobytes(), arrays["vocabulary_offsets"]
    with naming("tensor 'vocabulary_offsets'"):
        if offsets[0] != 0 or offsets[-1] != len(blob) or not (offsets[1:] >= offsets[:-1]).all():
            raise ValueError(f"they must rise from 0 to the {len(blob)} bytes of the vocabulary")
    with naming("tensor 'vocabulary'"):
        ends = offsets.tolist()
        if blob.isascii():
            text = blob.decode("ascii")
            return [text[begin:end] for begin, end in pairwise(ends)]
        return [blob[begin:end].decode("utf-8") for begin, end in pairwise(ends)]


def as_objects(values: list[Any]) -> np.ndarray:
    """Values as a one-dimensional array of objects."""
    return np.fromiter(values, object, len(values))


def pack_settings(settings: Settings, arrays: Arrays) -> dict[str, Any]:
    """Settings as JSON; their arrays are put into `arrays`.

    Raises
    ------
    ValueError
        A setting has no form in a file.
    """
    packed: dict[str, Any] = {}
    for name in SETTINGS:
        value = getattr(settings, name)
        if name in _LATER and _is_default(value, name):
            continue
        if name in vocabulary.OPTIONS:  # small, and judged by Settings
            packed[name] = list(value) if isinstance(value, tuple) else value
            continue
        with naming(name):
            packed[name] = _pack(value, name, arrays)
    for name in ("fit_prior", "binary"):
        packed[name] = bool(getattr(settings, name))
    return packed


def unpack_settings(packed: dict[str, Any], arrays: Arrays) -> Settings:
    """Inverse of `pack_settings`; ValueError that names the field."""
    values = {}
    for name in packed:
        with naming(name):
            values[name] = _unpack(packed[name], name, arrays)
    return Settings(**values)


def check_settings(packed: Any) -> dict[str, tuple[int, ...]]:
    """Check the form of settings, and return the names and shapes of the arrays they refer to.

    Raises
    ------
    ValueError
        A setting is missing, unknown or has another form.
    """
    if not (isinstance(packed, dict) and set(packed) | _LATER == set(SETTINGS)):
        raise ValueError(
            f"there must be exactly {', '.join(SETTINGS)}, of which {', '.join(sorted(_LATER))} may be left out"
        )
    shapes: dict[str, tuple[int, ...]] = {}
    for name, types in _TYPES.items():
        if name not in packed:
            continue
        if type(packed[name]) not in types:
            raise ValueError(f"{name}: {packed[name]!r} is not {' or '.join(t.__name__ for t in types)}")
        with naming(name):
            if name in vocabulary.OPTIONS:
                getattr(vocabulary, name)(packed[name])
            shapes |= _array_shapes(packed[name], name)
    return shapes


def _is_default(value: Any, name: str) -> bool:
    """Whether a setting need not be written; 1.0, all documents, is not 1, one of them."""
    default = _DEFAULT[name]
    if name in vocabulary.OPTIONS:
        return type(value) is type(default) and value == default
    return np.ndim(value) == 0 and bool(value == default)


def _array_shapes(packed: Any, name: str) -> dict[str, tuple[int, ...]]:
    if not isinstance(packed, dict):
        return {}
    form, value = set(packed), next(iter(packed.values()), None)
    if form == {"array"}:
        if isinstance(value, list) and 1 <= len(value) <= 2 and all(map(is_count, value)):
            return {name: tuple(value)}
    elif (family := _family_of(packed)) is not None:
        _, parameters = family
        if isinstance(value, list) and len(value) == len(parameters) and all(map(_is_parameter, value)):
            parts = zip(value, parameters, strict=True)
            return dict(item for part, own in parts for item in _array_shapes(part, f"{name}.{own}").items())
    elif form == {"dirichlet"}:
        if isinstance(value, dict) and _is_parameter(value):
            return _array_shapes(value, name)
    elif form == {"labels", "probabilities"}:
        _known(packed)
        return {}
    raise ValueError(f"{packed!r} has no form of a setting")


def _family_of(packed: dict[str, Any]) -> tuple[type, tuple[str, ...]] | None:
    """Family and its parameters, where a packed setting is one of several parameters."""
    return _FAMILIES.get(next(iter(packed))) if len(packed) == 1 else None


def _is_parameter(packed: Any) -> bool:
    return type(packed) is float or (isinstance(packed, dict) and set(packed) == {"array"})


def _known(packed: dict[str, Any]) -> dict[Any, float]:
    labels, probabilities = unpack_labels(packed["labels"]).tolist(), packed["probabilities"]
    if not (isinstance(probabilities, list) and all(type(p) is float for p in probabilities)):
        raise ValueError("probabilities must be a list of floats")
    return dict(zip(labels, probabilities, strict=True))


def _pack(value: Any, name: str, arrays: Arrays) -> Any:
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    for form, (family, parameters) in _FAMILIES.items():
        if isinstance(value, family):
            return {form: [_pack(getattr(value, own), f"{name}.{own}", arrays) for own in parameters]}
    if isinstance(value, Dirichlet):
        return {"dirichlet": _pack(value.concentration, name, arrays)}
    if isinstance(value, Mapping):
        labels = [_plain(label) for label in sorted(value)]
        packed = pack_labels(np.array(labels, object if isinstance(labels[0], str) else None))
        return {"labels": packed, "probabilities": [float(value[label]) for label in labels]}
    number = np.asarray(value, np.float64)
    if not np.isfinite(number).all():
        raise ValueError("a number is missing or infinite")
    if number.ndim == 0:
        return float(number)
    arrays[name] = np.ascontiguousarray(number)
    return {"array": list(number.shape)}


def _unpack(packed: Any, name: str, arrays: Arrays) -> Any:
    """A setting whose form `check_settings` has found right."""
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        return np.array(arrays[name])
    if (found := _family_of(packed)) is not None:
        family, parameters = found
        parts = zip(next(iter(packed.values())), parameters, strict=True)
        return family(*(_unpack(part, f"{name}.{own}", arrays) for part, own in parts))
    if "dirichlet" in packed:
        return Dirichlet(_unpack(packed["dirichlet"], name, arrays))
    return _known(packed)


def pack_statistics(statistics: Any) -> Arrays:
    """The totals by name: counts in a small type, measures as they are."""
    arrays = {name: compact(getattr(statistics, name)) for name in statistics.COUNTS}
    # -0.0 is 0 and must not look like another model
    return arrays | {name: np.ascontiguousarray(getattr(statistics, name) + 0.0) for name in statistics.MEASURES}


def compact(counts: np.ndarray) -> np.ndarray:
    """Counts in the smallest unsigned type that holds them all exactly; as they are where none does."""
    counts = np.ascontiguousarray(counts + 0.0)  # -0.0 is the count 0 and must not look like another model
    largest = counts.max(initial=0.0)
    for dtype in _COUNTERS:
        if largest <= np.iinfo(dtype).max:
            small = counts.astype(dtype)
            return small if (small == counts).all() else counts
    return counts


def shown(packed: Any) -> Any:
    """A packed setting as `inspect` shows it: plain, with the shape in place of an array."""
    if isinstance(packed, dict) and "array" in packed:
        return f"array of shape {tuple(packed['array'])}"
    if isinstance(packed, dict) and (found := _family_of(packed)) is not None:
        return f"{found[0].__name__}({', '.join(str(shown(part)) for part in next(iter(packed.values())))})"
    if isinstance(packed, dict) and "dirichlet" in packed:
        return f"Dirichlet({shown(packed['dirichlet'])})"
    if isinstance(packed, dict):
        return _known(packed)
    return packed
