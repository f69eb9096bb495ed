/* Transposes of small blocks: what turns planes into interleaved channels and back. A block is as many columns wide as elements fit 16
 * bytes; one that is as many rows high is a square, and with registers of 32 bytes there are blocks of two squares, one above the other.
 * A compiler without shuffles moves the elements one by one. */
#ifndef CYPOOL_TRANSPOSE_H
#define CYPOOL_TRANSPOSE_H

#include <stddef.h>
#include <string.h>

#if defined(__has_builtin)
  #if __has_builtin(__builtin_shufflevector)
    #define CYPOOL_SHUFFLES 1
  #endif
#endif

/* y[j * sy + i] = x[i * sx + j]. Rows i and i + n/2 are interleaved, log2(n) times over; in a block of two squares, each in its half of
 * the registers. LOW and HIGH are what interleaving makes of the first and of the second half of two rows, by places. */
#ifdef CYPOOL_SHUFFLES
  #define CYPOOL_LOW_square_8 0, 8, 1, 9, 2, 10, 3, 11
  #define CYPOOL_HIGH_square_8 4, 12, 5, 13, 6, 14, 7, 15
  #define CYPOOL_LOW_square_4 0, 4, 1, 5
  #define CYPOOL_HIGH_square_4 2, 6, 3, 7
  #define CYPOOL_LOW_square_2 0, 2
  #define CYPOOL_HIGH_square_2 1, 3
  #define CYPOOL_BOTH_two_8 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  #define CYPOOL_LOW_two_8 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27
  #define CYPOOL_HIGH_two_8 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31
  #define CYPOOL_BOTH_two_4 0, 1, 2, 3, 4, 5, 6, 7
  #define CYPOOL_LOW_two_4 0, 8, 1, 9, 4, 12, 5, 13
  #define CYPOOL_HIGH_two_4 2, 10, 3, 11, 6, 14, 7, 15
  #define CYPOOL_BOTH_two_2 0, 1, 2, 3
  #define CYPOOL_LOW_two_2 0, 4, 2, 6
  #define CYPOOL_HIGH_two_2 1, 5, 3, 7

  #define CYPOOL_NETWORK(block, n)                                                                        \
        for (int half = n; half > 1; half /= 2) {                                                         \
            for (int i = 0; i < n / 2; i++) {                                                             \
                b[2 * i] = __builtin_shufflevector(a[i], a[i + n / 2], CYPOOL_LOW_##block##_##n);         \
                b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + n / 2], CYPOOL_HIGH_##block##_##n);    \
            }                                                                                             \
            for (int i = 0; i < n; i++) a[i] = b[i];                                                      \
        }
  #define CYPOOL_SQUARE(type, n)                                                                          \
    static inline void cypool_square_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {           \
        typedef type row __attribute__((vector_size(16)));                                               \
        row a[n], b[n];                                                                                   \
        for (int i = 0; i < n; i++) memcpy(&a[i], x + i * sx, 16);                                        \
        CYPOOL_NETWORK(square, n)                                                                         \
        for (int i = 0; i < n; i++) memcpy(y + i * sy, &a[i], 16);                                        \
    }
#else
  #define CYPOOL_SQUARE(type, n)                                                                          \
    static inline void cypool_square_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {           \
        for (int i = 0; i < n; i++)                                                                       \
            for (int j = 0; j < n; j++) y[j * sy + i] = x[i * sx + j];                                    \
    }
#endif
#if defined(CYPOOL_SHUFFLES) && defined(__AVX2__)
  #define CYPOOL_TWO(type, n)                                                                             \
    static inline void cypool_two_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {              \
        typedef type half_row __attribute__((vector_size(16)));                                          \
        typedef type row __attribute__((vector_size(32)));                                               \
        row a[n], b[n];                                                                                   \
        for (int i = 0; i < n; i++) {                                                                     \
            half_row upper, lower;                                                                        \
            memcpy(&upper, x + i * sx, 16);                                                               \
            memcpy(&lower, x + (i + n) * sx, 16);                                                         \
            a[i] = __builtin_shufflevector(upper, lower, CYPOOL_BOTH_two_##n);                            \
        }                                                                                                 \
        CYPOOL_NETWORK(two, n)                                                                            \
        for (int i = 0; i < n; i++) memcpy(y + i * sy, &a[i], 32);                                        \
    }
#else
  #define CYPOOL_TWO(type, n)                                                                             \
    static inline void cypool_two_##n(const type* x, ptrdiff_t sx, type* y, ptrdiff_t sy) {              \
        cypool_square_##n(x, sx, y, sy);                                                                  \
        cypool_square_##n(x + n * sx, sx, y + n, sy);                                                     \
    }
#endif

CYPOOL_SQUARE(short, 8)
CYPOOL_SQUARE(int, 4)
CYPOOL_SQUARE(long long, 2)
CYPOOL_TWO(short, 8)
CYPOOL_TWO(int, 4)
CYPOOL_TWO(long long, 2)

#endif
