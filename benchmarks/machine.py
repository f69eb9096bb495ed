"""What the figures were taken on.

Apart from the report because the JSON, the plot and the guard state it too.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def cpu() -> str:
    """The processor's own name of itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def caches() -> dict[str, str]:
    """Size of each level of the first processor's caches, where Linux tells."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = (folder / "type").read_text().strip()
        if kind != "Instruction":
            found[f"L{(folder / 'level').read_text().strip()}"] = (folder / "size").read_text().strip()
    return found


def description(threads: int) -> dict[str, Any]:
    """Processor, caches, system, and how busy it was."""
    from cypool import dispatch

    return {
        "cpu": cpu(),
        "processors": os.cpu_count(),
        "used": threads,
        "caches": caches(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "build": dispatch.chosen.name,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def sentence(facts: dict[str, Any]) -> str:
    """The description in one line."""
    caches_ = " ".join(f"{level} {size}" for level, size in facts["caches"].items())
    load = "" if facts["load"] is None else f", load {facts['load']:.1f}"
    return f"{facts['cpu']}, {facts['processors']} processors, {caches_}, build {facts['build']}, Python {facts['python']}{load}"
