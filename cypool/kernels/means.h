/* What the loops over windows of window_mean.pyx need beside vectors.h: choices between vectors, the test for cancellation, and sums of
 * several windows with the errors of all additions. */
#ifndef CYPOOL_MEANS_H
#define CYPOOL_MEANS_H

#include "vectors.h"

#define CYPOOL_SIDE 8 /* windows that are summed with their errors side by side */

/* Where the mask has ones, a; elsewhere b. */
static inline cypool_vector cypool_chosen(cypool_vector mask, cypool_vector a, cypool_vector b) {
#if CYPOOL_WIDTH == 1
    return mask == 0.0 ? b : a;
#else
    return (cypool_vector)(((cypool_integers)a & (cypool_integers)mask) | ((cypool_integers)b & ~(cypool_integers)mask));
#endif
}

/* A mask for one number. */
static inline double cypool_mask(int all) {
    int64_t bits = -(int64_t)(all != 0);
    double value;
#if CYPOOL_WIDTH == 1
    return all ? 1.0 : 0.0;
#endif
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The smaller one of two that are not negative; of a NaN in ``a`` nothing remains. */
static inline cypool_vector cypool_smaller(cypool_vector a, cypool_vector b) {
#if CYPOOL_WIDTH == 8
    return _mm512_min_pd(a, b);
#elif CYPOOL_WIDTH == 4
    return _mm256_min_pd(a, b);
#elif CYPOOL_WIDTH == 2 && defined(__SSE2__)
    return _mm_min_pd(a, b);
#elif CYPOOL_WIDTH == 1
    return a < b ? a : b;
#else
    cypool_integers mask = (cypool_integers)(a < b);
    return (cypool_vector)(((cypool_integers)a & mask) | ((cypool_integers)b & ~mask));
#endif
}

/* NaN where a sum was infinite or NaN, or ``odd`` was already; else a zero. */
static inline cypool_vector cypool_finite_so_far(cypool_vector odd, cypool_vector total) {
#if CYPOOL_WIDTH > 2
    return cypool_fma(total, cypool_splat(0.0), odd);
#else
    return odd + total * 0.0;
#endif
}

/* Whether all of ``low`` reach ``least`` and all of ``odd`` are numbers. */
static inline int cypool_all_reach(cypool_vector low, cypool_vector odd, double least) {
#if CYPOOL_WIDTH == 8
    return (_mm512_cmp_pd_mask(low, cypool_splat(least), _CMP_GE_OQ) & _mm512_cmp_pd_mask(odd, odd, _CMP_ORD_Q)) == 0xff;
#elif CYPOOL_WIDTH == 4
    return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(low, cypool_splat(least), _CMP_GE_OQ), _mm256_cmp_pd(odd, odd, _CMP_ORD_Q))) == 0xf;
#elif CYPOOL_WIDTH == 2
    return (low[0] >= least) & (low[1] >= least) & (odd[0] == odd[0]) & (odd[1] == odd[1]);
#else
    return low >= least && odd == odd;
#endif
}

/* The largest of 32-bit floats, as signed bits and as unsigned ones. The former is negative if no sign bit is 0 and else the largest number
 * without one; the latter has the sign bit if any has, and then the magnitude is the largest of those. */
static inline void cypool_largest_bits(const int32_t* x, ptrdiff_t n, int32_t* most, uint32_t* most_unsigned) {
    int32_t a = *most;
    uint32_t b = *most_unsigned;
    for (ptrdiff_t i = 0; i < n; i++) {
        a = a > x[i] ? a : x[i];
        b = b > (uint32_t)x[i] ? b : (uint32_t)x[i];
    }
    *most = a;
    *most_unsigned = b;
}

/* The same of 16-bit floats. */
static inline void cypool_largest_bits_16(const int16_t* x, ptrdiff_t n, int32_t* most, uint32_t* most_unsigned) {
    int16_t a = INT16_MIN;
    uint16_t b = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        a = a > x[i] ? a : x[i];
        b = b > (uint16_t)x[i] ? b : (uint16_t)x[i];
    }
    *most = *most > a ? *most : a;
    *most_unsigned = *most_unsigned > b ? *most_unsigned : b;
}

/* Round to a 16-bit float and store, straight from double, where all are normal numbers of that type, too large for it, or zero; else say
 * no. Half of the last place that stays is added to the bits, less one where the last bit is even, and what is below is dropped. */
static inline int cypool_store_16(uint16_t* y, cypool_vector a, int mantissa, int bias) {
#if CYPOOL_WIDTH == 8
    __m512i bits = (__m512i)a, drop = _mm512_set1_epi64(52 - mantissa);
    __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi64(INT64_MAX));
    __mmask8 small = _mm512_cmplt_epi64_mask(magnitude, _mm512_set1_epi64((int64_t)(1024 - bias) << 52));
    __mmask8 large = _mm512_cmpgt_epi64_mask(magnitude, _mm512_set1_epi64((int64_t)(1023 + 200) << 52));
    if (large | (small & _mm512_test_epi64_mask(magnitude, magnitude))) return 0;
    __m512i even = _mm512_and_si512(_mm512_srlv_epi64(bits, drop), _mm512_set1_epi64(1));
    bits = _mm512_add_epi64(_mm512_add_epi64(bits, _mm512_set1_epi64(((int64_t)1 << (51 - mantissa)) - 1)), even);
    bits = _mm512_sllv_epi64(_mm512_srlv_epi64(bits, drop), drop);
    __m256 narrow = _mm512_cvtpd_ps((__m512d)bits);
    if (mantissa == 10) _mm_storeu_si128((__m128i*)y, _mm256_cvtps_ph(narrow, _MM_FROUND_TO_NEAREST_INT));
    else _mm_storeu_si128((__m128i*)y, _mm256_cvtepi32_epi16(_mm256_srli_epi32(_mm256_castps_si256(narrow), 16)));
    return 1;
#elif CYPOOL_WIDTH == 4
    __m256i bits = (__m256i)a, magnitude = _mm256_and_si256(bits, _mm256_set1_epi64x(INT64_MAX));
    __m256i small = _mm256_cmpgt_epi64(_mm256_set1_epi64x((int64_t)(1024 - bias) << 52), magnitude);
    __m256i large = _mm256_cmpgt_epi64(magnitude, _mm256_set1_epi64x((int64_t)(1023 + 200) << 52));
    small = _mm256_andnot_si256(_mm256_cmpeq_epi64(magnitude, _mm256_setzero_si256()), small);
    if (_mm256_movemask_epi8(_mm256_or_si256(small, large))) return 0;
    __m256i even = _mm256_and_si256(_mm256_srli_epi64(bits, 52 - mantissa), _mm256_set1_epi64x(1));
    bits = _mm256_add_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(((int64_t)1 << (51 - mantissa)) - 1)), even);
    bits = _mm256_slli_epi64(_mm256_srli_epi64(bits, 52 - mantissa), 52 - mantissa);
    __m128 narrow = _mm256_cvtpd_ps((__m256d)bits);
    if (mantissa == 10) {
        _mm_storel_epi64((__m128i*)y, _mm_cvtps_ph(narrow, _MM_FROUND_TO_NEAREST_INT));
    } else {
        __m128i upper = _mm_srli_epi32(_mm_castps_si128(narrow), 16);
        _mm_storel_epi64((__m128i*)y, _mm_packus_epi32(upper, upper));
    }
    return 1;
#else
    (void)y, (void)a, (void)mantissa, (void)bias;
    return 0;
#endif
}

/* Sums of windows side by side: what exact_mean keeps for one. */
typedef struct {
    double hi[CYPOOL_SIDE], lo[CYPOOL_SIDE], errors[CYPOOL_SIDE], most[CYPOOL_SIDE];
    int64_t any_of[CYPOOL_SIDE], all_of[CYPOOL_SIDE]; /* bits */
} cypool_careful;

static inline void cypool_begin_careful(cypool_careful* s) {
    for (int i = 0; i < CYPOOL_SIDE; i++) {
        s->hi[i] = -0.0;
        s->lo[i] = s->errors[i] = s->most[i] = 0.0;
        s->any_of[i] = 0;
        s->all_of[i] = -1;
    }
}

/* Add one element of each window. */
static inline void cypool_add_careful(cypool_careful* s, const double* values) {
    for (int i = 0; i < CYPOOL_SIDE; i += CYPOOL_WIDTH) {
        cypool_vector x = cypool_load_double(values + i), hi = cypool_load_double(s->hi + i), total = hi + x, part = total - hi;
        cypool_vector error = (hi - (total - part)) + (x - part);
        cypool_put(s->hi + i, total);
        cypool_put(s->lo + i, cypool_load_double(s->lo + i) + error);
        cypool_put(s->errors + i, cypool_load_double(s->errors + i) + cypool_abs(error));
        cypool_put(s->most + i, cypool_larger(cypool_abs(x), cypool_load_double(s->most + i)));
#if CYPOOL_WIDTH == 1
        int64_t bits, any_of, all_of;
#else
        cypool_integers bits, any_of, all_of;
#endif
        memcpy(&bits, values + i, sizeof bits);
        memcpy(&any_of, s->any_of + i, sizeof bits);
        memcpy(&all_of, s->all_of + i, sizeof bits);
        any_of |= bits;
        all_of &= bits;
        memcpy(s->any_of + i, &any_of, sizeof bits);
        memcpy(s->all_of + i, &all_of, sizeof bits);
    }
}

#endif
