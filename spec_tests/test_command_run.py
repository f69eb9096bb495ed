"""The commands ``run`` and ``info``: what they print and write, and one line for every mistake."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner

import cypool
from cypool import dispatch
from cypool.cli.info import command as info
from cypool.cli.run import command as run

COMMAND = Path(__file__).parents[1] / "cypool_command.py"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "norm.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }'
        ),
        path,
    )
    return path


def saved(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    return f"x={tmp_path / 'x.npy'}"


@pytest.mark.parametrize("arguments", [["info"], ["check", "cypool"], ["--help"]])
def test_a_build_that_can_not_run_is_one_line_whatever_is_asked(arguments):
    environment = {**os.environ, "CYPOOL_ISA": "nonsense"}
    done = subprocess.run([sys.executable, COMMAND, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cypool: CYPOOL_ISA=nonsense: built are baseline") and done.stderr.count("\n") == 1


def test_the_command_is_the_command_line():
    done = subprocess.run([sys.executable, COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"cypool {cypool.__version__}\n"
    assert 'cypool = "cypool_command:main"' in (COMMAND.parent / "pyproject.toml").read_text()


def test_another_error_of_the_import_is_not_hidden(tmp_path):
    (tmp_path / "cypool").mkdir()
    (tmp_path / "cypool" / "__init__.py").write_text("import nothing_of_that_name")
    shutil.copy(COMMAND, tmp_path)
    done = subprocess.run([sys.executable, tmp_path / COMMAND.name, "info"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "ModuleNotFoundError: No module named 'nothing_of_that_name'" in done.stderr


def test_a_model_runs_on_files(model, tmp_path):
    x = np.array([[[3, -4]], [[1, 1]]], np.float32)
    result = CliRunner().invoke(run, [str(model), "--input", saved(tmp_path, x), "--output-dir", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    first, last = result.output.splitlines()
    assert first == f"{tmp_path / 'out' / 'y.npy'}: float32[2, 1, 1]"
    assert last == f"run by ONNX Runtime {onnxruntime.__version__}, with cypool in it"
    assert np.load(tmp_path / "out" / "y.npy").ravel().tolist() == [7, 2]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["y.npy"]


def test_bfloat16_survives_numpys_files(tmp_path):
    path = tmp_path / "norm.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 22]> g (bfloat16[1, 1, 2] x) => (bfloat16[1, 1, 1] y) { y = GlobalLpPool <p = 1> (x) }'
        ),
        path,
    )
    x = np.array([[[3, -4]]], ml_dtypes.bfloat16)
    result = CliRunner().invoke(run, [str(path), "--input", saved(tmp_path, x), "--output-dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "y.npy").view(ml_dtypes.bfloat16).item() == 7


def refuse_onnx_runtime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "cypool.ort", raising=False)


CYPOOLS = f"run by cypool's session: other nodes by the reference evaluator of onnx {onnx.__version__}"


def test_without_onnx_runtime_cypools_session_runs_the_model_and_says_so(model, tmp_path, monkeypatch):
    given = "--input", saved(tmp_path, np.array([[[3, -4]]], np.float32)), "--output-dir", tmp_path
    asked = ran(model, *given, "--session", "cypool")
    assert (asked.exit_code, asked.output.splitlines()[-1]) == (0, CYPOOLS)
    refuse_onnx_runtime(monkeypatch)
    result = ran(model, *given)
    assert result.exit_code == 0 and result.output.splitlines()[-1].startswith(f"{CYPOOLS} (")
    assert np.load(tmp_path / "y.npy").item() == 7
    result = ran(model, *given, "--session", "onnxruntime")
    assert (result.exit_code, result.stdout) == (3, "") and "onnxruntime" in result.stderr


def test_what_onnx_runtime_does_not_take_is_run_all_the_same(tmp_path):
    """It has no Neg of bfloat16."""
    path = tmp_path / "half.onnx"
    onnx.save(
        onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["" : 22]>
            g (bfloat16[1, 1, 2] x) => (bfloat16[1, 1, 1] y) { n = GlobalLpPool <p = 1> (x)  y = Neg (n) }"""
        ),
        path,
    )
    given = "--input", saved(tmp_path, np.array([[[3, -4]]], ml_dtypes.bfloat16)), "--output-dir", tmp_path
    result = ran(path, *given)
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "y.npy").view(ml_dtypes.bfloat16).item() == -7
    last = result.output.splitlines()[-1]
    assert last.startswith(f"{CYPOOLS} (ONNX Runtime {onnxruntime.__version__} does not take the model: ") and "Neg" in last
    assert ran(path, *given, "--session", "onnxruntime").exit_code == 3


def test_an_error_of_cypools_inside_onnx_runtime_has_cypools_words(tmp_path):
    path = tmp_path / "rois.onnx"
    onnx.save(
        onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["" : 22]>
            g (float[1, 1, 2, 2] x, float[N, 5] rois) => (float[N, 1, 1, 1] y) { y = MaxRoiPool <pooled_shape = [1, 1]> (x, rois) }"""
        ),
        path,
    )
    np.save(tmp_path / "rois.npy", np.array([[3, 0, 0, 1, 1]], np.float32))
    given = saved(tmp_path, np.ones((1, 1, 2, 2), np.float32)), f"rois={tmp_path / 'rois.npy'}"
    result = ran(path, "--input", given[0], "--input", given[1], "--output-dir", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (2, "Error: MaxRoiPool-22: rois[0, 0] is 3.0, expected an integer from 0 to 0\n")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 1, 3), np.float32), "Error: input x has shape (1, 1, 3), the model declares (N, 1, 2)"),
        (np.zeros((1, 1, 2)), "Error: input x is float64, the model declares float32"),
    ],
)
def test_an_input_that_is_not_what_the_model_declares_is_refused(model, tmp_path, array, message):
    result = CliRunner().invoke(run, [str(model), "--input", saved(tmp_path, array), "--output-dir", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert result.stderr.strip() == message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "x"], "--input x: expected NAME=FILE.npy"),
        (["--input", "x=missing.npy"], "No such file or directory"),
        ([], "input x is missing, expected x"),
    ],
)
def test_a_mistake_is_one_line(model, tmp_path, arguments, message):
    result = CliRunner().invoke(run, [str(model), *arguments, "--output-dir", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]


def test_what_is_no_model_is_named(tmp_path):
    path = tmp_path / "noise.onnx"
    path.write_bytes(b"\xff" * 40)
    result = CliRunner().invoke(run, [str(path), "--output-dir", str(tmp_path / "out")])
    assert (result.exit_code, result.stderr.strip()) == (2, f"Error: {path} is no ONNX model")


def test_a_node_that_does_not_fit_its_version_is_named(tmp_path):
    path = tmp_path / "wrong.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 1, 2] x) => (float[1, 1, 1] y) { y = GlobalLpPool <p = 2.0> (x) }'
        ),
        path,
    )
    result = CliRunner().invoke(
        run, [str(path), "--input", saved(tmp_path, np.zeros((1, 1, 2), np.float32)), "--output-dir", str(tmp_path / "out")]
    )
    assert (result.exit_code, result.stderr.strip()) == (2, "Error: GlobalLpPool-2: attribute p is of type FLOAT, expected INT")


def ran(*arguments):
    return CliRunner().invoke(run, [str(argument) for argument in arguments])


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_files_have_the_mode_that_the_umask_leaves(model, tmp_path, mask):
    given = saved(tmp_path, np.zeros((1, 1, 2), np.float32))
    before = os.umask(mask)
    try:
        assert ran(model, "--input", given, "--output-dir", tmp_path / "out").exit_code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "out" / "y.npy").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_file_in_the_way_is_replaced_and_a_directory_is_one_line(model, tmp_path):
    given = saved(tmp_path, np.ones((1, 1, 2), np.float32))
    (tmp_path / "y.npy").write_text("old")
    assert ran(model, "--input", given, "--output-dir", tmp_path).exit_code == 0
    assert np.load(tmp_path / "y.npy").item() == 2
    (tmp_path / "y.npy").unlink()
    (tmp_path / "y.npy").mkdir()
    result = ran(model, "--input", given, "--output-dir", tmp_path)
    assert result.exit_code == 2 and result.stderr.splitlines()[-1].endswith("y.npy is a directory")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["norm.onnx", "x.npy", "y.npy"]


def test_all_outputs_are_written_or_none(tmp_path):
    path = tmp_path / "two.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] a, float[2] y) { a = Neg (x)  y = Abs (x) }'
        ),
        path,
    )
    (tmp_path / "out" / "y.npy").mkdir(parents=True)
    result = ran(path, "--input", saved(tmp_path, np.ones(2, np.float32)), "--output-dir", tmp_path / "out")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {tmp_path / 'out'}: y.npy is a directory")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["y.npy"]


def test_a_full_disk_leaves_nothing_half_written(model, tmp_path):
    """A limit of the size of files stands in for the disk."""
    given = saved(tmp_path, np.ones((4096, 1, 2), np.float32))
    program = "import resource, cypool_command; resource.setrlimit(resource.RLIMIT_FSIZE, (1024, -1)); cypool_command.main()"
    arguments = ["run", model, "--input", given, "--output-dir", tmp_path / "out"]
    environment = {**os.environ, "PYTHONPATH": f"{COMMAND.parent}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1 and str(tmp_path / "out") in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_where_nothing_can_be_written_is_one_line(model, tmp_path):
    (tmp_path / "file").write_text("")
    result = ran(model, "--input", saved(tmp_path, np.ones((1, 1, 2), np.float32)), "--output-dir", tmp_path / "file" / "out")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {tmp_path / 'file' / 'out'}: Not a directory")


@pytest.mark.parametrize("suffix", [".pb", ".npy", ".data"])
def test_a_file_of_numpys_is_read_whatever_its_name(model, tmp_path, suffix):
    with (tmp_path / f"x{suffix}").open("wb") as file:
        np.save(file, np.array([[[3, -4]]], ">f4"))
    result = ran(model, "--input", f"x={tmp_path / f'x{suffix}'}", "--output-dir", tmp_path)
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "y.npy").item() == 7


@pytest.mark.parametrize("raw", [True, False])
def test_a_tensor_of_onnxs_is_read(model, tmp_path, raw):
    proto = onnx.helper.make_tensor("any", onnx.TensorProto.FLOAT, (1, 1, 2), [3.0, -4.0])
    if raw:
        proto = onnx.numpy_helper.from_array(np.array([[[3, -4]]], np.float32))
    (tmp_path / "x.pb").write_bytes(proto.SerializeToString())
    result = ran(model, "--input", f"x={tmp_path / 'x.pb'}", "--output-dir", tmp_path)
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "y.npy").item() == 7


def arrays_of(path):
    np.savez(path, x=np.ones((1, 1, 2), np.float32))


def pickled(path):
    with path.open("wb") as file:
        np.save(file, np.array([None, 1], object), allow_pickle=True)


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("x.npz", arrays_of, "expected a .npy file, or a TensorProto in a .pb file"),
        ("x.txt", lambda path: path.write_text("3 -4"), "expected a .npy file, or a TensorProto in a .pb file"),
        ("x.npy", lambda path: path.write_text("3 -4"), "expected a .npy file, or a TensorProto in a .pb file"),
        ("x.npy", lambda path: path.write_bytes(b""), "expected a .npy file, or a TensorProto in a .pb file"),
        ("x.npy", lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"), "EOF"),
        ("x.npy", pickled, "Object arrays cannot be loaded when allow_pickle=False"),
        ("x.pb", lambda path: path.write_bytes(b""), "no TensorProto; expected a .npy file"),
        ("x.pb", lambda path: path.write_bytes(b"\xff" * 40), "no TensorProto; expected a .npy file"),
        ("x.pb", lambda path: path.write_bytes(onnx.TensorProto(dims=[3], data_type=1, raw_data=b"1").SerializeToString()), ""),
        ("x.pb", lambda path: path.mkdir(), "Is a directory"),
        ("x.npy", lambda path: None, "No such file or directory"),
    ],
)
def test_any_other_input_is_refused_with_what_is_read(model, tmp_path, name, write, message):
    write(tmp_path / name)
    result = ran(model, "--input", f"x={tmp_path / name}", "--output-dir", tmp_path / "out")
    assert result.exit_code == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"Error: --input x={tmp_path / name}: ") and message in last


def test_a_name_given_twice_is_refused(model, tmp_path):
    given = saved(tmp_path, np.ones((1, 1, 2), np.float32))
    result = ran(model, "--input", given, "--input", given, "--output-dir", tmp_path / "out")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: --input {given}: x is given twice")


def test_an_input_that_the_model_lacks_is_refused(model, tmp_path):
    x = tmp_path / "x.npy"
    np.save(x, np.ones((1, 1, 2), np.float32))
    result = ran(model, "--input", f"x={x}", "--input", f"z={x}", "--output-dir", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (2, "Error: the model has no input z, expected x\n")


@pytest.mark.parametrize("content", [b"", onnx.ModelProto(ir_version=8).SerializeToString()])
def test_an_empty_model_is_refused(tmp_path, content):
    (tmp_path / "empty.onnx").write_bytes(content)
    result = ran(tmp_path / "empty.onnx", "--output-dir", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (2, f"Error: {tmp_path / 'empty.onnx'} is empty: it has no graph\n")
    assert not (tmp_path / "out").exists()


def test_a_foreign_operator_is_told_with_file_and_node(tmp_path):
    path = tmp_path / "foreign.onnx"
    onnx.save(
        onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18, "mine" : 1]> g (float[2] x) => (float[2] y) { y = mine.Foo (x) }'),
        path,
    )
    result = ran(path, "--input", saved(tmp_path, np.ones(2, np.float32)), "--output-dir", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {path}: node of y (mine.Foo): neither cypool nor onnx ") and result.stderr.count("\n") == 1


def test_strings_are_written_without_pickles_and_what_is_no_tensor_is_refused(tmp_path):
    path = tmp_path / "strings.onnx"
    onnx.save(
        onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (string[2] x) => (string[2] y) { y = Identity (x) }'), path
    )
    result = ran(path, "--input", saved(tmp_path, np.array(["a", "bc"])), "--output-dir", tmp_path)
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "y.npy").tolist() == ["a", "bc"]
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18]> g (string[2] x) => (seq(string[2]) y) { y = SequenceConstruct (x) }'
        ),
        path,
    )
    result = ran(path, "--input", saved(tmp_path, np.array(["a", "bc"])), "--output-dir", tmp_path)
    assert (result.exit_code, result.stderr) == (2, "Error: output y is no tensor, and only tensors can be written\n")


def test_the_codes_are_in_the_help():
    assert "Exit code: 0 all outputs are written, 2 wrong usage, a model or an input that doesn't fit, 3 no ONNX Runtime" in " ".join(
        ran("--help").output.split()
    )


def test_info_tells_builds_threads_and_processor():
    facts = json.loads(CliRunner().invoke(info, ["--json"]).output)
    assert facts["version"] == cypool.__version__
    assert facts["chosen"] == dispatch.chosen.name
    assert facts["chosen"] in facts["usable"]
    assert set(facts["usable"]) <= set(facts["builds"])
    assert facts["threads"] >= 1
    shown = CliRunner().invoke(info, []).output
    for text in ("builds present", facts["compiler"], facts["cpu"].split()[0]):
        assert text in shown
