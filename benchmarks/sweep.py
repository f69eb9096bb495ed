"""How cost grows: over four orders of magnitude of elements, and of rois times bin area, with the slope in log-log.

Apart from the settings because no peer takes part: the question is linearity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich.table import Table

from benchmarks import timing
from benchmarks.peers import cypool_peer
from benchmarks.report import factor, seconds
from benchmarks.work import Lp, Roi, Work


class Sweep(NamedTuple):
    name: str
    units: Callable[[Work], float]
    works: tuple[Work, ...]


def elements(work: Work) -> float:
    return math.prod(work.shape)


def pixels(work: Work) -> float:
    assert isinstance(work, Roi)
    return work.rois * int(work.boxes) ** 2


SWEEPS = (
    Sweep("GlobalLpPool, more planes of 14x14", elements, tuple(Lp((1, 64 * 4**i, 14, 14)) for i in range(8))),
    Sweep("GlobalLpPool, longer rows", elements, tuple(Lp((1, 16, 1024 * 4**i)) for i in range(8))),
    Sweep("MaxRoiPool, more rois", pixels, tuple(Roi((1, 64, 64, 64), 4 * 4**i, scale=1.0, boxes="28") for i in range(8))),
    Sweep("MaxRoiPool, larger bins", pixels, tuple(Roi((1, 64, 512, 512), 64, (2, 2), 1.0, boxes=str(4 * 2**i)) for i in range(8))),
)


class Line(NamedTuple):
    """One point of a sweep."""

    units: float
    seconds: float


def run(sweep: Sweep, threads: int, effort: timing.Effort) -> list[Line]:
    """All sizes in turn, round by round."""
    calls = {str(i): cypool_peer.prepare(work, work.arrays(), threads) for i, work in enumerate(sweep.works)}
    for call in calls.values():
        call()
    times = timing.interleaved(calls, effort)
    return [Line(sweep.units(work), times[str(i)].median) for i, work in enumerate(sweep.works)]


def slope(lines: list[Line]) -> float:
    """The exponent by which time grows with units."""
    return float(np.polyfit(np.log([line.units for line in lines]), np.log([line.seconds for line in lines]), 1)[0])


def title(sweep: Sweep, lines: list[Line], threads: int) -> str:
    """What was swept, and the exponent of the whole and of its larger half, where the fixed cost of a call no longer shows."""
    return f"{sweep.name}, {threads} T: slope {slope(lines):.3f}, of the larger half {slope(lines[len(lines) // 2 :]):.3f}"


def table(lines: list[Line]) -> Table:
    """Units, time, time a unit, and the exponent of each step."""
    result = Table(box=None, pad_edge=False)
    for name in ("units", "time", "ns a unit", "step's slope"):
        result.add_column(name, justify="right")
    for i, line in enumerate(lines):
        step = factor(slope(lines[i - 1 : i + 1])) if i else ""
        result.add_row(f"{line.units:.3g}", seconds(line.seconds), f"{line.seconds / line.units * 1e9:.3g}", step)
    return result
