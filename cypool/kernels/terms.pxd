# Terms of a sum: how to raise to p > 0, whatever p is.
#
# Apart from the sums because what p is decides everything here and nothing there.

from libc.math cimport INFINITY, floor

from .powers cimport exp2_inside, exp2_pairs, log2, log2_pairs, pairs, two_sums
from .vectors cimport absolute, absolute_floats, between, clamped, floats, fused, root, root_rest, splat, square_root, vector, wide

cdef enum:
    FAR = 680

cdef enum Kind:
    WHOLE  # p an integer
    HALVES  # p an integer and a half
    ANY
    LARGEST  # p infinite; from here on there is better than a sum, see ``fold``
    PEAKED  # p so large that the exponents of terms outgrow a double
    VANISHING  # p so small that two terms make the root overflow

# Tag types: each way to raise by multiplying is a type of its own, which forces one specialised loop for each. Which way it is is decided
# before a loop and not in it, whatever the compiler makes of constants.
cdef struct First:
    int unused

cdef struct Second:
    int unused

cdef struct Third:
    int unused

cdef struct Fourth:
    int unused

cdef struct Far:  # p = 1 and 2 of elements times a scale
    double scale
    bint square

cdef struct Squaring:
    int whole  # p is this

cdef struct Rooting:
    int whole  # p is this and a half

ctypedef fused way:
    First
    Second
    Third
    Fourth
    Far
    Squaring
    Rooting

cdef struct power:
    Kind kind
    int whole  # the integer part, for WHOLE and HALVES
    double p
    int step  # what leaves the range is scaled by powers of 2^step; even, so that p times it is an integer
    First first
    Second second
    Third third
    Fourth fourth
    Squaring squaring
    Rooting rooting


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
    result.step = 2 * <int>(FAR / p) if 2.0 < p < FAR else FAR
    result.first.unused = result.second.unused = result.third.unused = result.fourth.unused = 0
    result.squaring.whole = result.rooting.whole = result.whole
    return result


cdef inline vector raised_vector(vector a, const way* how) noexcept nogil:
    """a^p for elements a >= 0; for p = 2 and 4 of any sign."""
    if way is First:
        return a
    elif way is Second:
        return a * a
    elif way is Third:
        return a * a * a
    elif way is Fourth:
        return (a * a) * (a * a)
    elif way is Far:
        a = a * splat(how.scale)
        return a * a if how.square else absolute(a)
    elif way is Squaring:
        return times_whole(splat(1.0), a, how.whole)
    else:
        return times_whole(square_root(a), a, how.whole)


cdef inline vector times_whole(vector result, vector a, int n) noexcept nogil:
    """result * a^n."""
    if n & 1:
        result = result * a
    while n > 1:
        n >>= 1
        a = a * a
        if n & 1:
            result = result * a
    return result


cdef inline vector raised_floats(floats x, const way* how) noexcept nogil:
    """|x|^p for elements narrower than double. Their root takes two thirds of a double's time if it is taken in float and made good: with
    r that root and e = x - r^2, which is exact, sqrt(x) is r + e / 2r, and x * sqrt(x) is r (x + e / 2) = r (3x - r^2) / 2, both to within
    2^-47. In the former, e is a float, and lost where x < 2^-100."""
    cdef vector a, r
    if way is not Second and way is not Fourth:
        x = absolute_floats(x)
    a = wide(x)
    if way is Rooting:
        r = wide(root(x))
        if how.whole == 0:
            return r + wide(root_rest(x, root(x)))
        return times_whole(r * (a * 1.5 - r * r * 0.5), a, how.whole - 1)
    else:
        return raised_vector(a, how)


cdef inline pairs root_pairs(vector a) noexcept nogil:
    """a^0.5, with what a double does not hold: ``raised_floats`` has the reasoning. The tiny summand is for roots that are zero."""
    cdef pairs r
    r.hi = square_root(a)
    r.lo = fused(-r.hi, r.hi, a) / (r.hi + (r.hi + 2.4099198651028841e-181))  # 2^-600
    return r


# Any other power in two steps, as one after the other both take more instructions than processors look ahead.
cdef inline pairs any_logarithm(vector a, double p, double exponent, bint paired) noexcept nogil:
    """log2(a) * p - exponent; the numbers of doubles as pairs. For what is not an ordinary number it is something."""
    cdef pairs v, u
    cdef vector hi
    if paired:
        v = log2_pairs(between(a, splat(0.0), splat(INFINITY), a, splat(1.0)))
        hi = v.hi * p
        u = two_sums(hi, splat(-exponent))
        return two_sums(u.hi, u.lo + (fused(v.hi, splat(p), -hi) + v.lo * p))
    u.hi = u.lo = clamped(log2(a) * p - exponent, splat(-1022.0), splat(1023.0))  # what leaves the range shows in the sum
    return u


cdef inline pairs any_power(vector a, pairs u, bint paired) noexcept nogil:
    """2^u, with what a double does not hold; zero, infinity and NaN stay what they are."""
    cdef pairs t
    if paired:
        t = exp2_pairs(u)
        t.lo = between(a, splat(0.0), splat(INFINITY), t.lo, splat(0.0))
    else:
        t.hi = t.lo = exp2_inside(u.hi)
    t.hi = between(a, splat(0.0), splat(INFINITY), t.hi, a)
    return t
