# The elements of a window in row-major order.
#
# For windows that are summed one by one; window_mean.pyx sums rows of windows otherwise.

from .windows cimport AXES, axis, inside, span

cdef struct walk:
    span spans[AXES]
    Py_ssize_t steps[AXES]  # from tap to tap, in elements of the array
    Py_ssize_t at[AXES]
    Py_ssize_t offset
    int ndim


cdef inline void set_axis(walk* w, int a, const axis* along, Py_ssize_t stride, Py_ssize_t window) noexcept nogil:
    """Say which window it is along an axis."""
    w.spans[a] = inside(along, window)
    w.steps[a] = along.dilation * stride if w.spans[a].taps > 1 else 0


cdef inline void set_row(walk* w, const axis* axes, const Py_ssize_t* strides, int ndim, Py_ssize_t row) noexcept nogil:
    """Say which windows they are along all axes but the last, from the row of outputs."""
    cdef int a = ndim - 2
    w.ndim = ndim
    while a >= 0:
        set_axis(w, a, &axes[a], strides[a], row % axes[a].count)
        row //= axes[a].count
        a -= 1


cdef inline Py_ssize_t begin(walk* w, const Py_ssize_t* strides) noexcept nogil:
    """Go to the first element; return how many there are."""
    cdef Py_ssize_t size = 1
    cdef int a
    w.offset = 0
    for a in range(w.ndim):
        w.at[a] = 0
        w.offset += w.spans[a].position * strides[a]
        size *= w.spans[a].taps
    return size


cdef inline bint step(walk* w, int a) noexcept nogil:
    """Go to the next place along axis ``a``, or along one before it where that has no more; return whether there is one."""
    while a >= 0:
        w.at[a] += 1
        w.offset += w.steps[a]
        if w.at[a] < w.spans[a].taps:
            return True
        w.offset -= w.at[a] * w.steps[a]
        w.at[a] = 0
        a -= 1
    return False


cdef inline bint next_element(walk* w) noexcept nogil:
    """Go to the next element; return whether there is one."""
    return step(w, w.ndim - 1)


cdef inline bint next_run(walk* w) noexcept nogil:
    """Go to the next row of elements; return whether there is one."""
    return step(w, w.ndim - 2)
