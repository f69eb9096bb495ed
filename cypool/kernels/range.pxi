# Sums of chunks that neither overflow nor lose terms.
#
# A chunk is summed as it is; if the sum leaves [LOWEST, HIGHEST] the chunk, still in cache, is summed again scaled by a power of two. So a
# sum is (hi + lo) * 2^exponent, and one row near overflow costs nothing to the others.


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
