# Terms of a sum: how to raise to p > 0, whatever p is.
#
# Apart from the sums because what p is decides everything here and nothing there.

from libc.math cimport INFINITY, floor, fma, sqrt

from .powers cimport exp2, exp2_pair, log2, log2_pair, pair, two_sum
from .vectors cimport square_root, vector

cdef enum:
    BLOCK = 128  # terms that are raised at a time, where that goes through a buffer

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


cdef inline double raised(double a, int n, bint half) noexcept nogil:
    """a^n for a >= 0, or a^(n + 1/2) if half, by squaring."""
    cdef double result = 1.0
    if half:
        result = sqrt(a)
    if n & 1:
        result = result * a
    while n > 1:
        n >>= 1
        a = a * a
        if n & 1:
            result = result * a
    return result


cdef inline vector raised_vector(vector a, int n, bint half) noexcept nogil:
    """The same for a vector of them, in the same order, so that the bits are the same."""
    cdef vector result
    if half:
        result = square_root(a)
        if n & 1:
            result = result * a
    elif n & 1:
        result = a
    else:
        a = a * a
        n >>= 1
        while not n & 1:
            a = a * a
            n >>= 1
        result = a
    while n > 1:
        n >>= 1
        a = a * a
        if n & 1:
            result = result * a
    return result


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
