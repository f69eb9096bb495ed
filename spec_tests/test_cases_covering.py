"""The choice of combinations: complete for the groups asked for, within the constraints, small, and
always the same.
"""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool.conformance import cases
from cypool.conformance.cases.covering import Constraint, allowed, cover, pairs


def factors_of(*sizes):
    return {f"factor{i}": [f"{i}{j}" for j in range(size)] for i, size in enumerate(sizes)}


def met(choices, factors):
    return {frozenset(pair) for choice in choices for pair in combinations(choice.items(), 2)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=5))
def test_all_pairs_meet(sizes):
    factors = factors_of(*sizes)
    wanted = {frozenset(pair) for one in product(*([(a, label) for label in factors[a]] for a in factors)) for pair in combinations(one, 2)}
    assert met(cover(factors, pairs(factors)), factors) == wanted


def test_few_choices_cover_all_pairs():
    factors = factors_of(4, 4, 4, 4, 4)
    assert 16 <= len(cover(factors, pairs(factors))) <= 28 < 4**5


def test_a_group_of_three_meets_in_every_way():
    factors = factors_of(3, 2, 4, 3)
    found = {
        tuple(choice[factor] for factor in ("factor0", "factor2", "factor3"))
        for choice in cover(factors, [("factor3", "factor0", "factor2")])
    }
    assert found == set(product(factors["factor0"], factors["factor2"], factors["factor3"]))


@settings(max_examples=60, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=7), st.sets(st.tuples(*[st.integers(0, 2)] * 3), max_size=12))
def test_every_pair_that_any_allowed_choice_has_is_met_and_no_other(bad_pairs, bad_triples):
    factors = factors_of(3, 3, 3, 2)
    constraints = [
        Constraint(("factor0", "factor2"), lambda a, b: (int(a[1]), int(b[1])) not in bad_pairs),
        Constraint(("factor3", "factor1", "factor0"), lambda a, b, c: (int(a[1]), int(b[1]), int(c[1])) not in bad_triples),
    ]
    every = (dict(zip(factors, labels, strict=True)) for labels in product(*factors.values()))
    possible = [choice for choice in every if allowed(choice, constraints)]
    chosen = cover(factors, pairs(factors), constraints)
    assert all(choice in possible for choice in chosen)
    assert met(chosen, factors) == met(possible, factors)


def test_sparing_labels_are_used_no_more_than_needed():
    factors = factors_of(6, 6, 3)
    plain, spared = (cover(factors, pairs(factors), sparing=sparing) for sparing in ((), ("20",)))
    assert sum(choice["factor2"] == "20" for choice in spared) < sum(choice["factor2"] == "20" for choice in plain)
    assert met(spared, factors) == met(plain, factors)


@pytest.mark.parametrize("version", [version.name for version in cases.spec.versions()])
def test_a_versions_choices_are_in_the_order_of_its_axes_and_each_is_made_once(version):
    factors, groups, constraints = cases.varied(cases.spec.version(version))
    chosen = cover(factors, groups, constraints, cases._module(cases.spec.version(version).op).SPARING)
    places = [[list(factors[factor]).index(label) for factor, label in choice.items()] for choice in chosen]
    assert places == sorted(places) and len({tuple(place) for place in places}) == len(places)
