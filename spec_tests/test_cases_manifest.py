"""The manifest in the repository is that of the cases, and its hashes see what matters
and no more.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from all_cases import every, valid

from cypool import spec
from cypool.conformance.cases import manifest
from cypool.conformance.tensors import Tensor

MANIFEST = Path(__file__).with_name("data") / "manifest"


def test_every_operator_has_a_manifest_and_nothing_else_has():
    assert sorted(path.name for path in MANIFEST.iterdir()) == [manifest.file_name(op) for op in spec.operators()]


@pytest.mark.parametrize("op", spec.operators())
def test_the_manifest_is_that_of_the_cases(op):
    found = list(manifest.lines(case for case in every() if case.version.op == op))
    listed = (MANIFEST / manifest.file_name(op)).read_text(encoding="utf-8").splitlines(keepends=True)
    changed = [line for line in found if line not in set(listed)] + [line for line in listed if line not in set(found)]
    assert found == listed, f"rewrite it with python -m cypool.conformance.cases.manifest {op} and look at the diff: {changed[:4]}"


def test_hashes_see_inputs_attributes_and_outputs_but_not_which_nan_or_zero():
    case = next(case for case in valid() if "random" in case.tags and case.attributes)
    plain = _fields(case)
    x = case.inputs[0].array
    x.reshape(-1)[-1] += 1
    assert _fields(_changed(case, inputs=(type(case.inputs[0]).of("X", x),)))[2] != plain[2]
    assert _fields(_changed(case, attributes=()))[2] != plain[2]
    hashes = [
        _fields(_changed(case, answer=_answering(values)))[3] for values in ([0.0, np.nan], [-0.0, -np.nan], [1.0, np.nan], [0.0, 1.0])
    ]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3


def _fields(case):
    _, line = manifest.lines([case])
    return line.split("\t")


def _changed(case, **changes):
    return dataclasses.replace(case, **changes)


def _answering(values):
    return lambda reading: (Tensor.of("Y", np.array(values, np.float32)),)
