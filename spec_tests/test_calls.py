"""The functions as people call them: what is taken, what is refused and how, outputs, threads,
forks, several callers at once.
"""

import importlib.util
import math
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest
from support import BUILDS

import cypool
from cypool import dispatch, spec

X = np.arange(-8, 8, dtype=np.float32).reshape(1, 2, 2, 4)
IMAGE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
ROIS = np.array([[0, 0, 0, 7, 7]], np.float32)


# --- refusals -------------------------------------------------------------------------------------

REFUSED = [
    (ValueError, "GlobalLpPool-22: p is 0, expected an integer >= 1", lambda: cypool.global_lp_pool(X, 0)),
    (TypeError, "GlobalLpPool-22: p is 2.0, expected an integer >= 1", lambda: cypool.global_lp_pool(X, 2.0)),
    (TypeError, "GlobalLpPool-2: p is True, expected an integer >= 1", lambda: cypool.global_lp_pool(X, True, opset=21)),
    (TypeError, "GlobalLpPool-22: p is '2', expected an integer >= 1", lambda: cypool.global_lp_pool(X, "2")),
    (ValueError, f"GlobalLpPool-22: p is {2**63}, expected an integer >= 1", lambda: cypool.global_lp_pool(X, 2**63)),
    (ValueError, "GlobalLpPool-1: p is 0.0, expected a number > 0", lambda: cypool.global_lp_pool(X, 0.0, opset=1)),
    (ValueError, "GlobalLpPool-1: p is -inf, expected a number > 0", lambda: cypool.global_lp_pool(X, -math.inf, opset=1)),
    (ValueError, "GlobalLpPool-1: p is nan, expected a number > 0", lambda: cypool.global_lp_pool(X, math.nan, opset=1)),
    (ValueError, "GlobalLpPool-1: p is 1e-60, expected a number > 0", lambda: cypool.global_lp_pool(X, 1e-60, opset=1)),
    (TypeError, "GlobalLpPool-1: p is True, expected a number > 0", lambda: cypool.global_lp_pool(X, True, opset=1)),
    (ValueError, "GlobalLpPool-22: X has shape (4,), expected (N, C, D1, ..., Dn)", lambda: cypool.global_lp_pool(np.zeros(4))),
    (TypeError, "GlobalLpPool-22: X is int32, expected one of", lambda: cypool.global_lp_pool(X.astype(np.int32))),
    (TypeError, "GlobalLpPool-2: X is bfloat16, expected one of", lambda: cypool.global_lp_pool(X.astype(ml_dtypes.bfloat16), opset=21)),
    (TypeError, "GlobalLpPool-22: X is object, expected one of", lambda: cypool.global_lp_pool(X.astype(object))),
    (TypeError, "GlobalLpPool-22: X is a list that numpy cannot view", lambda: cypool.global_lp_pool([[[1.0]]])),
    (ValueError, "GlobalLpPool-22: X is missing, expected X", lambda: cypool.global_lp_pool(None)),
    (ValueError, "GlobalLpPool has no version at opset 0", lambda: cypool.global_lp_pool(X, opset=0)),
    (TypeError, "GlobalLpPool: opset is 2.0", lambda: cypool.global_lp_pool(X, opset=2.0)),
    (ValueError, "GlobalLpPool-22: threads is 0, expected an integer >= 1 or None", lambda: cypool.global_lp_pool(X, threads=0)),
    (ValueError, "GlobalLpPool-22: threads is -1, expected an integer >= 1 or None", lambda: cypool.global_lp_pool(X, threads=-1)),
    (TypeError, "GlobalLpPool-22: threads is 1.0, expected", lambda: cypool.global_lp_pool(X, threads=1.0)),
    (
        ValueError,
        "GlobalLpPool-22: out has shape (1, 2), expected (1, 2, 1, 1)",
        lambda: cypool.global_lp_pool(X, out=np.empty((1, 2), "f")),
    ),
    (TypeError, "GlobalLpPool-22: out is double, expected float", lambda: cypool.global_lp_pool(X, out=np.empty((1, 2, 1, 1)))),
    (TypeError, "GlobalLpPool-22: out is a list, expected a numpy array", lambda: cypool.global_lp_pool(X, out=[])),
    (ValueError, "GlobalLpPool-22: unknown attribute q, expected one of p", lambda: cypool.run("GlobalLpPool", [X], {"q": 1})),
    (ValueError, "GlobalLpPool-22: 2 inputs, expected 1 (X)", lambda: cypool.run("GlobalLpPool", [X, X])),
    (ValueError, f"unknown operator 'GlobalPool'; there are {', '.join(spec.operators())}", lambda: cypool.run("GlobalPool", [X])),
    (ValueError, "MaxRoiPool-22: attribute pooled_shape is missing", lambda: cypool.run("MaxRoiPool", [IMAGE, ROIS])),
    (ValueError, "MaxRoiPool-22: rois has shape (1, 4), expected (num_rois, 5)", lambda: cypool.max_roi_pool(IMAGE, ROIS[:, 1:], (2, 2))),
    (
        ValueError,
        "MaxRoiPool-1: pooled_shape is (2,), expected 2 integers, each >= 1",
        lambda: cypool.max_roi_pool(IMAGE, ROIS, (2,), opset=1),
    ),
    (ValueError, "MaxRoiPool-22: pooled_shape is (2, 0), expected 2 integers", lambda: cypool.max_roi_pool(IMAGE, ROIS, (2, 0))),
    (TypeError, "MaxRoiPool-22: pooled_shape is (2, 2.0), expected 2 integers", lambda: cypool.max_roi_pool(IMAGE, ROIS, (2, 2.0))),
    (TypeError, "MaxRoiPool-22: pooled_shape is 2, expected 2 integers", lambda: cypool.max_roi_pool(IMAGE, ROIS, 2)),
    (
        ValueError,
        "MaxRoiPool-22: spatial_scale is 0, expected a number > 0 and finite",
        lambda: cypool.max_roi_pool(IMAGE, ROIS, (2, 2), 0),
    ),
    (ValueError, "MaxRoiPool-22: spatial_scale is inf, expected", lambda: cypool.max_roi_pool(IMAGE, ROIS, (2, 2), math.inf)),
    (ValueError, "MaxRoiPool-22: spatial_scale is 1e+300, expected", lambda: cypool.max_roi_pool(IMAGE, ROIS, (2, 2), 1e300)),
    (
        TypeError,
        "MaxRoiPool-22: rois is double, expected float as X is",
        lambda: cypool.max_roi_pool(IMAGE, ROIS.astype(np.float64), (2, 2)),
    ),
    (
        TypeError,
        "GlobalLpPool-2: inputs is a ndarray, expected a list of inputs (X)",
        lambda: cypool.run("GlobalLpPool", X, {"p": 2}, opset=18),
    ),
    (
        TypeError,
        "MaxRoiPool-22: inputs is a Viewed, expected a list",
        lambda: cypool.run("MaxRoiPool", Viewed(X), {"pooled_shape": (1, 1)}),
    ),
    (
        TypeError,
        "GlobalLpPool-22: inputs is a memoryview, expected a list of inputs (X)",
        lambda: cypool.run("GlobalLpPool", memoryview(X)),
    ),
    (TypeError, "GlobalLpPool-22: inputs is a dict, expected a list of inputs (X)", lambda: cypool.run("GlobalLpPool", {"X": X})),
    (TypeError, "GlobalLpPool-22: inputs is a NoneType, expected a list of inputs (X)", lambda: cypool.run("GlobalLpPool", None)),
    (ValueError, f"unknown operator 'GlobalPool'; there are {', '.join(spec.operators())}", lambda: cypool.run("GlobalPool", X)),
    (TypeError, "GlobalLpPool-22: attributes is a int, expected a dictionary", lambda: cypool.run("GlobalLpPool", [X], 2)),
    (
        ValueError,
        f"MaxRoiPool-22: the output has shape (1, 1, {2**40}, {2**40}), {4 * 2**80} bytes, expected at most {2**63 - 1} bytes",
        lambda: cypool.max_roi_pool(IMAGE, ROIS, (2**40, 2**40)),
    ),
    (
        ValueError,
        f"MaxRoiPool-1: the output has shape (0, 1, {2**63 - 1}, 1), {4 * (2**63 - 1)} bytes, expected at most",
        lambda: cypool.run("MaxRoiPool", [IMAGE, ROIS[:0]], {"pooled_shape": (2**63 - 1, 1)}, opset=1),
    ),
]


@pytest.mark.parametrize(("kind", "text", "call"), REFUSED, ids=[text for _, text, _ in REFUSED])
def test_refusals_say_what_came_and_what_is_allowed(kind, text, call):
    with pytest.raises(kind, match=re.escape(text)) as caught:
        call()
    assert isinstance(caught.value, cypool.SpecError)


class Masked:
    """Gives a masked array when asked for an array."""

    def __array__(self, dtype=None, copy=None):
        return np.ma.masked_invalid(X)


class ForeignMasked(np.ndarray):
    """A subclass with a mask that is not numpy's, as astropy's."""

    @property
    def mask(self):
        return np.zeros(self.shape, bool)


MASKED = [
    ("X is a masked array", lambda: cypool.global_lp_pool(np.ma.masked_array(X, X > 3))),
    ("X is a masked array", lambda: cypool.global_lp_pool(np.ma.masked_array(X))),
    ("X is a masked array", lambda: cypool.run("GlobalLpPool", [np.ma.masked_array(X, X > 3)])),
    ("X is a masked array", lambda: cypool.global_lp_pool(Masked())),
    ("X is a masked array", lambda: cypool.global_lp_pool(X.view(ForeignMasked))),
    ("rois is a masked array", lambda: cypool.max_roi_pool(IMAGE, np.ma.masked_array(ROIS, True), (1, 1))),
    ("out is a masked array", lambda: cypool.global_lp_pool(X, out=np.ma.masked_array(np.zeros((1, 2, 1, 1), np.float32)))),
    ("p is masked_array", lambda: cypool.global_lp_pool(X, np.ma.masked_array(2, True))),
    ("pooled_shape is masked_array", lambda: cypool.max_roi_pool(IMAGE, ROIS, np.ma.masked_array([2, 2], [0, 1]))),
]


@pytest.mark.parametrize(("text", "call"), MASKED, ids=range(len(MASKED)))
def test_masked_arrays_are_refused(text, call):
    with pytest.raises(cypool.SpecTypeError, match=f"(?s)-22: {text}.*expected "):
        call()


def test_an_array_can_hold_the_largest_output_that_is_not_refused():
    """It is empty: one axis has size 0 and the others count."""
    largest = (2**63 - 1) // 4
    assert cypool.max_roi_pool(IMAGE, ROIS[:0], (largest, 1)).shape == np.empty((0, 1, largest, 1), np.float32).shape
    assert cypool.max_roi_pool(IMAGE[:, :0], ROIS, (1, largest)).shape == (1, 0, 1, largest)
    with pytest.raises(cypool.SpecValueError, match=re.escape("rois[0, 0] is 1.0, expected an integer from 0 to 0")):
        cypool.max_roi_pool(IMAGE[:, :0], ROIS + 1, (1, largest))
    with pytest.raises(ValueError, match="too big"):
        np.empty((0, 1, largest + 1, 1), np.float32)
    with pytest.raises(cypool.SpecValueError, match="MaxRoiPool-22: the output has shape"):
        cypool.max_roi_pool(IMAGE, ROIS[:0], (largest + 1, 1))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("row", "column", "value", "allowed"),
    [
        (2, 0, -1, "an integer from 0 to 0"),
        (2, 0, 1, "an integer from 0 to 0"),
        (1, 0, 0.5, "an integer from 0 to 0"),
        (0, 0, math.nan, "an integer from 0 to 0"),
        (1, 3, math.nan, "a finite number"),
        (2, 4, -math.inf, "a finite number"),
    ],
)
def test_a_bad_region_is_named_by_row_and_column(dtype, row, column, value, allowed):
    rois = np.repeat(ROIS, 3, axis=0).astype(dtype)
    rois[row, column] = value
    with pytest.raises(
        cypool.SpecValueError, match=re.escape(f"MaxRoiPool-22: rois[{row}, {column}] is {float(value)!r}, expected {allowed}")
    ):
        cypool.max_roi_pool(IMAGE.astype(dtype), rois, (2, 2))


def test_regions_without_images_are_refused():
    with pytest.raises(cypool.SpecValueError, match=re.escape("rois[0, 0] is 0.0, expected none at all, as N is empty")):
        cypool.max_roi_pool(IMAGE[:0], ROIS, (2, 2))


# --- what is taken --------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "opset"), [(3, 22), (np.int64(3), 22), (3, 1), (3.0, 1), (np.float32(3), 1), (np.int8(3), 1)])
def test_an_int_is_welcome_where_a_float_is_asked_and_numpy_numbers_are(p, opset):
    assert cypool.global_lp_pool(X, p, opset=opset)[0, 0, 0, 0] == np.float32(1296 ** (1 / 3))


def test_none_is_the_default():
    assert cypool.global_lp_pool(np.array([[[3.0, 4.0]]]), None).item() == 5
    assert cypool.run("MaxRoiPool", [IMAGE, ROIS], {"pooled_shape": [1, 1], "spatial_scale": None})[0].item() == 63


class Viewed:
    """Only DLPack, as arrays of other libraries have it."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_and_buffers_are_read_without_a_copy():
    x = np.array([[[3.0, 4.0]]])
    assert cypool.global_lp_pool(Viewed(x)).item() == 5
    assert cypool.global_lp_pool(memoryview(x)).item() == 5


def test_read_only_input_is_welcome_and_read_only_output_is_not():
    x = np.array([[[3.0, 4.0]]])
    x.flags.writeable = False
    assert cypool.global_lp_pool(x).item() == 5
    out = np.zeros((1, 1, 1))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        cypool.global_lp_pool(x, out=out)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (0, 0), (2, 0, 0)])
def test_without_planes_there_is_no_output(shape):
    assert cypool.global_lp_pool(np.empty(shape)).shape == (*shape[:2], *[1] * (len(shape) - 2))


@pytest.mark.parametrize("shape", [(2, 3, 0), (2, 3, 4, 0), (2, 3, 0, 5, 1)])
def test_an_empty_plane_is_0(shape):
    y = cypool.global_lp_pool(np.empty(shape))
    assert y.ravel().tolist() == [0] * 6
    assert y.shape == (2, 3, *[1] * (len(shape) - 2))


@pytest.mark.parametrize("shape", [(1, 2, 0, 5), (1, 2, 5, 0)])
def test_bins_of_an_image_without_pixels_are_0(shape):
    assert cypool.max_roi_pool(np.empty(shape), ROIS.astype(np.float64), (1, 2)).tolist() == [[[[0, 0]], [[0, 0]]]]


def test_without_regions_there_is_no_output():
    for images in (IMAGE, IMAGE[:0]):
        assert cypool.max_roi_pool(images, ROIS[:0], (2, 3)).shape == (0, 1, 2, 3)


def test_ranks_up_to_numpys_last():
    last = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    x = np.ones((1, 2) + (1,) * (last - 3) + (3,))
    assert cypool.global_lp_pool(x, 1).ravel().tolist() == [3, 3]
    assert cypool.global_lp_pool(x.transpose(0, 1, *range(last - 1, 1, -1)), 1).shape == (1, 2, *[1] * (last - 2))


def test_the_operator_may_be_any_string_and_nothing_else():
    assert cypool.run(np.str_("GlobalLpPool"), [X])[0].tolist() == cypool.global_lp_pool(X).tolist()
    for op in (5, None, ("GlobalLpPool",), "GlobalLPPool"):
        with pytest.raises(cypool.SpecValueError, match=rf"unknown operator .*; there are {', '.join(spec.operators())}"):
            cypool.run(op, [X])


# --- out ------------------------------------------------------------------------------------------


def test_out_is_filled_and_returned():
    out = np.full((1, 2, 1, 1), -1, np.float32)
    assert cypool.global_lp_pool(X, 1, out=out) is out
    assert out.ravel().tolist() == [36, 28]


def test_out_may_lie_anywhere():
    room = np.full((2, 2, 3, 4), -1, np.float32)
    expected = cypool.global_lp_pool(np.concatenate([X, 2 * X]), 1)
    cypool.global_lp_pool(np.concatenate([X, 2 * X]), 1, out=room[:, :, 1:2, 2:3])
    assert room[:, :, 1:2, 2:3].tolist() == expected.tolist()
    assert (np.delete(room.reshape(4, 12), 6, axis=1) == -1).all()


@pytest.mark.parametrize("type", [">f2", ">f4", ">f8"])
def test_out_may_have_a_foreign_byte_order(type):
    x = np.ones((1, 2, 4, 4), type)
    room = np.zeros((2, 2, 1, 1), type)
    assert cypool.global_lp_pool(x, 1, out=room[:1]).tolist() == [[[[16]], [[16]]]]
    backwards = np.zeros((1, 2, 1, 1), type)[:, ::-1]
    assert cypool.global_lp_pool(x, 1, out=backwards).tolist() == [[[[16]], [[16]]]]
    rois = np.array([[0, 0, 0, 3, 3]], type)
    assert cypool.max_roi_pool((x * 5).astype(type), rois, (1, 1), out=room[1:]).tolist() == [[[[5]], [[5]]]]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_out_may_be_a_matrix():
    out = np.matrix([[0.0, 0.0]])
    assert cypool.global_lp_pool(np.array([[-3.0, 4.0]]), out=out) is out
    assert out.tolist() == [[3, 4]]


def test_out_may_be_the_input():
    x = np.array([[-3.0, 4.0]])
    assert cypool.global_lp_pool(x, out=x) is x
    assert x.tolist() == [[3, 4]]
    x = np.array([[1.0, 2.0], [-5.0, 6.0]])
    assert cypool.global_lp_pool(x, out=x.T).T.tolist() == [[1, 5], [2, 6]] or x.T.tolist() == [[1, 2], [5, 6]]
    image = np.arange(16.0).reshape(1, 1, 4, 4)
    cypool.max_roi_pool(image, np.array([[0.0, 0, 0, 3, 3]]), (4, 4), out=image[:, :, ::-1])
    assert image[0, 0, ::-1].tolist() == np.arange(16.0).reshape(4, 4).tolist()


# --- threads --------------------------------------------------------------------------------------


def python(program, **environment):
    """What a fresh interpreter prints."""
    env = {key: value for key, value in os.environ.items() if key not in ("OMP_NUM_THREADS", "CYPOOL_ISA")} | environment
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=60, check=False)


def test_omp_num_threads_counts_where_nothing_is_said():
    program = "from cypool.dispatch import threads_for as t; print(t(1 << 30, None), t(100, None), t(100, 5))"
    assert python(program, OMP_NUM_THREADS="7").stdout.split() == ["7", "1", "5"]
    assert python(program, OMP_NUM_THREADS="3,2").stdout.split() == ["3", "1", "5"]


def test_affinity_counts_otherwise():
    program = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from cypool import dispatch
print(dispatch.available_threads())
"""
    assert python(program).stdout.split() == ["1"]


def test_a_quota_of_the_control_group_counts(monkeypatch, tmp_path):
    def read(text):
        monkeypatch.setattr(dispatch.Path, "read_text", lambda path: text)
        return dispatch._quota()

    assert read("150000 100000") == 2
    assert read("max 100000") > 1000


def test_a_wish_for_a_build_is_kept_or_refused_loudly():
    program = "from cypool import dispatch; print(dispatch.chosen.name)"
    for name in BUILDS:
        assert python(program, CYPOOL_ISA=name).stdout.strip() == name
    assert python(program).stdout.strip() == list(BUILDS)[-1]
    refused = python(program, CYPOOL_ISA="sparc")
    assert refused.returncode == 1
    assert "ImportError: CYPOOL_ISA=sparc: built are baseline" in refused.stderr


def pool_in_child(queue):
    queue.put((dispatch.threads_for(1 << 30, 4), cypool.global_lp_pool(np.ones((64, 64, 40, 40)), 1, threads=4).sum()))


def test_after_fork_the_child_works_on_one_thread():
    cypool.global_lp_pool(np.ones((64, 64, 40, 40)), threads=2)  # the parent's pool of threads exists
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=pool_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=30) == (1, 64 * 64 * 1600)
    finally:
        child.join(5)
        child.kill()


OPENMP_SOURCE = """
int work(void) { int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+:sum)
for (int i = 0; i < 1000; i++) sum += i;
return sum; }
"""

OPENMP = {"gcc": "import ctypes; ctypes.CDLL(sys.argv[1]).work()"}
"""Packages that run OpenMP, and a program that makes each of them do so."""
if importlib.util.find_spec("torch"):
    OPENMP["torch"] = "import torch; torch.set_num_threads(2); torch.ones(1 << 20).exp().sum()"

FORK_THEN_IMPORT = """
import os, sys, threading, time
{work}
assert "cypool" not in sys.modules
if pid := os.fork():
    for _ in range(300):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            sys.exit(os.waitstatus_to_exitcode(status))
        time.sleep(0.1)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    sys.exit("the child hangs")
with open("/proc/self/comm", "w") as comm:
    comm.write({comm!r})
import numpy as np, cypool
from cypool import dispatch
y = cypool.global_lp_pool(np.ones((2, 64, 128, 128), "f4"), threads=2)
print(dispatch.threads_for(1 << 30, 4), y.shape, (y == 128).all(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell who was forked")
@pytest.mark.parametrize("comm", ["python", "a) S (b", ") R 1 2"])
@pytest.mark.parametrize("package", OPENMP)
def test_a_forked_child_that_imports_cypool_itself_works_on_one_thread(package, comm, tmp_path):
    source, library = tmp_path / "work.c", tmp_path / "work.so"
    source.write_text(OPENMP_SOURCE)
    subprocess.run(["cc", "-fopenmp", "-shared", "-fPIC", "-o", library, source], check=True)
    program = FORK_THEN_IMPORT.format(work=OPENMP[package], comm=comm)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, library], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.returncode) == ("1 (2, 64, 1, 1) True\n", 0), done.stderr


def test_a_process_that_was_started_is_no_forked_child():
    """subprocess forks and executes a program, which ends the danger."""
    assert python("from cypool import dispatch; print(dispatch.threads_for(1 << 30, 4))").stdout.split() == ["4"]


def test_calls_from_several_python_threads_are_safe():
    x = np.random.default_rng(7).standard_normal((8, 16, 60, 60)).astype(np.float32)
    rois = np.array([[n, 5, 5, 50, 50] for n in range(8)], np.float32)
    expected = [(cypool.global_lp_pool(x, p).tobytes(), cypool.max_roi_pool(x, rois, (p, p)).tobytes()) for p in (1, 2, 3, 5)]
    wrong = []

    def work(i):
        for _ in range(15):
            p = (1, 2, 3, 5)[i % 4]
            got = (
                cypool.global_lp_pool(x, p, threads=1 + i % 3).tobytes(),
                cypool.max_roi_pool(x, rois, (p, p), threads=1 + i % 3).tobytes(),
            )
            if got != expected[i % 4]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_interpreter_lock_is_released_during_work():
    x = np.ones((1, 1, 30_000_000))
    span = []

    def work():
        span.append(time.perf_counter())
        cypool.global_lp_pool(x, 5, threads=1)
        span.append(time.perf_counter())

    worker = threading.Thread(target=work)
    ticks = []
    worker.start()
    while worker.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0)
    start, end = span
    middle = [tick for tick in ticks if start + (end - start) / 4 < tick < end - (end - start) / 4]
    assert middle, "nothing ran while the kernel did"


def test_no_warning_and_no_floating_point_state_is_left_behind():
    with np.errstate(all="raise"):
        y = cypool.global_lp_pool(np.array([[[1e308, 1e308], [np.nan, 1], [5e-324, 0], [np.inf, 1]]]), 1)
        cypool.max_roi_pool(IMAGE, np.array([[0, -3e38, -3e38, 3e38, 3e38]], np.float32), (2, 2), 1e10)
    assert [str(v) for v in y.ravel()] == ["inf", "nan", "5e-324", "inf"]
