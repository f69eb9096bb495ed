"""Runs the workloads under callgrind and reads how many instructions the kernels took for each.

Apart from the judgement because it knows valgrind's options and files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.guard.workloads import MARK, WORKLOADS, whole
from cypool.kernels.builds import KERNELS

KERNEL = re.compile(rf"/cypool/kernels/\w+/(?:{'|'.join(KERNELS)})\.")


def count(build: str) -> dict[str, int]:
    """Instructions in the kernels of a build, by workload. Needs valgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--dump-before={MARK}", "--compress-strings=no"]
        environment = os.environ | {"CYPOOL_ISA": build, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [*command, sys.executable, "-m", "benchmarks.guard.workloads"], env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{build}: the workloads failed under valgrind\n{done.stderr[-2000:]}")
        # Dump 1 is what came before the first mark, dump i + 1 the i-th workload.
        dumps = sorted(Path(folder).glob("counts.*"), key=lambda path: int(path.suffix[1:]))[1 : len(WORKLOADS) + 1]
        if len(dumps) != len(WORKLOADS):
            raise SystemExit(f"{build}: callgrind wrote {len(dumps)} dumps for {len(WORKLOADS)} workloads")
        return {name: instructions(dump.read_text(), whole(name)) for name, dump in zip(WORKLOADS, dumps, strict=True)}


def instructions(dump: str, everywhere: bool = False) -> int:
    """The instructions of a dump that lie in a kernel, without those of what it calls in other
    libraries; or all.
    """
    total = 0
    inside = skip = False
    for line in dump.splitlines():
        if line.startswith("ob="):
            inside = bool(KERNEL.search(line))
        elif line.startswith("calls="):
            skip = True  # the next line is what the called function took
        elif line[:1] in "0123456789+-*" and line:
            if (inside or everywhere) and not skip:
                total += int(line.split()[1])
            skip = False
    return total
