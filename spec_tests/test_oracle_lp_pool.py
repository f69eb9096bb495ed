"""The oracle's norms of windows, held against hand-made values and against those of
whole planes.
"""

import math

import numpy as np
import pytest

from cypool.conformance.oracle import lp_pool as windowed
from cypool.conformance.oracle.global_lp_pool import global_lp_pool
from cypool.conformance.oracle.lp_pool import lp_pool
from cypool.conformance.tensors import DTYPES

NAN, INF = math.nan, math.inf
TYPES = ["float16", "bfloat16", "float", "double"]


def pool(values, k, p=1, type="float", reading=None, **attributes):
    """Norms along one axis."""
    x = np.array(values, np.float64).astype(DTYPES[type]).reshape(1, 1, -1)
    (y,) = lp_pool(x, kernel_shape=(k,), p=p, reading=reading, **attributes)
    assert y.dtype == x.dtype
    return y.reshape(-1).astype(np.float64).tolist()


def f32(value):
    return float(np.float32(value))


RAMP = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 7, 0.5, 2.5, INF])
def test_a_window_as_large_as_the_plane_has_its_norm(type, p):
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(DTYPES[type])
    (whole,), (windows,) = global_lp_pool(x, p=p), lp_pool(x, kernel_shape=(4, 5), p=p)
    np.testing.assert_array_equal(windows.astype(np.float64), whole.astype(np.float64))
    (corner,) = lp_pool(x, kernel_shape=(2, 3), strides=(2, 2), p=p)
    np.testing.assert_array_equal(corner[:, :, 1, 1], global_lp_pool(x[:, :, 2:4, 2:5], p=p)[0][:, :, 0, 0])


def test_norms_take_absolute_values():
    assert pool([-1, 2, 1], 2) == [3, 3] and pool([-1, 2, 1], 2, reading="no-abs") == [1, 3]
    assert pool([-1, 2, 1], 2, 3) == [f32(9 ** (1 / 3))] * 2


def test_nothing_overflows_or_underflows_on_the_way():
    assert pool([3e20, 4e20], 2, 2) == [f32(5e20)] and pool([3e20, 4e20], 2, 2, reading="naive") == [INF]
    assert pool([3e-30, 4e-30], 2, 2) == [f32(5e-30)] and pool([3e-30, 4e-30], 2, 2, reading="naive") == [0]
    assert pool([300, 300], 2, 2, "float16") == [424.25] and pool([300, 300], 2, 2, "float16", "narrow") == [INF]
    assert pool([3 * 2.0**600, 4 * 2.0**600], 2, 2, "double") == [5 * 2.0**600]
    assert pool([3, -2.5, 2], 3, 100) == [3]


def test_padding_and_what_lies_beyond_it_add_nothing():
    assert pool([1, 2, 3, 4, 5], 3, pads=(1, 1)) == [3, 6, 9, 12, 9]
    ceil = {"strides": (2,), "ceil_mode": 1}
    assert pool([1, 2, 3, 4, 5], 2, 2, **ceil) == [f32(5**0.5), 5, 5]
    assert pool([1, 2, 3, 4, 5], 2, 2, **ceil, reading="rescaled") == [f32(5**0.5), 5, f32(50**0.5)]
    assert pool([1, 2, 3, 4, 5], 2, 2.5, **ceil, reading="rescaled")[2] == f32((2 * 5**2.5) ** 0.4)
    assert pool(RAMP, 3, pads=(1, 1), **ceil) == [3, 9, 15, 6]
    assert pool(RAMP, 3, pads=(1, 1), **ceil, reading="rescaled") == [3, 9, 15, 9]


def test_nan_and_infinity():
    values = [NAN, 1, INF, -INF, NAN, INF, 1, 2]
    np.testing.assert_array_equal(pool(values, 2, 1, strides=(2,)), [NAN, INF, NAN, 3])
    assert pool(values, 2, 1, strides=(2,), reading="nan-dropped") == [2, INF, INF, 3]
    assert math.isnan(pool([NAN], 1, reading="nan-dropped")[0])


def test_an_empty_window_has_the_norm_of_nothing():
    for type in TYPES:
        assert pool([1, 2, 3, 4], 2, 2, type, dilations=(5,), pads=(1, 1)) == [0] == pool([], 2, 2, type, pads=(1, 1))
    assert pool([1, 2, 3, 4], 2, pads=(2, 2)) == [0, 1, 3, 5, 7, 4, 0]


def test_places_follow_the_windows():
    assert pool([1, 2, 3, 4, 5], 2, strides=(3,), pads=(1, 1), ceil_mode=1) == [1, 7]
    assert pool([1, 2, 3, 4, 5], 2, strides=(3,), pads=(1, 1), ceil_mode=1, reading="kept") == [1, 7, 0]
    assert pool(RAMP, 3, strides=(2,), auto_pad="SAME_UPPER") == [6, 12, 11]
    assert pool(RAMP, 3, strides=(2,), auto_pad="SAME_LOWER") == [3, 9, 15]
    assert pool(RAMP, 2, dilations=(3,), auto_pad="SAME_UPPER") == [3, 5, 7, 9, 4, 5]
    assert pool(RAMP, 2, dilations=(3,), auto_pad="SAME_UPPER", reading="undilated-pads") == [5, 7, 9, 4]
    assert pool(RAMP, 2, dilations=(3,), auto_pad="SAME_UPPER", reading="unreached-zero") == [5, 7, 9, 4, 0, 0]
    assert pool(RAMP, 2, dilations=(3,), auto_pad="VALID", reading="unreached-zero") == [5, 7, 9, 0, 0]
    assert pool(RAMP, 2, dilations=(3,), reading="unreached-zero") == [5, 7, 9]
    valid = {"strides": (2,), "auto_pad": "VALID", "ceil_mode": 1}
    assert pool([1, 2, 3, 4, 5], 2, **valid) == [3, 7]
    assert pool([1, 2, 3, 4, 5], 2, **valid, reading="ceil-applies") == [3, 7, 5]
    assert pool([1, 2, 3, 4, 5], 2, **valid, reading="ceil-applies+rescaled") == [3, 7, 10]


def test_joined_readings_are_of_single_ones():
    single = {name for name in windowed.READINGS if "+" not in name}
    assert all(set(name.split("+")) <= single for name in windowed.READINGS)
    assert len(set(windowed.READINGS)) == len(windowed.READINGS) and set(windowed.IN_FLOAT32) <= {"", *windowed.READINGS}
