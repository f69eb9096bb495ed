"""Run a model on arrays: in ONNX Runtime with cypool inside, or in cypool's session where that
can't be.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx

from cypool.declared import Declared
from cypool.session import InferenceSession

ONNX_RUNTIME, CYPOOL = "onnxruntime", "cypool"
NAMES = ONNX_RUNTIME, CYPOOL

SILENT = 4
"""Of ONNX Runtime's logging: errors come as exceptions, and need not be printed as well."""

BFLOAT16 = "tensor(bfloat16)"

Feed = dict[str, Any]
Runner = Callable[[Feed], list[Any]]


class Unable(Exception):
    """ONNX Runtime is not there, or does not run the model."""


def onnx_runtime(path: str, declared: Declared) -> tuple[str, Runner]:
    """Return a session of ONNX Runtime that cypool is in: what to call it, and how to run it.

    Unable where there is none.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped]

        from cypool.ort import options
    except ImportError as error:
        raise Unable(str(error)) from None
    title = f"ONNX Runtime {onnxruntime.__version__}"
    settings = options()
    settings.log_severity_level = SILENT
    # Otherwise ONNX Runtime computes nodes on constants before it asks who else could.
    settings.add_session_config_entry("optimization.disable_specified_optimizers", "ConstantFolding")
    try:
        session = onnxruntime.InferenceSession(path, settings)
    except Exception as error:  # ONNX Runtime's own types have no common one
        raise Unable(f"{title} does not take the model: {_first_line(error)}") from None
    names = [output.name for output in declared.outputs]
    types = {each.name: each.type for each in (*(given.argument for given in (*declared.required, *declared.defaults)), *declared.outputs)}

    def run(feed: Feed) -> list[Any]:
        given = {name: value for name, value in feed.items() if value is not None}  # an optional that is left out
        try:
            if BFLOAT16 not in types.values():
                return list(session.run(names, given))
            values = session.run_with_ort_values(names, {name: _value(onnxruntime, array) for name, array in given.items()})
            return [_array(value) for value in values]
        except Exception as error:
            raise Unable(f"{title} does not run the model on these inputs: {_first_line(error)}") from None

    return f"{title}, with cypool in it", run


def session(path: str, declared: Declared) -> tuple[str, Runner]:
    """Return cypool's session of a model: what to call it, and how to run it.

    The errors are those of ``InferenceSession``.
    """
    loaded = InferenceSession(path)
    names = [output.name for output in declared.outputs]
    return f"cypool's session: other nodes by the reference evaluator of onnx {onnx.__version__}", lambda feed: loaded.run(names, feed)


def _value(onnxruntime: Any, array: Any) -> Any:
    """Return an array as ONNX Runtime's value; bfloat16, which numpy lacks, by its bits."""
    if array.dtype == ml_dtypes.bfloat16:
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), onnx.TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def _array(value: Any) -> Any:
    """Return ONNX Runtime's value as an array; bfloat16, which numpy lacks, by its bits."""
    if value.data_type() != BFLOAT16:
        return value.numpy()
    size = value._ortvalue.tensor_size_in_bytes()
    data = ctypes.string_at(value.data_ptr(), size) if size else b""
    return np.frombuffer(data, ml_dtypes.bfloat16).reshape(value.shape())


def _first_line(error: Exception) -> str:
    return next(iter(str(error).split(os.linesep)), "")
