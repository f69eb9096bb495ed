"""The mean of windows: the proof in exact numbers, and the kernel of every build against the exact
mean.
"""

import importlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BUILDS, bits
from window_axes import DTYPES, LAYOUTS, VIEWS, Axis, any_axis, arguments, axis, laid, outputs, rounded, ulp, whole, windows

settings.register_profile("window mean", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("window mean")

KERNELS = {name: importlib.import_module(f"cypool.kernels.{name}.window_mean").window_mean for name in BUILDS}
FUSED = {"float16": "float16", "bfloat16": "bfloat16", "float": "float", "double": "double"}
ALLOWED = {"float16": 1, "bfloat16": 1, "float": 1, "double": 4}


def mean(x, type, axes, padding=False, build=None, threads=1):
    corner, strides, records = arguments(x, type, axes)
    y = np.full(outputs(x, axes), 77, VIEWS[type])
    KERNELS[build or list(KERNELS)[-1]][FUSED[type]](corner, strides, records, y, padding, threads)
    return y.view(DTYPES[type])


def exact_means(x, axes, padding, step=1):
    """The definition, for every ``step``-th window of each plane: an exact mean, or what stands for
    it.
    """
    for plane in x.reshape(math.prod(x.shape[:2]), *x.shape[2:]):
        for elements, padded in windows(axes, step):
            values = [float(plane[at]) for at in elements]
            divisor = padded if padding else len(values)
            if divisor == 0 or any(math.isnan(v) for v in values) or {math.inf, -math.inf} <= set(values):
                yield math.nan
            elif any(math.isinf(v) for v in values):
                yield next(v for v in values if math.isinf(v))
            elif values and all(v == 0 and math.copysign(1, v) < 0 for v in values) and (not padding or padded == len(values)):
                yield -0.0
            else:
                yield sum(map(Fraction, values), Fraction(0)) / divisor


def check(got, expected, type, allowed=None):
    """Each result within its limit of the exact one."""
    allowed = ALLOWED[type] if allowed is None else allowed
    for value, right in zip(got.astype(np.float64).tolist(), expected, strict=True):
        if isinstance(right, float):
            assert str(value) == str(right)
            continue
        near = rounded(type, right)
        assert str(value) != "-0.0" or right < 0
        if math.isinf(near) or math.isinf(value):
            assert value == near
        else:
            assert abs(Fraction(value) - near) <= allowed * ulp(type, max(abs(near), abs(Fraction(value)))), (value, float(near))


# --- the proof ------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(-(1 << 24), 1 << 24), st.integers(-149, 103)), min_size=1, max_size=40), st.integers(0, 1 << 30))
def test_a_plain_sum_that_passes_the_test_is_right(terms, seed):
    """|S| >= r n M 2^-27 bounds the relative error of a sum of float32 numbers by 2^-26, whatever
    the order of additions.
    """
    values = [math.ldexp(m, e) for m, e in terms]
    exact = sum(map(Fraction, values), Fraction(0))
    np.random.default_rng(seed).shuffle(values)
    total = 0.0
    for value in values:
        total += value
    n, most = len(values), max(map(abs, values))
    error = abs(Fraction(total) - exact)
    assert error <= Fraction(n * n) * Fraction(most) / 2**53
    if abs(total) >= n * n * most * 2.0**-27:
        assert error <= abs(exact) / 2**25
    if min(values) >= 0 or max(values) <= 0:
        assert error <= n * abs(exact) / 2**52


def two_sum(a, b):
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1 << 30), st.integers(0, 60))
def test_sums_with_their_errors_that_pass_the_test_are_right(rows, columns, seed, spread):
    """|S| >= r^2 n M 2^-53, with r = rows + 2 columns, bounds the relative error of a paired sum by
    2^-52.
    """
    rng = np.random.default_rng(seed)
    x = np.ldexp(rng.standard_normal((rows, columns)), rng.integers(-spread, spread + 1, (rows, columns)))
    x.ravel()[-1] = -x.ravel()[:-1].sum() * rng.choice([1, 1 + 2.0**-40, 0.5])
    hi, lo = 0.0, 0.0
    for j in range(columns):
        high, low = 0.0, 0.0
        for i in range(rows):
            high, e = two_sum(high, float(x[i, j]))
            low += e
        hi, e = two_sum(hi, high)
        lo += e + low
    exact = sum(map(Fraction, x.ravel().tolist()), Fraction(0))
    r, n, most = rows + 2 * columns, rows * columns, float(abs(x).max())
    assert abs(Fraction(hi) + Fraction(lo) - exact) <= Fraction(r * r * n) * Fraction(most) / 2**106
    if abs(hi + lo) >= r * r * n * most * 2.0**-53:
        assert abs(Fraction(hi + lo) - exact) <= abs(exact) / 2**51


# --- the kernel -----------------------------------------------------------------------------------

SPREADS = {"float16": (-24, 14), "bfloat16": (-130, 126), "float": (-145, 126), "double": (-1070, 1022)}


def numbers(rng, shape, type, kind):
    """Elements that try one thing each."""
    low, high = SPREADS[type]
    x = rng.standard_normal(shape)
    if kind == "integers":
        x = rng.integers(-3, 4, shape).astype(float)
    elif kind == "cancelling":  # windows in which the large terms cancel
        x = rng.choice([1.0, -1.0], shape) * rng.choice([2.0**high, 1.5, 2.0**low], shape)
    elif kind == "huge":
        x = rng.choice([1.0, 1.0, 1.0, -1.0], shape) * rng.uniform(1, 1.9, shape) * 2.0**high
    elif kind == "tiny":
        x = rng.choice([0.0, -0.0, 1.0, -3.0], shape) * 2.0**low
    elif kind == "zeros":
        x = rng.choice([0.0, -0.0, -0.0, -0.0], shape)
    elif kind == "spread":
        x = np.ldexp(x, rng.integers(low + 4, high - 4, shape))
    elif kind == "special":
        x = rng.choice([1.0, 2.5, -7.0, math.inf, -math.inf, math.nan], shape, p=[0.4, 0.3, 0.2, 0.05, 0.025, 0.025])
    return x.astype(DTYPES[type])


KINDS = ("normal", "integers", "cancelling", "huge", "tiny", "zeros", "spread", "special")


@pytest.mark.parametrize("type", DTYPES)
@given(st.data())
def test_every_build_layout_and_number_of_threads_gives_the_exact_mean(type, data):
    rank = data.draw(st.integers(1, 4))
    axes = [data.draw(any_axis([40, 12, 6, 4][rank - 1])) for _ in range(rank)]
    shape = (data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3)), *(a.size for a in axes))
    kind, padding = data.draw(st.sampled_from(KINDS)), data.draw(st.booleans())
    x = numbers(np.random.default_rng(data.draw(st.integers(0, 999))), shape, type, kind)
    y = mean(x, type, axes, padding)
    check(y, exact_means(x, axes, padding), type)
    for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 2, 3)):
        other = mean(laid(x, layout), type, axes, padding, build, threads)
        assert bits(other).tolist() == bits(y).tolist(), (build, layout, threads)


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "axes",
    [
        (axis(14, 3, 1, 1, 1, 1), axis(14, 3, 1, 1, 1, 1)),
        (axis(23, 3, 2, 1, 1, 1), axis(21, 3, 2, 1, 1, 1)),
        (axis(8, 2, 2), axis(37, 2, 2)),
        (axis(9, 5, 1, 1, 2, 2), axis(19, 5, 1, 1, 2, 2)),
        (axis(7, 7, 1), axis(25, 3, 3, 2, 1, 0, True)),
        (whole(7), whole(7)),
        (whole(30), whole(41)),
        (whole(1), whole(1)),
        (whole(70), whole(89)),
        (axis(5, 9, 1, 1, 2, 2), axis(7, 7)),
        (axis(1300, 3, 1, 1, 1, 1),),
        (axis(700, 300, 1, 1, 40, 70),),
        (axis(5, 3, 2, 1, 1, 1), axis(6, 2), axis(9, 3, 1, 1, 1, 1)),
    ],
    ids=lambda axes: "x".join(f"{a.size}k{a.taps}s{a.stride}" for a in axes),
)
def test_common_windows(type, kind, axes):
    x = numbers(np.random.default_rng(3), (1, 5, *(a.size for a in axes)), type, kind)
    for padding in (False, True):
        y = mean(x, type, axes, padding)
        step = len(y) // 5 // 30 + 1
        check(y.reshape(5, -1)[:, ::step].ravel(), exact_means(x, axes, padding, step), type)
        for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 3)):
            assert bits(mean(laid(x, layout), type, axes, padding, build, threads)).tolist() == bits(y).tolist(), (build, layout)


@pytest.mark.parametrize("build", KERNELS)
def test_terms_that_cancel_leave_what_they_hide(build):
    x = np.array([1e30, 1.0, -1e30], np.float32).reshape(1, 1, 3)
    assert mean(x, "float", [whole(3)], build=build) == np.float32(1 / 3)
    x = np.array([1e300, 1.0, -1e300, 1e-300, 1e308, 1e308], np.float64).reshape(1, 1, 6)
    assert mean(x, "double", [axis(6, 3, 3)], build=build).tolist() == [1 / 3, float(Fraction(1e308) * 2 / 3)]


@pytest.mark.parametrize("build", KERNELS)
def test_a_mean_is_finite_where_the_sum_is_not(build):
    for type, most in (("float16", 65504.0), ("float", float(np.finfo(np.float32).max)), ("double", float(np.finfo(np.float64).max))):
        x = np.full((1, 1, 5, 5), most, DTYPES[type])
        assert mean(x, type, [axis(5, 3), axis(5, 3)], build=build).tolist() == [most] * 9


@pytest.mark.parametrize("type", DTYPES)
def test_random_means_are_the_nearest_value(type):
    axes = (axis(20, 3, 1, 1, 1, 1), axis(50, 3, 1, 1, 1, 1))
    x = numbers(np.random.default_rng(8), (1, 1, 20, 50), type, "normal")
    expected = [rounded(type, m) for m in exact_means(x, axes, False)]
    wrong = sum(Fraction(got) != right for got, right in zip(mean(x, type, axes).astype(float).tolist(), expected, strict=True))
    assert wrong <= len(expected) // 1000


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize("padding", [False, True])
def test_paddings_taps_and_dilations_as_large_as_integers_get(build, padding):
    far = 1 << 62
    x = np.array([3.0, 5.0], np.float32).reshape(1, 1, 2)
    assert mean(x, "float", [Axis(2, 2, -far, far, 2, 1, 2)], padding, build)[1] == 4
    assert mean(x, "float", [Axis(2, 1, 0, 1, far, 1, far)], padding, build) == (np.float32(8 / far) if padding else 4)
    assert mean(x, "float", [Axis(2, 1, 0, 1, 2, far, 2)], padding, build) == 3
    assert mean(x, "float", [Axis(2, 1, -far, 1, 3, far, 2)], padding, build) == (1.5 if padding else 3)


@pytest.mark.parametrize("build", KERNELS)
def test_what_no_loop_may_rely_on_is_refused(build):
    x, y = np.zeros((1, 1, 4), np.float32), np.zeros(2, np.float32)
    corner, strides, records = arguments(x, "float", [axis(4, 3)])
    call = KERNELS[build]["float"]
    call(corner, strides, records, y, False, 1)
    for wrong in (
        (corner, strides, records, y[:1], False, 1),
        (corner, strides, records, y, False, 0),
        (corner, strides[:0], records, y, False, 1),
        (corner, strides, records[:, :6].copy(), y, False, 1),
        (corner, strides, records[:0], y, False, 1),
        (corner, strides, records * np.array([1, 1, 1, 0, 1, 1, 1]), y, False, 1),
    ):
        with pytest.raises(ValueError):
            call(*wrong)


@pytest.mark.parametrize("build", list(KERNELS))
def test_a_plane_too_large_to_be_copied_is_read_where_it_lies(build):
    """Sizes of copies of planes that are one element over and over do not overflow."""
    size = 1 << 60
    x = np.broadcast_to(np.full((1, 1, 1), 1.5), (1, 1, 4))
    axes = [Axis(size, 3, 0, 1, 2, 1, size)]
    assert mean(x, "double", axes, build=build).tolist() == [1.5, 1.5, 1.5]
