"""Picks the kernel build once, then lays arrays before kernels: views of the right type, outputs, the number of threads.

Apart from the functions people call because this is all that knows how kernels are built and what they take; it knows nothing of ONNX.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cypool.kernels.variants import VARIANTS

Array = np.ndarray[Any, np.dtype[Any]]


class ElementType(NamedTuple):
    """How the kernels see an element type."""

    name: str  # numpy's
    lp: str  # the fused type's name in lp
    lp_view: np.dtype[Any]
    box_max: str
    box_max_view: np.dtype[Any]
    infinity: int  # its bits


TYPES = (
    ElementType("float16", "float16", np.dtype(np.uint16), "short", np.dtype(np.int16), 0x7C00),
    ElementType("bfloat16", "bfloat16", np.dtype(np.int16), "short", np.dtype(np.int16), 0x7F80),
    ElementType("float32", "float", np.dtype(np.float32), "int", np.dtype(np.int32), 0x7F800000),
    ElementType("float64", "double", np.dtype(np.float64), "long long", np.dtype(np.int64), 0x7FF0000000000000),
)
"""lp tells the two 16-bit types apart by their sign (kernels/floats.pxd); box_max by where infinity is."""


@functools.cache
def element_type(dtype: np.dtype[Any]) -> ElementType:
    """By numpy's name, since bfloat16 is known by nothing else here."""
    return next(element for element in TYPES if element.name == dtype.name)


# --- builds ------------------------------------------------------------------------------------------------------------------------------


class Build(NamedTuple):
    """The kernels of one build, by numpy's name of the element type."""

    name: str
    rows: dict[str, Callable[..., None]]
    planes: dict[str, Callable[..., None]]
    box_max: dict[str, Callable[..., None]]
    bins: dict[str, Callable[..., None]]  # by the type of coordinates, and so is by_image
    by_image: dict[str, Callable[..., None]]


def load(name: str) -> Build:
    """Import a build. Only for one that this machine can run: importing may execute its instructions."""
    lp = importlib.import_module(f"cypool.kernels.{name}.lp")
    box = importlib.import_module(f"cypool.kernels.{name}.box_max")
    bins = importlib.import_module(f"cypool.kernels.{name}.bins")
    return Build(
        name,
        {element.name: lp.rows[element.lp] for element in TYPES},
        {element.name: lp.planes[element.lp] for element in TYPES},
        {element.name: box.box_max[element.box_max] for element in TYPES},
        {"float32": bins.inclusive_bins["float"], "float64": bins.inclusive_bins["double"]},
        {"float32": bins.by_image["float"], "float64": bins.by_image["double"]},
    )


def present() -> tuple[str, ...]:
    """The builds that were compiled, plainest first."""
    return tuple(v.name for v in VARIANTS if importlib.util.find_spec(f"cypool.kernels.{v.name}.lp"))


def usable() -> tuple[str, ...]:
    """Those of them that this processor and operating system can run."""
    level = importlib.import_module("cypool.kernels.baseline.cpu").x86_64_level()
    return tuple(v.name for v in VARIANTS if v.name in present() and v.level <= level)


def choose(wish: str | None) -> str:
    """The build to use: the fastest usable one, or the one wished for; ImportError if that cannot run."""
    if wish is None:
        return usable()[-1]
    if wish not in usable():
        raise ImportError(f"CYPOOL_ISA={wish}: built are {', '.join(present())}; this machine can run {', '.join(usable())}")
    return wish


chosen = load(choose(os.environ.get("CYPOOL_ISA") or None))


# --- threads -----------------------------------------------------------------------------------------------------------------------------

GRAIN = 1 << 15
"""Elements that make a thread worth waking."""

_forked = False


def _after_fork() -> None:
    """gcc's OpenMP runtime hangs in a forked child whose parent had run threads, so the child does without."""
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def available_threads() -> int:
    """OMP_NUM_THREADS if it is set, else the processors that affinity and control group leave to this process."""
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, QUOTA))


def _quota() -> int:
    """How many processors the control group's quota amounts to, rounded up; many where there is none."""
    for quota_file, period_file in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            words = Path(quota_file).read_text().split()
            words += Path(period_file).read_text().split() if period_file else []
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):
            continue
        if quota > 0 and period > 0:
            return -(-quota // period)
    return 1 << 16


QUOTA = _quota()  # read once: files are slow to ask, and nobody changes a container's limits under its feet


def threads_for(elements: int, wish: int | None) -> int:
    """How many threads work on so many elements."""
    if _forked:
        return 1
    if wish is not None:
        return wish
    if elements < 2 * GRAIN:
        return 1
    return min(available_threads(), elements // GRAIN)


# --- kernels -----------------------------------------------------------------------------------------------------------------------------


def lp(x: Array, p: float, out: Array, threads: int | None) -> None:
    """out[n, c, 0, ...] = the p-norm of x[n, c]; x of rank 2 or more."""
    if x.size == 0:
        out.fill(0)
        return
    element = element_type(x.dtype)
    count = threads_for(x.size, threads)
    x = _readable(x, element.lp_view)
    y = _writable(out, element.lp_view)
    if x.flags.c_contiguous:
        chosen.rows[element.name](x.reshape(y.size, -1), p, y.reshape(-1), count)
    else:
        shape, strides = coalesced(x)
        chosen.planes[element.name](x[(slice(None), slice(None)) + (0,) * (x.ndim - 2)], shape, strides, p, y.reshape(-1), count)
    if y.base is not out and y is not out:
        out.view(element.lp_view)[...] = y


def coalesced(x: Array) -> tuple[Array, Array]:
    """Sizes and strides (in elements) of the axes from the third on, neighbours that one stride walks through made one."""
    axes: list[tuple[int, int]] = []
    for size, stride in zip(x.shape[2:], x.strides[2:], strict=True):
        stride //= x.itemsize
        if size == 1:
            continue
        if axes and axes[-1][1] == size * stride:
            axes[-1] = (axes[-1][0] * size, stride)
        else:
            axes.append((size, stride))
    sizes, strides = zip(*axes or [(1, 1)], strict=True)
    return np.array(sizes, np.intp), np.array(strides, np.intp)


def box_max(x: Array, table: Array, scale: float, counts: tuple[int, int], out: Array, threads: int | None) -> None:
    """out[r, c, i, j] = the maximum of x[n, c] over bin (i, j) of region r, 0 where that is empty.

    Rows of ``table``, float or double, are n, left, top, right, bottom; ``scale`` multiplies these, ``counts`` is how many bins there are,
    down and across. How a region is cut is in kernels/bins.pyx.
    """
    if x.size == 0 or out.size == 0:
        out.fill(0)
        return
    regions, t = len(table), "float64" if table.dtype == np.float64 else "float32"
    order, begin = np.empty(regions, np.intp), np.empty(len(x) + 1, np.intp)
    chosen.by_image[t](table[:, 0], order, begin)
    rows, columns = np.empty((regions, counts[0], 2), np.intp), np.empty((regions, counts[1], 2), np.intp)
    chosen.bins[t](table[:, 2], table[:, 4], scale, x.shape[2], rows)
    chosen.bins[t](table[:, 1], table[:, 3], scale, x.shape[3], columns)
    maxima(x, order, begin, rows, columns, out, threads)


def maxima(x: Array, order: Array, begin: Array, rows: Array, columns: Array, out: Array, threads: int | None) -> None:
    """The same for given bounds; see kernels/box_max.pyx."""
    element = element_type(x.dtype)
    count = threads_for(out.size + x.size // len(x) * len(rows) // 4, threads)
    x = _readable(x, element.box_max_view)
    y = _writable(out, element.box_max_view)
    chosen.box_max[element.name](x, order, begin, rows, columns, element.infinity, y, count)
    if y.base is not out and y is not out:
        out.view(element.box_max_view)[...] = y


def _readable(x: Array, view: np.dtype[Any]) -> Array:
    """x as the kernels read it: its own memory, or a copy where no kernel reads that (foreign byte order, odd addresses or strides)."""
    flags = x.flags
    if not x.dtype.isnative or not flags.aligned or not (flags.c_contiguous or all(stride % x.itemsize == 0 for stride in x.strides)):
        x = x.astype(x.dtype.newbyteorder("="), order="C", copy=True)
    return x if x.dtype is view else x.view(view)


def _writable(out: Array, view: np.dtype[Any]) -> Array:
    """``out`` as the kernels write it, or, where it is not contiguous, an array to copy from afterwards."""
    if not out.flags.c_contiguous or not out.flags.aligned:
        return np.empty(out.shape, view)
    return out if out.dtype is view else out.view(view)
