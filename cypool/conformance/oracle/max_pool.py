"""MaxPool by its definition, window by window.

An element's position becomes one of ONNX's indices here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Set
from typing import Any

import numpy as np

from cypool.conformance.oracle import windows
from cypool.conformance.oracle.maxima import bounds, largest, numbers

Array = np.ndarray[Any, np.dtype[Any]]


def max_pool(
    x: Array,
    *,
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    ceil_mode: int = 0,
    storage_order: int = 0,
    reading: str | None = None,
) -> tuple[Array, Array]:
    """Return the maximum of each window and the index of the element that it is, -1 where the
    window is empty.

    >>> x = np.array([[[1, 5, 2, 4]]], np.float32)
    >>> y, indices = max_pool(x, kernel_shape=(2,), strides=(2,))
    >>> y.tolist(), indices.tolist()
    ([[[5.0, 4.0]]], [[[1, 3]]])
    """
    readings = frozenset(reading.split("+")) if reading else frozenset()
    sizes = x.shape[2:]
    axes = windows.grid(sizes, windows.filled(kernel_shape, strides, pads, auto_pad, dilations, ceil_mode), readings)
    shape = (*x.shape[:2], *map(len, axes))
    y, indices = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    for plane in np.ndindex(x.shape[:2]):
        elements = numbers(x[plane])
        for at in np.ndindex(shape[2:]):
            places = list(itertools.product(*(axis[i].elements for axis, i in zip(axes, at, strict=True))))
            values = [elements[_row_major(place, sizes)] for place in places]
            y[plane + at], selected = largest(values, bounds(x.dtype), readings)
            if selected is not None:
                indices[plane + at] = _index(plane + places[selected], x.shape, storage_order, readings)
            else:
                first = (0,) * len(sizes)
                indices[plane + at] = _index(plane + first, x.shape, storage_order, readings) if "zero" in readings else -1
    if storage_order and "transposed" in readings:
        indices = indices.transpose(0, 1, *reversed(range(2, x.ndim))).copy()
    return y, indices


def _row_major(place: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """Return the position in an array of these sizes, laid out with the last dimension running
    fastest.
    """
    position = 0
    for i, size in zip(place, sizes, strict=True):
        position = position * size + i
    return position


def _index(place: tuple[int, ...], shape: tuple[int, ...], storage_order: int, readings: Set[str]) -> int:
    """Return the number of an element of X: planes in row-major order, inside the plane as
    storage_order says.
    """
    if storage_order and "whole-column-major" in readings:
        return _row_major(place[::-1], shape[::-1])
    inside, sizes = place[2:], shape[2:]
    if storage_order and "transposed" not in readings:
        inside, sizes = inside[::-1], sizes[::-1]
    plane = 0 if "per-plane" in readings else _row_major(place[:2], shape[:2])
    return plane * math.prod(sizes) + _row_major(inside, sizes)


READINGS = (
    *(name for name in windows.READINGS if name != "negative-toward-zero"),  # nobody does that to maxima
    *("lowest-finite", "nan", "zero"),
    *("never", "only-first", "lowest-start"),
    *("last-nan", "per-plane", "whole-column-major", "transposed"),
    # ONNX Runtime
    *("never+lowest-start", "only-first+lowest-finite", "undilated-pads+never+lowest-start", "undilated-pads+only-first"),
    *("undilated-pads+negative", "negative+never+lowest-start"),
    # OpenVINO
    *("kept+lowest-finite", "kept+zero", "kept+lowest-finite+zero", "kept+ceil-applies", "kept+ceil-applies+lowest-finite"),
    *("ceil-again+lowest-start", "never+zero", "never+lowest-start+zero", "kept+never+lowest-start"),
    *("lowest-finite+zero", "transposed+zero", "transposed+never+lowest-start+zero"),
    *("ceil-again+lowest-start+zero", "ceil-again+lowest-start+transposed+zero", "kept+lowest-finite+transposed+zero"),
    # tract
    "at-least-one+never+lowest-start",
    # ONNX's reference
    *("upper-pads+floor-lower", "upper-pads+floor-lower+negative", "upper-pads+floor-lower+only-first", "negative+only-first"),
)
"""The other readings that can be computed, by name, and several at once, as runtimes have them,
their names joined by ``+``.
"""

IN_FLOAT32 = ("", *(name for name in READINGS if "kept" in name or "never" in name or "lowest" in name or "transposed" in name))
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
