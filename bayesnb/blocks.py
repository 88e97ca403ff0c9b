"""Dirichlet distributions side by side: each row of cells falls into blocks, and each block has its own Dirichlet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesnb import given, validate
from bayesnb.families import Beta, Dirichlet, NoModeError, Size

__all__ = ["BlockDirichlet", "by_block", "cells_of"]


def cells_of(block: np.ndarray) -> list[np.ndarray]:
    """Positions of the cells of each block that has any, in the order of the blocks."""
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1) if len(order) else []


def by_block(compute: Callable[[np.ndarray], np.ndarray], values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Put together what `compute` makes of the cells of each block, shape (..., V) -> (..., V).

    Raises
    ------
    NoModeError
        As `compute` does; its index names the cell among all, for a flat block its first cell.
    """
    result = np.empty(values.shape)
    for cells in cells_of(block):
        try:
            result[..., cells] = compute(values[..., cells])
        except NoModeError as error:
            *row, cell = error.index if error.unbounded else (*error.index, 0)
            raise NoModeError((*row, int(cells[cell])), unbounded=error.unbounded) from None
    return result


@dataclass(frozen=True, eq=False)
class BlockDirichlet:
    """Independent Dirichlet distributions over blocks of cells.

    Parameters
    ----------
    concentration : array_like, shape (..., V)
        Positive concentrations a.
    block : array_like of int, shape (V,)
        Which block each cell is in; the cells of a block sum to 1.

    Raises
    ------
    ValueError
        A concentration is not a number from 1e-100 to 1e100, or `block` is of another length.

    Notes
    -----
    With A the sum of a cell's block: mean a/A, mode (a - 1)/(A - C) for C cells with a >= 1, margin Beta(a, A - a);
    everything of a block is that of `Dirichlet`. A cell alone in its block is the constant 1.

    Examples
    --------
    >>> from bayesnb.blocks import BlockDirichlet
    >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).mean()
    array([0.25, 0.75, 0.5 , 0.5 ])
    """

    concentration: np.ndarray
    block: np.ndarray

    def __post_init__(self) -> None:
        a, block = np.atleast_1d(validate.concentration(self.concentration, "concentration")), np.asarray(self.block)
        if block.shape != a.shape[-1:]:
            raise ValueError(f"block has shape {block.shape}, expected {a.shape[-1:]}: one block a cell")
        object.__setattr__(self, "concentration", a)
        object.__setattr__(self, "block", block)

    @cached_property
    def parts(self) -> list[tuple[np.ndarray, Dirichlet]]:
        """Positions of the cells of each block, and its Dirichlet."""
        return [(cells, Dirichlet(self.concentration[..., cells])) for cells in cells_of(self.block)]

    @cached_property
    def total(self) -> np.ndarray:
        """Sum of each cell's block, A, shape (..., V)."""
        return self._gather(lambda part: np.broadcast_to(part.total[..., None], part.concentration.shape))

    def _gather(self, compute: Callable[[Dirichlet], np.ndarray], tail: tuple[int, ...] = ()) -> np.ndarray:
        result = np.empty((*self.concentration.shape, *tail))
        for cells, part in self.parts:
            at: Any = (..., cells, *(slice(None) for _ in tail))
            result[at] = compute(part)
        return result

    def mean(self) -> np.ndarray:
        """Mean, shape (..., V).

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).mean().tolist()
        [0.25, 0.75, 0.5, 0.5]
        """
        return self._gather(Dirichlet.mean)

    def mode(self) -> np.ndarray:
        """Mode, shape (..., V).

        Raises
        ------
        NoModeError
            A concentration is below 1, or all of a block of several cells are exactly 1.

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).mode().tolist()
        [0.0, 1.0, 0.5, 0.5]
        """
        return by_block(lambda a: Dirichlet(a).mode(), self.concentration, self.block)

    def variance(self) -> np.ndarray:
        """Variance of each cell, shape (..., V).

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).variance().round(4).tolist()
        [0.0375, 0.0375, 0.05, 0.05]
        """
        return self._gather(Dirichlet.variance)

    def marginal(self) -> Beta:
        """Distribution of each cell alone: Beta(a, A - a), shape (..., V).

        Raises
        ------
        ValueError
            A cell is alone in its block, where it is the constant 1.

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> law = BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).marginal()
        >>> law.a.tolist(), law.b.tolist()
        ([1.0, 3.0, 2.0, 2.0], [3.0, 1.0, 2.0, 2.0])
        """
        return Beta(self.concentration, self._gather(lambda part: part.marginal().b))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Equal-tailed credible interval of each cell.

        Parameters
        ----------
        level : float, 0 < level < 1
            Probability inside.

        Returns
        -------
        ndarray, shape (..., V, 2)
            Lower and upper ends.

        Raises
        ------
        ValueError
            The level is not between 0 and 1.

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).interval(0.9).round(2).tolist()
        [[0.02, 0.63], [0.37, 0.98], [0.14, 0.86], [0.14, 0.86]]
        """
        validate.level(level)
        return self._gather(lambda part: part.interval(level), (2,))

    def log_normalizer(self) -> np.ndarray:
        """Log of the constant that the density is divided by, shape (...).

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> float(BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).log_normalizer().round(4))  # log of 1/3 x 1/6
        -2.8904
        """
        return sum((part.log_normalizer() for _, part in self.parts), np.zeros(self.concentration.shape[:-1]))

    def log_density(self, x) -> np.ndarray:
        """Log density.

        Parameters
        ----------
        x : array_like, shape (..., V)
            The cells of each block must sum to 1; this is not checked.

        Returns
        -------
        ndarray, shape (...)
            In nats; -inf where a cell is negative.

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> law = BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1])
        >>> float(law.log_density([0.5, 0.5, 0.5, 0.5]).round(4))  # log of 3 (1/2)^2 x 6 (1/2)^2
        0.1178
        """
        x = np.asarray(x, float)
        return sum((part.log_density(x[..., cells]) for cells, part in self.parts), np.zeros(x.shape[:-1]))[()]

    def mean_log(self) -> np.ndarray:
        """E[log x] = psi(a) - psi(A), shape (..., V).

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).mean_log().round(3).tolist()
        [-1.833, -0.333, -0.833, -0.833]
        """
        return self._gather(Dirichlet.mean_log)

    def variance_log(self) -> np.ndarray:
        """Var[log x] = psi1(a) - psi1(A), shape (..., V).

        Examples
        --------
        >>> from bayesnb.blocks import BlockDirichlet
        >>> BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).variance_log().round(3).tolist()
        [1.361, 0.111, 0.361, 0.361]
        """
        return self._gather(Dirichlet.variance_log)

    def draw(self, rng: np.random.Generator, size: Size = (), *, log: bool = False) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            How many; by default one.
        log : bool
            Draw log x, which never underflows.

        Returns
        -------
        ndarray, shape (*size, ..., V)

        Examples
        --------
        >>> import numpy as np
        >>> from bayesnb.blocks import BlockDirichlet
        >>> x = BlockDirichlet([1, 3, 2, 2], [0, 0, 1, 1]).draw(np.random.default_rng(0), 100)
        >>> x.shape, bool(np.allclose(x[:, :2].sum(axis=1), 1))
        ((100, 4), True)
        """
        size = given.size(size)
        result = np.empty((*size, *self.concentration.shape))
        for cells, part in self.parts:
            result[..., cells] = part.draw(rng, size, log=log)
        return result
