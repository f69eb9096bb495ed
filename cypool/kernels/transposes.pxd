# Transposes of any size, made of the squares of transpose.h: what turns planes into interleaved channels and back.

from .floats cimport element

ctypedef fused key:
    short
    int
    long long

cdef extern from "transpose.h" nogil:
    void square_8 "cypool_square_8"(const short* x, Py_ssize_t stride_x, short* y, Py_ssize_t stride_y)
    void square_4 "cypool_square_4"(const int* x, Py_ssize_t stride_x, int* y, Py_ssize_t stride_y)
    void square_2 "cypool_square_2"(const long long* x, Py_ssize_t stride_x, long long* y, Py_ssize_t stride_y)
    void two_8 "cypool_two_8"(const short* x, Py_ssize_t stride_x, short* y, Py_ssize_t stride_y)
    void two_4 "cypool_two_4"(const int* x, Py_ssize_t stride_x, int* y, Py_ssize_t stride_y)
    void two_2 "cypool_two_2"(const long long* x, Py_ssize_t stride_x, long long* y, Py_ssize_t stride_y)

cdef enum:
    SIDE_BYTES = 16  # of the squares that are transposed at a time


cdef inline void square(const key* x, Py_ssize_t stride_x, key* y, Py_ssize_t stride_y) noexcept nogil:
    """Transpose SIDE_BYTES by SIDE_BYTES."""
    if key is short:
        square_8(x, stride_x, y, stride_y)
    elif key is int:
        square_4(x, stride_x, y, stride_y)
    else:
        square_2(x, stride_x, y, stride_y)


cdef inline void two_squares(const key* x, Py_ssize_t stride_x, key* y, Py_ssize_t stride_y) noexcept nogil:
    """The same for a square and the one below it."""
    if key is short:
        two_8(x, stride_x, y, stride_y)
    elif key is int:
        two_4(x, stride_x, y, stride_y)
    else:
        two_2(x, stride_x, y, stride_y)


cdef inline void transpose(
    const key* x, Py_ssize_t stride_x, Py_ssize_t rows, Py_ssize_t columns, key* y, Py_ssize_t stride_y
) noexcept nogil:
    """y[j, i] = x[i, j] for ``rows`` by ``columns`` elements of x. The last squares of a row or column overlap those before them."""
    cdef Py_ssize_t side = SIDE_BYTES // sizeof(key)
    cdef Py_ssize_t i = 0, j, down, across
    if rows < side or columns < side:
        for j in range(columns):
            for i in range(rows):
                y[j * stride_y + i] = x[i * stride_x + j]
        return
    while i < rows:
        down = min(i, rows - (2 * side if rows >= 2 * side else side))
        j = 0
        while j < columns:
            across = min(j, columns - side)
            if rows >= 2 * side:
                two_squares(x + down * stride_x + across, stride_x, y + across * stride_y + down, stride_y)
            else:
                square(x + down * stride_x + across, stride_x, y + across * stride_y + down, stride_y)
            j += side
        i = down + (2 * side if rows >= 2 * side else side)


cdef inline void turn(
    const element* x, Py_ssize_t stride_x, Py_ssize_t rows, Py_ssize_t columns, element* y, Py_ssize_t stride_y
) noexcept nogil:
    """Transpose elements as keys of their size."""
    if element is double:
        transpose(<const long long*>x, stride_x, rows, columns, <long long*>y, stride_y)
    elif element is float:
        transpose(<const int*>x, stride_x, rows, columns, <int*>y, stride_y)
    else:
        transpose(<const short*>x, stride_x, rows, columns, <short*>y, stride_y)
