cdef class Launch:
    cdef object view, output
    cdef bint several
    cdef str name
    cdef tuple shape, views
    cdef double work

    cdef Py_ssize_t go(self, tuple arrays, tuple outputs, threads) except -2
    cdef Py_ssize_t run(self, tuple arrays, tuple outputs, int threads) except -2
    cdef object readable(self, x)
