"""LpPool by its definition, window by window.

``global_lp_pool`` has the norm of some elements and the other readings of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np

from cypool.conformance.oracle import global_lp_pool, windows
from cypool.conformance.oracle.rounding import FORMATS

Array = np.ndarray[Any, np.dtype[Any]]


def lp_pool(
    x: Array,
    *,
    kernel_shape: tuple[int, ...],
    p: float,
    strides: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    ceil_mode: int = 0,
    reading: str | None = None,
) -> tuple[Array]:
    """Return the p-norm of each window's elements; padding, and what lies beyond it, adds nothing.

    >>> lp_pool(np.array([[[3, -4, 2]]], np.float32), kernel_shape=(2,), p=1)[0].tolist()
    [[[7.0, 6.0]]]
    """
    names = reading.split("+") if reading else []
    readings = frozenset(names)
    unreached = "unreached-zero" in readings and auto_pad != "NOTSET"
    attributes = windows.filled(kernel_shape, strides, pads, auto_pad, dilations, ceil_mode)
    axes = windows.grid(x.shape[2:], attributes, readings | {"undilated-pads"} if unreached else readings)
    shape = (*x.shape[:2], *map(len, axes))
    y = np.empty(shape)
    for plane in np.ndindex(x.shape[:2]):
        for at in np.ndindex(shape[2:]):
            window = [axis[i] for axis, i in zip(axes, at, strict=True)]
            places = list(itertools.product(*(line.elements for line in window)))
            elements = np.array([x[plane + place] for place in places], x.dtype)
            y[plane + at] = _norm(elements, window, p, readings)
    with np.errstate(over="ignore"):
        result = y.astype(x.dtype)
    if unreached:
        result = windows.filled_up(result, windows.grid(x.shape[2:], windows.filled(kernel_shape, strides, auto_pad=auto_pad)))
    return (result,)


def _norm(elements: Array, window: Sequence[windows.Window], p: float, readings: Set[str]) -> float:
    form = FORMATS[elements.dtype]
    if readings & {"rescaled", "nan-dropped"}:
        numbers = elements[~np.isnan(elements)] if "nan-dropped" in readings else elements
        left = math.prod(line.inside for line in window) - elements.size + numbers.size
        taps = math.prod(line.taps for line in window)
        return global_lp_pool.exact(numbers, p, form, share=Fraction(left, taps)) if left else math.nan
    fold = "+".join(name for name in FOLDS if name in readings)
    return (global_lp_pool.READINGS[fold] if fold else global_lp_pool.exact)(elements, p, form)


FOLDS = ("no-abs", "naive", "narrow")
"""The readings of the norm itself, in the order in which ``global_lp_pool`` joins their names."""

READINGS = (
    *(name for name in windows.READINGS if name not in ("ceil-again", "upper-pads", "floor-lower", "at-least-one")),  # not of norms
    *(*FOLDS, "no-abs+naive", "rescaled", "nan-dropped", "unreached-zero"),
    # ONNX Runtime
    *("undilated-pads+naive", "toward-zero+naive", "negative-toward-zero+naive", "undilated-pads+negative-toward-zero"),
    # OpenVINO
    "ceil-applies+rescaled",
)
"""The other readings that can be computed, by name, and several at once, as runtimes have them,
their names joined by ``+``.
"""

IN_FLOAT32 = ("", "naive", "rescaled")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
