"""cypool's operators in ONNX's reference evaluator, which has no implementation of its own of some
of them.

People who use the evaluator already need this and nothing else:

>>> import onnx, numpy as np
>>> from cypool.reference import ReferenceEvaluator
>>> model = onnx.parser.parse_model('''
...     <ir_version: 8, opset_import: ["" : 18]>
...     g (float[1, 1, 2] x) => (float[1, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }''')
>>> ReferenceEvaluator(model).run(None, {"x": np.array([[[1, -1]]], np.float32)})
[array([[[2.]]], dtype=float32)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import onnx
import onnx.reference
from onnx.reference.op_run import OpRun, RuntimeContextError

from cypool import ops, spec
from cypool.errors import SpecError, SpecTypeError, SpecValueError
from cypool.inlining import inlined
from cypool.loading import canonical, first_line, place


class PoolingOp(OpRun):  # type: ignore[misc, unused-ignore]
    """A node of one of cypool's operators.

    Attributes are taken from the node itself, so that their types can be held to the version.
    """

    op_domain = ""
    op_schema = None  # the evaluator would fill in the defaults of the newest version

    def __init__(self, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> None:
        """Hold the attributes' types, which Python's numbers no longer show, to the version;
        SpecTypeError where they do not fit.
        """
        super().__init__(onnx_node, run_params)
        opsets: Mapping[str, int] = run_params["opsets"]
        self.opset = opsets.get("", opsets.get("ai.onnx"))
        self.version = spec.resolve(onnx_node.op_type, self.opset)
        for proto in onnx_node.attribute:
            attribute = self.version.attribute(proto.name)
            came = onnx.AttributeProto.AttributeType.Name(proto.type)
            if attribute is not None and attribute.type != came:
                raise SpecTypeError(f"{self.version.name}: attribute {proto.name} is of type {came}, expected {attribute.type}")

    def run(self, *args: Any, linked_attributes: Mapping[str, Any] | None = None, **_: Any) -> tuple[Any, ...]:
        """Return the outputs; SpecError where the inputs do not fit the version.

        Not ``_run``, whose callers hide what was raised.
        """
        attributes = {
            proto.name: (linked_attributes or {})[proto.ref_attr_name] if proto.ref_attr_name else onnx.helper.get_attribute_value(proto)
            for proto in self.onnx_node.attribute
        }
        named = [place for place, name in enumerate(self.onnx_node.output, start=1) if name]
        return ops.run(self.onnx_node.op_type, args, attributes, opset=self.opset, outputs=max(named, default=1))

    def _run(self, *args: Any, **_: Any) -> tuple[Any, ...]:
        return self.run(*args)


OPS: list[type[OpRun]] = [type(name, (PoolingOp,), {}) for name in spec.operators()]
"""One class an operator, for ``onnx.reference.ReferenceEvaluator(model, new_ops=OPS)``, which has
them outside of functions alone.
"""


PROTOS = onnx.ModelProto, onnx.GraphProto, onnx.FunctionProto, onnx.NodeProto
"""What the evaluator takes, beside a file and what onnx calls a container."""


class NodeError(RuntimeError):
    """A node of another operator than cypool's could not be run."""


class ReferenceEvaluator(onnx.reference.ReferenceEvaluator):  # type: ignore[misc, unused-ignore]
    """ONNX's reference evaluator with cypool's operators.

    Each node has the version that its opset means: in the graph, in branches and loops, and in
    functions, whatever opset those import. Parameters and methods are those of
    ``onnx.reference.ReferenceEvaluator``. Classes given as ``new_ops`` come before cypool's.

    Raises
    ------
    cypool.SpecError
        A node does not fit the operator version that its opset means.
    NotImplementedError
        A node is of an operator that neither cypool nor ONNX's reference evaluator implements.
    RuntimeError
        A node of another operator than cypool's does not fit, or can't take its inputs.
    """

    def __init__(
        self,
        proto: Any,
        opsets: dict[str, int] | None = None,
        functions: list[Any] | None = None,
        verbose: int = 0,
        new_ops: Sequence[type[OpRun]] | None = None,
        **options: Any,
    ) -> None:
        """Load a ModelProto, GraphProto, FunctionProto or NodeProto, a model's bytes or the path of
        its file.
        """
        if isinstance(proto, str | os.PathLike):
            proto = onnx.load(proto)
        elif isinstance(proto, bytes):
            proto = onnx.load_model_from_string(proto)
        if isinstance(proto, PROTOS):
            proto = canonical(proto)
        if isinstance(proto, onnx.ModelProto):
            proto = inlined(proto)
        with _explained():
            super().__init__(proto, opsets, functions, verbose, [*(new_ops or ()), *OPS], **options)

    def _init(self) -> None:
        super()._init()
        for node in self.rt_nodes_:
            node.run = _located(node.onnx_node, node.run)

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        if node.domain not in self.opsets:
            raise SpecValueError(f"{place(node)}: the model imports no opset of domain {node.domain!r}")
        try:
            make = super()._load_impl(node, input_types)
        except RuntimeContextError:  # the evaluator tries again, with types
            raise
        except (NotImplementedError, RuntimeError):
            raise NotImplementedError(
                f"{place(node)}: neither cypool nor onnx {onnx.__version__}'s reference evaluator has this operator "
                f"at opset {self.opsets[node.domain]}"
            ) from None
        return _located(node, make)


def _located(node: onnx.NodeProto, call: Callable[..., Any]) -> Callable[..., Any]:
    """Make the call name the node in its errors."""

    @wraps(call, updated=())
    def run(*args: Any, **options: Any) -> Any:
        with _explained(node):
            return call(*args, **options)

    return run


@contextmanager
def _explained(node: onnx.NodeProto | None = None) -> Iterator[None]:
    """Raise the error that stands behind the evaluator's, which wraps what comes out of a node; in
    one line, with the node's name.
    """
    try:
        yield
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ and not isinstance(cause, SpecError | NodeError | NotImplementedError):
            cause = cause.__cause__
        if isinstance(cause, SpecError | NodeError | NotImplementedError):
            raise cause from None
        if node is None:
            raise
        raise NodeError(f"{place(node)}: {type(cause).__name__}: {first_line(cause)}") from error
