"""Which runtimes go by a short name, and how any other is found.

Data apart from the adapters: looking a name up imports no runtime, and a further runtime is one row.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

from cypool.conformance.runtimes.base import Runtime


@dataclass(frozen=True, slots=True)
class Entry:
    """A runtime's name, the adapter module that reaches it, what the adapter is pointed at, and how to install it."""

    name: str
    adapter: str
    target: str
    install: str


BUILT_IN = {
    entry.name: entry
    for entry in (
        Entry("cypool", "onnx_backend", "cypool.backend", "pip install 'cypool[onnx]'"),
        Entry("onnxruntime", "onnxruntime", "CPUExecutionProvider", "pip install onnxruntime"),
        Entry("reference", "reference", "onnx.reference", "pip install onnx"),
    )
}


def find(name: str) -> Entry:
    """The entry of a built-in name; anything else is an ONNX Backend, given as a module or as ``module:attribute``.

    >>> find("onnxruntime").install
    'pip install onnxruntime'
    >>> find("mylib.onnx:Backend").adapter
    'onnx_backend'
    """
    module = name.partition(":")[0]
    built_in = ", ".join(BUILT_IN)
    return BUILT_IN.get(name) or Entry(
        name, "onnx_backend", name, f"install what provides the module {module!r}, or name one of: {built_in}"
    )


def connect(name: str) -> Runtime:
    """The runtime of that name, imported into this process; ImportError or AttributeError where it is not there."""
    entry = find(name)
    adapter = importlib.import_module(f"cypool.conformance.runtimes.{entry.adapter}")
    return cast(Runtime, adapter.connect(entry.target))
