"""Token contrasts between two classes: the exact posterior of phi_a / phi_b, its direction, Bayes factors, a ranking.

Both classes' probabilities of a token have Beta posteriors (for the multinomial, the margin of the Dirichlet),
independent of each other, so the ratio's law is known exactly; `bayesnb.contrast.quadrature` says how it is computed.
The ratio's mean is not reported, since it is infinite wherever the denominator's first shape is at most 1; its median
is, and the mean of its log.

`law` has the ratio's distribution, `evidence` the Bayes factor, `table` what users see.
"""

from bayesnb.contrast.evidence import log_bayes_factor
from bayesnb.contrast.law import (
    log_ratio_cdf,
    log_ratio_mean,
    log_ratio_quantile,
    log_ratio_sd,
    prob_greater,
)
from bayesnb.contrast.ranking import expected_wrong_direction, surest_first
from bayesnb.contrast.table import token_ratios

__all__ = [
    "expected_wrong_direction",
    "log_bayes_factor",
    "log_ratio_cdf",
    "log_ratio_mean",
    "log_ratio_quantile",
    "log_ratio_sd",
    "prob_greater",
    "surest_first",
    "token_ratios",
]
