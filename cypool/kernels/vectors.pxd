# vectors.h for Cython, which takes a vector for a double: sums and products of vectors are written as those of numbers.

from .floats cimport bfloat16, element, float16

cdef extern from "vectors.h" nogil:
    ctypedef double vector "cypool_vector"
    enum:
        WIDTH "CYPOOL_WIDTH"  # doubles in a vector
    vector every_other "cypool_every_other"(const double* x, int odd)
    vector splat "cypool_splat"(double value)
    double first "cypool_first"(vector a)
    vector plus "cypool_plus"(vector total, vector a)
    vector plus_square "cypool_plus_square"(vector total, vector a)
    vector fused "cypool_fma"(vector a, vector b, vector c)
    vector between "cypool_between"(vector x, vector low, vector high, vector inside, vector outside)
    vector larger_of "cypool_larger"(vector a, vector b)
    double largest_of "cypool_largest_of"(vector a)
    vector split "cypool_split"(vector x, vector* m)
    vector power_of_two "cypool_power_of_two"(vector n)
    void put "cypool_put"(double* y, vector a)
    vector absolute "cypool_abs"(vector a)
    vector square_root "cypool_sqrt"(vector a)
    void will_read "cypool_will_read"(const void* x)
    void will_write "cypool_will_write"(const void* x)
    vector load_double "cypool_load_double"(const double* x)
    vector load_float "cypool_load_float"(const float* x)
    vector load_float16 "cypool_load_float16"(const float16* x)
    vector load_bfloat16 "cypool_load_bfloat16"(const bfloat16* x)
    vector part_double "cypool_part_double"(const double* x, int count)
    vector part_float "cypool_part_float"(const float* x, int count)
    vector part_float16 "cypool_part_float16"(const float16* x, int count)
    vector part_bfloat16 "cypool_part_bfloat16"(const bfloat16* x, int count)


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


cdef inline vector load_part(const element* x, int count) noexcept nogil:
    """The first ``count`` < WIDTH elements, zeros after them."""
    if element is double:
        return part_double(x, count)
    elif element is float:
        return part_float(x, count)
    elif element is float16:
        return part_float16(x, count)
    else:
        return part_bfloat16(x, count)
