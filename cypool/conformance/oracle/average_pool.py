"""AveragePool by its definition, window by window.

Positions are counted here: elements, padding, and positions beyond it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from cypool.conformance.oracle import windows
from cypool.conformance.oracle.mean import mean, plain, precision
from cypool.conformance.oracle.rounding import FORMATS

Array = np.ndarray[Any, np.dtype[Any]]


def average_pool(
    x: Array,
    *,
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    reading: str | None = None,
) -> tuple[Array]:
    """Return the mean of each window: over its elements, or with ``count_include_pad`` over all of
    its positions inside the padded input.

    >>> x = np.array([[[1, 5, 2, 4]]], np.float32)
    >>> average_pool(x, kernel_shape=(2,), strides=(2,))[0].tolist()
    [[[3.0, 3.0]]]
    """
    readings = frozenset(reading.split("+")) if reading else frozenset()
    if "unreached-zero" in readings and auto_pad != "NOTSET":
        return (_unreached(x, kernel_shape, strides, auto_pad, dilations, count_include_pad, readings),)
    axes = windows.grid(x.shape[2:], windows.filled(kernel_shape, strides, pads, auto_pad, dilations, ceil_mode), readings)
    counted = bool(count_include_pad) or "padding-counted" in readings
    shape = (*x.shape[:2], *map(len, axes))
    y = np.empty(shape)
    for plane in np.ndindex(x.shape[:2]):
        for at in np.ndindex(shape[2:]):
            window = [axis[i] for axis, i in zip(axes, at, strict=True)]
            elements = [float(x[plane + place]) for place in itertools.product(*(line.elements for line in window))]
            if "nan-dropped" in readings and not counted:
                elements = [element for element in elements if not math.isnan(element)]
            y[plane + at] = _average(elements, _divisor(window, len(elements), counted, readings), x.dtype, readings)
    with np.errstate(over="ignore"):
        return (y.astype(x.dtype),)


def _divisor(window: Sequence[windows.Window], elements: int, counted: bool, readings: Set[str]) -> int:
    if not counted:
        return elements
    return math.prod(line.taps if "overhang-counted" in readings else line.inside for line in window)


def _average(elements: Sequence[float], divisor: int, dtype: np.dtype[Any], readings: Set[str]) -> float:
    if divisor == 0:
        return 0.0 if "zero" in readings else math.nan
    if readings & {"naive", "narrow"}:
        return plain(elements, divisor, precision(dtype, "narrow" in readings))
    return mean(elements, divisor, FORMATS[dtype])


def _unreached(
    x: Array,
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    auto_pad: str,
    dilations: tuple[int, ...] | None,
    count_include_pad: int,
    readings: Set[str],
) -> Array:
    """As many places as there are without dilations, and zeros in those that the window with them
    does not reach.
    """
    reached = "+".join([*sorted(readings - {"unreached-zero"}), "undilated-pads"])
    (some,) = average_pool(
        x,
        kernel_shape=kernel_shape,
        strides=strides,
        auto_pad=auto_pad,
        dilations=dilations,
        count_include_pad=count_include_pad,
        reading=reached,
    )
    return windows.filled_up(some, windows.grid(x.shape[2:], windows.filled(kernel_shape, strides, auto_pad=auto_pad)))


READINGS = (
    *(name for name in windows.READINGS if name not in ("ceil-again", "upper-pads", "floor-lower")),  # nobody does that to means
    *("zero", "naive", "narrow", "overhang-counted", "padding-counted", "nan-dropped", "unreached-zero"),
    # ONNX Runtime
    *("undilated-pads+naive", "undilated-pads+zero", "toward-zero+naive", "negative-toward-zero+naive", "zero+naive"),
    *("undilated-pads+negative-toward-zero", "toward-zero+overhang-counted"),
    # OpenVINO
    "overhang-counted+naive",
    # tract
    *("at-least-one+naive", "at-least-one+narrow"),
    # ONNX's reference
    *("padding-counted+naive", "nan-dropped+naive", "unreached-zero+naive", "unreached-zero+nan-dropped"),
)
"""The other readings that can be computed, by name, and several at once, as runtimes have them,
their names joined by ``+``.
"""

IN_FLOAT32 = ("", "naive", "overhang-counted", "overhang-counted+naive")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
