"""The categorical event model: a document is one category in each of some columns.

phi_kj ~ Dirichlet(a_kj) over the C_j categories of column j, x_ij | y_i = k ~ Categorical(phi_kj). A cell is a column
with one of its categories, and a document the 0/1 row of its cells. With cell (j, c) in n_kjc of class k's documents
the posterior is Dirichlet(a_kj + n_kj), and the log evidence sum_kj log B(a_kj + n_kj) - log B(a_kj)
(Gelman et al., Bayesian Data Analysis, 3rd ed., section 3.4). Totals N_kj are those of the column, so a missing value
simply drops out. Each cell is seen once per document, so the predictive equals the posterior mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesnb import given, validate
from bayesnb.blocks import BlockDirichlet, by_block, cells_of
from bayesnb.events import leftout, priors
from bayesnb.events.base import CountPosterior, LogTable
from bayesnb.events.cells import UNSEEN, Cell, Documents, Statistics, as_cells
from bayesnb.events.statistics import _difference
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet, NoModeError, mode_of_excess
from bayesnb.given import shown
from bayesnb.logbeta import log_dirichlet_step
from bayesnb.validate import _plain

__all__ = ["Cell", "Documents", "Posterior", "Prior", "Statistics", "per_cell"]


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the categorical model.

    Parameters
    ----------
    theta : ClassPrior
        Of the class probabilities.
    phi : ndarray, shape (K, V)
        Dirichlet concentrations a of the cells.
    block : ndarray of int, shape (V,)
        Column of each cell.
    smoothing : ndarray, shape (K, V), optional
        a - 1, for the mode alone: 1 + alpha does not hold the digits of a small alpha.

    Raises
    ------
    ValueError
        A concentration is not a number from 1e-100 to 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.categorical import Prior
    >>> from bayesnb.events.theta import ClassPrior
    >>> prior = Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 5), 2.0), block=[0, 0, 1, 1, 1])
    >>> prior.describe(), prior.strength.tolist()
    ('phi ~ Dirichlet(2), theta ~ Dirichlet(1)', [6.0, 6.0])
    """

    theta: ClassPrior
    phi: np.ndarray
    block: np.ndarray
    smoothing: np.ndarray | None = None

    of: ClassVar[str] = "phi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", validate.concentration(self.phi, "prior"))
        object.__setattr__(self, "block", np.asarray(self.block))

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and cells, (K, V)."""
        return self.phi.shape

    @classmethod
    def resolve(cls, theta: ClassPrior, prior: Any, alpha: Any, estimate: str, statistics: Statistics) -> Self:
        """Read the estimators' arguments `prior`, `alpha` and `estimate` for these classes and cells."""
        block, n_columns, shape = statistics.block, statistics.n_columns, statistics.feature_count.shape
        if isinstance(prior, (Beta, Dirichlet)):
            raise ValueError("the categorical model's prior is a number, one a column or one a cell; not a family")
        if not (prior is None or isinstance(prior, str)):
            prior = per_cell(prior, block, n_columns, shape, "prior")
        alpha = per_cell(alpha, block, n_columns, shape[1:], "alpha")
        a = validate.concentration(priors.concentration(prior, alpha, estimate), "prior", shape)
        return cls(theta, a, block, priors.smoothing(prior, alpha, estimate, shape))

    @property
    def lowest(self) -> float:
        """Smallest concentration of phi; above 1 a mode always exists."""
        return float(self.phi.min(initial=np.inf))

    @property
    def strength(self) -> np.ndarray:
        """Largest total concentration of a column: how many documents the prior weighs as much as, shape (K,)."""
        totals = [self.phi[:, cells].sum(axis=1) for cells in cells_of(self.block)]
        return np.max(totals, axis=0) if totals else np.zeros(len(self.phi))

    def describe(self) -> str:
        """The prior in one phrase."""
        return f"phi ~ {priors.describe('Dirichlet', self.phi)}, {self.theta.describe()}"


def per_cell(value: Any, block: np.ndarray, n_columns: int, shape: tuple[int, ...], name: str) -> Any:
    """A number as it is, numbers a cell as an array that broadcasts to `shape`, and one entry a column spread to that.

    An entry of a column is a number, one number a category, or, for `shape` (K, V), one a class and category.

    Raises
    ------
    ValueError
        It is a sequence of another form.
    """
    try:
        a = given.floats(value, name)
    except ValueError:  # entries of several lengths, or no numbers
        a = None
    if a is not None and (a.ndim == 0 or _fits(a.shape, shape)):
        return a
    if not isinstance(value, (list, tuple, np.ndarray)):
        return value
    if len(value) != n_columns:
        raise ValueError(
            f"{name} has {len(value)} entries; give a number, one entry for each of the {n_columns} columns, or one "
            f"number for each of the {shape[-1]} cells"
        )
    result = np.empty(shape)
    for column, entry in enumerate(value):
        cells = np.flatnonzero(block == column)
        try:
            result[..., cells] = given.floats(entry, name)
        except ValueError:
            raise ValueError(
                f"{name} of column {column} is {shown(entry)}: give a number, or one for each of its "
                f"{len(cells)} categories"
            ) from None
    return result


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if len(shape) > len(wanted) or shape[-1] != wanted[-1]:
        return False
    return len(shape) == 1 or shape[0] in (1, wanted[0])


@dataclass(frozen=True, eq=False)
class Posterior(CountPosterior):
    """Posterior of the categorical model; see `CountPosterior`. A token is a cell.

    Parameters
    ----------
    prior, statistics, classes
        As every posterior's.
    tokens : array_like of Cell or str, optional
        The cells; a `Cell` is named ``column=category``. By default the categories of a column are numbered.

    Raises
    ------
    ValueError
        Also where the prior's cells belong to other columns than the statistics', or to none.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesnb.events.categorical import Posterior, Prior, Statistics
    >>> from bayesnb.events.theta import ClassPrior
    >>> block = np.array([0, 0, 1, 1, 1])
    >>> prior = Prior(ClassPrior(concentration=np.ones(1)), np.full((1, 5), 2.0), block)
    >>> Posterior(prior, Statistics([2], [[2, 0, 1, 1, 0]], block)).phi_hat("map")
    array([[0.75, 0.25, 0.4 , 0.4 , 0.2 ]])
    """

    event: ClassVar[str] = "categorical"
    _given: ClassVar[tuple[str, ...]] = ("_cells",)

    def __post_init__(self) -> None:
        given = self.tokens
        if given is None:
            given = _numbered(self.statistics.block)
        columns = self.statistics.columns
        names = [f"{columns[token.column]}={token.category}" if isinstance(token, Cell) else token for token in given]
        object.__setattr__(self, "tokens", names)
        super().__post_init__()
        if (self.statistics.block < 0).any() or (self.prior.block != self.statistics.block).any():
            raise ValueError("the cells of the prior and of the statistics must belong to the same columns")
        self.__dict__["_cells"] = list(given)

    @classmethod
    def resolve(cls, theta: ClassPrior, settings: Any, state: Any) -> Self:
        """Form the posterior of a state; ``unseen="reserve"`` adds a last cell a column for what was not learnt."""
        statistics, tokens = state.statistics, state.tokens
        if settings.unseen == "reserve":
            statistics = statistics.with_unseen()
            tokens = as_cells([*tokens, *(Cell(j, UNSEEN) for j in range(statistics.n_columns))])
        prior = Prior.resolve(theta, settings.prior, settings.alpha, settings.estimate, statistics)
        return cls(prior, statistics, state.classes, tokens)

    @cached_property
    def phi(self) -> BlockDirichlet:
        """Distribution of the category probabilities: a Dirichlet(a + n) for each column, (K, V) in all."""
        return BlockDirichlet(self.prior.phi + self.statistics.feature_count, self.statistics.block)

    def _phi_hat(self, estimate: str) -> np.ndarray:
        n, s = self.statistics.feature_count, self.prior.smoothing
        if estimate == "map":
            return self.phi.mode() if s is None else by_block(mode_of_excess, s + n, self.statistics.block)
        if estimate != "mle":
            return self.phi.mean()
        total = self.statistics.token_total
        empty = np.argwhere(total == 0)
        if len(empty):
            raise ValueError(self._no_value(*map(int, empty[0])))
        return n / total

    def _no_value(self, k: int, cell: int) -> str:
        label, (column, _) = shown(self.classes[k]), map(shown, self._named(cell))
        return f"class {label} has no value in column {column}: the mle of its phi is 0/0; use estimate='mean'"

    def _new_table(self, estimate: str) -> LogTable:
        return LogTable(self._phi_hat(estimate))

    def _log_predictive(self, X: sparse.csr_array) -> np.ndarray:
        return self._table("mean").score(X)

    def _left_out(self, X: sparse.csr_array, own: np.ndarray, weight: np.ndarray, estimate: str) -> np.ndarray:
        left = leftout.remainder(self, X, own, weight)
        a = leftout.pseudo_counts(self.prior.phi, self.prior.smoothing, estimate)
        at = left.own, self.statistics.block[left.column]
        c = a[left.own, left.column] + left.count
        total = (a @ self.statistics.member)[at]
        total = total + _difference(self.statistics.column_total[at], weight[left.row] * left.x)
        if estimate == "map":  # a category alone in its column is certain
            c, total = (np.where(self.statistics.member.sum(axis=0)[at[1]] == 1, 1.0, value) for value in (c, total))
        for cell in np.flatnonzero((c < 0) | (total <= 0)):
            error = NoModeError((int(left.own[cell]), int(left.column[cell])), unbounded=bool(c[cell] < 0))
            why = self._no_value(*error.index) if estimate == "mle" else self._explain_missing_mode(error)
            raise ValueError(f"with row {left.row[cell]} left out, {why}")
        with np.errstate(divide="ignore"):
            return left.sum(np.log(c) - np.log(total))

    def _log_evidence(self) -> float:
        a, n = self.prior.phi, self.statistics.feature_count
        return sum(float(log_dirichlet_step(a[:, cells], n[:, cells]).sum()) for cells in _alike(self.statistics.block))

    def _stored(self, X: Any) -> sparse.csr_array:
        X = super()._stored(X)
        self.statistics.refuse_two_categories(X)
        return X

    def _named(self, cell: int) -> tuple[Any, Any]:
        """Column and category of a cell, as messages name them."""
        token = self.__dict__["_cells"][cell]
        if not isinstance(token, Cell):
            return self.statistics.columns[self.statistics.block[cell]], token
        return _plain(self.statistics.columns[token.column]), _plain(token.category)

    def _explain_missing_mode(self, error: NoModeError) -> str:
        label = shown(self.classes[error.index[0]])
        column, category = map(shown, self._named(error.index[1]))
        if not error.unbounded:
            return (
                f"phi of column {column} in class {label} has no unique mode: nothing was seen of it and every "
                "concentration is 1; use estimate='mean', or a prior above 1"
            )
        return (
            f"phi has no mode: the posterior concentration of category {category} of column {column} in class "
            f"{label} is below 1; use estimate='mean', or a prior of at least 1"
        )


def _alike(block: np.ndarray) -> list[np.ndarray]:
    """Cells of the columns that have the same number of them, (columns, cells), for each such number."""
    columns = cells_of(block)
    sizes = sorted({len(cells) for cells in columns})
    return [np.stack([cells for cells in columns if len(cells) == size]) for size in sizes]


def _numbered(block: np.ndarray) -> list[Cell]:
    """Cells with the categories 0, 1, .. in each column."""
    seen: dict[int, int] = {}
    cells = []
    for j in block.tolist():
        seen[j] = seen.get(j, -1) + 1
        cells.append(Cell(j, seen[j]))
    return cells
