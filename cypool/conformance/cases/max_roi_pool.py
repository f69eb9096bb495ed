"""State what MaxRoiPool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases import boxes
from cypool.conformance.cases.attributes import More, chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.shapes import EMPTY, LITTLE_TOLD, SHAPES, legal
from cypool.conformance.cases.values import BEYOND_FLOAT, FAMILIES, values
from cypool.conformance.oracle.max_roi_pool import max_roi_pool
from cypool.conformance.oracle.rounding import FORMATS
from cypool.conformance.tensors import DTYPES
from cypool.spec.model import AttributeValue, Version

PARTING_SHAPE = (21, 25)  # numbers of bins that readings part over already in small images; kept to the regions made for that

ATTRIBUTES: More = {
    "pooled_shape": ((2, 2), (7, 7), (3, 2), (1, 4), (5, 1), (16, 12), PARTING_SHAPE),
    "spatial_scale": (0.0625, 0.5, 0.7, 2.0, 65536.0),
}
TOGETHER = (("type", "rois", "pooled_shape"),)
CORE = ({"rois": "inside", "values": "minus-inf"},)
SPARING = LITTLE_TOLD
WITH_OPTIONAL: dict[str, str] = {}
FAULTS_ONCE = False
PLAIN = {"shape": "even", "rois": "inside", "values": "mixed-signs"}
FAULTS = {
    "pooled_shape": "pooled-shape",
    "spatial_scale": "scale-range",
    "X": "shapes",
    "rois": "shapes",
    "index": "batch-index",
    "finite": "coordinate-finite",
}
COLUMNS = {"rois": ("batch-index", "x1", "y1", "x2", "y2")}

TURNING = {"half-way": "coordinate-ties", "parting-bins": "bin-precision", "parting-products": "bin-precision", "far": "large-coordinates"}
"""The families of regions that turn on a silence.

They go with a ramp, whose every element tells where it stood.
"""

SHOWN_BY: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "nan": ("nan", np.isnan),
    "nan-with-inf": ("nan", np.isnan),
    "inf": ("all-minus-inf", np.isneginf),
    "minus-inf": ("all-minus-inf", np.isneginf),
}
"""The families of values that turn on a silence, and where in the output that shows."""


def factors(version: Version) -> Factors:
    """Return the factors: shape, attributes, regions and values."""
    labels = {name: tuple(values) for name, values in labelled(version, ATTRIBUTES).items()}
    return {"shape": legal(version.inputs[0].shape), **labels, "rois": tuple(boxes.FAMILIES), "values": tuple(FAMILIES)}


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the attributes that the labels stand for."""
    return chosen(version, labelled(version, ATTRIBUTES), choice)


def constraints(version: Version) -> list[Constraint]:
    """Leave out combinations that have no meaning, and those that turn on several silences."""
    labels = labelled(version, ATTRIBUTES)
    pooled_shapes: Mapping[str, Any] = labels["pooled_shape"]
    scales = {label: 1.0 if scale is None else float(np.float32(scale)) for label, scale in labels["spatial_scale"].items()}  # type: ignore[arg-type]
    tiniest = min(scales.values())

    def parts_bins(type: str, shape: str, rois: str, pooled_shape: str) -> bool:
        if rois != "parting-bins":
            return pooled_shapes[pooled_shape] != PARTING_SHAPE or rois == "none"
        sizes = zip(SHAPES[shape][2:], pooled_shapes[pooled_shape], strict=True)
        return shape not in EMPTY and any(boxes.parting_extents(size, count, DTYPES[type]) for size, count in sizes)

    def parts_products(type: str, shape: str, rois: str, scale: str) -> bool:
        if rois != "parting-products" or scales[scale] == tiniest:
            return rois != "parting-products"
        return all(boxes.parting_coordinates(size, scales[scale], DTYPES[type]) for size in SHAPES[shape][2:])

    def is_far(type: str, rois: str, scale: str) -> bool:
        return rois != "far" or -FORMATS[DTYPES[type]].lowest * scales[scale] > 2.0**31

    return [
        Constraint(("shape", "values"), lambda shape, values: shape not in EMPTY or values == "ramp"),
        Constraint(("rois", "values"), lambda rois, values: (rois not in TURNING and rois != "none") or values == "ramp"),
        Constraint(("shape", "rois"), lambda shape, rois: rois not in TURNING or shape not in {*EMPTY, "one-element"}),
        Constraint(("shape", "rois"), lambda shape, rois: shape != "no-batch" or rois == "none"),
        Constraint(("rois", "spatial_scale"), lambda rois, scale: rois != "half-way" or math.frexp(scales[scale])[0] == 0.5),
        Constraint(("rois", "spatial_scale"), lambda rois, scale: scales[scale] != tiniest or rois in ("inside", "none")),
        Constraint(("type", "shape", "rois", "pooled_shape"), parts_bins),
        Constraint(("type", "shape", "rois", "spatial_scale"), parts_products),
        Constraint(("type", "rois", "spatial_scale"), is_far),
    ]


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array, ...]:
    """Return X and rois."""
    shape = SHAPES[choice["shape"]]
    x = values(choice["values"], draws, shape, dtype)
    image = boxes.Image(shape[2], shape[3], attributes["pooled_shape"], float(np.float32(attributes["spatial_scale"])), dtype)
    corners = boxes.boxes(choice["rois"], draws, image)
    batch = draws.below(shape[0] or 1, len(corners), 1).astype(dtype)
    return x, np.concatenate([batch, corners], axis=1)


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Return the silences that the case turns on."""
    x, rois = arrays
    if 0 in (*x.shape[:2], *rois.shape):
        return ["no-rois"]
    found = []
    if choice["rois"] in TURNING:
        found.append(TURNING[choice["rois"]])
    if choice["values"] == "zeros":
        found.append("signed-zero")
    by_value = x.dtype == np.float64 and choice["values"] in BEYOND_FLOAT
    if choice["values"] in SHOWN_BY or by_value:
        (y,) = max_roi_pool(x, rois, pooled_shape=attributes["pooled_shape"], spatial_scale=float(np.float32(attributes["spatial_scale"])))
        ruling, shows = ("double-precision", np.abs) if by_value else SHOWN_BY[choice["values"]]
        if shows(y.astype(np.float64)).any():
            found.append(ruling)
    return found
