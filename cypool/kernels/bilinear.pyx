"""The mean, or the maximum, of points sampled in the bins of regions of images, each point between four pixels.

``samples.pxi`` turns a region and an axis into lists of weighted pixels. A bin is the product of two lists, since the weights are, so
its mean is a sum of rows that are sums of pixels. LANES channels go together: they are copied so that the channels of a
pixel lie side by side, unless they do already.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, fabs, fma, ldexp
from libc.string cimport memcpy

from .floats cimport element, signed_value, store_signed
from .transposes cimport turn
from .vectors cimport WIDTH, load, put, splat, vector

include "samples.pxi"

cdef enum:
    LANES = 32  # channels that go together
    STRIP = 4 * WIDTH  # of them in registers
    VECTORS = 4

cdef struct problem:
    Py_ssize_t images
    Py_ssize_t channels
    Py_ssize_t height
    Py_ssize_t width
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    Py_ssize_t stride_h
    Py_ssize_t stride_w
    Py_ssize_t regions
    Py_ssize_t bins_h
    Py_ssize_t bins_w
    bint maximum
    const tap* taps
    const bin_taps* bins  # of each region, those down and those across
    const Py_ssize_t* order  # regions, those of an image one after the other
    const Py_ssize_t* starts  # of each image in ``order``

# Where the channels of a pixel lie side by side.
cdef struct surface:
    Py_ssize_t stride_h
    Py_ssize_t stride_w


# --- one channel -------------------------------------------------------------------------------------------------------------------------


cdef double scaled_mean(
    const element* x, surface at, const tap* rows, Py_ssize_t down, const tap* columns, Py_ssize_t across, int exponent
) noexcept nogil:
    """The mean of a bin times 2^exponent: in double the sums of rows, and of all, are pairs."""
    cdef double hi = 0.0, lo = 0.0, row_hi, row_lo, value, factor = ldexp(1.0, exponent)
    cdef Py_ssize_t i, j
    cdef pair s
    for i in range(down):
        row_hi = row_lo = 0.0
        for j in range(across):
            value = columns[j].hi * factor * signed_value(x, rows[i].pixel * at.stride_h + columns[j].pixel * at.stride_w)
            if element is double:
                s = two_sum(row_hi, value)
                row_hi = s.hi
                row_lo += s.lo
            else:
                row_hi += value
        if element is double:
            s = two_sum(hi, rows[i].hi * (row_hi + row_lo if isfinite(row_hi) else row_hi))
            hi = s.hi
            lo += s.lo
        else:
            hi += rows[i].hi * row_hi
    return hi + lo if element is double and isfinite(hi) else hi


cdef double careful_mean(
    const element* x, surface at, const tap* rows, Py_ssize_t down, const tap* columns, Py_ssize_t across, double mean
) noexcept nogil:
    """The mean of doubles where the plain one is not finite, or so small that products may have been lost."""
    cdef double again
    if not isfinite(mean):
        again = scaled_mean(x, at, rows, down, columns, across, -2)
        if not isfinite(again) or isfinite(4.0 * again):
            return 4.0 * again
        # the mean of finite numbers is none larger than they are
        return 1.7976931348623157e308 if again > 0.0 else -1.7976931348623157e308
    again = scaled_mean(x, at, rows, down, columns, across, 500)
    return ldexp(again, -500) if isfinite(again) else mean


cdef inline double product(double value, tap row, tap column, const element* unused) noexcept nogil:
    """A pixel times its weights; in double with what the roundings before the last lose."""
    cdef double weight = row.hi * column.hi, result = weight * value, rest
    if element is double:
        rest = fma(row.hi, column.hi, -weight) + (row.hi * column.lo + row.lo * column.hi)
        rest = fma(weight, value, -result) + rest * value
        if isfinite(rest):
            result += rest
    return result


cdef double one_maximum(
    const element* x, surface at, const tap* rows, Py_ssize_t down, const tap* columns, Py_ssize_t across, bint zero
) noexcept nogil:
    """The largest weighted pixel of a bin."""
    cdef double most = 0.0 if zero else -INFINITY, value
    cdef Py_ssize_t i, j
    for i in range(down):
        for j in range(across):
            value = product(signed_value(x, rows[i].pixel * at.stride_h + columns[j].pixel * at.stride_w), rows[i], columns[j], x)
            if value > most or value != value:
                most = value
            if most != most:
                return most
    return most


cdef inline bint zero_joins(bin_taps row, bin_taps column) noexcept nogil:
    """Whether 0 is one of the numbers that a maximum is taken of; it is the only one where there is no tap."""
    return row.zero or column.zero or row.first == row.last or column.first == column.last


cdef double one_bin(const element* x, surface at, const problem* p, bin_taps row, bin_taps column) noexcept nogil:
    """A bin of one channel."""
    cdef const tap* rows = p.taps + row.first
    cdef const tap* columns = p.taps + column.first
    cdef Py_ssize_t down = row.last - row.first, across = column.last - column.first
    cdef double mean
    if p.maximum:
        return one_maximum(x, at, rows, down, columns, across, zero_joins(row, column))
    mean = scaled_mean(x, at, rows, down, columns, across, 0)
    if element is double and not 1e-289 <= fabs(mean) < INFINITY:
        mean = careful_mean(x, at, rows, down, columns, across, mean)
    return mean


# --- channels side by side ---------------------------------------------------------------------------------------------------------------


cdef inline void accumulate(vector s, vector* hi, vector* lo, const element* unused) noexcept nogil:
    """Add to sums; those of doubles with the error."""
    cdef vector total = hi[0] + s
    cdef vector part
    if element is double:
        part = total - hi[0]
        lo[0] = lo[0] + ((hi[0] - (total - part)) + (s - part))
    hi[0] = total


cdef inline void strip_means(
    const element* x, surface at, const tap* rows, Py_ssize_t down, const tap* columns, Py_ssize_t across, double* y
) noexcept nogil:
    """The means of a bin of STRIP channels."""
    cdef vector hi[VECTORS]
    cdef vector lo[VECTORS]
    cdef vector row_hi[VECTORS]
    cdef vector row_lo[VECTORS]
    cdef vector weight
    cdef const element* source
    cdef Py_ssize_t i, j
    cdef int v
    for v in range(VECTORS):
        hi[v] = lo[v] = splat(0.0)
    for i in range(down):
        for v in range(VECTORS):
            row_hi[v] = row_lo[v] = splat(0.0)
        for j in range(across):
            source = x + rows[i].pixel * at.stride_h + columns[j].pixel * at.stride_w
            weight = splat(columns[j].hi)
            for v in range(VECTORS):
                accumulate(weight * load(source + v * WIDTH), &row_hi[v], &row_lo[v], x)
        weight = splat(rows[i].hi)
        for v in range(VECTORS):
            if element is double:
                accumulate(weight * (row_hi[v] + row_lo[v]), &hi[v], &lo[v], x)
            else:
                accumulate(weight * row_hi[v], &hi[v], &lo[v], x)
    for v in range(VECTORS):
        if element is double:
            put(y + v * WIDTH, hi[v] + lo[v])
        else:
            put(y + v * WIDTH, hi[v])


cdef void bin_of_lanes(const element* x, surface at, const problem* p, bin_taps row, bin_taps column, element* y) noexcept nogil:
    """A bin of LANES channels."""
    cdef const tap* rows = p.taps + row.first
    cdef const tap* columns = p.taps + column.first
    cdef Py_ssize_t down = row.last - row.first, across = column.last - column.first, i, j
    cdef double means[LANES]
    cdef double value
    cdef bint zero = zero_joins(row, column)
    cdef int l
    if p.maximum:
        for l in range(LANES):
            means[l] = 0.0 if zero else -INFINITY
        for i in range(down):
            for j in range(across):
                for l in range(LANES):
                    value = product(
                        signed_value(x, rows[i].pixel * at.stride_h + columns[j].pixel * at.stride_w + l), rows[i], columns[j], x
                    )
                    means[l] = value if value > means[l] or value != value else means[l]
    else:
        l = 0
        while l < LANES:
            strip_means(x + l, at, rows, down, columns, across, means + l)
            l += STRIP
        if element is double:
            for l in range(LANES):
                if not 1e-289 <= fabs(means[l]) < INFINITY:
                    means[l] = one_bin(x + l, at, p, row, column)
    for l in range(LANES):
        store_signed(y + l, means[l])


cdef void copy_rows(
    const element* x, const problem* p, const unsigned char* wanted, Py_ssize_t count, element* tile
) noexcept nogil:
    """Copy the rows that are wanted so that the channels of a pixel lie side by side; what lies beyond ``count`` of them is zero."""
    cdef Py_ssize_t h, w, c
    cdef element* target
    for h in range(p.height):
        if not wanted[h]:
            continue
        target = tile + h * p.width * LANES
        if p.stride_w == 1:
            turn(x + h * p.stride_h, p.stride_c, count, p.width, target, LANES)
        else:
            for w in range(p.width):
                for c in range(count):
                    target[w * LANES + c] = x[h * p.stride_h + w * p.stride_w + c * p.stride_c]
        for w in range(p.width if count < LANES else 0):
            for c in range(count, LANES):
                target[w * LANES + c] = 0


cdef void mark_rows(const problem* p, Py_ssize_t first, Py_ssize_t last, unsigned char* wanted) noexcept nogil:
    """Mark the rows of an image that regions ``first`` to ``last`` take pixels of."""
    cdef Py_ssize_t k, i, t, per = p.bins_h + p.bins_w
    for i in range(p.height):
        wanted[i] = 0
    for k in range(first, last):
        for i in range(p.bins_h):
            for t in range(p.bins[p.order[k] * per + i].first, p.bins[p.order[k] * per + i].last):
                wanted[p.taps[t].pixel] = 1


cdef void block(
    const element* x, const problem* p, Py_ssize_t channel, Py_ssize_t first, Py_ssize_t last, element* scratch,
    unsigned char* wanted, element* y,
) noexcept nogil:
    """A block of channels of an image, regions order[first] to order[last]."""
    cdef Py_ssize_t count = min(<Py_ssize_t>LANES, p.channels - channel), per = p.bins_h + p.bins_w, bins = p.bins_h * p.bins_w
    cdef Py_ssize_t k, region, i, j, c
    cdef element* tile = scratch + 2 * bins * LANES
    cdef const element* source = x
    cdef element* out
    cdef surface at
    cdef const bin_taps* rows
    if scratch == NULL:
        at.stride_h = p.stride_h
        at.stride_w = p.stride_w
        for k in range(first, last):
            region = p.order[k]
            rows = p.bins + region * per
            for c in range(count):
                out = y + (region * p.channels + channel + c) * bins
                for i in range(p.bins_h):
                    for j in range(p.bins_w):
                        store_signed(out, one_bin(x + c * p.stride_c, at, p, rows[i], rows[p.bins_h + j]))
                        out += 1
        return
    if p.stride_c == 1 and count == LANES:
        at.stride_h = p.stride_h
        at.stride_w = p.stride_w
    else:
        mark_rows(p, first, last, wanted)
        copy_rows(x, p, wanted, count, tile)
        at.stride_h = p.width * LANES
        at.stride_w = LANES
        source = tile
    for k in range(first, last):
        region = p.order[k]
        rows = p.bins + region * per
        for i in range(p.bins_h):
            for j in range(p.bins_w):
                bin_of_lanes(source, at, p, rows[i], rows[p.bins_h + j], scratch + (i * p.bins_w + j) * LANES)
        out = scratch + bins * LANES
        turn(<const element*>scratch, LANES, bins, count, out, bins)
        memcpy(y + (region * p.channels + channel) * bins, out, count * bins * sizeof(element))


# --- regions -----------------------------------------------------------------------------------------------------------------------------


cdef enum:
    TILE = 1 << 26  # bytes that a copy may take


cdef int work(const element* x, const problem* p, int threads, element* y) noexcept nogil:
    """All regions. Threads share out images and blocks of channels, and regions where these are few; -1 if there is no memory."""
    cdef Py_ssize_t blocks = (p.channels + LANES - 1) // LANES, items = 0, parts, item, n, b
    cdef Py_ssize_t pixels = p.height * p.width, bins = p.bins_h * p.bins_w, per = p.bins_h + p.bins_w, room, taps = 0, down, across, r, i
    cdef element* scratch = NULL
    cdef unsigned char* wanted = NULL
    cdef bint direct
    for n in range(p.images):
        items += blocks if p.starts[n + 1] > p.starts[n] else 0
    parts = 1 if items >= threads else min((threads + items - 1) // items, p.regions)
    for r in range(p.regions):
        down = across = 0
        for i in range(p.bins_h):
            down += p.bins[r * per + i].last - p.bins[r * per + i].first
        for i in range(p.bins_h, per):
            across += p.bins[r * per + i].last - p.bins[r * per + i].first
        taps += down * across
    # one channel at a time takes some eight times as long a tap, and no copy
    room = (pixels + 2 * bins) * LANES
    direct = p.channels < 4 or room > TILE // <Py_ssize_t>sizeof(element)
    direct = direct or (p.stride_c != 1 and taps < pixels // 8 * (items // blocks))
    if not direct:
        scratch = <element*>malloc(threads * room * sizeof(element))
        wanted = <unsigned char*>malloc(threads * p.height)
        if scratch == NULL or wanted == NULL:
            free(scratch)
            free(wanted)
            return -1
    if threads == 1:
        for n in range(p.images):
            if p.starts[n + 1] > p.starts[n]:
                for b in range(blocks):
                    block(x + n * p.stride_n + b * LANES * p.stride_c, p, b * LANES, p.starts[n], p.starts[n + 1], scratch, wanted, y)
    else:
        for item in prange(p.images * blocks * parts, num_threads=threads, schedule="dynamic"):
            part_of_work(
                x, p, item, blocks, parts, NULL if direct else scratch + threadid() * room,
                NULL if direct else wanted + threadid() * p.height, y,
            )
    free(scratch)
    free(wanted)
    return 0


cdef void part_of_work(
    const element* x, const problem* p, Py_ssize_t item, Py_ssize_t blocks, Py_ssize_t parts, element* scratch,
    unsigned char* wanted, element* y,
) noexcept nogil:
    """One of the shares of the threads."""
    cdef Py_ssize_t part = item % parts, b = item // parts % blocks, n = item // parts // blocks
    cdef Py_ssize_t first = p.starts[n], count = p.starts[n + 1] - first
    if count * part // parts < count * (part + 1) // parts:
        block(
            x + n * p.stride_n + b * LANES * p.stride_c, p, b * LANES, first + count * part // parts, first + count * (part + 1) // parts,
            scratch, wanted, y,
        )


cdef int list_all(
    const real* rois, Py_ssize_t stride_r, Py_ssize_t stride_k, const problem* p, double scale, bint half_pixel, Py_ssize_t ratio,
    tap_lists* all, bin_taps* bins,
) noexcept nogil:
    """Make the lists of all regions; -1 if there is no memory."""
    cdef Py_ssize_t r, i
    cdef sampling s
    cdef const real* roi
    for r in range(p.regions):
        roi = rois + r * stride_r
        s = samples_of(roi[stride_k], roi[3 * stride_k], <real>scale, half_pixel, p.bins_h, ratio, p.height)
        for i in range(p.bins_h):
            if list_bin(all, s, i, p.maximum, bins, <real*>NULL):
                return -1
            bins += 1
        s = samples_of(roi[0], roi[2 * stride_k], <real>scale, half_pixel, p.bins_w, ratio, p.width)
        for i in range(p.bins_w):
            if list_bin(all, s, i, p.maximum, bins, <real*>NULL):
                return -1
            bins += 1
    return 0


cdef Py_ssize_t refused(
    const real* rois, Py_ssize_t stride_r, Py_ssize_t stride_k, const problem* p, double scale, bint half_pixel, Py_ssize_t ratio
) noexcept nogil:
    """Return the first region with too many samples or a number that is not finite, or -1."""
    cdef Py_ssize_t r
    cdef const real* roi
    for r in range(p.regions):
        roi = rois + r * stride_r
        if (
            samples_of(roi[stride_k], roi[3 * stride_k], <real>scale, half_pixel, p.bins_h, ratio, p.height).count > MOST_SAMPLES
            or samples_of(roi[0], roi[2 * stride_k], <real>scale, half_pixel, p.bins_w, ratio, p.width).count > MOST_SAMPLES
        ):
            return r
    return -1


def bilinear(
    const element[:, :, :, :] x4, const real[:, :] rois, const long long[:] batch, double scale, bint half_pixel, Py_ssize_t counts_h,
    Py_ssize_t counts_w, Py_ssize_t sampling_ratio, bint maximum, element[::1] y, int threads,
) -> int:
    """Write to y[r, c, i, j] the mean, or the maximum, of samples of channel c of image batch[r] in bin (i, j) of region r.

    Regions are rows (x1, y1, x2, y2) of ``rois``, times ``scale``, and less half a pixel if ``half_pixel``.
    They have ``counts_h`` by ``counts_w`` bins, with ``sampling_ratio`` samples along each axis, or, if that
    is 0, as many as a bin has pixels. Coordinates are computed in the type of ``rois``. A size of x4 may be 0.

    Returns -1, or the first row whose image is none; if there is no such row, the first of ``rois`` that holds a
    number that is not finite or asks for more than 2^22 samples along an axis of a bin. Nothing is written then.
    """
    cdef problem p
    cdef tap_lists all
    cdef Py_ssize_t r, n, per = counts_h + counts_w, row
    cdef bin_taps* bins = NULL
    cdef Py_ssize_t* order = NULL
    cdef int failed = 0
    cdef element empty = 0
    cdef const element* x = &empty
    cdef const real* first
    p.images = x4.shape[0]
    p.channels = x4.shape[1]
    p.height = x4.shape[2]
    p.width = x4.shape[3]
    p.stride_n = x4.strides[0] // <Py_ssize_t>sizeof(element)
    p.stride_c = x4.strides[1] // <Py_ssize_t>sizeof(element)
    p.stride_h = x4.strides[2] // <Py_ssize_t>sizeof(element)
    p.stride_w = x4.strides[3] // <Py_ssize_t>sizeof(element)
    p.regions = rois.shape[0]
    p.bins_h = counts_h
    p.bins_w = counts_w
    p.maximum = maximum
    if not (
        counts_h > 0 and counts_w > 0 and sampling_ratio >= 0 and threads > 0 and scale > 0.0
        and (p.regions == 0 or rois.shape[1] == 4) and batch.shape[0] == p.regions
    ):
        raise ValueError("bilinear: sizes, scale or threads out of range")
    if p.regions == 0:
        return -1
    for r in range(p.regions):
        if not 0 <= batch[r] < p.images:
            return r
    first = &rois[0, 0]
    row = refused(
        first, rois.strides[0] // <Py_ssize_t>sizeof(real), rois.strides[1] // <Py_ssize_t>sizeof(real), &p, scale, half_pixel,
        sampling_ratio,
    )
    if row >= 0:
        return row
    if y.shape[0] != p.regions * p.channels * counts_h * counts_w:
        raise ValueError("bilinear: the output has another size")
    if y.shape[0] == 0:
        return -1
    all.taps = NULL
    all.count = all.room = 0
    n = max(p.height, p.width) + 1
    all.large = <pair*>malloc(n * sizeof(pair))
    all.small = <pair*>malloc(n * sizeof(pair))
    bins = <bin_taps*>malloc(p.regions * per * sizeof(bin_taps))
    order = <Py_ssize_t*>malloc((p.regions + p.images + 2) * sizeof(Py_ssize_t))
    if all.large == NULL or all.small == NULL or bins == NULL or order == NULL:
        failed = -1
    else:
        for r in range(n):
            all.large[r].hi = all.large[r].lo = all.small[r].hi = all.small[r].lo = 0.0
        sort_by_image(batch, p.images, order)
        p.order = order
        p.starts = order + p.regions
        p.bins = bins
        if p.height > 0 and p.width > 0:
            x = &x4[0, 0, 0, 0]
        with nogil:
            failed = list_all(
                first, rois.strides[0] // <Py_ssize_t>sizeof(real), rois.strides[1] // <Py_ssize_t>sizeof(real), &p, scale, half_pixel,
                sampling_ratio, &all, bins,
            )
            p.taps = all.taps
            if failed == 0:
                failed = work(x, &p, threads, &y[0])
    free(all.taps)
    free(all.large)
    free(all.small)
    free(bins)
    free(order)
    if failed:
        raise MemoryError("no room for the kernel's scratch memory")
    return -1


cdef void sort_by_image(const long long[:] batch, Py_ssize_t images, Py_ssize_t* order) noexcept:
    """Write the regions of each image one after the other, then where each image starts."""
    cdef Py_ssize_t regions = batch.shape[0], r, n
    cdef Py_ssize_t* starts = order + regions
    for n in range(images + 2):
        starts[n] = 0
    for r in range(regions):
        starts[batch[r] + 2] += 1
    # starts[n + 2] holds how many regions image n has; turn that into where it starts, one place on
    starts[1] = 0
    for n in range(2, images + 2):
        starts[n] += starts[n - 1]
    for r in range(regions):
        order[starts[batch[r] + 1]] = r
        starts[batch[r] + 1] += 1
