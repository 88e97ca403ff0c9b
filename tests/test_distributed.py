"""Totals from a cluster: the model of a single pass, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, default_client
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bayesnb
from bayesnb import distributed

ROOT = Path(__file__).resolve().parent.parent
WORDS = ["tea", "milk", "rum", "gin", "cash", "now", "win", "Straße", "ÅSA", "coffee"]
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 9))) for _ in range(60)]
LABELS = RNG.choice(["ham", "spam"], 60).tolist()
TEXTS[41], LABELS[41] = "only here: aquavit", "toast"  # a class and a token of one document
X = RNG.poisson(0.7, (60, 12))
Y = RNG.choice(["ham", "spam", "toast"], 60)
ESTIMATORS = [bayesnb.MultinomialNB, bayesnb.BernoulliNB, bayesnb.CategoricalNB, bayesnb.GaussianNB]


@pytest.fixture(scope="module")
def client():
    """A real cluster: two processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def local():
    """No cluster: tasks run here, one after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield


def print_of(clf):
    """Everything that a model file holds, to the bit."""
    return clf._model().fingerprint


def text_pairs():
    return list(zip(TEXTS, LABELS, strict=True))


def bag_of(parts):
    return dask.bag.Bag({("parts", i): part for i, part in enumerate(parts)}, "parts", len(parts))


@pytest.fixture(scope="module")
def single():
    return bayesnb.TextClassifier().fit(TEXTS, LABELS)


# --- one pass and a cluster give one model ------------------------------------------------------------------


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_bag_on_two_processes_is_the_single_pass_bit_for_bit(client, event, tmp_path):
    """Uneven partitions, three of them empty, one class in one of them only: the same file but for its date."""
    pairs = text_pairs()
    parts = [[], pairs[:1], pairs[1:20], [], *([pair] for pair in pairs[20:50]), pairs[50:], []]
    clf = bayesnb.TextClassifier(event=event, alpha=0.5)
    assert distributed.fit(clf, bag_of(parts)) is clf
    whole = bayesnb.TextClassifier(event=event, alpha=0.5).fit(TEXTS, LABELS)
    assert print_of(clf) == print_of(whole)
    assert clf.predict_log_proba(TEXTS).tobytes() == whole.predict_log_proba(TEXTS).tobytes()
    clf.save(tmp_path / "m")
    assert print_of(bayesnb.load(tmp_path / "m").partial_fit(["tea"], ["ham"])) == print_of(
        whole.partial_fit(["tea"], ["ham"])
    )


def test_a_cluster_is_left_as_it_was_found(client, single):
    """Same client, same workers, nothing in their memory, same configuration; after a failure too."""
    kept = client.submit(lambda: 7)
    kept.result()
    before = (default_client(), set(client.scheduler_info()["workers"]), repr(dask.config.config))
    distributed.score(single, distributed_bag := dask.bag.from_sequence(TEXTS, npartitions=4), level=0.9).compute()
    distributed.fit(bayesnb.TextClassifier(), dask.bag.from_sequence(text_pairs(), npartitions=6))
    with pytest.raises(ValueError, match="not a pair"):
        distributed.fit(bayesnb.TextClassifier(), distributed_bag)
    assert (default_client(), set(client.scheduler_info()["workers"]), repr(dask.config.config)) == before
    deadline = time.monotonic() + 10  # workers hear of what is released a moment later
    while set(client.who_has()) != {kept.key} and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(client.who_has()) == {kept.key} == set(client.futures)


def test_a_frame_of_texts_may_have_other_columns_and_pyarrow_strings(client, single):
    frame = pd.DataFrame({"id": range(60), "body": TEXTS, "kind": LABELS})
    clf = distributed.fit(bayesnb.TextClassifier(), dd.from_pandas(frame, npartitions=7), text="body", label="kind")
    assert print_of(clf) == print_of(single)


PRUNED = [{"min_df": 8}, {"min_df": 0.2}, {"max_features": 4}, {"min_df": 3, "max_features": 5, "binary": True}]
RUNS = [{"ngram_range": (1, 2)}, {"stop_words": ["tea", "rum"], "event": "bernoulli", "max_features": 6}]


@pytest.mark.parametrize("given", [*PRUNED, *RUNS], ids=str)
def test_tokens_are_chosen_after_the_last_sum(local, given):
    """No partition knows what is rare or frequent in all: the vocabulary is that of the single pass, and closed."""
    parts = [text_pairs()[i : i + 7] for i in range(0, 60, 7)]
    clf = distributed.fit(bayesnb.TextClassifier(**given), bag_of(parts))
    whole = bayesnb.TextClassifier(**given).fit(TEXTS, LABELS)
    assert print_of(clf) == print_of(whole)
    assert print_of(clf.partial_fit(["new tea"], ["ham"])) == print_of(whole.partial_fit(["new tea"], ["ham"]))


def test_files_are_read_by_the_workers_and_rows_left_out_are_counted(client, single, tmp_path):
    """Parquet and CSV in one list; as for `read_corpus`, rows without a text or label do not count."""
    frame = pd.DataFrame({"text": TEXTS, "label": LABELS}).replace("", None)
    frame[:30].to_parquet(tmp_path / "a.parquet")
    frame[30:].to_csv(tmp_path / "b.csv", index=False)
    (tmp_path / "c.csv").write_text("label,text\n,tea\nham,\n,rum\n")
    (tmp_path / "d.csv").write_text("label,text\nham,tea\n")
    empty = sum(text == "" for text in TEXTS)
    files = [tmp_path / "a.parquet", tmp_path / "b.csv", tmp_path / "d.csv"]
    clf = distributed.fit(bayesnb.TextClassifier(), files)
    assert clf.skipped_ == {"rows without a text": empty}
    filled = [(text, label) for text, label in [*text_pairs(), ("tea", "ham")] if text]
    assert print_of(clf) == print_of(bayesnb.TextClassifier().fit(*zip(*filled, strict=True)))
    with pytest.raises(ValueError, match=r"c\.csv: no row has both a label and a text"):
        distributed.fit(clf, [tmp_path / "d.csv", tmp_path / "c.csv"])
    with pytest.raises(FileNotFoundError, match=r"e\.csv does not exist"):
        distributed.fit(clf, tmp_path / "e.csv")


def test_blocks_of_csr_on_two_processes_are_the_single_pass(client):
    blocks = [delayed(sparse.csr_array)(X[rows]) for rows in np.array_split(np.arange(60), 9)]
    labels = np.array_split(Y, 9)
    whole = print_of(bayesnb.MultinomialNB().fit(X, Y))
    pairs = [delayed(tuple)([block, part]) for block, part in zip(blocks, labels, strict=True)]
    assert print_of(distributed.fit(bayesnb.MultinomialNB(), pairs)) == whole
    array = da.from_array(X, chunks=(13, 5)).rechunk({1: -1}).map_blocks(sparse.csr_matrix)
    assert print_of(distributed.fit(bayesnb.MultinomialNB(), array, Y)) == whole


@given(cuts=st.lists(st.integers(0, 60), max_size=20), event=st.sampled_from(["multinomial", "bernoulli"]))
@settings(deadline=None, max_examples=15)
def test_however_texts_are_cut_the_model_is_the_same(cuts, event):
    ends = [0, *sorted(cuts), 60]
    parts = [text_pairs()[a:b] for a, b in pairwise(ends)]
    with dask.config.set(scheduler="synchronous"):
        clf = distributed.fit(bayesnb.TextClassifier(event=event), bag_of(parts))
    assert print_of(clf) == print_of(bayesnb.TextClassifier(event=event).fit(TEXTS, LABELS))


@pytest.mark.parametrize("n", [1, 2, 8, 9, 10, 57])
def test_the_tree_loses_no_branch_whatever_their_number(local, single, n):
    parts = [[text_pairs()[i] for i in rows] for rows in np.array_split(np.arange(60), n)]
    assert print_of(distributed.fit(bayesnb.TextClassifier(), bag_of(parts))) == print_of(single)


@pytest.mark.parametrize("rows", [(13, 13, 13, 13, 8), (60,), (0, 30, 0, 30, 0)])
def test_an_array_with_labels_here_or_there_in_any_chunks_is_the_single_pass(local, rows):
    array, whole = da.from_array(X, chunks=(rows, 5)), print_of(bayesnb.MultinomialNB().fit(X, Y))
    for labels in (Y, Y.tolist(), pd.Series(Y), da.from_array(Y, chunks=7), dd.from_array(Y, chunksize=60)):
        if isinstance(labels, dd.Series) and len(rows) > 1:
            continue  # a series has no chunks that could be made to fit
        assert print_of(distributed.fit(bayesnb.MultinomialNB(), array, labels)) == whole


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_frame_of_columns_is_the_single_pass(local, make):
    """Bit for bit for counts; measurements up to the rounding of merged means."""
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    data = dd.from_pandas(frame.assign(label=Y), npartitions=7)
    clf, whole = distributed.fit(make(), data), make().fit(frame, Y)
    assert clf.feature_names_in_.tolist() == list(frame) and clf.n_features_in_ == 12
    if make is not bayesnb.GaussianNB:
        assert print_of(clf) == print_of(whole)
    np.testing.assert_allclose(clf.predict_log_proba(frame), whole.predict_log_proba(frame), rtol=1e-11, atol=1e-12)


def test_categories_that_one_partition_has_are_united(local):
    frame = pd.DataFrame({"a": ["x", "y", "x", "z"], "b": [0, 3, 1, 0], "label": ["s", "s", "t", "t"]})
    clf = distributed.fit(bayesnb.CategoricalNB(), dd.from_pandas(frame, npartitions=4))
    assert print_of(clf) == print_of(bayesnb.CategoricalNB().fit(frame[["a", "b"]], frame.label))


def test_one_delayed_is_one_partition(local, single):
    assert print_of(distributed.fit(bayesnb.TextClassifier(), delayed((TEXTS, LABELS)))) == print_of(single)
    assert distributed.score(single, delayed(TEXTS)).compute().label.tolist() == single.predict(TEXTS).tolist()


def test_what_was_fitted_before_is_forgotten(local):
    clf = bayesnb.MultinomialNB().fit(pd.DataFrame({"a": [9], "b": [1]}), ["old"])
    distributed.fit(clf, da.from_array(X, chunks=20), Y)
    assert print_of(clf) == print_of(bayesnb.MultinomialNB().fit(X, Y)) and not hasattr(clf, "feature_names_in_")


# --- what is refused ----------------------------------------------------------------------------------------

GOOD = [("tea", "a"), ("rum", "b")]
BAD_PARTS = {
    "a text": ([GOOD, [*GOOD, (None, "a")]], "partition 1: text at row 2 is None, not a string"),
    "a surrogate": ([GOOD, [], [("\ud800", "a")]], "partition 2: row 0: the text holds a lone surrogate"),
    "a label": ([GOOD, [*GOOD, ("gin", None)]], "partition 1: missing label at row 2: it is None"),
    "a pair": ([GOOD, ["tea", "rum"]], "partition 1: the element at row 0 is 'tea', not a pair"),
    "types in one": ([GOOD, [("gin", 1), ("gin", "a")]], "partition 1: labels of several types: row 0 is number"),
    "types of two": ([GOOD, GOOD, [("gin", 1)]], "labels of several types: partition 0 has str, partition 2 number"),
    "far types": ([GOOD] * 12 + [[("gin", 1)]] * 8, "partition 8 has str, partition 12 number"),
    "no document": ([[], []], "every partition is empty"),
    "no token": ([[("a", "x")], [("b", "x")]], "empty vocabulary: 2 documents hold no token by tokens='words'"),
}


@pytest.mark.parametrize(("parts", "message"), BAD_PARTS.values(), ids=BAD_PARTS)
def test_a_bad_row_is_named_with_its_partition_and_changes_nothing(local, parts, message):
    clf = bayesnb.TextClassifier().fit(["tea"], ["old"])
    before = dict(vars(clf))
    with pytest.raises(ValueError, match=message) as caught:
        distributed.fit(clf, bag_of(parts))
    assert "\n" not in str(caught.value)
    assert vars(clf) == before


def test_an_error_of_a_worker_names_the_partition(client):
    pairs = text_pairs()
    with pytest.raises(ValueError, match="partition 2: text at row 1 is 7, not a string"):
        distributed.fit(bayesnb.TextClassifier(), bag_of([pairs, [], [("tea", "a"), (7, "a")], pairs]))


def test_bad_matrices_name_partition_row_and_column(local):
    bad = X.copy()
    bad[33, 4] = -1
    with pytest.raises(ValueError, match=r"partition 3: Negative values .* -1 at row 3, column 4"):
        distributed.fit(bayesnb.MultinomialNB(), da.from_array(bad, chunks=10), Y)
    pairs = [delayed((X[:30], Y[:30])), delayed((X[30:, :5], Y[30:]))]
    with pytest.raises(ValueError, match="partition 0 to partition 1: the columns of the two models differ"):
        distributed.fit(bayesnb.MultinomialNB(), pairs)
    with pytest.raises(ValueError, match=r"partition 1: .*inconsistent numbers of samples"):
        distributed.fit(bayesnb.MultinomialNB(), [delayed((X, Y)), delayed((X, Y[:9]))])
    with pytest.raises(ValueError, match=r"partition 0: it is list, not a pair \(X, y\)"):
        distributed.fit(bayesnb.MultinomialNB(), [delayed([1, 2, 3])])
    kinds = [(pd.DataFrame({"a": values}), ["s", "t"]) for values in (["x", "y"], [0, 1])]
    with pytest.raises(ValueError, match="partition 0 and partition 1: column 'a' holds strings in one model"):
        distributed.fit(bayesnb.CategoricalNB(), [delayed(pair) for pair in kinds])


def test_data_that_cannot_be_cut_are_refused_here(local):
    bag, frame = bag_of([GOOD]), dd.from_pandas(pd.DataFrame({"a": [1], "label": ["s"]}), npartitions=1)
    unknown = da.from_array(X, chunks=20)[da.from_array(X[:, 0], chunks=20) > 0]
    for clf, data, y, message in (
        (bayesnb.TextClassifier(), GOOD, None, "data is list, which has no partitions"),
        (bayesnb.TextClassifier(), pd.DataFrame({"text": ["a"]}), None, "data is DataFrame, which has no partitions"),
        (bayesnb.TextClassifier(), [], None, "there is no partition and no file"),
        (bayesnb.TextClassifier(), bag, ["a"], "y goes with a Dask Array"),
        (bayesnb.TextClassifier(), frame, None, "no column 'text'; its columns: 'a', 'label'"),
        (bayesnb.TextClassifier(alpha=-1), bag, None, "alpha"),
        (bayesnb.MultinomialNB(), bag, None, "hold texts, for a TextClassifier"),
        (bayesnb.MultinomialNB(), "a.csv", None, "hold texts, for a TextClassifier"),
        (bayesnb.MultinomialNB(), frame[["a"]], None, "no column 'label'"),
        (bayesnb.MultinomialNB(), da.from_array(X, chunks=20), Y[:9], r"inconsistent numbers of samples: \[60, 9\]"),
        (bayesnb.MultinomialNB(), da.from_array(X, chunks=20), da.from_array(Y[:9]), r"samples: \[60, 9\]"),
        (bayesnb.MultinomialNB(), da.from_array(X, chunks=20), None, "a Dask Array has no labels in it: pass y"),
        (bayesnb.MultinomialNB(), unknown, Y, "unknown size"),
        (bayesnb.MultinomialNB(), unknown, da.from_array(Y, chunks=60), "X has 3 blocks of rows and y 1"),
    ):
        with pytest.raises(ValueError, match=message):
            distributed.fit(clf, data, y)


# --- scoring ------------------------------------------------------------------------------------------------


def assert_scored(table, clf, partitions, level=0.9):
    """Bit for bit what the estimator says of each partition (an interval may differ a little with its neighbours)."""
    assert list(table) == ["label", "probability", "lower", "upper"]
    found = table.to_numpy(dtype=object).tolist()
    for documents in partitions:
        p, interval = clf.predict_proba(documents), clf.predict_interval(documents, level)
        for row, (k, ends) in enumerate(zip(p.argmax(axis=1), interval, strict=True)):
            assert found.pop(0) == [clf.classes_.tolist()[k], p[row, k], *ends[k]]
    assert found == []


@pytest.mark.parametrize("given_as", ["estimator", "path"])
def test_scores_of_a_cluster_are_the_estimators_own(client, single, given_as, tmp_path):
    """A bag with an empty partition; the model sent, or read by the workers from its file."""
    single.save(tmp_path / "m")
    model = single if given_as == "estimator" else tmp_path / "m"
    table = distributed.score(model, bag_of([TEXTS[:7], [], TEXTS[7:]]), level=0.9)
    assert table.npartitions == 3
    assert_scored(table.compute(), single, [TEXTS[:7], TEXTS[7:]])


def test_a_frame_keeps_its_index_and_divisions(local, single):
    frame = pd.DataFrame({"text": TEXTS, "other": 1}, index=range(100, 160))
    table = distributed.score(single, dd.from_pandas(frame, npartitions=5))
    assert table.divisions[0] == 100 and table.divisions[-1] == 159
    done = table.compute()
    assert done.index.tolist() == frame.index.tolist() and list(done) == ["label", "probability"]
    assert done.label.tolist() == single.predict(TEXTS).tolist()
    assert done.dtypes.to_dict() == table.dtypes.to_dict()
    series = dd.from_pandas(frame.other.astype(str), npartitions=5).rename("anything")
    assert distributed.score(single, series).compute().label.tolist() == single.predict(["1"] * 60).tolist()


def test_rows_of_files_are_named_by_file_and_row(local, single, tmp_path):
    (tmp_path / "a.csv").write_text("text\ntea\n\nrum now\n")
    (tmp_path / "b.csv").write_text("text\ngin\n")
    table = distributed.score(single, [tmp_path / "a.csv", tmp_path / "b.csv"], level=0.9).compute()
    assert [name.rsplit(os.sep, 1)[1] for name in table.index] == ["a.csv:1", "a.csv:2", "b.csv:1"]
    assert_scored(table, single, [["tea", "rum now"], ["gin"]])


@pytest.mark.parametrize("labels", [Y, np.arange(60) % 3, np.arange(60) % 2 == 0], ids=["str", "int", "bool"])
def test_matrices_are_scored_whatever_the_labels_are(local, labels):
    clf = bayesnb.MultinomialNB().fit(X, labels)
    table = distributed.score(clf, da.from_array(X, chunks=((25, 0, 35), 5)), level=0.9)
    assert_scored(table.compute(), clf, [X[:25], X[25:]])
    assert table.compute().dtypes.to_dict() == table.dtypes.to_dict()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    named = bayesnb.GaussianNB(prior="weak").fit(frame, labels)
    with_more = dd.from_pandas(frame[frame.columns[::-1]].assign(label=labels, more=1), npartitions=4)
    assert_scored(
        distributed.score(named, with_more, level=0.9).compute(), named, [frame[i : i + 15] for i in range(0, 60, 15)]
    )


def test_scoring_refuses_what_is_wrong_and_names_the_partition(local, single):
    bag = bag_of([TEXTS[:3], ["tea", None]])
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        distributed.score(single, bag, level=95)
    with pytest.raises(ValueError, match="not fitted"):
        distributed.score(bayesnb.TextClassifier(), bag)
    with pytest.raises(ValueError, match="no column 'text'"):
        distributed.score(single, dd.from_pandas(pd.DataFrame({"body": TEXTS}), npartitions=2))
    with pytest.raises(ValueError, match="partition 1: text at row 1 is None"):
        distributed.score(single, bag).compute()


# --- Dask itself --------------------------------------------------------------------------------------------


def test_without_dask_the_extra_is_named():
    code = "import sys; sys.modules['dask'] = None\nimport bayesnb.distributed"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 1
    assert "ImportError: bayesnb.distributed needs Dask" in ran.stderr and "'bayesnb[dask]'" in ran.stderr


def test_only_this_room_imports_dask():
    files = [
        path
        for path in (ROOT / "bayesnb").rglob("*.py")
        if "import dask" in (text := path.read_text()) or "from dask" in text
    ]
    assert [path.name for path in files] == ["distributed.py"]


# --- a death, last, for a new worker takes seconds to start -------------------------------------------------


def test_a_worker_killed_half_way_changes_nothing(client, single, tmp_path):
    """SIGKILL reaches a worker inside a task; that task and what the worker held are done again elsewhere."""
    chunks, late = np.array_split(np.arange(60), 20), 12

    def partition(i, texts, labels):
        (tmp_path / f"{i}.{os.getpid()}").touch()
        deadline = time.monotonic() + 30
        while i >= late and not (tmp_path / "killed").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return texts, labels

    def started():
        return [tuple(map(int, path.name.split("."))) for path in tmp_path.glob("*.*")]

    def kill_one_that_waits():
        while not (len(started()) > 4 and any(i >= late for i, _ in started())):
            time.sleep(0.01)
        victims.extend(next((i, pid) for i, pid in started() if i >= late))
        os.kill(victims[1], signal.SIGKILL)
        (tmp_path / "killed").touch()

    data = [delayed(partition)(i, [TEXTS[r] for r in rows], [LABELS[r] for r in rows]) for i, rows in enumerate(chunks)]
    victims: list[int] = []
    killer = threading.Thread(target=kill_one_that_waits, daemon=True)
    killer.start()
    clf = distributed.fit(bayesnb.TextClassifier(), data)
    killer.join(30)
    assert print_of(clf) == print_of(single)
    task, pid = victims
    assert {other for i, other in started() if i == task} > {pid}, "the task was not started again"
