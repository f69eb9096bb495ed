"""Windows along the axes of an image, enumerated one by one from ONNX's formulas.

Apart from the operators because four of them look through the same windows. It is a second
derivation on purpose: what it says is held against the windows that cypool computes, and shares
nothing with them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

SAME = ("SAME_UPPER", "SAME_LOWER")

READINGS = (
    "kept",
    "all-dropped",
    "ceil-applies",
    "ceil-again",
    "negative",
    "negative-toward-zero",
    "upper-pads",
    "floor-lower",
    "undilated-pads",
    "toward-zero",
    "at-least-one",
)
"""The other readings of shapes and padding that can be computed, by name."""


class Window(NamedTuple):
    """One window along one axis.

    ``elements`` are the positions of the input that it holds, ascending. ``inside`` counts its
    positions inside the padded input, elements among them; the ``taps`` that are left lie beyond
    it, which ceil_mode makes possible.
    """

    elements: range
    inside: int
    taps: int


class Attributes(NamedTuple):
    """The attributes of a windowed operator, all lists filled in."""

    kernel_shape: tuple[int, ...]
    strides: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    dilations: tuple[int, ...]
    auto_pad: str
    ceil_mode: bool


def filled(
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    ceil_mode: int = 0,
) -> Attributes:
    """Fill in what an absent list means: ones, and zeros for ``pads``."""
    rank = len(kernel_shape)
    ones = (1,) * rank
    pads = pads if pads is not None and auto_pad == "NOTSET" else (0,) * (2 * rank)
    return Attributes(kernel_shape, strides or ones, pads[:rank], pads[rank:], dilations or ones, auto_pad, bool(ceil_mode))


def grid(sizes: tuple[int, ...], attributes: Attributes, readings: Set[str] = frozenset()) -> list[list[Window]]:
    """Return the windows along each axis of an image of these sizes.

    >>> [window.elements for window in grid((5,), filled((2,), strides=(2,), ceil_mode=1))[0]]
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    kernel_shape, strides, begins, ends, dilations, auto_pad, ceil_mode = attributes
    return [
        _along(size, kernel, stride, begin, end, dilation, auto_pad, ceil_mode, readings)
        for size, kernel, stride, begin, end, dilation in zip(sizes, kernel_shape, strides, begins, ends, dilations, strict=True)
    ]


def filled_up(some: np.ndarray[Any, Any], axes: Sequence[Sequence[Window]]) -> np.ndarray[Any, Any]:
    """Return an output with zeros where it has fewer places than ``axes`` has windows."""
    y = np.zeros((*some.shape[:2], *map(len, axes)), some.dtype)
    y[tuple(slice(size) for size in some.shape)] = some
    return y


def _along(n: int, k: int, s: int, begin: int, end: int, d: int, auto_pad: str, ceil_mode: bool, readings: Set[str]) -> list[Window]:
    """Return all windows along an axis of n elements; the letters are those of the formulas."""
    e = (k - 1) * d + 1
    if auto_pad in SAME:
        count = n // s if auto_pad == "SAME_LOWER" and "floor-lower" in readings else -(-n // s)
        begin, end = _same_pads((count - 1) * s + (k if "undilated-pads" in readings else e) - n, auto_pad, readings)
        if "undilated-pads" in readings:
            count = _count(n, e, s, begin, end, ceil_mode, readings)
        elif ceil_mode and "ceil-again" in readings:
            count = _count(n, e, s, begin, end, True, readings | {"kept"})
    else:
        rounds_up = ceil_mode and (auto_pad == "NOTSET" or "ceil-applies" in readings)
        count = _count(n, e, s, begin, end, rounds_up, readings)
    return [_window(o * s - begin, k, d, begin, n, n + end) for o in range(count)]


def _count(n: int, e: int, s: int, begin: int, end: int, rounds_up: bool, readings: Set[str]) -> int:
    """Return how many windows there are, by the formula for explicit padding."""
    room = n + begin + end - e
    if "at-least-one" in readings:
        room = max(room, 0)
    if not rounds_up:
        return -(-room // s) + 1 if room < 0 and "toward-zero" in readings else room // s + 1
    count = -(-room // s) + 1
    if "kept" in readings:
        return count
    if "all-dropped" in readings:
        return max(min(count, -(-(n + begin) // s)), 0)
    return count - 1 if (count - 1) * s >= n + begin else count


def _same_pads(total: int, auto_pad: str, readings: Set[str]) -> tuple[int, int]:
    """Split the padding that SAME needs: an odd one goes to the end, with SAME_LOWER to the
    beginning.
    """
    lower = auto_pad == "SAME_LOWER" and "upper-pads" not in readings
    if total < 0 and "negative-toward-zero" in readings:
        begin = -(-(total + lower) // 2)
    elif total < 0 and "negative" not in readings:
        return 0, 0
    else:
        begin = total - total // 2 if lower else total // 2
    return begin, total - begin


def _window(start: int, k: int, d: int, begin: int, n: int, padded: int) -> Window:
    """Return the window whose first position is ``start``, of an input of n elements that begins at
    0 and, padded, ends at ``padded``.
    """

    def taps_before(position: int) -> int:
        return min(max(-((start - position) // d), 0), k)

    first, last = taps_before(0), taps_before(n)
    inside = taps_before(max(padded, n)) - taps_before(min(-begin, 0))
    return Window(range(start + first * d, start + last * d, d), inside, k)
