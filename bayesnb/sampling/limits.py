"""What `sample` refuses: arguments that are no numbers, draws that would not fit, concentrations it cannot explore."""

from __future__ import annotations

import contextlib
import os
from numbers import Integral, Real
from typing import Any

import numpy as np

from bayesnb.families import Beta

SMALLEST_CONCENTRATION = 0.2
"""Below it g spreads over so many orders of magnitude that chains look converged and are not: with 200 tokens, .1
leaves an effective sample size of 198 of 2000 and .05 one of 2, without a divergence."""


def at_least(least: int, value: Any, name: str) -> int:
    """A whole number; ValueError where it is none, or smaller."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


WAYS_OUT = (
    "choose tokens=[...], fewer draws or chains, or a larger max_bytes; posterior.draw gives exact draws, as few at a "
    "time as wanted"
)


def refuse_too_large(
    posterior: Any, draws: int, chains: int, max_bytes: float | None = None, copies: int = 1, ways_out: str = WAYS_OUT
) -> None:
    """Raise a ValueError where `copies` arrays of draws of theta and the parameters take more than `max_bytes`.

    By default the limit is half of the memory that is free.
    """
    k, v = posterior.statistics.n_classes, posterior.statistics.n_tokens
    need = 8 * copies * chains * draws * k * (v * len(posterior.parameters) + 1)
    limit = free_memory() / 2 if max_bytes is None else _size(max_bytes)
    if need > limit:
        raise ValueError(
            f"the draws take {need / 1e9:.3g} GB ({chains} chains x {draws:,} draws x {k} classes x {v:,} tokens), "
            f"above the limit of {limit / 1e9:.3g} GB: {ways_out}"
        )


def _size(max_bytes: Any) -> float:
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, Real) or not float(max_bytes) > 0:
        raise ValueError(f"max_bytes must be a number of bytes above 0, such as 2e9, got {max_bytes!r}")
    return float(max_bytes)


def free_memory() -> float:
    """Bytes that can be had without swapping; where the system does not say, 4 GB."""
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo") as lines:
        return 1024.0 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    return 4e9


def refuse_small_concentration(posterior: Any) -> None:
    """Raise a ValueError that names the first token whose posterior concentration is below 0.2."""
    phi = posterior.phi
    smallest = np.minimum(phi.a, phi.b) if isinstance(phi, Beta) else phi.concentration
    small = np.argwhere(smallest < SMALLEST_CONCENTRATION)
    if len(small):
        k, j = small[0]
        raise ValueError(
            f"the posterior concentration of token {posterior.tokens.tolist()[j]!r} in class "
            f"{posterior.classes.tolist()[k]!r} is {smallest[k, j]:.3g}: below {SMALLEST_CONCENTRATION} the sampler "
            "fails without a sign; use posterior.draw (or sampler='exact'), which draws in logs, or a larger prior"
        )
