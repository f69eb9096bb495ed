"""State what LpPool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases import windows
from cypool.conformance.cases.attributes import More, chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.norms import estimate, far_apart
from cypool.conformance.cases.values import BEYOND_FLOAT, FAMILIES
from cypool.conformance.oracle.global_lp_pool import global_lp_pool
from cypool.spec.model import AttributeValue, Version

P: More = {"p": (1, 3, 4, 7, 100, 0.5, 2.5)}
TOGETHER = (("type", "p", "values"),)
CORE = (
    {"p": "p3", "values": "mixed-signs"},
    {"p": "p2", "values": "near-overflow"},
    {"p": "p1", "values": "overflowing"},
    {"p": "p100", "values": "near-underflow"},
    {"p": "p2", "values": "ramp", "windows": "ceil-pad"},
)
SPARING = windows.SPARING
PLAIN = {"shape": "2d", "windows": "k3-pad", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {**windows.FAULTS, "p": "p-range", "kernel-missing": "lp-1-kernel"}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}

SCALED = ("near-overflow", "near-underflow", "subnormals")
"""Families whose powers a type does not hold."""

MOST = 16
"""How many windows are summed up naively, to see whether that shows."""

inputs = windows.inputs


def factors(version: Version) -> Factors:
    """Return the factors: shape and windows, p, values."""
    return {
        "shape": tuple(windows.IMAGES),
        "windows": windows.available(version),
        "p": tuple(_apart(version)["p"]),
        "values": (*FAMILIES, "overflowing"),
    }


def _apart(version: Version) -> dict[str, dict[str, AttributeValue | None]]:
    """Return the attributes that have no part in making windows."""
    return labelled(version, P, apart=windows.names(version))


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the attributes of the windows, and p."""
    return {**windows.attributes(version, choice["windows"], choice["shape"]), **chosen(version, _apart(version), choice)}


def constraints(version: Version) -> list[Constraint]:
    """Leave out values and powers that do not show anything with some windows."""
    return [
        *windows.constraints(),
        Constraint(("windows", "values"), lambda name, family: name != "k1" or family != "overflowing"),
        Constraint(("windows", "p"), lambda name, p: name not in windows.SEEN_BY_VALUES or p in ("p-absent", "p1", "p2")),
    ]


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Return the silences that the case turns on."""
    (x,) = arrays
    assert x is not None
    found = windows.touched(version, x.shape, attributes)
    along = windows.along(version, x.shape, attributes)
    elements, inside = windows.seen(x, along)
    if elements.size == 0:
        return found
    p = float(np.float32(attributes["p"]))
    positions, taps = windows.positions(along)
    rows = np.where(inside, elements, 0.0).reshape(-1, elements.shape[2]).astype(x.dtype)
    finite = np.isfinite(rows).all(axis=1)
    nan = (np.isnan(elements) & inside).sum(axis=2)
    norms = estimate(np.abs(rows[finite]), p)
    overhung = np.tile(positions < taps, len(elements))[finite]
    touched = {
        "empty-window": (~inside.any(axis=2)).any(),
        "lp-ceil-overhang": p <= 7 and (overhung & np.isfinite(norms) & (norms > 1e-3)).any(),
        "nan-and-inf": ((nan > 0) & (nan < inside.sum(axis=2))).any(),
        "sign": p <= 100 and p % 2 != 0 and (rows[finite] < 0).any() and far_apart(estimate(rows[finite], p), norms),
        "accumulation": choice["values"] in SCALED and _is_seen("naive", rows[finite], p, norms),
        "half-precision": x.dtype.itemsize == 2 and choice["values"] in SCALED and _is_seen("narrow", rows[finite], p, norms),
        "lp-1-same": str(attributes["auto_pad"]).startswith("SAME"),
        "overflow-to-inf": np.isinf(norms).any(),
        "double": x.dtype == np.float64 and choice["values"] in BEYOND_FLOAT and (norms != 0).any(),
    }
    return found + [ruling for ruling, is_touched in touched.items() if is_touched]


def _is_seen(reading: str, rows: Array, p: float, norms: Array) -> bool:
    """Tell whether plain sums of powers show in one of the first norms."""
    (plain,) = global_lp_pool(rows[:MOST, None], p=p, reading=reading)
    return math.isfinite(p) and far_apart(plain.reshape(-1), norms[:MOST])
