/* Vectors of elements for maxima, as wide as the build's instructions, for six element types; the loops over them are in maxima_loops.h,
 * which is included once a type.
 *
 * A maximum has to keep NaN wherever it stands and to prefer +0.0 to -0.0, and the processor's does neither: it returns its second operand
 * if one is NaN, and if both are zeros. So two are taken, with the operands either way round. They differ in those two cases alone, and
 * where they do, NaN has the bits of either in the disjunction, and the sign of the better zero is the conjunction of signs. Where there is
 * no instruction for such a mixture, elements are negated while they are read, and then the disjunction of both minima is right in all bits.
 *
 * 16-bit floats become integers in the order of numbers. Negative NaNs would come lowest; subtracting their number makes them wrap around
 * to the top, so the lowest integer is -infinity, and all above infinity are NaN. */
#ifndef CYPOOL_MAXIMA_H
#define CYPOOL_MAXIMA_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(CYPOOL_NO_VECTORS)
  #include <immintrin.h>
  #if defined(__AVX512BW__) && defined(__AVX512DQ__)
    #define CYPOOL_MAXIMA 64
  #elif defined(__AVX2__)
    #define CYPOOL_MAXIMA 32
  #else
    #define CYPOOL_MAXIMA 16
  #endif
#else
  #define CYPOOL_MAXIMA 1
#endif

typedef uint16_t cypool_type_float16;
typedef int16_t cypool_type_bfloat16;
typedef float cypool_type_float;
typedef double cypool_type_double;
typedef int8_t cypool_type_int8;
typedef uint8_t cypool_type_uint8;

/* The inner loops of one element type, as maxima_loops.h has them. Strides and distances are in elements. */
typedef struct {
    ptrdiff_t itemsize, lanes;
    void (*fill)(void* v, ptrdiff_t n);
    void (*fold)(
        const void* x, const ptrdiff_t* windows, ptrdiff_t count, ptrdiff_t row, ptrdiff_t tap, ptrdiff_t column, ptrdiff_t n,
        const void* end, int onto, void* v, ptrdiff_t pitch
    );
    void (*pixel)(const void* x, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, const void* end, int onto, void* v);
    void (*neighbours)(const void* v, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, void* y);
    void (*across)(
        const void* v, ptrdiff_t pitch, ptrdiff_t rows, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation,
        void* scratch, void* y
    );
    void (*mask)(void* masks, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation);
    void (*flat)(
        const void* v, ptrdiff_t total, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation,
        const void* masks, void* y
    );
    void (*runs)(const void* x, ptrdiff_t distance, ptrdiff_t n, ptrdiff_t count, const void* end, void* y);
    void (*run)(const void* x, ptrdiff_t n, ptrdiff_t stride, const void* end, void* most);
    void (*finish)(void* most, ptrdiff_t count, void* y);
    void (*finished)(void* v, ptrdiff_t n);
} cypool_maxima;

/* --- 64 bytes ----------------------------------------------------------------------------------------------------------------------- */
#if CYPOOL_MAXIMA == 64

typedef __m512 cypool_many_float;
typedef __m512d cypool_many_double;
typedef __m512i cypool_many_int8;
typedef __m512i cypool_many_uint8;
typedef __m512i cypool_many_float16;
typedef __m512i cypool_many_bfloat16;

#define CYPOOL_MIXED 0xd4 /* of two numbers and the sign's mask: signs a & b, else a | b */
static inline __m512 cypool_larger_float(__m512 a, __m512 b) {
    __m512i one = _mm512_castps_si512(_mm512_max_ps(a, b)), other = _mm512_castps_si512(_mm512_max_ps(b, a));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(one, other, _mm512_set1_epi32(INT32_MIN), CYPOOL_MIXED));
}
static inline __m512d cypool_larger_double(__m512d a, __m512d b) {
    __m512i one = _mm512_castpd_si512(_mm512_max_pd(a, b)), other = _mm512_castpd_si512(_mm512_max_pd(b, a));
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(one, other, _mm512_set1_epi64(INT64_MIN), CYPOOL_MIXED));
}
static inline __m512i cypool_larger_int8(__m512i a, __m512i b) { return _mm512_max_epi8(a, b); }
static inline __m512i cypool_larger_uint8(__m512i a, __m512i b) { return _mm512_max_epu8(a, b); }
static inline __m512i cypool_larger_16(__m512i a, __m512i b) { return _mm512_max_epi16(a, b); }

static inline __m512 cypool_get_float(const void* x) { return _mm512_loadu_ps(x); }
static inline __m512d cypool_get_double(const void* x) { return _mm512_loadu_pd(x); }
static inline __m512i cypool_get_integers(const void* x) { return _mm512_loadu_si512(x); }
static inline void cypool_put_float(void* y, __m512 a) { _mm512_storeu_ps(y, a); }
static inline void cypool_put_double(void* y, __m512d a) { _mm512_storeu_pd(y, a); }
static inline void cypool_put_integers(void* y, __m512i a) { _mm512_storeu_si512(y, a); }

static inline __m512 cypool_in_float(__m512 a) { return a; }
static inline __m512d cypool_in_double(__m512d a) { return a; }
static inline __m512i cypool_in_int8(__m512i a) { return a; }
static inline __m512 cypool_out_float(__m512 a) {
    return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
}
static inline __m512d cypool_out_double(__m512d a) {
    return _mm512_mask_mov_pd(a, _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q), _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8000000000000)));
}
static inline __m512i cypool_out_int8(__m512i a) { return a; }
static inline __m512i cypool_exchanged_16(__m512i a) { /* a ^ (sign & most) */
    return _mm512_ternarylogic_epi32(a, _mm512_srai_epi16(a, 15), _mm512_set1_epi16(0x7fff), 0x78);
}
static inline __m512i cypool_in_16(__m512i a, int infinity) {
    return _mm512_sub_epi16(cypool_exchanged_16(a), _mm512_set1_epi16((short)(0x7fff - infinity)));
}
static inline __m512i cypool_out_16(__m512i a, int infinity, int nan) {
    __m512i shift = _mm512_set1_epi16((short)(0x7fff - infinity));
    __mmask32 above = _mm512_cmpgt_epi16_mask(a, _mm512_set1_epi16((short)(2 * infinity - 0x7fff)));
    return _mm512_mask_mov_epi16(cypool_exchanged_16(_mm512_add_epi16(a, shift)), above, _mm512_set1_epi16((short)nan));
}

static inline __m512 cypool_least_float(void) { return _mm512_set1_ps(-INFINITY); }
static inline __m512d cypool_least_double(void) { return _mm512_set1_pd(-INFINITY); }
static inline __m512i cypool_least_int8(void) { return _mm512_set1_epi8(INT8_MIN); }
static inline __m512i cypool_least_uint8(void) { return _mm512_setzero_si512(); }
static inline __m512i cypool_least_16(void) { return _mm512_set1_epi16(INT16_MIN); }

#define CYPOOL_KEPT 0xca /* mask ? a : b */
static inline __m512i cypool_kept(__m512i mask, __m512i a, __m512i b) { return _mm512_ternarylogic_epi32(mask, a, b, CYPOOL_KEPT); }
static inline __m512 cypool_kept_float(__m512 mask, __m512 a, __m512 b) {
    return _mm512_castsi512_ps(cypool_kept(_mm512_castps_si512(mask), _mm512_castps_si512(a), _mm512_castps_si512(b)));
}
static inline __m512d cypool_kept_double(__m512d mask, __m512d a, __m512d b) {
    return _mm512_castsi512_pd(cypool_kept(_mm512_castpd_si512(mask), _mm512_castpd_si512(a), _mm512_castpd_si512(b)));
}

static inline __m512 cypool_evens_float(__m512 a, __m512 b) {
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}
static inline __m512 cypool_odds_float(__m512 a, __m512 b) {
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), b);
}
static inline __m512d cypool_evens_double(__m512d a, __m512d b) {
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
}
static inline __m512d cypool_odds_double(__m512d a, __m512d b) {
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b);
}
static inline __m512i cypool_evens_16(__m512i a, __m512i b) { /* the lower halves of 32 bits */
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)), _mm512_cvtepi32_epi16(b), 1);
}
static inline __m512i cypool_odds_16(__m512i a, __m512i b) { return cypool_evens_16(_mm512_srli_epi32(a, 16), _mm512_srli_epi32(b, 16)); }
static inline __m512i cypool_evens_8(__m512i a, __m512i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
}
static inline __m512i cypool_odds_8(__m512i a, __m512i b) { return cypool_evens_8(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8)); }

/* --- 32 bytes ----------------------------------------------------------------------------------------------------------------------- */
#elif CYPOOL_MAXIMA == 32

typedef __m256 cypool_many_float;
typedef __m256d cypool_many_double;
typedef __m256i cypool_many_int8;
typedef __m256i cypool_many_uint8;
typedef __m256i cypool_many_float16;
typedef __m256i cypool_many_bfloat16;

static inline __m256 cypool_larger_float(__m256 a, __m256 b) { return _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a)); }
static inline __m256d cypool_larger_double(__m256d a, __m256d b) { return _mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a)); }
static inline __m256i cypool_larger_int8(__m256i a, __m256i b) { return _mm256_max_epi8(a, b); }
static inline __m256i cypool_larger_uint8(__m256i a, __m256i b) { return _mm256_max_epu8(a, b); }
static inline __m256i cypool_larger_16(__m256i a, __m256i b) { return _mm256_max_epi16(a, b); }

static inline __m256 cypool_get_float(const void* x) { return _mm256_loadu_ps(x); }
static inline __m256d cypool_get_double(const void* x) { return _mm256_loadu_pd(x); }
static inline __m256i cypool_get_integers(const void* x) { return _mm256_loadu_si256(x); }
static inline void cypool_put_float(void* y, __m256 a) { _mm256_storeu_ps(y, a); }
static inline void cypool_put_double(void* y, __m256d a) { _mm256_storeu_pd(y, a); }
static inline void cypool_put_integers(void* y, __m256i a) { _mm256_storeu_si256(y, a); }

static inline __m256 cypool_in_float(__m256 a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
static inline __m256d cypool_in_double(__m256d a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
static inline __m256i cypool_in_int8(__m256i a) { return a; }
static inline __m256 cypool_out_float(__m256 a) {
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(cypool_in_float(a), nan, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
static inline __m256d cypool_out_double(__m256d a) {
    __m256d nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8000000000000));
    return _mm256_blendv_pd(cypool_in_double(a), nan, _mm256_cmp_pd(a, a, _CMP_UNORD_Q));
}
static inline __m256i cypool_out_int8(__m256i a) { return a; }
static inline __m256i cypool_exchanged_16(__m256i a) {
    return _mm256_xor_si256(a, _mm256_and_si256(_mm256_srai_epi16(a, 15), _mm256_set1_epi16(0x7fff)));
}
static inline __m256i cypool_in_16(__m256i a, int infinity) {
    return _mm256_sub_epi16(cypool_exchanged_16(a), _mm256_set1_epi16((short)(0x7fff - infinity)));
}
static inline __m256i cypool_out_16(__m256i a, int infinity, int nan) {
    __m256i shift = _mm256_set1_epi16((short)(0x7fff - infinity));
    __m256i above = _mm256_cmpgt_epi16(a, _mm256_set1_epi16((short)(2 * infinity - 0x7fff)));
    return _mm256_blendv_epi8(cypool_exchanged_16(_mm256_add_epi16(a, shift)), _mm256_set1_epi16((short)nan), above);
}

static inline __m256 cypool_least_float(void) { return _mm256_set1_ps(INFINITY); }
static inline __m256d cypool_least_double(void) { return _mm256_set1_pd(INFINITY); }
static inline __m256i cypool_least_int8(void) { return _mm256_set1_epi8(INT8_MIN); }
static inline __m256i cypool_least_uint8(void) { return _mm256_setzero_si256(); }
static inline __m256i cypool_least_16(void) { return _mm256_set1_epi16(INT16_MIN); }

static inline __m256i cypool_kept(__m256i mask, __m256i a, __m256i b) { return _mm256_blendv_epi8(b, a, mask); }
static inline __m256 cypool_kept_float(__m256 mask, __m256 a, __m256 b) { return _mm256_blendv_ps(b, a, mask); }
static inline __m256d cypool_kept_double(__m256d mask, __m256d a, __m256d b) { return _mm256_blendv_pd(b, a, mask); }

#define CYPOOL_INNER _MM_SHUFFLE(3, 1, 2, 0) /* the quarters in the middle change places */
static inline __m256 cypool_evens_float(__m256 a, __m256 b) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0))), CYPOOL_INNER));
}
static inline __m256 cypool_odds_float(__m256 a, __m256 b) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1))), CYPOOL_INNER));
}
static inline __m256d cypool_evens_double(__m256d a, __m256d b) { return _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), CYPOOL_INNER); }
static inline __m256d cypool_odds_double(__m256d a, __m256d b) { return _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), CYPOOL_INNER); }
static inline __m256i cypool_evens_16(__m256i a, __m256i b) {
    __m256i low = _mm256_set1_epi32(0xffff);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), CYPOOL_INNER);
}
static inline __m256i cypool_odds_16(__m256i a, __m256i b) {
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)), CYPOOL_INNER);
}
static inline __m256i cypool_evens_8(__m256i a, __m256i b) {
    __m256i low = _mm256_set1_epi16(0xff);
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), CYPOOL_INNER);
}
static inline __m256i cypool_odds_8(__m256i a, __m256i b) {
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)), CYPOOL_INNER);
}

/* --- 16 bytes ----------------------------------------------------------------------------------------------------------------------- */
#elif CYPOOL_MAXIMA == 16

typedef __m128 cypool_many_float;
typedef __m128d cypool_many_double;
typedef __m128i cypool_many_int8;
typedef __m128i cypool_many_uint8;
typedef __m128i cypool_many_float16;
typedef __m128i cypool_many_bfloat16;

static inline __m128 cypool_larger_float(__m128 a, __m128 b) { return _mm_or_ps(_mm_min_ps(a, b), _mm_min_ps(b, a)); }
static inline __m128d cypool_larger_double(__m128d a, __m128d b) { return _mm_or_pd(_mm_min_pd(a, b), _mm_min_pd(b, a)); }
static inline __m128i cypool_larger_int8(__m128i a, __m128i b) { return _mm_max_epu8(a, b); } /* of what ``in`` made unsigned */
static inline __m128i cypool_larger_uint8(__m128i a, __m128i b) { return _mm_max_epu8(a, b); }
static inline __m128i cypool_larger_16(__m128i a, __m128i b) { return _mm_max_epi16(a, b); }

static inline __m128 cypool_get_float(const void* x) { return _mm_loadu_ps(x); }
static inline __m128d cypool_get_double(const void* x) { return _mm_loadu_pd(x); }
static inline __m128i cypool_get_integers(const void* x) { return _mm_loadu_si128(x); }
static inline void cypool_put_float(void* y, __m128 a) { _mm_storeu_ps(y, a); }
static inline void cypool_put_double(void* y, __m128d a) { _mm_storeu_pd(y, a); }
static inline void cypool_put_integers(void* y, __m128i a) { _mm_storeu_si128(y, a); }

static inline __m128i cypool_kept(__m128i mask, __m128i a, __m128i b) { return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b)); }
static inline __m128 cypool_kept_float(__m128 mask, __m128 a, __m128 b) { return _mm_or_ps(_mm_and_ps(mask, a), _mm_andnot_ps(mask, b)); }
static inline __m128d cypool_kept_double(__m128d mask, __m128d a, __m128d b) { return _mm_or_pd(_mm_and_pd(mask, a), _mm_andnot_pd(mask, b)); }

static inline __m128 cypool_in_float(__m128 a) { return _mm_xor_ps(a, _mm_set1_ps(-0.0f)); }
static inline __m128d cypool_in_double(__m128d a) { return _mm_xor_pd(a, _mm_set1_pd(-0.0)); }
static inline __m128i cypool_in_int8(__m128i a) { return _mm_xor_si128(a, _mm_set1_epi8(INT8_MIN)); }
static inline __m128 cypool_out_float(__m128 a) {
    return cypool_kept_float(_mm_cmpunord_ps(a, a), _mm_castsi128_ps(_mm_set1_epi32(0x7fc00000)), cypool_in_float(a));
}
static inline __m128d cypool_out_double(__m128d a) {
    return cypool_kept_double(_mm_cmpunord_pd(a, a), _mm_castsi128_pd(_mm_set1_epi64x(0x7ff8000000000000)), cypool_in_double(a));
}
static inline __m128i cypool_out_int8(__m128i a) { return cypool_in_int8(a); }
static inline __m128i cypool_exchanged_16(__m128i a) {
    return _mm_xor_si128(a, _mm_and_si128(_mm_srai_epi16(a, 15), _mm_set1_epi16(0x7fff)));
}
static inline __m128i cypool_in_16(__m128i a, int infinity) {
    return _mm_sub_epi16(cypool_exchanged_16(a), _mm_set1_epi16((short)(0x7fff - infinity)));
}
static inline __m128i cypool_out_16(__m128i a, int infinity, int nan) {
    __m128i shift = _mm_set1_epi16((short)(0x7fff - infinity));
    __m128i above = _mm_cmpgt_epi16(a, _mm_set1_epi16((short)(2 * infinity - 0x7fff)));
    return cypool_kept(above, _mm_set1_epi16((short)nan), cypool_exchanged_16(_mm_add_epi16(a, shift)));
}

static inline __m128 cypool_least_float(void) { return _mm_set1_ps(INFINITY); }
static inline __m128d cypool_least_double(void) { return _mm_set1_pd(INFINITY); }
static inline __m128i cypool_least_int8(void) { return _mm_setzero_si128(); }
static inline __m128i cypool_least_uint8(void) { return _mm_setzero_si128(); }
static inline __m128i cypool_least_16(void) { return _mm_set1_epi16(INT16_MIN); }

static inline __m128 cypool_evens_float(__m128 a, __m128 b) { return _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)); }
static inline __m128 cypool_odds_float(__m128 a, __m128 b) { return _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)); }
static inline __m128d cypool_evens_double(__m128d a, __m128d b) { return _mm_unpacklo_pd(a, b); }
static inline __m128d cypool_odds_double(__m128d a, __m128d b) { return _mm_unpackhi_pd(a, b); }
static inline __m128i cypool_odds_16(__m128i a, __m128i b) { return _mm_packs_epi32(_mm_srai_epi32(a, 16), _mm_srai_epi32(b, 16)); }
static inline __m128i cypool_evens_16(__m128i a, __m128i b) { return cypool_odds_16(_mm_slli_epi32(a, 16), _mm_slli_epi32(b, 16)); }
static inline __m128i cypool_evens_8(__m128i a, __m128i b) {
    __m128i low = _mm_set1_epi16(0xff);
    return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
static inline __m128i cypool_odds_8(__m128i a, __m128i b) { return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)); }

/* --- one element -------------------------------------------------------------------------------------------------------------------- */
#else

typedef float cypool_many_float;
typedef double cypool_many_double;
typedef int8_t cypool_many_int8;
typedef uint8_t cypool_many_uint8;
typedef int16_t cypool_many_float16;
typedef int16_t cypool_many_bfloat16;

#define CYPOOL_ONE(name, type, least, nan)                                                                                \
    static inline type cypool_larger_##name(type a, type b) {                                                             \
        return a != a ? a : b != b ? b : a > b ? a : b > a ? b : (double)a == 0 && signbit((double)a) ? b : a;            \
    }                                                                                                                     \
    static inline type cypool_get_##name(const void* x) { type a; memcpy(&a, x, sizeof a); return a; }                    \
    static inline void cypool_put_##name(void* y, type a) { memcpy(y, &a, sizeof a); }                                    \
    static inline type cypool_in_##name(type a) { return a; }                                                             \
    static inline type cypool_out_##name(type a) { return a != a ? (type)(nan) : a; }                                     \
    static inline type cypool_least_##name(void) { return (type)(least); }                                                \
    static inline type cypool_kept_##name(type mask, type a, type b) {                                                    \
        static const type zero = 0;                                                                                       \
        return memcmp(&mask, &zero, sizeof zero) ? a : b;                                                                 \
    }                                                                                                                     \
    static inline type cypool_evens_##name(type a, type b) { (void)b; return a; }                                         \
    static inline type cypool_odds_##name(type a, type b) { (void)a; return b; }
CYPOOL_ONE(float, float, -INFINITY, NAN)
CYPOOL_ONE(double, double, -INFINITY, NAN)
CYPOOL_ONE(int8, int8_t, INT8_MIN, 0)
CYPOOL_ONE(uint8, uint8_t, 0, 0)
static inline int16_t cypool_larger_16(int16_t a, int16_t b) { return a > b ? a : b; }
static inline int16_t cypool_get_integers(const void* x) { int16_t a; memcpy(&a, x, sizeof a); return a; }
static inline void cypool_put_integers(void* y, int16_t a) { memcpy(y, &a, sizeof a); }
static inline int16_t cypool_in_16(int16_t a, int infinity) { return (int16_t)((a ^ (a < 0 ? 0x7fff : 0)) - (0x7fff - infinity)); }
static inline int16_t cypool_out_16(int16_t a, int infinity, int nan) {
    int16_t place = (int16_t)(a + (0x7fff - infinity));
    return (int16_t)(a > 2 * infinity - 0x7fff ? nan : place ^ (place < 0 ? 0x7fff : 0));
}
static inline int16_t cypool_least_16(void) { return INT16_MIN; }
static inline int16_t cypool_kept(int16_t mask, int16_t a, int16_t b) { return mask ? a : b; }
static inline int16_t cypool_evens_16(int16_t a, int16_t b) { (void)b; return a; }
static inline int16_t cypool_odds_16(int16_t a, int16_t b) { (void)a; return b; }

#endif

/* --- what is the same everywhere ---------------------------------------------------------------------------------------------------- */

#if CYPOOL_MAXIMA > 1
  #define CYPOOL_INTEGERS(name, bits)                                                                                                    \
    static inline cypool_many_##name cypool_get_##name(const void* x) { return cypool_get_integers(x); }                                \
    static inline void cypool_put_##name(void* y, cypool_many_##name a) { cypool_put_integers(y, a); }                                  \
    static inline cypool_many_##name cypool_kept_##name(cypool_many_##name m, cypool_many_##name a, cypool_many_##name b) {             \
        return cypool_kept(m, a, b);                                                                                                     \
    }                                                                                                                                    \
    static inline cypool_many_##name cypool_evens_##name(cypool_many_##name a, cypool_many_##name b) { return cypool_evens_##bits(a, b); } \
    static inline cypool_many_##name cypool_odds_##name(cypool_many_##name a, cypool_many_##name b) { return cypool_odds_##bits(a, b); }
CYPOOL_INTEGERS(int8, 8)
CYPOOL_INTEGERS(uint8, 8)
CYPOOL_INTEGERS(float16, 16)
CYPOOL_INTEGERS(bfloat16, 16)
static inline cypool_many_uint8 cypool_in_uint8(cypool_many_uint8 a) { return a; }
static inline cypool_many_uint8 cypool_out_uint8(cypool_many_uint8 a) { return a; }
#else
  #define CYPOOL_INTEGERS(name)                                                                                          \
    static inline int16_t cypool_get_##name(const void* x) { return cypool_get_integers(x); }                             \
    static inline void cypool_put_##name(void* y, int16_t a) { cypool_put_integers(y, a); }                               \
    static inline int16_t cypool_kept_##name(int16_t mask, int16_t a, int16_t b) { return cypool_kept(mask, a, b); }      \
    static inline int16_t cypool_evens_##name(int16_t a, int16_t b) { return cypool_evens_16(a, b); }                     \
    static inline int16_t cypool_odds_##name(int16_t a, int16_t b) { return cypool_odds_16(a, b); }
CYPOOL_INTEGERS(float16)
CYPOOL_INTEGERS(bfloat16)
#endif
#define CYPOOL_HALVES(name, infinity, nan)                                                                                            \
    static inline cypool_many_##name cypool_larger_##name(cypool_many_##name a, cypool_many_##name b) { return cypool_larger_16(a, b); } \
    static inline cypool_many_##name cypool_in_##name(cypool_many_##name a) { return cypool_in_16(a, infinity); }                     \
    static inline cypool_many_##name cypool_out_##name(cypool_many_##name a) { return cypool_out_16(a, infinity, nan); }              \
    static inline cypool_many_##name cypool_least_##name(void) { return cypool_least_16(); }
CYPOOL_HALVES(float16, 0x7c00, 0x7e00)
CYPOOL_HALVES(bfloat16, 0x7f80, 0x7fc0)

#define CYPOOL_TYPE float16
#include "maxima_loops.h"
#undef CYPOOL_TYPE
#define CYPOOL_TYPE bfloat16
#include "maxima_loops.h"
#undef CYPOOL_TYPE
#define CYPOOL_TYPE float
#include "maxima_loops.h"
#undef CYPOOL_TYPE
#define CYPOOL_TYPE double
#include "maxima_loops.h"
#undef CYPOOL_TYPE
#define CYPOOL_TYPE int8
#include "maxima_loops.h"
#undef CYPOOL_TYPE
#define CYPOOL_TYPE uint8
#include "maxima_loops.h"
#undef CYPOOL_TYPE

#endif
