"""What the cases cover, and what a valid one holds."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from all_cases import CELLS, VERSIONS, by_cell, every, invalid, valid

from cypool import spec
from cypool.cli.selection import select
from cypool.conformance import cases
from cypool.conformance.cases import instances
from cypool.conformance.cases.covering import allowed

SHOWN_ANYWHERE = {"GlobalLpPool": {"double-precision", "half-precision", "output-rank"}, "GlobalMaxPool": {"tie"}}
"""Rulings that no case is made for, as whoever reads them otherwise shows it in cases made for
something else.
"""

OF_DOUBLES = {"double", "double-precision"}
OF_16_BITS = {"coordinate-precision", "half-precision"}
OF_FLOATS = {"minus-inf", "nan-index", "nan-max", "empty-window"}
"""Rulings that turn on values which not all types have.

An empty window of integers has one right answer.
"""

NOWHERE = {"AveragePool-7": {"avg-divisor"}, "RoiAlign-10": {"degenerate"}}
"""Rulings that no valid case of a version can turn on: without ceil_mode nothing lies beyond the
padding, and without the shift every region has samples.
"""


def labels(case):
    """The labels of a valid case by factor."""
    factors, _, _ = cases.varied(case.version)
    return dict(zip(factors, case.id.split("/")[1:], strict=True))


def test_ids_are_unique_and_fit_a_shell():
    assert len({case.id for case in every()}) == len(every())
    assert all(set(case.id) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") for case in every())


def test_there_are_enough_to_find_faults_and_few_enough_to_run():
    cells = by_cell(every())
    assert min(map(len, cells.values())) >= 45
    assert max(map(len, cells.values())) <= 300


def test_every_version_and_type_has_valid_and_invalid_cases():
    assert set(by_cell(valid())) == set(CELLS) == set(by_cell(invalid()))


def can_be_completed(choice, factors, constraints):
    """Whether labels of the other factors can be added so that no constraint is broken."""
    if not allowed(choice, constraints):
        return False
    rest = [factor for factor in factors if factor not in choice]
    return not rest or any(can_be_completed({**choice, rest[0]: label}, factors, constraints) for label in factors[rest[0]])


@pytest.mark.parametrize("name", VERSIONS)
def test_every_pair_of_labels_meets_that_may_and_every_group_asked_for(name):
    version = spec.version(name)
    factors, groups, constraints = cases.varied(version)
    chosen = [labels(case) for case in valid() if case.version == version]
    met = {frozenset((factor, choice[factor]) for factor in group) for choice in chosen for group in (*combinations(factors, 2), *groups)}
    assert all(allowed(choice, constraints) for choice in chosen)
    for group in {tuple(group) for group in (*combinations(factors, 2), *groups)}:
        for meeting in product(*(factors[factor] for factor in group)):
            together = dict(zip(group, meeting, strict=True))
            if frozenset(together.items()) not in met:
                assert not can_be_completed(together, factors, constraints), together


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_label_occurs_in_every_cell(cell):
    name, _ = cell
    factors, _, constraints = cases.varied(spec.version(name))
    found = [labels(case) for case in by_cell(valid())[cell]]
    for factor in factors.keys() - {"type"}:
        possible = {label for label in factors[factor] if allowed({"type": cell[1], factor: label}, constraints)}
        assert possible == {choice[factor] for choice in found}


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_attribute_is_left_out_where_it_may_be_and_given_its_default(cell):
    version = spec.version(cell[0])
    given = [dict(case.attributes) for case in by_cell(valid())[cell]]
    for attribute in version.attributes:
        needed = attribute.required or (version.windows is not None and attribute.name == version.windows.kernel)
        assert any(attribute.name not in some for some in given) != needed
        if attribute.default is not None:
            assert any(some[attribute.name].value == attribute.default for some in given if attribute.name in some)
        assert {some[attribute.name].type for some in given if attribute.name in some} == {attribute.type}


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_ruling_occurs_in_every_cell(cell):
    version = spec.version(cell[0])
    expected = {ruling.id for ruling in version.rulings} - SHOWN_ANYWHERE.get(version.op, set())
    expected -= set() if cell[1] == "double" else OF_DOUBLES
    expected -= OF_FLOATS if "int" in cell[1] else set()
    expected -= set() if "float16" in cell[1] else OF_16_BITS
    expected -= NOWHERE.get(cell[0], set())
    assert {ruling for case in by_cell(every())[cell] for ruling in case.rulings} == expected
    assert {ruling for case in by_cell(every())[cell] if case.core for ruling in case.rulings} == expected


def test_the_cases_that_are_run_by_default_have_every_label_in_every_cell_and_every_fault_of_a_version():
    for cell, found in by_cell(valid()).items():
        everywhere, by_default = ({label for case in some for label in case.tags} for some in (found, [c for c in found if c.core]))
        assert everywhere == by_default, cell
    for name in VERSIONS:
        faults = [case for case in invalid() if case.version.name == name]
        assert {case.id.split("/")[3] for case in faults if case.core} >= {c.id.split("/")[3] for c in faults if c.type == "float"}


def test_a_run_by_default_is_short():
    assert sum(1 for _ in instances.spread(case for case in every() if case.core)) <= 10_000


def test_regimes_of_p_that_the_issue_names_occur():
    by_version = {name: set(cases.varied(spec.version(f"GlobalLpPool-{name}"))[0]["p"]) for name in (1, 2, 22)}
    everywhere = {"p-absent", "p1", "p2", "p3", "p4", "p7", "p100", f"p{2**40}"}
    assert by_version[2] == by_version[22] == everywhere
    assert by_version[1] == everywhere | {"p0.5", "p1.5", "p2.5", "p0.01", "p0.001", "p1.4013e-45", "pinf"}


def test_inputs_have_the_version_types_and_the_ranks_of_the_rules():
    for case in valid():
        given = {tensor.name: tensor.type for tensor in case.inputs}
        assert list(given) == [operand.name for operand in case.version.inputs if not operand.optional or operand.name in given]
        for operand in case.version.inputs:
            allowed_types = (case.type,) if operand.type == case.version.inputs[0].type else case.version.constraint(operand.type).allowed
            assert operand.name not in given or given[operand.name] in allowed_types
    assert Counter(len(case.inputs[0].shape) for case in valid() if case.version.op == "GlobalLpPool").keys() == {2, 3, 4, 5, 6}


def test_valid_regions_name_images_that_there_are_and_finite_corners():
    for case in valid():
        if case.version.op == "MaxRoiPool":
            x, rois = (tensor.array for tensor in case.inputs)
            assert set(rois[:, 0].astype(float)) <= set(range(x.shape[0])), case.id
            assert np.isfinite(rois.astype(np.float64)).all(), case.id


def test_more_bins_than_pixels_and_several_images_out_of_order_occur():
    assert any({"few-pixels", "pooled_shape16x12"} <= case.tags for case in valid())
    batches = [case.inputs[1].array[:, 0].astype(float) for case in valid() if case.version.op == "MaxRoiPool"]
    assert any((np.diff(batch) < 0).any() and len(set(batch)) == 3 for batch in batches)


def test_one_operators_cases_are_the_same_as_among_all():
    assert list(cases.generate(["MaxRoiPool"])) == [case for case in every() if case.version.op == "MaxRoiPool"]


def test_the_cases_of_some_cells_are_the_same_as_among_all():
    heads = {"GlobalLpPool-2/double/", "MaxRoiPool-22/float/"}
    expected = [case for case in every() if any(case.id.startswith(head) for head in heads)]
    assert list(cases.generate(wanted=heads.__contains__)) == expected


def test_making_ids_draws_nothing_and_asks_no_oracle(monkeypatch):
    def refuse(*arguments, **more):
        raise AssertionError("drawn")

    monkeypatch.setattr(cases.Draws, "_words", refuse)
    monkeypatch.setattr(cases.oracle, "evaluate", refuse)
    made = list(instances.spread(case for version in spec.versions() for case in cases.valid(version)))
    assert [case.id for case in made] == [case.id for case in instances.spread(valid())]
    with pytest.raises(AssertionError, match="drawn"):
        _ = next(case for case in made if "random" in case.tags).inputs


def test_inputs_depend_on_nothing_but_the_id():
    version = spec.version("GlobalLpPool-22")
    choice = {"type": "double", "shape": "odd", "p": "p3", "values": "random"}
    first, *_, last = cases._valid_case(version, choice).inputs[0].array.reshape(-1).tolist()
    assert [first.hex(), last.hex()] == ["0x1.072a8aa9b30aap-3", "0x1.c46c3817a2104p+4"]


def test_a_run_by_default_has_the_core_and_a_glob_chooses_among_all():
    assert select(core=True) == [case for case in every() if case.core] != select()
    apart = next(case.id for case in every() if not case.core)
    assert [case.id for case in select([apart])] == [apart]


def test_selecting_one_case_makes_those_of_no_other_cell(monkeypatch):
    made = []
    plain = cases.valid
    monkeypatch.setattr(cases, "valid", lambda version, types: made.append((version.name, types)) or plain(version, types))
    (case,) = select(["MaxRoiPool-1/double/invalid/no-rois"])
    assert case.id == "MaxRoiPool-1/double/invalid/no-rois"
    assert [cell for cell in made if cell[1]] == [("MaxRoiPool-1", ["double"])]
