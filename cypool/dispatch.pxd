cdef class Launch:
    cdef object view, output
    cdef bint several
    cdef str name
    cdef tuple shape, views
    cdef double work

    cdef bint go(self, tuple arrays, tuple outputs, threads) except -1
    cdef bint run(self, tuple arrays, tuple outputs, int threads) except -1
    cdef object readable(self, x)
