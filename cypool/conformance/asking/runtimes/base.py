"""The protocol that every runtime's adapter keeps: describe, load, run.

An adapter imports this one small file, and nothing here imports a runtime.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from cypool.conformance.asking.protocol import Description
from cypool.conformance.tensors import Tensor


class Unsupported(Exception):
    """The runtime itself says that it does not have what the model asks for.

    Never a guess by the adapter.
    """


Run: TypeAlias = Callable[[Sequence[Tensor], Sequence[str]], Sequence[Tensor]]
"""A loaded model: given the inputs, in the model's order, and the names of the outputs wanted, it
gives those outputs.
"""


class Runtime(Protocol):
    """A runtime, as the worker sees it.

    One that can leave a graph as it is, without optimising it, has a method ``load_unoptimized``
    beside ``load``.

    Both phases raise ``Unsupported`` for what the runtime says it lacks; any other exception is the
    runtime refusing, in the phase where it came.
    """

    def describe(self) -> Description:
        """The runtime's name and version."""
        ...

    def load(self, model: bytes) -> Run:
        """Take in a serialised ModelProto, as the runtime does before any input is there."""
        ...


def installed_version(module: str) -> str:
    """Return the version of the package that a module belongs to: what it calls ``__version__``,
    else what it was installed as, else "".
    """
    package = module.partition(".")[0]
    version = getattr(importlib.import_module(package), "__version__", None)
    if version is not None:
        return str(version)
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
