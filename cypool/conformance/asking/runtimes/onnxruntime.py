"""ONNX Runtime, on its CPU provider.

It differs from the general backend adapter: tensors go in and out as OrtValues over raw bytes, the
only way that bfloat16 survives, and its error codes tell "not implemented" from a refusal.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import onnx
import onnxruntime as ort  # type: ignore[import-untyped]
from onnxruntime.capi.onnxruntime_pybind11_state import Fail as OrtFail  # type: ignore[import-untyped]
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as OrtNotImplemented

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported
from cypool.conformance.tensors import Tensor

SILENT = 4  # only fatal messages are logged; errors come as exceptions anyway
ONE_THREAD = 1  # a pool of threads for each of thousands of tiny sessions costs more than the work


NOT_YET = "Current official support for domain ai.onnx is till opset"
"""How it says, by an error code that it has for much else, that it does not know the
model's opset.
"""


@contextmanager
def _claims_are_unsupported() -> Iterator[None]:
    try:
        yield
    except OrtNotImplemented as error:
        raise Unsupported(str(error)) from error
    except OrtFail as error:
        if NOT_YET in str(error):
            raise Unsupported(str(error)) from error
        raise


def _options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.log_severity_level = SILENT
    options.intra_op_num_threads = options.inter_op_num_threads = ONE_THREAD
    return options


def to_ort(tensor: Tensor) -> ort.OrtValue:
    """Return the tensor's bytes under its ONNX type, whether or not numpy has that type."""
    elements = np.frombuffer(tensor.data, np.uint16 if tensor.type == "bfloat16" else tensor.array.dtype).reshape(tensor.shape)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(elements, onnx.TensorProto.DataType.Value(tensor.type.upper()))


def from_ort(name: str, value: ort.OrtValue) -> Tensor:
    """Return the bytes that the value holds, with the type and the shape that it says."""
    type = value.data_type().removeprefix("tensor(").removesuffix(")")
    size = value._ortvalue.tensor_size_in_bytes()
    return Tensor(name, type, tuple(value.shape()), ctypes.string_at(value.data_ptr(), size) if size else b"")


class OnnxRuntime:
    """Sessions of one execution provider, with the optimisations that users get by default."""

    def __init__(self, provider: str | None) -> None:
        """Sessions that run on this provider alone; None: on those that the options name."""
        ort.set_default_logger_severity(SILENT)
        self.providers = None if provider is None else [provider]
        self.as_by_default = _options()
        self.unoptimized = _options()
        self.unoptimized.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL

    def describe(self) -> Description:
        """Its version is that of the package."""
        return Description("onnxruntime", ort.__version__)

    def load(self, model: bytes) -> Run:
        """Build a session."""
        return self._load(model, self.as_by_default)

    def load_unoptimized(self, model: bytes) -> Run:
        """Build a session of the graph as it is."""
        return self._load(model, self.unoptimized)

    def _load(self, model: bytes, options: ort.SessionOptions) -> Run:
        with _claims_are_unsupported():
            session = ort.InferenceSession(model, options, providers=self.providers)

        def run(inputs: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor]:
            with _claims_are_unsupported():
                values = session.run_with_ort_values(list(outputs), {tensor.name: to_ort(tensor) for tensor in inputs})
            return [from_ort(name, value) for name, value in zip(outputs, values, strict=True)]

        return run


def connect(target: str) -> OnnxRuntime:
    """ONNX Runtime on the execution provider ``target``."""
    return OnnxRuntime(target)
