"""Turn an operator's data file into its resolved versions, and check that the parts of each fit
together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from cypool.spec import deltas, limits, parsing, shapes
from cypool.spec.model import AttributeValue, Example, Operator, Version, Windows
from cypool.spec.strict import Table


def load(text: str, file: str) -> Operator:
    """Return the operator that a data file describes; SpecValueError, naming file and place, where
    it breaks a rule of the format.
    """
    with Table.parse(text, file) as root:
        name = root.take("op", str)
        domain = root.take("domain", str)
        plain = _versions(root, name, domain)
        since_versions = [version.since_version for version in plain]
        rulings = [parsing.ruling(table, since_versions) for table in root.tables("ruling", label="id")]
        examples = [parsing.example(table, since_versions) for table in root.tables("example", label="title")]
        versions = []
        for version, until in zip(plain, [*(later - 1 for later in since_versions[1:]), None], strict=True):
            since = version.since_version
            full = dataclasses.replace(
                version,
                until_version=until,
                examples=tuple(_typed(example, version) for example, span in examples if since in span),
                rulings=tuple(ruling for ruling in rulings if since in ruling.since_versions),
            )
            for fault in _misfits(full):
                root.refuse(fault, f"version[{since}]")
            versions.append(full)
    return Operator(name, domain, tuple(versions))


def _versions(root: Table, op: str, domain: str) -> list[Version]:
    """Return every version by itself, oldest first: without examples and rulings, and without an
    end.
    """
    found: list[Version] = []
    fields: deltas.Fields = {}
    for entry in root.tables("version", label="since"):
        with entry:
            since = entry.take("since", int)
            if since <= max((version.since_version for version in found), default=0):
                entry.refuse("versions stand oldest first, each once, from 1 up")
            fields = deltas.changed(fields, entry) if found else deltas.first(entry)
        found.append(_version(op, domain, since, entry.at(fields)))
    if not found:
        root.refuse("'version' is missing")
    return found


def _version(op: str, domain: str, since: int, fields: Table) -> Version:
    """Return a version of the fields that it has, written out whole."""
    with fields:
        return Version(
            op=op,
            domain=domain,
            since_version=since,
            until_version=None,
            function=fields.take("function", bool),
            support_level=fields.choice("support_level", ("common", "experimental")),
            deprecated=fields.take("deprecated", bool),
            shape_inference=fields.take("shape_inference", bool),
            summary=fields.take("summary", str),
            attributes=parsing.attributes(fields, "attributes"),
            inputs=parsing.operands(fields, "inputs"),
            outputs=parsing.operands(fields, "outputs"),
            types=parsing.constraints(fields, "types"),
            examples=(),
            rulings=(),
            inference_gaps=parsing.gaps(fields, "inference_gaps"),
            windows=parsing.windows(fields, "windows"),
        )


def _typed(example: Example, version: Version) -> Example:
    """Return the example with its attribute values as this version types them (3 is 3.0 where p is
    a FLOAT).
    """

    def typed(name: str, value: AttributeValue) -> AttributeValue:
        attribute = version.attribute(name)
        converted = parsing.conform(value, attribute.type) if attribute else None
        return value if converted is None else converted

    return dataclasses.replace(example, attributes=tuple((name, typed(name, value)) for name, value in example.attributes))


def _misfits(version: Version) -> Iterator[str]:
    """Yield contradictions between the parts of a version."""
    constraints = {constraint.name for constraint in version.types}
    used = {operand.type for operand in version.inputs + version.outputs}
    yield from (f"no operand has the type {name}" for name in sorted(constraints - used))
    yield from (f"there is no type constraint {name}" for name in sorted(used - constraints))
    yield from (f"{kind} {name} stands there twice" for kind, name in _twice(version))
    for operands in (version.inputs, version.outputs):
        optional = [operand.optional for operand in operands]
        if optional != sorted(optional):
            yield "an operand that may be left out stands before one that may not"

    bound = {term.what for operand in version.inputs if not operand.optional for term in shapes.parse(operand.shape).terms}
    sized = {a.name for a in version.attributes if a.type in ("INT", "INTS")}
    if version.windows is not None:
        bound.add(shapes.WINDOWS)
        yield from _misfits_of_windows(version, version.windows)
    for operand in version.outputs:
        for term in shapes.parse(operand.shape).terms:
            if not isinstance(term.what, int) and term.what not in bound | sized:
                yield f"the shape of {operand.name} names {term.what}, which is neither a dimension of an input nor an integer attribute"
    outputs = {operand.name for operand in version.outputs}
    for operand in version.inputs:
        for column, holds in operand.columns:
            if holds.startswith("index ") and holds.removeprefix("index ") not in bound:
                yield f"column {column} of {operand.name} is {holds!r}, which is no dimension of an input"
        kind, _, name = operand.holds.partition(" ")
        if name and name not in (outputs if kind == "shape" else bound | outputs):
            wish = "output" if kind == "shape" else "dimension of an input and no output"
            yield f"{operand.name} holds {operand.holds!r}, which is no {wish}"
    for attribute in version.attributes:
        if isinstance(attribute.length, str):
            match = limits.LENGTH.fullmatch(attribute.length)
            stars = {rule.star.what for operand in version.inputs if (rule := shapes.parse(operand.shape)).star}
            if match is None or match[2] not in stars:
                yield f"the length of {attribute.name} is {attribute.length!r}, which is no star of an input"

    readings = [reading for ruling in version.rulings for reading in ruling.readings]
    if version.windows is None:
        yield from (f"reading {reading.name} refuses windows, of which there are none" for reading in readings if reading.refuses_windows)
    for example in version.examples:
        yield from (f"example {example.title!r}: {fault}" for fault in _wrong(version, example))
    for gap in version.inference_gaps:
        yield from (f"inference gap {gap.text!r}: {fault}" for fault in _mistyped(version, gap.attributes))


def _twice(version: Version) -> Iterator[tuple[str, str]]:
    """Names that a version has twice; it may have a ruling, or a reading, once only."""
    names = {
        "ruling": [ruling.id for ruling in version.rulings],
        "reading": [reading.name for ruling in version.rulings for reading in ruling.readings],
    }
    for kind, found in names.items():
        yield from ((kind, name) for name in dict.fromkeys(found) if found.count(name) > 1)


def _misfits_of_windows(version: Version, windows: Windows) -> Iterator[str]:
    """Yield names in ``windows`` of attributes that are missing, or of another type
    than they need.
    """
    kinds = {"auto_pad": "STRING", "ceil_mode": "INT"}
    for field in dataclasses.fields(windows):
        name = getattr(windows, field.name)
        if field.name == "inverse" or name is None:
            continue
        attribute, kind = version.attribute(name), kinds.get(field.name, "INTS")
        if attribute is None or attribute.type != kind:
            yield f"windows.{field.name} is {name}, which is no attribute of type {kind}"


def _wrong(version: Version, example: Example) -> Iterator[str]:
    yield from _mistyped(version, example.attributes)
    given = [name for name, _, _ in example.inputs]
    if given != [operand.name for operand in version.inputs if operand.name in given or not operand.optional]:
        yield "its inputs are not the operator's"
    for name, shape, data in example.inputs:
        if math.prod(shape) != len(data):
            yield f"{len(data)} numbers do not fill {name} of shape {list(shape)}"


def _mistyped(version: Version, attributes: Sequence[tuple[str, AttributeValue]]) -> Iterator[str]:
    for name, value in attributes:
        attribute = version.attribute(name)
        if attribute is None:
            yield f"{version.name} has no attribute {name}"
        elif parsing.conform(value, attribute.type) != value:
            yield f"{name} is {value!r}, expected {attribute.type}"
