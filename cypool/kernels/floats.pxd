# Element types as the kernels see them, and the way between each of them and double.
#
# Apart from the kernels because every one of them reads and writes the same four types. numpy has no bfloat16, and a float16 is
# cheapest as its bits, so both arrive as 16-bit integers; that one is unsigned and the other signed is how the fused type tells them
# apart, and means nothing else.

from libc.math cimport NAN, fabs, rint

ctypedef unsigned short float16
ctypedef short bfloat16

ctypedef fused element:
    float16
    bfloat16
    float
    double

cdef union double_bits:
    unsigned long long bits
    double value


cdef extern from "vectors.h" nogil:
    double from_float16 "cypool_from_float16"(float16 bits)
    double from_bfloat16 "cypool_from_bfloat16"(bfloat16 bits)


cdef inline double magnitude(const element* x, Py_ssize_t i) noexcept nogil:
    """|x[i]|, exactly."""
    if element is float16:
        return fabs(from_float16(x[i]))
    elif element is bfloat16:
        return fabs(from_bfloat16(x[i]))
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


cdef inline double signed_value(const element* x, Py_ssize_t i) noexcept nogil:
    """x[i], exactly."""
    if element is float16:
        return from_float16(x[i])
    elif element is bfloat16:
        return from_bfloat16(x[i])
    else:
        return <double>x[i]


cdef inline void store_signed(element* y, double value) noexcept nogil:
    """y[0] = ``value``, of any sign, rounded once to its type; every NaN is the same."""
    cdef double_bits d
    cdef unsigned short sign
    if element is double or element is float:
        y[0] = <element>value if value == value else <element>NAN
    else:
        d.value = value
        sign = <unsigned short>(d.bits >> 48) & 0x8000 if value == value else 0
        y[0] = <element>(narrow(fabs(value), 10 if element is float16 else 7, 15 if element is float16 else 127) | sign)
