"""Models with functions of their own: what a call gives, whatever it passes, leaves out or
contains; and cypool in every variant.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from all_cases import every

import cypool
from cypool.conformance.asking.runtimes import onnx_backend
from cypool.conformance.asking.worker import attempt
from cypool.conformance.cases import instances, models, variants
from cypool.conformance.judging.compare import judge
from cypool.session import Session

X = np.array([[[3, -4]]], np.float32)
POOL = "Pool <q> (a) => (b) { b = GlobalLpPool <p: int = @q> (a) }"
MINE = '<domain: "mine", opset_import: ["" : 18]>'
BOTH = '<domain: "mine", opset_import: ["" : 18, "mine" : 1]>'
BRANCHES = "<then_branch = g () => (float[1, 1, 1] t) {{ {} }}, else_branch = h () => (float[1, 1, 1] e) {{ {} }}>"


def session(nodes: str, *functions: str) -> Session:
    head = '<ir_version: 9, opset_import: ["" : 18, "mine" : 1]> g (float[1, 1, 2] x) => (float[1, 1, 1] y)'
    return Session(onnx.parser.parse_model("\n".join([f"{head} {{ {nodes} }}", *functions])))


def result(nodes: str, *functions: str) -> float:
    (y,) = session(nodes, *functions).run({"x": X}).values()
    return float(y.item())


def test_a_function_is_given_its_attributes() -> None:
    assert result("y = mine.Pool <q = 1> (x)", f"{MINE} {POOL}") == 7
    assert result("y = mine.Pool <q = 2> (x)", f"{MINE} {POOL}") == 5


def test_one_function_is_called_with_several() -> None:
    nodes = "a = mine.Pool <q = 1> (x)  b = mine.Pool <q = 2> (x)  y = Sub (a, b)"
    assert result(nodes, f"{MINE} {POOL}") == 2


def test_an_attribute_without_a_value_anywhere_is_left_out_and_has_the_operators_default() -> None:
    assert result("y = mine.Pool (x)", f"{MINE} {POOL}") == 5


def test_a_default_of_the_function_counts_where_none_is_given() -> None:
    defaulted = f"{MINE} {POOL}".replace("<q>", "<q: int = 1>")
    assert result("y = mine.Pool (x)", defaulted) == 7
    assert result("y = mine.Pool <q = 2> (x)", defaulted) == 5
    assert (
        result(f"c = Constant <value = bool {{1}}> ()  y = If (c) {BRANCHES.format('t = mine.Pool (x)', 'e = mine.Pool (x)')}", defaulted)
        == 7
    )


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["caller last", "caller first"])
def test_functions_call_each_other_in_any_order(order: slice) -> None:
    functions = [f"{MINE} {POOL}", f"{BOTH} Outer (a) => (b) {{ b = mine.Pool <q = 1> (a) }}"]
    assert result("y = mine.Outer (x)", *functions[order]) == 7


def test_a_function_in_a_branch_and_a_branch_in_a_function() -> None:
    constant = "c = Constant <value = bool {1}> ()"
    inside = BRANCHES.format("t = mine.Pool <q = 1> (x)", "e = mine.Pool <q = 2> (x)")
    assert result(f"{constant}  y = If (c) {inside}", f"{MINE} {POOL}") == 7
    around = BRANCHES.format("t = GlobalLpPool <p: int = @q> (a)", "e = Identity (a)")
    assert result("y = mine.Pool <q = 1> (x)", f"{MINE} Pool <q> (a) => (b) {{ {constant}  b = If (c) {around} }}") == 7


def test_a_function_means_the_operators_of_its_own_opset() -> None:
    """In version 1 p is a FLOAT, in the model's it is not."""
    function = '<domain: "mine", opset_import: ["" : 1]> Pool (a) => (b) { b = GlobalLpPool <p = 1.5> (a) }'
    assert result("y = mine.Pool (x)", function) == pytest.approx((3**1.5 + 8) ** (1 / 1.5))


@pytest.mark.parametrize("opset", [1, 18])
def test_what_is_wrong_within_a_function_is_said_as_anywhere(opset: int) -> None:
    function = f'<domain: "mine", opset_import: ["" : {opset}]> Pool (a) => (b) {{ b = GlobalLpPool <p = "two"> (a) }}'
    with pytest.raises(cypool.SpecTypeError, match=r"^GlobalLpPool-[12]: attribute p is of type STRING, expected"):
        session("y = mine.Pool (x)", function)
    refused = function.replace('"two"', "0" if opset == 18 else "0.0")
    with pytest.raises(cypool.SpecValueError, match=r"^GlobalLpPool-[12]: p is 0"):
        session("y = mine.Pool (x)", refused).run({"x": X})


def test_the_model_that_was_given_is_left_as_it_is() -> None:
    model = onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : 18, "mine" : 1]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) {{ y = mine.Pool (x) }} '
        f"{MINE} {POOL}".replace("<q>", "<q: int = 1>")
    )
    before = model.SerializeToString()
    assert Session(model).run({"x": X})["y"].item() == 7 and model.SerializeToString() == before


@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_cypool_passes_in_every_variant(variant: str) -> None:
    """A part of the cases here; CI runs them all."""
    backend = onnx_backend.connect("cypool.backend")
    some = [case for case in instances.spread(every()[::23], variants=[variant]) if case.variant]
    for case in some:
        optimize = models.variant(case).options.get("optimize", True)
        outcome = attempt(backend, models.model(case).SerializeToString(), list(models.feeds(case)), list(case.outputs), optimize)
        assert judge(case, outcome).verdict == "pass", (case.id, outcome)
