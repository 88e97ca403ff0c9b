"""bayesnb: naive Bayes whose parameters are posteriors.

Names are loaded when first used, so that ``import bayesnb`` stays light: neither scikit-learn nor PyMC is imported
before it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "MultinomialNB": "bayesnb.estimators",
    "BernoulliNB": "bayesnb.estimators",
    "CategoricalNB": "bayesnb.estimators",
    "GaussianNB": "bayesnb.estimators",
    "TextClassifier": "bayesnb.estimators",
    "load": "bayesnb.estimators",
    "Scorer": "bayesnb.scorer",
    "Dirichlet": "bayesnb.families",
    "Beta": "bayesnb.families",
    "NormalInverseGamma": "bayesnb.families",
    "read_corpus": "bayesnb.corpus.readers",
    "load_toy_spam": "bayesnb.corpus.datasets",
    "load_federalist": "bayesnb.corpus.datasets",
    "select": "bayesnb.selection",
    "fit_power": "bayesnb.selection.power",
    "sample": "bayesnb.sampling",
    "check_agreement": "bayesnb.checks.agreement",
    "sample_prior_predictive": "bayesnb.checks.predictive",
    "sample_posterior_predictive": "bayesnb.checks.predictive",
    "verify": "bayesnb.checks.verification",
    "calibrate": "bayesnb.checks.calibration",
    "compare_estimates": "bayesnb.comparison",
    "plot_ratios": "bayesnb.plots",
    "plot_map_vs_laplace": "bayesnb.plots",
    "plot_agreement": "bayesnb.plots",
    "plot_shrinkage": "bayesnb.plots",
    "plot_class_probabilities": "bayesnb.plots",
    "plot_calibration": "bayesnb.plots",
    "plot_ranks": "bayesnb.plots",
    "plot_parameter": "bayesnb.plots",
    "plot_learning_curve": "bayesnb.plots",
}

_PARTS = {"contrast", "corpus", "distributed", "events", "models", "plots", "report", "sampling", "uncertainty"}
"""Submodules that are there without an import of their own."""

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.checks.calibration import calibrate
    from bayesnb.checks.predictive import sample_posterior_predictive, sample_prior_predictive
    from bayesnb.checks.verification import verify
    from bayesnb.comparison import compare_estimates
    from bayesnb.corpus.datasets import load_federalist, load_toy_spam
    from bayesnb.corpus.readers import read_corpus
    from bayesnb.estimators import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, TextClassifier, load
    from bayesnb.families import Beta, Dirichlet, NormalInverseGamma
    from bayesnb.plots import (
        plot_agreement,
        plot_calibration,
        plot_class_probabilities,
        plot_learning_curve,
        plot_map_vs_laplace,
        plot_parameter,
        plot_ranks,
        plot_ratios,
        plot_shrinkage,
    )
    from bayesnb.sampling import sample
    from bayesnb.scorer import Scorer
    from bayesnb.selection import select
    from bayesnb.selection.power import fit_power


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bayesnb")
    if name in _PARTS:
        return import_module(f"bayesnb.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'bayesnb' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
