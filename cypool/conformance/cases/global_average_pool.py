"""State what GlobalAveragePool's cases vary beyond its spec data, and which silences a case
touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.means import accumulated, is_wide
from cypool.conformance.cases.shapes import EMPTY, LITTLE_TOLD, SHAPES, legal
from cypool.conformance.cases.values import FAMILIES, SUMMED, values
from cypool.spec.model import AttributeValue, Version

TOGETHER: tuple[tuple[str, ...], ...] = ()
CORE: tuple[tuple[str, ...], ...] = ()
SPARING = LITTLE_TOLD
PLAIN = {"shape": "odd", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {"X": "rank"}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}


def factors(version: Version) -> Factors:
    """Return the factors: shape and values."""
    return {"shape": legal(version.inputs[0].shape), "values": (*FAMILIES, *SUMMED)}


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """There are none."""
    return {}


def constraints(version: Version) -> list[Constraint]:
    """Without elements, values tell nothing."""
    return [
        Constraint(("shape", "values"), lambda shape, family: shape not in EMPTY or family == "ramp"),
        Constraint(("shape", "values"), lambda shape, family: shape not in ("rank2", "one-element") or family not in SUMMED),
    ]


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
    """Return X."""
    return (values(choice["values"], draws, SHAPES[choice["shape"]], dtype),)


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Return the silences that the case turns on."""
    (x,) = arrays
    assert x is not None
    if 0 in x.shape[:2]:
        return ["zero-size"]
    if 0 in x.shape:
        return ["spatial-zero"]
    rows = x.astype(np.float64).reshape(math.prod(x.shape[:2]), 1, -1)
    everything = np.ones(rows.shape, bool)
    many = everything.sum(axis=2)
    found = {
        "rank": not 3 <= x.ndim <= 5,
        "avg-accumulation": choice["values"] in SUMMED and accumulated(rows, everything, many, x.dtype),
        "avg-nan-inf": not np.isfinite(rows).all(),
        "avg-zero-sign": choice["values"] == "zeros",
        "double": x.dtype == np.float64 and is_wide(choice["values"], rows, everything),
    }
    return [ruling for ruling, is_touched in found.items() if is_touched]
