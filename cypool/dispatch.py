"""Picks the kernel build once, then lays arrays before kernels: views of the right type, outputs, the number of threads.

Apart from the functions people call because this is all that knows how kernels are built and what they take; it knows nothing of ONNX.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cypool.kernels.variants import VARIANTS

Array = np.ndarray[Any, np.dtype[Any]]


class ElementType(NamedTuple):
    """How the kernels see an element type."""

    name: str  # numpy's
    fused: str  # its name in the kernels' fused type
    view: np.dtype[Any]


TYPES = (
    ElementType("float16", "float16", np.dtype(np.uint16)),
    ElementType("bfloat16", "bfloat16", np.dtype(np.int16)),
    ElementType("float32", "float", np.dtype(np.float32)),
    ElementType("float64", "double", np.dtype(np.float64)),
)
"""The two 16-bit types are told apart by their sign (kernels/floats.pxd)."""


@functools.cache
def element_type(dtype: np.dtype[Any]) -> ElementType:
    """By numpy's name, since bfloat16 is known by nothing else here; kept, as numpy takes its time to say a name."""
    return next(element for element in TYPES if element.name == dtype.name)


# --- builds ------------------------------------------------------------------------------------------------------------------------------


class Build(NamedTuple):
    """The kernels of one build, by numpy's name of the element type."""

    name: str
    rows: dict[str, Callable[..., None]]
    planes: dict[str, Callable[..., None]]
    box_max: dict[str, Callable[..., None]]
    inclusive_boxes: dict[str, Callable[..., int]]  # by the type of coordinates


def load(name: str) -> Build:
    """Import a build. Only for one that this machine can run: importing may execute its instructions."""
    lp = importlib.import_module(f"cypool.kernels.{name}.lp")
    box = importlib.import_module(f"cypool.kernels.{name}.box_max")
    bins = importlib.import_module(f"cypool.kernels.{name}.bins")
    return Build(
        name,
        {element.name: lp.rows[element.fused] for element in TYPES},
        {element.name: lp.planes[element.fused] for element in TYPES},
        {element.name: box.box_max[element.fused] for element in TYPES},
        {"float32": bins.inclusive_boxes["float"], "float64": bins.inclusive_boxes["double"]},
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

MOST = 1024
"""Threads at most, whatever is asked for."""

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
        return min(wish, MOST)
    if elements < 2 * GRAIN:
        return 1
    return min(available_threads(), elements // GRAIN)


# --- kernels -----------------------------------------------------------------------------------------------------------------------------


Launch = Callable[..., bool]
"""Takes the arrays whose forms (types and shapes, in turn) it was made for, the output and the number of threads that is wished for. It
says whether it could: what it found in a table may be no number to go by, and then it has left the output alone."""


def lp(forms: Sequence[Any], p: float) -> Launch:
    """out[n, c, 0, ...] = the p-norm of x[n, c]; x of rank 2 or more."""
    dtype, shape = forms
    name, _, view = element_type(dtype)
    size = math.prod(shape)
    corner: tuple[Any, ...] = (slice(None), slice(None), *(0,) * (len(shape) - 2))

    def launch(x: Array, out: Array, threads: int | None) -> bool:
        if size == 0:
            out.fill(0)
        elif dtype is view and x.flags.carray and out.flags.carray:  # mostly so, and being quick with it makes small calls quick
            chosen.rows[name](x.ravel(), p, out.ravel(), threads_for(size, threads))
        else:
            x, y = _readable(x, view), _writable(out, view)
            if x.flags.c_contiguous:
                chosen.rows[name](x.ravel(), p, y.ravel(), threads_for(size, threads))
            else:
                first = x[corner]
                chosen.planes[name](first, *coalesced(shape, x.strides, x.itemsize), p, y.ravel(), threads_for(size, threads))
            _written(out, y)
        return True

    return launch


@functools.lru_cache(maxsize=1024)
def coalesced(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[Array, Array]:
    """Sizes and strides (in elements) of the axes from the third on, neighbours that one stride walks through made one."""
    axes: list[tuple[int, int]] = []
    for size, stride in zip(shape[2:], strides[2:], strict=True):
        stride //= itemsize
        if size == 1:
            continue
        if axes and axes[-1][1] == size * stride:
            axes[-1] = (axes[-1][0] * size, stride)
        else:
            axes.append((size, stride))
    sizes, strides = zip(*axes or [(1, 1)], strict=True)
    return np.array(sizes, np.intp), np.array(strides, np.intp)


def box_max(forms: Sequence[Any], scale: float, counts: tuple[int, int]) -> Launch:
    """out[r, c, i, j] = the maximum of x[n, c] over bin (i, j) of region r, 0 where that is empty.

    The second array is a table with rows n, left, top, right, bottom; ``scale`` multiplies these, ``counts`` is how many bins there are,
    down and across. How a region is cut is in kernels/bins.pyx; it is computed in double where x is, in float otherwise.
    """
    dtype, shape, coordinates, (regions, _) = forms
    real = "float64" if dtype == np.float64 else "float32"
    as_it_is = coordinates == real and coordinates.isnative
    size = regions, 1 + 2 * (counts[0] + counts[1])
    go = maxima(dtype, shape, regions, counts)

    def launch(x: Array, table: Array, out: Array, threads: int | None) -> bool:
        if not as_it_is:
            table = widened(table).astype(real)
        boxes = np.empty(size, np.intp)
        if chosen.inclusive_boxes[real](table, scale, shape[0], shape[2], shape[3], counts[0], boxes) >= 0:
            return False
        go(x, boxes, out, threads)
        return True

    return launch


def maxima(dtype: np.dtype[Any], shape: tuple[int, ...], regions: int, counts: tuple[int, int]) -> Callable[..., None]:
    """The same for given boxes; see kernels/box_max.pyx."""
    name, _, view = element_type(dtype)
    empty = math.prod(shape) == 0 or regions == 0
    work = regions * shape[1] * (counts[0] * counts[1] + shape[2] * shape[3] // 4)

    def launch(x: Array, boxes: Array, out: Array, threads: int | None) -> None:
        if empty:
            out.fill(0)
        elif dtype is view and x.flags.aligned and out.flags.carray:
            chosen.box_max[name](x, boxes, out, threads_for(work, threads))
        else:
            y = _writable(out, view)
            chosen.box_max[name](_readable(x, view), boxes, y, threads_for(work, threads))
            _written(out, y)

    return launch


def widened(array: Array) -> Array:
    """The numbers of a float array in a type that numpy calculates with: bfloat16, which it lacks, becomes float32 (exactly)."""
    if array.dtype.name == "bfloat16":
        return (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


def _readable(x: Array, view: np.dtype[Any]) -> Array:
    """x as the kernels read it: its own memory, or a copy where no kernel reads that (foreign byte order, odd addresses or strides)."""
    flags = x.flags
    if not x.dtype.isnative or not flags.aligned or not (flags.c_contiguous or all(stride % x.itemsize == 0 for stride in x.strides)):
        x = x.astype(x.dtype.newbyteorder("="), order="C", copy=True)
    return x if x.dtype is view else x.view(view)


def _writable(out: Array, view: np.dtype[Any]) -> Array:
    """``out`` as the kernels write it, or, where it is not contiguous, an array to copy from afterwards."""
    if not out.flags.carray:
        return np.empty(out.shape, view)
    return out if out.dtype is view else out.view(view)


def _written(out: Array, y: Array) -> None:
    """Copy what ``_writable`` gave to ``out``, if that is other memory."""
    if y is not out and y.base is not out:
        out.view(y.dtype)[...] = y
