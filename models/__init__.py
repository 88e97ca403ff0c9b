"""The generative models, one page of PyMC each; a user's own file follows the same contract.

A model file has one function::

    def build(data, prior, form=None) -> pymc.Model

`data` holds the totals (an event model's ``Statistics``), `prior` the same event model's ``Prior``. The model has dims
named ``class`` and ``token`` with the coordinates 0..K-1 and 0..V-1 (names are put on after sampling, so they may be
anything), parameters named ``theta`` and ``phi``, and takes all data through `pymc.Data`, so that it can be fitted
again to other data without compiling again. Optional constants of the file:

``FORMS``
    Names that `form` may take, the default first.
``LARGE``
    Form that is sampled, unless told otherwise, where phi has too many cells to compile the data into the density.
``NEEDS = "documents"``
    `data` is a `bayesnb.sampling.Documents` in place of totals.
``TAKES``
    Event model of the posterior that one of our own files is sampled for, where it is not the file's name.
``AUXILIARY``
    Names of variables that are not worth keeping in the draws.
``EVENT``
    Name of the event model whose closed form it has, for `bayesnb.verify` and `bayesnb.calibrate`; by default the first
    that it can be built for.

and functions:

``start(data, prior, form=None)``
    Returns a value for some of the variables, by name: where every chain starts, without jitter.
``complete(draws, data, prior, rng)``
    Returns draws, by name, of what the model has integrated out or left to be computed; `draws` holds those of its
    parameters, arrays of shape (chains, draws, ...). A parameter returned as None is dropped.
"""

import numpy as np

__all__ = ["choose_form", "class_probabilities", "whole"]


def choose_form(form, forms):
    """Return `form`, or the first of `forms` where it is None; ValueError where it is none of them."""
    if form is None:
        return forms[0]
    if form not in forms:
        raise ValueError(f"form must be one of {', '.join(forms)}; got {form!r}")
    return form


def whole(counts, name):
    """Counts as float64 whole numbers: PyMC's count distributions have no fractional values.

    Raises
    ------
    ValueError
        A total is fractional, as fractional sample weights make it.
    """
    counts = np.asarray(counts, np.float64)
    bad = np.argwhere(counts != np.floor(counts))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise ValueError(
            f"{name} is {counts[at]:g} at {at}: only whole counts can be sampled with PyMC; fit without fractional "
            "sample weights, or take the exact draws of posterior.draw"
        )
    return counts


def class_probabilities(data, prior):
    """Write the part that every model with labelled documents shares, inside the current model.

    theta ~ Dirichlet(a_theta) and n ~ Multinomial(N, theta), n the documents in each class. Where the class prior is
    known, or there is one class only, theta is data.

    Parameters
    ----------
    data : Statistics
        Of K classes; `class_count` is n.
    prior : bayesnb.events.theta.ClassPrior
        Concentrations a_theta, or the known theta.

    Returns
    -------
    theta, class_count : TensorVariable, shape (K,)

    Raises
    ------
    ValueError
        A class of known probability 0 has documents, or a total is fractional.
    """
    import pymc as pm

    n = whole(data.class_count, "class_count")
    known = np.ones(1) if len(n) == 1 else prior.known
    if known is None:
        theta = pm.Dirichlet("theta", pm.Data("theta_concentration", prior.concentration, dims="class"), dims="class")
    else:
        _refuse_impossible(known, n)
        theta = pm.Data("theta", known, dims="class")
    class_count = pm.Data("class_count", n, dims="class")
    pm.Multinomial("n_class", n=class_count.sum(), p=theta, observed=class_count, dims="class")
    return theta, class_count


def _refuse_impossible(known, n):
    bad = np.flatnonzero((known == 0) & (n > 0))
    if len(bad):
        k = int(bad[0])
        raise ValueError(
            f"class {k} has known probability 0 but {n[k]:g} documents: such data cannot occur; "
            "give it a positive class prior"
        )
