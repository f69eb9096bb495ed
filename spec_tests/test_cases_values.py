"""Draws, families of values and of regions, shapes and attribute values: each is what its name
says, in every type.
"""

import hashlib
import math

import numpy as np
import pytest

from cypool import spec
from cypool.conformance.cases import boxes, shapes
from cypool.conformance.cases.attributes import label, regimes
from cypool.conformance.cases.draws import Draws
from cypool.conformance.cases.values import FAMILIES, families, values
from cypool.conformance.tensors import DTYPES
from cypool.spec.limits import allows
from cypool.spec.model import Attribute

TYPES = ["float16", "bfloat16", "float", "double"]
SMALLEST_NORMAL = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float": 2.0**-126, "double": 2.0**-1022}
LARGEST = {"float16": 65504.0, "bfloat16": (2 - 2**-7) * 2.0**127, "float": (2 - 2**-23) * 2.0**127, "double": (2 - 2**-52) * 2.0**1023}


def drawn(family, type, shape=(2, 3, 6, 5), seed="x"):
    array = values(family, Draws(seed), shape, DTYPES[type])
    assert array.dtype == DTYPES[type] and array.shape == shape
    return array.astype(np.float64)


def test_draws_are_shake_256_of_the_seed_and_the_count_of_calls():
    draws = Draws("id")
    for call in range(3):
        words = np.frombuffer(hashlib.shake_256(f"id#{call}".encode()).digest(32), "<u8")
        assert draws.below(1000, 2, 2).reshape(-1).tolist() == [int(word) % 1000 for word in words]


def test_draws_never_change():
    draws = Draws("cypool")
    assert draws.below(100, 6).tolist() == [57, 24, 89, 81, 0, 93]
    assert draws.fractions(2).tolist() == [0.43969065070462254, 0.41321407408175226]
    assert draws.signs(4).tolist() == [-1.0, -1.0, 1.0, 1.0]


def test_fractions_fill_the_unit_interval_and_signs_are_even():
    fractions, signs = Draws("a").fractions(10000), Draws("b").signs(10000)
    assert fractions.min() >= 0 and fractions.max() < 1 and abs(fractions.mean() - 0.5) < 0.02
    assert abs(signs.mean()) < 0.05 and set(signs.tolist()) == {1.0, -1.0}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_another_seed_draws_other_values_and_the_same_seed_the_same(family, type):
    np.testing.assert_array_equal(drawn(family, type), drawn(family, type))
    fixed = {"ramp", "ties", "minus-inf"}
    different = drawn(family, type).tobytes() != drawn(family, type, seed="y").tobytes()
    assert different == (family not in fixed)


@pytest.mark.parametrize("type", TYPES)
def test_each_family_is_what_its_name_says(type):
    normal, largest = SMALLEST_NORMAL[type], LARGEST[type]
    finite = {name: drawn(name, type) for name in FAMILIES if name not in ("nan", "inf", "nan-with-inf", "minus-inf")}
    assert all(np.isfinite(array).all() for array in finite.values())
    assert (np.diff(finite["ramp"].reshape(6, -1), axis=1) == 1).all()
    assert {-1.0, 1.0} == set(np.sign(finite["mixed-signs"]).reshape(-1))
    assert (finite["zeros"] == 0).all() and {True, False} == set(np.signbit(finite["zeros"]).reshape(-1).tolist())
    subnormal = np.abs(finite["subnormals"])
    assert (subnormal > 0).all() and (subnormal < normal).all()
    assert (np.abs(finite["near-overflow"]) > largest / 9).all()
    assert (np.abs(finite["near-underflow"]) >= normal).all() and (np.abs(finite["near-underflow"]) <= 8 * normal).all()
    assert len(set(finite["all-equal"].reshape(-1))) == 1 and len(set(np.abs(finite["random"]).reshape(-1))) > 50
    nan, inf, both, minus = (drawn(name, type) for name in ("nan", "inf", "nan-with-inf", "minus-inf"))
    assert np.isnan(nan).any() and not np.isinf(nan).any() and np.isfinite(nan).any()
    assert np.isposinf(inf).any() and np.isneginf(inf).any() and not np.isnan(inf).any()
    assert np.isnan(both).any() and np.isposinf(both).any() and not np.isneginf(both).any()  # -inf has a silence of its own
    assert np.isneginf(minus).all()


@pytest.mark.parametrize(("type", "precision"), [("float16", 11), ("bfloat16", 8), ("float", 24), ("double", 53)])
def test_ties_have_norms_half_way_between_two_values(type, precision):
    plane = drawn("ties", type)[0, 0].reshape(-1)
    large = [int(abs(value)) for value in plane if value]
    for result in (sum(large), math.isqrt(sum(value**2 for value in large))):
        assert result % 2 == 1 and result.bit_length() == precision + 1
    assert math.isqrt(sum(value**2 for value in large)) ** 2 == sum(value**2 for value in large)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", shapes.SHAPES.values(), ids=list(shapes.SHAPES))
def test_every_family_fills_every_shape(family, shape):
    assert drawn(family, "float16", shape).shape == shape


@pytest.mark.parametrize("type", ["int8", "uint8"])
def test_each_family_of_integers_is_what_its_name_says(type):
    least, most = np.iinfo(DTYPES[type]).min, np.iinfo(DTYPES[type]).max
    middle = 0 if least < 0 else 128
    found = {name: values(name, Draws("x"), (2, 3, 12, 10), DTYPES[type]) for name in families(type)}
    assert all(array.dtype == DTYPES[type] and array.shape == (2, 3, 12, 10) for array in found.values())
    wide = {name: array.astype(int) for name, array in found.items()}
    steps = np.diff(wide["ramp"].reshape(6, -1), axis=1)
    assert sorted(set(steps.reshape(-1).tolist())) == [-96, 1] and wide["ramp"].min() >= 1
    assert {value < middle for value in wide["mixed-signs"].reshape(-1).tolist()} == {True, False}
    assert abs(wide["mixed-signs"] - middle).max() <= 8
    assert len(set(wide["random"].reshape(-1).tolist())) > 200
    assert set(wide["ends"].reshape(-1).tolist()) == {least, most}
    assert set(wide["lowest"].reshape(-1).tolist()) == {least}
    assert len(set(wide["all-equal"].reshape(-1).tolist())) == 1


def test_shapes_are_those_that_the_rule_allows():
    assert shapes.legal("N C D*") == list(shapes.SHAPES)
    assert {len(shapes.SHAPES[name]) for name in shapes.legal("N C D*")} == {2, 3, 4, 5, 6}
    assert {len(shapes.SHAPES[name]) for name in shapes.legal("N C H W")} == {4}


def test_attribute_values_come_from_the_record():
    p1, p2 = (spec.version(name).attribute("p") for name in ("GlobalLpPool-1", "GlobalLpPool-2"))
    assert regimes(p2, (3, 0.5, 0, -1)) == {"p-absent": None, "p2": 2, "p1": 1, "p3": 3}
    assert regimes(p1, (3, 0.5, 0, -1)) == {
        "p-absent": None, "p2": 2.0, "p1.4013e-45": 1.401298464324817e-45, "pinf": math.inf, "p3": 3.0, "p0.5": 0.5,
    }  # fmt: skip
    pooled_shape, scale = map(spec.version("MaxRoiPool-22").attribute, ("pooled_shape", "spatial_scale"))
    assert regimes(pooled_shape, ((7, 7), (0, 2), (2,), 3, (2.0, 2.0))) == {"pooled_shape1x1": (1, 1), "pooled_shape7x7": (7, 7)}
    assert list(regimes(scale, (0.5, math.inf, -1))) == [
        "spatial_scale-absent",
        "spatial_scale1",
        "spatial_scale1.4013e-45",
        "spatial_scale0.5",
    ]


def test_labels_are_short_and_exact():
    assert [label("p", value) for value in (2, 2.0, 0.001, 2.0**40, math.inf, (7, 1))] == [
        "p2", "p2", "p0.001", "p1099511627776", "pinf", "p7x1",
    ]  # fmt: skip


def test_without_limits_every_number_is_legal_and_a_limit_refuses_nan():
    free = Attribute("a", "FLOAT", False, None, "")
    above = Attribute("a", "FLOAT", False, None, "", above=0, finite=True)
    assert allows(free, math.nan) and allows(free, -3) and not allows(free, (1.0,)) and not allows(free, "1")
    assert not any(allows(above, value) for value in (math.nan, math.inf, 0, -1.0)) and allows(above, 1e-45)


IMAGE = boxes.Image(6, 8, (21, 25), 1.0, DTYPES["float"])


def regions(family, image=IMAGE, seed="x"):
    return boxes.boxes(family, Draws(seed), image).astype(np.float64)


def test_each_family_of_regions_is_what_its_name_says():
    def parts(family):
        return regions(family).T

    x1, y1, x2, y2 = parts("inside")
    assert (x1 >= 0).all() and (x1 <= x2).all() and (x2 < 8).all() and (y1 >= 0).all() and (y1 <= y2).all() and (y2 < 6).all()
    x1, y1, x2, y2 = parts("edges")
    assert {0, 7} <= {*x1, *x2} and {0, 5} <= {*y1, *y2}
    x1, y1, x2, y2 = parts("partly-outside")
    assert ((x1 < 0) | (x2 > 7) | (y1 < 0) | (y2 > 5)).all() and ((x1 < 8) & (x2 >= 0) & (y1 < 6) & (y2 >= 0)).all()
    x1, y1, x2, y2 = parts("outside")
    assert ((x1 > 7) | (x2 < 0) | (y1 > 5) | (y2 < 0)).all()
    x1, y1, x2, y2 = parts("reversed")
    assert ((x1 > x2) | (y1 > y2)).all() and (x1 > x2).any() and (y1 > y2).any()
    x1, y1, x2, y2 = parts("single-pixel")
    assert (x1 == x2).all() and (y1 == y2).all()
    x1, y1, x2, y2 = parts("few-pixels")
    assert (x2 - x1 <= 1).all() and (y2 - y1 <= 1).all()
    x1, y1, x2, y2 = parts("larger")
    assert (x1 < 0).all() and (y1 < 0).all() and (x2 > 7).all() and (y2 > 5).all()
    assert (regions("half-way") % 1 == 0.5).any(axis=1).all() and (regions("half-way") < 0).any()
    assert regions("none").shape == (0, 4)


@pytest.mark.parametrize("type", TYPES)
def test_far_regions_reach_beyond_32_bits_where_the_scale_lets_them(type):
    far = regions("far", boxes.Image(6, 8, (2, 2), 65536.0, DTYPES[type]))
    assert np.isfinite(far).all() and (np.abs(far) >= 2.0**15).any(axis=1).sum() >= 2
    assert far.max() == LARGEST[type]


def test_extents_and_coordinates_over_which_the_readings_part():
    float32, double = DTYPES["float"], DTYPES["double"]
    assert boxes.parting_extents(64, 7, float32) == [57] and boxes.parting_extents(64, 7, double) == [29, 58]
    assert boxes.parting_extents(6, 21, float32) == [3] and boxes.parting_extents(8, 25, double) == [7]
    assert not boxes.parting_extents(64, 16, float32) and not boxes.parting_extents(60, 2, double)
    assert 5.0 in boxes.parting_coordinates(16, float(np.float32(0.7)), float32)
    assert not boxes.parting_coordinates(16, 0.5, float32)
