"""``cypool explain``: where the nodes of a model run, as sessions of ONNX Runtime say, and why."""

import json
import os
import sys

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from ort_support import parse
from test_ort_sessions import CONSTANT, FUNCTION, MIXED

from cypool.cli.explain import command
from cypool.ort import explain

TWO = """<ir_version: 10, opset_import: ["" : 21]> g (float[n, c, h, w] x) => (float[n, c, 1, 1] y, double[n, c, 1, 1] z) {
    y = GlobalLpPool (x)  r = Relu (x)  s = Cast <to = 11> (r)  z = GlobalLpPool (s) }"""


@pytest.fixture
def told(tmp_path):
    """What the command says of a model: exit code and text."""

    def tell(model, *options):
        path = tmp_path / "model.onnx"
        onnx.save(parse(model) if isinstance(model, str) else model, path)
        done = CliRunner().invoke(command, [str(path), *options])
        return done.exit_code, done.output

    return tell


def rows(answer):
    code, text = answer
    assert code == 0, text
    return {row["node"]: (row["op"], row["alone"], row["together"]) for row in json.loads(text)}


def test_a_node_s_places_are_told_by_type(told):
    assert rows(told(TWO, "--json")) == {
        "GlobalLpPool": ("GlobalLpPool", "ONNX Runtime", "cypool"),
        "Relu": ("Relu", "ONNX Runtime", "ONNX Runtime"),
        "Cast": ("Cast", "ONNX Runtime", "ONNX Runtime"),
        "GlobalLpPool#2": ("GlobalLpPool", "nobody", "cypool"),
    }


def test_the_table_has_the_nodes_that_are_cypool_s_and_says_what_onnx_runtime_lacks(told):
    code, text = told(TWO)
    assert code == 0
    lines = text.splitlines()
    assert sum(line.startswith("GlobalLpPool") for line in lines) == 2
    assert not any(line.startswith("Relu") for line in lines)
    assert lines[-2] == "4 nodes: cypool runs 2, ONNX Runtime 2; 0 are optimised away"
    assert lines[-1] == "ONNX Runtime alone does not load the model: it has no kernel for 1 of them"
    assert any(line.startswith("Relu") for line in told(TWO, "--all")[1].splitlines())


def test_what_is_folded_is_said_to_be(told):
    _, text = told(CONSTANT, "--json")
    (row,) = (row for row in json.loads(text) if row["op"] == "GlobalLpPool")
    assert (row["together"], row["why"]) == ("ONNX Runtime", "its inputs are constants: computed when the session is made")


def test_nodes_in_branches_and_functions_are_there(told):
    assert sum(together == "cypool" for _, _, together in rows(told(FUNCTION, "--json")).values()) == 2
    assert sum(together == "cypool" for _, _, together in rows(told(MIXED, "--json")).values()) == 4


def test_names_that_a_model_has_are_kept_and_each_is_one(tmp_path):
    model = parse(TWO)
    for node, name in zip(model.graph.node, ("pool", "", "pool", "GlobalLpPool"), strict=True):
        node.name = name
    onnx.save(model, tmp_path / "m.onnx")
    assert [(row.node, row.op) for row in explain.explain(tmp_path / "m.onnx")] == [
        ("pool", "GlobalLpPool"),
        ("Relu", "Relu"),
        ("pool#2", "Cast"),
        ("GlobalLpPool", "GlobalLpPool"),
    ]


def test_weights_in_other_files_are_found(tmp_path, monkeypatch):
    model = parse("""<ir_version: 10, opset_import: ["" : 22]> g (float[1, 2, 3] x) => (float[1, 2, 1] y) {
        a = Add (x, w)  y = GlobalLpPool (a) }""")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((1, 2, 3), np.float32), "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="m.data")
    assert (tmp_path / "m.data").stat().st_size
    monkeypatch.chdir(os.sep)
    assert {row.op: row.together for row in explain.explain(tmp_path / "m.onnx")} == {"Add": "ONNX Runtime", "GlobalLpPool": "cypool"}


def test_what_is_no_model_or_has_an_unknown_operator_is_one_line(told, tmp_path):
    path = tmp_path / "text.onnx"
    path.write_text("no model")
    done = CliRunner().invoke(command, [str(path)])
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert "text.onnx is no ONNX model" in done.output
    code, text = told("""<ir_version: 10, opset_import: ["" : 22]> g (float[1] x) => (float[1] y) { y = NobodyHasThis (x) }""")
    assert code == 2
    assert "ONNX Runtime does not take the model" in text and "NobodyHasThis" in text


def test_without_a_runtime_it_says_what_is_needed(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "cypool.ort", None)
    code, text = told(TWO)
    assert code == 3
    assert len(text.splitlines()) == 1
