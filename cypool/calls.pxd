cimport numpy as np

from cypool.dispatch cimport Launch


cdef class Prepared:
    cdef object version
    cdef tuple outputs  # type and shape of each
    cdef bint single  # whether there is one of them
    cdef np.npy_intp sizes[64]  # the shape of the first, as numpy's C interface takes it; numpy has no more axes
    cdef int rank, type  # numpy's number of its type
    cdef tuple left_out  # None for each input that the call does not name, if there is one
    cdef Launch launch
    cdef Py_ssize_t stated  # place of the input whose values are a shape, -1 where there is none
    cdef dict by_shape  # what follows from these values as well


cdef class Calls:
    cdef object prepare
    cdef dict cache

    cdef Prepared prepared(self, op, opset, tuple attributes, tuple arrays, outputs)
    cdef Prepared by_values(self, Prepared like, op, opset, tuple attributes, tuple arrays, outputs)
    cdef Prepared made(self, op, opset, tuple attributes, tuple arrays, outputs)


cdef int start(Prepared call, tuple arrays, tuple results, threads) except -1
