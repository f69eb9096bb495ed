"""The p-norm of every plane of an array: (sum |x|^p)^(1/p), as if computed exactly and rounded once.

Here is where planes lie and who sums which; ``lanes.pxi`` is how a chunk is summed, ``range.pxi`` how its sum stays in range,
``across.pxi`` how planes are that lie side by side, ``roots.pxi`` how chunks are added and roots taken, ``terms.pxd`` how an
element is raised to p.
"""

from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, llabs, malloc

from .terms cimport power_of

include "lanes.pxi"
include "extremes.pxi"
include "range.pxi"
include "across.pxi"
include "roots.pxi"

cdef enum:
    PITCH = CHUNK + 32  # between gathered rows; not a power of two, which would put all of them into one set of the cache


# Where the planes lie: element (n, c) of the first two axes starts at base + n * stride_n + c * stride_c; the others are a walk of
# ``ndim`` axes, coalesced by the caller. All strides in elements.
cdef struct layout:
    Py_ssize_t images
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    Py_ssize_t size  # elements of a plane
    Py_ssize_t ndim
    const Py_ssize_t* shape
    const Py_ssize_t* strides


cdef void gather(const element* x, layout at, Py_ssize_t count, Py_ssize_t start, Py_ssize_t size, element* buffer) noexcept nogil:
    """Elements start ... start + size of ``count`` neighbouring planes, one plane a row of PITCH."""
    cdef Py_ssize_t inner = at.shape[at.ndim - 1], step = at.strides[at.ndim - 1]
    cdef Py_ssize_t done = 0, run, rest, offset, axis, i, k
    while done < size:
        rest = (start + done) // inner
        offset = (start + done) % inner
        run = min(inner - offset, size - done)
        offset *= step
        axis = at.ndim - 2
        while axis >= 0:
            offset += rest % at.shape[axis] * at.strides[axis]
            rest //= at.shape[axis]
            axis -= 1
        for k in range(count):
            for i in range(run):
                buffer[k * PITCH + done + i] = x[offset + i * step + k * at.stride_c]
        done += run


cdef inline bint side_by_side(layout at, power p) noexcept nogil:
    """Whether neighbouring planes can be summed without taking their elements apart first."""
    return at.stride_c == 1 and at.ndim == 1 and p.kind < ANY and (at.channels >= WIDTH or mixed(at))


cdef inline bint mixed(layout at) noexcept nogil:
    """Whether they are the channels of a picture, last."""
    return (at.channels == 3 or at.channels == 4) and at.strides[at.ndim - 1] == at.channels


# How the work is cut: an item is a part (some chunks) of a group of planes that lie together.
cdef struct cut:
    Py_ssize_t together  # planes in a group
    Py_ssize_t groups  # of one image
    Py_ssize_t chunks  # of one plane
    Py_ssize_t parts  # of one plane
    Py_ssize_t share  # chunks in a part


cdef inline Py_ssize_t next_sums(
    const element* x, layout at, Py_ssize_t count, Py_ssize_t chunk, Py_ssize_t last, power p, element* buffer, partial* sums
) noexcept nogil:
    """The sums of ``count`` neighbouring planes over the chunk, or, of a single plane that is contiguous (there is no buffer then), over as
    many chunks from there to ``last`` as go together. Returns how many."""
    cdef Py_ssize_t start = chunk * CHUNK, size = min(CHUNK, at.size - start), wide, k
    if buffer == NULL:
        wide = min(last, at.size // CHUNK) - chunk  # whole ones
        wide = max(1, min(ROWS, wide))
        chunk_sums(x + start, CHUNK, wide, size, p, sums)
        return wide
    if side_by_side(at, p):
        wide = count if mixed(at) else count - count % WIDTH
        across_sums(x + start * at.strides[0], at.strides[0], wide, size, p, buffer, sums)
        for k in range(wide, count):
            gather(x + k, at, 1, start, size, buffer)
            chunk_sums(<const element*>buffer, PITCH, 1, size, p, &sums[k])
    else:
        gather(x, at, count, start, size, buffer)
        chunk_sums(<const element*>buffer, PITCH, count, size, p, sums)
    return 1


cdef void work_item(
    const element* x, layout at, cut work, Py_ssize_t item, power p, element* buffer, partial* sums, element* y
) noexcept nogil:
    """One item: the finished norms go to ``y``; where planes have several parts, the sums go to ``sums`` (plane, chunk)."""
    cdef partial totals[SIDE]
    cdef partial some[SIDE]
    cdef Py_ssize_t group = item // work.parts % work.groups
    cdef Py_ssize_t image = item // work.parts // work.groups
    cdef Py_ssize_t channel = group * work.together
    cdef Py_ssize_t count = min(work.together, at.channels - channel)
    cdef Py_ssize_t chunk = item % work.parts * work.share, last = min(chunk + work.share, work.chunks)
    cdef Py_ssize_t k, c, done, plane = image * at.channels + channel
    x += image * at.stride_n + channel * at.stride_c
    if buffer == NULL and work.chunks == 1:
        chunk_norms(x, at.stride_c, count, at.size, p, y + plane)
        return
    if buffer != NULL and work.chunks == 1 and side_by_side(at, p) and (count % WIDTH == 0 or mixed(at)):
        across_norms(x, at.strides[0], count, at.size, p, buffer, y + plane)
        return
    while chunk < last:
        done = next_sums(x, at, count, chunk, last, p, buffer, some)
        for k in range(count):
            for c in range(done):  # one of many planes, or many of one
                if work.parts > 1:
                    sums[(plane + k) * work.chunks + chunk + c] = some[k + c]
                else:
                    totals[k] = add(totals[k], some[k + c], p) if chunk + c else some[k]
        chunk += done
    if work.parts == 1:
        k = 0
        while k < count:
            roots(totals + k, min(ROWS, count - k), p, y + plane + k)
            k += ROWS


cdef void finish(Py_ssize_t plane, cut work, power p, const partial* sums, element* y) noexcept nogil:
    """The norm of a plane whose chunks are all summed."""
    cdef partial total = sums[plane * work.chunks]
    cdef Py_ssize_t chunk
    for chunk in range(1, work.chunks):
        total = add(total, sums[plane * work.chunks + chunk], p)
    roots(&total, 1, p, y + plane)


cdef int norms(const element* x, layout at, bint dense, double exponent, element* y, int threads) except -1 nogil:
    """Every plane's norm, y contiguous. Threads share out groups of planes; where those are too few, parts of planes."""
    cdef power p = power_of(exponent, at.size, element is double)
    cdef cut work
    cdef Py_ssize_t item, items, buffer
    cdef partial* sums = NULL
    cdef element* buffers = NULL
    work.chunks = (at.size + CHUNK - 1) // CHUNK
    work.together = 1
    if dense and work.chunks == 1:
        work.together = min(ROWS, max(1, at.channels // (4 * threads) if threads > 1 else at.channels))
    elif not dense and side_by_side(at, p):
        work.together = min(SIDE, at.channels)
    elif not dense and llabs(at.stride_c) < llabs(at.strides[at.ndim - 1]):
        work.together = min(ROWS, at.channels)
    buffer = 0 if dense else PITCH * (1 if side_by_side(at, p) else work.together)  # the odd plane, or the whole group
    work.groups = (at.channels + work.together - 1) // work.together
    items = at.images * work.groups
    work.share = work.chunks
    if threads > 1 and items < 4 * threads:
        work.share = max(1, min(ROWS, items * work.chunks // (4 * threads)))
    work.parts = (work.chunks + work.share - 1) // work.share
    items *= work.parts
    if work.parts > 1:
        sums = <partial*>malloc(at.images * at.channels * work.chunks * sizeof(partial))
    if not dense:
        buffers = <element*>malloc(threads * buffer * sizeof(element))
    if (sums == NULL and work.parts > 1) or (buffers == NULL and not dense):
        free(sums)
        free(buffers)
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for item in range(items):
            work_item(x, at, work, item, p, buffers, sums, y)
    else:
        for item in prange(items, num_threads=threads, schedule="static"):
            work_item(x, at, work, item, p, NULL if dense else buffers + threadid() * buffer, sums, y)
    if work.parts > 1:
        for item in range(at.images * at.channels):  # next to nothing, and to wake threads again would cost more
            finish(item, work, p, sums, y)
    free(sums)
    free(buffers)
    return 0


def rows(const element[::1] x, double p, element[::1] y, int threads):
    """y[i] = the p-norm of row i of x, whose rows follow each other, as many as y is long, 0 < p <= infinity; no axis empty."""
    cdef layout at
    at.images = 1
    at.channels = y.shape[0]
    check(p, y.shape[0] > 0 and x.shape[0] > 0 and x.shape[0] % y.shape[0] == 0, threads)
    at.stride_n = 0
    at.stride_c = at.size = x.shape[0] // y.shape[0]
    at.ndim = 0
    at.shape = at.strides = NULL
    with nogil:
        norms(&x[0], at, True, p, &y[0], threads)


def planes(const element[:, :] first, const Py_ssize_t[::1] shape, const Py_ssize_t[::1] strides, double p, element[::1] y, int threads):
    """The same for planes anywhere in memory: ``first`` holds the first element of each, ``shape`` and ``strides`` (in elements) the walk
    from there, at least one axis, none empty; y takes the planes of ``first`` in row-major order."""
    cdef layout at
    cdef Py_ssize_t axis
    at.images = first.shape[0]
    at.channels = first.shape[1]
    at.stride_n = first.strides[0] // <Py_ssize_t>sizeof(element)
    at.stride_c = first.strides[1] // <Py_ssize_t>sizeof(element)
    at.ndim = shape.shape[0]
    at.size = 1
    for axis in range(at.ndim):
        at.size *= shape[axis]
    check(
        p,
        at.images > 0 and at.channels > 0 and at.ndim > 0 and at.size > 0
        and strides.shape[0] == at.ndim and y.shape[0] == at.images * at.channels,
        threads,
    )
    at.shape = &shape[0]
    at.strides = &strides[0]
    with nogil:
        norms(&first[0, 0], at, False, p, &y[0], threads)


cdef int check(double p, bint fits, int threads) except -1:
    """What the loops rely on; the caller has told users already."""
    if not (p > 0.0 and fits and threads > 0):
        raise ValueError("lp: p, sizes or threads out of range")
    return 0
