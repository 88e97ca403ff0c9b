"""Model files: everything a model has learnt, and no code.

A file is safetensors: one metadata key holds sorted JSON (`schema` 1), the arrays are counts, token names and
settings that are arrays. Prior and counts are kept, not probabilities, so a loaded model goes on learning as if there
had been no break. Counts that are whole numbers lie in the smallest unsigned type that holds them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any, BinaryIO, Literal

import numpy as np

from bayesnb import atomic, events
from bayesnb.model import Settings, State
from bayesnb.storage import packing, packing_cells, schema, tensorfile
from bayesnb.storage.tensorfile import naming


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds.

    Parameters
    ----------
    settings : Settings
        The estimator's arguments.
    state : State
        Totals, and the names of classes and tokens.
    tokens : str, optional
        How a text is cut into tokens, for a model of texts; None for a model of matrices.
    named_columns : bool
        Whether the tokens of a matrix model are names of columns; otherwise they are 0..V-1.
    meta : dict
        Anything of the user's that is JSON. It is no part of the fingerprint.
    """

    settings: Settings
    state: State
    tokens: str | None = None
    named_columns: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Literal["text", "matrix"]:
        """What the model reads: "text" or "matrix"."""
        return "matrix" if self.tokens is None else "text"

    @property
    def fingerprint(self) -> str:
        """Sha256 over settings, names and totals: what the model predicts, not when or by whom it was written.

        Learning documents and unlearning them gives the same fingerprint again.
        """
        known = self.__dict__.get("_fingerprint")
        return _fingerprint(*_pack(self)) if known is None else known


def save(model: Model, path: str | os.PathLike[str], *, date: str | None = None) -> str:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : Model
        What to write.
    path : str or path-like
        Where; a file that stands there is replaced in one step and passes on its mode bits.
    date : str, optional
        Date to write into the file, ISO 8601; by default the present, UTC. Apart from it and the versions of the
        libraries the same model gives the same bytes.

    Returns
    -------
    str
        The model's fingerprint.

    Raises
    ------
    ValueError
        Part of the model has no form in a file, or its settings do not fit its totals.
    OSError
        The file cannot be written; an old one is whole.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import storage
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> fingerprint = tc.save("mail.model")
    >>> model = storage.load("mail.model")
    >>> model.meta["trained by"] = "the mail team"
    >>> storage.save(model, "copy.model") == fingerprint  # meta is no part of it
    True
    >>> storage.inspect("copy.model")["meta"]
    {'trained by': 'the mail team'}
    """
    from safetensors.numpy import save as serialized

    with naming(f"model file {os.fspath(path)}: cannot save"):
        packed, arrays = _pack(model)
        fingerprint = _fingerprint(packed, arrays)
        document = {
            "schema": schema.VERSION,
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if date is None else date,
            "versions": _versions(),
            "meta": model.meta,
            "fingerprint": fingerprint,
            "summary": _summary(model),
            "model": packed,
        }
        schema.check(document)
        with naming("meta"):
            text = _canonical(document)
        data = serialized(arrays, {tensorfile.KEY: text})
        if int.from_bytes(data[:8], "little") > tensorfile.MAX_HEADER:
            raise ValueError(f"classes and meta take more than {tensorfile.MAX_HEADER} bytes of JSON")
    atomic.write(path, data)
    return fingerprint


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file, trusting nothing in it.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Model
        Predicts bit for bit what the saved one did.

    Raises
    ------
    ValueError
        The file is no model file, is damaged, inconsistent, or written by a newer version; file and field are named.
    OSError
        It cannot be opened.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import storage
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> fingerprint = tc.save("mail.model")
    >>> model = storage.load("mail.model")
    >>> model.kind, model.settings.event, model.state.classes.tolist()
    ('text', 'multinomial', ['ham', 'spam'])
    """
    with _opened(path) as (file, document, tensors):
        packed = document["model"]
        with naming("tensors"):
            arrays = tensorfile.read_arrays(file, tensors)
        with naming("settings"):
            settings = packing.unpack_settings(packed["settings"], arrays)
        named = packed["columns"] == "names"
        tokens = np.arange(packed["n_tokens"])
        if named and "cells" not in packed:
            tokens = packing.unpack_names(arrays, ordered=packed["kind"] == "text")
        kind = events.find(settings.event).Statistics
        totals: dict[str, Any] = {name: arrays[name] for name in kind.COUNTS + kind.MEASURES}
        if "cells" in packed:
            with naming("cells"):
                tokens, of_cells = packing_cells.unpack(packed["cells"], arrays)
            totals |= of_cells
        statistics = kind(**totals)
        classes = packing.unpack_labels(packed["classes"])
        state = State(statistics, classes, tokens, closed=packed["closed"], fixed=packed["fixed"])
        model = Model(settings, state, packed["tokens"], named, document["meta"])
        with naming("settings"):
            settings.posterior(state)  # its prior is formed, and must fit classes and tokens
        _check_sums(document["summary"], statistics)
        if _fingerprint(packed, arrays) != document["fingerprint"]:
            raise ValueError("fingerprint: it is not that of the content; the file was damaged or edited")
    model.__dict__["_fingerprint"] = document["fingerprint"]
    return model


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself: its header alone, in time and memory that do not depend on the arrays.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict
        Plain values: schema, date (UTC), versions, fingerprint, kind, tokens (how texts are cut), event, every
        setting as given, prior_described, classes, class_count and tokens_seen a class (None beyond 1000 classes),
        n_tokens, named_columns, closed, fixed, meta, bytes.

    Raises
    ------
    ValueError, OSError
        As `load`, for what the header can tell.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb import storage
    >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
    >>> fingerprint = tc.save("mail.model")
    >>> header = storage.inspect("mail.model")
    >>> header["prior_described"]
    'phi ~ Dirichlet(2), theta ~ Dirichlet(1)'
    >>> header["class_count"], header["tokens_seen"], header["n_tokens"]
    ([1, 1], [3, 3], 6)
    """
    with _opened(path) as (file, document, _):
        size = os.fstat(file.fileno()).st_size
    packed, summary = document["model"], document["summary"]
    return {
        **{name: document[name] for name in ("schema", "date", "versions", "fingerprint")},
        **{name: packed[name] for name in ("kind", "tokens")},
        **{name: packing.shown(value) for name, value in packed["settings"].items()},
        "prior_described": summary["prior"],
        "classes": packed["classes"]["values"],
        **{name: summary[name] for name in ("class_count", "tokens_seen")},
        "n_tokens": packed["n_tokens"],
        "named_columns": packed["columns"] == "names",
        **{name: packed[name] for name in ("closed", "fixed")},
        "meta": document["meta"],
        "bytes": size,
    }


# --- writing ------------------------------------------------------------------------------------------------


def _pack(model: Model) -> tuple[dict[str, Any], packing.Arrays]:
    """The model as JSON and arrays: all that the fingerprint covers."""
    state = model.state
    model.settings.posterior(state)
    arrays = packing.pack_statistics(state.statistics)
    named = model.named_columns or model.kind == "text"
    cells = {}
    with naming("tokens"):
        if model.settings.event == "categorical":
            cells["cells"], of_cells = packing_cells.pack(state)
            arrays |= of_cells
        elif named:
            packing.check_names(state.tokens.tolist(), ordered=model.kind == "text")
            arrays |= packing.pack_names(state.tokens)
        elif not np.array_equal(state.tokens, np.arange(state.statistics.n_tokens)):
            raise ValueError("columns without names must be numbered 0..V-1")
    with naming("classes"):
        classes = packing.pack_labels(state.classes)
    packed = {
        "kind": model.kind,
        "tokens": model.tokens,
        "columns": "names" if named else "range",
        "n_tokens": state.statistics.n_tokens,
        "classes": classes,
        "closed": state.closed,
        "fixed": state.fixed,
        "settings": packing.pack_settings(model.settings, arrays),
        **cells,
    }
    schema.expected(packed)
    return packed, arrays


def _fingerprint(packed: dict[str, Any], arrays: packing.Arrays) -> str:
    packed = packed | {"classes": packing.label_kind(packed["classes"])}
    layout = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    digest = hashlib.sha256(_canonical({"schema": schema.VERSION, "model": packed, "arrays": layout}).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _summary(model: Model) -> dict[str, Any]:
    """What `inspect` tells beside the settings, since it reads no arrays."""
    statistics = model.state.statistics
    listed = statistics.n_classes <= schema.LISTED
    return {
        "prior": model.settings.posterior(model.state).prior.describe(),
        "class_count": _numbers(statistics.class_count) if listed else None,
        "tokens_seen": _numbers(statistics.seen) if listed else None,
    }


def _versions() -> dict[str, str]:
    return {"bayesnb": metadata.version("bayesnb"), "numpy": np.__version__, "python": platform.python_version()}


def _numbers(values: np.ndarray) -> list[int | float]:
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


# --- reading ------------------------------------------------------------------------------------------------


@contextmanager
def _opened(
    path: str | os.PathLike[str],
) -> Iterator[tuple[BinaryIO, dict[str, Any], dict[str, tensorfile.Tensor]]]:
    """The file with its header checked; complaints of the block inside name the file too."""
    with tensorfile.opened(path) as file:
        header = tensorfile.read_header(file)
        document = header.document
        needed = schema.check(document)
        tensors = header.tensors()
        schema.check_tensors(tensors, needed)
        yield file, document, tensors


def _check_sums(summary: dict[str, Any], statistics: Any) -> None:
    """The totals that `inspect` shows must be those of the arrays, up to the order of summation."""
    sums = {"class_count": statistics.class_count, "tokens_seen": statistics.seen}
    for name, totals in sums.items():
        with naming(f"summary: {name}"):
            stated = summary[name]
            if stated is not None and not np.allclose(np.array(stated, np.float64), totals, rtol=1e-9, atol=0.0):
                raise ValueError("it differs from the counts")
