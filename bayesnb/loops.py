"""The compiled loops of `bayesnb.kernels`, which alone imports this module, and only for large input.

A column index is read as unsigned, so that one comparison finds the negative and the too large; what lies outside is
left out and counted, never followed. Sums run in the order of the entries, as SciPy's do. No loop raises.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_U = np.uint64
_1, _2, _3, _4 = _U(1), _U(2), _U(3), _U(4)
_AHEAD = _U(16)  # entries between asking for a row of the table and reading it
_LINE = _U(64)  # bytes that memory is read in


class Loop:
    """A compiled function kept in numba's cache, or not kept where there is no folder to write to.

    Parameters
    ----------
    function : callable
        What is compiled, once for each combination of types.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._plain = njit(nogil=True)(function)
        self.kept: Any = None
        with suppress(RuntimeError):  # no folder is writable
            self.kept = njit(nogil=True, cache=True)(function)

    def __call__(self, *arguments: Any) -> Any:
        """Run it; a cache that cannot be read or written (a full disk, a broken file) only costs compiling again."""
        kept = self.kept
        if kept is not None:
            try:
                return kept(*arguments)
            except Exception:  # none comes from the loops themselves
                self.kept = None
        return self._plain(*arguments)


def _prefetch(context: Any, array: Any, byte: Any) -> Any:
    """Have the processor fetch the line of memory at this byte of an array, without waiting for it."""

    def generate(context, builder, signature, arguments):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(builder.bitcast(data, cgutils.voidptr_t), [arguments[1]])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(prefetch, [address, number(0), number(3), number(1)])  # to read, into every cache, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


_ask_for: Any = intrinsic(_prefetch)


@Loop
def count(data, indices, indptr, rows, codes, weight, totals):
    """Add the weighted entries of some rows to the totals (K, V) of each one's class."""
    outside, width = 0, _U(totals.shape[1])
    for r in range(rows.size):
        i = _U(rows[r])
        w, total = weight[i], totals[_U(codes[i])]
        for p in range(_U(indptr[i]), _U(indptr[i + _1])):
            j = _U(indices[p])
            if j < width:
                total[j] += w * data[p]
            else:
                outside += 1
    return outside


@Loop
def difference(data, indices, indptr, column, first, last, total, length):
    """Sums of count times a value of the token, and of the counts, for rows first to last."""
    outside, width = 0, _U(column.size)
    for i in range(_U(first), _U(last)):
        s, n = 0.0, 0.0
        for p in range(_U(indptr[i]), _U(indptr[i + _1])):
            x, j = float(data[p]), _U(indices[p])
            if j < width:
                s += x * column[j]
                n += x
            else:
                outside += 1
        total[i], length[i] = s, n
    return outside


@njit(nogil=True)
def _add_row(data, indices, table, p, end, total):
    """Add the entries p to end of a row to its total (K,), four at a time, each in its turn; how many lie outside."""
    outside, height, k = 0, _U(table.shape[0]), _U(table.shape[1])
    entries, width = _U(indices.size), _U(table.shape[1] * 8)
    while p < end:
        step = _4 if p + _4 <= end else _1
        for q in range(p + _AHEAD, min(p + _AHEAD + step, entries)):
            for byte in range(_U(0), width, _LINE):
                _ask_for(table, _U(indices[q]) * width + byte)
        j = _U(indices[p])
        if step == _4:
            j1, j2, j3 = _U(indices[p + _1]), _U(indices[p + _2]), _U(indices[p + _3])
            if max(max(j, j1), max(j2, j3)) < height:
                x0, x1, x2, x3 = float(data[p]), float(data[p + _1]), float(data[p + _2]), float(data[p + _3])
                for c in range(k):
                    s = total[c] + x0 * table[j, c]
                    s = s + x1 * table[j1, c]
                    s = s + x2 * table[j2, c]
                    total[c] = s + x3 * table[j3, c]
                p += _4
                continue
        if j < height:
            x = float(data[p])
            for c in range(k):
                total[c] += x * table[j, c]
        else:
            outside += 1
        p += _1
    return outside


@Loop
def score(data, indices, indptr, table, first, last, totals):
    """Sums of count times the token's row of the table (V, K), for rows first to last."""
    outside = 0
    for i in range(_U(first), _U(last)):
        totals[i] = 0.0
        outside += _add_row(data, indices, table, _U(indptr[i]), _U(indptr[i + _1]), totals[i])
    return outside


@Loop
def leader(data, indices, indptr, table, base, power, first, last, best, top, gap):
    """Position of each row's largest base + power * sum (the first of equals), its value, and its lead."""
    outside, total = 0, np.empty(table.shape[1])
    for i in range(_U(first), _U(last)):
        total[:] = 0.0
        outside += _add_row(data, indices, table, _U(indptr[i]), _U(indptr[i + _1]), total)
        k, largest, second = 0, -np.inf, -np.inf
        for c in range(total.size):
            value = base[c] + power * total[c]
            if value > largest:
                k, largest, second = c, value, largest
            elif value > second:
                second = value
        best[i], top[i], gap[i] = k, largest, largest - second
    return outside
