"""The one-node ONNX models that runtimes are given.

Apart from the runtimes because two of them run the same models.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from benchmarks.work import Array, Lp, Roi, Work

TYPES = {
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int64": TensorProto.INT64,
}

INPUTS = {"RoiAlign": ["X", "rois", "batch_indices"], "MaxUnpool": ["X", "I"]}
"""Of operators that have more than X."""


def pool(work: Work, arrays: tuple[Array, ...]) -> onnx.ModelProto:
    """The operator itself, of the versions of opset 21, which runtimes have; those of 22 where the
    type asks for it.
    """
    opset = 22 if work.dtype == "bfloat16" else 21
    match work:
        case Lp():
            node = helper.make_node("GlobalLpPool", ["X"], ["Y"], p=int(work.p))
        case Roi():
            node = helper.make_node("MaxRoiPool", ["X", "rois"], ["Y"], pooled_shape=list(work.bins), spatial_scale=work.scale)
        case _:
            node = helper.make_node(work.op, INPUTS.get(work.op, ["X"]), ["Y", "Indices"][: work.outputs], **work.attributes)
    return _model(node, work.dtype, arrays, opset)


def reduce(work: Lp, arrays: tuple[Array, ...]) -> onnx.ModelProto:
    """ReduceL1 or ReduceL2 over the spatial axes."""
    node = helper.make_node(f"ReduceL{int(work.p)}", ["X"], ["Y"], axes=list(range(2, len(work.shape))), keepdims=1)
    return _model(node, work.dtype, arrays, 17)


def _model(node: onnx.NodeProto, dtype: str, arrays: tuple[Array, ...], opset: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TYPES["int64" if x.dtype == "int64" else dtype], x.shape)
        for name, x in zip(node.input, arrays, strict=True)
    ]
    outputs = [helper.make_tensor_value_info(name, TYPES["int64" if name == "Indices" else dtype], None) for name in node.output]
    graph = helper.make_graph([node], "pool", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
