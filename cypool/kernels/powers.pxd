# Logarithms and powers of two for vectors of positive doubles.
#
# Apart from libm for three reasons: libm takes one number at a time, its last bit differs between systems, and double is not enough for the
# root of a sum: y = 2^(log2(S) / p) has the absolute error of the logarithm as its relative error. So a number here is an unevaluated sum
# hi + lo of two doubles where that is needed, and a plain double where the result is rounded to 24 bits or fewer. A fused multiply-add is
# exact by definition, so it costs no bit of reproducibility where a build lacks the instruction. Errors stated are bounds for the series;
# what an argument brings along comes on top.

from libc.math cimport INFINITY

from .vectors cimport between, fused, power_of_two, splat, split, vector

cdef struct pair:
    double hi
    double lo

cdef struct pairs:
    vector hi
    vector lo


cdef inline pair two_sum(double a, double b) noexcept nogil:
    """a + b exactly."""
    cdef pair s
    s.hi = a + b
    cdef double bb = s.hi - a
    s.lo = (a - (s.hi - bb)) + (b - bb)
    return s


cdef inline pairs two_sums(vector a, vector b) noexcept nogil:
    """a + b exactly."""
    cdef pairs s
    s.hi = a + b
    cdef vector bb = s.hi - a
    s.lo = (a - (s.hi - bb)) + (b - bb)
    return s


cdef inline pairs ordered_sums(vector a, vector b) noexcept nogil:
    """a + b exactly, where |a| >= |b| or a is 0."""
    cdef pairs s
    s.hi = a + b
    s.lo = b - (s.hi - a)
    return s


cdef inline pairs multiply(pairs a, pairs b) noexcept nogil:
    """a * b."""
    cdef vector hi = a.hi * b.hi
    return ordered_sums(hi, fused(a.hi, b.hi, -hi) + (a.hi * b.lo + a.lo * b.hi))


cdef inline pairs multiply_add(pairs a, pairs b, double c, double c_lo) noexcept nogil:
    """a * b + (c + c_lo), for c no smaller than the product."""
    cdef vector hi = a.hi * b.hi
    cdef vector lo = fused(a.hi, b.hi, -hi) + (a.hi * b.lo + a.lo * b.hi)
    cdef pairs s = ordered_sums(splat(c), hi)
    return ordered_sums(s.hi, s.lo + (lo + c_lo))


cdef inline vector exponent_and_mantissa(vector x, vector* m) noexcept nogil:
    """``split`` for subnormal x too."""
    cdef vector k, lifted = x * 18014398509481984.0  # 2^54
    k = split(between(x, splat(0.0), splat(2.2250738585072014e-308), lifted, x), m)
    return between(x, splat(0.0), splat(2.2250738585072014e-308), k - 54.0, k)


cdef inline vector log2(vector x) noexcept nogil:
    """log2 of normal x > 0, error below 2^-52 + 2^-53 |log2 x|."""
    cdef vector m
    cdef vector k = split(x, &m)
    cdef vector f = (m - 1.0) / (m + 1.0)
    cdef vector z = f * f, z2 = z * z
    # log2(m) = 2 / ln(2) * atanh(f) = f (2 / ln(2) + z q(z)), z < 0.0295; q is the best polynomial, to 2^-58 of what comes out, and
    # evaluated by halves, as each step of a plain evaluation would wait for the one before
    cdef vector low = fused(fused(splat(0.32059873801755956), z, splat(0.41219858389807806)), z2,
                            fused(splat(0.5770780163541355), z, splat(0.961796693925976)))
    cdef vector high = fused(splat(0.21087079482579318), z2, fused(splat(0.22118998720784724), z, splat(0.2623236397007203)))
    return k + fused(f * z, fused(high, z2 * z2, low), f * 2.8853900817779268)


cdef inline vector exp2_inside(vector u) noexcept nogil:
    """2^u for -1022 <= u <= 1023, relative error below 2^-50."""
    cdef vector n = (u + 6755399441055744.0) - 6755399441055744.0
    cdef vector r = u - n  # exact
    cdef vector r2 = r * r, r4 = r2 * r2
    # 1 + r q(r), q the best polynomial, to 2^-58
    cdef vector low = fused(fused(splat(0.009618129107606888), r, splat(0.0555041086648216)), r2,
                            fused(splat(0.24022650695910097), r, splat(0.6931471805599453)))
    cdef vector middle = fused(fused(splat(1.321544258792169e-06), r, splat(1.525273382983612e-05)), r2,
                               fused(splat(0.0001540353044173605), r, splat(0.0013333558146416936)))
    cdef vector high = fused(splat(4.4549605981865186e-10), r2, fused(splat(7.072585949269223e-09), r, splat(1.0178062445845774e-07)))
    low = fused(high, r4 * r4, fused(middle, r4, low))
    return fused(low, r, splat(1.0)) * power_of_two(n)


cdef inline vector exp2(vector u) noexcept nogil:
    """The same for any u: infinity from 1023 on, 0 up to -1022."""
    cdef vector low = splat(-1022.0), high = splat(1023.0)
    cdef vector inside = exp2_inside(between(u, low, high, u, splat(0.0)))
    return between(u, low, high, inside, between(u, splat(0.0), splat(INFINITY), splat(INFINITY), splat(0.0)))


cdef inline pairs log2_pairs(vector x) noexcept nogil:
    """log2 of finite x > 0, error below 2^-68 + 2^-104 |log2 x|."""
    cdef vector m, bottom
    cdef vector k = exponent_and_mantissa(x, &m)
    cdef vector top = m - 1.0  # exact
    cdef pairs f, z, s
    bottom = m + 1.0
    f.hi = top / bottom
    # the remainder of that division, with what m + 1 lost
    f.lo = (fused(-f.hi, bottom, top) - f.hi * (m - (bottom - 1.0))) / bottom
    z.hi = f.hi * f.hi
    z.lo = fused(f.hi, f.hi, -z.hi) + 2.0 * f.hi * f.lo
    # log(m) = 2 atanh(f) = 2 f (1 + z/3 + z^2/5 + ...): double will do from z^3 on
    cdef vector q = splat(0.037037037037037035)  # 1/27
    q = fused(q, z.hi, splat(0.04))
    q = fused(q, z.hi, splat(0.043478260869565216))
    q = fused(q, z.hi, splat(0.047619047619047616))
    q = fused(q, z.hi, splat(0.05263157894736842))
    q = fused(q, z.hi, splat(0.058823529411764705))
    q = fused(q, z.hi, splat(0.06666666666666667))
    q = fused(q, z.hi, splat(0.07692307692307693))
    q = fused(q, z.hi, splat(0.09090909090909091))
    q = fused(q, z.hi, splat(0.1111111111111111))
    q = fused(q, z.hi, splat(0.14285714285714285))
    s = ordered_sums(splat(0.2), z.hi * q)
    s.lo = s.lo - 1.1102230246251566e-17
    s = multiply_add(z, s, 0.3333333333333333, 1.850371707708594e-17)
    s = multiply_add(z, s, 1.0, 0.0)
    s = multiply(s, f)
    # times 2 / ln(2), itself a pair
    z.hi = splat(2.8853900817779268)
    z.lo = splat(4.0710547481862066e-17)
    f = multiply(s, z)
    s = ordered_sums(k, f.hi)
    return ordered_sums(s.hi, s.lo + f.lo)


cdef inline pairs exp2_pairs(pairs u) noexcept nogil:
    """2^u, relative error below 2^-68; infinity from 1023 on, 0 up to -1022."""
    cdef vector low = splat(-1022.0), high = splat(1023.0), zero = splat(0.0)
    cdef vector inside = between(u.hi, low, high, u.hi, zero)
    cdef vector n = (inside + 6755399441055744.0) - 6755399441055744.0
    cdef vector scale = power_of_two(n)
    cdef pairs v, s
    s.hi = inside - n  # exact
    s.lo = between(u.hi, low, high, u.lo, zero)
    v.hi = splat(0.6931471805599453)
    v.lo = splat(2.3190468138462996e-17)
    v = multiply(s, v)
    # e^v: double will do from v^6 on
    cdef vector q = splat(7.647163731819816e-13)  # 1/15!
    q = fused(q, v.hi, splat(1.1470745597729725e-11))
    q = fused(q, v.hi, splat(1.6059043836821613e-10))
    q = fused(q, v.hi, splat(2.08767569878681e-09))
    q = fused(q, v.hi, splat(2.505210838544172e-08))
    q = fused(q, v.hi, splat(2.755731922398589e-07))
    q = fused(q, v.hi, splat(2.7557319223985893e-06))
    q = fused(q, v.hi, splat(2.48015873015873e-05))
    q = fused(q, v.hi, splat(0.0001984126984126984))
    q = fused(q, v.hi, splat(0.001388888888888889))
    s = ordered_sums(splat(0.008333333333333333), v.hi * q)
    s.lo = s.lo + 1.1564823173178714e-19
    s = multiply_add(v, s, 0.041666666666666664, 2.3129646346357427e-18)
    s = multiply_add(v, s, 0.16666666666666666, 9.25185853854297e-18)
    s = multiply_add(v, s, 0.5, 0.0)
    s = multiply_add(v, s, 1.0, 0.0)
    s = multiply_add(v, s, 1.0, 0.0)
    s.hi = between(u.hi, low, high, s.hi * scale, between(u.hi, zero, splat(INFINITY), splat(INFINITY), zero))
    s.lo = between(u.hi, low, high, s.lo * scale, zero)
    return s
