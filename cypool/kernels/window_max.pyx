"""The maximum of every window of every plane of an array, and where it stands.

Every element has an ordinal: an integer, in the order of the numbers, with -0.0 one below +0.0 and every NaN the same one, above infinity.
The maximum is that of ordinals. So it does not depend on the order of elements, a NaN shows wherever it stands, and the sign of zero is
settled. Positions go by the order of the numbers, in which both zeros are equal: the first of equal maxima counts.
"""

from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .floats cimport bfloat16, float16
from .maxima cimport maxima, of_bfloat16, of_double, of_float, of_float16, of_int8, of_uint8
from .places cimport PLACES_CHUNK, places, places_bfloat16, places_double, places_float, places_float16, places_int8, places_uint8
from .transposes cimport transpose
from .windows cimport AXES, axis, inside, sound, span, start_of

ctypedef signed char int8
ctypedef unsigned char uint8

ctypedef fused pooled:
    float16
    bfloat16
    float
    double
    int8
    uint8

# The planes and their windows. Plane (n, c) starts at base + n * stride_n + c * stride_c. All strides in elements.
cdef struct pooling:
    const char* x
    const char* end  # of the last element
    const maxima* loops
    const places* places
    Py_ssize_t images
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    Py_ssize_t ndim
    const axis* axes
    const Py_ssize_t* strides
    Py_ssize_t rows  # of windows in a plane: those along all axes but the last
    Py_ssize_t plane  # elements of one
    Py_ssize_t steps[AXES]  # by how much the index of an element grows along each axis


include "windows_max.pxi"
include "windows_places.pxi"


cdef inline const maxima* loops_of(const pooled* unused) noexcept nogil:
    if pooled is float16:
        return &of_float16
    elif pooled is bfloat16:
        return &of_bfloat16
    elif pooled is float:
        return &of_float
    elif pooled is double:
        return &of_double
    elif pooled is int8:
        return &of_int8
    else:
        return &of_uint8


cdef inline const places* places_of(const pooled* unused) noexcept nogil:
    if pooled is float16:
        return &places_float16
    elif pooled is bfloat16:
        return &places_bfloat16
    elif pooled is float:
        return &places_float
    elif pooled is double:
        return &places_double
    elif pooled is int8:
        return &places_int8
    else:
        return &places_uint8


cdef inline long long exchanged(long long bits, Py_ssize_t size) noexcept nogil:
    """Turn the bits of a float of ``size`` bytes into its ordinal, and back; both are sign-extended."""
    return bits ^ ((bits >> 63) & (<long long>0x7FFFFFFFFFFFFFFF >> (64 - 8 * size)))


cdef inline long long infinity(const pooled* unused) noexcept nogil:
    """Return the bits of infinity; those of integers have none."""
    if pooled is float16:
        return 0x7C00
    elif pooled is bfloat16:
        return 0x7F80
    elif pooled is float:
        return 0x7F800000
    else:
        return 0x7FF0000000000000


cdef inline long long ordinal(const pooled* x) noexcept nogil:
    """Return the integer that stands for an element in comparisons."""
    cdef short small
    cdef int middle
    cdef long long bits, inf
    if pooled is int8 or pooled is uint8:
        return x[0]
    else:
        if pooled is float16 or pooled is bfloat16:
            small = <short>x[0]
            bits = small
        elif pooled is float:
            memcpy(&middle, x, sizeof(middle))
            bits = middle
        else:
            memcpy(&bits, x, sizeof(bits))
        inf = infinity(x)
        if (bits & (<long long>0x7FFFFFFFFFFFFFFF >> (64 - 8 * sizeof(pooled)))) > inf:
            return inf + ((inf & -inf) >> 1)  # the quiet NaN of no payload
        return exchanged(bits, sizeof(pooled))


cdef inline void put_ordinal(pooled* y, long long place) noexcept nogil:
    """Store the element that an ordinal stands for."""
    cdef int middle
    if pooled is int8 or pooled is uint8:
        y[0] = <pooled>place
    else:
        place = exchanged(place, sizeof(pooled))
        if pooled is float16 or pooled is bfloat16:
            y[0] = <pooled>place
        elif pooled is float:
            middle = <int>place
            memcpy(y, &middle, sizeof(middle))
        else:
            memcpy(y, &place, sizeof(place))


cdef inline long long lowest(const pooled* unused) noexcept nogil:
    """Return the ordinal of an empty window's maximum: -infinity, or the lowest integer."""
    if pooled is int8:
        return -128
    elif pooled is uint8:
        return 0
    else:
        return ~infinity(unused)


cdef void one_window(
    const pooled* x, const pooling* of, const span* spans, long long base, pooled* y, long long* index
) noexcept nogil:
    """The maximum of one window of the plane at x, and its index unless that is NULL; ``base`` is the index of the first element."""
    cdef Py_ssize_t tap[AXES]
    cdef Py_ssize_t last = of.ndim - 1, i, k, offset = 0, place = 0
    cdef Py_ssize_t stride = apart(of, last), step = min(of.axes[last].dilation, of.axes[last].size) * of.steps[last]
    cdef long long most = lowest(x), leading = 0, current
    cdef Py_ssize_t found = -1
    for i in range(of.ndim):
        if spans[i].taps == 0:
            put_ordinal(y, most)
            if index != NULL:
                index[0] = -1
            return
        tap[i] = 0
        offset += spans[i].position * of.strides[i]
        place += spans[i].position * of.steps[i]
    while True:
        for k in range(spans[last].taps):
            current = ordinal(x + offset + k * stride)
            most = max(most, current)
            if index != NULL:
                if (pooled is not int8 and pooled is not uint8) and current == -1:
                    current = 0  # -0.0 equals +0.0
                if found < 0 or current > leading:
                    leading = current
                    found = place + k * step
        i = last - 1
        while i >= 0:
            tap[i] += 1
            offset += apart(of, i)
            place += min(of.axes[i].dilation, of.axes[i].size) * of.steps[i]
            if tap[i] < spans[i].taps:
                break
            offset -= tap[i] * apart(of, i)
            place -= tap[i] * min(of.axes[i].dilation, of.axes[i].size) * of.steps[i]
            tap[i] = 0
            i -= 1
        if i < 0:
            break
    put_ordinal(y, most)
    if index != NULL:
        index[0] = base + found


cdef void one_row(const pooled* x, const pooling* of, Py_ssize_t row, pooled* y, long long* indices) noexcept nogil:
    """Row ``row`` of the windows of all planes; y and indices (unless NULL) are the whole outputs."""
    cdef span spans[AXES]
    cdef Py_ssize_t last = of.ndim - 1, plane = row // of.rows, rest = row % of.rows, i, o
    cdef Py_ssize_t out = row * of.axes[last].count
    x += plane // of.channels * of.stride_n + plane % of.channels * of.stride_c
    for i in range(last - 1, -1, -1):
        spans[i] = inside(&of.axes[i], rest % of.axes[i].count)
        rest = rest // of.axes[i].count
    for o in range(of.axes[last].count):
        spans[last] = inside(&of.axes[last], o)
        one_window(x, of, spans, <long long>plane * of.plane, y + out + o, NULL if indices == NULL else indices + out + o)


cdef void values_and_indices(const pooled* x, const pooling* of, pooled* y, long long* indices, int threads) noexcept nogil:
    """All windows of all planes. Threads share out rows of windows."""
    cdef Py_ssize_t rows = of.images * of.channels * of.rows, row
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for row in range(rows):
            one_row(x, of, row, y, indices)
    else:
        for row in prange(rows, num_threads=threads, schedule="static"):
            one_row(x, of, row, y, indices)


cdef Py_ssize_t prepare(
    const pooled[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, Py_ssize_t outputs, bint column_major, int threads,
    pooling* of,
) except -1:
    """Fill in ``of``; return how many windows there are, and raise ValueError where that isn't as many as outputs."""
    cdef Py_ssize_t i, k, expected
    of.images = x.shape[0]
    of.channels = x.shape[1]
    of.stride_n = x.strides[0] // <Py_ssize_t>sizeof(pooled)
    of.stride_c = x.strides[1] // <Py_ssize_t>sizeof(pooled)
    of.ndim = axes.shape[0]
    if not (threads > 0 and 0 < of.ndim <= AXES and strides.shape[0] == of.ndim and axes.shape[1] == sizeof(axis) // sizeof(Py_ssize_t)):
        raise ValueError("window_max: axes, strides or threads out of range")
    of.axes = <const axis*>&axes[0, 0]
    of.strides = &strides[0]
    if not sound(of.axes, of.ndim):
        raise ValueError("window_max: an axis out of range")
    of.rows = of.plane = 1
    for i in range(of.ndim):
        k = i if column_major else of.ndim - 1 - i
        of.steps[k] = of.plane
        of.plane *= of.axes[k].size
        if i < of.ndim - 1:
            of.rows *= of.axes[i].count
    expected = of.images * of.channels * of.rows * of.axes[of.ndim - 1].count
    if outputs != expected:
        raise ValueError("window_max: an output of another size")
    if expected > 0:
        of.loops = loops_of(&x[0, 0])
        of.places = places_of(&x[0, 0])
        of.x = <const char*>&x[0, 0]
        of.end = of.x + sizeof(pooled) * (
            1 + max(<Py_ssize_t>0, (of.images - 1) * of.stride_n) + max(0, (of.channels - 1) * of.stride_c)
        )
        for i in range(of.ndim):
            of.end += sizeof(pooled) * max(0, (of.axes[i].size - 1) * of.strides[i])
    return expected


def window_max(const pooled[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, pooled[::1] y, int threads):
    """y[n, c, o...] = the maximum of window o of plane (n, c): -infinity or the lowest integer if that is empty, NaN if it holds one.

    x is the first element of each plane, ``strides`` (in elements) lead from there along the axes, whose rows are as ``windows.axis`` says.
    If a size is 0, x is not read. y is flat.
    """
    cdef pooling of
    if prepare(x, strides, axes, y.shape[0], False, threads, &of) > 0:
        with nogil:
            values(&of, <char*>&y[0], threads)


def window_max_indices(
    const pooled[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, pooled[::1] y, long long[::1] indices,
    bint column_major, int threads,
):
    """The same, and for each window the index of the first of its maxima in row-major order, -1 if it is empty.

    Of several NaNs the first counts; both zeros are equal. The index is (n * C + c) * plane + the offset inside the plane, which is
    row-major or column-major.
    """
    cdef pooling of
    if indices.shape[0] != y.shape[0]:
        raise ValueError("window_max_indices: as many indices as windows")
    if prepare(x, strides, axes, y.shape[0], column_major, threads, &of) > 0:
        with nogil:
            if not indexed(&of, <char*>&y[0], &indices[0], threads):
                values_and_indices(&x[0, 0], &of, &y[0], &indices[0], threads)
