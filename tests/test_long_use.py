"""Much of everything: a million documents, ten million tokens in one, a thousand classes, a million columns."""

import gc
import sys
import tracemalloc
from contextlib import contextmanager

import mpmath
import numpy as np
import pytest
from scipy import sparse

import bayesnb
from bayesnb import storage
from bayesnb.scorer import Scorer
from bayesnb.uncertainty import counts, lattice

LONG = pytest.mark.long
MEGABYTE = 2**20


def resident() -> int:
    """Bytes of memory that this process holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@contextmanager
def peak_below(limit: int):
    """What is allocated inside, at its highest, beside what was there."""
    tracemalloc.start()
    try:
        yield
        found = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found < limit, f"{found / MEGABYTE:.0f} MB"


# --- learning for ever ------------------------------------------------------------------------------------------------


def stream(kind, batches, size):
    """Batches of documents and labels, the same whenever they are asked for; texts bring ever new tokens."""
    for i in range(batches):
        rng = np.random.default_rng(i)
        y = rng.integers(0, 3, size)
        if kind == "text":
            yield [f"w{a} w{b} only{i}x{row}" for row, (a, b) in enumerate(rng.integers(0, 50, (size, 2)))], y
        else:
            X = sparse.csr_array(rng.poisson(0.3, (size, 20)))
            yield (X.toarray().astype(float) if kind == "gaussian" else X), y


MAKERS = {
    "multinomial": bayesnb.MultinomialNB,
    "bernoulli": bayesnb.BernoulliNB,
    "gaussian": lambda: bayesnb.GaussianNB(prior="weak", estimate="mean"),
    "text": bayesnb.TextClassifier,
}
WINDOW = 5


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is read as Linux tells it")
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("n", [20_000, pytest.param(1_000_000, marks=LONG)])
def test_documents_learnt_and_unlearnt_by_the_million_leave_exact_totals_in_flat_memory(kind, n):
    """A window over a stream: each batch is learnt, and unlearnt five batches later; moments are right to 1e-9."""
    size = 100 if n < 10**6 else 500
    batches = n // size
    clf, old, early = MAKERS[kind](), stream(kind, batches, size), 0
    for i, (X, y) in enumerate(stream(kind, batches, size)):
        clf.partial_fit(X, y, classes=[0, 1, 2])
        if i >= WINDOW:
            clf.unlearn(*next(old))
        if i == max(20, batches // 10):
            early = resident()
    grown = resident() - early
    assert grown < 20 * MEGABYTE  # the allocator's own; one kept array a batch would be more
    last = list(old)
    assert len(last) == WINDOW
    right = MAKERS[kind]()
    for X, y in last:
        right.partial_fit(X, y, classes=[0, 1, 2])
    assert np.array_equal(clf.class_count_, right.class_count_)
    if kind == "gaussian":
        np.testing.assert_allclose(clf.theta_, right.theta_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(clf.var_, right.var_, rtol=1e-6)  # rounding of some thousand removals adds up
    else:
        assert np.array_equal(clf.feature_count_, right.feature_count_)
        assert clf._model().fingerprint == right._model().fingerprint  # tokens too: those that left are gone
    for X, y in last:
        clf.unlearn(X, y)
    assert clf.class_count_.tolist() == [0, 0, 0]


# --- long documents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [300_000, pytest.param(10_000_000, marks=LONG)])
@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_text_of_millions_of_tokens_is_read_by_every_verb(event, n, tmp_path):
    """Its answers are those of its counts; the short way for one text and the long one agree."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 500, n)
    names = np.array([f"w{i:03}" for i in range(500)], object)
    text = " ".join(names[ids].tolist())
    # tokens as frequent in both classes, but for the last one
    known = [" ".join(names.tolist()), " ".join([*names.tolist()[:-1], "w498"])]
    tc = bayesnb.TextClassifier(event=event).fit(known, ["a", "b"])
    counted = np.bincount(ids, minlength=500)
    posterior = tc.posterior_
    joint = posterior.log_joint(sparse.csr_array(counted[None] if event == "multinomial" else (counted > 0)[None]))
    shifted = np.exp(joint - joint.max())
    # log scores of n tokens are rounded to some 1e-16 of a few n
    tolerance = {"rtol": 0, "atol": 1e-15 * n}
    right = (shifted / shifted.sum())[0]
    np.testing.assert_allclose(tc.predict_proba([text])[0], right, **tolerance)
    np.testing.assert_allclose(tc.predict_proba([text, "w001"])[0], right, **tolerance)
    low, high = tc.predict_interval([text])[0].T
    assert (low <= high).all() and (low >= 0).all() and (high <= 1).all()
    table = tc.explain(text)
    assert np.isfinite(table.to_numpy(float)).all()
    tc.save(tmp_path / "m")
    np.testing.assert_allclose(Scorer.load(tmp_path / "m").score(text), right, **tolerance)
    before = tc._model().fingerprint
    tc.partial_fit([text], ["a"])
    assert tc.feature_count_.sum() == (n + 1000 if event == "multinomial" else 500 + 500 + 499)
    assert tc.unlearn([text], ["a"])._model().fingerprint == before


def test_the_predictive_of_ten_million_tokens_keeps_its_digits():
    """log p(x | y, D) = log B(c + x) - log B(c), with 40 digits on the other side; odds of scores near 1e7."""
    rng = np.random.default_rng(0)
    X = rng.multinomial(10_000_000, np.ones(60) / 60)[None]
    clf = bayesnb.MultinomialNB(estimate="predictive").fit(rng.poisson(3.0, (2, 60)), [0, 1])
    with mpmath.workdps(40):
        exact = []
        for c in clf.posterior_.phi.concentration:
            c = [mpmath.mpf(float(value)) for value in c]
            one = sum(mpmath.loggamma(a + int(x)) - mpmath.loggamma(a) for a, x in zip(c, X[0], strict=True))
            exact.append(one + mpmath.loggamma(sum(c)) - mpmath.loggamma(sum(c) + 10_000_000))
        difference = float(exact[0] - exact[1])
    joint = clf.predict_joint_log_proba(X)[0]
    assert abs(exact[0]) > 1e7
    assert joint[0] - joint[1] == pytest.approx(difference, abs=60 * 1e-16 * 1.6e8)  # the largest log-gamma: 1.5e8


# --- many classes, many columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
@pytest.mark.parametrize("k", [2, 5])
def test_intervals_from_the_tokens_of_the_documents_are_those_from_all_tokens(event, k, monkeypatch):
    """Large models form their tables for the columns at hand, a piece at a time: the same sums in another order."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.4, (40, 300)), np.arange(40) % k
    kept = event().fit(X, y).predict_interval(X[:10, :])
    monkeypatch.setattr(counts, "_KEPT", 0)
    for held in (1 << 20, 97):
        monkeypatch.setattr(counts, "_HELD", held)
        clf = event().fit(X, y)
        assert np.allclose(clf.predict_interval(X[:10]), kept, rtol=1e-9, atol=0)
        empty = sparse.csr_array((1, 300), dtype=float)
        assert np.isfinite(clf.predict_interval(empty)).all()


@pytest.fixture(scope="module")
def thousand():
    """A thousand classes of two documents each; the totals take 64 MB."""
    rng = np.random.default_rng(0)
    column = rng.integers(0, 8000, (2000, 60))
    X = sparse.csr_array((np.ones(column.size), (np.repeat(np.arange(2000), 60), column.ravel())), shape=(2000, 8000))
    X.sum_duplicates()
    return X, np.arange(2000) % 1000


@pytest.mark.parametrize("make", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_a_thousand_classes_answer_in_memory_that_their_totals_bound(make, thousand):
    """Four cumulants of every token and class, kept, would take five times the totals; lattice points a gigabyte."""
    X, y = thousand
    clf = make().fit(X, y)
    totals = clf.feature_count_.nbytes
    assert np.allclose(clf.predict_proba(X[:50]).sum(axis=1), 1)
    clf.posterior_.phi.mean()  # concentrations are kept
    with peak_below(3 * totals + 200 * MEGABYTE):  # the lattice holds some 64 MB three times
        interval = clf.predict_interval(X[:1])
    assert interval.shape == (1, 1000, 2) and (interval[..., 0] <= interval[..., 1]).all()
    with peak_below(6 * totals):
        clf.partial_fit(X[:3], y[:3]).unlearn(X[:3], y[:3])
    assert np.array_equal(clf.feature_count_, make().fit(X, y).feature_count_)


def test_lattice_points_of_many_classes_are_not_kept():
    """Each dimension has the same values in another order: one table serves them all."""
    rng = np.random.default_rng(0)
    clf = bayesnb.MultinomialNB().fit(rng.poisson(1.0, (80, 30)), np.arange(80))
    lattice._basis.cache_clear()
    tracemalloc.start()
    clf.predict_interval(rng.poisson(1.0, (1, 30)))
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < 20 * MEGABYTE  # 80 dimensions of 1.4 MB each were 110


@pytest.mark.parametrize("make", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
def test_a_million_columns_with_a_class_of_no_document_and_a_token_seen_once(make, tmp_path):
    """Fit, score, explain, learn, unlearn, save and load: the same answers at the end."""
    n, rng = 1 << 20, np.random.default_rng(0)
    column = rng.integers(0, n - 1, (40, 50))
    X = sparse.csr_array((np.ones(column.size), (np.repeat(np.arange(40), 50), column.ravel())), shape=(40, n))
    X.sum_duplicates()
    once = sparse.csr_array(([1.0], ([0], [n - 1])), shape=(1, n))
    clf = make(estimate="mean").partial_fit(X, np.arange(40) % 2, classes=[0, 1, 2])
    before, fingerprint = clf.predict_proba(once), clf._model().fingerprint
    assert clf.class_count_.tolist() == [20, 20, 0]
    after = clf.partial_fit(once, [0]).predict_proba(once)
    assert after[0, 0] > before[0, 0]
    clf.save(tmp_path / "m")
    loaded = bayesnb.load(tmp_path / "m")
    assert np.array_equal(loaded.predict_proba(once), after)
    assert len(loaded.explain(once)) < 10
    loaded.unlearn(once, [0])
    assert np.array_equal(loaded.predict_proba(once), before)
    assert storage.load(tmp_path / "m").fingerprint != loaded._model().fingerprint == fingerprint
