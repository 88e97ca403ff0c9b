"""Model files after a bad disk or a bad person had them: one line that names the file, or an answer.

`test_hostile_files` says which field is named for which fault; here faults come by the hundred (`-m long`: by the
thousand), through every way in.
"""

import contextlib
import io
import json
import random
import re
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import bayesnb
from bayesnb import storage
from bayesnb.cli import main
from bayesnb.scorer import Scorer
from bayesnb.storage import tensorfile
from tests.hostile_mutations import estimators, mutated
from tests.model_examples import Parts, edited

WAYS_IN = {"load": storage.load, "bayesnb.load": bayesnb.load, "Scorer": Scorer.load, "inspect": storage.inspect}
MADE = estimators()
MANY = [100, pytest.param(4000, marks=pytest.mark.long)]
LARGE = 30_000_000  # bytes that no read of a file of some kB may take; a length it claims would take far more


@pytest.fixture(scope="module", params=MADE)
def kind(request, tmp_path_factory):
    """A file of one kind of model, and documents for it."""
    path = tmp_path_factory.mktemp("whole") / "m"
    estimator, documents = MADE[request.param]
    estimator.save(path)
    return path, documents


def opened(path) -> dict[str, object]:
    """What each way in gives; a refusal, as its ValueError, names the file in one line of bounded length."""
    given = {}
    for name, way in WAYS_IN.items():
        tracemalloc.reset_peak()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numbers near 1e308 overflow on their way to a refusal
                given[name] = way(path)
        except ValueError as error:
            given[name] = error
            assert str(error).startswith(f"model file {path}: "), (name, str(error))
            assert "\n" not in str(error) and len(str(error)) < 2000
        assert tracemalloc.get_traced_memory()[1] < LARGE  # 0 where nothing is traced
    return given


def answers(found, documents) -> None:
    """What was opened scores: probabilities, or a ValueError."""
    if isinstance(found, (ValueError, dict, storage.Model)):
        return
    with contextlib.suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(found.predict_proba(documents).sum(axis=1), 1, rtol=1e-9)


@pytest.fixture
def traced():
    """Memory that Python and NumPy take is counted, which takes time."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("forged", [False, True])
def test_a_file_with_any_part_replaced_is_refused_or_answers(kind, n, forged, tmp_path, monkeypatch, traced):
    """Fields of any type and value, wrong entries of the table, impossible numbers; also with a fitting fingerprint."""
    path, documents = kind
    rng, place = random.Random(0), tmp_path / "m"  # noqa: S311  (no secret)
    for _ in range(n // 2):
        done = mutated(path, place, rng)
        if forged:
            claimed = re.search(rb'fingerprint\\": \\"(.*?)\\"', place.read_bytes())
            monkeypatch.setattr(storage, "_fingerprint", lambda *_, own=claimed: own and own[1].decode())
        try:
            for found in opened(place).values():
                answers(found, documents)
        except Exception as error:
            error.add_note(done)
            raise


@pytest.mark.parametrize("n", MANY)
def test_flipped_bytes_are_refused_or_change_nothing(kind, n, tmp_path, traced):
    """One to four bytes anywhere: what still loads is the same model, to the fingerprint."""
    path, _ = kind
    whole, rng, place = path.read_bytes(), random.Random(1), tmp_path / "m"  # noqa: S311
    fingerprint = storage.inspect(path)["fingerprint"]
    for _ in range(n):
        damaged = bytearray(whole)
        for at in rng.sample(range(len(whole)), rng.choice([1, 1, 2, 4])):
            damaged[at] ^= rng.randrange(1, 256)
        place.write_bytes(damaged)
        found = opened(place)
        del found["inspect"]  # which reads no arrays
        assert all(isinstance(one, ValueError) for one in found.values()) or found["load"].fingerprint == fingerprint


@pytest.mark.parametrize("n", [25, pytest.param(10**9, marks=pytest.mark.long)])
def test_a_file_cut_anywhere_is_refused_by_every_way_in(kind, n, tmp_path):
    """25 lengths of each of nine files, or every length there is."""
    path, _ = kind
    whole, place = path.read_bytes(), tmp_path / "m"
    for length in np.unique(np.linspace(0, len(whole) - 1, min(n, len(whole))).astype(int)).tolist():
        place.write_bytes(whole[:length])
        assert all(isinstance(found, ValueError) for found in opened(place).values())


def test_the_command_line_says_it_in_one_line(kind, tmp_path, capsys):
    """Exit status 2 and one line; what `inspect` shows of a file that says odd things of itself is strict JSON."""
    path, _ = kind
    rng, place, seen = random.Random(2), tmp_path / "m", set()  # noqa: S311
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    for _ in range(5):
        done = mutated(path, place, rng)
        for arguments in (["inspect", "--json"], ["inspect"], ["score", str(tmp_path / "table.csv"), "--json"]):
            command, *rest = arguments
            status = main([command, str(place), *rest])
            out, err = capsys.readouterr()
            seen.add(status)
            assert status in (0, 2), (done, err)
            assert status == 0 or (len(err.strip().splitlines()) == 1 and not out), (done, err)
            assert "\x1b" not in out + err
            if status == 0 and "--json" in rest:
                json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert 2 in seen


def test_what_a_complaint_quotes_is_cut(kind, tmp_path):
    """A megabyte in one field does not become a megabyte on the terminal."""
    path, _ = kind
    for change in (
        lambda f: f.document.update(schema=["x" * 2**20]),
        lambda f: f.table.update({"x" * 2**20: {}}),
        lambda f: f.document["model"]["classes"]["values"].append("z" * 2**20),
    ):
        parts = Parts.of(path)
        change(parts)
        parts.write(tmp_path / "m")
        assert isinstance(opened(tmp_path / "m")["load"], ValueError)


LIMITED = """
import resource, sys
from bayesnb import storage
from bayesnb.scorer import Scorer
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 2**20,) * 2)
for path in sys.argv[1:]:
    for way in (storage.load, Scorer.load, storage.inspect):
        try:
            found = way(path)  # a header alone may tell of any length
            assert way is storage.inspect, (path, found)
        except ValueError as error:
            assert str(error).startswith(f"model file {path}: "), error
            assert len(str(error)) < 2000
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_a_file_that_asks_for_much_memory_is_refused_where_there_is_little(tmp_path):
    """With 200 MB to spare: lengths of 2 GB and 2^63, shapes of 2^62, headers of 16 MiB of the costliest JSON."""
    MADE["multinomial"][0].save(tmp_path / "m")
    paths = []

    def file(name, text, length=None):
        paths.append(tmp_path / name)
        raw = text.encode()
        paths[-1].write_bytes((len(raw) if length is None else length).to_bytes(8, "little") + raw)

    file("2 GB", "{}", 2**31)
    file("2^63", "{}", 2**63)
    room = tensorfile.MAX_HEADER - 100
    file("lists", '{"x": [' + "[[[]]]," * (room // 7) + "1]}")
    file("dicts", '{"x": [' + "{}," * (room // 3) + "1]}")
    file("inside", '{"__metadata__": {"bayesnb": "{\\"schema\\": [' + "[]," * (room // 3 - 99) + '1]}"}}')
    huge = {"dtype": "F64", "shape": [2**62, 0], "data_offsets": [0, 0]}
    for name, change in {
        "tokens": lambda f: f.document["model"].update(n_tokens=2**62),
        "shape": lambda f: f.table.update(feature_count=huge),
        "prior": lambda f: (
            f.document["model"]["settings"].update(prior={"array": [2**62, 0]}),
            f.table.update(prior=huge),
        ),
    }.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes((tmp_path / "m").read_bytes())
        edited(paths[-1], change)
    command = [sys.executable, "-W", "error", "-c", LIMITED, *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


CUT_MEANWHILE = """
import os, sys
import numpy as np
import bayesnb
from bayesnb import storage
from bayesnb.storage import packing, schema

path, moment = sys.argv[1:]
clf = bayesnb.GaussianNB().fit(np.random.default_rng(0).normal(size=(8, 20_000)), np.arange(8) % 2)
clf.save(path)
room, step = {"before": (schema, "check_tensors"), "after": (packing, "unpack_settings")}[moment]
real = getattr(room, step)

def cut(*arguments):
    os.truncate(path, 4096)
    return real(*arguments)

setattr(room, step, cut)
try:
    print(np.array_equal(storage.load(path).state.statistics.mean, clf._state.statistics.mean))
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_file_written_over_in_place_while_it_is_read_ends_no_process(moment, tmp_path):
    """As `cp` does it: cut before its arrays are read it is refused, after that it is the model it was."""
    command = [sys.executable, "-c", CUT_MEANWHILE, str(tmp_path / "m"), moment]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, (ran.returncode, ran.stderr)  # -7, SIGBUS, where the file is mapped
    assert ran.stdout.strip() == "True" if moment == "after" else "the file was cut while it was read" in ran.stdout


def test_a_disk_that_fails_while_a_file_is_read_is_an_oserror(tmp_path, monkeypatch):
    """And no model of what had been read."""
    MADE["fractions"][0].save(tmp_path / "m")

    class Failing(io.BufferedReader):
        def readinto(self, into):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("builtins.open", lambda path, mode="r", **_: Failing(io.FileIO(path)))
    with pytest.raises(OSError, match="Input/output error"):
        storage.load(tmp_path / "m")


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_runs_longer_than_any_text_take_no_time(event, tmp_path):
    """A file may ask for runs of up to 2^64 tokens: as many as there are."""
    texts, labels = ["win cash win", "tea now"], ["a", "b"]
    ways = [bayesnb.TextClassifier(event=event, ngram_range=(1, n)).fit(texts, labels) for n in (3, 2**64)]
    few, many = (clf.predict_proba(["win cash", "tea now win", ""]) for clf in ways)
    assert np.array_equal(few, many)
    ways[1].save(tmp_path / "m")
    assert np.allclose(Scorer.load(tmp_path / "m").score("tea now win"), few[1], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="no token"):
        bayesnb.TextClassifier(event=event, ngram_range=(2**63, 2**64)).fit(texts, labels)
