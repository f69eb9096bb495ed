"""Calls from public reports, and laws of operators over windows."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import DTYPES, bits, ulps

import cypool
from cypool import spec
from cypool.accuracy import accuracy

REPORTED = [
    case
    for case in json.loads(Path(__file__).with_name("data").joinpath("reported_family.json").read_text())["cases"]
    if case["op"] in spec.operators()
]
TYPES = DTYPES | {"int8": np.int8, "uint8": np.uint8, "int64": np.int64}


def array(operand, type):
    values = np.array([float(value) for value in operand["data"]])
    return values.astype(TYPES[operand.get("type", type)]).reshape(operand["shape"])


@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["id"])
def test_reported_case(case):
    inputs = [array(operand, case["type"]) for operand in case["inputs"]]
    expected = [array(operand, case["type"]) for operand in case["outputs"]]
    got = cypool.run(case["op"], inputs, case["attributes"], opset=case["opset"], outputs=len(expected))
    for y, right in zip(got, expected, strict=True):
        limit = accuracy(case["op"], case["type"]).ulp
        assert max(ulps(y, right), default=0) <= limit


def test_a_function_runs_as_of_every_version_with_what_that_has():
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    for op, function in {"MaxPool": cypool.max_pool, "AveragePool": cypool.average_pool, "LpPool": cypool.lp_pool}.items():
        for version in spec.operator(op).versions:
            assert function(x, (2, 2), opset=version.since_version).shape == (1, 1, 2, 2)
    with pytest.raises(cypool.SpecValueError, match=r"^MaxPool-1: unknown attribute dilations, expected one of "):
        cypool.max_pool(x, (2, 2), dilations=(1, 1), opset=1)


# --- laws -----------------------------------------------------------------------------------------


@st.composite
def pooling(draw, least_rank=1, most_rank=3):
    """Data of any layout, and windows over it."""
    axes = draw(st.integers(least_rank, most_rank))
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *draw(st.lists(st.integers(1, 9), min_size=axes, max_size=axes)))
    seed = draw(st.integers(0, 2**32 - 1))
    x = np.random.default_rng(seed).integers(-9, 10, shape).astype(draw(st.sampled_from([np.float32, np.float64, np.float16])))
    order = draw(st.permutations(range(x.ndim)))
    x = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    several = lambda low, high, count: tuple(draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))  # noqa: E731
    windows = {
        "kernel_shape": several(1, 3, axes),
        "strides": several(1, 3, axes),
        "pads": several(0, 3, 2 * axes),
        "dilations": several(1, 2, axes),
        "ceil_mode": draw(st.integers(0, 1)),
    }
    extents = [(k - 1) * d + 1 for k, d in zip(windows["kernel_shape"], windows["dilations"], strict=True)]
    if any(size + before + after < extent - 1 for size, before, after, extent in fitted(shape, windows["pads"], extents)):
        windows["dilations"] = (1,) * axes
        windows["kernel_shape"] = (1,) * axes
    return x, windows


def fitted(shape, pads, extents):
    axes = len(extents)
    return zip(shape[2:], pads[:axes], pads[axes:], extents, strict=True)


def windows_of(x, windows):
    """Each window's elements, by brute force: an object array of 1-D arrays, and of the places of
    these in the flattened x.
    """
    y, indices = cypool.max_pool(x, **windows, return_indices=True)
    flat = np.ascontiguousarray(x)
    for place in np.ndindex(y.shape):
        per_axis = []
        for axis, o in enumerate(place[2:]):
            start = o * windows["strides"][axis] - windows["pads"][axis]
            taps = [start + k * windows["dilations"][axis] for k in range(windows["kernel_shape"][axis])]
            per_axis.append([t for t in taps if 0 <= t < x.shape[2 + axis]])
        cells = [(*place[:2], *map(int, inside)) for inside in np.array(np.meshgrid(*per_axis, indexing="ij")).reshape(len(per_axis), -1).T]
        yield y[place], indices[place], [flat[cell] for cell in cells], [np.ravel_multi_index(cell, x.shape) for cell in cells]


@settings(max_examples=150, deadline=None)
@given(pooling())
def test_a_maximum_is_the_largest_of_its_window_and_indices_name_the_first(drawn):
    for y, index, elements, places in windows_of(*drawn):
        if elements:
            assert y == max(elements)
            assert index == places[elements.index(max(elements))]
        else:
            assert (y, index) == (-np.inf, -1)


@settings(max_examples=100, deadline=None)
@given(pooling())
def test_the_maximum_of_the_negated_is_the_negated_minimum(drawn):
    x, windows = drawn
    for y, _, elements, _ in windows_of(-x, windows):
        assert y == (-min(-element for element in elements) if elements else -np.inf)


@settings(max_examples=100, deadline=None)
@given(pooling())
def test_pooling_a_stack_is_stacking_what_is_pooled(drawn):
    x, windows = drawn
    together = cypool.max_pool(x, **windows)
    apart = [
        np.concatenate([cypool.max_pool(x[n : n + 1, c : c + 1], **windows) for c in range(x.shape[1])], axis=1) for n in range(x.shape[0])
    ]
    assert bits(np.concatenate(apart)).tolist() == bits(together).tolist()


@settings(max_examples=100, deadline=None)
@given(pooling(least_rank=2))
def test_windows_can_be_taken_one_axis_after_the_other(drawn):
    x, windows = drawn
    axes = x.ndim - 2
    once = cypool.max_pool(x, **windows)
    y = x
    for axis in range(axes):
        alone = {
            name: tuple(value if i % axes == axis else int(name != "pads") for i, value in enumerate(values))
            for name, values in windows.items()
            if name != "ceil_mode"
        }
        y = cypool.max_pool(y, **alone, ceil_mode=windows["ceil_mode"])
    assert bits(y).tolist() == bits(once).tolist()


@pytest.mark.parametrize("op", [op for op in ("MaxPool", "AveragePool", "LpPool") if op in spec.operators()])
@settings(max_examples=60, deadline=None)
@given(pooling())
def test_a_window_of_one_element_is_that_element(op, drawn):
    x, _ = drawn
    (y,) = cypool.run(op, [x], {"kernel_shape": (1,) * (x.ndim - 2)})
    assert np.array_equal(y, np.abs(x) if op == "LpPool" else x)


@settings(max_examples=100, deadline=None)
@given(pooling())
def test_a_window_as_large_as_the_plane_is_the_global_operator(drawn):
    x, _ = drawn
    for op in ("MaxPool", "AveragePool", "LpPool"):
        if op in spec.operators():
            (windowed,) = cypool.run(op, [x], {"kernel_shape": x.shape[2:]})
            (whole,) = cypool.run(f"Global{op}", [x])
            assert bits(windowed).tolist() == bits(whole).tolist()
