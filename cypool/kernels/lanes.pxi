# Sums of powers over a chunk of a plane, lane by lane, and what all these sums are made of.
#
# The promises are kept here and in range.pxi (docs/kernels.md has the reasoning):
#
# Same bits everywhere. The order of all additions follows from the position in the plane alone. A plane is cut into chunks of CHUNK
# elements; in a chunk, element i belongs to lane i % LANES, and the lanes are added as a tree; chunks are added in their order. CPU levels
# differ in how many lanes an instruction holds and how chunks are batched, neither of which changes what is added to what.
#
# Accuracy. For types narrower than double the terms of p = 1 and 2 are exact in double, and 29 spare bits absorb the rest. For double
# itself lanes are pairs (a sum and the error of it) and TREE rows of them are added before they go there, so that only the term and this
# tree round. Chunks are always added as pairs.

from libc.math cimport INFINITY, NAN, floor, frexp, isfinite, ldexp

from .floats cimport element, magnitude, store
from .powers cimport exp2, exp2_pairs, log2, log2_pairs, pair, pairs, two_sum, two_sums
from .terms cimport (
    ANY, HALVES, LARGEST, PEAKED, VANISHING, WHOLE, Far, First, Fourth, Rooting, Second, Squaring, Third, any_logarithm,
    any_power, power, root_pairs, raised_floats, raised_vector, way
)
from .vectors cimport (
    WIDTH, absolute, between, every_other, first, floats, fused, larger_of, largest_of, load, load_double, load_floats, load_part,
    narrow, plus, plus_square, power_of_two, put, splat, square_root, vector, wide, will_read
)

cdef enum:
    LANES = 16
    DOWN = LANES // 2  # lanes that a chunk is put down with
    SIDE = 256  # planes summed side by side at most
    ABREAST = SIDE // WIDTH
    TREE = 8
    CHUNK = 4096
    ROWS = 32  # chunks summed together at most, each a row of lanes
    SCALED = CHUNK + WIDTH
    NEAR = CHUNK // 2  # scaled elements of short rows that are kept together
    OCTAVES = 900  # of the range, up and down
    CHUNK_OCTAVES = 12
    VECTORS = LANES // WIDTH
    STEP = 4 * VECTORS  # vectors that are raised to any power together
    MIXED = 4  # channels that lie mixed and are summed as they lie, at most
    MIXED_VECTORS = MIXED * VECTORS
    MIXED_DOWN = MIXED * DOWN
    PUT_DOWN = ROWS * DOWN
    PUT_DOWN_HALF = PUT_DOWN // 2

cdef extern from *:
    """
    /* Whatever is called ``inline`` here is: what compilers make of the word turns with every change elsewhere, and takes up to half as
     * long again. So the loops and what stands in them are called that, and nothing else is. Helpers of Cython's own are, too. */
    #if defined(__GNUC__)
      #undef CYTHON_INLINE
      #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    #define CYPOOL_LOWEST 0x1p-900
    #define CYPOOL_LOWEST_ROOTS 0x1p-16
    #define CYPOOL_HIGHEST 0x1p900
    #define CYPOOL_NEAREST 0x1.8p52
    """
    # Between them, no term that counts has been lost to underflow, nor can as many chunks as there are overflow.
    const double LOWEST "CYPOOL_LOWEST"
    const double LOWEST_ROOTS "CYPOOL_LOWEST_ROOTS"
    const double HIGHEST "CYPOOL_HIGHEST"
    const double NEAREST "CYPOOL_NEAREST"  # added to a number and taken off again, it leaves the nearest integer

# (hi + lo) * 2^exponent; the exponent is a double because p times a binary exponent may exceed every integer type.
cdef struct partial:
    double hi
    double lo
    double exponent

# Sums in range, each hi + lo.
cdef struct sums:
    double hi[SIDE]
    double lo[SIDE]

# The lanes of up to ROWS chunks, DOWN of each, one after the other. ``lo`` is used where lanes are pairs.
cdef struct lanes:
    double hi[PUT_DOWN]
    double lo[PUT_DOWN]


# How many channels lie mixed in a row (channels last, of pictures): element i of such a row belongs to channel i % many, and its lanes are
# ``many`` times as many. Types of their own for the same reason that ways are.
cdef struct Single:
    int unused

cdef struct Triple:
    int unused

cdef struct Quadruple:
    int unused

ctypedef fused mixture:
    Single
    Triple
    Quadruple


cdef inline int many(const mixture* mixed) noexcept nogil:
    if mixture is Single:
        return 1
    elif mixture is Triple:
        return 3
    else:
        return 4


cdef inline void accumulate(vector s, vector* hi, vector* lo, bint paired) noexcept nogil:
    """Add to lanes; paired: with the error of the sum, as two_sum has it."""
    cdef vector total = hi[0] + s
    cdef vector part
    if paired:
        part = total - hi[0]
        lo[0] = lo[0] + ((hi[0] - (total - part)) + (s - part))
    hi[0] = total


cdef inline vector term(vector x, const way* how) noexcept nogil:
    """|x|^p for WIDTH doubles."""
    if way is Second or way is Fourth or way is Far:
        return raised_vector(x, how)
    else:
        return raised_vector(absolute(x), how)


cdef inline vector plus_terms(vector total, const narrow* x, int count, const way* how) noexcept nogil:
    """total + |x|^p for the first ``count`` <= WIDTH elements narrower than double, whose squares are exact."""
    cdef floats f = load_floats(x, count)
    if way is Second:
        return plus_square(total, wide(f))
    elif way is First:
        return plus(total, raised_floats(f, how))
    else:
        return total + raised_floats(f, how)


cdef inline void narrow_lanes(const narrow* x, Py_ssize_t size, const way* how, const mixture* mixed, double* down) noexcept nogil:
    """The lanes of a chunk, its elements added as they come."""
    cdef vector hi[MIXED_VECTORS]
    cdef Py_ssize_t i = 0
    cdef int v
    for v in range(VECTORS * many(mixed)):
        hi[v] = splat(0.0)
    while i + LANES * many(mixed) <= size:
        for v in range(VECTORS * many(mixed)):
            hi[v] = plus_terms(hi[v], x + i + v * WIDTH, WIDTH, how)
        i += LANES * many(mixed)
    for v in range(VECTORS * many(mixed)):
        if i + WIDTH <= size:
            hi[v] = plus_terms(hi[v], x + i, WIDTH, how)
        elif i < size:
            hi[v] = plus_terms(hi[v], x + i, <int>(size - i), how)
        i += WIDTH
    put_down(hi, hi, False, mixed, down, down)


# Rows of lanes, ``row`` apart, added as a tree.
cdef inline vector two_rows(const element* x, Py_ssize_t row, const way* how) noexcept nogil:
    return term(load(x), how) + term(load(x + row), how)


cdef inline vector four_rows(const element* x, Py_ssize_t row, const way* how) noexcept nogil:
    return two_rows(x, row, how) + two_rows(x + 2 * row, row, how)


cdef inline vector eight_rows(const element* x, Py_ssize_t row, const way* how) noexcept nogil:
    return four_rows(x, row, how) + four_rows(x + 4 * row, row, how)


cdef inline void paired_lanes(
    const element* x, Py_ssize_t size, const way* how, const mixture* mixed, double* down_hi, double* down_lo
) noexcept nogil:
    """The lanes of a chunk as pairs, to which elements come TREE rows at a time; what is left over together."""
    cdef vector hi[MIXED_VECTORS]
    cdef vector lo[MIXED_VECTORS]
    cdef vector s[MIXED_VECTORS]
    cdef Py_ssize_t row = LANES * many(mixed), whole = size - size % (TREE * row), i = 0
    cdef int v, k
    if mixture is Single and whole == 0:
        short_lanes(x, size, how, down_hi, down_lo)
        return
    for v in range(VECTORS * many(mixed)):
        hi[v] = splat(0.0)
        lo[v] = splat(0.0)
    while i < whole:
        for v in range(VECTORS * many(mixed)):
            if mixture is not Single:  # rows so far apart are no stream to the processor
                for k in range(TREE):
                    will_read(x + i + 2 * TREE * row + (v * TREE + k) * WIDTH)
            accumulate(eight_rows(x + i + v * WIDTH, row, how), &hi[v], &lo[v], True)
        i += TREE * row
    if whole < size:
        for v in range(VECTORS * many(mixed)):
            s[v] = last_rows(x + whole + v * WIDTH, size - whole, v * WIDTH, row, how)
        for v in range(VECTORS * many(mixed)):
            accumulate(s[v], &hi[v], &lo[v], True)
    put_down(hi, lo, True, mixed, down_hi, down_lo)


cdef inline void short_lanes(const element* x, Py_ssize_t size, const way* how, double* down_hi, double* down_lo) noexcept nogil:
    """The same for less than TREE rows of lanes, which is nothing but what is left over."""
    cdef pairs t
    cdef int v, i
    for v in range(VECTORS // 2):
        i = v * WIDTH
        t = two_sums(last_rows(x + i, size, i, LANES, how), last_rows(x + i + DOWN, size, i + DOWN, LANES, how))
        put(down_hi + i, t.hi)
        put(down_lo + i, t.lo)


cdef inline vector last_rows(const element* x, Py_ssize_t size, Py_ssize_t before, Py_ssize_t row, const way* how) noexcept nogil:
    """A vector of each of the rows in ``size`` < TREE rows of elements, added as a tree: 4, 2, 1 and a part of one, of which ``before``
    elements come before this vector's."""
    cdef Py_ssize_t rows = size // row, left = size % row - before
    cdef vector s = splat(0.0)
    if left >= WIDTH:
        s = term(load(x + rows * row), how)
    elif left > 0:
        s = term(load_part(x + rows * row, <int>left), how)
    if rows & 1:
        s = term(load(x + (rows - 1) * row), how) + s
    if rows & 2:
        s = two_rows(x + (rows & 4) * row, row, how) + s
    if rows & 4:
        s = four_rows(x, row, how) + s
    return s


cdef inline void put_down(
    vector* hi, vector* lo, bint paired, const mixture* mixed, double* down_hi, double* down_lo
) noexcept nogil:
    """Add the upper half of the lanes to the lower, and put it down, one channel after the other."""
    cdef double high[MIXED_DOWN]
    cdef double low[MIXED_DOWN]
    cdef int v, k, l, half = VECTORS * many(mixed) // 2
    for v in range(half):
        if paired:
            lo[v] = lo[v] + lo[v + half]
        accumulate(hi[v + half], &hi[v], &lo[v], paired)
        put(down_hi + v * WIDTH if mixture is Single else high + v * WIDTH, hi[v])
        if paired:
            put(down_lo + v * WIDTH if mixture is Single else low + v * WIDTH, lo[v])
    if mixture is not Single:
        for k in range(many(mixed)):
            for l in range(DOWN):
                down_hi[k * DOWN + l] = high[l * many(mixed) + k]
                if paired:
                    down_lo[k * DOWN + l] = low[l * many(mixed) + k]


cdef void any_lanes(
    const element* x, Py_ssize_t size, double p, double exponent, double* down_hi, double* down_lo
) noexcept nogil:
    """The lanes of a chunk for any p, of terms times 2^-exponent. A term takes so long that lanes may as well stay in memory."""
    cdef bint paired = element is double
    cdef Single single
    cdef vector hi[VECTORS]
    cdef vector lo[VECTORS]
    cdef vector a[STEP]
    cdef pairs u[STEP]
    cdef pairs t
    cdef bint roots = paired and p == 0.5
    cdef Py_ssize_t i = 0, left
    cdef int v, k, steps
    for v in range(VECTORS):
        hi[v] = splat(0.0)
        lo[v] = splat(0.0)
    while i < size:
        steps = min(STEP, (size - i + WIDTH - 1) // WIDTH)
        for k in range(steps):
            left = size - i - k * WIDTH
            a[k] = absolute(load(x + i + k * WIDTH) if left >= WIDTH else load_part(x + i + k * WIDTH, <int>left))
            u[k] = root_pairs(a[k]) if roots else any_logarithm(a[k], p, exponent, paired)
        for k in range(steps):
            v = k % VECTORS
            t = u[k] if roots else any_power(a[k], u[k], paired)
            accumulate(t.hi, &hi[v], &lo[v], paired)
            if paired:
                lo[v] = lo[v] + t.lo
        i += STEP * WIDTH
    put_down(hi, lo, paired, &single, down_hi, down_lo)


cdef inline void halve(const double* hi, const double* lo, double* sum_hi, double* sum_lo, Py_ssize_t size, bint paired) noexcept nogil:
    """Add neighbours: 2 * size lanes become size; what fills up the last vector is of no account."""
    cdef Py_ssize_t j = 0
    cdef pairs t
    while j < size:
        t = two_sums(every_other(hi + 2 * j, 0), every_other(hi + 2 * j, 1))
        put(sum_hi + j, t.hi)
        if paired:
            put(sum_lo + j, every_other(lo + 2 * j, 0) + every_other(lo + 2 * j, 1) + t.lo)
        else:
            put(sum_lo + j, splat(0.0))
        j += WIDTH


cdef inline void total_lanes(lanes* all, Py_ssize_t count, bint paired, sums* totals) noexcept nogil:
    """The lanes of each chunk, added as a tree."""
    cdef double hi[PUT_DOWN_HALF]
    cdef double lo[PUT_DOWN_HALF]
    halve(all.hi, all.lo, hi, lo, count * 4, paired)
    halve(hi, lo, all.hi, all.lo, count * 2, paired)
    halve(all.hi, all.lo, totals.hi, totals.lo, count, paired)
