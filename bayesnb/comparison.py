"""MLE, Laplace, MAP and posterior mean of the same counts, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb.contrast.sides import index_of
from bayesnb.events.priors import pseudo_count

if TYPE_CHECKING:
    import pandas as pd

    from bayesnb.storage import Model


def compare_estimates(model: Any) -> pd.DataFrame:
    """Every estimate of phi of one posterior, a row per class and token.

    Parameters
    ----------
    model : fitted TextClassifier, MultinomialNB, BernoulliNB, or Model
        Its `alpha` is the Laplace pseudo-count s and its `prior` the concentration a of phi; the MAP and the mean are
        both of that one posterior.

    Returns
    -------
    DataFrame
        Indexed by class and token: ``count``, ``total``, ``mle`` (n/N, NA where 0/0), ``laplace`` ((n + s)/(N + s V);
        Bernoulli N + 2 s), ``map`` (NA where there is no mode), ``mean``, and ``map_minus_laplace``. Which prior was
        used stands in ``.attrs["prior"]``.

    Raises
    ------
    ValueError
        The model is not fitted, or not of tokens.

    Notes
    -----
    Under the default prior, a = 1 + s, the MAP and the Laplace estimate are one formula reached by two routes; the
    difference shows rounding only. The mean of that posterior is (n + 1 + s)/(N + (1 + s) V), another number.

    Examples
    --------
    >>> import bayesnb
    >>> corpus = bayesnb.load_toy_spam()
    >>> clf = bayesnb.TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    >>> table = bayesnb.compare_estimates(clf)
    >>> table.loc[("spam", "free"), ["count", "mle", "laplace", "map", "mean"]].round(3).tolist()
    [2.0, 0.133, 0.103, 0.103, 0.093]
    """
    import pandas as pd

    stored = of_tokens(model)
    settings, state = stored.settings, stored.state
    posterior: Any = settings.posterior(state)
    n = state.statistics.feature_count
    bernoulli = settings.event == "bernoulli"
    total = (state.statistics.class_count if bernoulli else n.sum(axis=1))[:, None]
    s = pseudo_count(settings.alpha, state.statistics.n_tokens)
    with np.errstate(invalid="ignore", divide="ignore"):
        mle, laplace = n / total, (n + s) / (total + (2 * s if bernoulli else s.sum()))
    columns = {
        "count": n,
        "total": np.broadcast_to(total, n.shape),
        "mle": mle,
        "laplace": laplace,
        "map": _mode_or_missing(posterior),
        "mean": posterior.phi.mean(),
    }
    columns["map_minus_laplace"] = columns["map"] - columns["laplace"]
    index = pd.MultiIndex.from_product([index_of(state.classes), index_of(state.tokens)], names=["class", "token"])
    table = pd.DataFrame({name: value.ravel() for name, value in columns.items()}, index=index)
    table.attrs["prior"] = posterior.prior.describe()
    return table


def of_tokens(model: Any) -> Model:
    """The settings and totals of a fitted estimator, or of a model file; ValueError where they are not of tokens."""
    if hasattr(model, "_model"):
        if not hasattr(model, "posterior_"):
            raise ValueError(f"{type(model).__name__} is not fitted; call fit first")
        model = model._model()
    event = getattr(getattr(model, "settings", None), "event", type(model).__name__)
    if event not in ("multinomial", "bernoulli"):
        raise ValueError(f"a fitted model of tokens is needed, multinomial or Bernoulli; got {event}")
    return model


def _mode_or_missing(posterior) -> np.ndarray:
    try:
        return posterior.phi_hat("map")
    except ValueError:
        return np.full(posterior.statistics.feature_count.shape, np.nan)
