"""State what MaxUnpool's cases vary beyond its spec data, and which silences a case touches.

The generator finds it by the operator's name, and knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cypool.conformance.cases import windows
from cypool.conformance.cases.covering import Choice, Constraint, Factors
from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.cases.values import values
from cypool.conformance.cases.windows import EMPTY, IMAGES, Line, Regime
from cypool.conformance.oracle.max_unpool import max_unpool
from cypool.spec.model import AttributeValue, Version

REGIMES = {
    "k1": Regime(Line(4, 1)),
    "k2": Regime(Line(4, 2)),
    "k2s2": Regime(Line(3, 2, 2)),
    "written": Regime(Line(3, 2), written=True),
    "k3s2": Regime(Line(3, 3, 2)),
    "k2s3": Regime(Line(3, 2, 3)),
    "k3s2-pad": Regime(Line(3, 3, 2, 1, 1, 1)),
    "k3-begin": Regime(Line(4, 3, 1, 1, 2, 0)),
    "k3s2-end": Regime(Line(3, 3, 2, 1, 0, 2)),
    "long": Regime(Line(1031, 3, 2, 1, 1, 0)),
    # each of these turns on a silence
    "pads-as-kernel": Regime(Line(4, 2, 2, 1, 2, 2)),
    "no-room": Regime(Line(2, 1, 1, 1, 2, 2)),
    "no-size": Regime(Line(0, 3, 2)),
}
"""Named settings of the windows that X was pooled with; the size of a line is that of X."""

VALUES = (
    "ramp",
    "mixed-signs",
    "random",
    "zeros",
    "subnormals",
    "near-overflow",
    "near-underflow",
    "nan",
    "inf",
    "nan-with-inf",
    "minus-inf",
    "nan-alone",
)

Sizes = tuple[int, ...]

ABSENT = "output_shape-absent"
OUTPUTS: dict[str, Callable[[Sizes], Sizes]] = {
    "output_shape-inferred": lambda sizes: sizes,
    "output_shape-larger": lambda sizes: tuple(max(size, 0) + 1 + i for i, size in enumerate(reversed(sizes)))[::-1],
    "output_shape-smaller": lambda sizes: (*sizes[:-1], sizes[-1] - 1),
    "output_shape-both": lambda sizes: (sizes[0] + 2, *sizes[1:-1], sizes[-1] - 1),
}
"""What output_shape asks for, from the spatial sizes that windows give: the same, more along each
axis, less along the last, both.
"""

TOGETHER = (("type", "windows", "output_shape"), ("output_shape", "indices", "shape"))
CORE = (("type", "output_shape", "indices"),)
SPARING = EMPTY | {"4d", "many-channels", "long", "k1", "no-room", "no-size"}
PLAIN = {"shape": "2d", "windows": "k2s2", "output_shape": ABSENT, "indices": "pooled", "values": "mixed-signs"}
WITH_OPTIONAL = {"output_shape": "output_shape-larger"}
FAULTS = {
    "kernel_shape": "sizes",
    "strides": "sizes",
    "pads": "sizes",
    "windows": "sizes",
    "X": "rank",
    "I": "i-shape",
    "I holds": "out-of-range",
    "output_shape": "output-shape-limits",
    "output_shape holds": "output-shape-limits",
}
FAULTS_ONCE = True
COLUMNS: dict[str, tuple[str, ...]] = {}


def factors(version: Version) -> Factors:
    """Return the factors: shape and windows, what is asked for, where values go, values."""
    return {
        "shape": tuple(IMAGES),
        "windows": tuple(REGIMES),
        "output_shape": (ABSENT, *OUTPUTS),
        "indices": tuple(INDICES),
        "values": VALUES,
    }


def attributes(version: Version, choice: Choice) -> dict[str, AttributeValue]:
    """Return the attributes of the windows."""
    regime = REGIMES[choice["windows"]]
    along = _lines(choice)
    pads = tuple(line.begin for line in along) + tuple(line.end for line in along)
    strides = tuple(line.stride for line in along)
    found: dict[str, AttributeValue] = {"kernel_shape": tuple(line.kernel for line in along)}
    if regime.written or set(strides) != {1}:
        found["strides"] = strides
    if regime.written or set(pads) != {0}:
        found["pads"] = pads
    return found


def constraints(version: Version) -> list[Constraint]:
    """Leave out combinations that have no meaning, and those that take long and tell little."""
    return [
        Constraint(("shape", "values"), lambda shape, family: shape not in EMPTY or family == "ramp"),
        Constraint(("shape", "indices"), lambda shape, family: shape not in EMPTY or family == "pooled"),
        Constraint(("shape", "windows"), lambda shape, name: shape not in EMPTY or name in ("k2s2", "k3s2-pad")),
        Constraint(("shape", "windows"), lambda shape, name: name != "long" or shape in ("1d", "one-plane")),
        Constraint(("windows", "values"), lambda name, family: name != "no-size" or family == "ramp"),
        Constraint(("windows", "indices"), lambda name, family: name != "no-size" or family == "pooled"),
        Constraint(("windows", "output_shape"), lambda name, asked: name != "no-room" or asked == "output_shape-larger"),
        Constraint(("shape", "output_shape"), lambda shape, asked: IMAGES[shape][2] > 1 or asked != "output_shape-both"),
    ]


def inputs(choice: Mapping[str, str], attributes: Mapping[str, Any], dtype: np.dtype[Any], draws: Draws) -> tuple[Array | None, ...]:
    """Return X, I and output_shape."""
    batch, channels, _ = IMAGES[choice["shape"]]
    along = _lines(choice)
    given = (batch, channels, *(line.size for line in along))
    asked = None if choice["output_shape"] == ABSENT else (batch, channels, *OUTPUTS[choice["output_shape"]](_inferred(along)))
    output = asked or (batch, channels, *_inferred(along))
    x = values(choice["values"], draws, given, dtype)
    indices = INDICES[choice["indices"]](draws, along, given, output)
    return x, indices.astype(np.int64).reshape(given), None if asked is None else np.array(asked, np.int64)


def _lines(choice: Mapping[str, str]) -> tuple[Line, ...]:
    return windows.lines(REGIMES[choice["windows"]], IMAGES[choice["shape"]][2])


def _inferred(along: tuple[Line, ...]) -> Sizes:
    """Return the spatial sizes that windows give."""
    return tuple((line.size - 1) * line.stride + line.kernel - line.begin - line.end for line in along)


def _pooled(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    """As MaxPool gives them: each in its window, where the window lies in the output."""
    within = np.zeros(given, np.int64)
    for axis, (line, size) in enumerate(zip(along, output[2:], strict=True)):
        starts = (np.arange(line.size) * line.stride - line.begin).reshape(-1, *(1,) * (len(along) - axis - 1))
        within = within * size + np.clip(starts + draws.below(line.kernel, *given), 0, size - 1)
    planes = np.arange(math.prod(given[:2])).reshape(*given[:2], *(1,) * len(along))
    return planes * math.prod(output[2:]) + within


def _other_planes(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    """Return the indices of the windows, counted from the end of the output."""
    return math.prod(output) - 1 - _pooled(draws, along, given, output)


def _anywhere(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    return draws.below(math.prod(output) or 1, *given)


def _few(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    """Three positions, over and over: of the first plane, of the last one, and the last of all."""
    few = np.array([math.prod(output[2:]) // 2, math.prod(output) - 2, math.prod(output) - 1])
    return few[draws.below(3, *given)]


def _one(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    return np.full(given, math.prod(output) // 2)


def _in_order(draws: Draws, along: tuple[Line, ...], given: Sizes, output: Sizes) -> Array:
    """From 0 up, without a gap, and again from 0 where the output ends."""
    return np.arange(math.prod(given)) % (math.prod(output) or 1)


INDICES: dict[str, Callable[[Draws, tuple[Line, ...], Sizes, Sizes], Array]] = {
    "pooled": _pooled,
    "other-planes": _other_planes,
    "anywhere": _anywhere,
    "few": _few,
    "one": _one,
    "in-order": _in_order,
}
"""Where values go, given the windows along each axis, the shape of X and that of the output."""


def rulings(version: Version, choice: Mapping[str, str], arrays: tuple[Array | None, ...], attributes: Mapping[str, Any]) -> list[str]:
    """Return the silences that the case turns on."""
    x, indices, asked = arrays
    assert x is not None and indices is not None
    along = _lines(choice)
    (y,) = max_unpool(x, indices, asked, **attributes)
    (other_way,) = max_unpool(x.reshape(-1)[::-1].reshape(x.shape), indices.reshape(-1)[::-1].reshape(x.shape), asked, **attributes)
    (placed,) = max_unpool(x, indices, asked, **attributes, reading="placed")
    found = {
        "zero-size": x.size == 0,
        "rank": x.ndim > 5,
        "index-base": bool((indices >= math.prod(y.shape[2:])).any()),
        "output-shape": asked is not None and not _same(y, placed),
        "output-shape-limits": asked is not None and any(np.less(y.shape[2:], _inferred(along))),
        "pads-and-output-shape": asked is not None and any(line.begin or line.end for line in along),
        "pad-limit": any(max(line.begin, line.end) >= line.kernel for line in along),
        "duplicates": not _same(y, other_way),
        "values": bool((np.isnan(x) | (np.signbit(x) & (x == 0))).any()),
    }
    return [ruling for ruling, touched in found.items() if touched]


def _same(one: Array, other: Array) -> bool:
    """Tell whether two outputs hold the same, zeros of both signs being one."""
    return np.array_equal(one.astype(np.float64), other.astype(np.float64), equal_nan=True)
