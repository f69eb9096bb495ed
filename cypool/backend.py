"""cypool as an ONNX Backend: the interface that ONNX's own test suite, and cypool's checker, drive
runtimes by.

The interface is ONNX's: a module with functions of given names. The session does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, ValuesView
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from cypool.declared import array_of
from cypool.errors import SpecValueError
from cypool.session import InferenceSession

SEVERAL = (list, tuple, Iterator, ValuesView)
"""What holds several inputs; anything else is one."""


class CypoolRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: InferenceSession) -> None:
        """Keep the session that runs it."""
        self.session = session

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """Return the outputs for a list of inputs in the model's order, for inputs by name as a
        dict, or for the one input by itself.
        """
        if not isinstance(inputs, Mapping):
            names = [argument.name for argument in self.session.get_inputs()]
            inputs = dict(zip(names, _several(inputs, names, "the model"), strict=True))
        return tuple(self.session.run(None, inputs))


class CypoolBackend(Backend):
    """The backend; its methods are also the functions of this module.

    >>> import cypool.backend, onnx, numpy as np
    >>> node = onnx.helper.make_node("GlobalLpPool", ["x"], ["y"], p=1)
    >>> cypool.backend.run_node(node, [np.array([[[1.0, -2.0]]])])
    (array([[[3.]]]),)
    """

    optimizes = False
    """Nodes run as they stand, one after the other: asked not to optimise a graph, it does what it
    always does.
    """

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Tell whether every node is of an operator that this backend, or ONNX's reference
        evaluator beneath it, has.
        """
        if not cls.supports_device(device):
            return False
        try:
            InferenceSession(model)
        except NotImplementedError:
            return False
        except Exception:  # invalid, which is another thing than incompatible, and for prepare to say
            return True
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> CypoolRep:
        """Load a model; errors as of ``cypool.session.InferenceSession``, and SpecValueError for
        another device than the CPU.
        """
        if not cls.supports_device(device):
            raise SpecValueError(f"device {device} is not supported, expected CPU")
        return CypoolRep(InferenceSession(model))

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Sequence[Any] | None = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Run one node.

        Parameters
        ----------
        node:
            The node; an input or output whose name is empty is omitted.
        inputs:
            A list with an array for each input of the node. An omitted one has None there, or no
            place; None omits any other, too.
        device:
            "CPU".
        outputs_info:
            Ignored.
        opset_version:
            The opset that the node is of; the newest that the installed onnx has, if absent.

        Returns
        -------
        tuple
            As many as the node has outputs, with None for one that is omitted.
        """
        bound = _bound(node, inputs)
        opset = onnx.helper.make_operatorsetid("", kwargs.get("opset_version", onnx.defs.onnx_opset_version()))
        opsets = [opset] if node.domain in ("", "ai.onnx") else [opset, onnx.helper.make_operatorsetid(node.domain, 1)]
        only = onnx.NodeProto()
        only.CopyFrom(node)
        del only.input[:]
        only.input.extend(name if name in bound else "" for name in node.input)
        infos = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in bound.items()
        ]
        names = [name for name in node.output if name]
        graph = onnx.helper.make_graph([only], "node", infos, [onnx.helper.make_empty_tensor_value_info(name) for name in names])
        model = onnx.helper.make_model(graph, opset_imports=opsets)
        outputs = dict(zip(names, cls.prepare(model, device).run(bound), strict=True))
        return tuple(outputs.get(name) for name in node.output)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """CPU alone."""
        return device.partition(":")[0] == "CPU"


def _several(inputs: Any, names: Sequence[str], taker: str) -> list[Any]:
    """Return as many inputs as there are names; a bare array is one, never several."""
    values = list(inputs) if isinstance(inputs, SEVERAL) else [inputs]
    if len(values) != len(names):
        raise SpecValueError(f"{taker} was given {len(values)} inputs, expected {len(names)} ({', '.join(names)})")
    return values


def _bound(node: onnx.NodeProto, inputs: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a node's inputs by name, without those that are omitted."""
    if isinstance(inputs, Mapping):
        inputs = [inputs.get(name) for name in node.input]
    values = list(inputs) if isinstance(inputs, SEVERAL) else [inputs]
    names = list(node.input) if len(values) == len(node.input) else [name for name in node.input if name]
    bound: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in zip(names, _several(values, names, f"the {node.op_type}"), strict=True):
        if value is None:
            continue
        if not name:
            raise SpecValueError(f"{node.op_type}: an array was given for an input that the node omits, expected None")
        if bound.setdefault(name, value) is not value:
            raise SpecValueError(f"{node.op_type}: two arrays were given for {name}, which the node reads twice")
    return {name: array_of(f"input {name}", value) for name, value in bound.items()}


optimizes = CypoolBackend.optimizes
is_compatible = CypoolBackend.is_compatible
prepare = CypoolBackend.prepare
run_model = CypoolBackend.run_model
run_node = CypoolBackend.run_node
supports_device = CypoolBackend.supports_device
