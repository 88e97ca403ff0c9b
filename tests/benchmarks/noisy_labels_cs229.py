"""Coverage of the flip rate on simulated data, and what the model finds on CS229 with 15 % of labels flipped.

Run from the root: ``uv run python -m tests.benchmarks.noisy_labels_cs229 [--replications 200] [--rows coverage
cs229]``; the corpus is found below the folder that BAYESNB_SHARED names.
"""

import argparse
import time

import numpy as np
from scipy import stats

from tests.benchmarks.sampling_speed import machine
from tests.benchmarks.spam_corpus import prior, probabilities, read


def simulated(rng, given, n=80, length=20):
    """Parameters from the prior, documents and flipped labels from the model."""
    from scipy import sparse

    from bayesnb.sampling import Documents

    theta, e = rng.dirichlet([1, 1]), rng.beta(1, 4) / 2
    phi = np.array([rng.dirichlet(a) for a in given.phi])
    y = rng.choice(2, n, p=theta)
    z = np.where(rng.random(n) < e, 1 - y, y)
    return e, Documents(sparse.csr_array(rng.multinomial(length, phi[y]).astype(float)), z, 2)


def coverage(replications):
    """How often the central 95 % interval holds the true flip rate, and where the rank lies."""
    from bayesnb.checks.calibration import Refit
    from bayesnb.sampling.modelfiles import find_model

    given, start = prior(10), time.perf_counter()
    fit = None
    held, rank = [], []
    for i, rng in enumerate(np.random.default_rng(0).spawn(replications)):
        e, data = simulated(rng, given)
        fit = fit or Refit(find_model("noisy_labels"), None, data, given, ["flip_rate"], 199)
        drawn = fit(data, given, i)["flip_rate"]
        low, high = np.quantile(drawn, [0.025, 0.975])
        held.append(low <= e <= high)
        rank.append((drawn < e).mean())
    low, high = stats.binom.interval(0.999, replications, 0.95)
    print(
        f"coverage of the 95 % interval: {sum(held)} of {replications} (99.9 % range of a correct model {low:.0f} to "
        f"{high:.0f}); mean rank {np.mean(rank):.3f} (0.5, standard error {(12 * replications) ** -0.5:.3f}); "
        f"{fit.divergences} divergences; {time.perf_counter() - start:.0f} s",
        flush=True,
    )


def cs229(seed=0, draws=300):
    """400 mails, 15 % of the labels flipped."""
    from bayesnb.em import label_evidence
    from bayesnb.events.multinomial import Posterior, Statistics
    from bayesnb.sampling import sample
    from bayesnb.sampling.convergence import effective_size, r_hat

    (X, y), (X_test, y_test) = read("MATRIX.TRAIN.400"), read("MATRIX.TEST")
    rng = np.random.default_rng(seed)
    flipped = np.zeros(len(y), bool)
    flipped[rng.choice(len(y), 60, replace=False)] = True
    given = prior(X.shape[1])
    for share, z in ((0.0, y), (0.15, np.where(flipped, 1 - y, y))):
        naive = Posterior(given, Statistics.from_documents(X, z, 2))
        start = time.perf_counter()
        tree = sample(naive, "noisy_labels", X=X, y=z, draws=draws, tune=draws, chains=2, seed=seed)
        seconds = time.perf_counter() - start
        rate = tree["posterior"]["flip_rate"].values
        phi = tree["posterior"]["phi"].values.reshape(2, draws, -1)
        own = probabilities(tree, X, lambda e, z=z: label_evidence(z, 2, float(e)), rate.ravel())
        accused = own[np.arange(len(z)), z] < 0.5
        wrong = flipped & (share > 0)
        low, high = np.quantile(rate, [0.025, 0.975])
        believed = (naive.log_joint(X_test, "mean").argmax(1) != y_test).sum()
        print(
            f"CS229, share flipped {share:g}: flip rate {rate.mean():.3f} (95 % {low:.3f} to {high:.3f}); labels "
            f"called wrong {accused.sum()}, of them truly flipped {(accused & wrong).sum()} of {wrong.sum()}; test "
            f"errors of 800: labels believed {believed}, this model "
            f"{(probabilities(tree, X_test).argmax(1) != y_test).sum()}; max r_hat {r_hat(phi).max():.3f}, min ess "
            f"{effective_size(phi).min():.0f}, divergences {int(tree['sample_stats']['diverging'].sum())}, "
            f"{seconds:.0f} s",
            flush=True,
        )


def main():
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--rows", nargs="*", choices=("coverage", "cs229"), default=("coverage", "cs229"))
    asked = parser.parse_args()
    print(machine(), flush=True)
    if "coverage" in asked.rows:
        coverage(asked.replications)
    if "cs229" in asked.rows:
        cs229()


if __name__ == "__main__":
    main()
