# Means of windows where rows lie in memory as they are: many rows of outputs in one go.
#
# Part of window_mean.pyx. Down: for each row of outputs the rows that it sums become one row of sums, column by column, so many of them as
# the nearest cache holds. Each row of the plane is read once and stays in a register while windows want it. Across: a row of sums becomes
# its outputs. Rows that lie outside the plane are a row of -0.0, which adds nothing, so edges need no loops of their own. Rows of sums
# have margins, which never change, and end in 1e200, which passes the test.


cdef inline void put_sums(
    vector a, vector b, bint all, vector mask, vector pads, double* hi, double* lo, const element* unused
) noexcept nogil:
    """Store sums, in the last vector of a row with what stands after it."""
    put(hi, a if all else chosen(mask, a, pads))
    if element is double:
        put(lo, b if all else chosen(mask, b, splat(0.0)))


cdef inline vector from_row(
    const void* const* rows, Py_ssize_t row, Py_ssize_t j, bint all, Py_ssize_t left, const element* unused
) noexcept nogil:
    return some_of(<const element*>rows[row] + j, all, left)


cdef inline void down_strip(
    const void* const* rows, Py_ssize_t count, Py_ssize_t odd, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t dilation, Py_ssize_t j,
    bint all, Py_ssize_t left, const scratch* s, double* hi, double* lo, Py_ssize_t pitch, const element* unused,
) noexcept nogil:
    """A vector of columns. Windows of even numbers add their first row last."""
    cdef vector mask = load_double(s.mask), pads = load_double(s.pads)
    cdef vector a, b, c, d, e, f
    cdef Py_ssize_t i = 0, k, at
    if stride == 1 and dilation == 1 and taps > 1:
        while i < count:
            if odd or i + 1 == count:
                a = from_row(rows, i if odd else i + 1, j, all, left, unused)
                b = splat(0.0)
                for k in range(1, taps):
                    at = i + k if odd else i + (k + 1) % taps
                    add(from_row(rows, at, j, all, left, unused), &a, &b, unused)
                put_sums(a, b, all, mask, pads, hi + i * pitch, lo + i * pitch, unused)
                i += 1
                odd = 0
                continue
            if taps == 3:
                e = from_row(rows, i, j, all, left, unused)
                c = from_row(rows, i + 1, j, all, left, unused)
                while i + 1 < count:
                    a = c
                    b = splat(0.0)
                    f = from_row(rows, i + 2, j, all, left, unused)
                    c = from_row(rows, i + 3, j, all, left, unused)
                    add(f, &a, &b, unused)
                    d = b
                    put_next(e, a, d, all, mask, pads, hi + i * pitch, lo + i * pitch, unused)
                    put_next(c, a, b, all, mask, pads, hi + (i + 1) * pitch, lo + (i + 1) * pitch, unused)
                    e = f
                    i += 2
                continue
            a = from_row(rows, i + 1, j, all, left, unused)
            b = splat(0.0)
            for k in range(2, taps):
                add(from_row(rows, i + k, j, all, left, unused), &a, &b, unused)
            put_next(from_row(rows, i, j, all, left, unused), a, b, all, mask, pads, hi + i * pitch, lo + i * pitch, unused)
            put_next(
                from_row(rows, i + taps, j, all, left, unused), a, b, all, mask, pads, hi + (i + 1) * pitch, lo + (i + 1) * pitch, unused
            )
            i += 2
        return
    if stride == 2 and dilation == 1 and taps == 3:
        c = from_row(rows, 0, j, all, left, unused)
        while i < count:
            a = c
            e = from_row(rows, 2 * i + 1, j, all, left, unused)
            c = from_row(rows, 2 * i + 2, j, all, left, unused)
            b = splat(0.0)
            if (i + odd) % 2:
                f = a
                add(e, &f, &b, unused)
                add(c, &f, &b, unused)
            else:
                f = e
                add(c, &f, &b, unused)
                add(a, &f, &b, unused)
            put_sums(f, b, all, mask, pads, hi + i * pitch, lo + i * pitch, unused)
            i += 1
        return
    while i < count:
        at = i * stride
        if taps > 2 and (i + odd) % 2 == 0:
            a = from_row(rows, at + dilation, j, all, left, unused)
            b = splat(0.0)
            for k in range(2, taps):
                add(from_row(rows, at + k * dilation, j, all, left, unused), &a, &b, unused)
            add(from_row(rows, at, j, all, left, unused), &a, &b, unused)
        else:
            a = from_row(rows, at, j, all, left, unused)
            b = splat(0.0)
            for k in range(1, taps):
                add(from_row(rows, at + k * dilation, j, all, left, unused), &a, &b, unused)
        put_sums(a, b, all, mask, pads, hi + i * pitch, lo + i * pitch, unused)
        i += 1


cdef inline void put_next(
    vector x, vector a, vector b, bint all, vector mask, vector pads, double* hi, double* lo, const element* unused
) noexcept nogil:
    """Store sums and one row more."""
    add(x, &a, &b, unused)
    put_sums(a, b, all, mask, pads, hi, lo, unused)


cdef inline void down(
    const void* const* rows, Py_ssize_t count, Py_ssize_t odd, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t dilation,
    Py_ssize_t columns, const scratch* s, double* hi, double* lo, Py_ssize_t pitch, const element* unused,
) noexcept nogil:
    """Write ``count`` rows of sums; output row i sums rows i * stride + k * dilation."""
    cdef Py_ssize_t j = 0
    while j + WIDTH <= columns:
        down_strip(rows, count, odd, stride, taps, dilation, j, True, 0, s, hi + j, lo + j, pitch, unused)
        j += WIDTH
    if j < columns:
        down_strip(rows, count, odd, stride, taps, dilation, j, False, columns - j, s, hi + j, lo + j, pitch, unused)


cdef void down_ways(
    const void* const* rows, Py_ssize_t count, Py_ssize_t odd, Py_ssize_t stride, Py_ssize_t taps, Py_ssize_t dilation,
    Py_ssize_t columns, const scratch* s, double* hi, double* lo, Py_ssize_t pitch, const element* unused,
) noexcept nogil:
    """``down``, with loops of their own for the common windows."""
    if dilation == 1 and taps == 3 and stride == 1:
        down(rows, count, odd, 1, 3, 1, columns, s, hi, lo, pitch, unused)
    elif dilation == 1 and taps == 3 and stride == 2:
        down(rows, count, odd, 2, 3, 1, columns, s, hi, lo, pitch, unused)
    elif dilation == 1 and taps == 2 and stride == 2:
        down(rows, count, odd, 2, 2, 1, columns, s, hi, lo, pitch, unused)
    else:
        down(rows, count, odd, stride, taps, dilation, columns, s, hi, lo, pitch, unused)


cdef void set_margins(const problem* p, Py_ssize_t block, scratch* s, const element* unused) noexcept nogil:
    """Prepare rows of sums for a block of columns: what stands before and after those of the plane."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t first = block * p.block, count = min(p.block, p.columns - first)
    cdef Py_ssize_t start = start_of(last, first), size = reach_of(last, count), inside_at, i, j
    cdef double value
    cdef double* hi = s.hi[0]
    cdef double* lo = s.lo[0]
    cdef element* nothing = <element*>s.nothing
    s.flat_block = block
    s.left = max(0, -start)
    s.right = min(size, last.size - start)
    inside_at = (s.right - s.left) // WIDTH * WIDTH if s.right > s.left else 0
    for j in range(p.pitch):
        # sum j - margin + left of the row, at this position
        i = j - p.margin + s.left
        if i >= size:
            value = 1e200
        elif i >= 0 and p.padding and last.first <= start + i < last.padded:
            value = 0.0
        else:
            value = -0.0
        if p.margin + inside_at <= j < p.margin + inside_at + WIDTH:
            s.mask[j - p.margin - inside_at] = mask_of(i < s.right)
            s.pads[j - p.margin - inside_at] = value
        if not p.margin <= j < p.margin + s.right - s.left:
            for i in range(p.together):
                hi[i * p.pitch + j] = value
                if element is double:
                    lo[i * p.pitch + j] = 0.0
    for j in range(s.right - s.left):
        store_signed(nothing + j, -0.0)


cdef inline Py_ssize_t plane_offset(const problem* p, Py_ssize_t plane) noexcept nogil:
    if p.stride_n == p.channels * p.stride_c:
        return plane * p.stride_c
    return plane // p.channels * p.stride_n + plane % p.channels * p.stride_c


cdef void look(const element* x, const problem* p, Py_ssize_t low, Py_ssize_t high, Py_ssize_t columns, extremes* found) noexcept nogil:
    """Widen ``found`` by the first columns of rows from ``low`` to ``high`` of a plane, or by more; largest magnitudes that are not finite
    count as infinite."""
    cdef Py_ssize_t step = p.strides[0] if p.ndim > 1 else 0, row
    cdef bint finite = True
    if high <= low:
        return
    if step == columns or high - low == 1:
        finite = extremes_of_bits(x + low * step, (high - low) * columns, found)
    else:
        for row in range(low, high):
            finite = extremes_of_bits(x + row * step, columns, found) and finite
    if not finite:
        found.most = INFINITY


cdef Py_ssize_t many_rows(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t end, scratch* s, element* y
) noexcept nogil:
    """Do some rows of outputs from ``unit`` on; return how many, 0 where that is not the way to go."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef const axis* lead = &p.axes[p.ndim - 2] if p.ndim > 1 else NULL
    cdef Py_ssize_t row = unit % p.rows, block = unit // p.rows % p.blocks, plane = unit // p.rows // p.blocks
    cdef Py_ssize_t count, total = min(p.together, end - unit), first = block * p.block, outputs = min(p.block, p.columns - first)
    cdef Py_ssize_t done = 0, k, start, low, high = 0, at, columns, stride = last.stride if last.count > 1 else 1
    cdef Py_ssize_t taps = last.taps, dilation = last.dilation if taps > 1 else 0
    cdef Py_ssize_t shift, ahead_step, down_stride = 1, down_taps, down_dilation
    cdef const char* ahead
    cdef bint seen
    cdef const element* source = x
    cdef element* out
    cdef extremes found
    cdef double* hi
    cdef double* lo
    cdef double least, outer, divided_by = -1.0
    cdef const double* divisor = NULL
    if s.flat_block != block:
        set_margins(p, block, s, x)
    columns = s.right - s.left
    if columns <= 0:
        return 0
    if p.blocks > 1:
        total = min(total, p.rows - row)
    found.most = 0.0
    found.negative = found.positive = False
    start = start_of(last, first) + s.left
    # several small planes that follow each other are looked at together
    seen = (
        p.blocks == 1 and lead != NULL and total >= 2 * p.rows and p.strides[0] == last.size
        and p.stride_c == lead.size * last.size and p.stride_n == p.channels * p.stride_c
    )
    if seen and p.limit > 0.0:
        look(x + plane * p.stride_c, p, 0, ((unit + total - 1) // p.rows - plane + 1) * lead.size, last.size, &found)
    while done < total:
        source = x + plane_offset(p, plane)
        count = min(total - done, p.rows - row)
        hi = s.hi[0] + done * p.pitch + p.margin
        lo = s.lo[0] + done * p.pitch + p.margin
        if lead == NULL:
            s.rows_of[0] = <const void*>(source + start)
            if p.limit > 0.0:
                look(source + start, p, 0, 1, columns, &found)
            down_ways(s.rows_of, 1, 1, 1, 1, 1, columns, s, hi, lo, p.pitch, x)
        else:
            down_stride = lead.stride if lead.count > 1 else 1
            down_taps = lead.taps
            down_dilation = lead.dilation if down_taps > 1 else 1
            low = start_of(lead, row)
            high = low + (count - 1) * down_stride + (down_taps - 1) * down_dilation + 1
            for k in range(high - low):
                at = low + k
                s.rows_of[k] = <const void*>(source + start + at * p.strides[0]) if 0 <= at < lead.size else <const void*>s.nothing
            if p.limit > 0.0 and not seen:
                low = max(<Py_ssize_t>0, low)
                high = min(high, lead.size)
                if p.blocks == 1:
                    look(source, p, low, high, last.size, &found)
                else:
                    look(source + start, p, low, high, columns, &found)
            down_ways(s.rows_of, count, row % 2, down_stride, down_taps, down_dilation, columns, s, hi, lo, p.pitch, x)
        for k in range(count):
            outer = p.entries[row + k].outer if p.padding else p.entries[row + k].inner
            if divisor == NULL or divided_by != outer:
                divided_by = outer
                divisor = divisors_of(p, outer, first, outputs, s, x)
            s.divisors_of[done + k] = divisor
        if p.padding:
            for k in range(count):
                if p.entries[row + k].outer > p.entries[row + k].inner:
                    for at in range(columns):
                        hi[k * p.pitch + at] += 0.0
        done += count
        row = 0
        plane += 1
    if p.limit == 0.0:
        least = 0.0
    elif not found.most < p.largest or found.most == INFINITY:
        least = NAN  # each row is looked at
    else:
        least = p.limit * found.most if found.negative and found.positive else -1.0
    shift = s.left % 2 if stride == 2 else 0
    hi = s.hi[0] + (p.margin - s.left - shift)
    lo = s.lo[0] + (p.margin - s.left - shift)
    ahead = <const char*>(source + start + (high * p.strides[0] if lead != NULL else p.stride_c))
    ahead_step = (down_stride * p.strides[0] if lead != NULL else p.stride_c) * <Py_ssize_t>sizeof(element)
    if not 0 < ahead_step <= 4096:
        ahead_step = 0
    row = unit % p.rows
    plane = unit // p.rows // p.blocks
    out = y + (plane * p.rows + row) * p.columns + first
    k = 0
    while True:
        k = across_ways(
            hi, lo, p.pitch, k, total, outputs, taps, dilation, <int>stride, shift, least, s.divisors_of, p.columns, ahead, ahead_step, out
        )
        if k == total:
            return total
        source = x + plane_offset(p, plane + (row + k) // p.rows)
        with_own_test(
            source, p, (row + k) % p.rows, start, columns, hi + k * p.pitch, lo + k * p.pitch, shift, first, outputs, s.divisors_of[k], s,
            out + k * p.columns,
        )
        k += 1


cdef inline Py_ssize_t across(
    const double* high, const double* low, Py_ssize_t pitch, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t count, Py_ssize_t taps,
    Py_ssize_t dilation, int stride, Py_ssize_t shift, double least, const double* const* divisors, Py_ssize_t columns, const char* ahead,
    Py_ssize_t ahead_step, element* y,
) noexcept nogil:
    """Write the means of rows of outputs from ``row`` on, up to one with a sum that fails the test; return which that is. With each row
    some of what comes next is asked for, from ``ahead`` on."""
    cdef Py_ssize_t line
    while row < rows:
        line = 0
        while line < ahead_step:
            will_read(ahead + row * ahead_step + line)
            line += 64
        # the next rows, which are written later, have room for what fills up the last vector
        if not sum_columns(
            high + row * pitch, low + row * pitch, count, taps, dilation, stride, shift, least, divisors[row], <double*>NULL,
            columns == count and (rows - row - 1) * count >= WIDTH, y + row * columns,
        ):
            return row
        row += 1
    return rows


cdef Py_ssize_t across_ways(
    const double* high, const double* low, Py_ssize_t pitch, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t count, Py_ssize_t taps,
    Py_ssize_t dilation, int stride, Py_ssize_t shift, double least, const double* const* divisors, Py_ssize_t columns, const char* ahead,
    Py_ssize_t ahead_step, element* y,
) noexcept nogil:
    """``across``, with loops of their own for the common windows."""
    if stride == 1:
        if taps == 3 and dilation == 1:
            return across(high, low, pitch, row, rows, count, 3, 1, 1, 0, least, divisors, columns, ahead, ahead_step, y)
        return across(high, low, pitch, row, rows, count, taps, dilation, 1, 0, least, divisors, columns, ahead, ahead_step, y)
    if taps == 3 and dilation == 1 and shift == 1:
        return across(high, low, pitch, row, rows, count, 3, 1, 2, 1, least, divisors, columns, ahead, ahead_step, y)
    if taps == 2 and dilation == 1 and shift == 0:
        return across(high, low, pitch, row, rows, count, 2, 1, 2, 0, least, divisors, columns, ahead, ahead_step, y)
    return across(high, low, pitch, row, rows, count, taps, dilation, 2, shift, least, divisors, columns, ahead, ahead_step, y)


cdef void with_own_test(
    const element* x, const problem* p, Py_ssize_t row, Py_ssize_t start, Py_ssize_t columns, const double* hi, const double* lo,
    Py_ssize_t shift, Py_ssize_t first, Py_ssize_t outputs, const double* divisor, scratch* s, element* y,
) noexcept nogil:
    """A row of outputs, tested with the largest magnitude in the rows that it sums."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t taps = last.taps, dilation = last.dilation if taps > 1 else 0, stride = last.stride if last.count > 1 else 1, k
    cdef const row_entry* entry = &p.entries[row]
    cdef extremes found
    cdef double least
    found.most = 0.0
    found.negative = found.positive = False
    if p.limit > 0.0:
        if p.small:
            found = of_plane(x, p, s)
        else:
            for k in range(entry.count):
                widen(s, x + start + p.offsets[entry.first + k], columns, &found)
    least = p.limit * found.most if found.negative and found.positive else -1.0
    if found.most >= p.largest:
        least = NAN
    if not sum_ways(hi, lo, outputs, taps, dilation, <int>stride, shift, least, divisor, s.total, False, y):
        sum_again(x, p, row, least, first, outputs, s, y)


cdef void plan_together(problem* p) noexcept nogil:
    """Say how many rows of outputs go in one go, if any."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef const axis* lead
    cdef Py_ssize_t stride = last.stride if last.count > 1 else 1, dilation = last.dilation if last.taps > 1 else 0
    cdef Py_ssize_t down_stride, reach, count
    if p.ndim > 2 or stride > 2 or last.first < -64:
        return
    p.margin = (max(<Py_ssize_t>0, -last.first) + 8) // 8 * 8
    count = (min(p.block, p.columns) + WIDTH - 1) // WIDTH * WIDTH
    p.pitch = p.margin + count * stride + (last.taps - 1) * dilation + WIDTH + 2
    p.pitch = (p.pitch + 7) // 8 * 8
    if p.pitch % 16 == 0:
        p.pitch += 8  # rows do not all fall on the same lines of the cache
    if p.pitch > ROOM:
        return
    p.together = min(<Py_ssize_t>TALL, max(<Py_ssize_t>2, FIRST_LEVEL // (2 if p.paired else 1) // p.pitch // 2 * 2))
    if p.ndim == 2:
        lead = &p.axes[0]
        down_stride = lead.stride if lead.count > 1 else 1
        if lead.taps > 1 and lead.dilation > 64:
            p.together = 0
            return
        reach = (lead.taps - 1) * lead.dilation + 1 if lead.taps > 1 else 1
        if lead.taps >= TABLES or reach > POINTERS // 4 or down_stride > 64 or lead.first < -4096:
            p.together = 0
            return
        p.together = min(p.together, (POINTERS - reach) // down_stride)
    if p.together > p.rows:
        p.together = p.together // p.rows * p.rows
    elif p.together > 1:
        p.together = p.together // 2 * 2
