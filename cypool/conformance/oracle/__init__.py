"""Compute the exact answer, slowly, from the definition: one function an operator, found by its
name.

It judges the rest of cypool, so it shares nothing with what it judges. Shapes and values are
derived here a second time, and an error in one shows against the other.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from cypool.spec.model import Attribute, AttributeValue, Version, snake

Array = np.ndarray[Any, np.dtype[Any]]

JOIN = "+"
"""What stands between the names of readings that are followed at once."""

FLOAT32 = "float32"
"""The reading by which doubles are converted to float first, the same for every operator; it comes
first in what it is joined with.
"""


Operand = Array | None
"""An input; None where an optional one is absent."""


def evaluate(
    version: Version, inputs: Sequence[Operand], attributes: Mapping[str, AttributeValue], reading: str | None = None
) -> tuple[Array, ...]:
    """Compute all outputs of one operator version, optional ones too, exact and rounded once.

    ``inputs`` are in the operator's order, None for an optional one that is absent; attributes that
    are left out take the version's defaults. ``reading`` names another reading of one of the
    silences (see ``computable``), or several (see ``combined``); None is how cypool reads them.
    Calls that the version does not allow have no answer here: checking is not the oracle's work.
    """
    module = _module(version.op)
    if reading is not None and reading not in _known(module):
        known = ", ".join(sorted(name for name in _known(module) if JOIN not in name))
        raise ValueError(f"{version.name}: no answer for the reading {reading!r}, only for {known}")
    first, _, others = (reading or "").partition(JOIN)
    if first == FLOAT32:
        return _in_float32(version, inputs, attributes, others or None)
    values = {attribute.name: _value(attribute, attributes.get(attribute.name, attribute.default)) for attribute in version.attributes}
    outputs: tuple[Array, ...] = getattr(module, snake(version.op))(*inputs, **values, reading=reading)
    return outputs[: len(version.outputs)]  # a version may lack outputs that later ones have


def computable(version: Version) -> dict[str, tuple[str, ...]]:
    """Return the version's rulings that have readings which ``evaluate`` can follow, with the names
    of these.
    """
    known = _known(_module(version.op))
    found = {ruling.id: tuple(reading.name for reading in ruling.readings if reading.name in known) for ruling in version.rulings}
    return {ruling: readings for ruling, readings in found.items() if readings}


def combined(version: Version) -> tuple[str, ...]:
    """Several readings of the version's rulings that ``evaluate`` can follow at once, their names
    joined by ``+``, the fewest first.
    """
    single = {name for names in computable(version).values() for name in names}
    found = [name for name in _known(_module(version.op)) if JOIN in name and single.issuperset(name.split(JOIN))]
    return tuple(sorted(found, key=lambda name: name.count(JOIN)))  # stable: of equals, in the order of the module


def _in_float32(
    version: Version, inputs: Sequence[Operand], attributes: Mapping[str, AttributeValue], reading: str | None
) -> tuple[Array, ...]:
    """Doubles as floats on the way in and on the way out; other types have no need of that."""
    if all(array is None or array.dtype != np.float64 for array in inputs):
        return evaluate(version, inputs, attributes, reading)
    outputs = evaluate(version, [None if array is None else _as_float32(array) for array in inputs], attributes, reading)
    return tuple(_as_float32(output).astype(np.float64) if output.dtype == np.float32 else output for output in outputs)


def _as_float32(array: Array) -> Array:
    """Convert to float; values beyond its range, infinities too, become its largest number.

    Integers stay.
    """
    if array.dtype not in (np.float32, np.float64):
        return array
    largest = np.finfo(np.float32).max
    return np.clip(array, -largest, largest).astype(np.float32)


def _known(module: ModuleType) -> tuple[str, ...]:
    """Return the readings that can be followed, alone or together."""
    return (*module.READINGS, *(JOIN.join(filter(None, (FLOAT32, name))) for name in module.IN_FLOAT32))


def _module(op: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{snake(op)}")


def _value(attribute: Attribute, value: AttributeValue | None) -> AttributeValue | None:
    """Return the value of an attribute; a FLOAT is rounded to float32 first."""
    return float(np.float32(value)) if attribute.type == "FLOAT" else value  # type: ignore[arg-type]
