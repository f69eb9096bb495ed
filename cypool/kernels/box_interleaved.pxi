# Boxes of many channels together: a block of them is copied so that the channels of a pixel lie side by side. Part of box_max.pyx.


cdef void interleave(const key* x, image_layout at, scene image, Py_ssize_t count, key infinity, key* tile) noexcept nogil:
    """tile[pixel, lane] for the image's rectangle, as ordered integers; lanes beyond ``count`` hold anything and go nowhere."""
    cdef Py_ssize_t h, w, c, width = image.right - image.left
    cdef const key* source
    cdef key* target
    cdef bint whole = at.stride_w == 1 and width == at.stride_h  # rows follow each other
    if whole:
        width *= image.bottom - image.top
    for h in range(image.top, image.top + 1 if whole else image.bottom):
        source = x + h * at.stride_h + image.left * at.stride_w
        target = tile + (h - image.top) * width * LANES
        if at.stride_w == 1:
            transpose(source, at.stride_c, count, width, target, LANES)
        else:
            for w in range(width):
                for c in range(count):
                    target[w * LANES + c] = source[c * at.stride_c + w * at.stride_w]
        for w in range(width * LANES):
            target[w] = ordered(target[w], infinity)


cdef void widen(const key* narrow, key* wide, Py_ssize_t pixels, Py_ssize_t distance) noexcept nogil:
    """wide[i] = max(narrow[i], narrow[i + distance]) over pixels, the last ``distance`` of them left out; in place is welcome."""
    cdef Py_ssize_t i, l
    for i in range(pixels - distance):
        for l in range(LANES):
            wide[i * LANES + l] = larger(narrow[i * LANES + l], narrow[(i + distance) * LANES + l])


cdef void neighbours(const key* tile, key* table, scene image) noexcept nogil:
    """table[pixel] = the maximum of 2^level pixels of a row from there on, where there are so many; row by row, to stay in the cache."""
    cdef Py_ssize_t width = image.right - image.left, h, offset
    cdef int level
    for h in range(image.bottom - image.top):
        offset = h * width * LANES
        widen(tile + offset, table + offset, width, 1)
        for level in range(1, image.level):
            widen(<const key*>table + offset, table + offset, width - (1 << level) + 1, 1 << level)


cdef inline void box_row(const key* x, Py_ssize_t width, Py_ssize_t step, key* most) noexcept nogil:
    """Fold a box row into ``most``; each pixel of x is the maximum of ``step`` neighbours."""
    cdef Py_ssize_t i = 0, l
    cdef const key* end = x + (width - step) * LANES
    while i < width - step:
        for l in range(LANES):
            most[l] = larger(most[l], x[i * LANES + l])
        i += step
    for l in range(LANES):
        most[l] = larger(most[l], end[l])


cdef void block_boxes(
    const key* tile, const key* table, Py_ssize_t count, scene image, boxes all, key* small, key* y, Py_ssize_t stride_y
) noexcept nogil:
    """All boxes of a block of channels; y is the output of its first channel. ``small`` has room for one region's bins of all lanes, twice:
    they are turned where they stay in cache, and written one after the other."""
    cdef Py_ssize_t width = image.right - image.left
    cdef Py_ssize_t bins = all.bins_h * all.bins_w
    cdef Py_ssize_t r, region, i, j, h, l, start, stop, left, wide
    cdef Py_ssize_t step = <Py_ssize_t>1 << image.level
    cdef const key* source
    cdef key most[LANES]
    cdef key* out
    cdef key* turned = small + bins * LANES
    for r in range(image.first, image.last):
        region = all.order[r]
        for j in range(all.bins_w):
            left = all.columns[region * all.pitch + 2 * j]
            wide = all.columns[region * all.pitch + 2 * j + 1] - left
            source = (table if image.level and wide >= step else tile) + (left - image.left) * LANES
            for i in range(all.bins_h):
                start = all.rows[region * all.pitch + 2 * i]
                stop = all.rows[region * all.pitch + 2 * i + 1]
                out = small + (i * all.bins_w + j) * LANES
                if count == LANES:  # as many bytes of the output as the bin gives: the stores to come need not wait for them
                    l = 0
                    while l < LANES:
                        will_write(y + region * stride_y + (j * all.bins_h + i) * LANES + l)
                        l += LINE_BYTES // <Py_ssize_t>sizeof(key)
                for l in range(LANES):
                    most[l] = lowest(small) if start < stop and wide > 0 else 0
                if wide > 0:
                    for h in range(start - image.top, stop - image.top):
                        box_row(source + h * width * LANES, wide, step if wide >= step else 1, most)
                for l in range(LANES):
                    out[l] = unordered(most[l])
        transpose(<const key*>small, LANES, bins, count, turned, bins)
        memcpy(y + region * stride_y, turned, count * bins * sizeof(key))


cdef inline Py_ssize_t tile_size(scene image) noexcept nogil:
    """Elements of the copy of a block; a table has as many."""
    return (image.right - image.left) * (image.bottom - image.top) * LANES


cdef void lay_out(
    const key* x, image_layout at, scene image, Py_ssize_t count, key infinity, key* tile, Py_ssize_t part, Py_ssize_t parts
) noexcept nogil:
    """Part of the rows of the copy of a block, and of the table that follows it."""
    cdef scene band = image
    cdef Py_ssize_t rows = image.bottom - image.top
    band.top = image.top + rows * part // parts
    band.bottom = image.top + rows * (part + 1) // parts
    cdef key* start = tile + (band.top - image.top) * (image.right - image.left) * LANES
    interleave(x, at, band, count, infinity, start)
    if image.level:
        neighbours(start, start + tile_size(image), band)


cdef void block(
    const key* x, image_layout at, scene image, boxes all, Py_ssize_t count, key infinity, key* scratch, key* y, Py_ssize_t stride_y
) noexcept nogil:
    """One block of ``count`` neighbouring channels of an image."""
    cdef key* tile = scratch + 2 * all.bins_h * all.bins_w * LANES
    lay_out(x, at, image, count, infinity, tile, 0, 1)
    block_boxes(tile, tile + tile_size(image), count, image, all, scratch, y, stride_y)
