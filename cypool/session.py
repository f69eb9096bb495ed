"""Runs a whole ONNX model: cypool's operators by its kernels, any other node by ONNX's reference evaluator.

Apart from ``reference`` because a model also states its inputs' names, types and shapes, and what is fed is held to them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from cypool.errors import SpecError, SpecTypeError, SpecValueError
from cypool.functions import inlined
from cypool.reference import OPS


class Declared(NamedTuple):
    """What a model says of an input; in ``shape``, a dimension is a size, a name, or None; the whole is None where it says nothing."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str | None, ...] | None


class Session:
    """A loaded model.

    Parameters
    ----------
    model:
        A ModelProto, its serialised bytes, or the path of a file.

    Raises
    ------
    cypool.SpecError
        A node does not fit the operator version that the model's opset means.
    NotImplementedError
        A node is of an operator that neither cypool nor ONNX's reference evaluator implements.

    Examples
    --------
    >>> import numpy as np, onnx
    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["" : 18]> g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool (x) }''')
    >>> Session(model).run({"x": np.array([[[3, 4]]], np.float32)})
    {'y': array([[[5.]]], dtype=float32)}
    """

    def __init__(self, model: onnx.ModelProto | bytes | str | Path) -> None:
        """Load the model."""
        if isinstance(model, str | Path):
            model = onnx.load(model)
        elif isinstance(model, bytes):
            model = onnx.load_model_from_string(model)
        constants = {tensor.name for tensor in model.graph.initializer}
        self.inputs = tuple(_declared(info) for info in model.graph.input if info.name not in constants)
        self.outputs = tuple(info.name for info in model.graph.output)
        with _unwrapped():
            self._evaluator = _Evaluator(inlined(model))

    def run(self, feeds: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """The outputs by name, for arrays by input name; SpecError where those are not what the model declares."""
        names = [declared.name for declared in self.inputs]
        for name in feeds:
            if name not in names:
                raise SpecValueError(f"the model has no input {name}, expected {', '.join(names)}")
        sizes: dict[str, int] = {}
        for declared in self.inputs:
            if declared.name not in feeds:
                raise SpecValueError(f"input {declared.name} is missing, expected {', '.join(names)}")
            _check(declared, np.asarray(feeds[declared.name]), sizes)
        with _unwrapped():
            outputs = self._evaluator.run(None, dict(feeds))
        return dict(zip(self.outputs, outputs, strict=True))


class _Evaluator(ReferenceEvaluator):  # type: ignore[misc, unused-ignore]
    """Has cypool's operators in functions too: the evaluator makes one of its own class for each."""

    def __init__(self, proto: Any, **options: Any) -> None:
        super().__init__(proto, **{"new_ops": OPS, **options})


@contextmanager
def _unwrapped() -> Iterator[None]:
    """SpecErrors as they were raised: the evaluator wraps what comes out of a node in a TypeError of its own."""
    try:
        yield
    except TypeError as error:
        if isinstance(error.__cause__, SpecError):
            raise error.__cause__ from None
        raise


def _declared(info: onnx.ValueInfoProto) -> Declared:
    tensor = info.type.tensor_type
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if not tensor.HasField("shape"):
        return Declared(info.name, dtype, None)
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor.shape.dim)
    return Declared(info.name, dtype, shape)


def _check(declared: Declared, array: np.ndarray[Any, Any], sizes: dict[str, int]) -> None:
    """``sizes`` collects what the symbolic dimensions turn out to be; one name is one size."""
    if array.dtype != declared.dtype:
        raise SpecTypeError(f"input {declared.name} is {array.dtype.name}, the model declares {declared.dtype.name}")
    if declared.shape is None:
        return
    expected = "(" + ", ".join("?" if size is None else str(size) for size in declared.shape) + ")"
    fits = len(declared.shape) == array.ndim
    for size, came in zip(declared.shape, array.shape, strict=False):
        known = sizes.setdefault(size, came) if isinstance(size, str) else size
        fits = fits and (known is None or known == came)
    if not fits:
        raise SpecValueError(f"input {declared.name} has shape {array.shape}, the model declares {expected}")
