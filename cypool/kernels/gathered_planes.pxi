# Planes whose rows do not lie in memory as they are: copies of them, or of bands of them, are summed instead.
#
# Part of window_mean.pyx. Where channels lie side by side, as many as fill a cache line are copied together, turned in registers. The copy
# stays in the second-level cache, and sums depend on no layout, so the bits are the same.

cdef enum:
    COPY = 1 << 18  # bytes of a band
    COPIED = 1 << 19  # bytes of whole planes, at most
    LINE = 64  # bytes
    MOST_PLANE = 1 << 30  # elements of a plane, above which sizes in bytes might overflow

# How planes are copied.
cdef struct gathering:
    Py_ssize_t strides[AXES]  # of the copy
    Py_ssize_t tile  # channels that are copied together; 0 where nothing is copied
    Py_ssize_t tiles
    Py_ssize_t outputs  # along the first axis, of a band
    Py_ssize_t bands  # of a plane
    Py_ssize_t row  # elements of a plane for each place along the first axis
    Py_ssize_t size  # elements of the copy
    Py_ssize_t items


cdef void plan_gathering(const problem* p, Py_ssize_t itemsize, Py_ssize_t images, gathering* g) noexcept nogil:
    """Say how to copy planes, if their rows are not contiguous and a copy is of bounded size."""
    cdef const axis* lead = &p.axes[0]
    cdef Py_ssize_t size = 1, stride = lead.stride if lead.count > 1 else 1, reach, most
    cdef bint dense = True
    cdef int a = p.ndim - 1
    g.tile = 0
    while a >= 0:
        g.strides[a] = size
        dense = dense and (p.strides[a] == size or p.axes[a].size == 1)
        if p.axes[a].size == 0 or size > (COPIED if a > 0 else MOST_PLANE) // p.axes[a].size:
            return
        g.row = size
        size *= p.axes[a].size
        a -= 1
    if dense if p.whole else p.strides[p.ndim - 1] == 1 or not p.block:
        return
    g.tile = min(LINE // itemsize, p.channels) if p.stride_c == 1 else 1
    g.outputs = lead.count
    if size * itemsize * g.tile > COPY and not p.whole and not p.small:
        # bands as high as the copy allows, of an even number of outputs, as neighbours share sums
        reach = (lead.taps - 1) * lead.dilation + 1 if lead.taps <= SPAN and lead.dilation <= SPAN else lead.size
        most = COPY // (itemsize * g.tile * g.row)
        if p.ndim > 1 and most > 2 * reach and most > reach + stride:
            g.outputs = max(<Py_ssize_t>1, min(lead.count, (most - reach) // stride // 2 * 2))
            size = min(lead.size, (g.outputs - 1) * stride + reach) * g.row
    if size * itemsize > COPIED:
        g.tile = 0
        return
    g.tile = min(g.tile, COPIED // (size * itemsize))
    g.bands = (lead.count + g.outputs - 1) // g.outputs
    g.tiles = (p.channels + g.tile - 1) // g.tile
    g.size = size * g.tile
    g.items = images * g.tiles * g.bands


cdef void copy_band(
    const element* x, const problem* p, Py_ssize_t low, Py_ssize_t high, Py_ssize_t channels, const gathering* g, element* buffer
) noexcept nogil:
    """Copy places ``low`` to ``high`` along the first axis of neighbouring planes."""
    cdef Py_ssize_t size = (high - low) * g.row, run, distance = p.strides[p.ndim - 1], done = 0, rest, offset, i
    cdef int a, from_axis = p.ndim - 1
    # axes that one stride walks through are one run
    run = p.axes[from_axis].size if from_axis > 0 else high - low
    while from_axis > 0 and p.strides[from_axis - 1] == run * distance:
        from_axis -= 1
        run *= p.axes[from_axis].size if from_axis > 0 else high - low
    while done < size:
        rest = done // run
        offset = low * p.strides[0]
        a = from_axis - 1
        while a >= 0:
            if a == 0:
                offset += rest * p.strides[0]
            else:
                offset += rest % p.axes[a].size * p.strides[a]
                rest //= p.axes[a].size
            a -= 1
        if channels == 1:
            for i in range(run):
                buffer[done + i] = x[offset + i * distance]
        else:
            turn(x + offset, distance, run, channels, buffer + done, size)
        done += run


cdef void gathered_items(
    const element* x, const problem* p, const problem* dense, const gathering* g, Py_ssize_t item, Py_ssize_t last, scratch* s,
    element* buffer, element* y,
) noexcept nogil:
    """Copy and sum bands of planes. ``p`` says where planes are, ``dense`` how copies are summed."""
    cdef const axis* lead = &p.axes[0]
    cdef Py_ssize_t band, first, image, channels, low, high, start, end, size, block, c, in_row
    cdef problem of = dense[0]
    cdef element* out
    begin_work(s)
    in_row = p.rows // lead.count if p.ndim > 1 else 1
    while item < last:
        band = item % g.bands
        first = item // g.bands % g.tiles * g.tile
        image = item // g.bands // g.tiles
        channels = min(g.tile, p.channels - first)
        start = band * g.outputs
        end = min(start + g.outputs, lead.count)
        low = 0
        high = lead.size
        if g.bands > 1:
            low = min(max(start_of(lead, start), <Py_ssize_t>0), lead.size)
            high = min(max(start_of(lead, end - 1) + (lead.taps - 1) * lead.dilation + 1, low), lead.size)
        copy_band(x + image * p.stride_n + first * p.stride_c, p, low, high, channels, g, buffer)
        size = (high - low) * g.row
        of.stride_c = size
        of.channels = channels
        of.stride_n = channels * size
        out = y + (image * p.channels + first) * p.rows * p.columns
        if p.whole:
            whole_planes(<const element*>buffer, &of, 0, channels, s, out)
        elif g.bands == 1:
            some_rows(<const element*>buffer, &of, 0, channels * p.rows * p.blocks, s, out)
        else:
            for c in range(channels):
                for block in range(p.blocks):
                    some_rows(
                        <const element*>buffer + (c * size - low * g.row), &of, block * p.rows + start * in_row,
                        block * p.rows + end * in_row, s, out + c * p.rows * p.columns,
                    )
        item += 1
