"""The compiled passes over counts: SciPy's answers, however counts are stored and the work is shared."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.special import gammaln

import bayesnb
from bayesnb import kernels, validate
from bayesnb.events.rising import log_rising_sums

# each pair is compiled by itself; other types become float64
STORED = st.sampled_from(
    [(bool, np.int32), (np.int64, np.int64), (np.float32, np.int32), (np.float64, np.int32), (np.int16, np.int64)]
)


@pytest.fixture(scope="module", autouse=True)
def small_is_large():
    """Everything counts as large, and every entry may have a thread of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ALONE": 0, "LOADED": 0, "PART": 1, "_BLOCK": 5}.items():
            patch.setattr(kernels, name, value)
        patch.setenv("BAYESNB_NUM_THREADS", "3")
        yield


@st.composite
def documents(draw, stored=STORED):
    """A CSR array with empty rows, explicit zeros, unsorted columns and duplicates."""
    kind, index = draw(stored)
    n, v = draw(st.integers(1, 9)), draw(st.integers(1, 7))
    length = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 6)))
    column = draw(hnp.arrays(index, int(length.sum()), elements=st.integers(0, v - 1)))
    data = draw(hnp.arrays(np.int64, int(length.sum()), elements=st.integers(0, 5))).astype(kind)
    data = data / 4 if kind is np.float64 else data
    X = sparse.csr_array((data, column, np.concatenate([[0], length.cumsum()]).astype(index)), shape=(n, v))
    assert X.indices.dtype == index
    return X


def dense(X):
    """The same by hand, since `toarray` of booleans does not add."""
    total = np.zeros(X.shape)
    np.add.at(total, (np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices), X.data.astype(float))
    return total


@given(X=documents(), seed=st.integers(0, 99), weighted=st.booleans())
@settings(deadline=None, max_examples=150)
def test_totals_by_class_are_those_of_a_dense_matrix(X, seed, weighted):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, X.shape[0])
    weight = rng.integers(0, 8, X.shape[0]) / 4 if weighted else None
    member = np.eye(3)[codes] * (1.0 if weight is None else weight[:, None])
    total = kernels.count(X, codes, 3, weight)
    assert total.dtype == np.float64
    assert np.array_equal(total, member.T @ dense(X))  # quarters of small numbers add up without rounding


@given(X=documents(), k=st.integers(1, 6), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=150)
def test_sums_over_documents_are_those_of_a_dense_matrix(X, k, seed):
    rng = np.random.default_rng(seed)
    table, base = rng.normal(size=(X.shape[1], k)), rng.normal(size=k)
    right = dense(X) @ table
    close = {"rtol": 0, "atol": 1e-13}  # some ten terms below 20 are added in another order
    np.testing.assert_allclose(kernels.score(X, table), right, **close)
    total, length = kernels.difference(X, table[:, 0])
    np.testing.assert_allclose(total, right[:, 0], **close)
    assert np.array_equal(length, dense(X).sum(1))
    best, top, gap = kernels.leader(X, table, base, 0.5)
    value = np.sort(base + 0.5 * right, axis=1)
    np.testing.assert_allclose(top, value[:, -1], **close)
    np.testing.assert_allclose(gap, value[:, -1] - (value[:, -2] if k > 1 else -np.inf), **close)
    clear = gap > 1e-9
    assert np.array_equal(best[clear], (base + 0.5 * right).argmax(1)[clear])


def test_the_first_of_equal_values_leads():
    X = sparse.csr_array(np.ones((4, 2)))
    assert np.array_equal(kernels.leader(X, np.ones((2, 3)), np.zeros(3))[0], np.zeros(4))


def example(n=400, v=50, seed=0):
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.poisson(0.3, (n, v))), rng.integers(0, 3, n)


@pytest.mark.parametrize("balanced", [True, False])
def test_totals_do_not_depend_on_the_number_of_threads(monkeypatch, balanced):
    """Also to the last bit of fractional weights, whose sum depends on its order."""
    X, codes = example()
    codes = codes if balanced else np.zeros_like(codes)
    weight = np.random.default_rng(1).random(len(codes))
    seen = []
    for n in ("1", "2", "5"):
        monkeypatch.setenv("BAYESNB_NUM_THREADS", n)
        seen.append((kernels.count(X, codes, 3), kernels.count(X, codes, 3, weight)))
    for whole, fractional in seen[1:]:
        assert np.array_equal(whole, seen[0][0])
        assert np.array_equal(fractional, seen[0][1])


def test_numbers_that_cannot_be_written_to_or_are_stored_oddly_are_read():
    X, codes = example()
    table = np.random.default_rng(0).normal(size=(50, 3))
    right = kernels.count(X, codes, 3), kernels.score(X, table)
    odd = X.copy()
    odd.data = np.repeat(X.data, 2)[::2]  # not contiguous
    packed = np.zeros(len(X.indices), np.dtype([("pad", "i1"), ("index", "<i4")]))
    packed["index"] = X.indices
    odd.indices = packed["index"]  # not aligned
    for array in (odd.data, odd.indices, odd.indptr, codes, table):
        array.setflags(write=False)
    assert np.array_equal(kernels.count(odd, codes, 3), right[0])
    assert np.array_equal(kernels.score(odd, table[:, ::-1])[:, ::-1], right[1])
    assert np.array_equal(kernels.count(validate.counts(X.astype(np.uint16), stored=True), codes, 3), right[0])


@pytest.mark.parametrize("column", [-1, 50, 2**31 - 1])
def test_a_damaged_matrix_is_refused_and_not_followed(column):
    X, codes = example()
    X.indices[7] = column
    for use in (
        lambda: kernels.count(X, codes, 3),
        lambda: kernels.score(X, np.ones((50, 3))),
        lambda: kernels.difference(X, np.ones(50)),
        lambda: kernels.leader(X, np.ones((50, 3)), np.zeros(3)),
    ):
        with pytest.raises(ValueError, match=r"1 column indices outside 0\.\.49"):
            use()
    X, codes = example()
    X.indptr[3] = 10**6
    with pytest.raises(ValueError, match="row pointers"):
        kernels.score(X, np.ones((50, 3)))


@pytest.mark.parametrize("asked", ["0", "-2", "two", "1.5"])
def test_a_number_of_threads_that_is_none_is_an_error_that_names_the_variable(monkeypatch, asked):
    monkeypatch.setenv("BAYESNB_NUM_THREADS", asked)
    with pytest.raises(ValueError, match="BAYESNB_NUM_THREADS must be a whole number above 0"):
        kernels.threads()


def test_threads_follow_what_the_process_is_allowed(monkeypatch):
    monkeypatch.setenv("BAYESNB_NUM_THREADS", "17")
    assert kernels.threads() == 17
    monkeypatch.delenv("BAYESNB_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert kernels.threads() == 1


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_values_are_judged_wherever_they_stand(kind):
    values = np.arange(1, 40, dtype=kind)
    assert kernels.within(values, 0, 1e100)
    for at in range(len(values)):
        bad = values.copy()
        bad[at] = -1
        assert not kernels.within(bad, 0, 1e100)
        if kind is not np.int64:
            for odd in (np.nan, np.inf):
                bad[at] = odd
                assert not kernels.within(bad, 0, 1e100)


# --- what the models make of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ours", [bayesnb.MultinomialNB, bayesnb.BernoulliNB])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
@given(X=documents(st.sampled_from([(np.int64, np.int64)])), k=st.integers(2, 4), tied=st.booleans())
@settings(deadline=None, max_examples=40)
def test_large_and_small_input_are_told_apart_alike(ours, estimate, X, k, tied):
    """Compiled or not, duplicates or not: the same probabilities, and labels that are their argmax, ties included."""
    X = sparse.csr_array(sparse.vstack([X] * k))
    y = np.repeat(np.arange(k), X.shape[0] // k) if tied else np.arange(X.shape[0]) % k
    X.data[: 0 if tied else 3] += 1
    large = ours(estimate=estimate).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "LOADED", 10**9)
        small = ours(estimate=estimate).fit(dense(X), y)
        probability = small.predict_proba(dense(X))
        labels = small.predict(dense(X))
    assert np.array_equal(large.feature_count_, small.feature_count_)
    np.testing.assert_allclose(large.predict_proba(X), probability, rtol=0, atol=1e-13)
    assert np.array_equal(large.predict(X), large.predict_proba(X).argmax(1))
    assert np.array_equal(labels, probability.argmax(1))


def test_two_classes_in_balance_go_to_the_first_one():
    """Documents whose two joint scores are equal though their terms differ: the column of differences adds to 1e-17."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (1, 30))
    clf = bayesnb.MultinomialNB().fit(np.vstack([counts, counts[:, ::-1]]), [0, 1])
    half = sparse.csr_array(rng.integers(0, 4, (500, 15)))
    X = sparse.csr_array(sparse.hstack([half, half[:, ::-1]]))  # as likely under one class as under the other
    assert np.array_equal(clf.predict(X), clf.predict_proba(X).argmax(1))
    assert (np.abs(clf.predict_proba(X)[:, 0] - 0.5) < 1e-12).all()


def test_fitting_forms_no_table_of_logarithms():
    """Neither the check that an estimate exists, nor anything else in `fit`, needs one."""
    X, y = example()
    for ours in (bayesnb.MultinomialNB, bayesnb.BernoulliNB):
        for estimate in ("map", "mean", "mle", "predictive"):
            clf = ours(estimate=estimate).fit(X, y)
            assert "_tables" not in clf.posterior_.__dict__
            assert clf.feature_log_prob_ is clf.feature_log_prob_  # once asked for it is kept
            with pytest.raises(ValueError, match="read-only"):
                clf.feature_log_prob_[0, 0] = 0


def test_a_matrix_is_judged_again_when_its_owner_has_changed_it():
    X, y = example()
    clf = bayesnb.MultinomialNB().fit(X, y)
    clf.predict(X)
    X.data[3] = -1
    for use in (clf.predict, clf.predict_proba, lambda X: clf.fit(X, y)):
        with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB: -1 at row 0"):
            use(X)


def test_negative_parts_of_a_positive_sum_are_counts():
    """Duplicates count by their sum, whatever their parts."""
    X = sparse.csr_array(([3.0, -1.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    whole = np.array([[2.0, 0.0], [0.0, 1.0]])
    one, other = (bayesnb.MultinomialNB().fit(matrix, [0, 1]) for matrix in (X, whole))
    assert np.array_equal(one.feature_count_, other.feature_count_)
    assert np.array_equal(one.predict_proba(X), other.predict_proba(whole))


@given(X=documents(st.sampled_from([(np.int64, np.int64), (np.float64, np.int32)])), k=st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_rising_factorials_of_documents_are_differences_of_log_gammas(X, k):
    """With many ones, which have a table, and with few."""
    X.sum_duplicates()
    c = np.random.default_rng(0).uniform(0.1, 9, (k, X.shape[1]))
    right = (gammaln(c + dense(X)[:, None]) - gammaln(c)).sum(-1)
    # gammaln rounds to 1e-16 of values below 100, some seven times
    np.testing.assert_allclose(log_rising_sums(X, c, lambda: np.log(c.T)), right, rtol=0, atol=1e-12)


# --- threads and processes --------------------------------------------------------------------------------------------


def test_predictions_belong_to_some_state_while_another_thread_learns_and_unlearns():
    """Eight threads predict; every answer is that of the model with or without the second batch, never of a mixture."""
    X, y = example(600, 80)
    more, other = example(600, 80, seed=1)
    clf = bayesnb.MultinomialNB().fit(X, y)
    without = clf.predict_proba(X)
    with_more = clf.partial_fit(more, other).predict_proba(X)
    clf.unlearn(more, other)
    assert not np.array_equal(without, with_more)

    def ask(_):
        answer = clf.predict_proba(X)
        labels = clf.predict(X)
        whole = [np.array_equal(answer, state) for state in (without, with_more)]
        named = [np.array_equal(labels, state.argmax(1)) for state in (without, with_more)]
        return any(whole) and any(named), whole

    with ThreadPoolExecutor(9) as pool:
        learning = pool.submit(lambda: [clf.partial_fit(more, other).unlearn(more, other) for _ in range(40)])
        answers = list(pool.map(ask, range(200)))
        learning.result()
    assert all(right for right, _ in answers)
    assert np.array_equal(clf.predict_proba(X), without)


LARGE = """
    import os, sys
    import numpy as np
    from scipy import sparse
    from bayesnb import kernels
    kernels.ALONE = kernels.LOADED = 0
    kernels.PART = 1
    os.environ["BAYESNB_NUM_THREADS"] = "3"
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.5, (300, 40)))
    table = np.ones((40, 2))
    right = X @ table
"""


def python(code, **environment):
    """Output of a fresh interpreter in which every warning is an error."""
    import os

    code = textwrap.dedent(LARGE) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_forked_children_score_after_their_parent_has():
    """As the workers of a prefork server do, and their children's children."""
    code = """
        assert np.array_equal(kernels.score(X, table), right)
        for generation in range(2):
            children = []
            for _ in range(3):
                child = os.fork()
                if child == 0:
                    children = []
                    break
                children.append(child)
            good = np.array_equal(kernels.score(X, table), right)
            good = good and np.array_equal(kernels.count(X, np.zeros(300, int), 1), X.sum(axis=0)[None])
            if children:
                good = good and all(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 for child in children)
                break
        if generation or not children:
            os._exit(0 if good else 1)
        print("good" if good else "bad")
    """
    assert python(code) == ["good"]


def test_small_input_does_not_import_numba():
    code = """
        kernels.ALONE = 1 << 22
        import bayesnb
        y = np.arange(300) % 2
        for ours in (bayesnb.MultinomialNB, bayesnb.BernoulliNB):
            for estimate in ("map", "predictive"):
                clf = ours(estimate=estimate).fit(X, y)
                clf.predict(X), clf.predict_proba(X)
        print("numba" in sys.modules)
        kernels.ALONE = 0
        clf.predict(X)
        print("numba" in sys.modules)
    """
    assert python(code) == ["False", "True"]


def test_without_numba_scipy_does_the_work():
    code = """
        sys.modules["numba"] = None
        print(kernels.compiled(X), np.array_equal(kernels.score(X, table), right))
    """
    assert python(code) == ["None", "True"]


def test_as_the_interpreter_ends_no_thread_is_needed():
    """A model that scores in `atexit` answers, where no thread can be started any more."""
    code = """
        import atexit
        kernels.score(X, table)
        atexit.register(lambda: print(np.array_equal(kernels.score(X, table), right)))
    """
    assert python(code) == ["True"]


def test_without_a_folder_to_write_to_nothing_is_kept_and_nothing_fails(tmp_path):
    """numba would refuse to compile at all."""
    (tmp_path / "file").write_text("")
    code = """
        print(np.array_equal(kernels.score(X, table), right))
        from bayesnb import loops
        print(loops.score.kept)
    """
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "file"), "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    assert python(code, **environment) == ["True", "None"]


def test_a_broken_cache_costs_time_and_no_answer(tmp_path):
    """Files of the cache that hold rubbish, and a folder that is gone when the code is to be kept."""
    code = "print(np.array_equal(kernels.score(X, table), right))"
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path / "a")) == ["True"]
    kept = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        path.write_bytes(b"rubbish")
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path / "a")) == ["True"]
    gone = f"""
        from bayesnb import loops
        import shutil
        shutil.rmtree({str(tmp_path / "b")!r})
        open({str(tmp_path / "b")!r}, "w").close()
        print(np.array_equal(kernels.score(X, table), right))
    """
    assert python(gone, NUMBA_CACHE_DIR=str(tmp_path / "b")) == ["True"]
