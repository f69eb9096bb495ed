/* The loops of one element type; places.h includes this once for each. */
#define CYPOOL_JOINED(a, b) a##b
#define CYPOOL_JOIN(a, b) CYPOOL_JOINED(a, b)
#define NAME(function) CYPOOL_JOIN(cypool_places_##function##_, CYPOOL_TYPE)
#define BITS CYPOOL_BITS
#define WIDE CYPOOL_WIDE
#define NOTHING ((WIDE)((WIDE)1 << (8 * sizeof(WIDE) - 2)) * -2) /* below all ordinals */
#define EACH for (ptrdiff_t k = 0; k < CYPOOL_PLACES_CHUNK; k++)
#define SHIFT 1024 /* what makes integers ordinals above 0 */
#ifndef CYPOOL_ALWAYS
  #if defined(__GNUC__)
    #define CYPOOL_ALWAYS static inline __attribute__((always_inline))
  #else
    #define CYPOOL_ALWAYS static inline
  #endif
#endif

/* a + b; lanes beyond a row hold anything, so that the sum may leave the type, and wraps around. */
CYPOOL_ALWAYS WIDE NAME(sum)(WIDE a, WIDE b) {
    return sizeof(WIDE) == 4 ? (WIDE)((uint32_t)a + (uint32_t)b) : (WIDE)((uint64_t)a + (uint64_t)b);
}

CYPOOL_ALWAYS long long NAME(index)(long long base, WIDE place) { return (long long)((uint64_t)base + (uint64_t)(long long)place); }

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
    return (BITS)(ordinal == NOTHING ? CYPOOL_LOWEST : NAME(sum)(ordinal, -SHIFT));
#endif
}

/* Ordinals of n elements; up to a chunk more is written, and read if that lies before ``end``. */
static void NAME(ordinals)(const void* x, ptrdiff_t n, ptrdiff_t stride, const void* end, void* ordinals) {
    const BITS* bits = x;
    WIDE* y = ordinals;
    if (stride != 1)
        for (ptrdiff_t i = 0; i < n; i++) y[i] = NAME(ordinal)(bits[i * stride]);
#if CYPOOL_MAXIMA > 1
    else if (sizeof(BITS) == 4 && bits + n + CYPOOL_PLACES_CHUNK <= (const BITS*)end)
        cypool_ordinals_of_floats((const int32_t*)bits, (n + CYPOOL_PLACES_CHUNK - 1) / CYPOOL_PLACES_CHUNK * CYPOOL_PLACES_CHUNK, ordinals);
#endif
    else if (bits + n + CYPOOL_PLACES_CHUNK <= (const BITS*)end)
        for (ptrdiff_t i = 0; i < n; i += CYPOOL_PLACES_CHUNK) EACH y[i + k] = NAME(ordinal)(bits[i + k]);
    else
        for (ptrdiff_t i = 0; i < n; i++) y[i] = NAME(ordinal)(bits[i]);
}

static void NAME(nothing)(void* ordinals, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += CYPOOL_PLACES_CHUNK) EACH ((WIDE*)ordinals)[i + k] = NOTHING;
}

CYPOOL_ALWAYS void NAME(across_windows)(
    const WIDE* restrict x, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, WIDE first, WIDE step, WIDE* restrict most,
    WIDE* restrict places
) {
    for (ptrdiff_t i = 0; i < count; i += CYPOOL_PLACES_CHUNK, x += CYPOOL_PLACES_CHUNK * stride) EACH {
        WIDE a = x[k * stride], place = first + (WIDE)((i + k) * stride) * step;
        WIDE best = place;
        for (ptrdiff_t t = 1; t < taps; t++) {
            WIDE b = x[k * stride + t * dilation];
            best = b > a + (a == -1) ? place + (WIDE)(t * dilation) * step : best;
            a = a > b ? a : b;
        }
        most[i + k] = a;
        places[i + k] = best;
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
                WIDE place = from + (WIDE)(o * stride + t * dilation) * by, before = p[o];
                p[o] = b > a + (a == -1) ? place : before;
                m[o] = a > b ? a : b;
            }
        }
    }
}

CYPOOL_ALWAYS void NAME(onto_rows)(
    const WIDE* restrict rows, ptrdiff_t pitch, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, WIDE base, WIDE step, int fresh,
    WIDE* restrict all, WIDE* restrict places
) {
    for (ptrdiff_t i = 0; i < count; i += CYPOOL_PLACES_CHUNK) EACH {
        WIDE a = fresh ? rows[i + k] : all[i + k];
        WIDE best = fresh ? NAME(sum)(rows[pitch + i + k], base) : places[i + k];
        for (ptrdiff_t t = fresh ? 1 : 0; t < taps; t++) {
            WIDE b = rows[t * tap + i + k], place = NAME(sum)(rows[t * tap + pitch + i + k], base + (WIDE)t * step);
            best = b > a + (a == -1) ? place : best;
            a = a > b ? a : b;
        }
        all[i + k] = a;
        places[i + k] = best;
    }
}

/* Take the maximum over ``taps`` > 0 kept rows, ``tap`` apart, the first of which stands ``base`` further on in the plane than it says, the
 * next ``step`` more; with what is there already, unless that is ``fresh``. Places stand ``pitch`` after maxima. */
static void NAME(onto)(
    const void* rows, ptrdiff_t pitch, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, ptrdiff_t base, ptrdiff_t step, int fresh, void* all
) {
    WIDE *most = all, *places = most + pitch;
    if (fresh && taps == 3) NAME(onto_rows)(rows, pitch, tap, 3, count, (WIDE)base, (WIDE)step, 1, most, places);
    else if (fresh && taps == 2) NAME(onto_rows)(rows, pitch, tap, 2, count, (WIDE)base, (WIDE)step, 1, most, places);
    else if (fresh) NAME(onto_rows)(rows, pitch, tap, 1, count, (WIDE)base, (WIDE)step, 1, most, places);
    for (ptrdiff_t t = !fresh ? 0 : taps > 3 ? 1 : taps; t < taps; t++)
        NAME(onto_rows)((const WIDE*)rows + t * tap, pitch, 0, 1, count, (WIDE)(base + t * step), 0, 0, most, places);
}

/* Elements and indices of ``count`` maxima; ``room`` is how many may be written. No place is read under a condition: of such loads gcc 12
 * makes masked ones, and where a loop is unrolled it took the first mask for all of them. */
static void NAME(finish)(
    const void* all, ptrdiff_t pitch, ptrdiff_t count, ptrdiff_t room, long long base, void* y, long long* restrict indices
) {
    const WIDE *restrict a = all, *restrict p = a + pitch;
    BITS* restrict elements = y;
    ptrdiff_t padded = (count + CYPOOL_PLACES_CHUNK - 1) / CYPOOL_PLACES_CHUNK * CYPOOL_PLACES_CHUNK;
    if (padded <= room) {
        for (ptrdiff_t i = 0; i < padded; i += CYPOOL_PLACES_CHUNK) {
            EACH elements[i + k] = NAME(element)(a[i + k]);
            EACH indices[i + k] = NAME(index)(base, p[i + k]) | -(long long)(a[i + k] == NOTHING);
        }
    } else {
        for (ptrdiff_t i = 0; i < count; i++) elements[i] = NAME(element)(a[i]);
        for (ptrdiff_t i = 0; i < count; i++) indices[i] = NAME(index)(base, p[i]) | -(long long)(a[i] == NOTHING);
    }
}

/* --- flat: rows of ordinals one after the other, each ``count`` strides long ------------------------------------------------------------ */

/* The largest ordinal that each tap may have: any inside its row of ``size`` elements, none elsewhere. A period of the rows and a chunk more,
 * for each tap. */
static void NAME(limits)(
    void* limits, ptrdiff_t count, ptrdiff_t size, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation
) {
    WIDE* limit = limits;
    for (ptrdiff_t t = 0; t < taps; t++)
        for (ptrdiff_t i = 0; i < count + CYPOOL_PLACES_CHUNK; i++) {
            ptrdiff_t at = i % count * stride + first + t * dilation;
            *limit++ = at >= 0 && at < size ? ~NOTHING : NOTHING;
        }
}

CYPOOL_ALWAYS void NAME(flat_windows)(
    const WIDE* restrict x, ptrdiff_t total, ptrdiff_t count, int exact, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation,
    const WIDE* restrict limits, WIDE* restrict most, WIDE* restrict places
) {
    ptrdiff_t phase = 0, period = count + CYPOOL_PLACES_CHUNK, step = CYPOOL_PLACES_CHUNK % count;
    for (ptrdiff_t i = 0; i < total; i += CYPOOL_PLACES_CHUNK) {
        const WIDE *tap = x + i * stride + first, *limit = limits + phase;
        WIDE place = (WIDE)(i * stride + first);
        EACH {
            WIDE a = NOTHING, best = 0;
            for (ptrdiff_t t = 0; t < taps; t++) {
                WIDE b = tap[k * stride + t * dilation];
                if (!exact || first + t * dilation < 0 || first + t * dilation >= stride) {
                    WIDE most_here = limit[t * period + k];
                    b = b < most_here ? b : most_here;
                }
                if (t == 0) a = b, best = place + (WIDE)(k * stride);
                else {
                    best = b > a + (a == -1) ? place + (WIDE)(k * stride + t * dilation) : best;
                    a = a > b ? a : b;
                }
            }
            most[i + k] = a;
            places[i + k] = best;
        }
        phase += step;
        if (phase >= count) phase -= count;
    }
}

/* The largest ordinal of each window of ``total`` / ``count`` rows and its place, counted from the first row's first ordinal. Whether rows are
 * ``exact``ly as long as all their strides decides which taps are held to their limits. Up to a chunk more is written. */
static void NAME(flat)(
    const void* ordinals, ptrdiff_t total, ptrdiff_t count, int exact, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation,
    const void* limits, void* most, void* places
) {
#if CYPOOL_MAXIMA > 1
    ptrdiff_t period = count + CYPOOL_PLACES_CHUNK;
    if (sizeof(WIDE) == 4 && stride <= 2) {
        if (exact && stride == 2 && taps == 3 && first == -1 && dilation == 1)
            cypool_ordinals_flat(ordinals, total, count, 1, 2, 3, -1, 1, limits, period, most, places);
        else if (exact && stride == 2 && taps == 2 && first == 0 && dilation == 1)
            cypool_ordinals_flat(ordinals, total, count, 1, 2, 2, 0, 1, limits, period, most, places);
        else if (stride == 2 && dilation == 1)
            cypool_ordinals_flat(ordinals, total, count, 0, 2, taps, first, 1, limits, period, most, places);
        else if (stride == 2)
            cypool_ordinals_flat(ordinals, total, count, 0, 2, taps, first, dilation, limits, period, most, places);
        else if (taps == 3)
            cypool_ordinals_flat(ordinals, total, count, 0, 1, 3, first, dilation, limits, period, most, places);
        else
            cypool_ordinals_flat(ordinals, total, count, 0, 1, taps, first, dilation, limits, period, most, places);
        return;
    }
#endif
    if (exact && stride == 2 && taps == 3 && first == -1 && dilation == 1)
        NAME(flat_windows)(ordinals, total, count, 1, 2, 3, -1, 1, limits, most, places);
    else if (exact && stride == 2 && taps == 2 && first == 0 && dilation == 1)
        NAME(flat_windows)(ordinals, total, count, 1, 2, 2, 0, 1, limits, most, places);
    else
        NAME(flat_windows)(ordinals, total, count, 0, stride, taps, first, dilation, limits, most, places);
}

#define HALF (CYPOOL_PLACES_CHUNK / 2)

CYPOOL_ALWAYS void NAME(settle_row)(
    const WIDE* restrict most, const WIDE* restrict places, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, WIDE gap, long long base,
    BITS* restrict y, long long* restrict indices
) {
    for (ptrdiff_t i = 0; i < count; i += HALF)
        for (ptrdiff_t k = 0; k < HALF; k++) {
            WIDE a = most[i + k], best = places[i + k];
            for (ptrdiff_t t = 1; t < taps; t++) {
                WIDE b = most[t * tap + i + k], place = NAME(sum)(places[t * tap + i + k], -(WIDE)t * gap);
                best = b > a + (a == -1) ? place : best;
                a = a > b ? a : b;
            }
            y[i + k] = NAME(element)(a);
            indices[i + k] = NAME(index)(base, best) | -(long long)(a == NOTHING);
        }
}

/* Elements and indices of a row of windows: the maximum over ``taps`` rows of maxima ``tap`` apart, whose places stand ``pitch`` after them.
 * Those of each row are ``gap`` too large beside those of the row before. ``some_empty`` is whether a window may have no element in a row.
 * ``room`` is how many may be written. */
static void NAME(settle)(
    const void* rows, ptrdiff_t pitch, ptrdiff_t tap, ptrdiff_t taps, ptrdiff_t count, ptrdiff_t gap, int some_empty, long long base,
    ptrdiff_t room, void* y, long long* indices
) {
    const WIDE *most = rows, *places = most + pitch;
    BITS *elements = y, some[HALF];
    long long some_indices[HALF];
    ptrdiff_t n = (count + HALF - 1) / HALF * HALF <= room ? count : count / HALF * HALF;
    if (taps == 0) {
        for (ptrdiff_t i = 0; i < count; i++) elements[i] = NAME(element)(NOTHING), indices[i] = -1;
        return;
    }
#if CYPOOL_MAXIMA > 1
    if (sizeof(BITS) == 4 && !some_empty && (count >= CYPOOL_ORDINALS || CYPOOL_ORDINALS <= room)) {
        const int32_t *these = rows, *their_places = these + pitch;
        if (taps == 3 && gap == 0) cypool_ordinals_settle(these, their_places, tap, 3, count, 0, base, y, indices);
        else if (taps == 2 && gap == 0) cypool_ordinals_settle(these, their_places, tap, 2, count, 0, base, y, indices);
        else cypool_ordinals_settle(these, their_places, tap, taps, count, gap, base, y, indices);
        return;
    }
#endif
    if (taps == 3) NAME(settle_row)(most, places, tap, 3, n, (WIDE)gap, base, elements, indices);
    else if (taps == 2) NAME(settle_row)(most, places, tap, 2, n, (WIDE)gap, base, elements, indices);
    else NAME(settle_row)(most, places, tap, taps, n, (WIDE)gap, base, elements, indices);
    if (n < count) {
        NAME(settle_row)(most + n, places + n, tap, taps, HALF, (WIDE)gap, base, some, some_indices);
        memcpy(elements + n, some, (count - n) * sizeof(BITS));
        memcpy(indices + n, some_indices, (count - n) * sizeof(long long));
    }
}

static const cypool_places NAME(table) = {
    sizeof(BITS), sizeof(WIDE), NAME(ordinals), NAME(nothing), NAME(across), NAME(onto), NAME(finish), NAME(limits), NAME(flat), NAME(settle),
};

#undef NAME
#undef BITS
#undef WIDE
#undef NOTHING
#undef SHIFT
#undef HALF
#undef EACH
#undef CYPOOL_TYPE
#undef CYPOOL_BITS
#undef CYPOOL_WIDE
#undef CYPOOL_INFINITY
#undef CYPOOL_NAN
#undef CYPOOL_LOWEST
