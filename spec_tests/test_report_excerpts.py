"""What a record keeps of the tensors: all of a small one, of a large one the elements around the
first wrong one.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cypool import spec
from cypool.conformance.asking.protocol import Outcome
from cypool.conformance.cases.case import Case, TypedValue
from cypool.conformance.judging import excerpt, records
from cypool.conformance.judging.compare import judge
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Result
from cypool.conformance.tensors import DTYPES, Tensor


def counting(size: int, type: str = "float", name: str = "Y") -> Tensor:
    return Tensor.of(name, np.arange(size).astype(DTYPES[type]).reshape(1, size))


@pytest.mark.parametrize("size", [0, 1, excerpt.LONGEST])
def test_a_small_tensor_is_shown_whole(size: int) -> None:
    shown = Excerpt.of(counting(size), at=size // 2)
    assert (shown.shape, shown.start, shown.whole) == ((1, size), 0, True)
    assert list(map(float, shown.values)) == list(range(size))


@pytest.mark.parametrize(("at", "start"), [(0, 0), (4, 0), (5, 1), (50, 46), (67, 63), (90, 68), (99, 68)])
def test_a_large_one_around_the_place_to_look_at(at: int, start: int) -> None:
    shown = Excerpt.of(counting(100), at)
    assert (shown.start, len(shown.values), shown.whole) == (start, excerpt.LONGEST, False)
    assert f"{at}.0" in shown.values


@pytest.mark.parametrize(("start", "text"), [(0, "0.0 1.0 …"), (1, "… 0.0 1.0 …"), (2, "… 0.0 1.0")])
def test_dots_stand_for_what_is_left_out(start: int, text: str) -> None:
    assert str(Excerpt("Y", "float", (4,), start, ("0.0", "1.0"))) == f"Y float[4] = {text}"


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float", "double"])
def test_elements_are_in_few_digits_that_give_them_back(type: str) -> None:
    array = np.array([0.1, np.nan, -np.inf, -0.0, 3e-7, 65504]).astype(DTYPES[type])
    shown = Excerpt.of(Tensor.of("Y", array)).values
    assert np.array([float(text) for text in shown]).astype(DTYPES[type]).tobytes() == array.tobytes()
    assert max(map(len, shown)) <= len("3.0000000e-07")


def test_integers_and_truths_are_shown_too() -> None:
    assert Excerpt.of(Tensor.of("I", np.array([-1, 2**63 - 1]))).values == ("-1", "9223372036854775807")
    assert Excerpt.of(Tensor.of("B", np.array([True, False]))).values == ("True", "False")


RIGHT = counting(100)
CASE = Case(
    "made-up/a",
    spec.version("GlobalLpPool-1"),
    "float",
    (counting(3, name="X"),),
    (("p", TypedValue("FLOAT", float("inf"))),),
    answer=lambda reading: (RIGHT,),
)
INVALID = dataclasses.replace(CASE, fault="p is inf", answer=None)


def outcome(*wrong: int) -> Outcome:
    array = RIGHT.array
    array[0, list(wrong)] = -1
    return Outcome("ok", (Tensor.of("Y", array),))


def result(case: Case, came: Outcome) -> Result:
    return Result.of("some", case, came, judge(case, came))


def test_expected_and_got_are_shown_around_the_first_wrong_element() -> None:
    found = result(CASE, outcome(90, 70))
    (expected,), (got,) = found.expected, found.got
    assert expected.start == got.start == 66
    assert [theirs for ours, theirs in zip(expected.values, got.values, strict=True) if ours != theirs] == ["-1.0", "-1.0"]


def test_what_passes_is_shown_from_its_beginning() -> None:
    found = result(CASE, outcome())
    assert found.got == found.expected
    assert (found.got[0].start, found.inputs[0].values, found.attributes) == (0, ("0.0", "1.0", "2.0"), {"p": "FLOAT inf"})


def test_where_nothing_came_nothing_is_expected() -> None:
    for came in (Outcome("error", phase="run"), Outcome("crashed")):
        assert (result(CASE, came).expected, result(CASE, came).got) == ((), ())


def test_what_came_of_an_invalid_case_is_shown() -> None:
    found = result(INVALID, outcome())
    assert (found.expected, len(found.got)) == ((), 1)


@pytest.mark.parametrize("found", [result(CASE, outcome(90)), result(INVALID, outcome()), result(CASE, Outcome("crashed"))])
def test_excerpts_come_back_from_a_line(found: Result) -> None:
    header = records.Header("0", {}, 1, "onnx", {}, records.rulings([CASE]))
    lines = [records.line(record) for record in (header.to_json(), found.to_json(), records.end(1))]
    assert records.read(lines) == (header, [found])
