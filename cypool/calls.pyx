"""What every call goes through, compiled: small calls are made of little else.

Apart from the modules that say what is to be done, which are asked once for each combination of types, shapes and attributes.
"""

cimport numpy as np

import numpy

from cypool import plan

np.import_array()

cdef enum:
    MOST = 1024  # combinations kept


cdef class Prepared:
    """All that follows from operator, opset, attributes, types and shapes."""


cdef class Calls:
    """Runs calls, and caches what ``prepare`` derives from operator, opset, attributes, types and shapes.

    ``prepare`` is given operator, opset, attributes, arrays and the number of outputs that are wanted, and returns a
    Signature and a Launch. It looks at what arrays hold in one case only: where an input is a shape.
    """

    def __init__(self, prepare):
        self.prepare = prepare
        self.cache = {}

    def clear(self):
        """Forget what was prepared."""
        self.cache.clear()

    def run(self, op, tuple arrays not None, tuple attributes not None, opset, outputs, out, threads):
        """Return a tuple of the operator's outputs; ``attributes`` are names and values in turn."""
        cdef Prepared call
        cdef tuple results
        for array in arrays:
            if type(array) is not np.ndarray and array is not None:
                arrays = tuple(plan.arrays(op, opset, arrays))
                break
        call = self.prepared(op, opset, attributes, arrays, outputs)
        if threads is not None and (type(threads) is not int or threads < 1):
            threads = plan.check_threads(call.version, threads)
        if call.left_out is not None:
            arrays = arrays + call.left_out
        if out is not None:
            return into(call, arrays, plan.outs_of(call.version, out, call.outputs), threads)
        results = new(call)
        start(call, arrays, results, threads)
        return results

    cdef Prepared prepared(self, op, opset, tuple attributes, tuple arrays, outputs):
        """Return what is known of calls like this one, or will be from now on."""
        cdef Prepared call
        cdef bint hashable = True
        cdef list parts = [op, opset, type(opset)]
        if outputs is not None:
            parts.append(type(outputs))
            parts.append(outputs)
        for value in attributes:  # with types, which tell True, 1 and 1.0 apart
            if isinstance(value, (list, tuple)):
                value = tuple(value)
                parts.append(tuple([type(element) for element in value]))
            parts.append(type(value))
            parts.append(value)
        for array in arrays:
            if array is not None:
                parts.append(<object>np.PyArray_DESCR(<np.ndarray>array))
                array = (<object>array).shape
            parts.append(array)
        key = tuple(parts)
        try:
            call = self.cache.get(key)
        except TypeError:  # an attribute or opset without a hash, such as an array: most will not do, and ``prepare`` says so
            call, hashable = None, False
        if call is not None and call.stated >= 0:
            return self.by_values(call, op, opset, attributes, arrays, outputs)
        if call is None:
            call = self.made(op, opset, attributes, arrays, outputs)
            if hashable:
                keep(self.cache, key, call)
        return call

    cdef Prepared by_values(self, Prepared like, op, opset, tuple attributes, tuple arrays, outputs):
        """Return the same where the values of an input are a shape, and decide as well."""
        cdef Prepared call
        values = tuple(arrays[like.stated].tolist())
        call = like.by_shape.get(values)
        if call is None:
            call = self.made(op, opset, attributes, arrays, outputs)
            keep(like.by_shape, values, call)
        return call

    cdef Prepared made(self, op, opset, tuple attributes, tuple arrays, outputs):
        """Have a call prepared."""
        cdef Prepared call = Prepared()
        named = dict(zip(attributes[::2], attributes[1::2], strict=True))
        signature, call.launch = self.prepare(op, opset, named, arrays, outputs)
        call.version, call.outputs, call.stated = signature.version, signature.outputs, signature.stated
        if len(arrays) < len(signature.inputs):
            call.left_out = (None,) * (len(signature.inputs) - len(arrays))
        if call.stated >= 0:
            call.by_shape = {tuple(arrays[call.stated].tolist()): call}
        call.single = len(call.outputs) == 1
        dtype, shape = call.outputs[0]
        call.type, call.rank = dtype.num, len(shape)
        for axis, size in enumerate(shape):
            call.sizes[axis] = size
        return call


cdef int keep(dict cache, key, call) except -1:
    """Put something into a cache, which is emptied when it is full."""
    if len(cache) >= MOST:
        cache.clear()
    cache[key] = call
    return 0


cdef tuple new(Prepared call):
    """Return arrays for the outputs."""
    first = np.PyArray_EMPTY(call.rank, call.sizes, call.type, False)
    if call.single:
        return (first,)
    return (first, *[numpy.empty(shape, dtype.newbyteorder("=")) for dtype, shape in call.outputs[1:]])


cdef int start(Prepared call, tuple arrays, tuple results, threads) except -1:
    """Have the outputs computed; SpecValueError where an input holds a number that is not allowed there."""
    cdef Py_ssize_t refused = call.launch.go(arrays, results, threads)
    if refused >= 0:
        plan.refuse(call.version, arrays, results, refused)
    return 0


cdef object into(Prepared call, tuple arrays, tuple outs, threads):
    """Have the outputs computed into arrays of the caller's; return these."""
    given = [array for array in arrays if array is not None]
    direct = all([
        type(out) is np.ndarray and out.dtype.isnative and not any([numpy.may_share_memory(out, array) for array in given])
        for out in outs
    ])
    results = outs if direct else new(call)
    start(call, arrays, results, threads)
    if not direct:
        for out, result in zip(outs, results, strict=True):
            out[...] = result
    return outs
