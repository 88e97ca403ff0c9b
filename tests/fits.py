"""Real fits that several test modules look at; each is made once a session."""

from functools import cache

import numpy as np

from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta
from bayesnb.sampling import sample

TOKENS = ["a", "coffee", "discount", "for", "free", "game", "get", "grab", "investors", "is", "lets", "our"]
TOKENS += ["prices", "qualified"]
SPAM = [1, 0, 2, 2, 2, 1, 1, 0, 4, 0, 0, 0, 1, 1]
HAM = [2, 2, 0, 1, 0, 2, 0, 1, 0, 1, 1, 1, 0, 0]
NASTY = [
    "chain",
    "",
    "phi/spam",
    "$$",
    "nul\0",
    "\0",
    "draw",
    "\\0",
    "class",
    "a b",
    "other",
    "x" * 300,
    "\u00e9",
    "token",
]


def toy(prior=1.0, counts=(HAM, SPAM), classes=("ham", "spam"), tokens=TOKENS, known=None, scale=1):
    """The toy_spam corpus, Dirichlet(1) on both; the arguments make it wrong in one way."""
    theta = ClassPrior(known=np.array(known)) if known else ClassPrior(concentration=np.full(2, 1.0 * scale))
    named = np.array(tokens, object)
    totals = multinomial.Statistics(scale * np.array([2, 3]), scale * np.array(counts))
    return multinomial.Posterior(multinomial.Prior(theta, np.full((2, 14), prior * scale)), totals, classes, named)


def presence():
    """Presence of three tokens in 4 + 3 documents of two classes, labelled by booleans, with a known class prior."""
    prior = bernoulli.Prior(ClassPrior(known=np.array([0.9, 0.1])), Beta(np.full((2, 3), 2.0), np.full((2, 3), 3.0)))
    return bernoulli.Posterior(prior, bernoulli.Statistics([4, 3], [[4, 0, 1], [1, 2, 0]]), [False, True])


@cache
def gamma_fit():
    return sample(toy())


@cache
def dirichlet_fit():
    return sample(toy(), form="dirichlet", tokens=["investors", "coffee"], chains=2, seed=1)


@cache
def bernoulli_fit():
    return sample(presence(), chains=2, draws=1500, seed=2)
