"""The fixed pieces of work whose instructions are counted: one an inner loop.

Run as a program it does them all, under callgrind.

Apart from the counting because it runs in another process, on a processor that valgrind makes
believe.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.peers import cypool_peer
from benchmarks.settings.family import K2S2, K3S1, K3S2
from benchmarks.work import Align, Lp, Pool, Roi, Unpool, Work

FLOATS = ("float16", "bfloat16", "float32", "float64")
ALL_TYPES = (*FLOATS, "int8", "uint8")
PLANES = (1, 16, 28, 28)
ODD = (1, 16, 27, 29)


def windows(kernel: str, op: str, types: tuple[str, ...], given: dict[str, Any]) -> dict[str, Work]:
    """Return the work of the same windows for several types, by name."""
    sides = f"{'x'.join(map(str, given['kernel']))}/s{given.get('strides', (1,))[0]}{' Indices' * given.get('indices', False)}"
    return {f"{kernel} {dtype} {sides}": Pool(op, PLANES, dtype=dtype, **given) for dtype in types}


WORKLOADS: dict[str, Work] = {
    **{f"lp {dtype} p={p}": Lp((1, 64, 14, 14), p, dtype) for dtype in ("float16", "bfloat16", "float32", "float64") for p in (1, 2)},
    **{f"lp float32 p={p}": Lp((1, 64, 14, 14), p) for p in (3, 4, 7, 50, 0.5, 1.5, 3.7)},
    "lp float32 p=2 7x7": Lp((1, 256, 7, 7)),
    "lp float64 p=2 7x7": Lp((1, 256, 7, 7), 2, "float64"),
    "lp float32 p=2 one long row": Lp((1, 1, 100_000)),
    "lp float64 p=2 huge": Lp((1, 64, 14, 14), 2, "float64", "huge"),
    "lp float64 p=2 tiny": Lp((1, 64, 14, 14), 2, "float64", "tiny"),
    "lp float32 p=2 channels last": Lp((1, 64, 14, 14), layout="channels last"),
    **{f"box_max {dtype} 7x7": Roi((1, 64, 38, 50), 30, dtype=dtype) for dtype in ("float16", "bfloat16", "float32", "float64")},
    "box_max float32 14x14": Roi((1, 64, 38, 50), 30, (14, 14)),
    "box_max float32 1x1 whole": Roi((2, 64, 28, 28), 2, (1, 1), boxes="whole"),
    "box_max float32 one roi": Roi((1, 64, 50, 68), 1),
    "box_max float32 3 channels": Roi((1, 3, 64, 64), 8, scale=1.0),
    "box_max float32 channels last": Roi((1, 64, 38, 50), 30, layout="channels last"),
    "bins float32 one channel": Roi((1, 1, 38, 50), 30),
    "bins float64 one channel": Roi((1, 1, 38, 50), 30, dtype="float64"),
    **windows("window_max", "MaxPool", ALL_TYPES, K3S2),
    **windows("window_max", "MaxPool", ("float32", "float64", "int8"), K3S1),
    "window_max float32 2x2/s2": Pool("MaxPool", PLANES, **K2S2),
    "window_max float32 11x11": Pool("MaxPool", PLANES, (11, 11)),
    "window_max float32 3x3/s3 odd rows": Pool("MaxPool", ODD, (3, 3), (3, 3)),
    "window_max float32 3x3/s2 odd rows": Pool("MaxPool", ODD, **K3S2),
    "window_max float32 one window a row": Pool("MaxPool", (1, 4, 40, 300), (3, 300)),
    "window_max float32 channels last": Pool("MaxPool", PLANES, **K3S1, layout="channels last"),
    "window_max float32 planes": Pool("GlobalMaxPool", PLANES),
    "window_max float32 planes channels last": Pool("GlobalMaxPool", PLANES, layout="channels last"),
    **windows("window_max", "MaxPool", ALL_TYPES, K3S2 | {"indices": True}),
    "window_max float32 2x2/s2 Indices": Pool("MaxPool", PLANES, **K2S2, indices=True),
    "window_max float32 3x3/s2 odd rows Indices": Pool("MaxPool", ODD, **K3S2, indices=True),
    "window_max float32 3x3x3/s2 Indices": Pool("MaxPool", (1, 4, 8, 14, 14), (3, 3, 3), (2, 2, 2), (1,) * 6, indices=True),
    "window_max float32 tall windows Indices": Pool("MaxPool", (1, 1, 600, 4), (520, 1), indices=True),
    **windows("window_mean", "AveragePool", FLOATS, K3S1),
    "window_mean float32 2x2/s2": Pool("AveragePool", PLANES, **K2S2),
    "window_mean float32 3x3/s2": Pool("AveragePool", PLANES, **K3S2),
    "window_mean float32 3x3/s3 odd rows": Pool("AveragePool", ODD, (3, 3), (3, 3)),
    "window_mean float32 channels last": Pool("AveragePool", PLANES, **K3S1, layout="channels last"),
    "window_mean float32 planes": Pool("GlobalAveragePool", PLANES),
    "window_mean float64 planes": Pool("GlobalAveragePool", PLANES, dtype="float64"),
    **{f"window_lp float32 p={p} 3x3/s2": Pool("LpPool", PLANES, (3, 3), (2, 2), p=p) for p in (1, 2, 3)},
    "window_lp float32 p=2 3x3/s1": Pool("LpPool", PLANES, (3, 3)),
    "window_lp float64 p=2 3x3/s2": Pool("LpPool", PLANES, (3, 3), (2, 2), dtype="float64"),
    "window_lp float32 p=2 channels last": Pool("LpPool", PLANES, (3, 3), (2, 2), layout="channels last"),
    **{f"bilinear {dtype} 7x7": Align((1, 32, 25, 34), 10, dtype=dtype) for dtype in ("float16", "float32", "float64")},
    "bilinear float32 7x7 max": Align((1, 32, 25, 34), 10, mode="max"),
    "bilinear float32 7x7 one channel": Align((1, 1, 25, 34), 10),
    "scatter float16": Unpool((1, 16, 14, 14), "float16"),
    "scatter float32": Unpool((1, 16, 14, 14)),
    "scatter float64": Unpool((1, 16, 14, 14), "float64"),
    "call lp": Lp((1, 1, 2, 2)),
    "call box_max": Roi((1, 1, 4, 4), 1, (1, 1), scale=1.0),
    "call window_max": Pool("MaxPool", (1, 1, 4, 4), **K2S2),
    "call window_mean": Pool("AveragePool", (1, 1, 4, 4), **K2S2),
    "call window_lp": Pool("LpPool", (1, 1, 4, 4), **K2S2),
    "call bilinear": Align((1, 1, 4, 4), 1, (1, 1), scale=1.0),
    "call scatter": Unpool((1, 1, 2, 2)),
}
"""By name, which begins with the kernel, or with ``call`` and the kernel."""

CALLS = 20
"""Number of times that a small call is made, so that what happens now and then (a table that
grows) counts little.
"""


def whole(name: str) -> bool:
    """Tell whether all that a workload takes is counted, Python and numpy too, and not the kernels
    alone.
    """
    return name.startswith("call ")


MARK = "Py_SetRecursionLimit"
"""The function of Python's C API that ``mark`` calls: callgrind is told to write its counts down
whenever it is entered.
"""


def mark() -> None:
    """Ask callgrind to write down what was counted since the last time."""
    sys.setrecursionlimit(sys.getrecursionlimit())


def main() -> None:
    calls = [cypool_peer.prepare(work, work.arrays(), 1) for work in WORKLOADS.values()]
    for call in calls:
        call()  # whatever is done once only
    for name, call in zip(WORKLOADS, calls, strict=True):
        mark()
        for _ in range(CALLS if whole(name) else 1):
            call()
    mark()


if __name__ == "__main__":
    main()
