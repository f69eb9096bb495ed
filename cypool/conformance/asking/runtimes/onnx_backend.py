"""Any runtime that comes as an ONNX Backend (``onnx.backend.base``): a module or a class with
``prepare``.

The general adapter, and the one cypool itself comes through, so that it gets no treatment that
others do not.
"""

from __future__ import annotations

import importlib
import unittest
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported, installed_version
from cypool.conformance.tensors import Tensor


@contextmanager
def _skips_are_unsupported() -> Iterator[None]:
    """ONNX's backend suite lets a backend say "not mine" by a SkipTest:
    BackendIsNotSupposedToImplementIt is one.
    """
    try:
        yield
    except unittest.SkipTest as error:
        raise Unsupported(str(error)) from error


class OnnxBackend:
    """The backend at ``module`` or ``module:attribute``, on the CPU."""

    def __init__(self, target: str) -> None:
        """Import it; ImportError or AttributeError where it is not there."""
        self.target = target
        module, _, attribute = target.partition(":")
        self.backend: Any = importlib.import_module(module)
        for part in filter(None, attribute.split(".")):
            self.backend = getattr(self.backend, part)
        if not callable(getattr(self.backend, "prepare", None)):
            raise ImportError(f"{target} is no ONNX Backend: it has no function 'prepare'")
        if getattr(self.backend, "optimizes", True) is False:
            self.load_unoptimized = self.load

    def describe(self) -> Description:
        """Named by where it is found; a version is that of its package."""
        return Description(self.target, installed_version(self.target.partition(":")[0]))

    def load(self, model: bytes) -> Run:
        """Prepare the model; a backend that calls it incompatible says that it is unsupported.

        It gives all outputs, without names.
        """
        proto = onnx.load_model_from_string(model)
        names = [output.name for output in proto.graph.output]
        with _skips_are_unsupported():
            is_compatible = getattr(self.backend, "is_compatible", None)
            if is_compatible is not None and not is_compatible(proto):
                raise Unsupported("is_compatible says no")
            prepared = self.backend.prepare(proto, "CPU")

        def run(inputs: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor]:
            with _skips_are_unsupported():
                arrays = prepared.run([tensor.array for tensor in inputs])
            named = dict(zip(names, arrays, strict=True))
            return [Tensor.of(name, np.asarray(named[name])) for name in outputs]

        return run


def connect(target: str) -> OnnxBackend:
    """Return the backend at ``target``; ImportError or AttributeError where there is none."""
    return OnnxBackend(target)
