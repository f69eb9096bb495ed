# Floats as integers: their bits, mapped so that integer order is the order of the numbers. Part of box_max.pyx.


cdef inline key ordered(key bits, key infinity) noexcept nogil:
    """The integer that stands for a float in comparisons."""
    cdef key most = (<key>1 << (8 * sizeof(key) - 2)) - 1 + (<key>1 << (8 * sizeof(key) - 2))
    cdef key mapped = <key>(bits ^ ((bits >> (8 * sizeof(key) - 1)) & most))
    return <key>(infinity + ((infinity & -infinity) >> 1)) if <key>(bits & most) > infinity else mapped


cdef inline key unordered(key mapped) noexcept nogil:
    """The float's bits again."""
    cdef key most = (<key>1 << (8 * sizeof(key) - 2)) - 1 + (<key>1 << (8 * sizeof(key) - 2))
    return <key>(mapped ^ ((mapped >> (8 * sizeof(key) - 1)) & most))


cdef inline key lowest(key* unused) noexcept nogil:
    return <key>(-(<key>1 << (8 * sizeof(key) - 2)) - (<key>1 << (8 * sizeof(key) - 2)))


cdef inline key larger(key a, key b) noexcept nogil:
    return a if a > b else b
