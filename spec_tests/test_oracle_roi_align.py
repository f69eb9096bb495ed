"""The oracle's aligned regions, held against hand-made values and against a plain walk over all
samples with fractions.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from cypool.conformance.oracle import roi_align as module
from cypool.conformance.oracle.roi_align import lines, roi_align
from cypool.conformance.oracle.rounding import FORMATS, nearest_fraction
from cypool.conformance.tensors import DTYPES

NAN, INF = math.nan, math.inf
RAMP = np.arange(1.0, 17).reshape(1, 1, 4, 4)
HALF, OUTPUT_HALF = "half_pixel", "output_half_pixel"


def align(roi, x=RAMP, type="float", mode=OUTPUT_HALF, pool="avg", reading=None, size=(1, 1), ratio=1, scale=1.0):
    """The bins of one region of one image, flattened."""
    x, rois = (np.array(array, np.float64).astype(DTYPES[type]) for array in (x, [roi]))
    attributes = {"output_height": size[0], "output_width": size[1], "sampling_ratio": ratio, "spatial_scale": float(np.float32(scale))}
    (y,) = roi_align(x, rois, np.array([0]), mode=pool, **attributes, coordinate_transformation_mode=mode, reading=reading)
    assert y.dtype == x.dtype and y.shape == (1, x.shape[1], *size)
    return y.astype(np.float64).reshape(-1).tolist()


def one(roi, **more):
    (y,) = align(roi, **more)
    return y


def changed(at, value, x=RAMP):
    x = x.copy()
    x[(0, 0, *at)] = value
    return x


def walked(x, roi, size, ratio, scale, half, pool, t):
    """What each bin gives, sample by sample: coordinates in t, then fractions."""
    _, _, height, width = x.shape
    scale = t(np.float32(scale))

    def coordinates(first, last, bins):
        offset = t(0.5) if half else t(0)
        start, end = t(first) * scale - offset, t(last) * scale - offset
        extent = end - start if half else max(end - start, t(1))
        step = extent / t(bins)
        count = ratio if ratio > 0 else math.ceil(step)
        return [[start + t(p) * step + (t(i) + t(0.5)) * step / t(count) for i in range(count)] for p in range(bins)]

    rows, columns = coordinates(roi[1], roi[3], size[0]), coordinates(roi[0], roi[2], size[1])
    found = []
    for ys, xs in itertools.product(rows, columns):
        values = []
        for cy, cx in itertools.product(ys, xs):
            if not (-1 <= cy <= height and -1 <= cx <= width):
                values.append([Fraction(0)])
                continue
            cy, cx = Fraction(max(float(cy), 0)), Fraction(max(float(cx), 0))
            y0, x0 = min(int(cy), height - 1), min(int(cx), width - 1)
            dy = cy - y0 if y0 < height - 1 else Fraction(0)
            dx = cx - x0 if x0 < width - 1 else Fraction(0)
            y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
            corners = [(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx]
            pixels = [x[0, 0, y0, x0], x[0, 0, y0, x1], x[0, 0, y1, x0], x[0, 0, y1, x1]]
            values.append([weight * Fraction(float(pixel)) for weight, pixel in zip(corners, pixels, strict=True)])
        if pool == "max":
            found.append(max(itertools.chain.from_iterable(values), default=Fraction(0)))
        else:
            found.append(sum(map(sum, values), Fraction(0)) / max(len(values), 1))
    return found


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float", "double"])
@pytest.mark.parametrize("pool", ["avg", "max"])
@pytest.mark.parametrize("mode", [HALF, OUTPUT_HALF])
def test_bins_are_what_a_walk_over_all_samples_gives(type, pool, mode):
    random = np.random.default_rng(3)
    x = random.standard_normal((1, 1, 5, 7)).astype(DTYPES[type])
    for ratio, size, scale in [(0, (2, 3), 0.7), (1, (1, 1), 1), (2, (3, 2), 0.5), (3, (2, 2), 1.3), (0, (1, 4), 0.1)]:
        for corners in ([1, 1, 5, 4], [-3, -2, 12, 11], [0.3, 0.7, 0.4, 0.9], [6, 4, 1, 2], *random.uniform(-4, 10, (2, 4)).tolist()):
            roi = np.array(corners, np.float64).astype(DTYPES[type]).astype(np.float64)
            t = np.float64 if type == "double" else np.float32
            expected = [
                nearest_fraction(value, FORMATS[DTYPES[type]]) for value in walked(x, roi, size, ratio, scale, mode == HALF, pool, t)
            ]
            assert align(roi, x=x, type=type, mode=mode, pool=pool, size=size, ratio=ratio, scale=scale) == expected, (ratio, corners)


def test_half_pixel_shifts_the_region_and_version_10_does_not():
    assert one([0.5, 0.5, 2.5, 2.5], mode=HALF) == 6 and one([0.5, 0.5, 2.5, 2.5]) == 8.5
    (y,) = roi_align(RAMP, np.array([[0.5, 0.5, 2.5, 2.5]]), np.array([0]), sampling_ratio=1)
    assert y.item() == 8.5
    assert one([0.5, 0.5, 2.5, 2.5], reading="shifted") == 6


def test_a_region_is_at_least_one_pixel_without_the_shift_only():
    assert one([1, 1, 1.25, 1.25], ratio=2) == 8.5
    assert one([1, 1, 1.25, 1.25], ratio=2, mode=HALF) == 4.125 == one([1, 1, 1.25, 1.25], ratio=2, reading="shifted")


def test_adaptive_samples_are_as_many_as_pixels_begun():
    assert one([0, 0, 1.5, 1.5], ratio=0, mode=HALF) == 2.5625 and one([0, 0, 1.5, 1.5], ratio=0) == 4.75
    assert one([0, 0, 1.5, 1.5], ratio=0, mode=HALF, reading="one-sample") == 2.25
    assert one([0, 0, 1.5, 1.5], ratio=2, mode=HALF, reading="one-sample") == one([0, 0, 1.5, 1.5], ratio=2, mode=HALF)


def test_regions_that_are_none():
    shift = {"mode": HALF}
    assert one([3, 3, 1, 1], ratio=0, **shift) == 0 == one([2, 2, 2, 2], ratio=0, **shift) == one([3, 1, 1, 3], ratio=0, **shift)
    assert align([3, 3, 1, 1], ratio=2, size=(2, 2), **shift) == [11, 10, 7, 6]
    assert one([2, 2, 2, 2], ratio=2, **shift) == 8.5 and one([3, 3, 1, 1], ratio=0, pool="max", **shift) == 0
    assert math.isnan(one([2, 2, 2, 2], ratio=0, reading="nothing-nan", **shift))
    assert math.isnan(one([2, 1, 2, 3], ratio=0, reading="nothing-nan", **shift))
    assert one([3, 3, 1, 1], ratio=0, reading="nothing-nan", **shift) == 0


@pytest.mark.parametrize(("y", "expected"), [(-1, 2.5), (-1.1, 0), (4, 14.5), (4.1, 0)])
def test_samples_count_up_to_one_pixel_before_the_image_and_up_to_its_end(y, expected):
    assert one([1, y - 0.5, 2, y + 0.5]) == expected


def test_samples_outside_count_in_the_average():
    assert align([-3, -3, 2, 2], size=(2, 2), mode=HALF) == [0, 0, 0, 2.25]
    assert one([-4, -4, 4, 4], ratio=2, x=np.ones((1, 1, 4, 4))) == 0.25


def test_the_maximum_is_of_weighted_pixels():
    roi = [0.25, 0.25, 1.25, 1.25]
    assert one(roi, pool="max") == 3.375 and one(roi, pool="max", reading="interpolated") == 4.75
    assert one(roi, pool="max", x=-RAMP) == -0.0625 and one(roi, pool="max", x=-RAMP, reading="interpolated") == -4.75
    assert one(roi, pool="max", x=-RAMP, reading="interpolated-from-zero") == 0
    wider = [0.25, 0.25, 2.25, 2.25]
    assert one(wider, pool="max", ratio=2) == 6.1875 and one(wider, pool="max", ratio=2, reading="interpolated") == 9.75
    assert one([-4, -4, 1, 1], pool="max", ratio=2, x=-RAMP) == 0 == one([-9, -9, -8, -8], pool="max", x=-RAMP)
    assert one([0.5, 0.5, 1.5, 1.5], pool="max", x=-RAMP) == 0  # three pixels of weight 0


def test_a_pixel_of_no_weight_takes_no_part():
    on_a_pixel, outside, last = [0.5, 0.5, 1.5, 1.5], [-9, -9, -8, -8], [3, 3, 4, 4]
    assert one(on_a_pixel, x=changed((1, 2), INF)) == 6 and math.isnan(one(on_a_pixel, x=changed((1, 2), INF), reading="multiplied"))
    assert one(outside, x=changed((0, 0), NAN)) == 0 and math.isnan(one(outside, x=changed((0, 0), NAN), reading="multiplied"))
    assert one(last, x=changed((3, 3), INF)) == INF and math.isnan(one(last, x=changed((3, 3), INF), reading="multiplied"))
    assert one(on_a_pixel, x=changed((1, 2), INF), pool="max") == 6
    assert math.isnan(one(on_a_pixel, x=changed((1, 2), INF), pool="max", reading="multiplied"))
    assert one(on_a_pixel, x=changed((1, 2), INF), pool="max", reading="multiplied+never") == 6
    assert one(on_a_pixel, reading="multiplied") == 6


def test_nan_and_infinity_of_some_weight():
    between = [0.25, 0.25, 1.25, 1.25]
    assert math.isnan(one(between, x=changed((1, 1), NAN))) and math.isnan(one(between, x=changed((1, 1), NAN), pool="max"))
    assert one(between, x=changed((1, 1), NAN), pool="max", reading="never") == 0.9375
    assert one(between, x=changed((1, 1), INF)) == INF and one(between, x=changed((1, 1), -INF), pool="max") == 0.9375
    assert math.isnan(one(between, x=changed((0, 1), -INF, changed((1, 1), INF))))
    assert math.isnan(one(between, x=changed((0, 1), -INF, changed((1, 1), INF)), pool="max", reading="interpolated"))
    least = [np.nextafter(0, 1)] * 2 + [1, 1]
    assert one(least, type="double", mode=HALF, ratio=1, x=changed((1, 1), INF)) == 1  # at the pixel itself


def test_sums_do_not_overflow():
    x = np.full((1, 1, 2, 2), 3e38)
    assert one([0.25, 0.25, 1.25, 1.25], x=x, ratio=2) == np.float32(3e38)
    assert align([0.5, 0.5, 2.5, 2.5], x=RAMP * 2.0**1000, type="double") == [8.5 * 2.0**1000]


def test_coordinates_are_float32_for_all_types_but_double():
    x = np.arange(64.0 * 64).reshape(1, 1, 64, 64)
    sized = {"size": (1, 3), "ratio": 2, "scale": 0.7, "mode": HALF, "x": x}
    assert align([10.3, 10.3, 40.3, 40.3], type="bfloat16", **sized) == [1112, 1120, 1128]
    assert align([10.3, 10.3, 40.3, 40.3], type="bfloat16", reading="in-t", **sized) == [1112, 1112, 1120]
    narrow, wide = (lines(t(10.3), t(40.3), 3, 2, t(np.float32(0.7)), True, 64) for t in (np.float32, np.float64))
    assert narrow[0].inside[0].weight.denominator < 2**24 < wide[0].inside[0].weight.denominator


def test_equal_coordinates_are_counted_together():
    (line,) = lines(np.float32(2**20), np.float32(2**20 + 1), 1, 1000, np.float32(1), False, 2**21)
    assert line.total == 1000 == sum(sample.times for sample in line.inside) and len(line.inside) < 10


def test_images_and_regions_that_are_empty():
    y = roi_align(np.zeros((1, 2, 0, 4)), np.array([[0.0, 0, 3, 3]]), np.array([0]), sampling_ratio=1)
    assert y[0].tolist() == [[[[0]], [[0]]]]
    assert roi_align(np.zeros((0, 2, 4, 4)), np.zeros((0, 4)), np.zeros(0, np.int64), output_height=2)[0].shape == (0, 2, 2, 1)
    assert roi_align(np.zeros((1, 0, 4, 4)), np.zeros((3, 4)), np.zeros(3, np.int64))[0].shape == (3, 0, 1, 1)


def test_each_region_is_on_the_image_that_its_index_names():
    x = np.concatenate([RAMP, 10 * RAMP])
    y = roi_align(x, np.array([[0.5, 0.5, 2.5, 2.5]] * 3), np.array([1, 0, 1]), sampling_ratio=1)
    assert y[0].reshape(-1).tolist() == [85, 8.5, 85]


def test_joined_readings_are_of_single_ones():
    single = {name for name in module.READINGS if "+" not in name}
    assert all(set(name.split("+")) <= single for name in module.READINGS) and len(set(module.READINGS)) == len(module.READINGS)
    assert set(module.IN_FLOAT32) <= {"", *module.READINGS}
