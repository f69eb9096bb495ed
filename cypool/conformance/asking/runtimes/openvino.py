"""OpenVINO, on its CPU device.

It differs from the general backend adapter: it has no ONNX Backend, hands bfloat16 memory out under
the name float16, and says "not implemented" in words alone, by an exception that it raises for
everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import openvino as ov

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported
from cypool.conformance.tensors import Tensor

TYPES = {
    "float16": ov.Type.f16,
    "bfloat16": ov.Type.bf16,
    "float": ov.Type.f32,
    "double": ov.Type.f64,
    "int8": ov.Type.i8,
    "uint8": ov.Type.u8,
    "int16": ov.Type.i16,
    "uint16": ov.Type.u16,
    "int32": ov.Type.i32,
    "uint32": ov.Type.u32,
    "int64": ov.Type.i64,
    "uint64": ov.Type.u64,
    "bool": ov.Type.boolean,
}
NAMES = {type.get_type_name(): name for name, type in TYPES.items()}

CONFIG = {
    "INFERENCE_PRECISION_HINT": "f32",  # by default, and on some processors, it computes in bfloat16
    "INFERENCE_NUM_THREADS": 1,  # threads for each of thousands of tiny models cost more than the work
}

CLAIMS = ("No conversion rule found", "NotImplementedFailure", " operator only supports ")
"""How it says that it lacks an operator or a type.

All else that its importer refuses, an attribute's value say, it calls a failed conversion as well,
but with a reason that is about the model.
"""

WRAPPING = re.compile(r"\A(?:(?:Exception from|Check 'false' failed|FrontEnd API failed|Model wasn't|-- \S+ with a message|Summary).*\n)+")
"""The lines that stand before the reason, the same for most refusals: where it passed through, and
that something failed.
"""

NUMBERED = re.compile(r"\b([A-Z]\w*_)\d+\b")
"""The names it gives to nodes, such as ``ReduceSum_41``: the numbers go on from model to model, so
that no two runs would say the same.
"""


@contextmanager
def _claims_are_unsupported() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        message = NUMBERED.sub(r"\1#", WRAPPING.sub("", str(error))).strip()
        raise (Unsupported if any(claim in message for claim in CLAIMS) else RuntimeError)(message) from error


def _to_ov(tensor: Tensor) -> ov.Tensor:
    """Return the tensor's bytes under its own type; numpy's view of bfloat16 is called float16, but
    has the room.
    """
    made = ov.Tensor(TYPES[tensor.type], list(tensor.shape))
    made.data[...] = np.frombuffer(tensor.data, made.data.dtype).reshape(tensor.shape)
    return made


class OpenVino:
    """Models compiled for one device."""

    def __init__(self, device: str) -> None:
        """Nothing is compiled before a model is there."""
        self.device = device
        self.core = ov.Core()

    def describe(self) -> Description:
        """Its version is that of the package, without the build's name."""
        return Description("openvino", ov.__version__.partition("-")[0])

    def load(self, model: bytes) -> Run:
        """Read and compile."""
        with _claims_are_unsupported():
            compiled = self.core.compile_model(self.core.read_model(model), self.device, CONFIG)

        def run(inputs: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor]:
            with _claims_are_unsupported():
                arrays = compiled.create_infer_request().infer({tensor.name: _to_ov(tensor) for tensor in inputs})
            types = [NAMES[compiled.output(name).get_element_type().get_type_name()] for name in outputs]
            return [Tensor(name, type, arrays[name].shape, arrays[name].tobytes()) for name, type in zip(outputs, types, strict=True)]

        return run


def connect(target: str) -> OpenVino:
    """OpenVINO on the device ``target``."""
    return OpenVino(target)
