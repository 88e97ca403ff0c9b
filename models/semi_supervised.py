"""Semi-supervised multinomial naive Bayes: some documents are labelled, many are not, and all of them are data.

The story is that of multinomial.py, with y_i seen for some documents only::

    theta ~ Dirichlet(a_theta)                how common each class is (a constant where it is known)
    phi_k ~ Dirichlet(a_k)                    how often class k writes each token
    y_i   ~ Categorical(theta)                the class of document i, seen where it is labelled
    token ~ Categorical(phi_k), k = y_i       each token of document i, independently

The unseen classes are summed out, so the density (of token sequences, up to the coefficients of the labelled totals) is

    Dirichlet(theta; a_theta) prod_k Dirichlet(phi_k; a_k)  prod_k theta_k^n_k prod_j phi_kj^n_kj   [labelled totals n]
    prod_(i unlabelled) sum_k theta_k prod_j phi_kj^x_ij                                                       [1]

which is a mixture of K^U closed-form posteriors, one for each way to label the U unlabelled documents.

What for: few labels and many documents, whose tokens occur together by class. When not: with thousands of labels the
closed form says the same at once; and where the natural clusters of the documents are not the classes (topics rather
than spam), unlabelled documents pull phi to the clusters, away from the labels. Compare test errors before trusting it.

Well posed: without labels the classes could be exchanged; a few labels settle that, yet with long documents the
posterior keeps many modes hundreds of nats apart, and chains settle in whichever is near. So `start` puts every chain
at the solution of expectation-maximisation from the labelled fit, the mode that the labels point to. With a large
vocabulary the draws describe that mode: look at test errors, and at r_hat, but do not claim convergence over all modes.
The Poisson trick of multinomial.py is not valid here (the total of a class would vote on the documents' classes);
``form="gamma"`` has another one, in `bayesnb.models._parts.token_probabilities`.

References
----------
.. [1] K. Nigam, A. McCallum, S. Thrun and T. Mitchell, Text classification from labeled and unlabeled documents using
   EM, Machine Learning 39 (2000).
"""

import numpy as np
import pymc as pm
from bayesnb.models import choose_form, class_probabilities
from bayesnb.models._parts import (
    FORMS,
    entries,
    log_joint,
    refuse_small,
    refuse_unfit,
    starting_values,
    token_probabilities,
)

from bayesnb.em import expectation_maximization
from bayesnb.events.multinomial import Statistics

NEEDS = "documents"
TAKES = "multinomial"
AUXILIARY = ("g",)


def build(data, prior, form=None):
    """Write the model for labelled and unlabelled documents.

    Parameters
    ----------
    data : bayesnb.sampling.modelfiles.Documents
        Whole counts ``X`` (N, V) and codes ``y`` (N,), -1 for unlabelled.
    prior : bayesnb.events.multinomial.Prior
        Of theta, and the concentrations of phi, (K, V).
    form : {"gamma", "dirichlet"}, optional
        How phi is written; the posterior is the same.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and phi (class, token).

    Raises
    ------
    ValueError
        No labelled document, fewer than two tokens, fractional counts, an unknown form, data of probability 0, or in
        the gamma form a concentration below 0.2 of a token that no labelled document of the class holds.
    """
    form = choose_form(form, FORMS)
    refuse_unfit(data.X)
    labelled, X = data.y >= 0, data.X
    if not labelled.any():
        raise ValueError("no document is labelled, so the classes are interchangeable: label one of each class")
    seen = Statistics.from_documents(X[labelled], data.y[labelled], data.n_classes)
    unlabelled = X[~labelled]
    refuse_small(prior.phi + seen.feature_count, form)
    share = seen.class_count / seen.class_count.sum()
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        theta, _ = class_probabilities(seen, prior.theta)
        n = pm.Data("feature_count", seen.feature_count, dims=cells)
        x = entries(unlabelled)
        length = pm.Data("length", np.asarray(unlabelled.sum(axis=1)).ravel(), dims="document")

        phi = token_probabilities(prior.phi, form, weight=seen.token_total + share * unlabelled.sum())
        pm.Multinomial("n_token", n=n.sum(axis=1), p=phi, observed=n, dims=cells)
        pm.Potential(
            "x", pm.math.logsumexp(log_joint(theta, phi, x, length.shape[0]), axis=1, keepdims=False), dims="document"
        )
    return model


def start(data, prior, form=None):
    """Point where every chain starts: the solution of expectation-maximisation from the labelled fit."""
    solution = expectation_maximization(data, prior, estimate="mean")
    return starting_values(solution.posterior, choose_form(form, FORMS))
