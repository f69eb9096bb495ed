# places.h for Cython: the inner loops of maxima with their places as one table an element type.

cdef extern from "places.h" nogil:
    enum:
        PLACES_CHUNK "CYPOOL_PLACES_CHUNK"
    ctypedef struct places "cypool_places":
        Py_ssize_t itemsize
        Py_ssize_t wide
        void (*ordinals)(const void* x, Py_ssize_t n, Py_ssize_t stride, const void* end, void* ordinals) noexcept nogil
        void (*nothing)(void* ordinals, Py_ssize_t n) noexcept nogil
        void (*across)(
            const void* ordinals, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t dilation, Py_ssize_t first,
            Py_ssize_t step, void* most, void* places
        ) noexcept nogil
        void (*onto)(
            const void* rows, Py_ssize_t pitch, Py_ssize_t tap, Py_ssize_t taps, Py_ssize_t count, Py_ssize_t base, Py_ssize_t step,
            int fresh, void* all
        ) noexcept nogil
        void (*finish)(
            const void* all, Py_ssize_t pitch, Py_ssize_t count, Py_ssize_t room, long long base, void* y, long long* indices
        ) noexcept nogil
        void (*limits)(
            void* limits, Py_ssize_t count, Py_ssize_t size, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t first, Py_ssize_t dilation
        ) noexcept nogil
        void (*flat)(
            const void* ordinals, Py_ssize_t total, Py_ssize_t count, int exact, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t first,
            Py_ssize_t dilation, const void* limits, void* most, void* places
        ) noexcept nogil
        void (*settle)(
            const void* rows, Py_ssize_t pitch, Py_ssize_t tap, Py_ssize_t taps, Py_ssize_t count, Py_ssize_t gap, int some_empty,
            long long base, Py_ssize_t room, void* y, long long* indices
        ) noexcept nogil
    const places places_float16 "cypool_places_table_float16"
    const places places_bfloat16 "cypool_places_table_bfloat16"
    const places places_float "cypool_places_table_float"
    const places places_double "cypool_places_table_double"
    const places places_int8 "cypool_places_table_int8"
    const places places_uint8 "cypool_places_table_uint8"
