"""A case as an ONNX model: one node, its inputs and outputs, and nothing else; or what its variant
makes of that.

Generating and listing cases needs no onnx; this does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx import AttributeProto, helper

from cypool import spec
from cypool.conformance.cases.case import Case, TypedValue
from cypool.conformance.cases.variants import PLAIN, VARIANTS, Variant
from cypool.conformance.tensors import Tensor
from cypool.spec import limits
from cypool.spec import shapes as rules
from cypool.spec.elements import ELEMENTS
from cypool.spec.model import Operand
from cypool.spec.shapes import Shape

IR_VERSIONS = {8: 3, 9: 4, 10: 5, 11: 6, 14: 7, 18: 8, 20: 9, 22: 10, 23: 11, 24: 12, 27: 13, 28: 14}
"""The last opset that each format of models came with; not asked of the installed onnx, so that
models are the same bytes everywhere.
"""


def model(case: Case, opset: int | None = None) -> onnx.ModelProto:
    """Return the model of a case, for its own opset, or the one given; a faulty case gives a model
    with the fault in it.

    Its own is its version's first unless it says otherwise. Static shapes throughout, but in a
    variant; the format is the oldest that has the opset, so that old runtimes read it. The same
    case gives the same bytes.

    >>> from cypool.conformance import cases
    >>> built = model(next(cases.generate(["MaxRoiPool"])))
    >>> built.graph.node[0].op_type, built.opset_import[0].version, built.ir_version
    ('MaxRoiPool', 1, 3)
    """
    version = case.version
    node = helper.make_node(version.op, _input_names(case), case.outputs)
    node.attribute.extend(_attribute(name, value) for name, value in case.attributes)
    graph = helper.make_graph(
        [node],
        version.name,
        [helper.make_tensor_value_info(tensor.name, ELEMENTS[tensor.type].number, tensor.shape) for tensor in case.inputs],
        _outputs(case),
    )
    opset = opset or case.opset or version.since_version
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_ir_version(opset), producer_name="cypool")
    variant(case).change(made, case)
    return made


def variant(case: Case) -> Variant:
    """Return the variant of the case: how its model is made, and what is asked of the runtime
    besides.
    """
    return VARIANTS[case.variant] if case.variant else PLAIN


def feeds(case: Case) -> tuple[Tensor, ...]:
    """Return what is fed to the model of the case, in the order of the model's inputs."""
    return variant(case).feeds(case)


def _ir_version(opset: int) -> int:
    """Return the oldest format that came with that opset or a newer one."""
    return next((format for last, format in IR_VERSIONS.items() if opset <= last), max(IR_VERSIONS.values()))


def _input_names(case: Case) -> list[str]:
    """Return the inputs of the node: an empty name for one that is left out before others, and what
    a version has no operand for at the end.
    """
    given = [tensor.name for tensor in case.inputs]
    known = [operand.name for operand in case.version.inputs]
    names = [name if name in given else "" for name in known]
    while names and not names[-1]:
        names.pop()
    return [*names, *(name for name in given if name not in known)]


def _outputs(case: Case) -> list[onnx.ValueInfoProto]:
    """Return the outputs of the node, each with its own type and shape."""
    operands = [_operand(case, name) for name in case.outputs]
    types = [ELEMENTS[_type_of(case, operand)].number for operand in operands]
    return list(map(helper.make_tensor_value_info, case.outputs, types, _output_shapes(case, operands)))


def output_type(case: Case, name: str) -> str:
    """Return the element type of an output of the case's node, by ONNX's short name."""
    return _type_of(case, _operand(case, name))


def _operand(case: Case, output: str) -> Operand:
    """Return what the version says of an output, or a version that has it where this
    one lacks it.
    """
    versions = case.version, *spec.operator(case.version.op).versions
    return next(operand for version in versions for operand in version.outputs if operand.name == output)


def _type_of(case: Case, output: Operand) -> str:
    """Return the type of the inputs that share the output's type variable; where none does, the one
    type that the variable can be.
    """
    given = {tensor.name: tensor.type for tensor in case.inputs}
    shared = [given[operand.name] for operand in case.version.inputs if operand.type == output.type and operand.name in given]
    constraints = [constraint for constraint in case.version.types if constraint.name == output.type]
    allowed = constraints[0].allowed if constraints else ("int64",)
    return (shared or [allowed[0] if len(allowed) == 1 else case.type])[0]


def _output_shapes(case: Case, operands: Sequence[Operand]) -> list[tuple[Any, ...]]:
    """As the shape rules have them.

    A fault may leave none to infer; then only ranks are stated, so that the model has that one
    fault.
    """
    if case.fault is None:
        inferred = dict(zip((operand.name for operand in case.version.outputs), _inferred(case), strict=True))
        return [inferred[operand.name] for operand in operands]
    rank = len(case.inputs[0].shape) if case.inputs else 0
    parsed = [rules.parse(operand.shape) for operand in operands]
    return [(None,) * (max(rank, len(rule.fixed)) if rule.star else len(rule.fixed)) for rule in parsed]


def _inferred(case: Case) -> tuple[Shape, ...]:
    """Return the shapes of all outputs that the version has, as the shape rules have them."""
    version, given = case.version, {tensor.name: tensor for tensor in case.inputs}
    shapes = [given[operand.name].shape if operand.name in given else None for operand in version.inputs]
    spatial = rules.spatial(version, shapes)
    defaults = {attribute.name: limits.default(attribute, spatial) for attribute in version.attributes}
    attributes = {name: value for name, value in defaults.items() if value is not None}
    attributes |= {name: typed.value for name, typed in case.attributes}
    stated = [operand.name for operand in version.inputs if operand.holds.startswith("shape ") and operand.name in given]
    return rules.infer(version, shapes, attributes, {name: given[name].array.tolist() for name in stated})


def _attribute(name: str, typed: TypedValue) -> onnx.AttributeProto:
    """Return an attribute of just the type that the case states."""
    return helper.make_attribute(name, typed.value, attr_type=AttributeProto.AttributeType.Value(typed.type))
