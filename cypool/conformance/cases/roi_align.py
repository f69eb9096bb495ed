"""State what RoiAlign's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cypool.conformance import oracle
from cypool.conformance.cases.attributes import More, chosen, labelled
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.shapes import EMPTY, LITTLE_TOLD, SHAPES, legal
from cypool.conformance.cases.values import BEYOND_FLOAT, FAMILIES, values
from cypool.conformance.oracle.roi_align import Line, lines
from cypool.spec.model import AttributeValue, Version

ATTRIBUTES: More = {"sampling_ratio": (1, 2, 3), "spatial_scale": (0.0625, 0.7, 2.0)}
BINS = {"bins-absent": (None, None), "2x2": (2, 2), "3x1": (3, 1), "1x4": (1, 4), "7x7": (7, 7)}
"""Numbers of bins along height and width, None where the attribute is not written."""

TOGETHER = (("type", "mode", "values"), ("type", "mode", "rois"), ("type", "coordinate_transformation_mode", "rois"))
CORE = (
    {"mode": "modemax", "values": "random"},
    {"mode": "modemax", "values": "nan"},
    {"mode": "modemax", "rois": "partly-outside"},
    {"rois": "on-pixels", "values": "inf"},
    {"rois": "small", "coordinate_transformation_mode": "coordinate_transformation_modeoutput_half_pixel"},
    {"rois": "larger", "sampling_ratio": "sampling_ratio0"},
)
SPARING = LITTLE_TOLD | {"none", "7x7"}
PLAIN = {"shape": "even", "bins": "2x2", "rois": "inside", "values": "mixed-signs"}
WITH_OPTIONAL: dict[str, str] = {}
FAULTS = {
    "mode": "mode",
    "output_height": "size-range",
    "output_width": "size-range",
    "sampling_ratio": "sampling-ratio",
    "spatial_scale": "scale",
    "coordinate_transformation_mode": "half-pixel",
    "finite": "coordinate-finite",
    "batch_indices": "shapes",
    "batch_indices holds": "batch",
    "X": "shapes",
    "rois": "shapes",
}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}

PLAIN_VALUES = ("ramp", "random", "mixed-signs")
LARGE = ("row", "many-channels")
LISTED = 5  # regions of each family
MOST = 512  # pixels that regions reach over: float16 has to hold 16 times that

Edges = tuple[Array, Array]


def _edges(first: Array, extent: Array) -> Edges:
    return first, first + extent


def _eighths(draws: Draws, most: int) -> Array:
    return draws.below(8 * most + 1, LISTED) / 8


REGIONS: dict[str, Callable[[Draws, int], Edges]] = {
    "inside": lambda draws, size: _edges(_eighths(draws, max(size - 1, 1)) / 2, 0.125 + _eighths(draws, max(size - 1, 1)) / 2),
    "on-pixels": lambda draws, size: _edges(1.0 * draws.below(max(size, 1), LISTED), 2.0 * draws.below(3, LISTED)),
    "partly-outside": lambda draws, size: _edges(-_eighths(draws, 3), size / 2 + _eighths(draws, size + 2)),
    "outside": lambda draws, size: _edges(size + 2.5 + _eighths(draws, 3), 0.5 + _eighths(draws, 2)),
    "border": lambda draws, size: _edges(np.resize([-2.0, size - 1.0, -1.5, size - 0.5], LISTED), np.full(LISTED, 2.0)),
    "reversed": lambda draws, size: _edges(size - _eighths(draws, 1), -0.5 - _eighths(draws, max(size - 1, 1))),
    "no-extent": lambda draws, size: _edges(_eighths(draws, max(size - 1, 1)), np.zeros(LISTED)),
    "small": lambda draws, size: _edges(_eighths(draws, max(size - 1, 1)), 0.125 + draws.below(3, LISTED) / 8),
    "larger": lambda draws, size: _edges(-2.0 - _eighths(draws, 2), size + 4.0 + _eighths(draws, 2)),
    "fine": lambda draws, size: _edges(draws.fractions(LISTED) * size / 2, draws.fractions(LISTED) * size),
    "none": lambda draws, size: (np.zeros(0), np.zeros(0)),
}
"""Families of regions: where each begins and ends along an axis of that many pixels."""


def factors(version: Version) -> Factors:
    """Return the factors: shape, bins, the other attributes, regions and values."""
    return {
        "shape": legal(version.inputs[0].shape),
        "bins": tuple(BINS),
        **{name: tuple(labels) for name, labels in _apart(version).items()},
        "rois": tuple(REGIONS),
        "values": tuple(FAMILIES),
    }


def _apart(version: Version) -> dict[str, dict[str, AttributeValue | None]]:
    """Return the attributes but for the two that make the bins."""
    return labelled(version, ATTRIBUTES, apart=("output_height", "output_width"))


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the numbers of bins, and what the other labels say."""
    bins = zip(("output_height", "output_width"), BINS[choice["bins"]], strict=True)
    return {**{name: many for name, many in bins if many is not None}, **chosen(version, _apart(version), choice)}


def constraints(version: Version) -> list[Constraint]:
    """Leave out combinations that have no meaning, and those that take long and tell little."""
    tiniest, ratio, shift = "spatial_scale1.4013e-45", "sampling_ratio", "coordinate_transformation_mode"
    return [
        Constraint(("shape", "values"), lambda shape, family: shape not in EMPTY or family == "ramp"),
        Constraint(("shape", "rois"), lambda shape, rois: shape != "no-batch" or rois == "none"),
        Constraint(("shape", "rois"), lambda shape, rois: shape != "row" or rois in ("inside", "none")),
        Constraint(("shape", "bins"), lambda shape, bins: shape not in LARGE or bins in ("bins-absent", "2x2")),
        Constraint(("shape", "sampling_ratio"), lambda shape, ratio: shape not in LARGE or ratio in ("sampling_ratio1", "sampling_ratio2")),
        Constraint(("shape", "values"), lambda shape, family: shape not in LARGE or family in PLAIN_VALUES),
        Constraint(("rois", "spatial_scale"), lambda rois, scale: scale != tiniest or rois in ("outside", "none")),
        Constraint(("type", "spatial_scale"), lambda type, scale: scale != tiniest or type in ("float", "double")),
        Constraint(("rois", "values"), lambda rois, family: rois != "none" or family == "ramp"),
        Constraint(("rois", "values"), lambda rois, family: rois != "fine" or family in PLAIN_VALUES),
        Constraint(("rois", "values"), lambda rois, family: rois != "outside" or not family.startswith("nan")),
        Constraint(("mode", "values"), lambda mode, family: mode != "modemax" or family != "ties"),
        Constraint(("mode", "rois", "values"), lambda mode, rois, family: mode != "modemax" or family[:3] != "nan" or rois == "larger"),
        # what hangs on an adaptive number of samples
        Constraint(("rois", ratio), lambda rois, label: rois != "no-extent" or label == f"{ratio}-absent"),
        Constraint(("rois", ratio), lambda rois, label: label != f"{ratio}0" or rois == "larger"),
        Constraint(("rois", shift), lambda rois, label: rois != "no-extent" or label != f"{shift}output_half_pixel"),
        Constraint((ratio, "values"), lambda label, family: label != f"{ratio}0" or family in PLAIN_VALUES),
        Constraint(("bins", ratio), lambda bins, label: label != f"{ratio}0" or bins in ("bins-absent", "2x2")),
        Constraint(("shape", ratio), lambda shape, label: label != f"{ratio}0" or shape not in (*EMPTY, "one-element")),
    ]


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
    """Return X, rois and batch_indices."""
    shape = SHAPES[choice["shape"]]
    x = values(choice["values"], draws, shape, dtype)
    region, scale = REGIONS[choice["rois"]], attributes["spatial_scale"] if attributes["spatial_scale"] > 1e-3 else 1.0
    (y1, y2), (x1, x2) = (region(draws, min(size, MOST)) for size in shape[2:])
    rois = (np.stack([x1, y1, x2, y2], axis=1) / scale).astype(dtype)
    return x, rois, draws.below(shape[0] or 1, len(rois))


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Name the silences that the case turns on.

    The oracle is asked about those that show in the answer alone.
    """
    x, rois, batch_indices = arrays
    assert x is not None and rois is not None and batch_indices is not None
    if 0 in (x.shape[0], len(rois)):
        return ["no-image"]
    shifted = attributes.get("coordinate_transformation_mode") == "half_pixel"
    largest = attributes["mode"] == "max"
    family = choice["values"]
    suspected = {
        "coordinate-precision": x.dtype.itemsize == 2,
        "version-10-shift": family in PLAIN_VALUES,
        "adaptive-count": attributes["sampling_ratio"] == 0 and family in PLAIN_VALUES,
        "degenerate": choice["rois"] == "no-extent",
        "max-of-what": largest,
        "zero-weight": not np.isfinite(x.astype(np.float64)).all(),
        "nan": largest and family in ("nan", "nan-with-inf"),
        "double": x.dtype == np.float64 and family in BEYOND_FLOAT,
    }
    stated = {
        "minimum-size": choice["rois"] in ("small", "no-extent") and not shifted,
        "border": choice["rois"] == "border",
        "max-outside": largest and choice["rois"] in ("partly-outside", "larger", "outside"),
    }
    found = [ruling for ruling, touched in stated.items() if touched]
    pieces = Pieces(version, (x, rois, batch_indices), {name: value for name, value in attributes.items() if value is not None})
    for ruling, names in oracle.computable(version).items():
        if suspected.get(ruling) and any(pieces.differ(name) for name in names):
            found.append(ruling)
    return found


class Pieces:
    """A call cut into its regions and channels, which no reading lets influence each other.

    Whether a reading shows is mostly plain from the first piece, where the answer to the whole call
    takes long.
    """

    def __init__(self, version: Version, arrays: tuple[Array, Array, Array], attributes: Mapping[str, Any]) -> None:
        """Remember the call."""
        self.version, self.arrays, self.attributes = version, arrays, attributes
        self.ruled = functools.cache(functools.partial(self.answer, None))

    def answer(self, reading: str | None, region: int, channel: int) -> Array:
        """Evaluate one region of one channel."""
        x, rois, batch_indices = self.arrays
        piece = (x[:, channel : channel + 1], rois[region : region + 1], batch_indices[region : region + 1])
        return oracle.evaluate(self.version, piece, self.attributes, reading)[0].astype(np.float64)

    def differ(self, reading: str) -> bool:
        """Tell whether any piece has another answer by this reading than as ruled."""
        x, rois, _ = self.arrays
        regions = [region for region in range(len(rois)) if self.may_differ(reading, region)]
        return any(
            not np.array_equal(self.answer(reading, *piece), self.ruled(*piece), equal_nan=True)
            for piece in itertools.product(regions, range(x.shape[1]))
        )

    def may_differ(self, reading: str, region: int) -> bool:
        """Tell from a region's samples alone whether a reading can show in it; True where that is
        not known.
        """
        dtype = self.arrays[0].dtype
        ruled = self.samples(region, np.float64 if dtype == np.float64 else np.float32)
        if reading == "in-t":
            return self.samples(region, dtype.type) != ruled
        if reading in ("interpolated", "interpolated-from-zero"):
            return all(any(line.inside for line in axis) for axis in ruled)
        return True

    def samples(self, region: int, t: type[Any]) -> list[list[Line]]:
        """Return the samples along both axes, with coordinates of that type."""
        x, rois, _ = self.arrays
        values = self.attributes
        ratio, scale = values["sampling_ratio"], t(np.float32(values["spatial_scale"]))
        half_pixel = values.get("coordinate_transformation_mode") == "half_pixel"
        x1, y1, x2, y2 = rois[region].astype(t)
        ends = ((y1, y2, values["output_height"], x.shape[2]), (x1, x2, values["output_width"], x.shape[3]))
        return [lines(first, last, bins, ratio, scale, half_pixel, size) for first, last, bins, size in ends]
