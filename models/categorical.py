"""The categorical event model: a document is one category in each of some columns.

The story, for K classes and J columns, column j with C_j categories; a cell is a column with one of its categories, V
cells in all. Class k has n_k documents, n_kjc of them with category c in column j, N_kj with any value there::

    theta  ~ Dirichlet(a_theta)               how common each class is (a constant where it is known)
    phi_kj ~ Dirichlet(a_kj)                  how often a document of class k has each category of column j
    y_i    ~ Categorical(theta)               the class of document i
    x_ij   ~ Categorical(phi_kj), k = y_i     its category in column j, independently; a missing one drops out

Only totals matter, n_kj. ~ Multinomial(N_kj, phi_kj), the density of the single documents times coefficients that are
free of phi. The posterior is

    p(theta, phi | D) = Dirichlet(theta; a_theta + n) prod_kj Dirichlet(phi_kj; a_kj + n_kj.)          [1, section 3.4]

It is the multinomial model column by column, and so are its two forms. ``form="dirichlet"`` is the model as told.
``form="gamma"``, the default, has the same posterior for phi, for any constants s_kj > 0::

    g_kjc ~ Gamma(a_kjc, 1),    phi_kj = g_kj / sum_c g_kjc,    n_kjc ~ Poisson(s_kj g_kjc)

Proof. The g of one column and class are independent of all others, so it is enough to look at one column, where these
are the lines of the multinomial model: phi_kj ~ Dirichlet(a_kj) independent of the sum of g_kj, counts multinomial
given their total, and a total that does not involve phi_kj; `bayesnb.models.multinomial` has the factors. Each column
and class adds NegativeBinomial(N_kj; A_kj, 1/(1 + s_kj)) to the evidence, A_kj = sum_c a_kjc, for its total has become
data. s_kj = N_kj/A_kj keeps g on the scale of its prior.

When to use which: read the Dirichlet form; sample the gamma form, one variable of independent coordinates where the
other has J simplexes, and not below concentrations of about 0.2. In practice the closed form answers at once
(`bayesnb.CategoricalNB`); sample to see that it is right, or to extend the model.

References
----------
.. [1] A. Gelman et al., Bayesian Data Analysis, 3rd ed., CRC Press 2013.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from bayesnb.models import choose_form, class_probabilities, whole

FORMS = ("gamma", "dirichlet")
AUXILIARY = ("g",)


def build(data, prior, form=None):
    """Write the model for the totals `data` under `prior`.

    Parameters
    ----------
    data : bayesnb.events.categorical.Statistics
        ``class_count`` (K,), ``feature_count`` (K, V), whole numbers, and ``block`` (V,), the column of each cell.
    prior : bayesnb.events.categorical.Prior
        Of theta, and the concentrations of phi, (K, V).
    form : {"gamma", "dirichlet"}, optional
        How it is written; the posterior is the same.

    Returns
    -------
    pymc.Model
        With theta (class) unless it is known, and phi (class, token), a token being a cell; in the Dirichlet form also
        the parts of phi, ``phi_0`` and so on.

    Raises
    ------
    ValueError
        Fractional totals, an unknown form, no cell, a column with one category, or data of probability 0.
    """
    form = choose_form(form, FORMS)
    columns = _columns(data)
    n = whole(data.feature_count, "feature_count")
    cells = ("class", "token")
    with pm.Model(coords={"class": np.arange(data.n_classes), "token": np.arange(data.n_tokens)}) as model:
        class_probabilities(data, prior.theta)
        a = pm.Data("phi_concentration", prior.phi, dims=cells)

        if form == "dirichlet":
            parts = []
            for j, of_column in columns.items():
                n_j = pm.Data(f"feature_count_{j}", n[:, of_column], dims=("class", f"category_{j}"))
                phi_j = pm.Dirichlet(f"phi_{j}", a[:, of_column], dims=("class", f"category_{j}"))
                pm.Multinomial(f"n_{j}", n=n_j.sum(axis=1), p=phi_j, observed=n_j, dims=("class", f"category_{j}"))
                parts.append(phi_j)
            place = np.argsort(np.concatenate(list(columns.values())))
            pm.Deterministic("phi", pt.concatenate(parts, axis=1)[:, place], dims=cells)
        else:
            n = pm.Data("feature_count", n, dims=cells)
            member = data.member.toarray()
            total, strength = (n @ member)[:, data.block], (a @ member)[:, data.block]
            s = pt.switch(pt.eq(total, 0), 1.0, total / strength)  # a column without values: any s does
            g = pm.Gamma("g", a, 1.0, dims=cells)
            pm.Deterministic("phi", g / (g @ member)[:, data.block], dims=cells)
            pm.Poisson("n_token", s * g, observed=n, dims=cells)
    return model


def _columns(data):
    """Cells of each column that has any; a single one would make phi a constant."""
    columns = {j: np.flatnonzero(data.block == j) for j in np.unique(data.block).tolist()}
    if not columns:
        raise ValueError("there is no cell, so there is no phi to sample")
    for j, cells in columns.items():
        if len(cells) < 2:
            raise ValueError(
                f"column {data.columns[j]!r} has a single category, where phi is the constant 1: leave the column out, "
                "or declare a second category, such as with min_categories=2"
            )
    return columns
