"""The exact answer, slowly, from the definition: one function an operator, found by its name.

It judges the rest of cypool, so it shares nothing with what it judges: shapes and values are derived here a second time, and an
error in one shows against the other.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from cypool.spec.model import Attribute, AttributeValue, Version

Array = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    version: Version, inputs: Sequence[Array], attributes: Mapping[str, AttributeValue], reading: str | None = None
) -> tuple[Array, ...]:
    """The outputs of one operator version, exact and rounded once to the output type.

    ``inputs`` in the operator's order; attributes that are left out take the version's defaults. ``reading`` names another reading of
    one of the silences (see ``computable``); None is how cypool reads them. Calls that the version does not allow have no answer here:
    checking is not the oracle's work.
    """
    module = _module(version.op)
    if reading is not None and reading not in module.READINGS:
        raise ValueError(f"{version.name}: no answer for the reading {reading!r}, only for {', '.join(sorted(module.READINGS))}")
    values = {attribute.name: _value(attribute, attributes.get(attribute.name, attribute.default)) for attribute in version.attributes}
    outputs: tuple[Array, ...] = getattr(module, _snake(version.op))(*inputs, **values, reading=reading)
    return outputs


def computable(version: Version) -> dict[str, tuple[str, ...]]:
    """The version's rulings that have readings which ``evaluate`` can follow, with the names of these."""
    known = _module(version.op).READINGS
    found = {ruling.id: tuple(reading.name for reading in ruling.readings if reading.name in known) for ruling in version.rulings}
    return {ruling: readings for ruling, readings in found.items() if readings}


def _snake(op: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", op).lower()


def _module(op: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{_snake(op)}")


def _value(attribute: Attribute, value: AttributeValue | None) -> AttributeValue | None:
    """A FLOAT is a float32 before anything else."""
    return float(np.float32(value)) if attribute.type == "FLOAT" else value  # type: ignore[arg-type]
