"""Samples of regions: the kernel of every build against sums of fractions, sample by sample."""

import importlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BUILDS, bits
from window_axes import DTYPES, LAYOUTS, VIEWS, laid, rounded, ulp

settings.register_profile("bilinear", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("bilinear")

KERNELS = {name: importlib.import_module(f"cypool.kernels.{name}.bilinear").bilinear for name in BUILDS}


def align(x, rois, batch, type, bins, ratio=0, scale=1.0, half_pixel=True, maximum=False, build=None, threads=1):
    """The kernel's output, and the row that it refuses."""
    real = "double" if type == "double" else "float"
    y = np.full(len(rois) * x.shape[1] * bins[0] * bins[1], 77, VIEWS[type])
    call = KERNELS[build or list(KERNELS)[-1]][f"{type}|{real}"]
    batch = np.asarray(batch, np.int64)
    row = call(x.view(VIEWS[type]), rois, batch, scale, half_pixel, *bins, ratio, maximum, y, threads)
    return y.view(DTYPES[type]).reshape(len(rois), x.shape[1], *bins), row


def samples(first, last, bins, ratio, scale, half_pixel, size, t):
    """For each bin the samples along an axis, each as its two corners (pixel, weight); None for one
    that lies outside.
    """
    with np.errstate(all="ignore"):
        scale, offset = t(scale), t(0.5 if half_pixel else 0)
        start, end = first * scale - offset, last * scale - offset
        extent = end - start if half_pixel else max(end - start, t(1))
        step = extent / t(bins)
        count = ratio or max(0, math.ceil(step))
        for p in range(bins):
            found = []
            for i in range(count):
                c = (start + t(p) * step) + (t(i) + t(0.5)) * step / t(count)
                assert type(c) is t
                if size == 0 or not -1 <= c <= size:
                    found.append(None)
                    continue
                at = max(Fraction(float(c)), Fraction(0))
                low = math.floor(at)
                if low >= size - 1:
                    found.append([(size - 1, Fraction(1)), (size - 1, Fraction(0))])
                else:
                    found.append([(low, low + 1 - at), (low + 1, at - low)])
            yield found


def exact(x, rois, batch, type, bins, ratio, scale, half_pixel, maximum):
    """By definition: (r, c, i, j), the exact result, and the sum of weights times magnitudes."""
    t = np.float64 if type == "double" else np.float32
    for r, (x1, y1, x2, y2) in enumerate(rois):
        rows = list(samples(y1, y2, bins[0], ratio, scale, half_pixel, x.shape[2], t))
        columns = list(samples(x1, x2, bins[1], ratio, scale, half_pixel, x.shape[3], t))
        for c, i, j in itertools.product(range(x.shape[1]), range(bins[0]), range(bins[1])):
            plane = x[batch[r], c]
            values = []
            for up, left in itertools.product(rows[i], columns[j]):
                if up is None or left is None:
                    values.append((0, 0.0))
                    continue
                values += [(v * w, float(plane[h, k])) for (h, v), (k, w) in itertools.product(up, left)]
            yield (r, c, i, j), *result(values, len(rows[i]) * len(columns[j]), maximum)


def result(values, count, maximum):
    """The mean or maximum of weighted values, and the sum of their magnitudes; floats where it is
    no number.
    """
    if not values:
        return Fraction(0), 0
    special = [v for w, v in values if w and not math.isfinite(v)]
    if any(map(math.isnan, special)) or (not maximum and {math.inf, -math.inf} <= set(special)):
        return math.nan, 0
    if special and (not maximum or math.inf in special):
        return special[0] if not maximum else math.inf, 0
    products = [w * Fraction(v) if w else Fraction(0) for w, v in values if not w or math.isfinite(v)]
    if maximum:
        return max(products, default=-math.inf), 0
    return sum(products, Fraction(0)) / count, sum(map(abs, products), Fraction(0)) / count


def check(y, expected, type, maximum):
    slack = Fraction(8, 2**53) if type == "double" else Fraction(1, 2**40)
    for at, right, magnitude in expected:
        value = float(y[at])
        if isinstance(right, float):
            assert str(value) == str(right), at
            continue
        near = rounded(type, right)
        if math.isinf(value) or math.isinf(near):
            assert value == near, at
            continue
        allowed = ulp(type, max(abs(near), abs(Fraction(value)))) + (0 if maximum else slack * magnitude)
        assert abs(Fraction(value) - near) <= allowed, (at, value, float(near))


@st.composite
def regions(draw, count, size):
    """Regions inside, across the border, outside, inverted, without size."""
    ends = st.one_of(
        st.floats(-3, size + 3, width=32), st.integers(-2, size + 2).map(float), st.sampled_from([-1.0, 0.0, float(size), -1e6, 1e6])
    )
    return [[draw(ends) for _ in range(4)] for _ in range(count)]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("maximum", [False, True], ids=["mean", "maximum"])
@given(st.data())
def test_every_build_layout_and_number_of_threads_gives_the_exact_samples(type, maximum, data):
    shape = tuple(data.draw(st.integers(low, high)) for low, high in ((1, 2), (0, 3), (0, 7), (0, 7)))
    ratio = data.draw(st.integers(0, 3))
    rois = data.draw(regions(data.draw(st.integers(0, 4)), 7))
    if ratio == 0:  # the brute force goes through every sample
        rois = np.clip(rois, -9, 16).tolist() if rois else rois
    rois = np.array(rois, np.float64 if type == "double" else np.float32).reshape(-1, 4)
    bins = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    scale, half_pixel = data.draw(st.sampled_from([1.0, 0.7, 0.0625])), data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    batch = rng.integers(0, shape[0], len(rois))
    kind = data.draw(st.sampled_from(["normal", "huge", "tiny", "special"]))
    low, high = {"float16": (-24, 14), "bfloat16": (-130, 126), "float": (-145, 126), "double": (-1070, 1022)}[type]
    x = rng.standard_normal(shape)
    if kind == "special":
        x = rng.choice([1.0, -7.0, 0.0, math.inf, -math.inf, math.nan], shape, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    elif kind == "huge":
        x = x.clip(-1.99, 1.99) * 2.0**high
    elif kind == "tiny":
        x = rng.integers(-9, 10, shape) * 2.0**low
    x = x.astype(DTYPES[type])
    args = type, bins, ratio, scale, half_pixel, maximum
    y, row = align(x, rois, batch, *args)
    assert row == -1
    check(y, exact(x, rois, batch, *args), type, maximum)
    for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 2, 3)):
        other, row = align(laid(x, layout), rois, batch, *args, build, threads)
        assert row == -1
        assert bits(other).tolist() == bits(y).tolist(), (build, layout, threads)


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("maximum", [False, True], ids=["mean", "maximum"])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("channels", [3, 32, 45])
def test_many_regions_of_many_channels(type, maximum, ratio, channels):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, channels, 13, 19)).astype(DTYPES[type])
    rois = rng.uniform(-2, 20, (60, 4)).astype(np.float64 if type == "double" else np.float32)
    rois[:, 2:] = rois[:, :2] + abs(rois[:, 2:])
    batch = rng.integers(0, 2, 60)
    args = type, (3, 2), ratio, 0.8, True, maximum
    y, _ = align(x, rois, batch, *args)
    some = np.arange(channels) % 31 < 2  # the brute force is slow
    check(y[:4, some], exact(x[:, some], rois[:4], batch, *args), type, maximum)
    few, _ = align(x, rois[7:9], batch[7:9], *args)
    assert bits(few).tolist() == bits(y[7:9]).tolist()
    for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 3)):
        other, _ = align(laid(x, layout), rois, batch, *args, build, threads)
        assert bits(other).tolist() == bits(y).tolist(), (build, layout, threads)


X = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize(
    ("roi", "half_pixel", "ratio", "maximum", "value"),
    [
        ((0.5, 0.5, 2.5, 2.5), False, 1, False, 8.5),
        ((0.5, 0.5, 2.5, 2.5), True, 1, False, 6),
        ((1, 1, 1.25, 1.25), True, 2, False, 4.125),
        ((0.25, 0.25, 1.25, 1.25), False, 1, True, 3.375),
        ((1, 1, 1.25, 1.25), False, 2, False, 8.5),
        ((2, 2, 1, 1), True, 0, False, 0),
        ((1, 1, 1, 1), True, 0, False, 0),
        ((-5, -5, -4, -4), False, 2, False, 0),
    ],
)
def test_known_answers(build, roi, half_pixel, ratio, maximum, value):
    y, _ = align(X, np.array([roi], np.float32), [0], "float", (1, 1), ratio, 1.0, half_pixel, maximum, build)
    assert y.item() == value


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize("maximum", [False, True])
def test_a_weight_of_zero_makes_a_product_of_zero(build, maximum):
    x = np.array([[-3.0, math.inf], [math.nan, -math.inf]], np.float32).reshape(1, 1, 2, 2)
    y, _ = align(x, np.array([[0, 0, 0, 0]], np.float32), [0], "float", (1, 1), 1, 1.0, False, maximum, build)
    assert y.item() != y.item()  # the region is one pixel wide, and its sample lies between all four
    y, _ = align(x, np.array([[-0.5, -0.5, 0.5, 0.5]], np.float32), [0], "float", (1, 1), 1, 1.0, False, maximum, build)
    assert y.item() == (0 if maximum else -3)


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize("type", ["float", "double"])
def test_rows_that_ask_for_too_much_are_refused_and_nothing_is_written(build, type):
    x = np.ones((1, 1, 4, 4), DTYPES[type])
    rois = np.zeros((4, 4), x.dtype)
    rois[:, 2:] = 2
    for at, value in (((2, 0), math.nan), ((1, 3), math.inf), ((3, 2), 1e30), ((3, 3), 2.0**22 + 4)):
        wrong = rois.copy()
        wrong[at] = value
        y, row = align(x, wrong, [0] * 4, type, (1, 1), 0, 1.0, True, False, build)
        assert row == at[0]
        assert (y == 77).all()
    assert align(x, rois, [0] * 4, type, (1, 1), (1 << 22) + 1, build=build)[1] == 0
    assert align(x, rois[:0], [], type, (1, 1), 1 << 40, build=build)[1] == -1
    y, row = align(x, rois, [0] * 4, type, (1, 1), 1 << 22, build=build)
    assert row == -1
    assert (y == 1).all()


@pytest.mark.parametrize("build", KERNELS)
def test_a_region_far_larger_than_the_image_costs_no_more(build):
    x = np.ones((1, 1, 4, 4), np.float32)
    rois = np.array([[-1e30, -1e30, 1e30, 1e30], [-3e38, 0, 3e38, 4], [1e38, 1e38, 3e38, 3e38]], np.float32)
    y, row = align(np.repeat(x, 1, axis=1), rois, [0] * 3, "float", (5, 5), 1 << 22, 2.0, False, False, build)
    assert row == -1
    assert (y < 1e-3).all()


@pytest.mark.parametrize("build", KERNELS)
def test_what_no_loop_may_rely_on_is_refused(build):
    x, rois, y = np.zeros((1, 1, 4, 4), np.float32), np.zeros((1, 4), np.float32), np.zeros(1, np.float32)
    call, batch = KERNELS[build]["float|float"], np.zeros(1, np.int64)
    assert call(x, rois, batch, 1.0, True, 1, 1, 0, False, y, 1) == -1
    for wrong in (
        (x, rois[:, :3], batch, 1.0, True, 1, 1, 0, False, y, 1),
        (x, rois, batch[:0], 1.0, True, 1, 1, 0, False, y, 1),
        (x, rois, batch, -1.0, True, 1, 1, 0, False, y, 1),
        (x, rois, batch, 1.0, True, 0, 1, 0, False, y, 1),
        (x, rois, batch, 1.0, True, 1, 1, -1, False, y, 1),
        (x, rois, batch, 1.0, True, 1, 1, 0, False, y[:0], 1),
        (x, rois, batch, 1.0, True, 1, 1, 0, False, y, 0),
    ):
        with pytest.raises(ValueError):
            call(*wrong)


@pytest.mark.parametrize("build", KERNELS)
def test_the_first_row_on_no_image_is_told_and_nothing_written(build):
    x, rois, y = np.zeros((2, 1, 4, 4), np.float32), np.zeros((3, 4), np.float32), np.full(3, 7, np.float32)
    for wrong in (2, -1, 2**62, -(2**63)):
        assert KERNELS[build]["float|float"](x, rois, np.array([0, wrong, 5]), 1.0, True, 1, 1, 0, False, y, 1) == 1
    assert y.tolist() == [7, 7, 7]
