"""Evidence that two classes differ in a token, against that they share its probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesnb.logbeta import log_separate_gain

Array = np.ndarray


def log_bayes_factor(
    n1: ArrayLike, total1: ArrayLike, n2: ArrayLike, total2: ArrayLike,
    prior1: tuple[ArrayLike, ArrayLike], prior2: tuple[ArrayLike, ArrayLike],
    shared: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:  # fmt: skip
    """Log Bayes factor of "different" against "same", above 0 where the data favour a difference.

    With (b1, b2), (m1, m2) and (h1, h2) the shapes of `prior1`, `prior2` and `shared`, and the sequences of tokens as
    the data (no binomial coefficient on either side):

        log [B(b1 + n1, b2 + N1 - n1) B(m1 + n2, m2 + N2 - n2) / (B(b1, b2) B(m1, m2))]
        - log [B(h1 + n1 + n2, h2 + N1 + N2 - n1 - n2) / B(h1, h2)]

    It falls without bound as the prior widens: with shapes eps (p, 1 - p) it falls by log(10) for every tenth of eps,
    whatever the counts of a token that both classes hold. So it is only as good as the prior, and a vague prior is no
    neutral one; intervals and P(ratio > 1) hardly move meanwhile.

    Parameters
    ----------
    n1, total1, n2, total2 : array_like
        Occurrences of the token and of all tokens, in either class.
    prior1, prior2 : pair of array_like
        Shapes of the Beta prior of phi in either class: the token's concentration, and that of all others.
    shared : pair of array_like, optional
        Shapes of the prior of the one phi under "same". By default what both classes have.

    Returns
    -------
    ndarray
        Natural log; the same number, bit for bit, with the two classes exchanged. NaN where a count is no integer (a
        sequence of tokens has none), and where the two priors differ and `shared` is not given.

    Raises
    ------
    ValueError
        A count that is negative or above its total, or a shape that is not above 0 and finite.

    References
    ----------
    Kass and Raftery (1995), "Bayes factors", sections 3 and 5; Bartlett (1957) on vague priors.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.contrast import log_bayes_factor
    >>> round(float(np.exp(log_bayes_factor(2, 3, 0, 2, (1, 1), (1, 1)))), 12)
    1.666666666667
    """
    arrays = (n1, total1, n2, total2, *prior1, *prior2, *(prior1 if shared is None else shared))
    n1, N1, n2, N2, *shapes = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in arrays))
    _refuse_impossible(n1, N1, n2, N2, shapes)
    b, m, h = (tuple(shapes[i : i + 2]) for i in (0, 2, 4))
    first, second = (n1, np.maximum(N1 - n1, 0)), (n2, np.maximum(N2 - n2, 0))
    # the terms are added up in the order of the classes: the mean of both orders has none
    answer = (log_separate_gain(b, first, m, second, h) + log_separate_gain(m, second, b, first, h)) / 2
    known = np.all([v == np.floor(v) for v in (n1, N1, n2, N2)], axis=0)
    if shared is None:
        known &= (b[0] == m[0]) & (b[1] == m[1])
    return np.where(known, answer, np.nan)


def _refuse_impossible(n1: Array, N1: Array, n2: Array, N2: Array, shapes: list[Array]) -> None:
    for side, n, total in ((1, n1, N1), (2, n2, N2)):
        # weighted sums may differ by rounding
        bad = np.flatnonzero(~((n >= 0) & (n <= total * (1 + 1e-12)) & np.isfinite(total)))
        if bad.size:
            i = bad[0]
            raise ValueError(
                f"n{side} is {n.flat[i]:g} of total{side} = {total.flat[i]:g} in row {i}; it must be 0 to that total"
            )
    for name, v in zip(("prior1", "prior1", "prior2", "prior2", "shared", "shared"), shapes, strict=True):
        bad = np.flatnonzero(~(np.isfinite(v) & (v > 0)))
        if bad.size:
            raise ValueError(
                f"{name} must be shapes above 0 and finite, got {v.flat[bad[0]]:g} in row {bad[0]}: under an improper "
                "prior there is no evidence"
            )
