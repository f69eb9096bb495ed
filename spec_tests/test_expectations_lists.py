"""A list of expectations as its file states it: what can be written, what is refused and how, which
entry counts.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from report_runs import result

from cypool.conformance.expectations.lists import ListError, about, read
from cypool.conformance.expectations.versions import within

ENTRY = '[[expect]]\ncases = "GlobalLpPool-1/*"\nverdict = "error"\nreason = "it is old"\n'


def a_list(*entries: str, top: str = 'runtime = "mine"\n') -> str:
    return "\n".join([top, *entries])


def test_an_entry_says_cases_exceptions_verdict_reason_issue_and_versions() -> None:
    text = """
        runtime = "mine"
        [[expect]]
        cases = ["a/*", "b"]
        except = ["a/c"]
        verdict = ["pass", "wrong value"]
        reason = "chance"
        issue = "https://example.org/1"
        versions = ">=2"
    """
    (entry,) = read(text).entries
    assert (entry.cases, entry.excepted, entry.verdicts) == (("a/*", "b"), ("a/c",), ("pass", "wrong value"))
    assert (entry.reason, entry.issue, entry.versions) == ("chance", "https://example.org/1", ">=2")


def test_one_glob_and_one_verdict_need_no_brackets() -> None:
    (entry,) = read(a_list(ENTRY)).entries
    assert (entry.cases, entry.excepted, entry.verdicts, entry.issue, entry.versions) == (("GlobalLpPool-1/*",), (), ("error",), "", "")


def test_versions_at_the_top_are_those_of_entries_that_say_none() -> None:
    expectations = read(a_list(ENTRY, ENTRY + 'versions = "<2"\n', top='runtime = "mine"\nversions = ">=2"\n'))
    assert [entry.versions for entry in expectations.entries] == [">=2", "<2"]
    assert expectations.in_force("2.1") == [expectations.entries[0]]
    assert expectations.in_force("1.9") == [expectations.entries[1]]


def test_the_example_of_the_page_is_a_list_and_its_table_has_every_key() -> None:
    page = (Path(__file__).parent.parent / "docs" / "expectations.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    assert [len(read(example).in_force(version)) for version in ("1.9", "2.3", "2.4")] == [0, 4, 3]
    with pytest.raises(ListError) as error:
        read(a_list("[[expect]]\nx = 1"))
    assert re.findall(r"^\| `(\w+)` \|", page.partition("At the top, `runtime`")[0], re.MULTILINE) == str(error.value).partition(
        "there are "
    )[2].split(", ")


def test_a_list_may_be_empty() -> None:
    assert read('runtime = "mine"').entries == ()


def test_a_glob_is_about_all_opsets_and_variants_unless_it_names_one() -> None:
    ids = ["A-1/x", "A-1/x@6", "A-1/x@21", "A-1/x@21+symbolic"]
    for glob, held in (("A-1/x", ids), ("*@21*", ids[2:]), ("A-1/x@21", [ids[2]])):
        (entry,) = read(a_list(ENTRY.replace("GlobalLpPool-1/*", glob))).entries
        assert list(filter(entry.holds, ids)) == held


def test_what_is_excepted_is_not_listed() -> None:
    (entry,) = read(a_list(ENTRY + 'except = ["*/nan", "*+symbolic"]\n')).entries
    ids = ["GlobalLpPool-1/float/nan", "GlobalLpPool-1/float/nan@9", "GlobalLpPool-1/float/ramp+symbolic", "GlobalLpPool-1/float/ramp"]
    assert list(filter(entry.holds, ids)) == [ids[3]]


def about_it(case: str, text: str, **more: object) -> bool:
    """Whether an entry of that text is about a wrong value at a case."""
    (entry,) = read(a_list(f'[[expect]]\nverdict = "wrong value"\nreason = "r"\n{text}')).entries
    return about([entry], result("mine", case, "wrong value", "No kernel", **more)) is entry


@pytest.mark.parametrize(
    ("text", "case", "held"),
    [
        ('operator = "GlobalLpPool-*"', "GlobalLpPool-22/float/x", True),
        ('operator = ["GlobalLpPool-1", "GlobalLpPool-2"]', "GlobalLpPool-22/float/x", False),
        ('type = "float"', "GlobalLpPool-22/float16/x", False),
        ('type = ["float", "float16"]', "GlobalLpPool-22/float16/x", True),
        ('opsets = "<6"', "MaxRoiPool-1/float/x", True),
        ('opsets = "<6"', "MaxRoiPool-1/float/x@5+symbolic", True),
        ('opsets = "<6"', "MaxRoiPool-1/float/x@21", False),
        ('opsets = "<6"', "MaxRoiPool-22/float/x", False),
        ('operator = "MaxRoiPool-*"\ncases = "*/x"\nexcept = "*@21"', "MaxRoiPool-1/float/x", True),
        ('operator = "MaxRoiPool-*"\ncases = "*/x"\nexcept = "*@21"', "MaxRoiPool-1/float/x@21", False),
    ],
)
def test_all_keys_of_a_scope_have_to_hold(text: str, case: str, held: bool) -> None:
    assert about_it(case, text) is held


def test_a_ruling_is_one_that_the_case_turns_on() -> None:
    assert about_it("A-1/float/x", 'ruling = ["sign", "rank"]', rulings=("rank",))
    assert not about_it("A-1/float/x", 'ruling = "sign"', rulings=("rank",))


@pytest.mark.parametrize(
    ("faults", "reading", "held"),
    [
        (("naive",), "naive", True),
        (("naive",), "", False),
        (("naive",), "mean", False),
        (("naive",), "mean|naive", True),
        (("naive",), "mean+naive", False),
        (("naive", "mean"), "mean+naive", True),
    ],
)
def test_a_fault_is_one_that_explains_what_came_alone_or_with_others_that_are_listed(
    faults: tuple[str, ...], reading: str, held: bool
) -> None:
    text = "\n".join(f'[[expect]]\nfault = "{fault}"\nverdict = "wrong value"\nreason = "{fault}"' for fault in faults)
    found = about(read(a_list(text)).entries, result("mine", "GlobalLpPool-2/float/x", "wrong value", reading=reading))
    assert (found is not None and found.reason) == (faults[0] if held else False)


def test_of_several_entries_the_first_in_force_counts() -> None:
    ancient, first, second = ENTRY + 'versions = "<1"\n', ENTRY.replace("/*", "/a"), ENTRY
    expectations = read(a_list(ancient, first, second))
    results = [result("mine", f"GlobalLpPool-{case}", "error") for case in ("1/a", "1/b", "2/a")]
    listed = expectations.listed("1.0", results)
    assert listed == {"GlobalLpPool-1/a": expectations.entries[1], "GlobalLpPool-1/b": expectations.entries[2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runtime = ", "not TOML: Invalid value (at end of document)"),
        (ENTRY, "at the top: runtime is missing"),
        ('runtime = ""', "at the top: runtime is empty"),
        ("runtime = 3", "at the top: runtime is 3, not a text"),
        (a_list(top='runtime = "x"\nname = "y"'), "at the top: unknown key 'name'; there are runtime, versions"),
        (a_list(top='runtime = "x"\nversions = ">2.x"'), "at the top: '>2.x' is no limit on versions; one reads >=1.32, with one of >= <="),
        (a_list(top='runtime = "x"\nexpect = ["a"]'), "entry 1 is no table: write [[expect]] above it"),
        (
            a_list(ENTRY, ENTRY.replace("verdict", "verdit")),
            "entry 2: unknown key 'verdit'; there are operator, type, opsets, ruling, fault, cases, except, verdict, message, reason",
        ),
        (a_list(ENTRY.replace('reason = "it is old"\n', "")), "entry 1: reason is missing"),
        (a_list(ENTRY.replace("it is old", " ")), "entry 1: reason is empty"),
        (
            a_list(ENTRY.replace('"GlobalLpPool-1/*"', "[]")),
            "entry 1 says not what it is about: by operator, type, opsets, ruling, fault or",
        ),
        (a_list(ENTRY + 'fault = "naiv"'), "entry 1: 'naiv' is no fault on record; there are "),
        (a_list(ENTRY + 'fault = "no-rank-2"'), "entry 1: 'no-rank-2' is no fault on record; there are "),
        (a_list(ENTRY + 'ruling = ["sign", "sing"]'), "entry 1: 'sing' is no ruling on record; there are "),
        (a_list(ENTRY + 'opsets = "6"'), "entry 1: '6' is no limit on versions"),
        (a_list(ENTRY + "message = 3"), "entry 1: message is 3, not a text"),
        (a_list(ENTRY.replace('"GlobalLpPool-1/*"', '[""]')), "entry 1: cases is empty, or has an empty text"),
        (a_list(ENTRY.replace('"GlobalLpPool-1/*"', "[1]")), "entry 1: cases is [1], not a text or a list of texts"),
        (a_list(ENTRY.replace('"GlobalLpPool-1/*"', "1")), "entry 1: cases is 1, not a text or a list of texts"),
        (a_list(ENTRY.replace('"error"', '"wrong"')), "entry 1: 'wrong' is no verdict; there are pass, reads it differently, wrong value"),
        (a_list(ENTRY.replace('"error"', "[]")), "entry 1: verdict is empty"),
        (a_list(ENTRY.replace('"error"', '"pass"')), "entry 1: only what does not conform is listed, and pass does"),
        (a_list(ENTRY.replace('"error"', '["pass", "reads it differently"]')), "and pass or reads it differently does"),
        (a_list(ENTRY + 'versions = "1.32"'), "entry 1: '1.32' is no limit on versions"),
    ],
)
def test_a_list_that_says_something_else_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ListError) as error:
        read(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("version", "limits", "inside"),
    [
        ("1.32.0", "", True),
        ("1.32.0", ">=1.32", True),
        ("1.32", "==1.32.0", True),
        ("1.9", "<1.10", True),
        ("1.32.1", "==1.32", False),
        ("1.32.0", ">=1.30, !=1.32", False),
        ("1.33.0", ">=1.32,<1.33", False),
        ("1.33.0rc1", ">=1.33", True),
        ("2026.4.1+cpu", "<= 2026.4.1", True),
        ("v2.0", ">1", True),
        ("", "", True),
        ("", ">=0", False),
        ("main", "!=1", False),
        ("0", "==0.0", True),
    ],
)
def test_versions_are_compared_by_their_leading_numbers(version: str, limits: str, inside: bool) -> None:
    assert within(version, limits) is inside
