"""The Bernoulli event model: a document is a set of tokens, each present or absent on its own.

The story, for K classes and V tokens; class k has N_k documents, n_kj of which hold token j::

    theta  ~ Dirichlet(a_theta)               how common each class is (a constant where it is known)
    phi_kj ~ Beta(a_kj, b_kj)                 how often a document of class k holds token j
    y_i    ~ Categorical(theta)               the class of document i
    x_ij   ~ Bernoulli(phi_kj), k = y_i       whether document i holds token j, independently

Only totals matter: n_kj ~ Binomial(N_k, phi_kj), the density of the single documents times a coefficient free of phi.
The posterior is

    p(theta, phi | D) = Dirichlet(theta; a_theta + n) prod_kj Beta(phi_kj; a_kj + n_kj, b_kj + N_k - n_kj)    [1, 2.4]

All coordinates are independent, so this one form samples well at any size. In practice the closed form answers at
once (`bayesnb.BernoulliNB`); sample to see that it is right, or to extend the model. Absent tokens count as evidence
here, and how often a token is repeated does not: for short documents, or where presence is what matters [2].

References
----------
.. [1] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC Press 2013.
.. [2] A. McCallum and K. Nigam, A comparison of event models for naive Bayes text classification, AAAI workshop 1998.
"""

import numpy as np
import pymc as pm
from bayesnb.models import choose_form, class_probabilities, whole

FORMS = ("beta",)


def build(data, prior, form=None):
    """Write the model for the totals `data` under `prior`.

    Parameters
    ----------
    data : bayesnb.events.bernoulli.Statistics
        ``class_count`` (K,) and ``feature_count`` (K, V), whole numbers.
    prior : bayesnb.events.bernoulli.Prior
        Of theta, and of phi, a Beta of shape (K, V).
    form : {"beta"}, optional
        There is one.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and phi (class, token).

    Raises
    ------
    ValueError
        Fractional totals, an unknown form, no token, or data of probability 0.
    """
    choose_form(form, FORMS)
    if not data.n_tokens:
        raise ValueError("there is no token, so there is no phi to sample")
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        _, class_count = class_probabilities(data, prior.theta)
        a = pm.Data("phi_a", prior.phi.a, dims=cells)
        b = pm.Data("phi_b", prior.phi.b, dims=cells)
        n = pm.Data("feature_count", whole(data.feature_count, "feature_count"), dims=cells)

        phi = pm.Beta("phi", a, b, dims=cells)
        pm.Binomial("n_token", n=class_count[:, None], p=phi, observed=n, dims=cells)
    return model
