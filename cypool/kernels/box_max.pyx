"""The maximum of every box of every plane of an array, boxes given as bounds.

Floats are compared as integers: their bits, mapped so that integer order is the order of the numbers, with -0.0 below +0.0 and every NaN
made one and above infinity. So the maximum of a box does not depend on the order of its elements, a NaN shows wherever it stands, four
types are three integer widths, and a maximum is one instruction, or two, on every CPU level. An empty box gives 0.

Two ways, chosen for each image by what it would cost (docs/kernels.md has the reasoning):

*Interleaved*, for many boxes: a block of LANES channels is copied so that the channels of a pixel lie side by side, and all of
them go through a box together. Where boxes are wide, a table of the maxima of neighbouring pixels spares most of their loads.

*Plane by plane*, for few: the rows of a box are folded into one row, which is contiguous in memory, then the row into its boxes.
"""

from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from .floats cimport bfloat16, element, float16
from .transposes cimport key, transpose
from .vectors cimport will_write

cdef enum:
    LANES = 32  # channels that go together; more than 16, up to which gcc unrolls their loops and spoils the vectors
    SHARED = 1 << 24  # bytes of all threads' copies beyond which they share one
    NARROW = 24  # pixels in a row that is too short to be worth a loop
    LINE_BYTES = 64  # of the cache

cdef Py_ssize_t FARTHEST = <Py_ssize_t>1 << 62

# What one image asks for: its boxes, the rectangle that holds them all, and how to go about it.
cdef struct scene:
    Py_ssize_t first
    Py_ssize_t last  # regions order[first] ... order[last - 1]
    Py_ssize_t top
    Py_ssize_t bottom
    Py_ssize_t left
    Py_ssize_t right
    Py_ssize_t pixels  # in all its boxes
    int level
    bint interleaved

cdef struct image_layout:
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    Py_ssize_t stride_h
    Py_ssize_t stride_w

# Bounds as pairs (start, stop): those of a region's bins down stand at rows + region * pitch, those across at columns + region * pitch.
cdef struct boxes:
    Py_ssize_t bins_h
    Py_ssize_t bins_w
    Py_ssize_t pitch
    const Py_ssize_t* rows
    const Py_ssize_t* columns
    const Py_ssize_t* order


cdef inline key ordered(key bits, key infinity) noexcept nogil:
    """The integer that stands for a float in comparisons."""
    cdef key most = (<key>1 << (8 * sizeof(key) - 2)) - 1 + (<key>1 << (8 * sizeof(key) - 2))
    cdef key mapped = <key>(bits ^ ((bits >> (8 * sizeof(key) - 1)) & most))
    return <key>(infinity + ((infinity & -infinity) >> 1)) if <key>(bits & most) > infinity else mapped


cdef inline key unordered(key mapped) noexcept nogil:
    """The float's bits again."""
    cdef key most = (<key>1 << (8 * sizeof(key) - 2)) - 1 + (<key>1 << (8 * sizeof(key) - 2))
    return <key>(mapped ^ ((mapped >> (8 * sizeof(key) - 1)) & most))


cdef inline key lowest(key* unused) noexcept nogil:
    return <key>(-(<key>1 << (8 * sizeof(key) - 2)) - (<key>1 << (8 * sizeof(key) - 2)))


cdef inline key larger(key a, key b) noexcept nogil:
    return a if a > b else b


# --- plane by plane --------------------------------------------------------------------------------------------------------------------


cdef inline void fold_row(key* row, const key* x, Py_ssize_t size, Py_ssize_t stride, key infinity) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        row[i] = larger(row[i], ordered(x[i * stride], infinity))


cdef void plane_boxes(
    const key* x, image_layout at, scene image, boxes all, key infinity, key* row, key* y, Py_ssize_t stride_y
) noexcept nogil:
    """All boxes of one plane; ``row`` has room for a row of it, y is the output of this channel, regions ``stride_y`` apart."""
    cdef Py_ssize_t r, region, i, j, k, start, stop, left, right
    cdef const Py_ssize_t* rows
    cdef const Py_ssize_t* columns
    cdef key most
    cdef key* out
    for r in range(image.first, image.last):
        region = all.order[r]
        rows = all.rows + region * all.pitch
        columns = all.columns + region * all.pitch
        out = y + region * stride_y
        left = image.right
        right = image.left
        for j in range(all.bins_w):
            if columns[2 * j] < columns[2 * j + 1]:
                left = min(left, columns[2 * j])
                right = max(right, columns[2 * j + 1])
        for i in range(all.bins_h):
            start = rows[2 * i]
            stop = rows[2 * i + 1]
            for k in range(left, right):
                row[k] = lowest(row)
            for k in range(start, stop):
                if at.stride_w == 1:
                    fold_row(row + left, x + k * at.stride_h + left, right - left, 1, infinity)
                else:
                    fold_row(row + left, x + k * at.stride_h + left * at.stride_w, right - left, at.stride_w, infinity)
            for j in range(all.bins_w):
                if start >= stop or columns[2 * j] >= columns[2 * j + 1]:
                    out[i * all.bins_w + j] = 0
                    continue
                most = row[columns[2 * j]]
                for k in range(columns[2 * j] + 1, columns[2 * j + 1]):
                    most = larger(most, row[k])
                out[i * all.bins_w + j] = unordered(most)


# --- interleaved -----------------------------------------------------------------------------------------------------------------------


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


# --- choosing --------------------------------------------------------------------------------------------------------------------------


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


# An array of images, and where the results go.
cdef struct canvas:
    Py_ssize_t images
    Py_ssize_t height
    Py_ssize_t width
    Py_ssize_t regions


cdef int maxima(const key* x, image_layout at, canvas size, boxes all, key infinity, key* y, int threads) except -1 nogil:
    """All boxes of all images. Threads share out blocks of channels, or go through one together where a copy for each would be more than
    caches hold."""
    cdef bint together
    cdef Py_ssize_t n, item, tile = 0, small = 0, stride_y = at.channels * all.bins_h * all.bins_w
    cdef Py_ssize_t blocks = (at.channels + LANES - 1) // LANES, items = size.images * blocks
    cdef Py_ssize_t parts = (threads + items - 1) // items  # of an image's regions, where there are more threads than blocks
    cdef Py_ssize_t* order = <Py_ssize_t*>malloc((size.regions + size.images + 1) * sizeof(Py_ssize_t))
    cdef scene* scenes = <scene*>malloc(size.images * sizeof(scene))
    cdef key* room = NULL
    if order != NULL and scenes != NULL:
        all.order = order
        by_image(all, size, order + size.regions, order)
        for n in range(size.images):
            scenes[n] = survey(all, order[size.regions + n], order[size.regions + n + 1], at.channels)
            if scenes[n].interleaved:
                tile = max(tile, tile_size(scenes[n]) * (2 if scenes[n].level else 1))
        small = max(size.width, 2 * all.bins_h * all.bins_w * LANES)
        small = (small + 2 * LANES - 1) // LANES * LANES  # whole cache lines, and one more between threads
        together = threads > 1 and threads * tile * sizeof(key) > SHARED
        room = <key*>malloc((tile + threads * small if together else threads * (tile + small)) * sizeof(key))
    if room != NULL and threads == 1:  # without OpenMP, whose preparations cost more than a small call
        for item in range(items):
            one_block(x, at, scenes, all, blocks, 1, item, infinity, room, y, stride_y)
    elif room != NULL and together:
        for item in range(items):
            block_together(x, at, scenes, all, blocks, item, infinity, room, tile, small, y, stride_y, threads)
    elif room != NULL:
        for item in prange(items * parts, num_threads=threads, schedule="dynamic"):
            one_block(x, at, scenes, all, blocks, parts, item, infinity, room + threadid() * (tile + small), y, stride_y)
    free(order)
    free(scenes)
    if room == NULL:
        with gil:
            raise MemoryError("no room for the kernel's scratch memory")
    free(room)
    return 0


cdef void by_image(boxes all, canvas size, Py_ssize_t* begin, Py_ssize_t* order) noexcept nogil:
    """Regions order[begin[n]] ... order[begin[n + 1] - 1] are those of image n, in their order."""
    cdef Py_ssize_t r, n, place = 0
    for n in range(size.images + 1):
        begin[n] = 0
    for r in range(size.regions):
        begin[all.rows[r * all.pitch - 1]] += 1
    for n in range(size.images + 1):
        place += begin[n]
        begin[n] = place  # where the next image begins; filled from the back, each ends where it begins itself
    for r in range(size.regions - 1, -1, -1):
        n = all.rows[r * all.pitch - 1]
        begin[n] -= 1
        order[begin[n]] = r


def box_max(const element[:, :, :, :] x, const Py_ssize_t[:, ::1] regions, element[:, :, :, ::1] y, int threads):
    """y[r, c, i, j] = max of x[n, c, top:bottom, left:right], 0 where that is empty.

    regions[r] = n, then (top, bottom) for each i, then (left, right) for each j.
    """
    cdef boxes all
    cdef image_layout at
    cdef canvas size
    cdef Py_ssize_t r
    all.bins_h = y.shape[2]
    all.bins_w = y.shape[3]
    all.pitch = regions.shape[1]
    size.images = x.shape[0]
    size.height = x.shape[2]
    size.width = x.shape[3]
    size.regions = y.shape[0]
    if not (
        threads > 0 and size.regions > 0 and size.images > 0 and x.shape[1] > 0 and size.height > 0 and size.width > 0
        and all.bins_h > 0 and all.bins_w > 0
        and regions.shape[0] == size.regions and all.pitch == 1 + 2 * (all.bins_h + all.bins_w) and y.shape[1] == x.shape[1]
    ):
        raise ValueError("box_max: sizes or threads out of range")
    all.rows = &regions[0, 1]
    all.columns = all.rows + 2 * all.bins_h
    for r in range(size.regions):
        if not (
            0 <= regions[r, 0] < size.images
            and bounded(all.rows + r * all.pitch, all.bins_h, size.height)
            and bounded(all.columns + r * all.pitch, all.bins_w, size.width)
        ):
            raise ValueError("box_max: a box outside the image")
    at.channels = x.shape[1]
    at.stride_n = x.strides[0] // <Py_ssize_t>sizeof(element)
    at.stride_c = x.strides[1] // <Py_ssize_t>sizeof(element)
    at.stride_h = x.strides[2] // <Py_ssize_t>sizeof(element)
    at.stride_w = x.strides[3] // <Py_ssize_t>sizeof(element)
    with nogil:
        if element is float16:
            maxima(<const short*>&x[0, 0, 0, 0], at, size, all, <short>0x7C00, <short*>&y[0, 0, 0, 0], threads)
        elif element is bfloat16:
            maxima(&x[0, 0, 0, 0], at, size, all, <short>0x7F80, &y[0, 0, 0, 0], threads)
        elif element is float:
            maxima(<const int*>&x[0, 0, 0, 0], at, size, all, <int>0x7F800000, <int*>&y[0, 0, 0, 0], threads)
        else:
            maxima(
                <const long long*>&x[0, 0, 0, 0], at, size, all, <long long>0x7FF0000000000000, <long long*>&y[0, 0, 0, 0], threads
            )


cdef inline bint bounded(const Py_ssize_t* bounds, Py_ssize_t bins, Py_ssize_t size) noexcept nogil:
    """Whether every box lies inside."""
    cdef Py_ssize_t i
    cdef bint inside = True
    for i in range(2 * bins):
        inside = inside and 0 <= bounds[i] <= size
    return inside


cdef inline scene shared_out(scene image, Py_ssize_t part, Py_ssize_t parts) noexcept nogil:
    """The image with part of its regions."""
    cdef Py_ssize_t regions = image.last - image.first
    image.last = image.first + regions * (part + 1) // parts
    image.first += regions * part // parts
    return image


cdef void one_block(
    const key* x, image_layout at, const scene* scenes, boxes all, Py_ssize_t blocks, Py_ssize_t parts, Py_ssize_t item, key infinity,
    key* scratch, key* y, Py_ssize_t stride_y,
) noexcept nogil:
    """Item (image, block of channels, part of the regions), the way its image asks for."""
    cdef scene image = scenes[item // parts // blocks]
    cdef Py_ssize_t first = item // parts % blocks * LANES
    cdef Py_ssize_t count = min(LANES, at.channels - first), c
    cdef Py_ssize_t bins = all.bins_h * all.bins_w
    x += item // parts // blocks * at.stride_n + first * at.stride_c
    y += first * bins
    image = shared_out(image, item % parts, parts)
    if image.first == image.last:
        return
    if image.interleaved and 4 * count >= LANES:
        block(x, at, image, all, count, infinity, scratch, y, stride_y)
    else:
        for c in range(count):
            plane_boxes(x + c * at.stride_c, at, image, all, infinity, scratch, y + c * bins, stride_y)


cdef void block_together(
    const key* x, image_layout at, const scene* scenes, boxes all, Py_ssize_t blocks, Py_ssize_t item, key infinity, key* room,
    Py_ssize_t tile, Py_ssize_t small, key* y, Py_ssize_t stride_y, int threads,
) noexcept nogil:
    """Item (image, block of channels): threads share out the rows of its copy first, then its regions. ``room`` is that for the copy, then
    a small one for each thread."""
    cdef scene image = scenes[item // blocks]
    cdef Py_ssize_t first = item % blocks * LANES, count = min(LANES, at.channels - first), parts = 4 * threads, part
    cdef const key* from_here = x + item // blocks * at.stride_n + first * at.stride_c
    if image.interleaved and 4 * count >= LANES:
        for part in prange(parts, num_threads=threads, schedule="dynamic"):
            lay_out(from_here, at, image, count, infinity, room, part, parts)
        for part in prange(parts, num_threads=threads, schedule="dynamic"):
            block_boxes(
                room, room + tile_size(image), count, shared_out(image, part, parts), all, room + tile + threadid() * small,
                y + first * all.bins_h * all.bins_w, stride_y
            )
    else:
        for part in prange(parts, num_threads=threads, schedule="dynamic"):
            one_block(x, at, scenes, all, blocks, parts, item * parts + part, infinity, room + tile + threadid() * small, y, stride_y)
