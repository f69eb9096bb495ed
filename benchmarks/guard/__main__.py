"""``python -m benchmarks.guard``: count, compare with counts.json, and fail where a kernel takes
more instructions than allowed.

Apart from the counting because what is allowed is a judgement.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from pathlib import Path

from rich.table import Table

from benchmarks.guard.callgrind import count
from benchmarks.guard.workloads import WORKLOADS
from benchmarks.report import console

RECORD = Path(__file__).with_name("counts.json")
BUILDS = ("baseline", "x86_64_v3")
"""valgrind knows no AVX-512, so x86_64_v4 has no counts."""

ALLOWANCE = 0.05
"""How much a count may grow before it is a fault. Compilers of one major version differ by less."""


def table(build: str, counts: dict[str, int], recorded: dict[str, int]) -> tuple[Table, list[str]]:
    """Each workload's count beside the recorded one, and those that grew too much or have no
    record.
    """
    result = Table(title=build, box=None, title_justify="left", pad_edge=False)
    for name in ("workload", "recorded", "counted", "an element", "change"):
        result.add_column(name, justify="left" if name == "workload" else "right")
    faults = []
    for name, counted in counts.items():
        before = recorded.get(name)
        change = counted / before - 1 if before else None
        fault = change is None or change > ALLOWANCE
        style = "red" if fault else "green" if change is not None and change < -ALLOWANCE else ""
        result.add_row(
            name,
            f"{before:,}" if before else "",
            f"{counted:,}",
            f"{counted / math.prod(WORKLOADS[name].shape):.2f}",
            "new" if change is None else f"{change:+.1%}",
            style=style,
        )
        if fault:
            faults.append(f"{build}: {name}")
    return result, faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard", description=__doc__)
    parser.add_argument("--update", action="store_true", help="record today's counts")
    parser.add_argument("--build", choices=BUILDS, help="only this build")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("benchmarks.guard needs valgrind")
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    out = console()
    faults: list[str] = []
    for build in [options.build] if options.build else BUILDS:
        counts = count(build)
        shown, more = table(build, counts, recorded.get(build, {}))
        out.print(shown, "")
        faults += more
        if options.update:
            recorded[build] = counts
    if options.update:
        RECORD.write_text(json.dumps(recorded, indent=1) + "\n")
        out.print(f"recorded in {RECORD.name}")
        return 0
    for fault in faults:
        out.print(f"more than {ALLOWANCE:.0%} above the record, or not recorded: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
