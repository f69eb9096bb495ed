"""Checks a call against an operator version; every error that a user can cause is raised here.

Apart from the arithmetic so that kernels and geometry can rely on what they get, and so that errors of all operators read alike:
operator-version, what came, what is allowed.
"""

from __future__ import annotations

import functools
import math
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from cypool import spec
from cypool.errors import SpecTypeError, SpecValueError
from cypool.spec import shapes
from cypool.spec.model import Attribute, AttributeValue, Operand, Version

Array = np.ndarray[Any, np.dtype[Any]]

NAMES = {"float32": "float", "float64": "double"}
"""ONNX's names of numpy's types where they differ."""


class Signature(NamedTuple):
    """What follows from a call's operator, types, shapes and attributes alone, whatever its arrays hold."""

    version: Version
    attributes: Mapping[str, Any]  # by ONNX's names, defaults filled in, FLOATs rounded to float32 as ONNX stores them
    shape: tuple[int, ...]  # of the output
    tables: tuple[tuple[Operand, int], ...]  # inputs whose values the version limits, and their places


class Call(NamedTuple):
    """A call that the version allows."""

    inputs: tuple[Array, ...]
    attributes: Mapping[str, Any]
    shape: tuple[int, ...]
    out: Array | None
    threads: int | None


def check(
    op: str,
    opset: int | None,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    out: Any = None,
    threads: int | None = None,
) -> Call:
    """The call, or SpecValueError (values, shapes, attributes) or SpecTypeError (types) that says what is wrong with it."""
    arrays = tuple([x if type(x) is np.ndarray else _array(op, opset, place, x) for place, x in enumerate(inputs)])
    forms = tuple([(array.dtype, array.shape) for array in arrays])
    try:
        signature = _signature(op, opset, forms, tuple([(name, _frozen(value)) for name, value in attributes.items()]))
    except TypeError as error:  # an attribute, or an opset, that cannot be hashed: it will not do, but that is to be said in its words
        if isinstance(error, SpecTypeError):
            raise
        signature = _signature.__wrapped__(op, opset, forms, tuple((name, (None, value)) for name, value in attributes.items()))
    for operand, place in signature.tables:
        _check_columns(signature.version, operand, arrays[place], arrays)
    if out is not None:
        _check_out(signature.version, out, signature.shape, arrays[0].dtype)
    if threads is not None:
        threads = _threads(signature.version, threads)
    return Call(arrays, signature.attributes, signature.shape, out, threads)


def _frozen(value: Any) -> tuple[Any, Any]:
    """A value as a key that tells True, 1 and 1.0 apart: in a sequence each element has its type beside it."""
    if isinstance(value, list | tuple):
        return tuple, tuple([(type(item), item) for item in value])
    return type(value), value


def _thawed(frozen: tuple[Any, Any]) -> Any:
    kind, value = frozen
    return tuple([item for _, item in value]) if kind is tuple else value


@functools.lru_cache(maxsize=1024, typed=True)
def _signature(
    op: str,
    opset: int | None,
    forms: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...],
    attributes: tuple[tuple[str, tuple[Any, Any]], ...],
) -> Signature:
    """Kept for calls to come: most calls are like the one before."""
    version = spec.resolve(op, opset)
    if len(forms) != len(version.inputs):
        names = ", ".join(operand.name for operand in version.inputs)
        raise SpecValueError(f"{version.name}: {len(forms)} inputs, expected {len(version.inputs)} ({names})")
    _check_types(version, [dtype for dtype, _ in forms])
    checked = _attributes(version, {name: _thawed(value) for name, value in attributes})
    # Every dimension of an array is a number, so every inferred one is.
    shape: tuple[int, ...] = shapes.infer(version, [shape for _, shape in forms], checked)[0]  # type: ignore[assignment]
    tables = tuple((operand, place) for place, operand in enumerate(version.inputs) if operand.columns)
    return Signature(version, checked, shape, tables)


def type_name(dtype: np.dtype[Any]) -> str:
    """ONNX's name of a numpy type, numpy's where ONNX has none."""
    return NAMES.get(dtype.name, dtype.name)


# --- inputs ------------------------------------------------------------------------------------------------------------------------------


def _array(op: str, opset: int | None, place: int, value: Any) -> Array:
    """An array on the memory of ``value``, never a copy."""
    if isinstance(value, np.ndarray):
        return value
    try:
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        return np.asarray(value) if hasattr(value, "__array__") else np.asarray(memoryview(value))
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        version = spec.resolve(op, opset)
        name = version.inputs[place].name if place < len(version.inputs) else f"input {place}"
        raise SpecTypeError(
            f"{version.name}: {name} is a {type(value).__name__} that numpy cannot view ({error}); "
            "expected an array, or what offers __dlpack__ (on the CPU), __array__ or a buffer"
        ) from None


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


def widened(array: Array) -> Array:
    """The numbers of a float array in a type that numpy calculates with: bfloat16, which it lacks, becomes float32 (exactly)."""
    if array.dtype.name == "bfloat16":
        return (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


def _check_columns(version: Version, operand: Operand, array: Array, arrays: Sequence[Array]) -> None:
    """The values of a table's columns are what the spec says of each."""
    values = widened(array)
    for column, rule in enumerate(operand.columns):
        word, _, dimension = rule.partition(" ")
        limit = _size(version, dimension, arrays) if dimension else 0
        wrong, expected = COLUMN_RULES[word](values[:, column], limit)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise SpecValueError(f"{version.name}: {operand.name}[{row}, {column}] is {float(values[row, column])!r}, expected {expected}")


def _size(version: Version, dimension: str, arrays: Sequence[Array]) -> int:
    """The size of a dimension that the shape rules name."""
    for operand, array in zip(version.inputs, arrays, strict=True):
        terms = operand.shape.split()
        if dimension in terms:
            return int(array.shape[terms.index(dimension)])
    raise KeyError(dimension)


COLUMN_RULES: dict[str, Callable[[Array, int], tuple[Array, str]]] = {
    "finite": lambda values, _: (~np.isfinite(values), "a finite number"),
    "index": lambda values, size: (
        ~((values >= 0) & (values < size) & (np.trunc(values) == values)),
        f"an integer from 0 to {size - 1}" if size else "no row at all, as that axis is empty",
    ),
}
"""What ``Operand.columns`` may ask: given a column and a size, which values are wrong and what was expected."""


# --- attributes --------------------------------------------------------------------------------------------------------------------------


def _attributes(version: Version, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for all attributes of the version."""
    for name in given:
        if version.attribute(name) is None:
            known = ", ".join(attribute.name for attribute in version.attributes) or "none"
            raise SpecValueError(f"{version.name}: unknown attribute {name}, expected one of {known}")
    result: dict[str, Any] = {}
    for attribute in version.attributes:
        if given.get(attribute.name) is not None:
            result[attribute.name] = _attribute(version, attribute, given[attribute.name])
        elif attribute.required:
            raise SpecValueError(f"{version.name}: attribute {attribute.name} is missing, expected {expected(attribute)}")
        elif attribute.default is not None:
            result[attribute.name] = attribute.default
    return result


def _attribute(version: Version, attribute: Attribute, value: Any) -> AttributeValue:
    """The value as ONNX would store it."""

    def refuse(kind: type[SpecValueError] | type[SpecTypeError]) -> NoReturn:
        raise kind(f"{version.name}: {attribute.name} is {value!r}, expected {expected(attribute)}")

    element, many = READERS[attribute.type]
    try:
        read = tuple(element(item) for item in value) if many else (element(value),)
    except TypeError:
        refuse(SpecTypeError)
    except ValueError:
        refuse(SpecValueError)
    if attribute.length is not None and len(read) != attribute.length:
        refuse(SpecValueError)
    if not all(_within(attribute, item) for item in read):
        refuse(SpecValueError)
    return read if many else read[0]


def _within(attribute: Attribute, value: float) -> bool:
    """Whether a number keeps the attribute's limits; NaN keeps none."""
    return (
        (attribute.minimum is None or value >= attribute.minimum)
        and (attribute.above is None or value > attribute.above)
        and not (attribute.finite and not math.isfinite(value))
    )


def _int(value: Any) -> int:
    """An INT: a real integer that fits 64 bits."""
    if isinstance(value, bool | np.bool_):
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


READERS: dict[str, tuple[Callable[[Any], Any], bool]] = {"INT": (_int, False), "FLOAT": (_float, False), "INTS": (_int, True)}
"""For each of ONNX's attribute types: how to read an element, and whether it is a list."""

WORDS = {"INT": "an integer", "FLOAT": "a number", "INTS": "integers"}


def expected(attribute: Attribute) -> str:
    """An attribute's values in words.

    >>> expected(Attribute("pooled_shape", "INTS", True, None, "", minimum=1, length=2))
    '2 integers, each >= 1'
    """
    words = [WORDS[attribute.type] if attribute.length is None else f"{attribute.length} {WORDS[attribute.type]}"]
    limits = [f">= {attribute.minimum:g}"] if attribute.minimum is not None else []
    limits += [f"> {attribute.above:g}"] if attribute.above is not None else []
    limits += ["finite"] if attribute.finite else []
    if limits:
        words.append(("each " if attribute.type.endswith("S") else "") + " and ".join(limits))
    return ", ".join(words) if attribute.type.endswith("S") else " ".join(words)


# --- the rest ----------------------------------------------------------------------------------------------------------------------------


def _check_out(version: Version, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """``out`` can take the result as it is."""
    if not isinstance(out, np.ndarray):
        raise SpecTypeError(f"{version.name}: out is a {type(out).__name__}, expected a numpy array")
    if out.dtype != dtype:
        raise SpecTypeError(f"{version.name}: out is {type_name(out.dtype)}, expected {type_name(dtype)}")
    if out.shape != shape:
        raise SpecValueError(f"{version.name}: out has shape {out.shape}, expected {shape}")
    if not out.flags.writeable:
        raise SpecValueError(f"{version.name}: out is read-only")


def _threads(version: Version, threads: Any) -> int:
    try:
        count = _int(threads)
    except (TypeError, ValueError):
        raise SpecTypeError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None") from None
    if count < 1:
        raise SpecValueError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None")
    return count
