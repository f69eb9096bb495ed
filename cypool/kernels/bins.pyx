"""Cuts regions, given by coordinates, into bins, as the boxes that ``box_max`` takes.

Apart from ``box_max`` because other ways to cut go with the same maximum. Coordinates are scaled and cut in the floating-point type they
come in, one product or quotient at a time; what is an integer is as wide as it has to be.
"""

cdef extern from *:
    """
    #include <math.h>
    #ifdef __SIZEOF_INT128__
      typedef __int128 cypool_wide;  /* holds FARTHEST, and sums of it */
      #define CYPOOL_FARTHEST 0x1p120
    #else
      typedef long long cypool_wide;
      #define CYPOOL_FARTHEST 0x1p60
    #endif
    """
    ctypedef long long wide "cypool_wide"
    float roundf(float) nogil
    float floorf(float) nogil
    float ceilf(float) nogil
    double round(double) nogil
    double floor(double) nogil
    double ceil(double) nogil
    const double FARTHEST "CYPOOL_FARTHEST"

ctypedef fused real:
    float
    double


cdef inline real product(real coordinate, real scale) noexcept nogil:
    """One product. One that overflows has to stand for some pixel: it, and all beyond FARTHEST, count as FARTHEST."""
    cdef real result = coordinate * scale
    if result > FARTHEST:
        return <real>FARTHEST
    return result if result > -FARTHEST else <real>-FARTHEST


cdef inline void cut(real start, real end, Py_ssize_t count, Py_ssize_t size, Py_ssize_t* bounds) noexcept nogil:
    """Bin i of an interval runs from floor(i * b) up to ceil((i + 1) * b) from its start on, b = extent / count; cut to [0, size]."""
    cdef wide first, last, low, high
    cdef real width
    cdef Py_ssize_t i
    # halves go away from zero, as C has it; the end is inside, and a reversed interval is one pixel
    if real is float:
        first = <wide>roundf(start)
        last = <wide>roundf(end)
    else:
        first = <wide>round(start)
        last = <wide>round(end)
    width = <real>(last - first + 1 if last > first else 1) / <real>count
    for i in range(count):
        if real is float:
            low = <wide>floorf(<real>i * width) + first
            high = <wide>ceilf(<real>(i + 1) * width) + first
        else:
            low = <wide>floor(<real>i * width) + first
            high = <wide>ceil(<real>(i + 1) * width) + first
        bounds[2 * i] = <Py_ssize_t>(0 if low < 0 else (low if low < size else size))
        bounds[2 * i + 1] = <Py_ssize_t>(0 if high < 0 else (high if high < size else size))


cdef inline bint fits(real value, Py_ssize_t size) noexcept nogil:
    """Whether it is one of 0, 1 ... size - 1."""
    return 0 <= value < size and value == <real><Py_ssize_t>value


def inclusive_boxes(
    const real[:, :] regions, real scale, Py_ssize_t images, Py_ssize_t height, Py_ssize_t width, Py_ssize_t bins_h,
    Py_ssize_t[:, ::1] boxes,
):
    """Rows of ``regions`` are image, left, top, right, bottom; boxes[r] = image, (start, stop) of the bins down, (start, stop) of those
    across. Returns the first row whose image is none, or that has a coordinate that is not finite; -1 if there is none.
    """
    cdef Py_ssize_t r, bins_w = (boxes.shape[1] - 1) // 2 - bins_h
    cdef int k
    cdef Py_ssize_t wrong = -1
    cdef bint right
    if not (boxes.shape[0] == regions.shape[0] and regions.shape[1] == 5 and bins_h > 0 and bins_w > 0 and boxes.shape[1] % 2 == 1):
        raise ValueError("inclusive_boxes: sizes do not fit")
    with nogil:
        for r in range(regions.shape[0]):
            right = fits[real](regions[r, 0], images)
            for k in range(1, 5):
                right = right and regions[r, k] - regions[r, k] == 0
            if not right:
                wrong = r
                break
            boxes[r, 0] = <Py_ssize_t>regions[r, 0]
            cut[real](product[real](regions[r, 2], scale), product[real](regions[r, 4], scale), bins_h, height, &boxes[r, 1])
            cut[real](product[real](regions[r, 1], scale), product[real](regions[r, 3], scale), bins_w, width, &boxes[r, 1 + 2 * bins_h])
    return wrong
