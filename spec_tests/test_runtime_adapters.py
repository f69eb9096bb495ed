"""What the adapters of real runtimes make of answers and refusals: types as they are, and no claim
but the runtime's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.protocol import Outcome, run_request
from cypool.conformance.asking.runtimes import onnx_backend, onnxruntime
from cypool.conformance.asking.runtimes.table import connect
from cypool.conformance.tensors import DTYPES, Tensor

NAMES = ("cypool", "onnxruntime", "onnxruntime+cypool", "reference", "openvino", "tract")


@pytest.fixture(scope="module")
def runtimes() -> Iterator[dict[str, Isolated]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(Isolated(name, 20))) for name in NAMES}


def tensor(name: str, type: str, values: Sequence[float], shape: Sequence[int]) -> Tensor:
    return Tensor.of(name, np.array(values).astype(DTYPES[type]).reshape(shape))


def model(op: str, opset: int, inputs: Sequence[Tensor], **attributes: object) -> bytes:
    element = TensorProto.DataType.Value(inputs[0].type.upper())
    node = helper.make_node(op, [i.name for i in inputs], ["Y"], **attributes)
    stated = [helper.make_tensor_value_info(i.name, element, i.shape) for i in inputs]
    graph = helper.make_graph([node], "g", stated, [helper.make_tensor_value_info("Y", element, None)])
    made: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()
    return made


def norm(
    runtime: Isolated, opset: int, type: str = "float", x: Sequence[float] = (3, 4), shape: Sequence[int] = (1, 1, 2), **p: object
) -> Outcome:
    inputs = [tensor("X", type, x, shape)]
    return runtime.run("n", run_request("n", model("GlobalLpPool", opset, inputs, **p), inputs, ["Y"]))


def pool(runtime: Isolated, opset: int, type: str) -> Outcome:
    inputs = [tensor("X", type, [1, 2, 3, 4], (1, 1, 2, 2)), tensor("rois", type, [0, 0, 0, 1, 1], (1, 5))]
    return runtime.run("p", run_request("p", model("MaxRoiPool", opset, inputs, pooled_shape=[1, 1]), inputs, ["Y"]))


def answer(outcome: Outcome) -> tuple[str, list[float]]:
    (y,) = outcome.outputs
    return y.type, y.array.ravel().tolist()


def test_versions_are_those_of_the_packages(runtimes: dict[str, Isolated]) -> None:
    assert runtimes["openvino"].description.version.startswith("20")
    assert runtimes["tract"].description.version.startswith("0.")
    assert "-" not in runtimes["openvino"].description.version


def test_openvino_gives_the_type_that_the_memory_has(runtimes: dict[str, Isolated]) -> None:
    for type in ("float16", "float", "double"):
        assert answer(norm(runtimes["openvino"], 2, type)) == (type, [5.0])
        assert answer(pool(runtimes["openvino"], 1, type)) == (type, [4.0])
    assert answer(norm(runtimes["openvino"], 22, "bfloat16")) == ("bfloat16", [5.0])


def test_tract_averages(runtimes: dict[str, Isolated]) -> None:
    """So a right answer here would be the adapter's doing, or a release to read about."""
    type, (value,) = answer(norm(runtimes["tract"], 2))
    assert (type, round(value, 4)) == ("float", 3.5355)
    assert answer(norm(runtimes["tract"], 2, "double", (7,), (1, 1, 1))) == ("double", [7.0])


@pytest.mark.parametrize(
    ("name", "op", "opset", "type", "words"),
    [
        ("openvino", "MaxRoiPool", 22, "bfloat16", "MaxRoiPool operator only supports float16, float32, and float64 datatypes"),
        ("tract", "MaxRoiPool", 1, "float", "Unimplemented(MaxRoiPool)"),
        ("tract", "GlobalLpPool", 22, "bfloat16", "Unknown DatumType Bfloat16"),
        ("onnxruntime", "GlobalLpPool", 22, "float", "Could not find an implementation for GlobalLpPool(22)"),
        ("onnxruntime", "GlobalLpPool", 99, "float", "Current official support for domain ai.onnx is till opset"),
        ("reference", "GlobalLpPool", 22, "float", "No registered implementation for operator 'GlobalLpPool'"),
    ],
)
def test_unsupported_is_in_the_runtime_s_own_words(
    runtimes: dict[str, Isolated], name: str, op: str, opset: int, type: str, words: str
) -> None:
    outcome = norm(runtimes[name], opset, type) if op == "GlobalLpPool" else pool(runtimes[name], opset, type)
    assert (outcome.status, outcome.phase) == ("unsupported", "load")
    assert words in outcome.message


def test_openvino_has_no_rule_for_an_operator_that_nobody_has(runtimes: dict[str, Isolated]) -> None:
    inputs = [tensor("X", "float", [1], (1,))]
    outcome = runtimes["openvino"].run("u", run_request("u", model("NobodyHasThis", 13, inputs), inputs, ["Y"]))
    assert (outcome.status, outcome.phase) == ("unsupported", "load")


@pytest.mark.parametrize(("name", "words"), [("openvino", "Invalid attribute type FLOAT expected: INT"), ("tract", "expected int")])
def test_a_p_of_version_1_is_refused_and_not_called_unsupported(runtimes: dict[str, Isolated], name: str, words: str) -> None:
    outcome = norm(runtimes[name], 1, p=3.0)
    assert (outcome.status, outcome.phase) == ("error", "load")
    assert words in outcome.message


def test_tract_says_no_backtrace(runtimes: dict[str, Isolated], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUST_BACKTRACE", "1")
    with closing(runtimes["tract"].twin()) as twin:
        assert "backtrace" not in norm(twin, 1, p=3.0).message


def test_openvino_dies_where_there_is_no_channel_and_comes_back(runtimes: dict[str, Isolated]) -> None:
    lost = norm(runtimes["openvino"], 2, x=(), shape=(1, 0, 2))
    assert (lost.status, lost.message) == ("crashed", "killed by SIGFPE")
    assert answer(norm(runtimes["openvino"], 2)) == ("float", [5.0])


def test_onnxruntime_leaves_the_graph_as_it_is_where_that_is_asked() -> None:
    adapter = onnxruntime.connect("CPUExecutionProvider")
    assert adapter.unoptimized.graph_optimization_level == ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert adapter.as_by_default.graph_optimization_level == ort.SessionOptions().graph_optimization_level


def test_who_has_a_switch_for_optimisation_says_so(runtimes: dict[str, Isolated]) -> None:
    switched = {name for name, runtime in runtimes.items() if "optimize" in runtime.options}
    assert switched == {"cypool", "onnxruntime", "onnxruntime+cypool", "reference"}


def test_a_backend_has_the_switch_only_if_it_says_that_it_never_optimises(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hasattr(onnx_backend.connect("cypool.backend"), "load_unoptimized")
    monkeypatch.delattr("cypool.backend.optimizes")
    assert not hasattr(onnx_backend.connect("cypool.backend"), "load_unoptimized")


@pytest.mark.parametrize("name", ["onnxruntime", "tract"])
def test_the_outputs_of_one_node_are_told_apart(name: str) -> None:
    x = np.array([[[1, 3, 2, 0]]], np.float32)
    node = onnx.helper.make_node("MaxPool", ["X"], ["Y", "Indices"], kernel_shape=[2])
    inputs = [onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, x.shape)]
    kinds = {"Y": onnx.TensorProto.FLOAT, "Indices": onnx.TensorProto.INT64}
    outputs = [onnx.helper.make_tensor_value_info(output, kind, [1, 1, 3]) for output, kind in kinds.items()]
    graph = onnx.helper.make_graph([node], "g", inputs, outputs)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 12)], ir_version=7)
    found = connect(name).load(model.SerializeToString())([Tensor.of("X", x)], ["Indices", "Y"])
    assert [(output.name, output.array.ravel().tolist()) for output in found] == [("Indices", [1, 1, 2]), ("Y", [3, 3, 2])]
