"""MLE, Laplace, MAP and posterior mean of the same counts, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb.model import Settings, State

if TYPE_CHECKING:
    import pandas as pd


def compare_estimates(settings: Settings, state: State) -> pd.DataFrame:
    """Every estimate of phi, a row per class and token.

    Parameters
    ----------
    settings : Settings
        `alpha` is the Laplace pseudo-count s and `prior` the concentration a of phi; the MAP and the mean are both of
        that one posterior.
    state : State
        What was learnt.

    Returns
    -------
    DataFrame
        Indexed by class and token: ``count``, ``total``, ``mle`` (n/N, NA where 0/0), ``laplace`` ((n + s)/(N + s V);
        Bernoulli N + 2 s), ``map`` (NA where there is no mode), ``mean``, and ``map_minus_laplace``. Which prior was
        used stands in ``.attrs["prior"]``.

    Notes
    -----
    Under the default prior, a = 1 + s, the MAP and the Laplace estimate are one formula reached by two routes; the
    difference shows rounding only. The mean of that posterior is (n + 1 + s)/(N + (1 + s) V), another number.
    """
    import pandas as pd

    posterior: Any = settings.posterior(state)
    n = state.statistics.feature_count
    bernoulli = settings.event == "bernoulli"
    total = (state.statistics.class_count if bernoulli else n.sum(axis=1))[:, None]
    s = np.broadcast_to(np.asarray(settings.alpha, float), (state.statistics.n_tokens,))
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
    index = pd.MultiIndex.from_product([state.classes.tolist(), state.tokens.tolist()], names=["class", "token"])
    table = pd.DataFrame({name: value.ravel() for name, value in columns.items()}, index=index)
    table.attrs["prior"] = posterior.prior.describe()
    return table


def _mode_or_missing(posterior) -> np.ndarray:
    try:
        return posterior.phi_hat("map")
    except ValueError:
        return np.full(posterior.statistics.feature_count.shape, np.nan)
