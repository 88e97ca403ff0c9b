"""Many threads at one model: every answer is that of a state that existed, nothing learnt is lost."""

import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

import bayesnb
from bayesnb import kernels

RNG = np.random.default_rng(0)
X = RNG.poisson(0.5, (12, 30))
Y = np.arange(12) % 2
MORE, OTHER = RNG.poisson(0.5, (2, 30)), [0, 1]
WORDS = [" ".join(f"w{j}" for j in np.repeat(np.arange(30), row)) for row in X]
NEW = ["w1 w2 fresh", "other w7 w7"]  # tokens that come and go with them
MAKERS = {
    "multinomial": (bayesnb.MultinomialNB, X, MORE),
    "bernoulli": (bayesnb.BernoulliNB, X, MORE),
    "gaussian": (lambda: bayesnb.GaussianNB(prior="weak", estimate="mean"), X.astype(float), MORE.astype(float)),
    "categorical": (lambda: bayesnb.CategoricalNB(min_categories=9), X, MORE),
    "text": (bayesnb.TextClassifier, WORDS, NEW),
    "text presence": (lambda: bayesnb.TextClassifier(event="bernoulli"), WORDS, NEW),
}
MANY = [40, pytest.param(2500, marks=pytest.mark.long)]


@pytest.fixture(autouse=True)
def hasty():
    """Threads take turns a hundred times as often as they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def large_as_small(monkeypatch):
    """Everything goes through the compiled loops, in several threads."""
    for name, value in {"ALONE": 0, "LOADED": 0, "PART": 1}.items():
        monkeypatch.setattr(kernels, name, value)
    monkeypatch.setenv("BAYESNB_NUM_THREADS", "3")


def seen(clf, documents) -> tuple:
    """What one caller is told, of one batch and of one document alone."""
    alone = documents[:1]
    return (
        clf.predict_proba(documents).tobytes(),
        clf.predict_proba(alone).tobytes(),
        clf.predict(documents).tobytes(),
        clf.predict_joint_log_proba(documents).tobytes(),
    )


def both_ways(clf, more):
    """Learn two documents, each by itself, and unlearn them, with a breath after each step."""
    for verb, order in ((clf.partial_fit, (0, 1)), (clf.unlearn, (1, 0))):
        for i in order:
            yield verb(more[i : i + 1], OTHER[i : i + 1])


def toggled(make, documents, more, n, asks=seen, steps=1) -> None:
    """Eight threads ask while one learns and unlearns: what they hear are the states it went through, bit for bit.

    Counts return to the same three states at once; moments, removed with rounding, are followed for all n turns.
    """
    alone = make().fit(documents, Y)
    states = [asks(alone, documents)]
    states += [asks(now, documents) for _ in range(steps) for now in both_ways(alone, more)]
    allowed = [set(one) for one in zip(*states, strict=True)]
    assert len(allowed[0]) >= 3
    assert steps > 1 or states[0] == states[-1]
    clf = make().fit(documents, Y)
    over = threading.Event()

    def learn() -> None:
        try:
            for _ in range(n):
                for _ in both_ways(clf, more):
                    pass
        finally:
            over.set()

    def ask(_) -> list[set]:
        told = [set() for _ in allowed]
        while not over.is_set():
            for known, one in zip(told, asks(clf, documents), strict=True):
                known.add(one)
        return told

    with ThreadPoolExecutor(9) as pool:
        learning, asking = pool.submit(learn), [pool.submit(ask, i) for i in range(8)]
        learning.result()
        answers = [one.result() for one in asking]
    for told in answers:
        assert all(one <= known for one, known in zip(told, allowed, strict=True))
    assert asks(clf, documents) == states[-1]


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("kind", ["multinomial", "bernoulli", "text", "text presence"])
def test_every_answer_is_of_a_state_that_existed(kind, n):
    """Bit for bit, while two documents come and go: 160 changes, or (long) 10,000."""
    toggled(*MAKERS[kind], n)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_every_answer_is_of_a_state_that_existed_where_cells_are_not_counts(kind):
    """A shorter run of the same."""
    toggled(*MAKERS[kind], 10, steps=10)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_every_answer_of_the_compiled_loops_is_of_a_state_that_existed(kind, large_as_small):
    """Each call has threads of its own beside the eight that ask."""
    make, documents, more = MAKERS[kind]
    toggled(make, sparse.csr_array(documents), sparse.csr_array(more), 10)


@pytest.mark.parametrize("kind", ["multinomial", "text"])
def test_intervals_explanations_and_files_are_of_a_state_that_existed(kind, tmp_path):
    """The slower verbs read the model once, at their start."""

    def asks(clf, documents):
        path = tmp_path / str(threading.get_ident())
        explained = clf.explain(documents[0])
        return (
            clf.predict_interval(documents).tobytes(),
            explained.to_numpy(object).tolist().__repr__(),
            clf.save(path),
            pickle.loads(pickle.dumps(clf)).predict_proba(documents).tobytes(),  # noqa: S301  (our own)
        )

    toggled(*MAKERS[kind], 10, asks)


@pytest.mark.parametrize("kind", MAKERS)
def test_what_several_threads_learn_is_all_learnt(kind):
    """Four threads that learn batches, and one that unlearns some: the totals of all of them."""
    make, documents, _ = MAKERS[kind]
    clf = make().partial_fit(documents, Y)
    with ThreadPoolExecutor(5) as pool:
        learning = [pool.submit(lambda: [clf.partial_fit(documents, Y) for _ in range(20)] and None) for _ in range(4)]
        learning.append(pool.submit(lambda: [clf.unlearn(documents[:2], Y[:2]) for _ in range(1)] and None))
        for one in learning:
            one.result()
    assert clf.class_count_.tolist() == [81 * 6 - 1] * 2


def test_threads_that_merge_lose_nothing():
    """Also into each other, where two locks taken in two orders would wait for ever."""
    one, other = (bayesnb.MultinomialNB().fit(X, Y) for _ in range(2))
    part = bayesnb.MultinomialNB().fit(MORE, OTHER)
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda clf: [clf.merge(part) for _ in range(50)] and None, [one, other, one, other]):
            pass
        both = [pool.submit(one.merge, other), pool.submit(other.merge, one)]
        for merged in both:
            merged.result(timeout=60)
    assert one.class_count_[0] + other.class_count_[0] in {4 * 106, 5 * 106}  # at once, or one after the other


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_computed_once_is_not_pickled(kind):
    """Tables of logarithms would make a model twice as large, and other threads add to them meanwhile."""
    make, documents, _ = MAKERS[kind]
    clf = make().fit(documents, Y)
    size = len(pickle.dumps(clf))
    clf.predict_proba(documents), clf.predict_interval(documents), clf.predict_proba(documents[:1])
    assert len(pickle.dumps(clf)) < 1.1 * size
