"""Other models around the same node: its inputs as constants, its shapes unknown, the node in a
branch or in a function.

Plain models are shipped and kept; a variant is derived from one, only to be run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx
from onnx import TensorProto, helper

from cypool.conformance.cases import protos
from cypool.conformance.cases.case import Case
from cypool.conformance.tensors import Tensor
from cypool.spec.shapes import parse

CONDITION = Tensor("condition", "bool", (), b"\1")
DOMAIN = "cypool.local"


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant: what it is in a line, how a plain model becomes it, what it is fed, and what is
    asked of the runtime besides.
    """

    name: str
    text: str
    change: Callable[[onnx.ModelProto, Case], None] = lambda model, case: None
    feeds: Callable[[Case], tuple[Tensor, ...]] = lambda case: case.inputs
    options: Mapping[str, bool] = field(default_factory=dict)


def _initializers(model: onnx.ModelProto, case: Case) -> None:
    """Before format 4, an initializer had to be an input too, and then is no constant."""
    del model.graph.input[:]
    model.graph.initializer.extend(TensorProto.FromString(protos.to_bytes(tensor)) for tensor in case.inputs)
    model.ir_version = max(model.ir_version, 4)


def _symbolic(model: onnx.ModelProto, case: Case) -> None:
    """Each dimension of an input gets a name of its own, but those that the standard fixes; outputs
    are for the runtime to infer.
    """
    rules = dict(enumerate(parse(operand.shape).fixed for operand in case.version.inputs))
    for position, value in enumerate(model.graph.input):
        terms = rules.get(position, ())
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if axis >= len(terms) or not isinstance(terms[axis].what, int):
                dimension.dim_param = f"{value.name}_{axis}"
    for value in model.graph.output:
        for dimension in value.type.tensor_type.shape.dim:
            dimension.Clear()


def _if_branch(model: onnx.ModelProto, case: Case) -> None:
    """Both branches hold the node, so that the fault of an invalid case is in the model whichever
    is taken.
    """
    (node,) = model.graph.node
    branches: dict[str, Any] = {}
    for word in ("then", "else"):
        inner = onnx.NodeProto()
        inner.CopyFrom(node)
        inner.output[:] = [f"{name}_{word}" for name in node.output]
        branch = helper.make_graph([inner], word, [], list(model.graph.output))
        for value, name in zip(branch.output, inner.output, strict=True):
            value.name = name
        branches[f"{word}_branch"] = branch
    model.graph.input.append(helper.make_tensor_value_info(CONDITION.name, TensorProto.BOOL, CONDITION.shape))
    model.graph.node[0].CopyFrom(helper.make_node("If", [CONDITION.name], list(node.output), **branches))


def _function(model: onnx.ModelProto, case: Case) -> None:
    """Functions came with format 8."""
    (node,) = model.graph.node
    function = helper.make_function(DOMAIN, "Pool", list(node.input), list(node.output), [node], list(model.opset_import))
    model.functions.append(function)
    model.graph.node[0].CopyFrom(helper.make_node(function.name, list(function.input), list(function.output), domain=DOMAIN))
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    model.ir_version = max(model.ir_version, 8)


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("initializers", "every input is a constant in the model", _initializers, lambda case: ()),
        Variant("symbolic", "no dimension of an input is stated that the standard leaves open", _symbolic),
        Variant("no-optimization", "the runtime is asked not to optimise the graph", options={"optimize": False}),
        Variant("if-branch", "the node stands in the branches of an If", _if_branch, lambda case: (*case.inputs, CONDITION)),
        Variant("function", "the node stands in a function of the model's own", _function),
    )
}
PLAIN = Variant("", "the node alone, all shapes stated")
