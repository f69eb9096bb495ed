"""The mean of some elements, rounded once, and what plain summation makes of it.

It knows neither shapes nor ONNX.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cypool.conformance.oracle.rounding import Format, nearest_fraction


def mean(elements: Sequence[float], divisor: int, form: Format) -> float:
    """Return the sum of the elements over ``divisor``, which counts other zeros too, rounded to
    ``form``.

    NaN where the divisor is 0, where there is a NaN, and where there are infinities of both signs.
    A sum of zero is +0.0, unless every position counted is a -0.0.

    >>> from cypool.conformance.oracle.rounding import FORMATS
    >>> mean([1e30, 1, -1e30], 3, FORMATS[np.dtype(np.float64)])
    0.3333333333333333
    """
    if divisor == 0:
        return math.nan
    if not all(map(math.isfinite, elements)):
        return sum(element for element in elements if not math.isfinite(element))  # NaN if one is, or if they are of both signs
    ratios = [element.as_integer_ratio() for element in elements]
    common = max((denominator for _, denominator in ratios), default=1)  # all are powers of two
    total = sum(numerator * (common // denominator) for numerator, denominator in ratios)
    if total == 0:
        return -0.0 if len(elements) == divisor and all(math.copysign(1, element) < 0 for element in elements) else 0.0
    return nearest_fraction(Fraction(total, common * divisor), form)


def plain(elements: Sequence[float], divisor: int, t: type[Any]) -> float:
    """Return the same by plain arithmetic in the type t: one element after the other is added, the
    sum divided.
    """
    with np.errstate(all="ignore"):
        total = t(0)
        for element in elements:
            total = t(total + t(element))
        return float(t(total / t(divisor)))


def precision(dtype: np.dtype[Any], narrow: bool) -> type[Any]:
    """Return the type that plain arithmetic computes in: float for the 16-bit types, unless
    ``narrow``.
    """
    return dtype.type if narrow or dtype == np.float64 else np.float32
