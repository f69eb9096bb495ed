"""All generated cases together: what they cover, what each turns on, that models carry them, and that they are those of the manifest."""

import dataclasses
from collections import Counter, defaultdict
from itertools import combinations, product
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from cypool import spec
from cypool.conformance import cases, manifest, models, oracle
from cypool.conformance.cases.covering import allowed
from cypool.conformance.compare import misfit, onnx_tolerance
from cypool.conformance.tensors import Tensor

VERSIONS = [version.name for version in spec.versions()]
CELLS = [(version.name, type) for version in spec.versions() for type in version.types[0].allowed]
MANIFEST = Path(__file__).with_name("data") / "manifest.tsv"


@pytest.fixture(scope="module")
def every():
    return list(cases.generate())


@pytest.fixture(scope="module")
def valid(every):
    return [case for case in every if case.fault is None]


@pytest.fixture(scope="module")
def invalid(every):
    return [case for case in every if case.fault is not None]


def by_cell(some):
    found = defaultdict(list)
    for case in some:
        found[case.version.name, case.type].append(case)
    return found


def labels(case):
    """The labels of a valid case by axis."""
    axes, _, _ = cases.plan(case.version)
    return dict(zip(axes, case.id.split("/")[1:], strict=True))


# What is covered


def test_ids_are_unique_and_fit_a_shell(every):
    assert len({case.id for case in every}) == len(every)
    assert all(set(case.id) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") for case in every)


def test_there_are_enough_to_find_faults_and_few_enough_to_run(every):
    assert 1200 <= len(every) <= 2500
    assert min(len(some) for some in by_cell(every).values()) >= 80


def test_every_version_and_type_has_valid_and_invalid_cases(valid, invalid):
    assert set(by_cell(valid)) == set(CELLS) == set(by_cell(invalid)) and len(CELLS) == 17


@pytest.mark.parametrize("name", VERSIONS)
def test_every_pair_of_labels_meets_that_may_and_every_group_asked_for(valid, name):
    version = spec.version(name)
    axes, groups, constraints = cases.plan(version)
    chosen = [labels(case) for case in valid if case.version == version]
    met = {frozenset((axis, choice[axis]) for axis in group) for choice in chosen for group in (*combinations(axes, 2), *groups)}
    assert all(allowed(choice, constraints) for choice in chosen)
    for group in {tuple(group) for group in (*combinations(axes, 2), *groups)}:
        for meeting in product(*(axes[axis] for axis in group)):
            together = dict(zip(group, meeting, strict=True))
            if frozenset(together.items()) not in met:
                rest = [axis for axis in axes if axis not in together]
                others = (dict(zip(rest, picked, strict=True)) for picked in product(*(axes[axis] for axis in rest)))
                assert not any(allowed({**together, **other}, constraints) for other in others), together


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_label_occurs_in_every_cell(valid, cell):
    name, _ = cell
    axes, _, _ = cases.plan(spec.version(name))
    found = [labels(case) for case in by_cell(valid)[cell]]
    for axis in axes.keys() - {"type"}:
        assert set(axes[axis]) == {choice[axis] for choice in found}


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_attribute_is_left_out_where_it_may_be_and_given_its_default(valid, cell):
    version = spec.version(cell[0])
    given = [dict(case.attributes) for case in by_cell(valid)[cell]]
    for attribute in version.attributes:
        assert any(attribute.name not in some for some in given) != attribute.required
        if attribute.default is not None:
            assert any(some[attribute.name].value == attribute.default for some in given if attribute.name in some)
        assert {some[attribute.name].type for some in given if attribute.name in some} == {attribute.type}


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_every_ruling_occurs_in_every_cell(every, cell):
    version = spec.version(cell[0])
    expected = {ruling.id for ruling in version.rulings}
    if cell[1] != "double":
        expected -= {"double-precision"}
    assert {ruling for case in by_cell(every)[cell] for ruling in case.rulings} == expected


def test_regimes_of_p_that_the_issue_names_occur():
    by_version = {name: set(cases.plan(spec.version(f"GlobalLpPool-{name}"))[0]["p"]) for name in (1, 2, 22)}
    everywhere = {"p-absent", "p1", "p2", "p3", "p4", "p7", "p100", f"p{2**40}"}
    assert by_version[2] == by_version[22] == everywhere
    assert by_version[1] == everywhere | {"p0.5", "p1.5", "p2.5", "p0.01", "p0.001", "p1.4013e-45", "pinf"}


# What a case holds


def test_inputs_have_the_version_types_and_the_ranks_of_the_rules(valid):
    for case in valid:
        assert [tensor.name for tensor in case.inputs] == [operand.name for operand in case.version.inputs]
        assert {tensor.type for tensor in case.inputs} == {case.type}
    assert Counter(len(case.inputs[0].shape) for case in valid if case.version.op == "GlobalLpPool").keys() == {2, 3, 4, 5, 6}


def test_valid_regions_name_images_that_there_are_and_finite_corners(valid):
    for case in valid:
        if case.version.op == "MaxRoiPool":
            x, rois = (tensor.array for tensor in case.inputs)
            assert set(rois[:, 0].astype(float)) <= set(range(x.shape[0])), case.id
            assert np.isfinite(rois.astype(np.float64)).all(), case.id


def test_more_bins_than_pixels_and_several_images_out_of_order_occur(valid):
    assert any({"few-pixels", "pooled_shape16x12"} <= case.tags for case in valid)
    batches = [case.inputs[1].array[:, 0].astype(float) for case in valid if case.version.op == "MaxRoiPool"]
    assert any((np.diff(batch) < 0).any() and len(set(batch)) == 3 for batch in batches)


def test_one_operators_cases_are_the_same_as_among_all(every):
    assert list(cases.generate(["MaxRoiPool"])) == [case for case in every if case.version.op == "MaxRoiPool"]


def test_inputs_depend_on_nothing_but_the_id():
    version = spec.version("GlobalLpPool-22")
    choice = {"type": "double", "shape": "odd", "p": "p3", "values": "random"}
    first, *_, last = cases._valid_case(version, choice).inputs[0].array.reshape(-1).tolist()
    assert [first.hex(), last.hex()] == ["0x1.072a8aa9b30aap-3", "0x1.c46c3817a2104p+4"]


# What a case turns on


LEGITIMATE = {
    reading.name for version in spec.versions() for ruling in version.rulings for reading in ruling.readings if reading.legitimate
}


def differs(case, reading):
    """Whether a reading gives other bits, zeros of both signs being one."""
    answers = zip(case.answer(reading), case.expected, strict=True)
    return not all(np.array_equal(*(tensor.array.astype(np.float64) for tensor in pair), equal_nan=True) for pair in answers)


def test_a_case_turns_on_each_ruling_it_carries(valid):
    for case in valid:
        for ruling, readings in oracle.computable(case.version).items():
            if ruling in case.rulings:
                assert any(differs(case, reading) for reading in readings), f"{case.id} does not turn on {ruling}"


def test_a_case_turns_on_no_other_true_silence(valid):
    for case in valid:
        for ruling, readings in oracle.computable(case.version).items():
            if ruling not in case.rulings:
                assert not any(differs(case, reading) for reading in LEGITIMATE & set(readings)), f"{case.id} turns on {ruling}"


def test_alternatives_are_the_computable_readings_of_its_rulings(valid):
    for case in valid:
        computable = oracle.computable(case.version)
        assert case.alternatives == tuple(name for ruling in case.rulings for name in computable.get(ruling, ())), case.id


def test_a_tolerance_tells_the_readings_apart(valid):
    told = [case for case in valid if any(misfit(outputs, case.expected, onnx_tolerance) for outputs in case.readings.values())]
    with_readings = [case for case in valid if case.alternatives]
    assert len(told) == len(with_readings)


def test_rulings_without_readings_say_what_is_there(valid):
    for case in valid:
        x, y = case.inputs[0].array.astype(np.float64), case.expected[0].array.astype(np.float64)
        rulings = set(case.rulings)
        if case.version.op == "GlobalLpPool":
            assert ("empty-batch" in rulings) == (0 in x.shape[:2]), case.id
            if 0 in x.shape:
                continue
            rows = x.reshape(*x.shape[:2], -1)
            finite = np.isfinite(rows).all(axis=2)
            assert ("nan-and-inf" in rulings) == (not finite.all()), case.id
            assert ("overflow-to-inf" in rulings) == bool(np.isinf(y.reshape(x.shape[:2])[finite]).any()), case.id
            assert ("rank" in rulings) == (x.ndim == 2 or x.ndim > 5), case.id
        else:
            assert ("no-rois" in rulings) == (y.size == 0), case.id
            assert ("nan" in rulings) == bool(np.isnan(y).any()), case.id
            assert ("all-minus-inf" in rulings) == bool(np.isneginf(y).any()), case.id


# Invalid cases


def test_an_invalid_case_has_no_outputs_and_says_its_fault(invalid):
    for case in invalid:
        assert case.fault and case.answer is None and case.id.split("/")[2] == "invalid"
    with pytest.raises(ValueError, match="invalid on purpose"):
        _ = invalid[0].expected


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
    ],
)
def test_the_faults_of_a_version(invalid, version, faults):
    for type in spec.version(version).types[0].allowed:
        found = [case.id.split("/")[3] for case in by_cell(invalid)[version, type]]
        extra = {label for label in found if label.startswith(("type-", "rois-as-"))}
        assert sorted(set(found) - extra) == sorted(faults.split())


@pytest.mark.parametrize("version", VERSIONS)
def test_types_that_a_version_lacks_are_tried(invalid, version):
    lacking = {"bfloat16", "int8", "uint8", "int32", "int64"} - set(spec.version(version).types[0].allowed)
    tried = {case.id.split("/")[3]: case for case in invalid if case.version.name == version and "/type-" in case.id}
    assert tried.keys() == {f"type-{type}" for type in lacking}
    assert all(f"type-{tensor.type}" == label for label, case in tried.items() for tensor in case.inputs)


def test_mixed_types_are_two_allowed_ones(invalid):
    mixed = [case for case in invalid if "/rois-as-" in case.id]
    assert {(case.version.name, case.type) for case in mixed} == {cell for cell in CELLS if cell[0].startswith("MaxRoiPool")}
    for case in mixed:
        x, rois = case.inputs
        assert x.type == case.type != rois.type and rois.type in case.version.types[0].allowed


def test_invalid_numbers_stand_in_one_element(invalid):
    for case in invalid:
        label = case.id.split("/")[3]
        if case.version.op == "MaxRoiPool" and label.startswith(("batch-index", "x1", "x2", "y1", "y2")):
            rois = case.inputs[1].array.astype(np.float64)
            wrong = ~np.isfinite(rois)
            wrong[:, 0] |= ~np.isin(rois[:, 0], range(case.inputs[0].shape[0]))
            assert wrong.sum() == 1, case.id
            assert case.rulings == (("batch-index",) if wrong[:, 0].any() else ("coordinate-finite",))


# Models


def test_models_carry_the_case_and_nothing_else(every):
    for case in every:
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
            plain = value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value
            np.testing.assert_equal(plain, float(np.float32(typed.value)) if type == "FLOAT" else typed.value)


def test_the_same_case_is_the_same_bytes(valid):
    for case in valid[::50]:
        assert models.model(case).SerializeToString(deterministic=True) == models.model(case).SerializeToString(deterministic=True)


def test_valid_models_pass_onnx_checks_and_shape_inference_agrees(valid):
    for case in valid:
        built = models.model(case)
        onnx.checker.check_model(built, full_check=True)
        declared = [dim.dim_value for dim in built.graph.output[0].type.tensor_type.shape.dim]
        assert tuple(declared) == case.expected[0].shape, case.id
        assert onnx.TensorProto.DataType.Name(built.graph.output[0].type.tensor_type.elem_type) == case.type.upper()


def test_onnx_refuses_what_its_schemas_can_tell(invalid):
    for case in invalid:
        label = case.id.split("/")[3]
        if "-as-" in label or label.startswith(("no-", "type-", "unknown-", "extra-", "pooled_shape-")):
            with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
                onnx.checker.check_model(models.model(case), full_check=True)


def test_a_later_opset_can_be_asked_for(valid):
    case = next(case for case in valid if case.version.name == "GlobalLpPool-2")
    assert [(m.opset_import[0].version, m.ir_version) for m in (models.model(case), models.model(case, 21))] == [(2, 3), (21, 10)]


@pytest.mark.parametrize("name", ["GlobalLpPool-2", "MaxRoiPool-1"])
def test_onnx_runtime_loads_the_two_cells_it_supports(valid, name):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for case in by_cell(valid)[name, "float"][::7]:
        data = models.model(case).SerializeToString()
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        assert [value.name for value in session.get_inputs()] == [tensor.name for tensor in case.inputs]


# The manifest


def test_the_manifest_is_that_of_the_cases(every):
    found = list(manifest.lines(every))
    listed = MANIFEST.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = [line for line in found if line not in set(listed)] + [line for line in listed if line not in set(found)]
    assert found == listed, f"rewrite it with python -m cypool.conformance.manifest and look at the diff: {changed[:4]}"


def test_hashes_see_inputs_attributes_and_outputs_but_not_which_nan_or_zero(valid):
    case = next(case for case in valid if "random" in case.tags and case.attributes)
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
