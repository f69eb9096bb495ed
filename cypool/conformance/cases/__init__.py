"""Conformance cases, generated from the spec data: versions x types x shapes x attributes x values,
and calls with one fault each.

Nothing here is about one operator: the module of its name states what it varies beyond its data. An
id means the same inputs for ever, as all that is drawn is drawn from the id; what an id leaves out
is not varied.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.cases.case import Case, Later, TypedValue
from cypool.conformance.cases.covering import Choice, Constraint, Factors, Meeting, cover, pairs
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.faults import ANCHOR, Call, faulty_calls
from cypool.conformance.tensors import DTYPES, Tensor
from cypool.spec.model import AttributeValue, Version, snake

G = TypeVar("G", bound=Collection[str])
Group: TypeAlias = tuple[str, ...] | Mapping[str, str]
"""Factors all of whose labels meet; or labels by factor, which meet in every type."""


class Questions(Protocol):
    """What the module of an operator states: which cases there are beyond what the data alone
    tells.
    """

    TOGETHER: Sequence[tuple[str, ...]]
    """Groups of factors whose labels all meet, beside all pairs."""
    CORE: Sequence[Group]
    """Groups of factors, and labels, that meet in the cases that are run by default."""
    SPARING: Container[str]
    """Labels that are used only where they meet something for the first time."""
    PLAIN: Mapping[str, str]
    """The labels of the valid call that faults are made in."""
    WITH_OPTIONAL: Mapping[str, str]
    """The labels beside them with which it has every optional input."""
    FAULTS: Mapping[str, str]
    """The ruling by which a fault is one, by the place of the fault."""
    FAULTS_ONCE: bool
    """Whether a fault is made in few cells only, not in all."""
    COLUMNS: Mapping[str, Sequence[str]]
    """What ids call the columns of tables, by operand, where not as the data does."""

    def factors(self, version: Version) -> Factors:
        """Return the factors after the type, with their labels; those of ``outputs`` join names of
        outputs by hyphens.
        """

    def constraints(self, version: Version) -> list[Constraint]:
        """State which labels may not go together."""

    def attributes(self, version: Version, choice: Choice) -> dict[str, AttributeValue]:
        """Return the attributes that the node has; of a choice with the labels of ``PLAIN`` alone,
        too.
        """

    def inputs(self, choice: Choice, attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
        """Return the inputs, None for an optional one that is left out."""

    def rulings(self, version: Version, choice: Choice, arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
        """Return the silences that the case turns on."""


def generate(ops: Iterable[str] | None = None, wanted: Callable[[str], bool] = lambda head: True) -> Iterator[Case]:
    """Yield the cases of some operators, or of all, by version, the valid ones first.

    The same call yields the same cases in the same order. ``wanted`` is given the head of ids, such
    as ``GlobalLpPool-2/float/``; cases of other heads are not made.

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
    """Return the element types that a version's cases are about: those that its first input may
    have.
    """
    return version.types[0].allowed


def valid(version: Version, types: Collection[str] | None = None) -> Iterator[Case]:
    """Yield the valid cases of a version, or those of some types."""
    if types is None or types:
        module = _module(version.op)
        factors, groups, constraints = varied(version)
        choices = cover(factors, groups, constraints, module.SPARING)
        in_core = core(factors, choices, _present(factors, module.CORE), module.SPARING)
        for number, choice in enumerate(choices):
            if types is None or choice["type"] in types:
                yield _valid_case(version, choice, number in in_core)


def varied(version: Version) -> tuple[Factors, list[tuple[str, ...]], list[Constraint]]:
    """Return the factors that a version's cases vary, the groups that all meet, and the
    constraints.
    """
    module = _module(version.op)
    factors = {"type": types_of(version), **module.factors(version)}
    return factors, [*_present(factors, module.TOGETHER), *pairs(factors)], module.constraints(version)


def _present(factors: Factors, groups: Iterable[G]) -> list[G]:
    """Return the groups all of whose factors a version has."""
    return [group for group in groups if factors.keys() >= set(group)]


def core(factors: Factors, choices: Sequence[Choice], groups: Iterable[Group], sparing: Container[str] = ()) -> set[int]:
    """Return the places of few choices in which each type still meets every label of every factor.

    The factors of each group meet as they do in all choices. A group may also be labels by factor,
    which meet in every type. Among equals, a choice without labels in ``sparing`` is taken.

    >>> factors = {"type": ["f", "d"], "a": ["1", "2"], "b": ["x", "y"]}
    >>> choices = [{"type": type, "a": a, "b": b} for type in "fd" for a in "12" for b in "xy"]
    >>> len(core(factors, choices, []))
    4
    """
    wanted: list[Group] = [*(("type", factor) for factor in factors if factor != "type"), *groups]
    meetings = [set(_meetings(choice, wanted)) for choice in choices]
    plain = [not any(label in sparing for label in choice.values()) for choice in choices]
    to_come = set().union(*meetings)
    found: set[int] = set()
    while to_come:
        best = max(range(len(choices)), key=lambda i: (len(meetings[i] & to_come), plain[i]))  # of equals, the first
        found.add(best)
        to_come -= meetings[best]
    return found


def _meetings(choice: Choice, groups: Iterable[Group]) -> Iterator[Meeting]:
    """Yield the meetings of these groups in a choice."""
    for group in groups:
        if not isinstance(group, Mapping):
            yield tuple((factor, choice[factor]) for factor in group)
        elif choice.items() >= group.items():
            yield ("type", choice["type"]), *group.items()


def _valid_case(version: Version, choice: Choice, core: bool = True) -> Case:
    module = _module(version.op)
    id = "/".join((version.name, *choice.values()))
    given = module.attributes(version, choice)
    filled = _filled(version, given)
    arrays = Later(lambda: module.inputs(choice, filled, DTYPES[choice["type"]], Draws(id)))
    rulings: Later[tuple[str, ...]] = Later(lambda: _rulings(version, module.rulings(version, choice, arrays.value, filled)))
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
        asked=_asked(version, choice),
        core=core,
    )
    return case


def _rulings(version: Version, touched: Iterable[str]) -> tuple[str, ...]:
    """Return those rulings that the version has.

    A module may name rulings of other versions of its operator.
    """
    return tuple(ruling for ruling in touched if version.ruling(ruling))


def alternatives(version: Version, rulings: Iterable[str]) -> tuple[str, ...]:
    """Return the other readings of these rulings that the oracle can compute."""
    computable = oracle.computable(version)
    return tuple(reading for ruling in rulings for reading in computable.get(ruling, ()))


def invalid(version: Version, type: str) -> Iterator[Case]:
    """Yield the invalid cases of a version and type: a plain valid one with one fault in it.

    Where the operator's module says so, a fault is made in the cell of float and in one other, and
    not in every cell; but every cell has one for each ruling.
    """
    module = _module(version.op)
    id = f"{version.name}/{type}/invalid"
    others = [other for other in types_of(version) if other != ANCHOR]
    found = faulty_calls(version, type, _plain_call(version, type, {}), _plain_call(version, type, module.WITH_OPTIONAL), module.COLUMNS)
    seen: set[str | None] = set()
    for number, fault in enumerate(found):
        ruling = module.FAULTS.get(fault.place)
        first = ruling not in seen
        seen.add(ruling)
        if module.FAULTS_ONCE and type != ANCHOR and others[number % len(others)] != type and not first:
            continue
        yield Case(
            f"{id}/{fault.label}",
            version,
            type,
            tuple(Tensor.of(name, array) for name, array in fault.call.inputs.items()),
            tuple(fault.call.attributes.items()),
            frozenset({"invalid", fault.label}),
            () if ruling is None else _rulings(version, [ruling]),
            fault=fault.text,
            asked=fault.call.outputs,
            core=first or type == ANCHOR,
        )


def _plain_call(version: Version, type: str, more: Mapping[str, str]) -> Call:
    """Return a valid call, with these labels beside those that the operator's module
    calls plain.
    """
    module = _module(version.op)
    choice = {**module.PLAIN, **more, "type": type}
    given = module.attributes(version, choice)
    arrays = module.inputs(choice, _filled(version, given), DTYPES[type], Draws(f"{version.name}/{type}/invalid"))
    inputs = {operand.name: array for operand, array in zip(version.inputs, arrays, strict=True) if array is not None}
    attributes = {a.name: TypedValue(a.type, given[a.name]) for a in version.attributes if a.name in given}
    return Call(inputs, attributes, _asked(version, choice))


def _asked(version: Version, choice: Choice) -> tuple[str, ...]:
    """Return the outputs that a choice asks for: its label of that factor, which is their names
    with a hyphen between; else none in particular.
    """
    return tuple(choice["outputs"].split("-")) if "outputs" in choice else ()


def _filled(version: Version, given: Mapping[str, AttributeValue]) -> dict[str, Any]:
    """Return all attributes with defaults filled in; a list whose default depends on the rank is
    None.
    """
    return {attribute.name: given.get(attribute.name, attribute.default) for attribute in version.attributes}


def _tensors(version: Version, arrays: Iterable[Array | None]) -> tuple[Tensor, ...]:
    pairs = zip(version.inputs, arrays, strict=True)
    return tuple(Tensor.of(operand.name, array) for operand, array in pairs if array is not None)


def _module(op: str) -> Questions:
    return importlib.import_module(f"{__name__}.{snake(op)}")
