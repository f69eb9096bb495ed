"""ONNX Runtime with cypool's execution provider in it.

To a report, ONNX Runtime alone is another runtime. cypool is reached by the name of its plug-in, as
any plug-in would be.
"""

from __future__ import annotations

import importlib

import onnxruntime as ort  # type: ignore[import-untyped]

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import installed_version
from cypool.conformance.asking.runtimes.onnxruntime import OnnxRuntime

OPTIMIZERS = "optimization.disable_specified_optimizers"
FOLDING = "ConstantFolding"
"""What ONNX Runtime computes itself before any provider is asked: nodes whose inputs
are constants.
"""


class OnnxRuntimeWithCypool(OnnxRuntime):
    """Sessions in which cypool runs its operators, constants among their inputs or not, and ONNX
    Runtime all others.
    """

    def __init__(self, plugin: str) -> None:
        """Sessions with the plug-in, a module."""
        super().__init__(None)
        for options in (self.as_by_default, self.unoptimized):
            importlib.import_module(plugin).options(options)
            options.add_session_config_entry(OPTIMIZERS, FOLDING)

    def describe(self) -> Description:
        """Its version is that of ONNX Runtime, with that of cypool behind it."""
        return Description("onnxruntime+cypool", f"{ort.__version__}+{installed_version('cypool')}")


def connect(target: str) -> OnnxRuntimeWithCypool:
    """ONNX Runtime with the plug-in ``target``."""
    return OnnxRuntimeWithCypool(target)
