"""Tell what this installation is made of: builds, threads, processor.

``dispatch`` acts on these facts; bug reports and the command line read them here.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

import cypool
from cypool import dispatch


def info() -> dict[str, Any]:
    """Facts about the installed library, JSON-ready.

    >>> print(*sorted(info()))
    builds chosen compiler cpu forced numpy openmp python threads usable version
    """
    cpu = dispatch.processor()
    return {
        "version": cypool.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "builds": list(dispatch.present()),
        "usable": list(dispatch.usable()),
        "chosen": dispatch.chosen.name,
        "forced": os.environ.get("CYPOOL_ISA") or None,
        "compiler": cpu.compiler(),
        "openmp": cpu.openmp() or None,
        "threads": dispatch.available_threads(),
        "cpu": _cpu(),
    }


def _cpu() -> str:
    """Return the processor's name where the system tells it, its architecture elsewhere."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
