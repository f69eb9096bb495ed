# What takes the place of a sum where p is so large or so small that there is something better.


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
