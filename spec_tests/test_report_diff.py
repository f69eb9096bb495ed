"""What changed between two runs."""

from __future__ import annotations

import dataclasses

import pytest
from report_runs import NEW, OLD, result

from cypool.conformance.asking.protocol import Description
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports.diff import Changes, NotComparable, differences, groups
from cypool.conformance.reports.merge import Run

CASE = "MaxRoiPool-1/float/a"


def run(*results: Result, name: str = "some") -> Run:
    results = tuple(dataclasses.replace(found, runtime=name) for found in results)
    return Header("", {name: Description(name, "1")}, len(results), "onnx"), list(results)


def changes(old: str, new: str, old_reading: str = "", new_reading: str = "") -> Changes:
    before, after = result("", CASE, old, reading=old_reading), result("", CASE, new, reading=new_reading)
    (found,) = differences(run(before), run(after))
    return found.changes


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("pass", "wrong value", "broke"),
        ("pass", "unsupported", "broke"),
        ("reads it differently", "crashed", "broke"),
        ("wrong value", "pass", "fixed"),
        ("timed out", "reads it differently", "fixed"),
        ("pass", "reads it differently", "different"),
        ("error", "crashed", "different"),
        ("unsupported", "wrong value", "different"),
        ("pass", "pass", "same"),
        ("error", "error", "same"),
    ],
)
def test_a_change_is_by_whether_it_conformed_and_conforms(old: str, new: str, kind: str) -> None:
    assert str(changes(old, new)) == {"same": "1 the same"}.get(kind, f"1 {kind}, 0 the same")


def test_another_reading_under_the_same_verdict_is_a_difference() -> None:
    assert len(changes("wrong value", "wrong value", "never", "last").different) == 1
    assert changes("wrong value", "wrong value", "never", "never").same == 1


def test_cases_that_came_and_went_are_neither_broken_nor_fixed() -> None:
    (found,) = differences(run(result("", CASE, "error")), run(result("", f"{CASE}b", "error")))
    assert str(found.changes) == "1 came, 1 went, 0 the same"


def test_readings_that_changed_are_told() -> None:
    (found,) = differences(OLD, NEW)
    assert [(str(old), str(new)) for old, new in found.readings] == [("nan: never", "nan: wins")]


def test_runtimes_are_compared_by_name_and_others_left_out() -> None:
    assert [(found.old.title, found.new.title) for found in differences(OLD, NEW)] == [("blunt 0.9", "blunt 1.0")]


def test_two_runs_of_one_runtime_each_are_compared_whatever_the_names() -> None:
    (found,) = differences(run(result("", CASE, "pass"), name="a"), run(result("", CASE, "error"), name="b"))
    assert (found.old.title, found.new.title, len(found.changes.broke)) == ("a 1", "b 1", 1)


def test_runs_with_no_runtime_in_common_and_several_to_choose_from_are_refused() -> None:
    with pytest.raises(NotComparable, match="no runtime in common: sharp, blunt and other"):
        differences(OLD, run(result("", CASE, "pass"), name="other"))


def test_changes_are_grouped_by_verdicts_larger_groups_first_and_told_by_what_is_wrong() -> None:
    pairs = [
        (result("", f"{CASE}1", "pass"), result("", f"{CASE}1", "error", "out of luck")),
        (result("", f"{CASE}2", "wrong value", "is 3"), result("", f"{CASE}2", "pass")),
        (result("", f"{CASE}3", "wrong value", "is 2"), result("", f"{CASE}3", "pass")),
        (result("", f"{CASE}4", "pass"), result("", f"{CASE}4", "reads it differently", "is 4")),
        (result("", f"{CASE}5", "reads it differently", "is 5"), result("", f"{CASE}5", "pass")),
    ]
    assert [(verdicts, found.count, found.telling.message) for verdicts, found in groups(pairs)] == [
        ("wrong value → pass", 2, "is 3"),
        ("pass → error", 1, "out of luck"),
        ("pass → reads it differently", 1, "is 4"),
        ("reads it differently → pass", 1, "is 5"),
    ]
