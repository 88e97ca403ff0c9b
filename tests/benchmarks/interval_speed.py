"""Time of class probability intervals beside that of class probabilities: 200,000 documents of 60 distinct tokens.

Run as ``python -m tests.benchmarks.interval_speed``; the target is at most 3 times ``predict_proba``.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from bayesnb.model import Settings, State
from bayesnb.uncertainty import class_probability_interval, probability_largest

DOCUMENTS, TOKENS, LENGTH = 200_000, 20_000, 64


def corpus(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Documents of some sixty distinct tokens with Zipf's frequencies, of which one in twenty occurs more than once."""
    share = 1 / np.arange(10, TOKENS + 10)
    length = rng.poisson(LENGTH, n)
    token = rng.choice(TOKENS, length.sum(), p=share / share.sum())
    X = sparse.coo_array((np.ones(len(token)), (np.repeat(np.arange(n), length), token)), shape=(n, TOKENS)).tocsr()
    X.sum_duplicates()
    return X


def fastest(call, times: int = 5) -> float:
    """Seconds of the fastest of some calls."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Print seconds and ratio for both event models."""
    rng = np.random.default_rng(0)
    train, asked = corpus(2000, rng), corpus(DOCUMENTS, rng)
    y = np.arange(2000) % 2
    for event in ("multinomial", "bernoulli"):
        model = Settings(event=event)
        posterior = model.posterior(State.learn(event, model.documents(train), y, np.arange(TOKENS)))
        X = model.documents(asked)
        proba = fastest(lambda p=posterior, X=X: np.exp(p.log_proba(X)))
        interval = fastest(lambda p=posterior, X=X: class_probability_interval(p, X))
        largest = fastest(lambda p=posterior, X=X: probability_largest(p, X))
        print(
            f"{event}: {X.nnz / DOCUMENTS:.0f} nonzeros a row, predict_proba {proba:.3f} s, intervals {interval:.3f} s "
            f"({interval / proba:.2f} times), probability_largest {largest:.3f} s"
        )


if __name__ == "__main__":
    main()
