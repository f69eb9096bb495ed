# Maxima of windows without their positions, of any element type: which way to go, and what the inner loops of maxima.h are given.
#
# Part of window_max.pyx. Pointers are to bytes here; strides and distances are in elements.

cdef enum:
    BLOCK = 1 << 15  # bytes of folded rows that go through scratch memory together
    TABLE = 1 << 12  # windows of an axis whose taps are found once and kept
    MASKS = 1 << 14  # bytes of masks at most
    GUARD = 1 << 10  # elements that a tap may stand outside of a flat row
    CHUNK = 1 << 15  # elements of planes that a thread takes at a time

cdef enum Way:
    WHOLE  # each window is one stretch of memory, a plane mostly
    APART  # one window after the other
    ROWS  # rows of the plane are folded into one, and that into its windows
    FLAT  # the same with many rows as one
    SIDE  # channels lie side by side: pixels are folded, all their channels together

cdef struct plan:
    Way way
    Py_ssize_t items
    Py_ssize_t together  # rows of windows, pixels, windows or planes of an item
    Py_ssize_t count  # windows of a row in an item
    Py_ssize_t parts  # of a row
    Py_ssize_t pitch  # from one folded row or pixel to the next
    Py_ssize_t guard  # elements before the first
    Py_ssize_t scratch  # bytes for a thread
    Py_ssize_t run  # elements of a window, for WHOLE; channels of an item, for SIDE
    Py_ssize_t slices  # of all channels, for SIDE
    bint separate  # for SIDE: whether taps are folded down first, then across
    char* masks
    Py_ssize_t* table  # position and taps of each window of the last axis but one, or NULL


cdef inline Py_ssize_t lines(Py_ssize_t size) noexcept nogil:
    """Return so many bytes or more, in whole cache lines."""
    return (size + 63) // 64 * 64


cdef inline Py_ssize_t reach(const axis* a) noexcept nogil:
    """Return how many positions a window spans, BLOCK + 1 if that is more."""
    if a.taps > 1 and a.dilation > BLOCK // (a.taps - 1):
        return BLOCK + 1
    return (a.taps - 1) * a.dilation + 1


cdef inline Py_ssize_t apart(const pooling* of, Py_ssize_t i) noexcept nogil:
    """Return the distance of two taps along an axis, if two can hold elements."""
    return min(of.axes[i].dilation, of.axes[i].size) * of.strides[i]


cdef inline const char* plane_at(const pooling* of, Py_ssize_t plane) noexcept nogil:
    return of.x + (plane // of.channels * of.stride_n + plane % of.channels * of.stride_c) * of.loops.itemsize


# --- the taps of several axes ----------------------------------------------------------------------------------------------------------

cdef struct walk:
    Py_ssize_t ndim
    Py_ssize_t offset  # of the present taps
    Py_ssize_t tap[AXES]
    span spans[AXES]


cdef inline bint begin(const pooling* of, Py_ssize_t ndim, Py_ssize_t row, walk* at) noexcept nogil:
    """Go to the first taps of window ``row`` of the first ``ndim`` axes; return whether there is any."""
    cdef Py_ssize_t i
    cdef bint some = True
    at.ndim = ndim
    at.offset = 0
    for i in range(ndim - 1, -1, -1):
        at.spans[i] = inside(&of.axes[i], row % of.axes[i].count)
        row = row // of.axes[i].count
        at.offset += at.spans[i].position * of.strides[i]
        at.tap[i] = 0
        some = some and at.spans[i].taps > 0
    return some


cdef inline bint step(const pooling* of, walk* at) noexcept nogil:
    """Go on to the next taps; return whether there are any."""
    cdef Py_ssize_t i = at.ndim - 1
    while i >= 0:
        at.tap[i] += 1
        at.offset += apart(of, i)
        if at.tap[i] < at.spans[i].taps:
            return True
        at.offset -= at.tap[i] * apart(of, i)
        at.tap[i] = 0
        i -= 1
    return False


# --- rows --------------------------------------------------------------------------------------------------------------------------------


cdef void down(
    const pooling* of, const plan* how, Py_ssize_t first, Py_ssize_t last, Py_ssize_t begin_at, Py_ssize_t n, Py_ssize_t* windows, char* v
) noexcept nogil:
    """Fold columns begin_at ... begin_at + n of the planes into rows of v, one for each row of windows from ``first`` to ``last``.
    ``windows`` has room for the taps of so many."""
    cdef Py_ssize_t row = first, count, high, k, i = of.ndim - 2
    cdef Py_ssize_t size = of.loops.itemsize, column = of.strides[of.ndim - 1]
    cdef Py_ssize_t* these
    cdef const char* x
    cdef walk at
    cdef span some
    cdef int onto
    while row < last:
        x = plane_at(of, row // of.rows) + begin_at * column * size
        if of.ndim == 1:
            count = 1
            windows[0] = 0
            windows[1] = 1
            of.loops.fold(x, windows, 1, 0, 0, column, n, of.end, False, v, how.pitch)
        else:
            high = row % of.axes[i].count
            count = min(of.axes[i].count - high, last - row)
            if how.table != NULL:
                these = how.table + 2 * high
            else:
                these = windows
                for k in range(count):
                    some = inside(&of.axes[i], high + k)
                    windows[2 * k] = some.position
                    windows[2 * k + 1] = some.taps
            if begin(of, i, row % of.rows // of.axes[i].count, &at):
                onto = False
                while True:
                    of.loops.fold(
                        x + at.offset * size, these, count, of.strides[i], apart(of, i), column, n, of.end, onto, v, how.pitch
                    )
                    onto = True
                    if not step(of, &at):
                        break
            else:
                of.loops.fill(v, count * how.pitch)
        row += count
        v += count * how.pitch * size


cdef void rows_item(const pooling* of, const plan* how, Py_ssize_t item, char* scratch, char* y) noexcept nogil:
    """Some rows of windows, or part of one."""
    cdef const axis* a = &of.axes[of.ndim - 1]
    cdef Py_ssize_t size = of.loops.itemsize
    cdef Py_ssize_t row = item // how.parts * how.together, last = min(row + how.together, of.images * of.channels * of.rows)
    cdef Py_ssize_t o = item % how.parts * how.count, count = min(how.count, a.count - o)
    cdef Py_ssize_t* windows = <Py_ssize_t*>scratch
    cdef char* v = scratch + lines(2 * how.together * sizeof(Py_ssize_t)) + how.guard * size
    cdef Py_ssize_t start, begin_at, n
    y += (row * a.count + o) * size
    if how.way == FLAT:
        down(of, how, row, last, 0, a.size, windows, v)
        of.loops.flat(v, (last - row) * count, count, a.stride, a.taps, a.first, a.dilation, how.masks, y)
        return
    start = start_of(a, o)
    begin_at = min(max(start, 0), a.size)
    n = 0 if start >= a.size else max(0, min(a.size, start + (count - 1) * a.stride + reach(a)) - begin_at)
    if n == 0:
        of.loops.fill(v, (last - row) * how.pitch)
    else:
        of.loops.fill(v, begin_at - start)
        down(of, how, row, last, begin_at, n, windows, v + (begin_at - start) * size)
    of.loops.across(
        v, how.pitch, last - row, count, a.stride, a.taps, a.dilation, v + (how.together * how.pitch + 4 * of.loops.lanes) * size, y
    )


# --- pixels ------------------------------------------------------------------------------------------------------------------------------


cdef void side_item(const pooling* of, const plan* how, Py_ssize_t item, char* scratch, char* y) noexcept nogil:
    """Part of a row of windows, all channels of an image or a slice of them."""
    cdef Py_ssize_t i = of.ndim - 1, size = of.loops.itemsize, k
    cdef Py_ssize_t c = item % how.slices * how.run, channels = min(how.run, of.channels - c)
    cdef const axis* a = &of.axes[i]
    cdef Py_ssize_t part = item // how.slices
    cdef Py_ssize_t o = part % how.parts * how.together, count = min(how.together, a.count - o)
    cdef Py_ssize_t row = part // how.parts % of.rows, image = part // how.parts // of.rows
    cdef const char* x = of.x + (image * of.stride_n + c) * size
    if how.separate:
        folded_pixels(of, how, x, row, o, count, scratch)
    else:
        pixels(of, how, x, row, o, count, channels, scratch)
        of.loops.finished(scratch, count * how.pitch)
    k = of.rows * a.count
    y += ((image * of.channels + c) * k + row * a.count + o) * size
    if size == 8:
        transpose(<const long long*>scratch, how.pitch, count, channels, <long long*>y, k)
    elif size == 4:
        transpose(<const int*>scratch, how.pitch, count, channels, <int*>y, k)
    elif size == 2:
        transpose(<const short*>scratch, how.pitch, count, channels, <short*>y, k)
    else:
        transpose_bytes(<const signed char*>scratch, how.pitch, count, channels, <signed char*>y, k)


cdef void pixels(
    const pooling* of, const plan* how, const char* x, Py_ssize_t row, Py_ssize_t o, Py_ssize_t count, Py_ssize_t channels, char* scratch
) noexcept nogil:
    """Fold the taps of each window of a row."""
    cdef Py_ssize_t i = of.ndim - 1, size = of.loops.itemsize, k
    cdef char* pixel
    cdef bint some
    cdef int onto
    cdef walk at
    cdef span these
    for k in range(count):
        these = inside(&of.axes[i], o + k)
        pixel = scratch + k * how.pitch * size
        some = begin(of, i, row, &at) and these.taps > 0
        if not some:
            of.loops.fill(pixel, channels)
        onto = False
        while some:
            of.loops.pixel(
                x + (at.offset + these.position * of.strides[i]) * size, these.taps, apart(of, i), channels, of.end, onto, pixel
            )
            onto = True
            some = step(of, &at)


cdef void folded_pixels(
    const pooling* of, const plan* how, const char* x, Py_ssize_t row, Py_ssize_t o, Py_ssize_t count, char* scratch
) noexcept nogil:
    """Fold the rows of pixels that a row of windows reaches over into one, and that into its windows."""
    cdef Py_ssize_t i = of.ndim - 1, size = of.loops.itemsize, k
    cdef const axis* a = &of.axes[i]
    cdef const axis* b = &of.axes[i - 1]
    cdef char* v = scratch + (how.together * how.pitch + 4 * of.loops.lanes) * size
    cdef Py_ssize_t start = start_of(a, o), begin_at = min(max(start, 0), a.size), n = 0
    cdef span below = inside(b, row % b.count), these
    cdef walk at
    cdef bint some
    cdef int onto = False
    if start < a.size:
        n = max(0, min(a.size, start + (count - 1) * a.stride + reach(a)) - begin_at)
    some = n > 0 and below.taps > 0 and begin(of, i - 1, row // b.count, &at)
    while some:
        of.loops.pixel(
            x + (at.offset + below.position * of.strides[i - 1] + begin_at * of.channels) * size,
            below.taps, apart(of, i - 1), n * of.channels, of.end, onto, v
        )
        onto = True
        some = step(of, &at)
    for k in range(count):
        these = inside(a, o + k)
        of.loops.neighbours(
            v + (these.position - begin_at) * of.channels * size, these.taps if onto else 0,
            min(a.dilation, a.size) * of.channels, of.channels, scratch + k * how.pitch * size
        )


cdef void transpose_bytes(
    const signed char* x, Py_ssize_t stride_x, Py_ssize_t rows, Py_ssize_t columns, signed char* y, Py_ssize_t stride_y
) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(columns):
        for i in range(rows):
            y[j * stride_y + i] = x[i * stride_x + j]


# --- windows one by one ------------------------------------------------------------------------------------------------------------------


cdef void apart_item(const pooling* of, const plan* how, Py_ssize_t item, char* scratch, char* y) noexcept nogil:
    """As many neighbouring windows as a vector has lanes."""
    cdef Py_ssize_t in_plane = of.rows * of.axes[of.ndim - 1].count, size = of.loops.itemsize, lanes = of.loops.lanes
    cdef Py_ssize_t o = item * lanes, count = min(lanes, of.images * of.channels * in_plane - o)
    cdef Py_ssize_t k, i, n, distance
    cdef const char* x
    cdef char* most
    cdef walk at
    for k in range(count):
        most = scratch + k * lanes * size
        of.loops.fill(most, lanes)
        if not begin(of, of.ndim, (o + k) % in_plane, &at):
            continue
        x = plane_at(of, (o + k) // in_plane)
        i = of.ndim - 1
        n = at.spans[i].taps
        distance = apart(of, i) if n > 1 else 1
        while i > 0:  # axes that one distance leads through are one
            if at.spans[i - 1].taps > 1:
                if n == 1:
                    distance = apart(of, i - 1)
                elif apart(of, i - 1) != n * distance:
                    break
            i -= 1
            n *= at.spans[i].taps
        at.ndim = i  # the axes from there on are one run
        while True:
            of.loops.run(x + at.offset * size, n, distance, of.end, most)
            if not step(of, &at):
                break
    of.loops.finish(scratch, count, y + o * size)


cdef void whole_item(const pooling* of, const plan* how, Py_ssize_t item, char* y) noexcept nogil:
    """Some neighbouring planes of an image."""
    cdef Py_ssize_t c = item % how.parts * how.together, image = item // how.parts, count = min(how.together, of.channels - c)
    cdef Py_ssize_t plane = image * of.channels + c
    of.loops.runs(plane_at(of, plane), of.stride_c, how.run, count, of.end, y + plane * of.loops.itemsize)


# --- choosing ----------------------------------------------------------------------------------------------------------------------------


cdef inline Py_ssize_t whole_run(const pooling* of) noexcept nogil:
    """Return how many elements the one window of a plane has if they are one stretch of memory, else 0."""
    cdef Py_ssize_t i, n = 1
    cdef span some
    for i in range(of.ndim - 1, -1, -1):
        if of.axes[i].count != 1:
            return 0
        some = inside(&of.axes[i], 0)
        if some.position > 0 or some.taps == 0 or (some.taps > 1 and apart(of, i) != n):
            return 0
        n *= some.taps
    return n


cdef void choose(const pooling* of, int threads, plan* how) noexcept nogil:
    cdef const axis* a = &of.axes[of.ndim - 1]
    cdef Py_ssize_t planes = of.images * of.channels, rows = planes * of.rows, lanes = of.loops.lanes, size = of.loops.itemsize
    cdef Py_ssize_t room = BLOCK // size, last_tap = a.first + reach(a) - 1, columns = 0
    cdef bint masked
    how.masks = NULL
    how.table = NULL
    how.parts = how.together = how.count = 1
    how.pitch = how.guard = how.scratch = 0
    how.slices = 1
    how.separate = False
    how.run = whole_run(of)
    if how.run > 0:
        how.way = WHOLE
        how.together = max(1, min(CHUNK // how.run, of.channels // (2 * threads) if threads > 1 else of.channels))
        how.parts = (of.channels + how.together - 1) // how.together
        how.items = of.images * how.parts
    elif of.channels >= 8 and of.stride_c == 1 and of.strides[of.ndim - 1] != 1 and of.channels <= room:
        how.way = SIDE
        how.run = of.channels
        how.pitch = (of.channels + lanes - 1) // lanes * lanes
        how.together = max(1, min(room // how.pitch, a.count))
        if of.ndim > 1 and of.strides[of.ndim - 1] == of.channels and of.axes[of.ndim - 2].taps > 1 and reach(a) <= room // of.channels:
            columns = min(how.together, (room // of.channels - reach(a)) // a.stride + 1)
            how.separate = a.count > 1 and a.stride <= reach(a) and (columns == a.count or columns * a.stride >= reach(a))
        if how.separate:
            how.together = columns
            columns = (columns - 1) * a.stride + reach(a)
        how.parts = (a.count + how.together - 1) // how.together
        how.items = of.images * of.rows * how.parts
        if not how.separate and how.items < 4 * threads and threads > 1:  # channels are shared out, too
            how.slices = max(1, min((4 * threads + how.items - 1) // how.items, of.channels // (4 * lanes)))
            how.run = (of.channels // how.slices + lanes - 1) // lanes * lanes
            how.slices = (of.channels + how.run - 1) // how.run
            how.items *= how.slices
        how.scratch = (how.together * how.pitch + 4 * lanes + (columns * of.channels + 2 * lanes if how.separate else 0)) * size
    elif a.count == 1 or reach(a) > room:
        how.way = APART
        how.items = (rows * a.count + lanes - 1) // lanes
        how.scratch = lanes * lanes * size
    else:
        masked = a.first < 0 or last_tap >= a.stride
        if (
            a.stride <= 2 and a.size == a.stride * a.count and a.size <= room and a.taps <= 8
            and -a.first <= GUARD and last_tap <= GUARD
            and (not masked or (a.count <= 8 * lanes and a.taps * (a.count + lanes) * size <= MASKS))
        ):
            how.way = FLAT
            how.count = a.count
            how.pitch = a.size
            how.guard = (max(0, -a.first) + lanes - 1) // lanes * lanes
        else:
            how.way = ROWS
            how.count = min(a.count, (room - reach(a)) // a.stride + 1)
            how.parts = (a.count + how.count - 1) // how.count
            how.pitch = (how.count - 1) * a.stride + reach(a)
        how.together = max(1, min(room // how.pitch, rows // (4 * threads) if threads > 1 else rows))
        if how.parts > 1:
            how.together = 1
        how.items = (rows + how.together - 1) // how.together * how.parts
        how.scratch = lines(2 * how.together * sizeof(Py_ssize_t)) + (
            how.guard + how.together * how.pitch + how.pitch + max(0, last_tap if how.way == FLAT else 0) + 12 * lanes
        ) * size


cdef void one_item(const pooling* of, const plan* how, Py_ssize_t item, char* scratch, char* y) noexcept nogil:
    if how.way == WHOLE:
        whole_item(of, how, item, y)
    elif how.way == APART:
        apart_item(of, how, item, scratch, y)
    elif how.way == SIDE:
        side_item(of, how, item, scratch, y)
    else:
        rows_item(of, how, item, scratch, y)


cdef int values(const pooling* of, char* y, int threads) except -1 nogil:
    """All windows of all planes. Threads share out items, each with scratch memory of its own."""
    cdef plan how
    cdef Py_ssize_t item, k, shared = 0, tables = 0
    cdef const axis* a = &of.axes[of.ndim - 1]
    cdef char* memory
    cdef char* room
    cdef span some
    choose(of, threads, &how)
    threads = <int>max(1, min(<Py_ssize_t>threads, how.items))
    how.scratch = lines(how.scratch + 64)
    if how.way == FLAT:
        shared = lines(a.taps * (a.count + of.loops.lanes) * of.loops.itemsize)
    if of.ndim > 1 and (how.way == ROWS or how.way == FLAT) and of.axes[of.ndim - 2].count <= TABLE:
        tables = 2 * of.axes[of.ndim - 2].count * sizeof(Py_ssize_t)
    memory = <char*>malloc(shared + tables + threads * how.scratch + 64)
    if memory == NULL:
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    room = <char*>lines(<Py_ssize_t>memory)
    if shared:
        how.masks = room + threads * how.scratch
        of.loops.mask(how.masks, a.count, a.stride, a.taps, a.first, a.dilation)
    if tables:
        how.table = <Py_ssize_t*>(room + threads * how.scratch + shared)
        for k in range(of.axes[of.ndim - 2].count):
            some = inside(&of.axes[of.ndim - 2], k)
            how.table[2 * k] = some.position
            how.table[2 * k + 1] = some.taps
    if threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for item in range(how.items):
            one_item(of, &how, item, room, y)
    else:
        for item in prange(how.items, num_threads=threads, schedule="dynamic"):
            one_item(of, &how, item, room + threadid() * how.scratch, y)
    free(memory)
    return 0
