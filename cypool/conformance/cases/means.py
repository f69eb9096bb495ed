"""Tell what shows in a mean: which summation made it, and whether it was computed in doubles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.values import BEYOND_FLOAT

MOST = 64
"""How many windows are looked at."""


def accumulated(elements: Array, inside: Array, divisor: Array, dtype: np.dtype[Any]) -> bool:
    """Tell whether adding up one after the other shows in a window's mean, by more than any
    tolerance lets pass.

    It does so in the type itself, where that is one of 16 bits, or in float, or of doubles in
    double.

    ``elements`` are float64 by plane, window and tap, ``inside`` says which are there, ``divisor``
    counts for each window.
    """
    return any(_shows(elements, inside, divisor, t) for t in {dtype.type, np.promote_types(dtype, np.float32).type})


def _shows(elements: Array, inside: Array, divisor: Array, t: type[Any]) -> bool:
    """The same for one type that is added in."""
    rows, there = elements.reshape(-1, elements.shape[2])[:MOST], inside.reshape(-1, elements.shape[2])[:MOST]
    for row, mask, count in zip(rows, there, divisor.reshape(-1)[:MOST].tolist(), strict=True):
        numbers = row[mask]
        if count == 0 or not np.isfinite(numbers).all():
            continue
        scale = float(np.abs(numbers).max(initial=0.0)) or 1.0
        exact = math.fsum((numbers / scale).tolist()) / count
        with np.errstate(all="ignore"):
            total = t(0)
            for number in numbers:
                total = t(total + t(number))
            naive = float(t(total / t(count))) / scale
        if not abs(naive - exact) <= 2.0**-5 * abs(exact):
            return True
    return False


def is_wide(family: str, elements: Array, inside: Array) -> bool:
    """Tell whether means of these elements are no floats; some are not 0."""
    return family in (*BEYOND_FLOAT, "overflowing") and bool((inside & (elements != 0)).any())
