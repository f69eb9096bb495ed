"""``python -m benchmarks.accuracy``: how far the norms of random rows are from the exact ones;
needs ``cypool[check]``.

Writes ``figures/accuracy.json`` and, from it, the sentence of docs/kernels.md.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import cypool
from benchmarks.figures import FOLDER, put
from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.tensors import DTYPES

RECORD = FOLDER / "accuracy.json"
PAGE = "kernels.md"
CHANNELS = 400
LENGTHS = (5, 13, 50, 200, 1000)
"""Elements of a row; channels are shared out among them."""

EXPONENTS = {22: (1, 2, 3, 4, 5, 7, 16, 64, 100, 1000), 1: (0.001, 0.01, 0.5, 0.75, 1.5, 2.5, 3.7, 16.5)}
"""By opset, which decides the version."""


def ordinals(y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The place of each number, none of them negative, among its type's values."""
    return y.view(f"i{y.dtype.itemsize}").astype(object)


def distances(type: str, p: float, opset: int) -> list[int]:
    """How many representable values lie between each norm and the exact one, rounded."""
    version = spec.resolve("GlobalLpPool", opset)
    random = np.random.default_rng([opset, round(p * 1000), sorted(DTYPES).index(type)])
    found: list[int] = []
    for length in LENGTHS:
        x = random.standard_normal((1, CHANNELS // len(LENGTHS), length)).astype(DTYPES[type])
        (expected,) = oracle.evaluate(version, [x], {"p": p})
        y = cypool.global_lp_pool(x, p, opset=opset)
        found += np.abs(ordinals(y) - ordinals(expected)).ravel().tolist()
    return found


def measure() -> dict[str, dict[str, int]]:
    """For each type, how many norms are how many ULP off."""
    counts: dict[str, dict[str, int]] = {}
    for opset, exponents in EXPONENTS.items():
        for type in spec.resolve("GlobalLpPool", opset).types[0].allowed:
            for p in exponents:
                for distance in distances(type, p, opset):
                    row = counts.setdefault(type, {})
                    row[str(distance)] = row.get(str(distance), 0) + 1
    return counts


def sentence(counts: dict[str, dict[str, int]]) -> str:
    """The figures in words.

    >>> told = sentence({"float": {"0": 7200}, "double": {"0": 6789, "1": 411}})
    >>> print(told.replace("; ", ";\\n"))
    float equals the exact result rounded in 7,200 of 7,200 draws;
    double in 6,789 of 7,200, the others at most 1 ULP off.
    """
    parts = []
    for type, row in counts.items():
        farthest = max(map(int, row))
        verb = "" if parts else " equals the exact result rounded"
        draws = "" if parts else " draws"
        rest = f", the others at most {farthest} ULP off" if farthest else ""
        parts.append(f"{type}{verb} in {row.get('0', 0):,} of {sum(row.values()):,}{draws}{rest}")
    return "; ".join(parts) + "."


def block() -> str:
    """What stands in the page."""
    return sentence(json.loads(RECORD.read_text(encoding="utf-8")))


def main() -> None:
    RECORD.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    put(PAGE, "accuracy", block())
    print(block())


if __name__ == "__main__":
    main()
