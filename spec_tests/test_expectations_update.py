"""A list brought up to date: what was right stays as it was written, the rest follows the run, and the run is then as listed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import result

from cypool.conformance.compare import VERDICTS
from cypool.conformance.expectations.lists import ListError, read
from cypool.conformance.expectations.strict import hold
from cypool.conformance.expectations.update import update
from cypool.conformance.records import Result

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
    """The results of these cases: each has the verdict of the last part of an id that it holds, else it passes."""
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


def test_a_deviation_of_a_family_that_an_entry_has_goes_there() -> None:
    new, changes = updated(run({"B-1/float/odd/nan": "wrong value"} | AS_LISTED))
    assert new == LIST.replace('nan",\n]', 'nan",\n  "B-1/float/odd/nan",\n]')
    assert changes == ["changed: wrong value: NaN is lost\n  + B-1/float/odd/nan"]


def test_a_new_glob_stands_before_the_first_that_is_greater() -> None:
    new, _ = updated(run({"A-1/float/odd/nan": "wrong value"} | AS_LISTED))
    assert new == LIST.replace('cases = [\n  "A-1', 'cases = [\n  "A-1/float/odd/nan",\n  "A-1')


def test_any_other_deviation_gets_an_entry_of_its_own_that_asks_for_its_reason() -> None:
    new, changes = updated(run({"inf": "crashed"} | AS_LISTED, said="killed by SIGFPE"))
    added = '\n[[expect]]\ncases = ["*/float/*/inf"]\nverdict = "crashed"\n'
    assert new == LIST + added + 'reason = "to be explained; A-1/float/odd/inf: killed by SIGFPE"\n'
    assert changes == ["added: crashed: to be explained; A-1/float/odd/inf: killed by SIGFPE\n  + */float/*/inf"]


def test_an_empty_list_becomes_one_entry_a_family() -> None:
    results = [
        *run({"double": "unsupported", "inf": "error"}, "Node 'n1': no, 7"),
        *run({"ramp": "error"}, "Node 'n2': no, 8", ["C-1/x/ramp"]),
    ]
    results += run({"y": "error"}, "another matter", ["C-1/y/ramp"])
    new, changes = updated(results, 'runtime = "mine"\n')
    entries = read(new).entries
    assert {(entry.verdicts, entry.cases) for entry in entries} == {
        (("error",), ("*/inf", "C-1/x/ramp")),
        (("error",), ("C-1/y/ramp",)),
        (("unsupported",), ("A-1/double/*",)),
        (("unsupported",), ("A-2/double/*",)),
        (("unsupported",), ("B-1/double/*",)),
    }
    assert len(changes) == 5


def test_a_verdict_that_became_another_moves_the_case_to_another_entry() -> None:
    new, changes = updated(run(AS_LISTED | {"A-2/double/odd/nan": "wrong value"}))
    assert [entry.verdicts for entry in read(new).entries] == [("unsupported",), ("wrong value",)]
    assert changes == [
        "changed: unsupported: there is no double\n  + except A-2/double/odd/nan",
        "changed: wrong value: NaN is lost\n  + A-2/double/odd/nan",
    ]


def test_entries_for_other_versions_are_not_touched() -> None:
    text = LIST.replace('reason = "NaN is lost"', 'reason = "NaN is lost"\nversions = "<1"')
    new, changes = updated(run({"double": "unsupported"}), text)
    assert (new, changes) == (text, [])


def test_what_is_left_to_chance_stays_and_takes_nothing_in() -> None:
    text = LIST.replace('verdict = "wrong value"', 'verdict = ["pass", "wrong value"]')
    assert updated(run(AS_LISTED | {"A-1/float/rank2/nan": "pass"}), text) == (text, [])
    new, changes = updated(run({"B-1/float/odd/nan": "wrong value"} | AS_LISTED), text)
    assert [change.splitlines()[-1] for change in changes] == ["  + B-1/float/odd/nan"]
    assert len(read(new).entries) == 3


def test_globs_and_exceptions_that_match_nothing_go() -> None:
    text = LIST.replace('cases = ["*/double/*"]', 'cases = ["*/double/*", "C-1/*"]\nexcept = ["*/triple/*"]')
    new, changes = updated(run(AS_LISTED), text)
    assert new == LIST
    assert changes == ["changed: unsupported: there is no double\n  - C-1/*\n  - except */triple/*"]


def test_an_exception_without_a_use_any_more_goes() -> None:
    text = LIST.replace('cases = ["*/double/*"]', 'cases = ["A-*/double/*", "B-1/double/*"]\nexcept = ["B-1/double/odd/*"]')
    verdicts = AS_LISTED | {"B-1/double": "pass"}
    new, changes = updated(run(verdicts), text)
    assert new == LIST.replace('"*/double/*"', '"A-*/double/*"')
    assert changes == ["changed: unsupported: there is no double\n  - B-1/double/*\n  - except B-1/double/odd/*"]


def test_a_case_that_went_to_an_entry_above_leaves_nothing_behind() -> None:
    above = '[[expect]]\ncases = "B-1/double/odd/inf"\nverdict = "wrong value"\nreason = "above"\n\n'
    below = '[[expect]]\ncases = "A-1/float/odd/nan"\nverdict = "wrong shape"\nreason = "below"\n'
    results = run({"A-1/float/odd/nan": "wrong value", "B-1/double/odd/inf": "wrong value"})
    new, changes = updated(results, f'runtime = "mine"\n\n{above}{below}')
    assert [entry.cases for entry in read(new).entries] == [("A-1/float/odd/nan", "B-1/double/odd/inf")]
    assert [change.partition(":")[0] for change in changes] == ["changed", "removed"]


def test_a_list_in_one_line_is_broken_where_it_gets_several_globs() -> None:
    text = 'runtime = "mine"\n\n[[expect]]\ncases = ["B-1/double/odd/inf"]\nverdict = "error"\nreason = "no"\n'
    new, _ = updated(run({"A-1/float/odd/nan": "error", "B-1/double/odd/inf": "error"}), text)
    assert 'cases = [\n    "A-1/float/odd/nan",\n    "B-1/double/odd/inf",\n]\n' in new


def test_an_entry_behind_others_goes() -> None:
    text = LIST + '\n[[expect]]\ncases = "B-1/double/odd/*"\nverdict = "error"\nreason = "late"\n'
    new, changes = updated(run(AS_LISTED), text)
    assert new.rstrip() == LIST.rstrip()
    assert changes == ["removed: error: late\n  - B-1/double/odd/*"]


def test_a_run_of_a_part_says_nothing_of_the_rest() -> None:
    part = [case for case in CASES if case.startswith("A-1/")]
    rest = [case for case in CASES if case not in part]
    new, changes = updated(run({"A-1/double/odd": "error"}, "no", part), unasked=rest, known=lambda: CASES)
    assert changes == [
        "changed: unsupported: there is no double\n  + except A-1/double/*",
        "changed: wrong value: NaN is lost\n  - A-1/float/rank2/nan",
        "added: error: to be explained; A-1/double/odd/inf: no\n  + A-1/double/odd/*",
    ]
    left = {id for id in rest if id in read(new).listed("1.0", rest)}
    assert left == {id for id in rest if id in read(LIST).listed("1.0", rest)}


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


def test_what_an_entry_above_lists_of_the_same_case_needs_no_exception() -> None:
    top = '\n[[expect]]\ncases = "*@9"\nverdict = "crashed"\nreason = "nine"\n'
    new, _ = updated(run({"A-1/float/odd/nan": "error", "@9": "crashed"}), f'runtime = "mine"\n{top}')
    assert [(entry.cases, entry.excepted) for entry in read(new).entries] == [(("*@9",), ()), (("A-1/float/odd/nan",), ())]


def test_a_case_at_its_first_opset_alone_is_listed_with_an_exception_for_the_others() -> None:
    cases = [case for case in CASES if "@" not in case]
    results = [*run({"A-1/float": "crashed"}, "x", cases), *run({}, "", [case for case in CASES if "@" in case])]
    new, _ = updated(results, 'runtime = "mine"\n')
    (entry,) = read(new).entries
    assert (entry.cases, entry.excepted) == (("A-1/float/*",), ("A-1/float/*@9*",))


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
