"""Draw the windows along an axis as text, from the same records that kernels and shapes go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cypool.spec.model import Version
from cypool.spec.windows import Axis, axes

ELEMENT, PADDING, BEYOND = "#", "o", "."
"""What stands for an element, a position of the padding, and one beyond the padded input."""


def picture(version: Version, size: int, attributes: Mapping[str, Any]) -> str:
    """Return a picture of the windows over a row of ``size`` elements: the row, then each window
    below it.

    >>> from cypool import spec
    >>> attributes = {"kernel_shape": (3,), "strides": (2,), "pads": (1, 1)}
    >>> print(picture(spec.version("MaxPool-22"), 4, attributes))
    input     o # # # # o
    window 0  o # #
    window 1      # # #
    """
    (axis,) = axes(version, [size], attributes)
    ends = [end for window in range(axis.count) for end in (places(axis, window)[0], places(axis, window)[-1])]
    first, last = min([axis.first, 0, *ends]), max([axis.padded - 1, *ends])
    rows = [("input", " ".join(_mark(axis, place) for place in range(first, last + 1)))]
    for window in range(axis.count):
        taps = places(axis, window)
        marks = [_mark(axis, place) if place in taps else " " for place in range(first, last + 1)]
        rows.append((f"window {window}", " ".join(marks).rstrip()))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {marks}".rstrip() for name, marks in rows)


def places(axis: Axis, window: int) -> range:
    """Return the positions of a window."""
    start = axis.first + window * axis.stride
    return range(start, start + axis.taps * axis.dilation, axis.dilation)


def divisors(axis: Axis) -> Iterator[tuple[int, int]]:
    """Yield for each window how many of its positions are elements, and how many lie in the padded
    input.

    >>> list(divisors(Axis(size=6, count=4, first=-1, stride=2, taps=3, dilation=1, padded=7)))
    [(2, 3), (3, 3), (3, 3), (1, 2)]
    """
    for window in range(axis.count):
        taps = places(axis, window)
        yield sum(0 <= place < axis.size for place in taps), sum(axis.first <= place < axis.padded for place in taps)


def _mark(axis: Axis, place: int) -> str:
    if 0 <= place < axis.size:
        return ELEMENT
    return PADDING if axis.first <= place < axis.padded else BEYOND
