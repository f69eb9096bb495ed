"""The core of the cases (all with CYPOOL_ALL_CASES=1) on every build, with 1, 2 and 3 threads,
against the oracle.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support import BUILDS, DTYPES, bits, on_build, ulps

import cypool
from cypool import spec
from cypool.accuracy import accuracy
from cypool.conformance import cases
from cypool.conformance.cases import models
from cypool.session import Session

CASES = [case for case in cases.generate() if case.core or os.environ.get("CYPOOL_ALL_CASES")]
VALID = [case for case in CASES if case.fault is None]
INVALID = [case for case in CASES if case.fault is not None]
REPORTED = json.loads(Path(__file__).with_name("data").joinpath("reported_cases.json").read_text())["cases"]


def ways():
    """Each build with each number of threads."""
    for name in BUILDS:
        with on_build(name):
            for threads in (1, 2, 3):
                yield f"{name}, {threads} threads", threads


def run(case, **options):
    """The outputs that the case's node has, by the function of any operator."""
    attributes = {name: typed.value for name, typed in case.attributes}
    wanted = [operand.name for operand in case.version.outputs].index(case.outputs[-1]) + 1
    return cypool.run(case.version.op, case.arrays, attributes, opset=case.version.since_version, outputs=wanted, **options)


@pytest.mark.parametrize("case", VALID, ids=lambda case: case.id)
def test_case(case):
    first = None
    for way, threads in ways():
        outputs = run(case, threads=threads)
        for tensor, y in zip(case.expected, outputs, strict=True):
            limit = accuracy(case.version.op, tensor.type)
            distance = max(ulps(y, tensor.array), default=0)
            assert distance <= limit.ulp or (limit.of_terms and near(case, y, tensor.array, limit)), way
        these = [bits(y).tobytes() for y in outputs]
        first = these if first is None else first
        assert these == first, f"{way}: other bits"


def near(case, y, expected, limit):
    """Whether what was added up cancels so far that the distance in ULP says little; no term is
    larger than X's largest finite element.
    """
    x, finite = case.inputs[0].array.astype(np.float64), np.isfinite(expected)
    largest = np.abs(x[np.isfinite(x)]).max(initial=0.0)
    off = np.abs(y[finite].astype(np.float64) - expected[finite].astype(np.float64))
    return np.array_equal(y[~finite], expected[~finite], equal_nan=True) and bool((off <= limit.of_terms * largest).all())


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case.id)
def test_invalid_case_is_refused_in_words(case):
    with pytest.raises(cypool.SpecError) as caught:
        Session(models.model(case)).run({tensor.name: tensor.array for tensor in case.inputs})
    assert len(str(caught.value).splitlines()) == 1
    assert "expected" in str(caught.value) or "there are" in str(caught.value), str(caught.value)


@pytest.mark.parametrize("case", [case for case in VALID if "ramp" in case.tags], ids=lambda case: case.id)
def test_a_model_gives_what_the_function_gives(case):
    outputs = Session(models.model(case)).run({tensor.name: tensor.array for tensor in case.inputs})
    expected = dict(zip([operand.name for operand in case.version.outputs], run(case), strict=False))
    assert list(outputs) == list(case.outputs)
    for name, y in outputs.items():
        assert bits(y).tolist() == bits(expected[name]).tolist()


def test_every_cell_of_version_and_type_is_here():
    cells = {(case.version.name, case.type) for case in VALID}
    assert cells == {(version.name, type) for version in spec.versions() for type in version.types[0].allowed}


@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["id"])
def test_reported_case(case):
    for since in case["since"]:
        inputs = [filled(tensor, case["type"]) for tensor in case["inputs"].values()]
        for _, threads in ways():
            if case.get("error"):
                with pytest.raises(cypool.SpecError):
                    cypool.run(case["op"], inputs, case["attributes"], opset=since, threads=threads)
                continue
            (y,) = cypool.run(case["op"], inputs, case["attributes"], opset=since, threads=threads)
            expected = np.array(case["outputs"]["Y"]["data"]).astype(DTYPES[case["type"]]).reshape(case["outputs"]["Y"]["shape"])
            np.testing.assert_array_equal(y, expected)


def filled(tensor, type):
    """An input as the file of reported cases writes it."""
    if "range" in tensor:
        values = np.arange(*tensor["range"])
    elif "fill" in tensor:
        values = np.full(tensor["shape"], tensor["fill"])
    else:
        values = np.array(tensor["data"])
    return values.astype(DTYPES[type]).reshape(tensor["shape"])
