# Sums of powers over a chunk of a plane, sums of chunks, and the root of the sum.
#
# Apart from ``lp``, which knows where planes lie, because the promises are kept here (docs/kernels.md has the reasoning):
#
# Same bits everywhere. The order of all additions follows from the position in the plane alone. A plane is cut into chunks of CHUNK
# elements; in a chunk, element i belongs to lane i % LANES, and the lanes are added as a tree; chunks are added in their order. CPU levels
# differ in how many lanes an instruction holds and how chunks are batched, neither of which changes what is added to what.
#
# Accuracy. For types narrower than double the terms of p = 1 and 2 are exact in double, and 29 spare bits absorb the rest. For double
# itself lanes are pairs (a sum and the error of it) and TREE rows of them are added before they go there, so that only the term and this
# tree round. Chunks are always added as pairs.
#
# Range. A chunk is summed as it is; if the sum leaves [LOWEST, HIGHEST] the chunk, still in cache, is summed again scaled by a power of
# two. So a sum is (hi + lo) * 2^exponent, and one row near overflow costs nothing to the others.

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


# --- lanes -------------------------------------------------------------------------------------------------------------------------------


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


# --- chunks ------------------------------------------------------------------------------------------------------------------------------


cdef inline double larger(double a, double b) noexcept nogil:
    """The larger one; NaN if either is NaN."""
    return a if a > b or a != a else b


cdef double largest(const element* x, Py_ssize_t size) noexcept nogil:
    """The largest |x| of a chunk; NaN if any is NaN."""
    cdef vector most = splat(0.0), next = splat(0.0)
    cdef Py_ssize_t i = 0
    while i + 2 * WIDTH <= size:
        most = larger_of(most, absolute(load(x + i)))
        next = larger_of(next, absolute(load(x + i + WIDTH)))
        i += 2 * WIDTH
    while i + WIDTH <= size:
        most = larger_of(most, absolute(load(x + i)))
        i += WIDTH
    if i < size:
        next = larger_of(next, absolute(load_part(x + i, <int>(size - i))))
    return largest_of(larger_of(most, next))


# For some p there is better than a sum, and hi and lo hold other things than its halves (their exponent stays 0):
#   LARGEST    hi the largest term so far;
#   PEAKED     the same, and lo how many there are, the others counting by what they are of it: (x / hi)^p, which is
#              exp(-p (hi - x) / hi) to within 2^-34 of what matters, as all but the nearest vanish;
#   VANISHING  hi the only term that is not zero, infinity if there are two.
cdef inline double weight(double distance, double p) noexcept nogil:
    """exp(-p * distance)."""
    return first(exp2(splat(-1.4426950408889634 * p * distance)))


cdef partial fold(partial a, partial b, power p) noexcept nogil:
    """What ``add`` is, for these."""
    cdef double hi = larger(a.hi, b.hi)
    if p.kind == VANISHING:
        a.hi = INFINITY if a.hi > 0.0 and b.hi > 0.0 else hi
    elif p.kind == PEAKED and 0.0 < hi < INFINITY:
        a.lo = a.lo * weight((hi - a.hi) / hi, p.p) + b.lo * weight((hi - b.hi) / hi, p.p)
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


cdef inline void rows_of_lanes(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, const way* how, lanes* all
) noexcept nogil:
    """The lanes of ``count`` chunks, ``pitch`` elements apart."""
    cdef Single single
    cdef Py_ssize_t k
    for k in range(count):
        if element is double:
            paired_lanes(x + k * pitch, size, how, &single, all.hi + k * DOWN, all.lo + k * DOWN)
        else:
            narrow_lanes(x + k * pitch, size, how, &single, all.hi + k * DOWN)


cdef void plain_sums(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, double exponent, sums* totals
) noexcept nogil:
    """The sums over ``count`` chunks, ``pitch`` elements apart, in range or not; for ANY of terms times 2^-exponent."""
    cdef lanes all
    cdef Py_ssize_t k
    if p.kind == ANY:
        for k in range(count):
            any_lanes(x + k * pitch, size, p.p, exponent, all.hi + k * DOWN, all.lo + k * DOWN)
    elif p.kind == WHOLE and p.whole == 1:
        rows_of_lanes(x, pitch, count, size, &p.first, &all)
    elif p.kind == WHOLE and p.whole == 2:
        rows_of_lanes(x, pitch, count, size, &p.second, &all)
    elif p.kind == WHOLE and p.whole == 3:
        rows_of_lanes(x, pitch, count, size, &p.third, &all)
    elif p.kind == WHOLE and p.whole == 4:
        rows_of_lanes(x, pitch, count, size, &p.fourth, &all)
    elif p.kind == WHOLE:
        rows_of_lanes(x, pitch, count, size, &p.squaring, &all)
    else:
        rows_of_lanes(x, pitch, count, size, &p.rooting, &all)
    total_lanes(&all, count, element is double, totals)


cdef inline double lowest(power p) noexcept nogil:
    """Above it, what is lost of terms does not count. Roots of floats below 2^-100 are off by up to 2^-74, CHUNK of them by 2^-62."""
    return LOWEST_ROOTS if p.kind == HALVES and p.whole == 0 else LOWEST


cdef inline bint in_range(double total, power p) noexcept nogil:
    return lowest(p) < total < HIGHEST


cdef inline bint all_between(sums* totals, Py_ssize_t count, pair limits) noexcept nogil:
    """Whether all sums are between lo and hi; those beyond ``count``, up to a whole vector, are made so."""
    cdef vector outside = splat(0.0)
    cdef double each[WIDTH]
    cdef double result = 0.0
    cdef Py_ssize_t k = count
    cdef int i
    while k % WIDTH:
        totals.hi[k] = totals.hi[0]
        totals.lo[k] = 0.0
        k += 1
    for i in range(<int>(k // WIDTH)):
        outside = outside + between(load_double(totals.hi + i * WIDTH), splat(limits.lo), splat(limits.hi), splat(0.0), splat(1.0))
    put(each, outside)
    for i in range(WIDTH):
        result += each[i]
    return result == 0.0


cdef inline double any_exponent(double most, power p, bint paired) noexcept nogil:
    """The exponent of most^p by the very expression that raises terms, so that the largest comes out between 1 and 2 however coarse
    that is for a huge p."""
    if paired:
        return floor(first(log2_pairs(splat(most)).hi * p.p))
    return floor(first(log2(splat(most)) * p.p))


cdef inline void scale(const element* x, Py_ssize_t size, vector by, double* y) noexcept nogil:
    """y = |x| * by; the last vector is filled up with zeros."""
    cdef Py_ssize_t i = 0
    while i + WIDTH <= size:
        put(y + i, absolute(load(x + i)) * by)
        i += WIDTH
    if i < size:
        put(y + i, absolute(load_part(x + i, <int>(size - i))) * by)


cdef void far_sums(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, int steps, sums* totals
) noexcept nogil:
    """The sums of (|x| * 2^(-steps * p.step))^p, p whole or halves, over ``count`` chunks, ``pitch`` elements apart."""
    cdef double scaled[SCALED]
    cdef lanes all
    cdef Far how
    cdef sums some
    cdef Py_ssize_t width = (size + WIDTH - 1) // WIDTH * WIDTH, done = 0, k, together
    cdef int e = steps * p.step, half = e // 2 if e > 1022 or e < -1022 else 0  # as 2^-e may leave the range of double
    if element is double and p.kind == WHOLE and p.whole <= 2 and half == 0:  # the common cases
        how.scale = ldexp(1.0, -e)
        how.square = p.whole == 2
        rows_of_lanes(x, pitch, count, size, &how, &all)
        total_lanes(&all, count, True, totals)
        return
    while done < count:
        together = min(count - done, max(1, NEAR // width))
        for k in range(together):
            scale(x + (done + k) * pitch, size, power_of_two(splat(half - e)), scaled + k * width)
            if half:
                scale(<const double*>scaled + k * width, size, power_of_two(splat(-half)), scaled + k * width)
        plain_sums(<const double*>scaled, width, together, size, p, 0.0, &some)
        for k in range(together):
            totals.hi[done + k] = some.hi[k]
            totals.lo[done + k] = some.lo[k]
        done += together


cdef int first_steps(double most, power p) noexcept nogil:
    """How many steps down (up where negative) a sum takes at least to come into the range, ``most`` being the largest |x|, up to CHUNK of
    which there are."""
    cdef int e
    cdef double over, under
    frexp(most, &e)
    over = p.p * (e - 1) - OCTAVES
    under = -p.p * e - OCTAVES - CHUNK_OCTAVES
    if over >= 0.0:
        return <int>(over / (p.p * p.step)) + 1
    return -(<int>(under / (p.p * p.step)) + 1) if under >= 0.0 else 0


cdef partial scaled_sum(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """The sum over a chunk whose plain sum is out of range: scaled by as few steps as bring it there; for ANY, so that the largest term is
    near 1. Where the largest is NaN, infinite or zero, it is the sum."""
    cdef sums some
    cdef partial total
    cdef int steps
    total.hi = largest(x, size)
    total.lo = 0.0
    total.exponent = 0.0
    if total.hi == 0.0 or not isfinite(total.hi):
        return total
    if p.kind == ANY:
        total.exponent = any_exponent(total.hi, p, element is double)
        plain_sums(x, 0, 1, size, p, total.exponent, &some)
    else:
        steps = first_steps(total.hi, p)
        far_sums(x, 0, 1, size, p, steps, &some)
        while not LOWEST < some.hi[0] < HIGHEST:
            steps += 1 if some.hi[0] > 1.0 else -1
            far_sums(x, 0, 1, size, p, steps, &some)
        total.exponent = steps * p.step * p.p
    total.hi = some.hi[0]
    total.lo = some.lo[0]
    return total


cdef partial settled(const element* x, Py_ssize_t size, power p, double hi, double lo) noexcept nogil:
    """From the plain sum over a chunk to the one that counts: the same, or a scaled one where it is out of range."""
    cdef partial total
    if not in_range(hi, p):
        return scaled_sum(x, size, p)
    total.hi = hi
    total.lo = lo
    total.exponent = 0.0
    return total


cdef void settle(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, const sums* plain, partial* totals
) noexcept nogil:
    """The same for chunks ``pitch`` elements apart."""
    cdef Py_ssize_t k
    for k in range(count):
        totals[k] = settled(x + k * pitch, size, p, plain.hi[k], plain.lo[k])


cdef int guess(const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p) noexcept nogil:
    """With how many steps to try first; mostly 0, which is for plain sums: for others, the first chunk, one in the middle and the last have
    to begin with elements that ask for it. What it says decides how long sums take, and nothing else."""
    cdef Py_ssize_t k
    cdef double most
    if p.kind >= ANY:
        return 0
    for k in range(3):
        most = magnitude(x, k * (count - 1) // 2 * pitch)
        if not 0.0 < most < INFINITY or first_steps(most, p) == 0:
            return 0
    most = largest(x, size)
    return first_steps(most, p) if most < INFINITY else 0


cdef inline pair sure(power p, int steps) noexcept nogil:
    """Between which numbers (lo and hi) a sum scaled by so many steps is in range, and proves that fewer would not do."""
    cdef pair limits
    limits.lo = ldexp(HIGHEST, 1 - <int>(p.step * p.p)) if steps > 0 else lowest(p)
    limits.hi = ldexp(LOWEST, <int>(p.step * p.p) - 1) if steps < 0 else HIGHEST
    return limits


cdef void far_settle(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, int steps, const sums* far, partial* totals
) noexcept nogil:
    """``settle`` from sums that were scaled: one that proves that the plain one is out of range, and that fewer steps would not do, is what
    counts, and if all do the plain ones need not be known."""
    cdef sums plain
    cdef pair limits = sure(p, steps)
    cdef bint known = False
    cdef Py_ssize_t k
    for k in range(count):
        totals[k].hi = far.hi[k]
        totals[k].lo = far.lo[k]
        totals[k].exponent = steps * p.step * p.p
        if not limits.lo < far.hi[k] < limits.hi:
            if not known:
                plain_sums(x, pitch, count, size, p, 0.0, &plain)
                known = True
            totals[k] = settled(x + k * pitch, size, p, plain.hi[k], plain.lo[k])


cdef void chunk_sums(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, partial* totals
) noexcept nogil:
    """The sums of |x|^p over up to ROWS chunks of one size <= CHUNK, ``pitch`` elements apart. A chunk is summed with a scale if its plain
    sum is out of range."""
    cdef sums some
    cdef int steps
    cdef Py_ssize_t k
    if p.kind >= LARGEST:
        for k in range(count):
            totals[k] = folded(x + k * pitch, size, p)
        return
    steps = guess(x, pitch, count, size, p)
    if steps == 0:
        plain_sums(x, pitch, count, size, p, 0.0, &some)
        settle(x, pitch, count, size, p, &some, totals)
    else:
        far_sums(x, pitch, count, size, p, steps, &some)
        far_settle(x, pitch, count, size, p, steps, &some, totals)


cdef void chunk_norms(const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, element* y) noexcept nogil:
    """The norms of up to ROWS planes of a single chunk: ``chunk_sums`` and ``roots``, by vectors where all sums are of one kind."""
    cdef sums some
    cdef partial totals[ROWS]
    cdef double exponent[ROWS]
    cdef Py_ssize_t k
    cdef int steps
    if p.kind >= LARGEST:
        chunk_sums(x, pitch, count, size, p, totals)
        roots(totals, count, p, y)
        return
    steps = guess(x, pitch, count, size, p)
    if steps == 0:
        plain_sums(x, pitch, count, size, p, 0.0, &some)
        if all_between(&some, count, sure(p, 0)):
            plain_roots(&some, count, p, y)
            return
        settle(x, pitch, count, size, p, &some, totals)
    else:
        far_sums(x, pitch, count, size, p, steps, &some)
        if all_between(&some, count, sure(p, steps)):
            for k in range(ROWS):
                exponent[k] = steps * p.step * p.p
            scaled_roots(&some, exponent, p, count)
            for k in range(count):
                store(y + k, some.hi[k])
            return
        far_settle(x, pitch, count, size, p, steps, &some, totals)
    roots(totals, count, p, y)


# --- across ------------------------------------------------------------------------------------------------------------------------------


# Planes whose elements lie side by side (channels last) are summed all at once: a vector holds one element each of WIDTH planes. What is a
# lane of one plane above is a row of vectors here; every addition is the same.


cdef inline void narrow_across(
    const narrow* x, Py_ssize_t step, int abreast, Py_ssize_t size, const way* how, vector* hi
) noexcept nogil:
    """The lanes of ``abreast`` vectors of planes; elements of one plane are ``step`` apart."""
    cdef const narrow* at
    cdef vector total
    cdef Py_ssize_t i = 0, row = LANES * step
    cdef int k, v, j
    while i < size:
        for k in range(LANES):
            for v in range(abreast):
                at = x + (i + k) * step + v * WIDTH
                total = hi[k * abreast + v] if i else splat(0.0)
                if i + (TREE - 1) * LANES + k < size:
                    for j in range(TREE):
                        total = plus_terms(total, at + j * row, WIDTH, how)
                else:
                    for j in range(<int>((size - i - k + LANES - 1) // LANES)):
                        total = plus_terms(total, at + j * row, WIDTH, how)
                hi[k * abreast + v] = total
        i += TREE * LANES


cdef inline void paired_across(
    const element* x, Py_ssize_t step, int abreast, Py_ssize_t size, const way* how, vector* hi, vector* lo
) noexcept nogil:
    """The same as pairs."""
    cdef const element* at
    cdef vector s
    cdef Py_ssize_t i = 0, row = LANES * step, left
    cdef int k, v
    for k in range(LANES * abreast):
        hi[k] = splat(0.0)
        lo[k] = splat(0.0)
    while i + TREE * LANES <= size:
        for k in range(LANES):
            for v in range(abreast):
                s = eight_rows(x + (i + k) * step + v * WIDTH, row, how)
                accumulate(s, &hi[k * abreast + v], &lo[k * abreast + v], True)
        i += TREE * LANES
    if i < size:
        left = (size - i) // LANES
        for k in range(LANES):
            for v in range(abreast):
                at = x + (i + k) * step + v * WIDTH
                s = splat(0.0)
                if i + left * LANES + k < size:
                    s = term(load(at + left * row), how)
                if left & 1:
                    s = term(load(at + (left - 1) * row), how) + s
                if left & 2:
                    s = two_rows(at + (left & 4) * row, row, how) + s
                if left & 4:
                    s = four_rows(at, row, how) + s
                accumulate(s, &hi[k * abreast + v], &lo[k * abreast + v], True)


cdef void across_lanes(
    const element* x, Py_ssize_t step, int abreast, Py_ssize_t size, const way* how, sums* totals
) noexcept nogil:
    """The sums of |x|^p over ``abreast`` vectors of planes."""
    cdef bint paired = element is double
    cdef vector hi[LANES * ABREAST]
    cdef vector lo[LANES * ABREAST]
    cdef pairs t
    cdef int count = DOWN
    cdef int k, v
    if element is double:
        paired_across(x, step, abreast, size, how, hi, lo)
    else:
        narrow_across(x, step, abreast, size, how, hi)
    for k in range(DOWN * abreast):
        if paired:
            lo[k] = lo[k] + lo[k + DOWN * abreast]
        accumulate(hi[k + DOWN * abreast], &hi[k], &lo[k], paired)
    while count > 1:
        count = count // 2
        for k in range(count):
            for v in range(abreast):
                t = two_sums(hi[2 * k * abreast + v], hi[(2 * k + 1) * abreast + v])
                hi[k * abreast + v] = t.hi
                if paired:
                    lo[k * abreast + v] = lo[2 * k * abreast + v] + lo[(2 * k + 1) * abreast + v] + t.lo
    for v in range(abreast):
        put(totals.hi + v * WIDTH, hi[v])
        put(totals.lo + v * WIDTH, lo[v] if paired else splat(0.0))


cdef void mixed_sums(const element* x, Py_ssize_t size, const way* how, const mixture* mixed, sums* totals) noexcept nogil:
    """The sums of |x|^p over all channels of pixels that follow each other."""
    cdef lanes all
    if element is double:
        paired_lanes(x, size * many(mixed), how, mixed, all.hi, all.lo)
    else:
        narrow_lanes(x, size * many(mixed), how, mixed, all.hi)
    total_lanes(&all, many(mixed), element is double, totals)


cdef void across_way(
    const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, const way* how, sums* totals
) noexcept nogil:
    cdef Triple three
    cdef Quadruple four
    if count == 3 and step == 3:
        mixed_sums(x, size, how, &three, totals)
    elif count == 4 and step == 4:
        mixed_sums(x, size, how, &four, totals)
    else:
        across_lanes(x, step, <int>(count // WIDTH), size, how, totals)


cdef void across_plain(const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, power p, sums* totals) noexcept nogil:
    """``plain_sums`` for planes that lie side by side, as many as fill vectors, or 3 or 4 that are all there are; p whole or halves."""
    if p.kind == WHOLE and p.whole == 1:
        across_way(x, step, count, size, &p.first, totals)
    elif p.kind == WHOLE and p.whole == 2:
        across_way(x, step, count, size, &p.second, totals)
    elif p.kind == WHOLE:
        across_way(x, step, count, size, &p.squaring, totals)
    else:
        across_way(x, step, count, size, &p.rooting, totals)


cdef void across_settle(
    const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, power p, element* column, const sums* plain, partial* totals
) noexcept nogil:
    """``settle`` for them; ``column`` has room for a chunk."""
    cdef Py_ssize_t i
    cdef int k
    for k in range(<int>count):
        totals[k].hi = plain.hi[k]
        totals[k].lo = plain.lo[k]
        totals[k].exponent = 0.0
        if not in_range(plain.hi[k], p):
            for i in range(size):
                column[i] = x[i * step + k]
            chunk_sums(<const element*>column, 0, 1, size, p, &totals[k])


cdef void across_sums(
    const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, power p, element* column, partial* totals
) noexcept nogil:
    """``chunk_sums`` for them."""
    cdef sums some
    across_plain(x, step, count, size, p, &some)
    across_settle(x, step, count, size, p, column, &some, totals)


cdef void across_norms(
    const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, power p, element* column, element* y
) noexcept nogil:
    """``chunk_norms`` for them."""
    cdef sums some
    cdef partial totals[SIDE]
    cdef Py_ssize_t k = 0
    across_plain(x, step, count, size, p, &some)
    if all_between(&some, count, sure(p, 0)):
        plain_roots(&some, count, p, y)
        return
    across_settle(x, step, count, size, p, column, &some, totals)
    while k < count:
        roots(totals + k, min(ROWS, count - k), p, y + k)
        k += ROWS


# --- planes ------------------------------------------------------------------------------------------------------------------------------


cdef double shifted(double x, double exponent) noexcept nogil:
    """x * 2^exponent for an exponent <= 0 of any size."""
    return ldexp(x, <int>(exponent if exponent > -5000.0 else -5000.0))


cdef partial add(partial a, partial b, power p) noexcept nogil:
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


cdef void plain_roots(sums* all, Py_ssize_t count, power p, element* y) noexcept nogil:
    """y = sums^(1/p), rounded once, for sums in range, up to a whole vector of them."""
    cdef double v[SIDE]
    cdef vector hi, lo
    cdef Py_ssize_t k = 0
    while k < count:
        hi = load_double(all.hi + k)
        lo = load_double(all.lo + k)
        if p.kind == WHOLE and p.whole == 1:
            put(v + k, hi + lo)
        elif p.kind == WHOLE and p.whole == 2:
            put(v + k, square_root(hi + lo))
        elif p.kind == WHOLE and p.whole == 4:
            put(v + k, square_root(square_root(hi + lo)))
        elif element is double:
            put(v + k, any_roots(hi, lo, splat(0.0), p.p))
        else:
            put(v + k, exp2((log2(hi) + lo / hi * 1.4426950408889634) / splat(p.p)))
        k += WIDTH
    for k in range(count):
        store(y + k, v[k])


cdef void roots(const partial* totals, Py_ssize_t count, power p, element* y) noexcept nogil:
    """y = totals^(1/p), rounded once, for any totals; up to ROWS of them."""
    cdef sums plain, scaled
    cdef double exponent[ROWS]
    cdef bint any_scaled = False
    cdef Py_ssize_t k
    for k in range(ROWS):
        plain.hi[k] = scaled.hi[k] = 1.0
        plain.lo[k] = scaled.lo[k] = exponent[k] = 0.0
        if k >= count:
            continue
        if p.kind < LARGEST and totals[k].exponent == 0.0 and in_range(totals[k].hi, p):
            plain.hi[k] = totals[k].hi
            plain.lo[k] = totals[k].lo
        elif p.kind < LARGEST and 0.0 < totals[k].hi < INFINITY:
            scaled.hi[k] = totals[k].hi
            scaled.lo[k] = totals[k].lo
            exponent[k] = totals[k].exponent
            any_scaled = True
    if p.kind < LARGEST:
        plain_roots(&plain, count, p, y)
    if any_scaled:
        scaled_roots(&scaled, exponent, p, count)
    for k in range(count):
        if p.kind >= LARGEST or not 0.0 < totals[k].hi < INFINITY:
            store(y + k, best(totals[k], p))
        elif totals[k].exponent != 0.0 or not in_range(totals[k].hi, p):
            store(y + k, scaled.hi[k])


cdef void scaled_roots(sums* all, const double* exponent, power p, Py_ssize_t count) noexcept nogil:
    """The roots of (hi + lo) * 2^exponent, in place of hi."""
    cdef vector hi, lo
    cdef Py_ssize_t k = 0
    while k < count:
        hi = load_double(all.hi + k)
        lo = load_double(all.lo + k)
        if p.kind == WHOLE and p.whole == 1:
            put(all.hi + k, times_power(hi + lo, load_double(exponent + k)))
        elif p.kind == WHOLE and p.whole == 2:
            put(all.hi + k, times_power(square_root(hi + lo), load_double(exponent + k) * 0.5))
        elif p.kind == WHOLE and p.whole == 4:
            put(all.hi + k, times_power(square_root(square_root(hi + lo)), load_double(exponent + k) * 0.25))
        else:
            put(all.hi + k, any_roots(hi, lo, load_double(exponent + k), p.p))
        k += WIDTH


cdef inline vector times_power(vector x, vector exponent) noexcept nogil:
    """x * 2^exponent for integers from -2040 to 2040, in two steps, the first of which does not round."""
    cdef vector half = (exponent * 0.5 + splat(NEAREST)) - splat(NEAREST)
    return x * power_of_two(half) * power_of_two(exponent - half)


cdef vector any_roots(vector hi, vector lo, vector exponent, double p) noexcept nogil:
    """((hi + lo) * 2^exponent)^(1/p) for ordinary hi; 2^u is taken in two halves, as u may be near the ends of the range."""
    cdef pairs u = log2_pairs(hi)
    cdef pairs t = two_sums(exponent, u.hi)
    t.lo = t.lo + (u.lo + lo / hi * 1.4426950408889634)
    u.hi = t.hi / splat(p)
    u.lo = (fused(-u.hi, splat(p), t.hi) + t.lo) / splat(p)
    cdef vector beyond = between(u.hi, splat(0.0), splat(INFINITY), splat(512.0), splat(-512.0))
    cdef vector outside = between(u.hi, splat(-1000.0), splat(1000.0), splat(0.0), beyond)
    u.hi = u.hi - outside
    u = exp2_pairs(u)
    return (u.hi + u.lo) * power_of_two(outside)


cdef double best(partial s, power p) noexcept nogil:
    """The norm where there is better than a sum, or where the sum is zero, infinite or NaN."""
    if p.kind == PEAKED and 0.0 < s.hi < INFINITY:
        return s.hi + s.hi * (first(log2(splat(s.lo))) * 0.6931471805599453 / p.p)
    return s.hi if s.hi == s.hi else NAN  # one and the same, whichever they were
