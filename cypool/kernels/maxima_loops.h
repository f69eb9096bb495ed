/* The loops over windows of one element type, CYPOOL_TYPE; maxima.h includes this once for each. Elements in scratch memory are as ``in``
 * makes them, so that they need not be changed at every tap; ``out`` makes them elements again.
 *
 * A row that is no multiple of a vector ends with one that overlaps the one before: a maximum does not mind. A row shorter than a vector is
 * read and written beyond its end where memory allows that, and what lies there is written after it. */
#define CYPOOL_JOINED(a, b) a##b
#define CYPOOL_JOIN(a, b) CYPOOL_JOINED(a, b)
#define NAME(function) CYPOOL_JOIN(cypool_##function##_, CYPOOL_TYPE)
#define T CYPOOL_JOIN(cypool_type_, CYPOOL_TYPE)
#define MANY CYPOOL_JOIN(cypool_many_, CYPOOL_TYPE)
#define LANES ((ptrdiff_t)(CYPOOL_MAXIMA > 1 ? CYPOOL_MAXIMA / sizeof(T) : 1))
#define LARGER NAME(larger)
#define GET NAME(get)
#define PUT NAME(put)
#define LOAD(x) NAME(in)(NAME(get)(x))
#define STORE(y, a) NAME(put)(y, NAME(out)(a))
#define AT(i, n) ((i) + LANES > (n) && (n) >= LANES ? (n) - LANES : (i)) /* the place of the vector at i in a row of n elements */
#ifndef CYPOOL_ALWAYS
  #if defined(__GNUC__)
    #define CYPOOL_ALWAYS static inline __attribute__((always_inline))
  #else
    #define CYPOOL_ALWAYS static inline
  #endif
  #define CYPOOL_STRIP 512 /* elements that are gathered at a time */
  #define CYPOOL_DOUBLED 8 /* taps from which on maxima of 2, 4, 8 ... neighbours are taken first */
#endif

/* The maximum of nothing, n times; up to a vector more is written. */
static void NAME(fill)(void* y, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += LANES) PUT((T*)y + i, NAME(least)());
}

/* Elements instead of what stands for them, in place. */
static void NAME(finished)(void* v, ptrdiff_t n) {
    T* y = v;
    T tail[LANES];
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) STORE(y + i, GET(y + i));
    if (i < n) {
        memset(tail, 0, sizeof tail);
        memcpy(tail, y + i, (n - i) * sizeof(T));
        STORE(tail, GET(tail));
        memcpy(y + i, tail, (n - i) * sizeof(T));
    }
}

/* --- down: rows of the plane become rows of scratch memory ---------------------------------------------------------------------------- */

CYPOOL_ALWAYS void NAME(fold_row)(const T* x, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, int onto, T* v) {
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        ptrdiff_t j = AT(i, n);
        MANY most = LOAD(x + j);
        for (ptrdiff_t t = 1; t < taps; t++) most = LARGER(most, LOAD(x + t * tap + j));
        if (onto) most = LARGER(most, GET(v + j));
        PUT(v + j, most);
    }
}

/* The same for columns any distance apart; nothing beyond the row is read or written. */
static void NAME(gather_row)(const T* x, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t column, ptrdiff_t n, int onto, T* v) {
    T most[CYPOOL_STRIP + LANES], some[CYPOOL_STRIP + LANES];
    for (ptrdiff_t from = 0; from < n; from += CYPOOL_STRIP) {
        ptrdiff_t m = n - from < CYPOOL_STRIP ? n - from : CYPOOL_STRIP;
        if (onto) memcpy(most, v + from, m * sizeof(T));
        else NAME(fill)(most, m);
        for (ptrdiff_t t = 0; t < taps; t++) {
            const T* source = x + t * tap + from * column;
            for (ptrdiff_t i = 0; i < m; i++) some[i] = source[i * column];
            for (ptrdiff_t i = 0; i < m; i += LANES) PUT(most + i, LARGER(GET(most + i), LOAD(some + i)));
        }
        memcpy(v + from, most, m * sizeof(T));
    }
}

/* Row r of v, n elements, is the maximum over the taps of window r along one axis: windows[2 * r] is the position of the first tap that holds
 * elements and windows[2 * r + 1] how many do; ``row`` is the distance of positions, ``tap`` that of taps. ``onto`` takes the maximum with
 * what is there. The rows of v lie ``pitch`` apart, and between them comes the maximum of nothing. Nothing at or beyond ``end`` is read. */
static void NAME(fold)(
    const void* plane, const ptrdiff_t* windows, ptrdiff_t count, ptrdiff_t row, ptrdiff_t tap, ptrdiff_t column, ptrdiff_t n,
    const void* end, int onto, void* scratch, ptrdiff_t pitch
) {
    T* v = scratch;
    for (ptrdiff_t r = 0; r < count; r++, v += pitch) {
        ptrdiff_t taps = windows[2 * r + 1];
        const T* x = (const T*)plane + windows[2 * r] * row;
        if (taps == 0) {
            if (!onto) NAME(fill)(v, n);
        } else if (column == 1 && (n >= LANES || (!onto && x + (tap > 0 ? (taps - 1) * tap : 0) + LANES <= (const T*)end))) {
            if (taps == 3) NAME(fold_row)(x, 3, tap, n, onto, v);
            else if (taps == 2) NAME(fold_row)(x, 2, tap, n, onto, v);
            else NAME(fold_row)(x, taps, tap, n, onto, v);
        } else {
            NAME(gather_row)(x, taps, tap, column, n, onto, v);
        }
        if (!onto && pitch > n) NAME(fill)(v + n, pitch - n);
    }
}

/* The same of one window, each tap of which is n neighbours; up to a vector more is written. */
static void NAME(pixel)(const void* pixels, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, const void* end, int onto, void* v) {
    const T* x = pixels;
    T some[LANES];
    if (n >= LANES || x + (tap > 0 ? (taps - 1) * tap : 0) + LANES <= (const T*)end) {
        if (taps == 3) NAME(fold_row)(x, 3, tap, n, onto, v);
        else if (taps == 2) NAME(fold_row)(x, 2, tap, n, onto, v);
        else NAME(fold_row)(x, taps, tap, n, onto, v);
        return;
    }
    if (!onto) NAME(fill)(v, n);
    for (ptrdiff_t t = 0; t < taps; t++) {
        memcpy(some, x + t * tap, n * sizeof(T));
        PUT(v, LARGER(GET(v), LOAD(some)));
    }
}

/* Elements: the maximum of ``taps`` pixels of folded ones, n neighbours each; up to a vector more is read and written. */
CYPOOL_ALWAYS void NAME(fold_pixels)(const T* v, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, T* y) {
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        ptrdiff_t j = AT(i, n);
        MANY most = taps > 0 ? GET(v + j) : NAME(least)();
        for (ptrdiff_t t = 1; t < taps; t++) most = LARGER(most, GET(v + t * tap + j));
        STORE(y + j, most);
    }
}

static void NAME(neighbour_pixels)(const void* v, ptrdiff_t taps, ptrdiff_t tap, ptrdiff_t n, void* y) {
    if (taps == 3) NAME(fold_pixels)(v, 3, tap, n, y);
    else if (taps == 2) NAME(fold_pixels)(v, 2, tap, n, y);
    else NAME(fold_pixels)(v, taps, tap, n, y);
}

/* --- across: rows of scratch memory become rows of the output -------------------------------------------------------------------------- */

/* The maximum of ``taps`` neighbours from x on, for windows ``stride`` apart, which is 1 or 2. */
CYPOOL_ALWAYS MANY NAME(neighbours)(const T* x, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation) {
    MANY most, a, b;
    if (stride == 1) {
        most = GET(x);
        for (ptrdiff_t t = 1; t < taps; t++) most = LARGER(most, GET(x + t * dilation));
        return most;
    }
    a = GET(x), b = GET(x + LANES);
    most = NAME(evens)(a, b);
    if (dilation == 1) {
        if (taps > 1) most = LARGER(most, NAME(odds)(a, b));
        for (ptrdiff_t t = 2; t < taps; t += 2) {
            a = GET(x + t), b = GET(x + t + LANES);
            most = LARGER(most, NAME(evens)(a, b));
            if (t + 1 < taps) most = LARGER(most, NAME(odds)(a, b));
        }
    } else {
        for (ptrdiff_t t = 1; t < taps; t++) most = LARGER(most, NAME(evens)(GET(x + t * dilation), GET(x + t * dilation + LANES)));
    }
    return most;
}

/* n elements to y; ``room`` is how many may be written. */
CYPOOL_ALWAYS void NAME(emit)(T* y, MANY a, ptrdiff_t n, ptrdiff_t room) {
    if (room >= LANES) {
        STORE(y, a);
    } else {
        T tail[LANES];
        STORE(tail, a);
        memcpy(y, tail, (n < room ? n : room) * sizeof(T));
    }
}

CYPOOL_ALWAYS void NAME(across_row)(
    const T* v, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, T* y, ptrdiff_t room
) {
    for (ptrdiff_t i = 0; i < count; i += LANES) {
        ptrdiff_t j = AT(i, count);
        NAME(emit)(y + j, NAME(neighbours)(v + j * stride, stride, taps, dilation), count, room - j);
    }
}

/* s[i] = the maximum of ``taps`` elements from v[i] on, for i < n. */
static void NAME(sliding)(const T* v, ptrdiff_t n, ptrdiff_t taps, ptrdiff_t dilation, T* s) {
    ptrdiff_t span = 1;
    if (taps < CYPOOL_DOUBLED) {
        for (ptrdiff_t i = 0; i < n; i += LANES) PUT(s + i, NAME(neighbours)(v + i, 1, taps, dilation));
        return;
    }
    for (; 2 * span <= taps; span *= 2, v = s)
        for (ptrdiff_t i = 0; i < n + (taps - 2 * span) * dilation; i += LANES) PUT(s + i, LARGER(GET(v + i), GET(v + i + span * dilation)));
    for (ptrdiff_t i = 0; i < n; i += LANES) PUT(s + i, LARGER(GET(v + i), GET(v + i + (taps - span) * dilation)));
}

/* s[i] = the maximum of the taps from v[i * stride] on, for i < count: for windows so far apart that most of v is in none. */
static void NAME(picked)(const T* v, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation, T* s) {
    T some[CYPOOL_STRIP + LANES];
    for (ptrdiff_t from = 0; from < count; from += CYPOOL_STRIP) {
        ptrdiff_t m = count - from < CYPOOL_STRIP ? count - from : CYPOOL_STRIP;
        for (ptrdiff_t i = from; i < from + m; i++) s[i] = v[i * stride];
        for (ptrdiff_t t = 1; t < taps; t++) {
            for (ptrdiff_t i = 0; i < m; i++) some[i] = v[(from + i) * stride + t * dilation];
            for (ptrdiff_t i = 0; i < m; i += LANES) PUT(s + from + i, LARGER(GET(s + from + i), GET(some + i)));
        }
    }
}

/* ``count`` windows of each row of v, whose first taps are at 0, stride, 2 * stride ..., go to y, row after row. ``scratch`` has room for a
 * row and a vector. */
static void NAME(across)(
    const void* rows_v, ptrdiff_t pitch, ptrdiff_t rows, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t dilation,
    void* scratch, void* out
) {
    const T* v = rows_v;
    T *y = out, *s = scratch;
    for (ptrdiff_t room = rows * count; room > 0; room -= count, v += pitch, y += count) {
        if (stride == 2 && taps == 3 && dilation == 1) {
            NAME(across_row)(v, count, 2, 3, 1, y, room);
        } else if (stride == 2 && taps == 2 && dilation == 1) {
            NAME(across_row)(v, count, 2, 2, 1, y, room);
        } else if (stride == 1 && taps == 3) {
            NAME(across_row)(v, count, 1, 3, dilation, y, room);
        } else if (stride == 1 && taps < CYPOOL_DOUBLED) {
            NAME(across_row)(v, count, 1, taps, dilation, y, room);
        } else if (stride == 2 && taps < CYPOOL_DOUBLED) {
            NAME(across_row)(v, count, 2, taps, dilation, y, room);
        } else if (stride < LANES && taps > 1) {
            NAME(sliding)(v, (count - 1) * stride + 1, taps, dilation, s);
            for (ptrdiff_t i = 1; stride > 1 && i < count; i++) s[i] = s[i * stride];
            NAME(across_row)(s, count, 1, 1, 1, y, room);
        } else {
            NAME(picked)(v, count, stride, taps, dilation, s);
            NAME(across_row)(s, count, 1, 1, 1, y, room);
        }
    }
}

/* --- flat: the same over many rows as if they were one, where a row of v is exactly ``count`` strides long ------------------------------ */

/* Whether tap t may leave its row, and what of it stays. A period of the rows, and a vector more, for each tap. */
static void NAME(mask)(void* masks, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation) {
    T* mask = masks;
    for (ptrdiff_t t = 0; t < taps; t++, mask += count + LANES)
        for (ptrdiff_t i = 0; i < count + LANES; i++) {
            ptrdiff_t at = i % count * stride + first + t * dilation;
            memset(mask + i, at >= 0 && at < count * stride ? 0xff : 0, sizeof(T));
        }
}

CYPOOL_ALWAYS MANY NAME(kept_tap)(MANY a, ptrdiff_t offset, ptrdiff_t stride, const T* mask) {
    return offset < 0 || offset >= stride ? NAME(kept)(GET(mask), a, NAME(least)()) : a;
}

CYPOOL_ALWAYS void NAME(flat_rows)(
    const T* v, ptrdiff_t total, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation, const T* masks, T* y
) {
    ptrdiff_t phase = 0, step = LANES % count;
    for (ptrdiff_t i = 0; i < total; i += LANES) {
        ptrdiff_t j = AT(i, total), t = 0, offset = first;
        const T *x = v + j * stride, *mask = masks + (i == j ? phase : j % count);
        MANY most = NAME(least)(), a, b;
        for (; t < taps; t++, offset += dilation, mask += count + LANES) {
            if (stride == 1) {
                a = GET(x + offset);
            } else if (dilation == 1 && t + 1 < taps) {
                a = GET(x + offset), b = GET(x + offset + LANES);
                MANY odd = NAME(kept_tap)(NAME(odds)(a, b), offset + 1, stride, mask + count + LANES);
                a = LARGER(NAME(kept_tap)(NAME(evens)(a, b), offset, stride, mask), odd);
                most = t ? LARGER(most, a) : a;
                t++, offset++, mask += count + LANES;
                continue;
            } else {
                a = NAME(evens)(GET(x + offset), GET(x + offset + LANES));
            }
            a = NAME(kept_tap)(a, offset, stride, mask);
            most = t ? LARGER(most, a) : a;
        }
        NAME(emit)(y + j, most, total, total - j);
        phase += step;
        if (phase >= count) phase -= count;
    }
}

static void NAME(flat)(
    const void* v, ptrdiff_t total, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t taps, ptrdiff_t first, ptrdiff_t dilation,
    const void* masks, void* y
) {
    if (stride == 2 && taps == 2 && first == 0 && dilation == 1) NAME(flat_rows)(v, total, count, 2, 2, 0, 1, masks, y);
    else if (stride == 2 && taps == 3 && first == -1 && dilation == 1) NAME(flat_rows)(v, total, count, 2, 3, -1, 1, masks, y);
    else if (stride == 2) NAME(flat_rows)(v, total, count, 2, taps, first, dilation, masks, y);
    else if (taps == 3 && first == -1 && dilation == 1) NAME(flat_rows)(v, total, count, 1, 3, -1, 1, masks, y);
    else NAME(flat_rows)(v, total, count, 1, taps, first, dilation, masks, y);
}

/* --- windows that are not worth rows of scratch memory ---------------------------------------------------------------------------------- */

/* The maximum of n neighbours and of ``most``, lane by lane. */
CYPOOL_ALWAYS MANY NAME(run_of)(const T* x, ptrdiff_t n, const T* end, MANY most) {
    ptrdiff_t i = 0;
    if (n >= 8 * LANES) {
        MANY other[4];
        for (int k = 0; k < 4; k++) other[k] = LOAD(x + k * LANES);
        for (i = 4 * LANES; i + 4 * LANES <= n; i += 4 * LANES)
            for (int k = 0; k < 4; k++) other[k] = LARGER(other[k], LOAD(x + i + k * LANES));
        for (int k = 0; k < 4; k++) most = LARGER(most, other[k]);
    }
    if (n < LANES) {
        T part[2 * LANES];
        if (x + LANES <= end) memcpy(part, x, sizeof(T) * LANES);
        else memcpy(part, x, sizeof(T) * n);
        PUT(part, LOAD(part));
        NAME(fill)(part + n, LANES - n);
        return LARGER(most, GET(part));
    }
    for (; i < n; i += LANES) most = LARGER(most, LOAD(x + AT(i, n)));
    return most;
}

/* The same, any distance apart. */
static void NAME(run)(const void* from, ptrdiff_t n, ptrdiff_t stride, const void* end, void* most) {
    const T* x = from;
    T some[CYPOOL_STRIP];
    if (stride == 1) {
        PUT(most, NAME(run_of)(x, n, end, GET(most)));
        return;
    }
    for (ptrdiff_t i = 0; i < n; i += CYPOOL_STRIP) {
        ptrdiff_t m = n - i < CYPOOL_STRIP ? n - i : CYPOOL_STRIP;
        for (ptrdiff_t k = 0; k < m; k++) some[k] = x[(i + k) * stride];
        PUT(most, NAME(run_of)(some, m, some + CYPOOL_STRIP, GET(most)));
    }
}

/* Of ``count`` <= LANES vectors the largest lanes, which go to y. All of them are folded together: neighbouring lanes of two vectors make
 * one vector, and so on. */
static void NAME(finish)(void* vectors, ptrdiff_t count, void* y) {
    T* most = vectors;
    for (ptrdiff_t n = LANES; n > 1; n /= 2)
        for (ptrdiff_t i = 0; i < n / 2 && i * (2 * LANES / n) < count; i++) {
            MANY a = GET(most + 2 * i * LANES), b = GET(most + (2 * i + 1) * LANES);
            PUT(most + i * LANES, LARGER(NAME(evens)(a, b), NAME(odds)(a, b)));
        }
    NAME(emit)(y, GET(most), count, count);
}

/* y[i] = the maximum of n > 0 elements from x + i * distance on. */
static void NAME(runs)(const void* x, ptrdiff_t distance, ptrdiff_t n, ptrdiff_t count, const void* end, void* y) {
    T most[LANES * LANES];
    for (ptrdiff_t i = 0; i < count; i += LANES) {
        ptrdiff_t m = count - i < LANES ? count - i : LANES;
        for (ptrdiff_t k = 0; k < m; k++)
            PUT(most + k * LANES, NAME(run_of)((const T*)x + (i + k) * distance, n, end, NAME(least)()));
        NAME(finish)(most, m, (T*)y + i);
    }
}

static const cypool_maxima NAME(maxima) = {
    sizeof(T), LANES, NAME(fill), NAME(fold), NAME(pixel), NAME(neighbour_pixels), NAME(across), NAME(mask), NAME(flat), NAME(runs), NAME(run), NAME(finish), NAME(finished),
};

#undef NAME
#undef T
#undef MANY
#undef LANES
#undef LARGER
#undef GET
#undef PUT
#undef LOAD
#undef STORE
#undef AT
