/* Ordinals of 32 bits as vectors: the largest of a window's taps and its place, for many windows of rows that lie one after the other.
 * Left to themselves, compilers take loops over every other element apart, so here instructions are named. */
#ifndef CYPOOL_PLACES_VECTORS_H
#define CYPOOL_PLACES_VECTORS_H

#include "maxima.h"

/* A later tap b with its place beats a with ``best``, unless both are zeros. */
#if CYPOOL_MAXIMA >= 32 /* 64 bytes are no faster: compares that make masks of bits wait for one unit */
typedef __m256i cypool_ordinals;
static inline cypool_ordinals cypool_ordinals_get(const int32_t* x) { return _mm256_loadu_si256((const __m256i*)x); }
static inline void cypool_ordinals_put(int32_t* y, cypool_ordinals a) { _mm256_storeu_si256((__m256i*)y, a); }
static inline cypool_ordinals cypool_ordinals_all(int32_t a) { return _mm256_set1_epi32(a); }
static inline cypool_ordinals cypool_ordinals_plus(cypool_ordinals a, cypool_ordinals b) { return _mm256_add_epi32(a, b); }
static inline cypool_ordinals cypool_ordinals_lesser(cypool_ordinals a, cypool_ordinals b) { return _mm256_min_epi32(a, b); }
static inline cypool_ordinals cypool_ordinals_larger(cypool_ordinals a, cypool_ordinals b) { return _mm256_max_epi32(a, b); }
static inline cypool_ordinals cypool_ordinals_later(cypool_ordinals b, cypool_ordinals a, cypool_ordinals place, cypool_ordinals best) {
    __m256i beaten = _mm256_sub_epi32(a, _mm256_cmpeq_epi32(a, _mm256_set1_epi32(-1)));
    return _mm256_blendv_epi8(best, place, _mm256_cmpgt_epi32(b, beaten));
}
static inline cypool_ordinals cypool_ordinals_inner(__m256 a) { /* the quarters in the middle change places */
    return _mm256_permute4x64_epi64(_mm256_castps_si256(a), _MM_SHUFFLE(3, 1, 2, 0));
}
static inline cypool_ordinals cypool_ordinals_evens(cypool_ordinals a, cypool_ordinals b) {
    return cypool_ordinals_inner(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
static inline cypool_ordinals cypool_ordinals_odds(cypool_ordinals a, cypool_ordinals b) {
    return cypool_ordinals_inner(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
static inline cypool_ordinals cypool_ordinals_exchanged(cypool_ordinals a) {
    return _mm256_xor_si256(a, _mm256_and_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(INT32_MAX)));
}
static inline cypool_ordinals cypool_ordinals_of_float(cypool_ordinals a) {
    __m256 nan = _mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(a), _CMP_UNORD_Q);
    return _mm256_blendv_epi8(cypool_ordinals_exchanged(a), _mm256_set1_epi32(0x7fc00000), _mm256_castps_si256(nan));
}
static inline void cypool_ordinals_indices(long long* y, cypool_ordinals a, long long base) {
    __m256i more = _mm256_set1_epi64x(base);
    _mm256_storeu_si256((__m256i*)y, _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(a)), more));
    _mm256_storeu_si256((__m256i*)(y + 4), _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1)), more));
}
#elif CYPOOL_MAXIMA == 16
typedef __m128i cypool_ordinals;
static inline cypool_ordinals cypool_ordinals_get(const int32_t* x) { return _mm_loadu_si128((const __m128i*)x); }
static inline void cypool_ordinals_put(int32_t* y, cypool_ordinals a) { _mm_storeu_si128((__m128i*)y, a); }
static inline cypool_ordinals cypool_ordinals_all(int32_t a) { return _mm_set1_epi32(a); }
static inline cypool_ordinals cypool_ordinals_plus(cypool_ordinals a, cypool_ordinals b) { return _mm_add_epi32(a, b); }
static inline cypool_ordinals cypool_ordinals_lesser(cypool_ordinals a, cypool_ordinals b) { return cypool_kept(_mm_cmpgt_epi32(a, b), b, a); }
static inline cypool_ordinals cypool_ordinals_larger(cypool_ordinals a, cypool_ordinals b) { return cypool_kept(_mm_cmpgt_epi32(a, b), a, b); }
static inline cypool_ordinals cypool_ordinals_later(cypool_ordinals b, cypool_ordinals a, cypool_ordinals place, cypool_ordinals best) {
    __m128i beaten = _mm_sub_epi32(a, _mm_cmpeq_epi32(a, _mm_set1_epi32(-1)));
    return cypool_kept(_mm_cmpgt_epi32(b, beaten), place, best);
}
static inline cypool_ordinals cypool_ordinals_evens(cypool_ordinals a, cypool_ordinals b) {
    return _mm_castps_si128(cypool_evens_float(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}
static inline cypool_ordinals cypool_ordinals_odds(cypool_ordinals a, cypool_ordinals b) {
    return _mm_castps_si128(cypool_odds_float(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}
static inline cypool_ordinals cypool_ordinals_exchanged(cypool_ordinals a) {
    return _mm_xor_si128(a, _mm_and_si128(_mm_srai_epi32(a, 31), _mm_set1_epi32(INT32_MAX)));
}
static inline cypool_ordinals cypool_ordinals_of_float(cypool_ordinals a) {
    __m128 nan = _mm_cmpunord_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(a));
    return cypool_kept(_mm_castps_si128(nan), _mm_set1_epi32(0x7fc00000), cypool_ordinals_exchanged(a));
}
static inline void cypool_ordinals_indices(long long* y, cypool_ordinals a, long long base) {
    __m128i more = _mm_set1_epi64x(base), sign = _mm_srai_epi32(a, 31);
    _mm_storeu_si128((__m128i*)y, _mm_add_epi64(_mm_unpacklo_epi32(a, sign), more));
    _mm_storeu_si128((__m128i*)(y + 2), _mm_add_epi64(_mm_unpackhi_epi32(a, sign), more));
}
#endif

#if CYPOOL_MAXIMA > 1
  #define CYPOOL_ORDINALS ((ptrdiff_t)(sizeof(cypool_ordinals) / sizeof(int32_t)))

/* As ``flat`` of places_loops.h; strides 1 and 2. ``period`` is the distance of two taps' limits. */
CYPOOL_ALWAYS void cypool_ordinals_flat(
    const int32_t* x, ptrdiff_t total, ptrdiff_t count, int exact, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation,
    const int32_t* limits, ptrdiff_t period, int32_t* most, int32_t* places
) {
    int32_t lane[CYPOOL_ORDINALS];
    ptrdiff_t phase = 0, step = CYPOOL_ORDINALS % count;
    for (ptrdiff_t i = 0; i < CYPOOL_ORDINALS; i++) lane[i] = (int32_t)(i * stride + first);
    cypool_ordinals place = cypool_ordinals_get(lane), b, low, high;
    for (ptrdiff_t i = 0; i < total; i += CYPOOL_ORDINALS, x += CYPOOL_ORDINALS * stride) {
        cypool_ordinals a = cypool_ordinals_all(INT32_MIN), best = place;
        int odd = 0; /* whether the vectors that are loaded hold this tap, too */
        for (ptrdiff_t t = 0; t < taps; t++) {
            ptrdiff_t offset = first + t * dilation;
            if (stride == 1) {
                b = cypool_ordinals_get(x + offset);
            } else if (odd) {
                b = cypool_ordinals_odds(low, high);
            } else {
                low = cypool_ordinals_get(x + offset), high = cypool_ordinals_get(x + offset + CYPOOL_ORDINALS);
                b = cypool_ordinals_evens(low, high);
            }
            odd = stride == 2 && dilation == 1 && !odd;
            if (!exact || offset < 0 || offset >= stride) b = cypool_ordinals_lesser(b, cypool_ordinals_get(limits + t * period + phase));
            if (t == 0) {
                a = b;
            } else {
                best = cypool_ordinals_later(b, a, cypool_ordinals_plus(place, cypool_ordinals_all((int32_t)(t * dilation))), best);
                a = cypool_ordinals_larger(a, b);
            }
        }
        cypool_ordinals_put(most + i, a);
        cypool_ordinals_put(places + i, best);
        place = cypool_ordinals_plus(place, cypool_ordinals_all((int32_t)(CYPOOL_ORDINALS * stride)));
        phase += step;
        if (phase >= count) phase -= count;
    }
}

/* Ordinals of n float32, a multiple of 16. */
static void cypool_ordinals_of_floats(const int32_t* bits, ptrdiff_t n, int32_t* y) {
    for (ptrdiff_t i = 0; i < n; i += CYPOOL_ORDINALS) cypool_ordinals_put(y + i, cypool_ordinals_of_float(cypool_ordinals_get(bits + i)));
}

/* As ``settle_row`` of places_loops.h, of float32, for ``count`` windows, none of which is empty; the last vector overlaps the one before. */
CYPOOL_ALWAYS void cypool_ordinals_settle(
    const int32_t* most, const int32_t* places, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, ptrdiff_t gap, long long base, int32_t* y,
    long long* indices
) {
    for (ptrdiff_t i = 0; i < count; i += CYPOOL_ORDINALS) {
        ptrdiff_t j = i + CYPOOL_ORDINALS > count && count >= CYPOOL_ORDINALS ? count - CYPOOL_ORDINALS : i;
        cypool_ordinals a = cypool_ordinals_get(most + j), best = cypool_ordinals_get(places + j), b, place;
        for (ptrdiff_t t = 1; t < taps; t++) {
            b = cypool_ordinals_get(most + t * tap + j), place = cypool_ordinals_get(places + t * tap + j);
            if (gap) place = cypool_ordinals_plus(place, cypool_ordinals_all((int32_t)(-t * gap)));
            best = cypool_ordinals_later(b, a, place, best);
            a = cypool_ordinals_larger(a, b);
        }
        cypool_ordinals_put(y + j, cypool_ordinals_exchanged(a));
        cypool_ordinals_indices(indices + j, best, base);
    }
}
#endif

#endif
