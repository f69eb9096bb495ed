"""Writes models for ``ort_program``, and runs it in environments that have a certain version of
ONNX Runtime.

``python spec_tests/ort_work.py VERSION ...`` makes an environment a version under build/ort, with
numpy and that onnxruntime in it, and runs the program there on cypool as it is built here.
``newest`` is the newest version there is.
"""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from ort_support import model, parse

from cypool.conformance import cases
from cypool.conformance.cases import models
from cypool.conformance.tensors import Tensor
from cypool.spec.elements import ELEMENTS

ROOT = Path(__file__).parents[1]
PROGRAM = Path(__file__).with_name("ort_program.py")
EACH = 3
"""Valid cases of each version and type, and invalid ones."""

WORDS = {"num_rois, 5": "rois has shape"}


def tensor(each):
    """A tensor as the program takes it: bfloat16 as the bits that it has."""
    element = ELEMENTS[each.type]
    holds = "uint16" if each.type == "bfloat16" else element.numpy
    data = base64.b64encode(each.data).decode()
    return {"name": each.name, "type": element.number, "holds": holds, "shape": list(each.shape), "data": data}


def line(id, made, inputs, **expected):
    """A line of work: ``expected`` are outputs, or words of an error."""
    data = base64.b64encode(made.SerializeToString()).decode()
    return json.dumps({"id": id, "model": data, "inputs": [tensor(each) for each in inputs], **expected})


def lines():
    """Models of every version and type, and of what the interface has beside: branches, loops,
    attributes of every kind, errors.
    """
    seen = {}
    for case in cases.generate():
        cell = case.version.name, case.type, case.fault is None
        seen[cell] = seen.get(cell, 0) + 1
        if seen[cell] > EACH:
            continue
        words = {"error": ""} if case.fault else {"outputs": [tensor(each) for each in case.expected]}
        yield line(case.id, models.model(case), case.inputs, **words)
    x = Tensor.of("x", np.array([[[3, -4]]], np.float32))
    five, four = (Tensor.of("y", np.array([[[value]]], np.float32)) for value in (5, 4))
    branch = parse("""<ir_version: 10, opset_import: ["" : 22]> g (bool c, float[n, k, w] x) => (float[n, k, a] y) { y = If (c) <
        then_branch = t () => (float[n, k, a] u) { u = GlobalLpPool <p = 2> (x) },
        else_branch = e () => (float[n, k, a] v) { v = GlobalLpPool <p = 1> (x) }> }""")
    yield line("a branch", branch, [Tensor.of("c", np.array(True)), x], outputs=[tensor(five)])
    square = model([helper.make_node("GlobalLpPool", ["x"], ["n"]), helper.make_node("Neg", ["n"], ["m"])], {"x": "float"}, {"m": "float"})
    yield line("a node of ONNX Runtime's", square, [x], outputs=[tensor(Tensor.of("m", -five.array))])
    rois = model([helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[1, 1])], dict.fromkeys("xr", "float"), {"y": "float"})
    image, table = Tensor.of("x", np.ones((1, 1, 2, 2), np.float32)), Tensor.of("r", np.zeros((1, 4), np.float32))
    yield line("an error", rois, [image, table], error="MaxRoiPool-22: rois has shape (1, 4), expected (num_rois, 5)")
    weights = Tensor.of("r", np.zeros((1, 5), np.float32))  # ONNX Runtime offers constants to a kernel beforehand
    fixed = model([rois.graph.node[0]], {"x": "float"}, {"y": "float"}, initializer=[onnx.numpy_helper.from_array(weights.array, "r")])
    yield line("a constant input", fixed, [image], outputs=[tensor(Tensor.of("y", np.ones((1, 1, 1, 1), np.float32)))])
    bad = model([helper.make_node("GlobalLpPool", ["x"], ["y"], p=0)], {"x": "float"}, {"y": "float"})
    yield line("an attribute", bad, [x], error="GlobalLpPool-22: p is 0, expected an integer >= 1")
    one = model([helper.make_node("GlobalLpPool", ["x"], ["y"], p=float("inf"))], {"x": "float"}, {"y": "float"}, opset=1)
    yield line("a FLOAT", one, [x], outputs=[tensor(four)])


def write(path):
    path.write_text("".join(f"{each}\n" for each in lines()))
    return path


def run(python, work, **environment):
    """The program, run by a Python; its completed process."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([python, PROGRAM, work], env=settings, capture_output=True, text=True, timeout=600)


def environment(version):
    """The Python of an environment with that ONNX Runtime."""
    python = ROOT / "build" / "ort" / version / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    wanted = "onnxruntime" if version == "newest" else f"onnxruntime=={version}"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", wanted, "numpy"], check=True)
    return python


def main(versions):
    folder = ROOT / "build" / "ort"
    folder.mkdir(parents=True, exist_ok=True)
    work = write(folder / "work.jsonl")
    failed = False
    for version in versions:
        done = run(environment(version), work)
        print(done.stdout.strip() if done.returncode == 0 else f"onnxruntime {version}: exit code {done.returncode}: {done.stderr.strip()}")
        failed = failed or done.returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
