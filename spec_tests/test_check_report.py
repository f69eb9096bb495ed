"""A run's records, there and back, and what the report makes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from cypool.conformance import cases
from cypool.conformance.asking.protocol import Description
from cypool.conformance.judging import records
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Header, RecordError, Result
from cypool.conformance.reports import summary
from cypool.spec.model import Reading, Ruling


def result(runtime: str, case: str, verdict: str, fault: str | None = None, elements: int = 2, message: str = "", ulp: int | None = None,
           reading: str = "", readings: Mapping[str, tuple[str, ...]] | None = None, rulings: tuple[str, ...] = ()) -> Result:  # fmt: skip
    version, type, _ = case.split("/")
    op, _, since = version.partition("-")
    return Result(runtime, case, op, int(since), type, fault, rulings, elements, verdict, "", message, ulp, reading, readings or {}, "")


RULINGS = {"MaxRoiPool": (Ruling("sum", "?", "this", "", (Reading("naive", "one by one", ("bad",), False),), (1, 22), "exact"),)}
HEADER = Header("0.1.0", {"good": Description("good", "1.0"), "bad": Description("bad", "")}, 5, "onnx", {}, RULINGS)
RESULTS = [
    result("good", "MaxRoiPool-1/float/a", "pass", ulp=0),
    result("good", "GlobalLpPool-22/bfloat16/a", "pass", ulp=1),
    result("good", "GlobalLpPool-22/float/a", "reads it differently", ulp=9, reading="other", readings={"nan": ("other",)}),
    result("good", "GlobalLpPool-2/float/a", "pass", ulp=0, readings={"nan": ("as ruled", "other")}),
    result("good", "GlobalLpPool-2/float/b", "pass", fault="p is 0"),
    result("bad", "MaxRoiPool-1/float/a", "wrong value", reading="naive", readings={"sum": ("naive",)}, message="Y is 1, expected 2"),
    result("bad", "GlobalLpPool-22/bfloat16/a", "unsupported"),
    result("bad", "GlobalLpPool-22/float/a", "error", message="No kernel 17 of 'X'"),
    result("bad", "GlobalLpPool-2/float/a", "error", elements=1, message="No kernel 18 of 'Y'\nmore"),
    result("bad", "GlobalLpPool-2/float/b", "accepted what is invalid", fault="p is 0"),
]


def lines() -> list[str]:
    return [records.line(record) for record in (HEADER.to_json(), *(found.to_json() for found in RESULTS), records.end(len(RESULTS)))]


def test_a_run_comes_back_from_its_lines() -> None:
    assert records.read(lines()) == (HEADER, RESULTS)


def test_every_record_is_one_line() -> None:
    assert all(line.count("\n") == 1 and line.endswith("\n") for line in lines())


@pytest.mark.parametrize(
    "damaged", [lines()[:-1], lines()[1:], lines()[:3] + lines()[4:], [], lines()[:1], [*lines()[:-1], lines()[-1][:9]], ["[]", "[]"]]
)
def test_a_file_cut_short_is_refused(damaged: list[str]) -> None:
    with pytest.raises(RecordError):
        records.read(damaged)


def test_rows_go_by_operator_then_version_as_a_number_then_type_in_the_order_of_onnx() -> None:
    assert summary.matrix(HEADER, RESULTS).rows == (
        ("GlobalLpPool-2", "float"),
        ("GlobalLpPool-22", "float"),
        ("GlobalLpPool-22", "bfloat16"),
        ("MaxRoiPool-1", "float"),
    )


def test_findings_group_what_went_wrong_alike_and_show_the_smallest() -> None:
    found = summary.findings(summary.of_runtime("bad", RESULTS))
    assert [(finding.verdict, finding.name, finding.count, finding.smallest.case) for finding in found] == [
        ("wrong value", "sum: naive", 1, "MaxRoiPool-1/float/a"),
        ("error", "", 2, "GlobalLpPool-2/float/a"),
        ("accepted what is invalid", "p is 0", 1, "GlobalLpPool-2/float/b"),
        ("unsupported", "", 1, "GlobalLpPool-22/bfloat16/a"),
    ]


def test_of_one_verdict_the_larger_group_comes_first() -> None:
    rare, common = (result("x", f"MaxRoiPool-1/float/{name}", "wrong value", rulings=(name,)) for name in ("a", "b"))
    assert [finding.name for finding in summary.findings([rare, common, common])] == ["on b", "on a"]


def test_a_pass_is_no_finding_and_a_difference_is_one() -> None:
    (found,) = summary.findings(summary.of_runtime("good", RESULTS))
    assert (found.verdict, found.name) == ("reads it differently", "nan: other")


def test_a_wrong_value_on_a_silence_names_it() -> None:
    (found,) = summary.findings([result("x", "MaxRoiPool-1/float/a", "wrong value", rulings=("nan", "rank"))])
    assert found.name == "on nan, rank"


def test_a_finding_of_several_faults_names_and_explains_each() -> None:
    both = result("x", "MaxRoiPool-1/float/a", "wrong value", reading="wide+naive", readings={"sum": ("naive",), "type": ("wide",)})
    (found,) = summary.findings([both])
    assert found.name == "type: wide, sum: naive"
    more = Ruling("type", "?", "own", "", (Reading("wide", "as double", ("bad",), False),), (1, 22))
    header = dataclasses.replace(HEADER, rulings={"MaxRoiPool": (*RULINGS["MaxRoiPool"], more)})
    assert header.explain(found.name) == "as double one by one"
    assert header.explain("on sum, type") == header.explain("") == ""


def test_what_was_let_through_is_named_by_its_ruling_or_else_by_the_fault() -> None:
    on_ruling, on_none = (
        summary.findings([result("x", "MaxRoiPool-1/float/a", "accepted what is invalid", fault="x is nan", rulings=rulings)])[0]
        for rulings in (("finite",), ())
    )
    assert (on_ruling.name, on_none.name) == ("on finite", "x is nan")


def test_the_words_for_readings_come_from_the_cases() -> None:
    (case,) = [case for case in cases.generate(["MaxRoiPool"]) if case.id == "MaxRoiPool-22/float/invalid/no-rois"]
    assert "nan: restart" in Header("", {}, 1, "onnx", {}, records.rulings([case])).readings
    assert records.rulings([]) == {}


def test_unsupported_does_not_conform() -> None:
    assert not result("x", "MaxRoiPool-1/float/a", "unsupported").conforms
    assert result("x", "MaxRoiPool-1/float/a", "reads it differently").conforms


def test_every_verdict_has_a_word_and_a_meaning() -> None:
    assert set(summary.SHORT) == set(summary.LEGEND) == set(summary.compare.VERDICTS)


def told(*results: Result) -> summary.Summary:
    return summary.summarize(HEADER, "good", results)


def test_a_runtime_that_lacks_every_valid_case_is_not_implemented() -> None:
    lacking = [result("good", f"MaxRoiPool-1/float/{name}", "unsupported") for name in "abc"]
    refused = result("good", "MaxRoiPool-1/float/d", "pass", fault="no rois")
    for results, count in ((lacking, 3), ([*lacking, refused], 4)):
        assert told(*results).verdict == "not implemented"
        assert str(told(*results)) == f"good 1.0: not implemented, 3 of {count} cases are unsupported"
    assert told(*lacking, result("good", "MaxRoiPool-1/double/a", "wrong value")).verdict == "deviates"
    assert told(result("good", "MaxRoiPool-1/float/a", "pass")).verdict == "conforms"


def test_doubles_that_are_floats_are_told_in_ulp_of_float_and_others_in_their_own() -> None:
    near, far = (result("good", f"MaxRoiPool-1/{type}/a", "pass", ulp=ulp) for type, ulp in (("float", 3), ("double", 69_834_467_583)))
    assert told(near, far).distance == "at most 3 ULP off where it passes; doubles have float's accuracy, at most 131 ULP of float off"
    assert told(far).distance == "doubles have float's accuracy, at most 131 ULP of float off"
    assert told(dataclasses.replace(far, ulp=12)).distance == "at most 12 ULP off where it passes"
    assert told(dataclasses.replace(far, type="float", ulp=1 << 30)).distance == f"at most {1 << 30:,} ULP off where it passes"


def example(name: str, *values: str, opset: int = 1, variant: str = "") -> Result:
    inputs = (Excerpt("X", "float", (len(values),), 0, values),)
    found = result("x", f"MaxRoiPool-1/float/{name}", "wrong value", elements=len(values))
    return dataclasses.replace(found, inputs=inputs, opset=opset, variant=variant)


def test_a_finding_shows_ordinary_numbers_at_the_newest_opset_beside_the_smallest_case() -> None:
    subnormal = example("subnormal", "1e-45")
    large = example("large", "1e+30", "1e+30", opset=20)
    later, nan = example("later", "1e+30", "1e+30", opset=21), example("nan", "nan", "1.0", opset=28)
    long, variant = example("long", *["1.0"] * 33, opset=28), example("variant", "1.0", "2.0", opset=28, variant="symbolic")
    nothing, one = example("nothing", opset=28), example("one", "1e+30", opset=28)
    found = summary.Finding("wrong value", "", (nothing, one, subnormal, nan, large, long, variant, later))
    assert (found.telling, found.smallest) == (later, nothing)
    assert found.examples == (later, nothing)
    assert summary.Finding("wrong value", "", (later,)).examples == (later,)
    order = [later, large, one, variant, nan, subnormal, long, nothing]
    left = list(order)
    while left:
        assert summary.Finding("wrong value", "", tuple(reversed(left))).telling is left.pop(0)
