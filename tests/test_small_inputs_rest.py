"""The last small inputs with their right answers: memory in proportion to what is stored, quantiles, coefficients."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse, special

import bayesnb
from bayesnb import MultinomialNB, TextClassifier


@pytest.fixture
def peak():
    """Bytes that NumPy and Python held at most since it was last asked."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_texts_take_memory_for_the_counts_that_are_stored(peak):
    """20,000 texts of 20 of 20,000 words: 4e5 counts of some 20 bytes, where a table of one byte a cell is 400 MB."""
    words = np.array([f"word{i}" for i in range(20_000)])
    rng = np.random.default_rng(31)
    texts = [" ".join(row) for row in words[rng.integers(0, len(words), (20_000, 20))]]
    TextClassifier().fit(texts[:2], [0, 1]).predict_proba(texts[:2])  # libraries are loaded
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    clf = TextClassifier().fit(texts, rng.integers(0, 2, len(texts)))
    p = clf.predict_proba(texts)
    assert peak() - before < 60e6 and p.shape == (20_000, 2)


def test_many_classes_times_many_tokens_are_held_once(peak):
    """Learning forms the totals (40 x 131,072, 42 MB) and no table of logarithms beside them until one scores."""
    k, v = 40, 2**17
    rng = np.random.default_rng(32)
    X = sparse.csr_array((np.ones(4000), (np.arange(4000) % 400, rng.integers(0, v, 4000))), shape=(400, v))
    tracemalloc.reset_peak()
    clf = MultinomialNB().fit(X, np.arange(400) % k)
    table = 8 * k * v
    assert table <= peak() < 2.2 * table, peak() / table
    tracemalloc.reset_peak()
    assert clf.predict(X[:5]).shape == (5,)
    assert peak() < 6 * table


def test_the_dirichlet_multinomial_of_a_count_vector():
    """(3, 1, 0) under Dirichlet(1, 1, 1): 1/60 for each sequence, of which there are 4: 1/15."""
    posterior = MultinomialNB(prior=1.0, estimate="mean").fit(np.zeros((1, 3)), ["h"]).posterior_
    x = np.array([[3, 1, 0]])
    coefficient = special.gammaln(5) - special.gammaln(x + 1).sum()
    assert posterior.log_predictive(x)[0, 0] + coefficient == pytest.approx(-2.708050201102, abs=1e-12)
    assert posterior.log_predictive(x)[0, 0] == pytest.approx(np.log(1 / 60), rel=1e-14)


@pytest.mark.parametrize(("a", "b"), [(5, 5), (4, 11), (1, 14), (0.5, 0.5), (1000, 1e9), (3e7, 11)])
def test_quantiles_are_where_the_distribution_function_says(a, b):
    """Beta(5, 5) has its median at 1/2; each end of an interval leaves its tail."""
    for level in (0.5, 0.95):
        low, high = bayesnb.Beta(a, b).interval(level)
        # an end is one rounded number: beside shapes of 3e7 and 11 its last place is 1e-9 of probability
        assert special.betainc(a, b, low) == pytest.approx((1 - level) / 2, rel=3e-7)
        assert special.betaincc(a, b, high) == pytest.approx((1 - level) / 2, rel=3e-7)
    assert bayesnb.Beta(5, 5).interval(1e-9) == pytest.approx([0.5, 0.5], abs=1e-9)
