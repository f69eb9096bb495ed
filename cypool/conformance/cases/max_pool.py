"""State what MaxPool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases import windows
from cypool.conformance.cases.attributes import chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array
from cypool.conformance.cases.values import BEYOND_FLOAT, SIGNED, families
from cypool.spec.model import AttributeValue, Version

TOGETHER = (("type", "outputs", "values"), ("type", "storage_order", "outputs"))
CORE = (("type", "storage_order", "outputs"),)
SPARING = windows.SPARING
PLAIN = {"shape": "2d", "windows": "k3-pad", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {**windows.FAULTS, "storage_order": "flag-values"}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}

inputs = windows.inputs


def factors(version: Version) -> Factors:
    """Return the factors: shape and windows, which outputs are asked for, values."""
    types = version.types[0].allowed
    return {
        "shape": tuple(windows.IMAGES),
        "windows": windows.available(version),
        **{name: tuple(labels) for name, labels in _apart(version).items()},
        **({"outputs": ("Y", "Y-Indices")} if len(version.outputs) > 1 else {}),
        "values": tuple(dict.fromkeys(family for type in types for family in families(type, SIGNED))),
    }


def _apart(version: Version) -> dict[str, dict[str, AttributeValue | None]]:
    """Return the attributes that have no part in making windows."""
    return labelled(version, {}, apart=windows.names(version))


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the attributes of the windows, and storage_order."""
    return {**windows.attributes(version, choice["windows"], choice["shape"]), **chosen(version, _apart(version), choice)}


def constraints(version: Version) -> list[Constraint]:
    """Leave out combinations that have no meaning, and those that take long and tell little."""
    return [
        Constraint(("type", "values"), lambda type, family: family in families(type, SIGNED)),
        *windows.constraints(),
        Constraint(("windows", "outputs"), lambda name, outputs: name not in ("between", "no-size") or outputs == "Y-Indices"),
        Constraint(("outputs", "values"), lambda outputs, family: family != "nan-alone" or outputs == "Y-Indices"),
        Constraint(("windows", "values"), lambda name, family: name != "k1" or family != "nan-alone"),
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
    integers = x.dtype.kind in "iu"
    nan = np.isnan(elements) & inside
    best = np.where(inside & ~nan, elements, -np.inf).max(axis=2)
    empty, any_nan = np.asarray(~inside.any(axis=2)), np.asarray(nan.any(axis=2))
    selected = np.where(any_nan[:, :, None], nan, inside & (elements == best[:, :, None]))
    asked = "Indices" in choice.get("outputs", "")
    by_value = {
        "empty-window": empty.any() and not integers,
        "nan-max": any_nan.any(),
        "minus-inf": (np.isneginf(best) & ~empty & ~any_nan).any(),
        "double": x.dtype == np.float64 and choice["values"] in BEYOND_FLOAT and (~empty & (best != 0)).any(),
    }
    by_index = {
        "empty-window-index": empty.any(),
        "nan-index": (nan.sum(axis=2) > 1).any(),
        "tie": (~any_nan & (selected.sum(axis=2) > 1)).any(),
        "index-base": (~empty[1:]).any(),
        "index-pads": any(axis.first < 0 for axis in along),
        "storage-order": attributes.get("storage_order") == 1 and _parts(x.shape, selected, windows.places(along)[0]),
    }
    return found + [ruling for ruling, touched in (by_value | (by_index if asked else {})).items() if touched]


def _parts(shape: tuple[int, ...], selected: Array, places: Array) -> bool:
    """Tell whether a tensor that is column-major as a whole would number the selected elements
    otherwise.
    """
    planes, windows = np.nonzero(selected.any(axis=2))
    first = places[windows, selected.argmax(axis=2)[planes, windows]]
    n, c = np.unravel_index(planes, shape[:2])
    spatial = np.unravel_index(first, shape[2:])
    whole = np.ravel_multi_index((n, c, *spatial), shape, order="F")
    inside = np.ravel_multi_index(spatial, shape[2:], order="F")
    return bool((whole != planes * math.prod(shape[2:]) + inside).any())
