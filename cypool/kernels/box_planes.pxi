# Boxes plane by plane: the rows of a box are folded into one row, and that into its boxes. Part of box_max.pyx.


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
