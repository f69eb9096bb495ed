"""cypool's operators for ONNX's reference evaluator, which has no implementation of its own of some of them.

Apart from ``session`` because people who use the evaluator already need this list and nothing else:

>>> import onnx, onnx.reference, cypool.reference
>>> model = onnx.parser.parse_model('''
...     <ir_version: 8, opset_import: ["" : 18]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }''')
>>> import numpy as np
>>> onnx.reference.ReferenceEvaluator(model, new_ops=cypool.reference.OPS).run(None, {"x": np.array([[[1, -1]]], np.float32)})
[array([[[2.]]], dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx.reference.op_run import OpRun

from cypool import ops, spec
from cypool.errors import SpecTypeError


class PoolingOp(OpRun):  # type: ignore[misc, unused-ignore]
    """A node of one of cypool's operators. Attributes are taken from the node itself, so that their types can be held to the version."""

    op_domain = ""
    op_schema = None  # the evaluator would fill in the defaults of the newest version

    def __init__(self, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> None:
        """Hold the attributes' types, which Python's numbers no longer show, to the version; SpecTypeError where they do not fit."""
        super().__init__(onnx_node, run_params)
        opsets: Mapping[str, int] = run_params["opsets"]
        self.opset = opsets.get("", opsets.get("ai.onnx"))
        self.version = spec.resolve(onnx_node.op_type, self.opset)
        for proto in onnx_node.attribute:
            attribute = self.version.attribute(proto.name)
            came = onnx.AttributeProto.AttributeType.Name(proto.type)
            if attribute is not None and attribute.type != came:
                raise SpecTypeError(f"{self.version.name}: attribute {proto.name} is of type {came}, expected {attribute.type}")

    def run(self, *args: Any, linked_attributes: Mapping[str, Any] | None = None, **_: Any) -> tuple[Any, ...]:
        """The outputs; SpecError where the inputs do not fit the version. Not ``_run``, whose callers hide what was raised."""
        attributes = {
            proto.name: (linked_attributes or {})[proto.ref_attr_name] if proto.ref_attr_name else onnx.helper.get_attribute_value(proto)
            for proto in self.onnx_node.attribute
        }
        return ops.run(self.onnx_node.op_type, args, attributes, opset=self.opset)

    def _run(self, *args: Any, **_: Any) -> tuple[Any, ...]:
        return self.run(*args)


OPS: list[type[OpRun]] = [type(name, (PoolingOp,), {}) for name in spec.operators()]
"""One class an operator, for ``ReferenceEvaluator(model, new_ops=OPS)``."""
