# Windows along the axes of a plane, and which of their taps lie inside it.
#
# Shared by all kernels over windows. Paddings, taps and dilations may be as large as 2^62, so no product of them is formed before it is
# clipped; sums that may leave the range on the way, but not in the end, are those of unsigned integers, which wrap around.

cdef enum:
    AXES = 64  # of a plane at most, as numpy has it

# One row of the table of axes that a kernel is given. Window o covers first + o * stride + k * dilation for k < taps. Of these positions,
# those in [0, size) hold elements, and those in [first, padded) lie inside the padded plane.
cdef struct axis:
    Py_ssize_t size
    Py_ssize_t count  # windows
    Py_ssize_t first
    Py_ssize_t stride
    Py_ssize_t taps
    Py_ssize_t dilation
    Py_ssize_t padded

# The taps of a window that hold elements: ``taps`` of them, from ``position`` on, ``dilation`` apart.
cdef struct span:
    Py_ssize_t position
    Py_ssize_t taps


cdef inline bint sound(const axis* axes, Py_ssize_t count) noexcept nogil:
    """Whether the loops over windows may rely on these axes."""
    cdef Py_ssize_t far = <Py_ssize_t>1 << 62, i
    for i in range(count):
        a = &axes[i]
        if not (
            a.size >= 0 and a.count >= 0 and a.stride > 0 and a.taps > 0 and a.dilation > 0 and -far <= a.first <= far and a.size <= far
        ):
            return False
        # the last window starts at an integer
        if a.count > 0 and <size_t>(a.count - 1) > (2 * <size_t>far - 1 - <size_t>a.first) // <size_t>a.stride:
            return False
    return count <= AXES


cdef inline Py_ssize_t start_of(const axis* a, Py_ssize_t window) noexcept nogil:
    """Return the position of a window's first tap."""
    return <Py_ssize_t>(<size_t>a.first + <size_t>window * <size_t>a.stride)


cdef inline span inside(const axis* a, Py_ssize_t window) noexcept nogil:
    """Return the taps of a window that hold elements."""
    cdef Py_ssize_t start = start_of(a, window), before = 0, until = 0
    cdef span result
    if start < 0:
        before = (-start - 1) // a.dilation + 1
    if start < a.size:
        until = min(a.taps, (a.size - 1 - start) // a.dilation + 1)
    result.taps = max(0, until - before)
    result.position = <Py_ssize_t>(<size_t>start + <size_t>before * <size_t>a.dilation) if result.taps else 0
    return result


cdef inline Py_ssize_t padded_taps(const axis* a, Py_ssize_t window) noexcept nogil:
    """Return how many taps of a window lie inside the padded plane."""
    cdef Py_ssize_t start = start_of(a, window)
    if start >= a.padded:
        return 0
    return <Py_ssize_t>min(<size_t>a.taps, (<size_t>a.padded - <size_t>start - 1) // <size_t>a.dilation + 1)
