"""The mean of every window of every plane of an array, as if computed exactly and rounded once.

A row of outputs sums rows of the plane, column by column, then columns of that sum, in double. A test
tells from the largest magnitude in these rows which outputs are right. The others, where terms cancel,
are summed again with the errors of all additions, and if that does not do, as integers (``exact.pxd``).
docs/kernels.md has the proof.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, NAN, fabs, isfinite, ldexp
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from .exact cimport accumulate_exactly, accumulator, clear, quotient, rounded_sum, scaled
from .floats cimport element, float16, signed_value, store_signed
from .powers cimport pair, two_sum
from .transposes cimport turn
from .vectors cimport (
    WIDTH, absolute, between, every_other, load, load_double, load_part, put, splat, store_floats, upper,
    vector, will_read
)
from .walks cimport next_element, walk
from .windows cimport AXES, axis, inside, padded_taps, sound, span, start_of

cdef enum:
    LANES = 16  # partial sums of a plane
    DOWN = LANES // 2
    VECTORS = LANES // WIDTH
    CHUNK = 4096  # elements of a plane that are summed before their sum joins the others
    GROUP = 32  # planes whose lanes are added together

cdef extern from "means.h" nogil:
    enum:
        TOGETHER "CYPOOL_SIDE"
    ctypedef struct careful "cypool_careful":
        double hi[1]
        double lo[1]
        double errors[1]
        double most[1]
        long long any_of[1]
        long long all_of[1]
    vector chosen "cypool_chosen"(vector mask, vector a, vector b)
    double mask_of "cypool_mask"(bint all)
    vector smaller "cypool_smaller"(vector a, vector b)
    vector finite_so_far "cypool_finite_so_far"(vector odd, vector total)
    bint all_reach "cypool_all_reach"(vector low, vector odd, double least)
    void largest_bits "cypool_largest_bits"(const int* x, Py_ssize_t n, int* most, unsigned int* most_unsigned)
    void largest_bits_16 "cypool_largest_bits_16"(const short* x, Py_ssize_t n, int* most, unsigned int* most_unsigned)
    bint store_16 "cypool_store_16"(unsigned short* y, vector a, int mantissa, int bias)
    void begin_careful "cypool_begin_careful"(careful* s)
    void add_careful "cypool_add_careful"(careful* s, const double* values)

cdef extern from *:
    """
    /* Loops with constants in them are made of functions that are inline. */
    #if defined(__GNUC__)
      #undef CYTHON_INLINE
      #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    """

cdef enum:
    SPAN = 4096  # columns that a row of sums holds
    BLOCK = 512  # outputs of a row that are tested together, at most
    ROOM = SPAN + 128  # for whole vectors
    TALL = 64  # rows of outputs that go together, at most
    POINTERS = 512  # to the rows that these sum
    FIRST_LEVEL = 2048  # sums that stay in the cache nearest to the processor
    TABLE = BLOCK + 16
    TABLES = 16  # of divisors, which differ at the edges
    FOLDED = 64  # rows that a window has, to be listed
    LISTED = 1 << 18  # offsets of rows, at most
    SMALL = 4096  # elements of a plane whose largest magnitude is that of all its rows
    LONGEST = 1 << 24  # additions on the way of a term, above which outputs are summed one at a time

# What is summed: planes as in ``lp``, one axis record and one stride for each of their axes.
cdef struct problem:
    Py_ssize_t channels
    Py_ssize_t stride_n
    Py_ssize_t stride_c
    int ndim
    const axis* axes
    const Py_ssize_t* strides
    bint padding  # counts
    Py_ssize_t rows  # of outputs in a plane
    Py_ssize_t columns  # of outputs in a row
    Py_ssize_t block  # outputs of a row that are summed together; 0 if each is by itself
    Py_ssize_t blocks  # in a row
    const row_entry* entries  # of each row of outputs, or NULL
    const Py_ssize_t* offsets
    bint whole  # windows are planes
    bint small  # the largest magnitude is that of the plane
    Py_ssize_t together  # rows of outputs that are summed in one go; 0 where rows are summed one or two at a time
    Py_ssize_t margin  # sums before the first of a row
    Py_ssize_t pitch  # from row to row of sums
    double limit  # times the largest magnitude: what a sum of terms of both signs has to reach
    double largest  # magnitude with which no sum overflows
    bint paired  # sums have errors beside them

# The rows of a plane that a row of outputs sums, and the numbers that go with them.
cdef struct bundle:
    span spans[AXES]  # of all axes but the last
    bint rotated  # the first row of the last but one axis comes last
    bint empty
    double inner  # rows inside the plane
    double outer  # rows inside the padded plane


cdef struct extremes:
    double most  # finite magnitude
    bint negative
    bint positive

# What is known of a row of the plane, or of the part of it that a block of outputs sees.
cdef struct known:
    const void* start
    Py_ssize_t size
    extremes found

# A row of outputs where rows are contiguous: the rows that it sums, as offsets in a plane.
cdef struct row_entry:
    Py_ssize_t first
    Py_ssize_t count
    Py_ssize_t common  # rows with which both this list and the next begin, at most one following; 0 if they do not
    double inner
    double outer

# Divisors of a block of outputs, or, in narrow types, what 1 is by them.
cdef struct divisors:
    double rows  # that count
    double each[TABLE]

cdef struct scratch:
    double hi[2][ROOM]  # of two rows of outputs
    double lo[2][ROOM]
    double total[TABLE]
    double nothing[ROOM]  # a row of -0.0, of elements
    const void* rows_of[POINTERS]
    const double* divisors_of[TALL]
    double mask[WIDTH]  # of the last vector of a row: what is in the plane
    double pads[WIDTH]  # the rest of it
    Py_ssize_t flat_block  # that these are of
    Py_ssize_t left
    Py_ssize_t right
    double columns[TABLE]  # that count, for each output of the block
    divisors tables[TABLES]
    int next_table
    Py_ssize_t block  # that the tables are of
    known rows[FOLDED]
    known plane


cdef inline bint sign_of(double x) noexcept nogil:
    return x < 0.0 or (x == 0.0 and 1.0 / x < 0.0)


# --- one output at a time ----------------------------------------------------------------------------------------------------------------


cdef double exact_mean(const element* x, const problem* p, const bundle* rows, Py_ssize_t column) noexcept nogil:
    """The mean of one window by sums whose errors are summed as well, or by integers."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef walk w
    cdef accumulator total
    cdef scaled s
    cdef pair sum
    cdef double count, outer, value, hi = -0.0, lo = 0.0, most = 0.0, mean
    cdef bint negative = False, positive = False, right, exact = True, plus_infinity = False, minus_infinity = False
    cdef int a
    w.ndim = p.ndim
    w.offset = 0
    count = rows.inner
    for a in range(p.ndim):
        w.spans[a] = rows.spans[a] if a < p.ndim - 1 else inside(last, column)
        w.steps[a] = p.axes[a].dilation * p.strides[a] if w.spans[a].taps > 1 else 0
        w.offset += w.spans[a].position * p.strides[a]
        w.at[a] = 0
    count *= w.spans[p.ndim - 1].taps
    outer = rows.outer * padded_taps(last, column)
    if count == 0.0:
        return 0.0 if p.padding and outer > 0.0 else NAN
    while True:
        value = signed_value(x, w.offset)
        if value != value:
            return NAN
        if isfinite(value):
            if sign_of(value):
                negative = True
            else:
                positive = True
            most = max(most, fabs(value))
            sum = two_sum(hi, value)
            hi = sum.hi
            lo += sum.lo
            exact = exact and sum.lo == 0.0
        elif value > 0.0:
            plus_infinity = True
        else:
            minus_infinity = True
        if not next_element(&w):
            break
    if plus_infinity or minus_infinity:
        return NAN if plus_infinity and minus_infinity else INFINITY if plus_infinity else -INFINITY
    if most == 0.0:
        return 0.0 if positive or (p.padding and outer > count) else -0.0
    s.exponent = 0
    s.hi = hi
    s.lo = lo
    if negative and positive:
        right = fabs(hi + lo) >= count * count * count * most * 1.1102230246251565e-16  # 2^-53
    else:
        right = count <= 33554432.0  # 2^25
    if not (most < p.largest and (exact or right)):
        clear(&total)
        while True:
            accumulate_exactly(&total, signed_value(x, w.offset))
            if not next_element(&w):
                break
        s = rounded_sum(&total)
    if p.padding:
        count = outer
    mean = quotient(s.hi, s.lo, count) if element is double else (s.hi + s.lo if s.lo != 0.0 else s.hi) * (1.0 / count)
    return ldexp(mean, s.exponent) if s.exponent else mean


# --- rows of outputs ---------------------------------------------------------------------------------------------------------------------


cdef inline void set_rows(bundle* result, const problem* p, Py_ssize_t row) noexcept nogil:
    """Say which rows output row ``row`` of a plane sums."""
    cdef const axis* along
    cdef Py_ssize_t window
    cdef int a = p.ndim - 2
    result.inner = result.outer = 1.0
    result.rotated = False
    while a >= 0:
        along = &p.axes[a]
        window = row % along.count
        row //= along.count
        result.spans[a] = inside(along, window)
        if a == p.ndim - 2:
            result.rotated = window % 2 == 0 and start_of(along, window) >= 0
        result.inner *= result.spans[a].taps
        result.outer *= padded_taps(along, window)
        a -= 1
    result.empty = result.inner == 0.0


cdef void fold_strided(
    const element* x, Py_ssize_t step, Py_ssize_t size, double* hi, double* lo, extremes* found
) noexcept nogil:
    """Add a row whose elements are apart to the sums of columns, and widen ``found`` by it."""
    cdef double value, most = found.most
    cdef bint negative = found.negative, positive = found.positive
    cdef Py_ssize_t j
    cdef pair s
    for j in range(size):
        value = signed_value(x, j * step)
        if element is double:
            s = two_sum(hi[j], value)
            hi[j] = s.hi
            lo[j] += s.lo
        else:
            hi[j] += value
        if fabs(value) < INFINITY and fabs(value) > most:
            most = fabs(value)
        if sign_of(value):
            negative = True
        else:
            positive = True
    found.most = most
    found.negative = negative
    found.positive = positive


cdef extremes fold_rows(
    const element* x, const problem* p, const bundle* rows, Py_ssize_t size, double* hi, double* lo
) noexcept nogil:
    """Add all rows, the last but one axis being the slowest, and that one rotated where ``rows`` says so."""
    cdef Py_ssize_t at[AXES]
    cdef Py_ssize_t step = p.strides[p.ndim - 1], offset, k, i, lead = p.ndim - 2
    cdef extremes found
    cdef int a
    found.most = 0.0
    found.negative = found.positive = False
    if rows.empty:
        return found
    if lead < 0:
        fold_strided(x, step, size, hi, lo, &found)
        return found
    for a in range(p.ndim):
        at[a] = 0
    for k in range(rows.spans[lead].taps):
        i = (k + 1) % rows.spans[lead].taps if rows.rotated else k
        while True:
            offset = (rows.spans[lead].position + i * p.axes[lead].dilation) * p.strides[lead]
            for a in range(lead):
                offset += (rows.spans[a].position + at[a] * p.axes[a].dilation) * p.strides[a]
            fold_strided(x + offset, step, size, hi, lo, &found)
            a = <int>lead - 1
            while a >= 0:
                at[a] += 1
                if at[a] < rows.spans[a].taps:
                    break
                at[a] = 0
                a -= 1
            if a < 0:
                break
    return found


cdef inline Py_ssize_t reach_of(const axis* last, Py_ssize_t count) noexcept nogil:
    """Return how many columns ``count`` windows reach over."""
    return ((count - 1) * last.stride if count > 1 else 0) + ((last.taps - 1) * last.dilation if last.taps > 1 else 0) + 1


cdef void clear_sums(
    const problem* p, double inner, double outer, Py_ssize_t start, Py_ssize_t first, Py_ssize_t end, double* hi, double* lo
) noexcept nogil:
    """Set sums of columns to zero: +0.0 where padding counts, else -0.0, which adds nothing at all."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t j
    cdef bint padding
    for j in range(first, end):
        padding = (
            p.padding and last.first <= start + j < last.padded and outer > 0.0
            and (outer > inner or not 0 <= start + j < last.size)
        )
        hi[j] = 0.0 if padding else -0.0
        lo[j] = 0.0


cdef bint extremes_of_bits(const element* x, Py_ssize_t size, extremes* found) noexcept nogil:
    """Widen ``found`` by a contiguous row; by bits, as these loops make vectors. Return whether all magnitudes are finite."""
    cdef const long long* longs = <const long long*>x
    cdef long long most = 0, any_of = 0, all_of = -1
    cdef int largest = -1 - 0x7fffffff
    cdef unsigned int largest_unsigned = 0
    cdef double large = 0.0
    cdef float large_float
    cdef unsigned short large_short
    cdef Py_ssize_t j
    if size == 0:
        return True
    if element is double:
        for j in range(size):
            any_of |= longs[j]
            all_of &= longs[j]
            most = max(most, longs[j] & <long long>0x7fffffffffffffff)
        memcpy(&large, &most, sizeof(double))
        found.negative = found.negative or any_of < 0
        found.positive = found.positive or all_of >= 0
    elif element is float:
        largest_bits(<const int*>x, size, &largest, &largest_unsigned)
        if largest >= 0:
            found.positive = True
            memcpy(&large_float, &largest, sizeof(float))
            large = large_float
        if largest_unsigned >> 31:
            found.negative = True
            largest_unsigned = largest_unsigned & 0x7fffffff
            memcpy(&large_float, &largest_unsigned, sizeof(float))
            large = large_float if large_float != large_float or large_float > large else large
    else:
        largest_bits_16(<const short*>x, size, &largest, &largest_unsigned)
        if largest >= 0:
            found.positive = True
            large_short = <unsigned short>largest
            large = signed_value(<const element*>&large_short, 0)
        if largest_unsigned >> 15:
            found.negative = True
            large_short = largest_unsigned & 0x7fff
            large = max(large, signed_value(<const element*>&large_short, 0)) if large == large else large
            if signed_value(<const element*>&large_short, 0) != signed_value(<const element*>&large_short, 0):
                large = NAN
    if not isfinite(large):
        return False
    found.most = max(found.most, large)
    return True


cdef void find_extremes(const element* x, Py_ssize_t size, extremes* found) noexcept nogil:
    """Widen ``found`` by a contiguous row."""
    cdef Py_ssize_t j
    if not extremes_of_bits(x, size, found):
        for j in range(size):
            if isfinite(signed_value(x, j)):
                found.most = max(found.most, fabs(signed_value(x, j)))


cdef extremes of_plane(const element* x, const problem* p, scratch* s) noexcept nogil:
    """Return the extremes of a small plane, which is looked at once."""
    cdef walk w
    cdef Py_ssize_t size = 1
    cdef int a = p.ndim - 1
    cdef bint contiguous = True
    if s.plane.start == <const void*>x:
        return s.plane.found
    s.plane.start = <const void*>x
    s.plane.found.most = 0.0
    s.plane.found.negative = s.plane.found.positive = False
    while a >= 0:
        contiguous = contiguous and p.strides[a] == size
        size *= p.axes[a].size
        w.spans[a].taps = p.axes[a].size
        w.steps[a] = p.strides[a]
        w.at[a] = 0
        a -= 1
    if size and contiguous:
        find_extremes(x, size, &s.plane.found)
    elif size:
        w.ndim = p.ndim
        w.offset = 0
        while True:
            fold_strided(x + w.offset, 1, 1, s.total, s.columns, &s.plane.found)
            if not next_element(&w):
                break
        s.block = -1  # s.columns was used
    return s.plane.found


cdef void widen(scratch* s, const element* x, Py_ssize_t size, extremes* found) noexcept nogil:
    """Widen ``found`` by a row, each of which is looked at once."""
    cdef known* row = &s.rows[(<size_t>x // 64) % FOLDED]
    if row.start != <const void*>x or row.size != size:
        row.start = <const void*>x
        row.size = size
        row.found.most = 0.0
        row.found.negative = row.found.positive = False
        find_extremes(x, size, &row.found)
    found.most = max(found.most, row.found.most)
    found.negative = found.negative or row.found.negative
    found.positive = found.positive or row.found.positive


cdef inline void add(vector x, vector* hi, vector* lo, const element* unused) noexcept nogil:
    """Add to sums; those of doubles with the error."""
    cdef vector total = hi[0] + x
    cdef vector part
    if element is double:
        part = total - hi[0]
        lo[0] = lo[0] + ((hi[0] - (total - part)) + (x - part))
    hi[0] = total


cdef inline vector some_of(const element* x, bint all, Py_ssize_t left) noexcept nogil:
    """Load a vector, or what is left of one."""
    return load(x) if all else load_part(x, <int>left)


cdef inline void fold_vector(
    const element* x, const Py_ssize_t* rows, Py_ssize_t common, const Py_ssize_t* first, const Py_ssize_t* second, bint all,
    Py_ssize_t left, bint two, double* hi, double* lo, double* next_hi, double* next_lo,
) noexcept nogil:
    """A vector of ``fold``."""
    cdef vector a = some_of(x + rows[0], all, left), b = splat(0.0), c, d
    cdef Py_ssize_t k
    for k in range(1, common):
        add(some_of(x + rows[k], all, left), &a, &b, x)
    if two:
        c = a
        d = b
        if second != NULL:
            add(some_of(x + second[0], all, left), &c, &d, x)
        put(next_hi, c)
        if element is double:
            put(next_lo, d)
    if first != NULL:
        add(some_of(x + first[0], all, left), &a, &b, x)
    put(hi, a)
    if element is double:
        put(lo, b)


cdef inline void fold(
    const element* x, const Py_ssize_t* rows, Py_ssize_t common, const Py_ssize_t* first, const Py_ssize_t* second, Py_ssize_t size,
    bint two, scratch* s, Py_ssize_t at,
) noexcept nogil:
    """Sum rows, at least one, column by column. With ``two`` the sums of the common ones go on with ``first`` for one row of outputs, and
    with ``second`` for the next; either may be NULL."""
    cdef Py_ssize_t j = 0
    while j + WIDTH <= size:
        fold_vector(
            x + j, rows, common, first, second, True, 0, two, s.hi[0] + at + j, s.lo[0] + at + j, s.hi[1] + at + j, s.lo[1] + at + j
        )
        j += WIDTH
    if j < size:
        fold_vector(
            x + j, rows, common, first, second, False, size - j, two, s.hi[0] + at + j, s.lo[0] + at + j, s.hi[1] + at + j,
            s.lo[1] + at + j,
        )


cdef void fold_ways(
    const element* x, const Py_ssize_t* rows, Py_ssize_t common, const Py_ssize_t* first, const Py_ssize_t* second, Py_ssize_t size,
    bint two, scratch* s, Py_ssize_t at,
) noexcept nogil:
    """``fold``, with loops of their own for the common numbers of rows."""
    if two:
        if common == 2 and first != NULL and second != NULL:
            fold(x, rows, 2, first, second, size, True, s, at)
        else:
            fold(x, rows, common, first, second, size, True, s, at)
    elif common == 3:
        fold(x, rows, 3, <const Py_ssize_t*>NULL, <const Py_ssize_t*>NULL, size, False, s, at)
    elif common == 2:
        fold(x, rows, 2, <const Py_ssize_t*>NULL, <const Py_ssize_t*>NULL, size, False, s, at)
    else:
        fold(x, rows, common, <const Py_ssize_t*>NULL, <const Py_ssize_t*>NULL, size, False, s, at)


cdef inline vector tap(const double* x, int stride, Py_ssize_t at) noexcept nogil:
    """Load a vector of every ``stride``-th number, 1 or 2, from place ``at`` on."""
    return load_double(x + at) if stride == 1 else every_other(x + (at - at % 2), <int>(at % 2))


cdef inline void store_means(element* y, vector mean, Py_ssize_t some) noexcept nogil:
    """Store the first ``some`` of a vector of means."""
    cdef double each[WIDTH]
    cdef Py_ssize_t i
    if element is float:
        store_floats(<float*>y, mean, <int>some)
        return
    if element is double:
        if some == WIDTH:
            put(<double*>y, mean)
            return
    elif some == WIDTH and store_16(<unsigned short*>y, mean, 10 if element is float16 else 7, 15 if element is float16 else 127):
        return
    put(each, mean)
    for i in range(some):
        store_signed(y + i, each[i])


cdef inline bint sum_columns(
    const double* high, const double* low, Py_ssize_t count, Py_ssize_t taps, Py_ssize_t dilation, int stride, Py_ssize_t shift,
    double least, const double* divisor, double* totals, bint spill, element* y,
) noexcept nogil:
    """Write the means of a row of outputs, and, if asked for, their sums; return whether all sums are finite and as large as needed.
    With ``spill`` the last vector may be written whole."""
    cdef Py_ssize_t o = 0, k
    cdef vector hi, lo, total, mean, q, head, low_most = splat(INFINITY), odd = splat(0.0)
    cdef vector tiny = splat(5e-324)
    while o < count:
        hi = tap(high + o * stride, stride, shift)
        lo = tap(low + o * stride, stride, shift) if element is double else splat(0.0)
        for k in range(1, taps):
            if element is double:
                lo = lo + tap(low + o * stride, stride, shift + k * dilation)
            add(tap(high + o * stride, stride, shift + k * dilation), &hi, &lo, y)
        head = load_double(divisor + o)
        if element is double:
            total = between(lo, -tiny, tiny, hi, hi + lo)
            q = hi / head
            mean = upper(q)
            mean = q + (((hi - mean * head) - (q - mean) * head) + lo) / head
            mean = between(total, -tiny, tiny, total / head, mean)
        else:
            total = hi
            mean = hi * head
        if totals != NULL:
            put(totals + o, total)
        low_most = smaller(absolute(total), low_most)
        odd = finite_so_far(odd, total)
        store_means(y + o, mean, WIDTH if spill else min(<Py_ssize_t>WIDTH, count - o))
        o += WIDTH
    return all_reach(low_most, odd, least)


cdef bint sum_ways(
    const double* high, const double* low, Py_ssize_t count, Py_ssize_t taps, Py_ssize_t dilation, int stride, Py_ssize_t shift,
    double least, const double* divisor, double* totals, bint spill, element* y,
) noexcept nogil:
    """``sum_columns``, with loops of their own for the common windows."""
    if stride == 1:
        if taps == 3 and dilation == 1:
            return sum_columns(high, low, count, 3, 1, 1, 0, least, divisor, totals, spill, y)
        return sum_columns(high, low, count, taps, dilation, 1, 0, least, divisor, totals, spill, y)
    if taps == 3 and dilation == 1 and shift == 1:
        return sum_columns(high, low, count, 3, 1, 2, 1, least, divisor, totals, spill, y)
    if taps == 2 and dilation == 1 and shift == 0:
        return sum_columns(high, low, count, 2, 1, 2, 0, least, divisor, totals, spill, y)
    return sum_columns(high, low, count, taps, dilation, 2, shift, least, divisor, totals, spill, y)


cdef const double* divisors_of(
    const problem* p, double rows, Py_ssize_t first, Py_ssize_t count, scratch* s, const element* unused
) noexcept nogil:
    """Return the divisors of a block of outputs, from the table of those made last."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef divisors* made
    cdef double divisor
    cdef Py_ssize_t o
    cdef int t
    if s.block != first:
        s.block = first
        for t in range(TABLES):
            s.tables[t].rows = -1.0
        for o in range(count):
            s.columns[o] = padded_taps(last, first + o) if p.padding else inside(last, first + o).taps
    for t in range(TABLES):
        if s.tables[t].rows == rows:
            return s.tables[t].each
    made = &s.tables[s.next_table]
    s.next_table = (s.next_table + 1) % TABLES
    made.rows = rows
    for o in range(count):
        divisor = rows * s.columns[o]
        if divisor == 0.0:
            divisor = NAN
        made.each[o] = divisor if element is double else 1.0 / divisor
    for o in range(count, min(count + 16, <Py_ssize_t>TABLE)):
        made.each[o] = 1.0
    return made.each


cdef void sum_side_by_side(
    const element* x, const problem* p, const bundle* rows, const Py_ssize_t* columns, int lanes, element* y, Py_ssize_t origin
) noexcept nogil:
    """The means of some windows of a row that lie inside the plane along it, as ``exact_mean`` has them."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t step = p.strides[p.ndim - 1], k
    cdef const element* starts[TOGETHER]
    cdef double values[TOGETHER]
    cdef double count = rows.inner * last.taps, outer, mean
    cdef bint both, right
    cdef careful all_sums
    cdef careful* sums = &all_sums
    cdef walk w
    cdef int a, i
    w.ndim = p.ndim - 1
    w.offset = 0
    for a in range(w.ndim):
        w.spans[a] = rows.spans[a]
        w.steps[a] = p.axes[a].dilation * p.strides[a] if w.spans[a].taps > 1 else 0
        w.offset += w.spans[a].position * p.strides[a]
        w.at[a] = 0
    for i in range(TOGETHER):
        starts[i] = x + start_of(last, columns[min(i, lanes - 1)]) * step
    begin_careful(sums)
    step = last.dilation * step if last.taps > 1 else 0
    while True:
        for k in range(last.taps):
            for i in range(TOGETHER):
                values[i] = signed_value(starts[i], w.offset + k * step)
            add_careful(sums, values)
        if not next_element(&w):
            break
    outer = count
    for i in range(lanes):
        if p.padding:
            outer = rows.outer * padded_taps(last, columns[i])
        both = sums.any_of[i] < 0 and sums.all_of[i] >= 0
        if both:
            right = fabs(sums.hi[i] + sums.lo[i]) >= count * count * count * sums.most[i] * 1.1102230246251565e-16  # 2^-53
        else:
            right = count <= 33554432.0  # 2^25
        if sums.most[i] == 0.0:
            mean = 0.0 if sums.all_of[i] >= 0 or (p.padding and outer > count) else -0.0
        elif sums.most[i] < p.largest and (right or sums.errors[i] == 0.0):
            if element is double:
                mean = quotient(sums.hi[i], sums.lo[i], outer if p.padding else count)
            else:
                mean = (sums.hi[i] + sums.lo[i] if sums.lo[i] != 0.0 else sums.hi[i]) * (1.0 / (outer if p.padding else count))
        else:
            mean = exact_mean(x, p, rows, columns[i])
        store_signed(y + (columns[i] - origin), mean)


cdef void sum_again(
    const element* x, const problem* p, Py_ssize_t row, double least, Py_ssize_t first, Py_ssize_t count, scratch* s, element* y
) noexcept nogil:
    """Sum those of a block of outputs again whose sums, in ``s.total``, may be wrong."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t columns[TOGETHER]
    cdef Py_ssize_t o, start, reach = reach_of(last, 1)
    cdef int waiting = 0, failed = 0, k
    cdef int failing[BLOCK + 1]
    cdef bundle rows
    set_rows(&rows, p, row)
    for o in range(count):
        failing[failed] = <int>o
        failed += not least <= fabs(s.total[o]) < INFINITY
    for k in range(failed):
        o = failing[k]
        start = start_of(last, first + o)
        if element is not double and not isfinite(s.total[o]) and not rows.empty:
            store_signed(y + o, s.total[o])  # of finite elements no sum overflows
        elif isfinite(s.total[o]) and not rows.empty and start >= 0 and start <= last.size - reach:
            columns[waiting] = first + o
            waiting += 1
            if waiting == TOGETHER:
                sum_side_by_side(x, p, &rows, columns, waiting, y, first)
                waiting = 0
        else:
            store_signed(y + o, exact_mean(x, p, &rows, first + o))
    if waiting:
        sum_side_by_side(x, p, &rows, columns, waiting, y, first)


cdef void finish(
    const element* x, const problem* p, Py_ssize_t row, double inner, double outer, extremes found, Py_ssize_t first, Py_ssize_t count,
    int which, scratch* s, element* y
) noexcept nogil:
    """Write a block of a row of outputs, whose sums of columns are there; those that may be wrong are summed again."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t taps = last.taps, dilation = last.dilation if taps > 1 else 0, stride = last.stride if last.count > 1 else 1
    cdef Py_ssize_t o, k, size = reach_of(last, count)
    cdef const double* divisor = divisors_of(p, outer if p.padding else inner, first, count, s, x)
    cdef const double* high = s.hi[which]
    cdef const double* low = s.lo[which]
    cdef double hi, lo, least = p.limit * found.most if found.negative and found.positive else -1.0
    cdef pair sum
    if found.most >= p.largest:
        least = NAN
    if stride <= 2:
        # what fills up the last vector takes at least one of these, and so passes the test
        for k in range(2 * WIDTH):
            s.hi[which][size + k] = 1e200
            s.lo[which][size + k] = 0.0
        if sum_ways(high, low, count, taps, dilation, <int>stride, 0, least, divisor, s.total, False, y):
            return
    else:
        for o in range(count):
            hi = high[o * stride]
            lo = low[o * stride] if element is double else 0.0
            for k in range(1, taps):
                if element is double:
                    lo += low[o * stride + k * dilation]
                    sum = two_sum(hi, high[o * stride + k * dilation])
                    hi = sum.hi
                    lo += sum.lo
                else:
                    hi += high[o * stride + k * dilation]
            s.total[o] = hi + lo if element is double and lo != 0.0 else hi
            if element is double:
                store_signed(y + o, quotient(hi, lo, divisor[o]) if s.total[o] != 0.0 else s.total[o] / divisor[o])
            else:
                store_signed(y + o, hi * divisor[o])
    sum_again(x, p, row, least, first, count, s, y)


cdef void any_row(
    const element* x, const problem* p, Py_ssize_t row, Py_ssize_t first, Py_ssize_t count, scratch* s, element* y
) noexcept nogil:
    """A block of a row of outputs, of rows in any number and anywhere."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t start = start_of(last, first), size = reach_of(last, count)
    cdef Py_ssize_t left = max(0, -start), right = min(size, last.size - start)
    cdef bundle rows
    cdef extremes found, seen
    set_rows(&rows, p, row)
    clear_sums(p, rows.inner, rows.outer, start, 0, size, s.hi[0], s.lo[0])
    found.most = 0.0
    found.negative = found.positive = False
    if p.small and p.limit > 0.0:
        seen = of_plane(x, p, s)
    if left < right:
        found = fold_rows(x + (start + left) * p.strides[p.ndim - 1], p, &rows, right - left, s.hi[0] + left, s.lo[0] + left)
    finish(x, p, row, rows.inner, rows.outer, seen if p.small and p.limit > 0.0 else found, first, count, 0, s, y)


cdef void plain_rows(
    const element* x, const problem* p, Py_ssize_t row, bint two, Py_ssize_t first, Py_ssize_t count, scratch* s, element* y
) noexcept nogil:
    """A block of a row of outputs, or of two that share rows; rows are contiguous."""
    cdef const axis* last = &p.axes[p.ndim - 1]
    cdef Py_ssize_t start = start_of(last, first), size = reach_of(last, count)
    cdef Py_ssize_t left = max(0, -start), right = min(size, last.size - start), k
    cdef const row_entry* entry = &p.entries[row]
    cdef const Py_ssize_t* rows = p.offsets + entry.first
    cdef const Py_ssize_t* next_rows = p.offsets + entry[1].first if two else rows
    cdef const element* source = x + start + left
    cdef extremes found[2]
    cdef int which
    found[0].most = 0.0
    found[0].negative = found[0].positive = False
    if p.small and p.limit > 0.0:
        found[0] = of_plane(x, p, s)
    found[1] = found[0]
    if left < right and entry.count:
        if two:
            fold_ways(
                source, rows, entry.common, rows + entry.common if entry.count > entry.common else NULL,
                next_rows + entry.common if entry[1].count > entry.common else NULL, right - left, True, s, left,
            )
        else:
            fold_ways(
                source, rows, entry.count, <const Py_ssize_t*>NULL, <const Py_ssize_t*>NULL, right - left, False, s, left
            )
    else:
        right = left = 0  # there are no elements, so all sums are cleared
    for which in range(2 if two else 1):
        if right and p.limit > 0.0 and not p.small:
            for k in range(entry[which].count):
                widen(s, source + p.offsets[entry[which].first + k], right - left, &found[which])
        if right and p.padding and entry[which].outer > entry[which].inner:
            for k in range(left, right):
                s.hi[which][k] += 0.0
        clear_sums(p, entry[which].inner, entry[which].outer, start, 0, left, s.hi[which], s.lo[which])
        clear_sums(p, entry[which].inner, entry[which].outer, start, right, size, s.hi[which], s.lo[which])
        finish(x, p, row + which, entry[which].inner, entry[which].outer, found[which], first, count, which, s, y + which * p.columns)


include "windows_mean.pxi"


# --- windows that are planes -------------------------------------------------------------------------------------------------------------

# Element i of a chunk belongs to lane i % LANES; lanes are added as a tree, chunks in their order. The test is against the sum of
# magnitudes.

# The lanes of some chunks, or their sums.
cdef struct lanes:
    double hi[GROUP * DOWN]
    double lo[GROUP * DOWN]
    double magnitude[GROUP * DOWN]


cdef inline void lanes_of(const element* x, Py_ssize_t size, double* hi_down, double* lo_down, double* magnitude_down) noexcept nogil:
    """The lanes of a chunk, the upper half added to the lower."""
    cdef vector hi[VECTORS]
    cdef vector lo[VECTORS]
    cdef vector magnitude[VECTORS]
    cdef vector a
    cdef Py_ssize_t i = 0
    cdef int v
    for v in range(VECTORS):
        hi[v] = lo[v] = magnitude[v] = splat(0.0)
    while i + LANES <= size:
        for v in range(VECTORS):
            a = load(x + i + v * WIDTH)
            add(a, &hi[v], &lo[v], x)
            magnitude[v] = magnitude[v] + absolute(a)
        i += LANES
    for v in range(VECTORS):
        if i < size:
            a = some_of(x + i, i + WIDTH <= size, size - i)
            add(a, &hi[v], &lo[v], x)
            magnitude[v] = magnitude[v] + absolute(a)
        i += WIDTH
    for v in range(VECTORS // 2):
        add(hi[v + VECTORS // 2], &hi[v], &lo[v], x)
        put(hi_down + v * WIDTH, hi[v])
        put(magnitude_down + v * WIDTH, magnitude[v] + magnitude[v + VECTORS // 2])
        if element is double:
            put(lo_down + v * WIDTH, lo[v] + lo[v + VECTORS // 2])


cdef inline void halve(double* sums, Py_ssize_t count) noexcept nogil:
    """Add neighbours: 2 * count numbers become count, in place."""
    cdef Py_ssize_t j = 0
    while j < count:
        put(sums + j, every_other(sums + 2 * j, 0) + every_other(sums + 2 * j, 1))
        j += WIDTH


cdef void add_lanes(lanes* all, Py_ssize_t chunks, const element* unused) noexcept nogil:
    """Add the lanes of each chunk, as a tree."""
    cdef Py_ssize_t count = chunks * DOWN, j
    cdef vector hi, lo
    while count > chunks:
        count //= 2
        halve(all.magnitude, count)
        if element is double:
            j = 0
            while j < count:
                hi = every_other(all.hi + 2 * j, 0)
                lo = every_other(all.lo + 2 * j, 0) + every_other(all.lo + 2 * j, 1)
                add(every_other(all.hi + 2 * j, 1), &hi, &lo, unused)
                put(all.hi + j, hi)
                put(all.lo + j, lo)
                j += WIDTH
        else:
            halve(all.hi, count)


cdef void whole_mean(
    const element* x, const problem* p, double hi, double lo, double magnitude, double divisor, bint padded, element* y
) noexcept nogil:
    """Write the mean of a plane from its sum and that of its magnitudes, or by itself where that may be wrong."""
    cdef double sum = hi + lo if element is double and lo != 0.0 else hi
    cdef walk w
    cdef bundle rows
    cdef int a
    if magnitude == 0.0:
        set_rows(&rows, p, 0)
        w.ndim = p.ndim
        w.offset = 0
        for a in range(p.ndim):
            w.spans[a].taps = p.axes[a].size
            w.steps[a] = p.strides[a]
            w.at[a] = 0
        sum = 0.0 if padded else -0.0
        while sign_of(sum):
            if not sign_of(signed_value(x, w.offset)):
                sum = 0.0
            elif not next_element(&w):
                break
        store_signed(y, sum)
    elif not p.limit * magnitude <= fabs(sum) < INFINITY or (element is double and magnitude >= 8.98846567431158e307):
        set_rows(&rows, p, 0)
        store_signed(y, exact_mean(x, p, &rows, 0))
    elif element is double:
        store_signed(y, quotient(hi, lo, divisor))
    else:
        store_signed(y, sum * (1.0 / divisor))


cdef void copy_chunk(const element* x, const problem* p, Py_ssize_t start, Py_ssize_t size, element* buffer) noexcept nogil:
    """Copy elements start ... start + size of a plane."""
    cdef Py_ssize_t inner = p.axes[p.ndim - 1].size, step = p.strides[p.ndim - 1], done = 0, run, rest, offset, i
    cdef int a
    while done < size:
        rest = (start + done) // inner
        offset = (start + done) % inner
        run = min(inner - offset, size - done)
        offset *= step
        a = p.ndim - 2
        while a >= 0:
            offset += rest % p.axes[a].size * p.strides[a]
            rest //= p.axes[a].size
            a -= 1
        for i in range(run):
            buffer[done + i] = x[offset + i * step]
        done += run


cdef void whole_planes(
    const element* x, const problem* p, Py_ssize_t plane, Py_ssize_t last, scratch* s, element* y
) noexcept nogil:
    """The means of planes from ``plane`` to ``last``."""
    cdef lanes all
    cdef Py_ssize_t count, k, start, size = 1, part
    cdef const element* starts[GROUP]
    cdef const element* source
    cdef element* buffer = <element*>s.hi[0]
    cdef double hi[GROUP]
    cdef double lo[GROUP]
    cdef double magnitude[GROUP]
    cdef double divisor = 1.0, inner = 1.0, once
    cdef pair sum
    cdef bint contiguous = True, padded
    cdef int a = p.ndim - 1
    while a >= 0:
        contiguous = contiguous and p.strides[a] == size
        size *= p.axes[a].size
        divisor *= padded_taps(&p.axes[a], 0)
        inner *= p.axes[a].size
        a -= 1
    padded = p.padding and divisor > inner
    if not p.padding:
        divisor = inner
    once = 1.0 / divisor
    while plane < last:
        count = min(<Py_ssize_t>GROUP, last - plane)
        for k in range(count):
            starts[k] = x + plane_offset(p, plane + k)
            hi[k] = lo[k] = magnitude[k] = 0.0
        start = 0
        while start < size:
            part = min(<Py_ssize_t>CHUNK, size - start)
            for k in range(count):
                source = starts[k] + start
                if not contiguous:
                    copy_chunk(starts[k], p, start, part, buffer)
                    source = <const element*>buffer
                lanes_of(source, part, all.hi + k * DOWN, all.lo + k * DOWN, all.magnitude + k * DOWN)
            add_lanes(&all, count, x)
            for k in range(count):
                sum = two_sum(hi[k], all.hi[k])
                hi[k] = sum.hi
                lo[k] += sum.lo + (all.lo[k] if element is double else 0.0)
                magnitude[k] += all.magnitude[k]
            start += CHUNK
        for k in range(count):
            if element is not double:
                hi[k] += lo[k]
            if element is not double and 0.0 < p.limit * magnitude[k] <= fabs(hi[k]) < INFINITY:
                store_signed(y + plane + k, hi[k] * once)
            else:
                whole_mean(starts[k], p, hi[k], lo[k], magnitude[k], divisor, padded, y + plane + k)
        plane += count


cdef bint is_whole(const axis* along) noexcept nogil:
    """Whether the only window along an axis holds all of it."""
    cdef span s
    if along.count != 1 or along.size == 0:
        return False
    s = inside(along, 0)
    return s.taps == along.size


# --- planes ------------------------------------------------------------------------------------------------------------------------------


cdef inline void begin_work(scratch* s) noexcept nogil:
    """Forget what another call left behind."""
    s.block = s.flat_block = -1
    s.next_table = 0


cdef void some_rows(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t last, scratch* s, element* y
) noexcept nogil:
    """Do the units of work from ``unit`` to ``last``: rows of outputs, the next block of columns, the next plane."""
    cdef const element* plane
    cdef Py_ssize_t row, block, n, first, count, o, done
    cdef element* out
    cdef bundle rows
    cdef bint two
    s.plane.start = NULL
    for o in range(FOLDED):
        s.rows[o].start = NULL
    while unit < last:
        row = unit % p.rows
        block = unit // p.rows % p.blocks
        n = unit // p.rows // p.blocks
        plane = x + n // p.channels * p.stride_n + n % p.channels * p.stride_c
        out = y + (n * p.rows + row) * p.columns
        first = block * (p.block or BLOCK)
        count = min(p.block or BLOCK, p.columns - first)
        two = False
        if p.together:
            done = many_rows(x, p, unit, last, s, y)
            if done:
                unit += done
                continue
        if p.entries != NULL:
            two = p.entries[row].common > 0 and unit + 1 < last
            plain_rows(plane, p, row, two, first, count, s, out + first)
        elif p.block:
            any_row(plane, p, row, first, count, s, out + first)
        else:
            set_rows(&rows, p, row)
            for o in range(first, first + count):
                store_signed(out + o, exact_mean(plane, p, &rows, o))
        unit += 2 if two else 1


cdef void part_of_work(
    const element* x, const problem* p, Py_ssize_t unit, Py_ssize_t last, scratch* s, element* y
) noexcept nogil:
    """Do planes, or rows of outputs, from ``unit`` to ``last``."""
    if p.whole:
        whole_planes(x, p, unit, last, s, y)
    else:
        begin_work(s)
        some_rows(x, p, unit, last, s, y)


include "gathered_planes.pxi"


cdef Py_ssize_t list_rows(const problem* p, Py_ssize_t row, row_entry* entry, Py_ssize_t* offsets) noexcept nogil:
    """List the rows that a row of outputs sums, the last but one axis being the slowest, and rotated where that is the order."""
    cdef Py_ssize_t at[AXES]
    cdef Py_ssize_t k, i, lead = p.ndim - 2, count = 0
    cdef bundle rows
    cdef int a
    set_rows(&rows, p, row)
    entry.inner = rows.inner
    entry.outer = rows.outer
    entry.common = 0
    if not rows.empty and lead < 0:
        offsets[0] = 0
        count = 1
    elif not rows.empty:
        for a in range(p.ndim):
            at[a] = 0
        for k in range(rows.spans[lead].taps):
            i = (k + 1) % rows.spans[lead].taps if rows.rotated else k
            while True:
                offsets[count] = (rows.spans[lead].position + i * p.axes[lead].dilation) * p.strides[lead]
                for a in range(lead):
                    offsets[count] += (rows.spans[a].position + at[a] * p.axes[a].dilation) * p.strides[a]
                count += 1
                a = <int>lead - 1
                while a >= 0:
                    at[a] += 1
                    if at[a] < rows.spans[a].taps:
                        break
                    at[a] = 0
                    a -= 1
                if a < 0:
                    break
    entry.count = count
    return count


cdef void list_all(const problem* p, row_entry* entries, Py_ssize_t* offsets) noexcept nogil:
    """List the rows of all rows of outputs, and say which neighbours share all but one."""
    cdef Py_ssize_t row, used = 0, k, least, along = p.axes[p.ndim - 2].count if p.ndim > 1 else 1
    for row in range(p.rows):
        entries[row].first = used
        used += list_rows(p, row, &entries[row], offsets + used)
    for row in range(p.rows - 1):
        if row % along % 2 or row % along + 1 == along:
            continue
        k = 0
        least = min(entries[row].count, entries[row + 1].count)
        while k < least and offsets[entries[row].first + k] == offsets[entries[row + 1].first + k]:
            k += 1
        if k + 1 >= max(entries[row].count, entries[row + 1].count):
            entries[row].common = k


cdef inline double fewer(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return <double>min(a, b)


cdef inline double rows_in_window(const problem* p) noexcept nogil:
    """Return how many rows a window has at most."""
    cdef double rows = 1.0
    cdef int a
    for a in range(p.ndim - 1):
        rows *= fewer(p.axes[a].taps, p.axes[a].size)
    return rows


cdef void plan(problem* p, const axis* axes, int ndim, bint padding, double unit, bint paired, bint exact) noexcept nogil:
    """Say how to sum, from axes alone; ``exact`` for a type whose sums of 2^13 elements are."""
    cdef const axis* last = &axes[ndim - 1]
    cdef double rows = 1.0, columns = fewer(last.taps, last.size), roundings, elements
    cdef Py_ssize_t reach, stride = last.stride if last.count > 1 else 1
    cdef int a
    p.axes = axes
    p.ndim = ndim
    p.padding = padding
    p.paired = paired
    p.rows = 1
    for a in range(ndim - 1):
        p.rows *= axes[a].count
        rows *= fewer(axes[a].taps, axes[a].size)
    p.columns = last.count
    p.block = 0
    roundings = rows + 2.0 * columns
    if last.taps <= SPAN and last.dilation <= SPAN or last.taps == 1:
        reach = (last.taps - 1) * last.dilation + 1 if last.taps > 1 else 1
        if reach <= SPAN and stride <= 8 * reach and roundings <= LONGEST:
            p.block = min(<Py_ssize_t>BLOCK, (SPAN - reach) // stride + 1)
    p.blocks = (p.columns + (p.block or BLOCK) - 1) // (p.block or BLOCK)
    elements = 1.0
    for a in range(ndim):
        elements *= axes[a].size
    p.whole = True
    for a in range(ndim):
        p.whole = p.whole and is_whole(&axes[a])
    p.largest = 8.98846567431158e307 / (2.0 * rows * columns + 2.0) if paired else INFINITY
    if p.whole:
        roundings = min(elements, <double>CHUNK) / LANES + 8.0 + (elements / CHUNK if paired else 0.0)
        p.limit = (roundings * roundings if paired else roundings) * unit
        return
    p.small = p.block and p.blocks <= 1 and elements <= SMALL
    p.limit = (roundings * roundings if paired else roundings) * rows * columns * unit
    if exact and rows * columns <= 8192.0:
        p.limit = 0.0


def window_mean(
    const element[:, :] x, const Py_ssize_t[::1] strides, const Py_ssize_t[:, ::1] axes, element[::1] y,
    bint include_padding, int threads,
):
    """Write the means of all windows to y, in row-major order of (n, c, windows).

    A mean is the sum of the elements inside by their number, or, if padding is included, by the number of
    positions inside the padded plane; NaN where that number is 0. ``x`` holds the first element of each
    plane, ``strides`` (in elements) the way from there along each axis, ``axes`` a row of seven numbers an
    axis (windows.pxd). If a size is 0, x is not read.
    """
    cdef problem p
    cdef scratch* s
    cdef Py_ssize_t units, part, parts = threads, outputs
    cdef int ndim = <int>axes.shape[0]
    cdef const element* start
    cdef row_entry* entries = NULL
    cdef Py_ssize_t* offsets = NULL
    cdef double listed
    cdef element* out
    cdef element* copies = NULL
    cdef problem dense
    cdef gathering g
    if not (ndim > 0 and axes.shape[1] == 7 and strides.shape[0] == ndim and threads > 0 and sound(<const axis*>&axes[0, 0], ndim)):
        raise ValueError("window_mean: axes, strides or threads out of range")
    plan(
        &p, <const axis*>&axes[0, 0], ndim, include_padding, 1.1102230246251565e-16 if element is double else 7.450580596923828e-09,
        element is double, element is float16,
    )
    p.strides = &strides[0]
    p.channels = x.shape[1]
    p.stride_n = x.strides[0] // <Py_ssize_t>sizeof(element)
    p.stride_c = x.strides[1] // <Py_ssize_t>sizeof(element)
    units = x.shape[0] * x.shape[1] * p.rows * p.blocks
    outputs = x.shape[0] * x.shape[1] * p.rows * p.columns
    if y.shape[0] != outputs:
        raise ValueError("window_mean: the output has another size")
    if outputs == 0:
        return
    if p.whole:
        units = outputs
    plan_gathering(&p, sizeof(element), x.shape[0], &g)
    if g.tile:
        units = g.items
    parts = min(<Py_ssize_t>threads, units)
    s = <scratch*>malloc(parts * sizeof(scratch))
    dense = p
    if g.tile:
        p.strides = g.strides
        copies = <element*>malloc(parts * g.size * sizeof(element))
        if copies == NULL:
            free(s)
            raise MemoryError("no room for the kernel's scratch memory")
    p.entries = NULL
    p.together = 0
    listed = rows_in_window(&p)
    if not p.whole and p.block and p.strides[ndim - 1] == 1 and listed <= FOLDED and <double>p.rows * listed <= LISTED:
        entries = <row_entry*>malloc(p.rows * sizeof(row_entry))
        offsets = <Py_ssize_t*>malloc((p.rows * <Py_ssize_t>listed + 1) * sizeof(Py_ssize_t))
        if entries == NULL or offsets == NULL:
            free(s)
            s = NULL
        else:
            list_all(&p, entries, offsets)
            p.entries = entries
            p.offsets = offsets
            plan_together(&p)
    if s == NULL:
        free(copies)
        free(entries)
        free(offsets)
        raise MemoryError("no room for the kernel's scratch memory")
    start = &x[0, 0]
    out = &y[0]
    with nogil:
        if g.tile:
            for part in prange(parts, num_threads=<int>parts, schedule="static"):
                gathered_items(
                    start, &dense, &p, &g, units * part // parts, units * (part + 1) // parts, s + part, copies + part * g.size, out
                )
        elif parts == 1:
            part_of_work(start, &p, 0, units, s, out)
        else:
            for part in prange(parts, num_threads=<int>parts, schedule="static"):
                part_of_work(start, &p, units * part // parts, units * (part + 1) // parts, s + part, out)
    free(s)
    free(copies)
    free(entries)
    free(offsets)
