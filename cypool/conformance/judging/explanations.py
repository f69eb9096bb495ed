"""Drop known faults as explanations where another case of the run contradicts them.

One case alone often can't tell: several faults give the same output, and its judgement names all.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.cases.case import Case
from cypool.conformance.cases.instances import base
from cypool.conformance.judging import explained_refusals
from cypool.conformance.judging.compare import AS_RULED, OR, PASS, READS_DIFFERENTLY, Criterion, misfit, named
from cypool.conformance.judging.records import Result
from cypool.conformance.oracle import JOIN
from cypool.conformance.tensors import Tensor

Cell: TypeAlias = tuple[str, str, str]
"""A runtime, an operator-version and an element type: runtimes have a kernel for each, and what one
does tells nothing of another.
"""


def drop_contradicted(results: Sequence[Result], cases: Iterable[Case] = ()) -> list[Result]:
    """Return the results without the explanations that others of the run contradict.

    A case contradicts a fault where its answer is right and the fault would give another. Of
    ``cases``, those of the run, it is known which a reading would refuse; without them, refusals
    are left as they are.
    """
    by_id = {case.id: case for case in cases}
    found: dict[Cell, set[str]] = {}
    for result in results:
        found.setdefault(_cell(result), set()).update(contradicted(result, by_id.get(result.case)))
    return [_without(result, found[_cell(result)]) for result in results]


def _cell(result: Result) -> Cell:
    return result.runtime, result.version, result.type


@functools.cache
def _faults(version: str) -> Mapping[str, tuple[str, ...]]:
    """Return the computable faults of a version, by ruling."""
    found = spec.version(version)
    faults = {reading.name for ruling in found.rulings for reading in ruling.readings if not reading.legitimate}
    return {ruling: tuple(faults.intersection(names)) for ruling, names in oracle.computable(found).items()}


def contradicted(result: Result, case: Case | None = None) -> set[str]:
    """Return the faults that a result speaks against: its answer is right, and theirs would be
    another.
    """
    if result.verdict != PASS or result.fault is not None:
        return set()
    told = {ruling: names for ruling, names in result.readings.items() if AS_RULED in names}
    found = {name for ruling, names in told.items() for name in _faults(result.version).get(ruling, ()) if name not in names}
    if case is not None:
        found |= {reading.name for _, reading in explained_refusals.explanations(case) if not reading.legitimate}
    return found


Against: TypeAlias = Callable[[Result, Collection[str]], Collection[str]]
"""Which of the faults named a result speaks against."""


def by_readings(result: Result, named: Collection[str]) -> Collection[str]:
    """Say so by the readings that were kept with the result: those of the rulings that its case
    turns on.
    """
    return contradicted(result)


def by_answers(cases: Iterable[Case], criterion: Criterion) -> Against:
    """Return a function that says so of any case of a run: it computes what the faults named would
    have given, alone and together.
    """
    by_id = {base(case.id): case for case in cases if case.fault is None}

    @functools.cache
    def differs(id: str, reading: str) -> bool:
        case = by_id[id]
        attributes = {name: typed.value for name, typed in case.attributes}
        arrays = oracle.evaluate(case.version, [tensor.array for tensor in case.inputs], attributes, reading)
        got = [Tensor.of(right.name, array) for right, array in zip(case.expected, arrays, strict=False)]
        return misfit(got, case.expected, criterion) is not None

    def against(result: Result, named: Collection[str]) -> Collection[str]:
        found = set(contradicted(result))
        id = base(result.case)
        if result.verdict != PASS or result.fault is not None or id not in by_id:
            return found
        version = by_id[id].version
        told = {name for ruling, names in _faults(result.version).items() if ruling in result.readings for name in names}
        combined = [reading for reading in oracle.combined(version) if set(reading.split(JOIN)) <= set(named)]
        for name in {name for names in _faults(result.version).values() for name in names}.intersection(named) - told:
            ways = [name, *(reading for reading in combined if name in reading.split(JOIN))]
            if all(differs(id, way) for way in ways):
                found.add(name)
        return found

    return against


def _without(result: Result, ruled_out: set[str]) -> Result:
    """Return the result without the explanations that hold a fault that is ruled out."""
    if not result.reading or result.verdict == READS_DIFFERENTLY:
        return result
    alternatives = [names.split(JOIN) for names in result.reading.split(OR)]
    left = [names for names in alternatives if not ruled_out.intersection(names)]
    if left == alternatives:
        return result
    gone = {name for names in alternatives for name in names} - {name for names in left for name in names}
    readings = {ruling: tuple(name for name in names if name not in gone) for ruling, names in result.readings.items()}
    return dataclasses.replace(
        result,
        reading=OR.join(JOIN.join(names) for names in left),
        readings={ruling: names for ruling, names in readings.items() if names},
        message=named(result.message, left),
    )
