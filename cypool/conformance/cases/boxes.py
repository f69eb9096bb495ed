"""Families of regions of interest: where a box may lie in an image, and where the readings of the
standard part.

This is geometry, in whole and half pixels; the caller adds scale and batch index.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.oracle.max_roi_pool import bins, pixel, wide
from cypool.conformance.oracle.rounding import FORMATS

COUNT = 4
REACH = 24  # of boxes drawn at random: their extents stay where all readings agree on the bins that are used with them

Box = tuple[float, float, float, float]  # x1, y1, x2, y2


class Image(NamedTuple):
    """The facts that a family of regions depends on: image size, bins, scale, type of
    coordinates.
    """

    height: int
    width: int
    pooled_shape: tuple[int, int]
    scale: float
    dtype: np.dtype[Any]


def boxes(family: str, draws: Draws, image: Image) -> Array:
    """(boxes, 4): corners x1, y1, x2, y2 in coordinates, pixels divided by the scale, of the
    image's type, whose largest stands for inf.
    """
    in_pixels = family in PIXELS
    corners = _table(PIXELS[family](draws, image) if in_pixels else COORDINATES[family](image)) / (image.scale if in_pixels else 1)
    largest = -FORMATS[image.dtype].lowest
    reached = ((np.abs(corners) <= largest) | np.isinf(corners)).all(axis=1) if family == "far" else slice(None)
    return np.clip(corners[reached], -largest, largest).astype(image.dtype)


def _table(found: Iterator[Box]) -> Array:
    return np.array(list(found), np.float64).reshape(-1, 4)


def _spans(draws: Draws, size: int) -> Array:
    """(COUNT, 2): first and last pixel, both inside."""
    return np.sort(draws.below(max(1, min(size, REACH)), COUNT, 2), axis=1)


def _boxes(columns: Array, rows: Array) -> Iterator[Box]:
    for (x1, x2), (y1, y2) in zip(columns.tolist(), rows.tolist(), strict=True):
        yield x1, y1, x2, y2


def _inside(draws: Draws, image: Image) -> Iterator[Box]:
    return _boxes(_spans(draws, image.width), _spans(draws, image.height))


def _edges(draws: Draws, image: Image) -> Iterator[Box]:
    right, bottom = image.width - 1, image.height - 1
    yield from ((0, 0, right, bottom), (0, 0, right, 0), (0, 0, 0, bottom), (right, bottom, right, bottom), (0, bottom, right, bottom))


def _partly_outside(draws: Draws, image: Image) -> Iterator[Box]:
    beyond = 1 + draws.below(4, COUNT, 2)
    for (x1, y1, x2, y2), (right, down), side in zip(_inside(draws, image), beyond.tolist(), range(COUNT), strict=True):
        yield x1 - right * (side % 2 == 0), y1 - down * (side // 2 == 0), x2 + right * (side % 2), y2 + down * (side // 2)


def _outside(draws: Draws, image: Image) -> Iterator[Box]:
    w, h = image.width, image.height
    yield from ((w, 0, w + 3, h - 1), (-4, 0, -1, h - 1), (0, h + 1, w - 1, h + 2), (w + 2, h + 2, w + 9, h + 5), (0, -3, 1, -3))


def _reversed(draws: Draws, image: Image) -> Iterator[Box]:
    for (x1, y1, x2, y2), which in zip(_inside(draws, image), (3, 1, 2, 3), strict=True):
        (x1, x2), (y1, y2) = (x2 + 1, x1) if which & 1 else (x1, x2), (y2 + 1, y1) if which & 2 else (y1, y2)
        yield x1, y1, x2, y2


def _single_pixel(draws: Draws, image: Image) -> Iterator[Box]:
    for x1, y1, _, _ in _inside(draws, image):
        yield x1, y1, x1, y1


def _few_pixels(draws: Draws, image: Image) -> Iterator[Box]:
    for (x1, y1, _, _), (more_x, more_y) in zip(_inside(draws, image), draws.below(2, COUNT, 2).tolist(), strict=True):
        yield x1, y1, x1 + more_x, y1 + more_y


def _larger(draws: Draws, image: Image) -> Iterator[Box]:
    for a, b, c, d in (1 + draws.below(3, COUNT, 4)).tolist():
        yield -a, -b, image.width - 1 + c, image.height - 1 + d


def _half_way(draws: Draws, image: Image) -> Iterator[Box]:
    """Halves of both signs, beside even and odd pixels; and the number below a half, which x + 0.5
    rounds up.
    """
    for (x1, y1, x2, y2), shift in zip(_inside(draws, image), (0.5, -0.5, 0.5, -0.5), strict=True):
        yield x1 - shift, y1 - shift, x2 + shift, y2 + shift
    below = float(np.nextafter(arithmetic(image.dtype)(0.5), 0))
    yield from ((-2.5, -2.5, 2.5, 2.5), (below, below, 1.5, 1.5), (0.5, 0.5, 0.5, 0.5))


def arithmetic(dtype: np.dtype[Any]) -> type[Any]:
    """Return the type that coordinates of a type are computed in."""
    t: type[Any] = wide(np.zeros(0, dtype)).dtype.type
    return t


@functools.cache
def parting_extents(size: int, count: int, dtype: np.dtype[Any]) -> list[int]:
    """Return the extents, from a start at 0, whose bins end elsewhere in exact arithmetic, within
    an image of that size.
    """
    t = arithmetic(dtype)

    def ends(extent: int, reading: str | None) -> list[int]:
        return [end for _, end in bins(0, extent - 1, count, size, t, reading)]

    return [extent for extent in range(1, min(size, 64) + 1) if ends(extent, None) != ends(extent, "exact")]


def _parting_bins(draws: Draws, image: Image) -> Iterator[Box]:
    rows = parting_extents(image.height, image.pooled_shape[0], image.dtype)[:COUNT]
    columns = parting_extents(image.width, image.pooled_shape[1], image.dtype)[:COUNT]
    yield from ((0, 0, min(2, image.width - 1), extent - 1) for extent in rows)
    yield from ((0, 0, extent - 1, min(2, image.height - 1)) for extent in columns)


@functools.cache
def parting_coordinates(size: int, scale: float, dtype: np.dtype[Any]) -> list[float]:
    """Coordinates whose product with the scale is a half in the arithmetic of coordinates but not
    in truth, before odd pixels of the image.

    Beside an even pixel, the other ways to round a half would part as well.
    """
    found = []
    for half in range(1, min(size, REACH) - 1, 2):
        near = np.array([(half + 0.5) / scale]).astype(dtype)
        rounded = {reading: pixel(wide(near)[0], scale, reading) for reading in (None, "half-to-even", "floor-plus-half", "exact")}
        if rounded.pop("exact") == half and set(rounded.values()) == {half + 1}:
            found.append(float(near[0]))
    return found


def _parting_products(image: Image) -> Iterator[Box]:
    ends = (parting_coordinates(size, image.scale, image.dtype)[:COUNT] for size in (image.width, image.height))
    for x2, y2 in zip(*ends, strict=False):
        yield 0, 0, x2, y2


def _far(draws: Draws, image: Image) -> Iterator[Box]:
    """Ends beyond the 32-bit integers, where the type reaches them.

    The image lies well within one bin, whatever the precision of bounds: 3/11 of an extent is never
    near a bound of 1 to 10, 12 or 16 bins.
    """
    for unit in (2.0**28, 2.0**40, 2.0**100):
        yield -3 * unit, -3 * unit, 8 * unit, 8 * unit
    yield 0, 0, 2.0**33, 2.0**50
    yield 1, 1, np.inf, np.inf  # the largest coordinate there is
    yield 2.0**40, 0, 2.0**41, 3


def _none(draws: Draws, image: Image) -> Iterator[Box]:
    return iter(())


PIXELS: dict[str, Callable[[Draws, Image], Iterator[Box]]] = {
    "inside": _inside,
    "edges": _edges,
    "partly-outside": _partly_outside,
    "outside": _outside,
    "reversed": _reversed,
    "single-pixel": _single_pixel,
    "few-pixels": _few_pixels,
    "larger": _larger,
    "half-way": _half_way,
    "parting-bins": _parting_bins,
    "far": _far,
    "none": _none,
}
"""Families that answer boxes in pixels."""

COORDINATES: dict[str, Callable[[Image], Iterator[Box]]] = {"parting-products": _parting_products}
"""Families that answer boxes in coordinates, as the scale is their point."""

FAMILIES = (*PIXELS, *COORDINATES)
