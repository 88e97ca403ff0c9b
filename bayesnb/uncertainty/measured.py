"""Class scores of documents of measurements: sums of log normal densities with unknown means and variances."""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

from bayesnb.events.gaussian import BLOCK, Posterior
from bayesnb.normal import LOG_2PI, NormalInverseGamma
from bayesnb.uncertainty.cumulants import Documents, Terms, alternating, filled, polygamma, theta_cumulant, theta_terms
from bayesnb.uncertainty.inversion import LogGammaSum
from bayesnb.uncertainty.normalsum import NormalSum

_NONE = np.empty(0)


class Cells:
    """What the law of a cell's log density is made of, for each class and column, in the symbols of `normalsum`.

    Parameters
    ----------
    normal : NormalInverseGamma, shape (K, V)
        Posterior of mu and sigma2.
    """

    def __init__(self, normal: NormalInverseGamma) -> None:
        self.m, self.alpha = normal.m0, normal.alpha0
        with np.errstate(over="ignore"):  # what is infinite is refused where it meets a document
            self.v = 1 / normal.kappa0
        self.scale = np.sqrt(normal.beta0) * np.sqrt(2)
        self.constant = -(LOG_2PI + np.log(normal.beta0)) / 2
        self._coefficients: dict[int, np.ndarray] = {}

    def delta(self, k: int, column: Any, x: np.ndarray) -> np.ndarray:
        """Squared distance of values from a class, over 2 beta."""
        with np.errstate(over="ignore"):
            return ((x - self.m[k, column]) / self.scale[k, column]) ** 2

    def coefficients(self, orders: int) -> np.ndarray:
        """C with cumulant m = sum_i C[i, m - 1] delta^i, shape (orders + 1, orders, K, V)."""
        if orders not in self._coefficients:
            with np.errstate(over="ignore", invalid="ignore"):
                self._coefficients[orders] = self._new_coefficients(orders)
        return self._coefficients[orders]

    def _new_coefficients(self, orders: int) -> np.ndarray:
        """The transform's Taylor series, with u = v + delta and log(1 + delta r/(1 + v r)) = log(1+ur) - log(1+vr).

        Derivative m of that logarithm at 0 is l_m = (-1)^(m-1) (m-1)! (u^m - v^m), and hence cumulant m is
        psi_m(alpha)/2^m - alpha l_m - m l_(m-1)/2 - (-1)^(m-1) (m-1)! v^m / 2.
        """
        C = np.zeros((orders + 1, orders, *self.m.shape))
        C[0, 0] = self.constant
        for m in range(1, orders + 1):
            own, before = _sign(m) * factorial(m - 1), _sign(m - 1) * factorial(max(m - 2, 0)) * m / 2
            C[0, m - 1] += polygamma(m, self.alpha) / 2**m - own / 2 * self.v**m
            for i in range(1, m + 1):
                C[i, m - 1] -= own * comb(m, i) * self.alpha * self.v ** (m - i)
                if i < m:
                    C[i, m - 1] -= before * comb(m - 1, i) * self.v ** (m - 1 - i)
        return C

    def cumulants(self, k: int, column: np.ndarray, x: np.ndarray, orders: int) -> np.ndarray:
        """Cumulants of the log density of single values in some columns, shape (orders, values)."""
        delta, C = self.delta(k, column, x), self.coefficients(orders)[:, :, k][..., column]
        return sum(C[i] * delta**i for i in range(orders + 1))

    def sum(
        self, row: np.ndarray, column: np.ndarray, x: np.ndarray, steps: dict[int, float], others: Terms,
        shift: np.ndarray,
    ) -> NormalSum:  # fmt: skip
        """Sums over cells of step_k * log density given class k, one a row, beside other log-gamma terms and shifts."""
        gammas, parts, shift = list(others), [], shift.copy()
        for k, factor in steps.items():
            every = np.full(len(row), factor)
            alpha = self.alpha[k, column]
            gammas.append(filled(row, alpha, every / 2, 1.0))
            shift += np.bincount(row, every * self.constant[k, column], len(shift))
            parts.append((row, alpha, self.v[k, column], self.delta(k, column, x), every))
        row, c, step, weight = (np.concatenate(part) for part in zip(*gammas, strict=True))
        log_gammas = LogGammaSum(row, c, step, weight, shift, (_NONE, _NONE, _NONE))
        return NormalSum(log_gammas, *(np.concatenate(part) for part in zip(*parts, strict=True)))


def _sign(m: int) -> int:
    return 1 if m % 2 else -1


class Measured(Documents):
    """Documents of measurements; a missing cell (NaN) drops out.

    Raises
    ------
    ValueError
        Mu and sigma2 have no posterior.
    """

    posterior: Posterior
    orders = 6

    def __init__(self, posterior: Posterior, X: np.ndarray, power: float) -> None:
        super().__init__(posterior, X, power)
        self.cells = normal_cells(posterior)

    def score_cumulants(self, orders: int) -> np.ndarray:
        """Cumulants of every class score, shape (n, orders, K)."""
        n, v = self.X.shape
        C = self.cells.coefficients(orders)
        total = np.zeros((n, orders, C.shape[2]))
        rows = max(1, BLOCK // max(1, v))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, n, rows):
                block = slice(first, first + rows)
                known = ~np.isnan(self.X[block])
                for k in range(C.shape[2]):
                    delta = self.cells.delta(k, slice(None), np.where(known, self.X[block], self.cells.m[k]))
                    raised = known.astype(float)
                    for of_power in C[:, :, k]:
                        total[block, :, k] += raised @ of_power.T
                        raised = raised * delta
            total *= (self.power ** np.arange(1.0, orders + 1))[:, None]
        _refuse_extreme(total)
        for m in range(1, orders + 1):
            total[:, m - 1] += theta_cumulant(self.posterior, m)
        return total

    def difference_cumulants(self, a: int, b: int, orders: int) -> np.ndarray:
        """Cumulants of s_a - s_b, shape (n, orders)."""
        total = self.score_cumulants(orders)
        return total[:, :, a] + alternating(orders) * total[:, :, b]

    def terms(self, rows: np.ndarray, a: int, b: int | None = None) -> NormalSum:
        """Exact law of s_a - s_b of some rows, or of s_a alone where b is None."""
        X = self.X[rows]
        signs = {a: 1.0} if b is None else {a: 1.0, b: -1.0}
        others: Terms = []
        shift = np.zeros(len(X))
        for k, sign in signs.items():
            of_theta, constant = theta_terms(self.posterior, k, sign, len(X))
            others += of_theta
            shift += constant
        row, column = np.nonzero(~np.isnan(X))
        steps = {k: sign * self.power for k, sign in signs.items()}
        return self.cells.sum(row, column, X[row, column], steps, others, shift)


def normal_cells(posterior: Posterior) -> Cells:
    """The cells of a posterior, formed once; ValueError where mu and sigma2 have none."""
    if "_normal_cells" not in posterior.__dict__:
        posterior.__dict__["_normal_cells"] = Cells(posterior.normal)
    return posterior.__dict__["_normal_cells"]


def _refuse_extreme(total: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(total).all(axis=(1, 2)))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} lies so far from a class, or the prior is so wide, that the moments of its log-odds are "
            "beyond floating point; check its values, or give a tighter prior"
        )
