"""The oracle's norms, held against hand-made values, exact fractions and sixty digits of Python's
decimal.
"""

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.oracle.norm import _rational_root, norm
from cypool.conformance.oracle.rounding import FORMATS
from cypool.conformance.tensors import DTYPES

TYPES = ["float16", "bfloat16", "float", "double"]
FLOAT = FORMATS[DTYPES["float"]]


def lp(values, p, type="float", reading=None, version=None):
    """The norm of one channel; the newest version for an integer p, the first otherwise."""
    name = version or ("GlobalLpPool-22" if isinstance(p, int) else "GlobalLpPool-1")
    x = np.array(values, np.float64).astype(DTYPES[type])
    (y,) = oracle.evaluate(spec.version(name), [x.reshape(1, 1, -1)], {"p": p}, reading)
    assert y.dtype == x.dtype and y.shape == (1, 1, 1)
    return y.astype(np.float64).item()


def neighbours(value, type):
    """The values on both sides, exactly; 2**limit stands for infinity."""
    dtype = DTYPES[type]
    bits = int(np.array(value).astype(dtype).view(f"u{dtype.itemsize}"))
    below, above = np.array([max(bits - 1, 0), bits + 1], f"u{dtype.itemsize}").view(dtype).astype(np.float64).tolist()
    return Fraction(below), Fraction(2) ** FORMATS[dtype].limit if math.isinf(above) else Fraction(above), bits % 2 == 0


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(TYPES), st.integers(1, 6))
def test_no_value_of_the_type_is_nearer(data, type, p):
    dtype = DTYPES[type]
    limit = int(np.array(np.inf).astype(dtype).view(f"u{dtype.itemsize}"))
    bits = data.draw(st.lists(st.integers(0, limit - 1), min_size=1, max_size=6))
    values = np.array(bits, f"u{dtype.itemsize}").view(dtype).astype(np.float64).tolist()
    y = lp(values, p, type)
    total = sum(Fraction(value) ** p for value in values)
    if math.isinf(y):
        largest = Fraction(-FORMATS[dtype].lowest)
        assert total >= ((largest + Fraction(2) ** FORMATS[dtype].limit) / 2) ** p
        return
    below, above, even = neighbours(y, type)
    low, high = ((Fraction(y) + below) / 2) ** p, ((Fraction(y) + above) / 2) ** p
    assert low < total < high or (even and total in (low, high)) or total == Fraction(y) ** p


@pytest.mark.parametrize("p", [0.001, 0.01, 0.3, 0.5, 1.5, 2.5, 3.1415927, 7.25, 100.0, 129, 1000, 2**40])
@pytest.mark.parametrize("type", ["float", "double"])
def test_any_p_agrees_with_sixty_digits_of_decimal(p, type):
    values = [float(np.float32(v)) for v in (1.75, 0.3, 1.5, 1e-3, 1.25)]
    version = "GlobalLpPool-1" if isinstance(p, float) else "GlobalLpPool-2"
    if type == "double" and p == 0.001:
        values = [1e-300 * v for v in values[:2]]
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**15, -(10**15)
        exponent = Decimal(float(np.float32(p)) if isinstance(p, float) else p)
        exact = sum((Decimal(v) ** exponent for v in values), Decimal(0)) ** (1 / exponent)
        y = lp(values, p, type, version=version)
        if math.isinf(y):
            assert exact > Decimal(-FORMATS[DTYPES[type]].lowest)
            return
        below, above, _ = neighbours(y, type)
        low, high = (Decimal(v.numerator) / Decimal(v.denominator) for v in ((Fraction(y) + below) / 2, (Fraction(y) + above) / 2))
        assert low <= exact <= high


@pytest.mark.parametrize(
    ("values", "p", "type", "expected"),
    [
        ([1, 2**-24], 1, "float", 1.0),  # half-way, down to even
        ([1 + 2**-23, 2**-24], 1, "float", 1 + 2**-22),  # half-way, up to even
        ([3 * 455, -4 * 455], 2, "float16", 2276.0),  # 5 * 455 = 2275 lies between 2274 and 2276
        ([576, 625], 0.5, "float16", 2400.0),  # (24 + 25)**2 = 2401 lies between 2400 and 2402
        ([2048, 1], 1, "float16", 2048.0),
        ([2048, 3], 1, "float16", 2052.0),
        ([3, 4, 5], 3, "float16", 6.0),
        ([3 * 2**-1074, 4 * 2**-1074], 2, "double", 5 * 2.0**-1074),
        ([2.0**-149, 2.0**-149], 2, "float", 2.0**-149),  # 1.41 steps
        ([5 * 2.0**-149, 5 * 2.0**-149], 2, "float", 7 * 2.0**-149),  # 7.07 steps
    ],
)
def test_ties_and_subnormals_by_hand(values, p, type, expected):
    assert lp(values, p, type) == expected


def test_only_a_power_has_a_rational_root():
    assert _rational_root(Fraction(81, 16), 4) == Fraction(3, 2) and _rational_root(Fraction(1), 2**149) == 1
    assert _rational_root(Fraction(8), 4) is _rational_root(Fraction(4, 3), 2) is _rational_root(Fraction(3, 4), 2) is None


def test_a_mean_half_way_goes_to_even():
    assert norm({1.0: 1, 2.0**-23: 1}, Fraction(1), FLOAT, share=2) == 0.5 * (1 + 2**-23)
    assert norm({1.0: 1, 3 * 2.0**-25: 2}, Fraction(1), FLOAT) == 1 + 2**-22  # 1.5 steps of 2**-23


@pytest.mark.parametrize("p", [1, 2, 3, 100, 128, 129, 2**40, 2**62])
def test_one_element_is_its_own_norm(p):
    assert lp([-0.3], p) == float(np.float32(0.3))


@pytest.mark.parametrize("p", [1.4e-45, 1e-30, 0.001, 0.5, 1 + 2**-23, 2.0**127, math.inf])
def test_one_element_is_its_own_norm_for_every_float_p(p):
    assert lp([0, -0.3], p) == float(np.float32(0.3))


def test_two_equal_elements_are_a_power_of_two_apart():
    assert lp([3, 3], 1) == 6 and lp([3, 3], 0.5) == 12 and lp([3, 3], 0.25) == 48
    assert lp([3e-38] * 2, 1 / 128) == float(np.float32(3e-38)) * 2.0**128
    assert lp([3, 3], 2**40) == 3  # 2 ** (1 / 2**40) is 1 + 6e-13


def test_equal_elements_at_double_show_the_last_bits_of_a_large_p():
    expected = math.nextafter(3.0, 4) - 3.0
    steps = (lp([3.0] * 2, 2**50, "double") - 3.0) / expected
    assert steps == round(3 * math.log(2) / 2**50 / expected)


def test_tiny_p_overflows_to_infinity_in_finite_time():
    assert lp([1, 2], 1.4e-45) == math.inf and lp([1e-300, 1e-300], 1.4e-45, "double") == math.inf


def test_p_of_version_1_is_a_float32_before_anything_else():
    p = float(np.float32(0.1))
    assert (
        lp([1, 2, 3], 0.1, "double")
        == lp([1, 2, 3], p, "double")
        != norm({1.0: 1, 2.0: 1, 3.0: 1}, Fraction(0.1), FORMATS[DTYPES["double"]])
    )


def test_no_overflow_or_underflow_on_the_way():
    assert lp([300, 300], 2, "float16") == 424.25
    assert lp([1e-30, 1e-30], 2) == float(np.float32(math.sqrt(2) * float(np.float32(1e-30))))
    assert lp([3, -2.5, 2], 100) == 3
    assert lp([3e38, 3e38], 1) == math.inf


def test_any_nan_is_nan_and_otherwise_any_infinity_is_infinite():
    assert math.isnan(lp([1, math.nan, math.inf], 2)) and math.isnan(lp([math.nan], math.inf))
    assert lp([1, -math.inf], 3) == math.inf == lp([-math.inf, 0], 0.5)


def test_p_of_infinity_is_the_largest_magnitude():
    assert lp([1, -3, 2], math.inf) == 3


def test_nothing_and_zeros_sum_to_zero():
    assert lp([], 2) == 0 == lp([0.0, -0.0], 3) == lp([-0.0], math.inf)
    assert not math.copysign(1, lp([-0.0], 1)) < 0


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 5), (2, 5)),
        ((2, 3, 7), (2, 3, 1)),
        ((0, 2, 3, 3), (0, 2, 1, 1)),
        ((2, 0, 3), (2, 0, 1)),
        ((2, 3, 0, 4, 1, 1), (2, 3, 1, 1, 1, 1)),
    ],
)
def test_each_spatial_dimension_becomes_one(shape, expected):
    (y,) = oracle.evaluate(spec.version("GlobalLpPool-2"), [np.ones(shape, np.float32)], {})
    assert y.shape == expected


def test_rank_2_is_absolute_value():
    x = np.array([[-1.5, 2.0], [0.0, -3.0]], np.float32)
    (y,) = oracle.evaluate(spec.version("GlobalLpPool-2"), [x], {"p": 3})
    np.testing.assert_array_equal(y, np.abs(x))


def test_p_left_out_is_two():
    for version in spec.operator("GlobalLpPool").versions:
        (y,) = oracle.evaluate(version, [np.array([[[3, 4]]], np.float32)], {})
        assert y.item() == 5


@pytest.mark.timeout(30)
def test_a_row_of_many_ones_loses_none():
    (y,) = oracle.evaluate(spec.version("GlobalLpPool-2"), [np.ones((1, 1, 33554432), np.float32)], {"p": 1})
    assert y.item() == 33554432


def test_without_abs_odd_powers_keep_their_sign():
    assert lp([-1, 2], 3, reading="no-abs") == float(np.float32(7 ** (1 / 3)))
    assert lp([1, -1], 1, reading="no-abs") == 0 and lp([1, -3], 1, reading="no-abs") == -2
    assert math.isnan(lp([1, -3], 3, reading="no-abs")) and math.isnan(lp([1, -3], 1.5, reading="no-abs"))
    assert lp([3, -4], 2, reading="no-abs") == 5


def test_a_mean_divides_by_the_number_of_elements():
    assert lp([3, 4], 2, reading="mean") == float(np.float32(math.sqrt(12.5)))
    assert lp([3, 3, 3], 7, reading="mean") == 3
    assert math.isnan(lp([], 2, reading="mean"))


def test_plain_accumulation_overflows_underflows_and_loses_ones():
    assert lp([1e30, 1e30], 2, reading="naive") == math.inf and lp([1e-30, 1e-30], 2, reading="naive") == 0
    assert lp([2.0**24] + [1] * 8, 1, reading="naive") == 2**24
    assert lp([1e30, 1e30], 2, "double", reading="naive") == pytest.approx(math.sqrt(2) * 1e30)
    assert lp([300, 300], 2, "float16", reading="naive") == 424.25  # float32 holds the squares


def test_doubles_as_floats_lose_digits_and_what_is_beyond_their_range():
    largest = float(np.finfo(np.float32).max)
    assert lp([0.1], 1, "double") == 0.1 and lp([0.1], 1, "double", reading="float32") == float(np.float32(0.1))
    assert [lp([x], 2, "double", reading="float32") for x in (1e300, -math.inf, 1e-300)] == [largest, largest, 0]
    assert lp([3e38, 3e38], 2, "double", reading="float32") == largest  # a result beyond the range of float is held to it too
    assert math.isnan(lp([1, math.nan], 2, "double", reading="float32"))
    assert lp([1e-30, 1e-30], 2, "double", reading="float32") == pytest.approx(math.sqrt(2) * 1e-30, rel=1e-6)
    assert lp([1e-30, 1e-30], 2, "double", reading="float32+naive") == 0


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float"])
def test_other_types_have_nothing_to_lose_in_float(type):
    assert lp([300, 0.1], 2, type, reading="float32") == lp([300, 0.1], 2, type)


def test_sums_in_16_bits_overflow_where_the_result_does_not():
    assert lp([300, 300], 2, "float16", reading="narrow") == math.inf and lp([300, 300], 2, "bfloat16", reading="narrow") == 424
    assert lp([2048, 1, 1], 1, "float16", reading="narrow") == 2048  # where 1 is half a step
    assert lp([3, 2], 2**40, "float16", reading="narrow") == 1  # inf ** (1/inf)
    assert lp([3e38, 4], 1, "float", reading="narrow") == lp([3e38, 4], 1, "float", reading="naive")


def test_a_root_of_16_bits_misses_large_sums():
    assert 46700 < lp([46900], 3, "float16", reading="rounded-root") < 46850  # 1/3 is 0.3333 there
    assert lp([46900], 2, "float16", reading="rounded-root") == lp([46900], 2, "float16")


def test_faults_add_up():
    assert lp([-1, 2], 3, reading="mean+no-abs") == float(np.float32(3.5 ** (1 / 3)))
    assert lp([1, -3], 1, reading="mean+no-abs") == -1 and lp([3, -4], 2, reading="mean+no-abs") == lp([3, 4], 2, reading="mean")
    assert math.isnan(lp([1, -3], 3, reading="mean+no-abs")) and math.isnan(lp([], 2, reading="mean+no-abs"))
    assert lp([1e30, 1e30], 2, reading="mean+naive") == math.inf and lp([3, 3], 2, reading="mean+naive") == 3
    assert lp([-1e30, 1e30], 3, reading="no-abs") == 0 and math.isnan(lp([-1e30, 1e30], 3, reading="no-abs+naive"))
    assert lp([-300, 200], 1, "float16", reading="mean+no-abs+narrow") == -50


def test_what_can_be_followed_at_once_is_said_fewest_first():
    joined = oracle.combined(spec.version("GlobalLpPool-2"))
    assert {"float32+naive", "mean+no-abs", "mean+no-abs+narrow"} <= set(joined)
    assert [name.count("+") for name in joined] == sorted(name.count("+") for name in joined)


def test_an_unknown_reading_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"-2: no answer for the reading 'exact', only for float32, mean, .*, rounded-root$"):
        lp([1], 1, reading="exact", version="GlobalLpPool-2")


REPORTED = json.loads((Path(__file__).with_name("data") / "reported_cases.json").read_text())["cases"]


def reported_array(record, dtype):
    if "range" in record:
        data = np.arange(*record["range"])
    else:
        data = np.full(record["shape"], record["fill"]) if "fill" in record else np.array(record["data"])
    return data.reshape(record["shape"]).astype(dtype)


@pytest.mark.parametrize(
    ("case", "since"),
    [pytest.param(case, since, id=f"{case['id']}-{since}") for case in REPORTED if "outputs" in case for since in case["since"]],
)
def test_reported_inputs_have_their_right_answers(case, since):
    version, dtype = spec.version(f"{case['op']}-{since}"), DTYPES[case["type"]]
    inputs = [reported_array(record, dtype) for record in case["inputs"].values()]
    for reading, expected in {None: case["outputs"]["Y"]["data"], **case.get("readings", {})}.items():
        (y,) = oracle.evaluate(version, inputs, case["attributes"], reading)
        np.testing.assert_array_equal(y, np.array(expected, dtype).reshape(case["outputs"]["Y"]["shape"]))
