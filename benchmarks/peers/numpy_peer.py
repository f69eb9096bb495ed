"""numpy's ways to a p-norm: einsum for p = 2, the sum of abs for p = 1, powers for others.

It has one thread.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.peers import Call
from benchmarks.work import Array, Lp, Work

VERSION = np.__version__


def einsum(x: Array) -> object:
    return np.sqrt(np.einsum("ncl,ncl->nc", x, x))


def sum_of_abs(x: Array) -> object:
    return np.abs(x).sum(axis=2)


def powers(x: Array, p: float) -> object:
    return (np.abs(x) ** p).sum(axis=2) ** (1 / p)


def prepare(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    if not isinstance(work, Lp) or threads > 1 or work.dtype in ("float16", "bfloat16") or work.layout != "contiguous":
        return None
    x = arrays[0].reshape(*work.shape[:2], -1)
    if work.p == 2:
        return partial(einsum, x)
    return partial(sum_of_abs, x) if work.p == 1 else partial(powers, x, work.exact_p)


WAYS = {"numpy": prepare}
