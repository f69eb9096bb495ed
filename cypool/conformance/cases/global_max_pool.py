"""State what GlobalMaxPool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.shapes import EMPTY, LITTLE_TOLD, SHAPES, legal
from cypool.conformance.cases.values import BEYOND_FLOAT, SIGNED, families, values
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
    return {"shape": legal(version.inputs[0].shape), "values": families("float", SIGNED)}


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """There are none."""
    return {}


def constraints(version: Version) -> list[Constraint]:
    """Without elements, values tell nothing."""
    return [Constraint(("shape", "values"), lambda shape, family: shape not in EMPTY or family == "ramp")]


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
    rows = x.astype(np.float64).reshape(math.prod(x.shape[:2]), -1)
    nan = np.isnan(rows).any(axis=1)
    best = np.where(np.isnan(rows), -np.inf, rows).max(axis=1)
    found = {
        "rank": not 3 <= x.ndim <= 5,
        "nan-max": nan.any(),
        "minus-inf": (np.isneginf(best) & ~nan).any(),
        "double": x.dtype == np.float64 and choice["values"] in BEYOND_FLOAT and (best != 0).any(),
    }
    return [ruling for ruling, touched in found.items() if touched]
