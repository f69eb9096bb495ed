"""The p-norm of every window of every plane of an array: (sum |x|^p)^(1/p), as if computed exactly and rounded once.

The elements of a window are gathered and summed as ``lp`` sums those of a plane, so the promises are the same,
and a window that holds all of a plane has the bits of ``lp``. For p = 1 and 2 of narrow types, whose terms and
their sums need no care in double, a row of outputs sums rows of the plane, column by column, then columns.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, sqrt
from libc.stdlib cimport free, malloc

from .floats cimport signed_value, store_signed
from .terms cimport power_of
from .walks cimport begin, next_run, set_axis, set_row, walk
from .windows cimport axis, inside, sound, start_of

include "lanes.pxi"
include "extremes.pxi"
include "range.pxi"
include "roots.pxi"

cdef enum:
    BUFFER = CHUNK + 32  # elements gathered at a time
    SPAN = 4096  # columns that a row of sums holds
    BLOCK = 512  # outputs of a row that are summed together, at most
    LONGEST = 1 << 20  # additions on the way of a term, above which windows are gathered

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
    Py_ssize_t block  # outputs of a row that are summed together; 0 if windows are gathered
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


cdef inline void add_row(const element* x, Py_ssize_t step, Py_ssize_t size, bint square, double* sums) noexcept nogil:
    """Add the terms of a row to the sums of columns."""
    cdef Py_ssize_t j
    cdef double value
    if square:
        for j in range(size):
            value = signed_value(x, j * step)
            sums[j] += value * value
    else:
        for j in range(size):
            sums[j] += fabs(signed_value(x, j * step))


cdef inline void add_every(const double* sums, Py_ssize_t stride, Py_ssize_t count, double* totals) noexcept nogil:
    """Add every ``stride``-th sum."""
    cdef Py_ssize_t o
    for o in range(count):
        totals[o] += sums[o * stride]


cdef void block_norms(
    const element* x, const problem* p, Py_ssize_t row, Py_ssize_t first, Py_ssize_t count, element* y
) noexcept nogil:
    """A block of a row of outputs for p = 1 and 2 of narrow types, whose terms are exact in double and far from the ends of its range."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef double sums[SPAN]
    cdef double totals[BLOCK]
    cdef Py_ssize_t taps = last.taps, dilation = last.dilation if taps > 1 else 0, stride = last.stride if last.count > 1 else 1
    cdef Py_ssize_t start = start_of(last, first), size = (count - 1) * stride + (taps - 1) * dilation + 1
    cdef Py_ssize_t left = max(0, -start), right = min(size, last.size - start), step = p.strides[p.ndim - 1], o, k
    cdef bint square = p.many.whole == 2
    cdef walk w
    for o in range(size):
        sums[o] = 0.0
    set_row(&w, p.axes, p.strides, p.ndim, row)
    w.spans[p.ndim - 1].taps = 1 if left < right else 0
    w.spans[p.ndim - 1].position = start + left
    w.steps[p.ndim - 1] = 0
    if begin(&w, p.strides):
        while True:
            if step == 1:
                add_row(x + w.offset, 1, right - left, square, sums + left)
            else:
                add_row(x + w.offset, step, right - left, square, sums + left)
            if not next_run(&w):
                break
    for o in range(count):
        totals[o] = 0.0
    for k in range(taps):
        if stride == 1:
            add_every(sums + k * dilation, 1, count, totals)
        elif stride == 2:
            add_every(sums + k * dilation, 2, count, totals)
        else:
            add_every(sums + k * dilation, stride, count, totals)
    if square:
        for o in range(count):
            totals[o] = sqrt(totals[o])
    for o in range(count):
        store_signed(y + o, totals[o])


cdef void set_block(problem* p) noexcept nogil:
    """Say from the axes how many outputs are summed together.

    None are where a window is a plane, which has the bits of ``lp``, or reaches far, or windows are sparse.
    """
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t reach, stride = last.stride if last.count > 1 else 1
    cdef double additions = <double>min(last.taps, last.size)
    cdef double rows = 1.0
    cdef bint whole = True
    cdef int a
    p.block = 0
    for a in range(p.ndim):
        whole = whole and p.axes[a].count == 1 and inside(&p.axes[a], 0).taps == p.axes[a].size
        if a < p.ndim - 1:
            rows *= <double>min(p.axes[a].taps, p.axes[a].size)
    if whole or rows + additions > LONGEST or not (last.taps == 1 or (last.taps <= SPAN and last.dilation <= SPAN)):
        return
    reach = (last.taps - 1) * last.dilation + 1 if last.taps > 1 else 1
    if reach <= SPAN and stride <= 8 * reach:
        p.block = min(<Py_ssize_t>BLOCK, (SPAN - reach) // stride + 1)


cdef void some_rows(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t last, element* buffer, element* y
) noexcept nogil:
    """Do the rows of outputs from ``unit`` to ``last``."""
    cdef Py_ssize_t n, first
    cdef const element* plane
    while unit < last:
        n = unit // p.rows
        plane = x + n // p.channels * p.stride_n + n % p.channels * p.stride_c
        if p.block == 0:
            row_norms(plane, p, unit % p.rows, buffer, y + unit * p.columns)
        first = 0
        while p.block and first < p.columns:
            block_norms(plane, p, unit % p.rows, first, min(p.block, p.columns - first), y + unit * p.columns + first)
            first += p.block
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
    all.block = 0
    if element is not double and (p == 1.0 or p == 2.0):
        set_block(&all)
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
