"""The oracle's regions, held against hand-made values and against bins by overlap, which nobody
computes with floor and ceil.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.oracle.max_roi_pool import bins, pixel
from cypool.conformance.tensors import DTYPES

VERSION = spec.version("MaxRoiPool-22")
READINGS_AGREE = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 17, 32}


def pool(x, rois, pooled_shape=(1, 1), scale=1.0, type="float", reading=None):
    x, rois = (np.array(array, np.float64).astype(DTYPES[type]) for array in (x, rois))
    attributes = {"pooled_shape": pooled_shape, "spatial_scale": scale}
    (y,) = oracle.evaluate(VERSION, [x, rois.reshape(-1, 5)], attributes, reading)
    assert y.dtype == x.dtype and y.shape == (rois.size // 5, x.shape[1], *pooled_shape)
    return y.astype(np.float64)


def row(*elements):
    """An image one pixel high."""
    return np.array(elements, np.float64).reshape(1, 1, 1, -1)


def along(x, x1, x2, count=1, **more):
    """The bins of a region on an image one pixel high."""
    return pool(x, [0, x1, 0, x2, 0], (1, count), **more).reshape(-1).tolist()


RAMP = row(*range(1, 17))


def by_overlap(start, end, count, size):
    """The pixels whose square overlaps the bin, the region being cut into equal parts: empty bins
    are (0, 0).
    """
    extent = max(end - start + 1, 1)
    found = []
    for i in range(count):
        left, right = start + Fraction(i * extent, count), start + Fraction((i + 1) * extent, count)
        pixels = [k for k in range(size) if k < right and k + 1 > left]
        found.append((pixels[0], pixels[-1] + 1) if pixels else (0, 0))
    return found


def occupied(intervals):
    return [(first, last) if first < last else (0, 0) for first, last in intervals]


@pytest.mark.parametrize("count", range(1, 33))
def test_exact_bins_hold_the_pixels_that_overlap_them(count):
    for start, end in [(0, 0), (0, 6), (2, 15), (-5, 3), (-40, 40), (7, 30), (20, 25), (-9, -3), (6, 2), (0, 56), (0, 2)]:
        assert occupied(bins(start, end, count, 16, np.float32, "exact")) == by_overlap(start, end, count, 16), (start, end)


def test_float32_bins_part_from_exact_ones_in_963_of_32768_ways():
    parted = [
        count
        for count in range(1, 33)
        for extent in range(1, 1025)
        if list(bins(0, extent - 1, count, 2048, np.float32)) != list(bins(0, extent - 1, count, 2048, np.float32, "exact"))
    ]
    assert len(parted) == 963
    assert set(range(1, 33)) - set(parted) == READINGS_AGREE


def test_the_last_of_7_bins_of_57_pixels_ends_one_further():
    assert list(bins(0, 56, 7, 99, np.float32))[-1] == (48, 58)
    assert list(bins(0, 56, 7, 99, np.float32, "exact"))[-1] == (48, 57)
    assert list(bins(0, 56, 7, 99, np.float64))[-1] == (48, 57)


def test_the_last_of_21_bins_of_3_pixels_ends_one_further():
    assert list(bins(0, 2, 21, 99, np.float32))[-1][1] == 4 and list(bins(0, 2, 21, 99, np.float32, "exact"))[-1][1] == 3


@pytest.mark.parametrize(
    ("coordinate", "away", "even", "floor"),
    [
        (0.5, 1, 0, 1),
        (1.5, 2, 2, 2),
        (2.5, 3, 2, 3),
        (-0.5, -1, 0, 0),
        (-2.5, -3, -2, -2),
        (-1.5, -2, -2, -1),
        (2.4, 2, 2, 2),
        (-2.6, -3, -3, -3),
    ],
)
def test_halves_go_away_from_zero_and_other_readings_elsewhere(coordinate, away, even, floor):
    for t in (np.float32, np.float64):
        assert [pixel(t(coordinate), 1.0, reading) for reading in (None, "half-to-even", "floor-plus-half")] == [away, even, floor]


def test_the_number_below_a_half_rounds_to_zero():
    assert pixel(np.float64(0.49999999999999994), 1.0) == 0 == pixel(np.float32(0.49999997), 1.0)
    assert pixel(np.float64(0.49999999999999994), 1.0, "floor-plus-half") == 1 == pixel(np.float32(0.49999997), 1.0, "floor-plus-half")


def test_a_product_is_rounded_once_to_the_type_of_coordinates():
    scale = float(np.float32(0.7))
    assert pixel(np.float32(5), scale) == 4 and pixel(np.float32(5), scale, "exact") == 3
    assert pixel(np.float64(5), scale) == 3  # the double product is exact, and 0.7 as a float32 is below 0.7


def test_the_scale_is_a_float32_for_double_input_too():
    assert along(RAMP, 0, 5, scale=0.7, type="double") == [4.0]


def test_ends_are_inclusive_and_bins_overlap():
    x = np.arange(64.0).reshape(1, 1, 8, 8)
    assert pool(x, [0, 0, 0, 7, 7], (3, 3)).reshape(-1).tolist() == [18, 21, 23, 42, 45, 47, 58, 61, 63]
    assert along(RAMP, 2, 5) == [6.0] and along(RAMP, 2, 6, 2) == [5.0, 7.0]


def test_a_reversed_region_is_one_pixel_at_its_start():
    assert along(RAMP, 5, 2, 3) == [6.0] * 3


def test_an_empty_bin_is_zero_whatever_the_elements():
    assert along(-RAMP, 16, 20, 2) == [0.0, 0.0] == along(-RAMP, -9, -2, 2)
    assert along(-RAMP, -2, 1, 2) == [0.0, -1.0]
    assert pool(np.zeros((1, 2, 0, 3)), [0, 0, 0, 2, 2], (1, 2)).reshape(-1).tolist() == [0.0] * 4


def test_more_bins_than_pixels_repeat_pixels():
    assert along(RAMP, 3, 4, 6) == [4.0, 4.0, 4.0, 5.0, 5.0, 5.0]


def test_regions_name_their_images_in_any_order():
    x = np.arange(12.0).reshape(3, 2, 1, 2)
    y = pool(x, [[2, 0, 0, 0, 0], [0, 1, 0, 1, 0], [2, 0, 0, 1, 0]])
    assert y.reshape(3, 2).tolist() == [[8, 10], [1, 3], [9, 11]]


@pytest.mark.parametrize(("images", "channels", "count"), [(0, 2, 0), (2, 0, 1), (2, 3, 0)])
def test_nothing_in_is_nothing_out(images, channels, count):
    assert pool(np.zeros((images, channels, 4, 4)), np.zeros((count, 5)), (2, 3)).shape == (count, channels, 2, 3)


def test_a_bin_with_a_nan_is_nan_and_other_readings_depend_on_its_place():
    nan = math.nan
    place = {"last": row(5, 2, nan), "middle": row(5, nan, 2), "first": row(nan, 5, 2)}
    found = {
        where: [along(x, 0, 2, reading=reading)[0] for reading in (None, "restart", "never", "only-first")] for where, x in place.items()
    }
    np.testing.assert_equal(found, {"last": [nan, nan, 5, 5], "middle": [nan, 2, 5, 5], "first": [nan, 5, 5, nan]})


def test_a_bin_of_minus_infinities_is_minus_infinity_or_the_types_lowest():
    x = row(-math.inf, -math.inf)
    assert along(x, 0, 1) == [-math.inf]
    lowest = {type: along(x, 0, 1, type=type, reading="lowest-finite")[0] for type in ("float16", "bfloat16", "float", "double")}
    assert lowest == {
        "float16": -65504.0,
        "bfloat16": -(2 - 2**-7) * 2.0**127,
        "float": float(np.finfo("f4").min),
        "double": np.finfo("f8").min,
    }


def test_doubles_are_doubles_unless_read_as_floats():
    x = row(-1e300, -2e300)
    assert along(x, 0, 1, type="double") == [-1e300]
    assert along(x, 0, 1, type="double", reading="float32") == [float(np.finfo(np.float32).min)]


def test_floats_have_no_double_infinity_nor_its_digits():
    largest = float(np.finfo(np.float32).max)
    for elements in ((math.inf, 1), (1e300, 1)):
        assert along(row(*elements), 0, 1, type="double", reading="float32") == [largest]
    assert along(row(-math.inf, -math.inf), 0, 1, type="double", reading="float32") == [-largest]
    assert along(row(0.1, 0), 0, 1, type="double", reading="float32") == [float(np.float32(0.1))]
    assert along(RAMP, 0.49999999999999994, 0, type="double") == [1.0]
    assert along(RAMP, 0.49999999999999994, 0, type="double", reading="float32") == [2.0]  # as a float, it is a half


def test_a_runtime_may_have_floats_and_another_fault():
    x = row(1, math.nan, math.inf)
    assert math.isnan(along(x, 0, 2, type="double", reading="float32")[0])
    assert along(x, 0, 2, type="double", reading="float32+only-first") == [float(np.finfo(np.float32).max)]


def test_far_coordinates_lie_where_they_say_unless_wrapped():
    assert along(RAMP, 1, 2.0**40) == [16.0] and along(RAMP, 1, 2.0**40, reading="wrap") == [2.0]
    assert along(RAMP, -(2.0**40), 2.0**33) == [16.0] and along(RAMP, -(2.0**40), 2.0**33, reading="wrap") == [0.0]
    assert along(RAMP, 2.0**40, 2.0**41) == [0.0]


def test_a_product_beyond_the_type_is_farther_than_any_image():
    largest = float(np.finfo(np.float32).max)
    for reading in (None, "exact", "half-to-even", "floor-plus-half"):
        assert along(RAMP, 3, largest, scale=2.0, reading=reading) == [16.0]
        assert along(RAMP, -largest, largest, 1, scale=2.0, reading=reading) == [16.0]


def test_elements_pass_unchanged_to_the_bit():
    draws = np.random.default_rng(0).integers(0, 2**16, 64, dtype=np.uint16)
    for type in ("float16", "bfloat16"):
        x = draws.view(DTYPES[type])
        with np.errstate(invalid="ignore"):
            x = x[np.isfinite(x)]
        y = pool(x.reshape(1, -1, 1, 1), [0, 0, 0, 0, 0], type=type)
        np.testing.assert_array_equal(y.reshape(-1), x.astype(np.float64))
