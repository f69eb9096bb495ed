"""Cuts intervals of coordinates into bins, as bounds that ``box_max`` takes, and puts regions in the order of their images.

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


def inclusive_bins(const real[:] start, const real[:] end, real scale, Py_ssize_t size, Py_ssize_t[:, :, ::1] bounds):
    """bounds[r, i] = (start, stop) of bin i of the interval start[r] ... end[r], scaled, within [0, size]."""
    cdef Py_ssize_t r, count = bounds.shape[1]
    if not (bounds.shape[0] == start.shape[0] == end.shape[0] and bounds.shape[2] == 2 and count > 0):
        raise ValueError("inclusive_bins: sizes do not fit")
    with nogil:
        for r in range(start.shape[0]):
            cut[real](product[real](start[r], scale), product[real](end[r], scale), count, size, &bounds[r, 0, 0])


def by_image(const real[:] image, Py_ssize_t[::1] order, Py_ssize_t[::1] begin):
    """Regions order[begin[n]:begin[n + 1]] are those whose image is n, in their order; images are whole numbers in range."""
    cdef Py_ssize_t r, n, place, images = begin.shape[0] - 1
    if image.shape[0] != order.shape[0] or images < 0:
        raise ValueError("by_image: sizes do not fit")
    for n in range(images + 1):
        begin[n] = 0
    for r in range(image.shape[0]):
        if not 0 <= image[r] < images:
            raise ValueError("by_image: an image out of range")
        begin[<Py_ssize_t>image[r]] += 1
    place = 0
    for n in range(images + 1):
        place += begin[n]
        begin[n] = place  # where the next image begins; filled from the back, each ends where it begins itself
    for r in range(image.shape[0] - 1, -1, -1):
        n = <Py_ssize_t>image[r]
        begin[n] -= 1
        order[begin[n]] = r
