"""RoiAlign by its definition: coordinates step by step in their type, and all that follows from
them exactly.

The weights of samples are gathered a pixel and axis, as fractions, so that products and sums are
exact and the result is rounded once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Set
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cypool.conformance.oracle.rounding import FORMATS, Format, nearest_fraction

Array = np.ndarray[Any, np.dtype[Any]]


class Sample(NamedTuple):
    """A place where samples fall along one axis: two pixels, the weight of the second, how many
    samples.
    """

    low: int
    high: int
    weight: Fraction  # of the pixel after; that before has the rest
    times: int

    @property
    def corners(self) -> tuple[tuple[int, Fraction], tuple[int, Fraction]]:
        """Both pixels with their weights."""
        return (self.low, 1 - self.weight), (self.high, self.weight)


class Line(NamedTuple):
    """The samples of one bin along one axis: those inside the image, and how many there
    are in all.
    """

    inside: tuple[Sample, ...]
    total: int

    @property
    def outside(self) -> int:
        """Return how many lie outside the image."""
        return self.total - sum(sample.times for sample in self.inside)

    @property
    def weights(self) -> dict[int, Fraction]:
        """The weights of all samples together, by pixel; a pixel that a sample touches may have a
        weight of 0.
        """
        found: dict[int, Fraction] = {}
        for sample in self.inside:
            for pixel, weight in sample.corners:
                found[pixel] = found.get(pixel, Fraction(0)) + weight * sample.times
        return found


def roi_align(
    x: Array,
    rois: Array,
    batch_indices: Array,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
    coordinate_transformation_mode: str = "output_half_pixel",
    reading: str | None = None,
) -> tuple[Array]:
    """Return the average or the maximum of samples in each bin of each region; version 10 has no
    shift, which is ``output_half_pixel``.

    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0.5, 0.5, 2.5, 2.5]], np.float32)
    >>> roi_align(x, rois, np.array([0]), sampling_ratio=1)[0].tolist()
    [[[[7.5]]]]
    """
    readings = frozenset(reading.split("+")) if reading else frozenset()
    half_pixel = coordinate_transformation_mode == "half_pixel" or "shifted" in readings
    t = np.float64 if x.dtype == np.float64 else x.dtype.type if "in-t" in readings else np.float32
    ratio = 1 if sampling_ratio == 0 and "one-sample" in readings else sampling_ratio
    y = np.zeros((len(rois), x.shape[1], output_height, output_width))
    for r, (x1, y1, x2, y2) in enumerate(rois.astype(t)):
        image = x[int(batch_indices[r])].astype(np.float64)
        rows = lines(y1, y2, output_height, ratio, t(spatial_scale), half_pixel, x.shape[2])
        columns = lines(x1, x2, output_width, ratio, t(spatial_scale), half_pixel, x.shape[3])
        for c, (i, row), (j, column) in itertools.product(range(x.shape[1]), enumerate(rows), enumerate(columns)):
            fold = _average if mode == "avg" else _maximum
            y[r, c, i, j] = fold(image[c], row, column, FORMATS[x.dtype], readings)
            if "nothing-nan" in readings and row.total * column.total == 0 and (y1 == y2 or x1 == x2):
                y[r, c, i, j] = math.nan
    return (y.astype(x.dtype),)


def lines(first: Any, last: Any, bins: int, ratio: int, scale: Any, half_pixel: bool, size: int) -> list[Line]:
    """Return the samples of each bin along one axis of ``size`` pixels; ``first`` and ``last`` are
    the region's ends, ``scale`` of their type.
    """
    t = type(scale)
    with np.errstate(all="ignore"):
        offset = t(0.5 if half_pixel else 0)
        start, end = t(t(first * scale) - offset), t(t(last * scale) - offset)
        extent = t(end - start)
        if not half_pixel:
            extent = max(extent, t(1))
        step = t(extent / t(bins))
        count = ratio if ratio > 0 else max(math.ceil(float(step)), 0) if math.isfinite(step) else 0
        offsets = ((np.arange(count).astype(t) + t(0.5)) * step / t(count)).astype(t)
        return [_line((t(start + t(t(p) * step)) + offsets).astype(t), size) for p in range(bins)]


def _line(coordinates: Array, size: int) -> Line:
    values, counts = np.unique(coordinates.astype(np.float64), return_counts=True)
    found = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        if size == 0 or not -1 <= value <= size:
            continue
        position = Fraction(max(value, 0.0))
        low = math.floor(position)
        if low >= size - 1:
            found.append(Sample(size - 1, size - 1, Fraction(0), count))
        else:
            found.append(Sample(low, low + 1, position - low, count))
    return Line(tuple(found), len(coordinates))


def _average(plane: Array, row: Line, column: Line, form: Format, readings: Set[str]) -> float:
    """Return the sum over all samples of their weighted pixels, divided by their number, or by 1
    where there is none.
    """
    if "multiplied" in readings:
        terms = _apart(plane, row, column)
    else:
        products = itertools.product(row.weights.items(), column.weights.items())
        terms = [(height * width, float(plane[i, j])) for (i, height), (j, width) in products if height * width]
    if not all(math.isfinite(value) for _, value in terms):
        return sum(value if weight else math.nan for weight, value in terms if not math.isfinite(value))
    total = sum((weight * Fraction(value) for weight, value in terms), Fraction(0))
    return nearest_fraction(total / max(row.total * column.total, 1), form)


def _maximum(plane: Array, row: Line, column: Line, form: Format, readings: Set[str]) -> float:
    """Return the largest weighted pixel of any sample; a sample outside the image is 0, and so is
    what has no sample.
    """
    samples = [_products(plane, up, left, readings) for up in row.inside for left in column.inside]
    if "interpolated" in readings or "interpolated-from-zero" in readings:
        samples = [[_sum(products)] for products in samples]
    products = list(itertools.chain.from_iterable(samples))
    if "interpolated-from-zero" in readings or row.outside * column.total + column.outside * row.total:
        products.append(Fraction(0))
    if "multiplied" in readings:
        products += [_product(weight, value, readings) for weight, value in _origin(plane, row, column)]
    if any(product != product for product in products):
        if "never" not in readings:
            return math.nan
        products = [product for product in products if product == product]
    top = max(products, default=Fraction(0))
    return nearest_fraction(top, form) if isinstance(top, Fraction) else top


def _products(plane: Array, up: Sample, left: Sample, readings: Set[str]) -> list[Fraction | float]:
    """Return the four weighted pixels of a sample."""
    corners = itertools.product(up.corners, left.corners)
    return [_product(height * width, float(plane[i, j]), readings) for (i, height), (j, width) in corners]


def _product(weight: Fraction, value: float, readings: Set[str]) -> Fraction | float:
    """Exact where it is finite; a weight of 0 makes 0 of every pixel."""
    if weight == 0 and "multiplied" not in readings:
        return Fraction(0)
    if math.isfinite(value):
        return weight * Fraction(value)
    return value if weight else math.nan


def _sum(products: Iterable[Fraction | float]) -> Fraction | float:
    products = list(products)
    if all(isinstance(product, Fraction) for product in products):
        return sum(products, Fraction(0))
    return sum(product for product in products if not isinstance(product, Fraction))


def _apart(plane: Array, row: Line, column: Line) -> list[tuple[Fraction, float]]:
    """Return the pixels of all samples with their weights, those of no weight too."""
    found = _origin(plane, row, column)
    for up, left in itertools.product(row.inside, column.inside):
        for (i, height), (j, width) in itertools.product(up.corners, left.corners):
            found.append((height * width * up.times * left.times, float(plane[i, j])))
    return found


def _origin(plane: Array, row: Line, column: Line) -> list[tuple[Fraction, float]]:
    """Return the first pixel, which runtimes multiply by 0 for each sample outside the image."""
    outside = row.outside * column.total + column.outside * row.total
    return [(Fraction(0), float(plane[0, 0]))] if outside and plane.size else []


READINGS = (
    *("shifted", "one-sample", "nothing-nan", "in-t", "multiplied"),
    *("interpolated", "interpolated-from-zero", "never"),
    # ONNX Runtime and ONNX's reference
    *("multiplied+never", "shifted+multiplied", "shifted+never", "shifted+multiplied+never"),
    # OpenVINO
    *("one-sample+interpolated-from-zero", "multiplied+interpolated-from-zero", "one-sample+multiplied", "one-sample+in-t"),
    *("interpolated-from-zero+in-t", "one-sample+interpolated-from-zero+in-t"),
)
"""The other readings that can be computed, by name, and several at once, as runtimes have them,
their names joined by ``+``.
"""

IN_FLOAT32 = ("", "one-sample", "interpolated", "interpolated-from-zero", "one-sample+interpolated-from-zero", "multiplied")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
