"""The p-norm of every plane of an array: (sum |x|^p)^(1/p), as if computed exactly and rounded once.

How a sum keeps its promises (docs/kernels.md has the reasoning):

*Same bits everywhere.* The order of all additions is a function of the position in the plane alone. A plane is cut into chunks of CHUNK
elements; in a chunk, element i belongs to lane i % LANES, 8 rows of lanes are added as a tree, the lanes are added as a tree at the end,
and chunks are added in their order. Threads share out planes or chunks, CPU levels differ in how many lanes an instruction holds,
layouts in how a chunk is fetched: none of them sees the order.

*Accuracy.* For types narrower than double the terms of p <= 2 are exact in double, and 29 spare bits absorb the rest. For double itself
lanes are pairs (sum and the error of the sum), so only the product and three tree additions round. Chunks are always added as pairs.

*Range.* A chunk is summed as it is; if the sum leaves [LOWEST, HIGHEST] the chunk, still in cache, is summed again scaled by a power
of two. So a sum is (hi + lo) * 2^exponent, and one row near overflow costs nothing to the others.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, NAN, floor, fma, frexp, isfinite, ldexp, sqrt
from libc.stdlib cimport free, llabs, malloc

from .floats cimport bfloat16, element, float16, magnitude, store
from .powers cimport exp2, exp2_pair, log2, log2_pair, pair, two_sum

cdef enum:
    LANES = 16
    TREE = 8  # rows of lanes that are added as a tree
    BLOCK = LANES * TREE
    CHUNK = 4096
    PITCH = CHUNK + 32  # between gathered rows; not a power of two, which would put all of them into one set of the cache
    GATHER = 32  # rows gathered at a time, at most

cdef double LOWEST = 2.0 ** -900
cdef double HIGHEST = 2.0 ** 900

cdef enum Kind:
    WHOLE  # p an integer
    HALVES  # p an integer and a half
    ANY
    LARGEST  # p infinite; from here on there is better than a sum, see ``fold``
    PEAKED  # p so large that the exponents of terms outgrow a double
    VANISHING  # p so small that two terms make the root overflow

cdef struct power:
    Kind kind
    int whole  # the integer part, for WHOLE and HALVES
    double p

# (hi + lo) * 2^exponent; the exponent is a double because p times a binary exponent may exceed every integer type
cdef struct partial:
    double hi
    double lo
    double exponent


# --- one chunk -----------------------------------------------------------------------------------------------------------------------


cdef inline double integer_power(double a, int n) noexcept nogil:
    """a^n by squaring, n >= 1; n is a constant at every call that matters for speed."""
    cdef double result
    if n == 1:
        return a
    if n == 2:
        return a * a
    if n == 3:
        return a * a * a
    if n == 4:
        return (a * a) * (a * a)
    result = a if n & 1 else 1.0
    while n > 1:
        a = a * a
        n >>= 1
        if n & 1:
            result = result * a
    return result


cdef inline double at(const element* x, Py_ssize_t i, int n) noexcept nogil:
    return integer_power(magnitude(x, i), n)


cdef inline void add_row(double s, double* hi, double* lo, bint paired) noexcept nogil:
    """Add to one lane."""
    cdef pair t
    if paired:
        t = two_sum(hi[0], s)
        hi[0] = t.hi
        lo[0] += t.lo
    else:
        hi[0] += s


cdef inline partial add_lanes(double* hi, double* lo, bint paired) noexcept nogil:
    """The sum of the lanes, as a tree."""
    cdef Py_ssize_t l, width = LANES // 2
    cdef partial total
    while width:
        for l in range(width):
            if paired:
                lo[l] += lo[l + width]
            add_row(hi[l + width], &hi[l], &lo[l], paired)
        width //= 2
    total.hi = hi[0]
    total.lo = lo[0] if paired else 0.0
    total.exponent = 0.0
    return total


cdef inline partial direct_sum(const element* x, Py_ssize_t size, int n) noexcept nogil:
    """The sum of |x|^n over a chunk, n a constant."""
    cdef bint paired = element is double
    cdef double hi[LANES]
    cdef double lo[LANES]
    cdef Py_ssize_t l, i = 0
    for l in range(LANES):
        hi[l] = 0.0
        lo[l] = 0.0
    while i + BLOCK <= size:
        for l in range(LANES):
            add_row(
                ((at(x, i + l, n) + at(x, i + l + LANES, n)) + (at(x, i + l + 2 * LANES, n) + at(x, i + l + 3 * LANES, n)))
                + ((at(x, i + l + 4 * LANES, n) + at(x, i + l + 5 * LANES, n)) + (at(x, i + l + 6 * LANES, n) + at(x, i + l + 7 * LANES, n))),
                &hi[l], &lo[l], paired)
        i += BLOCK
    while i + LANES <= size:
        for l in range(LANES):
            add_row(at(x, i + l, n), &hi[l], &lo[l], paired)
        i += LANES
    for l in range(size - i):
        add_row(at(x, i + l, n), &hi[l], &lo[l], paired)
    return add_lanes(hi, lo, paired)


cdef inline void raise_any(double* a, double* low, Py_ssize_t size, double p, double exponent, bint paired) noexcept nogil:
    """a = a^p * 2^-exponent for any p; if paired, ``low`` takes what a double does not hold. Zero, infinity and NaN stay what they are."""
    cdef Py_ssize_t i
    cdef bint ordinary
    cdef double x, scale
    cdef pair u, v
    for i in range(size):
        ordinary = 0.0 < a[i] < INFINITY
        x = a[i] if ordinary else 1.0
        if paired:
            v = log2_pair(x)
            u = two_sum(p * v.hi, -exponent)
            u = two_sum(u.hi, u.lo + (fma(p, v.hi, -(p * v.hi)) + p * v.lo))
            v.hi = u.hi if u.hi > -1022.0 else -1022.0
            v.hi = v.hi if v.hi < 1023.0 else 1023.0
            v.lo = u.lo if -1022.0 < u.hi < 1023.0 else 0.0
            v = exp2_pair(v, &scale)
            x = v.hi * scale if u.hi > -1022.0 else 0.0
            x = x if u.hi < 1023.0 else INFINITY
            low[i] = v.lo * scale if ordinary and -1022.0 < u.hi < 1023.0 else 0.0
        else:
            x = exp2(p * log2(x) - exponent)
        a[i] = x if ordinary else a[i]


cdef inline void raise_halves(double* a, Py_ssize_t size, int n, bint half) noexcept nogil:
    """a = a^n, or a^(n + 1/2) if half, by squaring."""
    cdef double base[BLOCK]
    cdef Py_ssize_t i
    for i in range(size):
        base[i] = a[i]
        a[i] = (sqrt(a[i]) if half else 1.0) * (a[i] if n & 1 else 1.0)
    while n > 1:
        n >>= 1
        for i in range(size):
            base[i] = base[i] * base[i]
            a[i] = a[i] * (base[i] if n & 1 else 1.0)


cdef inline partial raised_sum(const element* x, Py_ssize_t size, power p, double exponent) noexcept nogil:
    """The sum of |x|^p * 2^-exponent over a chunk, block by block through a buffer that stays in the first-level cache."""
    cdef bint paired = element is double
    cdef double hi[LANES]
    cdef double lo[LANES]
    cdef double a[BLOCK]
    cdef double low[BLOCK]
    cdef Py_ssize_t l, r, start, filled, padded
    cdef double s
    for l in range(LANES):
        hi[l] = 0.0
        lo[l] = 0.0
    for l in range(BLOCK):
        low[l] = 0.0
    start = 0
    while start < size:
        filled = min(size - start, BLOCK)
        padded = (filled + LANES - 1) // LANES * LANES
        for l in range(filled):
            a[l] = magnitude(x, start + l)
        for l in range(filled, padded):
            a[l] = 0.0
        if p.kind == ANY:
            raise_any(a, low, padded, p.p, exponent, paired)
        else:
            raise_halves(a, padded, p.whole, p.kind == HALVES)
        for l in range(LANES):
            for r in range(padded // LANES):
                add_row(a[r * LANES + l], &hi[l], &lo[l], paired)
                lo[l] += low[r * LANES + l]
        start += BLOCK
    return add_lanes(hi, lo, paired)


cdef inline double larger(double a, double b) noexcept nogil:
    """The larger one; NaN if either is NaN."""
    return a if a > b or a != a else b


cdef inline double largest(const element* x, Py_ssize_t size) noexcept nogil:
    """The largest |x| of a chunk; NaN if any is NaN."""
    cdef double result = 0.0
    cdef Py_ssize_t i
    for i in range(size):
        result = larger(result, magnitude(x, i))
    return result


# For some p there is better than a sum, and hi and lo hold other things than its halves (their exponent stays 0):
#   LARGEST    hi the largest term so far;
#   PEAKED     the same, and lo how many there are, the others counting by what they are of it: (x / hi)^p, which is
#              exp(-p (hi - x) / hi) to within 2^-34 of what matters, as all but the nearest vanish;
#   VANISHING  hi the only term that is not zero, infinity if there are two.
cdef inline partial fold(partial a, partial b, power p) noexcept nogil:
    """What ``add`` is, for these."""
    cdef double hi = larger(a.hi, b.hi)
    if p.kind == VANISHING:
        a.hi = INFINITY if a.hi > 0.0 and b.hi > 0.0 else hi
    elif p.kind == PEAKED and 0.0 < hi < INFINITY:
        a.lo = a.lo * exp2(-1.4426950408889634 * p.p * ((hi - a.hi) / hi)) + b.lo * exp2(-1.4426950408889634 * p.p * ((hi - b.hi) / hi))
        a.hi = hi
    else:
        a.hi = hi
    return a


cdef partial folded(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """A chunk for which there is better than a sum."""
    cdef partial total, one
    cdef Py_ssize_t i
    total.hi = 0.0 if p.kind == VANISHING else largest(x, size)
    total.lo = 0.0
    total.exponent = 0.0
    one = total
    if p.kind == LARGEST:
        return total
    for i in range(size):
        one.hi = magnitude(x, i)
        one.lo = 1.0
        total = fold(total, one, p)
    return total


cdef inline partial plain_sum(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """The sum over a chunk as it comes, in range or not."""
    if p.kind == WHOLE:
        if p.whole == 1:
            return direct_sum(x, size, 1)
        if p.whole == 2:
            return direct_sum(x, size, 2)
        if p.whole == 3:
            return direct_sum(x, size, 3)
        if p.whole == 4:
            return direct_sum(x, size, 4)
    return raised_sum(x, size, p, 0.0)


cdef partial scaled_sum(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """The sum over a chunk, scaled so that its largest term is near 1; also where a NaN, an infinity or nothing but zeros shows."""
    cdef partial total
    cdef double scaled[CHUNK]
    cdef double first, second
    cdef int e
    cdef Py_ssize_t i
    total.hi = largest(x, size)
    total.lo = 0.0
    total.exponent = 0.0
    if total.hi == 0.0 or not isfinite(total.hi):
        return total
    if p.kind == ANY:
        # the same expression as in raise_any, so that the largest term comes out between 1 and 2 however coarse it is for a huge p
        if element is double:
            total.exponent = floor(p.p * log2_pair(total.hi).hi)
        else:
            total.exponent = floor(p.p * log2(total.hi))
        first = total.exponent
        total = raised_sum(x, size, p, first)
        total.exponent = first
        return total
    frexp(total.hi, &e)
    e -= 1
    if p.kind == HALVES:
        e -= e & 1  # so that e * p is an integer
    first = ldexp(1.0, -(e // 2))  # in two steps: 2^-e may leave the range of double
    second = ldexp(1.0, -(e - e // 2))
    for i in range(size):
        scaled[i] = magnitude(x, i) * first * second
    total = plain_sum(<const double*>scaled, size, p)
    total.exponent = e * p.p
    return total


cdef inline partial chunk_sum(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """The sum of |x|^p over a chunk."""
    cdef partial total
    if p.kind >= LARGEST:
        return folded(x, size, p)
    total = plain_sum(x, size, p)
    if LOWEST <= total.hi <= HIGHEST:
        return total
    return scaled_sum(x, size, p)


# --- chunks to planes ----------------------------------------------------------------------------------------------------------------


cdef inline double shifted(double x, double exponent) noexcept nogil:
    """x * 2^exponent for an exponent <= 0 of any size."""
    return ldexp(x, <int>(exponent if exponent > -5000.0 else -5000.0))


cdef inline partial add(partial a, partial b, power p) noexcept nogil:
    """a + b."""
    cdef pair s
    if p.kind >= LARGEST:
        return fold(a, b, p)
    if a.hi == 0.0:
        return b
    if b.hi == 0.0:
        return a
    if not (isfinite(a.hi) and isfinite(b.hi)):
        a.hi += b.hi
        a.lo = 0.0
        return a
    if a.exponent < b.exponent:
        a.hi = shifted(a.hi, a.exponent - b.exponent)
        a.lo = shifted(a.lo, a.exponent - b.exponent)
        a.exponent = b.exponent
    elif b.exponent < a.exponent:
        b.hi = shifted(b.hi, b.exponent - a.exponent)
        b.lo = shifted(b.lo, b.exponent - a.exponent)
    s = two_sum(a.hi, b.hi)
    a.hi = s.hi
    a.lo += b.lo + s.lo
    return a


cdef inline double root(partial s, power p) noexcept nogil:
    """s^(1/p)."""
    cdef pair t, u
    cdef double scale, outside = 0.0
    if p.kind == LARGEST or p.kind == VANISHING or s.hi == 0.0 or not isfinite(s.hi):
        return s.hi
    if p.kind == PEAKED:
        return s.hi + s.hi * (log2(s.lo) * 0.6931471805599453 / p.p)
    if p.kind == WHOLE and p.whole == 1:
        return ldexp(s.hi + s.lo, <int>s.exponent)
    if p.kind == WHOLE and p.whole == 2:
        return ldexp(sqrt(s.hi + s.lo), <int>(s.exponent * 0.5))
    u = log2_pair(s.hi)
    t = two_sum(s.exponent, u.hi)
    t.lo += u.lo + s.lo / s.hi * 1.4426950408889634
    u.hi = t.hi / p.p
    u.lo = (fma(-u.hi, p.p, t.hi) + t.lo) / p.p
    if u.hi > 1030.0:
        return INFINITY
    if u.hi < -1100.0:
        return 0.0
    if u.hi > 1000.0:
        outside = 512.0
    elif u.hi < -1000.0:
        outside = -512.0
    u.hi -= outside
    u = exp2_pair(u, &scale)
    return ldexp((u.hi + u.lo) * scale, <int>outside)


cdef inline power power_of(double p, Py_ssize_t size, bint paired) noexcept nogil:
    """How to raise to p > 0. What takes whole powers is bounded so that the scaled sum cannot overflow."""
    cdef power result
    result.p = p
    result.whole = 0
    if p == INFINITY or size == 1:  # one element is its own norm, to the bit
        result.kind = LARGEST
    elif p > 1e12:
        result.kind = PEAKED
    elif p < 1.0 / 2100.0:
        result.kind = VANISHING  # 2^(1/p) exceeds the ratio of any two doubles
    elif p <= 64.0 and p == floor(p):
        result.kind = WHOLE
        result.whole = <int>p
    elif p <= 16.5 and p - 0.5 == floor(p) and not (paired and p < 1.0):
        result.kind = HALVES  # p = 0.5 squares the error of the sum, so double takes the other way
        result.whole = <int>p
    else:
        result.kind = ANY
    return result


# --- planes to arrays ----------------------------------------------------------------------------------------------------------------

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
        for i in range(run):
            for k in range(count):
                buffer[k * PITCH + done + i] = x[offset + i * step + k * at.stride_c]
        done += run


cdef void planes_part(
    const element* x, layout at, Py_ssize_t count, Py_ssize_t first, Py_ssize_t last, power p, element* buffer, partial* totals
) noexcept nogil:
    """The sums of ``count`` neighbouring planes over their elements first ... last; no buffer: they are contiguous."""
    cdef Py_ssize_t k, start, size
    for k in range(count):
        totals[k].hi = 0.0
        totals[k].lo = 0.0
        totals[k].exponent = 0.0
    if buffer == NULL:
        for k in range(count):
            start = first
            while start < last:
                totals[k] = add(totals[k], chunk_sum(x + k * at.stride_c + start, min(CHUNK, last - start), p), p)
                start += CHUNK
    else:
        start = first
        while start < last:
            size = min(CHUNK, last - start)
            gather(x, at, count, start, size, buffer)
            for k in range(count):
                totals[k] = add(totals[k], chunk_sum(<const element*>buffer + k * PITCH, size, p), p)
            start += CHUNK


# How the work is cut: an item is a part (a span of chunks) of a group of planes that lie together.
cdef struct cut:
    Py_ssize_t together  # planes in a group
    Py_ssize_t groups  # of one image
    Py_ssize_t parts  # of one plane
    Py_ssize_t span  # elements in a part


cdef void work_item(
    const element* x, layout at, cut work, Py_ssize_t item, power p, element* buffer, partial* sums, element* y
) noexcept nogil:
    """One item: the finished norms go to ``y``; where planes have several parts, the sums go to ``sums`` (plane, part)."""
    cdef partial totals[GATHER]
    cdef Py_ssize_t part = item % work.parts
    cdef Py_ssize_t group = item // work.parts % work.groups
    cdef Py_ssize_t image = item // work.parts // work.groups
    cdef Py_ssize_t channel = group * work.together
    cdef Py_ssize_t count = min(work.together, at.channels - channel)
    cdef Py_ssize_t first = part * work.span
    cdef Py_ssize_t k, plane = image * at.channels + channel
    x += image * at.stride_n + channel * at.stride_c
    planes_part(x, at, count, first, min(first + work.span, at.size), p, buffer, totals)
    for k in range(count):
        if work.parts > 1:
            sums[(plane + k) * work.parts + part] = totals[k]
        else:
            store(y + plane + k, root(totals[k], p))


cdef void finish(Py_ssize_t plane, cut work, power p, const partial* sums, element* y) noexcept nogil:
    """The norm of a plane whose parts are all summed."""
    cdef partial total = sums[plane * work.parts]
    cdef Py_ssize_t part
    for part in range(1, work.parts):
        total = add(total, sums[plane * work.parts + part], p)
    store(y + plane, root(total, p))


cdef int norms(const element* x, layout at, bint dense, double exponent, element* y, int threads) except -1 nogil:
    """Every plane's norm, y contiguous. Threads share out groups of planes; where those are too few, parts of planes."""
    cdef power p = power_of(exponent, at.size, element is double)
    cdef cut work
    cdef Py_ssize_t item, chunks = (at.size + CHUNK - 1) // CHUNK
    cdef partial* sums = NULL
    cdef element* buffers = NULL
    work.together = 1
    if dense:
        work.together = min(GATHER, max(1, at.channels // (4 * threads)))
    elif llabs(at.stride_c) < llabs(at.strides[at.ndim - 1]):
        work.together = min(GATHER, at.channels)
    work.groups = (at.channels + work.together - 1) // work.together
    work.parts = chunks if threads > 1 and at.images * work.groups < 4 * threads else 1
    work.span = CHUNK if work.parts > 1 else at.size
    if work.parts > 1:
        sums = <partial*>malloc(at.images * at.channels * work.parts * sizeof(partial))
    if not dense:
        buffers = <element*>malloc(threads * work.together * PITCH * sizeof(element))
    if (sums == NULL and work.parts > 1) or (buffers == NULL and not dense):
        free(sums)
        free(buffers)
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    for item in prange(at.images * work.groups * work.parts, num_threads=threads, schedule="static"):
        work_item(x, at, work, item, p, NULL if dense else buffers + threadid() * work.together * PITCH, sums, y)
    if work.parts > 1:
        for item in prange(at.images * at.channels, num_threads=threads, schedule="static"):
            finish(item, work, p, sums, y)
    free(sums)
    free(buffers)
    return 0


def rows(const element[:, ::1] x, double p, element[::1] y, int threads):
    """y[i] = the p-norm of row i, 0 < p <= infinity; no axis empty."""
    cdef layout at
    at.images = 1
    at.channels = x.shape[0]
    at.stride_n = 0
    at.stride_c = at.size = x.shape[1]
    at.ndim = 0
    at.shape = at.strides = NULL
    check(p, y.shape[0] == x.shape[0] and x.shape[0] > 0 and x.shape[1] > 0, threads)
    with nogil:
        norms(&x[0, 0], at, True, p, &y[0], threads)


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
