"""Hierarchical multinomial naive Bayes: the concentration of phi's prior is learnt from the data.

The story is that of multinomial.py, with one scalar in place of a fixed concentration::

    theta ~ Dirichlet(a_theta)                how common each class is (a constant where it is known)
    a     ~ Gamma(1, 1/m)                     the concentration, of mean m
    phi_k ~ Dirichlet(a b_k)                  how often class k writes each token
    y_i   ~ Categorical(theta)                the class of document i
    token ~ Categorical(phi_k), k = y_i       each token of document i, independently

m is the mean of the given prior's concentrations and b_kj each one divided by m. So a flat prior makes a the scalar
concentration itself; a prior that is no constant, such as a background distribution of the tokens, keeps its shape and
has its strength learnt: phi_k then counts as a sum_j b_kj tokens beside the data.

phi is integrated out, by the evidence of the token sequences (Dirichlet-multinomial, or Polya) [1, 2]

    p(n | a) = prod_k Gamma(A_k) / Gamma(A_k + N_k) prod_j Gamma(a b_kj + n_kj) / Gamma(a b_kj),    A_k = a sum_j b_kj

so the sampler moves in log a and theta only, whatever V is. Then `complete` draws phi exactly for each draw of a:
phi_k | a ~ Dirichlet(a b_k + n_k).

What for: not having to choose alpha; seeing how much the choice matters (phi's intervals include it); any V. When not:
a single a says that rare and common tokens scatter alike, which real text contradicts, so with flat b the learnt a is
small and tells of how many tokens a class never uses. To choose a point value, the maximum of the evidence is enough.

Well posed: a class that uses every token equally often (V = 2, say, and 5 of each) lets a grow without bound: the
evidence tends to a constant there, and the prior of a keeps the posterior proper. As a goes to 0 the evidence goes to 0
as soon as one class holds two different tokens.

References
----------
.. [1] T. Minka, Estimating a Dirichlet distribution, 2000 (revised 2012).
.. [2] D. MacKay and L. Bauman Peto, A hierarchical Dirichlet language model, Natural Language Engineering 1 (1995).
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from bayesnb.models import choose_form, class_probabilities

from bayesnb.families import Dirichlet

FORMS = ("marginal",)
TAKES = "multinomial"


def build(data, prior, form=None):
    """Write the model of theta and a for the totals `data`.

    Parameters
    ----------
    data : bayesnb.events.multinomial.Statistics
        ``class_count`` (K,) and ``feature_count`` (K, V).
    prior : bayesnb.events.multinomial.Prior
        Of theta; the concentrations of phi (K, V) give b and m.
    form : {"marginal"}, optional
        There is one: phi integrated out.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and a, a positive number.

    Raises
    ------
    ValueError
        Fractional class totals, an unknown form, no token, or data of probability 0.
    """
    choose_form(form, FORMS)
    if not data.n_tokens:
        raise ValueError("there is no token, so there is no concentration to learn")
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        class_probabilities(data, prior.theta)
        mean = pm.Data("a_mean", prior.phi.mean())
        b = pm.Data("phi_shape", prior.phi / prior.phi.mean(), dims=cells)
        n = pm.Data("feature_count", data.feature_count, dims=cells)

        a = pm.Gamma("a", 1.0, 1 / mean)
        tokens = pt.gammaln(a * b + n) - pt.gammaln(a * b)
        total = a * b.sum(axis=1)
        lengths = pt.gammaln(total + n.sum(axis=1)) - pt.gammaln(total)
        pm.Potential("n_token", tokens.sum(axis=1) - lengths, dims="class")
    return model


def complete(draws, data, prior, rng):
    """Draw phi exactly given each draw of a.

    Parameters
    ----------
    draws : dict of str to ndarray
        ``a`` (chains, draws), as sampled.
    data, prior
        As in `build`.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to ndarray
        ``phi`` (chains, draws, K, V).
    """
    b = prior.phi / prior.phi.mean()
    phi = np.empty((*draws["a"].shape, *b.shape))
    for at in np.ndindex(draws["a"].shape):  # one draw at a time: the result is what fills the memory
        phi[at] = Dirichlet(draws["a"][at] * b + data.feature_count).draw(rng)
    return {"phi": phi}
