"""Distances, tolerances and verdicts, on numbers worked out by hand."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
import pytest

from cypool import spec
from cypool.conformance import cases
from cypool.conformance.asking.protocol import Outcome
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import compare, known_faults
from cypool.conformance.judging.compare import AS_RULED, judge, near, onnx_tolerance, ulp_distance, within_ulps
from cypool.conformance.tensors import Tensor
from cypool.spec.model import Reading, Ruling

FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), np.dtype(np.float64)]
LARGEST = {np.dtype(np.float16): 65504, np.dtype(ml_dtypes.bfloat16): 3.3895313892515355e38, np.dtype(np.float32): 3.4028234663852886e38,
           np.dtype(np.float64): 1.7976931348623157e308}  # fmt: skip
SUBNORMAL = {np.dtype(np.float16): 2.0**-24, np.dtype(ml_dtypes.bfloat16): 2.0**-133, np.dtype(np.float32): 2.0**-149,
             np.dtype(np.float64): 2.0**-1074}  # fmt: skip
FINITE = {np.dtype(np.float16): 0x7BFF, np.dtype(ml_dtypes.bfloat16): 0x7F7F, np.dtype(np.float32): 0x7F7FFFFF,
          np.dtype(np.float64): 0x7FEFFFFFFFFFFFFF}  # fmt: skip
"""The bits of the largest finite value: as many positive values lie up to it."""

each_type = pytest.mark.parametrize("dtype", FLOATS, ids=str)


def distance(a: float, b: float, dtype: np.dtype) -> int:
    return int(ulp_distance(np.array([a], dtype), np.array([b], dtype))[0])


@each_type
def test_zeros_of_both_signs_are_one_value(dtype: np.dtype) -> None:
    assert distance(0.0, -0.0, dtype) == 0
    assert distance(SUBNORMAL[dtype], -0.0, dtype) == 1
    assert distance(SUBNORMAL[dtype], -SUBNORMAL[dtype], dtype) == 2


@each_type
def test_infinity_is_one_past_the_largest_value(dtype: np.dtype) -> None:
    assert distance(np.inf, LARGEST[dtype], dtype) == 1
    assert distance(-np.inf, -LARGEST[dtype], dtype) == 1


@each_type
def test_distance_spans_the_whole_type(dtype: np.dtype) -> None:
    assert distance(LARGEST[dtype], -LARGEST[dtype], dtype) == 2 * FINITE[dtype]
    assert distance(np.inf, -np.inf, dtype) == 2 * FINITE[dtype] + 2


EPSILONS = [2.0**-10, 2.0**-7, 2.0**-23, 2.0**-52]


@pytest.mark.parametrize(("dtype", "epsilon"), list(zip(FLOATS, EPSILONS, strict=True)), ids=str)
def test_the_next_value_after_one_is_one_away(dtype: np.dtype, epsilon: float) -> None:
    assert distance(1.0, 1.0 + epsilon, dtype) == 1
    assert distance(1.0, 1.0 - epsilon / 2, dtype) == 1


def agrees(got: float, expected: float, dtype: np.dtype | type, criterion: compare.Criterion = onnx_tolerance) -> bool:
    return bool(near(np.array([got], dtype), np.array([expected], dtype), criterion)[0])


@each_type
@pytest.mark.parametrize("criterion", [onnx_tolerance, within_ulps(10**6)], ids=["onnx", "ulp"])
def test_nothing_but_itself_is_near_what_is_not_finite(dtype: np.dtype, criterion: compare.Criterion) -> None:
    values = [np.nan, np.inf, -np.inf, LARGEST[dtype], -LARGEST[dtype], 0.0]
    for i, got in enumerate(values[:3]):
        for j, expected in enumerate(values):
            assert agrees(got, expected, dtype, criterion) == (i == j)
            assert agrees(expected, got, dtype, criterion) == (i == j)


@pytest.mark.parametrize(
    ("dtype", "inside", "outside"),
    [
        (np.float32, 1.000999, 1.00101),
        (np.float64, 1.000999, 1.00101),
        (np.float16, 1 + 2**-10, 1 + 2**-9),
        (ml_dtypes.bfloat16, 1 + 2**-6, 1 + 3 * 2**-7),
    ],
    ids=str,
)
def test_the_tolerance_is_that_of_onnx(dtype: type, inside: float, outside: float) -> None:
    assert agrees(inside, 1.0, dtype)
    assert not agrees(outside, 1.0, dtype)


def test_a_number_near_zero_beside_larger_ones_is_within_the_absolute_tolerance() -> None:
    got, expected = np.array([1.0, 9e-8], np.float32), np.array([1.0, 0.0], np.float32)
    assert near(got, expected, onnx_tolerance).all()
    assert not near(got * [1, 2], expected, onnx_tolerance).all()


def test_zero_is_not_near_a_tiny_answer() -> None:
    assert not agrees(0.0, 1.4142135e-30, np.float32)
    assert agrees(1.4142e-30, 1.4142135e-30, np.float32)


def test_one_subnormal_step_is_near() -> None:
    assert agrees(3 * 2.0**-24, 2 * 2.0**-24, np.float16)
    assert not agrees(4 * 2.0**-24, 2 * 2.0**-24, np.float16)


def test_a_distance_can_decide_instead() -> None:
    assert agrees(1 + 2**-22, 1.0, np.float32, within_ulps(2))
    assert not agrees(1 + 2**-22, 1.0, np.float32, within_ulps(1))
    assert agrees(-0.0, 0.0, np.float32, within_ulps(0))


INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_are_as_far_apart_as_their_difference_says(dtype: np.dtype) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    assert distance(most, least, dtype) == distance(least, most, dtype) == most - least
    assert distance(3, 5, dtype) == 2
    if least < 0:
        assert distance(-1, 1, dtype) == 2


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_agree_if_they_are_equal_whatever_decides_of_floats(dtype: np.dtype) -> None:
    most = np.iinfo(dtype).max
    for criterion in (onnx_tolerance, within_ulps(4)):
        assert agrees(most, most, dtype, criterion)
        assert not agrees(most - 1, most, dtype, criterion)
    assert compare.tolerance(np.array([most], dtype)) == (0, 0)


def test_an_output_of_integers_is_judged_beside_one_of_floats() -> None:
    indices = Tensor.of("Indices", np.array([[[1, 2**62]]]))
    near, far = (Tensor.of("Indices", np.array([[[1, 2**62 + off]]])) for off in (0, 1))
    assert compare.misfit([tensor(1.0, 2.0), near], [tensor(1.0, 2.0), indices], onnx_tolerance) is None
    found = compare.misfit([tensor(1.0, 2.0), far], [tensor(1.0, 2.0), indices], onnx_tolerance)
    assert found == compare.Misfit("wrong value", f"Indices[0, 0, 1] is {2**62 + 1}, expected {2**62}", "Indices", 1)
    assert compare.largest_ulp([tensor(1.0), far], [tensor(1.0000001), indices]) == 1


READINGS = Reading("another", "that", legitimate=True), Reading("faulty", "no", legitimate=False)
RULINGS = (
    Ruling("silence", "?", "this", "", READINGS, (2,)),
    Ruling("elsewhere", "?", "this", "", (Reading("third", "that", (), legitimate=True),), (2,)),
)
VERSION = dataclasses.replace(spec.version("GlobalLpPool-2"), rulings=RULINGS)


def tensor(*values: float, dtype: type = np.float32, shape: tuple[int, ...] | None = None) -> Tensor:
    return Tensor.of("Y", np.array(values, dtype).reshape(shape or (1, 1, len(values))))


def case(expected: Tensor, fault: str | None = None, rulings: tuple[str, ...] = (), **readings: Tensor) -> Case:
    answers = {None: (expected,), **{name: (answer,) for name, answer in readings.items()}}
    return Case("made/up", VERSION, "float", (), (), rulings=rulings, alternatives=tuple(readings), fault=fault,
                answer=None if fault else answers.__getitem__)  # fmt: skip


def ok(*outputs: Tensor) -> Outcome:
    return Outcome("ok", outputs)


def test_the_expected_output_passes() -> None:
    assert judge(case(tensor(5.0)), ok(tensor(5.0))) == compare.Judgement("pass", ulp=0)


def test_one_ulp_off_passes_and_is_reported() -> None:
    found = judge(case(tensor(5.0)), ok(tensor(np.nextafter(np.float32(5), np.float32(6)))))
    assert (found.verdict, found.ulp) == ("pass", 1)


def test_a_wrong_value_says_where_and_how_far() -> None:
    found = judge(case(tensor(1.0, 2.0, np.inf)), ok(tensor(1.0, 2.5, 3.0)))
    assert found.verdict == "wrong value"
    assert found.message == "Y[0, 0, 1] is 2.5, expected 2.0, 2 of 3 elements wrong"
    assert found.ulp == 0x7F800000 - 0x40400000  # from 3 to infinity


def test_values_are_told_in_the_digits_of_their_type() -> None:
    assert judge(case(tensor(0.1)), ok(tensor(np.float32(3.4028235e38)))).message == "Y[0, 0, 0] is 3.4028235e+38, expected 0.1"


def test_an_infinity_has_its_distance_from_a_number_on_either_side() -> None:
    assert judge(case(tensor(3.0)), ok(tensor(np.inf))).ulp == judge(case(tensor(np.inf)), ok(tensor(3.0))).ulp == 0x7F800000 - 0x40400000


def test_nan_against_a_number_has_no_distance() -> None:
    found = judge(case(tensor(1.0)), ok(tensor(np.nan)))
    assert (found.verdict, found.ulp) == ("wrong value", None)
    assert judge(case(tensor(np.nan)), ok(tensor(np.nan))).verdict == "pass"


def test_type_is_looked_at_before_shape_and_shape_before_values() -> None:
    expected = case(tensor(1.0, 2.0))
    assert judge(expected, ok(tensor(1.0, dtype=np.float64))).message == "Y is double, expected float"
    assert judge(expected, ok(tensor(9.0, 9.0, shape=(2,)))).message == "Y has shape (2,), expected (1, 1, 2)"
    assert judge(expected, ok(tensor(1.0, dtype=np.float64))).verdict == "wrong type"
    assert judge(expected, ok(tensor(9.0, 9.0, shape=(2,)))).verdict == "wrong shape"
    assert judge(expected, ok()).message == "0 outputs, expected 1"


def test_empty_outputs_agree() -> None:
    assert judge(case(tensor()), ok(tensor())).verdict == "pass"


@pytest.mark.parametrize("status", ["unsupported", "error", "crashed", "timed out"])
def test_what_gave_no_outputs_is_called_by_its_status(status: str) -> None:
    assert judge(case(tensor(1.0)), Outcome(status, message="why")) == compare.Judgement(status, "why")


def test_an_invalid_case_passes_by_refusal_alone() -> None:
    invalid = case(tensor(), fault="p = 0")
    assert judge(invalid, Outcome("error", phase="load")).verdict == "pass"
    assert judge(invalid, Outcome("error", phase="run")).verdict == "pass"
    assert judge(invalid, ok(tensor(1.0))) == compare.Judgement("accepted what is invalid", "p = 0")
    for status in ("unsupported", "crashed", "timed out"):
        assert judge(invalid, Outcome(status)).verdict == status


ON_SILENCE = case(tensor(1.0), rulings=("silence",), another=tensor(2.0), faulty=tensor(3.0))


def test_a_legitimate_reading_is_no_deviation() -> None:
    found = judge(ON_SILENCE, ok(tensor(2.0)))
    assert (found.verdict, found.reading) == ("reads it differently", "another")
    assert found.readings == {"silence": ("another",)}


def test_a_recorded_fault_is_wrong_and_named() -> None:
    found = judge(ON_SILENCE, ok(tensor(3.0)))
    assert (found.verdict, found.reading) == ("wrong value", "faulty")
    assert found.message == "Y[0, 0, 0] is 3.0, expected 1.0; known fault: faulty"


def test_what_no_reading_gives_is_wrong() -> None:
    found = judge(ON_SILENCE, ok(tensor(4.0)))
    assert (found.verdict, found.reading, found.readings) == ("wrong value", "", {})


def test_a_pass_tells_the_reading_only_where_the_readings_part() -> None:
    assert judge(ON_SILENCE, ok(tensor(1.0))).readings == {"silence": (AS_RULED,)}
    alike = case(tensor(1.0), rulings=("silence",), another=tensor(1.0), faulty=tensor(1.0))
    assert judge(alike, ok(tensor(1.0))).readings == {}
    partly = case(tensor(1.0), rulings=("silence",), another=tensor(1.0), faulty=tensor(3.0))
    assert judge(partly, ok(tensor(1.0))).readings == {"silence": (AS_RULED, "another")}


def test_one_silence_tells_nothing_of_another() -> None:
    both = case(tensor(1.0), rulings=("silence", "elsewhere"), another=tensor(2.0), third=tensor(1.5))
    assert judge(both, ok(tensor(2.0))).readings == {"silence": ("another",)}


def test_a_legitimate_reading_is_preferred_where_a_fault_gives_the_same() -> None:
    both = case(tensor(1.0), rulings=("silence",), faulty=tensor(2.0), another=tensor(2.0))
    assert judge(both, ok(tensor(2.0))).verdict == "reads it differently"


def real(id: str) -> Case:
    """The case of that id, as it is generated."""
    return next(case for case in cases.generate([id.partition("-")[0]]) if case.id == id)


def test_a_wrong_answer_is_held_against_the_faults_of_other_silences_too() -> None:
    asked = real("GlobalLpPool-2/double/rank4/p1/near-underflow")
    assert "float32" not in asked.alternatives
    (expected,) = asked.expected
    found = judge(asked, ok(Tensor.of("Y", np.zeros_like(expected.array))))
    assert (found.verdict, found.reading, found.readings) == ("wrong value", "float32", {"double-precision": ("float32",)})
    assert found.message.endswith("elements wrong; known fault: float32")


def test_of_several_faults_at_once_each_is_named() -> None:
    asked = real("GlobalLpPool-2/float/7x7/p7/random")
    x = asked.inputs[0].array.astype(np.float64)
    signed_mean = (x**7).mean(axis=(2, 3), keepdims=True)
    with np.errstate(invalid="ignore"):
        found = judge(asked, ok(Tensor.of("Y", (signed_mean ** (1 / 7)).astype(np.float32))))
    assert (found.verdict, found.reading) == ("wrong value", "mean+no-abs")
    assert found.readings == {"sum-or-mean": ("mean",), "sign": ("no-abs",)}
    assert found.message.endswith("; known faults: mean, no-abs")


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings at once: allowed ones give one element more than ON_SILENCE has, with a fault among
    them two more.
    """
    answers = [(("another", "third"), (tensor(1.0, 2.0),)), (("another", "faulty"), (tensor(1.0, 2.0, 3.0),))]
    monkeypatch.setattr(known_faults, "answers", lambda case: iter(answers))


@pytest.mark.usefixtures("several")
def test_several_readings_that_the_text_allows_are_no_deviation_even_of_another_shape() -> None:
    found = judge(ON_SILENCE, ok(tensor(1.0, 2.0)))
    assert (found.verdict, found.reading) == ("reads it differently", "another+third")
    assert found.readings == {"silence": ("another",), "elsewhere": ("third",)}


@pytest.mark.usefixtures("several")
def test_a_fault_beside_a_reading_that_the_text_allows_is_wrong_and_named_alone() -> None:
    found = judge(ON_SILENCE, ok(tensor(1.0, 2.0, 3.0)))
    assert (found.verdict, found.reading) == ("wrong shape", "another+faulty")
    assert found.message == "Y has shape (1, 1, 3), expected (1, 1, 1); known fault: faulty"


def test_only_readings_of_the_silences_that_a_case_turns_on_stand_beside_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = ("half-to-even+never", "exact+never", "never+float32")
    monkeypatch.setattr(known_faults.oracle, "combined", lambda version: joined)
    version = spec.version("MaxRoiPool-22")
    assert [names for names in known_faults.suspects(version) if len(names) > 1] == [("never", "float32")]
    assert ("half-to-even", "never") in known_faults.suspects(version, {"half-to-even"})
    assert ("exact", "never") not in known_faults.suspects(version, {"half-to-even"})


def test_a_wrong_shape_that_no_fault_has_is_held_against_none() -> None:
    asked = real("GlobalLpPool-2/float/7x7/p7/random")
    found = judge(asked, ok(Tensor.of("Y", asked.expected[0].array[..., 0])))
    assert (found.verdict, found.reading, found.readings) == ("wrong shape", "", {})


def test_suspects_are_faults_alone_then_together_and_no_legitimate_readings() -> None:
    for version in spec.versions():
        legitimate = {reading.name for ruling in version.rulings for reading in ruling.readings if reading.legitimate}
        computable = {name for names in known_faults.oracle.computable(version).values() for name in names}
        found = list(known_faults.suspects(version))
        assert not any(legitimate & set(names) for names in found)
        assert {names for names in found if len(names) == 1} == {(name,) for name in computable - legitimate}
        assert [len(names) for names in found] == sorted(len(names) for names in found)
        assert len(set(found)) == len(found)
    assert ("float32",) in known_faults.suspects(spec.version("GlobalLpPool-2"))
