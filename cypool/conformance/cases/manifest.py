"""The manifest: every case's id, with hashes of what it asks and of what it expects, one a line; a
file an operator.

It is for reviewers: a diff of the files that it writes tells which cases came, went, or changed.
``python -m cypool.conformance.cases.manifest [OPERATOR]...`` rewrites them, from the top of a
clone.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from cypool import spec
from cypool.conformance import cases
from cypool.conformance.cases.case import Case
from cypool.conformance.tensors import Tensor
from cypool.spec.elements import ELEMENTS

PATH = Path("spec_tests/data/manifest")
COLUMNS = ("id", "rulings", "asks", "expects")
REFUSAL = "a refusal"


def lines(all_cases: Iterable[Case]) -> Iterator[str]:
    """Yield the lines of the manifest, titles first, each with its end."""
    yield "\t".join(COLUMNS) + "\n"
    for case in all_cases:
        yield "\t".join((case.id, ",".join(case.rulings) or "-", _asks(case), _expects(case))) + "\n"


def _asks(case: Case) -> str:
    """Return a hash of version, attributes and inputs."""
    attributes = [f"{name} {typed.type} {typed.value!r}" for name, typed in case.attributes]
    return _hash([case.version.name, *attributes], ((tensor, tensor.data) for tensor in case.inputs))


def _expects(case: Case) -> str:
    """Return a hash of the outputs; floats as float64, which holds every value of theirs: all NaN
    are one, and so are both zeros.
    """
    if case.fault is not None:
        return REFUSAL
    return _hash([], ((tensor, _canonical(tensor)) for tensor in case.expected))


def _canonical(tensor: Tensor) -> bytes:
    if ELEMENTS[tensor.type].kind != "float":
        return tensor.data
    values = tensor.array.astype("<f8") + 0.0  # which turns -0.0 into 0.0
    values[np.isnan(values)] = np.nan
    return values.tobytes()


def _hash(words: list[str], tensors: Iterable[tuple[Tensor, bytes]]) -> str:
    digest = hashlib.sha256("\n".join(words).encode())
    for tensor, data in tensors:
        digest.update(f"\n{tensor.name} {tensor.type} {list(tensor.shape)} ".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


def file_name(op: str) -> str:
    """Return the file name of an operator's manifest."""
    return f"{op}.tsv"


def write(directory: Path, ops: Iterable[str]) -> None:
    """Write the manifest of each of these operators."""
    directory.mkdir(parents=True, exist_ok=True)
    for op in ops:
        (directory / file_name(op)).write_text("".join(lines(cases.generate([op]))), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(PATH, sys.argv[1:] or spec.operators())
