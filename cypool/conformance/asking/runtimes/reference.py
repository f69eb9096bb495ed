"""ONNX's own reference evaluator.

It differs from the general backend adapter: it is a class of its own, and says "not implemented" by
Python's error of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported
from cypool.conformance.tensors import Tensor


@contextmanager
def _not_implemented_is_unsupported() -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:  # RuntimeImplementationError is one; its message goes on to list every operator
        raise Unsupported(str(error).partition(" Available implementations")[0]) from error


class Reference:
    """The evaluator that comes with the installed onnx."""

    def describe(self) -> Description:
        """Its version is that of onnx."""
        return Description("onnx.reference", onnx.__version__)

    def load(self, model: bytes) -> Run:
        """Build an evaluator."""
        with _not_implemented_is_unsupported():
            evaluator = ReferenceEvaluator(onnx.load_model_from_string(model))

        def run(inputs: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor]:
            with _not_implemented_is_unsupported():
                arrays = evaluator.run(list(outputs), {tensor.name: tensor.array for tensor in inputs})
            return [Tensor.of(name, np.asarray(array)) for name, array in zip(outputs, arrays, strict=True)]

        return run

    load_unoptimized = load
    """It never optimises."""


def connect(target: str) -> Reference:
    """Return the reference evaluator. ``target`` is ignored, as there is one only."""
    return Reference()
