# Sums of planes whose elements lie side by side (channels last), all at once: a vector holds one element each of WIDTH planes. What is a
# lane of one plane in lanes.pxi is a row of vectors here; every addition is the same.


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
