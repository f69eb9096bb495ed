"""The shape rules: what the evaluator makes of them, and that they say what
``onnx.shape_inference`` says, recorded gaps apart.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from cypool import spec
from cypool.errors import SpecValueError
from cypool.spec.limits import allows
from cypool.spec.model import Operand, Version
from cypool.spec.shapes import Shape, infer, parse, written

LP = spec.resolve("GlobalLpPool")
ROI = spec.resolve("MaxRoiPool")
VERSIONS = {version.name: version for version in spec.versions()}

NOTHING = None
REFUSED = "refused"


def onnx_infer(version: Version, shapes: Sequence[Shape], attributes: Mapping[str, Any]) -> tuple[Shape, ...] | str | None:
    """What ONNX infers: the output shapes, NOTHING where one of them stays open, REFUSED where it
    raises.
    """
    types = [TensorProto.DataType.Value(version.constraint(operand.type).allowed[0].upper()) for operand in version.inputs]
    inputs = [
        helper.make_tensor_value_info(operand.name, type, shape)
        for operand, type, shape in zip(version.inputs, types, shapes, strict=False)
    ]
    outputs = [helper.make_empty_tensor_value_info(operand.name) for operand in version.outputs]
    node = helper.make_node(version.op, [i.name for i in inputs], [o.name for o in outputs], **attributes)
    opset = [helper.make_opsetid("", version.since_version)]
    model = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=opset, ir_version=8)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph.output
    except onnx.shape_inference.InferenceError:
        return REFUSED
    if not all(output.type.tensor_type.HasField("shape") for output in inferred):
        return NOTHING
    return tuple(tuple(_dimension(d) for d in output.type.tensor_type.shape.dim) for output in inferred)


def _dimension(dimension: Any) -> int | str | None:
    if dimension.HasField("dim_value"):
        return int(dimension.dim_value)
    # ONNX names the dimensions that nobody knows unk__0, unk__1.
    return None if dimension.dim_param.startswith("unk__") else str(dimension.dim_param)


def our_infer(version: Version, shapes: Sequence[Shape], attributes: Mapping[str, Any]) -> tuple[Shape, ...] | str:
    filled = {attribute.name: attribute.default for attribute in version.attributes} | dict(attributes)
    if _illegal(version, shapes, attributes):
        return REFUSED
    try:
        return infer(version, shapes, filled)  # type: ignore[arg-type]
    except SpecValueError:
        return REFUSED


def _illegal(version: Version, shapes: Sequence[Shape], attributes: Mapping[str, Any]) -> list[str]:
    """The attributes whose values are none that the version allows."""
    known = [(name, version.attribute(name), value) for name, value in attributes.items()]
    return [name for name, attribute, value in known if attribute and not allows(attribute, value, len(shapes[0]) - 2)]


Call = tuple[Sequence[Shape], Mapping[str, Any]]

IMAGES: Sequence[Shape] = [
    (1, 2, 5, 6), (0, 2, 5, 6), (1, 0, 5, 6), (1, 2, 0, 6), ("N", "C", "H", "W"), ("N", 2, None, 6), (None, None, None, None),
    (), (1,), (1, 2, 5), ("N", "C", "H"), (1, 2, 5, 6, 7), ("N", "C", "D", "H", "W"),
]  # fmt: skip


def calls(version: Version) -> Iterator[Call]:
    """Calls of every kind, among them those of the recorded gaps."""
    if version.windows is not None:
        yield from (_unpooling if version.windows.inverse else _windowed)(version)
    elif len(version.inputs) == 1:
        sizes: Sequence[Any] = (0, 1, 5, "N", None)
        for rank in range(4):
            yield from (([shape], {}) for shape in itertools.product(sizes, repeat=rank))
        yield from (([("N", 3, *[7, "W", None, 0, 1][:spatial])], {}) for spatial in range(6))
    elif len(version.inputs) == 2:
        regions: Sequence[Shape] = [
            (3, 5), (0, 5), ("R", 5), (None, 5), ("N", 5), ("C", 5), (3, "five"), (3, None), (None, None),
            (3, 4), (3, 6), (3, 0), ("R", 4), (5,), (), (3, 5, 1),
        ]  # fmt: skip
        yield from (([x, rois], {"pooled_shape": pooled}) for x in IMAGES for rois in regions for pooled in [(1, 1), (2, 3)])
    else:
        regions = [(3, 4), (0, 4), ("R", 4), (3, 5), (4,), (3, 4, 1)]
        images: Sequence[Shape] = [(3,), (0,), ("R",), (2,), (3, 1), ()]
        yield from (([x, rois, batch], {"output_height": 2}) for x in IMAGES for rois in regions for batch in images)
        for attributes in ({"output_height": 0}, {"output_width": -1}, {"mode": "sum"}, {"sampling_ratio": -1}, {"spatial_scale": 0.0}):
            yield [(1, 2, 4, 4), (3, 4), (3,)], attributes
    yield from ((gap.shapes, dict(gap.attributes)) for gap in version.inference_gaps)


def _windowed(version: Version) -> Iterator[Call]:
    pairs: Sequence[tuple[int, int]] = [(0, 0), (1, 1), (0, 2), (2, 1)]
    names = [attribute.name for attribute in version.attributes]
    for n, k, s, d, pads, auto_pad, ceil_mode in itertools.product(
        (0, 3, 7), (1, 2, 4), (1, 2, 3), (1, 3), pairs, ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"), (0, 1)
    ):
        if (d == 1 or "dilations" in names) and (not ceil_mode or "ceil_mode" in names) and not (any(pads) and auto_pad != "NOTSET"):
            given = {"dilations": (d,), "ceil_mode": ceil_mode, "pads": pads if auto_pad == "NOTSET" else None}
            given = {name: value for name, value in given.items() if name in names and value is not None}
            yield [(1, 2, n)], {"kernel_shape": (k,), "strides": (s,), "auto_pad": auto_pad, **given}
    for shape in IMAGES:
        yield from (([shape], {"kernel_shape": (2,) * many, "pads": (1,) * (2 * many)}) for many in (1, 2, 3))


def _unpooling(version: Version) -> Iterator[Call]:
    for n, k, s, pads in itertools.product((0, 1, 4), (1, 3), (1, 2), ((0, 0), (1, 2))):
        yield [(1, 2, n), (1, 2, n)], {"kernel_shape": (k,), "strides": (s,), "pads": pads}
    for shape in IMAGES:
        yield from (([shape, shape], {"kernel_shape": (2,) * many}) for many in (1, 2, 3))
        yield from (([(2, 3, 5, 6), shape], {"kernel_shape": (2, 2)}) for _ in "1")


@pytest.mark.parametrize("version", [v for v in VERSIONS.values() if v.shape_inference], ids=lambda v: v.name)
def test_rules_say_what_onnx_infers_where_no_gap_is_recorded(version: Version) -> None:
    recorded = {_kind(version, gap.shapes, dict(gap.attributes)) for gap in version.inference_gaps}
    met = set()
    agreed = 0
    for shapes, attributes in calls(version):
        if our_infer(version, shapes, attributes) == onnx_infer(version, shapes, attributes):
            agreed += 1
        else:
            met.add(_kind(version, shapes, attributes))
            assert met <= recorded, (shapes, attributes, onnx_infer(version, shapes, attributes))
    assert agreed > 50
    assert met == recorded


def _kind(version: Version, shapes: Sequence[Shape], attributes: Mapping[str, Any]) -> tuple[object, ...]:
    """What is odd about a call: attributes that are illegal, windows that do not fit, or, of
    shapes, ranks and sizes that differ.
    """
    if illegal := _illegal(version, shapes, attributes):
        return (*illegal,)
    if version.windows is None:
        width = shapes[1][1] if len(shapes) > 1 and len(shapes[1]) == 2 else None
        columns = len(version.inputs[1].columns) if len(shapes) > 1 else 0
        return (*map(len, shapes), isinstance(width, int) and width != columns)
    if version.windows.inverse:
        x, indices, *more = shapes
        differ = [i for i, (a, b) in enumerate(zip(x, indices, strict=False)) if a != b and isinstance(a, int) and isinstance(b, int)]
        if more:
            return ("output_shape",)
        return ("I", bool(differ) and min(differ) == 1) if differ or len(x) != len(indices) else ("size",)
    auto_pad = attributes.get("auto_pad", "NOTSET")
    if auto_pad != "NOTSET" and "pads" in attributes:
        return ("pads beside auto_pad", any(attributes["pads"]))
    size = shapes[0][2]
    assert isinstance(size, int)
    if auto_pad.startswith("SAME") and not size:
        return ("SAME of nothing",)
    if auto_pad != "NOTSET" and attributes.get("ceil_mode"):
        return ("ceil_mode beside", auto_pad[:4])
    begin, end = attributes.get("pads", (0, 0))
    (k,), (s,), (d,) = (attributes.get(name, (1,)) for name in ("kernel_shape", "strides", "dilations"))
    room = size + begin + end - ((k - 1) * d + 1)
    if room // s + 1 < 0:
        return ("below 0",)
    if attributes.get("ceil_mode") and -(-room // s) * s >= size + begin:
        return ("starts in the padding",)
    return ("beyond", room < 0, bool(attributes.get("ceil_mode")))


@pytest.mark.parametrize(
    ("version", "gap"),
    [(v, gap) for v in VERSIONS.values() for gap in v.inference_gaps],
    ids=lambda item: getattr(item, "name", item.__class__.__name__),
)
def test_a_recorded_gap_is_one(version: Version, gap: Any) -> None:
    attributes = dict(gap.attributes)
    ours, theirs = our_infer(version, gap.shapes, attributes), onnx_infer(version, gap.shapes, attributes)
    assert ours != theirs
    assert theirs != REFUSED


def test_onnx_infers_nothing_for_version_1_of_global_lp_pool() -> None:
    version = VERSIONS["GlobalLpPool-1"]
    assert not version.shape_inference
    assert all(onnx_infer(version, shapes, attributes) is NOTHING for shapes, attributes in itertools.islice(calls(version), 60))
    assert infer(version, [(2, 3, 4)], {"p": 2.0}) == ((2, 3, 1),)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 4, 5), (0, 3, 4), (2, 0, 4), (2, 3, 0), ("N", None, "H", 4)])
def test_a_global_pool_keeps_rank_batch_and_channels(shape: Shape) -> None:
    assert infer(LP, [shape], {}) == ((*shape[:2], *[1] * (len(shape) - 2)),)


def test_a_roi_pool_takes_each_dimension_from_where_the_rule_says() -> None:
    assert infer(ROI, [(1, 2, 8, 9), (3, 5)], {"pooled_shape": (6, 7)}) == ((3, 2, 6, 7),)
    assert infer(ROI, [("N", "C", None, 9), ("R", None)], {"pooled_shape": [6, 7]}) == (("R", "C", 6, 7),)


@pytest.mark.parametrize(
    ("version", "shapes", "message"),
    [
        (LP, [()], "GlobalLpPool-22: X has shape (), expected (N, C, D1, ..., Dn)"),
        (LP, [(3,)], "GlobalLpPool-22: X has shape (3,), expected (N, C, D1, ..., Dn)"),
        (LP, [], "GlobalLpPool-22: 0 inputs, expected 1 (X)"),
        (ROI, [(1, 2, 8)], "MaxRoiPool-22: 1 inputs, expected 2 (X, rois)"),
        (ROI, [(1, 2, None), (3, 5)], "MaxRoiPool-22: X has shape (1, 2, ?), expected (N, C, H, W)"),
        (ROI, [("N", 2, 8, 8), (3, 4)], "MaxRoiPool-22: rois has shape (3, 4), expected (num_rois, 5)"),
        (VERSIONS["MaxRoiPool-1"], [(1, 2, 8, 8), ("R", 6)], "MaxRoiPool-1: rois has shape (R, 6), expected (num_rois, 5)"),
        (ROI, [(1, 2, 8, 8), (5,)], "MaxRoiPool-22: rois has shape (5,), expected (num_rois, 5)"),
    ],
)
def test_a_misfit_is_named(version: Version, shapes: Sequence[Shape], message: str) -> None:
    with pytest.raises(SpecValueError) as caught:
        infer(version, shapes, {"pooled_shape": (1, 1)})
    assert str(caught.value) == message


def made_up(inputs: Sequence[str], outputs: Sequence[str]) -> Version:
    """A version whose operands follow these rules."""
    return dataclasses.replace(
        LP,
        op="Op",
        inputs=tuple(Operand(f"x{i}", "T", rule, "Data.") for i, rule in enumerate(inputs)),
        outputs=tuple(Operand(f"y{i}", "T", rule, "Results.") for i, rule in enumerate(outputs)),
    )


def test_a_name_is_the_same_dimension_wherever_it_stands() -> None:
    version = made_up(["N C", "C K"], ["N K"])
    assert infer(version, [(2, 3), (3, 4)], {}) == ((2, 4),)
    with pytest.raises(SpecValueError, match=r"^Op-22: x1 has shape \(5, 4\), expected \(C, K\), C being 3$"):
        infer(version, [(2, 3), (5, 4)], {})


@pytest.mark.parametrize(
    ("one", "other", "together"), [("a", 3, 3), (3, "a", 3), (None, "a", "a"), ("a", None, "a"), ("a", "b", "a"), (None, 3, 3)]
)
def test_of_two_words_for_a_dimension_the_more_telling_one_counts(one: Any, other: Any, together: Any) -> None:
    assert infer(made_up(["N", "N"], ["N"]), [(one,), (other,)], {}) == ((together,),)


def test_a_star_stands_for_the_same_dimensions_in_every_operand() -> None:
    version = made_up(["N D*", "D*"], ["D*", "1*", "2 D*"])
    assert infer(version, [(7, 3, "W"), (3, 4)], {}) == ((3, 4), (1, 1), (2, 3, 4))
    assert infer(version, [(7,), ()], {}) == ((), (), (2,))
    with pytest.raises(SpecValueError, match=r"x1 has shape \(3, 5\), expected \(D1, ..., Dn\), D2 being 4$"):
        infer(version, [(7, 3, 4), (3, 5)], {})
    with pytest.raises(SpecValueError, match=r"x1 has shape \(3,\), expected \(D1, ..., Dn\)"):
        infer(version, [(7, 3, 4), (3,)], {})


def test_an_attribute_may_be_a_size() -> None:
    assert infer(made_up(["N 4"], ["N height width[1]"]), [("R", None)], {"height": 3, "width": (8, 9)}) == (("R", 3, 9),)


@pytest.mark.parametrize("rule", ["N,", "*", "N* C", "N**", "-1", "4[0]", "N[a]", "N[0", "(N)", "é*!"])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(SpecValueError, match="is no term of a shape rule"):
        parse(rule)


def test_rules_are_written_as_people_write_shapes() -> None:
    assert [written(rule) for rule in ("N C 1*", "N D*", "5", "num_rois C pooled_shape[0] pooled_shape[1]", "")] == [
        "(N, C, 1, ..., 1)",
        "(N, D1, ..., Dn)",
        "(5,)",
        "(num_rois, C, pooled_shape[0], pooled_shape[1])",
        "()",
    ]
