# Element types as the kernels see them, and the way between each of them and double.
#
# Apart from the kernels because every one of them reads and writes the same four types. numpy has no bfloat16, and a float16 is
# cheapest as its bits, so both arrive as 16-bit integers; that one is unsigned and the other signed is how the fused type tells them
# apart, and means nothing else.

from libc.math cimport INFINITY, NAN, fabs, rint

ctypedef unsigned short float16
ctypedef short bfloat16

ctypedef fused element:
    float16
    bfloat16
    float
    double

cdef union float_bits:
    unsigned int bits
    float value

cdef union double_bits:
    unsigned long long bits
    double value


cdef inline double magnitude(const element* x, Py_ssize_t i) noexcept nogil:
    """|x[i]|, exactly."""
    cdef float_bits f
    cdef unsigned int m
    if element is float16:
        # Exponents differ by 112 between the formats: shift the fields into place, let one multiplication move the exponent (this
        # normalises subnormals as well). Infinities and NaN keep all-ones exponents only if they are put back.
        m = (<unsigned int>x[i] & 0x7fff) << 13
        f.bits = m
        f.value = f.value * <float>5.192296858534828e33  # 2^112
        f.bits = f.bits | (0x7f800000 if m >= 0x0f800000 else 0)
        return <double>f.value
    elif element is bfloat16:
        f.bits = (<unsigned int>x[i] & 0x7fff) << 16
        return <double>f.value
    else:
        return fabs(<double>x[i])


cdef inline unsigned short narrow(double value, int mantissa, int bias) noexcept nogil:
    """The bits of the 16-bit float nearest to ``value`` >= 0 (ties to even), straight from double: through float it would round twice."""
    cdef double_bits d
    cdef unsigned int infinity = (2 * bias + 1) << mantissa
    cdef int drop = 52 - mantissa
    cdef unsigned long long rounded
    if value != value:
        return infinity | (1 << (mantissa - 1))
    d.bits = <unsigned long long>(1023 - (1 - bias - mantissa)) << 52  # 1 / the smallest subnormal
    if value * d.value < <double>(1 << (mantissa + 1)):
        return <unsigned short>rint(value * d.value)
    if value > 1e300:
        return infinity
    d.value = value
    rounded = d.bits + (<unsigned long long>1 << (drop - 1)) - 1 + ((d.bits >> drop) & 1)
    rounded = (rounded >> drop) - (<unsigned long long>(1023 - bias) << mantissa)
    return infinity if rounded > infinity else <unsigned short>rounded


cdef inline void store(element* y, double value) noexcept nogil:
    """y[0] = ``value`` >= 0 rounded once to its type."""
    if element is float16:
        y[0] = narrow(value, 10, 15)
    elif element is bfloat16:
        y[0] = <short>narrow(value, 7, 127)
    else:
        y[0] = <element>value
