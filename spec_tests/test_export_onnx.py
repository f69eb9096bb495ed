"""The exported files as ONNX's own tools see them: its loader, its test runner, its checker; and
ONNX Runtime runs them.
"""

import collections
import json
import unittest

import numpy as np
import onnx
import onnxruntime
import pytest
from all_cases import INFERRED_OTHERWISE, by_cell, valid
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import cypool.backend
from cypool.conformance.corpus import layout
from cypool.conformance.corpus.export import export

SAMPLE = valid()[::23]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exported") / "corpus"
    export(SAMPLE, directory)
    return directory


class Ours(Runner):
    """ONNX's runner without the tests that come with ONNX."""

    def __init__(self, backend, directory):
        self.backend = backend
        self._parent_module = None
        self._include_patterns, self._exclude_patterns, self._xfail_patterns = set(), set(), set()
        self._test_kwargs = {}
        self._test_items = collections.defaultdict(dict)
        for test in load_model_tests(str(directory), "valid"):
            self._add_model_test(test, "Exported")


class OneOff:
    """A backend that is wrong by one."""

    @staticmethod
    def supports_device(device):
        return device == "CPU"

    @staticmethod
    def prepare(model, device):
        right = cypool.backend.prepare(model, device)

        class Prepared:
            def run(self, inputs):
                return [np.nan_to_num(output, nan=7) + np.ones((), output.dtype) for output in right.run(inputs)]

        return Prepared()


def run(backend, corpus):
    result = unittest.TestResult()
    Ours(backend, corpus).include("_cpu$").test_suite.run(result)
    assert result.errors == []
    return result.testsRun - len(result.skipped), len(result.failures)


def test_onnx_loads_every_valid_case_with_its_tolerance(corpus):
    found = {test.name: test for test in load_model_tests(str(corpus), "valid")}
    facts = json.loads((corpus / "manifest.json").read_text())["valid"]
    assert {f"valid/{name}" for name in found} == {case["path"] for case in facts}
    for case in facts:
        test = found[case["path"].removeprefix("valid/")]
        assert (test.rtol, test.atol) == (case["tolerance"]["rtol"], case["tolerance"]["atol"])


def test_onnx_s_runner_passes_what_is_right(corpus):
    assert run(cypool.backend, corpus) == (len(list((corpus / "valid").iterdir())), 0)


def test_onnx_s_runner_fails_what_is_wrong(corpus):
    tests, failures = run(OneOff, corpus)
    huge_or_empty = tests - failures  # one more makes no difference to infinity, 1e30, or an empty output
    assert 0 < huge_or_empty < tests / 3


def test_models_at_both_opsets_are_valid(corpus):
    found = [*corpus.glob("valid/*/model.onnx"), *corpus.glob("valid/*/model_opset*.onnx")]
    assert len(found) > len(list(corpus.glob("valid/*")))
    otherwise = {layout.directory_name(case.id) for case in SAMPLE if INFERRED_OTHERWISE & set(case.rulings)}
    for path in found:
        onnx.checker.check_model(onnx.load(path), full_check=path.parent.name not in otherwise)
    assert 0 < len(otherwise) < len(SAMPLE) / 4


@pytest.mark.parametrize("name", ["GlobalLpPool-2", "MaxRoiPool-1"])
def test_onnx_runtime_runs_the_files_of_the_cells_it_has(name, tmp_path):
    """On values that no reading and no known fault of it touches; at the first opset and at the
    last.
    """
    plain = [case for case in by_cell(valid())[name, "float"] if not case.rulings and case.tags & {"mixed-signs", "ramp", "ties"}]
    assert len(plain) > 8
    export(plain, tmp_path / "corpus")
    for facts in json.loads((tmp_path / "corpus" / "manifest.json").read_text())["valid"]:
        directory = tmp_path / "corpus" / facts["path"]
        inputs = {
            name: numpy_helper.to_array(onnx.load_tensor(directory / f"test_data_set_0/input_{i}.pb"))
            for i, name in enumerate(facts["inputs"])
        }
        expected = numpy_helper.to_array(onnx.load_tensor(directory / "test_data_set_0/output_0.pb"))
        assert len(facts["models"]) == 2
        for model in facts["models"]:
            session = onnxruntime.InferenceSession(directory / model, providers=["CPUExecutionProvider"])
            (got,) = session.run(facts["outputs"], inputs)
            np.testing.assert_allclose(got, expected, **facts["tolerance"])
