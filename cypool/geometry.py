"""From a checked call to what a kernel needs: one function an operator, found by its name.

Apart from the kernels, which know arrays and numbers only, and from the checks, which know no arithmetic: what is left is where the windows
lie. All of it follows the rulings of the operator's spec file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cypool.plan import Array, Call, widened


class Work(NamedTuple):
    """A kernel, by its mathematical name, and its arguments but for the output and the threads."""

    kernel: str
    arguments: tuple[Any, ...]


def global_lp_pool(call: Call) -> Work:
    """The window is the plane."""
    return Work("lp", (call.inputs[0], float(call.attributes["p"])))


def max_roi_pool(call: Call) -> Work:
    """The windows are the bins of each region of interest, as bounds in rows and columns of X."""
    x, rois = call.inputs
    t: type[np.floating[Any]] = np.float64 if x.dtype == np.float64 else np.float32
    table = widened(rois).astype(t)
    image = table[:, 0].astype(np.intp)
    order = np.argsort(image, kind="stable")
    begin = np.searchsorted(image[order], np.arange(x.shape[0] + 1)).astype(np.intp)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.clip(table[:, 1:] * t(call.attributes["spatial_scale"]), -FARTHEST, FARTHEST)
    left, top, right, bottom = scaled.T
    rows = bins(top, bottom, call.attributes["pooled_shape"][0], x.shape[2])
    columns = bins(left, right, call.attributes["pooled_shape"][1], x.shape[3])
    return Work("box_max", (x, order, begin, rows, columns))


FARTHEST = 2.0**120
"""Products that overflow have to stand for some pixel: they, and all beyond this one, count as this one."""

EXACT = 2.0**50
"""Up to here 64-bit integers and their products in float hold every step of ``bins``; beyond it goes row by row, with Python's integers."""


def bins(start: Array, end: Array, count: int, size: int) -> Array:
    """The bins of regions along one axis, (regions, count, 2): start and stop, cut to [0, size].

    ``start`` and ``end`` are scaled coordinates, (regions,), and their type is the one that bins are computed in. The end is inclusive, a
    reversed region is one pixel; bin i covers floor(i * b) up to ceil((i + 1) * b) of the region, b = extent / count.
    """
    result = np.empty((len(start), count, 2), np.intp)
    large = (np.abs(start) > EXACT) | (np.abs(end) > EXACT)
    first = nearest(np.where(large, 0, start)).astype(np.int64)
    last = nearest(np.where(large, 0, end)).astype(np.int64)
    t = start.dtype.type
    width = np.maximum(last - first + 1, 1).astype(t) / t(count)
    steps = np.arange(count + 1).astype(t)
    result[:, :, 0] = np.floor(width[:, None] * steps[:-1]).astype(np.int64) + first[:, None]
    result[:, :, 1] = np.ceil(width[:, None] * steps[1:]).astype(np.int64) + first[:, None]
    np.clip(result, 0, size, out=result)
    for row in np.flatnonzero(large):
        result[row] = _distant_bins(start[row], end[row], count, size)
    return result


def nearest(x: Array) -> Array:
    """Integers nearest to x, halves away from zero, in x's type."""
    whole: Array = np.trunc(x)
    whole += np.copysign(np.abs(x - whole) >= 0.5, x)
    return whole


def _distant_bins(start: np.floating[Any], end: np.floating[Any], count: int, size: int) -> list[tuple[int, int]]:
    """One region's bins where 64-bit integers would not do."""
    t = type(start)
    first, last = int(nearest(np.asarray(start))), int(nearest(np.asarray(end)))
    width = t(max(last - first + 1, 1)) / t(count)
    return [
        (
            min(max(int(np.floor(t(i) * width)) + first, 0), size),
            min(max(int(np.ceil(t(i + 1) * width)) + first, 0), size),
        )
        for i in range(count)
    ]
