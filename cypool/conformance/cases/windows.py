"""Named settings of the attributes that make windows, shared by the operators that have them.

Kernel, strides, pads, dilations, auto_pad and ceil_mode mean something together only: a regime sets
them all, and the sizes of the input besides, so that an id needs one word for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cypool.conformance.cases.covering import Choice, Constraint
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.values import values
from cypool.spec.model import AttributeValue, Version
from cypool.spec.windows import Axis, axes


class Line(NamedTuple):
    """Size, kernel, stride, dilation and pads along one axis."""

    size: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0


class Regime(NamedTuple):
    """A line that shows something, in an image that is otherwise plain.

    ``auto_pad`` and ``ceil_mode`` are None where they are not written. ``written``: all attributes
    are, those too that are at their defaults. ``zeros``: pads are, though they are 0. ``whole``:
    the other axes have one window each, of all elements.
    """

    line: Line
    auto_pad: str | None = None
    ceil_mode: int | None = None
    written: bool = False
    zeros: bool = False
    whole: bool = False


FAR = 1 << 40  # beyond what 32 bits count

REGIMES = {
    "k1": Regime(Line(4, 1)),
    "k2": Regime(Line(5, 2)),
    "written": Regime(Line(5, 2), "NOTSET", 0, written=True),
    "whole": Regime(Line(5, 5), whole=True),
    "k3s2": Regime(Line(7, 3, 2)),
    "k2s3": Regime(Line(8, 2, 3)),
    "k3-pad": Regime(Line(5, 3, 1, 1, 1, 1)),
    "k3s2-begin": Regime(Line(6, 3, 2, 1, 1, 0)),
    "k3s2-end": Regime(Line(6, 3, 2, 1, 0, 2)),
    "dilated": Regime(Line(9, 3, 1, 2)),
    "dilated-s3": Regime(Line(12, 3, 3, 4)),
    "dilated-pad": Regime(Line(6, 3, 1, 3, 1, 2)),
    "ceil": Regime(Line(6, 3, 2), None, 1),
    "ceil-even": Regime(Line(7, 3, 2), None, 1),
    "ceil-pad": Regime(Line(6, 3, 2, 1, 1, 1), None, 1),
    "ceil-dilated": Regime(Line(8, 2, 3, 2), None, 1),
    "same-upper": Regime(Line(6, 3, 2), "SAME_UPPER"),
    "same-upper-s1": Regime(Line(4, 2), "SAME_UPPER"),
    "same-zeros": Regime(Line(6, 3, 2), "SAME_UPPER", zeros=True),
    "valid": Regime(Line(7, 3, 2), "VALID"),
    "far-stride": Regime(Line(5, 2, FAR)),
    "long": Regime(Line(1031, 5, 2, 1, 2, 1)),
    # each of these turns on a silence
    "ceil-drop": Regime(Line(5, 2, 3, 1, 1, 1), None, 1),
    "ceil-drop-several": Regime(Line(3, 1, 1, 1, 0, 3), None, 1),
    "same-lower": Regime(Line(6, 3, 2), "SAME_LOWER"),
    "same-lower-floor": Regime(Line(5, 3, 2), "SAME_LOWER"),
    "same-upper-crop": Regime(Line(9, 1, 3), "SAME_UPPER"),
    "same-lower-crop": Regime(Line(10, 1, 4), "SAME_LOWER"),
    "same-upper-dilated": Regime(Line(6, 2, 1, 3), "SAME_UPPER"),
    "same-lower-dilated": Regime(Line(7, 2, 2, 3), "SAME_LOWER"),
    "same-ceil": Regime(Line(7, 2, 4), "SAME_UPPER", 1),
    "valid-ceil": Regime(Line(5, 2, 2), "VALID", 1),
    "beyond": Regime(Line(3, 4)),
    "beyond-s2": Regime(Line(3, 4, 2)),
    "beyond-ceil": Regime(Line(3, 4, 2), None, 1),
    "beyond-ceil-none": Regime(Line(3, 5, 2), None, 1),
    "pads-as-kernel": Regime(Line(4, 2, 1, 2, 2, 2)),
    "padding-only": Regime(Line(4, 2, 1, 1, 2, 2)),
    "padding-far": Regime(Line(5, 2, 1, FAR, 0, FAR)),
    "between": Regime(Line(4, 2, 1, 5, 1, 1)),
    "no-size": Regime(Line(0, 2, 1, 1, 1, 1)),
}
"""The regimes by name. A regime is for the versions that have the attributes which it needs."""

LOUD = frozenset(list(REGIMES)[list(REGIMES).index("ceil-drop") :])
"""Those that turn on a silence by their windows alone."""

SEEN_BY_VALUES = frozenset(name for name in LOUD if name.startswith("same-lower") or name.endswith("-crop"))
"""Those of which a silence shows in which elements are seen, not in how many windows there are."""

NOTHING_COMES = frozenset({"beyond", "beyond-s2", "beyond-ceil-none"})
"""Those without a window."""

IMAGES: dict[str, tuple[int, int, int]] = {
    "1d": (1, 2, 1),
    "2d": (2, 3, 2),
    "3d": (1, 2, 3),
    "4d": (1, 1, 4),
    "one-plane": (1, 1, 2),
    "many-channels": (1, 67, 2),
    "no-batch": (0, 2, 1),
    "no-channels": (2, 0, 2),
}
"""Batch items, channels, and the number of spatial axes."""

EMPTY = frozenset({"no-batch", "no-channels"})
SPARING = EMPTY | NOTHING_COMES | {"4d", "many-channels", "long", "k1", "far-stride", "no-size"}
"""Labels that cost much or tell little."""


def lines(regime: Regime, rank: int) -> tuple[Line, ...]:
    """Return the lines of all axes: that of the regime last, or first of three; the others unlike
    it and each other.

    >>> for line in lines(REGIMES["k3s2"], 2):
    ...     print(line)
    Line(size=4, kernel=2, stride=1, dilation=1, begin=0, end=0)
    Line(size=7, kernel=3, stride=2, dilation=1, begin=0, end=0)
    """
    line = regime.line
    padded = (line.begin, line.end) != (0, 0)
    others = [Line(4, 2, end=int(padded)), Line(3, 2, begin=int(padded)), Line(2, 1)]
    if regime.whole or line.kernel == 1:
        others = [other._replace(kernel=other.size if regime.whole else 1, begin=0, end=0) for other in others]
    several = others[: rank - 1]
    return (line, *several) if rank == 3 else (*several, line)


def sizes(name: str, image: str) -> tuple[int, ...]:
    """Return the shape of the input."""
    batch, channels, rank = IMAGES[image]
    return batch, channels, *(line.size for line in lines(REGIMES[name], rank))


def available(version: Version) -> list[str]:
    """Return the regimes for which a version has the attributes."""
    rule = version.windows
    assert rule is not None
    found = []
    for name, regime in REGIMES.items():
        needs = {
            "strides": regime.line.stride != 1,
            "pads": (regime.line.begin, regime.line.end) != (0, 0),
            "dilations": regime.line.dilation != 1,
            "auto_pad": regime.auto_pad is not None and not regime.written,
            "ceil_mode": regime.ceil_mode is not None and not regime.written,
        }
        if not any(needed and getattr(rule, attribute) is None for attribute, needed in needs.items()):
            found.append(name)
    return found


def attributes(version: Version, name: str, image: str) -> dict[str, AttributeValue]:
    """Return the attributes that a node has in a regime, by the names that the version
    gives them.
    """
    regime, rule = REGIMES[name], version.windows
    assert rule is not None
    along = lines(regime, IMAGES[image][2])
    pads = tuple(line.begin for line in along) + tuple(line.end for line in along)
    strides, dilations = tuple(line.stride for line in along), tuple(line.dilation for line in along)
    found: dict[str | None, tuple[AttributeValue | None, bool]] = {
        rule.strides: (strides, set(strides) != {1}),
        rule.pads: (pads, set(pads) != {0} or regime.zeros),
        rule.dilations: (dilations, set(dilations) != {1}),
        rule.auto_pad: (regime.auto_pad, regime.auto_pad is not None),
        rule.ceil_mode: (regime.ceil_mode, regime.ceil_mode is not None),
    }
    given = {rule.kernel: tuple(line.kernel for line in along)}
    return given | {key: value for key, (value, needed) in found.items() if key and value is not None and (needed or regime.written)}


def inputs(choice: Choice, attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
    """Return X, of the sizes that the regime has for the image and of the values chosen."""
    return (values(choice["values"], draws, sizes(choice["windows"], choice["shape"]), dtype),)


def names(version: Version) -> list[str]:
    """Return the attributes that a regime sets."""
    rule = version.windows
    assert rule is not None
    return [name for name in (rule.kernel, rule.strides, rule.pads, rule.auto_pad, rule.dilations, rule.ceil_mode) if name]


def along(version: Version, shape: Sequence[int], given: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Return the windows along each axis."""
    return axes(version, shape[2:], {name: value for name, value in given.items() if value is not None})


def touched(version: Version, shape: Sequence[int], given: Mapping[str, Any]) -> list[str]:
    """Return the silences that windows turn on, whatever elements they hold."""
    rule = version.windows
    assert rule is not None
    auto_pad, rounds_up = given.get(rule.auto_pad or "") or "NOTSET", bool(given.get(rule.ceil_mode or ""))
    of_axis = {"NOTSET": _explicit, "VALID": _valid}.get(auto_pad, _same)
    lines = along(version, shape, given)
    found = ["window-in-end-padding"] if _drops(version, lines, rounds_up and auto_pad == "NOTSET") else []
    found += [ruling for axis in lines for ruling in of_axis(axis, auto_pad, rounds_up)]
    if auto_pad != "NOTSET" and given.get(rule.pads or "") is not None:
        found.append("auto-pad-and-pads")
    if 0 in shape[2:]:
        found.append("spatial-zero")
    if 0 in shape[:2]:
        found.append("zero-size")
    if len(shape) > 5:
        found.append("rank")
    return list(dict.fromkeys(found))


def _drops(version: Version, windows: Sequence[Axis], rounds_up: bool) -> bool:
    """Tell whether a window is dropped, or one kept, that another reading keeps or drops."""
    ruling = version.ruling("window-in-end-padding")
    readings = {reading.name for reading in ruling.readings} if ruling else set()
    for axis in windows if rounds_up else ():
        room = axis.padded - axis.first - _extent(axis)
        if "kept" in readings and -(-room // axis.stride) + 1 != axis.count:
            return True
        if "all-dropped" in readings and axis.first + (axis.count - 1) * axis.stride >= axis.size:
            return True
    return False


def _explicit(axis: Axis, auto_pad: str, rounds_up: bool) -> Iterator[str]:
    extent, last = _extent(axis), axis.first + (axis.count - 1) * axis.stride
    room = axis.padded - axis.first - extent
    if not rounds_up and axis.count > 0 and last >= axis.size > 0:
        yield "floor-end-padding"
    if max(-axis.first, axis.padded - axis.size) >= axis.taps:
        yield "pad-limit"
    if room < 0:
        yield "kernel-beyond-input"


def _valid(axis: Axis, auto_pad: str, rounds_up: bool) -> Iterator[str]:
    if rounds_up and -(-(axis.size - _extent(axis)) // axis.stride) + 1 != axis.count:
        yield "valid-ceil"


def _same(axis: Axis, auto_pad: str, rounds_up: bool) -> Iterator[str]:
    total = (axis.count - 1) * axis.stride + _extent(axis) - axis.size
    lower = auto_pad == "SAME_LOWER"
    if total < 0 and (total - total // 2 if lower else total // 2) != 0:
        yield "same-negative-pad"
    if lower and total > 0 and total % 2:
        yield "same-lower"
    if lower and axis.size // axis.stride != axis.count:
        yield "same-floor"
    if axis.dilation > 1 and axis.taps > 1:
        yield "same-dilated"
    if rounds_up and -(-(axis.size + max(total, 0) - _extent(axis)) // axis.stride) + 1 != axis.count:
        yield "same-ceil"


def _extent(axis: Axis) -> int:
    return (axis.taps - 1) * axis.dilation + 1


def places(windows: Sequence[Axis]) -> tuple[Array, Array]:
    """For each window, its positions in the flattened plane, and which of them are elements: two
    arrays of windows by taps, row-major.
    """
    flat, inside = np.zeros((1, 1), np.int64), np.ones((1, 1), bool)
    for axis in windows:
        rows = [[axis.first + o * axis.stride + k * axis.dilation for k in range(axis.taps)] for o in range(axis.count)]
        row = np.array(rows, object).reshape(axis.count, axis.taps)
        within = np.array((row >= 0) & (row < axis.size), bool)
        position = np.where(within, row, 0).astype(np.int64)
        shape = len(flat) * axis.count, flat.shape[1] * axis.taps
        flat = (flat[:, None, :, None] * axis.size + position[None, :, None, :]).reshape(shape)
        inside = (inside[:, None, :, None] & within[None, :, None, :]).reshape(shape)
    return flat, inside


def seen(x: Array, windows: Sequence[Axis]) -> tuple[Array, Array]:
    """Return the elements in each window of each plane, as float64, and which are elements at all:
    (planes, windows, taps).
    """
    flat, inside = places(windows)
    planes = x.astype(np.float64).reshape(math.prod(x.shape[:2]), math.prod(x.shape[2:]))
    if planes.shape[1] == 0:
        return np.zeros((len(planes), *flat.shape)), np.broadcast_to(inside, (len(planes), *flat.shape))
    return planes[:, flat], np.broadcast_to(inside, (len(planes), *flat.shape))


def positions(windows: Sequence[Axis]) -> tuple[Array, Array]:
    """For each window, how many of its positions lie inside the padded input, and how many it has
    in all.
    """
    inside, taps = np.ones(1, np.int64), math.prod(axis.taps for axis in windows)
    for axis in windows:
        start = np.array([axis.first + o * axis.stride for o in range(axis.count)], object)
        row = [sum(axis.first <= s + k * axis.dilation < axis.padded for k in range(axis.taps)) for s in start]
        inside = (inside[:, None] * np.array(row, np.int64)).reshape(-1)
    return inside, np.full(len(inside), taps)


def constraints() -> list[Constraint]:
    """Leave out combinations of windows that have no meaning, or take long and tell little.

    They are the same for every operator with windows.
    """
    return [
        Constraint(("shape", "values"), lambda image, family: image not in EMPTY or family == "ramp"),
        Constraint(("shape", "windows"), lambda image, name: image not in EMPTY or name in ("k2", "k3s2", "same-upper")),
        Constraint(("shape", "windows"), lambda image, name: name != "long" or image in ("1d", "one-plane")),
        Constraint(("windows", "values"), lambda name, family: name not in LOUD or family in LOUD_VALUES),
        Constraint(("windows", "values"), lambda name, family: name not in SEEN_BY_VALUES or family == "ramp"),
    ]


FAULTS = {
    "kernel_shape": "sizes",
    "strides": "sizes",
    "dilations": "sizes",
    "pads": "negative-pad",
    "auto_pad": "auto-pad-values",
    "ceil_mode": "flag-values",
    "auto-pad-beside": "auto-pad-and-pads",
    "windows": "kernel-beyond-input",
    "X": "rank",
}
"""The rulings by which faults of windows are faults."""

LOUD_VALUES = ("ramp", "negative", "lowest")
"""What elements are where the windows turn on a silence."""
