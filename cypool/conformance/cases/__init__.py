"""Conformance cases, generated from the spec data: versions x types x shapes x attributes x values, and calls with one fault each.

Apart from what runs them, and without a word on any operator: what one of them tries beyond its data stands in the module of its name here.
An id means the same inputs for ever, as all that is drawn is drawn from the id; what an id leaves out is not varied.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.case import Case, Later, TypedValue
from cypool.conformance.cases.attributes import regimes, some
from cypool.conformance.cases.covering import Axes, Choice, Constraint, covering, pairs
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.faults import faults
from cypool.conformance.cases.shapes import SPARING, legal
from cypool.conformance.tensors import DTYPES, Tensor
from cypool.spec.model import AttributeValue, Version


def generate(ops: Iterable[str] | None = None, wanted: Callable[[str], bool] = lambda head: True) -> Iterator[Case]:
    """The cases of some operators, or of all: by version, the valid ones first. The same ones in the same order, always.

    ``wanted`` is given the head of ids, such as ``GlobalLpPool-2/float/``; what it does not want is not made.

    >>> next(generate(["GlobalLpPool"])).id
    'GlobalLpPool-1/float16/rank2/p-absent/ramp'
    >>> {case.version.name for case in generate(wanted=lambda head: head == "MaxRoiPool-1/double/")}
    {'MaxRoiPool-1'}
    """
    for op in spec.operators() if ops is None else ops:
        for version in spec.operator(op).versions:
            types = [type for type in types_of(version) if wanted(f"{version.name}/{type}/")]
            yield from valid(version, types)
            for type in types:
                yield from invalid(version, type)


def types_of(version: Version) -> tuple[str, ...]:
    """The element types that a version's cases are about: those that its first input may have."""
    return version.types[0].allowed


def valid(version: Version, types: Collection[str] | None = None) -> Iterator[Case]:
    """The valid cases of a version, or those of some types."""
    if types is None or types:
        axes, groups, constraints = plan(version)
        for choice in covering(axes, groups, constraints, SPARING):
            if types is None or choice["type"] in types:
                yield _valid_case(version, choice)


def plan(version: Version) -> tuple[Axes, list[tuple[str, ...]], list[Constraint]]:
    """The axes that a version's cases vary, the groups of axes whose labels all meet, and what may not go together."""
    module = _module(version.op)
    attributes = _regimes(version)
    axes = {
        "type": types_of(version),
        "shape": legal(version.inputs[0].shape),
        **{name: list(labels) for name, labels in attributes.items()},
        **module.AXES,
    }
    return axes, [*module.TOGETHER, *pairs(axes)], module.constraints(version, attributes)


def _valid_case(version: Version, choice: Choice) -> Case:
    module = _module(version.op)
    id = "/".join((version.name, *choice.values()))
    given = {name: value for name, labels in _regimes(version).items() if (value := labels[choice[name]]) is not None}
    filled = _filled(version, given)
    arrays = Later(lambda: module.inputs(choice, filled, DTYPES[choice["type"]], Draws(id)))
    rulings: Later[tuple[str, ...]] = Later(lambda: tuple(module.rulings(choice, arrays.value, filled)))
    case = Case(
        id,
        version,
        choice["type"],
        Later(lambda: _tensors(version, arrays.value)),
        tuple((a.name, TypedValue(a.type, given[a.name])) for a in version.attributes if a.name in given),
        frozenset(choice.values()),
        rulings,
        Later(lambda: alternatives(version, rulings.value)),
        answer=lambda reading: case.tensors(oracle.evaluate(version, case.arrays, given, reading)),
    )
    return case


def alternatives(version: Version, rulings: Iterable[str]) -> tuple[str, ...]:
    """The other readings of these rulings that the oracle can compute."""
    computable = oracle.computable(version)
    return tuple(reading for ruling in rulings for reading in computable.get(ruling, ()))


def invalid(version: Version, type: str) -> Iterator[Case]:
    """The invalid cases of a version and type: a plain valid one with one fault in it."""
    module = _module(version.op)
    attributes = {a.name: TypedValue(a.type, some(a)) for a in version.attributes if a.required}
    id = f"{version.name}/{type}/invalid"
    arrays = module.inputs(
        {**module.PLAIN, "type": type},
        _filled(version, {name: typed.value for name, typed in attributes.items()}),
        DTYPES[type],
        Draws(id),
    )
    plain = dict(zip((operand.name for operand in version.inputs), arrays, strict=True))
    for fault in faults(version, type, plain, attributes, module.COLUMNS):
        ruling = module.FAULTS.get(fault.place)
        yield Case(
            f"{id}/{fault.label}",
            version,
            type,
            tuple(Tensor.of(name, array) for name, array in fault.inputs.items()),
            tuple(fault.attributes.items()),
            frozenset({"invalid", fault.label}),
            () if ruling is None else (ruling,),
            fault=fault.text,
        )


@functools.cache
def _regimes(version: Version) -> dict[str, dict[str, AttributeValue | None]]:
    """The labels of each attribute's values."""
    more: Mapping[str, tuple[AttributeValue, ...]] = _module(version.op).ATTRIBUTES
    return {attribute.name: regimes(attribute, more.get(attribute.name, ())) for attribute in version.attributes}


def _filled(version: Version, given: Mapping[str, AttributeValue]) -> dict[str, Any]:
    """All attributes, defaults filled in."""
    return {attribute.name: given.get(attribute.name, attribute.default) for attribute in version.attributes}


def _tensors(version: Version, arrays: Iterable[Array]) -> tuple[Tensor, ...]:
    return tuple(Tensor.of(operand.name, array) for operand, array in zip(version.inputs, arrays, strict=True))


def _module(op: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{re.sub(r'(?<!^)(?=[A-Z])', '_', op).lower()}")
