"""``python platforms/check.py``: check an installed cypool on this platform.

Known answers, with every kernel build that runs here; and, where the packages of the extra
``check`` are installed, that the outputs of all valid cases have the bits that are on record.
``--write`` records today's.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

import cypool

RECORD = Path(__file__).with_name("outputs.tsv")
NEEDED = ("onnx", "ml_dtypes", "flint")
"""Packages that cases are made with."""

TITLES = "operator-version\ttype\tcases\tsha256 of their outputs\n"


def known_answers() -> None:
    """Hold answers that anybody can check against what comes."""
    x = np.array([[[3.0, -4.0], [1e300, 1e300]]])
    assert cypool.global_lp_pool(x).ravel().tolist() == [5.0, 1.4142135623730951e300]
    image = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    pooled = cypool.max_roi_pool(image, np.array([[0, 0, 0, 7, 7]], np.float32), (2, 2))
    assert pooled.ravel().tolist() == [27.0, 31.0, 59.0, 63.0]
    many = np.ones((4, 64, 60, 60), np.float32)
    assert (cypool.global_lp_pool(many, 1, threads=2) == 3600).all()


def canonical(y: np.ndarray) -> bytes:
    """The bits of an output in little-endian order; all NaN are one, since processors make
    different ones.
    """
    y = np.array(y, copy=True)
    if y.dtype.kind not in "iub":
        y[np.isnan(y)] = np.nan
    return y.astype(y.dtype.newbyteorder("<")).tobytes()


def outputs() -> dict[tuple[str, str], tuple[int, str]]:
    """For each operator-version and type, how many valid cases there are and a hash of all that
    cypool computes for them.
    """
    from cypool.conformance import cases

    digests: dict[tuple[str, str], tuple[int, hashlib._Hash]] = {}
    for case in cases.generate():
        if case.fault is not None:
            continue
        wanted = [operand.name for operand in case.version.outputs].index(case.outputs[-1]) + 1
        attributes = {name: typed.value for name, typed in case.attributes}
        found = cypool.run(case.version.op, case.arrays, attributes, opset=case.version.since_version, outputs=wanted)
        count, digest = digests.get((case.version.name, case.type), (0, hashlib.sha256()))
        digest.update(f"\n{case.id}\n".encode())
        for y in found:
            digest.update(canonical(y))
        digests[case.version.name, case.type] = count + 1, digest
    return {cell: (count, digest.hexdigest()[:32]) for cell, (count, digest) in digests.items()}


def recorded() -> dict[tuple[str, str], tuple[int, str]]:
    """What the record holds."""
    rows = (line.split("\t") for line in RECORD.read_text(encoding="utf-8").splitlines()[1:])
    return {(version, type): (int(count), digest) for version, type, count, digest in rows}


def write() -> None:
    """Record today's outputs."""
    lines = ["\t".join((*cell, str(count), digest)) + "\n" for cell, (count, digest) in outputs().items()]
    RECORD.write_text(TITLES + "".join(lines), encoding="utf-8")


def differences() -> list[str]:
    """The cells whose outputs are not those on record."""
    today, record = outputs(), recorded()
    return sorted("/".join(cell) for cell in today.keys() | record.keys() if today.get(cell) != record.get(cell))


def main() -> int:
    """Check, or record; the exit code is 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record today's outputs")
    parser.add_argument("--this-build", action="store_true", help="check the chosen build and no other")
    options = parser.parse_args()
    if options.write:
        write()
        return 0
    from cypool import dispatch

    if not options.this_build:
        codes = []
        for build in dispatch.usable():
            command = [sys.executable, __file__, "--this-build"]
            codes.append(subprocess.run(command, env=os.environ | {"CYPOOL_ISA": build}, check=False).returncode)
        return max(codes)
    known_answers()
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    name = f"cypool {cypool.__version__}, {dispatch.chosen.name}, {where}"
    missing = [package for package in NEEDED if not importlib.util.find_spec(package)]
    if missing:
        print(f"{name}: known answers are right; outputs not compared, as there is no {', '.join(missing)}")
        return 0
    differing = differences()
    print(f"{name}: known answers are right; outputs of {len(recorded())} cells", "differ:" if differing else "are those on record")
    for cell in differing:
        print(cell, "" if tuple(cell.split("/")) in recorded() else "(no record)")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
