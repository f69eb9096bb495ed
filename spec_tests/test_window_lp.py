"""The norm of windows: the kernel of every build against exact norms, and against ``lp`` where a
window is a plane.
"""

import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BUILDS, bits, ulps
from window_axes import DTYPES, LAYOUTS, VIEWS, Axis, any_axis, arguments, axis, laid, outputs, whole, windows

from cypool import spec
from cypool.conformance import oracle

settings.register_profile("window lp", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("window lp")

KERNELS = {name: importlib.import_module(f"cypool.kernels.{name}.window_lp").window_lp for name in BUILDS}
ALLOWED = {"float16": 1, "bfloat16": 1, "float": 1, "double": 4}
LP = spec.resolve("GlobalLpPool", 1)
POWERS = (1.0, 2.0, 3.0, 4.0, 7.0, 0.5, 1.5, 2.5, 0.01, 70.0, 1e13, math.inf, 1 / 4096)


def norm(x, type, axes, p, build=None, threads=1):
    corner, strides, records = arguments(x, type, axes)
    y = np.full(outputs(x, axes), 77, VIEWS[type])
    KERNELS[build or list(KERNELS)[-1]][type](corner, strides, records, y, p, threads)
    return y.view(DTYPES[type])


def exact_norms(x, axes, p):
    """The definition: the exact norm of the elements of each window, listed one by one."""
    planes = x.reshape(math.prod(x.shape[:2]), *x.shape[2:])
    lists = [np.array([plane[at] for at in elements], x.dtype) for plane in planes for elements, _ in windows(axes)]
    result = np.zeros(len(lists), x.dtype)
    for size in {len(one) for one in lists} - {0}:
        at = [i for i, one in enumerate(lists) if len(one) == size]
        result[at] = oracle.evaluate(LP, [np.stack([lists[i] for i in at])[None]], {"p": float(np.float32(p))})[0].ravel()
    return result


@pytest.mark.parametrize("type", DTYPES)
@given(st.data())
def test_every_build_layout_and_number_of_threads_gives_the_exact_norm(type, data):
    rank = data.draw(st.integers(1, 4))
    axes = [data.draw(any_axis([30, 9, 5, 3][rank - 1])) for _ in range(rank)]
    shape = (data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3)), *(a.size for a in axes))
    p = float(np.float32(data.draw(st.sampled_from(POWERS))))
    low, high = {"float16": (-24, 14), "bfloat16": (-130, 126), "float": (-145, 126), "double": (-1070, 1022)}[type]
    kind = data.draw(st.sampled_from(("normal", "zeros", "huge", "tiny", "spread", "special")))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    x = rng.standard_normal(shape)
    if kind == "zeros":
        x = rng.choice([0.0, -0.0, -2.0], shape)
    elif kind == "special":
        x = rng.choice([1.0, -7.0, math.inf, -math.inf, math.nan], shape, p=[0.5, 0.3, 0.1, 0.05, 0.05])
    elif kind != "normal":
        x = np.ldexp(x.clip(-1.9, 1.9), {"huge": high, "tiny": low, "spread": rng.integers(low, high, shape)}[kind])
    x = x.astype(DTYPES[type])
    y = norm(x, type, axes, p)
    assert max(ulps(y, exact_norms(x, axes, p)), default=0) <= ALLOWED[type]
    assert not np.signbit(y.astype(np.float64)).any()
    for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 2, 3)):
        other = norm(laid(x, layout), type, axes, p, build, threads)
        assert bits(other).tolist() == bits(y).tolist(), (build, layout, threads)


COMMON = [
    (axis(14, 3, 2, 1, 1, 1), axis(15, 3, 2, 1, 1, 1)),
    (axis(9, 3, 1, 1, 1, 1), axis(21, 3, 1, 1, 1, 1)),
    (axis(8, 2, 2), axis(38, 2, 2)),
    (axis(7, 7, 1), axis(25, 3, 3, 2, 1, 0, True)),
    (axis(400, 3, 2, 1, 1, 1),),
    (axis(5, 3, 2, 1, 1, 1), axis(6, 2), axis(9, 3, 1, 1, 1, 1)),
]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 2.5])
@pytest.mark.parametrize("scale", ["plain", "far"])
@pytest.mark.parametrize("axes", COMMON, ids=lambda axes: "x".join(f"{a.size}k{a.taps}s{a.stride}" for a in axes))
def test_common_windows(type, p, scale, axes):
    rng = np.random.default_rng(4)
    shape = (1, 3, *(a.size for a in axes))
    x = rng.standard_normal(shape)
    if scale == "far":  # some elements so large or small that powers of doubles leave the range
        far = {"float16": 10, "bfloat16": 120, "float": 120, "double": 1000}[type]
        x = np.ldexp(x, rng.choice([0, 0, 0, 0, far, -far], shape))
    x = x.astype(DTYPES[type])
    y = norm(x, type, axes, p)
    assert max(ulps(y, exact_norms(x, axes, p))) <= ALLOWED[type]
    for build, layout, threads in itertools.product(KERNELS, LAYOUTS, (1, 3)):
        assert bits(norm(laid(x, layout), type, axes, p, build, threads)).tolist() == bits(y).tolist(), (build, layout)


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 0.5, 3.7, math.inf])
@pytest.mark.parametrize("size", [(1, 1), (7, 7), (37, 41), (1, 9001)])
def test_a_window_that_is_a_plane_has_the_bits_of_lp(build, type, p, size):
    x = np.random.default_rng(5).standard_normal((2, 3, *size)).astype(DTYPES[type])
    y = np.empty(6, VIEWS[type])
    importlib.import_module(f"cypool.kernels.{build}.lp").rows[type](x.view(VIEWS[type]).ravel(), p, y, 1)
    for layout in LAYOUTS:
        assert bits(norm(laid(x, layout), type, [whole(n) for n in size], p, build)).tolist() == bits(y).tolist()


@pytest.mark.parametrize("build", KERNELS)
def test_nothing_is_lost_on_the_way(build):
    x = np.array([3e20, 4e20, 3e-30, 4e-30, 3e38, 4e37], np.float32).reshape(1, 1, 6)
    assert norm(x, "float", [axis(6, 2, 2)], 2.0, build)[:2].tolist() == [np.float32(5e20), np.float32(5e-30)]
    x = np.array([3e200, 4e200, 3e-200, 4e-200], np.float64).reshape(1, 1, 4)
    assert norm(x, "double", [axis(4, 2, 2)], 2.0, build).tolist() == pytest.approx([5e200, 5e-200], rel=1e-15)


@pytest.mark.parametrize("build", KERNELS)
def test_paddings_taps_and_dilations_as_large_as_integers_get(build):
    far = 1 << 62
    x = np.array([3.0, -4.0], np.float32).reshape(1, 1, 2)
    assert norm(x, "float", [Axis(2, 2, -far, far, 2, 1, 2)], 2.0, build).tolist() == [0, 5]
    assert norm(x, "float", [Axis(2, 1, 0, 1, far, 1, far)], 2.0, build) == 5
    assert norm(x, "float", [Axis(2, 1, 0, 1, 2, far, 2)], 2.0, build) == 3
    assert norm(x, "float", [Axis(2, 1, -far, 1, 3, far, 2)], 2.0, build) == 3


@pytest.mark.parametrize("build", KERNELS)
def test_what_no_loop_may_rely_on_is_refused(build):
    x, y = np.zeros((1, 1, 4), np.float32), np.zeros(2, np.float32)
    corner, strides, records = arguments(x, "float", [axis(4, 3)])
    call = KERNELS[build]["float"]
    call(corner, strides, records, y, 2.0, 1)
    for wrong in (
        (corner, strides, records, y[:1], 2.0, 1),
        (corner, strides, records, y, 2.0, 0),
        (corner, strides, records, y, 0.0, 1),
        (corner, strides, records, y, math.nan, 1),
        (corner, strides[:0], records, y, 2.0, 1),
        (corner, strides, records * np.array([1, 1, 1, 0, 1, 1, 1]), y, 2.0, 1),
    ):
        with pytest.raises(ValueError):
            call(*wrong)
