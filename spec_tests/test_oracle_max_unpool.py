"""The oracle's unpooling, held against hand-made values and against MaxPool, which it undoes."""

import numpy as np
import pytest

from cypool.conformance.oracle.max_pool import max_pool
from cypool.conformance.oracle.max_unpool import max_unpool
from cypool.conformance.tensors import DTYPES


def unpool(values, indices, output_shape=None, k=2, type="float", reading=None, **attributes):
    """The output along one axis, flattened."""
    x = np.array(values, np.float64).astype(DTYPES[type]).reshape(1, 1, -1)
    asked = None if output_shape is None else np.array(output_shape)
    (y,) = max_unpool(x, np.array(indices).reshape(1, 1, -1), asked, kernel_shape=(k,), reading=reading, **attributes)
    assert y.dtype == x.dtype
    return y.reshape(-1).astype(np.float64).tolist()


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float", "double"])
def test_what_is_left_of_a_pooled_input_pools_to_the_same(type):
    x = np.random.default_rng(1).permutation(2 * 3 * 4 * 6).astype(DTYPES[type]).reshape(2, 3, 4, 6) + np.array(1, DTYPES[type])
    attributes = {"kernel_shape": (2, 3), "strides": (2, 3)}
    y, indices = max_pool(x, **attributes)
    (back,) = max_unpool(y, indices, **attributes)
    assert back.shape == x.shape and back.dtype == x.dtype
    assert np.count_nonzero(back) == y.size and (back.reshape(-1)[indices.reshape(-1)] == y.reshape(-1)).all()
    again, places = max_pool(back, **attributes)
    assert (again == y).all() and (places == indices).all()


def test_values_stand_where_indices_say_and_the_last_wins():
    assert unpool([5, 6], [1, 2], strides=(2,)) == [0, 5, 6, 0]
    assert unpool([5, 6], [1, 1], strides=(2,)) == [0, 6, 0, 0]
    assert unpool([5, 6], [0, 1], strides=(2,), pads=(1, 1)) == [5, 6]


def test_indices_count_through_the_whole_output():
    x = np.array([5.0, 6, 7, 8]).reshape(2, 2, 1)
    (y,) = max_unpool(x, np.array([7, 5, 1, 3]).reshape(2, 2, 1), kernel_shape=(2,), strides=(2,))
    assert y.shape == (2, 2, 2) and y.reshape(-1).tolist() == [0, 7, 0, 8, 0, 6, 0, 5]


def test_bits_are_copied():
    bits = np.array([0x7FC00123, 0x80000000], np.uint32)
    (y,) = max_unpool(bits.view(np.float32).reshape(1, 1, 2), np.array([[[1, 2]]]), kernel_shape=(2,), strides=(2,))
    assert y.reshape(-1).view(np.uint32).tolist() == [0, 0x7FC00123, 0x80000000, 0]


def test_indices_count_in_the_shape_that_is_asked_for():
    x, at = np.array([[[[1.0, 2], [3, 4]]]]), np.array([[[[5, 7], [13, 15]]]])
    attributes = {"kernel_shape": (2, 2), "strides": (2, 2)}

    def positions(reading=None):
        (y,) = max_unpool(x, at, np.array([1, 1, 5, 5]), **attributes, reading=reading)
        assert y.shape == (1, 1, 5, 5)
        return np.flatnonzero(y).tolist()

    assert positions() == [5, 7, 13, 15] and positions("placed") == [6, 8, 16, 18]
    assert max_unpool(x, at, **attributes)[0].shape == (1, 1, 4, 4)


def test_the_shape_that_is_asked_for_may_be_any():
    assert unpool([5, 6], [1, 2], [1, 1, 3], strides=(2,)) == [0, 5, 6]
    assert unpool([5, 6, 7], [1, 2, 3], [1, 1, 4], strides=(2,)) == [0, 5, 6, 7]
    assert unpool([5, 6], [1, 5], [1, 1, 6], strides=(2,), pads=(1, 1)) == [0, 5, 0, 0, 0, 6]
    assert unpool([5, 6], [1, 5], [1, 1, 6], k=1, pads=(3, 3)) == [0, 5, 0, 0, 0, 6]


def test_placing_has_no_answer_where_indices_or_shapes_do_not_fit():
    assert unpool([5, 6], [1, 5], [1, 1, 6], strides=(2,), reading="placed") == []
    assert unpool([5, 6], [1, 2], [1, 1, 3], strides=(2,), reading="placed") == []
    assert unpool([5, 6], [1, 5], [1, 1, 6], k=1, pads=(3, 3), reading="placed") == []
    assert unpool([5, 6], [1, 2], [1, 1, 6], strides=(2,), reading="placed") == [0, 5, 6, 0, 0, 0]


def test_nothing_to_place_leaves_zeros():
    assert max_unpool(np.zeros((0, 1, 2)), np.zeros((0, 1, 2), np.int64), kernel_shape=(2,), strides=(2,))[0].shape == (0, 1, 4)
    assert unpool([], [], [1, 1, 3], strides=(2,)) == [0, 0, 0]
