"""A list of expectations as its file states it: what can be written, what is refused and how, which entry counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cypool.conformance.expectations.lists import ListError, read
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
    assert [len(read(example).in_force(version)) for version in ("1.9", "2.3", "2.4")] == [0, 3, 2]
    with pytest.raises(ListError) as error:
        read(a_list("[[expect]]\nx = 1"))
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == str(error.value).partition("there are ")[2].split(", ")


def test_a_list_may_be_empty() -> None:
    assert read('runtime = "mine"').entries == ()


def test_a_glob_is_about_all_opsets_and_variants_unless_it_names_one() -> None:
    ids = ["A-1/x", "A-1/x@6", "A-1/x@21", "A-1/x@21+symbolic"]
    (entry,) = read(a_list(ENTRY.replace("GlobalLpPool-1/*", "A-1/x"))).entries
    assert entry.listed(ids) == ids
    (entry,) = read(a_list(ENTRY.replace("GlobalLpPool-1/*", "*@21*"))).entries
    assert entry.listed(ids) == ids[2:]
    (entry,) = read(a_list(ENTRY.replace("GlobalLpPool-1/*", "A-1/x@21"))).entries
    assert entry.listed(ids) == [ids[2]]


def test_what_is_excepted_is_not_listed() -> None:
    (entry,) = read(a_list(ENTRY + 'except = ["*/nan", "*+symbolic"]\n')).entries
    ids = ["GlobalLpPool-1/float/nan", "GlobalLpPool-1/float/nan@9", "GlobalLpPool-1/float/ramp+symbolic", "GlobalLpPool-1/float/ramp"]
    assert entry.listed(ids) == [ids[3]]


def test_of_several_entries_the_first_in_force_counts() -> None:
    ancient, first, second = ENTRY + 'versions = "<1"\n', ENTRY.replace("/*", "/a"), ENTRY
    expectations = read(a_list(ancient, first, second))
    listed = expectations.listed("1.0", ["GlobalLpPool-1/a", "GlobalLpPool-1/b", "GlobalLpPool-2/a"])
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
            "entry 2: unknown key 'verdit'; there are cases, except, verdict, reason, issue",
        ),
        (a_list(ENTRY.replace('reason = "it is old"\n', "")), "entry 1: reason is missing"),
        (a_list(ENTRY.replace("it is old", " ")), "entry 1: reason is empty"),
        (a_list(ENTRY.replace('"GlobalLpPool-1/*"', "[]")), "entry 1: cases is empty"),
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
