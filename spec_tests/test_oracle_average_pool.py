"""The oracle's means, held against hand-made values and against fractions rounded by search among
the type's own values.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool.conformance.oracle import average_pool as windowed
from cypool.conformance.oracle import global_average_pool as global_mean
from cypool.conformance.oracle.average_pool import average_pool
from cypool.conformance.oracle.global_average_pool import global_average_pool
from cypool.conformance.oracle.rounding import FORMATS, nearest_fraction
from cypool.conformance.tensors import DTYPES

NAN, INF = math.nan, math.inf
TYPES = ["float16", "bfloat16", "float", "double"]


def array(values, type="float"):
    return np.array(values, np.float64).astype(DTYPES[type]).reshape(1, 1, -1)


def pool(values, k, type="float", reading=None, **attributes):
    """Means along one axis."""
    x = array(values, type)
    (y,) = average_pool(x, kernel_shape=(k,), reading=reading, **attributes)
    assert y.dtype == x.dtype
    return y.reshape(-1).astype(np.float64).tolist()


def average(values, type="float", reading=None):
    """The mean of one window, the whole input; the global operator gives the same."""
    (y,) = pool(values, len(values), type, reading)
    if reading in (None, *global_mean.READINGS):
        (z,) = global_average_pool(array(values, type), reading=reading)
        np.testing.assert_array_equal(z.astype(np.float64).item(), y)
        assert z.shape == (1, 1, 1)
    return y


def same(got, expected):
    np.testing.assert_array_equal(got, expected)
    assert np.signbit(got).tolist() == np.signbit(expected).tolist()
    return True


RAMP = [1, 2, 3, 4, 5, 6]


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(TYPES), st.integers(1, 6))
def test_no_value_of_the_type_is_nearer_to_the_mean(data, type, count):
    dtype = DTYPES[type]
    sign, limit = 1 << (8 * dtype.itemsize - 1), int(np.array(np.inf).astype(dtype).view(f"u{dtype.itemsize}"))
    bits = data.draw(st.lists(st.tuples(st.integers(0, limit - 1), st.booleans()), min_size=count, max_size=count))
    values = np.array([bit | sign * minus for bit, minus in bits], f"u{dtype.itemsize}").view(dtype).astype(np.float64).tolist()
    exact, y = sum(map(Fraction, values)) / count, average(values, type)
    around = np.array([y], dtype).view(f"i{dtype.itemsize}") + np.array([-1, 0, 1], f"i{dtype.itemsize}")
    candidates = [value for value in around.view(dtype).astype(np.float64).tolist() if math.isfinite(value)]
    assert all(abs(Fraction(y) - exact) <= abs(Fraction(value) - exact) for value in candidates)


@pytest.mark.parametrize("type", TYPES)
def test_fractions_are_rounded_to_even_and_keep_their_sign(type):
    form = FORMATS[DTYPES[type]]
    one, step = Fraction(1), Fraction(2, 2**form.precision)
    assert nearest_fraction(one + step / 2, form) == 1 and nearest_fraction(one + step * 3 / 2, form) == 1 + 2 * step
    assert nearest_fraction(one + step / 2 + Fraction(1, 3**200), form) == 1 + step
    assert nearest_fraction(-one - step / 2 + Fraction(1, 3**200), form) == -1
    least = Fraction(2) ** form.least
    assert nearest_fraction(least / 2, form) == 0 and nearest_fraction(least / 2 + Fraction(1, 3**3000), form) == least
    assert same([nearest_fraction(-least / 3, form)], [-0.0]) and nearest_fraction(least * Fraction(5, 3), form) == 2 * least
    top = Fraction(2) ** form.limit
    assert nearest_fraction(top - 1, form) == INF and nearest_fraction(-top, form) == -INF
    assert nearest_fraction(top * (1 - Fraction(3, 2 ** (form.precision + 2))), form) == -form.lowest


def test_sums_neither_overflow_nor_cancel():
    assert average([3e38, 3e38]) == np.float32(3e38) and average([3e38, 3e38], reading="naive") == INF
    assert average([6e4, 6e4], "float16") == 60000 == average([6e4, 6e4], "float16", "naive")
    assert average([6e4, 6e4], "float16", "narrow") == INF
    assert average([1e17, 1, -1e17], "double") == 1 / 3 and average([1e17, 1, -1e17], "double", "naive") == 0
    assert average([1e8, 1, -1e8]) == np.float32(1 / 3) and average([1e8, 1, -1e8], reading="naive") == 0
    assert average([1, 2**-8, 2**-8], "bfloat16") == 0.3359375 and average([1, 2**-8, 2**-8], "bfloat16", "narrow") == 0.333984375
    assert average([1e308, 1e308], "double") == 1e308


def test_nan_and_infinities():
    for type in TYPES:
        assert math.isnan(average([NAN, 1], type)) and math.isnan(average([INF, -INF], type)) and math.isnan(average([NAN, INF], type))
        assert average([INF, 1], type) == INF and average([-INF, 1], type) == -INF
    assert average([NAN, 1, 2], reading="nan-dropped") == 1.5
    assert math.isnan(average([NAN, NAN], reading="nan-dropped"))
    counted = pool([NAN, 1], 2, count_include_pad=1, reading="nan-dropped")
    assert math.isnan(counted[0])


def test_a_zero_is_negative_only_where_all_elements_are():
    assert same([average([-0.0, -0.0]), average([-0.0, 0.0]), average([-1, 1]), average([0.0, 0.0])], [-0.0, 0.0, 0.0, 0.0])
    assert same(pool([-0.0, -0.0], 2, pads=(1, 0), count_include_pad=1), [0.0, -0.0])  # padding is +0.0
    assert same(pool([-0.0, -0.0], 2, pads=(1, 0)), [-0.0, -0.0])


def test_the_divisor_counts_elements_or_positions_inside_the_padded_input():
    ceil = {"strides": (2,), "pads": (1, 1), "ceil_mode": 1}
    assert pool(RAMP, 3, **ceil) == [1.5, 3, 5, 6]
    assert pool(RAMP, 3, **ceil, count_include_pad=1) == [1, 3, 5, 3]  # 6, one of the padding, and one beyond it
    assert pool(RAMP, 3, **ceil, count_include_pad=1, reading="overhang-counted") == [1, 3, 5, 2]
    assert pool([1, 2, 3, 4, 5], 2, strides=(2,), ceil_mode=1, count_include_pad=1) == [1.5, 3.5, 5]
    assert pool(RAMP, 3, strides=(2,), auto_pad="SAME_UPPER", count_include_pad=1) == [2, 4, float(np.float32(11 / 3))]
    assert pool(RAMP, 3, strides=(2,), auto_pad="SAME_LOWER", count_include_pad=1) == [1, 3, 5]
    assert pool([1, 2, 3, 4], 2, dilations=(2,), pads=(1, 1), count_include_pad=1) == [1, 2, 3, 1.5]
    assert pool([1, 2, 3, 4], 3, pads=(1, 1), reading="padding-counted") == [1, 2, 3, float(np.float32(7 / 3))]
    x = np.arange(1, 17, dtype=np.float64).reshape(1, 1, 4, 4)
    (y,) = average_pool(x, kernel_shape=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1), ceil_mode=1, count_include_pad=1)
    assert y.reshape(-1).tolist() == [14 / 9, 30 / 9, 2, 57 / 9, 11, 6, 4.5, 7.5, 4]


def test_a_window_without_elements_has_no_mean_unless_padding_is_counted():
    hollow = {"dilations": (5,), "pads": (1, 1)}
    for type in TYPES:
        assert math.isnan(pool([1, 2, 3, 4], 2, type, **hollow)[0]) and math.isnan(pool([], 2, type, pads=(1, 1))[0])
        assert same(pool([1, 2, 3, 4], 2, type, **hollow, count_include_pad=1), [0.0])
        assert pool([1, 2, 3, 4], 2, type, **hollow, reading="zero") == [0]
    assert same(pool([1, 2, 3, 4], 2, pads=(2, 2), count_include_pad=1), [0.0, 0.5, 1.5, 2.5, 3.5, 2.0, 0.0])
    assert math.isnan(global_average_pool(np.zeros((1, 1, 0)))[0].item())
    assert global_average_pool(np.zeros((1, 1, 0)), reading="zero")[0].item() == 0


def test_places_follow_the_windows():
    assert pool([1, 2, 3, 4, 5], 2, strides=(3,), pads=(1, 1), ceil_mode=1) == [1, 3.5]
    with_kept = pool([1, 2, 3, 4, 5], 2, strides=(3,), pads=(1, 1), ceil_mode=1, reading="kept")
    assert with_kept[:2] == [1, 3.5] and math.isnan(with_kept[2])
    dilated = {"dilations": (3,), "auto_pad": "SAME_UPPER"}
    assert pool(RAMP, 2, **dilated) == [3, 2.5, 3.5, 4.5, 4, 5]
    assert pool(RAMP, 2, **dilated, reading="undilated-pads") == [2.5, 3.5, 4.5, 4]
    assert pool(RAMP, 2, **dilated, reading="unreached-zero") == [2.5, 3.5, 4.5, 4, 0, 0]
    assert pool(range(1, 10), 1, strides=(3,), auto_pad="SAME_UPPER", reading="negative-toward-zero") == [2, 5, 8]


def test_faults_of_shapes_and_divisors_add_up():
    beyond = {"strides": (2,), "count_include_pad": 1}
    assert pool([1, 2, 3], 4, **beyond) == [] and pool([1, 2, 3], 4, **beyond, reading="toward-zero") == [2]
    assert pool([1, 2, 3], 4, **beyond, reading="toward-zero+overhang-counted") == [1.5]
    dilated = {"strides": (3,), "dilations": (3,), "auto_pad": "SAME_UPPER"}
    assert pool(RAMP, 2, **dilated) == [2.5, 4]
    assert pool(RAMP, 2, **dilated, reading="undilated-pads") == [2.5]
    assert pool([1, 2, 3, 4, 5, 6], 1, strides=(4,), dilations=(2,), auto_pad="SAME_UPPER", reading="undilated-pads") == [1, 5]
    cropped = pool([1, 2, 3, 4, 5, 6, 7, 8], 1, strides=(4,), auto_pad="SAME_UPPER", reading="undilated-pads+negative-toward-zero")
    assert cropped == [2, 6]


def test_shapes_of_nothing():
    for shape in ((0, 2, 4), (2, 0, 4)):
        assert average_pool(np.zeros(shape), kernel_shape=(3,))[0].shape == (*shape[:2], 2)
        assert global_average_pool(np.zeros(shape))[0].shape == (*shape[:2], 1)
    assert global_average_pool(np.ones((2, 3)))[0].tolist() == np.ones((2, 3)).tolist()


@pytest.mark.parametrize("op", [windowed, global_mean])
def test_joined_readings_are_of_single_ones(op):
    single = {name for name in op.READINGS if "+" not in name}
    assert all(set(name.split("+")) <= single for name in op.READINGS) and len(set(op.READINGS)) == len(op.READINGS)
    assert set(op.IN_FLOAT32) <= {"", *op.READINGS}
