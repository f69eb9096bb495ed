"""The oracle's last step, rounding, held against neighbours built by hand and against numpy's and
Python's own conversions.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from cypool.conformance.oracle.rounding import FORMATS, nearest, nearest_dyadic, rounded
from cypool.conformance.tensors import DTYPES

TYPES = ["float16", "bfloat16", "float", "double"]


def positive_values(type):
    """All finite values >= 0 of the 16-bit types; of the others those around each power of two, and
    the ends.
    """
    dtype = DTYPES[type]
    limit = int(np.array(np.inf).astype(dtype).view(f"u{dtype.itemsize}"))
    if dtype.itemsize == 2:
        return np.arange(limit, dtype=np.uint16).view(dtype).astype(np.float64)
    step = 1 << np.finfo(dtype).nmant
    near = np.array([bits for power in range(0, limit, step) for bits in (power, power + 1, power + 2, power + step - 1)])
    ends = np.array([*range(8), limit - 2, limit - 1])
    return np.unique(np.concatenate([near, ends])).astype(f"u{dtype.itemsize}").view(dtype).astype(np.float64)


def after(value, type):
    """The next value of the type, an infinity for the largest."""
    dtype = DTYPES[type]
    bits = np.array(value).astype(dtype).view(f"u{dtype.itemsize}")
    return float((bits + np.array(1, bits.dtype)).view(dtype).astype(np.float64))


@pytest.mark.parametrize("type", TYPES)
def test_half_way_goes_to_the_even_neighbour_and_everything_else_to_the_nearer(type):
    form = FORMATS[DTYPES[type]]
    limit = Fraction(2) ** form.limit
    for low in positive_values(type).tolist():
        high = after(low, type)
        exact_high = limit if math.isinf(high) else Fraction(high)
        middle = (Fraction(low) + exact_high) / 2
        even = int(np.array(low).astype(DTYPES[type]).view(f"u{DTYPES[type].itemsize}")) % 2 == 0
        little = (exact_high - Fraction(low)) / 1024
        found = [nearest_dyadic(value, form) for value in (Fraction(low), middle - little, middle, middle + little)]
        assert found == [low, low, low if even else high, high], (low, high)


def test_double_rounds_as_python_divides():
    form = FORMATS[DTYPES["double"]]
    for numerator in (1, 3, 2**53 + 1, 2**54 + 2, 2**60 - 1, 10**40 + 1):
        for power in (0, 1, 30, 60, 1000, 1074, 1080, 1130, 1200):
            assert nearest(numerator, -power, form) == numerator / 2**power


def test_less_than_half_the_smallest_step_is_zero_even_far_below():
    form = FORMATS[DTYPES["float"]]
    assert [nearest(1, -150, form), nearest(3, -151, form), nearest(5, -(10**12), form)] == [0.0, 2.0**-149, 0.0]


def test_what_rounds_past_the_largest_is_infinite():
    form = FORMATS[DTYPES["float16"]]
    assert [nearest(65519, 0, form), nearest(65520, 0, form), nearest(1, 10**12, form)] == [65504.0, math.inf, math.inf]


@pytest.mark.parametrize("type", TYPES)
def test_the_lowest_value_is_the_types_own(type):
    dtype = DTYPES[type]
    assert FORMATS[dtype].lowest == -positive_values(type)[-1]


def test_a_ball_is_tightened_until_its_ends_round_alike():
    asked = []
    root = rounded(lambda: arb(2).sqrt(), asked.append, FORMATS[DTYPES["double"]])
    assert root == math.sqrt(2) and not asked


def test_a_middle_is_asked_about_once_and_taken_to_even():
    middle = Fraction(2**24 + 1)
    asked = []

    def ball():  # around the middle, never on one side of it
        return arb(2**24 + 1, 2.0**-80)

    assert rounded(ball, lambda value: not asked.append(value), FORMATS[DTYPES["float"]]) == 2.0**24
    assert asked == [middle]


def test_what_can_not_be_decided_is_refused():
    with pytest.raises(ArithmeticError, match="no rounding decided"):
        rounded(lambda: arb(2**24 + 1, 2.0**-80), lambda value: False, FORMATS[DTYPES["float"]])


@pytest.mark.parametrize("infinite", [arb("inf"), arb(0, "inf"), arb("nan")])
def test_an_unbounded_ball_decides_nothing(infinite):
    balls = iter([infinite])
    assert rounded(lambda: next(balls, arb(3)), lambda value: False, FORMATS[DTYPES["float"]]) == 3.0
