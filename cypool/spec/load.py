"""Turns an operator's data file into its resolved versions, and checks that the parts of each fit together.

Apart from the records and the deltas, which see one table at a time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cypool.spec import deltas, records, shapes
from cypool.spec.model import Attribute, AttributeValue, Example, Operator, Ruling, Version
from cypool.spec.strict import Table


def load(text: str, file: str) -> Operator:
    """The operator that a data file describes; SpecValueError, naming file and place, where it breaks a rule of the format."""
    with Table.parse(text, file) as root:
        name = root.take("op", str)
        domain = root.take("domain", str)
        entries = _versions(root)
        since_versions = tuple(entries)
        rulings = [records.ruling(table, since_versions) for table in root.tables("ruling", label="id")]
        examples = [records.example(table, since_versions) for table in root.tables("example", label="title")]
        _once(root, "ruling", [ruling.id for ruling in rulings])
        _once(root, "reading", [reading.name for ruling in rulings for reading in ruling.readings])
        versions = []
        for since, until in zip(since_versions, [*(later - 1 for later in since_versions[1:]), None], strict=True):
            version = _version(name, domain, since, until, entries[since], rulings, examples)
            for fault in _misfits(version):
                root.refuse(fault, f"version[{since}]")
            versions.append(version)
    return Operator(name, domain, tuple(versions))


def _versions(root: Table) -> dict[int, deltas.Fields]:
    """The fields of every version, oldest first."""
    found: dict[int, deltas.Fields] = {}
    fields: deltas.Fields = {}
    for entry in root.tables("version", label="since"):
        with entry:
            since = entry.take("since", int)
            if since <= max(found, default=0):
                entry.refuse("versions stand oldest first, each once, from 1 up")
            found[since] = fields = deltas.changed(fields, entry) if found else deltas.first(entry)
    if not found:
        root.refuse("'version' is missing")
    return found


def _version(
    op: str,
    domain: str,
    since: int,
    until: int | None,
    fields: deltas.Fields,
    rulings: Sequence[Ruling],
    examples: Sequence[records.Spanned],
) -> Version:
    collected: dict[str, Any] = {key: tuple(value.values()) if isinstance(value, dict) else value for key, value in fields.items()}
    attributes: Mapping[str, Attribute] = fields["attributes"]
    return Version(
        op=op,
        domain=domain,
        since_version=since,
        until_version=until,
        rulings=tuple(ruling for ruling in rulings if since in ruling.since_versions),
        examples=tuple(_typed(example, attributes) for example, span in examples if since in span),
        **collected,
    )


def _typed(example: Example, attributes: Mapping[str, Attribute]) -> Example:
    """The example with its attribute values as this version types them (3 is 3.0 where p is a FLOAT)."""

    def typed(name: str, value: AttributeValue) -> AttributeValue:
        converted = records.conform(value, attributes[name].type) if name in attributes else None
        return value if converted is None else converted

    return dataclasses.replace(example, attributes=tuple((name, typed(name, value)) for name, value in example.attributes))


def _misfits(version: Version) -> Iterator[str]:
    """Where the parts of a version contradict each other."""
    constraints = {constraint.name for constraint in version.types}
    used = {operand.type for operand in version.inputs + version.outputs}
    yield from (f"no operand has the type {name}" for name in sorted(constraints - used))
    yield from (f"there is no type constraint {name}" for name in sorted(used - constraints))
    yield from (f"{constraint.name} allows no type" for constraint in version.types if not constraint.allowed)

    bound = {term.what for operand in version.inputs for term in shapes.parse(operand.shape).terms}
    sized = {a.name for a in version.attributes if a.type in ("INT", "INTS")}
    for operand in version.outputs:
        for term in shapes.parse(operand.shape).terms:
            if not isinstance(term.what, int) and term.what not in bound | sized:
                yield f"the shape of {operand.name} names {term.what}, which is neither a dimension of an input nor an integer attribute"
    for operand in version.inputs:
        for column in operand.columns:
            if column.startswith("index ") and column.removeprefix("index ") not in bound:
                yield f"a column of {operand.name} is {column!r}, which is no dimension of an input"

    for example in version.examples:
        yield from (f"example {example.title!r}: {fault}" for fault in _wrong(version, example))
    for gap in version.inference_gaps:
        yield from (f"inference gap {gap.text!r}: {fault}" for fault in _mistyped(version, gap.attributes))


def _wrong(version: Version, example: Example) -> Iterator[str]:
    yield from _mistyped(version, example.attributes)
    if [name for name, _, _ in example.inputs] != [operand.name for operand in version.inputs]:
        yield "its inputs are not the operator's"
    for name, shape, data in example.inputs:
        if math.prod(shape) != len(data):
            yield f"{len(data)} numbers do not fill {name} of shape {list(shape)}"


def _mistyped(version: Version, attributes: Sequence[tuple[str, AttributeValue]]) -> Iterator[str]:
    for name, value in attributes:
        attribute = version.attribute(name)
        if attribute is None:
            yield f"{version.name} has no attribute {name}"
        elif records.conform(value, attribute.type) != value:
            yield f"{name} is {value!r}, expected {attribute.type}"


def _once(root: Table, kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            root.refuse("stands there twice", f"{kind}[{name}]")
