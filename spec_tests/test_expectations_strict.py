"""A run held against a list: every way in which something is not as listed, and that nothing else
is.
"""

from __future__ import annotations

import dataclasses

import pytest
from report_runs import result

from cypool.conformance import cases
from cypool.conformance.asking.protocol import Outcome
from cypool.conformance.expectations.lists import read
from cypool.conformance.expectations.strict import BEHIND, BUT_CONFORMS, NOT_LISTED, NOTHING, OTHERWISE, Held, hold
from cypool.conformance.judging.compare import VERDICTS, judge, onnx_tolerance
from cypool.conformance.judging.explanations import by_answers
from cypool.conformance.judging.records import Result

CASES = ("A-1/float/ramp", "A-1/float/ramp@9", "A-1/float/nan", "A-2/float/ramp")


def held(verdicts: dict[str, str], *entries: str, version: str = "1.0", known: tuple[str, ...] = ()) -> Held:
    """A run of these verdicts, all other cases passing, against a list of these entries, each
    without its reason.
    """
    text = "\n".join(['runtime = "mine"', *(f'[[expect]]\nreason = "why"\n{entry}' for entry in entries)])
    results = [result("mine", case, verdicts.get(case, "pass")) for case in CASES]
    return hold(read(text), version, results, lambda: (*CASES, *known))


def kinds(found: Held) -> list[tuple[str, str, list[str]]]:
    return [(surprise.kind, surprise.text, [about.case for about in surprise.results]) for surprise in found.surprises]


NAN_IS_WRONG = 'cases = "*/nan"\nverdict = "wrong value"'


def test_as_listed_is_well() -> None:
    assert held({"A-1/float/nan": "wrong value"}, NAN_IS_WRONG) == Held(1, 1, ())


def test_without_entries_all_conform_or_it_is_not_well() -> None:
    assert held({}) == Held(0, 0, ())
    assert kinds(held({"A-1/float/nan": "wrong value"})) == [(NOT_LISTED, "wrong value", ["A-1/float/nan"])]


@pytest.mark.parametrize("verdict", [verdict for verdict in VERDICTS if verdict not in ("pass", "reads it differently")])
def test_any_deviation_that_is_not_listed_is_told_whatever_it_is(verdict: str) -> None:
    found = held({"A-1/float/nan": "wrong value", "A-2/float/ramp": verdict}, NAN_IS_WRONG)
    assert kinds(found) == [(NOT_LISTED, verdict, ["A-2/float/ramp"])]
    assert found.listed == 1


def test_another_reading_need_not_be_listed() -> None:
    assert held({"A-2/float/ramp": "reads it differently"}).surprises == ()


@pytest.mark.parametrize("verdict", ["pass", "reads it differently"])
def test_what_is_listed_and_conforms_is_told(verdict: str) -> None:
    assert kinds(held({"A-1/float/nan": verdict}, NAN_IS_WRONG)) == [(BUT_CONFORMS, "wrong value: why", ["A-1/float/nan"])]


def test_one_of_many_cases_of_a_glob_that_conforms_is_told() -> None:
    found = held({"A-1/float/ramp": "error", "A-1/float/nan": "error"}, 'cases = "A-1/*"\nverdict = "error"')
    assert kinds(found) == [(BUT_CONFORMS, "error: why", ["A-1/float/ramp@9"])]
    assert found.listed == 2


def test_another_verdict_than_the_listed_one_is_told() -> None:
    assert kinds(held({"A-1/float/nan": "crashed"}, NAN_IS_WRONG)) == [(OTHERWISE, "wrong value: why", ["A-1/float/nan"])]


@pytest.mark.parametrize("verdict", ["pass", "crashed"])
def test_where_several_verdicts_are_listed_each_will_do(verdict: str) -> None:
    entry = 'cases = "*/nan"\nverdict = ["pass", "crashed"]'
    assert held({"A-1/float/nan": verdict}, entry) == Held(1, 1, ())
    assert kinds(held({"A-1/float/nan": "timed out"}, entry)) == [(OTHERWISE, "pass or crashed: why", ["A-1/float/nan"])]


def test_a_glob_that_matches_nothing_is_told_though_others_of_its_entry_do() -> None:
    found = held({"A-1/float/nan": "wrong value"}, 'cases = ["*/nan", "*/nam"]\nverdict = "wrong value"')
    assert kinds(found) == [(NOTHING, "*/nam (of wrong value: why)", [])]


def test_an_exception_that_takes_nothing_off_is_told() -> None:
    entry = 'cases = "A-1/float/nan"\nexcept = ["A-2/*"]\nverdict = "wrong value"'
    assert kinds(held({"A-1/float/nan": "wrong value"}, entry)) == [(NOTHING, "A-2/* (of wrong value: why)", [])]


def test_a_glob_about_cases_of_other_runs_is_well_where_there_are_such() -> None:
    entries = NAN_IS_WRONG, 'cases = ["B-1/*", "*+symbolic"]\nexcept = "B-1/*@9"\nverdict = "error"'
    known = "B-1/float/ramp", "B-1/float/ramp@9", "A-1/float/nan+symbolic"
    assert held({"A-1/float/nan": "wrong value"}, *entries, known=known) == Held(1, 2, ())
    found = held({"A-1/float/nan": "wrong value"}, *entries, known=known[:1])
    assert [text for _, text, _ in kinds(found)] == ["*+symbolic (of error: why)", "B-1/*@9 (of error: why)"]


def test_an_entry_for_other_versions_is_not_looked_at() -> None:
    entries = NAN_IS_WRONG, 'cases = ["no such", "*/ramp"]\nverdict = "error"\nversions = "<1"'
    assert held({"A-1/float/nan": "wrong value"}, *entries) == Held(1, 1, ())
    assert held({}, *entries, version="0.9").entries == 2


def test_of_two_entries_about_a_case_the_first_counts() -> None:
    rest = 'cases = "A-1/*"\nverdict = "error"'
    verdicts = {"A-1/float/nan": "wrong value", "A-1/float/ramp": "error", "A-1/float/ramp@9": "error"}
    assert held(verdicts, NAN_IS_WRONG, rest) == Held(3, 2, ())
    assert kinds(held(verdicts, rest, NAN_IS_WRONG)) == [(OTHERWISE, "error: why", ["A-1/float/nan"]), (BEHIND, "wrong value: why", [])]


def test_an_entry_behind_others_in_this_run_is_well_where_it_counts_in_another() -> None:
    first = 'cases = ["A-1/float/nan"]\nexcept = ["*+symbolic"]\nverdict = "wrong value"'
    assert held({"A-1/float/nan": "wrong value"}, first, NAN_IS_WRONG, known=("A-1/float/nan+symbolic",)) == Held(1, 2, ())


def test_what_is_not_listed_is_told_by_finding_the_worst_first() -> None:
    found = held({"A-1/float/nan": "unsupported", "A-1/float/ramp": "wrong value", "A-2/float/ramp": "wrong value"})
    assert kinds(found) == [
        (NOT_LISTED, "wrong value", ["A-1/float/ramp", "A-2/float/ramp"]),
        (NOT_LISTED, "unsupported", ["A-1/float/nan"]),
    ]


NAIVE = 'fault = "naive"\noperator = "GlobalLpPool-2"\nverdict = "wrong value"'
WHERE = "GlobalLpPool-2/float/"


def explained(case: str) -> Result:
    return result("mine", WHERE + case, "wrong value", reading="naive", readings={"accumulation": ("naive",)})


def right(case: str, *agreeing: str) -> Result:
    """A pass that the fault would not have had, unless it agrees."""
    return result("mine", WHERE + case, "pass", readings={"accumulation": ("as ruled", *agreeing)})


def by_fault(*results: Result, entry: str = NAIVE, known: tuple[str, ...] = ()) -> list[tuple[str, str, list[str]]]:
    expectations = read(f'runtime = "mine"\n[[expect]]\nreason = "why"\n{entry}')
    return kinds(hold(expectations, "1.0", results, lambda: (*(found.case for found in results), *known)))


def test_what_a_fault_explains_is_as_listed_and_no_other_deviation_is() -> None:
    assert by_fault(explained("a"), explained("b"), right("c", "naive")) == []
    stray = result("mine", WHERE + "c", "wrong value")
    assert by_fault(explained("a"), stray) == [(NOT_LISTED, "wrong value", [WHERE + "c"])]
    elsewhere = result("mine", "GlobalLpPool-22/float/a", "wrong value", reading="naive", readings={"accumulation": ("naive",)})
    assert [kind for kind, _, _ in by_fault(explained("a"), elsewhere)] == [NOT_LISTED]


def test_one_case_of_a_fault_that_was_mended_is_told() -> None:
    assert by_fault(explained("a"), right("b")) == [(BUT_CONFORMS, "wrong value: why", [WHERE + "b"])]


def test_a_fault_that_came_out_as_another_verdict_or_message_is_told() -> None:
    entry = NAIVE + '\nmessage = "too   large"'
    said = [dataclasses.replace(explained(case), message=message) for case, message in (("a", "it is too\nlarge"), ("b", "too small"))]
    assert by_fault(*said, entry=entry) == [(OTHERWISE, "wrong value: why", [WHERE + "b"])]
    assert by_fault(dataclasses.replace(explained("a"), verdict="crashed")) == [(OTHERWISE, "wrong value: why", [WHERE + "a"])]


@pytest.mark.parametrize("entry", [NAIVE, 'ruling = "sign"\noperator = "GlobalLpPool-2"\nverdict = "wrong value"'])
def test_an_entry_that_is_about_nothing_is_told_by_a_run_that_has_all_of_its_scope(entry: str) -> None:
    plain = result("mine", WHERE + "a", "pass")
    assert by_fault(plain, entry=entry) == [(NOTHING, "wrong value: why", [])]
    assert by_fault(plain, entry=entry, known=(WHERE + "b",)) == []
    assert by_fault(plain, entry=entry, known=(WHERE + "b+symbolic", "MaxRoiPool-1/float/b")) == [(NOTHING, "wrong value: why", [])]
    assert by_fault(result("mine", "MaxRoiPool-1/float/a", "pass"), entry=entry, known=(WHERE + "a",)) == []


def test_an_operator_that_there_is_not_is_told() -> None:
    assert by_fault(right("a", "naive"), entry='operator = "GlobalLpPol-*"\nverdict = "error"') == [(NOTHING, "error: why", [])]


def answered(id: str, *faults: str) -> list[tuple[str, str, list[str]]]:
    """A right answer to a real case, held against these faults by what each would have given."""
    (case,) = [case for case in cases.generate([id.partition("-")[0]]) if case.id == id]
    outcome = Outcome("ok", case.expected)
    passed = Result.of("mine", case, outcome, judge(case, outcome))
    entries = "".join(f'[[expect]]\nfault = "{fault}"\nverdict = "wrong value"\nreason = "{fault}"\n' for fault in faults)
    expectations = read(f'runtime = "mine"\n{entries}')
    known = (case.id, f"{case.version.name}/{case.type}/more")
    return kinds(hold(expectations, "1.0", [passed], lambda: known, by_answers([case], onnx_tolerance)))


def test_one_case_that_was_mended_is_told_though_it_does_not_turn_on_the_faults_ruling() -> None:
    id = "GlobalLpPool-2/double/rank4/p1/near-underflow"
    assert answered(id, "float32") == [(BUT_CONFORMS, "wrong value: float32", [id])]
    assert answered(id, "rounded-root") == []


def test_a_right_answer_that_several_faults_at_once_give_was_not_mended() -> None:
    id = "GlobalLpPool-2/double/tall/p2/near-overflow"
    assert answered(id, "mean") == [(BUT_CONFORMS, "wrong value: mean", [id])]
    assert (BUT_CONFORMS, "wrong value: mean", [id]) not in answered(id, "mean", "naive")
