"""The kernel window_max to the bit: every build, thread count and memory layout against a brute
force over positions.
"""

import functools
import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import DTYPES

from cypool import dispatch

settings.register_profile("windows", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("windows")

MODULES = {name: importlib.import_module(f"cypool.kernels.{name}.window_max") for name in dispatch.usable()}
TYPES = DTYPES | {"int8": np.int8, "uint8": np.uint8}
VIEWS = {"float16": np.uint16, "bfloat16": np.int16}
BIG = 1 << 62


# --- the brute force ------------------------------------------------------------------------------


def positions(size, count, first, stride, taps, dilation, padded):
    """For each window of an axis its positions that hold elements, filled up with -1; padded is not
    asked for.
    """
    inside = []
    for start in (first + o * stride for o in range(count)):
        at = start if start >= 0 else start % dilation  # the first place of the lattice that is not below 0
        inside.append(list(range(at, min(size, start + taps * dilation), dilation)))
    longest = max(map(len, inside), default=0)
    return np.array([row + [-1] * (longest - len(row)) for row in inside], np.int64).reshape(count, longest)


def canonical_nan(dtype):
    """The quiet NaN without sign or payload."""
    if dtype.name == "bfloat16":
        return np.array(0x7FC0, np.uint16).view(dtype)
    return {2: np.array(0x7E00, np.uint16), 4: np.array(0x7FC00000, np.uint32), 8: np.array(0x7FF8 << 48, np.uint64)}[dtype.itemsize].view(
        dtype
    )


def brute(x, axes, column_major=False):
    """Maxima and indices: tap by tap in row-major order, all windows of all planes at once."""
    spatial, counts = x.shape[2:], tuple(row[1] for row in axes)
    shape = x.shape[:2] + counts
    tables = [positions(*row) for row in axes]
    floats = x.dtype.kind not in "iu"
    best, found = np.zeros(shape), np.full(shape, -1, np.int64)
    nan, plus = np.zeros(shape, bool), np.zeros(shape, bool)  # whether it is NaN; whether there was a +0.0
    for taps in itertools.product(*(range(table.shape[1]) for table in tables)):
        at = np.ix_(*(table[:, k] for table, k in zip(tables, taps, strict=True)))
        valid = functools.reduce(np.logical_and, (part >= 0 for part in at))
        with np.errstate(invalid="ignore"):  # signalling NaNs
            element = x[(slice(None), slice(None), *at)].astype(np.float64)
        offset = np.zeros(counts, np.int64) + np.ravel_multi_index(
            tuple(np.broadcast_arrays(*(np.maximum(part, 0) for part in at))), spatial, order="F" if column_major else "C"
        )
        better = valid & ~nan & ((found < 0) | np.isnan(element) | (element > best))
        plus |= valid & (element == 0) & ~np.signbit(element)
        best = np.where(better, element, best)
        nan |= better & np.isnan(element)
        found = np.where(better, offset, found)
    lowest = -np.inf if floats else np.iinfo(x.dtype).min
    best = np.where(best == 0, np.where(plus, 0.0, -0.0), best)
    y = np.where(found < 0, lowest, np.where(nan, 0, best)).astype(x.dtype)
    if floats:
        y[nan] = canonical_nan(x.dtype)
    plane = int(np.prod(spatial, dtype=np.int64))
    return y, np.where(found < 0, -1, found + plane * np.arange(shape[0] * shape[1]).reshape(shape[:2] + (1,) * len(counts)))


# --- the kernel -----------------------------------------------------------------------------------


def pool(module, x, axes, threads=1, indices=None):
    """The maxima and, for ``indices`` "row" or "column", their indices."""
    counts = tuple(row[1] for row in axes)
    type = {"float32": "float", "float64": "double"}.get(x.dtype.name, x.dtype.name)
    bits = x.view(VIEWS.get(type, x.dtype))
    corner = bits[(slice(None), slice(None), *(0,) * (x.ndim - 2))] if x.size else np.zeros(x.shape[:2], bits.dtype)
    strides = np.array([stride // x.itemsize for stride in x.strides[2:]], np.intp)
    table = np.array(axes, np.intp).reshape(len(axes), 7)
    y = np.full(x.shape[:2] + counts, 77, bits.dtype)
    if indices is None:
        module.window_max[type](corner, strides, table, y.reshape(-1), threads)
        return y.view(x.dtype)
    z = np.full(y.shape, -7, np.int64)
    module.window_max_indices[type](corner, strides, table, y.reshape(-1), z.reshape(-1), indices == "column", threads)
    return y.view(x.dtype), z


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == expected.tobytes(), (got, expected)


def hold(x, axes, threads=(1, 2)):
    """All builds, with and without indices, against the brute force."""
    y, rows = brute(x, axes)
    columns = brute(x, axes, column_major=True)[1]
    for module in MODULES.values():
        for count in threads:
            same(pool(module, x, axes, count), y)
            got, found = pool(module, x, axes, count, "row")
            same(got, y)
            same(found, rows)
            got, found = pool(module, x, axes, count, "column")
            same(got, y)
            same(found, columns)


# --- drawn calls ----------------------------------------------------------------------------------


def values(rng, shape, type, family):
    """Numbers with ties, zeros of both signs, infinities and NaNs of all kinds, as the
    family says.
    """
    dtype = np.dtype(TYPES[type])
    if dtype.kind in "iu":
        x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        return x if family == "spread" else x // 60
    x = (rng.standard_normal(shape) * 1000).astype(dtype)
    if family == "spread":
        return x
    few = np.array([-np.inf, -2, -1, -0.0, 0.0, 1, np.inf], np.float32).astype(dtype)
    few = {"zeros": few[3:5], "low": few[:4]}.get(family, few)
    x = few[rng.integers(0, len(few), shape)]
    if family == "bits":  # anything at all, NaNs with signs and payloads among them
        x = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    if family in ("nan", "bits"):
        payload = rng.integers(1, 1 << 6, shape).astype(f"u{dtype.itemsize}")
        sign = rng.integers(0, 2, shape).astype(f"u{dtype.itemsize}") << (8 * dtype.itemsize - 1)
        nans = (canonical_nan(dtype).view(f"u{dtype.itemsize}") | payload | sign).view(dtype)
        x = np.where(rng.random(shape) < 0.05, nans, x)
    return x


FAMILIES = ["spread", "ties", "zeros", "low", "nan", "bits"]


def layouts(x):
    """The same numbers, elsewhere in memory."""
    yield "contiguous", x
    yield "channels last", np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    yield "fortran", np.asfortranarray(x)
    backwards = (slice(None), slice(None), *(slice(None, None, -1),) * (x.ndim - 2))
    yield "backwards", np.ascontiguousarray(x[backwards])[backwards]
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    yield "every other column", wide[..., ::2]
    taller = np.zeros((*x.shape[:2], x.shape[2] + 3, *x.shape[3:]), x.dtype)
    taller[:, :, 1:-2] = x
    yield "part of a larger array", taller[:, :, 1:-2]


@st.composite
def axes_of(draw, size):
    """An axis of that size: any windows, also some that lie in the padding alone."""
    taps, stride, dilation = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    before, after = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    count = max(0, (size + before + after - (taps - 1) * dilation - 1) // stride + 1 + draw(st.integers(0, 1)))
    return size, count, -before, stride, taps, dilation, size + after


@st.composite
def calls(draw):
    rank = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(0, (40, 24, 7, 4)[rank - 1]), min_size=rank, max_size=rank))
    planes = draw(st.sampled_from([(1, 1), (1, 3), (2, 17), (3, 2), (0, 3), (2, 0)]))
    return (*planes, *sizes), [draw(axes_of(size)) for size in sizes]


@given(calls(), st.sampled_from(list(TYPES)), st.sampled_from(FAMILIES), st.integers(0, 2**32 - 1))
def test_any_windows_of_any_planes(call, type, family, seed):
    shape, axes = call
    hold(values(np.random.default_rng(seed), shape, type, family), axes)


@given(calls(), st.sampled_from(list(TYPES)), st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_any_layout(call, type, seed, layout):
    shape, axes = call
    x = values(np.random.default_rng(seed), shape, type, "nan")
    hold(list(layouts(x))[layout][1] if x.size else x, axes, threads=(3,))


def plain(size, taps, stride, padding, dilation=1, end=None):
    """The axis of a usual operator, floor mode."""
    end = padding if end is None else end
    return size, (size + padding + end - (taps - 1) * dilation - 1) // stride + 1, -padding, stride, taps, dilation, size + end


SQUARES = [(2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (5, 1, 2, 1), (2, 1, 0, 1), (3, 3, 0, 1), (1, 2, 0, 1), (7, 4, 3, 1), (3, 2, 2, 2)]
PLANES = [(7, 7), (14, 14), (13, 15), (28, 28), (55, 57), (56, 56), (8, 130), (3, 300)]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("plane", PLANES, ids=str)
def test_usual_windows_of_usual_planes(type, plane):
    rng = np.random.default_rng(7)
    for number, (taps, stride, padding, dilation) in enumerate(SQUARES):
        axes = [plain(size, taps, stride, padding, dilation) for size in plane]
        x = values(rng, (1, 5, *plane), type, FAMILIES[number % len(FAMILIES)])
        hold(x, axes, threads=(1 + number % 3,))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("layout", range(6))
def test_usual_windows_of_every_layout(type, layout):
    rng = np.random.default_rng(8)
    for taps, stride, padding, dilation in SQUARES[:4]:
        for channels in (3, 20):
            x = list(layouts(values(rng, (2, channels, 15, 18), type, "nan")))[layout][1]
            hold(x, [plain(size, taps, stride, padding, dilation) for size in (15, 18)], threads=(2,))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("shape", [(3, 40, 7, 7), (2, 5, 14, 14), (1, 3, 40, 41), (1, 2, 1500), (2, 3, 4, 5, 6), (5, 7, 1)])
def test_a_window_may_be_the_whole_plane(type, shape):
    axes = [(size, 1, 0, 1, size, 1, size) for size in shape[2:]]
    for family in FAMILIES if np.prod(shape[2:]) < 1000 else ("zeros", "nan"):
        hold(values(np.random.default_rng(9), shape, type, family), axes, threads=(1, 3))


@pytest.mark.parametrize("type", TYPES)
def test_long_rows_and_deep_planes(type):
    rng = np.random.default_rng(10)
    hold(values(rng, (1, 3, 30_000), type, "spread"), [plain(30_000, 3, 2, 1)], threads=(1, 2))
    hold(values(rng, (1, 2, 20_000), type, "nan"), [plain(20_000, 9, 1, 4, 2)], threads=(2,))
    hold(values(rng, (1, 2, 3, 9_000), type, "ties"), [plain(3, 3, 1, 1), plain(9_000, 2, 2, 0)], threads=(2,))
    hold(values(rng, (1, 2, 9, 10, 33), type, "nan"), [plain(9, 3, 2, 1), plain(10, 3, 2, 1), plain(33, 3, 2, 1)])
    hold(values(rng, (1, 3, 5, 6, 7, 20), type, "ties"), [plain(5, 2, 1, 1), plain(6, 3, 2, 0), plain(7, 3, 1, 1), plain(20, 3, 1, 1)])


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(
    "axis",
    [
        (9, 3, -BIG, BIG - 1, 2, BIG, 9 + BIG),  # from one end of the padding to the other
        (9, 2, -BIG, BIG, BIG, 1, 9 + BIG),
        (9, 1, -BIG, 1, 3, BIG // 2, 9),
        (9, 9, -(BIG - 1), 1, BIG, 1, 9),
        (9, 4, -3, 2, BIG, BIG, 9 + BIG),
        (9, 1, -8, 1, BIG, 4, 9 + BIG),
        (0, 3, -BIG, BIG, BIG, BIG, BIG),
    ],
    ids=str,
)
def test_paddings_taps_and_dilations_go_up_to_2_to_the_62(type, axis):
    x = values(np.random.default_rng(11), (2, 3, axis[0]), type, "spread")
    hold(x, [axis])
    deep = values(np.random.default_rng(12), (2, 3, axis[0], 20), type, "spread")
    hold(deep, [axis, plain(20, 3, 1, 1)])
    hold(np.ascontiguousarray(deep.swapaxes(2, 3)), [plain(20, 3, 2, 1), axis])


@pytest.mark.parametrize("type", TYPES)
def test_a_stride_of_zero_repeats_an_element(type):
    x = np.broadcast_to(values(np.random.default_rng(13), (1, 2, 1, 9), type, "spread"), (4, 2, 5, 9))
    hold(x, [plain(5, 3, 1, 1), plain(9, 3, 2, 1)])


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("axes", "outputs", "threads"),
    [
        ([(4, 4, 0, 1, 1, 1, 4)], 3, 1),
        ([(4, 4, 0, 1, 1, 1, 4)], 5, 1),
        ([(4, 4, 0, 1, 1, 1, 4)], 4, 0),
        ([(4, 4, 0, 0, 1, 1, 4)], 4, 1),
        ([(4, 4, 0, 1, 0, 1, 4)], 4, 1),
        ([(4, 4, 0, 1, 1, 0, 4)], 4, 1),
        ([(4, 4, 0, BIG, 1, 1, 4)], 4, 1),
        ([(-4, 4, 0, 1, 1, 1, 4)], 4, 1),
        ([], 1, 1),
        ([(4, 4, 0, 1, 1, 1, 4), (1, 1, 0, 1, 1, 1, 1)], 4, 1),
    ],
)
def test_what_no_loop_could_take_is_refused(name, axes, outputs, threads):
    x, strides = np.zeros((1, 1), np.float32), np.ones(1, np.intp)
    table, y = np.array(axes, np.intp).reshape(len(axes), 7), np.zeros(outputs, np.float32)
    with pytest.raises(ValueError, match="window_max"):
        MODULES[name].window_max["float"](x, strides, table, y, threads)
    with pytest.raises(ValueError, match="window_max"):
        MODULES[name].window_max_indices["float"](x, strides, table, y, np.zeros(outputs, np.int64), False, threads)
