"""Invalid cases: each fault of each version, alone."""

import dataclasses
import importlib

import numpy as np
import pytest
from all_cases import CELLS, VERSIONS, by_cell, invalid

from cypool import spec
from cypool.conformance.cases import faults
from cypool.conformance.cases.case import TypedValue
from cypool.spec.model import Attribute, snake


def test_an_invalid_case_has_no_outputs_and_says_its_fault():
    for case in invalid():
        assert case.fault and case.answer is None and case.id.split("/")[2] == "invalid"
    with pytest.raises(ValueError, match="invalid on purpose"):
        _ = invalid()[0].expected


@pytest.mark.parametrize(
    ("version", "faults"),
    [
        (
            "GlobalLpPool-1",
            "p-as-int p-as-floats p-as-string p-0 p-minus-1 p-nan unknown-attribute X-rank1 no-X extra-input",
        ),
        ("GlobalLpPool-2", "p-as-float p-as-ints p-as-string p-0 p-minus-1 unknown-attribute X-rank1 no-X extra-input"),
        ("GlobalLpPool-22", "p-as-float p-as-ints p-as-string p-0 p-minus-1 unknown-attribute X-rank1 no-X extra-input"),
        *(
            (
                name,
                "no-pooled_shape pooled_shape-as-floats pooled_shape-as-int pooled_shape-as-string pooled_shape-of-1 pooled_shape-of-3 "
                "pooled_shape-0-1 pooled_shape-1-0 pooled_shape-minus-1-1 pooled_shape-1-minus-1 "
                "spatial_scale-as-int spatial_scale-as-floats spatial_scale-as-string "
                "spatial_scale-0 spatial_scale-minus-1 spatial_scale-nan spatial_scale-inf unknown-attribute "
                "X-rank3 X-rank5 rois-rank1 rois-rank3 rois-4x4 rois-4x6 no-rois extra-input "
                "batch-index-minus-1 batch-index-N batch-index-0.5 batch-index-minus-0.5 batch-index-nan "
                "x1-nan x1-inf x1-minus-inf y1-nan y1-inf y1-minus-inf x2-nan x2-inf x2-minus-inf y2-nan y2-inf y2-minus-inf",
            )
            for name in ("MaxRoiPool-1", "MaxRoiPool-22")
        ),
        *(
            (
                name,
                "no-kernel_shape kernel_shape-as-floats kernel_shape-as-int kernel_shape-as-string kernel_shape-0-2 kernel_shape-2-0 "
                "kernel_shape-minus-1-2 kernel_shape-2-minus-1 kernel_shape-of-1 kernel_shape-of-3 strides-as-floats strides-as-int "
                "strides-as-string strides-0-2 strides-1-0 strides-minus-1-2 strides-1-minus-1 strides-of-1 strides-of-3 pads-as-floats "
                "pads-as-int pads-as-string pads-minus-1-0-0-0 pads-0-minus-1-0-0 pads-0-0-minus-1-0 pads-0-0-0-minus-1 pads-of-3 "
                "pads-of-5 pads-beyond-output unknown-attribute X-rank2 I-rank2 I-3x3x4x3 I-2x4x4x3 I-2x3x5x3 I-2x3x4x4 "
                "output_shape-rank0 output_shape-rank2 no-I extra-input T2-int32 T2-float output_shape-int32 I-minus-1 I-output "
                "I-2-to-32 I-minus-1-stated I-output-stated I-2-to-32-stated output_shape-of-3 output_shape-of-5 output_shape-other-N "
                "output_shape-other-C output_shape-minus-1",
            )
            for name in ("MaxUnpool-9", "MaxUnpool-11", "MaxUnpool-22")
        ),
    ],
)
def test_the_faults_of_a_version(version, faults):
    once = importlib.import_module(f"cypool.conformance.cases.{snake(spec.version(version).op)}").FAULTS_ONCE
    for type in ("float",) if once else spec.version(version).types[0].allowed:
        found = [case.id.split("/")[3] for case in by_cell(invalid())[version, type]]
        extra = {label for label in found if label.startswith(("type-", "rois-as-"))}
        assert sorted(set(found) - extra) == sorted(faults.split())


@pytest.mark.parametrize("version", VERSIONS)
def test_types_that_a_version_lacks_are_tried(version):
    lacking = {"bfloat16", "int8", "uint8", "int32", "int64"} - set(spec.version(version).types[0].allowed)
    tried = {case.id.split("/")[3]: case for case in invalid() if case.version.name == version and "/type-" in case.id}
    assert tried.keys() == {f"type-{type}" for type in lacking}
    constrained = {operand.name for operand in spec.version(version).inputs if operand.type == spec.version(version).inputs[0].type}
    given = [(label, tensor) for label, case in tried.items() for tensor in case.inputs if tensor.name in constrained]
    assert all(f"type-{tensor.type}" == label for label, tensor in given)


def test_mixed_types_are_two_allowed_ones():
    mixed = [case for case in invalid() if "/rois-as-" in case.id]
    everywhere = {(case.version.name, case.type) for case in mixed if case.version.op == "MaxRoiPool"}
    assert everywhere == {cell for cell in CELLS if cell[0].startswith("MaxRoiPool")}
    with_regions = {version.name for version in spec.versions() if "rois" in [operand.name for operand in version.inputs]}
    assert {case.version.name for case in mixed} == with_regions
    for case in mixed:
        x, rois, *_ = case.inputs
        assert x.type == case.type != rois.type and rois.type in case.version.types[0].allowed


def test_invalid_numbers_stand_in_one_element():
    for case in invalid():
        label = case.id.split("/")[3]
        if case.version.op == "MaxRoiPool" and label.startswith(("batch-index", "x1", "x2", "y1", "y2")):
            rois = case.inputs[1].array.astype(np.float64)
            wrong = ~np.isfinite(rois)
            wrong[:, 0] |= ~np.isin(rois[:, 0], range(case.inputs[0].shape[0]))
            assert wrong.sum() == 1, case.id
            assert case.rulings == (("batch-index",) if wrong[:, 0].any() else ("coordinate-finite",))


def test_an_attribute_of_a_later_version_is_a_fault_of_those_before_it(monkeypatch):
    first, second, third = spec.operator("GlobalLpPool").versions
    strength = Attribute("strength", "INT", required=False, default=3, doc="made up", minimum=1)
    third = dataclasses.replace(third, attributes=(*third.attributes, strength))
    made_up = dataclasses.replace(spec.operator("GlobalLpPool"), versions=(first, second, third))
    monkeypatch.setattr(faults.spec, "operator", lambda name: made_up)

    def later(version):
        plain = faults.Call({"X": np.ones((1, 1, 2), np.float32)}, {})
        found = faults.faulty_calls(version, "float", plain, plain, {})
        return [fault for fault in found if fault.label.startswith("later-")]

    for version in (first, second):
        (fault,) = later(version)
        assert (fault.label, fault.text) == ("later-strength", "strength came with version 22")
        assert fault.call.attributes["strength"] in (TypedValue("INT", 1), TypedValue("INT", 3))
    assert later(third) == []


def test_an_operand_of_rank_1_is_tried_as_a_scalar_and_one_that_follows_another_alone():
    shapes = {case.id.split("/")[3]: [tensor.shape for tensor in case.inputs] for case in by_cell(invalid())["MaxUnpool-22", "float"]}
    assert shapes["output_shape-rank0"] == [(2, 3, 4, 3), (2, 3, 4, 3), ()]
    assert shapes["X-rank2"] == [(2, 36), (2, 36)]
    assert shapes["I-rank2"] == [(2, 3, 4, 3), (2, 36)]
