"""The CS229 spam corpus for the benchmarks of models beyond conjugacy: 400 mails to learn from, 800 to test on."""

import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("BAYESNB_SHARED", ""), "data", "cs229_spam")


def read(name):
    """Counts (CSR) and codes, 1 spam."""
    import bayesnb

    corpus = bayesnb.read_corpus(FOLDER / name, format="cs229")
    return corpus.X, np.asarray(corpus.y).astype(int)


def prior(v, a=1.0):
    """Dirichlet(1) on theta and Dirichlet(a) on each phi."""
    from bayesnb.events.multinomial import Prior
    from bayesnb.events.theta import ClassPrior

    return Prior(ClassPrior(concentration=np.ones(2)), np.full((2, v), a))


def probabilities(tree, X, log_label=0.0, rate=None):
    """P(class | document), averaged over the draws of theta and phi."""
    theta = tree["posterior"]["theta"].values.reshape(-1, 2)
    phi = tree["posterior"]["phi"].values
    total = np.zeros((X.shape[0], 2))
    for i, p in enumerate(phi.reshape(-1, *phi.shape[2:])):
        joint = np.log(theta[i]) + X @ np.log(p).T + (log_label if rate is None else log_label(rate[i]))
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        total += joint / joint.sum(axis=1, keepdims=True)
    return total / len(theta)
