"""ONNX Runtime's CPU provider: the operator, and ReduceL1 and ReduceL2 as the faster way to the
same numbers.
"""

from __future__ import annotations

from functools import partial

import onnx
import onnxruntime

from benchmarks.peers import Call, models
from benchmarks.work import Array, Lp, Work

VERSION = onnxruntime.__version__


def session(model: onnx.ModelProto, arrays: tuple[Array, ...], threads: int) -> Call | None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.force_spinning_stop", "1")  # no thread spins into the next one's turn
    try:
        runtime = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # types and versions that it does not have
        return None
    return partial(runtime.run, None, {value.name: x for value, x in zip(runtime.get_inputs(), arrays, strict=True)})


def pool(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    if work.dtype == "bfloat16" or (isinstance(work, Lp) and not float(work.p).is_integer()):
        return None
    return session(models.pool(work, arrays), arrays, threads)


def reduce(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    if not isinstance(work, Lp) or work.p not in (1, 2) or work.dtype == "bfloat16":
        return None
    return session(models.reduce(work, arrays), arrays, threads)


WAYS = {"ORT": pool, "ORT Reduce": reduce}
