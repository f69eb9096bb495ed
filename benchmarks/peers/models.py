"""The one-node ONNX models that runtimes are given.

Apart from the runtimes because two of them run the same models.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from benchmarks.work import Array, Lp, Roi

TYPES = {
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}


def pool(work: Lp | Roi, arrays: tuple[Array, ...]) -> onnx.ModelProto:
    """The operator itself; version 2 of GlobalLpPool and 1 of MaxRoiPool, which runtimes have, but 22 where the type asks for it."""
    opset = 22 if work.dtype == "bfloat16" else 21
    if isinstance(work, Lp):
        return _model(helper.make_node("GlobalLpPool", ["X"], ["Y"], p=int(work.p)), work.dtype, arrays, opset)
    node = helper.make_node("MaxRoiPool", ["X", "rois"], ["Y"], pooled_shape=list(work.bins), spatial_scale=work.scale)
    return _model(node, work.dtype, arrays, opset)


def reduce(work: Lp, arrays: tuple[Array, ...]) -> onnx.ModelProto:
    """ReduceL1 or ReduceL2 over the spatial axes."""
    node = helper.make_node(f"ReduceL{int(work.p)}", ["X"], ["Y"], axes=list(range(2, len(work.shape))), keepdims=1)
    return _model(node, work.dtype, arrays, 17)


def _model(node: onnx.NodeProto, dtype: str, arrays: tuple[Array, ...], opset: int) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info(name, TYPES[dtype], x.shape) for name, x in zip(node.input, arrays, strict=True)]
    output = helper.make_tensor_value_info("Y", TYPES[dtype], None)
    graph = helper.make_graph([node], "pool", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
