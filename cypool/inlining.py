"""Inline model-local functions: put their bodies in the place of the nodes that call them."""

from __future__ import annotations

import onnx
from onnx.inliner import inline_local_functions

from cypool.loading import nodes_of


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without calls of its functions, but of those written for another opset than
    its own, which stay.

    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 9, opset_import: ["" : 18, "mine" : 1]>
    ...     g (float[2] x) => (float[2] y) { y = mine.Twice (x) }
    ...     <domain: "mine", opset_import: ["" : 18]> Twice (a) => (b) { b = Add (a, a) }''')
    >>> [node.op_type for node in inlined(model).graph.node]
    ['Add']
    """
    if not model.functions:
        return model
    complete = onnx.ModelProto()
    complete.CopyFrom(model)
    functions = {(function.domain, function.name): function for function in complete.functions}
    for node in nodes_of(complete):
        if function := functions.get((node.domain, node.op_type)):
            _fill_in(node, function)
    return inline_local_functions(complete)


def _fill_in(node: onnx.NodeProto, function: onnx.FunctionProto) -> None:
    """Add the function's default attribute values that the calling node omits; onnx's inliner does
    not.
    """
    given = {attribute.name for attribute in node.attribute}
    node.attribute.extend(default for default in function.attribute_proto if default.name not in given)
