"""The choice of combinations: complete for the groups asked for, within the constraints, small, and always the same."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool.conformance import cases
from cypool.conformance.cases.covering import Constraint, allowed, covering, pairs


def axes_of(*sizes):
    return {f"axis{i}": [f"{i}{j}" for j in range(size)] for i, size in enumerate(sizes)}


def met(choices, axes):
    return {frozenset(pair) for choice in choices for pair in combinations(choice.items(), 2)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=5))
def test_all_pairs_meet(sizes):
    axes = axes_of(*sizes)
    wanted = {frozenset(pair) for one in product(*([(a, label) for label in axes[a]] for a in axes)) for pair in combinations(one, 2)}
    assert met(covering(axes, pairs(axes)), axes) == wanted


def test_few_choices_cover_all_pairs():
    axes = axes_of(4, 4, 4, 4, 4)
    assert 16 <= len(covering(axes, pairs(axes))) <= 28 < 4**5


def test_a_group_of_three_meets_in_every_way():
    axes = axes_of(3, 2, 4, 3)
    found = {tuple(choice[axis] for axis in ("axis0", "axis2", "axis3")) for choice in covering(axes, [("axis3", "axis0", "axis2")])}
    assert found == set(product(axes["axis0"], axes["axis2"], axes["axis3"]))


@settings(max_examples=60, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=7), st.sets(st.tuples(*[st.integers(0, 2)] * 3), max_size=12))
def test_every_pair_that_any_allowed_choice_has_is_met_and_no_other(bad_pairs, bad_triples):
    axes = axes_of(3, 3, 3, 2)
    constraints = [
        Constraint(("axis0", "axis2"), lambda a, b: (int(a[1]), int(b[1])) not in bad_pairs),
        Constraint(("axis3", "axis1", "axis0"), lambda a, b, c: (int(a[1]), int(b[1]), int(c[1])) not in bad_triples),
    ]
    every = (dict(zip(axes, labels, strict=True)) for labels in product(*axes.values()))
    possible = [choice for choice in every if allowed(choice, constraints)]
    chosen = covering(axes, pairs(axes), constraints)
    assert all(choice in possible for choice in chosen)
    assert met(chosen, axes) == met(possible, axes)


def test_sparing_labels_are_used_no_more_than_needed():
    axes = axes_of(6, 6, 3)
    plain, spared = (covering(axes, pairs(axes), sparing=sparing) for sparing in ((), ("20",)))
    assert sum(choice["axis2"] == "20" for choice in spared) < sum(choice["axis2"] == "20" for choice in plain)
    assert met(spared, axes) == met(plain, axes)


@pytest.mark.parametrize("version", [version.name for version in cases.spec.versions()])
def test_a_versions_choices_are_in_the_order_of_its_axes_and_each_is_made_once(version):
    axes, groups, constraints = cases.plan(cases.spec.version(version))
    chosen = covering(axes, groups, constraints, cases._module(cases.spec.version(version).op).SPARING)
    places = [[list(axes[axis]).index(label) for axis, label in choice.items()] for choice in chosen]
    assert places == sorted(places) and len({tuple(place) for place in places}) == len(places)
