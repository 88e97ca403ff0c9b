"""How far the distribution function of the log ratio is from multiple precision, over 200 tokens; run on purpose.

python -m tests.benchmarks.contrast_accuracy [tokens]

Counts from 0 to 1e9 (log-uniform, each zero with probability 1/5) in two classes of their own sizes, concentrations
from 1e-3, the same for all tokens or one a token and class; probabilities from 0.005 to 0.995. Two routes in multiple
precision (tests/ratio_oracle.py), both over some tokens so that they check each other, on every core. Exit status 1
where an error is above 1e-8.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from bayesnb.contrast import log_ratio_cdf, log_ratio_mean, log_ratio_quantile, log_ratio_sd, prob_greater
from tests.ratio_oracle import by_betainc, by_contour, direction

LIMIT = 1e-8
LEVELS = (0.005, 0.025, 0.2, 0.5, 0.8, 0.975, 0.995)


def one_concentration(n, rng):
    """Counts in classes of up to 1e10 tokens, one concentration from 1e-3 to 10 for every token of 10 to 1e6."""
    a, vocabulary = 10 ** rng.uniform(-3, 1, n), np.floor(10 ** rng.uniform(1, 6, n))
    sides = []
    for _ in range(2):
        count, others = counts(n, 9, rng), np.floor(10 ** rng.uniform(2, 10, n))
        sides += [a + count, a * (vocabulary - 1) + others]
    return sides


def prior_a_token(n, rng):
    """The same counts under priors that differ from token to token and between the classes."""
    sides = []
    for _ in range(2):
        a, strength = 10 ** rng.uniform(-3, 3, n), 10 ** rng.uniform(0, 6, n)
        sides += [a + counts(n, 9, rng), strength + np.floor(10 ** rng.uniform(2, 10, n))]
    return sides


def few_tokens(n, rng):
    """A vocabulary of 2 to 6 and counts up to 100: phi far from 0."""
    a, sides = 10 ** rng.uniform(-1, 1, n), []
    for _ in range(2):
        sides += [a + counts(n, 2, rng), a * rng.integers(1, 6, n) + counts(n, 2, rng)]
    return sides


def little_data(n, rng):
    """Concentrations from 1e-3 and counts of 0 to 3 beside some dozens of other tokens."""
    a, sides = 10 ** rng.uniform(-3, 0, n), []
    for _ in range(2):
        sides += [a + rng.integers(0, 4, n), a * 20 + rng.integers(5, 60, n)]
    return sides


def counts(n, decades, rng):
    """Whole numbers over all magnitudes, a fifth of them 0."""
    return np.where(rng.random(n) < 0.2, 0.0, np.floor(10 ** rng.uniform(0, decades, n)))


KINDS = (
    (one_concentration, by_contour), (prior_a_token, by_contour), (few_tokens, by_betainc), (little_data, by_contour)
)  # fmt: skip


def exact_cdf(case):
    """P(log R <= r) by a route that integrates over the beta on the lower side."""
    route, r, first, second = case
    return float(1 - route(r, *first, *second) if r >= 0 else route(-r, *second, *first))


def cases(shapes, r, route):
    a1, b1, a2, b2 = (v.tolist() for v in shapes)
    return [(route, float(x), (a1[i], b1[i]), (a2[i], b2[i])) for i, x in enumerate(r)]


def measure(tokens, pool):
    """Print a line for each kind; the largest error of all."""
    rng, worst = np.random.default_rng(2026), 0.0
    for kind, route in KINDS:
        n, start = tokens // len(KINDS), time.perf_counter()
        shapes = kind(n, rng)
        p = rng.choice(LEVELS, n)
        r = log_ratio_quantile(p, *shapes)
        ours = log_ratio_cdf(r, *shapes)
        error = np.abs(np.array(list(pool.map(exact_cdf, cases(shapes, r, route)))) - ours)
        back = np.abs(ours - p)[r != 0].max()
        worst = max(worst, error.max(), back)
        print(
            f"{kind.__name__:18s} {n:4d} tokens  shapes {min(v.min() for v in shapes):.0e} to "
            f"{max(v.max() for v in shapes):.0e}  median {np.median(error):.1e}  largest {error.max():.1e}  "
            f"|cdf(q) - p| {back:.1e}  {time.perf_counter() - start:.0f} s",
            flush=True,
        )
    return worst


def routes_agree(pool, n=8):
    """Largest difference of the two routes where both work."""
    rng = np.random.default_rng(7)
    a, b = 10 ** rng.uniform(-0.3, 1.5, (2, n)), 10 ** rng.uniform(1, 2, (2, n))
    shapes = (a[0], b[0], a[1], b[1])
    r = log_ratio_quantile(rng.choice(LEVELS, n), *shapes)
    one, other = (np.array(list(pool.map(exact_cdf, cases(shapes, r, route)))) for route in (by_contour, by_betainc))
    return np.abs(one - other).max()


def ten_against_none(pool):
    """Counts 10 and 0 of a million, concentration 0.5, by the methods people use; distances from the exact law."""
    shapes = 10.5, 1e6, 0.5, 1e6
    rng = np.random.default_rng(1)
    draws = np.log(rng.beta(*shapes[:2], 4000)) - np.log(rng.beta(*shapes[2:], 4000))
    mean, sd = log_ratio_mean(*shapes), log_ratio_sd(*shapes)
    p = np.array([0.025, 0.5, 0.975])
    woolf, woolf_sd = np.log(10.5 / 0.5), np.sqrt(1 / 10.5 + 1 / 0.5)
    z = np.array([-1.959964, 0.0, 1.959964])
    ways = {
        "exact": log_ratio_quantile(p, *shapes),
        "4,000 draws": np.quantile(draws, p),
        "normal law of log R": mean + z * sd,
        "log of n + 1/2": woolf + z * woolf_sd,
    }
    print("counts 10 against 0 of 1e6, concentration 0.5: ratio, and its true probability by mpmath")
    print(f"{'':22s}{'2.5 %':>20s}{'50 %':>20s}{'97.5 %':>22s}")
    for name, ends in ways.items():
        exactly = pool.map(exact_cdf, [(by_contour, float(r), shapes[:2], shapes[2:]) for r in ends])
        cells = [f"{np.exp(r):12.5g} ({q:7.5f})" for r, q in zip(ends, exactly, strict=True)]
        print(f"{name:22s}" + " ".join(cells))
    print(f"MLE ratio: infinite. Laplace (s = 1/2): {10.5 / 0.5:g}. Mean of the ratio: infinite (shape 0.5 <= 1)")
    # P(phi_1 < phi_2), the small one; the sum needs whole shapes in the second law
    whole = (0.5, 1e6, 11, 1e6)
    ours, exact = float(prob_greater(*whole)), direction(*whole)
    print(f"P(ratio > 1) = {float(prob_greater(*shapes)):.7f}; with 11 for 10.5 by a sum over points: ", end="")
    print(f"P(ratio < 1) = {ours:.12e}, mpmath {exact:.12e}")


def main(tokens: int = 200) -> int:
    start = time.perf_counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        print(f"the two routes in multiple precision differ by {routes_agree(pool):.1e} at most", flush=True)
        worst = measure(tokens, pool)
        ten_against_none(pool)
    print(f"largest error {worst:.1e}, allowed {LIMIT:.0e}; {time.perf_counter() - start:.0f} s")
    return int(not worst <= LIMIT)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
