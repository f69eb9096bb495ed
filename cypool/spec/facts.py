"""A version as a flat list of facts in words, and two versions compared fact by fact.

Documents and the command line say the same, and a difference is always worked out, never written
down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from cypool.spec.limits import phrases
from cypool.spec.model import Attribute, AttributeValue, Operand, TypeConstraint, Version, Windows
from cypool.spec.shapes import written


class Difference(NamedTuple):
    """A fact that two versions do not share; an empty text where one of them does not state it."""

    thing: str
    field: str
    old: str
    new: str


def facts(version: Version) -> dict[tuple[str, str], str]:
    """Return the facts of a version by thing (``operator``, ``attribute p``, ``input X``) and
    field.

    The rulings are not among them.

    >>> from cypool import spec
    >>> facts(spec.version("GlobalLpPool-1"))["attribute p", "values"]
    'above 0, infinity too'
    """
    found = {("operator", field): text for field, text in _operator(version)}
    for attribute in version.attributes:
        found |= {(f"attribute {attribute.name}", field): text for field, text in _attribute(attribute)}
    for side, operands in (("input", version.inputs), ("output", version.outputs)):
        for operand in operands:
            found |= {(f"{side} {operand.name}", field): text for field, text in _operand(operand)}
    for constraint in version.types:
        found |= {(f"type {constraint.name}", field): text for field, text in _constraint(constraint)}
    return found


def differences(old: Version, new: Version) -> tuple[Difference, ...]:
    """Return the facts that differ between two versions, in the order of the newer; lost ones come
    last.

    >>> from cypool import spec
    >>> differences(spec.version("GlobalLpPool-2"), spec.version("GlobalLpPool-22"))[0].new
    'float16, float, double, bfloat16'
    """
    before, after = facts(old), facts(new)
    return tuple(Difference(*key, before.get(key, ""), after.get(key, "")) for key in after | before if before.get(key) != after.get(key))


def opsets(version: Version) -> str:
    """Return the opsets that a version is in force at, in words.

    >>> from cypool import spec
    >>> [opsets(version) for version in spec.operator("GlobalLpPool").versions]
    ['1', '2 to 21', 'from 22 on']
    """
    if version.until_version is None:
        return f"from {version.since_version} on"
    last = version.until_version
    return str(last) if last == version.since_version else f"{version.since_version} to {last}"


def value_in_words(value: AttributeValue) -> str:
    """Return an attribute's value: a list in brackets."""
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, tuple) else str(value)


def _operator(version: Version) -> Iterator[tuple[str, str]]:
    yield "summary", version.summary
    yield "function", _yes(version.function)
    yield "support level", version.support_level
    yield "deprecated", _yes(version.deprecated)
    yield "shape inference", _yes(version.shape_inference)
    for side, least, operands in (("inputs", version.least_inputs, version.inputs), ("outputs", version.least_outputs, version.outputs)):
        yield side, str(least) if least == len(operands) else f"{least} to {len(operands)}"
    if version.windows is not None:
        yield "windows", ", ".join(_windows(version.windows))
    if version.inference_gaps:
        yield "inference gaps", " ".join(gap.text for gap in version.inference_gaps)


def _windows(windows: Windows) -> Iterator[str]:
    """Yield the attributes that make windows, by their part in it."""
    if windows.inverse:
        yield "undone: the output is what they lie in"
    for field in dataclasses.fields(windows):
        name = getattr(windows, field.name)
        if isinstance(name, str):
            yield f"{field.name.replace('_', ' ')} from {name}"


def _attribute(attribute: Attribute) -> Iterator[tuple[str, str]]:
    yield "type", attribute.type
    yield "required", _yes(attribute.required)
    yield "default", _default(attribute)
    yield "values", ", ".join(phrases(attribute)) or "any"
    yield "text", attribute.doc


def _default(attribute: Attribute) -> str:
    if attribute.each is not None:
        return f"{attribute.each} in each place"
    return "none" if attribute.default is None else value_in_words(attribute.default)


def _operand(operand: Operand) -> Iterator[tuple[str, str]]:
    yield "type", operand.type
    yield "shape", written(operand.shape)
    yield "differentiable", "not said" if operand.differentiable is None else _yes(operand.differentiable)
    yield "optional", _yes(operand.optional)
    yield "homogeneous", _yes(operand.homogeneous)
    if operand.columns:
        yield "columns", ", ".join(f"{name}: {holds}" for name, holds in operand.columns)
    if operand.holds:
        yield "holds", operand.holds
    if operand.bound:
        yield "bound", operand.bound
    yield "text", operand.doc


def _constraint(constraint: TypeConstraint) -> Iterator[tuple[str, str]]:
    yield "allowed", ", ".join(constraint.allowed)
    yield "text", constraint.doc


def _yes(value: bool) -> str:
    return "yes" if value else "no"
