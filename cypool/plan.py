"""Check a call against an operator version; every error that a user can cause is raised here.

Kernels and geometry can rely on what they get, and errors of all operators read alike:
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
from cypool.spec import shapes, windows
from cypool.spec.elements import BY_NUMPY, ELEMENTS
from cypool.spec.limits import allows, default, expected
from cypool.spec.model import Attribute, AttributeValue, Operand, Version
from cypool.spec.windows import Axis

Array = np.ndarray[Any, np.dtype[Any]]

Form = tuple[np.dtype[Any], tuple[int, ...]]
"""Type and shape of an array."""

LARGEST = int(np.iinfo(np.intp).max)
"""Bytes that an array can have at most."""

MOST_AXES = 64
"""Axes that an array can have at most."""


class Signature(NamedTuple):
    """The facts about a call that follow before arithmetic begins.

    They depend on operator, attributes, types, shapes and the values of an input that is a shape.
    """

    version: Version
    attributes: Mapping[str, Any]  # by ONNX's names, defaults filled in, FLOATs rounded to float32 as ONNX stores them
    inputs: tuple[Form | None, ...]  # one for each that the version has; None where it is left out
    outputs: tuple[Form, ...]  # those that are wanted, in the byte order of the inputs of their type
    axes: tuple[Axis, ...]  # the windows along each spatial axis, where attributes make windows
    stated: int  # place of the input whose values are a shape, -1 where there is none


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


def arrays(op: str, opset: int | None, inputs: Sequence[Any]) -> list[Array | None]:
    """Return arrays on the memory of the inputs, never copies, and None for what is left out; or
    raise SpecTypeError.
    """
    return [x if x is None or type(x) is np.ndarray else _array(op, opset, place, x) for place, x in enumerate(inputs)]


def signature(
    op: str, opset: int | None, attributes: Mapping[str, Any], inputs: Sequence[Array | None], wanted: int | None = None
) -> Signature:
    """Check a call and return what follows from it; ``wanted`` is how many outputs are asked for,
    None the required ones.

    SpecValueError (values, shapes, attributes, numbers of operands) or SpecTypeError (types) says
    what is wrong.
    """
    version = spec.resolve(op, opset)
    shapes.check_count(version, len(inputs), [array is not None for array in inputs])
    inputs = [*inputs, *(None,) * (len(version.inputs) - len(inputs))]
    many = _outputs_wanted(version, wanted)
    dtypes = _check_types(version, inputs)
    sizes = [None if array is None else array.shape for array in inputs]
    checked = _attributes(version, attributes, shapes.spatial(version, sizes))
    stated = _stated(version, inputs)
    values = {} if stated < 0 else {version.inputs[stated].name: _shape_in(version, inputs[stated])}
    # Every dimension of an array is a number, so every inferred one is.
    found: tuple[tuple[int, ...], ...] = shapes.infer(version, sizes, checked, values)  # type: ignore[assignment]
    outputs = tuple((_output_type(version, operand, dtypes), shape) for operand, shape in zip(version.outputs, found, strict=True))[:many]
    for operand, (dtype, shape) in zip(version.outputs, outputs, strict=False):
        _check_size(version, operand, shape, dtype.itemsize)
    axes: tuple[Axis, ...] = ()
    if version.windows is not None and not version.windows.inverse:
        axes = windows.axes(version, sizes[0][2:], checked)  # type: ignore[index]
    forms = tuple(None if array is None else (array.dtype, array.shape) for array in inputs)
    return Signature(version, checked, forms, outputs, axes, stated)


def refuse(version: Version, inputs: Sequence[Array | None], outputs: Sequence[Array], row: int) -> NoReturn:
    """Raise SpecValueError for what a kernel has refused: a number that the version does not allow,
    or a row that asks for more than it bounds.
    """
    _check_values(version, inputs, outputs)
    for operand, array in zip(version.inputs, inputs, strict=False):
        if operand.bound and array is not None:
            raise SpecValueError(f"{version.name}: {operand.name}[{row}] is {list(map(float, array[row]))}, expected {operand.bound}")
    raise AssertionError(f"{version.name}: a kernel refused row {row} for no reason that the data knows")


def _check_values(version: Version, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> None:
    """Raise SpecValueError for the first number that the version does not allow where it stands."""
    sizes = {output.name: array.size for output, array in zip(version.outputs, outputs, strict=False)}
    sizes |= {
        name: size
        for name, size in shapes.bind(version, [None if array is None else array.shape for array in inputs]).sizes.items()
        if isinstance(size, int)
    }
    for operand, array in zip(version.inputs, inputs, strict=False):
        if array is None:
            continue
        for column, (_, holds) in enumerate(operand.columns):
            for row, value in enumerate(map(float, array[:, column])):
                _check_value(version, f"{operand.name}[{row}, {column}]", value, holds, sizes)
        if operand.holds and not operand.holds.startswith("shape "):
            for place in np.ndindex(array.shape):
                _check_value(version, f"{operand.name}{list(place)}", array[place].item(), operand.holds, sizes)


def _check_value(version: Version, place: str, value: float, holds: str, sizes: Mapping[str, int]) -> None:
    word, _, dimension = holds.partition(" ")
    limit = sizes[dimension] if dimension else 0
    fits, wish = HELD[word]
    if not fits(value, limit):
        wish = wish.format(last=limit - 1) if limit or not dimension else f"none at all, as {dimension} is empty"
        raise SpecValueError(f"{version.name}: {place} is {value!r}, expected {wish}")


HELD: dict[str, tuple[Callable[[float, int], bool], str]] = {
    "finite": (lambda value, _: math.isfinite(value), "a finite number"),
    "index": (lambda value, size: 0 <= value < size and value == math.trunc(value), "an integer from 0 to {last}"),
}
"""Whether a number is what ``Operand.holds`` asks for, given a size, and in words."""


def type_name(dtype: np.dtype[Any]) -> str:
    """ONNX's name of a numpy type, numpy's where ONNX has none."""
    return BY_NUMPY.get(dtype.name, dtype.name)


# --- inputs ---------------------------------------------------------------------------------------


def _array(op: str, opset: int | None, place: int, value: Any) -> Array:
    """Return an array on the memory of ``value``, never a copy."""
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


def _check_size(version: Version, operand: Operand, shape: tuple[int, ...], itemsize: int) -> None:
    """Refuse an output that no array can hold; numpy counts an empty axis as 1."""
    size = itemsize * math.prod(max(dimension, 1) for dimension in shape)
    if size > LARGEST or len(shape) > MOST_AXES:
        name = "the output" if len(version.outputs) == 1 else operand.name
        raise SpecValueError(f"{version.name}: {name} has shape {shape}, {size} bytes, expected at most {LARGEST} bytes")


def _check_types(version: Version, inputs: Sequence[Array | None]) -> dict[str, np.dtype[Any]]:
    """Return the type that each constraint stands for, one that it allows and the same wherever it
    stands.
    """
    bound: dict[str, tuple[str, np.dtype[Any]]] = {}
    for operand, array in zip(version.inputs, inputs, strict=True):
        if array is None:
            continue
        name = type_name(array.dtype)
        allowed = version.constraint(operand.type).allowed
        if name not in allowed:
            wish = f"one of {', '.join(allowed)}" if len(allowed) > 1 else allowed[0]
            raise SpecTypeError(f"{version.name}: {operand.name} is {name}, expected {wish}")
        first, before = bound.setdefault(operand.type, (operand.name, array.dtype))
        if name != type_name(before):
            raise SpecTypeError(f"{version.name}: {operand.name} is {name}, expected {type_name(before)} as {first} is")
    return {constraint: dtype for constraint, (_, dtype) in bound.items()}


def _output_type(version: Version, operand: Operand, bound: Mapping[str, np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type of an output: that of the inputs of its constraint, or the only one that the
    constraint allows.
    """
    if operand.type in bound:
        return bound[operand.type]
    (only,) = version.constraint(operand.type).allowed
    return np.dtype(ELEMENTS[only].numpy)


def _outputs_wanted(version: Version, wanted: int | None) -> int:
    """Return the number of outputs that are asked for."""
    least, most = version.least_outputs, len(version.outputs)
    if wanted is None:
        return least
    words = str(most) if least == most else f"{least} to {most}"
    names = ", ".join(f"{operand.name}{'?' if operand.optional else ''}" for operand in version.outputs)
    try:
        many = _int(wanted)
    except (TypeError, ValueError):
        raise SpecTypeError(f"{version.name}: outputs is {wanted!r}, expected {words} ({names}) or None") from None
    if not least <= many <= most:
        raise SpecValueError(f"{version.name}: {many} outputs, expected {words} ({names})")
    return many


def _stated(version: Version, inputs: Sequence[Array | None]) -> int:
    """Return the place of the input whose values are a shape, -1 where there is none."""
    for place, (operand, array) in enumerate(zip(version.inputs, inputs, strict=True)):
        if array is not None and operand.holds.startswith("shape "):
            return place
    return -1


def _shape_in(version: Version, array: Array | None) -> tuple[int, ...]:
    """Return the values of an input that is a shape; of one that is too long, enough to tell so."""
    assert array is not None
    return tuple(array[: MOST_AXES + 1].tolist()) if array.ndim == 1 else ()


# --- attributes -----------------------------------------------------------------------------------


def check_attributes(version: Version, given: Mapping[str, Any]) -> None:
    """Raise the errors of attributes that hold for any inputs: a limit exceeded, a missing
    attribute.
    """
    _attributes(version, given, None)


def _attributes(version: Version, given: Mapping[str, Any], spatial: int | None) -> dict[str, Any]:
    """Return values for all attributes of the version; ``spatial`` is how many dimensions the star
    of the inputs has.
    """
    for name, value in given.items():
        if version.attribute(name) is None and not (value is None and _is_of_another_version(version, name)):
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


def _is_of_another_version(version: Version, name: str) -> bool:
    """Tell whether the operator has the attribute in some version.

    Public functions name the attributes of all versions, and give None to those left out.
    """
    return any(other.attribute(name) for other in spec.operator(version.op).versions)


def _attribute(version: Version, attribute: Attribute, value: Any, spatial: int | None) -> AttributeValue:
    """Return the value as ONNX would store it."""

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
    """Return an INT: a real integer that fits 64 bits."""
    if isinstance(value, bool | np.bool_) or is_masked(value):
        raise TypeError
    result = operator.index(value)
    if not -(2**63) <= result < 2**63:
        raise ValueError
    return result


def _float(value: Any) -> float:
    """Return a FLOAT: float32 before anything else, as ONNX stores it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, float | int | np.floating | np.integer):
        raise TypeError
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _string(value: Any) -> str:
    """Return a STRING: text, or the bytes that ONNX stores it as."""
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


# --- the rest -------------------------------------------------------------------------------------


def outs_of(version: Version, out: Any, forms: Sequence[Form]) -> tuple[Array, ...]:
    """Return the arrays to write to, of these types and shapes: ``out`` is one, or a tuple of them.

    SpecValueError or SpecTypeError where one can't take its output as it is.
    """
    outs: tuple[Any, ...] = out if isinstance(out, tuple) else (out,)
    if len(outs) != len(forms):
        wish = "an array" if len(forms) == 1 else f"a tuple of {len(forms)} arrays"
        came = f"a tuple of {len(outs)}" if isinstance(out, tuple) else f"a {type(out).__name__}"
        raise SpecValueError(f"{version.name}: out is {came}, expected {wish}")
    for place, (array, (dtype, shape)) in enumerate(zip(outs, forms, strict=True)):
        _check_out(version, "out" if len(outs) == 1 else f"out[{place}]", array, shape, dtype)
    for place, array in enumerate(outs):
        if any(np.may_share_memory(array, other) for other in outs[:place]):
            raise SpecValueError(f"{version.name}: out[{place}] may share memory with another of out, expected arrays of their own")
    return outs


def _check_out(version: Version, name: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray):
        raise SpecTypeError(f"{version.name}: {name} is a {type(out).__name__}, expected a numpy array")
    if is_masked(out):
        raise SpecTypeError(f"{version.name}: {name} is a masked array, and pooling has no masks; expected a plain array, such as out.data")
    if out.dtype != dtype:
        order = " of another byte order" if type_name(out.dtype) == type_name(dtype) else ""
        raise SpecTypeError(f"{version.name}: {name} is {type_name(out.dtype)}{order}, expected {type_name(dtype)}")
    if out.shape != shape:
        raise SpecValueError(f"{version.name}: {name} has shape {out.shape}, expected {shape}")
    if not out.flags.writeable:
        raise SpecValueError(f"{version.name}: {name} is read-only")


def check_threads(version: Version, threads: Any) -> int:
    """Return the number of threads that are asked for."""
    try:
        count = _int(threads)
    except (TypeError, ValueError):
        raise SpecTypeError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None") from None
    if count < 1:
        raise SpecValueError(f"{version.name}: threads is {threads!r}, expected an integer >= 1 or None")
    return count
