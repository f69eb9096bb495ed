"""What tests of kernels over windows share: axes drawn at random, memory layouts, and windows
listed one by one.
"""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float": np.float32, "double": np.float64}
VIEWS = {"float16": np.uint16, "bfloat16": np.int16, "float": np.float32, "double": np.float64}
FORMATS = {"float16": (10, -14, 15), "bfloat16": (7, -126, 127), "float": (23, -126, 127), "double": (52, -1022, 1023)}
"""Bits of the mantissa, smallest and largest exponent of normal numbers."""


class Axis(NamedTuple):
    """One axis of a plane and the windows along it."""

    size: int
    count: int
    first: int
    stride: int
    taps: int
    dilation: int
    padded: int


def axis(size, taps, stride=1, dilation=1, before=0, after=0, ceil=False):
    """The axis record of ONNX's attributes."""
    room = size + before + after - (taps - 1) * dilation - 1
    count = max(0, (-(-room // stride) if ceil else room // stride) + 1)
    return Axis(size, count, -before, stride, taps, dilation, size + after)


def whole(size):
    """The axis of a global operator."""
    return Axis(size, 1, 0, 1, size, 1, size)


@st.composite
def any_axis(draw, most=12):
    """An axis with any paddings, empty ones included."""
    return axis(
        draw(st.integers(0, most)),
        draw(st.integers(1, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 4)),
        draw(st.integers(0, 4)),
        draw(st.booleans()),
    )


def windows(axes, step=1):
    """For every ``step``-th window, in row-major order: the coordinates of its elements, and how
    many positions lie in the padded plane.
    """
    for window in itertools.islice(itertools.product(*(range(a.count) for a in axes)), 0, None, step):
        covered = [[a.first + o * a.stride + k * a.dilation for k in range(a.taps)] for a, o in zip(axes, window, strict=True)]
        elements = [[i for i in along if 0 <= i < a.size] for along, a in zip(covered, axes, strict=True)]
        padded = math.prod(sum(a.first <= i < a.padded for i in along) for along, a in zip(covered, axes, strict=True))
        yield list(itertools.product(*elements)), padded


LAYOUTS = ("contiguous", "channels last", "reversed", "every other")


def laid(x, layout):
    """The same array elsewhere in memory."""
    if layout == "channels last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    if layout == "reversed":
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    if layout == "every other":
        room = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
        room[..., 1::2] = x
        return room[..., 1::2]
    return x


def arguments(x, type, axes):
    """What a kernel over windows takes: the first element of each plane, strides, axes."""
    view = x.view(VIEWS[type])
    corner = np.empty(x.shape[:2], view.dtype) if 0 in x.shape else view[(slice(None), slice(None), *(0,) * (x.ndim - 2))]
    strides = np.array([s // x.itemsize for s in x.strides[2:]], np.intp)
    return corner, strides, np.array(axes, np.intp).reshape(-1, 7)


def outputs(x, axes):
    """The number of outputs."""
    return math.prod(x.shape[:2]) * math.prod(a.count for a in axes)


def ulp(type, value):
    """The distance of representable values around a number, exactly."""
    mantissa, low, _ = FORMATS[type]
    value = abs(Fraction(value))
    exponent = low
    if value:
        exponent = max(low, value.numerator.bit_length() - value.denominator.bit_length())
        while exponent > low and Fraction(2) ** exponent > value:
            exponent -= 1
    return Fraction(2) ** (exponent - mantissa)


def rounded(type, value):
    """The exact number rounded to nearest, ties to even; infinity where that is what is nearest."""
    unit = ulp(type, value)
    steps = round(Fraction(value) / unit)
    high = FORMATS[type][2]
    if abs(steps * unit) >= Fraction(2) ** (high + 1):
        return math.copysign(math.inf, steps)
    return steps * unit
