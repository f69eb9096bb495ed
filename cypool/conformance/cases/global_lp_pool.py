"""State what GlobalLpPool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases.attributes import chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.norms import estimate, far_apart
from cypool.conformance.cases.shapes import EMPTY, LITTLE_TOLD, SHAPES, legal
from cypool.conformance.cases.values import FAMILIES, values
from cypool.conformance.oracle.global_lp_pool import global_lp_pool
from cypool.spec.model import AttributeValue, Version

P = {"p": (1, 3, 4, 7, 100, 2**40, 0.5, 1.5, 2.5, 0.01, 0.001)}
TOGETHER = (("type", "p", "values"),)
CORE = (
    {"p": "p1", "values": "near-overflow"},
    {"p": "p3", "values": "mixed-signs"},
    {"p": "p4", "values": "all-equal"},
)
SPARING = LITTLE_TOLD
PLAIN = {"shape": "odd", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {"p": "p-range", "X": "rank"}
FAULTS_ONCE = False
COLUMNS: dict[str, tuple[str, ...]] = {}


def factors(version: Version) -> Factors:
    """Return the factors: shape, p and values."""
    return {"shape": legal(version.inputs[0].shape), "p": tuple(labelled(version, P)["p"]), "values": tuple(FAMILIES)}


def constraints(version: Version) -> list[Constraint]:
    """Without elements, values tell nothing."""
    return [Constraint(("shape", "values"), lambda shape, family: shape not in EMPTY or family == "ramp")]


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return p, if the case has it."""
    return chosen(version, labelled(version, P), choice)


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array, ...]:
    """Return X."""
    return (values(choice["values"], draws, SHAPES[choice["shape"]], dtype),)


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Return the silences that the case turns on."""
    (x,) = arrays
    p = float(np.float32(attributes["p"]))
    if 0 in x.shape[:2]:
        return ["empty-batch"]
    if 0 in x.shape:
        return ["empty-plane"]
    rows = x.reshape(math.prod(x.shape[:2]), -1)
    finite = rows[np.isfinite(rows).all(axis=1)]
    norms = estimate(np.abs(finite), p)
    (naive,) = global_lp_pool(finite[:, None], p=p, reading="naive")
    found = {
        "rank": not 3 <= x.ndim <= 5,
        "nan-and-inf": len(finite) < len(rows),
        "sign": math.isfinite(p) and p % 2 != 0 and (finite < 0).any() and far_apart(estimate(finite, p), norms),
        "sum-or-mean": choice["values"] in ("ramp", "all-equal") and x.size > len(rows) and p <= 100,
        "accumulation": far_apart(naive.reshape(-1), norms),
        "overflow-to-inf": np.isinf(norms).any(),
    }
    return [ruling for ruling, touched in found.items() if touched]
