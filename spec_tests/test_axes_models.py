"""Opsets and variants: which there are, what their ids say, and that each model is the one it
should be.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from pathlib import Path

import onnx
import pytest
from all_cases import INFERRED_OTHERWISE, every, invalid, valid

import cypool
from cypool import spec
from cypool.conformance.asking.runner import request_of
from cypool.conformance.cases import instances, models, variants
from cypool.conformance.cases.case import Case

VARIANTS = list(variants.VARIANTS)
CHANGING = [name for name in VARIANTS if name != "no-optimization"]


def in_variant(case: Case, name: str) -> Case:
    """The case in that variant, at the last opset of its version."""
    return next(spread for spread in instances.spread([case], variants=[name]) if spread.variant == name and spread.opset != 1)


def later(cases: tuple[Case, ...], step: int) -> list[Case]:
    """Some of the cases whose version is in force at an opset that has all variants; opset 1 is
    that of models without functions.
    """
    return [case for case in cases if instances.opsets(case.version) != (1,)][::step]


def test_opsets_are_the_first_and_the_last_where_a_version_is_in_force() -> None:
    found = {version.name: instances.opsets(version) for version in spec.versions()}
    firsts = {op: [version.since_version for version in spec.operator(op).versions] for op in spec.operators()}
    lasts = {op: [*(first - 1 for first in since[1:]), instances.NEWEST_OPSET] for op, since in firsts.items()}
    assert found == {
        f"{op}-{first}": (first,) if first == last else (first, last)
        for op in firsts
        for first, last in zip(firsts[op], lasts[op], strict=True)
    }
    assert (found["GlobalLpPool-1"], found["GlobalLpPool-2"], found["AveragePool-11"]) == ((1,), (2, 21), (11, 18))


def test_every_opset_from_the_first_is_in_one_version_of_each_operator() -> None:
    for op in spec.operators():
        versions = spec.operator(op).versions
        found = [opset for version in versions for opset in instances.opsets(version, every=True)]
        assert found == list(range(versions[0].since_version, instances.NEWEST_OPSET + 1))


def test_the_newest_opset_is_of_a_release_of_onnx() -> None:
    assert instances.NEWEST_OPSET in {row[2] for row in onnx.helper.VERSION_TABLE}


def test_ids_are_all_different_and_those_without_a_mark_are_the_cases() -> None:
    spread = list(instances.spread(every(), variants=VARIANTS))
    assert len(spread) == sum(len(instances.opsets(case.version)) for case in every()) * (1 + len(VARIANTS))
    assert len({case.id for case in spread}) == len(spread)
    unmarked = [case for case in spread if instances.base(case.id) == case.id]
    assert [case.id for case in unmarked] == [case.id for case in every()]
    assert all((case.opset, case.variant) == (case.version.since_version, "") for case in unmarked)
    assert {instances.base(case.id) for case in spread} == {case.id for case in every()}


def test_an_id_says_opset_and_variant() -> None:
    (case,) = [case for case in valid() if case.id == "GlobalLpPool-2/float/odd/p2/all-equal"]
    marks = [spread.id.removeprefix(case.id) for spread in instances.spread([case], variants=["symbolic"])]
    assert marks == ["", "+symbolic", "@21", "@21+symbolic"]
    assert len(list(instances.spread([case], every_opset=True))) == 20


def test_a_plain_case_at_its_first_opset_is_the_case_as_it_always_was() -> None:
    for case in every()[::10]:
        plain = next(instances.spread([case]))
        assert models.model(plain) == models.model(case)
        assert (plain.id, models.feeds(plain)) == (case.id, case.inputs)


def test_the_page_tells_the_variants_as_the_command_does() -> None:
    text = (Path(cypool.__file__).parent.parent / "docs/runtimes.md").read_text()
    assert dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|$", text, re.MULTILINE)) == {v.name: v.text for v in variants.VARIANTS.values()}


def test_an_answer_is_computed_once_for_all() -> None:
    asked: collections.Counter[str | None] = collections.Counter()
    case = valid()[0]

    def answer(reading: str | None) -> tuple[()]:
        asked[reading] += 1
        return ()

    for spread in instances.spread([dataclasses.replace(case, answer=answer)], every_opset=True, variants=VARIANTS):
        assert spread.expected == ()
    assert asked == {None: 1}


@pytest.mark.parametrize("name", ["", *VARIANTS])
def test_models_are_valid_to_onnx_at_every_opset(name: str) -> None:
    first = {case.version.name: case for case in reversed(valid()) if case.type == "float"}
    for case in instances.spread(first.values(), every_opset=True, variants=[name] if name else ()):
        if case.variant == name:
            onnx.checker.check_model(models.model(case), full_check=True)


@pytest.mark.parametrize("name", CHANGING)
def test_models_of_valid_cases_are_valid_to_onnx(name: str) -> None:
    for case in later(valid(), 20):
        onnx.checker.check_model(models.model(in_variant(case, name)), full_check=not INFERRED_OTHERWISE & set(case.rulings))


@pytest.mark.parametrize("name", CHANGING)
def test_the_fault_of_an_invalid_case_is_still_in_its_model(name: str) -> None:
    """Attributes and the number and the types of inputs are in the node; shapes and values are in
    what is fed, or in the model.
    """
    for case in later(invalid(), 5):
        model = models.model(in_variant(case, name))
        nodes = pooling_nodes(model)
        assert nodes
        plain = models.model(case).graph.node[0]
        for node in nodes:
            assert (node.op_type, list(node.input), list(node.attribute)) == (plain.op_type, list(plain.input), list(plain.attribute))


def pooling_nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    nodes = list(model.graph.node)
    for function in model.functions:
        nodes += function.node
    for node in model.graph.node:
        nodes += [inner for attribute in node.attribute for inner in attribute.g.node]
    return [node for node in nodes if node.op_type in spec.operators()]


def a_pool() -> Case:
    return next(case for case in valid() if case.version.name == "MaxRoiPool-22" and "odd" in case.id)


def test_initializers_leave_nothing_to_feed() -> None:
    case = in_variant(a_pool(), "initializers")
    graph = models.model(case).graph
    assert (models.feeds(case), len(graph.input)) == ((), 0)
    assert [(i.name, i.raw_data) for i in graph.initializer] == [(tensor.name, tensor.data) for tensor in case.inputs]


def test_symbolic_states_ranks_and_what_the_standard_fixes() -> None:
    case = in_variant(a_pool(), "symbolic")
    graph = models.model(case).graph
    x, rois, y = (value.type.tensor_type.shape.dim for value in (*graph.input, *graph.output))
    assert [d.dim_param or d.dim_value for d in (*x, *rois)] == ["X_0", "X_1", "X_2", "X_3", "rois_0", 5]
    assert [d.WhichOneof("value") for d in y] == [None] * 4
    assert models.feeds(case) == case.inputs


def test_a_branch_is_taken_by_an_input_that_nothing_can_fold() -> None:
    case = in_variant(a_pool(), "if-branch")
    graph = models.model(case).graph
    assert [node.op_type for node in graph.node] == ["If"]
    assert models.feeds(case) == (*case.inputs, variants.CONDITION)
    assert [value.name for value in graph.input] == ["X", "rois", "condition"]
    assert len(pooling_nodes(models.model(case))) == 2


def test_a_function_is_the_model_s_own() -> None:
    case = in_variant(a_pool(), "function")
    model = models.model(case)
    assert [(node.op_type, node.domain) for node in model.graph.node] == [("Pool", variants.DOMAIN)]
    assert [function.domain for function in model.functions] == [variants.DOMAIN]
    assert model.functions[0].opset_import[0].version == case.opset


@pytest.mark.parametrize(("name", "format"), [("", 3), ("initializers", 4), ("function", 8)])
def test_a_model_is_in_the_oldest_format_that_has_what_it_holds(name: str, format: int) -> None:
    oldest = next(case for case in instances.spread(valid()[:1], variants=[name] if name else ()) if case.variant == name)
    assert models.model(oldest).ir_version == format


def test_a_graph_that_is_not_to_be_optimised_is_the_plain_one_asked_for_otherwise() -> None:
    case = in_variant(a_pool(), "no-optimization")
    plain = next(spread for spread in instances.spread([a_pool()]) if spread.opset == case.opset)
    assert models.model(case) == models.model(plain)
    assert b'"optimize":false' in request_of(case)
    assert b'"optimize"' not in request_of(plain)
