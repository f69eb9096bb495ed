# vectors.h for Cython, which takes a vector for a double: sums and products of vectors are written as those of numbers.

from .floats cimport bfloat16, element, float16

cdef extern from "vectors.h" nogil:
    ctypedef double vector "cypool_vector"
    enum:
        WIDTH "CYPOOL_WIDTH"  # doubles in a vector
    vector splat "cypool_splat"(double value)
    double first "cypool_first"(vector a)
    vector fused "cypool_fma"(vector a, vector b, vector c)
    vector between "cypool_between"(vector x, vector low, vector high, vector inside, vector outside)
    vector larger_of "cypool_larger"(vector a, vector b)
    vector split "cypool_split"(vector x, vector* m)
    vector power_of_two "cypool_power_of_two"(vector n)
    void put "cypool_put"(double* y, vector a)
    vector absolute "cypool_abs"(vector a)
    vector square_root "cypool_sqrt"(vector a)
    vector load_double "cypool_load_double"(const double* x)
    vector load_float "cypool_load_float"(const float* x)
    vector load_float16 "cypool_load_float16"(const float16* x)
    vector load_bfloat16 "cypool_load_bfloat16"(const bfloat16* x)


cdef inline vector load(const element* x) noexcept nogil:
    """WIDTH elements, exactly."""
    if element is double:
        return load_double(x)
    elif element is float:
        return load_float(x)
    elif element is float16:
        return load_float16(x)
    else:
        return load_bfloat16(x)
