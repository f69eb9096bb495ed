"""How cost grows: over four orders of magnitude of what the work consists of, with the slope in
log-log.

That is elements for norms of planes and scattered elements, windows times their taps (or the sum of
their sides, where windows are taken apart into rows and columns), regions times the area of their
bins, or times samples.

Apart from the settings because no peer takes part: the question is linearity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.table import Table

from benchmarks import timing
from benchmarks.peers import cypool_peer
from benchmarks.report import factor, seconds
from benchmarks.work import Align, Lp, Pool, Roi, Unpool, Work


class Sweep(NamedTuple):
    name: str
    units: Callable[[Work], float]
    works: tuple[Work, ...]


def elements(work: Work) -> float:
    return math.prod(work.shape)


def pixels(work: Work) -> float:
    assert isinstance(work, Roi)
    return work.rois * int(work.boxes) ** 2


def taps(work: Work) -> float:
    assert isinstance(work, Pool)
    return work.windows * work.taps


def sides(work: Work) -> float:
    assert isinstance(work, Pool)
    return work.windows * sum(work.kernel)


def samples(work: Work) -> float:
    assert isinstance(work, Align)
    return work.rois * math.prod(work.bins) * work.sampling**2


K3 = {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}


def more_planes(op: str, indices: bool = False) -> tuple[Work, ...]:
    """3x3 windows of 4 to 65536 planes of 28x28."""
    return tuple(Pool(op, (1, 4 * 4**i, 28, 28), **K3, indices=indices) for i in range(8))


def larger_windows(op: str, indices: bool = False) -> tuple[Work, ...]:
    """Windows of 2x2 to 256x256, as many of them."""
    return tuple(Pool(op, (1, 4, 31 + 2**i, 31 + 2**i), (2**i, 2**i), indices=indices) for i in range(1, 9))


SWEEPS = (
    Sweep("GlobalLpPool, more planes of 14x14", elements, tuple(Lp((1, 64 * 4**i, 14, 14)) for i in range(8))),
    Sweep("GlobalLpPool, longer rows", elements, tuple(Lp((1, 16, 1024 * 4**i)) for i in range(8))),
    Sweep("MaxRoiPool, more rois", pixels, tuple(Roi((1, 64, 64, 64), 4 * 4**i, scale=1.0, boxes="28") for i in range(8))),
    Sweep("MaxRoiPool, larger bins", pixels, tuple(Roi((1, 64, 512, 512), 64, (2, 2), 1.0, boxes=str(4 * 2**i)) for i in range(8))),
    *(Sweep(f"{op}, more planes of 28x28", taps, more_planes(op)) for op in ("MaxPool", "AveragePool", "LpPool")),
    Sweep("MaxPool with Indices, more planes of 28x28", taps, more_planes("MaxPool", True)),
    Sweep("MaxPool, larger windows, by sides", sides, tuple(Pool("MaxPool", (1, 4, 320, 320), (2**i, 2**i)) for i in range(1, 8))),
    Sweep("MaxPool with Indices, larger windows", taps, larger_windows("MaxPool", True)),
    *(Sweep(f"{op}, larger windows", taps, larger_windows(op)) for op in ("AveragePool", "LpPool")),
    *(
        Sweep(f"{op}, larger planes", elements, tuple(Pool(op, (1, 16, 8 * 2**i, 8 * 2**i)) for i in range(8)))
        for op in ("GlobalMaxPool", "GlobalAveragePool")
    ),
    Sweep("RoiAlign, more rois", samples, tuple(Align((1, 64, 64, 64), 4 * 4**i, scale=1.0) for i in range(8))),
    Sweep("MaxUnpool, more planes", elements, tuple(Unpool((1, 4 * 4**i, 14, 14)) for i in range(8))),
)


class Line(NamedTuple):
    """One point of a sweep."""

    units: float
    seconds: float


def run(sweep: Sweep, threads: int, effort: timing.Effort, best: bool) -> list[Line]:
    """All sizes in turn, round by round."""
    calls = {str(i): cypool_peer.prepare(work, work.arrays(), threads) for i, work in enumerate(sweep.works)}
    for call in calls.values():
        call()
    times = timing.interleaved(calls, effort)
    return [Line(sweep.units(work), min(times[str(i)].all) if best else times[str(i)].median) for i, work in enumerate(sweep.works)]


def slope(lines: list[Line]) -> float:
    """The exponent by which time grows with units."""
    return float(np.polyfit(np.log([line.units for line in lines]), np.log([line.seconds for line in lines]), 1)[0])


def title(sweep: Sweep, lines: list[Line], threads: int) -> str:
    """What was swept, and the exponent of the whole and of its larger half, where the fixed cost of
    a call no longer shows.
    """
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


def draw(swept: Sequence[tuple[Sweep, list[Line]]], path: Path) -> None:
    """Draw time against units, each sweep a line, all from one point on: what is parallel to the
    dashed line grows linearly.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(9, 6.5))
    for i, (item, lines) in enumerate(swept):
        last = lines[-1]
        x, y = [line.units / last.units for line in lines], [line.seconds / last.seconds for line in lines]
        axis.plot(x, y, marker="o^sv"[i % 4], color=f"C{i % 10}", markersize=4, linewidth=0.8, label=f"{item.name}: {slope(lines):.2f}")
    axis.plot([1e-5, 1], [1e-5, 1], "--", color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("work / the largest work")
    axis.set_ylabel("time / its time")
    axis.grid(which="major", linewidth=0.2)
    axis.legend(fontsize=7, title="slope", title_fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
