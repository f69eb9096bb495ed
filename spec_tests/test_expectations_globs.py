"""Globs found for sets of cases: they match these and no other, and there are few of them."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool.conformance.axes import base
from cypool.conformance.expectations.globs import Puzzle, matching

IDS = [
    f"{op}-{since}/{type}/{shape}/{p}/{values}{axes}"
    for op, since, type, shape, p, values, axes in itertools.product(
        ("A", "B"), (1, 22), ("float", "float16"), ("rank2", "odd"), ("p1", "p100"), ("nan", "nan-with-inf"), ("", "@9", "+symbolic")
    )
]
INVALID = [f"A-1/float/invalid/p-{fault}" for fault in ("0", "nan")]


def listed(ids: list[str], found: tuple[list[str], list[str]]) -> set[str]:
    cases, excepted = found
    return set(matching(ids, cases)) - set(matching(ids, excepted))


def solved(wanted: set[str], ids: list[str] = IDS) -> tuple[list[str], list[str]]:
    """The globs, which are checked to list what is wanted and nothing else."""
    found = Puzzle(ids).cover(wanted, set(ids) - wanted)
    assert listed(ids, found) == wanted
    return found


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from(IDS), max_size=40))
def test_any_set_of_cases_can_be_listed_exactly(wanted: set[str]) -> None:
    solved(wanted)


@pytest.mark.parametrize(
    ("chosen", "cases", "excepted"),
    [
        (lambda id: id.startswith("A-1/"), ["A-1/*"], []),
        (lambda id: id.startswith("A-"), ["A-*"], []),
        (lambda id: "/float16/" in id, ["*/float16/*"], []),
        (lambda id: "-22/" in id and "/odd/" in id, ["*-22/*/odd/*"], []),
        (lambda id: "/p100/" in id and "@" not in id and "+" not in id, ["*/p100/*"], ["*/p100/*+symbolic", "*/p100/*@9"]),
        (lambda id: id.endswith("@9"), ["*@9"], []),
        (lambda id: id.startswith("B-1/") and not id.startswith("B-1/float16/rank2/p1/"), ["B-1/*"], ["B-1/float16/rank2/p1/*"]),
        (lambda id: "nan-with-inf" in id, ["*/nan-with-inf"], []),
    ],
)
def test_what_has_something_in_common_takes_one_glob(chosen, cases: list[str], excepted: list[str]) -> None:
    found = solved({id for id in IDS if chosen(id)})
    assert found == (cases, excepted)


def test_a_single_case_is_its_own_glob() -> None:
    one = "A-1/float/rank2/p1/nan+symbolic"
    assert solved({one}) == ([one], [])


def test_where_no_case_has_a_variant_a_glob_that_names_an_opset_is_about_all_variants() -> None:
    ids = [id for id in IDS if "+" not in id]
    (glob,), _ = solved({id for id in ids if "@9" in id and "/odd/" in id}, ids)
    assert glob.endswith("@9*")


def test_valid_and_invalid_cases_that_have_fewer_fields_go_together() -> None:
    ids = [*IDS, *INVALID]
    assert solved({id for id in ids if id.startswith("A-1/float/")}, ids) == (["A-1/float/*"], [])
    assert solved(set(INVALID), ids) == (["A-1/float/invalid/*"], [])


def test_what_is_neither_wanted_nor_other_may_be_matched() -> None:
    wanted = {id for id in IDS if id.startswith("A-1/float/rank2/") and "+" not in id}
    others = {id for id in IDS if not id.startswith("A-1/")} | {"A-1/float/odd/p1/nan"}
    found = Puzzle(IDS).cover(wanted, others)
    assert wanted <= listed(IDS, found)
    assert not listed(IDS, found) & others


def test_exceptions_leave_alone_what_is_spared() -> None:
    ids = ["A-1/v/1", "A-1/w/2", "A-1/x/3", "A-1/y/4", "A-1/z/5", "A-1/z/5@9"]
    puzzle = Puzzle(ids)
    assert puzzle.cover(ids[:4], [ids[4]]) == (["A-1/*"], ["A-1/z/5"])
    assert puzzle.cover(ids[:4], [ids[4]], spared=[ids[5]]) == (ids[:4], [])


def test_globs_without_exceptions_are_not_there_where_only_the_opset_tells_cases_apart() -> None:
    puzzle = Puzzle(IDS)
    case = "A-1/float/rank2/p1/nan"
    assert puzzle.pure({case}, {case + "@9"}) is None
    assert puzzle.pure({case + "@9"}, {case}) == [case + "@9"]
    assert puzzle.pure(set(), {case}) == []


def test_a_label_with_the_characters_of_globs_is_taken_literally() -> None:
    ids = ["A-1/float/[x]/a*b", "A-1/float/x/aab", "A-1/float/x/a?b"]
    for id in ids:
        assert solved({id}, ids)[0] != ["*"]


def test_cases_that_have_nothing_in_common_take_a_glob_each_at_most() -> None:
    chosen = random.Random(7).sample(sorted({base(id) for id in IDS}), 12)
    cases, excepted = solved({id for id in IDS if base(id) in chosen})
    assert len(cases) + len(excepted) <= 12
