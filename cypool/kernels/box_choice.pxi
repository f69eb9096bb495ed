# The rectangle that the boxes of an image cover, and the cheaper way to go through them. Part of box_max.pyx.


cdef scene survey(boxes all, Py_ssize_t first, Py_ssize_t last, Py_ssize_t channels) noexcept nogil:
    """The rectangle of an image's boxes and the cheaper way to go through them."""
    cdef scene s
    cdef Py_ssize_t r, k, start, stop, high, wide, bins = 0, columns_wide = 0, pixels
    s.first = first
    s.last = last
    s.top = s.left = FARTHEST
    s.bottom = s.right = 0
    s.pixels = 0
    for r in range(first, last):
        high = wide = 0
        for k in range(all.bins_h):
            start = all.rows[all.order[r] * all.pitch + 2 * k]
            stop = all.rows[all.order[r] * all.pitch + 2 * k + 1]
            if start < stop:
                high += stop - start
                s.top = min(s.top, start)
                s.bottom = max(s.bottom, stop)
        for k in range(all.bins_w):
            start = all.columns[all.order[r] * all.pitch + 2 * k]
            stop = all.columns[all.order[r] * all.pitch + 2 * k + 1]
            if start < stop:
                wide += stop - start
                bins += 1
                s.left = min(s.left, start)
                s.right = max(s.right, stop)
        s.pixels += high * wide
        columns_wide += wide
    if s.top >= s.bottom or s.left >= s.right:
        s.top = s.bottom = s.left = s.right = 0
    pixels = (s.bottom - s.top) * (s.right - s.left)
    s.interleaved = (s.pixels > 2 * pixels or s.right - s.left < NARROW) and channels >= LANES // 4
    # Tables of 4 neighbours pay where boxes are that wide on average and cover the rectangle several times over.
    s.level = 0
    if s.pixels > 4 * pixels and bins and columns_wide >= 4 * bins:
        s.level = 2
    return s
