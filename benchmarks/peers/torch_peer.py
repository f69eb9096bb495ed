"""torch as it is best called: pooling functions, means, maxima and torch.linalg.vector_norm, in
both layouts. It has no RoiAlign.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from benchmarks.peers import Call
from benchmarks.work import Array, Lp, Pool, Unpool, Work

VERSION = torch.__version__


def prepare(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    return call_of(work, arrays, threads, tensor(arrays[0], work.dtype))


def channels_last(work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None:
    """The same work on the same values with channels last, which torch is at its best with; not
    where they are so already.
    """
    if not isinstance(work, Pool) or len(work.shape) not in (4, 5) or work.layout != "contiguous":
        return None
    form = torch.channels_last if len(work.shape) == 4 else torch.channels_last_3d
    return call_of(work, arrays, threads, tensor(arrays[0], work.dtype).contiguous(memory_format=form))


def tensor(x: Array, dtype: str) -> torch.Tensor:
    """The array's memory as torch has it."""
    return torch.from_numpy(x.view("int16")).view(torch.bfloat16) if dtype == "bfloat16" else torch.from_numpy(x)


def call_of(work: Work, arrays: tuple[Array, ...], threads: int, x: torch.Tensor) -> Call | None:
    torch.set_num_threads(threads)
    if isinstance(work, Lp):
        return partial(torch.linalg.vector_norm, x, ord=work.exact_p, dim=tuple(range(2, x.ndim)), keepdim=True)
    if isinstance(work, Unpool):
        plane = 4 * work.shape[2] * work.shape[3]
        return partial(functional.max_unpool2d, x, torch.from_numpy(arrays[1] % plane), 2)
    return pooled(work, x) if isinstance(work, Pool) else None


def pooled(work: Pool, x: torch.Tensor) -> Call | None:
    """torch's function for windows; None for pads that differ, pads of LpPool, and dilations of
    anything but MaxPool.
    """
    planes = tuple(range(2, x.ndim))
    rank, half = len(work.kernel), len(work.pads) // 2
    if work.op == "GlobalMaxPool":
        return partial(torch.amax, x, planes, keepdim=True)
    if work.op == "GlobalAveragePool":
        return partial(torch.mean, x, planes, keepdim=True)
    if work.pads[:half] != work.pads[half:]:
        return None
    window: dict[str, Any] = {"kernel_size": work.kernel, "stride": work.strides or (1,) * rank}
    padding = work.pads[:half] or (0,) * rank
    functions: dict[str, tuple[Callable[..., torch.Tensor], ...]] = {
        "MaxPool": (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d),
        "AveragePool": (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
        "LpPool": (functional.lp_pool1d, functional.lp_pool2d, functional.lp_pool3d),
    }
    function = partial(functions[work.op][rank - 1], x, **window)
    if work.op == "MaxPool":
        return partial(function, padding=padding, dilation=work.dilations or (1,) * rank, return_indices=work.indices)
    if work.dilations:
        return None
    if work.op == "AveragePool":
        return partial(function, padding=padding, count_include_pad=False)
    return None if any(padding) else partial(functions[work.op][rank - 1], x, float(work.p), **window)


TORCH_LAST = "torch NHWC"
WAYS = {"torch": prepare, TORCH_LAST: channels_last}
