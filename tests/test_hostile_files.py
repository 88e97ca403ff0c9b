"""Damaged and hostile model files: always a ValueError that names file and field, never another error or an answer."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayesnb import storage
from bayesnb.storage import tensorfile
from tests.hostile_edits import ARRAY_EDITS, JSON_EDITS, TABLE_EDITS, array, document, entry
from tests.model_examples import Parts, edited, matrix_model, text_model


@pytest.fixture
def path(tmp_path):
    """A file with every kind of array: names, a prior an entry, a class prior by label."""
    file = tmp_path / "model.safetensors"
    storage.save(text_model(prior=np.full((2, 5), 2.0), class_prior={"ham": 0.75, "spam": 0.25}), file)
    return file


def refused(path, field: str) -> None:
    """Loading is a ValueError in one line with the file's name and the field."""
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: .*{field}") as caught:
        storage.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("edit", "field"), (JSON_EDITS | TABLE_EDITS).values(), ids=JSON_EDITS | TABLE_EDITS)
def test_a_wrong_header_is_named(edit, field, path):
    """Each field of the header, made wrong, is refused by name."""
    edited(path, edit)
    refused(path, field)


@pytest.mark.parametrize(("name", "values", "field"), ARRAY_EDITS.values(), ids=ARRAY_EDITS)
def test_wrong_values_are_named(name, values, field, tmp_path):
    """Values that no model could have are refused by name; others that change the model, by its fingerprint."""
    made = text_model(prior=np.full((2, 5), 2.0))
    totals = made.state.statistics
    halves = type(totals)(totals.class_count + 0.5, totals.feature_count + 0.5)  # fractions are stored as F64
    storage.save(replace(made, state=replace(made.state, statistics=halves)), tmp_path / "m")
    edited(tmp_path / "m", array(name, values))
    refused(tmp_path / "m", field)


def test_more_documents_with_a_token_than_documents_are_refused(tmp_path):
    """Bernoulli: n_kj <= N_k."""
    storage.save(matrix_model(event="bernoulli"), tmp_path / "m")
    edited(tmp_path / "m", array("feature_count", [[1, 3, 1], [1, 1, 1]]))
    refused(tmp_path / "m", "token 1 would be in 3 documents")


def test_a_right_fingerprint_does_not_open_a_wrong_file(path, monkeypatch):
    """The checks do not lean on the fingerprint, which anyone can compute."""
    monkeypatch.setattr(storage, "_fingerprint", lambda *_: "0" * 64)
    edited(path, document("fingerprint", "0" * 64))
    storage.load(path)
    edited(path, array("vocabulary", [*b"cashcashnowteawin"]))
    refused(path, "vocabulary")


@pytest.mark.parametrize("outer", [True, False])
def test_a_key_that_stands_there_twice_is_refused(outer, path):
    """Two readers could read two models out of one file."""
    parts = Parts.of(path)
    if outer:
        header = parts.header()[:-1] + ', "prior": ' + str(parts.table["prior"]).replace("'", '"') + "}"
    else:
        header = parts.header().replace(r"\"schema\": 1", r"\"schema\": 1, \"schema\": 1")
    parts.write(path, header)
    refused(path, "'prior' stands there twice" if outer else "'schema' stands there twice")


HEADERS = {
    "no JSON": ("{", "header"),
    "a list": ("[]", "header"),
    "a constant": ('{"x": NaN}', "header: NaN"),
    "deep": ("[" * 100_000, "header"),
    "no metadata": ("{}", "__metadata__"),
    "other metadata": ('{"__metadata__": {"format": "pt"}}', "__metadata__"),
    "metadata no text": ('{"__metadata__": {"bayesnb": {}}}', "__metadata__"),
    "metadata twice": ('{"__metadata__": {"bayesnb": "{}", "more": "x"}}', "__metadata__"),
    "metadata no JSON": ('{"__metadata__": {"bayesnb": "schema 1"}}', "bayesnb"),
    "long number": ('{"x": ' + "9" * 5000 + "}", "header"),
}


@pytest.mark.parametrize(("header", "field"), HEADERS.values(), ids=HEADERS)
def test_a_header_that_is_none_is_refused(header, field, path):
    """JSON that is broken, nested a hundred thousand deep, or another library's."""
    Parts.of(path).write(path, header)
    refused(path, field)


@pytest.mark.parametrize("claimed", [2**31, 2**63, 2**64 - 1, tensorfile.MAX_HEADER + 1, 10**6])
def test_a_header_longer_than_the_file_is_refused_before_it_is_read(claimed, path):
    """A length of 2 GB allocates nothing."""
    path.write_bytes(claimed.to_bytes(8, "little") + path.read_bytes()[8:])
    refused(path, "header length")


def test_a_header_longer_than_allowed_is_refused_though_the_file_is_as_long(tmp_path):
    """The cap holds also where the file could fill it (a sparse file: no disk is used)."""
    path = tmp_path / "m"
    with open(path, "wb") as file:
        file.write((2**31).to_bytes(8, "little"))
        file.truncate(2**31 + 8)
    refused(path, "header length")


def test_bytes_that_are_no_utf8_are_refused(path):
    """In the header."""
    raw = bytearray(path.read_bytes())
    raw[20] = 0xFF
    path.write_bytes(raw)
    refused(path, "utf-8")


def test_a_file_cut_anywhere_is_refused(path):
    """About a hundred lengths, from nothing to one byte less."""
    whole = path.read_bytes()
    for length in [*range(10), *np.linspace(10, len(whole) - 1, 90).astype(int).tolist()]:
        path.write_bytes(whole[:length])
        refused(path, "header length|size|data_offsets")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255))
def test_one_changed_byte_is_refused_or_says_the_same_model(path, at, byte):
    """Any byte: a ValueError, or the same model (date, versions and the description of the prior are no part of it)."""
    original = path.with_name("original")
    if not original.exists():
        original.write_bytes(path.read_bytes())
    whole = original.read_bytes()
    at = int(at * len(whole))
    path.write_bytes(whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1 :])
    try:
        loaded = storage.load(path)
    except ValueError:
        return
    fingerprint = storage.inspect(original)["fingerprint"]
    assert loaded.fingerprint == fingerprint == replace(loaded).fingerprint  # as stored, and computed anew


def test_inspect_refuses_what_its_header_can_tell(path):
    """The same checks, without arrays."""
    edited(path, entry("prior", dtype="I64"))
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}.*prior"):
        storage.inspect(path)


def test_what_is_no_file_is_said(tmp_path):
    """A missing file is FileNotFoundError; a folder, which cannot be a model, a ValueError."""
    with pytest.raises(FileNotFoundError, match="nothing"):
        storage.load(tmp_path / "nothing")
    refused(tmp_path, "not a regular file")


def test_nothing_that_runs_is_read(path):
    """A pickle in place of a model is refused as any other bytes are."""
    path.write_bytes(b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.")
    refused(path, "header length")
