"""Exact intervals against 4,000 Monte Carlo draws, timed in one run on one machine; run on purpose.

python -m tests.benchmarks.contrast_speed [tokens]. The draws are timed on every fiftieth token and scaled up: their
cost is the same for each, and all of them would take minutes and 3 GB.
"""

import os
import platform
import sys
import time

import numpy as np

from bayesnb.contrast.law import summarise

DRAWS = 4000


def monte_carlo(a1, b1, a2, b2, rng):
    """Ends, median and P(ratio > 1) from draws."""
    n = len(a1)
    log_ratio = np.log(rng.beta(a1, b1, (DRAWS, n))) - np.log(rng.beta(a2, b2, (DRAWS, n)))
    return np.quantile(log_ratio, [0.025, 0.5, 0.975], axis=0), (log_ratio > 0).mean(axis=0)


def corpora(n, rng):
    """Two classes of two and one million tokens: heavy-tailed counts, with one prior, or one a token."""
    counts = np.minimum(rng.pareto(1.0, (2, n)), 1e5).astype(int)
    every = rng.uniform(0.5, 1.5, n)
    for name, prior in (("repeated counts, one concentration", 1.0), ("all rows distinct", every)):
        a1, a2 = counts + prior
        yield name, (a1, 2e6 - a1, a2, 1e6 - a2)


def main(n: int = 100_000) -> None:
    rng = np.random.default_rng(7)
    machine = (
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    print(f"{machine}, {n:,} tokens, {DRAWS:,} draws")
    print(f"{'case':36s} {'distinct':>9s} {'exact, s':>9s} {'draws, s':>9s} {'times faster':>13s}")
    for name, shapes in corpora(n, rng):
        shapes = tuple(np.broadcast_to(v, n).astype(float) for v in shapes)
        distinct = len(np.unique(np.stack(shapes), axis=1).T)
        start = time.perf_counter()
        summarise(0.95, *shapes)
        exact = time.perf_counter() - start
        some = tuple(v[::50] for v in shapes)
        start = time.perf_counter()
        monte_carlo(*some, rng)
        draws = (time.perf_counter() - start) * n / len(some[0])
        print(f"{name:36s} {distinct:9,d} {exact:9.1f} {draws:9.1f} {draws / exact:13.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
