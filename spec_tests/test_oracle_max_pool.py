"""The oracle's maxima, held against hand-made values and against numpy's argmax."""

import math

import numpy as np
import pytest

from cypool.conformance.oracle import global_max_pool as global_max
from cypool.conformance.oracle import max_pool as windowed
from cypool.conformance.oracle.global_max_pool import global_max_pool
from cypool.conformance.oracle.max_pool import max_pool
from cypool.conformance.tensors import DTYPES

NAN, INF = math.nan, math.inf
LOWEST = {"float16": -65504.0, "bfloat16": -3.3895313892515355e38, "float": -3.4028234663852886e38, "double": -1.7976931348623157e308}


def pool(values, k=2, type="float", reading=None, **attributes):
    """Maxima and indices along one axis."""
    x = np.array(values, np.float64).astype(DTYPES[type]).reshape(1, 1, -1)
    y, indices = max_pool(x, kernel_shape=(k,), reading=reading, **attributes)
    assert y.dtype == x.dtype and indices.dtype == np.int64 and y.shape == indices.shape
    return y.reshape(-1).astype(np.float64).tolist(), indices.reshape(-1).tolist()


def largest(values, type="float", reading=None):
    """The maximum of one window, the whole input."""
    (y,), (index,) = pool(values, len(values), type, reading)
    return y, index


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


RAMP = np.arange(24.0).reshape(2, 1, 3, 4)


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float", "double", "int8", "uint8"])
def test_the_maximum_is_numpys_and_stands_where_argmax_says(type):
    x = np.random.default_rng(1).integers(0, 100, (2, 3, 5, 6)).astype(DTYPES[type])
    y, indices = max_pool(x, kernel_shape=(2, 3), strides=(2, 1))
    wide = x.astype(np.float64)
    for n, c, i, j in np.ndindex(y.shape):
        window = wide[n, c, 2 * i : 2 * i + 2, j : j + 3]
        row, column = np.unravel_index(window.argmax(), window.shape)
        assert y[n, c, i, j] == window.max()
        assert indices[n, c, i, j] == np.ravel_multi_index((n, c, 2 * i + row, j + column), x.shape)


def test_a_window_of_integers_never_takes_padding():
    assert pool([-5, -6, -7, -8], 3, "int8", strides=(2,), pads=(1, 1)) == ([-5, -6], [0, 1])
    assert pool([0, 0], 2, "uint8", pads=(1, 1)) == ([0, 0, 0], [0, 0, 1])


def test_an_empty_window_gives_the_supremum_of_nothing_and_no_index():
    for type, lowest in LOWEST.items():
        assert pool([1, 2, 3, 4], 2, type, dilations=(5,), pads=(1, 1)) == ([-INF], [-1])
        assert pool([1, 2, 3, 4], 2, type, "lowest-finite", dilations=(5,), pads=(1, 1)) == ([lowest], [-1])
        assert pool([1, 2, 3, 4], 2, type, "lowest-start", dilations=(5,), pads=(1, 1)) == ([lowest], [-1])
        (y,), index = pool([1, 2, 3, 4], 2, type, "nan", dilations=(5,), pads=(1, 1))
        assert math.isnan(y) and index == [-1]
    assert pool([1, 2, 3, 4], 2, "int8", dilations=(5,), pads=(1, 1)) == ([-128], [-1])
    assert pool([1, 2, 3, 4], 2, "uint8", "nan", dilations=(5,), pads=(1, 1)) == ([0], [-1])
    assert pool([1, 2, 3, 4], 2, "float", "zero", dilations=(5,), pads=(1, 1)) == ([-INF], [0])
    assert pool([], 2, pads=(1, 1)) == ([-INF], [-1])
    planes = max_pool(RAMP, kernel_shape=(2, 2), dilations=(9, 9), pads=(3, 3, 4, 3), reading="zero")[1]
    assert planes.reshape(-1).tolist() == [0, 12]  # each channel's own first element


def test_dropped_and_kept_windows():
    ceil = {"strides": (3,), "pads": (1, 1), "ceil_mode": 1}
    assert pool([1, 2, 3, 4, 5], **ceil) == ([1, 4], [0, 3])
    assert pool([1, 2, 3, 4, 5], **ceil, reading="kept") == ([1, 4, -INF], [0, 3, -1])
    assert pool([1, 2, 3, 4, 5], **ceil, reading="kept+lowest-finite+zero") == ([1, 4, LOWEST["float"]], [0, 3, 0])


@pytest.mark.parametrize(
    ("values", "ruled", "last", "never", "only_first"),
    [
        ([NAN, 1], (NAN, 0), 0, (1, 1), (NAN, 0)),
        ([1, 2], (2, 1), 1, (2, 1), (2, 1)),
        ([2, NAN], (NAN, 1), 1, (2, 0), (2, 0)),
        ([NAN, NAN], (NAN, 0), 1, (-INF, -1), (NAN, 0)),
        ([NAN, 5], (NAN, 0), 0, (5, 1), (NAN, 0)),
        ([-INF, NAN, 3], (NAN, 1), 1, (3, 2), (3, 2)),
    ],
)
@pytest.mark.parametrize("type", LOWEST)
def test_the_first_nan_wins_and_other_readings_pass_over_it(values, ruled, last, never, only_first, type):
    for reading, expected in ((None, ruled), ("last-nan", (ruled[0], last)), ("never", never), ("only-first", only_first)):
        (y, index), (value, position) = largest(values, type, reading), expected
        assert same(y, value) and index == position, reading
    y, index = largest(values, type, "never+lowest-start")
    assert y == (LOWEST[type] if never[1] < 0 else never[0]) and index == never[1]


@pytest.mark.parametrize("type", LOWEST)
def test_minus_infinity_is_a_maximum(type):
    assert largest([-INF, -INF], type) == (-INF, 0)
    assert largest([-INF, -INF], type, "lowest-finite") == (-INF, 0)  # that reading is about empty windows
    assert largest([-INF, -INF], type, "lowest-start") == (LOWEST[type], 0)
    assert largest([-INF, 3], type, "lowest-start") == (3, 1)


def test_of_equal_maxima_the_first_in_row_major_order_is_selected_in_either_storage_order():
    x = np.array([[[[1, 9], [9, 1]]]], np.float32)
    assert max_pool(x, kernel_shape=(2, 2))[1].item() == 1
    assert max_pool(x, kernel_shape=(2, 2), storage_order=1)[1].item() == 2  # row 0, column 1, counted by columns


def test_zeros_of_both_signs_tie_and_the_value_is_the_positive_one():
    for values, sign in (([-0.0, 0.0], 1), ([0.0, -0.0], 1), ([-0.0, -0.0], -1), ([-1, -0.0], -1)):
        y, index = largest(values)
        assert y == 0 and math.copysign(1, y) == sign and index == values.index(0)


def test_indices_count_through_all_planes():
    default = max_pool(RAMP, kernel_shape=(2, 2))[1]
    assert default.reshape(-1).tolist() == [5, 6, 7, 9, 10, 11, 17, 18, 19, 21, 22, 23]
    per_plane = max_pool(RAMP, kernel_shape=(2, 2), reading="per-plane")[1]
    assert per_plane.reshape(-1).tolist() == [5, 6, 7, 9, 10, 11] * 2


def test_indices_leave_padding_out():
    found = max_pool(RAMP, kernel_shape=(2, 2), strides=(2, 2), pads=(1, 1, 1, 1))[1]
    assert found.reshape(-1).tolist() == [0, 2, 3, 8, 10, 11, 12, 14, 15, 20, 22, 23]


def test_column_major_indices_count_columns_first_inside_the_plane():
    attributes = {"kernel_shape": (2, 2), "strides": (1, 2), "storage_order": 1}
    assert max_pool(RAMP, **attributes)[1].reshape(-1).tolist() == [4, 10, 5, 11, 16, 22, 17, 23]
    # i1 + i2 * D1 + i3 * D1 * D2
    x = np.arange(24.0).reshape(1, 1, 2, 3, 4)
    attributes = {"kernel_shape": (1, 2, 2), "strides": (1, 2, 2), "storage_order": 1}
    assert max_pool(x, **attributes)[1].reshape(-1).tolist() == [8, 20, 9, 21]
    # n + c * N + i1 * N * C + i2 * N * C * D1
    whole = max_pool(RAMP, kernel_shape=(2, 2), strides=(1, 2), storage_order=1, reading="whole-column-major")[1]
    assert whole.reshape(-1).tolist() == [8, 20, 10, 22, 9, 21, 11, 23]
    assert max_pool(RAMP, kernel_shape=(2, 2), reading="whole-column-major")[1][0, 0, 0, 0] == 5
    # row-major numbers in a transposed array
    transposed = max_pool(RAMP, kernel_shape=(2, 2), storage_order=1, reading="transposed")[1]
    assert transposed.shape == (2, 1, 3, 2)
    assert transposed.reshape(-1).tolist() == [5, 9, 6, 10, 7, 11, 17, 21, 18, 22, 19, 23]
    assert pool([1, 2, 3, 4], strides=(2,), storage_order=1)[1] == [1, 3]


def test_no_batch_and_no_channel_give_an_empty_output():
    for shape in ((0, 2, 4), (2, 0, 4)):
        assert [output.shape for output in max_pool(np.zeros(shape), kernel_shape=(3,))] == [(*shape[:2], 2)] * 2


@pytest.mark.parametrize("op", [windowed, global_max])
def test_joined_readings_are_of_single_ones(op):
    single = {name for name in op.READINGS if "+" not in name}
    assert all(set(name.split("+")) <= single for name in op.READINGS) and len(set(op.READINGS)) == len(op.READINGS)
    assert set(op.IN_FLOAT32) <= {"", *op.READINGS}


def everything(values, type="float", reading=None):
    (y,) = global_max_pool(np.array(values, np.float64).astype(DTYPES[type]).reshape(1, 1, -1), reading=reading)
    return y.astype(np.float64).item()


def test_the_global_maximum_is_one_number_a_channel():
    x = np.arange(80, dtype=np.float32).reshape(2, 4, 10)
    assert global_max_pool(x)[0].reshape(-1).tolist() == [9, 19, 29, 39, 49, 59, 69, 79] and global_max_pool(x)[0].shape == (2, 4, 1)
    assert global_max_pool(x.reshape(2, 4, 5, 2))[0].shape == (2, 4, 1, 1)
    assert global_max_pool(x[:, :, 0])[0].tolist() == x[:, :, 0].tolist()
    assert global_max_pool(x[:0])[0].shape == (0, 4, 1) and global_max_pool(x[:, :0])[0].shape == (2, 0, 1)


@pytest.mark.parametrize("type", LOWEST)
def test_the_global_maximum_of_nan_infinity_and_nothing(type):
    assert math.isnan(everything([1, NAN, 2], type)) and everything([-INF, -INF], type) == -INF and everything([], type) == -INF
    assert everything([1, NAN, 2], type, "never") == 2 == everything([1, NAN, 2], type, "only-alone")
    assert everything([NAN, NAN], type, "never") == -INF and math.isnan(everything([NAN, NAN], type, "only-alone"))
    assert everything([NAN, NAN], type, "never+lowest-start") == LOWEST[type]
    assert everything([5, NAN, 2, NAN, 0, 1, 1], type, "restart") == 1 and math.isnan(everything([5, NAN], type, "restart"))
    assert everything([NAN, -INF], type, "restart+lowest-start") == -INF
    assert everything([-INF, -INF], type, "restart+lowest-start") == LOWEST[type]
    assert everything([-INF, -INF], type, "lowest-start") == LOWEST[type] == everything([], type, "lowest-finite")
    assert math.isnan(everything([], type, "nan")) and math.copysign(1, everything([-0.0, 0.0], type)) == 1
