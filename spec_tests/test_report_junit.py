"""The JUnit report, read back by a parser of its own and by the one that wrote it."""

from __future__ import annotations

import collections
import dataclasses
from xml.etree import ElementTree

import junitparser
import pytest
from report_runs import HOSTILE, OLD, result

from cypool.conformance.asking.protocol import Description
from cypool.conformance.expectations.lists import read
from cypool.conformance.judging import compare
from cypool.conformance.judging.records import Header
from cypool.conformance.reports.junit import ELEMENTS, junit

DOCUMENT = ElementTree.fromstring(junit(*OLD))


def suite(name: str) -> ElementTree.Element:
    (found,) = [suite for suite in DOCUMENT if suite.get("name") == name]
    return found


def properties(name: str) -> dict[str | None, str | None]:
    return {found.get("name"): found.get("value") for found in suite(name).iter("property")}


def only(verdict: str, message: str = "") -> ElementTree.Element:
    header = Header("", {"some": OLD[0].runtimes["blunt"]}, 1, "onnx")
    (case,) = ElementTree.fromstring(junit(header, [result("some", "MaxRoiPool-1/float/a", verdict, message)])).iter("testcase")
    return case


def test_there_is_a_suite_an_operator_version_and_runtime() -> None:
    versions = "GlobalLpPool-1", "GlobalLpPool-2", "MaxRoiPool-1", "MaxRoiPool-22"
    assert [found.get("name") for found in DOCUMENT] == [
        f"{title} {version}" for title in ("sharp 2.1", "blunt 0.9") for version in versions
    ]
    assert sum(1 for _ in DOCUMENT.iter("testcase")) == len(OLD[1])


def test_the_largest_distance_is_a_property_and_so_is_the_largest_that_passes() -> None:
    assert properties("sharp 2.1 GlobalLpPool-2")["largest ULP"] == "1"
    found = properties("blunt 0.9 MaxRoiPool-1")
    assert (found["largest ULP"], found["largest ULP where it passes"]) == ("1084227584", "")
    assert (found["runtime"], found["runtime version"], found["operator version"]) == ("blunt", "0.9", "MaxRoiPool-1")


def test_properties_stand_before_the_cases_as_the_schema_of_junit_has_it() -> None:
    for found in DOCUMENT:
        assert [child.tag for child in found] == ["properties", *["testcase"] * (len(found) - 1)]


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [
        ("pass", None),
        ("reads it differently", "system-out"),
        ("wrong value", "failure"),
        ("wrong shape", "failure"),
        ("wrong type", "failure"),
        ("accepted what is invalid", "failure"),
        ("error", "error"),
        ("load error", "error"),
        ("not run", "error"),
        ("crashed", "error"),
        ("timed out", "error"),
        ("unsupported", "skipped"),
    ],
)
def test_a_verdict_has_its_element(verdict: str, tag: str | None) -> None:
    children = list(only(verdict, "why"))
    assert [child.tag for child in children] == ([tag] if tag else [])
    if verdict not in compare.CONFORMS:
        assert (children[0].get("type"), children[0].get("message")) == (verdict, "why")


def test_no_verdict_that_deviates_is_without_an_element() -> None:
    assert set(ELEMENTS) == set(compare.VERDICTS) - compare.CONFORMS


def test_a_failure_tells_what_was_given_expected_and_got() -> None:
    (failure,) = suite("blunt 0.9 MaxRoiPool-1").findall("testcase[@name='float/nan']/failure")
    assert (failure.text or "").splitlines() == [
        "MaxRoiPool-1/float/nan",
        "wrong value: Y[0, 0] is 0.0, expected nan; known fault: never",
        "p: INT 2",
        "input X float[1, 2] = 3.0 -4.0",
        "expected Y float[1, 1] = 5.0",
        "got Y float[1, 1] = 0.0",
    ]


def test_standard_error_goes_with_its_case() -> None:
    (said,) = suite("blunt 0.9 MaxRoiPool-1").findall("testcase[@name='double/far']/system-err")
    assert said.text == "�[31mwhat(): </pre>�[0m\nfar away"


def test_text_that_xml_forbids_is_replaced_and_markup_is_text() -> None:
    (error,) = only("error", HOSTILE)
    assert error.get("message") == " ".join(HOSTILE.split()).replace("\x1b", "�")


def test_numbers_add_up() -> None:
    document = junitparser.JUnitXml.fromstring(junit(*OLD).encode())
    counted = collections.Counter(ELEMENTS[found.verdict].__name__ for found in OLD[1] if found.verdict in ELEMENTS)
    assert (document.tests, document.failures, document.errors, document.skipped) == (
        len(OLD[1]), counted["Failure"], counted["Error"], counted["Skipped"]
    )  # fmt: skip
    for own in document:
        assert own.tests == len(list(own))


LIST = read("""
runtime = "blunt"

[[expect]]
cases = ["MaxRoiPool-1/double/*", "MaxRoiPool-1/float/nan"]
verdict = ["crashed", "wrong value", "wrong type"]
reason = "known since 0.8"

[[expect]]
cases = ["GlobalLpPool-*/*/ramp"]
verdict = "wrong type"
reason = "to be fixed in 0.9"
versions = "<1"
""")


def held(version: str) -> dict[tuple[str, str], tuple[str, str] | None]:
    """What stands in each test case of blunt: the element and its message."""
    header = dataclasses.replace(OLD[0], runtimes={**OLD[0].runtimes, "blunt": Description("blunt", version)})
    cases = ElementTree.fromstring(junit(header, OLD[1], {"blunt": LIST})).iter("testcase")
    own = [case for case in cases if (case.get("classname") or "").startswith("blunt.")]
    elements = {(case.get("classname", ""), case.get("name", "")): [child for child in case if child.tag != "system-err"] for case in own}
    return {key: (found[0].tag, found[0].get("message", "")) if found else None for key, found in elements.items()}


def test_what_is_as_listed_is_skipped_and_tells_why() -> None:
    found = held("0.9")
    assert found["blunt.MaxRoiPool-1", "double/far"] == ("skipped", "as listed: known since 0.8")
    assert found["blunt.GlobalLpPool-2", "float/ramp"] == ("skipped", "as listed: to be fixed in 0.9")


def test_what_is_listed_and_conforms_fails() -> None:
    assert held("0.9")["blunt.GlobalLpPool-1", "float/ramp"] == ("failure", "listed, but it conforms: wrong type: to be fixed in 0.9")
    assert held("1.0")["blunt.GlobalLpPool-1", "float/ramp"] is None  # the entry is in force no more


def test_what_is_not_listed_or_as_another_verdict_fails_or_errs_as_ever_and_unsupported_with_it() -> None:
    found = held("0.9")
    assert found["blunt.MaxRoiPool-1", "double/hang"] == ("error", "no answer in 10 s")
    assert found["blunt.MaxRoiPool-22", "float16/ramp"] == ("failure", "not listed: no kernel")
    assert found["blunt.GlobalLpPool-2", "float/p-0"] == ("failure", "p is 0")


def test_a_list_is_about_its_runtime_alone() -> None:
    sharp = [
        case for case in ElementTree.fromstring(junit(*OLD, {"blunt": LIST})).iter("testcase") if "sharp" in (case.get("classname") or "")
    ]
    assert len(sharp) == 11
    assert not [case for case in sharp if case.findall("failure") or case.findall("skipped")]
