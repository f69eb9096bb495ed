"""Checks a call against an operator version; every error that a user can cause is raised here.

Apart from the arithmetic so that kernels and geometry can rely on what they get, and so that errors of all operators read alike:
operator-version, what came, what is allowed.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from cypool import spec
from cypool.arrays import is_masked, view
from cypool.errors import SpecTypeError, SpecValueError
from cypool.spec import shapes
from cypool.spec.limits import allows, default, expected
from cypool.spec.model import Attribute, AttributeValue, Version

Array = np.ndarray[Any, np.dtype[Any]]

Form = tuple[np.dtype[Any], tuple[int, ...]]
"""Type and shape of an array."""

LARGEST = int(np.iinfo(np.intp).max)
"""Bytes that an array can have at most."""

NAMES = {"float32": "float", "float64": "double"}
"""ONNX's names of numpy's types where they differ."""


class Signature(NamedTuple):
    """What follows from a call's operator, types, shapes and attributes, whatever its arrays hold."""

    version: Version
    attributes: Mapping[str, Any]  # by ONNX's names, defaults filled in, FLOATs rounded to float32 as ONNX stores them
    shape: tuple[int, ...]  # of the output
    dtype: np.dtype[Any]  # of the output, in native byte order


def inputs_of(op: str, opset: int | None, inputs: Any) -> tuple[Any, ...]:
    """Return the inputs of a call as a tuple; SpecTypeError for anything but a list or a tuple.

    An array can be iterated over too, and would be taken apart along its first axis.
    """
    if isinstance(inputs, list | tuple):
        return tuple(inputs)
    version = spec.resolve(op, opset)
    names = ", ".join(operand.name for operand in version.inputs)
    raise SpecTypeError(f"{version.name}: inputs is a {type(inputs).__name__}, expected a list of inputs ({names})")


def attributes_of(op: str, opset: int | None, attributes: Any) -> Mapping[str, Any]:
    """Return the attributes of a call; SpecTypeError for anything but a mapping or None."""
    if attributes is None:
        return {}
    if isinstance(attributes, Mapping):
        return attributes
    version = spec.resolve(op, opset)
    raise SpecTypeError(
        f"{version.name}: attributes is a {type(attributes).__name__}, expected a dictionary of attributes by name, or None"
    )


def arrays(op: str, opset: int | None, inputs: Sequence[Any]) -> list[Array]:
    """Arrays on the memory of the inputs, never copies; or SpecTypeError."""
    return [x if type(x) is np.ndarray else _array(op, opset, place, x) for place, x in enumerate(inputs)]


def signature(op: str, opset: int | None, attributes: Mapping[str, Any], forms: Sequence[Form]) -> Signature:
    """What the version says of a call with these attributes and arrays of these forms; or SpecValueError (values, shapes, attributes) or
    SpecTypeError (types) that says what is wrong with it."""
    version = spec.resolve(op, opset)
    dtypes, sizes = [dtype for dtype, _ in forms], [shape for _, shape in forms]
    if len(dtypes) != len(version.inputs):
        names = ", ".join(operand.name for operand in version.inputs)
        raise SpecValueError(f"{version.name}: {len(dtypes)} inputs, expected {len(version.inputs)} ({names})")
    _check_types(version, dtypes)
    checked = _attributes(version, attributes, shapes.spatial(version, sizes))
    # Every dimension of an array is a number, so every inferred one is.
    shape: tuple[int, ...] = shapes.infer(version, sizes, checked)[0]  # type: ignore[assignment]
    dtype = dtypes[0]
    _check_size(version, shape, dtype.itemsize)
    return Signature(version, checked, shape, dtype if dtype.isnative else dtype.newbyteorder("="))


def check_values(version: Version, inputs: Sequence[Array]) -> None:
    """SpecValueError for the first number in a table that the version does not allow there."""
    for operand, array in zip(version.inputs, inputs, strict=True):
        for column, (_, rule) in enumerate(operand.columns):
            word, _, dimension = rule.partition(" ")
            limit = _size(version, dimension, inputs) if dimension else 0
            fits, expected = COLUMN_RULES[word]
            for row, value in enumerate(map(float, array[:, column])):
                if not fits(value, limit):
                    wish = expected.format(last=limit - 1) if limit or not dimension else "no row at all, as that axis is empty"
                    raise SpecValueError(f"{version.name}: {operand.name}[{row}, {column}] is {value!r}, expected {wish}")


def type_name(dtype: np.dtype[Any]) -> str:
    """ONNX's name of a numpy type, numpy's where ONNX has none."""
    return NAMES.get(dtype.name, dtype.name)


# --- inputs ------------------------------------------------------------------------------------------------------------------------------


def _array(op: str, opset: int | None, place: int, value: Any) -> Array:
    """An array on the memory of ``value``, never a copy."""
    try:
        array = view(value)
    except TypeError as error:
        raise SpecTypeError(
            f"{_operand(op, opset, place)} is a {type(value).__name__} that numpy cannot view ({error}); "
            "expected an array, or what offers __dlpack__ (on the CPU), __array__ or a buffer"
        ) from None
    if is_masked(array):
        raise SpecTypeError(
            f"{_operand(op, opset, place)} is a masked array, and pooling has no masks; "
            "expected a plain array, such as x.filled(value), or x.data if hidden values count"
        )
    return np.asarray(array)  # a plain one, as others have a reshape of their own


def _operand(op: str, opset: int | None, place: int) -> str:
    """Name an input in an error: operator-version and operand."""
    version = spec.resolve(op, opset)
    return f"{version.name}: {version.inputs[place].name if place < len(version.inputs) else f'input {place}'}"


def _check_size(version: Version, shape: tuple[int, ...], itemsize: int) -> None:
    """Refuse an output that no array can hold; numpy counts an empty axis as 1."""
    size = itemsize * math.prod(max(dimension, 1) for dimension in shape)
    if size > LARGEST:
        raise SpecValueError(f"{version.name}: the output has shape {shape}, {size} bytes, expected at most {LARGEST} bytes")


def _check_types(version: Version, dtypes: Sequence[np.dtype[Any]]) -> None:
    """Each type is one that the constraint allows, and the same wherever the constraint stands."""
    bound: dict[str, tuple[str, str]] = {}
    for operand, dtype in zip(version.inputs, dtypes, strict=True):
        name = type_name(dtype)
        allowed = version.constraint(operand.type).allowed
        if name not in allowed:
            raise SpecTypeError(f"{version.name}: {operand.name} is {name}, expected one of {', '.join(allowed)}")
        first, before = bound.setdefault(operand.type, (operand.name, name))
        if name != before:
            raise SpecTypeError(f"{version.name}: {operand.name} is {name}, expected {before} as {first} is")


def _size(version: Version, dimension: str, arrays: Sequence[Array]) -> int:
    """The size of a dimension that the shape rules name."""
    for operand, array in zip(version.inputs, arrays, strict=True):
        terms = operand.shape.split()
        if dimension in terms:
            return int(array.shape[terms.index(dimension)])
    raise KeyError(dimension)


COLUMN_RULES: dict[str, tuple[Callable[[float, int], bool], str]] = {
    "finite": (lambda value, _: math.isfinite(value), "a finite number"),
    "index": (lambda value, size: 0 <= value < size and value == math.trunc(value), "an integer from 0 to {last}"),
}
"""What ``Operand.columns`` may ask: whether a value fits, given a size, and in words."""


# --- attributes --------------------------------------------------------------------------------------------------------------------------


def _attributes(version: Version, given: Mapping[str, Any], spatial: int | None) -> dict[str, Any]:
    """Return values for all attributes of the version; ``spatial`` is how many dimensions the star of the inputs has."""
    for name in given:
        if version.attribute(name) is None:
            known = ", ".join(attribute.name for attribute in version.attributes) or "none"
            raise SpecValueError(f"{version.name}: unknown attribute {name}, expected one of {known}")
    result: dict[str, Any] = {}
    for attribute in version.attributes:
        if given.get(attribute.name) is not None:
            result[attribute.name] = _attribute(version, attribute, given[attribute.name], spatial)
        elif attribute.required:
            raise SpecValueError(f"{version.name}: attribute {attribute.name} is missing, expected {expected(attribute, spatial)}")
        elif (value := default(attribute, spatial)) is not None:
            result[attribute.name] = value
    return result


def _attribute(version: Version, attribute: Attribute, value: Any, spatial: int | None) -> AttributeValue:
    """The value as ONNX would store it."""

    def refuse(kind: type[SpecValueError] | type[SpecTypeError]) -> NoReturn:
        raise kind(f"{version.name}: {attribute.name} is {value!r}, expected {expected(attribute, spatial)}")

    element, many = READERS[attribute.type]
    try:
        read = tuple(element(item) for item in value) if many else (element(value),)
    except TypeError:
        refuse(SpecTypeError)
    except ValueError:
        refuse(SpecValueError)
    found: AttributeValue = read if many else read[0]
    if not allows(attribute, found, spatial):
        refuse(SpecValueError)
    return found


def _int(value: Any) -> int:
    """An INT: a real integer that fits 64 bits."""
    if isinstance(value, bool | np.bool_) or is_masked(value):
        raise TypeError
    result = operator.index(value)
    if not -(2**63) <= result < 2**63:
        raise ValueError
    return result


def _float(value: Any) -> float:
    """A FLOAT: float32 before anything else, as ONNX stores it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, float | int | np.floating | np.integer):
        raise TypeError
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _string(value: Any) -> str:
    """A STRING: text, or the bytes that ONNX stores it as."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if not isinstance(value, str):
        raise TypeError
    return value


READERS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "INT": (_int, False),
    "FLOAT": (_float, False),
    "STRING": (_string, False),
    "INTS": (_int, True),
    "FLOATS": (_float, True),
}
"""For each of ONNX's attribute types: how to read an element, and whether it is a list."""


# --- the rest ----------------------------------------------------------------------------------------------------------------------------


def check_out(version: Version, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """``out`` can take the result as it is."""
    if not isinstance(out, np.ndarray):
        raise SpecTypeError(f"{version.name}: out is a {type(out).__name__}, expected a numpy array")
    if is_masked(out):
        raise SpecTypeError(f"{version.name}: out is a masked array, and pooling has no masks; expected a plain array, such as out.data")
    if out.dtype != dtype:
        order = " of another byte order" if type_name(out.dtype) == type_name(dtype) else ""
        raise SpecTypeError(f"{version.name}: out is {type_name(out.dtype)}{order}, expected {type_name(dtype)}")
    if out.shape != shape:
        raise SpecValueError(f"{version.name}: out has shape {out.shape}, expected {shape}")
    if not out.flags.writeable:
        raise SpecValueError(f"{version.name}: out is read-only")


def check_threads(version: Version, threads: Any) -> int:
    """How many threads are asked for."""
    try:
        count = _int(threads)
    except (TypeError, ValueError):
        raise SpecTypeError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None") from None
    if count < 1:
        raise SpecValueError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None")
    return count
