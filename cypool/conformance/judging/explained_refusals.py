"""Explain refusals by a recorded reading of a silence.

One outcome can't tell: a runtime that refuses every call refuses this one too. So a control case
is run, the same with inputs that the reading takes. The reading explains the refusal only if the
runtime computes the control case.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

from cypool.conformance import cases
from cypool.conformance.asking.protocol import Outcome
from cypool.conformance.cases.case import Case
from cypool.conformance.cases.instances import base
from cypool.conformance.judging.compare import ERROR, LOAD_ERROR, OR, READS_DIFFERENTLY, Judgement, named
from cypool.spec.model import Reading, Version
from cypool.spec.shapes import fits
from cypool.spec.windows import Axis, axes, inverse_axes

REFUSED = (LOAD_ERROR, ERROR)


def explain_refusal(case: Case, judgement: Judgement, ask: Callable[[Case], Outcome]) -> Judgement:
    """Name in the judgement the recorded readings that explain a refusal; return others unchanged.

    A reading explains it if it refuses the inputs, and the runtime computes a control case that the
    reading takes. ``ask`` runs the control case.
    """
    if judgement.verdict not in REFUSED:
        return judgement
    faults: dict[str, str] = {}  # the ruling of each
    for ruling, reading in explanations(case):
        other = control(case, reading)
        if other is not None and ask(other).status == "ok":
            if reading.legitimate:
                return dataclasses.replace(judgement, verdict=READS_DIFFERENTLY, reading=reading.name, readings={ruling: (reading.name,)})
            faults[reading.name] = ruling
    if not faults:
        return judgement
    return dataclasses.replace(
        judgement,
        reading=OR.join(faults),
        readings={ruling: tuple(name for name in faults if faults[name] == ruling) for ruling in faults.values()},
        message=named(judgement.message, [(name,) for name in faults]),
    )


def explanations(case: Case) -> list[tuple[str, Reading]]:
    """Return the readings by which a valid case is refused, each with its ruling, those that the
    text allows first.
    """
    rulings = [ruling for ruling in case.version.rulings if ruling.id in case.rulings]
    found = [(ruling.id, reading) for ruling in rulings for reading in ruling.readings if case.fault is None and refuses(reading, case)]
    return sorted(found, key=lambda pair: not pair[1].legitimate)


def refuses(reading: Reading, case: Case) -> bool:
    """Tell whether the reading does not take the inputs, or the windows, of a case."""
    shapes = {tensor.name: tensor.shape for tensor in case.inputs}
    if any(name in shapes and fits(rule, shapes[name]) for name, rule in reading.refuses):
        return True
    return reading.refuses_windows != "" and any(REFUSED_WINDOWS[reading.refuses_windows](axis, same) for axis, same in _axes(case))


REFUSED_WINDOWS: Mapping[str, Callable[[Axis, bool], bool]] = {
    "pads-reach-kernel": lambda axis, same: max(-axis.first, axis.padded - axis.size) >= axis.taps and not same,
    "kernel-beyond-input": lambda axis, same: axis.padded - axis.first < (axis.taps - 1) * axis.dilation + 1,
    "windows-beyond-output": lambda axis, same: axis.count > 0 and axis.padded < axis.first + (axis.count - 1) * axis.stride + axis.taps,
    "cropped": lambda axis, same: same and (axis.count - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1 < axis.size,
}
"""Which windows along an axis each name means, told whether auto_pad is one of SAME."""


def _axes(case: Case) -> list[tuple[Axis, bool]]:
    """Return the windows of a case along each axis, and whether auto_pad is one of SAME; those that
    it undoes lie in its output.
    """
    attributes = {name: typed.value for name, typed in case.attributes}
    rule = case.version.windows
    assert rule is not None
    if rule.inverse:
        made, placed = (tensor.shape[2:] for tensor in (case.inputs[0], case.expected[0]))
        return [(axis, False) for axis in inverse_axes(case.version, made, placed, attributes)]
    same = str(attributes.get(rule.auto_pad or "", "")).startswith("SAME")
    return [(axis, same) for axis in axes(case.version, case.inputs[0].shape[2:], attributes)]


def control(case: Case, reading: Reading) -> Case | None:
    """Return the plainest case that the reading takes, of the same type, outputs, opset and
    variant; None where there is none.

    It has the same attributes too, if possible. Attributes that make windows depend on the rank, so
    there it may have others.
    """
    alike = [other for other in _valid(case.version) if (other.type, other.outputs) == (case.type, case.outputs)]
    taken = [other for other in alike if not refuses(reading, other)]
    if case.version.windows is None:
        taken = [other for other in taken if other.attributes == case.attributes]
    if not taken:
        return None
    plain = min(taken, key=lambda other: (other.attributes != case.attributes, len(other.rulings), other.id))
    mark = case.id.removeprefix(base(case.id))
    return dataclasses.replace(plain, id=f"{plain.id}{mark}", opset=case.opset, variant=case.variant)


@functools.cache
def _valid(version: Version) -> tuple[Case, ...]:
    return tuple(cases.valid(version))
