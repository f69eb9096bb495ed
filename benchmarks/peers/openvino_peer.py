"""OpenVINO's CPU plugin with the ONNX model of the operator, inputs and outputs shared rather than
copied.
"""

from __future__ import annotations

from functools import partial

import openvino

from benchmarks.peers import Call, models
from benchmarks.work import Array, Lp, Work

VERSION = openvino.__version__.split("-")[0]

_core = openvino.Core()


def prepare(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    if work.dtype == "bfloat16" or (isinstance(work, Lp) and not float(work.p).is_integer()):
        return None
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    try:
        model = _core.read_model(models.pool(work, arrays).SerializeToString())
        request = _core.compile_model(model, "CPU", settings).create_infer_request()
    except Exception:  # types and versions that it does not have
        return None
    return partial(request.infer, arrays[0] if len(arrays) == 1 else list(arrays), share_inputs=True, share_outputs=True)


WAYS = {"OpenVINO": prepare}
