"""GlobalLpPool by its definition, exactly.

``norm`` is mathematics; ONNX's shapes, its NaN and infinities, and the other readings are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from cypool.conformance.oracle.norm import norm, power_sum, root
from cypool.conformance.oracle.rounding import FORMATS, Format, nearest

Array = np.ndarray[Any, np.dtype[Any]]
Reduce = Callable[[Array, float, Format], float]


def global_lp_pool(x: Array, *, p: float, reading: str | None = None) -> tuple[Array]:
    """One value a channel: (sum over all spatial elements of abs(x)**p) ** (1/p); (N, C, D1, ...)
    to (N, C, 1, ...).

    >>> global_lp_pool(np.array([[[3.0, -4.0]]], np.float32), p=2)
    (array([[[5.]]], dtype=float32),)
    """
    reduce = exact if reading is None else READINGS[reading]
    rows = x.reshape(math.prod(x.shape[:2]), math.prod(x.shape[2:]))
    values = [reduce(row, p, FORMATS[x.dtype]) for row in rows]
    with np.errstate(over="ignore"):  # of readings that round to another type first
        y = np.array(values, np.float64).astype(x.dtype)
    return (y.reshape(x.shape[:2] + (1,) * (x.ndim - 2)),)


def exact(row: Array, p: float, form: Format, share: Fraction | int = 1) -> float:
    """Return the p-norm of a row, its sum of powers divided by ``share``, rounded to ``form``."""
    counts = _counts(row)
    if any(map(math.isnan, counts)):
        return math.nan
    magnitudes: dict[float, int] = {}
    for value, count in counts.items():
        magnitudes[abs(value)] = magnitudes.get(abs(value), 0) + count
    top = max(magnitudes, default=0.0)
    return top if math.isinf(top) or math.isinf(p) else norm(magnitudes, Fraction(p), form, share)


def _mean(row: Array, p: float, form: Format) -> float:
    """Return the power mean: the sum is divided by the number of elements."""
    return exact(row, p, form, share=row.size) if row.size else math.nan


def _without_abs(row: Array, p: float, form: Format, share: int = 1) -> float:
    """Powers of the values as they are: odd ones keep their sign, and what has no real
    root is NaN.
    """
    counts = _counts(row)
    if all(value >= 0 for value in counts) or p % 2 == 0:
        return exact(row, p, form, share)
    if not all(map(math.isfinite, counts)) or not float(p).is_integer() or p > 1000:
        return Plain(signed=True, mean=share > 1)(row.astype(np.float64), p, form)
    total, exponent = power_sum({value: count for value, count in counts.items() if value}, int(p))
    if p == 1 and share == 1:
        return math.copysign(nearest(abs(total), exponent, form), total)
    if p % 2 and total < 0:
        return math.copysign(root(Fraction(-total, share), 1, exponent, form), -1) if p == 1 else math.nan
    return root(Fraction(total, share), int(p), exponent, form)


def _mean_without_abs(row: Array, p: float, form: Format) -> float:
    return _without_abs(row, p, form, share=row.size) if row.size else math.nan


@dataclass(frozen=True, slots=True)
class Plain:
    """Plain arithmetic: one sum after the other in the element type (float32 for the half types
    unless ``narrow``), nothing scaled.

    With ``narrow``, p and 1/p are of the element type as well; with ``rounded_root``, 1/p alone is.
    """

    signed: bool = False
    mean: bool = False
    narrow: bool = False
    rounded_root: bool = False

    def __call__(self, row: Array, p: float, form: Format) -> float:
        """Return the norm of a row."""
        own = row.dtype.type
        t = own if self.narrow or row.dtype == np.float64 else np.float32
        with np.errstate(all="ignore"):
            values = row if self.signed else np.abs(row)
            power = np.float64(own(p) if self.narrow else p)
            powers = np.power(values.astype(np.float64), power).astype(t)
            total = t(np.add.accumulate(powers, dtype=t)[-1] if powers.size else 0)
            average = t(total / t(row.size)) if self.mean else total
            inverse = np.float64(own(1 / power) if self.narrow or self.rounded_root else 1 / power)
            return float(np.power(np.float64(average), inverse).astype(t))


PLAIN = {"naive": Plain(), "narrow": Plain(narrow=True), "rounded-root": Plain(rounded_root=True)}

READINGS: dict[str, Reduce] = {
    "mean": _mean,
    "no-abs": _without_abs,
    "mean+no-abs": _mean_without_abs,
    **PLAIN,
    **{f"mean+{name}": replace(plain, mean=True) for name, plain in PLAIN.items()},
    **{f"no-abs+{name}": replace(plain, signed=True) for name, plain in PLAIN.items()},
    **{f"mean+no-abs+{name}": replace(plain, mean=True, signed=True) for name, plain in PLAIN.items()},
}
"""The other readings that can be computed, by name, and several at once, their names joined by
``+``.
"""

IN_FLOAT32 = ("", "naive")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""


def _counts(row: Array) -> dict[float, int]:
    """How often each value occurs, as Python floats (which hold every value of the four types); all
    NaN are one, -0.0 is 0.0.
    """
    values, counts = np.unique(row.astype(np.float32) if row.itemsize == 2 else row, return_counts=True)
    return dict(zip(values.astype(np.float64).tolist(), counts.tolist(), strict=True))
