# Where the samples of a region fall along one axis, as lists of weighted pixels, one list a bin.
#
# Coordinates are computed one operation and one rounding at a time, in the type that they have. What follows from them is exact: the
# weights of all samples that touch a pixel are added up, as pairs, so a bin of b pixels takes b + 1 of them however many samples it has.

from libc.math cimport ceil, isfinite
from libc.stdlib cimport free, malloc, realloc

from .exact cimport quotient
from .powers cimport pair, two_sum

ctypedef fused real:
    float
    double

cdef enum:
    MOST_SAMPLES = 1 << 22  # of a bin along an axis

# A pixel that samples touch with a weight above 0, which is (hi + lo).
cdef struct tap:
    Py_ssize_t pixel
    double hi
    double lo

# The list of a bin: taps first ... last - 1.
cdef struct bin_taps:
    Py_ssize_t first
    Py_ssize_t last
    bint zero  # a sample lies outside the image, or touches a pixel with weight 0

# All lists so far, and room to add up the weights of one bin: for the mean both halves of the sum by pixel, for the maximum the largest and
# the smallest weight and what these lack.
cdef struct tap_lists:
    tap* taps
    Py_ssize_t count
    Py_ssize_t room
    pair* large
    pair* small

# The samples of a region along an axis.
cdef struct sampling:
    Py_ssize_t size  # of the image
    Py_ssize_t count  # of samples in a bin
    double start
    double step  # from bin to bin


cdef inline sampling samples_of(
    real first, real last, real scale, bint half_pixel, Py_ssize_t bins, Py_ssize_t ratio, Py_ssize_t size
) noexcept nogil:
    """Return how a region is sampled; ``count`` is above MOST_SAMPLES if the region has to be refused."""
    cdef sampling result
    cdef real start, end, extent, step, offset = <real>0.5 if half_pixel else 0
    start = first * scale
    start = start - offset
    end = last * scale
    end = end - offset
    extent = end - start
    if not half_pixel and extent < 1:
        extent = 1
    step = extent / <real>bins
    result.size = size
    result.start = start
    result.step = step
    result.count = ratio
    if not (isfinite(first) and isfinite(last)):
        result.count = MOST_SAMPLES + 1
    elif ratio <= 0:
        if not step <= <real>MOST_SAMPLES:  # NaN as well
            result.count = MOST_SAMPLES + 1
        else:
            result.count = <Py_ssize_t>ceil(step) if step > 0 else 0
    return result


cdef inline double coordinate(sampling s, Py_ssize_t bin, Py_ssize_t i, real* type) noexcept nogil:
    """Return where sample i of a bin lies."""
    cdef real step = <real>s.step, base = <real>bin * step, along = <real>i + <real>0.5
    base = <real>s.start + base
    along = along * step
    along = along / <real>s.count
    base = base + along
    return base


cdef Py_ssize_t first_beyond(sampling s, Py_ssize_t bin, double bound, bint strictly, real* type) noexcept nogil:
    """Return the first sample of a bin at or beyond a bound, in the direction that samples go; strictly: beyond it."""
    cdef Py_ssize_t low = 0, high = s.count, middle
    cdef double c
    while low < high:
        middle = low + (high - low) // 2
        c = coordinate(s, bin, middle, type)
        if s.step < 0.0:
            c = -c
        if c > bound or (c == bound and not strictly):
            high = middle
        else:
            low = middle + 1
    return low


cdef inline void add_weight(tap_lists* all, Py_ssize_t pixel, double hi, double lo, bint maximum) noexcept nogil:
    """Add a weight to the sum of a pixel, or make it the largest or smallest one."""
    cdef pair s
    if not maximum:
        s = two_sum(all.large[pixel].hi, hi)
        all.large[pixel].hi = s.hi
        all.large[pixel].lo += s.lo + lo
        return
    if hi > all.large[pixel].hi or (hi == all.large[pixel].hi and lo > all.large[pixel].lo):
        all.large[pixel].hi = hi
        all.large[pixel].lo = lo
    if all.small[pixel].hi == 0.0 or hi < all.small[pixel].hi or (hi == all.small[pixel].hi and lo < all.small[pixel].lo):
        all.small[pixel].hi = hi
        all.small[pixel].lo = lo


cdef int grow(tap_lists* all, Py_ssize_t more) noexcept nogil:
    """Make room for more taps; -1 if there is no memory."""
    cdef Py_ssize_t room
    cdef tap* taps
    if all.count + more > all.room:
        room = 2 * all.room + more
        taps = <tap*>realloc(all.taps, room * sizeof(tap))
        if taps == NULL:
            return -1
        all.taps = taps
        all.room = room
    return 0


cdef int list_bin(tap_lists* all, sampling s, Py_ssize_t bin, bint maximum, bin_taps* result, real* type) noexcept nogil:
    """Make the list of a bin; -1 if there is no memory."""
    cdef Py_ssize_t i, begin = 0, end = 0, low, lowest = s.size, highest = -1
    cdef double c, hi
    cdef pair rest
    result.first = result.last = all.count
    if s.size > 0 and isfinite(s.start) and isfinite(s.step):
        if s.step < 0.0:
            begin = first_beyond(s, bin, -<double>s.size, False, type)
            end = first_beyond(s, bin, 1.0, True, type)
        else:
            begin = first_beyond(s, bin, -1.0, False, type)
            end = first_beyond(s, bin, <double>s.size, True, type)
    result.zero = end - begin < s.count
    for i in range(begin, end):
        c = coordinate(s, bin, i, type)
        c = c if c > 0.0 else 0.0
        low = <Py_ssize_t>c
        if low >= s.size - 1:
            low = s.size - 1
            hi = 0.0
        else:
            hi = c - <double>low
        rest = two_sum(1.0, -hi)
        lowest = min(lowest, low)
        add_weight(all, low, rest.hi, rest.lo, maximum)
        if hi > 0.0:
            add_weight(all, low + 1, hi, 0.0, maximum)
            low += 1
        else:
            result.zero = True
        highest = max(highest, low)
    if grow(all, 2 * (highest - lowest + 1) if highest >= 0 else 0):
        return -1
    for i in range(lowest, highest + 1):
        if all.large[i].hi > 0.0:
            all.taps[all.count].pixel = i
            if maximum:
                all.taps[all.count].hi = all.large[i].hi
                all.taps[all.count].lo = all.large[i].lo
                if all.small[i].hi != all.large[i].hi or all.small[i].lo != all.large[i].lo:
                    all.count += 1
                    all.taps[all.count].pixel = i
                    all.taps[all.count].hi = all.small[i].hi
                    all.taps[all.count].lo = all.small[i].lo
            else:
                all.taps[all.count].hi = quotient(all.large[i].hi, all.large[i].lo, <double>s.count)
                all.taps[all.count].lo = 0.0
            all.count += 1
        all.large[i].hi = all.large[i].lo = all.small[i].hi = all.small[i].lo = 0.0
    result.last = all.count
    return 0
