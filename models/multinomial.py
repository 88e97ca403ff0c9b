"""The multinomial event model: a document is a sequence of tokens, each drawn from its class's phi.

The story, for K classes, V tokens and N documents, of which class k has n_k documents and n_kj tokens j:

    theta ~ Dirichlet(c)                         how common each class is (left out where it is known)
    phi_k ~ Dirichlet(a_k)                       how often class k writes each token
    y_i   ~ Categorical(theta)                   the class of document i
    token ~ Categorical(phi_k) for y_i = k       each token of document i, independently

Only the counts matter, so the likelihood is written for them, n ~ Multinomial(N, theta) and
n_k. ~ Multinomial(N_k, phi_k), which is the density of the sequences times coefficients free of the parameters:

    p(theta, phi | D) = Dirichlet(theta; c + n) prod_k Dirichlet(phi_k; a_k + n_k.)

`form="dirichlet"` is the model as just told. `form="gamma"`, the default, has the same posterior and is what to
sample from about a hundred tokens on: the simplex transform of `pm.Dirichlet` couples every coordinate to the last one, which the
sampler's diagonal mass matrix cannot follow, while here all coordinates are independent:

    g_kj ~ Gamma(a_kj, 1),   phi_k = g_k / sum_j g_kj,   n_kj ~ Poisson(c_k g_kj)

Why it is the same, for any constant c_k > 0. Write g_k = s phi_k with s = sum_j g_kj. Independent gammas of one rate have
phi_k ~ Dirichlet(a_k), independent of s ~ Gamma(A_k, 1), A_k = sum_j a_kj [1, ch. XI.4]. Independent Poissons given their total N_k
are Multinomial(N_k, phi_k), and N_k ~ Poisson(c_k s) does not depend on phi_k. So the density splits into

    Dirichlet(phi_k; a_k) Multinomial(n_k.; N_k, phi_k)   x   Gamma(s; A_k, 1) Poisson(N_k; c_k s),

whose first factor is the Dirichlet form and whose second does not know phi_k. The total itself has become data: the evidence gains
NegBin(N_k; A_k, 1/(1 + c_k)). c_k = N_k/A_k gives g the scale of its prior. Not for documents whose class is uncertain: there the total would vote on the class.

When to use: to see, check or extend the model. Its posterior is known in closed form (`bayesnb.MultinomialNB`).

References
----------
.. [1] L. Devroye, Non-Uniform Random Variate Generation, Springer 1986.
.. [2] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC 2013, section 3.4.
.. [3] A. McCallum and K. Nigam, A comparison of event models for naive Bayes text classification, AAAI-98 workshop.
"""
import numpy as np
import pymc as pm
import pytensor.tensor as pt


def build(data, prior, form=None):
    form = form or "gamma"
    coords = {"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}
    with pm.Model(coords=coords) as model:
        c0 = pm.Data("theta_concentration", prior.theta.concentration, dims="class")
        theta = pm.Dirichlet("theta", c0, dims="class")
        cc = pm.Data("class_count", data.class_count.astype(int), dims="class")
        pm.Multinomial("y", n=cc.sum(), p=theta, observed=cc, dims="class")
        a = pm.Data("phi_concentration", prior.phi, dims=("class", "token"))
        count = pm.Data("token_count", data.feature_count.astype(int), dims=("class", "token"))
        total = count.sum(-1)
        if form == "gamma":
            c = pt.switch(pt.eq(total, 0), 1.0, total / a.sum(-1))
            g = pm.Gamma("g", a, 1.0, dims=("class", "token"))
            pm.Deterministic("phi", g / g.sum(-1, keepdims=True), dims=("class", "token"))
            pm.Poisson("x", c[:, None] * g, observed=count, dims=("class", "token"))
        else:
            phi = pm.Dirichlet("phi", a, dims=("class", "token"))
            pm.Multinomial("x", n=total, p=phi, observed=count, dims=("class", "token"))
    return model
