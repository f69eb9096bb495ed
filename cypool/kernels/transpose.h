/* Transposes of small squares, as many elements a side as fit 16 bytes: what turns planes into interleaved channels and back. A compiler
 * without shuffles moves the elements one by one. */
#ifndef CYPOOL_TRANSPOSE_H
#define CYPOOL_TRANSPOSE_H

#include <stddef.h>
#include <string.h>

#if defined(__has_builtin)
  #if __has_builtin(__builtin_shufflevector)
    #define CYPOOL_SHUFFLES 1
  #endif
#endif

/* y[j * sy + i] = x[i * sx + j]. Rows i and i + n/2 are interleaved, log2(n) times over. */
#ifdef CYPOOL_SHUFFLES
  #define CYPOOL_TRANSPOSE(type, n, low, high)                                                            \
    static inline void cypool_transpose_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {        \
        typedef type row __attribute__((vector_size(16)));                                               \
        row a[n], b[n];                                                                                   \
        for (int i = 0; i < n; i++) memcpy(&a[i], x + i * sx, 16);                                        \
        for (int half = n; half > 1; half /= 2) {                                                         \
            for (int i = 0; i < n / 2; i++) {                                                             \
                b[2 * i] = __builtin_shufflevector(a[i], a[i + n / 2], low);                              \
                b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + n / 2], high);                         \
            }                                                                                             \
            for (int i = 0; i < n; i++) a[i] = b[i];                                                      \
        }                                                                                                 \
        for (int i = 0; i < n; i++) memcpy(y + i * sy, &a[i], 16);                                        \
    }
  #define CYPOOL_COMMA ,
#else
  #define CYPOOL_TRANSPOSE(type, n, low, high)                                                            \
    static inline void cypool_transpose_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {        \
        for (int i = 0; i < n; i++)                                                                       \
            for (int j = 0; j < n; j++) y[j * sy + i] = x[i * sx + j];                                    \
    }
  #define CYPOOL_COMMA +
#endif

#define C CYPOOL_COMMA
CYPOOL_TRANSPOSE(short, 8, 0 C 8 C 1 C 9 C 2 C 10 C 3 C 11, 4 C 12 C 5 C 13 C 6 C 14 C 7 C 15)
CYPOOL_TRANSPOSE(int, 4, 0 C 4 C 1 C 5, 2 C 6 C 3 C 7)
CYPOOL_TRANSPOSE(long long, 2, 0 C 2, 1 C 3)
#undef C

#endif
