"""A case as an ONNX model: one node, its inputs and outputs, and nothing else; or what its variant makes of that.

Apart from the cases so that generating and listing them needs no onnx.
"""

from __future__ import annotations

from typing import Any

import onnx
from onnx import AttributeProto, TensorProto, helper

from cypool.conformance.case import Case, TypedValue
from cypool.conformance.tensors import Tensor
from cypool.conformance.variants import PLAIN, VARIANTS, Variant
from cypool.spec.shapes import infer, parse

ELEMENT_TYPES: dict[str, int] = {
    name: TensorProto.DataType.Value(name.upper())
    for name in ("float16", "bfloat16", "float", "double", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
}

FORMATS = {8: 3, 9: 4, 10: 5, 11: 6, 14: 7, 18: 8, 20: 9, 22: 10, 23: 11, 24: 12, 27: 13, 28: 14}
"""The last opset that each format of models came with; not asked of the installed onnx, so that models are the same bytes everywhere."""


def model(case: Case, opset: int | None = None) -> onnx.ModelProto:
    """The model of a case, for its own opset, or the one given; a faulty case gives a model with the fault in it.

    Its own is its version's first unless it says otherwise. Static shapes throughout, but in a variant; the format is the oldest that has
    the opset, so that old runtimes read it. The same case gives the same bytes.

    >>> from cypool.conformance import cases
    >>> built = model(next(cases.generate(["MaxRoiPool"])))
    >>> built.graph.node[0].op_type, built.opset_import[0].version, built.ir_version
    ('MaxRoiPool', 1, 3)
    """
    version = case.version
    names = [tensor.name for tensor in case.inputs]
    outputs = [operand.name for operand in version.outputs]
    node = helper.make_node(version.op, names, outputs)
    node.attribute.extend(_attribute(name, value) for name, value in case.attributes)
    graph = helper.make_graph(
        [node],
        version.name,
        [helper.make_tensor_value_info(tensor.name, ELEMENT_TYPES[tensor.type], tensor.shape) for tensor in case.inputs],
        [helper.make_tensor_value_info(name, _output_type(case), shape) for name, shape in zip(outputs, _output_shapes(case), strict=True)],
    )
    opset = opset or case.opset or version.since_version
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_ir_version(opset), producer_name="cypool")
    variant(case).change(made, case)
    return made


def variant(case: Case) -> Variant:
    """What kind of model the case has: what it is fed, and what is asked of the runtime besides."""
    return VARIANTS[case.variant] if case.variant else PLAIN


def feeds(case: Case) -> tuple[Tensor, ...]:
    """What is fed to the model of the case, in the order of the model's inputs."""
    return variant(case).feeds(case)


def _ir_version(opset: int) -> int:
    """The oldest format that came with that opset or a newer one."""
    return next((format for last, format in FORMATS.items() if opset <= last), max(FORMATS.values()))


def _output_type(case: Case) -> int:
    return ELEMENT_TYPES[case.inputs[0].type if case.inputs else case.type]


def _output_shapes(case: Case) -> list[tuple[Any, ...]]:
    """As the shape rules have them. A fault may leave none to infer; then only ranks are stated, so that the model has that one fault."""
    if case.fault is None:
        attributes = {attribute.name: attribute.default for attribute in case.version.attributes if attribute.default is not None}
        attributes |= {name: typed.value for name, typed in case.attributes}
        return list(infer(case.version, [tensor.shape for tensor in case.inputs], attributes))
    rank = len(case.inputs[0].shape) if case.inputs else 0
    rules = [parse(operand.shape) for operand in case.version.outputs]
    return [(None,) * (max(rank, len(rule.fixed)) if rule.star else len(rule.fixed)) for rule in rules]


def _attribute(name: str, typed: TypedValue) -> onnx.AttributeProto:
    """An attribute of just the type that the case states."""
    return helper.make_attribute(name, typed.value, attr_type=AttributeProto.AttributeType.Value(typed.type))
