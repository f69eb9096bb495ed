"""Parse the records of a data file: attributes, operands, type constraints, rulings, examples.

Each is read from one strict table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from cypool.errors import SpecValueError
from cypool.spec import shapes
from cypool.spec.elements import ELEMENTS
from cypool.spec.limits import LENGTH, is_list
from cypool.spec.model import (
    REFUSABLE_WINDOWS,
    Attribute,
    AttributeValue,
    Example,
    InferenceGap,
    Operand,
    Reading,
    Ruling,
    TypeConstraint,
    Windows,
)
from cypool.spec.strict import Table

ATTRIBUTE_TYPES: Mapping[str, type] = {"INT": int, "FLOAT": float, "STRING": str, "INTS": int, "FLOATS": float}
"""ONNX's attribute types that the data may use, and what their values (a list's elements) are in
Python.
"""

Spanned: TypeAlias = tuple[Example, tuple[int, ...]]
"""An example and the versions it belongs to."""


def attributes(table: Table, key: str) -> tuple[Attribute, ...]:
    """Return the attributes under a key, in order."""
    with table.table(key) as entries:
        return tuple(_attribute(name, entries.table(name)) for name in entries)


def operands(table: Table, key: str) -> tuple[Operand, ...]:
    """Return the inputs or outputs under a key, in order."""
    with table.table(key) as entries:
        found = tuple(_operand(name, entries.table(name)) for name in entries)
    if not found:
        table.refuse("is empty", key)
    return found


def constraints(table: Table, key: str) -> tuple[TypeConstraint, ...]:
    """Return the type constraints under a key."""
    with table.table(key) as entries:
        return tuple(_constraint(name, entries.table(name)) for name in entries)


def _constraint(name: str, table: Table) -> TypeConstraint:
    with table:
        return TypeConstraint(name=name, allowed=element_types(table, "allowed"), doc=table.take("doc", str))


def windows(table: Table, key: str) -> Windows | None:
    """Return the attributes that make windows, if the version has such."""
    if key not in table:
        return None
    with table.table(key) as entry:
        return Windows(
            kernel=entry.take("kernel", str),
            strides=entry.maybe("strides", str),
            pads=entry.maybe("pads", str),
            auto_pad=entry.maybe("auto_pad", str),
            dilations=entry.maybe("dilations", str),
            ceil_mode=entry.maybe("ceil_mode", str),
            inverse=entry.take("inverse", bool, False),
        )


def element_types(table: Table, key: str) -> tuple[str, ...]:
    """Return a list of element types, each once."""
    names = table.list_of(key, str)
    for name in names:
        if name not in ELEMENTS:
            table.refuse(f"{name!r} is no element type", key)
    if not names or len(set(names)) < len(names):
        table.refuse(f"expected one or more types, each once, got {list(names)}", key)
    return names


def gaps(table: Table, key: str) -> tuple[InferenceGap, ...]:
    """Return the places where ONNX's shape inference says less, listed under a key."""
    found = []
    for entry in table.tables(key):
        with entry:
            found.append(InferenceGap(text=entry.take("text", str), shapes=_shapes(entry), attributes=_given(entry)))
    return tuple(found)


def ruling(table: Table, since_versions: Sequence[int]) -> Ruling:
    """One ruling; it holds for all of an operator's versions unless it has ``since`` or
    ``until``.
    """
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
    """Return the value as that attribute type has it (a list as a tuple, an integer as a float
    where one is asked), or None where it is none.
    """
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
        for limit in ("minimum", "above", "finite", "length", "each"):
            if limit in table and (kind == "STRING" or (limit in ("length", "each") and not is_list(kind))):
                table.refuse(f"{kind} has no such limit", limit)
        length = _length(table)
        each = table.number("each")
        if each is not None and (required or default is not None or not isinstance(length, str)):
            table.refuse("stands for the default of a list whose length depends on the rank", "each")
        attribute = Attribute(
            name=name,
            type=kind,
            required=required,
            default=default,
            doc=table.take("doc", str),
            minimum=table.number("minimum"),
            above=table.number("above"),
            finite=table.take("finite", bool, False),
            length=length,
            each=int(each) if each is not None and kind == "INTS" else each,
            one_of=_one_of(table, kind),
        )
        if attribute.one_of and attribute.default is not None and attribute.default not in attribute.one_of:
            table.refuse(f"{attribute.default!r} is not among them", "one_of")
        return attribute


def _length(table: Table) -> int | str | None:
    """Return a number, or ``D`` or ``2 D``."""
    if "length" not in table:
        return None
    length: int | str = table.take_any("length")
    if type(length) is not int and not (isinstance(length, str) and LENGTH.fullmatch(length)):
        table.refuse(f"expected a number, 'D' or '2 D', got {length!r}", "length")
    return length


def _one_of(table: Table, kind: str) -> tuple[int, ...] | tuple[str, ...]:
    """Return the values there are, each of the attribute's type."""
    if "one_of" not in table:
        return ()
    if kind == "STRING":
        return table.list_of("one_of", str)
    if not kind.startswith("INT"):
        table.refuse(f"{kind} has no such limit", "one_of")
    return table.list_of("one_of", int)


HOLDS = r"finite|index [A-Za-z_]\w*|shape [A-Za-z_]\w*"


def _operand(name: str, table: Table) -> Operand:
    with table:
        operand = Operand(
            name=name,
            type=table.take("type", str),
            shape=_rule(table, "shape"),
            doc=table.take("doc", str),
            differentiable=table.maybe("differentiable", bool),
            columns=_columns(table),
            holds=table.take("holds", str, ""),
            bound=table.take("bound", str, ""),
            optional=table.take("optional", bool, False),
            homogeneous=table.take("homogeneous", bool, True),
        )
        rule = shapes.parse(operand.shape)
        if operand.columns and (rule.star or len(rule.fixed) != 2 or rule.fixed[1].what != len(operand.columns)):
            table.refuse(f"{len(operand.columns)} columns do not fit the shape rule {operand.shape!r}", "columns")
        if operand.holds and not re.fullmatch(HOLDS, operand.holds):
            table.refuse(f"expected 'finite', 'index N' or 'shape Y', got {operand.holds!r}", "holds")
        return operand


def _columns(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the columns of a table, by name: what each may hold."""
    if "columns" not in table:
        return ()
    with table.table("columns") as entries:
        found = tuple((name, entries.take(name, str)) for name in entries)
    for name, holds in found:
        if not re.fullmatch(r"finite|index [A-Za-z_]\w*", holds):
            table.refuse(f"expected 'finite' or 'index N', got {holds!r}", f"columns.{name}")
    return found


def _id(table: Table, key: str) -> str:
    """Return a short lower-case name, fit for a report's column or a file's name."""
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
            refuses_windows=table.choice("refuses_windows", REFUSABLE_WINDOWS) if "refuses_windows" in table else "",
        )


def _refused(table: Table) -> tuple[tuple[str, str], ...]:
    """Shape rules by the name of an input; a list of rules is one pair each."""
    if "refuses" not in table:
        return ()
    with table.table("refuses") as entries:
        return tuple((name, _parsed(entries, name, rule)) for name in entries for rule in _one_or_more(entries, name))


def _one_or_more(table: Table, key: str) -> tuple[str, ...]:
    """Return a text, or a list of texts."""
    came = table.take_any(key)
    if isinstance(came, str):
        return (came,)
    table.put(key, came)
    return table.list_of(key, str)


def _rule(table: Table, key: str) -> str:
    return _parsed(table, key, table.take(key, str))


def _parsed(table: Table, key: str, rule: str) -> str:
    """Return the shape rule, if it is one."""
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
    """Return the versions from ``since`` to ``until``, both of which must exist."""
    since = table.take("since", int, since_versions[0])
    until = table.take("until", int, since_versions[-1])
    for key, number in (("since", since), ("until", until)):
        if number not in since_versions:
            table.refuse(f"there is no version {number}, only {', '.join(map(str, since_versions))}", key)
    span = tuple(number for number in since_versions if since <= number <= until)
    if not span:
        table.refuse("until stands before since")
    return span
