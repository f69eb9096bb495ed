"""Elements put to their places in an array of zeros: the inverse of a maximum that kept indices.

Elements are copied as integers, bit by bit. Mostly the indices of a plane lie in the same plane of the output; then planes are independent,
and each is zeroed and written while it is in cache. Where an index points into another plane, all is done in order, on one thread.
"""

from cython.parallel cimport prange
from libc.string cimport memset

from .floats cimport bfloat16, element, float16

ctypedef fused word:
    short
    int
    long long


cdef long long strays(const long long* index, Py_ssize_t count, unsigned long long base, unsigned long long size) noexcept nogil:
    """Return a negative number if any index is outside [base, base + size), size > 0; by the signs of the distances to both ends."""
    cdef unsigned long long distance, signs = 0
    cdef Py_ssize_t i
    for i in range(count):
        distance = <unsigned long long>index[i] - base
        signs |= distance | (size - 1 - distance)
    return <long long>signs


cdef void one_plane(const word* x, const long long* index, Py_ssize_t count, Py_ssize_t size, word* y, Py_ssize_t base) noexcept nogil:
    """Zero the ``size`` elements of y from ``base`` on, then y[index[i]] = x[i]."""
    cdef Py_ssize_t i
    memset(y + base, 0, size * sizeof(word))
    for i in range(count):
        y[index[i]] = x[i]


cdef Py_ssize_t all_planes(
    const word* x, const long long* index, Py_ssize_t count, word* y, Py_ssize_t size, Py_ssize_t planes, int threads
) noexcept nogil:
    """``count`` elements into ``size`` places, both the same for every plane; the result is that of ``scatter``."""
    cdef Py_ssize_t p, i
    cdef long long outside = 0
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for p in range(planes):
            outside |= strays(index + p * count, count, p * size, size)
        if outside >= 0:
            for p in range(planes):
                one_plane(x + p * count, index + p * count, count, size, y, p * size)
            return -1
    else:
        for p in prange(planes, num_threads=threads, schedule="static"):
            outside |= strays(index + p * count, count, p * size, size)
        if outside >= 0:
            for p in prange(planes, num_threads=threads, schedule="static"):
                one_plane(x + p * count, index + p * count, count, size, y, p * size)
            return -1
    for i in range(planes * count):
        if not 0 <= index[i] < planes * size:
            return i
    one_plane(x, index, planes * count, planes * size, y, 0)
    return -1


def scatter(const element[::1] x, const long long[::1] index, element[::1] y, Py_ssize_t planes, int threads):
    """y = 0, then y[index[i]] = x[i] for each i in turn, so that the last one wins.

    Return -1, or the position of the first index outside [0, len(y)); then nothing was written. ``planes`` is how many equal parts of x and
    of y belong together.
    """
    cdef Py_ssize_t count, size, result = -1
    if not (
        threads > 0 and planes >= 0 and index.shape[0] == x.shape[0]
        and (planes == 0 or (x.shape[0] % planes == 0 and y.shape[0] % planes == 0))
        and (planes > 0 or x.shape[0] == y.shape[0] == 0)
    ):
        raise ValueError("scatter: sizes or threads out of range")
    if y.shape[0] == 0:
        return 0 if x.shape[0] > 0 else -1
    count = x.shape[0] // planes
    size = y.shape[0] // planes
    with nogil:
        if count == 0:
            memset(&y[0], 0, y.shape[0] * sizeof(element))
        elif element is float16 or element is bfloat16:
            result = all_planes(<const short*>&x[0], &index[0], count, <short*>&y[0], size, planes, threads)
        elif element is float:
            result = all_planes(<const int*>&x[0], &index[0], count, <int*>&y[0], size, planes, threads)
        else:
            result = all_planes(<const long long*>&x[0], &index[0], count, <long long*>&y[0], size, planes, threads)
    return result
