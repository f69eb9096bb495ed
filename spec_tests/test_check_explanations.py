"""Faults that explain a deviation: all of them are named, but none that another case of the run
contradicts.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import pytest
from all_cases import valid

from cypool.conformance.asking.protocol import Description, Outcome
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import records
from cypool.conformance.judging.compare import judge, named
from cypool.conformance.judging.explained_refusals import explain_refusal
from cypool.conformance.judging.explanations import drop_contradicted
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.fingerprint import fingerprint
from cypool.conformance.tensors import Tensor

Norm = Callable[[np.ndarray, float], np.ndarray]


def plain(x: np.ndarray, p: float, dtype: type) -> np.ndarray:
    """The formula as it stands, absolute values and all, in one type."""
    axes = tuple(range(2, x.ndim))
    with np.errstate(all="ignore"):
        return np.power(np.power(np.abs(x).astype(dtype), dtype(p)).sum(axes, keepdims=True), dtype(1) / dtype(p)).astype(x.dtype)


IN_DOUBLE = functools.partial(plain, dtype=np.float64)


def run(cell: str, norm: Norm) -> tuple[list[Case], list[Result]]:
    """A backend's results on a cell, each judged alone."""
    cases = [case for case in valid() if case.id.startswith(cell)]
    results = []
    for case in cases:
        attributes = {name: typed.value for name, typed in case.attributes}
        y = norm(case.inputs[0].array, float(attributes.get("p", 2)))
        outcome = Outcome("ok", (Tensor.of("Y", y),))
        results.append(Result.of("made up", case, outcome, judge(case, outcome)))
    return cases, results


@functools.cache
def in_double(cell: str) -> tuple[list[Case], list[Result]]:
    return run(cell, IN_DOUBLE)


def names(results: list[Result]) -> set[str]:
    return {name for result in results for names in result.reading.split("|") for name in names.split("+")} - {""}


def test_a_backend_that_takes_absolute_values_is_not_told_that_it_takes_none() -> None:
    cases, alone = in_double("GlobalLpPool-1/float/")
    ambiguous = [result for result in alone if "no-abs" in result.reading]
    assert ambiguous and all("|" in result.reading for result in ambiguous)
    assert "no-abs" not in names(drop_contradicted(alone, cases))


def test_a_backend_that_adds_up_in_double_is_not_told_that_it_does_in_the_element_type() -> None:
    cases, alone = in_double("GlobalLpPool-2/float/")
    assert "naive" in names(alone)
    held = drop_contradicted(alone, cases)
    assert "naive" not in names(held)
    assert [result.verdict for result in held] == [result.verdict for result in alone]
    assert {finding.name for finding in summary.findings(held)} >= {"on accumulation"}
    assert not any("known fault" in result.message for result in held)


def test_the_fingerprint_does_not_count_what_is_not_sure() -> None:
    cases, alone = in_double("GlobalLpPool-1/float/")
    header = Header("", {"made up": Description("made up", "")}, len(cases), "onnx", {}, records.rulings(cases), records.computed(cases))
    for results in (alone, drop_contradicted(alone, cases)):
        (sign,) = [followed for followed in fingerprint(header, results) if followed.ruling.id == "sign"]
        assert (sign.name, sign.count, sign.of) == ("absolute", sign.of, sign.of)


@functools.cache
def found(reading: str, verdict: str = "wrong value") -> Result:
    """A deviation explained so."""
    (result, *_) = in_double("GlobalLpPool-2/float/")[1]
    owners = {"naive": "accumulation", "no-abs": "sign", "mean": "sum-or-mean"}
    parts = [name for names in reading.split("|") for name in names.split("+")]
    message = named("Y is 1", [names.split("+") for names in reading.split("|")])
    readings = {owners[name]: (name,) for name in parts}
    return dataclasses.replace(result, case="x", verdict=verdict, reading=reading, readings=readings, message=message)


def right(ruling: str, type: str = "float") -> Result:
    """A pass that tells the readings of a ruling apart."""
    return dataclasses.replace(
        found("naive"), case="y", verdict="pass", reading="", readings={ruling: ("as ruled",)}, message="", type=type
    )


@pytest.mark.parametrize(
    ("reading", "others", "left", "message"),
    [
        ("naive|no-abs", [], "naive|no-abs", "Y is 1; known fault: naive or no-abs"),
        ("naive|no-abs", [right("sign")], "naive", "Y is 1; known fault: naive"),
        ("naive|no-abs", [right("sign"), right("accumulation")], "", "Y is 1"),
        ("naive|no-abs", [right("sign", "double")], "naive|no-abs", "Y is 1; known fault: naive or no-abs"),
        ("mean+no-abs|mean+naive", [right("accumulation")], "mean+no-abs", "Y is 1; known faults: mean, no-abs"),
        ("mean+no-abs", [right("sum-or-mean")], "", "Y is 1"),
    ],
)
def test_of_several_explanations_those_are_left_that_nothing_contradicts(
    reading: str, others: list[Result], left: str, message: str
) -> None:
    (result, *_) = drop_contradicted([found(reading), *others])
    assert (result.reading, result.message) == (left, message)
    assert {name for own in result.readings.values() for name in own} == names([result])


def test_a_finding_names_and_explains_every_explanation_that_is_left() -> None:
    (finding,) = summary.findings([found("naive|no-abs")])
    assert finding.name == "accumulation: naive or sign: no-abs"
    header = Header("", {}, 1, "onnx", {}, records.rulings(valid()))
    assert "Powers are added up" in header.explain(finding.name) and "signed elements" in header.explain(finding.name)


def test_a_refusal_is_not_laid_to_a_limit_that_another_case_exceeds() -> None:
    deep = [case for case in valid() if case.id.startswith("GlobalLpPool-22/double/rank6/p3/")]
    refused, taken = deep[0], dataclasses.replace(deep[0], id=f"{deep[0].id}@21")
    error, fine = Outcome("error", phase="run", message="no"), Outcome("ok", taken.expected)
    results = [Result.of("some", refused, error, explain_refusal(refused, judge(refused, error), lambda case: fine))]
    assert results[0].message == "no; known fault: at-most-5"
    results.append(Result.of("some", taken, fine, judge(taken, fine)))
    first, _ = drop_contradicted(results, [refused, taken])
    assert (first.verdict, first.message, first.reading) == ("error", "no", "")
