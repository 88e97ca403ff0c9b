"""The scikit-learn face of the same posteriors."""

from os import PathLike, fspath

from bayesnb.estimators.base import PosteriorClassifier
from bayesnb.estimators.bernoulli import BernoulliNB
from bayesnb.estimators.categorical import CategoricalNB
from bayesnb.estimators.gaussian import GaussianNB
from bayesnb.estimators.matrix import MatrixClassifier
from bayesnb.estimators.multinomial import MultinomialNB
from bayesnb.estimators.text import TextClassifier
from bayesnb.storage import Model
from bayesnb.storage import load as load_model
from bayesnb.storage.tensorfile import naming

_MATRIX: dict[str, type[MatrixClassifier]] = {
    "multinomial": MultinomialNB,
    "bernoulli": BernoulliNB,
    "gaussian": GaussianNB,
    "categorical": CategoricalNB,
}

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "GaussianNB",
    "MatrixClassifier",
    "MultinomialNB",
    "PosteriorClassifier",
    "TextClassifier",
    "load",
    "restored",
]


def load(path: str | PathLike[str]) -> PosteriorClassifier:
    """Read a model file and return the fitted estimator that wrote it.

    Parameters
    ----------
    path : path-like
        A file written by an estimator's `save`.

    Returns
    -------
    TextClassifier, MultinomialNB, BernoulliNB, GaussianNB or CategoricalNB
        Predicts bit for bit as the one that was saved, and can go on learning.

    Raises
    ------
    ValueError
        The file is not a model file or is damaged; the message names file and field.
    OSError
        It cannot be read.

    Examples
    --------
    >>> import bayesnb
    >>> tc = bayesnb.TextClassifier().fit(["free prices", "coffee at ten"], ["spam", "ham"])
    >>> fingerprint = tc.save("mail.safetensors")
    >>> tc = bayesnb.load("mail.safetensors")
    >>> tc.partial_fit(["free coffee"], ["spam"]).class_count_.tolist()
    [1.0, 2.0]
    """
    model = load_model(path)
    with naming(f"model file {fspath(path)}"):
        return restored(model)


def restored(model: Model) -> PosteriorClassifier:
    """Return the fitted estimator that a model file's contents describe."""
    if model.kind == "text":
        return TextClassifier.from_model(model)
    return _MATRIX[model.settings.event].from_model(model)
