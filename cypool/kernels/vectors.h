/* Vectors of doubles, as wide as the build's instructions: the one thing that neither Cython nor the compiler's own vectoriser gives
 * reliably. With a compiler that has no vector extension a vector is one double, and everything else stays as it is.
 *
 * Each function names the element type it reads; all of them give exact doubles. */
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

static inline cypool_vector cypool_zeros(void) {
    cypool_vector result;
    memset(&result, 0, sizeof result);
    return result;
}

static inline void cypool_put(double* y, cypool_vector a) { memcpy(y, &a, sizeof a); }

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

#if CYPOOL_WIDTH == 8
static inline cypool_vector cypool_load_float(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
static inline cypool_vector cypool_load_float16(const uint16_t* x) {
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)x)));
}
static inline cypool_vector cypool_load_bfloat16(const int16_t* x) {
    __m256i wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)x)), 16);
    return _mm512_cvtps_pd(_mm256_castsi256_ps(wide));
}
static inline cypool_vector cypool_sqrt(cypool_vector a) { return _mm512_sqrt_pd(a); }
#elif CYPOOL_WIDTH == 4
static inline cypool_vector cypool_load_float(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
static inline cypool_vector cypool_load_float16(const uint16_t* x) {
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)x)));
}
static inline cypool_vector cypool_load_bfloat16(const int16_t* x) {
    __m128i wide = _mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)x)), 16);
    return _mm256_cvtps_pd(_mm_castsi128_ps(wide));
}
static inline cypool_vector cypool_sqrt(cypool_vector a) { return _mm256_sqrt_pd(a); }
#elif CYPOOL_WIDTH == 2
static inline cypool_vector cypool_load_float(const float* x) {
    cypool_vector result;
    CYPOOL_EACH(x[i]);
    return result;
}
static inline cypool_vector cypool_load_float16(const uint16_t* x) {
    cypool_vector result;
    CYPOOL_EACH(cypool_from_float16(x[i]));
    return result;
}
static inline cypool_vector cypool_load_bfloat16(const int16_t* x) {
    cypool_vector result;
    CYPOOL_EACH(cypool_from_bfloat16((uint16_t)x[i]));
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
#else
static inline cypool_vector cypool_load_float(const float* x) { return *x; }
static inline cypool_vector cypool_load_float16(const uint16_t* x) { return cypool_from_float16(*x); }
static inline cypool_vector cypool_load_bfloat16(const int16_t* x) { return cypool_from_bfloat16((uint16_t)*x); }
static inline cypool_vector cypool_sqrt(cypool_vector a) { return sqrt(a); }
#endif

static inline cypool_vector cypool_abs(cypool_vector a) {
#if CYPOOL_WIDTH == 1
    return fabs(a);
#else
    return (cypool_vector)((cypool_integers)a & 0x7fffffffffffffff);
#endif
}

#endif
