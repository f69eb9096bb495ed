"""State what AveragePool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases import windows
from cypool.conformance.cases.attributes import chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.means import accumulated, is_wide
from cypool.conformance.cases.values import FAMILIES, SUMMED
from cypool.spec.model import AttributeValue, Version

TOGETHER = (("type", "count_include_pad", "values"),)
CORE = (
    ("count_include_pad", "windows"),
    {"shape": "2d", "values": "cancelling"},
    {"windows": "ceil-pad", "values": "ramp"},
    {"windows": "ceil-pad", "values": "mixed-signs"},
    {"windows": "ceil-pad", "values": "all-equal"},
    {"count_include_pad": "count_include_pad0", "values": "nan"},
)
SPARING = windows.SPARING
PLAIN = {"shape": "2d", "windows": "k3-pad", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {**windows.FAULTS, "count_include_pad": "flag-values", "later-dilations": "avg-11-dilations"}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}


IN_THREES = ("k3s2", "k3-pad", "k3s2-begin", "k3s2-end", "ceil", "ceil-even", "ceil-pad", "same-upper", "valid")
"""Regimes whose windows have three neighbours on the last axis, of which large elements cancel."""


TELLING = ("ramp", "mixed-signs", "random", "all-equal", "ties")
"""Families whose means are no zeros, so that it shows by what a sum is divided."""

inputs = windows.inputs


def factors(version: Version) -> Factors:
    """Return the factors: shape and windows, whether padding counts, values."""
    return {
        "shape": tuple(windows.IMAGES),
        "windows": windows.available(version),
        **{name: tuple(labels) for name, labels in _apart(version).items()},
        "values": (*FAMILIES, *SUMMED),
    }


def _apart(version: Version) -> dict[str, dict[str, AttributeValue | None]]:
    """Return the attributes that have no part in making windows."""
    return labelled(version, {}, apart=windows.names(version))


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the attributes of the windows, and count_include_pad."""
    return {**windows.attributes(version, choice["windows"], choice["shape"]), **chosen(version, _apart(version), choice)}


def constraints(version: Version) -> list[Constraint]:
    """Leave out values that do not show anything with some windows."""
    return [
        *windows.constraints(),
        Constraint(("windows", "values"), lambda name, family: family != "cancelling" or name in IN_THREES),
        Constraint(("shape", "values"), lambda image, family: family != "cancelling" or image not in ("3d", "4d")),
        Constraint(("windows", "values"), lambda name, family: name != "ceil-pad" or family in TELLING),
        Constraint(("windows", "count_include_pad"), lambda name, counts: name != "ceil-pad" or counts == "count_include_pad1"),
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
    positions, taps = windows.positions(along)
    padding_counts = attributes.get("count_include_pad") == 1
    many = inside.sum(axis=2)
    divisor = np.broadcast_to(positions, many.shape) if padding_counts else many
    with np.errstate(all="ignore"):
        mean = np.where(inside, elements, 0).sum(axis=2) / divisor
    plain = np.isfinite(mean) & (np.abs(mean) > 1e-3)
    nan = (np.isnan(elements) & inside).sum(axis=2)
    touched = {
        "empty-window": (divisor == 0).any(),
        "avg-divisor": padding_counts and (plain & (positions < taps)).any(),
        "avg-1-padding": version.attribute("count_include_pad") is None and (plain & (many < positions)).any(),
        "avg-accumulation": choice["values"] in SUMMED and accumulated(elements, inside, divisor, x.dtype),
        "avg-nan-inf": not padding_counts and ((nan > 0) & (nan < many)).any(),
        "avg-zero-sign": choice["values"] == "zeros",
        "double": x.dtype == np.float64 and is_wide(choice["values"], elements, inside),
    }
    return found + [ruling for ruling, is_touched in touched.items() if is_touched]
