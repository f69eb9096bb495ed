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


include "box_keys.pxi"
include "box_planes.pxi"
include "box_interleaved.pxi"
include "box_choice.pxi"


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
