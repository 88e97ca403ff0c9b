"""Bursty naive Bayes: a token that occurred once in a document is likely to occur again.

The story::

    theta ~ Dirichlet(a_theta)                         how common each class is (a constant where it is known)
    phi_k ~ Dirichlet(a_k)                             the mean share of each token in documents of class k
    s_k   ~ LogNormal(log 100, 1)                      how alike documents of class k are: large, and all follow phi_k
    y_i   ~ Categorical(theta)                         the class of document i
    p_i   ~ Dirichlet(s_k phi_k), k = y_i              the document's own token probabilities
    token ~ Categorical(p_i)                           each of its n_i tokens, independently

With p_i integrated out a document is Dirichlet-multinomial (Polya) [1]: its token sequence, counts x_i, has density

    Gamma(s_k) / Gamma(s_k + n_i) prod_j Gamma(s_k phi_kj + x_ij) / Gamma(s_k phi_kj)

As s goes to infinity this is the multinomial model; with s = 100 the second occurrence of a token of share 0.001 is a
hundred times as likely as its first, 1.1/101 for 0.1/100.

What for: real text, where the multinomial model takes the fifth "free" of a mail as new evidence and its class
probabilities go to 0 and 1. When not: documents of one or two tokens say nothing of s; and where whole topics, and not
single tokens, come in bursts, p_i is no Dirichlet. There is no closed form: predict with draws.

Well posed: s_k is seen through tokens repeated within documents. With none repeated, or all documents short, its prior
decides: the median 100 lies among what text shows, and a factor of e to each side is one standard deviation. Labels
are needed for all documents.

How it is computed: totals do not suffice, but how many documents of class k hold token j exactly x times does, and how
many have n tokens. These triples and pairs with their multiplicities are the data; zero counts contribute nothing.

References
----------
.. [1] R. Madsen, D. Kauchak and C. Elkan, Modeling word burstiness using the Dirichlet distribution, ICML 2005.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from bayesnb.models import choose_form, class_probabilities
from bayesnb.models._parts import FORMS, refuse_small, refuse_unfit, starting_values, token_probabilities
from scipy import sparse

from bayesnb.events.multinomial import Posterior, Statistics

NEEDS = "documents"
TAKES = "multinomial"
AUXILIARY = ("g",)
MEDIAN, SPREAD = 100.0, 1.0  # of s, the spread in natural logarithms


def build(data, prior, form=None):
    """Write the model for labelled documents.

    Parameters
    ----------
    data : bayesnb.sampling.modelfiles.Documents
        Whole counts ``X`` (N, V) and codes ``y`` (N,), all known.
    prior : bayesnb.events.multinomial.Prior
        Of theta, and the concentrations of phi, (K, V).
    form : {"gamma", "dirichlet"}, optional
        How phi is written; the posterior is the same.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, phi (class, token) and s (class).

    Raises
    ------
    ValueError
        A document without label, fewer than two tokens, fractional counts, an unknown form, data of probability 0, or
        in the gamma form a concentration below 0.2 of a token that no document of the class holds.
    """
    form = choose_form(form, FORMS)
    refuse_unfit(data.X)
    seen = _totals(data)
    refuse_small(prior.phi + seen.feature_count, form)
    held, times = _entries(data)
    lengths, documents = _lengths(data)
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        class_probabilities(seen, prior.theta)
        k, j, x = (pm.Data(f"entry_{name}", held[:, i], dims="entry") for i, name in enumerate(("class", "token", "x")))
        m = pm.Data("entry_documents", times, dims="entry")
        of, n = (pm.Data(f"length_{name}", lengths[:, i], dims="length") for i, name in enumerate(("class", "n")))
        d = pm.Data("length_documents", documents, dims="length")
        median, spread = pm.Data("s_median", MEDIAN), pm.Data("s_spread", SPREAD)

        phi = token_probabilities(prior.phi, form, weight=seen.token_total)
        s = pm.LogNormal("s", pt.log(median), spread, dims="class")
        c = s[k] * phi[k, j]
        pm.Potential("x", m * (pt.gammaln(c + x) - pt.gammaln(c)), dims="entry")
        pm.Potential("n", -d * (pt.gammaln(s[of] + n) - pt.gammaln(s[of])), dims="length")
    return model


def start(data, prior, form=None):
    """Point where every chain starts: the multinomial fit, and s beside its median, where its prior is level."""
    posterior = Posterior(prior, _totals(data))
    return starting_values(posterior, choose_form(form, FORMS)) | {"s": np.full(data.n_classes, 1.001 * MEDIAN)}


def _totals(data):
    unknown = np.flatnonzero(data.y < 0)
    if len(unknown):
        raise ValueError(f"row {unknown[0]} has no label, which this model needs; leave such documents out")
    return Statistics.from_documents(data.X, data.y, data.n_classes)


def _entries(data):
    """Distinct (class, token, x) with x > 0, as whole numbers (M, 3), and how many documents show each."""
    X = sparse.coo_array(data.X)
    at = X.data > 0
    row, column = (part[at] for part in X.coords)
    triples = np.column_stack([data.y[row], column, X.data[at]]).astype(np.int64)
    return _distinct(triples)


def _lengths(data):
    """Distinct (class, n) as whole numbers (M, 2), and how many documents have each."""
    n = np.asarray(data.X.sum(axis=1)).ravel()
    return _distinct(np.column_stack([data.y, n]).astype(np.int64))


def _distinct(rows):
    found, times = np.unique(rows, axis=0, return_counts=True)
    return found, times.astype(np.float64)
