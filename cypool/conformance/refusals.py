"""Refusals that a recorded reading of a silence explains.

Apart from the comparison because one outcome can't tell: a runtime that refuses all there is refuses this too. So it is asked for the same
with inputs that the reading takes, and only where that is computed is the reading what the refusal is about.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

from cypool.conformance import cases
from cypool.conformance.axes import base
from cypool.conformance.case import Case
from cypool.conformance.compare import ERROR, LOAD_ERROR, READS_DIFFERENTLY, Judgement
from cypool.conformance.protocol import Outcome
from cypool.spec.model import Reading, Version
from cypool.spec.shapes import fits

REFUSED = (LOAD_ERROR, ERROR)


def settled(case: Case, judgement: Judgement, ask: Callable[[Case], Outcome]) -> Judgement:
    """The judgement, or, of a refusal that a reading explains, the one that says so; ``ask`` is used where there may be one."""
    if judgement.verdict not in REFUSED:
        return judgement
    for ruling, reading in explanations(case):
        other = control(case, reading)
        if other is not None and ask(other).status == "ok":
            named = dataclasses.replace(judgement, reading=reading.name, readings={ruling: (reading.name,)})
            if reading.legitimate:
                return dataclasses.replace(named, verdict=READS_DIFFERENTLY)
            return dataclasses.replace(named, message=f"{judgement.message}; known fault: {reading.name}")
    return judgement


def explanations(case: Case) -> list[tuple[str, Reading]]:
    """The readings by which a valid case is refused, each with its ruling, those that the text allows first."""
    rulings = [ruling for ruling in case.version.rulings if ruling.id in case.rulings]
    found = [(ruling.id, reading) for ruling in rulings for reading in ruling.readings if case.fault is None and refuses(reading, case)]
    return sorted(found, key=lambda pair: not pair[1].legitimate)


def refuses(reading: Reading, case: Case) -> bool:
    """Whether the reading does not take the inputs of a case."""
    rules = dict(reading.refuses)
    return any(fits(rules[tensor.name], tensor.shape) for tensor in case.inputs if tensor.name in rules)


def control(case: Case, reading: Reading) -> Case | None:
    """The plainest case that the reading takes, of the same type, attributes, opset and variant; None where there is none."""
    alike = [
        other
        for other in _valid(case.version)
        if (other.type, other.attributes) == (case.type, case.attributes) and not refuses(reading, other)
    ]
    if not alike:
        return None
    plain = min(alike, key=lambda other: (len(other.rulings), other.id))
    mark = case.id.removeprefix(base(case.id))
    return dataclasses.replace(plain, id=f"{plain.id}{mark}", opset=case.opset, variant=case.variant)


@functools.cache
def _valid(version: Version) -> tuple[Case, ...]:
    return tuple(cases.valid(version))
