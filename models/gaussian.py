"""The Gaussian event model: a document is a row of measurements, each normal on its own.

The story, for K classes and V columns; class k has N_k documents, n_kj of which have a value in column j (all of them,
unless values are missing)::

    theta     ~ Dirichlet(a_theta)                            how common each class is (a constant where it is known)
    sigma2_kj ~ InverseGamma(alpha0, beta0)                   how far values of column j spread in class k
    mu_kj     ~ Normal(m0, sigma2_kj / kappa0)                where they lie
    y_i       ~ Categorical(theta)                            the class of document i
    x_ij      ~ Normal(mu_kj, sigma2_kj), k = y_i             each value of document i, independently

Only number, mean and sum of squared deviations M2 of the values matter, so the likelihood is written for them, as a
potential: sum (x - mu)^2 = M2 + n (mean - mu)^2, and

    log p(x | mu, sigma2) = -n/2 log(2 pi sigma2) - (M2 + n (mean - mu)^2) / (2 sigma2)

The posterior is, with the four parameters of `NormalInverseGamma.updated`,

    p(theta, mu, sigma2 | D) = Dirichlet(theta; a_theta + n) prod_kj NormalInverseGamma(mu_kj, sigma2_kj; m_n, kappa_n,
                               alpha_n, beta_n)                                                        [1, section 3.3]

Its cells are independent, and in each the width of mu grows with sigma2: a funnel, the wider the fewer values there
are. With three values a cell the draws agree with the closed form (a test); with fewer let `check_agreement` judge.
In practice the closed form answers at once
(`bayesnb.GaussianNB`); sample to see that it is right, or to extend the model.

References
----------
.. [1] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC Press 2013.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from bayesnb.models import choose_form, class_probabilities

FORMS = ("moments",)


def build(data, prior, form=None):
    """Write the model for the totals `data` under `prior`.

    Parameters
    ----------
    data : bayesnb.events.gaussian.Statistics
        ``class_count`` (K,), whole numbers, and ``n``, ``mean`` and ``M2`` (K, V).
    prior : bayesnb.events.gaussian.Prior
        Of theta, and of mu and sigma2, a NormalInverseGamma of shape (K, V).
    form : {"moments"}, optional
        There is one.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and mu and sigma2 (class, token).

    Raises
    ------
    ValueError
        Fractional class totals, an unknown form, no column, no prior, or data of probability 0.
    """
    choose_form(form, FORMS)
    if not data.n_tokens:
        raise ValueError("there is no column, so there is no mu to sample")
    if prior.normal is None:
        raise ValueError(
            "there is no prior of mu and sigma2 to sample from: fit with prior='weak' or a NormalInverseGamma"
        )
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        class_probabilities(data, prior.theta)
        names = ("m0", "kappa0", "alpha0", "beta0")
        m0, kappa0, alpha0, beta0 = (pm.Data(name, getattr(prior.normal, name), dims=cells) for name in names)
        n, mean, m2 = (pm.Data(name, getattr(data, name), dims=cells) for name in ("n", "mean", "M2"))

        sigma2 = pm.InverseGamma("sigma2", alpha0, beta0, dims=cells)
        mu = pm.Normal("mu", m0, sigma=pt.sqrt(sigma2 / kappa0), dims=cells)
        squares = m2 + n * (mean - mu) ** 2
        pm.Potential("x", -n / 2 * pt.log(2 * np.pi * sigma2) - squares / (2 * sigma2), dims=cells)
    return model
