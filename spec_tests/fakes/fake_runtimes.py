"""ONNX Backends that are right, or wrong in one way each: what the checker is tried on.

They know the answers from a table that the test has written, at the path in ``FAKE_ANSWERS``;
nothing here computes one. It is looked up by ``key``: the model and the inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import onnx

from cypool.conformance.tensors import Tensor

__version__ = "7.0"


def key(model: onnx.ModelProto, inputs: Sequence[np.ndarray]) -> str:
    digest = hashlib.sha256(model.SerializeToString(deterministic=True))
    for array in inputs:
        digest.update(array.tobytes())
    return digest.hexdigest()


class Right:
    """Gives the expected outputs, and refuses what is invalid when it runs."""

    reading: ClassVar[str | None] = None

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.answers = json.loads(Path(os.environ["FAKE_ANSWERS"]).read_text())

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str) -> Right:
        assert device == "CPU"
        return cls(model)

    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        answer = self.answers[key(self.model, inputs)]
        if answer["fault"]:
            return self.invalid(answer["fault"])
        tensors = answer["readings"][self.reading] if self.reading in answer["readings"] else answer["expected"]
        return [self.change(Tensor.from_json(tensor).array) for tensor in tensors]

    def invalid(self, fault: str) -> list[Any]:
        raise ValueError(f"refused: {fault}")

    def change(self, array: np.ndarray) -> Any:
        return array


class OneUlpOff(Right):
    def change(self, array: np.ndarray) -> np.ndarray:
        return (array.view(f"u{array.itemsize}") + 1).view(array.dtype)


class Wrong(Right):
    def change(self, array: np.ndarray) -> np.ndarray:
        return array + np.ones((), array.dtype)


class WrongShape(Right):
    def change(self, array: np.ndarray) -> np.ndarray:
        return array[..., np.newaxis]


class WrongType(Right):
    def change(self, array: np.ndarray) -> np.ndarray:
        return array.astype(np.float16 if array.dtype == np.float64 else np.float64)


class OneOutputTooMany(Right):
    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        return [*super().run(inputs), np.zeros(1)]


class NoArray(Right):
    def change(self, array: np.ndarray) -> Any:
        return "five"


class RaisesAtLoad(Right):
    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str) -> Right:
        raise RuntimeError("I do not like\nthis model")


class RaisesAtRun(Right):
    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        raise MemoryError("out of luck")


class NoRank2(Right):
    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        if inputs[0].ndim == 2:
            raise ValueError("too flat")
        return super().run(inputs)


class NoRank6(Right):
    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        if inputs[0].ndim > 5:
            raise ValueError("too deep")
        return super().run(inputs)


class SaysUnsupported(Right):
    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str) -> Right:
        raise unittest.SkipTest("not mine")


class IsIncompatible(Right):
    @classmethod
    def is_compatible(cls, model: onnx.ModelProto) -> bool:
        return False


class LacksItAtRun(Right):
    """Uses the exception that ONNX names for it."""

    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

        raise BackendIsNotSupposedToImplementIt("no such kernel")


class AcceptsEverything(Right):
    def invalid(self, fault: str) -> list[Any]:
        return [np.zeros(1, np.float32)]


class AnotherReading(Right):
    reading = "another"


class KnownFault(Right):
    reading = "faulty"


class Prints(Right):
    """Writes what is no answer where the answers go, by Python and by the descriptor."""

    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        print('{"id": "garbage"}', flush=True)
        os.write(1, b"not JSON\n")
        sys.__stdout__.write("and more\n")
        sys.__stdout__.flush()
        return super().run(inputs)


class ReadsStdin(Right):
    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        assert sys.stdin.read() == ""
        assert os.read(0, 100) == b""
        return super().run(inputs)


class Misbehaves(Right):
    """Right, but for inputs with a negative number in them."""

    def run(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        if any((array < 0).any() for array in inputs):
            self.misbehave()
        return super().run(inputs)

    def misbehave(self) -> None: ...


class Aborts(Misbehaves):
    def misbehave(self) -> None:
        os.write(2, b"free(): invalid pointer\n")
        os.abort()


class Exits(Misbehaves):
    def misbehave(self) -> None:
        os._exit(3)


class Hangs(Misbehaves):
    def misbehave(self) -> None:
        time.sleep(600)


class Fabricates(Misbehaves):
    """Writes a false answer straight to the worker's own stream of answers, wherever that is."""

    def misbehave(self) -> None:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b'{"id": "another case", "status": "ok", "outputs": []}\n')
            except OSError:
                continue


class Chatters(Misbehaves):
    def misbehave(self) -> None:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"hello\n")
            except OSError:
                continue


class NotABackend:
    """Has no ``prepare``."""


NOT_A_BACKEND = NotABackend()
