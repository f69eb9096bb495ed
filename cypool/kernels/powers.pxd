# Logarithms and powers of two for positive doubles, as straight-line code that compilers turn into vectors.
#
# Apart from libm for three reasons: libm is not vectorised, its last bit differs between systems, and double is not enough for the root
# of a sum: y = 2^(log2(S) / p) has the absolute error of the logarithm as its relative error. So a number here is an unevaluated sum
# hi + lo of two doubles ("double double") where that is needed, and a plain double where the result is rounded to 24 bits or fewer.
# fma() is exact by definition, so it costs no bit of reproducibility where a CPU level lacks the instruction.

from libc.math cimport INFINITY, fma

from .floats cimport double_bits

cdef struct pair:
    double hi
    double lo


cdef inline pair two_sum(double a, double b) noexcept nogil:
    """a + b exactly."""
    cdef pair s
    s.hi = a + b
    cdef double bb = s.hi - a
    s.lo = (a - (s.hi - bb)) + (b - bb)
    return s


cdef inline pair fast_two_sum(double a, double b) noexcept nogil:
    """a + b exactly, where |a| >= |b| or a is 0."""
    cdef pair s
    s.hi = a + b
    s.lo = b - (s.hi - a)
    return s


cdef inline pair multiply_add(pair a, pair b, double c) noexcept nogil:
    """a * b + c for |c| >= |a * b|."""
    cdef double hi = a.hi * b.hi
    cdef double lo = fma(a.hi, b.hi, -hi) + (a.hi * b.lo + a.lo * b.hi)
    cdef pair s = fast_two_sum(c, hi)
    return fast_two_sum(s.hi, s.lo + lo)


cdef inline pair multiply(pair a, pair b) noexcept nogil:
    """a * b."""
    cdef double hi = a.hi * b.hi
    return fast_two_sum(hi, fma(a.hi, b.hi, -hi) + (a.hi * b.lo + a.lo * b.hi))


cdef inline double power_of_two(double n) noexcept nogil:
    """2^n for an integer -1022 <= n <= 1023."""
    cdef double_bits b
    b.value = n + 6755399441055744.0  # 1.5 * 2^52: the integer now stands in the low bits
    b.bits = (b.bits + 1023) << 52
    return b.value


cdef inline double split(double x, double* m) noexcept nogil:
    """x = m * 2^k for finite x > 0, sqrt(1/2) <= m < sqrt(2); returns k."""
    cdef double_bits b, e
    cdef bint tiny = x < 2.2250738585072014e-308
    b.value = x * (18014398509481984.0 if tiny else 1.0)  # 2^54
    # Subtracting the bits of sqrt(1/2) makes the exponent field step there instead of at powers of two; the bias keeps it positive.
    e.bits = (b.bits - 0x3fe6a09e667f3bcdULL + 0x3ff0000000000000ULL) >> 52
    b.bits = b.bits - (e.bits << 52) + 0x3ff0000000000000ULL
    m[0] = b.value
    e.bits = e.bits | 0x4330000000000000ULL  # 2^52 + the integer
    return (e.value - 4503599627371519.0) - (54.0 if tiny else 0.0)  # 2^52 + 1023


cdef inline double log2(double x) noexcept nogil:
    """log2 of a finite x > 0, absolute error below 2^-46 for |log2 x| <= 1100."""
    cdef double m
    cdef double k = split(x, &m)
    cdef double f = (m - 1.0) / (m + 1.0)
    cdef double z = f * f
    # log(m) = 2 atanh(f) = 2 f (1 + z/3 + z^2/5 + ...), z < 0.0295
    cdef double q = 0.05263157894736842
    q = fma(q, z, 0.058823529411764705)
    q = fma(q, z, 0.06666666666666667)
    q = fma(q, z, 0.07692307692307693)
    q = fma(q, z, 0.09090909090909091)
    q = fma(q, z, 0.1111111111111111)
    q = fma(q, z, 0.14285714285714285)
    q = fma(q, z, 0.2)
    q = fma(q, z, 0.3333333333333333)
    f = f * 2.8853900817779268
    return k + fma(f * z, q, f)


cdef inline double exp2(double u) noexcept nogil:
    """2^u, relative error below 2^-50 (on top of what u itself has); infinity above 1023, 0 below -1022."""
    cdef double inside = u if u > -1022.0 else -1022.0
    inside = inside if inside < 1023.0 else 1023.0
    cdef double n = (inside + 6755399441055744.0) - 6755399441055744.0
    cdef double v = (inside - n) * 0.6931471805599453
    cdef double q = 1.6059043836821613e-10  # 1/13!
    q = fma(q, v, 2.08767569878681e-09)
    q = fma(q, v, 2.505210838544172e-08)
    q = fma(q, v, 2.755731922398589e-07)
    q = fma(q, v, 2.7557319223985893e-06)
    q = fma(q, v, 2.48015873015873e-05)
    q = fma(q, v, 0.0001984126984126984)
    q = fma(q, v, 0.001388888888888889)
    q = fma(q, v, 0.008333333333333333)
    q = fma(q, v, 0.041666666666666664)
    q = fma(q, v, 0.16666666666666666)
    q = fma(q, v, 0.5)
    q = fma(q, v, 1.0)
    q = fma(q, v, 1.0)
    cdef double y = q * power_of_two(n)
    y = y if u < 1023.0 else INFINITY
    return y if u > -1022.0 else 0.0


cdef inline pair log2_pair(double x) noexcept nogil:
    """log2 of a finite x > 0, error below 2^-68 + 2^-104 |log2 x|."""
    cdef double m
    cdef double k = split(x, &m)
    cdef double top = m - 1.0  # exact
    cdef double bottom = m + 1.0
    cdef pair f, z, s
    f.hi = top / bottom
    # the remainder of that division, with what m + 1 lost
    f.lo = (fma(-f.hi, bottom, top) - f.hi * (m - (bottom - 1.0))) / bottom
    z.hi = f.hi * f.hi
    z.lo = fma(f.hi, f.hi, -z.hi) + 2.0 * f.hi * f.lo
    # log(m) = 2 atanh(f) = 2 f (1 + z/3 + z^2/5 + ...): double will do from z^3 on
    cdef double q = 0.037037037037037035  # 1/27
    q = fma(q, z.hi, 0.04)
    q = fma(q, z.hi, 0.043478260869565216)
    q = fma(q, z.hi, 0.047619047619047616)
    q = fma(q, z.hi, 0.05263157894736842)
    q = fma(q, z.hi, 0.058823529411764705)
    q = fma(q, z.hi, 0.06666666666666667)
    q = fma(q, z.hi, 0.07692307692307693)
    q = fma(q, z.hi, 0.09090909090909091)
    q = fma(q, z.hi, 0.1111111111111111)
    q = fma(q, z.hi, 0.14285714285714285)
    s = fast_two_sum(0.2, z.hi * q)
    s.lo -= 1.1102230246251566e-17  # what 0.2 is too much
    s = multiply_add(z, s, 0.3333333333333333)
    s.lo += 1.850371707708594e-17
    s = multiply_add(z, s, 1.0)
    s = multiply(s, f)
    # times 2 / ln(2), itself a pair
    z.hi = 2.8853900817779268
    z.lo = 4.0710547481862066e-17
    f = multiply(s, z)
    s = fast_two_sum(k, f.hi)
    return fast_two_sum(s.hi, s.lo + f.lo)


cdef inline pair exp2_pair(pair u, double* scale) noexcept nogil:
    """2^u as result * scale, relative error below 2^-68; -1022 <= u <= 1023 is the caller's to see to."""
    cdef double n = (u.hi + 6755399441055744.0) - 6755399441055744.0
    cdef pair v, s
    scale[0] = power_of_two(n)
    s.hi = u.hi - n  # exact
    s.lo = u.lo
    v.hi = 0.6931471805599453
    v.lo = 2.3190468138462996e-17
    v = multiply(s, v)
    # e^v: double will do from v^6 on
    cdef double q = 7.647163731819816e-13  # 1/15!
    q = fma(q, v.hi, 1.1470745597729725e-11)
    q = fma(q, v.hi, 1.6059043836821613e-10)
    q = fma(q, v.hi, 2.08767569878681e-09)
    q = fma(q, v.hi, 2.505210838544172e-08)
    q = fma(q, v.hi, 2.755731922398589e-07)
    q = fma(q, v.hi, 2.7557319223985893e-06)
    q = fma(q, v.hi, 2.48015873015873e-05)
    q = fma(q, v.hi, 0.0001984126984126984)
    q = fma(q, v.hi, 0.001388888888888889)
    s = fast_two_sum(0.008333333333333333, v.hi * q)
    s.lo += 1.1564823173178714e-19
    s = multiply_add(v, s, 0.041666666666666664)
    s.lo += 2.3129646346357427e-18
    s = multiply_add(v, s, 0.16666666666666666)
    s.lo += 9.25185853854297e-18
    s = multiply_add(v, s, 0.5)
    s = multiply_add(v, s, 1.0)
    return multiply_add(v, s, 1.0)
