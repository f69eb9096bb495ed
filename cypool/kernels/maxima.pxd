# maxima.h for Cython: the inner loops of maxima as one table an element type, so that what calls them is written and compiled once.

cdef extern from "maxima.h" nogil:
    ctypedef struct maxima "cypool_maxima":
        Py_ssize_t itemsize
        Py_ssize_t lanes
        void (*fill)(void* v, Py_ssize_t n) noexcept nogil
        void (*fold)(
            const void* x, const Py_ssize_t* windows, Py_ssize_t count, Py_ssize_t row, Py_ssize_t tap, Py_ssize_t column, Py_ssize_t n,
            const void* end, int onto, void* v, Py_ssize_t pitch
        ) noexcept nogil
        void (*pixel)(
            const void* x, Py_ssize_t taps, Py_ssize_t tap, Py_ssize_t n, const void* end, int onto, void* v
        ) noexcept nogil
        void (*neighbours)(const void* v, Py_ssize_t taps, Py_ssize_t tap, Py_ssize_t n, void* y) noexcept nogil
        void (*across)(
            const void* v, Py_ssize_t pitch, Py_ssize_t rows, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t dilation,
            void* scratch, void* y
        ) noexcept nogil
        void (*mask)(
            void* masks, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t first, Py_ssize_t dilation
        ) noexcept nogil
        void (*flat)(
            const void* v, Py_ssize_t total, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t first, Py_ssize_t dilation,
            const void* masks, void* y
        ) noexcept nogil
        void (*runs)(const void* x, Py_ssize_t distance, Py_ssize_t n, Py_ssize_t count, const void* end, void* y) noexcept nogil
        void (*run)(const void* x, Py_ssize_t n, Py_ssize_t stride, const void* end, void* most) noexcept nogil
        void (*finish)(void* most, Py_ssize_t count, void* y) noexcept nogil
        void (*finished)(void* v, Py_ssize_t n) noexcept nogil
    const maxima of_float16 "cypool_maxima_float16"
    const maxima of_bfloat16 "cypool_maxima_bfloat16"
    const maxima of_float "cypool_maxima_float"
    const maxima of_double "cypool_maxima_double"
    const maxima of_int8 "cypool_maxima_int8"
    const maxima of_uint8 "cypool_maxima_uint8"
