"""Ranking tokens by how surely they differ, and how many wrong directions that ranking may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray


def expected_wrong_direction(log_lower: Array, log_upper: Array, wrong: Array) -> Array:
    """Share of wrong directions to expect among all tokens ranked at least as high.

    Tokens rank by the end of their interval that lies nearest 1, max(log lower, -log upper), the surest first; tokens
    that tie keep their order.

    Parameters
    ----------
    log_lower, log_upper : ndarray, shape (V,)
        Ends of the intervals of the log ratio.
    wrong : ndarray, shape (V,)
        Probability that the token's direction is the other one, min(P, 1 - P).

    Returns
    -------
    ndarray, shape (V,)
        Running mean of `wrong` down the ranking, in token order.

    References
    ----------
    M. Stephens, False discovery rates: a new deal, Biostatistics 18 (2017): the s-value, a running mean of local false
    sign rates; there in the order of these rates, here of the intervals' ends.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.contrast import expected_wrong_direction
    >>> lower, upper = np.array([-0.5, 1.0, -2.0]), np.array([0.4, 2.0, -0.5])
    >>> expected_wrong_direction(lower, upper, np.array([0.4, 0.01, 0.02])).round(3).tolist()
    [0.143, 0.01, 0.015]
    """
    order = np.argsort(-np.maximum(log_lower, -log_upper), kind="stable")
    out = np.empty(len(order))
    out[order] = np.cumsum(np.asarray(wrong)[order]) / np.arange(1, len(order) + 1)
    return out


def surest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a `token_ratios` table ranked by the interval end nearest 1, max(log lower, -log upper).

    Tokens that tie keep their order.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `token_ratios`, or any with its columns ``log_lower`` and ``log_upper``.

    Returns
    -------
    pandas.DataFrame
        The same rows in another order.

    Raises
    ------
    ValueError
        No row, or an interval that is missing.

    Examples
    --------
    >>> import bayesnb
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> bayesnb.contrast.surest_first(tc.token_ratios("spam", "ham")).index[:2].tolist()
    ['investors', 'coffee']
    """
    nearest = np.maximum(table["log_lower"].to_numpy(float), -table["log_upper"].to_numpy(float))
    if not len(table) or np.isnan(nearest).any():
        raise ValueError("there is no token to rank, or an interval is missing; give a table with its intervals")
    return table.iloc[np.argsort(-nearest, kind="stable")]
