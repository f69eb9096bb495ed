/* Vectors of doubles, as wide as the build's instructions: the one thing that neither Cython nor the compiler's own vectoriser gives
 * reliably. With a compiler that has no vector extension a vector is one double, and everything else stays as it is.
 *
 * Each function names the element type it reads; all but roots give exact numbers. */
#ifndef CYPOOL_VECTORS_H
#define CYPOOL_VECTORS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
  #if defined(__AVX512F__)
    #define CYPOOL_WIDTH 8
  #elif defined(__AVX2__)
    #define CYPOOL_WIDTH 4
  #else
    #define CYPOOL_WIDTH 2
  #endif
  typedef double cypool_vector __attribute__((vector_size(8 * CYPOOL_WIDTH)));
  typedef int64_t cypool_integers __attribute__((vector_size(8 * CYPOOL_WIDTH)));
  #define CYPOOL_EACH(x) for (int i = 0; i < CYPOOL_WIDTH; i++) result[i] = (x)
#else
  #define CYPOOL_WIDTH 1
  typedef double cypool_vector;
#endif
#if defined(__SSE2__)
  #include <immintrin.h>
#endif

/* Ask for a cache line that will be needed soon. */
#if defined(__GNUC__)
  #define cypool_will_read(x) __builtin_prefetch(x, 0)
  #define cypool_will_write(x) __builtin_prefetch(x, 1)
#else
  #define cypool_will_read(x) ((void)0)
  #define cypool_will_write(x) ((void)0)
#endif

static inline void cypool_put(double* y, cypool_vector a) { memcpy(y, &a, sizeof a); }

/* Of 2 * CYPOOL_WIDTH doubles those at even places, or at odd ones. */
static inline cypool_vector cypool_every_other(const double* x, int odd) {
#if CYPOOL_WIDTH == 1
    return x[odd];
#elif CYPOOL_WIDTH == 8
    __m512i places = _mm512_add_epi64(_mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), _mm512_set1_epi64(odd));
    return _mm512_permutex2var_pd(_mm512_loadu_pd(x), places, _mm512_loadu_pd(x + 8));
#elif CYPOOL_WIDTH == 4
    __m256d low = _mm256_loadu_pd(x), high = _mm256_loadu_pd(x + 4);
    return _mm256_permute4x64_pd(odd ? _mm256_unpackhi_pd(low, high) : _mm256_unpacklo_pd(low, high), 0xd8);
#else
    cypool_vector result;
    CYPOOL_EACH(x[2 * i + odd]);
    return result;
#endif
}

static inline cypool_vector cypool_load_double(const double* x) {
    cypool_vector result;
    memcpy(&result, x, sizeof result);
    return result;
}

static inline double cypool_from_bfloat16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Exponents differ by 112 between the formats: shift the fields into place and let one multiplication move the exponent, which normalises
 * subnormals as well; infinities and NaN are put back. */
static inline double cypool_from_float16(uint16_t bits) {
    uint32_t wide = (uint32_t)(bits & 0x7fff) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    value *= 0x1p112f;
    memcpy(&wide, &value, sizeof wide);
    wide |= sign | ((bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0);
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Elements narrower than double pass through floats, WIDTH of them; ``wide`` makes doubles of these. ``root`` is their square roots, rounded
 * to floats; ``root_rest`` what those lack, to within 2^-24 of it where x >= 2^-100. The tiny summand is for roots that are zero. */
#if CYPOOL_WIDTH == 8
typedef __m256 cypool_floats;
static inline cypool_vector cypool_wide(cypool_floats x) { return _mm512_cvtps_pd(x); }
static inline cypool_floats cypool_abs_floats(cypool_floats x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
static inline cypool_floats cypool_root(cypool_floats x) { return _mm256_sqrt_ps(x); }
static inline cypool_floats cypool_less_square(cypool_floats x, cypool_floats r) { return _mm256_fnmadd_ps(r, r, x); }
static inline cypool_floats cypool_floats_float(const float* x) { return _mm256_loadu_ps(x); }
static inline cypool_floats cypool_floats_float16(const uint16_t* x) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)x)); }
static inline cypool_floats cypool_from_halves(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
static inline cypool_floats cypool_floats_bfloat16(const int16_t* x) { return cypool_from_halves(_mm_loadu_si128((const __m128i*)x)); }
static inline cypool_vector cypool_sqrt(cypool_vector a) { return _mm512_sqrt_pd(a); }
#elif CYPOOL_WIDTH == 4
typedef __m128 cypool_floats;
static inline cypool_vector cypool_wide(cypool_floats x) { return _mm256_cvtps_pd(x); }
static inline cypool_floats cypool_abs_floats(cypool_floats x) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), x); }
static inline cypool_floats cypool_root(cypool_floats x) { return _mm_sqrt_ps(x); }
static inline cypool_floats cypool_less_square(cypool_floats x, cypool_floats r) { return _mm_fnmadd_ps(r, r, x); }
static inline cypool_floats cypool_floats_float(const float* x) { return _mm_loadu_ps(x); }
static inline cypool_floats cypool_floats_float16(const uint16_t* x) { return _mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)x)); }
static inline cypool_floats cypool_from_halves(__m128i bits) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16)); }
static inline cypool_floats cypool_floats_bfloat16(const int16_t* x) { return cypool_from_halves(_mm_loadl_epi64((const __m128i*)x)); }
static inline cypool_vector cypool_sqrt(cypool_vector a) { return _mm256_sqrt_pd(a); }
#else
typedef struct { float each[CYPOOL_WIDTH]; } cypool_floats;
  #define CYPOOL_EACH_FLOAT(x) cypool_floats result; for (int i = 0; i < CYPOOL_WIDTH; i++) result.each[i] = (x); return result
static inline cypool_floats cypool_abs_floats(cypool_floats x) { CYPOOL_EACH_FLOAT(fabsf(x.each[i])); }
static inline cypool_floats cypool_root(cypool_floats x) { CYPOOL_EACH_FLOAT(sqrtf(x.each[i])); }
static inline float cypool_one_rest(float x, float r) { /* a difference that is exact in double and, but for underflow, in float */
    return (float)((double)x - (double)r * (double)r) / (r + (r + 0x1p-60f));
}
static inline cypool_floats cypool_root_rest(cypool_floats x, cypool_floats r) { CYPOOL_EACH_FLOAT(cypool_one_rest(x.each[i], r.each[i])); }
static inline cypool_floats cypool_floats_float(const float* x) { CYPOOL_EACH_FLOAT(x[i]); }
static inline cypool_floats cypool_floats_float16(const uint16_t* x) { CYPOOL_EACH_FLOAT((float)cypool_from_float16(x[i])); }
static inline cypool_floats cypool_floats_bfloat16(const int16_t* x) { CYPOOL_EACH_FLOAT((float)cypool_from_bfloat16((uint16_t)x[i])); }
  #if CYPOOL_WIDTH == 1
static inline cypool_vector cypool_wide(cypool_floats x) { return x.each[0]; }
static inline cypool_vector cypool_sqrt(cypool_vector a) { return sqrt(a); }
  #else
static inline cypool_vector cypool_wide(cypool_floats x) {
    cypool_vector result;
    CYPOOL_EACH(x.each[i]);
    return result;
}
    #if defined(__SSE2__)
static inline cypool_vector cypool_sqrt(cypool_vector a) { return _mm_sqrt_pd(a); }
    #else
static inline cypool_vector cypool_sqrt(cypool_vector a) {
    cypool_vector result;
    CYPOOL_EACH(sqrt(a[i]));
    return result;
}
    #endif
  #endif
#endif

#if CYPOOL_WIDTH > 2
static inline cypool_floats cypool_root_rest(cypool_floats x, cypool_floats r) { return cypool_less_square(x, r) / (r + (r + 0x1p-60f)); }
#endif

static inline cypool_vector cypool_splat(double value) {
#if CYPOOL_WIDTH == 1
    return value;
#else
    cypool_vector result;
    CYPOOL_EACH(value);
    return result;
#endif
}

/* The first ``count`` elements, 0 < count < CYPOOL_WIDTH, zeros after them; nothing else is read. */
#if CYPOOL_WIDTH == 8
static inline cypool_vector cypool_part_double(const double* x, int count) {
    return _mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), x);
}
static inline cypool_floats cypool_some_float(const float* x, int count) { return _mm256_maskz_loadu_ps((__mmask8)((1u << count) - 1), x); }
static inline cypool_floats cypool_some_float16(const uint16_t* x, int count) {
    return _mm256_cvtph_ps(_mm_maskz_loadu_epi16((__mmask8)((1u << count) - 1), x));
}
static inline cypool_floats cypool_some_bfloat16(const int16_t* x, int count) {
    return cypool_from_halves(_mm_maskz_loadu_epi16((__mmask8)((1u << count) - 1), x));
}
#elif CYPOOL_WIDTH == 4
static const int32_t cypool_first_words[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static inline __m128i cypool_words_mask(int count) {
    return _mm_loadu_si128((const __m128i*)(cypool_first_words + CYPOOL_WIDTH - count));
}
static inline cypool_vector cypool_part_double(const double* x, int count) {
    return _mm256_maskload_pd(x, _mm256_cvtepi32_epi64(cypool_words_mask(count)));
}
static inline cypool_floats cypool_some_float(const float* x, int count) { return _mm_maskload_ps(x, cypool_words_mask(count)); }
/* There are no masked loads of 16 bits. */
static inline __m128i cypool_part_16(const void* x, int count) {
    uint16_t one = 0;
    uint32_t two = 0;
    if (count & 2) memcpy(&two, x, 4);
    if (count & 1) memcpy(&one, (const char*)x + 2 * (count - 1), 2);
    return _mm_cvtsi64_si128((int64_t)(count & 2 ? two | (uint64_t)one << 32 : one));
}
static inline cypool_floats cypool_some_float16(const uint16_t* x, int count) { return _mm_cvtph_ps(cypool_part_16(x, count)); }
static inline cypool_floats cypool_some_bfloat16(const int16_t* x, int count) { return cypool_from_halves(cypool_part_16(x, count)); }
#else
  #define CYPOOL_SOME(type, function, of, element) \
      static inline type function(const element* x, int count) { \
          element all[CYPOOL_WIDTH] = {x[0]}; \
          for (int i = 1; i < CYPOOL_WIDTH - 1; i++) all[i] = i < count ? x[i] : 0; \
          return of(all); \
      }
CYPOOL_SOME(cypool_vector, cypool_part_double, cypool_load_double, double)
CYPOOL_SOME(cypool_floats, cypool_some_float, cypool_floats_float, float)
CYPOOL_SOME(cypool_floats, cypool_some_float16, cypool_floats_float16, uint16_t)
CYPOOL_SOME(cypool_floats, cypool_some_bfloat16, cypool_floats_bfloat16, int16_t)
#endif

/* Store the first ``count`` numbers as floats. */
static inline void cypool_store_floats(float* y, cypool_vector a, int count) {
#if CYPOOL_WIDTH == 8
    if (count == CYPOOL_WIDTH) _mm256_storeu_ps(y, _mm512_cvtpd_ps(a));
    else _mm256_mask_storeu_ps(y, (__mmask8)((1u << count) - 1), _mm512_cvtpd_ps(a));
#elif CYPOOL_WIDTH == 4
    if (count == CYPOOL_WIDTH) _mm_storeu_ps(y, _mm256_cvtpd_ps(a));
    else _mm_maskstore_ps(y, cypool_words_mask(count), _mm256_cvtpd_ps(a));
#else
    double each[CYPOOL_WIDTH];
    memcpy(each, &a, sizeof a);
    for (int i = 0; i < count; i++) y[i] = (float)each[i];
#endif
}

/* The numbers without the lower 27 bits of their mantissas. */
static inline cypool_vector cypool_upper(cypool_vector a) {
#if CYPOOL_WIDTH == 1
    int64_t bits;
#else
    cypool_integers bits;
#endif
    memcpy(&bits, &a, sizeof bits);
    bits = bits & ~(int64_t)0x7ffffff;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static inline double cypool_first(cypool_vector a) {
    double value;
    memcpy(&value, &a, sizeof value);
    return value;
}

/* a * b + c, rounded once: exact by definition, so a build without the instruction gives the same bits, slowly. */
static inline cypool_vector cypool_fma(cypool_vector a, cypool_vector b, cypool_vector c) {
#if CYPOOL_WIDTH == 8
    return _mm512_fmadd_pd(a, b, c);
#elif CYPOOL_WIDTH == 4 && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif CYPOOL_WIDTH == 1
    return fma(a, b, c);
#else
    cypool_vector result;
    CYPOOL_EACH(fma(a[i], b[i], c[i]));
    return result;
#endif
}

/* total + a * a for a product that is exact, so that it is the same whether the sum is fused with it or not. */
static inline cypool_vector cypool_plus_square(cypool_vector total, cypool_vector a) {
#if CYPOOL_WIDTH > 2
    return cypool_fma(a, a, total);
#else
    return total + a * a;
#endif
}

/* total + a. Where there are fused operations this is one: their unit is idle in sums, while conversions keep that of additions busy. */
static inline cypool_vector cypool_plus(cypool_vector total, cypool_vector a) {
#if CYPOOL_WIDTH > 2
    return cypool_fma(a, cypool_splat(1.0), total);
#else
    return total + a;
#endif
}

/* Where ``low < x < high`` it is ``inside``, elsewhere (for NaN too) ``outside``. */
static inline cypool_vector cypool_between(
    cypool_vector x, cypool_vector low, cypool_vector high, cypool_vector inside, cypool_vector outside
) {
#if CYPOOL_WIDTH == 1
    return low < x && x < high ? inside : outside;
#elif CYPOOL_WIDTH == 8
    __mmask8 mask = _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(low, x, _CMP_LT_OQ), x, high, _CMP_LT_OQ);
    return _mm512_mask_blend_pd(mask, outside, inside);
#else
    cypool_integers mask = (cypool_integers)(low < x) & (cypool_integers)(x < high);
    return (cypool_vector)(((cypool_integers)inside & mask) | ((cypool_integers)outside & ~mask));
#endif
}

/* The number between low and high that is nearest to a finite x. */
static inline cypool_vector cypool_clamped(cypool_vector x, cypool_vector low, cypool_vector high) {
#if CYPOOL_WIDTH == 8
    return _mm512_min_pd(_mm512_max_pd(x, low), high);
#elif CYPOOL_WIDTH == 4
    return _mm256_min_pd(_mm256_max_pd(x, low), high);
#else
    cypool_vector above = cypool_between(x, low, cypool_splat(INFINITY), x, low);
    return cypool_between(above, cypool_splat(-INFINITY), high, above, high);
#endif
}

/* The larger one of two that are not negative; a NaN is above infinity, as its bits are. */
static inline cypool_vector cypool_larger(cypool_vector a, cypool_vector b) {
#if CYPOOL_WIDTH == 1
    return a > b || a != a ? a : b;
#elif CYPOOL_WIDTH == 8
    return (cypool_vector)_mm512_max_epi64((__m512i)a, (__m512i)b);
#else
    cypool_integers mask = (cypool_integers)a > (cypool_integers)b;
    return (cypool_vector)(((cypool_integers)a & mask) | ((cypool_integers)b & ~mask));
#endif
}

/* The largest one, of two that are not negative the same way. */
static inline double cypool_largest_of(cypool_vector a) {
#if CYPOOL_WIDTH == 8
    int64_t bits = _mm512_reduce_max_epi64((__m512i)a);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
#elif CYPOOL_WIDTH == 1
    return a;
#else
    cypool_integers bits = (cypool_integers)a;
    int64_t most = bits[0];
    for (int i = 1; i < CYPOOL_WIDTH; i++) most = bits[i] > most ? bits[i] : most;
    double value;
    memcpy(&value, &most, sizeof value);
    return value;
#endif
}

/* x = m * 2^k for normal x > 0, sqrt(1/2) <= m < sqrt(2); returns k. Subtracting the bits of sqrt(1/2) makes the exponent field step there
 * instead of at powers of two; the bias keeps it positive. Or-ing it into 2^52 makes it a double. */
static inline cypool_vector cypool_split(cypool_vector x, cypool_vector* m) {
#if CYPOOL_WIDTH == 1
    int64_t bits, exponent;
#else
    cypool_integers bits, exponent;
#endif
    cypool_vector k;
    memcpy(&bits, &x, sizeof bits);
    exponent = ((bits - 0x3fe6a09e667f3bcd + 0x3ff0000000000000) >> 52) & 0x7ff;
    bits = bits - (exponent << 52) + 0x3ff0000000000000;
    exponent = exponent | 0x4330000000000000;
    memcpy(m, &bits, sizeof bits);
    memcpy(&k, &exponent, sizeof k);
    return k - (0x1p52 + 1023);
}

/* 2^n for integers -1022 <= n <= 1023: added to 1.5 * 2^52, the integer stands in the low bits. */
static inline cypool_vector cypool_power_of_two(cypool_vector n) {
#if CYPOOL_WIDTH == 1
    int64_t bits;
#else
    cypool_integers bits;
#endif
    n = n + 0x1.8p52;
    memcpy(&bits, &n, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&n, &bits, sizeof n);
    return n;
}

static inline cypool_vector cypool_abs(cypool_vector a) {
#if CYPOOL_WIDTH == 1
    return fabs(a);
#else
    return (cypool_vector)((cypool_integers)a & 0x7fffffffffffffff);
#endif
}

#endif
