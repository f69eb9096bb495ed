cdef class Launch:
    cdef object view
    cdef str name

    cdef bint go(self, tuple arrays, out, threads) except -1
