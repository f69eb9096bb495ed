/* Inner loops of maxima with their places, for six element types; places_loops.h has them and is included once a type.
 *
 * An element becomes its ordinal, an integer as wide as its place in the plane: 64 bits for double, 32 for all others. Then a maximum and its
 * place are taken by integer comparisons, which compilers turn into vectors at every level. The first of equal ones is kept where elements
 * come in row-major order. -0.0 has the ordinal -1 and +0.0 has 0: the place treats them as equal, the maximum does not. Integers get
 * ordinals above 0. */
#ifndef CYPOOL_PLACES_H
#define CYPOOL_PLACES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "places_vectors.h"

/* Loops go by chunks, so that none has a remainder; rows of scratch memory have room for whole ones. */
#define CYPOOL_PLACES_CHUNK 16

typedef struct {
    ptrdiff_t itemsize, wide; /* bytes of an element; of an ordinal or a place */
    void (*ordinals)(const void* x, ptrdiff_t n, ptrdiff_t stride, const void* end, void* ordinals);
    void (*nothing)(void* ordinals, ptrdiff_t n);
    void (*across)(
        const void* ordinals, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, ptrdiff_t first, ptrdiff_t step,
        void* most, void* places
    );
    void (*onto)(
        const void* rows, ptrdiff_t pitch, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, ptrdiff_t base, ptrdiff_t step, int fresh,
        void* all
    );
    void (*finish)(
        const void* all, ptrdiff_t pitch, ptrdiff_t count, ptrdiff_t room, long long base, void* y, long long* restrict indices
    );
    void (*limits)(
        void* limits, ptrdiff_t count, ptrdiff_t size, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation
    );
    void (*flat)(
        const void* ordinals, ptrdiff_t total, ptrdiff_t count, int exact, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first,
        ptrdiff_t dilation, const void* limits, void* most, void* places
    );
    void (*settle)(
        const void* rows, ptrdiff_t pitch, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, ptrdiff_t gap, int some_empty,
        long long base, ptrdiff_t room, void* y, long long* indices
    );
} cypool_places;

#define CYPOOL_TYPE float16
#define CYPOOL_BITS int16_t
#define CYPOOL_WIDE int32_t
#define CYPOOL_INFINITY 0x7c00
#define CYPOOL_NAN 0x7e00
#include "places_loops.h"
#define CYPOOL_TYPE bfloat16
#define CYPOOL_BITS int16_t
#define CYPOOL_WIDE int32_t
#define CYPOOL_INFINITY 0x7f80
#define CYPOOL_NAN 0x7fc0
#include "places_loops.h"
#define CYPOOL_TYPE float
#define CYPOOL_BITS int32_t
#define CYPOOL_WIDE int32_t
#define CYPOOL_INFINITY 0x7f800000
#define CYPOOL_NAN 0x7fc00000
#include "places_loops.h"
#define CYPOOL_TYPE double
#define CYPOOL_BITS int64_t
#define CYPOOL_WIDE int64_t
#define CYPOOL_INFINITY 0x7ff0000000000000
#define CYPOOL_NAN 0x7ff8000000000000
#include "places_loops.h"
#define CYPOOL_TYPE int8
#define CYPOOL_BITS int8_t
#define CYPOOL_WIDE int32_t
#define CYPOOL_LOWEST INT8_MIN
#include "places_loops.h"
#define CYPOOL_TYPE uint8
#define CYPOOL_BITS uint8_t
#define CYPOOL_WIDE int32_t
#define CYPOOL_LOWEST 0
#include "places_loops.h"

#endif
