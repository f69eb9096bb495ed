"""torch.linalg.vector_norm over the spatial axes. torch itself has no MaxRoiPool."""

from __future__ import annotations

from functools import partial

import torch

from benchmarks.peers import Call
from benchmarks.work import Array, Lp, Roi

VERSION = torch.__version__


def prepare(work: Lp | Roi, arrays: tuple[Array, ...], threads: int) -> Call | None:
    if isinstance(work, Roi):
        return None
    torch.set_num_threads(threads)
    x = torch.from_numpy(arrays[0].view("int16")).view(torch.bfloat16) if work.dtype == "bfloat16" else torch.from_numpy(arrays[0])
    return partial(torch.linalg.vector_norm, x, ord=work.exact_p, dim=tuple(range(2, x.ndim)), keepdim=True)


WAYS = {"torch": prepare}
