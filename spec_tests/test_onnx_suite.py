"""ONNX's own backend tests of cypool's operators, run through ``cypool.backend``: node tests and
models made by torch.
"""

import importlib
import importlib.util
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as node_cases
from onnx.backend.test.loader import DATA_DIR

import cypool.backend
from cypool import spec

READ_OTHERWISE = {
    "test_maxunpool_export_with_output_shape": "its indices count in the size that windows give, and the values are then placed "
    "in the larger output_shape; cypool, ONNX Runtime and torch count them in output_shape itself (ruling output-shape)",
}
"""Tests that ask for another reading of a silence than cypool's, and why."""


def node_tests():
    """The node tests of the installed onnx, those of cypool's operators."""
    for op in spec.operators():
        module = f"{node_cases.__name__}.{op.lower()}"
        if importlib.util.find_spec(module):
            importlib.import_module(module)
    return {case.name: case for case in node_cases._NodeTestCases if has_pooling(case.model)}


def has_pooling(model):
    return any(node.op_type in spec.operators() and node.domain in ("", "ai.onnx") for node in model.graph.node)


def model_tests():
    """The folders of the models that torch made, those that hold one of cypool's operators."""
    folders = sorted(
        path.parent for kind in ("pytorch-converted", "pytorch-operator") for path in Path(DATA_DIR, kind).glob("*/model.onnx")
    )
    return [folder for folder in folders if has_pooling(onnx.load(folder / "model.onnx"))]


NODES = node_tests()
MODELS = model_tests()


def test_onnx_has_tests_of_the_pooling_family():
    tested = {node.op_type for case in NODES.values() for node in case.model.graph.node}
    assert set(spec.operators()) - tested <= {"GlobalLpPool", "MaxRoiPool"}  # which had none up to onnx 1.23
    assert len(MODELS) >= 9


@pytest.mark.parametrize("name", sorted(set(NODES) - set(READ_OTHERWISE)))
def test_node(name):
    case = NODES[name]
    prepared = cypool.backend.prepare(case.model, "CPU")
    for inputs, expected in case.data_sets:
        hold(prepared.run(inputs), expected, case.rtol, case.atol)


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_model(folder):
    model = onnx.load(folder / "model.onnx")
    prepared = cypool.backend.prepare(model, "CPU")
    sets = sorted(folder.glob("test_data_set_*"))
    assert sets
    for data in sets:
        inputs, outputs = ([tensor(path) for path in in_order(data, side)] for side in ("input", "output"))
        hold(prepared.run(inputs), outputs, 1e-3, 1e-7)


def in_order(folder, side):
    return sorted(folder.glob(f"{side}_*.pb"), key=lambda path: int(re.search(r"\d+", path.name)[0]))


def tensor(path):
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def hold(got, expected, rtol, atol):
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)
