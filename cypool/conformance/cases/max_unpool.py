"""What MaxUnpool's cases try beyond what its spec data says, and which of its silences a case touches.

Apart from the generator, which finds it by the operator's name and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cypool.conformance import oracle
from cypool.conformance.cases.covering import Axes, Choice, Constraint
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.values import FAMILIES, values
from cypool.conformance.cases.windows import EMPTY, IMAGES
from cypool.spec.model import AttributeValue, Version


class Line(NamedTuple):
    """How many windows there are along an axis; kernel, stride and pads."""

    windows: int
    kernel: int
    stride: int = 1
    begin: int = 0
    end: int = 0


WINDOWS = {
    "k2s2": Line(3, 2, 2),
    "k2": Line(4, 2),
    "k3s2": Line(3, 3, 2),
    "k2s3": Line(3, 2, 3),
    "k1s2": Line(4, 1, 2),
    "k3s2-begin": Line(3, 3, 2, 1, 0),
    "k3s2-pad": Line(4, 3, 2, 1, 1),
    "pads-as-kernel": Line(5, 2, 2, 2, 2),
    "written": Line(3, 2),
    "one-window": Line(1, 4, 3),
}
"""The line of the last axis, by name; the others have two windows of 2, side by side."""

OUTPUTS = ("inferred", "same", "larger", "smaller")
"""Whether output_shape is left out, or what it is beside the shape that would be inferred."""

INDICES = ("in-order", "permuted", "duplicates", "ends")

TOGETHER = (("type", "output", "indices"),)
CORE: tuple[tuple[str, ...], ...] = ()
SPARING = EMPTY | {"4d", "many-channels"}
PLAIN = {"shape": "2d", "windows": "k2s2", "output": "inferred", "indices": "in-order", "values": "mixed-signs"}
WITH_OPTIONAL = {"output": "larger"}
FAULTS = {
    "kernel_shape": "sizes",
    "strides": "sizes",
    "pads": "sizes",
    "windows": "sizes",
    "X": "rank",
    "I": "i-shape",
    "I holds": "out-of-range",
    "output_shape holds": "output-shape-limits",
}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}


def axes(version: Version) -> Axes:
    """Shape, windows, output_shape, indices and values."""
    return {
        "shape": tuple(IMAGES),
        "windows": tuple(WINDOWS),
        "output": OUTPUTS,
        "indices": INDICES,
        "values": tuple(FAMILIES),
    }


def _lines(choice: Mapping[str, str]) -> list[Line]:
    line = WINDOWS[choice["windows"]]
    other = Line(2, 2, 2 if line.stride == 1 and choice["windows"] != "written" else 1)
    return [other] * (IMAGES[choice["shape"]][2] - 1) + [line]


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """What the windows are."""
    lines = _lines(choice)
    written = choice["windows"] == "written"
    strides, pads = tuple(line.stride for line in lines), (*(line.begin for line in lines), *(line.end for line in lines))
    given: dict[str, AttributeValue] = {"kernel_shape": tuple(line.kernel for line in lines)}
    given |= {"strides": strides} if written or set(strides) != {1} else {}
    return given | ({"pads": pads} if written or any(pads) else {})


def constraints(version: Version) -> list[Constraint]:
    """Without elements, values and places tell nothing."""
    return [
        Constraint(("shape", "values"), lambda image, family: image not in EMPTY or family == "ramp"),
        Constraint(("shape", "indices"), lambda image, indices: image not in EMPTY or indices == "in-order"),
        Constraint(("shape", "output"), lambda image, output: image not in EMPTY or output != "smaller"),
    ]


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
    """X, I, and output_shape where it is given."""
    batch, channels, _ = IMAGES[choice["shape"]]
    lines = _lines(choice)
    inferred = [(line.windows - 1) * line.stride + line.kernel - line.begin - line.end for line in lines]
    step = {"larger": 2, "smaller": -1}.get(choice["output"], 0)
    spatial = [*(max(size, 1) for size in inferred[:-1]), max(inferred[-1] + step, 1)]
    if choice["output"] == "inferred":
        spatial = inferred
    x = values(choice["values"], draws, (batch, channels, *(line.windows for line in lines)), dtype)
    room = batch * channels * math.prod(spatial)
    indices = _indices(choice["indices"], draws, x.size, room).reshape(x.shape)
    return x, indices, None if choice["output"] == "inferred" else np.array([batch, channels, *spatial], np.int64)


def _indices(family: str, draws: Draws, many: int, room: int) -> Array:
    """Places in an output of that many elements; as far as there is room, each once, but in duplicates."""
    if room == 0 or many == 0:
        return np.zeros(many, np.int64)
    if family == "duplicates":
        return draws.below(max(room // 3, 1), many)
    order = np.argsort(draws.fractions(room), kind="stable")
    places = np.resize(order, many)
    if family == "in-order":
        places = np.sort(places)
    if family == "ends":
        places[:1], places[-1:] = room - 1, 0
    return places.astype(np.int64)


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
    """The silences that the case turns on."""
    x, indices, output_shape = arrays
    assert x is not None and indices is not None
    if x.size == 0:
        return ["zero-size"]
    lines, given = _lines(choice), {name: value for name, value in attributes.items() if value is not None}
    inferred = [(line.windows - 1) * line.stride + line.kernel - line.begin - line.end for line in lines]
    padded = any(line.begin or line.end for line in lines)
    smaller = output_shape is not None and bool((output_shape[2:] < inferred).any())
    found = {
        "index-base": math.prod(x.shape[:2]) > 1,
        "output-shape": output_shape is not None and _is_placed_apart(version, arrays, given),
        "output-shape-limits": smaller,
        "pads-and-output-shape": output_shape is not None and padded,
        "duplicates": len(np.unique(indices)) < indices.size,
        "rank": x.ndim > 5,
        "values": choice["values"] in ("nan", "zeros", "nan-with-inf"),
        "pad-limit": any(max(line.begin, line.end) >= line.kernel for line in lines),
    }
    return [ruling for ruling, touched in found.items() if touched]


def _is_placed_apart(version: Version, arrays: tuple[Array | None, ...], given: Mapping[str, AttributeValue]) -> bool:
    """Whether counting in the inferred shape gives another answer, or none."""
    (expected,), (placed,) = (oracle.evaluate(version, arrays, given, reading) for reading in (None, "placed"))
    return not np.array_equal(expected.astype(np.float64), placed.astype(np.float64), equal_nan=True)
