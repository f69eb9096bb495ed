"""Reads the records of a data file: attributes, operands, type constraints, rulings, examples, each from one strict table.

Apart from the loader, which folds versions and does not care what is in a record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from cypool.errors import SpecValueError
from cypool.spec import shapes
from cypool.spec.model import Attribute, AttributeValue, Example, InferenceGap, Operand, Reading, Ruling, TypeConstraint
from cypool.spec.strict import Table

ATTRIBUTE_TYPES: Mapping[str, type] = {"INT": int, "FLOAT": float, "STRING": str, "INTS": int, "FLOATS": float}
"""ONNX's attribute types that the data may use, and what their values (a list's elements) are in Python."""

ELEMENT_TYPES = frozenset(
    ["float16", "bfloat16", "float", "double", "bool", "string", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
"""ONNX's short names of element types."""

Spanned: TypeAlias = tuple[Example, tuple[int, ...]]
"""An example and the versions it belongs to."""


def is_list(attribute_type: str) -> bool:
    """Whether values of that attribute type are lists."""
    return attribute_type.endswith("S")


def attributes(table: Table, key: str) -> dict[str, Attribute]:
    """The attributes under a key, by name."""
    with table.table(key) as entries:
        return {name: _attribute(name, entries.table(name)) for name in entries}


def operands(table: Table, key: str) -> dict[str, Operand]:
    """The inputs or outputs listed under a key, by name."""
    found: dict[str, Operand] = {}
    for entry in table.tables(key, label="name"):
        operand = _operand(entry)
        if operand.name in found:
            entry.refuse("stands there twice")
        found[operand.name] = operand
    if not found:
        table.refuse("is missing or empty", key)
    return found


def constraints(table: Table, key: str) -> dict[str, TypeConstraint]:
    """The type constraints under a key, by name."""
    with table.table(key) as entries:
        return {name: constraint(name, entries) for name in entries}


def constraint(name: str, table: Table) -> TypeConstraint:
    """The type constraint of that name, given whole."""
    with table.table(name) as entry:
        return TypeConstraint(name=name, allowed=element_types(entry, "allowed"), doc=entry.take("doc", str))


def element_types(table: Table, key: str) -> tuple[str, ...]:
    """A list of element types, each once."""
    names = table.list_of(key, str)
    for name in names:
        if name not in ELEMENT_TYPES:
            table.refuse(f"{name!r} is no element type", key)
    if not names or len(set(names)) < len(names):
        table.refuse(f"expected one or more types, each once, got {list(names)}", key)
    return names


def gaps(table: Table, key: str) -> tuple[InferenceGap, ...]:
    """The places where ONNX's shape inference says less, listed under a key."""
    found = []
    for entry in table.tables(key):
        with entry:
            found.append(InferenceGap(text=entry.take("text", str), shapes=_shapes(entry), attributes=_given(entry)))
    return tuple(found)


def ruling(table: Table, since_versions: Sequence[int]) -> Ruling:
    """One ruling; it holds for all of an operator's versions unless it has ``since`` or ``until``."""
    with table:
        return Ruling(
            id=_id(table, "id"),
            question=table.take("question", str),
            chosen=_id(table, "chosen"),
            choice=table.take("choice", str),
            evidence=table.take("evidence", str),
            readings=tuple(_reading(entry) for entry in table.tables("readings", label="name")),
            since_versions=_span(table, since_versions),
        )


def example(table: Table, since_versions: Sequence[int]) -> Spanned:
    """One example and the versions it belongs to: all, unless it has ``since`` or ``until``."""
    with table:
        title = table.take("title", str)
        span = _span(table, since_versions)
        inputs = []
        with table.table("inputs") as entries:
            for name in entries:
                with entries.table(name) as entry:
                    inputs.append((name, entry.sizes("shape"), entry.numbers("data")))
        return Example(title=title, inputs=tuple(inputs), attributes=_given(table)), span


def conform(value: Any, attribute_type: str) -> AttributeValue | None:
    """The value as that attribute type has it (a list as a tuple, an integer as a float where one is asked), or None where it is none."""
    kind = ATTRIBUTE_TYPES[attribute_type]
    elements: list[Any] = list(value) if is_list(attribute_type) and isinstance(value, list | tuple) else [value]
    if kind is float:
        elements = [float(element) if type(element) is int else element for element in elements]
    if any(type(element) is not kind for element in elements):
        return None
    return tuple(elements) if is_list(attribute_type) else elements[0]


def _attribute(name: str, table: Table) -> Attribute:
    with table:
        kind = table.choice("type", ATTRIBUTE_TYPES)
        required = table.take("required", bool, False)
        default = None
        if "default" in table:
            came = table.take_any("default")
            default = conform(came, kind)
            if default is None or (type(came) is int and kind == "FLOAT"):
                table.refuse(f"expected {kind}, got {came!r}", "default")
            if required:
                table.refuse("a required attribute has no default", "default")
        for limit in ("minimum", "above", "finite", "length"):
            if limit in table and (kind == "STRING" or (limit == "length" and not is_list(kind))):
                table.refuse(f"{kind} has no such limit", limit)
        return Attribute(
            name=name,
            type=kind,
            required=required,
            default=default,
            doc=table.take("doc", str),
            minimum=table.number("minimum"),
            above=table.number("above"),
            finite=table.take("finite", bool, False),
            length=table.maybe("length", int),
        )


def _operand(table: Table) -> Operand:
    with table:
        operand = Operand(
            name=table.take("name", str),
            type=table.take("type", str),
            shape=_rule(table, "shape"),
            doc=table.take("doc", str),
            differentiable=table.maybe("differentiable", bool),
            columns=table.list_of("columns", str, ()),
        )
        rule = shapes.parse(operand.shape)
        if operand.columns and (rule.star or len(rule.fixed) != 2 or rule.fixed[1].what != len(operand.columns)):
            table.refuse(f"{len(operand.columns)} columns do not fit the shape rule {operand.shape!r}", "columns")
        for column in operand.columns:
            if not re.fullmatch(r"finite|index [A-Za-z_]\w*", column):
                table.refuse(f"expected 'finite' or 'index N', got {column!r}", "columns")
        return operand


def _id(table: Table, key: str) -> str:
    """A short lower-case name, fit for a report's column or a file's name."""
    name = table.take(key, str)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        table.refuse(f"expected lower-case words joined by hyphens, got {name!r}", key)
    return name


def _reading(table: Table) -> Reading:
    with table:
        return Reading(
            name=_id(table, "name"),
            text=table.take("text", str),
            followed_by=table.list_of("followed_by", str, ()),
            legitimate=table.take("legitimate", bool, True),
            refuses=_refused(table),
        )


def _refused(table: Table) -> tuple[tuple[str, str], ...]:
    """Shape rules by the name of an input."""
    if "refuses" not in table:
        return ()
    with table.table("refuses") as entries:
        return tuple((name, _rule(entries, name)) for name in entries)


def _rule(table: Table, key: str) -> str:
    rule = table.take(key, str)
    try:
        shapes.parse(rule)
    except SpecValueError as error:
        table.refuse(str(error), key)
    return rule


def _given(table: Table) -> tuple[tuple[str, AttributeValue], ...]:
    """Attribute values by name, their types still unchecked: that depends on the version."""
    if "attributes" not in table:
        return ()
    entries = table.take("attributes", dict)
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in entries.items())


def _shapes(table: Table) -> tuple[tuple[int, ...], ...]:
    found = table.list_of("shapes", list)
    if not found or any(type(size) is not int or size < 0 for shape in found for size in shape):
        table.refuse(f"expected lists of sizes, got {list(found)}", "shapes")
    return tuple(tuple(shape) for shape in found)


def _span(table: Table, since_versions: Sequence[int]) -> tuple[int, ...]:
    """The versions from ``since`` to ``until``, both of which must be versions."""
    since = table.take("since", int, since_versions[0])
    until = table.take("until", int, since_versions[-1])
    for key, number in (("since", since), ("until", until)):
        if number not in since_versions:
            table.refuse(f"there is no version {number}, only {', '.join(map(str, since_versions))}", key)
    span = tuple(number for number in since_versions if since <= number <= until)
    if not span:
        table.refuse("until stands before since")
    return span
