"""Calls with one fault each, from what an operator version's records forbid.

Apart from the valid cases, and from any operator: what the data says of types, ranks, sizes, attributes and columns is broken by rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cypool import spec
from cypool.conformance.case import TypedValue
from cypool.conformance.cases.attributes import is_legal, some
from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.shapes import fits
from cypool.conformance.tensors import DTYPES
from cypool.spec.model import Attribute, AttributeValue, Version
from cypool.spec.shapes import parse

UNKNOWN = "no_such_attribute"
OTHER_TYPES = ("bfloat16", "int8", "uint8", "int32", "int64")  # tried where a version lacks them; they stand for all such
ANCHOR = "float"  # faults that do not depend on the element type are made once, in the cell of this one
SUSPECTS = (0, -1, math.nan, math.inf)  # attribute values of which a limit forbids some

Inputs = Mapping[str, Array]
Attributes = Mapping[str, TypedValue]


class Fault(NamedTuple):
    """A call with a fault: its label, the words for it, where it is, and the call.

    ``place`` is the attribute whose value, or the operand whose shape, is wrong, or what the column of an operand has to hold; else empty.
    """

    label: str
    text: str
    place: str
    inputs: Inputs
    attributes: Attributes


def faults(version: Version, type: str, inputs: Inputs, attributes: Attributes, columns: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Every fault of a version, each made in the valid call given; ``columns`` names the columns of operands that have limits on them."""
    for label, text, place, changed in _attribute_faults(version, attributes):
        yield Fault(label, text, place, inputs, changed)
    for label, text, place, arrays in (
        *_shape_faults(version, inputs),
        *_type_faults(version, type, inputs),
        *_column_faults(version, inputs, columns),
    ):
        yield Fault(label, text, place, arrays, attributes)


def _attribute_faults(version: Version, given: Attributes) -> Iterator[tuple[str, str, str, Attributes]]:
    for attribute in version.attributes:
        name = attribute.name
        if attribute.required:
            yield f"no-{name}", f"{name} is missing", "", {other: value for other, value in given.items() if other != name}
        for wrong in _wrongly_typed(attribute):
            yield f"{name}-as-{wrong.type.lower()}", f"{name} is of type {wrong.type}", "", {**given, name: wrong}
        for value in _illegal(attribute):
            yield f"{name}-{_words(value)}", f"{name} is {value}", name, {**given, name: TypedValue(attribute.type, value)}
        if isinstance(attribute.length, int):
            for length in (attribute.length - 1, attribute.length + 1):
                many = TypedValue(attribute.type, (_plain(attribute)[0],) * length)
                yield f"{name}-of-{length}", f"{name} has length {length}", name, {**given, name: many}
    yield "unknown-attribute", "an attribute that there is not", "", {**given, UNKNOWN: TypedValue("INT", 1)}
    known = {attribute.name for attribute in version.attributes}
    for later in spec.operator(version.op).versions:
        for attribute in later.attributes:
            if later.since_version > version.since_version and attribute.name not in known:
                known.add(attribute.name)
                text = f"{attribute.name} came with version {later.since_version}"
                yield f"later-{attribute.name}", text, "", {**given, attribute.name: TypedValue(attribute.type, some(attribute))}


def _plain(attribute: Attribute) -> tuple[int, ...] | tuple[float, ...]:
    """Some legal value, as a list."""
    value = some(attribute)
    return value if isinstance(value, tuple) else (value,)  # type: ignore[return-value]


def _wrongly_typed(attribute: Attribute) -> Iterator[TypedValue]:
    """The value as the other kind of number, as a list where it is none and the reverse, and as a string."""
    value, number, plural = _plain(attribute), attribute.type.removesuffix("S"), attribute.type.endswith("S")
    other = tuple(map(int, value)) if number == "FLOAT" else tuple(map(float, value))
    other_type = {"INT": "FLOAT", "FLOAT": "INT"}[number]
    yield TypedValue(other_type + "S", other) if plural else TypedValue(other_type, other[0])
    yield TypedValue(number, value[0]) if plural else TypedValue(number + "S", value)
    yield TypedValue("STRING", ",".join(map(str, value)))


def _illegal(attribute: Attribute) -> Iterator[AttributeValue]:
    """Values of the right type and length that a limit forbids; of a list, one element at a time."""
    for suspect in SUSPECTS:
        if isinstance(suspect, float) and attribute.type.startswith("INT"):
            continue
        number = float(suspect) if attribute.type.startswith("FLOAT") else suspect
        plain = _plain(attribute)
        for i in range(len(plain)):
            value = (*plain[:i], number, *plain[i + 1 :])
            candidate: AttributeValue = value if attribute.type.endswith("S") else number
            if not is_legal(attribute, candidate):
                yield candidate


def _shape_faults(version: Version, inputs: Inputs) -> Iterator[tuple[str, str, str, Inputs]]:
    for operand in version.inputs:
        rule, array = parse(operand.shape), inputs[operand.name]
        for rank in (len(rule.fixed) - 1, len(rule.fixed) + 1):
            if not fits(rule, rank):
                changed = array[..., None] if rank > array.ndim else array.reshape(*array.shape[: rank - 1], -1)
                yield f"{operand.name}-rank{rank}", f"{operand.name} has rank {rank}", operand.name, {**inputs, operand.name: changed}
        for axis, term in enumerate(rule.fixed):
            if isinstance(term.what, int):
                for size in (term.what - 1, term.what + 1):
                    changed = np.take(array, range(size), axis=axis, mode="wrap")
                    shape = "x".join(map(str, changed.shape))
                    yield (
                        f"{operand.name}-{shape}",
                        f"{operand.name} has shape {changed.shape}",
                        operand.name,
                        {**inputs, operand.name: changed},
                    )
    last = version.inputs[-1].name
    yield f"no-{last}", f"{last} is missing", "", {name: array for name, array in inputs.items() if name != last}
    yield "extra-input", f"an input after {last}", "", {**inputs, "extra": inputs[last]}


def _type_faults(version: Version, type: str, inputs: Inputs) -> Iterator[tuple[str, str, str, Inputs]]:
    for constraint in version.types:
        operands = [operand.name for operand in version.inputs if operand.type == constraint.name]
        if type == ANCHOR:
            for other in OTHER_TYPES:
                if other not in constraint.allowed:
                    changed = {name: np.nan_to_num(inputs[name]).astype(DTYPES[other]) for name in operands}
                    yield f"type-{other}", f"{constraint.name} is {other}", "", {**inputs, **changed}
        other = next(other for other in constraint.allowed if other != type)
        for name in operands[1:]:
            yield (
                f"{name}-as-{other}",
                f"{name} is {other}, {operands[0]} is {type}",
                "",
                {**inputs, name: inputs[name].astype(DTYPES[other])},
            )


def _column_faults(version: Version, inputs: Inputs, columns: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str, Inputs]]:
    sizes = {
        term.what: size
        for operand in version.inputs
        for term, size in zip(parse(operand.shape).fixed, inputs[operand.name].shape, strict=False)
    }
    for operand in version.inputs:
        for column, ((_, holds), name) in enumerate(zip(operand.columns, columns.get(operand.name, ()), strict=True)):
            kind, _, dimension = holds.partition(" ")
            wrong: dict[str, float] = {"nan": math.nan, "inf": math.inf, "minus-inf": -math.inf}
            if kind == "index":
                wrong = {"minus-1": -1.0, dimension: sizes[dimension], "0.5": 0.5, "minus-0.5": -0.5, "nan": math.nan}
            for words, value in wrong.items():
                changed = inputs[operand.name].copy()
                changed[len(changed) // 2, column] = value
                yield f"{name}-{words}", f"{name} is {value}", kind, {**inputs, operand.name: changed}


def _words(value: AttributeValue) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return "-".join(f"{part:g}".replace("-", "minus-") if isinstance(part, int | float) else part for part in parts)
