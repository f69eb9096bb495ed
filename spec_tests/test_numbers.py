"""The numeric contract: how far from exact, and the same bits whatever the threads, the build and
the layout.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BUILDS, DTYPES, bits, on_build, ulps

import cypool
from cypool import spec
from cypool.conformance import oracle

LIMITS = {"float16": 1, "bfloat16": 1, "float": 1, "double": 4}
GOOD_P = [1, 2, 3, 4, 5, 7, 50, 65, 1000]


def draws(type, p, planes=64, size=137, seed=0):
    rng = np.random.default_rng([seed, p, size])
    return (rng.standard_normal((1, planes, size)) * 2.0 ** rng.integers(-4, 5, (1, planes, 1))).astype(DTYPES[type])


def exact(x, p, opset=22):
    return oracle.evaluate(spec.resolve("GlobalLpPool", opset), [x], {"p": p})[0]


@pytest.mark.parametrize("type", DTYPES)
def test_random_draws_are_exact_999_times_in_1000(type):
    distances = np.concatenate([ulps(cypool.global_lp_pool(x := draws(type, p, planes=256), p), exact(x, p)) for p in GOOD_P])
    assert len(distances) > 2000
    assert max(distances) <= LIMITS[type]
    if type != "double":
        assert sum(distances == 0) >= 0.999 * len(distances)


@pytest.mark.parametrize("p", [0.0005, 0.01, 0.1, 0.5, 0.75, 1.5, 2.5, 3.7, 16.5, 17.5, 100.25, 1e6, 1e11, 1e13, 1e30, math.inf])
@pytest.mark.parametrize("type", ["float16", "float", "double"])
def test_version_1_takes_any_positive_p(type, p):
    p = float(np.float32(p))
    x = draws(type, 2, planes=16, size=21, seed=1)
    x[0, 0, 1:] = 0  # a lone element comes back as it is, for every p
    y = cypool.global_lp_pool(x, p, opset=1)
    assert max(ulps(y, exact(x, p, opset=1))) <= LIMITS[type]
    assert max(ulps(y[0, 0], np.abs(x[0, 0, :1]))) <= LIMITS[type]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 9, 70, 2**40, 2**62])
def test_long_rows_keep_the_contract(type, p):
    x = draws(type, 1, planes=1, size=70001)
    assert max(ulps(cypool.global_lp_pool(x, p), exact(x, p))) <= LIMITS[type]


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_a_systematic_rounding_error_does_not_add_up(p):
    x = np.full((1, 1, 3_000_000), 0.1)
    assert max(ulps(cypool.global_lp_pool(x, p), exact(x, p))) <= 1


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 7, 64, 500, 2**50])
@pytest.mark.parametrize("end", ["top", "bottom", "both"])
def test_nothing_overflows_or_underflows_that_the_result_does_not(type, p, end):
    x = draws(type, 4, planes=8, size=5000, seed=2)
    exponents = np.frexp(np.abs(x.astype(np.float64)))[1]
    info = np.finfo(np.float64) if type == "double" else None
    top = {"float16": 11, "bfloat16": 123, "float": 120}.get(type) or info.maxexp - 8
    bottom = {"float16": -22, "bfloat16": -130, "float": -145}.get(type) or -1072
    wish = {"top": top - 4 + exponents * 0, "bottom": bottom + exponents * 0, "both": np.where(np.arange(5000) % 4097 < 7, top, bottom)}[
        end
    ]
    with np.errstate(under="ignore"):
        x = (np.ldexp(np.frexp(x.astype(np.float64))[0], wish)).astype(DTYPES[type])
    assert np.any(x != 0)
    assert max(ulps(cypool.global_lp_pool(x, p), exact(x, p))) <= LIMITS[type]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 4, 6, 99])
@pytest.mark.parametrize("shape", [(1, 1, 40000), (3, 5, 7, 7), (2, 70, 3, 5, 2), (1, 3, 20000), (70, 1, 130)])
def test_builds_threads_and_layouts_give_the_same_bits(type, p, shape):
    x = np.random.default_rng(3).standard_normal(shape).astype(DTYPES[type])
    reference = None
    for name in BUILDS:
        with on_build(name):
            for threads in (1, 2, 3):
                for layout in layouts(x):
                    y = bits(cypool.global_lp_pool(layout, p, threads=threads)).tobytes()
                    reference = reference or y
                    assert y == reference, (name, threads, layout.strides)


@pytest.mark.parametrize("type", ["float16", "float", "double"])
@pytest.mark.parametrize("p", [0.5, 1.5, 2.5, 16.5, 0.3, 3.7])
@pytest.mark.parametrize("exponent", [0, -13, -18, -60, -100, -126, -140, 100, -1060, -700, 900])
def test_powers_of_version_1_are_exact_at_every_magnitude_and_the_same_on_all_builds(type, p, exponent):
    exponent = {"float16": max(exponent, -20), "float": min(max(exponent, -140), 100)}.get(type, exponent)
    p = float(np.float32(p))
    x = draws(type, exponent + 2000, planes=200, size=37, seed=8)
    x[:, ::2, 5] = 0
    with np.errstate(over="ignore", under="ignore"):
        x = np.ldexp(x, exponent)
    if type == "float16":
        x = np.clip(x, -60, 60)
    expected = exact(x, p, opset=1)
    results = []
    for name in BUILDS:
        with on_build(name):
            results.append(cypool.global_lp_pool(x, p, opset=1))
    distances = ulps(results[0], expected)
    assert max(distances) <= LIMITS[type]
    assert type == "double" or sum(distances) == 0
    assert {bits(y).tobytes() for y in results} == {bits(results[0]).tobytes()}


@pytest.mark.parametrize("type", ["float", "double"])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 50, 64, 0.5, 1.5, 2.5, 16.5])
@pytest.mark.parametrize("alike", [True, False])
def test_what_a_plane_gives_does_not_depend_on_the_planes_beside_it(build, type, p, alike):
    low, high = (-1070, 1010) if type == "double" else (-145, 118)
    rng = np.random.default_rng(9)
    for start in np.linspace(low, high, 14).astype(int) if alike else [low]:
        exponents = rng.integers(start, start + 3 if alike else high, (1, 40, 1))
        with np.errstate(under="ignore"):
            x = np.ldexp(rng.standard_normal((1, 40, 90)), exponents).astype(DTYPES[type])
        together = cypool.global_lp_pool(x, p, opset=1)
        alone = [cypool.global_lp_pool(x[:, c : c + 1], p, opset=1) for c in range(40)]
        assert bits(together).tolist() == bits(np.concatenate(alone, axis=1)).tolist()
        assert max(ulps(together, exact(x, p, opset=1))) <= LIMITS[type]


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 70, 2**50])
def test_there_is_one_nan(build, type, p):
    x = np.ones((1, 4, 9000), DTYPES[type])
    width = 8 * x.itemsize
    payloads = x.view(f"u{x.itemsize}")
    infinity = int(np.array(np.inf, x.dtype).view(payloads.dtype))
    for at, payload in ((0, 1), (5000, 3), (8999, 2)):  # signalling and quiet ones, of either sign
        payloads[0, :, at] = [infinity | payload, infinity | payload | 1 << (width - 1), infinity | infinity >> 1, infinity - payload]
    x[0, 3] = 1
    y = bits(cypool.global_lp_pool(x, p, threads=2))
    assert len({value.item() for value in y[0, :3].ravel()}) == 1
    assert np.isnan(cypool.global_lp_pool(x, p)[0, :3].astype(float)).all() and cypool.global_lp_pool(x, p)[0, 3].item() > 0


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("p", [1, 2, 3, 64])
@pytest.mark.parametrize("channels", [2, 3, 4, 5, 259])
@pytest.mark.parametrize("size", [(7, 7), (1, 16), (5, 821)])  # a part of a row of lanes, a whole one, a chunk and a little
def test_channels_last_give_the_same_bits_where_some_of_them_leave_the_range(build, type, p, channels, size):
    x = np.random.default_rng(6).standard_normal((2, channels, *size)).astype(DTYPES[type])
    big, small = {"float16": (10, 1e-6), "double": (1e200, 1e-250)}.get(type, (1e30, 1e-35))
    x[0, channels // 2] *= DTYPES[type](big)
    x[1, 0] *= DTYPES[type](small)
    x[1, channels - 1, -1, -1] = np.nan
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    y = cypool.global_lp_pool(x, p)
    assert np.isfinite(y[0]).all() and np.isnan(y[1, channels - 1]).all()
    np.testing.assert_array_equal(bits(cypool.global_lp_pool(last, p)), bits(y))
    padded = np.moveaxis(np.ascontiguousarray(np.moveaxis(np.concatenate([x, x], axis=1), 1, -1)), -1, 1)[:, :channels]
    np.testing.assert_array_equal(bits(cypool.global_lp_pool(padded, p)), bits(y))


def layouts(x):
    """The same numbers as x, elsewhere in memory."""
    yield x
    yield np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)  # channels last
    yield np.asfortranarray(x)
    yield np.ascontiguousarray(x[..., ::-1])[..., ::-1]  # backwards
    yield np.repeat(x, 2, axis=-1)[..., ::2]  # gaps
    odd = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)  # odd addresses
    odd[...] = x
    yield odd
    if x.dtype.name != "bfloat16":
        yield x.astype(x.dtype.newbyteorder(">"))


@pytest.mark.parametrize("type", DTYPES)
def test_broadcast_input_is_walked_as_it_is(type):
    x = np.broadcast_to(np.asarray(3, DTYPES[type]), (1, 2, 5000, 5))
    assert cypool.global_lp_pool(x, 1, threads=2).ravel().tolist() == pytest.approx(
        [75000 if type != "float16" else math.inf] * 2, rel=4e-3
    )


@pytest.mark.parametrize("shape", [(50, 40), (50, 40, 1, 1)])
@pytest.mark.parametrize("p", [1, 2, 3, 7, 1000])
def test_rank_2_and_planes_of_one_element_are_absolute_values(shape, p):
    x = np.random.default_rng(4).standard_normal(shape)
    assert cypool.global_lp_pool(x, p).tolist() == np.abs(x).tolist()


def test_a_constant_plane_of_one_power_has_an_exact_root():
    x = np.full((1, 1, 27), 5.0)
    assert cypool.global_lp_pool(x, 3) == 15.0


@pytest.mark.parametrize("type", DTYPES)
def test_every_16_bit_pattern_comes_back_as_its_magnitude(type, build):
    pattern = np.arange(1 << 16, dtype=np.uint16)
    x = (pattern.view(DTYPES[type]) if np.dtype(DTYPES[type]).itemsize == 2 else pattern.view(np.float16).astype(DTYPES[type])).reshape(
        256, 256
    )
    for p in (1, 2, 3, 5, 77):
        y = cypool.global_lp_pool(x, p)
        assert max(ulps(y, np.abs(x))) == 0


# --- laws -----------------------------------------------------------------------------------------

planes = st.integers(0, 2**32 - 1).map(np.random.default_rng).map(lambda rng: rng.standard_normal((1, 1, rng.integers(1, 300))))
small_p = st.sampled_from([1, 2, 3, 4, 5, 8, 33])
settings.register_profile("laws", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("laws")


@given(planes, small_p, st.integers(-900, 900))
def test_scaling_by_a_power_of_two_scales_the_result(x, p, k):
    assert max(ulps(cypool.global_lp_pool(np.ldexp(x, k), p), np.ldexp(cypool.global_lp_pool(x, p), k))) <= 2


@given(planes, small_p, st.randoms(use_true_random=False))
def test_the_order_of_spatial_elements_does_not_matter(x, p, random):
    order = list(range(x.shape[2]))
    random.shuffle(order)
    y = cypool.global_lp_pool(x.astype(np.float32), p)
    assert max(ulps(cypool.global_lp_pool(x.astype(np.float32)[:, :, order], p), y)) <= 1


@given(planes, small_p)
def test_signs_do_not_matter(x, p):
    assert bits(cypool.global_lp_pool(x, p)) == bits(cypool.global_lp_pool(-x, p))


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(DTYPES)), small_p)
def test_channels_are_independent(seed, type, p):
    x = np.random.default_rng(seed).standard_normal((2, 5, 30)).astype(DTYPES[type])
    whole = cypool.global_lp_pool(x, p)
    parts = [cypool.global_lp_pool(x[:, c : c + 1], p) for c in range(5)]
    assert bits(whole).tolist() == bits(np.concatenate(parts, axis=1)).tolist()


@given(planes)
def test_p_1_of_integers_is_their_sum(x):
    x = np.rint(x * 1000)
    assert cypool.global_lp_pool(x, 1).item() == math.fsum(abs(v) for v in x.ravel())
