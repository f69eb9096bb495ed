"""Scripts that reproduce: they say what the bundle says, with numpy and the runtime alone, and what
they write out is exact.
"""

import dataclasses
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from all_cases import every, invalid, valid

from cypool import spec
from cypool.conformance.asking.runtimes.table import BUILT_IN, find, installed
from cypool.conformance.cases.case import Case
from cypool.conformance.findings.recipes import RECIPES
from cypool.conformance.findings.scripts import LONGEST, Place, expression, file_name, script
from cypool.conformance.tensors import DTYPES, Tensor

HARNESS = Path(__file__).with_name("fakes") / "gives_back.py"


def one_element(type):
    """A case whose answer is an absolute value, as of every norm of one element."""
    x, y = (Tensor.of(name, np.full((1, 1, 1), value, DTYPES[type])) for name, value in (("X", -2.5), ("Y", 2.5)))
    return Case(f"one-element-{type}", spec.version("GlobalLpPool-22"), type, (x,), (), answer=lambda reading: (y,))


PLAIN, HALF = one_element("float"), one_element("bfloat16")
ROIS = next(case for case in valid() if case.id.startswith("MaxRoiPool-1/float/") and "inside" in case.tags)
INVALID = next(case for case in invalid() if case.id == "GlobalLpPool-2/float/invalid/p-as-float")


def run(text, files, directory, *, without_cypool=True):
    """What a script prints, run alone in a directory; ``import cypool`` fails there."""
    for name, data in {"reproduce.py": text.encode(), **files}.items():
        (directory / name).write_bytes(data)
    if without_cypool:
        (directory / "cypool.py").write_text("raise AssertionError('a script must not need cypool')")
    return subprocess.run([sys.executable, "reproduce.py"], cwd=directory, capture_output=True, text=True)


@pytest.mark.parametrize("type", DTYPES)
def test_an_expression_gives_the_array_back(type):
    values = {"f": [0.1, -0.0, 1.5], "V": [0.1, -0.0, 1.5], "b": [True, False, True]}.get(DTYPES[type].kind, [0, 1, np.iinfo("i1").max])
    array = np.array(values).astype(DTYPES[type]).reshape(3, 1)
    assert same(eval(expression(Tensor.of("X", array)), {"np": np, "ml_dtypes": ml_dtypes}), array)


def same(got, expected):
    if expected.dtype.kind not in "fV":
        return got.dtype == expected.dtype and got.shape == expected.shape and (got == expected).all()
    numbers = ~np.isnan(expected)
    return (
        got.dtype == expected.dtype
        and got.shape == expected.shape
        and np.isnan(got[~numbers]).all()
        and got[numbers].tobytes() == expected[numbers].tobytes()
    )


def test_an_expression_gives_every_input_back_also_the_long_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forms = set()
    for case in every()[::7]:
        for tensor in case.inputs:
            for name, data in script("", find("onnxruntime"), case)[1].items():
                Path(name).write_bytes(data)
            text = expression(tensor)
            forms.add(text.partition("(")[0])
            assert same(eval(text, {"np": np, "ml_dtypes": ml_dtypes}), tensor.array), f"{case.id}: {text}"
    assert forms == {"np.array", "np.load", "np.full"}


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (LONGEST,), (LONGEST + 1,), (70, 1000)])
def test_any_shape_can_be_written(shape, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for array in (np.ones(shape, np.float32), np.arange(np.prod(shape), dtype=np.float32).reshape(shape)):
        tensor = Tensor.of("X", array)
        np.save(file_name(tensor), array)
        assert same(eval(expression(tensor), {"np": np}), array)
        assert len(expression(tensor)) < 16 * LONGEST


OURS = ("cypool", "onnxruntime+cypool")


@pytest.mark.parametrize("case", [PLAIN, HALF, ROIS, INVALID], ids=lambda case: case.id)
@pytest.mark.parametrize("name", [*BUILT_IN, "somebody:backend.Of.Theirs", "exec:program --with 'an argument'"])
def test_every_script_is_short_python_without_cypool(name, case):
    text, files = script("a title\nof two lines", find(name), case)
    compile(text, "reproduce.py", "exec")
    assert text.startswith("# a title of two lines\n")
    assert len(text.splitlines()) < 22
    assert "$" not in text
    assert files == {}
    if name not in OURS:
        assert "cypool" not in text


def test_there_is_a_recipe_for_every_adapter():
    adapters = {entry.adapter for entry in BUILT_IN.values()} | {find(name).adapter for name in ("somebody", "exec:it")} | {"registered"}
    assert adapters == {key.partition(" ")[0] for key in RECIPES}


RUNNING = [name for name in installed() if name not in ("reference", "onnxruntime")]  # which have no version 22, or no operator at all


@pytest.mark.parametrize("case", [PLAIN, HALF], ids=["float", "bfloat16"])
@pytest.mark.parametrize("name", [*RUNNING, f"exec:{sys.executable} {HARNESS}"], ids=[*RUNNING, "exec"])
def test_scripts_run(name, case, tmp_path):
    """Also the program that gives its input's absolute value is right about it."""
    done = run(*script("", find(name), case), tmp_path, without_cypool=name not in OURS)
    if (name, case) == ("tract", HALF):
        assert "Unknown DatumType" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    got, expected = done.stdout.splitlines()
    assert (float(got.removeprefix("got").strip(" []")), float(expected.removeprefix("expected").strip(" []"))) == (2.5, 2.5)


def test_onnx_runtime_s_script_runs(tmp_path):
    done = run(*script("", find("onnxruntime"), ROIS), tmp_path)
    assert done.returncode == 0
    got, expected = done.stdout.removeprefix("got").split("expected")
    assert got.split() == expected.split()


def test_what_a_runtime_lacks_is_its_own_error_in_the_script(tmp_path):
    for name, words in (("onnxruntime", "NotImplemented"), ("reference", "GlobalLpPool")):
        done = run(*script("", find(name), PLAIN), tmp_path)
        assert done.returncode == 1 and words in done.stderr


def test_at_a_place_only_the_element_there_is_printed(tmp_path):
    index = tuple(size - 1 for size in ROIS.expected[0].shape)
    done = run(*script("", find("onnxruntime"), ROIS, Place(0, index)), tmp_path)
    value = ROIS.expected[0].array[index]
    assert done.stdout.splitlines() == [f"got      {value}", f"expected {float(value)}"]


def test_a_script_asks_for_the_graph_as_it_is_where_the_case_does(tmp_path):
    asked = dataclasses.replace(ROIS, variant="no-optimization")
    assert "ORT_DISABLE_ALL" in script("", find("onnxruntime"), asked)[0] and "ORT_DISABLE" not in script("", find("onnxruntime"), ROIS)[0]
    done = run(*script("", find("onnxruntime"), asked), tmp_path)
    got, expected = done.stdout.removeprefix("got").split("expected")
    assert got.split() == expected.split()
    assert "**{'optimize': False}" in script("", find("exec:it"), asked)[0]


def test_of_an_invalid_case_an_error_is_expected():
    text, _ = script("", find("openvino"), INVALID)
    assert text.endswith('print("got     ", *got)\nprint("expected", "an error, because p is of type FLOAT")\n')
