"""How far the distribution function of the log ratio is from multiple precision, over 200 tokens; run on purpose.

python -m tests.benchmarks.contrast_accuracy [tokens]
"""

import sys

import numpy as np

from bayesnb.contrast import log_ratio_cdf, log_ratio_quantile
from tests.ratio_oracle import by_betainc, by_contour

# name, route, decades of a, decades of b
KINDS = (
    ("counts to 1e9", by_contour, (0, 9), (2, 9)),
    ("concentration from 0.1", by_contour, (-1, 1), (3, 9)),
    ("vocabulary of a few", by_betainc, (-1, 2), (-1, 2)),
    ("small concentrations", by_betainc, (-2, 0), (0, 2)),
)


def main(tokens: int = 200) -> None:
    rng = np.random.default_rng(2026)
    for name, route, (low, high), (rest_low, rest_high) in KINDS:
        n = tokens // len(KINDS)
        a, b = 10 ** rng.uniform(low, high, (2, n)), 10 ** rng.uniform(rest_low, rest_high, (2, n))
        p = rng.choice([0.005, 0.025, 0.5, 0.8, 0.975], n)
        r = log_ratio_quantile(p, a[0], b[0], a[1], b[1])
        ours = log_ratio_cdf(r, a[0], b[0], a[1], b[1])
        error = np.empty(n)
        for i in range(n):
            first, second = (a[0][i], b[0][i]), (a[1][i], b[1][i])
            exact = 1 - route(r[i], *first, *second) if r[i] >= 0 else route(-r[i], *second, *first)
            error[i] = abs(float(exact - ours[i]))
        back = np.abs(ours - p).max()
        print(
            f"{name:26s} {n:4d} tokens  median {np.median(error):.1e}  largest {error.max():.1e}  |cdf(q)-p| {back:.1e}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
