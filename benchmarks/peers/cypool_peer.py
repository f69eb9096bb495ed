"""cypool, called as a user calls it.

Apart from the peers because every race has it, and holds them against it.
"""

from __future__ import annotations

from functools import partial

import cypool
from benchmarks.peers import Call
from benchmarks.work import Array, Lp, Roi

VERSION = cypool.__version__


def prepare(work: Lp | Roi, arrays: tuple[Array, ...], threads: int | None) -> Call:
    """The public function with all its checks; threads=None leaves the number to cypool."""
    match work:
        case Lp():
            opset = None if float(work.p).is_integer() else 1
            return partial(cypool.global_lp_pool, arrays[0], work.p, opset=opset, threads=threads)
        case Roi():
            return partial(cypool.max_roi_pool, arrays[0], arrays[1], work.bins, work.scale, threads=threads)
