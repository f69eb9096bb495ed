"""Picks the kernel build once, then lays arrays before kernels: views of the right type, outputs, the number of threads.

Apart from the functions people call because this is all that knows how kernels are built and what they take; it knows nothing of ONNX.
Compiled, like ``calls``, because small calls are made of little else.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
cimport numpy as np

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


np.import_array()
chosen = load(choose(os.environ.get("CYPOOL_ISA") or None))


# --- threads -----------------------------------------------------------------------------------------------------------------------------

GRAIN = 1 << 15
"""Elements that make a thread worth waking."""

MOST = 1024
"""Threads at most, whatever is asked for."""

FLAGS = 9
"""The field of /proc/self/stat, as proc(5) counts."""

PF_FORKNOEXEC = 0x40
"""The flag, from include/linux/sched.h."""


def _is_forked_child() -> bool:
    """Tell whether this process was forked and has executed no program since, as Linux says by a flag of the process.

    A fork before cypool is imported counts as well, since the parent may have run OpenMP through another package.
    """
    try:
        stat = Path("/proc/self/stat").read_bytes()
        # Field 2 is the program's name in parentheses, and may hold any bytes itself; fields 3 and on follow the last one.
        return bool(int(stat[stat.rindex(b")") + 1 :].split()[FLAGS - 3]) & PF_FORKNOEXEC)
    except (OSError, ValueError, IndexError):
        return False


_forked = _is_forked_child()


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


cpdef int threads_for(double elements, wish) except -1:
    """How many threads work on so many elements. Their number is a double, since the work that a call asks for may exceed any integer."""
    if _forked:
        return 1
    if wish is not None:
        return min(wish, MOST)
    if elements < 2 * GRAIN:
        return 1
    return <int>min(<double>available_threads(), elements / GRAIN, <double>MOST)


# --- kernels -----------------------------------------------------------------------------------------------------------------------------


cdef class Launch:
    """A kernel with all that follows from the types and shapes of the arrays to come."""

    def __call__(self, tuple arrays, out, threads):
        """``go``, for Python."""
        return self.go(arrays, out, threads)

    cdef bint go(self, tuple arrays, out, threads) except -1:
        """Take the arrays, the output and the number of threads that is wished for. Says whether it could: what it found in a table may be
        no number to go by, and then it has left the output alone."""
        raise NotImplementedError


cdef class lp(Launch):
    """out[n, c, 0, ...] = the p-norm of x[n, c]; x of rank 2 or more. ``forms`` are type and shape."""

    cdef tuple shape, corner
    cdef double size
    cdef object p, build, rows

    def __init__(self, forms, double p):
        [(dtype, self.shape)] = forms
        self.name, _, self.view = element_type(dtype)
        self.p = p
        self.rows, self.build = chosen.rows[self.name], chosen
        self.size = math.prod(self.shape)
        self.corner = (slice(None), slice(None), *(0,) * (len(self.shape) - 2))

    cdef bint go(self, tuple arrays, out, threads) except -1:
        x = arrays[0]
        y = out
        count = threads_for(self.size, threads)
        if self.size == 0:
            y.fill(0)
            return True
        if not (plain(x, self.view) and plain(y, self.view)):  # mostly they are, and small calls are quick because of it
            x, y = _readable(x, self.view), _writable(y, self.view)
        if np.PyArray_IS_C_CONTIGUOUS(x):
            if self.build is not chosen:  # only tests change that, and none while others call
                self.rows, self.build = chosen.rows[self.name], chosen
            self.rows(flat(x), self.p, flat(y), count)
        else:
            sizes, strides = coalesced(self.shape, x.strides, x.itemsize)
            chosen.planes[self.name](x[self.corner], sizes, strides, self.p, flat(y), count)
        if y is not out:
            _written(out, y)
        return True


cdef bint plain(np.ndarray x, view):
    """Whether kernels take it as it is, one row after the other."""
    return <object>np.PyArray_DESCR(x) is view and np.PyArray_ISCARRAY_RO(x)


cdef object flat(np.ndarray x):
    """The same memory, of rank 1."""
    return np.PyArray_Ravel(x, np.NPY_CORDER)


@functools.lru_cache(maxsize=1024)
def coalesced(tuple shape, tuple strides, itemsize):
    """Sizes and strides (in elements) of the axes from the third on, neighbours that one stride walks through made one."""
    axes = []
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


cdef class box_max(Launch):
    """out[r, c, i, j] = the maximum of x[n, c] over bin (i, j) of region r, 0 where that is empty. ``forms`` are those of x and of a table.

    The table has rows n, left, top, right, bottom; ``scale`` multiplies these, ``counts`` is how many bins there are, down and across. How
    a region is cut is in kernels/bins.pyx; it is computed in double where x is, in float otherwise.
    """

    cdef tuple shape, counts, size
    cdef str real
    cdef bint as_it_is
    cdef double scale
    cdef maxima maxima

    def __init__(self, forms, double scale, tuple counts):
        (dtype, self.shape), (coordinates, (regions, _)) = forms
        self.real = "float64" if dtype == np.float64 else "float32"
        self.as_it_is = coordinates == self.real and coordinates.isnative
        self.scale = scale
        self.maxima = maxima(dtype, self.shape, regions, counts)
        # Rows of the table are checked where there is no output, too; its bins could be more than memory has room for.
        self.counts = (1, 1) if self.maxima.empty else counts
        self.size = regions, 1 + 2 * (self.counts[0] + self.counts[1])

    cdef bint go(self, tuple arrays, out, threads) except -1:
        x, table = arrays
        if not self.as_it_is:
            table = widened(table).astype(self.real)
        boxes = np.empty(self.size, np.intp)
        bounds = chosen.inclusive_boxes[self.real]
        if bounds(table, self.scale, self.shape[0], self.shape[2], self.shape[3], self.counts[0], boxes) >= 0:
            return False
        return self.maxima.go((x, boxes), out, threads)


cdef class maxima(Launch):
    """The same for given boxes; see kernels/box_max.pyx."""

    cdef bint empty
    cdef double work

    def __init__(self, dtype, tuple shape, regions, tuple counts):
        self.name, _, self.view = element_type(dtype)
        self.empty = math.prod(shape) == 0 or regions == 0
        self.work = regions * shape[1] * (counts[0] * counts[1] + shape[2] * shape[3] // 4)

    cdef bint go(self, tuple arrays, out, threads) except -1:
        x, boxes = arrays
        count = threads_for(self.work, threads)
        if self.empty:
            out.fill(0)
        elif np.PyArray_ISALIGNED(x) and <object>np.PyArray_DESCR(x) is self.view and plain(out, self.view):
            chosen.box_max[self.name](x, boxes, out, count)
        else:
            y = _writable(out, self.view)
            chosen.box_max[self.name](_readable(x, self.view), boxes, y, count)
            _written(out, y)
        return True


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
