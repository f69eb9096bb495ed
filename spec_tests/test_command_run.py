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
    assert done.returncode == 1 and "ModuleNotFoundError: No module named 'nothing_of_that_name'" in done.stderr


def test_a_model_runs_on_files(model, tmp_path):
    x = np.array([[[3, -4]], [[1, 1]]], np.float32)
    result = CliRunner().invoke(run, [str(model), "--input", saved(tmp_path, x), "--output-dir", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert result.output == f"{tmp_path / 'out' / 'y.npy'}: float32[2, 1, 1]\n"
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


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 1, 3), np.float32), "Error: input x has shape (1, 1, 3), the model declares (N, 1, 2)"),
        (np.zeros((1, 1, 2)), "Error: input x is float64, the model declares float32"),
    ],
)
def test_an_input_that_is_not_what_the_model_declares_is_refused(model, tmp_path, array, message):
    result = CliRunner().invoke(run, [str(model), "--input", saved(tmp_path, array), "--output-dir", str(tmp_path / "out")])
    assert result.exit_code == 1
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
    assert result.exit_code in (1, 2)
    assert message in result.stderr.splitlines()[-1]


def test_what_is_no_model_is_named(tmp_path):
    path = tmp_path / "noise.onnx"
    path.write_bytes(b"\xff" * 40)
    result = CliRunner().invoke(run, [str(path), "--output-dir", str(tmp_path / "out")])
    assert (result.exit_code, result.stderr.strip()) == (1, f"Error: {path} is no ONNX model")


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
    assert (result.exit_code, result.stderr.strip()) == (1, "Error: GlobalLpPool-2: attribute p is of type FLOAT, expected INT")


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
