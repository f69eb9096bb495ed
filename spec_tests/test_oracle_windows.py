"""The oracle's windows, held against hand-made ones and against a walk over every position of the
padded input.
"""

import itertools

import pytest

from cypool.conformance.oracle.windows import filled, grid


def along(n, k, s=1, pads=(0, 0), d=1, auto_pad="NOTSET", ceil_mode=0, reading=""):
    """The elements of each window along one axis."""
    attributes = filled((k,), (s,), pads, auto_pad, (d,), ceil_mode)
    (windows,) = grid((n,), attributes, frozenset(reading.split("+")))
    return [list(window.elements) for window in windows]


SMALL = list(itertools.product(range(7), range(1, 5), range(1, 4), range(1, 4), range(4), range(4)))
"""Sizes, kernels, strides, dilations, paddings at the beginning and at the end."""


def test_windows_are_those_of_a_walk_over_the_padded_input():
    for n, k, s, d, begin, end in SMALL:
        padded = range(-begin, n + end)
        walked = []
        for start in padded[::s]:
            taps = [start + i * d for i in range(k)]
            if taps[-1] in padded:
                walked.append([tap for tap in taps if tap in range(n)])
        assert along(n, k, s, (begin, end), d) == walked, (n, k, s, d, begin, end)


def test_with_ceil_mode_windows_go_on_to_the_end_of_the_padding_but_for_one_that_starts_behind_the_input():
    for n, k, s, d, begin, end in SMALL:
        padded = range(-begin, n + end)
        if len(padded) < (k - 1) * d + 1:
            continue
        walked = []
        for start in itertools.count(-begin, s):
            taps = [start + i * d for i in range(k)]
            walked.append([tap for tap in taps if tap in range(n)])
            if taps[-1] >= padded[-1]:
                break
        if (len(walked) - 1) * s - begin >= n:
            walked.pop()
        assert along(n, k, s, (begin, end), d, ceil_mode=1) == walked, (n, k, s, d, begin, end)


def test_a_window_counts_its_positions_inside_the_padded_input():
    (windows,) = grid((6,), filled((3,), (2,), (1, 1), ceil_mode=1))
    assert [(list(window.elements), window.inside, window.taps) for window in windows] == [
        ([0, 1], 3, 3),
        ([1, 2, 3], 3, 3),
        ([3, 4, 5], 3, 3),
        ([5], 2, 3),  # 5, 6 in the padding, 7 beyond it
    ]


def test_windows_that_would_start_in_the_end_padding_are_dropped_with_ceil_mode_only():
    assert along(5, 2, 3, (1, 1), ceil_mode=1) == [[0], [2, 3]]
    assert along(5, 2, 3, (1, 1), ceil_mode=1, reading="kept") == [[0], [2, 3], []]
    assert along(1, 1, 1, (0, 3), ceil_mode=1) == [[0], [], []]  # one is dropped, and no more
    assert along(1, 1, 1, (0, 3), ceil_mode=1, reading="all-dropped") == [[0]]
    assert along(5, 2, 3, (1, 1), ceil_mode=1, reading="all-dropped") == [[0], [2, 3]]
    assert along(4, 2, 1, (2, 2)) == [[], [0], [0, 1], [1, 2], [2, 3], [3], []]


def test_valid_leaves_ceil_mode_without_effect():
    assert along(5, 2, 2, auto_pad="VALID", ceil_mode=1) == [[0, 1], [2, 3]]
    assert along(5, 2, 2, auto_pad="VALID", ceil_mode=1, reading="ceil-applies") == [[0, 1], [2, 3], [4]]
    assert along(5, 1, 3, auto_pad="VALID", ceil_mode=1, reading="ceil-applies") == [[0], [3]]
    assert along(5, 1, 3, auto_pad="VALID", ceil_mode=1, reading="kept+ceil-applies") == [[0], [3], []]


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_same_gives_one_window_for_each_stride_begun_and_covers_the_input_evenly(auto_pad):
    for n, k, s, d, _, ceil_mode in SMALL:
        found = along(n, k, s, d=d, auto_pad=auto_pad, ceil_mode=ceil_mode)
        assert len(found) == -(-n // s)
        total = max((len(found) - 1) * s + (k - 1) * d + 1 - n, 0)
        begin = -(-total // 2) if auto_pad == "SAME_LOWER" else total // 2
        assert found == [[tap for tap in range(o * s - begin, o * s - begin + k * d, d) if 0 <= tap < n] for o in range(len(found))]


def test_padding_of_same_is_split_with_the_odd_one_at_the_end_or_the_beginning():
    assert along(6, 3, 2, auto_pad="SAME_UPPER") == [[0, 1, 2], [2, 3, 4], [4, 5]]
    assert along(6, 3, 2, auto_pad="SAME_LOWER") == [[0, 1], [1, 2, 3], [3, 4, 5]]
    assert along(6, 3, 2, auto_pad="SAME_LOWER", reading="upper-pads") == [[0, 1, 2], [2, 3, 4], [4, 5]]
    assert along(5, 3, 2, auto_pad="SAME_LOWER", reading="upper-pads+floor-lower") == [[0, 1, 2], [2, 3, 4]]
    assert len(along(7, 3, 2, auto_pad="SAME_UPPER", reading="floor-lower")) == 4


def test_same_never_crops():
    for auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        assert along(9, 1, 3, auto_pad=auto_pad) == [[0], [3], [6]]
        assert along(9, 1, 3, auto_pad=auto_pad, reading="negative") == [[1], [4], [7]]
    assert along(8, 1, 4, auto_pad="SAME_UPPER", reading="negative") == [[2], [6]]  # of -3 pixels the end has one more
    assert along(8, 1, 4, auto_pad="SAME_LOWER", reading="negative") == [[1], [5]]
    assert along(9, 1, 3, auto_pad="SAME_UPPER", reading="negative-toward-zero") == [[1], [4], [7]]
    assert along(9, 1, 3, auto_pad="SAME_LOWER", reading="negative-toward-zero") == [[0], [3], [6]]
    assert along(8, 1, 4, auto_pad="SAME_UPPER", reading="negative-toward-zero") == [[1], [5]]


def test_ceil_mode_changes_nothing_about_same():
    assert along(7, 2, 4, auto_pad="SAME_UPPER", ceil_mode=1) == [[0, 1], [4, 5]]
    assert along(7, 2, 4, auto_pad="SAME_UPPER", ceil_mode=1, reading="ceil-again") == [[0, 1], [4, 5], []]


def test_padding_of_same_takes_the_dilated_kernel():
    assert along(6, 2, 1, d=3, auto_pad="SAME_UPPER") == [[2], [0, 3], [1, 4], [2, 5], [3], [4]]
    assert along(6, 2, 1, d=3, auto_pad="SAME_UPPER", reading="undilated-pads") == [[0, 3], [1, 4], [2, 5], [3]]
    assert along(6, 2, 1, d=3, auto_pad="SAME_LOWER", reading="undilated-pads") == [[2], [0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("k", "s", "ceil", "ruled", "toward_zero"),
    [(4, 1, 0, 0, 0), (4, 2, 0, 0, 1), (4, 2, 1, 1, 1), (5, 2, 1, 0, 0)],
)
def test_a_kernel_beyond_the_input_has_as_many_windows_as_the_floor_of_the_formula(k, s, ceil, ruled, toward_zero):
    assert len(along(3, k, s, ceil_mode=ceil)) == ruled
    assert len(along(3, k, s, ceil_mode=ceil, reading="toward-zero")) == toward_zero
    assert along(3, k, s, ceil_mode=ceil, reading="at-least-one") == [[0, 1, 2]]


def test_padding_and_dilation_may_be_as_large_as_they_like():
    (windows,) = grid((4,), filled((2,), (2**61,), (2**62, 2**62), dilations=(2**62,)))
    assert [list(window.elements) for window in windows] == [[0], [], [0]]
