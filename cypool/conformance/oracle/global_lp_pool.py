"""GlobalLpPool by its definition, exactly.

Apart from ``norm`` because this is where ONNX's shapes, its NaN and infinities, and the other readings of its silences live.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from cypool.conformance.oracle.norm import norm, power_sum, root
from cypool.conformance.oracle.rounding import FORMATS, Format, nearest

Array = np.ndarray[Any, np.dtype[Any]]
Reduce = Callable[[Array, float, Format], float]


def global_lp_pool(x: Array, *, p: float, reading: str | None = None) -> tuple[Array]:
    """One value a channel: (sum over all spatial elements of abs(x)**p) ** (1/p); (N, C, D1, ...) to (N, C, 1, ...).

    >>> global_lp_pool(np.array([[[3.0, -4.0]]], np.float32), p=2)
    (array([[[5.]]], dtype=float32),)
    """
    reduce = _norm if reading is None else READINGS[reading]
    rows = x.reshape(math.prod(x.shape[:2]), math.prod(x.shape[2:]))
    values = [reduce(row, p, FORMATS[x.dtype]) for row in rows]
    with np.errstate(over="ignore"):  # of readings that round to another type first
        y = np.array(values, np.float64).astype(x.dtype)
    return (y.reshape(x.shape[:2] + (1,) * (x.ndim - 2)),)


def _norm(row: Array, p: float, form: Format, share: int = 1) -> float:
    counts = _counts(row)
    if any(map(math.isnan, counts)):
        return math.nan
    magnitudes: dict[float, int] = {}
    for value, count in counts.items():
        magnitudes[abs(value)] = magnitudes.get(abs(value), 0) + count
    top = max(magnitudes, default=0.0)
    return top if math.isinf(top) or math.isinf(p) else norm(magnitudes, Fraction(p), form, share)


def _mean(row: Array, p: float, form: Format) -> float:
    """The power mean: the sum is divided by the number of elements."""
    return _norm(row, p, form, share=row.size) if row.size else math.nan


def _without_abs(row: Array, p: float, form: Format) -> float:
    """Powers of the values as they are: odd ones keep their sign, and what has no real root is NaN."""
    counts = _counts(row)
    if all(value >= 0 for value in counts) or p % 2 == 0:
        return _norm(row, p, form)
    if not all(map(math.isfinite, counts)) or not float(p).is_integer() or p > 1000:
        return _naive(row.astype(np.float64), p, form, magnitude=lambda x: x)
    total, exponent = power_sum({value: count for value, count in counts.items() if value}, int(p))
    if p == 1:
        return math.copysign(nearest(abs(total), exponent, form), total)
    return root(Fraction(total), int(p), exponent, form) if total >= 0 else math.nan


def _naive(row: Array, p: float, form: Format, magnitude: Callable[[Array], Array] = np.abs) -> float:
    """One sum after the other in the element type (float32 for the half types), nothing scaled."""
    t = np.float64 if row.dtype == np.float64 else np.float32
    with np.errstate(all="ignore"):
        powers = np.power(magnitude(row.astype(np.float64)), np.float64(p)).astype(t)
        total = np.cumsum(powers, dtype=t)[-1] if powers.size else t(0)
        return float(np.power(np.float64(total), 1 / np.float64(p)).astype(t))


READINGS: dict[str, Reduce] = {"mean": _mean, "no-abs": _without_abs, "naive": _naive}
"""The other readings that can be computed, by name."""


def _counts(row: Array) -> dict[float, int]:
    """How often each value occurs, as Python floats (which hold every value of the four types); all NaN are one, -0.0 is 0.0."""
    values, counts = np.unique(row.astype(np.float32) if row.itemsize == 2 else row, return_counts=True)
    return dict(zip(values.astype(np.float64).tolist(), counts.tolist(), strict=True))
