"""Cases as models: they carry the case, pass ONNX's own checks where it is valid, and load where a
runtime has the operator.
"""

import numpy as np
import onnx
import onnxruntime
import pytest
from all_cases import INFERRED_OTHERWISE, by_cell, every, invalid, valid

from cypool.conformance.cases import models

NOT_SAID = {("LpPool-1", "no-kernel_shape")}
"""Faults that ONNX's schemas let pass though they say something of the kind: this one calls the
attribute optional.
"""


def decoded(value):
    return value.decode() if isinstance(value, bytes) else value


def test_models_carry_the_case_and_nothing_else():
    for case in every():
        built = models.model(case)
        (node,) = built.graph.node
        assert built.opset_import[0].version == case.version.since_version and built.opset_import[0].domain == ""
        assert [value.name for value in built.graph.input] == list(node.input) == [tensor.name for tensor in case.inputs]
        assert [tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim) for value in built.graph.input] == [
            t.shape for t in case.inputs
        ]
        found = {a.name: (onnx.AttributeProto.AttributeType.Name(a.type), onnx.helper.get_attribute_value(a)) for a in node.attribute}
        assert found.keys() == {name for name, _ in case.attributes}
        for name, typed in case.attributes:
            type, value = found[name]
            assert type == typed.type
            plain = tuple(map(decoded, value)) if isinstance(value, list) else decoded(value)
            np.testing.assert_equal(plain, float(np.float32(typed.value)) if type == "FLOAT" else typed.value)


def test_the_same_case_is_the_same_bytes():
    for case in valid()[::50]:
        assert models.model(case).SerializeToString(deterministic=True) == models.model(case).SerializeToString(deterministic=True)


def test_valid_models_pass_onnx_checks_and_shape_inference_agrees():
    for case in valid():
        built = models.model(case)
        onnx.checker.check_model(built, full_check=not INFERRED_OTHERWISE & set(case.rulings))
        assert [output.name for output in built.graph.output] == list(case.outputs) == list(built.graph.node[0].output)
        for output, expected in zip(built.graph.output, case.expected, strict=True):
            assert tuple(dim.dim_value for dim in output.type.tensor_type.shape.dim) == expected.shape, case.id
            assert onnx.TensorProto.DataType.Name(output.type.tensor_type.elem_type) == expected.type.upper(), case.id


def test_onnx_refuses_what_its_schemas_can_tell():
    for case in invalid():
        label = case.id.split("/")[3]
        if (case.version.name, label) in NOT_SAID:
            onnx.checker.check_model(models.model(case), full_check=True)
        elif "-as-" in label or label.startswith(("no-", "type-", "unknown-", "extra-", "pooled_shape-")):
            with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
                onnx.checker.check_model(models.model(case), full_check=True)


def test_a_later_opset_can_be_asked_for():
    case = next(case for case in valid() if case.version.name == "GlobalLpPool-2")
    assert [(m.opset_import[0].version, m.ir_version) for m in (models.model(case), models.model(case, 21))] == [(2, 3), (21, 10)]


@pytest.mark.parametrize("name", ["GlobalLpPool-2", "MaxRoiPool-1"])
def test_onnx_runtime_loads_the_two_cells_it_supports(name):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for case in by_cell(valid())[name, "float"][::7]:
        data = models.model(case).SerializeToString()
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        assert [value.name for value in session.get_inputs()] == [tensor.name for tensor in case.inputs]


def test_the_formats_are_those_of_onnx_at_every_opset_it_knows():
    first = {}
    for _, format, opset, *_ in onnx.helper.VERSION_TABLE:
        first[opset] = min(format, first.get(opset, format))
    for opset in range(1, min(max(first), max(models.IR_VERSIONS)) + 1):
        assert models._ir_version(opset) == min(format for known, format in first.items() if known >= opset)
