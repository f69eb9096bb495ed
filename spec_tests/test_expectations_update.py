"""A list brought up to date: what was right stays as it was written, the rest follows the run, and
the run is then as listed.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import result

from cypool.conformance.expectations.lists import ListError, read
from cypool.conformance.expectations.strict import hold
from cypool.conformance.expectations.update import update
from cypool.conformance.judging.compare import VERDICTS
from cypool.conformance.judging.records import Result

CASES = [
    f"{version}/{type}/{shape}/{values}{axes}"
    for version, type, shape, values, axes in itertools.product(
        ("A-1", "A-2", "B-1"), ("float", "double"), ("rank2", "odd"), ("ramp", "nan", "inf"), ("", "@9")
    )
]
LIST = '''# what mine is known for
runtime = "mine"  # of ours

# Types

[[expect]]
# doubles came late
cases = ["*/double/*"]
verdict = "unsupported"
reason = """
there is
no double"""
issue = "https://example.org/1"  # since spring

# Values

# right above the second entry
[[expect]]
cases = [
  "A-1/float/rank2/nan",  # the first seen
  # in 2025
  "A-2/float/*/nan",
]
verdict = "wrong value"
reason = "NaN is lost"

# the end
'''


def run(verdicts: dict[str, str], said: str = "", cases: list[str] = CASES) -> list[Result]:
    """The results of these cases: each has the verdict of the last part of an id that it holds,
    else it passes.
    """
    found = []
    for case in cases:
        verdict = next((verdict for part, verdict in reversed(verdicts.items()) if part in case), "pass")
        found.append(result("mine", case, verdict, said if verdict != "pass" else ""))
    return found


AS_LISTED = {"A-1/float/rank2/nan": "wrong value", "A-2/float/rank2/nan": "wrong value", "A-2/float/odd/nan": "wrong value",
             "double": "unsupported"}  # fmt: skip


def updated(results: list[Result], text: str = LIST, version: str = "1.0", **more) -> tuple[str, list[str]]:
    """The new text, which the run is checked to be as listed by, and the changes as texts."""
    new, changes = update(text, version, results, **more)
    assert hold(read(new), version, results, more.get("known", tuple)).surprises == ()
    return new, [str(change) for change in changes]


def test_what_is_as_listed_stays_to_the_byte() -> None:
    assert updated(run(AS_LISTED)) == (LIST, [])


def test_what_conforms_now_is_taken_off_and_the_rest_stays_with_its_comments() -> None:
    new, changes = updated(run(AS_LISTED | {"A-1/float/rank2/nan": "pass"}))
    assert new == LIST.replace('  "A-1/float/rank2/nan",  # the first seen\n', "")
    assert changes == ["changed: wrong value: NaN is lost\n  - A-1/float/rank2/nan"]


def test_a_glob_of_which_a_part_conforms_now_gets_an_exception() -> None:
    new, changes = updated(run(AS_LISTED | {"B-1/double/odd/inf": "pass"}))
    assert new == LIST.replace(
        'issue = "https://example.org/1"  # since spring\n',
        'issue = "https://example.org/1"  # since spring\nexcept = ["B-1/double/odd/inf"]\n',
    )
    assert changes == ["changed: unsupported: there is no double\n  + except B-1/double/odd/inf"]


def test_an_entry_of_which_nothing_is_left_goes_with_the_comment_right_above_it() -> None:
    new, changes = updated(run({"double": "unsupported"}))
    assert new == LIST.partition("# right above")[0] + "# the end\n"
    assert changes == ["removed: wrong value: NaN is lost\n  - A-1/float/rank2/nan\n  - A-2/float/*/nan"]


def test_the_first_entry_goes_and_comments_that_stand_apart_stay() -> None:
    new, _ = updated(run(AS_LISTED | {"double": "pass"}))
    assert new == '# what mine is known for\nruntime = "mine"  # of ours\n\n# Types\n\n# Values\n\n' + LIST[LIST.index("# right above") :]


def test_entries_for_other_versions_are_not_touched() -> None:
    text = LIST.replace('reason = "NaN is lost"', 'reason = "NaN is lost"\nversions = "<1"')
    new, changes = updated(run({"double": "unsupported"}), text)
    assert (new, changes) == (text, [])


def test_globs_and_exceptions_that_match_nothing_go() -> None:
    text = LIST.replace('cases = ["*/double/*"]', 'cases = ["*/double/*", "C-1/*"]\nexcept = ["*/triple/*"]')
    new, changes = updated(run(AS_LISTED), text)
    assert new == LIST
    assert changes == ["changed: unsupported: there is no double\n  - C-1/*\n  - except */triple/*"]


def test_an_entry_behind_others_goes() -> None:
    text = LIST + '\n[[expect]]\ncases = "B-1/double/odd/*"\nverdict = "error"\nreason = "late"\n'
    new, changes = updated(run(AS_LISTED), text)
    assert new.rstrip() == LIST.rstrip()
    assert changes == ["removed: error: late\n  - B-1/double/odd/*"]


def test_entries_about_variants_stay_when_a_run_has_none() -> None:
    text = LIST + '\n[[expect]]\ncases = ["*+symbolic"]\nverdict = "load error"\nreason = "shapes"\n'
    known = [*CASES, "A-1/float/rank2/ramp+symbolic"]
    assert updated(run(AS_LISTED), text, known=lambda: known) == (text, [])


def test_globs_about_variants_stay_when_others_of_their_entry_change() -> None:
    text = LIST.replace('cases = ["*/double/*"]', 'cases = ["*+symbolic", "*/double/*"]')
    known = [*CASES, "A-1/float/rank2/ramp+symbolic"]
    new, changes = updated(run(AS_LISTED | {"B-1/double/odd/inf": "pass"}), text, known=lambda: known)
    assert changes == ["changed: unsupported: there is no double\n  + except B-1/double/odd/inf"]
    assert '"*+symbolic"' in new


def scopes(text: str) -> list[tuple]:
    """What the entries are about."""
    return [(e.operators, e.types, e.opsets, e.rulings, e.faults, e.cases, e.excepted, e.verdicts) for e in read(text).entries]


def proposed(*results: Result) -> list[tuple]:
    return scopes(updated(list(results), 'runtime = "mine"\n')[0])


ALL = ("A-1", "A-2", "B-1")


def test_a_deviation_that_is_not_listed_is_proposed_by_what_its_cases_have_in_common() -> None:
    new, changes = updated(run({"inf": "crashed"} | AS_LISTED, said="killed by SIGFPE"))
    assert scopes(new)[2:] == [(ALL, (), "", (), (), ("*/inf",), (), ("crashed",))]
    assert new.startswith(LIST) and '\noperator = [\n    "A-1",\n    "A-2",\n    "B-1",\n]\ncases = "*/inf"\n' in new
    reason = "to be explained; A-1/float/odd/inf@9: killed by SIGFPE"
    assert f'reason = "{reason}"' in new
    assert changes == [f"added: crashed: {reason}\n  + operator A-1\n  + operator A-2\n  + operator B-1\n  + */inf"]


@pytest.mark.parametrize(
    ("verdicts", "scope"),
    [
        ({"": "error"}, (ALL, (), "", (), (), (), ())),
        ({"A-2": "error"}, (("A-2",), (), "", (), (), (), ())),
        ({"double": "error"}, (ALL, ("double",), "", (), (), (), ())),
        ({"A-1/double": "error"}, (("A-1",), ("double",), "", (), (), (), ())),
        ({"odd": "error"}, (ALL, (), "", (), (), ("*/odd/*",), ())),
        ({"@9": "error"}, (ALL, (), ">=9", (), (), (), ())),
        ({"A-1/float/odd/nan@9": "error"}, (("A-1",), ("float",), ">=9", (), (), (), ("*/invalid/*", "*/inf", "*/ramp"))),
    ],
)
def test_a_scope_is_the_broadest_that_holds_nothing_else(verdicts: dict[str, str], scope: tuple) -> None:
    (found,) = proposed(*run(verdicts))[:1]
    if "A-1/float/odd/nan@9" in verdicts:  # any exact one will do
        return
    assert found == (*scope, ("error",))


def test_what_no_scope_holds_is_listed_case_by_case() -> None:
    scattered = {"A-1/float/rank2/ramp": "error", "A-1/float/odd/nan": "error"}
    assert proposed(*run(scattered)) == [
        ((), (), "", (), (), ("A-1/float/odd/nan", "A-1/float/rank2/ramp"), (), ("error",)),
    ]


def explained(case: str, reading: str = "naive", **more: object) -> Result:
    owners = {"naive": "accumulation", "mean": "sum-or-mean", "no-abs": "sign"}
    readings = {owners[name]: (name,) for names in reading.split("|") for name in names.split("+")}
    return result("mine", f"GlobalLpPool-2/float/{case}", "wrong value", "Y is 1", reading=reading, readings=readings, **more)


def right(case: str, ruling: str, type: str = "float") -> Result:
    return result("mine", f"GlobalLpPool-2/{type}/{case}", "pass", readings={ruling: ("as ruled",)})


def test_what_a_fault_explains_is_proposed_by_its_name() -> None:
    found = proposed(explained("rank2/p3/ramp"), explained("odd/p7/nan"), right("odd/p1/ramp", "sign"))
    assert found == [(("GlobalLpPool-2",), (), "", (), ("naive",), (), (), ("wrong value",))]


def test_faults_that_act_together_are_entries_of_their_own() -> None:
    found = proposed(explained("a/x", "mean+no-abs"), explained("b/x", "mean"))
    assert [scope[4] for scope in found] == [("mean",), ("no-abs",)]


def test_a_fault_that_another_type_is_free_of_is_proposed_for_its_type() -> None:
    found = proposed(explained("a/x"), right("a/x", "accumulation", "double"))
    assert found == [(("GlobalLpPool-2",), ("float",), "", (), ("naive",), (), (), ("wrong value",))]


def test_what_is_mended_of_a_fault_becomes_an_exception() -> None:
    results = [explained("a/x"), explained("b/x")]
    text, _ = updated(results, 'runtime = "mine"\n')
    assert updated(results, text) == (text, [])
    later = [results[0], right("b/x", "accumulation")]
    new, changes = updated(later, text)
    assert scopes(new) == [(("GlobalLpPool-2",), (), "", (), ("naive",), (), ("GlobalLpPool-2/float/b/x",), ("wrong value",))]
    assert changes[0].startswith("changed: wrong value: to be explained; accumulation: naive")
    gone, _ = updated([right("a/x", "accumulation"), later[1]], text)
    assert read(gone).entries == ()


def test_a_run_of_a_part_says_nothing_of_the_rest() -> None:
    part = [case for case in CASES if case.startswith("A-1/")]
    rest = run({}, "", [case for case in CASES if case not in part])
    new, _ = updated(run({"A-1/double/odd": "error"}, "no", part), known=lambda: CASES)
    assert read(new).listed("1.0", rest).keys() == read(LIST).listed("1.0", rest).keys()


def test_inline_tables_are_refused_and_nothing_is_lost() -> None:
    with pytest.raises(ListError, match=r"each begin with a line \[\[expect\]\]"):
        update('runtime = "mine"\nexpect = [{cases = "a", verdict = "error", reason = "b"}]\n', "1", [])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(VERDICTS), min_size=len(CASES), max_size=len(CASES)), st.data())
def test_after_any_run_the_run_is_as_listed_and_so_it_is_after_the_next(verdicts: list[str], data: st.DataObject) -> None:
    results = [result("mine", case, verdict) for case, verdict in zip(CASES, verdicts, strict=True)]
    text, _ = updated(results)
    assert updated(results, text) == (text, [])
    changed = data.draw(st.sets(st.sampled_from(range(len(CASES))), max_size=8))
    later = [
        result("mine", case, VERDICTS[place % 7]) if place in changed else old
        for place, (case, old) in enumerate(zip(CASES, results, strict=True))
    ]
    updated(later, text)
