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

from cypool.kernels.builds import BUILDS, KERNELS

Array = np.ndarray[Any, np.dtype[Any]]


class ElementType(NamedTuple):
    """How the kernels see an element type."""

    name: str  # numpy's
    fused: str  # its name in the kernels' fused types
    view: np.dtype[Any]


TYPES = {
    row[0]: ElementType(*row)
    for row in (
        ("float16", "float16", np.dtype(np.uint16)),
        ("bfloat16", "bfloat16", np.dtype(np.int16)),
        ("float32", "float", np.dtype(np.float32)),
        ("float64", "double", np.dtype(np.float64)),
        ("int8", "int8", np.dtype(np.int8)),
        ("uint8", "uint8", np.dtype(np.uint8)),
        ("int64", "long long", np.dtype(np.int64)),
    )
}
"""By numpy's name. The two 16-bit floats are told apart by their sign (kernels/floats.pxd)."""


@functools.cache
def element_type(dtype: np.dtype[Any]) -> ElementType:
    """By numpy's name, since bfloat16 is known by nothing else here; kept, as numpy takes its time to say a name."""
    return TYPES[dtype.name]


# --- builds ------------------------------------------------------------------------------------------------------------------------------

Kernel = Callable[..., Any]


class Build(NamedTuple):
    """The kernels of one build: by ``module.function``, then by numpy's name of the element type."""

    name: str
    kernels: dict[str, dict[str, Kernel]]


def load(name: str) -> Build:
    """Import a build. Only for one that this machine can run: importing may execute its instructions."""
    kernels: dict[str, dict[str, Kernel]] = {}
    for module in KERNELS:
        found = vars(importlib.import_module(f"cypool.kernels.{name}.{module}"))
        for function, kernel in found.items():
            if hasattr(kernel, "__signatures__"):
                kernels[f"{module}.{function}"] = _by_type(kernel)
    return Build(name, kernels)


def _by_type(kernel: Any) -> dict[str, Kernel]:
    """The versions of a kernel, which Cython names by the types that stand for its fused ones."""
    names = {element.fused: element.name for element in TYPES.values()}
    versions = ((tuple(names[fused] for fused in signature.split("|")), version) for signature, version in kernel.__signatures__.items())
    # Of two fused types, the second is the type of coordinates: double beside double, float beside all others.
    return {first: version for (first, *second), version in versions if second in ([], ["float64" if first == "float64" else "float32"])}


def present() -> tuple[str, ...]:
    """The builds that were compiled, plainest first."""
    return tuple(v.name for v in BUILDS if importlib.util.find_spec(f"cypool.kernels.{v.name}.lp"))


def processor() -> Any:
    """Return the compiled module that tells of the build and of this processor, which any processor can run."""
    return importlib.import_module("cypool.kernels.baseline.cpu")


def usable() -> tuple[str, ...]:
    """Those of them that this processor and operating system can run."""
    level = processor().x86_64_level()
    return tuple(v.name for v in BUILDS if v.name in present() and v.level <= level)


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
    """A kernel with all that follows from the types and shapes of the arrays to come.

    It is bound to the build that is in use when it is made. ``inputs`` and ``outputs`` are forms: types and shapes, None for
    an input that is left out.
    """

    def __init__(self, inputs, outputs):
        (dtype, self.shape) = inputs[0]
        self.name, _, self.view = element_type(dtype)
        self.views = tuple([element_type(form[0]).view for form in outputs])
        self.output, self.several = self.views[0], len(self.views) > 1
        self.work = math.prod(self.shape)

    def __call__(self, tuple arrays, tuple outputs, threads):
        """``go``, for Python."""
        return self.go(arrays, outputs, threads)

    cdef Py_ssize_t go(self, tuple arrays, tuple outputs, threads) except -2:
        """Compute the outputs from the arrays, on the number of threads that is wished for, and return -1.

        Where an operand holds what the kernel refuses, return its row, or its place if it is no table; the outputs are as
        they were then.
        """
        cdef int count = threads_for(self.work, threads)
        cdef Py_ssize_t refused
        cdef bint direct = plain(outputs[0], self.output)  # mostly it is, and small calls are quick because of it
        if self.several:
            direct = direct and all([plain(out, view) for out, view in zip(outputs, self.views, strict=True)])
        if direct:
            return self.run(arrays, outputs, count)
        written = tuple([_writable(out, view) for out, view in zip(outputs, self.views, strict=True)])
        refused = self.run(arrays, written, count)
        if refused < 0:
            for out, y in zip(outputs, written, strict=True):
                _copy_back(out, y)
        return refused

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        """The kernel's call, for outputs that are contiguous and of the kernels' own types."""
        raise NotImplementedError

    def kernel(self, function):
        """The kernel of that name for the type of the first input."""
        return chosen.kernels[function][self.name]

    cdef object readable(self, x):
        """The first input as kernels read it, whatever its strides."""
        return x if <object>np.PyArray_DESCR(x) is self.view and np.PyArray_ISALIGNED(x) else _readable(x, self.view)


cdef class Lp(Launch):
    """out[n, c, 0, ...] = the p-norm of x[n, c]; x of rank 2 or more."""

    cdef tuple corner
    cdef object p, rows, planes

    def __init__(self, inputs, outputs, double p):
        Launch.__init__(self, inputs, outputs)
        self.p = p
        self.rows, self.planes = self.kernel("lp.rows"), self.kernel("lp.planes")
        self.corner = (slice(None), slice(None), *(0,) * (len(self.shape) - 2))

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        y = outputs[0]
        if self.work == 0:
            y.fill(0)
            return -1
        x = self.readable(arrays[0])
        if np.PyArray_IS_C_CONTIGUOUS(x):
            self.rows(flat(x), self.p, flat(y), threads)
        else:
            sizes, strides = coalesced(self.shape, x.strides, x.itemsize)
            self.planes(x[self.corner], sizes, strides, self.p, flat(y), threads)
        return -1


cdef class BoxMax(Launch):
    """out[r, c, i, j] = the maximum of x[n, c] over bin (i, j) of region r, 0 where that is empty.

    The second input is a table with rows n, left, top, right, bottom; ``scale`` multiplies these, ``counts`` is how many bins
    there are, down and across. kernels/bins.pyx cuts a region into bins, in double where x is double and in float otherwise.
    """

    cdef tuple counts, size
    cdef str real
    cdef bint as_it_is, empty
    cdef double scale
    cdef object bounds, maxima

    def __init__(self, inputs, outputs, double scale, tuple counts):
        Launch.__init__(self, inputs, outputs)
        (dtype, shape), (coordinates, (regions, _)) = inputs
        self.real = "float64" if dtype == np.float64 else "float32"
        self.as_it_is = coordinates == self.real and coordinates.isnative
        self.scale = scale
        self.empty = math.prod(shape) == 0 or regions == 0
        # Rows of the table are checked where there is no output, too; its bins could be more than memory has room for.
        self.counts = (1, 1) if self.empty else counts
        self.size = regions, 1 + 2 * (self.counts[0] + self.counts[1])
        self.work = regions * shape[1] * (counts[0] * counts[1] + shape[2] * shape[3] // 4)
        self.bounds = chosen.kernels["bins.inclusive_boxes"][self.real]
        self.maxima = self.kernel("box_max.box_max")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x, table = arrays
        if not self.as_it_is:
            table = widened(table).astype(self.real)
        boxes = np.empty(self.size, np.intp)
        refused = self.bounds(table, self.scale, self.shape[0], self.shape[2], self.shape[3], self.counts[0], boxes)
        if refused >= 0:
            return refused
        if self.empty:
            outputs[0].fill(0)
        else:
            self.maxima(self.readable(x), boxes, outputs[0], threads)
        return -1


cdef class Windows(Launch):
    """Holds what kernels over windows share: x as the first element of each plane and the strides from there, and the axes.

    ``axes`` are records as ``spec.windows.Axis`` has them, one at the least: a plane without axes is a row of one element.
    Where planes have no element, kernels read nothing.
    """

    cdef tuple corner
    cdef object axes, strides

    def __init__(self, inputs, outputs, axes):
        Launch.__init__(self, inputs, outputs)
        self.axes = np.array(axes, np.intp).reshape(len(axes), 7)
        # Kernels fold one axis after the other, so taps along an axis add up, and do not multiply.
        self.work = float(math.prod(outputs[0][1])) * max(1.0, sum(float(axis[4]) for axis in axes))
        self.corner = (slice(None), slice(None), *(0,) * (len(self.shape) - 2))
        self.strides = np.array(contiguous(self.shape[2:]) or (1,), np.intp)

    cdef tuple located(self, x):
        """The first element of each plane, and the strides between the elements of one, counted in elements."""
        if 0 in self.shape:
            return np.broadcast_to(np.zeros(1, self.view), self.shape[:2]), self.strides
        array = self.readable(x)
        if np.PyArray_IS_C_CONTIGUOUS(array):
            return array[self.corner], self.strides
        return array[self.corner], spatial_strides(array.strides, array.itemsize)


def contiguous(shape):
    """The strides, in elements, of an array whose axes lie in row-major order."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@functools.lru_cache(maxsize=1024)
def spatial_strides(tuple strides, itemsize):
    """Strides in elements of the axes from the third on."""
    return np.array([stride // itemsize for stride in strides[2:]] or [1], np.intp)


cdef class WindowMax(Windows):
    """out[n, c, ...] = the maximum of x[n, c] over each window; and, where it is wished for, the index of that."""

    cdef bint column_major
    cdef object maxima, with_indices

    def __init__(self, inputs, outputs, axes, bint column_major):
        Windows.__init__(self, inputs, outputs, axes)
        self.column_major = column_major
        self.maxima = self.kernel("window_max.window_max")
        self.with_indices = self.kernel("window_max.window_max_indices")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x, strides = self.located(arrays[0])
        if len(outputs) == 1:
            self.maxima(x, strides, self.axes, flat(outputs[0]), threads)
        else:
            self.with_indices(x, strides, self.axes, flat(outputs[0]), flat(outputs[1]), self.column_major, threads)
        return -1


cdef class WindowMean(Windows):
    """out[n, c, ...] = the mean of x[n, c] over each window; padding counts as zeros, or does not count."""

    cdef bint include_padding
    cdef object means

    def __init__(self, inputs, outputs, axes, bint include_padding):
        Windows.__init__(self, inputs, outputs, axes)
        self.include_padding = include_padding
        self.means = self.kernel("window_mean.window_mean")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x, strides = self.located(arrays[0])
        self.means(x, strides, self.axes, flat(outputs[0]), self.include_padding, threads)
        return -1


cdef class WindowLp(Windows):
    """out[n, c, ...] = the p-norm of x[n, c] over each window; padding contributes nothing."""

    cdef double p
    cdef object norms

    def __init__(self, inputs, outputs, axes, double p):
        Windows.__init__(self, inputs, outputs, axes)
        self.p = p
        self.norms = self.kernel("window_lp.window_lp")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x, strides = self.located(arrays[0])
        self.norms(x, strides, self.axes, flat(outputs[0]), self.p, threads)
        return -1


cdef class Bilinear(Launch):
    """out[r, c, i, j] = the mean, or the maximum, of points sampled in bin (i, j) of region r, each between four elements.

    The second input has a row a region, left, top, right, bottom; the third says which image each is on. ``scale`` multiplies
    coordinates, ``bins`` is how many there are, down and across, ``samples`` how many of them a bin has along an axis, 0 for
    as many as it has elements. Coordinates are computed in double where x is double, in float otherwise.
    """

    cdef str real
    cdef tuple numbers
    cdef object sampled

    def __init__(self, inputs, outputs, double scale, bint half_pixel, tuple bins, samples, bint maximum):
        Launch.__init__(self, inputs, outputs)
        self.real = "float64" if self.name == "float64" else "float32"
        self.numbers = scale, half_pixel, *bins, samples, maximum
        self.work = math.prod(outputs[0][1]) * 4.0 * max(samples, 1) ** 2
        self.sampled = self.kernel("bilinear.bilinear")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x, table, images = arrays
        table = widened(table).astype(self.real, copy=False)
        images = np.ascontiguousarray(images, np.int64)
        return self.sampled(self.readable(x), table, images, *self.numbers, flat(outputs[0]), threads)


cdef class Scatter(Launch):
    """out = 0, then out.flat[i] = x for each element x of the first input and i, the same of the second, in turn."""

    cdef Py_ssize_t planes
    cdef object scatter

    def __init__(self, inputs, outputs):
        Launch.__init__(self, inputs, outputs)
        self.planes = self.shape[0] * self.shape[1]
        self.work += math.prod(outputs[0][1])
        self.scatter = self.kernel("scatter.scatter")

    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2:
        x = np.ascontiguousarray(self.readable(arrays[0]))
        index = np.ascontiguousarray(arrays[1], np.int64)
        return self.scatter(flat(x), flat(index), flat(outputs[0]), self.planes, threads)


LAUNCHES = {
    "bilinear": Bilinear,
    "box_max": BoxMax,
    "lp": Lp,
    "scatter": Scatter,
    "window_lp": WindowLp,
    "window_max": WindowMax,
    "window_mean": WindowMean,
}
"""By the name that geometry gives a kernel."""


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


def _copy_back(out: Array, y: Array) -> None:
    """Copy what ``_writable`` gave to ``out``, if that is other memory."""
    if y is not out and y.base is not out:
        out.view(y.dtype)[...] = y
