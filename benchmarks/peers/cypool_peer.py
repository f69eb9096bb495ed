"""cypool, called as a user calls it.

Apart from the peers because every race has it, and holds them against it.
"""

from __future__ import annotations

from functools import partial

import cypool
from benchmarks.peers import Call
from benchmarks.work import Align, Array, Lp, Pool, Roi, Unpool, Work

VERSION = cypool.__version__

FUNCTIONS = {
    "MaxPool": cypool.max_pool,
    "AveragePool": cypool.average_pool,
    "LpPool": cypool.lp_pool,
    "RoiAlign": cypool.roi_align,
    "MaxUnpool": cypool.max_unpool,
    "GlobalMaxPool": cypool.global_max_pool,
    "GlobalAveragePool": cypool.global_average_pool,
}


def prepare(work: Work, arrays: tuple[Array, ...], threads: int | None) -> Call:
    """The public function with all its checks; threads=None leaves the number to cypool."""
    match work:
        case Lp():
            opset = None if float(work.p).is_integer() else 1
            return partial(cypool.global_lp_pool, arrays[0], work.p, opset=opset, threads=threads)
        case Roi():
            return partial(cypool.max_roi_pool, arrays[0], arrays[1], work.bins, work.scale, threads=threads)
        case Pool() | Align() | Unpool():
            more = {"return_indices": True} if work.outputs > 1 else {}
            return partial(FUNCTIONS[work.op], *arrays, **work.attributes, **more, threads=threads)
