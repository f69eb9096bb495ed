"""Run a model on arrays: in ONNX Runtime with cypool inside, or in cypool's session where that
can't be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import onnx

from cypool.conformance.tensors import Tensor
from cypool.declared import Declared
from cypool.loading import first_line
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

        from cypool.conformance.asking.runtimes.onnxruntime import from_ort, to_ort
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
        raise Unable(f"{title} does not take the model: {first_line(error)}") from None
    names = [output.name for output in declared.outputs]
    types = {each.type for each in (*(given.argument for given in declared.inputs), *declared.outputs)}

    def value(name: str, array: Any) -> Any:
        """Return an array as ONNX Runtime's value; numpy lacks bfloat16."""
        return to_ort(Tensor.of(name, array)) if array.dtype == ml_dtypes.bfloat16 else onnxruntime.OrtValue.ortvalue_from_numpy(array)

    def array(name: str, value: Any) -> Any:
        """Return ONNX Runtime's value as an array."""
        return from_ort(name, value).array if value.data_type() == BFLOAT16 else value.numpy()

    def run(feed: Feed) -> list[Any]:
        given = {name: each for name, each in feed.items() if each is not None}  # an optional that is left out
        try:
            if BFLOAT16 not in types:
                return list(session.run(names, given))
            values = session.run_with_ort_values(names, {name: value(name, each) for name, each in given.items()})
            return [array(name, each) for name, each in zip(names, values, strict=True)]
        except Exception as error:
            raise Unable(f"{title} does not run the model on these inputs: {first_line(error)}") from None

    return f"{title}, with cypool in it", run


def session(path: str, declared: Declared) -> tuple[str, Runner]:
    """Return cypool's session of a model: what to call it, and how to run it.

    The errors are those of ``InferenceSession``.
    """
    loaded = InferenceSession(path)
    names = [output.name for output in declared.outputs]
    return f"cypool's session: other nodes by the reference evaluator of onnx {onnx.__version__}", lambda feed: loaded.run(names, feed)
