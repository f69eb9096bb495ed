"""The instruction counts on record are those of all workloads, and every kernel has one."""

import json

import pytest

from benchmarks.guard.__main__ import BUILDS, RECORD
from benchmarks.guard.callgrind import KERNEL, instructions
from benchmarks.guard.workloads import WORKLOADS
from cypool.kernels.builds import KERNELS

WITHOUT_LOOPS = {"cpu"}


def kernel_of(workload):
    return workload.removeprefix("call ").split()[0]


def test_every_kernel_has_a_workload():
    assert {kernel_of(name) for name in WORKLOADS} == set(KERNELS) - WITHOUT_LOOPS


@pytest.mark.parametrize("kernel", KERNELS)
def test_instructions_of_every_kernel_are_counted(kernel):
    dump = f"ob=/somewhere/cypool/kernels/x86_64_v3/{kernel}.cpython-311-x86_64-linux-gnu.so\nfn=f\n12 100\n+3 20\n"
    assert KERNEL.search(dump)
    assert instructions(dump) == 120


def test_instructions_elsewhere_and_of_calls_are_not_counted():
    assert instructions("ob=/usr/lib/libm.so.6\nfn=f\n12 100\n") == 0
    assert instructions("ob=/x/cypool/kernels/baseline/lp.so\nfn=f\n12 100\ncalls=1 0\n12 5000\n") == 100


@pytest.mark.parametrize("build", BUILDS)
def test_every_workload_has_its_count_on_record(build):
    assert list(json.loads(RECORD.read_text())[build]) == list(WORKLOADS)
