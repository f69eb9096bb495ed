"""Calls that nobody should make: each is refused in words or answered, and none crashes or reads
outside its arrays.

CYPOOL_HOSTILE_CALLS is how many are drawn of each kind. What reads outside is seen by a build with
bounds checks or an address sanitiser: ``make test-debug``, ``make test-hostile``.
"""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import DTYPES

import cypool
from cypool import spec

CALLS = settings(
    max_examples=int(os.environ.get("CYPOOL_HOSTILE_CALLS", "1000")), deadline=None, suppress_health_check=list(HealthCheck), database=None
)
TYPES = DTYPES | {"int8": np.int8, "uint8": np.uint8, "int64": np.int64}


def call(op, version, inputs, attributes, outputs, threads=None):
    """Make a call; return how it ended."""
    try:
        results = cypool.run(op, inputs, attributes, opset=version.since_version, outputs=outputs, threads=threads)
    except cypool.SpecError as error:
        assert str(error).startswith((f"{version.name}: ", "unknown ")), error
        return "refused"
    except MemoryError:
        return "no room"  # for an output
    assert len(results) == (outputs or version.least_outputs)
    return "answered"


# --- anything -------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 2, 3, 5, 2**31, 2**62, 2**63 - 1, 2**64, 1.5, "x", None, True])
ATTRIBUTES = {attribute.name for version in spec.versions() for attribute in version.attributes} | {"nonsense"}


@st.composite
def hostile(draw):
    """Any operator on arrays of any shapes and types, with attributes that may be anything."""
    op = draw(st.sampled_from(spec.operators()))
    version = draw(st.sampled_from(spec.operator(op).versions))
    inputs = []
    for _ in range(draw(st.integers(0, len(version.inputs) + 1))):
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=6)))
        dtype = draw(st.sampled_from([*TYPES.values(), np.bool_, np.int32, ">f4"]))
        filled = np.full(shape, draw(st.sampled_from([0, 1, 3, 100])), dtype)
        inputs.append(draw(st.sampled_from([filled, filled.T, filled[::-1] if shape else filled, None])))
    names = draw(st.lists(st.sampled_from(sorted(ATTRIBUTES)), max_size=5, unique=True))
    likely = [a.name for a in version.attributes if draw(st.booleans())]
    values = st.one_of(NUMBERS, st.lists(NUMBERS, max_size=5), st.sampled_from(["VALID", "SAME_UPPER", b"NOTSET", "avg", "max"]))
    given = {name: draw(values) for name in dict.fromkeys([*names, *likely])}
    if "kernel_shape" in likely and draw(st.booleans()):
        given["kernel_shape"] = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 3)))]
    return op, version, inputs, given, draw(st.sampled_from([None, 0, 1, 2, 3]))


@CALLS
@given(hostile())
def test_a_hostile_call_is_refused_in_words_or_answered(drawn):
    call(*drawn)


# --- nearly right: kernels are reached, by odd sizes, values and memory ---------------------------


def layouts(x):
    """The same elements in memory of other orders; steps of 0, below 0, and past other elements."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
    wide[..., 1::2] = x
    return {
        "rows": x,
        "columns": np.asfortranarray(x),
        "channels last": np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1) if x.ndim > 1 else x,
        "backwards": np.ascontiguousarray(x[..., ::-1])[..., ::-1],
        "every other": wide[..., 1::2],
        "all one": np.broadcast_to(x.ravel()[:1].reshape((1,) * x.ndim), x.shape) if x.size else x,
    }


@st.composite
def tensor(draw, shape, type, low=None, high=None):
    """Any bits of the type, or numbers from a range."""
    dtype = np.dtype(TYPES[type])
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if low is None:
        x = np.frombuffer(random.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    else:
        x = random.uniform(low, high, shape).astype(dtype)
    found = layouts(x)
    return found[draw(st.sampled_from(sorted(found)))]


WILD = st.sampled_from([-1e30, -300.0, -3.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.75, 1e9, 1e30, float("inf"), float("nan")])


@st.composite
def table(draw, rows, columns, type):
    """Regions with corners in the image, near it, far from it, and nowhere."""
    rois = draw(tensor((rows, columns), type, -4, 12)).copy()
    for _ in range(draw(st.integers(0, 2)) if rois.size else 0):
        with np.errstate(over="ignore"):
            rois[draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))] = draw(WILD)
    if columns == 5:
        rois[:, 0] = draw(st.integers(0, 2))
    return rois


@st.composite
def windowed(draw, version, axes):
    """Windows of any form, most of which fit; attributes are left out as they may be."""
    several = lambda low, high, count=axes: draw(st.lists(st.integers(low, high), min_size=count, max_size=count))  # noqa: E731
    given = {"kernel_shape": several(1, 5), "strides": several(1, 4), "pads": several(0, 4, 2 * axes), "dilations": several(1, 3)}
    given |= {"ceil_mode": draw(st.integers(0, 1)), "count_include_pad": draw(st.integers(0, 1)), "storage_order": draw(st.integers(0, 1))}
    given |= {"auto_pad": draw(st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])), "p": draw(st.integers(1, 9))}
    if draw(st.booleans()):
        given["pads"] = [value - draw(st.integers(0, 2)) for value in given["pads"]]
    if given["auto_pad"] != "NOTSET":
        del given["pads"]
    names = [a.name for a in version.attributes if a.name in given]
    kept = [name for name in names if name == "kernel_shape" or draw(st.booleans())]
    return {name: given[name] for name in kept}


@st.composite
def nearly_right(draw):
    """An operator on arrays that fit, and at times one thing that doesn't."""
    op = draw(st.sampled_from(spec.operators()))
    version = draw(st.sampled_from(spec.operator(op).versions))
    type = draw(st.sampled_from(version.types[0].allowed))
    roi = "rois" in [operand.name for operand in version.inputs]
    axes = 2 if roi else draw(st.integers(1, 3))
    n, c = draw(st.integers(0, 3)), draw(st.integers(0, 20))
    sizes = draw(st.lists(st.integers(0, 40 if axes == 1 else 9), min_size=axes, max_size=axes))
    inputs = [draw(tensor((n, c, *sizes), type))]
    attributes = draw(windowed(version, axes)) if version.windows else {}
    if roi:
        rows = draw(st.integers(0, 5))
        inputs.append(draw(table(rows, 5 if op == "MaxRoiPool" else 4, type)))
        if op == "RoiAlign":
            inputs.append(draw(tensor((rows,), "int64", -0.5, max(n, 1) - draw(st.sampled_from([0.0, 0.01])))))
        attributes = {"spatial_scale": draw(st.sampled_from([0.25, 1.0, 3.0])), "pooled_shape": [draw(st.integers(1, 9)), 3]}
        attributes |= {"output_height": draw(st.integers(1, 9)), "output_width": 2, "sampling_ratio": draw(st.integers(0, 4))}
        attributes |= {"mode": draw(st.sampled_from(["avg", "max"])), "coordinate_transformation_mode": "output_half_pixel"}
        attributes = {a.name: attributes[a.name] for a in version.attributes if a.name in attributes}
    if version.name.startswith("MaxUnpool"):
        inputs.append(draw(tensor(inputs[0].shape, "int64", 0, max(inputs[0].size, 1) * draw(st.sampled_from([1, 4])))))
        if draw(st.booleans()):
            inputs.append(np.array([n, c, *(size * 2 + draw(st.integers(-1, 3)) for size in sizes)], np.int64))
    if attributes and draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(sorted(attributes)))
        attributes[name] = draw(st.one_of(NUMBERS, st.lists(NUMBERS, min_size=axes, max_size=2 * axes)))
    return op, version, inputs, attributes, draw(st.sampled_from([None, len(version.outputs)])), draw(st.integers(1, 3))


def test_a_call_that_is_nearly_right_is_refused_in_words_or_answered():
    ends = []
    CALLS(given(nearly_right())(lambda drawn: ends.append(call(*drawn))))()
    assert ends.count("answered") > len(ends) // 4, "too few reach a kernel"


# --- no room for scratch memory -------------------------------------------------------------------

FAILING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
static int after = -1, met = 0;
void fail_after(int calls) { after = calls; met = 0; }
int failed(void) { return met; }
static int fails(size_t size) { if (after < 0 || size < 64 || after-- > 0) return 0; after = 0; met = 1; return 1; }
void *malloc(size_t size) {
    static void *(*real)(size_t) = NULL;
    if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return fails(size) ? NULL : real(size);
}
void *realloc(void *p, size_t size) {
    static void *(*real)(void *, size_t) = NULL;
    if (!real) real = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    return fails(size) ? NULL : real(p, size);
}
"""

PROGRAM = """
import ctypes, numpy as np, cypool
library = ctypes.CDLL(None)
x = np.random.default_rng(0).standard_normal((2, 20, 9, 70)).astype(np.float32)
last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
rois = np.array([[0, 0, 0, 8, 8], [1, 1, 1, 60, 8]], np.float32)
k = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
y, places = cypool.max_pool(x, (2, 2), strides=(2, 2), return_indices=True)
calls = {
    "MaxPool": ([x], k, 2), "AveragePool": ([x], k, 1), "LpPool": ([x], k, 1), "GlobalMaxPool": ([last], {}, 1),
    "GlobalAveragePool": ([last], {}, 1), "GlobalLpPool": ([last], {}, 1), "MaxUnpool": ([y, places], {**k, "pads": [0] * 4}, 1),
    "MaxRoiPool": ([x, rois], {"pooled_shape": [2, 2]}, 1),
    "RoiAlign": ([x, rois[:, 1:].copy(), np.array([0, 1])], {"sampling_ratio": 2, "output_height": 3}, 1),
}
assert sorted(calls) == sorted(cypool.spec.operators())
for op, (inputs, attributes, outputs) in calls.items():
    right = cypool.run(op, inputs, attributes, outputs=outputs, threads=1)
    out = tuple(np.empty_like(array) for array in right)
    seen = 0
    for calls_before in range(20):
        library.fail_after(calls_before)
        try:
            cypool.run(op, inputs, attributes, outputs=outputs, out=out, threads=1)
        except MemoryError:
            end = "MemoryError"
        else:
            end = "answered"
        met = library.failed()
        library.fail_after(-1)
        if not met:
            break
        assert end == "MemoryError", (op, calls_before, end)
        seen += 1
    assert not met, op
    assert all(np.array_equal(one, other) for one, other in zip(out, right)), op
    print(op, seen)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="functions of the C library are replaced as Linux does it")
def test_where_there_is_no_room_for_scratch_memory_a_call_is_a_memory_error(tmp_path):
    (tmp_path / "failing.c").write_text(FAILING)
    library = tmp_path / "failing.so"
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "failing.c", "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = dict(line.split() for line in done.stdout.splitlines())
    assert all(int(seen[op]) for op in ("MaxPool", "AveragePool", "LpPool", "GlobalLpPool", "MaxRoiPool", "RoiAlign")), seen
