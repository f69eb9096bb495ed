"""tract, through its Python package.

It differs from the general backend adapter: it has no ONNX Backend, loads from files alone, and
says "not implemented" in words, by an exception that it raises for everything.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import onnx
import tract

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported
from cypool.conformance.tensors import Tensor

CLAIMS = ("Unimplemented(", "Unknown DatumType")
"""How it says that it lacks an operator or a type."""


@contextmanager
def _claims_are_unsupported() -> Iterator[None]:
    try:
        yield
    except tract.TractError as error:
        if any(claim in str(error) for claim in CLAIMS):
            raise Unsupported(str(error)) from error
        raise


class Tract:
    """Models made runnable as tract does by default, which is optimised."""

    def describe(self) -> Description:
        """Its version is that of the native library."""
        return Description("tract", tract.version())

    def load(self, model: bytes) -> Run:
        """Parse, infer types and shapes, optimise."""
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file, _claims_are_unsupported():
            file.write(model)
            file.flush()
            parsed = tract.onnx().load(file.name)
            runnable = parsed.into_model().into_runnable()
            names = [output.name for output in onnx.load_model_from_string(model).graph.output]  # tract gives a node's outputs one name

        def run(inputs: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor]:
            with _claims_are_unsupported():
                results = dict(zip(names, runnable.run([tensor.array for tensor in inputs]), strict=True))
            return [Tensor.of(name, results[name].to_numpy()) for name in outputs]

        return run


def connect(target: str) -> Tract:
    """Return tract. ``target`` is ignored, as there is one only."""
    os.environ["RUST_BACKTRACE"] = "0"  # a backtrace in each message says where in tract's code, not what
    return Tract()
