/* The loops of one element type; places.h includes this once for each. */
#define CYPOOL_JOINED(a, b) a##b
#define CYPOOL_JOIN(a, b) CYPOOL_JOINED(a, b)
#define NAME(function) CYPOOL_JOIN(cypool_places_##function##_, CYPOOL_TYPE)
#define BITS CYPOOL_BITS
#define WIDE CYPOOL_WIDE
#define NOTHING ((WIDE)((WIDE)1 << (8 * sizeof(WIDE) - 2)) * -2) /* below all ordinals */
#define SHIFT 1024 /* what makes integers ordinals above 0 */
#ifndef CYPOOL_ALWAYS
  #if defined(__GNUC__)
    #define CYPOOL_ALWAYS static inline __attribute__((always_inline))
  #else
    #define CYPOOL_ALWAYS static inline
  #endif
#endif

CYPOOL_ALWAYS WIDE NAME(ordinal)(BITS bits) {
#ifdef CYPOOL_INFINITY
    const WIDE most = (WIDE)(((uint64_t)1 << (8 * sizeof(BITS) - 1)) - 1);
    WIDE wide = bits;
    return (wide & most) > (WIDE)CYPOOL_INFINITY ? (WIDE)CYPOOL_NAN : wide < 0 ? wide ^ most : wide;
#else
    return (WIDE)bits + SHIFT;
#endif
}

CYPOOL_ALWAYS BITS NAME(element)(WIDE ordinal) {
#ifdef CYPOOL_INFINITY
    const WIDE most = (WIDE)(((uint64_t)1 << (8 * sizeof(BITS) - 1)) - 1);
    ordinal = ordinal == NOTHING ? ~(WIDE)CYPOOL_INFINITY : ordinal;
    return (BITS)(ordinal < 0 ? ordinal ^ most : ordinal);
#else
    return (BITS)(ordinal == NOTHING ? CYPOOL_LOWEST : ordinal - SHIFT);
#endif
}

static void NAME(ordinals)(const void* x, ptrdiff_t n, ptrdiff_t stride, void* ordinals) {
    const BITS* bits = x;
    WIDE* y = ordinals;
    if (stride == 1)
        for (ptrdiff_t i = 0; i < n; i++) y[i] = NAME(ordinal)(bits[i]);
    else
        for (ptrdiff_t i = 0; i < n; i++) y[i] = NAME(ordinal)(bits[i * stride]);
}

static void NAME(nothing)(void* ordinals, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) ((WIDE*)ordinals)[i] = NOTHING;
}

CYPOOL_ALWAYS void NAME(across_windows)(
    const WIDE* restrict x, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, WIDE first, WIDE step, WIDE* restrict most,
    WIDE* restrict places
) {
    for (ptrdiff_t o = 0; o < count; o++) {
        WIDE a = x[o * stride], place = first + (WIDE)(o * stride) * step;
        WIDE best = place;
        for (ptrdiff_t t = 1; t < taps; t++) {
            WIDE b = x[o * stride + t * dilation];
            best = b > a + (a == -1) ? place + (WIDE)(t * dilation) * step : best;
            a = a > b ? a : b;
        }
        most[o] = a;
        places[o] = best;
    }
}

/* The largest ordinal of each window of a row and its place; ``first`` is the place of the row's first ordinal, ``step`` that of the next. */
static void NAME(across)(
    const void* ordinals, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, ptrdiff_t first, ptrdiff_t step, void* most,
    void* places
) {
    const WIDE* x = ordinals;
    WIDE *m = most, *p = places, from = (WIDE)first, by = (WIDE)step;
    if (stride == 2 && taps == 3 && dilation == 1) {
        NAME(across_windows)(x, count, 2, 3, 1, from, by, m, p);
    } else if (stride == 2 && taps == 2 && dilation == 1) {
        NAME(across_windows)(x, count, 2, 2, 1, from, by, m, p);
    } else if (stride == 1 && taps == 3 && dilation == 1) {
        NAME(across_windows)(x, count, 1, 3, 1, from, by, m, p);
    } else {
        for (ptrdiff_t o = 0; o < count; o++) m[o] = x[o * stride], p[o] = from + (WIDE)(o * stride) * by;
        for (ptrdiff_t t = 1; t < taps; t++) {
            const WIDE* tap = x + t * dilation;
            for (ptrdiff_t o = 0; o < count; o++) {
                WIDE a = m[o], b = tap[o * stride];
                p[o] = b > a + (a == -1) ? from + (WIDE)(o * stride + t * dilation) * by : p[o];
                m[o] = a > b ? a : b;
            }
        }
    }
}

/* Take the maximum with one more row, which stands ``base`` further on in the plane. */
static void NAME(onto)(const void* most, const void* places, ptrdiff_t count, ptrdiff_t base, void* all, void* all_places) {
    const WIDE *restrict b = most, *restrict q = places;
    WIDE *restrict a = all, *restrict p = all_places, from = (WIDE)base;
    for (ptrdiff_t o = 0; o < count; o++) {
        p[o] = b[o] > a[o] + (a[o] == -1) ? q[o] + from : p[o];
        a[o] = a[o] > b[o] ? a[o] : b[o];
    }
}

static void NAME(finish)(const void* all, const void* all_places, ptrdiff_t count, long long base, void* y, long long* indices) {
    const WIDE *restrict a = all, *restrict p = all_places;
    BITS* restrict elements = y;
    for (ptrdiff_t o = 0; o < count; o++) elements[o] = NAME(element)(a[o]);
    for (ptrdiff_t o = 0; o < count; o++) indices[o] = a[o] == NOTHING ? -1 : base + p[o];
}

static const cypool_places NAME(table) = {
    sizeof(BITS), sizeof(WIDE), NAME(ordinals), NAME(nothing), NAME(across), NAME(onto), NAME(finish),
};

#undef NAME
#undef BITS
#undef WIDE
#undef NOTHING
#undef SHIFT
#undef CYPOOL_TYPE
#undef CYPOOL_BITS
#undef CYPOOL_WIDE
#undef CYPOOL_INFINITY
#undef CYPOOL_NAN
#undef CYPOOL_LOWEST
