"""MaxRoiPool by its definition, step by step.

Apart from cypool's own geometry on purpose: everything is worked out a second time, one bin after
the other, with Python's integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from cypool.conformance.oracle.rounding import FORMATS

Array = np.ndarray[Any, np.dtype[Any]]
Fold = Callable[[Array, float], Array]
Interval = tuple[int, int]

FARTHEST = 1 << 120
"""Integers have no limit, but a product that overflows has to stand for some pixel: it, and all
beyond this one, count as this one.
"""


def max_roi_pool(x: Array, rois: Array, *, pooled_shape: tuple[int, int], spatial_scale: float, reading: str | None = None) -> tuple[Array]:
    """Return the maximum over each bin of each region: (N, C, H, W) and (num_rois, 5) to (num_rois,
    C, pooled_shape[0], pooled_shape[1]).

    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0, 0, 0, 3, 3]], np.float32)
    >>> max_roi_pool(x, rois, pooled_shape=(2, 2), spatial_scale=1.0)
    (array([[[[ 5.,  7.],
             [13., 15.]]]], dtype=float32),)
    """
    fold = FOLDS.get(reading or "", _maximum)
    lowest = FORMATS[x.dtype].lowest
    y = np.zeros((rois.shape[0], x.shape[1], *pooled_shape))
    for r, roi in enumerate(wide(rois)):
        image = x[int(roi[0])].astype(np.float64)
        left, top, right, bottom = (pixel(corner, spatial_scale, reading) for corner in roi[1:])
        rows = list(bins(top, bottom, pooled_shape[0], x.shape[2], roi.dtype.type, reading))
        columns = list(bins(left, right, pooled_shape[1], x.shape[3], roi.dtype.type, reading))
        for i, (y0, y1) in enumerate(rows):
            for j, (x0, x1) in enumerate(columns):
                if y0 < y1 and x0 < x1:
                    y[r, :, i, j] = fold(image[:, y0:y1, x0:x1].reshape(x.shape[1], (y1 - y0) * (x1 - x0)), lowest)
    return (y.astype(x.dtype),)


def wide(array: Array) -> Array:
    """Return the type that coordinates are computed in: double stays, all others are float32."""
    return array if array.dtype == np.float64 else array.astype(np.float32)


def pixel(coordinate: Any, spatial_scale: float, reading: str | None = None) -> int:
    """Return a coordinate times the scale, as a whole pixel."""
    whole = _whole(coordinate, spatial_scale, reading)
    if reading == "wrap" and not -(1 << 31) <= whole < 1 << 31:
        return -(1 << 31)
    return max(-FARTHEST, min(whole, FARTHEST))


def _whole(coordinate: Any, spatial_scale: float, reading: str | None) -> int:
    if reading == "exact":
        return _half_away(Fraction(float(coordinate)) * Fraction(spatial_scale))
    t = type(coordinate)
    with np.errstate(over="ignore"):
        scaled = coordinate * t(spatial_scale)
    if not math.isfinite(scaled):
        return int(math.copysign(FARTHEST, scaled))
    if reading == "floor-plus-half":
        return math.floor(float(scaled + t(0.5)))
    return ROUNDINGS.get(reading or "", _half_away)(Fraction(float(scaled)))


def _half_away(value: Fraction) -> int:
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def bins(start: int, end: int, count: int, size: int, t: type[Any], reading: str | None = None) -> Iterator[Interval]:
    """Yield the bins along one axis as [first, last) within an image of that size."""
    extent = end - start + 1
    if reading == "wrap":
        extent = (extent + (1 << 31)) % (1 << 32) - (1 << 31)
    extent = max(extent, 1)
    width = t(extent) / t(count)
    for i in range(count):
        if reading == "exact":
            first, last = i * extent // count, -(-(i + 1) * extent // count)
        else:
            first, last = math.floor(t(i) * width), math.ceil(t(i + 1) * width)
        yield max(0, min(start + first, size)), max(0, min(start + last, size))


def _maximum(window: Array, lowest: float) -> Array:
    """Per channel; NaN where there is one."""
    return np.asarray(window.max(axis=1))


def _keep(better: Callable[[Array, Array], Array], start: Callable[[Array, float], Array]) -> Fold:
    """Return the fold that goes through a window element by element and keeps what is ``better``
    than what it has.
    """

    def fold(window: Array, lowest: float) -> Array:
        best = start(window, lowest)
        for column in window.T:
            best = np.where(better(column, best), column, best)
        return best

    return fold


def _first(window: Array, lowest: float) -> Array:
    return window[:, 0]


def _lowest(window: Array, lowest: float) -> Array:
    return np.full(len(window), lowest)


FOLDS: dict[str, Fold] = {
    "restart": _keep(lambda new, best: ~(new <= best), _first),
    "never": _keep(lambda new, best: new > best, _lowest),
    "only-first": _keep(lambda new, best: new > best, _first),
    "lowest-finite": lambda window, lowest: np.maximum(window.max(axis=1), lowest),
}
"""Other ways to find the maximum of a window, by the name of the reading."""

ROUNDINGS: dict[str, Callable[[Fraction], int]] = {"half-to-even": round}
"""Other ways to round a scaled coordinate, by the name of the reading."""

READINGS = frozenset({"exact", "floor-plus-half", "wrap", *FOLDS, *ROUNDINGS})
"""The other readings that can be computed, by name."""

IN_FLOAT32 = ("", *FOLDS, "wrap")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
