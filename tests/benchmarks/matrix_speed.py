"""Fitting and predicting on a large sparse matrix, beside scikit-learn.

Run as ``python -m tests.benchmarks.matrix_speed``; on two idle cores the targets are fit 3 (two classes) and 4
(twenty) times, predict 2.2 times as fast as scikit-learn, and with one thread 1.5, 2, 1.8 and 1.3. ``--growth`` adds
how the time grows with documents, tokens and classes, ``--stored float64`` takes counts of another type than
`CountVectorizer`'s.
Both take turns in one process, and a ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.naive_bayes
from scipy import sparse

import bayesnb

TARGETS = {(2, 2): (3.0, 2.2), (20, 2): (4.0, 2.2), (2, 1): (1.5, 1.8), (20, 1): (2.0, 1.3)}  # (classes, threads)
PAIRS = {
    "multinomial": (bayesnb.MultinomialNB, sklearn.naive_bayes.MultinomialNB),
    "bernoulli": (bayesnb.BernoulliNB, sklearn.naive_bayes.BernoulliNB),
}
FRESH = """
import time, numpy as np
from scipy import sparse
from bayesnb import MultinomialNB
rng = np.random.default_rng(0)
n, per = 70_000, 65
token = np.sort(rng.integers(0, 20_000, (n, per)), axis=1)
X = sparse.csr_array((np.ones(n * per, np.int64), token.ravel(), np.arange(0, n * per + 1, per)), shape=(n, 20_000))
y = np.arange(n) % 2
for _ in range(2):
    start = time.perf_counter()
    MultinomialNB().fit(X, y).predict(X)
    print(time.perf_counter() - start)
"""


def corpus(n: int, v: int, entries: int, stored: str = "int64", seed: int = 0) -> sparse.csr_array:
    """Documents of tokens with Zipf's frequencies in a random order of columns, about this many stored counts."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1 / np.arange(1, v + 1))
    drawn = int(1.23 * entries)  # tokens drawn again in a document are counts above 1
    row = np.repeat(np.arange(n), rng.multinomial(drawn, np.full(n, 1 / n)))
    token = rng.permutation(v)[np.minimum(np.searchsorted(share, share[-1] * rng.random(drawn)), v - 1)]
    key, count = np.unique(row * v + token, return_counts=True)
    indptr = np.searchsorted(key // v, np.arange(n + 1)).astype(np.int32)
    return sparse.csr_array((count.astype(stored), (key % v).astype(np.int32), indptr), shape=(n, v))


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def race(event: str, X: sparse.csr_array, k: int, rounds: int) -> dict[str, np.ndarray]:
    """Seconds of both (rounds, 2), ours first, for fit, predict and predict_proba by turns."""
    y = np.random.default_rng(1).integers(0, k, X.shape[0])
    ours, theirs = (made().fit(X, y) for made in PAIRS[event])
    assert np.array_equal(ours.predict(X), theirs.predict(X)), "the predictions differ"
    found: dict[str, list[list[float]]] = {"fit": [], "predict": [], "proba": []}
    for _ in range(rounds):
        models = [made() for made in PAIRS[event]]
        found["fit"].append([seconds(lambda m=model: m.fit(X, y)) for model in models])
        found["predict"].append([seconds(lambda m=model: m.predict(X)) for model in models])
        found["proba"].append([seconds(lambda m=model: m.predict_proba(X)) for model in models])
    return {verb: np.array(times) for verb, times in found.items()}


def line(what: str, found: dict[str, np.ndarray], targets: tuple[float, ...] = ()) -> str:
    """One row: milliseconds of each verb's fastest round, ours and theirs, and the median ratio."""
    cells = []
    for verb, times in found.items():
        ratio = np.median(times[:, 1] / times[:, 0])
        wanted = f" (target {targets[len(cells)]:.1f})" if len(cells) < len(targets) else ""
        ours, theirs = 1e3 * times.min(axis=0)
        cells.append(f"{verb} {ours:7.1f} {theirs:7.1f} ms x{ratio:5.2f}{wanted}")
    return f"{what:34s} " + " | ".join(cells)


def growth(rounds: int) -> None:
    """One size at a time, from 20,000 documents of 65 distinct tokens among 20,000, two classes."""
    base = {"documents": 20_000, "tokens": 20_000, "classes": 2}
    for name, sizes in {
        "documents": (200, 2_000, 20_000, 100_000),
        "tokens": (1_000, 20_000, 100_000, 1_000_000),
        "classes": (2, 5, 20, 100),
    }.items():
        for size in sizes:
            at = base | {name: size}
            X = corpus(at["documents"], at["tokens"], 65 * at["documents"])
            print(line(f"{name} {size}", race("multinomial", X, at["classes"], rounds)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stored", default="int64")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--documents", type=int, default=200_000)
    options = parser.parse_args()
    X = corpus(options.documents, 100_000, 65 * options.documents, options.stored)
    bound = min(seconds(lambda: X.data.sum() + X.indices.sum()) for _ in range(5))
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz} counts of {X.dtype}, one pass over them {1e3 * bound:.0f} ms")
    print("ours and scikit-learn's fastest round, and the median ratio of rounds")
    for threads in (2, 1):
        os.environ["BAYESNB_NUM_THREADS"] = str(threads)
        for k in (2, 20):
            what = f"multinomial, {k} classes, {threads} threads"
            print(line(what, race("multinomial", X, k, options.rounds), TARGETS[k, threads]))
    os.environ["BAYESNB_NUM_THREADS"] = "2"
    for k in (2, 20):
        print(line(f"bernoulli, {k} classes, 2 threads", race("bernoulli", X, k, options.rounds)))
    fresh = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True).stdout.split()
    print(f"fresh process, 4.5 M counts: first fit and predict {float(fresh[0]):.2f} s, second {float(fresh[1]):.2f} s")
    if options.growth:
        growth(options.rounds)


if __name__ == "__main__":
    main()
