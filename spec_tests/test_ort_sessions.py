"""cypool's operators in sessions of ONNX Runtime: which nodes go there, on whose memory, and what
comes back.
"""

import contextlib
import threading
import time

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper
from ort_support import CPU, CYPOOL, assigned, model, norm, norms, parse, plain, rois, session
from support import on_build

import cypool
import cypool.ort
from cypool import dispatch, spec
from cypool.conformance import cases
from cypool.conformance.asking import worker
from cypool.conformance.asking.runtimes import onnxruntime_cypool
from cypool.conformance.cases import models
from cypool.conformance.judging import compare
from cypool.conformance.tensors import DTYPES
from cypool.session import InferenceSession

X = np.random.default_rng(0).standard_normal((2, 3, 5, 7)).astype(np.float32)
IMAGE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
ROIS = np.array([[0, 1, 1, 4, 6]], np.float32)
LEVELS = [getattr(ort.GraphOptimizationLevel, f"ORT_{name}") for name in ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")]


def run(model, x=X, **how):
    (y,) = session(model, **how).run(None, {"x": x})
    return y


# --- what is offered, and who takes it ------------------------------------------------------------


def test_two_lines_suffice():
    made = ort.InferenceSession(norm().SerializeToString(), providers=[CYPOOL, CPU])
    assert made.get_providers() == [CYPOOL, CPU]
    np.testing.assert_allclose(made.run(None, {"x": X})[0], norms(X), rtol=1e-6)
    made = ort.InferenceSession(norm().SerializeToString(), cypool.ort.options())
    np.testing.assert_allclose(made.run(None, {"x": X})[0], norms(X), rtol=1e-6)


def test_every_version_and_type_of_the_spec_is_there():
    assert cypool.ort.supported() == {each.name: {one.name: one.allowed for one in each.types} for each in spec.versions()}


CELLS = {(case.version.name, case.type): case for case in cases.generate() if case.fault is None and not case.rulings}


@pytest.mark.parametrize("case", CELLS.values(), ids=["-".join(cell) for cell in CELLS])
def test_a_node_of_every_version_and_type_goes_to_cypool_and_is_right(case):
    assert assigned(models.model(case), cypool.ort.options(plain())) == {(case.version.op, CYPOOL)}
    runtime = onnxruntime_cypool.connect("cypool.ort")
    outcome = worker.attempt(runtime, models.model(case).SerializeToString(), list(case.inputs), list(case.outputs))
    assert compare.judge(case, outcome).verdict == compare.PASS


@pytest.mark.parametrize(
    ("opset", "type", "owner"), [(21, "float", CPU), (21, "double", CYPOOL), (21, "float16", CYPOOL), (22, "float", CYPOOL)]
)
def test_only_missing_leaves_to_onnx_runtime_what_it_has(opset, type, owner):
    made = norm(opset, type)
    assert assigned(made, cypool.ort.options(plain(), only_missing=True)) == {("GlobalLpPool", owner)}
    assert assigned(made, cypool.ort.options(plain())) == {("GlobalLpPool", CYPOOL)}


def test_ops_leaves_all_others_to_onnx_runtime():
    nodes = [helper.make_node("GlobalLpPool", ["x"], ["n"]), helper.make_node("MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=[1, 1])]
    both = model(nodes, dict.fromkeys(("x", "rois"), "float"), dict.fromkeys("ny", "float"), opset=21)
    for ops in (["MaxRoiPool"], ("MaxRoiPool",), {"MaxRoiPool"}):
        assert assigned(both, cypool.ort.options(plain(), ops=ops)) == {("GlobalLpPool", CPU), ("MaxRoiPool", CYPOOL)}
    assert assigned(both, cypool.ort.options(plain(), ops=[])) == {("GlobalLpPool", CPU), ("MaxRoiPool", CPU)}


def test_an_operator_of_another_domain_is_not_taken():
    made = parse("""<ir_version: 10, opset_import: ["" : 22, "mine" : 1]>
        g (float[1, 1, 2] x) => (float[1, 1, 2] y) { y = mine.GlobalLpPool (x) }
        <domain: "mine", opset_import: ["" : 22]> GlobalLpPool (a) => (b) { b = Neg (a) }""")
    assert run(made, np.array([[[3, 4]]], np.float32)).tolist() == [[[-3, -4]]]


# --- options that are wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"ops": ["GlobalLpPol"]}, "unknown operator 'GlobalLpPol'; there are "),
        ({"ops": "GlobalLpPool"}, "ops is 'GlobalLpPool', expected several names of operators"),
        ({"ops": [3]}, "ops is [3], expected names of operators"),
        ({"threads": 0}, "CypoolExecutionProvider: threads is '0', expected an integer >= 1"),
        ({"threads": True}, "threads is True, expected an integer >= 1"),
        ({"threads": "2"}, "threads is '2', expected an integer >= 1"),
    ],
)
def test_wrong_options_are_refused_at_once(how, words):
    with pytest.raises(cypool.SpecError) as caught:
        cypool.ort.options(**how)
    assert words in str(caught.value)


def test_session_options_take_the_plug_in_once():
    options = cypool.ort.options()
    with pytest.raises(cypool.SpecValueError, match="have the CypoolExecutionProvider already"):
        cypool.ort.options(options)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"ops": "GlobalLpPool,Nobody"}, "unknown operator 'Nobody'; there are "),
        ({"threads": "many"}, "threads is 'many', expected an integer >= 1"),
        ({"thread": "1"}, "CypoolExecutionProvider has no option 'thread'; there are ops, threads"),
    ],
)
def test_wrong_options_by_name_are_no_silent_fallback(option, words, capfd):
    """In opset 21 ONNX Runtime has the operator itself, so that it could go on without
    the plug-in.
    """
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        ort.InferenceSession(norm(21).SerializeToString(), plain(), providers=[(CYPOOL, option), CPU])
    assert words in str(caught.value)
    assert "Falling back" not in capfd.readouterr().out


# --- errors of a call -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "feeds", "words"),
    [
        (rois(), {"x": IMAGE, "rois": ROIS[:, :4]}, "MaxRoiPool-22: rois has shape (1, 4), expected (num_rois, 5)"),
        (rois(), {"x": IMAGE, "rois": ROIS + 7}, "MaxRoiPool-22: rois[0, 0] is 7.0, expected an integer from 0 to 0"),
        (norm(), {"x": X[0, 0, 0]}, "GlobalLpPool-22: X has shape (7,)"),
        (norm(2), {"x": X[0, 0, 0]}, "GlobalLpPool-2: X has shape (7,)"),
    ],
)
def test_an_error_has_cypool_s_own_words(made, feeds, words):
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        session(made).run(None, feeds)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (norm(p=0), "GlobalLpPool-22: p is 0, expected an integer >= 1"),
        (norm(1, p=-1.5), "GlobalLpPool-1: p is -1.5, expected a number > 0"),
        (rois(pooled_shape=[2]), "MaxRoiPool-22: pooled_shape is (2,), expected 2 integers, each >= 1"),
        (rois(pooled_shape=[]), "MaxRoiPool-22: pooled_shape is (), expected 2 integers, each >= 1"),
    ],
)
def test_an_attribute_is_refused_when_the_session_is_made(made, words):
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        session(made)
    assert words in str(caught.value)


def test_a_session_goes_on_after_an_error():
    made = session(rois())
    for _ in range(3):
        with pytest.raises(Exception, match="num_rois, 5"):
            made.run(None, {"x": IMAGE, "rois": ROIS[:, :4]})
        assert made.run(None, {"x": IMAGE, "rois": ROIS})[0].tolist() == [[[[26, 28], [50, 52]]]]


# --- memory ---------------------------------------------------------------------------------------


@pytest.fixture
def seen():
    """The addresses that the kernel of GlobalLpPool reads from and writes to, and its number of
    threads.
    """
    found = []
    kernels = dispatch.chosen.kernels
    kernel = kernels["lp.rows"]["float32"]

    def spy(x, p, y, threads):
        found.append((x.ctypes.data, y.ctypes.data, threads))
        kernel(x, p, y, threads)

    watched = {**kernels, "lp.rows": {**kernels["lp.rows"], "float32": spy}}
    with on_build(dispatch.chosen._replace(kernels=watched)):
        yield found


def test_arrays_go_in_without_a_copy(seen):
    session(norm()).run(None, {"x": X})
    assert [x for x, _, _ in seen] == [X.ctypes.data]


def test_bound_values_are_read_and_written_where_they_are(seen):
    made = session(norm())
    out = np.full((2, 3, 1, 1), np.nan, np.float32)
    x, y = ort.OrtValue.ortvalue_from_numpy(X), ort.OrtValue.ortvalue_from_numpy(out)
    binding = made.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_ortvalue_output("y", y)
    made.run_with_iobinding(binding)
    assert seen == [(x.data_ptr(), y.data_ptr(), 1)] == [(X.ctypes.data, out.ctypes.data, 1)]
    np.testing.assert_allclose(out, norms(X), rtol=1e-6)


def test_memory_at_an_odd_address_is_read_rightly():
    odd = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(X.shape)
    assert not odd.flags.aligned
    value = ort.OrtValue.ortvalue_from_numpy(odd)
    (y,) = session(norm()).run_with_ort_values(None, {"x": value})
    np.testing.assert_allclose(y.numpy(), norms(X), rtol=1e-6)


def test_no_copies_are_put_between_nodes(tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("GlobalLpPool", ["r"], ["n"]), helper.make_node("Sqrt", ["n"], ["y"])]
    path = tmp_path / "optimized.onnx"
    options = plain(optimized_model_filepath=str(path), graph_optimization_level=LEVELS[1])
    session(model(nodes, {"x": "float"}, {"y": "float"}), options)
    assert [node.op_type for node in onnx.load(path).graph.node] == ["Relu", "GlobalLpPool", "Sqrt"]


@pytest.mark.parametrize(("shape", "answer"), [((0, 3, 4, 4), []), ((1, 2, 0, 4), [0, 0]), ((2, 0, 3), [])])
def test_arrays_without_elements_pass(shape, answer):
    y = run(norm(), np.zeros(shape, np.float32))
    assert y.shape == (*shape[:2], *(1,) * (len(shape) - 2))
    assert y.ravel().tolist() == answer


# --- models ---------------------------------------------------------------------------------------

IF = """<ir_version: 10, opset_import: ["" : 22]> g (bool c, double[n, k, h, w] x) => (double[n, k, a, b] y) { y = If (c) <
    then_branch = t () => (double[n, k, a, b] u) { u = GlobalLpPool <p = 3> (x) },
    else_branch = e () => (double[n, k, a, b] v) { v0 = GlobalLpPool <p = 1> (x)  v = Neg (v0) }> }"""
LOOP = """<ir_version: 10, opset_import: ["" : 22]> g (int64 n, float[b, c, h, w] x) => (float[b, c, p, q] y, float[l, b, c, r, s] z) {
    cond = Constant <value = bool {1}> ()
    y, z = Loop (n, cond, x) <body = bd (int64 i, bool ci, float[b, c, e, f] s)
        => (bool co, float[b, c, e2, f2] so, float[b, c, e3, f3] sc) {
        co = Identity (ci)  so = GlobalLpPool <p = 2> (s)  sc = Neg (so) }> }"""
SCAN = """<ir_version: 10, opset_import: ["" : 22]> g (float[t, b, c, h] x) => (float[t, b, c, o] y) {
    y = Scan <num_scan_inputs = 1, body = bd (float[b, c, h] s) => (float[b, c, o] so) { so = GlobalLpPool <p = 2> (s) }> (x) }"""
FUNCTION = """<ir_version: 10, opset_import: ["" : 22, "local" : 1]> g (bool c, float[n, k, h, w] x) => (float[n, k, a, b] y) { y = If (c) <
    then_branch = t () => (float[n, k, a, b] u) { u = local.norm <q = 3> (x) },
    else_branch = e () => (float[n, k, a, b] v) { v = local.norm <q = 1> (x) }> }
    <domain: "local", opset_import: ["" : 22]> norm <q> (u) => (v) { v = GlobalLpPool <p: int = @q> (u) }"""
MIXED = """<ir_version: 10, opset_import: ["" : 22]> g (float[n, c, h, w] x)
    => (float[n, c, 1, 1] a, double[n, c, 1, 1] b, float16[n, c, 1, 1] d, float[n, c, 1, 1] f) {
    a = GlobalLpPool <p = 2> (x)
    xd = Cast <to = 11> (x)  b = GlobalLpPool <p = 3> (xd)
    xh = Cast <to = 10> (x)  d = GlobalLpPool <p = 1> (xh)
    xb = Cast <to = 16> (x)  e = GlobalLpPool <p = 2> (xb)  f = Cast <to = 1> (e) }"""


def test_nodes_in_branches_are_cypool_s():
    x = X.astype(float)
    for condition, answer in ((True, norms(x, 3)), (False, -norms(x, 1))):
        (y,) = session(parse(IF)).run(None, {"c": np.array(condition), "x": x})
        np.testing.assert_allclose(y, answer, rtol=1e-14)
        (y,) = session(parse(FUNCTION)).run(None, {"c": np.array(condition), "x": X})
        np.testing.assert_allclose(y, abs(answer), rtol=1e-6)


def test_nodes_in_loops_are_cypool_s():
    y, z = session(parse(LOOP)).run(None, {"n": np.array(3, np.int64), "x": X})
    np.testing.assert_allclose(y, norms(X), rtol=1e-6)
    np.testing.assert_allclose(z, np.stack([-norms(X)] * 3), rtol=1e-6)
    np.testing.assert_allclose(run(parse(SCAN)), norms(X.reshape(6, 5, 7)).reshape(2, 3, 5, 1), rtol=1e-6)


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_model_of_many_types_is_right_at_every_level_of_optimisation(level):
    a, b, d, f = session(parse(MIXED), plain(graph_optimization_level=level)).run(None, {"x": X})
    np.testing.assert_allclose(a, norms(X), rtol=1e-6)
    np.testing.assert_allclose(b, norms(X, 3), rtol=1e-14)
    np.testing.assert_allclose(d, norms(X.astype(np.float16), 1), rtol=1e-3)
    np.testing.assert_allclose(f, norms(X), rtol=2e-2)


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_convolutions_and_transposes_around_are_right_at_every_level_of_optimisation(level):
    """ONNX Runtime may lay convolutions out in blocks of channels, and push transposes through
    nodes.
    """
    w = np.zeros((8, 3, 3, 3), np.float32)
    w[:, :, 1, 1] = np.arange(24).reshape(8, 3) - 11
    steps = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Transpose", ["b"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Identity", ["t"], ["t2"]),
        helper.make_node("Transpose", ["t2"], ["u"], perm=[0, 3, 1, 2]),
        helper.make_node("GlobalLpPool", ["u"], ["y"]),
    ]
    made = model(steps, {"x": "float"}, {"y": "float"}, initializer=[onnx.numpy_helper.from_array(w, "w")])
    convolved = np.einsum("oi,nihw->nohw", w[:, :, 1, 1].astype(float), X)
    np.testing.assert_allclose(run(made, options=plain(graph_optimization_level=level)), norms(np.maximum(convolved, 0)), rtol=1e-5)


CONSTANT = model(
    [helper.make_node("GlobalLpPool", ["k"], ["p"]), helper.make_node("Add", ["x", "p"], ["y"])],
    {"x": "float"},
    {"y": "float"},
    21,
    initializer=[onnx.numpy_helper.from_array(np.array([[[3e30, 4e30]]], np.float32), "k")],
)


def test_onnx_runtime_folds_constants_itself_unless_told_not_to():
    """As docs/onnxruntime.md says: at opset 21 it has the operator, and its sum of squares
    overflows.
    """
    zero = np.zeros((1, 1, 1), np.float32)
    assert run(CONSTANT, zero).tolist() == [[[np.inf]]]
    options = plain()
    options.add_session_config_entry("optimization.disable_specified_optimizers", "ConstantFolding")
    assert run(CONSTANT, zero, options=options).tolist() == [[[np.float32(5e30)]]]


# --- optional operands, several types -------------------------------------------------------------


@pytest.mark.parametrize(("outputs", "answers"), [("y", "y"), ("yi", "yi"), (["y", ""], "y")])
@pytest.mark.parametrize("type", ["float", "double", "float16", "int8", "uint8"])
def test_indices_are_there_where_a_node_has_them(outputs, answers, type):
    x = np.array([[[1, 3, 2, 9, 4, 9]]], DTYPES[type])
    node = helper.make_node("MaxPool", ["x"], list(outputs), kernel_shape=[3], strides=[3])
    made = model([node], {"x": type}, {"y": type, "i": "int64"} if "i" in answers else {"y": type})
    assert assigned(made, cypool.ort.options(plain())) == {("MaxPool", CYPOOL)}
    got = [array.tolist() for array in session(made).run(None, {"x": x})]
    assert got == [[[[3, 9]]], [[[1, 3]]]][: len(answers)]


def test_an_attribute_that_is_a_string_arrives():
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    for pad, answer in (("SAME_UPPER", [1, 3, 4]), ("SAME_LOWER", [0, 2, 4]), ("VALID", [1, 3])):
        node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2], auto_pad=pad)
        assert run(model([node], {"x": "float"}, {"y": "float"}), x).tolist() == [[answer]]
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], auto_pad="SAME")
    with pytest.raises(Exception, match="MaxPool-22: auto_pad is 'SAME', expected one of NOTSET, SAME_UPPER, SAME_LOWER, VALID"):
        session(model([node], {"x": "float"}, {"y": "float"}))


# --- ways to run ----------------------------------------------------------------------------------

BRANCHES = model(
    [*(helper.make_node("GlobalLpPool", ["x"], [f"b{i}"]) for i in range(8)), helper.make_node("Sum", [f"b{i}" for i in range(8)], ["y"])],
    {"x": "float"},
    {"y": "float"},
)


def parallel():
    options = plain(execution_mode=ort.ExecutionMode.ORT_PARALLEL, inter_op_num_threads=4)
    return session(BRANCHES, options)


def test_nodes_run_on_onnx_runtime_s_threads_at_once():
    made = parallel()
    for _ in range(50):
        np.testing.assert_allclose(made.run(None, {"x": X})[0], 8 * norms(X), rtol=1e-6)


def test_asynchronous_runs_end():
    made = parallel()
    done, results = threading.Event(), []

    def end(outputs, _, error):
        results.extend([error, *outputs])
        done.set()

    made.run_async(None, {"x": X}, end, None)
    assert done.wait(60)
    error, y = results
    assert not error
    np.testing.assert_allclose(y, 8 * norms(X), rtol=1e-6)


def test_an_error_of_an_asynchronous_run_has_cypool_s_words():
    done, results = threading.Event(), []

    def end(outputs, _, error):
        results.append(error)
        done.set()

    made = session(rois())
    made.run_async(None, {"x": IMAGE, "rois": ROIS[:, :4]}, end, None)
    assert done.wait(60)
    assert "MaxRoiPool-22: rois has shape (1, 4)" in results[0]


def test_python_s_threads_share_sessions():
    sessions = [session(norm(p=3)), session(norm(21, "double")), parallel()]
    wrong = []

    def work():
        for _ in range(40):
            for made, x, answer in zip(sessions, (X, X.astype(float), X), (norms(X, 3), norms(X), 8 * norms(X)), strict=True):
                (y,) = made.run(None, {"x": x})
                if not np.allclose(y, answer, rtol=1e-6):
                    wrong.append(y)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_give_the_same_bits(threads):
    x = np.random.default_rng(1).standard_normal((4, 64, 32, 32)).astype(np.float32)
    (alone,) = session(norm(p=3)).run(None, {"x": x})
    assert session(norm(p=3), threads=threads).run(None, {"x": x})[0].tobytes() == alone.tobytes()


def test_the_number_of_threads_arrives(seen):
    for threads in (1, 3):
        session(norm(), threads=threads).run(None, {"x": X})
    assert [threads for _, _, threads in seen] == [1, 3]


# --- cost -----------------------------------------------------------------------------------------


def best(function, times=7):
    """The shortest time that a function takes, in seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def test_a_node_costs_little_more_than_a_call():
    """A call takes 1.4 us where nothing else runs, a node 1.6."""
    many = 400
    nodes = [helper.make_node("GlobalLpPool", [f"t{i}"], [f"t{i + 1}"], p=2) for i in range(many)]
    x = np.ones((1, 1, 1, 1), np.float32)
    made = session(model(nodes, {"t0": "float"}, {f"t{many}": "float"}), plain(intra_op_num_threads=1))
    feeds = {"t0": x}
    ratios = []
    for _ in range(5):
        node = best(lambda: made.run(None, feeds))
        call = best(lambda: [cypool.global_lp_pool(x, 2) for _ in range(many)])
        ratios.append(node / call)
    assert min(ratios) < 2


def test_an_interrupt_is_python_s_and_not_lost():
    with interrupted() as made, pytest.raises(KeyboardInterrupt):
        with contextlib.suppress(Exception):
            made.run(None, {"x": X})
        time.sleep(10)


@contextlib.contextmanager
def interrupted():
    """A session in which the kernel is interrupted, as Ctrl-C does it."""
    kernels = dispatch.chosen.kernels

    def stop(*_):
        raise KeyboardInterrupt

    with on_build(dispatch.chosen._replace(kernels={**kernels, "lp.rows": {**kernels["lp.rows"], "float32": stop}})):
        yield session(norm())


# --- a model as people have them ------------------------------------------------------------------


def head(opset):
    """A small detection head: features of an image, regions of it, two layers over each, and the
    norm of the features.
    """
    rng = np.random.default_rng(7)
    weights = {
        "w1": rng.standard_normal((16, 3, 3, 3)) / 5,
        "w2": rng.standard_normal((32, 16, 3, 3)) / 12,
        "w3": rng.standard_normal((32 * 9, 64)) / 17,
        "w4": rng.standard_normal((64, 5)) / 8,
    }
    nodes = [
        helper.make_node("Conv", ["image", "w1"], ["c1"], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["m1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["m1", "w2"], ["c2"], pads=[1] * 4),
        helper.make_node("Relu", ["c2"], ["features"]),
        helper.make_node("MaxRoiPool", ["features", "rois"], ["regions"], pooled_shape=[3, 3], spatial_scale=0.5),
        helper.make_node("Flatten", ["regions"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w3"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("Gemm", ["active", "w4"], ["boxes"]),
        helper.make_node("GlobalLpPool", ["features"], ["norms"], p=2),
    ]
    constants = [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()]
    return model(nodes, dict.fromkeys(("image", "rois"), "float"), dict.fromkeys(("boxes", "norms"), "float"), opset, initializer=constants)


PICTURE = {
    "image": np.random.default_rng(8).standard_normal((1, 3, 64, 64)).astype(np.float32),
    "rois": np.array([[0, 0, 0, 63, 63], [0, 10, 12, 40, 50], [0, 5, 5, 9, 9], [0, 32, 0, 63, 31]], np.float32),
}


def test_a_detection_head_runs_where_onnx_runtime_alone_does_not_load_it():
    with pytest.raises(Exception, match=r"Could not find an implementation for (MaxRoiPool|GlobalLpPool)\(22\)"):
        ort.InferenceSession(head(22).SerializeToString(), plain(), providers=[CPU])
    boxes, norms_ = session(head(22)).run(None, PICTURE)
    expected = InferenceSession(head(22)).run(["boxes", "norms"], PICTURE)
    np.testing.assert_allclose(boxes, expected[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(norms_, expected[1], rtol=1e-5)


def test_a_detection_head_gives_what_onnx_runtime_gives_at_an_opset_that_it_has():
    alone = ort.InferenceSession(head(21).SerializeToString(), plain(), providers=[CPU]).run(None, PICTURE)
    for options in ({}, {"only_missing": True}, {"ops": ["MaxRoiPool"]}):
        for got, expected in zip(session(head(21), **options).run(None, PICTURE), alone, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
