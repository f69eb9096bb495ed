# Sums of chunks, and the root of a sum.


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
