"""cypool as an ONNX Backend: how inputs come, what a node gives, which device there is."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from foreign import ByDLPack
from onnx import helper

import cypool
import cypool.backend

X = np.array([[[3, -4]]], np.float32)
NORM = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }'
)
ADD = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (float[2] a, float[2] b) => (float[2] y) { y = Add (a, b) }')
NODE = helper.make_node("GlobalLpPool", ["x"], ["y"], p=1)


@pytest.mark.parametrize("x", [X, ByDLPack(X), memoryview(X)], ids=["array", "tensor", "buffer"])
def test_a_bare_array_is_the_one_input(x) -> None:
    """With a batch of one, it could be taken for a list of one array of a lower rank."""
    for (y,) in (cypool.backend.prepare(NORM).run(x), cypool.backend.run_model(NORM, x), cypool.backend.run_node(NODE, x)):
        assert y.shape == (1, 1, 1) and y.item() == 7


@pytest.mark.parametrize("inputs", [[X], (X,), iter([X]), {"x": X}, {"x": X}.values()], ids=lambda x: type(x).__name__)
def test_inputs_come_as_a_list_or_by_name(inputs) -> None:
    inputs = list(inputs) if not isinstance(inputs, list | tuple | dict) else inputs
    for given in (inputs, iter(inputs.values()) if isinstance(inputs, dict) else iter(inputs), inputs):
        (y,) = cypool.backend.prepare(NORM).run(given)
        assert y.item() == 7
        (y,) = cypool.backend.run_node(NODE, inputs)
        assert y.item() == 7


def test_a_bare_array_is_never_several_inputs() -> None:
    pair = np.ones((2, 2), np.float32)
    node = helper.make_node("Add", ["a", "b"], ["y"])
    for call in (lambda: cypool.backend.prepare(ADD).run(pair), lambda: cypool.backend.run_node(node, pair)):
        with pytest.raises(cypool.SpecValueError, match=r"was given 1 inputs, expected 2 \(a, b\)$"):
            call()
    with pytest.raises(cypool.SpecValueError, match=r"^the model was given 3 inputs, expected 2 \(a, b\)$"):
        cypool.backend.run_model(ADD, [pair] * 3)


def test_another_device_is_refused() -> None:
    assert cypool.backend.supports_device("CPU") and cypool.backend.supports_device("CPU:0")
    assert not cypool.backend.supports_device("CUDA") and not cypool.backend.supports_device("CPUX")
    assert cypool.backend.is_compatible(NORM) and not cypool.backend.is_compatible(NORM, "CUDA")
    for call in (
        lambda: cypool.backend.prepare(NORM, "CUDA"),
        lambda: cypool.backend.run_model(NORM, [X], "CUDA"),
        lambda: cypool.backend.run_node(NODE, [X], "CUDA"),
    ):
        with pytest.raises(cypool.SpecValueError, match="device CUDA is not supported, expected CPU"):
            call()


def test_a_node_is_of_the_opset_that_is_given() -> None:
    """In version 1 p is a FLOAT, later an INT."""
    fractional = helper.make_node("GlobalLpPool", ["x"], ["y"], p=1.5)
    (y,) = cypool.backend.run_node(fractional, [X], opset_version=1)
    assert y.item() == pytest.approx((3**1.5 + 8) ** (1 / 1.5))
    with pytest.raises(cypool.SpecTypeError, match=r"^GlobalLpPool-2: attribute p is of type FLOAT, expected INT"):
        cypool.backend.run_node(fractional, [X], opset_version=2)
    with pytest.raises(cypool.SpecTypeError, match=r"^GlobalLpPool-22: attribute p"):
        cypool.backend.run_node(fractional, [X])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64, ">f4"])
def test_a_node_takes_every_type(dtype) -> None:
    (y,) = cypool.backend.run_node(NODE, [X.astype(dtype)])
    assert y.dtype == np.dtype(dtype).newbyteorder("=") and y.item() == 7


def clip(*names: str) -> onnx.NodeProto:
    return helper.make_node("Clip", list(names), ["y"])


LOW, HIGH = np.array(-1, np.float32), np.array(2, np.float32)


def test_an_omitted_input_is_none_or_has_no_place() -> None:
    for node, inputs in (
        (clip("x", "", "high"), [X, None, HIGH]),
        (clip("x", "", "high"), [X, HIGH]),
        (clip("x", "low", "high"), [X, None, HIGH]),
        (clip("x", "low", "high"), {"x": X, "high": HIGH}),
    ):
        before = node.SerializeToString()
        (y,) = cypool.backend.run_node(node, inputs)
        assert y.tolist() == [[[2, -4]]]
        assert node.SerializeToString() == before
    (y,) = cypool.backend.run_node(clip("x", "low"), [X, LOW])
    assert y.tolist() == [[[3, -1]]]


def test_what_does_not_fit_the_names_of_a_node_is_refused() -> None:
    with pytest.raises(cypool.SpecValueError, match="an array was given for an input that the node omits"):
        cypool.backend.run_node(clip("x", "", "high"), [X, LOW, HIGH])
    with pytest.raises(cypool.SpecValueError, match=r"the Clip was given 1 inputs, expected 2 \(x, high\)"):
        cypool.backend.run_node(clip("x", "", "high"), [X])
    twice = helper.make_node("Sub", ["a", "a"], ["y"])
    (y,) = cypool.backend.run_node(twice, [X, X])
    assert y.tolist() == [[[0, 0]]]
    with pytest.raises(cypool.SpecValueError, match="two arrays were given for a, which the node reads twice"):
        cypool.backend.run_node(twice, [X, -X])


def test_a_node_gives_as_many_as_it_has_outputs() -> None:
    x = np.array([3.0, 1.0, 2.0], np.float32)
    k = np.array([2], np.int64)
    values, indices = cypool.backend.run_node(helper.make_node("TopK", ["x", "k"], ["v", "i"]), [x, k])
    assert values.tolist() == [3, 2] and indices.tolist() == [0, 2]
    omitted, indices = cypool.backend.run_node(helper.make_node("TopK", ["x", "k"], ["", "i"]), [x, k])
    assert omitted is None and indices.tolist() == [0, 2]
    assert len(cypool.backend.run_node(helper.make_node("Split", ["x"], ["a", "b", "c"], num_outputs=3), [x])) == 3


def test_a_node_of_another_domain_is_run_or_not_implemented() -> None:
    (y,) = cypool.backend.run_node(helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=0.0), [X])
    assert y.tolist() == [[[1, 0]]]
    (y,) = cypool.backend.run_node(helper.make_node("GlobalLpPool", ["x"], ["y"], domain="ai.onnx", p=1), [X])
    assert y.item() == 7
    with pytest.raises(NotImplementedError, match=r"node of y \(mine\.Foo\): neither cypool nor"):
        cypool.backend.run_node(helper.make_node("Foo", ["x"], ["y"], domain="mine"), [X])


def test_a_model_of_unknown_operators_is_incompatible_and_an_invalid_one_is_for_prepare_to_say() -> None:
    unknown = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) { y = Nonsense (x) }')
    assert not cypool.backend.is_compatible(unknown)
    assert cypool.backend.is_compatible(onnx.ModelProto())
    with pytest.raises(cypool.SpecValueError, match="the model is empty"):
        cypool.backend.prepare(onnx.ModelProto())
