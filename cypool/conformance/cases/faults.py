"""Make calls with one fault each, from what an operator version's records forbid.

No operator is named here: what the data says of types, ranks, sizes, attributes, windows and
elements is broken by rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cypool import spec
from cypool.conformance.cases.attributes import some
from cypool.conformance.cases.case import TypedValue
from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.shapes import fits
from cypool.conformance.tensors import DTYPES
from cypool.spec import limits, shapes
from cypool.spec.model import Attribute, AttributeValue, Operand, Version
from cypool.spec.shapes import parse

UNKNOWN = "no_such_attribute"
OTHER_TYPES = ("bfloat16", "int8", "uint8", "int32", "int64")  # tried where a version lacks them; they stand for all such
ANCHOR = "float"  # faults that do not depend on the element type are made once, in the cell of this one
SUSPECTS = (0, -1, math.nan, math.inf)  # attribute values of which a limit forbids some
FLAGS = (2, -1)  # what is tried of an attribute that may only be one of some integers

Inputs = Mapping[str, Array]
Attributes = Mapping[str, TypedValue]


class Call(NamedTuple):
    """Inputs and attributes by name, and the names of the outputs, where they are not just those
    that every node has.
    """

    inputs: Inputs
    attributes: Attributes
    outputs: tuple[str, ...] = ()


class Fault(NamedTuple):
    """A call with a fault: its label, the words for it, where it is, and the call.

    ``place`` is the attribute whose value, or the operand whose shape, is wrong (with `` holds``
    after it: its elements), or what the column of an operand has to hold; ``kernel-missing``,
    ``auto-pad-beside`` where pads stand beside it, ``windows`` where there would be less than none;
    else empty.
    """

    label: str
    text: str
    place: str
    call: Call


def faulty_calls(version: Version, type: str, plain: Call, full: Call, columns: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Yield every fault of a version, each made in a valid call: the plain one, or that with all
    optional inputs, where one of them is broken.

    ``columns`` names the columns of operands that have limits on them, where the data's own names
    are not those of ids.
    """
    for label, text, place, attributes in (*_attribute_faults(version, plain), *_window_faults(version, plain)):
        yield Fault(label, text, place, plain._replace(attributes=attributes))
    for operand in version.inputs:
        call = plain if operand.name in plain.inputs else full
        for label, text, place, inputs in _shape_faults(version, operand, call.inputs):
            yield Fault(label, text, place, call._replace(inputs=inputs))
    last = [operand.name for operand in version.inputs if not operand.optional][-1]
    without = {name: array for name, array in plain.inputs.items() if name != last}
    yield Fault(f"no-{last}", f"{last} is missing", "", plain._replace(inputs=without))
    final = version.inputs[-1].name
    more = full._replace(inputs={**full.inputs, "extra": full.inputs[final]})
    yield Fault("extra-input", f"an input after {final}", "", more)
    for label, text, place, inputs in _type_faults(version, type, plain.inputs, full.inputs):
        yield Fault(label, text, place, plain._replace(inputs=inputs))
    for operand in version.inputs:
        call = plain if operand.name in plain.inputs else full
        for label, text, place, inputs in _element_faults(version, operand, call, columns):
            yield Fault(label, text, place, call._replace(inputs=inputs))
        if call is plain and _stated_limit(version, operand, full):
            for label, text, place, inputs in _element_faults(version, operand, full, columns):
                yield Fault(f"{label}-stated", text, place, full._replace(inputs=inputs))
    yield from _output_faults(version, plain)


def _attribute_faults(version: Version, plain: Call) -> Iterator[tuple[str, str, str, Attributes]]:
    given = plain.attributes
    spatial = _spatial(version, plain)
    for attribute in version.attributes:
        name = attribute.name
        value = given[name].value if name in given else some(attribute, spatial)
        if attribute.required:
            yield f"no-{name}", f"{name} is missing", "", {other: typed for other, typed in given.items() if other != name}
        for wrong in _wrongly_typed(attribute, value):
            yield f"{name}-as-{wrong.type.lower()}", f"{name} is of type {wrong.type}", "", {**given, name: wrong}
        for illegal in _illegal(attribute, value, spatial):
            yield f"{name}-{_words(illegal)}", f"{name} is {illegal!r}", name, {**given, name: TypedValue(attribute.type, illegal)}
        length = limits.length(attribute, spatial)
        for many in () if length is None else (length - 1, length + 1):
            listed = TypedValue(attribute.type, (_as_list(value)[0],) * many)
            yield f"{name}-of-{many}", f"{name} has length {many}", name, {**given, name: listed}
    yield "unknown-attribute", "an attribute that there is not", "", {**given, UNKNOWN: TypedValue("INT", 1)}
    known = {attribute.name for attribute in version.attributes}
    for later in spec.operator(version.op).versions:
        for attribute in later.attributes:
            if later.since_version > version.since_version and attribute.name not in known:
                known.add(attribute.name)
                text = f"{attribute.name} came with version {later.since_version}"
                label = f"later-{attribute.name}"
                yield label, text, label, {**given, attribute.name: TypedValue(attribute.type, some(attribute, spatial))}


def _spatial(version: Version, call: Call) -> int | None:
    """Return the number of dimensions that the star of the inputs stands for."""
    return shapes.spatial(version, [call.inputs[operand.name].shape if operand.name in call.inputs else None for operand in version.inputs])


def _as_list(value: AttributeValue) -> tuple[int, ...] | tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)  # type: ignore[return-value]


def _wrongly_typed(attribute: Attribute, value: AttributeValue) -> Iterator[TypedValue]:
    """Yield the value as the other kind of number, as a list where it is none and the reverse, and
    as a string; a string as a number.
    """
    if isinstance(value, str):
        yield TypedValue("INT", attribute.one_of.index(value) if attribute.one_of else 0)
        yield TypedValue("STRINGS", (value,))  # type: ignore[arg-type]
        return
    parts, number, plural = _as_list(value), attribute.type.removesuffix("S"), attribute.type.endswith("S")
    other = tuple(map(int, parts)) if number == "FLOAT" else tuple(map(float, parts))
    other_type = {"INT": "FLOAT", "FLOAT": "INT"}[number]
    yield TypedValue(other_type + "S", other) if plural else TypedValue(other_type, other[0])
    yield TypedValue(number, parts[0]) if plural else TypedValue(number + "S", parts)
    yield TypedValue("STRING", ",".join(map(str, parts)))


def _illegal(attribute: Attribute, value: AttributeValue, spatial: int | None) -> Iterator[AttributeValue]:
    """Values of the right type and length that a limit forbids; of a list, one element
    at a time.
    """
    if isinstance(value, str):
        yield from dict.fromkeys((str(attribute.one_of[-1]).swapcase(), "", "no_such_word")) if attribute.one_of else ()
        return
    for suspect in FLAGS if attribute.one_of else SUSPECTS:
        if isinstance(suspect, float) and attribute.type.startswith("INT"):
            continue
        number = float(suspect) if attribute.type.startswith("FLOAT") else suspect
        plain = _as_list(value)
        for i in range(len(plain)):
            changed = (*plain[:i], number, *plain[i + 1 :])
            candidate: AttributeValue = changed if attribute.type.endswith("S") else number
            if not limits.allows(attribute, candidate, spatial):
                yield candidate


def _window_faults(version: Version, plain: Call) -> Iterator[tuple[str, str, str, Attributes]]:
    """Yield attributes of windows that are legal each alone, but not together, or not on this
    input.
    """
    rule, given = version.windows, plain.attributes
    if rule is None:
        return
    kernel = version.attribute(rule.kernel)
    if kernel and not kernel.required:
        without = {name: typed for name, typed in given.items() if name != rule.kernel}
        yield f"no-{rule.kernel}", f"{rule.kernel} is missing", "kernel-missing", without
    sizes = plain.inputs[version.inputs[0].name].shape[2:]
    if rule.auto_pad and rule.pads:
        pads = TypedValue("INTS", (0, 1) * len(sizes))
        for value in ("SAME_UPPER", "VALID"):
            label = f"{rule.pads}-beside-{value.lower().replace('_', '-')}"
            both = {rule.pads: pads, rule.auto_pad: TypedValue("STRING", value)}
            yield label, f"{rule.pads} stands beside {rule.auto_pad} {value}", "auto-pad-beside", {**given, **both}
    if rule.inverse and rule.pads:
        wrong = {rule.pads: TypedValue("INTS", (100,) * (2 * len(sizes)))}
        yield f"{rule.pads}-beyond-output", f"{rule.pads} leaves a size below 0", "windows", {**given, **wrong}
    if not rule.inverse:
        wrong = {rule.kernel: TypedValue("INTS", tuple(size + 2 - i for i, size in enumerate(sizes)))}  # by 2 on the first axis alone
        alone = {name: typed for name, typed in given.items() if name not in (rule.strides, rule.pads, rule.dilations)}
        yield f"{rule.kernel}-beyond-input", f"{rule.kernel} leaves less than no window", "windows", {**alone, **wrong}


def _shape_faults(version: Version, operand: Operand, inputs: Inputs) -> Iterator[tuple[str, str, str, Inputs]]:
    rule, array = parse(operand.shape), inputs[operand.name]
    for rank in (len(rule.fixed) + rule.least - 1, len(rule.fixed) + rule.least + 1):
        if not fits(rule, rank):
            later = version.inputs[version.inputs.index(operand) :]
            alike = [other.name for other in later if other.shape == operand.shape and other.name in inputs]
            changed = {name: _of_rank(inputs[name], rank) for name in alike}
            yield f"{operand.name}-rank{rank}", f"{operand.name} has rank {rank}", operand.name, {**inputs, **changed}
    for axis, term in enumerate(rule.fixed):
        if isinstance(term.what, int):
            for size in (term.what - 1, term.what + 1):
                yield _of_size(operand, array, axis, size, inputs)
    for axis in _bound_elsewhere(version, operand, array.ndim):
        yield _of_size(operand, array, axis, array.shape[axis] + 1, inputs)


def _of_rank(array: Array, rank: int) -> Array:
    """Return the array with a dimension more or less; of one dimension, its first element."""
    if rank > array.ndim:
        return array[..., None]
    return array.reshape(*array.shape[: rank - 1], -1) if rank else array[0, ...]


def _of_size(operand: Operand, array: Array, axis: int, size: int, inputs: Inputs) -> tuple[str, str, str, Inputs]:
    """Return the operand with another size along an axis."""
    changed = np.take(array, range(size), axis=axis, mode="wrap")
    shape = "x".join(map(str, changed.shape))
    return f"{operand.name}-{shape}", f"{operand.name} has shape {changed.shape}", operand.name, {**inputs, operand.name: changed}


def _bound_elsewhere(version: Version, operand: Operand, rank: int) -> Iterator[int]:
    """Return the axes of an operand whose sizes an operand before it has as well."""
    before = version.inputs[: version.inputs.index(operand)]
    names = {term.what for other in before for term in parse(other.shape).terms}
    rule = parse(operand.shape)
    terms = [*rule.fixed, *[rule.star] * (rank - len(rule.fixed))]
    return (axis for axis, term in enumerate(terms) if term and isinstance(term.what, str) and term.what in names)


def _type_faults(version: Version, type: str, inputs: Inputs, full: Inputs) -> Iterator[tuple[str, str, str, Inputs]]:
    for number, constraint in enumerate(version.types):
        operands = [operand.name for operand in version.inputs if operand.type == constraint.name and operand.name in inputs]
        if not operands:
            continue
        if type == ANCHOR:
            for other in OTHER_TYPES if number == 0 else ("int32", "float"):
                if other not in constraint.allowed:
                    changed = {name: np.nan_to_num(inputs[name]).astype(DTYPES[other]) for name in operands}
                    label = f"type-{other}" if number == 0 else f"{constraint.name}-{other}"
                    yield label, f"{constraint.name} is {other}", "", {**inputs, **changed}
            for operand in version.inputs:
                if operand.type == constraint.name and operand.name not in inputs and operand.name in full:
                    other_ints = full[operand.name].astype(np.int32)
                    yield f"{operand.name}-int32", f"{operand.name} is int32", "", {**full, operand.name: other_ints}
        others = [other for other in constraint.allowed if other != type]
        for name in operands[1:] if others else ():
            yield (
                f"{name}-as-{others[0]}",
                f"{name} is {others[0]}, {operands[0]} is {type}",
                "",
                {**inputs, name: inputs[name].astype(DTYPES[others[0]])},
            )


def _element_faults(
    version: Version, operand: Operand, call: Call, columns: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str, Inputs]]:
    """Elements that an operand may not hold, one at a time."""
    inputs = call.inputs
    array = inputs[operand.name]
    names = columns.get(operand.name, [name for name, _ in operand.columns])
    for column, ((_, holds), name) in enumerate(zip(operand.columns, names, strict=True)):
        for words, value in _wrong_elements(version, holds, call, floating=True).items():
            changed = array.copy()
            changed[len(changed) // 2, column] = value
            yield f"{name}-{words}", f"{name} is {value}", holds.partition(" ")[0], {**inputs, operand.name: changed}
    kind = operand.holds.partition(" ")[0]
    if kind == "shape":
        for words, stated in _wrong_shapes(array).items():
            yield (
                f"{operand.name}-{words}",
                f"{operand.name} is {stated.tolist()}",
                f"{operand.name} holds",
                {**inputs, operand.name: stated},
            )
    elif kind:
        for words, value in _wrong_elements(version, operand.holds, call, floating=array.dtype.kind not in "iu").items():
            changed = array.copy()
            changed.reshape(-1)[array.size // 2] = value
            yield f"{operand.name}-{words}", f"{operand.name} holds {value}", f"{operand.name} holds", {**inputs, operand.name: changed}


def _stated_limit(version: Version, operand: Operand, full: Call) -> bool:
    """Tell whether an operand holds positions in an output whose shape another operand states."""
    kind, _, what = operand.holds.partition(" ")
    return kind == "index" and any(other.holds == f"shape {what}" and other.name in full.inputs for other in version.inputs)


def _wrong_elements(version: Version, holds: str, call: Call, floating: bool) -> dict[str, float]:
    """Yield values that an operand may not hold, which has to be finite or an index, and words for
    them.
    """
    kind, _, what = holds.partition(" ")
    if kind != "index":
        return {"nan": math.nan, "inf": math.inf, "minus-inf": -math.inf}
    shapes_of = [call.inputs[operand.name].shape if operand.name in call.inputs else None for operand in version.inputs]
    if any(output.name == what for output in version.outputs):
        attributes = {a.name: limits.default(a, shapes.spatial(version, shapes_of)) for a in version.attributes}
        attributes |= {name: typed.value for name, typed in call.attributes.items()}
        stated = {o.name: call.inputs[o.name].tolist() for o in version.inputs if o.holds.startswith("shape ") and o.name in call.inputs}
        given = {name: value for name, value in attributes.items() if value is not None}
        found = dict(zip((output.name for output in version.outputs), shapes.infer(version, shapes_of, given, stated), strict=True))
        limit = math.prod(size for size in found[what] if isinstance(size, int))
    else:
        size = shapes.bind(version, shapes_of).sizes[what]
        assert isinstance(size, int)
        limit = size
    if floating:
        return {"minus-1": -1.0, what: limit, "0.5": 0.5, "minus-0.5": -0.5, "nan": math.nan}
    return {"minus-1": -1, what: limit, "2-to-32": 1 << 32}  # the last is 0 in its lower 32 bits


def _wrong_shapes(stated: Array) -> dict[str, Array]:
    """Yield shapes that do not begin as another does: too short, too long, of other first sizes,
    below 0.
    """
    wrong = {f"of-{len(stated) - 1}": stated[:-1], f"of-{len(stated) + 1}": np.append(stated, stated[-1:])}
    for place, word in ((0, "other-N"), (1, "other-C")):
        wrong[word] = stated.copy()
        wrong[word][place] += 1
    wrong["minus-1"] = stated.copy()
    wrong["minus-1"][-1] = -1
    return wrong


def _output_faults(version: Version, plain: Call) -> Iterator[Fault]:
    """Outputs that a later version has."""
    known = {operand.name for operand in version.outputs}
    for later in spec.operator(version.op).versions:
        for operand in later.outputs:
            if later.since_version > version.since_version and operand.name not in known:
                known.add(operand.name)
                outputs = (*(other.name for other in version.outputs), operand.name)
                text = f"{operand.name} came with version {later.since_version}"
                yield Fault(f"later-{operand.name}", text, "", plain._replace(outputs=outputs))


def _words(value: AttributeValue) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    words = [f"{part:g}".replace("-", "minus-") if isinstance(part, int | float) else part for part in parts]
    return "-".join(words) or "empty"
