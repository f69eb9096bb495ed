"""Kernels over windows work in one block of scratch memory a thread, however large the
arrays are.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK_KIB = 256  # a thread's at most, as docs/kernels.md says
UNSEEN_KIB = 1024  # pages that Linux counts late, a batch a thread, and that the interpreter takes
THREADS = 2

PROGRAM = """
import re, sys
from pathlib import Path
import numpy as np
import cypool

def kib(name):
    return int(re.search(rf"{{name}}:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

def arguments(planes):
    x = np.ones((planes, 16, 128, 128), {dtype!r})
    return {arguments}

small = arguments(1)
out = cypool.run({op!r}, small, {attributes}, outputs={outputs}, threads={threads})
large = arguments({planes})
out = tuple(np.ones(({planes}, *y.shape[1:]), y.dtype) for y in out)
cypool.run({op!r}, arguments(1), {attributes}, outputs={outputs}, threads={threads})
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = kib("VmRSS")
cypool.run({op!r}, large, {attributes}, out=out, outputs={outputs}, threads={threads})
print(kib("VmHWM") - before)
"""

K3 = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
LAST = "[np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)]"
CASES = {
    "MaxPool": ("MaxPool", K3, 1, "[x]"),
    "MaxPool of channels last": ("MaxPool", K3 | {"strides": [1, 1]}, 1, LAST),
    "MaxPool with Indices": ("MaxPool", K3, 2, "[x]"),
    "MaxPool with Indices, windows of 99": ("MaxPool", {"kernel_shape": [99, 99]}, 2, "[x]"),
    "AveragePool": ("AveragePool", K3, 1, "[x]"),
    "LpPool": ("LpPool", K3, 1, "[x]"),
    "LpPool, p=3": ("LpPool", K3 | {"p": 3}, 1, "[x]"),
    "GlobalMaxPool": ("GlobalMaxPool", {}, 1, "[x]"),
    "GlobalAveragePool": ("GlobalAveragePool", {}, 1, "[x]"),
    "GlobalLpPool": ("GlobalLpPool", {}, 1, "[x]"),
}


if Path("/proc/self/clear_refs").exists():  # only Linux tells

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("case", CASES)
    def test_scratch_memory_is_a_block_a_thread(case, dtype):
        op, attributes, outputs, arguments = CASES[case]
        planes = 32 if "99" in case else 128 if dtype == "float32" else 64
        program = PROGRAM.format(
            op=op, attributes=attributes, outputs=outputs, arguments=arguments, dtype=dtype, threads=THREADS, planes=planes
        )
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        assert int(done.stdout) <= THREADS * BLOCK_KIB + UNSEEN_KIB


def test_the_page_of_kernels_states_the_block():
    page = Path(__file__).parents[1].joinpath("docs", "kernels.md").read_text()
    assert re.search(rf"at most\s+{BLOCK_KIB}\s+KiB\s+a\s+thread", page)
