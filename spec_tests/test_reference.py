"""ONNX's reference evaluator with cypool's operators: the version that the opset means, wherever
the node stands.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import helper
from onnx.reference.op_run import OpRun

import cypool
from cypool.reference import OPS, ReferenceEvaluator

X = np.array([[[3, -4]]], np.float32)
HEAD = '<ir_version: 9, opset_import: ["" : {}, "mine" : 1]> g (float[1, 1, 2] x) => (float[1, 1, 1] y)'
POWER_1_5 = pytest.approx((3**1.5 + 8) ** (1 / 1.5))


def result(text: str, **options: object) -> float:
    (y,) = ReferenceEvaluator(onnx.parser.parse_model(text), **options).run(None, {"x": X})
    return float(y.item())


NODES = {
    "the graph": "{{ y = GlobalLpPool <p = {0}> (x) }}",
    "a branch": """{{ c = Constant <value = bool {{1}}> ()
        y = If (c) <then_branch = g () => (float[1, 1, 1] t) {{ t = GlobalLpPool <p = {0}> (x) }},
                    else_branch = h () => (float[1, 1, 1] e) {{ e = Identity (x) }}> }}""",
    "a loop": """{{ n = Constant <value = int64 {{1}}> ()  c = Constant <value = bool {{1}}> ()
        z = ReduceSum <keepdims = 1> (x)
        y = Loop (n, c, z) <body = b (int64 i, bool c_in, float[1, 1, 1] s) => (bool c_out, float[1, 1, 1] t)
                {{ c_out = Identity (c_in)  t = GlobalLpPool <p = {0}> (x) }}> }}""",
    "a function": """{{ y = mine.Pool (x) }}
        <domain: "mine", opset_import: ["" : {1}]> Pool (a) => (b) {{ b = GlobalLpPool <p = {0}> (a) }}""",
}


@pytest.mark.parametrize("place", NODES)
def test_a_node_has_the_version_of_its_opset(place: str) -> None:
    """In version 1 p is a FLOAT, in version 2 it is an INT."""
    assert result(HEAD.format(1) + NODES[place].format("1.5", 1)) == POWER_1_5
    assert result(HEAD.format(18) + NODES[place].format("1", 18)) == 7
    with pytest.raises(cypool.SpecTypeError, match=r"^GlobalLpPool-2: attribute p is of type FLOAT"):
        ReferenceEvaluator(onnx.parser.parse_model(HEAD.format(18) + NODES[place].format("1.5", 18)))


@pytest.mark.parametrize(("model", "function"), [(18, 1), (1, 18)])
def test_a_function_has_an_opset_of_its_own(model: int, function: int) -> None:
    p = "1.5" if function == 1 else "1"
    expected = POWER_1_5 if function == 1 else 7
    assert result(HEAD.format(model) + NODES["a function"].format(p, function)) == expected


def test_it_takes_all_that_onnxs_does(tmp_path) -> None:
    model = onnx.parser.parse_model(HEAD.format(18) + NODES["the graph"].format("1", 18))
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    for proto in (path, str(path), model.SerializeToString(), model):
        assert ReferenceEvaluator(proto).run(None, {"x": X})[0].item() == 7
    assert ReferenceEvaluator(model.graph, {"": 18, "mine": 1}).run(None, {"x": X})[0].item() == 7
    assert ReferenceEvaluator(helper.make_node("GlobalLpPool", ["x"], ["y"], p=1)).run(None, {"x": X})[0].item() == 7
    assert isinstance(ReferenceEvaluator(model), onnx.reference.ReferenceEvaluator)


class GlobalLpPool(OpRun):
    op_domain = ""
    op_schema = None

    def _run(self, x, **_):
        return (np.zeros((1, 1, 1), np.float32),)


def test_operators_of_the_callers_come_first() -> None:
    assert result(HEAD.format(18) + NODES["the graph"].format("1", 18), new_ops=[GlobalLpPool]) == 0
    assert result(HEAD.format(18) + NODES["a branch"].format("1", 18), new_ops=[GlobalLpPool]) == 0


def test_the_list_is_for_onnxs_own_class() -> None:
    model = onnx.parser.parse_model(HEAD.format(1) + NODES["a branch"].format("1.5", 1))
    assert onnx.reference.ReferenceEvaluator(model, new_ops=OPS).run(None, {"x": X})[0].item() == POWER_1_5


def test_errors_are_those_of_a_call() -> None:
    text = HEAD.format(18) + NODES["a branch"].format("0", 18)
    with pytest.raises(cypool.SpecValueError, match=r"^GlobalLpPool-2: p is 0"):
        result(text)
    with pytest.raises(NotImplementedError, match=r"^node of y \(mine\.Foo\): neither cypool nor onnx"):
        result(HEAD.format(18) + "{ y = mine.Foo (x) }")
    with pytest.raises(RuntimeError, match=r"^node of y \(MatMul\): ValueError: "):
        result(HEAD.format(18) + "{ y = MatMul (x, x) }")
