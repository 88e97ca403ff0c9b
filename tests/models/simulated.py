"""Data drawn from the models beyond conjugacy, the fits to them, and how a fit is judged against what it came from."""

from functools import cache

import numpy as np
from scipy import sparse, stats

from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior
from bayesnb.sampling import Documents, sample
from bayesnb.sampling.convergence import effective_size, r_hat

K, V, N, LENGTH = 2, 50, 200, 30
FLIPS, BURSTS, LABELS = 0.15, 40.0, 20


def flat(concentration=1.0, k=K, v=V):
    return Prior(ClassPrior(concentration=np.ones(k)), np.full((k, v), concentration))


@cache
def truth(name):
    """Parameters drawn from the prior, true classes, labels and counts."""
    rng = np.random.default_rng(11)
    theta, phi = np.array([0.4, 0.6]), rng.dirichlet(np.ones(V), K)
    y = rng.choice(K, N, p=theta)
    p = np.array([rng.dirichlet(BURSTS * phi[k]) for k in y]) if name == "bursty" else phi[y]
    X, z = rng.multinomial(LENGTH, p).astype(float), y.copy()
    if name == "semi_supervised":
        z[LABELS:] = -1
    if name == "noisy_labels":
        z = np.where(rng.random(N) < FLIPS, 1 - y, y)
    return {"theta": theta, "phi": phi, "y": y, "z": z, "X": X}


@cache
def fit(name):
    """Two chains of 500 draws."""
    made = truth(name)
    X, z = made["X"], made["z"]
    posterior = Posterior(flat(), Statistics.from_documents(X[z >= 0], z[z >= 0], K))
    documents = {} if name == "hierarchical" else {"X": X, "y": z}
    return sample(posterior, name, draws=500, tune=500, chains=2, seed=3, **documents)


def documents(name):
    made = truth(name)
    return Documents(sparse.csr_array(made["X"]), made["z"], K)


def converged(tree, names):
    """Chains agree, on enough draws that the bounds below are of the posterior and not of the sampler."""
    for name in names:
        draws = tree["posterior"][name].values
        draws = draws.reshape(*draws.shape[:2], -1)
        assert r_hat(draws).max() < 1.05, name
        assert effective_size(draws).min() > 300, name
    assert not tree["sample_stats"]["diverging"].any()


def recovered(tree, true):
    """How many of the values lie outside the central 99 % interval of their draws, and how many may.

    Each does with chance 0.01 (phi is drawn from its prior); more than the bound happen once in a million.
    """
    outside, total = 0, 0
    for name, value in true.items():
        low, high = np.quantile(tree["posterior"][name].values, [0.005, 0.995], axis=(0, 1))
        outside += int(np.sum((value < low) | (value > high)))
        total += np.size(value)
    return outside, int(stats.binom.isf(1e-6, total, 0.01))
