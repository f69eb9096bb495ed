# Sums of powers over a chunk of a plane, sums of chunks, and the root of the sum.
#
# Apart from ``lp``, which knows where planes lie, because the promises are kept here (docs/kernels.md has the reasoning):
#
# Same bits everywhere. The order of all additions follows from the position in the plane alone. A plane is cut into chunks of CHUNK
# elements; in a chunk, element i belongs to lane i % LANES, TREE rows of lanes are added as a tree, then the lanes are added as a tree,
# then the last size % LANES elements, summed in their order; chunks are added in their order. CPU levels differ in how many lanes an
# instruction holds and how chunks are batched, neither of which changes what is added to what.
#
# Accuracy. For types narrower than double the terms of p <= 2 are exact in double, and 29 spare bits absorb the rest. For double itself
# lanes are pairs (a sum and the error of it), so that only the term and the tree of rows round. Chunks are always added as pairs.
#
# Range. A chunk is summed as it is; if the sum leaves [LOWEST, HIGHEST] the chunk, still in cache, is summed again scaled by a power of
# two. So a sum is (hi + lo) * 2^exponent, and one row near overflow costs nothing to the others.

from libc.math cimport INFINITY, floor, frexp, isfinite, ldexp, sqrt

from .floats cimport element, magnitude, store
from .powers cimport exp2, exp2_pairs, log2, log2_pairs, pair, pairs, two_sum, two_sums
from .terms cimport (
    ANY, HALVES, LARGEST, PEAKED, VANISHING, WHOLE, First, Fourth, Second, Squaring, Third, any_power, any_power_pairs, power, raised,
    raised_vector, way
)
from .vectors cimport WIDTH, absolute, between, first, fused, larger_of, load, load_double, power_of_two, put, splat, vector

cdef enum:
    LANES = 16
    HALF = 8
    VECTORS = LANES // WIDTH
    SIDE = 256  # planes summed side by side at most
    ABREAST = SIDE // WIDTH
    TREE = 8
    CHUNK = 4096
    ROWS = 32  # chunks summed together at most, each a row of lanes

cdef extern from *:
    """
    #define CYPOOL_LOWEST 0x1p-900
    #define CYPOOL_HIGHEST 0x1p900
    """
    # Between them, no term that counts has been lost to underflow, nor can as many chunks as there are overflow.
    const double LOWEST "CYPOOL_LOWEST"
    const double HIGHEST "CYPOOL_HIGHEST"

# (hi + lo) * 2^exponent; the exponent is a double because p times a binary exponent may exceed every integer type.
cdef struct partial:
    double hi
    double lo
    double exponent

# The lanes of up to ROWS chunks, one after the other, the upper half added to the lower; for each chunk what is left over. ``lo`` is used
# where lanes are pairs.
cdef struct lanes:
    double hi[ROWS * HALF]
    double lo[ROWS * HALF]
    double rest_hi[ROWS]
    double rest_lo[ROWS]


# --- lanes -------------------------------------------------------------------------------------------------------------------------------


cdef inline void accumulate(vector s, vector* hi, vector* lo, bint paired) noexcept nogil:
    """Add to lanes; paired: with the error of the sum, as two_sum has it."""
    cdef vector total = hi[0] + s
    cdef vector part
    if paired:
        part = total - hi[0]
        lo[0] = lo[0] + ((hi[0] - (total - part)) + (s - part))
    hi[0] = total


cdef inline vector terms(const element* x, const way* how) noexcept nogil:
    """|x|^p for WIDTH elements."""
    if way is Second or way is Fourth:
        return raised_vector(load(x), how)
    else:
        return raised_vector(absolute(load(x)), how)


cdef inline void direct_lanes(const element* x, Py_ssize_t size, const way* how, Py_ssize_t row, lanes* sums) noexcept nogil:
    """The lanes of a chunk."""
    cdef bint paired = element is double
    cdef vector hi[VECTORS]
    cdef vector lo[VECTORS]
    cdef double rest_hi = 0.0, rest_lo = 0.0, s
    cdef pair t
    cdef Py_ssize_t i = 0
    cdef int v
    for v in range(VECTORS):
        hi[v] = splat(0.0)
        lo[v] = splat(0.0)
    while i + TREE * LANES <= size:
        for v in range(VECTORS):
            accumulate(
                ((terms(x + i + v * WIDTH, how) + terms(x + i + v * WIDTH + LANES, how))
                 + (terms(x + i + v * WIDTH + 2 * LANES, how) + terms(x + i + v * WIDTH + 3 * LANES, how)))
                + ((terms(x + i + v * WIDTH + 4 * LANES, how) + terms(x + i + v * WIDTH + 5 * LANES, how))
                   + (terms(x + i + v * WIDTH + 6 * LANES, how) + terms(x + i + v * WIDTH + 7 * LANES, how))),
                &hi[v], &lo[v], paired)
        i += TREE * LANES
    while i + LANES <= size:
        for v in range(VECTORS):
            accumulate(terms(x + i + v * WIDTH, how), &hi[v], &lo[v], paired)
        i += LANES
    while i < size:
        s = raised(magnitude(x, i), how)
        if paired:
            t = two_sum(rest_hi, s)
            rest_hi = t.hi
            rest_lo += t.lo
        else:
            rest_hi += s
        i += 1
    close_lanes(hi, lo, row, paired, sums)
    sums.rest_hi[row] = rest_hi
    sums.rest_lo[row] = rest_lo


cdef inline void any_terms(const element* x, double p, double exponent, vector* hi, vector* lo) noexcept nogil:
    """Add a row of |x|^p * 2^-exponent to the lanes."""
    cdef pairs t
    cdef int v
    for v in range(VECTORS):
        if element is double:
            t = any_power_pairs(absolute(load(x + v * WIDTH)), p, exponent)
            accumulate(t.hi, &hi[v], &lo[v], True)
            lo[v] = lo[v] + t.lo
        else:
            accumulate(any_power(absolute(load(x + v * WIDTH)), p, exponent), &hi[v], &lo[v], False)


cdef inline void any_lanes(const element* x, Py_ssize_t size, double p, double exponent, Py_ssize_t row, lanes* sums) noexcept nogil:
    """The lanes of a chunk for any p, of terms times 2^-exponent; what is left over goes through them as well, padded with zeros."""
    cdef bint paired = element is double
    cdef vector hi[VECTORS]
    cdef vector lo[VECTORS]
    cdef element rest[LANES]
    cdef Py_ssize_t i = 0
    cdef int v, k
    for v in range(VECTORS):
        hi[v] = splat(0.0)
        lo[v] = splat(0.0)
    while i + LANES <= size:
        any_terms(x + i, p, exponent, hi, lo)
        i += LANES
    if i < size:
        for k in range(LANES):
            rest[k] = x[i + k] if i + k < size else 0
        any_terms(<const element*>rest, p, exponent, hi, lo)
    close_lanes(hi, lo, row, paired, sums)
    sums.rest_hi[row] = 0.0
    sums.rest_lo[row] = 0.0


cdef inline void close_lanes(vector* hi, vector* lo, Py_ssize_t row, bint paired, lanes* sums) noexcept nogil:
    """Put a chunk's lanes down, the upper half added to the lower."""
    cdef int v
    for v in range(VECTORS // 2):
        if paired:
            lo[v] = lo[v] + lo[v + VECTORS // 2]
        accumulate(hi[v + VECTORS // 2], &hi[v], &lo[v], paired)
        put(sums.hi + row * HALF + v * WIDTH, hi[v])
        if paired:
            put(sums.lo + row * HALF + v * WIDTH, lo[v])


cdef inline void halve(const double* hi, const double* lo, double* sum_hi, double* sum_lo, Py_ssize_t size, bint paired) noexcept nogil:
    """Add neighbours: 2 * size lanes become size."""
    cdef Py_ssize_t j
    cdef pair t
    for j in range(size):
        if paired:
            t = two_sum(hi[2 * j], hi[2 * j + 1])
            sum_hi[j] = t.hi
            sum_lo[j] = lo[2 * j] + lo[2 * j + 1] + t.lo
        else:
            sum_hi[j] = hi[2 * j] + hi[2 * j + 1]


cdef inline void total_lanes(lanes* sums, Py_ssize_t count, bint paired, partial* totals) noexcept nogil:
    """Each chunk's lanes, added as a tree, then what was left over."""
    cdef double hi[ROWS * 4]
    cdef double lo[ROWS * 4]
    cdef Py_ssize_t k
    cdef pair t
    halve(sums.hi, sums.lo, hi, lo, count * 4, paired)
    halve(hi, lo, sums.hi, sums.lo, count * 2, paired)
    halve(sums.hi, sums.lo, hi, lo, count, paired)
    for k in range(count):
        if paired:
            t = two_sum(hi[k], sums.rest_hi[k])
            totals[k].hi = t.hi
            totals[k].lo = lo[k] + (sums.rest_lo[k] + t.lo)
        else:
            totals[k].hi = hi[k] + sums.rest_hi[k]
            totals[k].lo = 0.0
        totals[k].exponent = 0.0


# --- chunks ------------------------------------------------------------------------------------------------------------------------------


cdef inline double larger(double a, double b) noexcept nogil:
    """The larger one; NaN if either is NaN."""
    return a if a > b or a != a else b


cdef inline double largest(const element* x, Py_ssize_t size) noexcept nogil:
    """The largest |x| of a chunk; NaN if any is NaN."""
    cdef vector most = splat(0.0)
    cdef double each[WIDTH]
    cdef double result = 0.0
    cdef Py_ssize_t i = 0
    cdef int k
    while i + WIDTH <= size:
        most = larger_of(most, absolute(load(x + i)))
        i += WIDTH
    put(each, most)
    for k in range(WIDTH):
        result = larger(result, each[k])
    while i < size:
        result = larger(result, magnitude(x, i))
        i += 1
    return result


# For some p there is better than a sum, and hi and lo hold other things than its halves (their exponent stays 0):
#   LARGEST    hi the largest term so far;
#   PEAKED     the same, and lo how many there are, the others counting by what they are of it: (x / hi)^p, which is
#              exp(-p (hi - x) / hi) to within 2^-34 of what matters, as all but the nearest vanish;
#   VANISHING  hi the only term that is not zero, infinity if there are two.
cdef inline double weight(double distance, double p) noexcept nogil:
    """exp(-p * distance)."""
    return first(exp2(splat(-1.4426950408889634 * p * distance)))


cdef inline partial fold(partial a, partial b, power p) noexcept nogil:
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


cdef inline partial folded(const element* x, Py_ssize_t size, power p) noexcept nogil:
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
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, const way* how, lanes* sums
) noexcept nogil:
    """The lanes of ``count`` chunks, ``pitch`` elements apart."""
    cdef Py_ssize_t k
    for k in range(count):
        direct_lanes(x + k * pitch, size, how, k, sums)


cdef inline void plain_sums(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, double exponent, partial* totals
) noexcept nogil:
    """The sums over ``count`` chunks, ``pitch`` elements apart, in range or not."""
    cdef lanes sums
    cdef Py_ssize_t k
    if p.kind == ANY:
        for k in range(count):
            any_lanes(x + k * pitch, size, p.p, exponent, k, &sums)
    elif p.kind == WHOLE and p.whole == 1:
        rows_of_lanes(x, pitch, count, size, &p.first, &sums)
    elif p.kind == WHOLE and p.whole == 2:
        rows_of_lanes(x, pitch, count, size, &p.second, &sums)
    elif p.kind == WHOLE and p.whole == 3:
        rows_of_lanes(x, pitch, count, size, &p.third, &sums)
    elif p.kind == WHOLE and p.whole == 4:
        rows_of_lanes(x, pitch, count, size, &p.fourth, &sums)
    else:
        rows_of_lanes(x, pitch, count, size, &p.squaring, &sums)
    total_lanes(&sums, count, element is double, totals)


cdef inline partial scaled_sum(const element* x, Py_ssize_t size, power p) noexcept nogil:
    """The sum over a chunk, scaled so that its largest term is near 1; also where a NaN, an infinity or nothing but zeros shows."""
    cdef partial total
    cdef double scaled[CHUNK]
    cdef double up, second
    cdef int e
    cdef Py_ssize_t i = 0
    total.hi = largest(x, size)
    total.lo = 0.0
    total.exponent = 0.0
    if total.hi == 0.0 or not isfinite(total.hi):
        return total
    if p.kind == ANY:
        # the same expression as for the terms, so that the largest comes out between 1 and 2 however coarse it is for a huge p
        if element is double:
            total.exponent = floor(first(log2_pairs(splat(total.hi)).hi * p.p))
        else:
            total.exponent = floor(first(log2(splat(total.hi)) * p.p))
        up = total.exponent
        plain_sums(x, 0, 1, size, p, up, &total)
        total.exponent = up
        return total
    frexp(total.hi, &e)
    e -= 1
    if p.kind == HALVES:
        e -= e & 1  # so that e * p is an integer
    up = ldexp(1.0, -(e // 2))  # in two steps: 2^-e may leave the range of double
    second = ldexp(1.0, -(e - e // 2))
    while i + WIDTH <= size:
        put(scaled + i, absolute(load(x + i)) * splat(up) * splat(second))
        i += WIDTH
    while i < size:
        scaled[i] = magnitude(x, i) * up * second
        i += 1
    plain_sums(<const double*>scaled, 0, 1, size, p, 0.0, &total)
    total.exponent = e * p.p
    return total


cdef inline void chunk_sums(
    const element* x, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t size, power p, partial* totals
) noexcept nogil:
    """The sums of |x|^p over up to ROWS chunks of one size <= CHUNK, ``pitch`` elements apart."""
    cdef Py_ssize_t k
    if p.kind >= LARGEST:
        for k in range(count):
            totals[k] = folded(x + k * pitch, size, p)
        return
    plain_sums(x, pitch, count, size, p, 0.0, totals)
    for k in range(count):
        if not LOWEST <= totals[k].hi <= HIGHEST:
            totals[k] = scaled_sum(x + k * pitch, size, p)


# --- across ------------------------------------------------------------------------------------------------------------------------------


# Planes whose elements lie side by side (channels last) are summed all at once: a vector holds one element each of WIDTH planes. What is a
# lane of one plane above is a row of vectors here; every addition is the same.
cdef inline void across_lanes(
    const element* x, Py_ssize_t step, int abreast, Py_ssize_t size, const way* how, double* total_hi, double* total_lo
) noexcept nogil:
    """The sums of |x|^p over ``abreast`` vectors of planes; elements of one plane are ``step`` apart."""
    cdef bint paired = element is double
    cdef vector hi[LANES * ABREAST]
    cdef vector lo[LANES * ABREAST]
    cdef vector rest_hi[ABREAST]
    cdef vector rest_lo[ABREAST]
    cdef Py_ssize_t i = 0, row = LANES * step
    cdef const element* at_lane
    cdef pairs t
    cdef int k, v, width
    for k in range(LANES * abreast):
        hi[k] = splat(0.0)
        lo[k] = splat(0.0)
    for v in range(abreast):
        rest_hi[v] = splat(0.0)
        rest_lo[v] = splat(0.0)
    while i + TREE * LANES <= size:
        for k in range(LANES):
            at_lane = x + (i + k) * step
            for v in range(abreast):
                accumulate(
                    ((terms(at_lane, how) + terms(at_lane + row, how))
                     + (terms(at_lane + 2 * row, how) + terms(at_lane + 3 * row, how)))
                    + ((terms(at_lane + 4 * row, how) + terms(at_lane + 5 * row, how))
                       + (terms(at_lane + 6 * row, how) + terms(at_lane + 7 * row, how))),
                    &hi[k * abreast + v], &lo[k * abreast + v], paired)
                at_lane += WIDTH
        i += TREE * LANES
    while i + LANES <= size:
        for k in range(LANES):
            for v in range(abreast):
                accumulate(terms(x + (i + k) * step + v * WIDTH, how), &hi[k * abreast + v], &lo[k * abreast + v], paired)
        i += LANES
    while i < size:
        for v in range(abreast):
            accumulate(terms(x + i * step + v * WIDTH, how), &rest_hi[v], &rest_lo[v], paired)
        i += 1
    for k in range(HALF * abreast):
        if paired:
            lo[k] = lo[k] + lo[k + HALF * abreast]
        accumulate(hi[k + HALF * abreast], &hi[k], &lo[k], paired)
    width = HALF // 2
    while width:
        for k in range(width):
            for v in range(abreast):
                t = two_sums(hi[2 * k * abreast + v], hi[(2 * k + 1) * abreast + v])
                hi[k * abreast + v] = t.hi
                if paired:
                    lo[k * abreast + v] = lo[2 * k * abreast + v] + lo[(2 * k + 1) * abreast + v] + t.lo
        width //= 2
    for v in range(abreast):
        t = two_sums(hi[v], rest_hi[v])
        put(total_hi + v * WIDTH, t.hi)
        put(total_lo + v * WIDTH, lo[v] + (rest_lo[v] + t.lo) if paired else splat(0.0))


cdef inline void across_sums(
    const element* x, Py_ssize_t step, Py_ssize_t count, Py_ssize_t size, power p, element* column, partial* totals
) noexcept nogil:
    """``chunk_sums`` for planes that lie side by side, as many as fill vectors, p whole or halves; ``column`` has room for a chunk."""
    cdef double hi[SIDE]
    cdef double lo[SIDE]
    cdef Py_ssize_t i
    cdef int k
    if p.kind == WHOLE and p.whole == 1:
        across_lanes(x, step, <int>(count // WIDTH), size, &p.first, hi, lo)
    elif p.kind == WHOLE and p.whole == 2:
        across_lanes(x, step, <int>(count // WIDTH), size, &p.second, hi, lo)
    else:
        across_lanes(x, step, <int>(count // WIDTH), size, &p.squaring, hi, lo)
    for k in range(<int>count):
        totals[k].hi = hi[k]
        totals[k].lo = lo[k]
        totals[k].exponent = 0.0
        if not LOWEST <= hi[k] <= HIGHEST:
            for i in range(size):
                column[i] = x[i * step + k]
            totals[k] = scaled_sum(<const element*>column, size, p)


# --- planes ------------------------------------------------------------------------------------------------------------------------------


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


cdef inline bint ordinary(partial s) noexcept nogil:
    """Whether the sum is hi + lo, and far from the ends of the range."""
    return s.exponent == 0.0 and LOWEST <= s.hi <= HIGHEST


cdef inline void roots(const partial* sums, Py_ssize_t count, power p, element* y) noexcept nogil:
    """y = sums^(1/p), rounded once; up to ROWS of them, so that the arithmetic of all goes through vectors."""
    cdef double v[ROWS]
    cdef double low[ROWS]
    cdef Py_ssize_t k
    if p.kind == WHOLE and p.whole == 1:
        for k in range(count):
            v[k] = sums[k].hi + sums[k].lo
    elif p.kind == WHOLE and p.whole == 2:
        for k in range(count):
            v[k] = sqrt(sums[k].hi + sums[k].lo)
    elif p.kind == WHOLE and p.whole == 4:
        for k in range(count):
            v[k] = sqrt(sqrt(sums[k].hi + sums[k].lo))
    elif p.kind < LARGEST:
        for k in range(ROWS):
            v[k] = sums[k].hi if k < count and ordinary(sums[k]) else 1.0
            low[k] = sums[k].lo if k < count and ordinary(sums[k]) else 0.0
        k = 0
        while k < count:
            if element is double:
                put(v + k, any_roots(load_double(v + k), load_double(low + k), splat(0.0), p.p))
            else:
                put(v + k, exp2((log2(load_double(v + k)) + load_double(low + k) / load_double(v + k) * 1.4426950408889634) / splat(p.p)))
            k += WIDTH
    for k in range(count):
        if p.kind >= LARGEST or not ordinary(sums[k]):
            v[k] = root(sums[k], p)
    for k in range(count):
        store(y + k, v[k])


cdef inline vector any_roots(vector hi, vector lo, vector exponent, double p) noexcept nogil:
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


cdef inline double root(partial s, power p) noexcept nogil:
    """One root, of any sum."""
    if p.kind == LARGEST or p.kind == VANISHING or s.hi == 0.0 or not isfinite(s.hi):
        return s.hi
    if p.kind == PEAKED:
        return s.hi + s.hi * (first(log2(splat(s.lo))) * 0.6931471805599453 / p.p)
    if p.kind == WHOLE and p.whole == 1:
        return ldexp(s.hi + s.lo, <int>s.exponent)
    if p.kind == WHOLE and p.whole == 2:
        return ldexp(sqrt(s.hi + s.lo), <int>(s.exponent * 0.5))
    return first(any_roots(splat(s.hi), splat(s.lo), splat(s.exponent), p.p))
