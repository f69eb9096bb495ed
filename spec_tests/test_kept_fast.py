"""What speed rests on, without a clock: no copy of the input, no thread for small work, nothing
imported in vain.
"""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from support import DTYPES, on_build

import cypool
from cypool import calls, dispatch, ops

CHANNELS_LAST = (0, 2, 3, 1)
ROIS = np.array([[0, 0, 0, 30, 30], [1, 5, 5, 90, 70]], np.float32)


def layouts(type):
    contiguous = np.ones((2, 16, 256, 256), DTYPES[type])
    last = np.ascontiguousarray(contiguous.transpose(CHANNELS_LAST)).transpose(np.argsort(CHANNELS_LAST))
    return {"contiguous": contiguous, "channels last": last, "every other row": contiguous[:, :, ::2]}


def traced(call):
    """The most memory that numpy and Python had beyond what there was before, in bytes."""
    call()  # caches and modules
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", layouts("float"))
@pytest.mark.parametrize("type", DTYPES)
def test_no_layout_is_copied(type, layout):
    x = layouts(type)[layout]
    assert traced(lambda: cypool.global_lp_pool(x, 2)) < x.nbytes / 50
    rois = ROIS.astype(DTYPES[type])
    assert traced(lambda: cypool.max_roi_pool(x, rois, (2, 2))) < x.nbytes / 50


def test_foreign_byte_order_is_copied_and_that_is_seen():
    x = np.ones((2, 16, 256, 256), np.dtype(np.float32).newbyteorder())
    assert traced(lambda: cypool.global_lp_pool(x, 2)) >= x.nbytes


PEAK = """
import numpy as np, cypool

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024

x = np.ones((2, 32, 512, 1024), np.float32)
last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
few = np.array([[0, 0, 0, 1000, 500]], np.float32)
rois = np.array([[r % 2, r % 900, r % 400, r % 900 + 60, r % 400 + 60] for r in range(3000)], np.float32)
cypool.global_lp_pool(x[:1, :1, :1], 2, threads=2)
cypool.max_roi_pool(x[:1, :1, :8, :8], few, (1, 1), 0.01, threads=2)
before = peak()
cypool.global_lp_pool(x, 2, threads=2)
cypool.global_lp_pool(last, 2, threads=2)
cypool.max_roi_pool(x, few, (7, 7), threads=2)
print(peak() - before, x.nbytes)
before = peak()
y = cypool.max_roi_pool(x[:, :, :64, :64], rois[:8], (7, 7), 0.06, threads=2)
few_peak = peak() - before
y = cypool.max_roi_pool(x[:, :, :64, :64], rois, (7, 7), 0.06, threads=2)
print(peak() - before - few_peak, y.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_scratch_memory_is_small_beside_the_input_and_does_not_grow_with_regions():
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, timeout=120, check=True)
    (grown, size), (more, output) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert grown < size / 10
    assert more < output + (4 << 20)


def threads_used(monkeypatch, call):
    """With how many threads the kernels were called."""
    counts = []

    def noted(kernel):
        def run(*arguments):
            counts.append(arguments[-1])
            return kernel(*arguments)

        return run

    noting = {
        name: versions if name.startswith("bins.") else {type: noted(kernel) for type, kernel in versions.items()}
        for name, versions in dispatch.chosen.kernels.items()
    }
    monkeypatch.setattr(dispatch, "available_threads", lambda: 8)
    with on_build(dispatch.chosen._replace(kernels=noting)):
        call()
    return counts


def test_small_work_stays_on_one_thread(monkeypatch):
    x = np.ones((1, 64, 7, 7), np.float32)
    rois = np.array([[0, 0, 0, 5, 5]], np.float32)
    assert threads_used(monkeypatch, lambda: cypool.global_lp_pool(x)) == [1]
    assert threads_used(monkeypatch, lambda: cypool.global_lp_pool(x.transpose(0, 1, 3, 2))) == [1]
    assert threads_used(monkeypatch, lambda: cypool.max_roi_pool(x, rois, (2, 2))) == [1]


def test_large_work_goes_to_all_threads(monkeypatch):
    x = np.ones((4, 64, 112, 112), np.float32)
    rois = np.array([[n % 4, 0, 0, 100, 100] for n in range(64)], np.float32)
    assert threads_used(monkeypatch, lambda: cypool.global_lp_pool(x)) == [8]
    assert threads_used(monkeypatch, lambda: cypool.max_roi_pool(x, rois, (7, 7))) == [8]


def test_the_fastest_build_is_chosen():
    assert dispatch.choose(None) == dispatch.usable()[-1]


def test_importing_brings_numpy_and_nothing_heavy():
    program = "import sys, cypool; print(*sorted({'onnx', 'click', 'rich', 'tomllib', 'cypool.spec.load'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split() == []


def test_calls_alike_are_prepared_once():
    prepared = []

    def noted(*arguments):
        prepared.append(arguments)
        return ops._prepare(*arguments)

    run = calls.Calls(noted).run
    x = np.ones((1, 2, 3), np.float32)
    for _ in range(5):
        run("GlobalLpPool", (x.copy(),), ("p", 3), None, None, None, None)
    assert len(prepared) == 1
    for other in ((("p", 4), None), (("p", 3), 2), (("p", 3.0), 1)):
        run("GlobalLpPool", (x,), *other, None, None, None)
    for array in (x[:, :1], x.astype(np.float64)):
        run("GlobalLpPool", (array,), ("p", 3), None, None, None, None)
    assert len(prepared) == 6
    for p in range(1, 1400):  # and not without end
        run("GlobalLpPool", (x,), ("p", p), None, None, None, None)
    run("GlobalLpPool", (x,), ("p", 2), None, None, None, None)
    assert len(prepared) > 1400


def test_a_thousand_threads_are_enough(monkeypatch):
    assert dispatch.threads_for(1 << 40, 1 << 40) == dispatch.MOST
    monkeypatch.setenv("OMP_NUM_THREADS", "99999999999")
    assert dispatch.threads_for(1e30, None) == dispatch.MOST
