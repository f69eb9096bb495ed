"""How long ``import cypool`` takes beyond numpy's own import, and what it must not bring along.

Apart from the races because an import can be timed once a process only.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import NamedTuple

LIMIT = 0.030
HEAVY = ("onnx", "click", "rich")

PROGRAM = """
import json, sys, time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import cypool
end = time.perf_counter()
print(json.dumps([middle - start, end - middle, sorted(set(%r) & set(sys.modules))]))
"""


class Imports(NamedTuple):
    numpy: float  # seconds, median
    beyond: float
    heavy: tuple[str, ...]  # of the packages that must stay out, those that came

    @property
    def met(self) -> bool:
        return self.beyond < LIMIT and not self.heavy


def measure(times: int) -> Imports:
    """The medians of several fresh processes."""
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", PROGRAM % (HEAVY,)], check=True, capture_output=True, text=True).stdout)
        for _ in range(times)
    ]
    return Imports(statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs), tuple(runs[0][2]))
