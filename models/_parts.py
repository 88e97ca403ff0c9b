"""Parts that several models beyond conjugacy are written with: phi in two forms, theta alone, documents as data."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import sparse

FORMS = ("gamma", "dirichlet")
SMALLEST = 0.2  # concentrations below it spread g over so many orders of magnitude that chains stand still unnoticed


def token_probabilities(concentration, form, weight):
    """Write phi_k ~ Dirichlet(a_k) inside the current model, as it reads or as it samples well.

    ``form="gamma"``: g_kj ~ Gamma(a_kj, 1) and phi_k = g_k / s_k, s_k = sum_j g_kj. Then phi_k ~ Dirichlet(a_k) is
    independent of s_k ~ Gamma(A_k, 1), A_k = sum_j a_kj. The data speak of phi only, so s_k may be given any other law
    without a change to phi: here Gamma(A_k + w_k, 1 + w_k/A_k), of the same mean, by the factor s^w exp(-s w/A) and its
    constant. With w_k near the number of tokens that class k has, phi's likelihood prod_j (g_kj/s_k)^n_kj loses its s:
    the coordinates of g are nearly independent, as the sampler likes them. (A Poisson likelihood for g, as in
    multinomial.py, would do this by the observed total of the class, which here nobody knows.)

    Parameters
    ----------
    concentration : ndarray, shape (K, V)
        a.
    form : {"gamma", "dirichlet"}
    weight : ndarray, shape (K,)
        w, any constants >= 0.

    Returns
    -------
    TensorVariable, shape (K, V)
    """
    cells = ("class", "token")
    a = pm.Data("phi_concentration", concentration, dims=cells)
    if form == "dirichlet":
        return pm.Dirichlet("phi", a, dims=cells)
    w = pm.Data("scale_weight", np.asarray(weight, float), dims="class")
    g = pm.Gamma("g", a, 1.0, dims=cells)
    s, total = g.sum(axis=1), a.sum(axis=1)
    rate = 1 + w / total
    constant = pt.gammaln(total) - pt.gammaln(total + w) + (total + w) * pt.log(rate)
    pm.Potential("scale", w * pt.log(s) - (w / total) * s + constant, dims="class")
    return pm.Deterministic("phi", g / s[:, None], dims=cells)


def class_prior(theta):
    """Write theta ~ Dirichlet(a_theta) inside the current model; where it is known, or there is one class, it is data.

    Parameters
    ----------
    theta : bayesnb.events.theta.ClassPrior

    Returns
    -------
    TensorVariable, shape (K,)
    """
    known = np.ones(1) if theta.n_classes == 1 else theta.known
    if known is not None:
        return pm.Data("theta", known, dims="class")
    return pm.Dirichlet("theta", pm.Data("theta_concentration", theta.concentration, dims="class"), dims="class")


def entries(X):
    """Where the counts of documents are not 0, as data of the current model with the dim ``entry``.

    Text is sparse: 2 % of the cells, and of the time that a product with the dense matrix would take.

    Parameters
    ----------
    X : sparse array or array_like, shape (N, V)
        Whole counts.

    Returns
    -------
    row, column, count : TensorVariable, shape (M,)
    """
    X = sparse.csr_array(X).tocoo()
    count = X.data
    parts = {"entry_row": X.coords[0], "entry_token": X.coords[1], "entry_count": count}
    return [pm.Data(name, values.astype(np.float64 if values is count else np.int64), dims="entry")
            for name, values in parts.items()]  # fmt: skip


def log_joint(theta, phi, held, n_documents):
    """Log theta_k + sum_j x_ij log phi_kj, shape (N, K): of the token sequence, without multinomial coefficient.

    `held` is what `entries` gave.
    """
    row, column, count = held
    terms = count[:, None] * pt.log(phi).T[column]
    none = pt.zeros((n_documents, phi.shape[0]))
    return pt.log(theta)[None, :] + pt.inc_subtensor(none[row], terms)


def starting_values(posterior, form):
    """A point of the model, a thousandth beside the posterior means of theta and phi; g has the mean of its sum.

    At the means themselves the gradient can be exactly 0, which nutpie takes for an error.

    Parameters
    ----------
    posterior : bayesnb.events.multinomial.Posterior
    form : {"gamma", "dirichlet"}

    Returns
    -------
    dict of str to ndarray
    """
    phi = _beside(posterior.phi_hat("mean"))
    point = {"phi": phi} if form == "dirichlet" else {"g": phi * posterior.prior.phi.sum(axis=1, keepdims=True)}
    if posterior.prior.theta.known is None and len(posterior.classes) > 1:
        point["theta"] = _beside(posterior.theta_hat("mean"))
    return point


def _beside(p):
    """Probabilities moved by up to a thousandth of each: multiples of the golden ratio, so that none stays in place."""
    moved = p * (1 + 1e-3 * (0.6180339887498949 * np.arange(p.shape[-1]) % 1))
    return moved / moved.sum(axis=-1, keepdims=True)


def refuse_small(concentration, form):
    """Raise a ValueError where the gamma form would fail without a sign."""
    at = np.argwhere(concentration < SMALLEST)
    if form == "gamma" and len(at):
        k, j = (int(i) for i in at[0])
        raise ValueError(
            f"the concentration of token {j} in class {k} is {concentration[k, j]:.3g}: below {SMALLEST} the sampler "
            "fails without a sign; give a larger prior"
        )


def refuse_unfit(X):
    """Raise a ValueError where phi would be no random variable, or a count is fractional."""
    if X.shape[1] < 2:
        raise ValueError(f"phi over {X.shape[1]} token is no random variable: the vocabulary needs at least two")
    X = sparse.coo_array(X)
    bad = np.flatnonzero(X.data != np.floor(X.data))
    if len(bad):
        i, j = (int(part[bad[0]]) for part in X.coords)
        raise ValueError(f"X is {X.data[bad[0]]:g} in row {i}, column {j}: only whole counts can be sampled with PyMC")
