"""The oracle held against ONNX's own node tests of the operators, and against public reports with
their right answers.
"""

import functools
import importlib
import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node

from cypool.conformance.tensors import DTYPES

OPERATORS = {"AveragePool": 20, "GlobalAveragePool": 2, "GlobalMaxPool": 2, "LpPool": 8, "MaxPool": 19, "MaxUnpool": 2, "RoiAlign": 3}
"""The operators, and how many node tests ONNX 1.23.2 has of each."""

CONTESTED = {"test_maxunpool_export_with_output_shape"}
"""Node tests that follow another reading than the ruling."""

DEFAULTS = {"RoiAlign": {"coordinate_transformation_mode": "half_pixel"}}
"""Defaults of the newest version that the oracle's function does not have, as the first version
means something else.
"""

REPORTED = json.loads(Path(__file__).with_name("data").joinpath("reported_family.json").read_text())["cases"]


def function(op):
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in op).removeprefix("_")
    return getattr(importlib.import_module(f"cypool.conformance.oracle.{snake}"), snake)


def value(attribute):
    found = onnx.helper.get_attribute_value(attribute)
    return found.decode() if isinstance(found, bytes) else tuple(found) if isinstance(found, list) else found


@functools.cache
def node_tests(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(f"onnx.backend.test.case.node.{op.lower()}")
    one_node = [case for case in node._NodeTestCases if case.model is not None and len(case.model.graph.node) == 1]
    return {case.name: case for case in one_node if case.model.graph.node[0].op_type == op}


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_the_oracle_meets_the_node_tests_of_onnx(op):
    assert len(node_tests(op)) >= OPERATORS[op]
    for name, case in node_tests(op).items():
        proto = case.model.graph.node[0]
        inputs, outputs = case.data_sets[0]
        if name in CONTESTED:
            continue
        got = function(op)(*inputs, **DEFAULTS.get(op, {}) | {attribute.name: value(attribute) for attribute in proto.attribute})
        for ours, theirs in zip(got, outputs, strict=False):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, name
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("case", [case for case in REPORTED if case["op"] in OPERATORS], ids=lambda case: case["id"])
def test_reported_inputs_have_their_right_answers(case):
    def array(record):
        numbers = np.array([float(number) for number in record["data"]])
        return numbers.astype(DTYPES[record.get("type", case["type"])]).reshape(record["shape"])

    attributes = {name: tuple(value) if isinstance(value, list) else value for name, value in case["attributes"].items()}
    outputs = function(case["op"])(*map(array, case["inputs"]), **attributes)
    for got, expected in zip(outputs, map(array, case["outputs"]), strict=False):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        if case["op"] == "RoiAlign":  # whose coordinates are rounded on the way, by the ruling
            np.testing.assert_allclose(got, expected, rtol=2e-7)
        else:
            np.testing.assert_array_equal(got, expected)


def test_the_contested_node_test_has_the_recorded_reading():
    (case,) = (case for name, case in node_tests("MaxUnpool").items() if name in CONTESTED)
    inputs, (expected,) = case.data_sets[0]
    attributes = {attribute.name: value(attribute) for attribute in case.model.graph.node[0].attribute}
    np.testing.assert_array_equal(function("MaxUnpool")(*inputs, **attributes, reading="placed")[0], expected)
    assert (function("MaxUnpool")(*inputs, **attributes)[0] != expected).any()
