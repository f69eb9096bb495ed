"""Models as people have them: how they come, what they declare, what they are fed, and what is said
where something is wrong.
"""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from foreign import Bfloat16OfTorch, ByDLPack
from onnx import TensorProto, helper

import cypool
import cypool.session
from cypool.session import InferenceSession, Session

NORM = '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }'
ADD = '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 2] a, float[N, 2] b) => (float[N, 2] y) { y = Add (a, b) }'
X = np.array([[[3, -4]]], np.float32)


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def result(model: onnx.ModelProto, **feed: object) -> object:
    (y,) = InferenceSession(model).run(None, feed)
    return y


# --- how a model comes ----------------------------------------------------------------------------


def test_a_model_comes_as_a_path_as_bytes_or_as_a_proto(tmp_path) -> None:
    model = parsed(NORM)
    path = tmp_path / "norm.onnx"
    onnx.save(model, path)
    for source in (path, str(path), model.SerializeToString(), bytearray(model.SerializeToString()), model):
        assert InferenceSession(source).run(None, {"x": X})[0].item() == 7


@pytest.mark.parametrize("content", [b"", onnx.ModelProto(ir_version=8).SerializeToString()], ids=["no bytes", "no graph"])
def test_an_empty_model_is_refused(content, tmp_path) -> None:
    path = tmp_path / "empty.onnx"
    path.write_bytes(content)
    with pytest.raises(cypool.SpecValueError, match=f"^{path} is empty: it has no graph$"):
        InferenceSession(path)
    with pytest.raises(cypool.SpecValueError, match=r"^the model is empty: it has no graph$"):
        InferenceSession(content)


def test_a_graph_without_outputs_is_refused() -> None:
    with pytest.raises(cypool.SpecValueError, match="its graph has no outputs"):
        InferenceSession(parsed('<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => () { y = Neg (x) }'))


@pytest.mark.parametrize(("name", "content"), [("noise.onnx", b"\xff" * 40), ("noise.json", b"{"), ("noise.onnxtxt", b"<ir_version")])
def test_what_is_no_model_is_named_in_one_line(name, content, tmp_path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(cypool.SpecValueError, match=f"^{path} is no ONNX model") as caught:
        InferenceSession(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_oserror_and_no_type_but_those_is_taken(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        InferenceSession(tmp_path / "missing.onnx")
    with pytest.raises(cypool.SpecTypeError, match="the model is a NoneType, expected a path, bytes or a ModelProto"):
        InferenceSession(None)  # type: ignore[arg-type]


def test_data_beside_a_model_are_found_by_its_path_alone(tmp_path) -> None:
    model = parsed('<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }')
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "w"))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    assert InferenceSession(path).run(None, {"x": np.zeros(2, np.float32)})[0].tolist() == [1, 2]
    with pytest.raises(cypool.SpecValueError, match="the data of w are in another file; expected the model's path"):
        InferenceSession(path.read_bytes())
    (tmp_path / "w.bin").unlink()
    with pytest.raises((cypool.SpecValueError, OSError), match=r"w\.bin"):
        InferenceSession(path)


# --- what a model declares ------------------------------------------------------------------------


def test_inputs_and_outputs_read_as_onnx_runtimes_do() -> None:
    head = '<ir_version: 8, opset_import: ["" : 18]>'
    models = [
        f"{head} g (float[N, 1, ?] x) => (float[N, 1, ?] y) {{ y = Neg (x) }}",
        f"{head} g (float16[] x) => (float16[] y) {{ y = Neg (x) }}",
        f"{head} g (string[N] x) => (string[N] y) {{ y = Identity (x) }}",
        f"{head} g (seq(float[N]) x) => (seq(float[N]) y) {{ y = Identity (x) }}",
        f"{head} g (optional(float[N]) x) => (bool[] y) {{ y = OptionalHasElement (x) }}",
        f"{head} g (double[2] x, double[2] w = {{1, 2}}) => (double[2] y) {{ y = Add (x, w) }}",
    ]
    protos = [parsed(text) for text in models]
    protos.append(parsed(models[0]))
    protos[-1].graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    protos.append(parsed(models[0]))
    protos[-1].graph.input[0].type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    for model in protos:
        theirs = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        ours = InferenceSession(model)
        for method in ("get_inputs", "get_outputs", "get_overridable_initializers"):
            expected = [(argument.name, argument.type, argument.shape) for argument in getattr(theirs, method)()]
            assert [(argument.name, argument.type, argument.shape) for argument in getattr(ours, method)()] == expected


def test_it_is_called_as_onnx_runtimes_class_is(tmp_path) -> None:
    """With the same arguments, the same answers; a provider that is not there is passed over, all
    of them are an error.
    """
    model = parsed(ADD)
    path = tmp_path / "add.onnx"
    onnx.save(model, path)
    feed = {"a": np.ones((3, 2), np.float32), "b": np.ones((3, 2), np.float32)}
    for module in (onnxruntime, cypool.session):
        options = onnxruntime.SessionOptions()
        session = module.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
        (y,) = session.run(["y"], feed, None)
        assert y.tolist() == [[2, 2]] * 3
        (y,) = session.run(output_names=None, input_feed=feed, run_options=None)
        assert y.tolist() == [[2, 2]] * 3
        assert "CPUExecutionProvider" in session.get_providers()
    assert (
        InferenceSession(path, providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"]).run(None, feed)[0].sum()
        == 12
    )
    with pytest.raises(
        cypool.SpecValueError, match="providers are CUDAExecutionProvider, expected CypoolExecutionProvider or CPUExecutionProvider"
    ):
        InferenceSession(path, providers=["CUDAExecutionProvider"])


def test_the_repr_tells_inputs_and_outputs() -> None:
    assert repr(InferenceSession(parsed(NORM))) == "<InferenceSession of the model: x: tensor(float)[N, 1, 2] -> y: tensor(float)[N, 1, 1]>"


@pytest.mark.parametrize("size", [-1, -7])
def test_a_negative_size_is_an_unknown_one(size: int) -> None:
    model = parsed(NORM)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = size
    assert result(model, x=np.repeat(X, 3, axis=0)).shape == (3, 1, 1)


def test_a_name_is_one_size_in_all_inputs() -> None:
    session = InferenceSession(parsed(ADD))
    (y,) = session.run(None, {"a": np.ones((3, 2), np.float32), "b": np.ones((3, 2), np.float32)})
    assert y.tolist() == [[2, 2]] * 3
    with pytest.raises(cypool.SpecValueError) as caught:
        session.run(None, {"a": np.ones((3, 2), np.float32), "b": np.ones((1, 2), np.float32)})
    assert str(caught.value) == "input b has shape (1, 2), the model declares (N, 2), where N is 3 by input a of shape (3, 2)"


def test_a_name_is_one_size_within_an_input() -> None:
    model = parsed('<ir_version: 8, opset_import: ["" : 18]> g (float[N, N] x) => (float[N, N] y) { y = Neg (x) }')
    with pytest.raises(cypool.SpecValueError, match=r"input x has shape \(2, 3\), the model declares \(N, N\), where N is 2 by input x"):
        result(model, x=np.ones((2, 3), np.float32))


DEFAULTED = '<ir_version: {}, opset_import: ["" : 8]> g (float[2] x, float[2] w = {{1, 2}}) => (float[2] y) {{ y = Add (x, w) }}'


def test_an_initializer_that_is_an_input_is_a_default_from_ir_version_4_on() -> None:
    x = np.zeros(2, np.float32)
    for version in (4, 8):
        model = parsed(DEFAULTED.format(version))
        assert result(model, x=x).tolist() == [1, 2]
        assert result(model, x=x, w=np.array([5, 6], np.float32)).tolist() == [5, 6]
        with pytest.raises(cypool.SpecValueError, match=r"input w has shape \(3,\), the model declares \(2,\)"):
            result(model, x=x, w=np.ones(3, np.float32))


def test_before_that_it_is_a_constant() -> None:
    model = parsed(DEFAULTED.format(3))
    assert result(model, x=np.zeros(2, np.float32)).tolist() == [1, 2]
    with pytest.raises(cypool.SpecValueError, match="input w is an initializer, which before IR version 4 is a constant"):
        result(model, x=np.zeros(2, np.float32), w=np.ones(2, np.float32))


def test_an_initializer_that_is_no_input_can_not_be_fed() -> None:
    model = parsed('<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }')
    with pytest.raises(cypool.SpecValueError, match="the model has no input w, expected x"):
        result(model, x=np.zeros(2, np.float32), w=np.ones(2, np.float32))


SPELLED = [
    '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) {{ {} }}',
    '<ir_version: 8, opset_import: ["ai.onnx" : 18]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) {{ {} }}',
]
BRANCHES = """c = Constant <value = bool {1}> ()  y = If (c) <
              then_branch = g () => (float[1, 1, 1] t) { t = ai.onnx.GlobalLpPool <p = 1> (x) },
              else_branch = h () => (float[1, 1, 1] e) { e = GlobalLpPool <p = 2> (x) }>"""


@pytest.mark.parametrize("head", SPELLED)
@pytest.mark.parametrize("nodes", ["y = GlobalLpPool <p = 1> (x)", "y = ai.onnx.GlobalLpPool <p = 1> (x)", BRANCHES])
def test_the_default_domain_may_be_spelled_out_anywhere(head: str, nodes: str) -> None:
    model = parsed(head.format(nodes))
    before = model.SerializeToString()
    assert result(model, x=X).item() == 7
    assert model.SerializeToString() == before


def test_the_default_domain_may_be_spelled_out_in_a_function() -> None:
    model = parsed(
        '<ir_version: 9, opset_import: ["ai.onnx" : 18, "mine" : 1]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) { y = mine.Pool (x) } '
        '<domain: "mine", opset_import: ["ai.onnx" : 1]> Pool (a) => (b) { b = ai.onnx.GlobalLpPool <p = 1.0> (a) }'
    )
    assert result(model, x=X).item() == 7


def test_two_opsets_of_the_default_domain_are_refused() -> None:
    with pytest.raises(cypool.SpecValueError, match="the model imports opsets 1 and 18 of one domain"):
        InferenceSession(parsed(NORM.replace('["" : 18]', '["" : 18, "ai.onnx" : 1]')))


def test_sequences_and_optionals_run() -> None:
    at = parsed(
        '<ir_version: 8, opset_import: ["" : 18]> g (seq(float[N]) s) => (float[N] y) '
        "{ i = Constant <value = int64 {1}> ()  y = SequenceAt (s, i) }"
    )
    sequence = [np.zeros(1, np.float32), np.array([5, 6, 7], ">f4")]
    assert result(at, s=sequence).tolist() == [5, 6, 7]
    with pytest.raises(cypool.SpecTypeError, match=r"^input s\[1\] is float64, the model declares float32$"):
        result(at, s=[np.zeros(1, np.float32), np.zeros(1)])
    with pytest.raises(cypool.SpecTypeError, match=r"^input s is a ndarray, the model declares a sequence, which is a list$"):
        result(at, s=np.zeros((2, 2), np.float32))
    has = parsed('<ir_version: 8, opset_import: ["" : 18]> g (optional(float[N]) o) => (bool[] y) { y = OptionalHasElement (o) }')
    assert result(has, o=np.zeros(1, np.float32)).item() is True
    assert result(has, o=None).item() is False and result(has).item() is False


def test_a_map_and_a_value_without_a_type_are_refused_by_name() -> None:
    model = parsed(NORM)
    model.graph.input[0].type.CopyFrom(helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(1, None)))
    with pytest.raises(
        NotImplementedError, match=r"^input x is a map\(int64,tensor\(float\)\), expected a tensor, a sequence or an optional"
    ):
        InferenceSession(model)
    model.graph.input[0].ClearField("type")
    with pytest.raises(cypool.SpecValueError, match=r"^input x has no type in the model$"):
        InferenceSession(model)


# --- what is fed ----------------------------------------------------------------------------------

DOUBLES = '<ir_version: 8, opset_import: ["" : 18]> g (double[] x) => (double[] y) { y = Neg (x) }'


@pytest.mark.parametrize("opset", [18, 22])
@pytest.mark.parametrize("x", [X.astype(">f4"), X.tolist(), ByDLPack(X), memoryview(X), X[..., ::-1]], ids=lambda x: type(x).__name__)
def test_what_is_checked_is_what_is_handed_on(x, opset: int) -> None:
    for op in ("Neg", "GlobalLpPool <p = 1>"):
        model = parsed(
            NORM.replace("GlobalLpPool <p = 1>", op).replace("18", str(opset)).replace("=> (float[N, 1, 1] y)", "=> (float[N, 1, ?] y)")
        )
        if isinstance(x, list):
            with pytest.raises(cypool.SpecTypeError, match="input x is float64, the model declares float32"):
                result(model, x=x)
        else:
            y = result(model, x=x)
            assert y.dtype == np.float32 and y.dtype.isnative
            assert y.ravel().tolist() == ([7] if "Pool" in op else (-getattr(x, "array", np.asarray(x))).ravel().tolist())


def test_a_python_number_is_an_array_without_axes() -> None:
    assert result(parsed(DOUBLES), x=2.5).item() == -2.5
    with pytest.raises(cypool.SpecTypeError, match="input x is int64, the model declares float64"):
        result(parsed(DOUBLES), x=2)


STRINGS = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else "U2"  # numpy 1 has none


@pytest.mark.parametrize(
    "x", [["a", "bc"], np.array(["a", "bc"]), np.array(["a", "bc"], object), np.array(["a", "bc"], STRINGS)], ids=range(4)
)
def test_strings_are_taken_in_every_form_that_numpy_has(x) -> None:
    model = parsed('<ir_version: 8, opset_import: ["" : 18]> g (string[N] x) => (string[N] y) { y = Identity (x) }')
    assert result(model, x=x).tolist() == ["a", "bc"]


def test_what_is_no_string_is_told_by_name() -> None:
    strings = parsed('<ir_version: 8, opset_import: ["" : 18]> g (string[N] x) => (string[N] y) { y = Identity (x) }')
    with pytest.raises(cypool.SpecTypeError, match=r"^input x is float64, the model declares string$"):
        result(strings, x=np.zeros(2))
    with pytest.raises(cypool.SpecTypeError, match=r"^input x is string, the model declares float64$"):
        result(parsed(DOUBLES), x="a")
    with pytest.raises(cypool.SpecTypeError, match=r"^input x holds a NoneType, expected numbers of one type, or strings$"):
        result(strings, x=np.array([None]))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (None, "input x is a NoneType that can't be taken"),
        ({}, "input x is a dict that can't be taken"),
        ([[1.0], [1.0, 2.0]], "input x is a list that can't be taken"),
        (np.ma.masked_array(X, mask=False), r"input x is a MaskedArray that can't be taken: its mask would be lost; .*filled"),
        (Bfloat16OfTorch(), r"input x is a Bfloat16OfTorch that can't be taken: .*x\.view\(torch\.uint16\)\.numpy"),
    ],
)
def test_what_is_no_array_is_refused_by_name(x, message) -> None:
    with pytest.raises(cypool.SpecTypeError, match=message):
        result(parsed(NORM), x=x)


def test_a_feed_that_is_no_mapping_and_an_output_that_is_not_there() -> None:
    session = InferenceSession(parsed(NORM))
    for call in (lambda: session.run(None, [X]), lambda: session.run([X]), lambda: session.run(None)):
        with pytest.raises(cypool.SpecTypeError, match="expected arrays by input name"):
            call()
    with pytest.raises(cypool.SpecValueError, match="the model has no output z, expected y"):
        session.run(["z"], {"x": X})


def test_outputs_come_in_the_order_asked_for_and_by_name_if_nothing_is() -> None:
    model = parsed('<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y, float[2] z) { y = Neg (x)  z = Add (x, x) }')
    session = Session(model)
    x = np.array([1, 2], np.float32)
    assert [y.tolist() for y in session.run(["z", "y"], {"x": x})] == [[2, 4], [-1, -2]]
    assert [y.tolist() for y in session.run([], {"x": x})] == [[-1, -2], [2, 4]]
    assert {name: y.tolist() for name, y in session.run({"x": x}).items()} == {"y": [-1, -2], "z": [2, 4]}


# --- what is said of nodes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("y = Nonsense (x)", r"node of y \(Nonsense\): neither cypool nor onnx [\d.]+'s reference evaluator has this operator at opset 18"),
        ("y = ai.onnx.ml.Nonsense (x)", r"node of y \(ai\.onnx\.ml\.Nonsense\): neither cypool nor"),
        ("y = mine.Foo (x)", r"node of y \(mine\.Foo\): neither cypool nor"),
        (BRANCHES.replace("ai.onnx.GlobalLpPool <p = 1> (x)", "mine.Foo (x)"), r"node of t \(mine\.Foo\): neither cypool nor"),
    ],
)
def test_a_node_that_the_evaluator_lacks_is_not_implemented(nodes: str, message: str, tmp_path) -> None:
    model = parsed(SPELLED[0].replace('"" : 18', '"" : 18, "mine" : 1, "ai.onnx.ml" : 3').format(nodes))
    path = tmp_path / "lacks.onnx"
    onnx.save(model, path)
    with pytest.raises(NotImplementedError, match=f"^{path}: {message}") as caught:
        InferenceSession(path)
    assert "\n" not in str(caught.value)


def test_a_node_is_told_by_its_name_if_it_has_one() -> None:
    model = parsed(SPELLED[0].replace('"" : 18', '"" : 18, "mine" : 1').format("y = mine.Foo (x)"))
    model.graph.node[0].name = "last"
    with pytest.raises(NotImplementedError, match=r"^the model: node last \(mine\.Foo\): neither"):
        InferenceSession(model)


def test_a_domain_without_an_opset_is_refused() -> None:
    model = parsed(SPELLED[0].format("y = mine.Foo (x)"))
    with pytest.raises(cypool.SpecValueError, match=r"node of y \(mine\.Foo\): the model imports no opset of domain 'mine'"):
        InferenceSession(model)


def test_a_value_that_nothing_gives_is_refused() -> None:
    for nodes, message in (
        ("y = Add (x, q)", r"the model: node of y \(Add\) reads q, which nothing before it gives"),
        ("z = Neg (x)", "the model: the output y is given by no node"),
        (BRANCHES.replace("<p = 2> (x)", "<p = 2> (q)"), r"node of e \(GlobalLpPool\) reads q"),
    ):
        with pytest.raises(cypool.SpecValueError, match=message):
            InferenceSession(parsed(SPELLED[0].format(nodes)))


def test_a_foreign_node_that_can_not_run_is_named_in_one_line() -> None:
    model = parsed(ADD.replace("[N, 2] b", "[M] b"))
    with pytest.raises(RuntimeError, match=r"^the model: node of y \(Add\): ValueError: .*broadcast") as caught:
        result(model, a=np.ones((2, 2), np.float32), b=np.ones(3, np.float32))
    assert "\n" not in str(caught.value)
    with pytest.raises(RuntimeError, match=r"^the model: node of y \(Concat\): "):
        InferenceSession(parsed(ADD.replace("Add", "Concat")))


def test_what_is_wrong_with_a_pooling_node_in_branches_of_branches_is_said_as_anywhere() -> None:
    inner = BRANCHES.replace("<p = 2>", "<p = 2.0>").replace("y = If", "e = If").replace("c = ", "d = ").replace("If (c)", "If (d)")
    model = parsed(
        SPELLED[0].format(
            BRANCHES.replace(
                "e = GlobalLpPool <p = 2> (x)",
                inner.replace("t = ", "u = ").replace(" t)", " u)").replace("e = Gl", "f = Gl").replace("] e)", "] f)"),
            )
        )
    )
    with pytest.raises(cypool.SpecTypeError, match=r"^GlobalLpPool-2: attribute p is of type FLOAT, expected INT$"):
        InferenceSession(model)


def test_bfloat16_is_itself_in_initializers_feeds_and_foreign_nodes() -> None:
    model = parsed(
        '<ir_version: 10, opset_import: ["" : 22]> g (bfloat16[1, 1, 2] x) => (bfloat16[1, 1, 1] y) '
        "{ a = Add (x, w)  b = GlobalLpPool <p = 1> (a)  y = Neg (b) }"
    )
    model.graph.initializer.append(
        onnx.TensorProto(name="w", dims=[1, 1, 2], data_type=16, raw_data=np.ones(2, ml_dtypes.bfloat16).tobytes())
    )
    y = result(model, x=X.astype(ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16 and y.item() == -7


def test_an_onnx_without_bfloat16_is_refused_at_import() -> None:
    """Here is one that is new enough; so it says it were older."""
    program = "import onnx; onnx.__version__ = '1.18.0'; import cypool.session"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ImportError: cypool runs models with onnx 1.19 or newer, and 1.18.0 is installed"
