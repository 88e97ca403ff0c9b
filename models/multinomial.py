"""The multinomial event model: a document is a sequence of tokens, each drawn from its class's phi.

The story, for K classes and V tokens; class k has n_k documents, where token j occurs n_kj times, N_k tokens in all::

    theta ~ Dirichlet(a_theta)                how common each class is (a constant where it is known)
    phi_k ~ Dirichlet(a_k)                    how often class k writes each token
    y_i   ~ Categorical(theta)                the class of document i
    token ~ Categorical(phi_k), k = y_i       each token of document i, independently

Only totals matter, so the likelihood is written for them, n ~ Multinomial(N, theta) and n_k. ~ Multinomial(N_k, phi_k):
the density of the sequences times coefficients that are free of the parameters. The posterior is

    p(theta, phi | D) = Dirichlet(theta; a_theta + n) prod_k Dirichlet(phi_k; a_k + n_k.)              [1, section 3.4]

``form="dirichlet"`` is the model as told. ``form="gamma"``, the default, has the same posterior for phi::

    g_kj ~ Gamma(a_kj, 1),    phi_k = g_k / sum_j g_kj,    n_kj ~ Poisson(c_k g_kj)      for any constant c_k > 0

Proof. Let s = sum_j g_kj. Gammas of one rate have proportions phi_k ~ Dirichlet(a_k) that are independent of their sum
s ~ Gamma(A_k, 1), A_k = sum_j a_kj [2, section XI.4]. Poisson counts given their total are multinomial,
n_k. | N_k ~ Multinomial(N_k, phi_k), and the total N_k ~ Poisson(c_k s) does not involve phi_k. So the density is

    [Dirichlet(phi_k; a_k) Multinomial(n_k.; N_k, phi_k)]  [Gamma(s; A_k, 1) Poisson(N_k; c_k s)]

whose first factor is the Dirichlet form and whose second is free of phi_k. The total has become data as well: the
evidence gains NegativeBinomial(N_k; A_k, 1/(1 + c_k)). c_k = N_k/A_k keeps g on the scale of its prior.

``form="log_gamma"`` is the gamma form written in log g, without the terms that only data enter, log Gamma(a_kj) and
log n_kj!. Its density differs from the gamma form's by that constant, which would otherwise be computed again at every
gradient; phi = softmax(log g) is computed once the draws are there. `sample` takes it for vocabularies too large to
compile the data into the density.

When to use which: read the Dirichlet form, sample the gamma form. The transform of a simplex couples every coordinate
to the last one, which the sampler's diagonal mass matrix cannot follow (minutes where this takes seconds, from a
thousand tokens on); here all coordinates are independent. Not for documents whose class is uncertain: there the
Poisson total would vote on the class. And not below concentrations of about 0.2, where g spreads over hundreds of
orders of magnitude. In practice the closed form answers at once (`bayesnb.MultinomialNB`); sample to see that it is
right, or to extend the model.

References
----------
.. [1] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC Press 2013.
.. [2] L. Devroye, Non-Uniform Random Variate Generation, Springer 1986.
.. [3] A. McCallum and K. Nigam, A comparison of event models for naive Bayes text classification, AAAI workshop 1998.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from bayesnb.models import choose_form, class_probabilities, whole
from scipy.special import softmax

FORMS = ("gamma", "dirichlet")
LARGE = "log_gamma"
AUXILIARY = ("g",)


def build(data, prior, form=None):
    """Write the model for the totals `data` under `prior`.

    Parameters
    ----------
    data : bayesnb.events.multinomial.Statistics
        ``class_count`` (K,) and ``feature_count`` (K, V), whole numbers.
    prior : bayesnb.events.multinomial.Prior
        Of theta, and the concentrations of phi, (K, V).
    form : {"gamma", "dirichlet", "log_gamma"}, optional
        How it is written; the posterior is the same.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and phi (class, token); in the "log_gamma" form log_g (class, token).

    Raises
    ------
    ValueError
        Fractional totals, an unknown form, fewer than two tokens, or data of probability 0.
    """
    form = choose_form(form, (*FORMS, LARGE))
    if data.n_tokens < 2:
        raise ValueError(f"phi over {data.n_tokens} token is no random variable: the vocabulary needs at least two")
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        class_probabilities(data, prior.theta)
        a = pm.Data("phi_concentration", prior.phi, dims=cells)
        n = pm.Data("feature_count", whole(data.feature_count, "feature_count"), dims=cells)
        total = n.sum(axis=1)

        if form == "dirichlet":
            phi = pm.Dirichlet("phi", a, dims=cells)
            pm.Multinomial("n_token", n=total, p=phi, observed=n, dims=cells)
            return model

        c = pt.switch(pt.eq(total, 0), 1.0, total / a.sum(axis=1))[:, None]  # a class without tokens: any c does
        if form == "gamma":
            g = pm.Gamma("g", a, 1.0, dims=cells)
            pm.Poisson("n_token", c * g, observed=n, dims=cells)
            pm.Deterministic("phi", g / g.sum(axis=1, keepdims=True), dims=cells)
            return model

        log_g = pm.Flat("log_g", dims=cells)  # phi is left to `complete`: the sampler would hold both at once
        g = pt.exp(log_g)
        pm.Potential("gamma", (a * log_g - g).sum())  # the last factor g of g^a is the Jacobian of log g
        pm.Potential("poisson", (n * (pt.log(c) + log_g) - c * g).sum())
    return model


def complete(draws, data, prior, rng):
    """Phi in place of log g, where that was sampled; nothing elsewhere.

    Parameters
    ----------
    draws : dict of str to ndarray
        Those of the sampler, each of shape (chains, draws, ...).
    data, prior, rng
        Not needed: phi is a function of g.

    Returns
    -------
    dict of str to ndarray or None
        ``phi`` (chains, draws, K, V), and None for ``log_g``, which it replaces.
    """
    if "log_g" not in draws:
        return {}
    log_g = draws["log_g"]
    phi = np.empty_like(log_g)
    for one, log_one in zip(phi.reshape(-1, *phi.shape[2:]), log_g.reshape(-1, *phi.shape[2:]), strict=True):
        one[:] = softmax(log_one, axis=1)
    return {"phi": phi, "log_g": None}
