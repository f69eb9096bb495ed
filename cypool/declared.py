"""Hold what is fed against what a model declares of its inputs and outputs.

The same is asked of an input, of each element of a sequence, and of the value of an optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import onnx

from cypool.arrays import is_masked, view
from cypool.errors import SpecTypeError, SpecValueError

Shape = tuple[int | str | None, ...]
"""A dimension is a size, a name, or None where the model says nothing."""

Sizes = dict[str, tuple[int, str]]
"""The size of each named dimension, and what gave it."""

DEFAULTS_SINCE = 4
"""The IR version from which on an initializer that is also an input is a default, and
no constant.
"""

SCALARS = (bool, int, float, complex, str, list, tuple, np.generic)
"""What numpy makes an array of, and which has no memory to view."""


class Kind(Protocol):
    """The type of a value."""

    def take(self, where: str, value: Any, sizes: Sizes) -> Any:
        """Return ``value`` as the evaluator takes it; SpecTypeError or SpecValueError, that names
        ``where``, if it doesn't fit.
        """


@dataclass(frozen=True)
class Tensor:
    """Arrays of an element type and, unless it is None, a shape."""

    dtype: np.dtype[Any]
    shape: Shape | None

    def take(self, where: str, value: Any, sizes: Sizes) -> np.ndarray[Any, Any]:
        """Return an array in native byte order, on the memory of ``value`` where that
        is possible.
        """
        array = array_of(where, value)
        if array.dtype != self.dtype:
            raise SpecTypeError(f"{where} is {type_name(array.dtype)}, the model declares {type_name(self.dtype)}")
        if self.shape is not None:
            _check_shape(where, self.shape, array.shape, sizes)
        return array


@dataclass(frozen=True)
class Sequence:
    """Lists of values of one type."""

    element: Kind

    def take(self, where: str, value: Any, sizes: Sizes) -> list[Any]:
        """Return a list; a dimension's name may be another size in each element."""
        if not isinstance(value, list | tuple):
            raise SpecTypeError(f"{where} is a {type(value).__name__}, the model declares a sequence, which is a list")
        return [self.element.take(f"{where}[{place}]", element, {}) for place, element in enumerate(value)]


@dataclass(frozen=True)
class Optional:
    """A value of a type, or None."""

    element: Kind

    def take(self, where: str, value: Any, sizes: Sizes) -> Any:
        """Return None as it is."""
        return None if value is None else self.element.take(where, value, sizes)


@dataclass(frozen=True)
class NodeArg:
    """An input or an output of a model, in ONNX Runtime's words.

    ``type`` is such as "tensor(float)"; in ``shape``, a dimension is a size, a name, or None where
    the model says nothing. The shape is empty for a scalar, a tensor of unknown rank, and what is
    no tensor.
    """

    name: str
    type: str
    shape: list[int | str | None]


class Input(NamedTuple):
    """An input, and what it takes."""

    argument: NodeArg
    kind: Kind


class Declared:
    """The inputs and outputs of a model.

    ``required`` must be fed; ``defaults`` may be, and have a value in the model; ``outputs`` is
    what the model gives. All are in the model's order.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        """Read them; SpecValueError or NotImplementedError for an input that can't be fed."""
        initial = {tensor.name for tensor in model.graph.initializer}
        defaulted = initial if model.ir_version >= DEFAULTS_SINCE else set()
        self.required = [input_of(info) for info in model.graph.input if info.name not in initial]
        self.defaults = [input_of(info) for info in model.graph.input if info.name in defaulted]
        self.outputs = [argument(info) for info in model.graph.output]
        self._constants = {info.name for info in model.graph.input} & initial - defaulted

    @property
    def inputs(self) -> list[Input]:
        """All that may be fed."""
        return [*self.required, *self.defaults]

    def feed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is fed as an evaluator takes it; SpecTypeError or SpecValueError if it is not
        what the model declares.
        """
        required = [each.argument.name for each in self.required]
        kinds = {each.argument.name: each.kind for each in self.inputs}
        for name in given:
            if name in self._constants:
                raise SpecValueError(f"input {name} is an initializer, which before IR version {DEFAULTS_SINCE} is a constant")
            if name not in kinds:
                raise SpecValueError(f"the model has no input {name}, expected {', '.join(kinds) or 'none'}")
        sizes: Sizes = {}
        checked = {}
        for name, kind in kinds.items():
            if name in given:
                checked[name] = kind.take(f"input {name}", given[name], sizes)
            elif isinstance(kind, Optional):
                checked[name] = None
            elif name in required:
                raise SpecValueError(f"input {name} is missing, expected {', '.join(required)}")
        return checked


def argument(info: onnx.ValueInfoProto) -> NodeArg:
    """Return what a model says of an input or an output.

    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 2] x) => (float y) { y = Neg (x) }''')
    >>> argument(model.graph.input[0])
    NodeArg(name='x', type='tensor(float)', shape=['N', 2])
    """
    type = info.type.optional_type.elem_type if info.type.HasField("optional_type") else info.type
    return NodeArg(info.name, _text(info.type), list(_shape(type.tensor_type) or ()))


def input_of(info: onnx.ValueInfoProto) -> Input:
    """Return an input; SpecValueError where the model doesn't say what it takes,
    NotImplementedError where nothing here can give that.
    """
    return Input(argument(info), _kind(f"input {info.name}", info.type))


def _text(type: onnx.TypeProto) -> str:
    """Name a type in ONNX Runtime's words; "" where it is not stated."""
    which = type.WhichOneof("value")
    match which:
        case "tensor_type":
            return f"tensor({_element(type.tensor_type.elem_type)})" if type.tensor_type.elem_type else ""
        case "sparse_tensor_type":
            return f"sparse_tensor({_element(type.sparse_tensor_type.elem_type)})"
        case "sequence_type":
            return f"seq({_text(type.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({_text(type.optional_type.elem_type)})"
        case "map_type":
            return f"map({_element(type.map_type.key_type)},{_text(type.map_type.value_type)})"
    return ""


def _element(number: int) -> str:
    """Name an element type as ONNX does, or by its number where the installed onnx
    doesn't know it.
    """
    return onnx.TensorProto.DataType.Name(number).lower() if number in onnx.TensorProto.DataType.values() else str(number)


def _kind(where: str, type: onnx.TypeProto) -> Kind:
    """Return what a type takes."""
    text = _text(type)
    match type.WhichOneof("value"):
        case "tensor_type" if text:
            try:
                dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(type.tensor_type.elem_type))
            except KeyError:
                raise NotImplementedError(f"{where} is a {text}, which onnx {onnx.__version__} has no array for") from None
            return Tensor(dtype, _shape(type.tensor_type))
        case "sequence_type":
            return Sequence(_kind(where, type.sequence_type.elem_type))
        case "optional_type":
            return Optional(_kind(where, type.optional_type.elem_type))
    if not text:
        raise SpecValueError(f"{where} has no type in the model")
    raise NotImplementedError(f"{where} is a {text}, expected a tensor, a sequence or an optional")


def _shape(type: onnx.TypeProto.Tensor) -> Shape | None:
    """Return a tensor's shape; None where the model says nothing of it."""
    return tuple(map(_dimension, type.shape.dim)) if type.HasField("shape") else None


def _dimension(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    """Return a size, a name or None; exporters write -1 where they know nothing."""
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None
    return dim.dim_param or None


# --- what is fed ----------------------------------------------------------------------------------


def type_name(dtype: np.dtype[Any]) -> str:
    """Name an element type in a message."""
    return "string" if dtype.kind in "OUT" else dtype.name


def array_of(where: str, value: Any) -> np.ndarray[Any, Any]:
    """Return a feed as the evaluator takes it: in native byte order, and strings as objects;
    SpecTypeError if it is no array.
    """
    try:
        viewed = value if isinstance(value, SCALARS) else view(value)
        if is_masked(viewed):
            raise TypeError("its mask would be lost; expected a plain array, such as x.filled(value), or x.data if hidden values count")
        array = np.asarray(viewed)
    except (TypeError, ValueError, OverflowError) as error:
        raise SpecTypeError(f"{where} is a {type(value).__name__} that can't be taken: {error}") from None
    if array.dtype.kind in "UT":
        return array.astype(object)
    if array.dtype.kind == "O":
        for element in array.flat:
            if not isinstance(element, str):
                raise SpecTypeError(f"{where} holds a {type(element).__name__}, expected numbers of one type, or strings")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_shape(where: str, declared: Shape, came: tuple[int, ...], sizes: Sizes) -> None:
    """Hold a shape to the declared one; a name is one size in all inputs."""
    fits, reason = len(declared) == len(came), ""
    for size, actual in zip(declared, came, strict=False):
        if isinstance(size, str):
            known, giver = sizes.setdefault(size, (actual, f"{where} of shape {came}"))
            if known != actual:
                fits, reason = False, f", where {size} is {known} by {giver}"
        else:
            fits = fits and size in (None, actual)
    if not fits:
        expected = "(" + ", ".join("?" if size is None else str(size) for size in declared) + ("," if len(declared) == 1 else "") + ")"
        raise SpecValueError(f"{where} has shape {came}, the model declares {expected}{reason}")
