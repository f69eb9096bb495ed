"""The mean of every window of every plane of an array, as if computed exactly and rounded once.

A row of outputs sums rows of the plane, column by column, then columns of that sum, in double. A test
tells from the largest magnitude in these rows which outputs are right. The others, where terms cancel,
are summed again with the errors of all additions, and if that does not do, as integers (``exact.pxd``).
docs/kernels.md has the proof.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, NAN, fabs, isfinite, ldexp
from libc.stdlib cimport free, malloc

from .exact cimport accumulate_exactly, accumulator, clear, quotient, rounded_sum, scaled
from .floats cimport element, float16, signed_value, store_signed
from .powers cimport pair, two_sum
from .windows cimport AXES, axis, inside, padded_taps, sound, span, start_of

cdef enum:
    SPAN = 4096  # columns that a row of sums holds
    BLOCK = 512  # outputs of a row that are tested together, at most
    LONGEST = 1 << 24  # additions on the way of a term, above which outputs are summed one at a time

# What is summed: planes as in ``lp``, one axis record and one stride for each of their axes.
cdef struct problem:
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    int ndim
    const axis* axes
    const Py_ssize_t* strides
    bint padding  # counts
    Py_ssize_t rows  # of outputs in a plane
    Py_ssize_t columns  # of outputs in a row
    Py_ssize_t block  # outputs of a row that are summed together; 0 if each is by itself
    Py_ssize_t blocks  # in a row
    double limit  # times the largest magnitude: what a sum of terms of both signs has to reach
    double largest  # magnitude with which no sum overflows

# The rows of a plane that a row of outputs sums, and the numbers that go with them.
cdef struct bundle:
    span spans[AXES]  # of all axes but the last
    bint rotated  # the first row of the last but one axis comes last
    bint empty
    double inner  # rows inside the plane
    double outer  # rows inside the padded plane


cdef struct scratch:
    double hi[SPAN]
    double lo[SPAN]
    double divisor[BLOCK]


cdef struct extremes:
    double most  # finite magnitude
    bint negative
    bint positive


cdef inline bint sign_of(double x) noexcept nogil:
    return x < 0.0 or (x == 0.0 and 1.0 / x < 0.0)


# --- one output at a time ----------------------------------------------------------------------------------------------------------------


# The elements of a window, in row-major order.
cdef struct walk:
    span spans[AXES]
    Py_ssize_t steps[AXES]
    Py_ssize_t at[AXES]
    Py_ssize_t offset
    int ndim


cdef inline bint next_element(walk* w) noexcept nogil:
    """Go to the next element; return whether there is one."""
    cdef int a = w.ndim - 1
    while a >= 0:
        w.at[a] += 1
        w.offset += w.steps[a]
        if w.at[a] < w.spans[a].taps:
            return True
        w.offset -= w.at[a] * w.steps[a]
        w.at[a] = 0
        a -= 1
    return False


cdef double exact_mean(const element* x, const problem* p, const bundle* rows, Py_ssize_t column) noexcept nogil:
    """The mean of one window by sums whose errors are summed as well, or by integers."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef walk w
    cdef accumulator total
    cdef scaled s
    cdef pair sum
    cdef double count, outer, value, hi = -0.0, lo = 0.0, most = 0.0, mean
    cdef bint negative = False, positive = False, right, exact = True, plus_infinity = False, minus_infinity = False
    cdef int a
    w.ndim = p.ndim
    w.offset = 0
    count = rows.inner
    for a in range(p.ndim):
        w.spans[a] = rows.spans[a] if a < p.ndim - 1 else inside(last, column)
        w.steps[a] = p.axes[a].dilation * p.strides[a] if w.spans[a].taps > 1 else 0
        w.offset += w.spans[a].position * p.strides[a]
        w.at[a] = 0
    count *= w.spans[p.ndim - 1].taps
    outer = rows.outer * padded_taps(last, column)
    if count == 0.0:
        return 0.0 if p.padding and outer > 0.0 else NAN
    while True:
        value = signed_value(x, w.offset)
        if value != value:
            return NAN
        if isfinite(value):
            if sign_of(value):
                negative = True
            else:
                positive = True
            most = max(most, fabs(value))
            sum = two_sum(hi, value)
            hi = sum.hi
            lo += sum.lo
            exact = exact and sum.lo == 0.0
        elif value > 0.0:
            plus_infinity = True
        else:
            minus_infinity = True
        if not next_element(&w):
            break
    if plus_infinity or minus_infinity:
        return NAN if plus_infinity and minus_infinity else INFINITY if plus_infinity else -INFINITY
    if most == 0.0:
        return 0.0 if positive or (p.padding and outer > count) else -0.0
    s.exponent = 0
    s.hi = hi
    s.lo = lo
    if negative and positive:
        right = fabs(hi + lo) >= count * count * count * most * 1.1102230246251565e-16  # 2^-53
    else:
        right = count <= 33554432.0  # 2^25
    if not (most < p.largest and (exact or right)):
        clear(&total)
        while True:
            accumulate_exactly(&total, signed_value(x, w.offset))
            if not next_element(&w):
                break
        s = rounded_sum(&total)
    if p.padding:
        count = outer
    mean = quotient(s.hi, s.lo, count) if element is double else (s.hi + s.lo if s.lo != 0.0 else s.hi) * (1.0 / count)
    return ldexp(mean, s.exponent) if s.exponent else mean


# --- rows of outputs ---------------------------------------------------------------------------------------------------------------------


cdef inline bundle rows_of(const problem* p, Py_ssize_t row) noexcept nogil:
    """The rows that output row ``row`` of a plane sums."""
    cdef bundle result
    cdef const axis* along
    cdef Py_ssize_t window
    cdef int a = p.ndim - 2
    result.inner = result.outer = 1.0
    result.rotated = False
    while a >= 0:
        along = &p.axes[a]
        window = row % along.count
        row //= along.count
        result.spans[a] = inside(along, window)
        if a == p.ndim - 2:
            result.rotated = window % 2 == 0 and start_of(along, window) >= 0
        result.inner *= result.spans[a].taps
        result.outer *= padded_taps(along, window)
        a -= 1
    result.empty = result.inner == 0.0
    return result


cdef inline void fold_row(
    const element* x, Py_ssize_t step, Py_ssize_t size, double* hi, double* lo, extremes* found
) noexcept nogil:
    """Add a row to the sums of columns."""
    cdef double value, most = found.most
    cdef bint negative = found.negative, positive = found.positive
    cdef Py_ssize_t j
    cdef pair s
    for j in range(size):
        value = signed_value(x, j * step)
        if element is double:
            s = two_sum(hi[j], value)
            hi[j] = s.hi
            lo[j] += s.lo
        else:
            hi[j] += value
        if fabs(value) < INFINITY and fabs(value) > most:
            most = fabs(value)
        if sign_of(value):
            negative = True
        else:
            positive = True
    found.most = most
    found.negative = negative
    found.positive = positive


cdef extremes fold_rows(
    const element* x, const problem* p, const bundle* rows, Py_ssize_t size, double* hi, double* lo
) noexcept nogil:
    """Add all rows, the last but one axis being the slowest, and that one rotated where ``rows`` says so."""
    cdef Py_ssize_t at[AXES]
    cdef Py_ssize_t step = p.strides[p.ndim - 1], offset, k, i, lead = p.ndim - 2
    cdef extremes found
    cdef int a
    found.most = 0.0
    found.negative = found.positive = False
    if rows.empty:
        return found
    if lead < 0:
        fold_row(x, step, size, hi, lo, &found)
        return found
    for a in range(p.ndim):
        at[a] = 0
    for k in range(rows.spans[lead].taps):
        i = (k + 1) % rows.spans[lead].taps if rows.rotated else k
        while True:
            offset = (rows.spans[lead].position + i * p.axes[lead].dilation) * p.strides[lead]
            for a in range(lead):
                offset += (rows.spans[a].position + at[a] * p.axes[a].dilation) * p.strides[a]
            fold_row(x + offset, step, size, hi, lo, &found)
            a = <int>lead - 1
            while a >= 0:
                at[a] += 1
                if at[a] < rows.spans[a].taps:
                    break
                at[a] = 0
                a -= 1
            if a < 0:
                break
    return found


cdef void clear_sums(const problem* p, const bundle* rows, Py_ssize_t start, Py_ssize_t size, double* hi, double* lo) noexcept nogil:
    """Set sums of columns to zero: +0.0 where padding counts, else -0.0, which adds nothing at all."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t j
    cdef bint padding
    for j in range(size):
        padding = (
            p.padding and last.first <= start + j < last.padded and rows.outer > 0.0
            and (rows.outer > rows.inner or not 0 <= start + j < last.size)
        )
        hi[j] = 0.0 if padding else -0.0
        lo[j] = 0.0


cdef void row_means(
    const element* x, const problem* p, const bundle* rows, Py_ssize_t first, Py_ssize_t count, scratch* s, element* y
) noexcept nogil:
    """A block of a row of outputs."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t taps = last.taps, dilation = last.dilation if taps > 1 else 0, stride = last.stride if last.count > 1 else 0
    cdef Py_ssize_t start = start_of(last, first), size = (count - 1) * stride + (taps - 1) * dilation + 1
    cdef Py_ssize_t left = max(0, -start), right = min(size, last.size - start), o, k
    cdef extremes found
    cdef pair sum
    cdef double hi, lo, total, least
    clear_sums(p, rows, start, size, s.hi, s.lo)
    found.most = 0.0
    found.negative = found.positive = False
    if left < right:
        found = fold_rows(
            x + (start + left) * p.strides[p.ndim - 1], p, rows, right - left, s.hi + left, s.lo + left
        )
    least = p.limit * found.most if found.negative and found.positive else -1.0
    if found.most >= p.largest:
        least = NAN
    for o in range(count):
        s.divisor[o] = rows.outer * padded_taps(last, first + o) if p.padding else rows.inner * inside(last, first + o).taps
        if s.divisor[o] == 0.0:
            s.divisor[o] = NAN
    for o in range(count):
        hi = s.hi[o * stride]
        lo = s.lo[o * stride]
        for k in range(1, taps):
            if element is double:
                sum = two_sum(hi, s.hi[o * stride + k * dilation])
                hi = sum.hi
                lo += sum.lo + s.lo[o * stride + k * dilation]
            else:
                hi += s.hi[o * stride + k * dilation]
        if element is double:
            total = hi + lo if lo != 0.0 else hi
        else:
            total = hi
        if not fabs(total) >= least:
            store_signed(y + o, exact_mean(x, p, rows, first + o))
        elif element is double:
            store_signed(y + o, quotient(hi, lo, s.divisor[o]) if total != 0.0 else total / s.divisor[o])
        else:
            store_signed(y + o, total * (1.0 / s.divisor[o]))


# --- planes ------------------------------------------------------------------------------------------------------------------------------


cdef void some_rows(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t last, scratch* s, element* y
) noexcept nogil:
    """Do the units of work from ``unit`` to ``last``: rows of outputs, the next block of columns, the next plane."""
    cdef const element* plane
    cdef Py_ssize_t row, block, n, first, count, o
    cdef element* out
    cdef bundle rows
    while unit < last:
        row = unit % p.rows
        block = unit // p.rows % p.blocks
        n = unit // p.rows // p.blocks
        plane = x + n // p.channels * p.stride_n + n % p.channels * p.stride_c
        out = y + (n * p.rows + row) * p.columns
        rows = rows_of(p, row)
        if p.block:
            first = block * p.block
            row_means(plane, p, &rows, first, min(p.block, p.columns - first), s, out + first)
        else:
            first = block * BLOCK
            count = min(<Py_ssize_t>BLOCK, p.columns - first)
            for o in range(first, first + count):
                store_signed(out + o, exact_mean(plane, p, &rows, o))
        unit += 1


cdef inline double fewer(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return <double>min(a, b)


cdef void plan(problem* p, const axis* axes, int ndim, bint padding, double unit, bint paired, bint exact) noexcept nogil:
    """Say how to sum, from axes alone; ``exact`` for a type whose sums of 2^13 elements are."""
    cdef const axis* last = &axes[ndim - 1]
    cdef double rows = 1.0, columns = fewer(last.taps, last.size), roundings
    cdef Py_ssize_t reach, stride = last.stride if last.count > 1 else 1
    cdef int a
    p.axes = axes
    p.ndim = ndim
    p.padding = padding
    p.rows = 1
    for a in range(ndim - 1):
        p.rows *= axes[a].count
        rows *= fewer(axes[a].taps, axes[a].size)
    p.columns = last.count
    p.block = 0
    roundings = rows + 2.0 * columns
    if last.taps <= SPAN and last.dilation <= SPAN or last.taps == 1:
        reach = (last.taps - 1) * last.dilation + 1 if last.taps > 1 else 1
        if reach <= SPAN and stride <= 8 * reach and roundings <= LONGEST:
            p.block = min(<Py_ssize_t>BLOCK, (SPAN - reach) // stride + 1)
    p.blocks = (p.columns + (p.block or BLOCK) - 1) // (p.block or BLOCK)
    p.limit = (roundings * roundings if paired else roundings) * rows * columns * unit
    if exact and rows * columns <= 8192.0:
        p.limit = 0.0
    p.largest = 8.98846567431158e307 / (2.0 * rows * columns + 2.0) if paired else INFINITY


def window_mean(
    const element[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, element[::1] y,
    bint include_padding, int threads,
):
    """Write the means of all windows to y, in row-major order of (n, c, windows).

    A mean is the sum of the elements inside by their number, or, if padding is included, by the number of
    positions inside the padded plane; NaN where that number is 0. ``x`` holds the first element of each
    plane, ``strides`` (in elements) the way from there along each axis, ``axes`` a row of seven numbers an
    axis (windows.pxd). If a size is 0, x is not read.
    """
    cdef problem p
    cdef scratch* s
    cdef Py_ssize_t units, part, parts = threads, outputs
    cdef int ndim = <int>axes.shape[0]
    cdef const element* start
    cdef element* out
    if not (ndim > 0 and axes.shape[1] == 7 and strides.shape[0] == ndim and threads > 0 and sound(<const axis*>&axes[0, 0], ndim)):
        raise ValueError("window_mean: axes, strides or threads out of range")
    plan(
        &p, <const axis*>&axes[0, 0], ndim, include_padding, 1.1102230246251565e-16 if element is double else 7.450580596923828e-09,
        element is double, element is float16,
    )
    p.strides = &strides[0]
    p.channels = x.shape[1]
    p.stride_n = x.strides[0] // <Py_ssize_t>sizeof(element)
    p.stride_c = x.strides[1] // <Py_ssize_t>sizeof(element)
    units = x.shape[0] * x.shape[1] * p.rows * p.blocks
    outputs = x.shape[0] * x.shape[1] * p.rows * p.columns
    if y.shape[0] != outputs:
        raise ValueError("window_mean: the output has another size")
    if outputs == 0:
        return
    parts = min(<Py_ssize_t>threads, units)
    s = <scratch*>malloc(parts * sizeof(scratch))
    if s == NULL:
        raise MemoryError("no room for the kernel's scratch memory")
    start = &x[0, 0]
    out = &y[0]
    with nogil:
        if parts == 1:
            some_rows(start, &p, 0, units, s, out)
        else:
            for part in prange(parts, num_threads=<int>parts, schedule="static"):
                some_rows(start, &p, units * part // parts, units * (part + 1) // parts, s + part, out)
    free(s)
