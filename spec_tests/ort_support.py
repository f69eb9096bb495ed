"""What the tests of the plug-in share: models, sessions, what runs where, and norms computed by
numpy.
"""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import cypool.ort

CYPOOL, CPU = "CypoolExecutionProvider", "CPUExecutionProvider"
QUIET = 4

ASSIGNMENTS = "session.record_ep_graph_assignment_info"


def plain(**settings):
    """Session options of two threads and no log, with some fields set."""
    options = ort.SessionOptions()
    options.log_severity_level = QUIET
    options.intra_op_num_threads = 2
    for name, value in settings.items():
        setattr(options, name, value)
    return options


def session(model, options=None, **how):
    """A session with the plug-in."""
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return ort.InferenceSession(data, cypool.ort.options(options or plain(), **how))


def model(nodes, inputs, outputs, opset=22, **more):
    """A model of nodes; inputs and outputs are types by name, of any shape."""
    values = [
        [helper.make_tensor_value_info(name, TensorProto.DataType.Value(type.upper()), None) for name, type in those.items()]
        for those in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", *values, **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def norm(opset=22, type="float", **attributes):
    """A model of one GlobalLpPool."""
    return model([helper.make_node("GlobalLpPool", ["x"], ["y"], **attributes)], {"x": type}, {"y": type}, opset)


def rois(opset=22, type="float", pooled_shape=(2, 2)):
    """A model of one MaxRoiPool."""
    node = helper.make_node(
        "MaxRoiPool",
        ["x", "rois"],
        ["y"],
    )
    node.attribute.append(helper.make_attribute("pooled_shape", list(pooled_shape), attr_type=onnx.AttributeProto.INTS))
    return model([node], {"x": type, "rois": type}, {"y": type}, opset)


def parse(text):
    return onnx.parser.parse_model(text)


def norms(x, p=2):
    """The p-norms of the planes, computed by numpy."""
    return (np.abs(x.astype(float)) ** p).sum(tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)


def assigned(model, options):
    """Which provider each node went to, as pairs of operator and provider, for options that have
    the plug-in.
    """
    options.add_session_config_entry(ASSIGNMENTS, "1")
    made = ort.InferenceSession(model.SerializeToString(), options)
    return {(node.op_type, part.ep_name) for part in made.get_provider_graph_assignment_info() for node in part.get_nodes()}
