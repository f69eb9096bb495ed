# Maxima of windows and their places, of any element type: across each row of the plane first, then down, so that elements come in row-major
# order and the first of equal ones is kept. Part of window_max.pyx.
#
# What a row gives across is kept while windows below it want it too.

cdef enum:
    SEGMENT = 1 << 12  # positions of a row at most that go through scratch memory together
    PLACES = 1 << 13  # windows of the rows that are kept
    SLOTS = 1 << 9  # rows that are kept at most

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


cdef bint indexed(const pooling* of, char* y, long long* indices, int threads) except -1 nogil:
    """All windows of all planes, unless they are too large; return whether they were not."""
    cdef places_plan how
    cdef Py_ssize_t item
    cdef char* room
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
