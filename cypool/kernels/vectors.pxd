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
    vector clamped "cypool_clamped"(vector x, vector low, vector high)
    vector larger_of "cypool_larger"(vector a, vector b)
    double largest_of "cypool_largest_of"(vector a)
    vector split "cypool_split"(vector x, vector* m)
    vector power_of_two "cypool_power_of_two"(vector n)
    void put "cypool_put"(double* y, vector a)
    vector absolute "cypool_abs"(vector a)
    vector upper "cypool_upper"(vector a)
    void store_floats "cypool_store_floats"(float* y, vector a, int count)
    vector square_root "cypool_sqrt"(vector a)
    void will_read "cypool_will_read"(const void* x)
    void will_write "cypool_will_write"(const void* x)
    vector load_double "cypool_load_double"(const double* x)
    vector part_double "cypool_part_double"(const double* x, int count)
    ctypedef float floats "cypool_floats"
    vector wide "cypool_wide"(floats x)
    floats absolute_floats "cypool_abs_floats"(floats x)
    floats root "cypool_root"(floats x)
    floats root_rest "cypool_root_rest"(floats x, floats r)
    floats floats_float "cypool_floats_float"(const float* x)
    floats floats_float16 "cypool_floats_float16"(const float16* x)
    floats floats_bfloat16 "cypool_floats_bfloat16"(const bfloat16* x)
    floats some_float "cypool_some_float"(const float* x, int count)
    floats some_float16 "cypool_some_float16"(const float16* x, int count)
    floats some_bfloat16 "cypool_some_bfloat16"(const bfloat16* x, int count)


ctypedef fused narrow:
    float16
    bfloat16
    float


cdef inline floats load_floats(const narrow* x, int count) noexcept nogil:
    """The first ``count`` <= WIDTH elements narrower than double, zeros after them."""
    if narrow is float:
        return floats_float(x) if count == WIDTH else some_float(x, count)
    elif narrow is float16:
        return floats_float16(x) if count == WIDTH else some_float16(x, count)
    else:
        return floats_bfloat16(x) if count == WIDTH else some_bfloat16(x, count)


cdef inline vector load(const element* x) noexcept nogil:
    """WIDTH elements, exactly."""
    if element is double:
        return load_double(x)
    else:
        return wide(load_floats(x, WIDTH))


cdef inline vector load_part(const element* x, int count) noexcept nogil:
    """The first ``count`` < WIDTH elements, zeros after them."""
    if element is double:
        return part_double(x, count)
    else:
        return wide(load_floats(x, count))
