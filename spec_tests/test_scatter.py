"""The kernel scatter, bit by bit: every build and thread count against a plain loop."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypool import dispatch

settings.register_profile("scatter", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("scatter")

MODULES = {name: importlib.import_module(f"cypool.kernels.{name}.scatter") for name in dispatch.usable()}
WORDS = {"float16": np.uint16, "bfloat16": np.int16, "float": np.uint32, "double": np.uint64}
VIEWS = {"float": np.float32, "double": np.float64}


def loop(x, index, size):
    """The definition."""
    y = [0] * size
    for value, place in zip(x.tolist(), index.tolist(), strict=True):
        y[place] = value
    return np.array(y, x.dtype)


def call(module, type, x, index, size, planes, threads=1):
    """What it returns, and y as integers; y is full of sevens before."""
    y = np.full(size, 7, WORDS[type])
    view = VIEWS.get(type, WORDS[type])
    done = module.scatter[type](x.view(view), index, y.view(view), planes, threads)
    return done, y


def bits(rng, type, count):
    """Any bits at all, those of signalling NaNs and negative zeros among them."""
    return rng.integers(0, 256, (count, np.dtype(WORDS[type]).itemsize), np.uint8).view(WORDS[type])[:, 0]


@given(
    st.sampled_from(list(WORDS)),
    st.integers(1, 7),
    st.integers(0, 40),
    st.integers(1, 90),
    st.sampled_from(["inside", "anywhere", "one elsewhere"]),
    st.integers(0, 2**32 - 1),
)
def test_every_element_goes_to_its_place_and_the_last_one_wins(type, planes, count, size, where, seed):
    rng = np.random.default_rng(seed)
    x = bits(rng, type, planes * count)
    index = (rng.integers(0, size, (planes, count)) + size * np.arange(planes)[:, None]).ravel()
    if where == "anywhere":
        index = rng.integers(0, planes * size, planes * count)
    elif where == "one elsewhere" and count:
        index[rng.integers(0, len(index))] = rng.integers(0, planes * size)
    expected = loop(x, index, planes * size)
    for module in MODULES.values():
        for threads in (1, 2, 3):
            done, y = call(module, type, x, index, planes * size, planes, threads)
            assert done == -1
            assert y.tolist() == expected.tolist()


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("type", WORDS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bad", [-1, 60, 61, 1 << 32, -(1 << 63), (1 << 63) - 1, -60])
def test_the_first_index_outside_is_named_and_nothing_written(name, type, threads, bad):
    x = np.arange(24, dtype=WORDS[type])
    for first in (0, 5, 23):
        index = np.add.outer(20 * np.arange(3), np.arange(8)).ravel()  # each in its plane
        index[first] = bad
        index[23] = bad
        done, y = call(MODULES[name], type, x, index, 60, 3, threads)
        assert done == first
        assert (y == 7).all()


@pytest.mark.parametrize("name", MODULES)
def test_nothing_goes_nowhere(name):
    none, nowhere = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    assert call(MODULES[name], "float", none, nowhere, 0, 0)[0] == -1
    assert call(MODULES[name], "float", none, nowhere, 0, 5)[0] == -1
    done, y = call(MODULES[name], "float", none, nowhere, 6, 2)
    assert done == -1 and not y.any()
    assert call(MODULES[name], "float", np.ones(2, np.uint32), np.zeros(2, np.int64), 0, 2)[0] == 0


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("count", "indices", "size", "planes", "threads"), [(4, 3, 8, 2, 1), (4, 4, 9, 2, 1), (4, 4, 8, 3, 1), (4, 4, 8, 2, 0)]
)
def test_sizes_that_do_not_fit_are_refused(name, count, indices, size, planes, threads):
    with pytest.raises(ValueError, match="scatter"):
        call(MODULES[name], "float", np.zeros(count, np.uint32), np.zeros(indices, np.int64), size, planes, threads)
