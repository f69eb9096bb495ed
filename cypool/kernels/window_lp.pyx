"""The p-norm of every window of every plane of an array: (sum |x|^p)^(1/p), as if computed exactly and rounded once.

The elements of a window are gathered and summed as ``lp`` sums those of a plane, so the promises are the same,
and a window that holds all of a plane has the bits of ``lp``.
"""

from cython.parallel cimport prange
from libc.stdlib cimport free, malloc

from .terms cimport power_of
from .walks cimport begin, next_run, set_axis, set_row, walk
from .windows cimport axis, sound

include "lanes.pxi"
include "extremes.pxi"
include "range.pxi"
include "roots.pxi"

cdef enum:
    BUFFER = CHUNK + 32  # elements gathered at a time

# What is summed: planes as in ``lp``, one axis record and one stride for each of their axes.
cdef struct problem:
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    int ndim
    const axis* axes
    const Py_ssize_t* strides
    Py_ssize_t rows  # of outputs in a plane
    Py_ssize_t columns  # of outputs in a row
    power many
    power single  # of windows of one element


cdef inline Py_ssize_t gather(const element* x, walk* w, Py_ssize_t done, Py_ssize_t room, element* buffer) noexcept nogil:
    """Copy elements of a window to the buffer, from the one on where the walk is; ``done`` of its row are copied already.

    Returns how many of the last row are copied then.
    """
    cdef Py_ssize_t run, i, inner = w.spans[w.ndim - 1].taps, step = w.steps[w.ndim - 1]
    while room > 0:
        run = min(inner - done, room)
        for i in range(run):
            buffer[i] = x[w.offset + (done + i) * step]
        buffer += run
        room -= run
        done += run
        if done == inner:
            done = 0
            next_run(w)
    return done


cdef void long_norm(const element* x, walk* w, Py_ssize_t size, power p, element* buffer, element* y) noexcept nogil:
    """The norm of a window of several chunks."""
    cdef partial total, sum
    cdef Py_ssize_t start = 0, done = 0, count
    while start < size:
        count = min(<Py_ssize_t>CHUNK, size - start)
        done = gather(x, w, done, count, buffer)
        chunk_sums(<const element*>buffer, CHUNK, 1, count, p, &sum)
        total = add(total, sum, p) if start else sum
        start += count
    roots(&total, 1, p, y)


cdef void row_norms(const element* x, const problem* p, Py_ssize_t row, element* buffer, element* y) noexcept nogil:
    """A row of outputs: neighbouring windows of as many elements go together."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef walk w
    cdef Py_ssize_t column, size, waiting = 0, of_size = 0
    set_row(&w, p.axes, p.strides, p.ndim, row)
    for column in range(p.columns):
        set_axis(&w, p.ndim - 1, last, p.strides[p.ndim - 1], column)
        size = begin(&w, p.strides)
        if waiting and (size != of_size or waiting == ROWS or (waiting + 1) * of_size > CHUNK):
            chunk_norms(
                <const element*>buffer, of_size, waiting, of_size, p.single if of_size == 1 else p.many, y + column - waiting
            )
            waiting = 0
        if size == 0:
            y[column] = 0
        elif size > CHUNK:
            long_norm(x, &w, size, p.many, buffer, y + column)
        else:
            gather(x, &w, 0, size, buffer + waiting * size)
            of_size = size
            waiting += 1
    if waiting:
        chunk_norms(
            <const element*>buffer, of_size, waiting, of_size, p.single if of_size == 1 else p.many, y + p.columns - waiting
        )


cdef void some_rows(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t last, element* buffer, element* y
) noexcept nogil:
    """Do the rows of outputs from ``unit`` to ``last``."""
    cdef Py_ssize_t n
    while unit < last:
        n = unit // p.rows
        row_norms(
            x + n // p.channels * p.stride_n + n % p.channels * p.stride_c, p, unit % p.rows, buffer, y + unit * p.columns
        )
        unit += 1


def window_lp(
    const element[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, element[::1] y, double p, int threads
):
    """Write the p-norms of all windows to y, in row-major order of (n, c, windows), 0 < p <= infinity.

    Positions outside a plane contribute nothing; a window without elements gives +0.0. ``x`` holds the first
    element of each plane, ``strides`` (in elements) the way from there along each axis, ``axes`` a row of
    seven numbers an axis (windows.pxd). If a size is 0, x is not read.
    """
    cdef problem all
    cdef element* buffers
    cdef Py_ssize_t units, part, parts
    cdef int a, ndim = <int>axes.shape[0]
    cdef const element* start
    cdef element* out
    if not (
        p > 0.0 and ndim > 0 and axes.shape[1] == 7 and strides.shape[0] == ndim and threads > 0
        and sound(<const axis*>&axes[0, 0], ndim)
    ):
        raise ValueError("window_lp: p, axes, strides or threads out of range")
    all.axes = <const axis*>&axes[0, 0]
    all.strides = &strides[0]
    all.ndim = ndim
    all.rows = 1
    for a in range(ndim - 1):
        all.rows *= all.axes[a].count
    all.columns = all.axes[ndim - 1].count
    all.channels = x.shape[1]
    all.stride_n = x.strides[0] // <Py_ssize_t>sizeof(element)
    all.stride_c = x.strides[1] // <Py_ssize_t>sizeof(element)
    all.many = power_of(p, 2, element is double)
    all.single = power_of(p, 1, element is double)
    units = x.shape[0] * x.shape[1] * all.rows
    if y.shape[0] != units * all.columns:
        raise ValueError("window_lp: the output has another size")
    if y.shape[0] == 0:
        return
    parts = min(<Py_ssize_t>threads, units)
    buffers = <element*>malloc(parts * BUFFER * sizeof(element))
    if buffers == NULL:
        raise MemoryError("no room for the kernel's scratch memory")
    start = &x[0, 0]
    out = &y[0]
    with nogil:
        if parts == 1:
            some_rows(start, &all, 0, units, buffers, out)
        else:
            for part in prange(parts, num_threads=<int>parts, schedule="static"):
                some_rows(
                    start, &all, units * part // parts, units * (part + 1) // parts, buffers + part * BUFFER, out
                )
    free(buffers)
