"""The largest of a window's elements and where it stands, by the ruling and by every other reading
of the silences about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from cypool.conformance.oracle.rounding import FORMATS

Number = float | int


class Bounds(NamedTuple):
    """The maximum of no element: as a supremum, and as the lowest finite value."""

    bottom: Number
    lowest: Number


def bounds(dtype: np.dtype[Any]) -> Bounds:
    """Return the bounds of an element type; integers have no infinity, so both are their lowest
    value.
    """
    if dtype in FORMATS:
        return Bounds(-math.inf, FORMATS[dtype].lowest)
    least = int(np.iinfo(dtype).min)
    return Bounds(least, least)


def largest(values: Sequence[Number], bounds: Bounds, readings: Set[str] = frozenset()) -> tuple[Number, int | None]:
    """Return the maximum of ``values`` and the position of the element that was selected, None
    where none was.

    The first NaN is the maximum, wherever it stands. Equal elements: the first is selected; -0.0
    and +0.0 are equal, and the value is +0.0 where one of them is.

    >>> largest([1.0, 3.0, 3.0], bounds(np.dtype(np.float32)))
    (3.0, 1)
    """
    start = bounds.lowest if "lowest-start" in readings else bounds.bottom
    if not values:
        return _of_nothing(start, bounds, readings), None
    nans = [position for position, value in enumerate(values) if math.isnan(value)]
    if nans and "restart" in readings:
        return _after(values, nans[-1])
    if nans and _nan_wins(values, nans, readings):
        return math.nan, nans[-1 if "last-nan" in readings else 0]
    if len(nans) == len(values):
        return start, None
    top, position = _top(values)
    return (max(top, start) if "lowest-start" in readings else top), position


def _after(values: Sequence[Number], last_nan: int) -> tuple[Number, int]:
    """Return the maximum of what comes after the last NaN, which itself is the maximum where
    nothing does.
    """
    rest = values[last_nan + 1 :]
    if not rest:
        return math.nan, last_nan
    top, position = _top(rest)
    return top, last_nan + 1 + position


def _top(values: Sequence[Number]) -> tuple[Number, int]:
    """Return the largest number and where it stands first; NaN are passed over."""
    numbers = [value for value in values if not math.isnan(value)]
    top = max(numbers)
    if top == 0:
        return max((value for value in numbers if value == 0), key=lambda zero: math.copysign(1, zero)), values.index(top)
    return top, values.index(top)


def _nan_wins(values: Sequence[Number], nans: Sequence[int], readings: Set[str]) -> bool:
    if "never" in readings:
        return False
    if "only-first" in readings:
        return nans[0] == 0
    return len(nans) == len(values) if "only-alone" in readings else True


def _of_nothing(start: Number, bounds: Bounds, readings: Set[str]) -> Number:
    if "nan" in readings and isinstance(bounds.bottom, float):
        return math.nan
    return bounds.lowest if "lowest-finite" in readings else start


def numbers(plane: np.ndarray[Any, Any]) -> list[Number]:
    """Return the elements of an array in row-major order, as Python's numbers, which hold every
    value of the types.
    """
    wide = plane.astype(np.float64) if plane.dtype in FORMATS else plane
    found: list[Number] = wide.reshape(-1).tolist()
    return found
