# Exact sums of doubles: a superaccumulator, that is an integer wide enough for the sum of any doubles.
#
# Digits of 32 bits stand in 64-bit integers, so 2^30 numbers can be added before a carry has to go anywhere.

from libc.string cimport memset

from .floats cimport double_bits
from .powers cimport pair, two_sum

cdef enum:
    DIGITS = 70  # 2^-1074 up to 2^1166: room for 2^63 of the largest doubles, and for two digits past the last
    CARRY_AFTER = 1 << 30

# Digit i weighs 2^(32 i - 1074). Digits are signed.
cdef struct accumulator:
    long long digits[DIGITS]
    Py_ssize_t added  # since carries were last passed on

# (hi + lo) * 2^exponent, hi as large as a 64-bit integer and lo no more than its rounding.
cdef struct scaled:
    double hi
    double lo
    int exponent


cdef inline void clear(accumulator* sum) noexcept nogil:
    """Set the sum to zero."""
    memset(sum, 0, sizeof(accumulator))


cdef inline void pass_carries(accumulator* sum) noexcept nogil:
    """Bring all digits but the last into [0, 2^32)."""
    cdef int i
    for i in range(DIGITS - 1):
        sum.digits[i + 1] += sum.digits[i] >> 32
        sum.digits[i] &= <long long>0xffffffff
    sum.added = 0


cdef inline void accumulate_exactly(accumulator* sum, double x) noexcept nogil:
    """Add a finite number."""
    cdef double_bits d
    cdef unsigned long long mantissa, rest
    cdef long long sign
    cdef int place, shift
    d.value = x
    place = (d.bits >> 52) & 0x7ff
    mantissa = d.bits & <unsigned long long>0xfffffffffffff
    if place:
        mantissa |= <unsigned long long>1 << 52
        place -= 1
    sign = -1 if d.bits >> 63 else 1
    shift = place & 31
    place >>= 5
    rest = mantissa >> (32 - shift)
    sum.digits[place] += sign * <long long>((mantissa << shift) & <unsigned long long>0xffffffff)
    sum.digits[place + 1] += sign * <long long>(rest & <unsigned long long>0xffffffff)
    sum.digits[place + 2] += sign * <long long>(rest >> 32)
    sum.added += 1
    if sum.added == CARRY_AFTER:
        pass_carries(sum)


cdef inline scaled rounded_sum(accumulator* sum) noexcept nogil:
    """Return the sum to 64 bits; hi alone is the sum rounded to nearest."""
    cdef scaled result
    cdef pair parts
    cdef bint negative
    cdef unsigned long long top, below
    cdef int i, high, shift
    pass_carries(sum)
    negative = sum.digits[DIGITS - 1] < 0
    if negative:
        for i in range(DIGITS):
            sum.digits[i] = -sum.digits[i]
        pass_carries(sum)
    high = DIGITS - 1
    while high > 1 and sum.digits[high] == 0:
        high -= 1
    # the digit that is not zero and the two below it, as 64 bits from the first one on
    top = (<unsigned long long>sum.digits[high] << 32) | <unsigned long long>sum.digits[high - 1]
    below = <unsigned long long>sum.digits[high - 2] if high > 1 else 0
    result.hi = result.lo = 0.0
    result.exponent = 0
    if top == 0:
        return result
    shift = 0
    while not (top << shift) >> 63:
        shift += 1
    top = (top << shift) | ((below << shift) >> 32)
    if shift < 32:
        below = (below << shift) & <unsigned long long>0xffffffff
    else:
        below = 0  # high is 1 then, and there is nothing below
    for i in range(high - 2):
        below |= <unsigned long long>sum.digits[i]
    if below:
        top |= 1  # what is dropped shows in the last bit, which is far below the one that counts
    parts = two_sum(<double>(top >> 11 << 11), <double>(top & 0x7ff))
    result.hi = -parts.hi if negative else parts.hi
    result.lo = -parts.lo if negative else parts.lo
    result.exponent = 32 * (high - 1) - 1074 - shift
    return result


cdef inline double quotient(double hi, double lo, double count) noexcept nogil:
    """Return (hi + lo) / count, rounded once but for 2^-100 of it.

    It is the quotient of hi and what that lacks. Its product with a count below 2^26 is taken in two parts
    that are exact."""
    cdef double_bits upper
    cdef double lower, q = hi / count
    upper.value = q
    upper.bits &= ~<unsigned long long>0x7ffffff
    lower = q - upper.value
    return q + (((hi - upper.value * count) - lower * count) + lo) / count
