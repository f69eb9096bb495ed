"""cypool as an ONNX Backend: the interface that ONNX's own test suite, and cypool's checker, drive runtimes by.

Apart from ``session`` because the interface is ONNX's, a module with functions of given names; what they do is the session's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx.backend.base import Backend, BackendRep

from cypool.session import Session


class CypoolRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: Session) -> None:
        """Keep the session that runs it."""
        self.session = session

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The outputs, for inputs in the model's order (or by name, as a dict)."""
        feeds = inputs if isinstance(inputs, dict) else dict(zip((i.name for i in self.session.inputs), inputs, strict=True))
        return tuple(self.session.run(feeds).values())


class CypoolBackend(Backend):
    """The backend; its methods are also the functions of this module.

    >>> import cypool.backend, onnx, numpy as np
    >>> node = onnx.helper.make_node("GlobalLpPool", ["x"], ["y"], p=1)
    >>> cypool.backend.run_node(node, [np.array([[[1.0, -2.0]]])])
    (array([[[3.]]]),)
    """

    optimizes = False
    """Nodes run as they stand, one after the other: asked not to optimise a graph, it does what it always does."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Whether every node is of an operator that this backend, or ONNX's reference evaluator beneath it, has."""
        try:
            Session(model)
        except NotImplementedError:
            return False
        except Exception:  # invalid, which is another thing than incompatible, and for prepare to say
            return True
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> CypoolRep:
        """Load a model; errors as of ``cypool.session.Session``."""
        return CypoolRep(Session(model))

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Sequence[Any] | None = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Run one node at the opset ``opset_version`` (the newest that is known, if absent)."""
        opset = onnx.helper.make_operatorsetid("", kwargs.get("opset_version", onnx.defs.onnx_opset_version()))
        infos = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(node.input, inputs, strict=True)
        ]
        outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = onnx.helper.make_graph([node], "node", infos, outputs)
        return cls.prepare(onnx.helper.make_model(graph, opset_imports=[opset]), device).run(list(inputs))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """CPU alone."""
        return device.partition(":")[0] == "CPU"


optimizes = CypoolBackend.optimizes
is_compatible = CypoolBackend.is_compatible
prepare = CypoolBackend.prepare
run_model = CypoolBackend.run_model
run_node = CypoolBackend.run_node
supports_device = CypoolBackend.supports_device
