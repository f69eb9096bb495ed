# Maxima of windows and their places, of any element type: across each row of the plane first, then down, so that elements come in row-major
# order and the first of equal ones is kept. Part of window_max.pyx.
#
# What a row gives across is kept while windows below it want it too.

cdef enum:
    SEGMENT = 1 << 12  # positions of a row at most that go through scratch memory together
    PLACES = 1 << 13  # windows of the rows that are kept
    SLOTS = 1 << 9  # rows that are kept at most
    FLAT_ORDINALS = 1 << 13  # of rows that go together as one
    FLAT_TAPS = 8  # of windows along them
    LIMITS = 1 << 15  # of their taps
    SPACED = 8  # positions between such windows

cdef struct places_plan:
    Py_ssize_t items
    Py_ssize_t together  # rows of windows of an item, along the last axis but one
    Py_ssize_t blocks  # of rows, in a plane
    Py_ssize_t high  # windows of that axis
    Py_ssize_t count  # windows of a row in an item
    Py_ssize_t parts  # of a row
    Py_ssize_t pitch  # from the maxima of a row to their places, whole chunks
    Py_ssize_t slots  # rows that are kept
    Py_ssize_t positions  # of a row in an item
    Py_ssize_t scratch  # bytes for a thread


cdef void kept_row(
    const pooling* of, const char* x, Py_ssize_t begin_at, Py_ssize_t n, Py_ssize_t before, Py_ssize_t positions, Py_ssize_t count,
    Py_ssize_t start, char* ordinals, char* most, char* places
) noexcept nogil:
    """The largest ordinals of the windows of one row and their places. ``n`` elements, ``before`` positions after the row's start."""
    cdef Py_ssize_t last = of.ndim - 1, wide = of.places.wide
    cdef const axis* a = &of.axes[last]
    if before > 0:
        of.places.nothing(ordinals, before)
    of.places.ordinals(x + begin_at * of.strides[last] * of.places.itemsize, n, of.strides[last], of.end, ordinals + before * wide)
    if positions > before + n:
        of.places.nothing(ordinals + (before + n) * wide, positions - before - n)
    of.places.across(
        ordinals, count, a.stride, a.taps, a.dilation, start * of.steps[last], of.steps[last], most, places
    )


cdef void places_item(
    const pooling* of, const places_plan* how, Py_ssize_t item, char* scratch, char* y, long long* indices
) noexcept nogil:
    """Some rows of windows of a plane, or part of them; rows at the same windows of all axes but the last two."""
    cdef Py_ssize_t last = of.ndim - 1, wide = of.places.wide, k, t, position
    cdef Py_ssize_t step_down = 0, stride_down = 0, apart_down = 0, low = 0
    cdef const axis* a = &of.axes[last]
    cdef Py_ssize_t o = item % how.parts * how.count, count = min(how.count, a.count - o)
    cdef Py_ssize_t first = item // how.parts % how.blocks * how.together, rows = min(how.together, how.high - first)
    cdef Py_ssize_t outer = item // how.parts // how.blocks, in_plane = of.rows // how.high, plane = outer // in_plane
    cdef Py_ssize_t start = start_of(a, o), positions = (count - 1) * a.stride + reach(a)
    cdef Py_ssize_t begin_at = min(max(start, 0), a.size), n = 0, base
    cdef const char* x = plane_at(of, plane)
    cdef Py_ssize_t pair = 2 * how.pitch * wide  # bytes of a kept row
    cdef char* kept = scratch + how.positions * wide
    cdef char* all = kept + how.slots * pair
    cdef char* have = all + how.together * pair
    cdef char* slot
    cdef walk at
    cdef span some
    cdef bint any_tap
    cdef int fresh = True
    if start < a.size:
        n = max(0, min(a.size, start + positions) - begin_at)
    any_tap = n > 0 and begin(of, max(last - 1, 0), outer % in_plane, &at)
    if last > 0:
        step_down = of.steps[last - 1]
        stride_down = of.strides[last - 1]
        apart_down = min(of.axes[last - 1].dilation, of.axes[last - 1].size)
        low = max(0, start_of(&of.axes[last - 1], first))
    if not any_tap:
        for k in range(rows):
            of.places.nothing(all + k * pair, count)
    while any_tap:
        base = place_of(of, &at)
        memset(have, 0, how.slots)
        for k in range(rows):
            if last > 0:
                some = inside(&of.axes[last - 1], first + k)
            else:
                some.position = 0
                some.taps = 1
            for t in range(some.taps):
                position = some.position + t * apart_down
                if not have[position - low]:
                    have[position - low] = True
                    slot = kept + (position - low) * pair
                    kept_row(
                        of, x + (at.offset + position * stride_down) * of.places.itemsize, begin_at, n, begin_at - start, positions, count,
                        start, scratch, slot, slot + how.pitch * wide
                    )
            if some.taps > 0:
                of.places.onto(
                    kept + (some.position - low) * pair, how.pitch, 2 * how.pitch * apart_down, some.taps, count,
                    base + some.position * step_down, step_down * apart_down, fresh, all + k * pair
                )
            elif fresh:
                of.places.nothing(all + k * pair, count)
        fresh = False
        any_tap = step(of, &at)
    for k in range(rows):
        position = ((outer * how.high + first + k) * a.count) + o
        of.places.finish(
            all + k * pair, how.pitch, count, (rows - k) * count if how.parts == 1 else count, <long long>plane * of.plane,
            y + position * of.places.itemsize, indices + position
        )


cdef inline Py_ssize_t place_of(const pooling* of, const walk* at) noexcept nogil:
    """Return the place in the plane of the present taps."""
    cdef Py_ssize_t i, place = 0
    for i in range(at.ndim):
        place += (at.spans[i].position + (at.tap[i] * of.axes[i].dilation if at.tap[i] else 0)) * of.steps[i]
    return place


cdef bint choose_places(const pooling* of, int threads, places_plan* how) noexcept nogil:
    """Return whether windows are small enough for this."""
    cdef Py_ssize_t last = of.ndim - 1, span_rows = 1, stride_down = 1
    cdef const axis* a = &of.axes[last]
    if reach(a) > SEGMENT:
        return False
    how.count = min(a.count, (SEGMENT - reach(a)) // a.stride + 1)
    how.parts = (a.count + how.count - 1) // how.count
    how.pitch = (how.count + PLACES_CHUNK - 1) // PLACES_CHUNK * PLACES_CHUNK
    how.positions = (how.pitch - 1) * min(a.stride, SEGMENT) + reach(a) + 2 * PLACES_CHUNK
    if of.places.wide == 4 and max(of.plane, how.positions * of.steps[last]) > <Py_ssize_t>1 << 29:
        return False
    how.high = how.together = 1
    if last > 0:
        how.high = of.axes[last - 1].count
        stride_down = of.axes[last - 1].stride
        span_rows = min(reach(&of.axes[last - 1]), of.axes[last - 1].size)
    how.slots = min(SLOTS, PLACES // how.pitch)
    if span_rows > how.slots:
        return False
    how.together = max(1, min((how.slots - span_rows) // stride_down + 1, how.high))
    if threads > 1:
        how.together = max(1, min(how.together, of.images * of.channels * of.rows // (4 * threads)))
    how.slots = (how.together - 1) * stride_down + span_rows
    how.blocks = (how.high + how.together - 1) // how.together
    how.items = of.images * of.channels * (of.rows // how.high) * how.blocks * how.parts
    how.scratch = lines((how.positions + 2 * (how.slots + how.together) * how.pitch) * of.places.wide + how.slots)
    return True


# --- flat: many rows, and small planes together, as if they were one row -----------------------------------------------------------------

cdef struct flat_plan:
    Py_ssize_t items
    Py_ssize_t planes  # of an item
    Py_ssize_t together  # rows of windows of an item, of each of its planes
    Py_ssize_t blocks  # of such rows, in a plane
    Py_ssize_t high  # rows of windows in a plane
    Py_ssize_t count  # strides that a row of ordinals is long; as many maxima are kept of it, or fewer count
    Py_ssize_t guard  # ordinals before the first
    Py_ssize_t kept  # from the maxima of all rows to their places
    Py_ssize_t scratch  # bytes for a thread
    bint exact  # whether rows have no more elements than that, and no fewer
    bint some_empty  # whether a window may have no element in a row
    bint dense  # whether the rows of a plane are one stretch of memory
    char* limits
    span* table  # the taps of each row of windows, or NULL


cdef bint choose_flat(const pooling* of, int threads, flat_plan* how) noexcept nogil:
    """Return whether rows and windows are of the kind that goes this way."""
    cdef Py_ssize_t last = of.ndim - 1, planes = of.images * of.channels, last_tap, span_rows = 1, stride_down = 1, size_down = 1, pitch
    cdef const axis* a = &of.axes[last]
    cdef const axis* down_axis = NULL
    last_tap = a.first + reach(a) - 1
    if (
        of.ndim > 2 or of.plane == 0 or a.stride > SPACED or a.taps > FLAT_TAPS or -a.first > GUARD or last_tap > GUARD
        or a.size > FLAT_ORDINALS or of.steps[last] != 1
    ):
        return False
    how.high = 1
    how.dense = of.strides[last] == 1
    if last > 0:
        down_axis = &of.axes[0]
        if of.steps[0] != a.size or down_axis.stride > reach(down_axis) or reach(down_axis) > SEGMENT:
            return False
        how.high = down_axis.count
        stride_down = down_axis.stride
        size_down = down_axis.size
        span_rows = min(reach(down_axis), size_down)
        how.dense = how.dense and of.strides[0] == a.size
    how.count = max(a.count, (a.size + a.stride - 1) // a.stride)
    pitch = how.count * a.stride
    if pitch * span_rows > FLAT_ORDINALS or a.taps * (how.count + PLACES_CHUNK) > LIMITS:
        return False
    how.exact = pitch == a.size
    how.dense = how.dense and how.exact
    # a window's taps are never further apart than it and the end of its row
    how.some_empty = a.first + reach(a) - 1 < 0 or start_of(a, a.count - 1) >= a.size or (a.taps > 1 and a.dilation > 1)
    how.planes = 1
    how.together = min((FLAT_ORDINALS // pitch - span_rows) // stride_down + 1, how.high)
    if how.together == how.high:
        how.planes = max(1, min(FLAT_ORDINALS // (pitch * size_down), planes))
    if threads > 1:
        if how.planes > 1:
            how.planes = max(1, min(how.planes, planes // (4 * threads)))
        else:
            how.together = max(1, min(how.together, planes * how.high // (4 * threads)))
    how.blocks = (how.high + how.together - 1) // how.together
    how.items = (planes + how.planes - 1) // how.planes * how.blocks
    span_rows = min(size_down, (how.together - 1) * stride_down + span_rows) * how.planes
    how.kept = span_rows * how.count + PLACES_CHUNK
    how.guard = max(0, -a.first)
    how.scratch = lines(
        (how.guard + span_rows * pitch + max(0, last_tap) + (2 + a.stride) * PLACES_CHUNK + 2 * how.kept + PLACES_CHUNK) * of.places.wide
    )
    return True


cdef void flat_item(
    const pooling* of, const flat_plan* how, Py_ssize_t item, char* scratch, char* y, long long* indices
) noexcept nogil:
    """Rows of windows of a plane, or all of some planes."""
    cdef Py_ssize_t last = of.ndim - 1, wide = of.places.wide, size = of.places.itemsize, k, row, j
    cdef const axis* a = &of.axes[last]
    cdef Py_ssize_t plane = item // how.blocks * how.planes, planes = min(how.planes, of.images * of.channels - plane)
    cdef Py_ssize_t first = item % how.blocks * how.together, rows = min(how.together, how.high - first)
    cdef Py_ssize_t low = 0, until = 1, pitch = how.count * a.stride, distance = 0, apart_down = 1
    cdef Py_ssize_t out, room, start, gap = pitch - a.size  # ordinals of a row that are no elements
    cdef char* ordinals = scratch + how.guard * wide
    cdef char* kept
    cdef const char* x
    cdef span some
    if last > 0:
        distance = of.strides[0]
        low = min(max(0, start_of(&of.axes[0], first)), of.axes[0].size)
        until = max(low, min(of.axes[0].size, start_of(&of.axes[0], first + rows - 1) + reach(&of.axes[0])))
    kept = ordinals + ((until - low) * planes * pitch + max(0, a.first + reach(a) - 1) + (2 + a.stride) * PLACES_CHUNK) * wide
    k = 0
    while k < planes:
        x = plane_at(of, plane + k) + low * distance * size
        if how.dense:  # as many planes as one stretch of memory holds
            j = k + 1
            while j < planes and plane_at(of, plane + j) == x + (j - k) * (until - low) * pitch * size:
                j += 1
            of.places.ordinals(x, (j - k) * (until - low) * pitch, 1, of.end, ordinals + k * (until - low) * pitch * wide)
            k = j
        else:
            for row in range(until - low):
                of.places.ordinals(
                    x + row * distance * size, a.size, of.strides[last], of.end, ordinals + (k * (until - low) + row) * pitch * wide
                )
            k += 1
    of.places.flat(
        ordinals, planes * (until - low) * how.count, how.count, how.exact, a.stride, a.taps, a.first, a.dilation, how.limits,
        kept, kept + how.kept * wide
    )
    out = (plane * how.high + first) * a.count
    room = planes * rows * a.count
    y += out * size
    indices += out
    some.position = low
    some.taps = 1
    if last > 0:
        apart_down = min(of.axes[0].dilation, of.axes[0].size)
    for k in range(planes):
        for row in range(rows):
            if how.table != NULL:
                some = how.table[first + row]
            elif last > 0:
                some = inside(&of.axes[0], first + row)
            j = some.position - low  # the row of the plane that its first tap is in, and its ordinals are counted from
            start = (k * (until - low) + j) * how.count
            of.places.settle(
                kept + start * wide, how.kept, apart_down * how.count, some.taps, a.count, apart_down * gap, how.some_empty,
                <long long>(plane + k) * of.plane + some.position * a.size - start * a.stride, room, y, indices
            )
            room -= a.count
            y += a.count * size
            indices += a.count


cdef int flat_indexed(const pooling* of, flat_plan* how, char* y, long long* indices, int threads) except -1 nogil:
    """All windows of all planes."""
    cdef const axis* a = &of.axes[of.ndim - 1]
    cdef Py_ssize_t item, k, limits = lines(a.taps * (how.count + PLACES_CHUNK) * of.places.wide), tables = 0
    cdef char* memory
    cdef char* room
    threads = <int>max(1, min(<Py_ssize_t>threads, how.items))
    if of.ndim > 1 and how.high <= TABLE:
        tables = how.high * <Py_ssize_t>sizeof(span)
    memory = <char*>malloc(threads * how.scratch + limits + tables + 64)
    if memory == NULL:
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    room = <char*>lines(<Py_ssize_t>memory)
    how.limits = room + threads * how.scratch
    how.table = NULL
    if tables > 0:
        how.table = <span*>(room + threads * how.scratch + limits)
        for k in range(how.high):
            how.table[k] = inside(&of.axes[0], k)
    of.places.limits(how.limits, how.count, a.size, a.stride, a.taps, a.first, a.dilation)
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for item in range(how.items):
            flat_item(of, how, item, room, y, indices)
    else:
        for item in prange(how.items, num_threads=threads, schedule="static"):
            flat_item(of, how, item, room + threadid() * how.scratch, y, indices)
    free(memory)
    return 0


cdef bint indexed(const pooling* of, char* y, long long* indices, int threads) except -1 nogil:
    """All windows of all planes, unless they are too large; return whether they were not."""
    cdef places_plan how
    cdef flat_plan flat
    cdef Py_ssize_t item
    cdef char* room
    if choose_flat(of, threads, &flat):
        flat_indexed(of, &flat, y, indices, threads)
        return True
    if not choose_places(of, threads, &how):
        return False
    threads = <int>max(1, min(<Py_ssize_t>threads, how.items))
    room = <char*>malloc(threads * how.scratch)
    if room == NULL:
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for item in range(how.items):
            places_item(of, &how, item, room, y, indices)
    else:
        for item in prange(how.items, num_threads=threads, schedule="static"):
            places_item(of, &how, item, room + threadid() * how.scratch, y, indices)
    free(room)
    return True
