"""What every call goes through, compiled: small calls are made of little else.

Apart from the modules that say what is to be done, which are asked once for each combination of types, shapes and attributes.
"""

cimport numpy as np

import numpy

from cypool import plan
from cypool.dispatch cimport Launch

np.import_array()

cdef enum:
    MOST = 1024  # combinations kept


cdef class Prepared:
    """What follows from operator, opset, attributes, types and shapes."""

    cdef object version
    cdef tuple shape
    cdef np.npy_intp sizes[64]  # the same; numpy has no more axes
    cdef int type  # numpy's number of the output's
    cdef Launch launch


cdef class Calls:
    """All calls. ``prepare`` says what follows from all but what arrays hold, a Signature and a Launch; it is kept, as most calls are like
    the one before."""

    cdef object prepare
    cdef dict prepared

    def __init__(self, prepare):
        self.prepare = prepare
        self.prepared = {}

    def run(self, op, tuple arrays not None, tuple attributes not None, opset, out, threads):
        """The operator's output; ``attributes`` are names and values in turn."""
        cdef Prepared call
        for array in arrays:
            if type(array) is not np.ndarray:
                arrays = tuple(plan.arrays(op, opset, arrays))
                break
        call = self.known(op, opset, attributes, arrays)
        if threads is not None and (type(threads) is not int or threads < 1):
            threads = plan.check_threads(call.version, threads)
        if out is None:
            y = new(call)
        else:
            plan.check_out(call.version, out, call.shape, arrays[0].dtype)
            y = out
            if type(out) is not np.ndarray or not out.dtype.isnative or any([numpy.may_share_memory(out, array) for array in arrays]):
                y = new(call)
        if not call.launch.go(arrays, y, threads):
            plan.check_values(call.version, arrays)
            raise AssertionError(f"{call.version.name}: a kernel refused what the version allows")
        if out is not None and y is not out:
            out[...] = y
            return out
        return y

    cdef Prepared known(self, op, opset, tuple attributes, tuple arrays):
        """What is known of calls like this one, or will be from now on."""
        cdef Prepared call
        cdef bint kept = True
        cdef list key = [op, opset, type(opset)]
        for value in attributes:  # with types, which tell True, 1 and 1.0 apart
            if isinstance(value, (list, tuple)):
                value = tuple(value)
                key.append(tuple([type(element) for element in value]))
            key.append(type(value))
            key.append(value)
        for array in arrays:
            key.append(<object>np.PyArray_DESCR(<np.ndarray>array))
            key.append((<object>array).shape)
        whole = tuple(key)
        try:
            call = self.prepared.get(whole)
        except TypeError:  # an attribute or opset without a hash, such as an array: most will not do, and ``prepare`` says so
            call, kept = None, False
        if call is None:
            call = Prepared()
            named = dict(zip(attributes[::2], attributes[1::2], strict=True))
            signature, call.launch = self.prepare(op, opset, named, [(array.dtype, array.shape) for array in arrays])
            call.version, call.shape, call.type = signature.version, signature.shape, signature.dtype.num
            for axis, size in enumerate(call.shape):
                call.sizes[axis] = size
            if kept:
                if len(self.prepared) >= MOST:
                    self.prepared.clear()
                self.prepared[whole] = call
        return call


cdef object new(Prepared call):
    """An array for the output."""
    return np.PyArray_EMPTY(len(call.shape), call.sizes, call.type, False)
