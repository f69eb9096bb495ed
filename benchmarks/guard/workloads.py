"""The fixed pieces of work whose instructions are counted: one an inner loop. Run as a program it does them all, under callgrind.

Apart from the counting because it runs in another process, on a processor that valgrind makes believe.
"""

from __future__ import annotations

import sys

from benchmarks.peers import cypool_peer
from benchmarks.work import Lp, Roi, Work

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
    "call lp": Lp((1, 1, 2, 2)),
    "call box_max": Roi((1, 1, 4, 4), 1, (1, 1), scale=1.0),
}

CALLS = 20
"""How often a small call is made, so that what happens now and then (a table that grows) counts little."""


def whole(name: str) -> bool:
    """Whether all that a workload takes is counted, Python and numpy too, and not the kernels alone."""
    return name.startswith("call ")


MARK = "Py_SetRecursionLimit"
"""The function of Python's C API that ``mark`` calls: callgrind is told to write its counts down whenever it is entered."""


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
