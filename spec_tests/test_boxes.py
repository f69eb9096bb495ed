"""MaxRoiPool to the bit: its kernel against numpy's maximum, its geometry against the oracle, and
laws.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BUILDS, DTYPES, bits, on_build

import cypool
from cypool import dispatch, spec
from cypool.conformance import oracle

settings.register_profile("boxes", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("boxes")


def random_boxes(rng, regions, bins, size):
    return np.sort(rng.integers(0, size + 1, (regions, bins, 2)), axis=2).astype(np.intp)


def brute(x, image, rows, columns):
    """The kernel's definition, by numpy."""
    y = np.zeros((len(image), x.shape[1], rows.shape[1], columns.shape[1]), x.dtype)
    for r, n in enumerate(image):
        for i, (top, bottom) in enumerate(rows[r]):
            for j, (left, right) in enumerate(columns[r]):
                if top < bottom and left < right:
                    y[r, :, i, j] = x[n, :, top:bottom, left:right].max(axis=(1, 2))
    return y


def pool(x, image, rows, columns, threads=1):
    boxes = np.concatenate([image[:, None], rows.reshape(len(image), -1), columns.reshape(len(image), -1)], axis=1).astype(np.intp)
    y = np.empty((len(image), x.shape[1], rows.shape[1], columns.shape[1]), x.dtype)
    element = dispatch.element_type(x.dtype)
    dispatch.chosen.kernels["box_max.box_max"][element.name](x.view(element.view), boxes, y.view(element.view), threads)
    return y


# few boxes and many, small and large, with fewer channels than a block and more: every path of the
# kernel
SETTINGS = [
    (1, 3, 9, 11, 2, 2, 2),
    (2, 40, 30, 33, 60, 3, 4),
    (1, 70, 64, 65, 200, 7, 7),
    (3, 8, 17, 5, 90, 1, 1),
    (1, 33, 5, 150, 40, 2, 2),
    (2, 67, 300, 310, 70, 3, 4),  # copies so large that threads share one
]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize(("images", "channels", "height", "width", "regions", "bins_h", "bins_w"), SETTINGS)
def test_kernel_is_the_maximum_of_every_box(build, type, images, channels, height, width, regions, bins_h, bins_w):
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((images, channels, height, width)) * 100).astype(DTYPES[type])
    x[rng.random(x.shape) < 0.001] = np.nan
    x[rng.random(x.shape) < 0.01] = -np.inf
    image = rng.integers(0, images, regions)
    rows, columns = random_boxes(rng, regions, bins_h, height), random_boxes(rng, regions, bins_w, width)
    y = pool(x, image, rows, columns, threads=2)
    np.testing.assert_array_equal(y.astype(np.float64), brute(x.astype(np.float64), image, rows, columns))


@pytest.mark.parametrize("type", DTYPES)
def test_the_larger_zero_and_one_nan_come_out_on_every_way(type):
    x = np.zeros((1, 40, 16, 16), DTYPES[type])
    x[:, ::2] = -x[:, ::2]
    x[:, :, 3, 3] = -np.asarray(np.nan, DTYPES[type])
    rois = np.array([[0, 0, 0, 2, 2], [0, 3, 3, 3, 3], [0, 8, 8, 15, 15]], DTYPES[type])
    few = cypool.max_roi_pool(x, rois, (1, 1))
    many = cypool.max_roi_pool(x, np.repeat(rois, 50, axis=0), (1, 1))
    assert bits(few).tolist() == bits(many[::50]).tolist()
    assert np.signbit(few[0].astype(np.float32)).ravel().tolist() == [True, False] * 20
    assert np.isnan(few[1].astype(np.float32)).all()


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("regions", [2, 200])
def test_builds_threads_and_layouts_give_the_same_bits(type, regions):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((2, 35, 20, 21)).astype(DTYPES[type])
    corners = rng.uniform(-5, 25, (regions, 4))
    rois = np.concatenate([rng.integers(0, 2, (regions, 1)), corners], axis=1).astype(DTYPES[type])
    reference = None
    channels_last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    backwards = np.ascontiguousarray(x[:, ::-1, ::-1, ::-1])[:, ::-1, ::-1, ::-1]
    for name in BUILDS:
        with on_build(name):
            for threads in (1, 2, 3):
                for layout in (x, channels_last, backwards, np.asfortranarray(x)):
                    y = bits(cypool.max_roi_pool(layout, rois, (3, 2), 0.9, threads=threads)).tobytes()
                    reference = reference or y
                    assert y == reference, (name, threads, layout.strides)


@pytest.mark.parametrize("type", ["float", "double", "float16"])
def test_bins_are_those_of_the_oracle_for_every_extent_and_count(type):
    x = np.arange(300, dtype=DTYPES[type]).reshape(1, 1, 300, 1)
    for count in (1, 2, 3, 5, 7, 11, 13, 14, 21, 25, 32):
        rois = np.array([[0, 0, 0, 0, extent - 1] for extent in range(1, 300, 3)], DTYPES[type])
        expected = oracle.evaluate(spec.resolve("MaxRoiPool"), [x, rois], {"pooled_shape": (count, 1)})[0]
        np.testing.assert_array_equal(cypool.max_roi_pool(x, rois, (count, 1)), expected)


@pytest.mark.parametrize(
    ("extent", "bin", "single", "double"),
    [(58, 6, 28, 29), (114, 6, 57, 56), (228, 6, 114, 113)],
)
def test_bins_are_cut_in_float_unless_the_image_is_double(extent, bin, single, double):
    """Of 14 bins, the last row of one: in float, 58 / 14 * 7 is 29, and 30 bounds the bin in
    double.

    The numbers are numpy's: np.ceil((bin + 1) * (t(extent) / t(14))) - 1, in either type t.
    """
    for type, last in (("float", single), ("float16", single), ("double", double)):
        x = np.arange(300, dtype=DTYPES[type]).reshape(1, 1, 300, 1)
        rois = np.array([[0, 0, 0, 0, extent - 1]], DTYPES[type])
        assert cypool.max_roi_pool(x, rois, (14, 1))[0, 0, bin, 0] == last, type


@pytest.mark.parametrize("type", ["float", "double"])
@pytest.mark.parametrize("far", [2.0**31, 2.0**49, 2.0**52, 2.0**62, 1e30, 3e38])
def test_far_coordinates_are_where_they_say(type, far):
    x = np.arange(24, dtype=DTYPES[type]).reshape(1, 1, 4, 6)
    rois = np.array([[0, -far, -far, far, far], [0, 1, 1, far, far], [0, -far, -far, 2, 2], [0, far, far, -far, 3]], DTYPES[type])
    expected = oracle.evaluate(spec.resolve("MaxRoiPool"), [x, rois], {"pooled_shape": (2, 3)})[0]
    np.testing.assert_array_equal(cypool.max_roi_pool(x, rois, (2, 3)), expected)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(0.5, 1), (-0.5, 0), (2.5, 3), (-2.5, 0), (0.49999999999999994, 0), (1.4999999999999998, 1), (-0.2, 0), (6.5, 7)],
)
def test_halves_are_rounded_away_from_zero(build, x, expected):
    image = np.arange(8.0).reshape(1, 1, 1, 8)
    assert cypool.max_roi_pool(image, np.array([[0.0, x, 0, x, 0]]), (1, 1)).item() == expected


def test_scale_is_float32_also_for_double():
    x = np.arange(40.0).reshape(1, 1, 1, 40)
    rois = np.array([[0, 35, 0, 35, 0]], np.float64)
    assert cypool.max_roi_pool(x, rois, (1, 1), 0.1).item() == 4  # 35 * float32(0.1) is above 3.5, 35 * 0.1 is 3.5 as well, but:
    rois[0, 1::2] = 5, 0
    assert cypool.max_roi_pool(x, rois, (1, 1), 0.3).item() == 2  # 5 * float32(0.3) = 1.50000006
    assert cypool.max_roi_pool(x, rois, (1, 1), 0.7).item() == 3  # 5 * float32(0.7) = 3.4999999


# --- laws -----------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(DTYPES)), st.integers(1, 40), st.integers(1, 12), st.integers(1, 12))
def test_one_bin_over_the_whole_image_is_its_maximum(seed, type, channels, height, width):
    x = np.random.default_rng(seed).standard_normal((1, channels, height, width)).astype(DTYPES[type])
    rois = np.array([[0, 0, 0, width - 1, height - 1]], DTYPES[type])
    assert cypool.max_roi_pool(x, rois, (1, 1)).tolist() == x.max(axis=(2, 3), keepdims=True).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_regions_are_independent_and_keep_their_order(seed, bins):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((3, 4, 9, 9))
    rois = np.concatenate([rng.integers(0, 3, (12, 1)), rng.uniform(-3, 12, (12, 4))], axis=1)
    whole = cypool.max_roi_pool(x, rois, (bins, 2))
    one_by_one = [cypool.max_roi_pool(x, rois[r : r + 1], (bins, 2)) for r in range(12)]
    assert whole.tolist() == np.concatenate(one_by_one).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(-20, 20))
def test_scaling_by_a_power_of_two_scales_the_result(seed, k):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((1, 3, 7, 8)).astype(np.float32)
    rois = np.concatenate([np.zeros((5, 1)), rng.uniform(-3, 12, (5, 4))], axis=1).astype(np.float32)
    assert cypool.max_roi_pool(np.ldexp(x, k), rois, (3, 3)).tolist() == np.ldexp(cypool.max_roi_pool(x, rois, (3, 3)), k).tolist()
