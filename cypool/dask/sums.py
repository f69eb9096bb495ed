"""Exact sums that can be taken apart: integers, one for each plane of a chunk, which are added up
without any rounding.

Every finite float is an integer times 2^-1074. So a sum of floats is one as well, and nothing is
rounded before the mean is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cypool.plan import Array

LEAST = -1074
"""Each finite double is a multiple of 2 to this power."""

HALF_BITS = 27
"""A significand of 53 bits is added up in two parts, so that 2^36 of them stay below 2^63."""

PIECE = 1 << 16
"""Elements taken at a time, so that intermediate arrays stay in cache."""


class Sum(NamedTuple):
    """The facts about some elements that their mean is made of."""

    total: int = 0  # of the finite ones, times 2^1074
    plus_inf: bool = False
    minus_inf: bool = False
    nan: bool = False
    only_minus_zero: bool = True

    def __add__(self, other: Sum) -> Sum:  # type: ignore[override]
        """Return the sum of both."""
        return Sum(
            self.total + other.total,
            self.plus_inf or other.plus_inf,
            self.minus_inf or other.minus_inf,
            self.nan or other.nan,
            self.only_minus_zero and other.only_minus_zero,
        )

    def mean(self, count: int) -> float:
        """Return the mean of ``count`` elements, rounded once to a double."""
        if count == 0 or self.nan or (self.plus_inf and self.minus_inf):
            return math.nan
        if self.plus_inf or self.minus_inf:
            return math.inf if self.plus_inf else -math.inf
        if self.total == 0:
            return -0.0 if self.only_minus_zero else 0.0
        return self.total / (count << -LEAST)  # of two integers, which Python divides with one rounding


def sums(x: Array) -> Array:
    """Return the sum of every plane, as an array of objects of shape (N, C).

    >>> sums(np.array([[[1e30, 1, -1e30]]]))[0, 0].mean(3) == 1 / 3
    True
    """
    found = np.empty(x.shape[:2], object)
    for place in np.ndindex(found.shape):
        found[place] = _sum(x[place].reshape(-1))
    return found


def _sum(row: Array) -> Sum:
    """Return the sum of the elements of a row."""
    return sum((_sum_of_piece(row[start : start + PIECE]) for start in range(0, len(row), PIECE)), Sum())


def _sum_of_piece(piece: Array) -> Sum:
    """Return the sum of a few elements: their significands are added as integers, those of each
    exponent apart.
    """
    values = piece.astype(np.float64)
    significands, exponents = np.frexp(values[np.isfinite(values)])
    whole = np.ldexp(significands, 53).astype(np.int64)
    shifts = exponents.astype(np.int64) - 53 - LEAST
    whole >>= np.maximum(-shifts, 0)  # of subnormal numbers, whose last bits are zeros then
    kinds, places = np.unique(np.maximum(shifts, 0), return_inverse=True)
    total = 0
    for part, bits in ((whole >> HALF_BITS, HALF_BITS), (whole & ((1 << HALF_BITS) - 1), 0)):
        added = np.zeros(len(kinds), np.int64)
        np.add.at(added, places, part)
        total += sum(int(amount) << (int(kind) + bits) for kind, amount in zip(kinds, added, strict=True))
    return Sum(
        total,
        bool(np.isposinf(values).any()),
        bool(np.isneginf(values).any()),
        bool(np.isnan(values).any()),
        bool((np.signbit(values) & (values == 0)).all()),
    )
