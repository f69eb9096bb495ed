"""Bundles: one for each finding, complete for a person, for ONNX's tools, and for
running it again.
"""

import dataclasses
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import onnx
import pytest
from all_cases import every
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.cases import models, protos
from cypool.conformance.findings import bundle
from cypool.conformance.findings.bundle import BundleError
from cypool.conformance.judging.compare import criterion

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

ASKED = [case for case in every() if case.version.name in ("GlobalLpPool-2", "MaxRoiPool-1") and case.type == "float"]
SMALL = ASKED[:12]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Every finding on ONNX Runtime in the two cells that it has."""
    directory = tmp_path_factory.mktemp("found")
    with closing(Isolated("onnxruntime", 20)) as runtime:
        results = list(runner.run([runtime], ASKED))
        return bundle.write_bundles(directory, runtime, results, ASKED, None)


def named(found, words):
    return next(path for path in found if words in path.name)


def test_each_finding_has_a_bundle_of_its_own_named_after_it(found):
    names = [path.name for path in found]
    assert len(set(names)) == len(names) > 8
    assert all(path.parent.name == "onnxruntime" for path in found)
    assert [name.partition("-")[0] for name in names] == [f"{number:02}" for number in range(1, len(names) + 1)]
    for words in ("wrong-value-accumulation-naive", "wrong-value-nan-restart", "accepted-what-is-invalid-on-p-range", "error"):
        assert named(found, words)


def test_a_bundle_is_a_test_in_onnx_s_layout(found):
    path = named(found, "accumulation-naive")
    names = {test.name: test.model_dir for test in load_model_tests(str(path.parent.parent), "onnxruntime")}
    assert names[path.name] == str(path)
    model = onnx.load(path / "model.onnx")
    onnx.checker.check_model(model)
    record = json.loads((path / "bundle.json").read_text())
    case = next(case for case in ASKED if case.id == record["case"]["id"])
    for file, tensor in (("input_0.pb", case.inputs[0]), ("output_0.pb", case.expected[0])):
        array = numpy_helper.to_array(onnx.load_tensor(path / "test_data_set_0" / file))
        assert array.tobytes() == tensor.data and array.shape == tensor.shape


def test_what_came_is_kept(found):
    path = named(found, "nan-restart")
    expected = numpy_helper.to_array(onnx.load_tensor(path / "test_data_set_0/output_0.pb"))
    got = numpy_helper.to_array(onnx.load_tensor(path / "got/output_0.pb"))
    assert got.shape == expected.shape and np.isnan(expected).any() and not np.array_equal(got, expected, equal_nan=True)
    assert not list(named(found, "error").glob("got/*"))


def test_the_script_shows_what_the_bundle_says(found):
    for words in ("accumulation-naive", "nan-restart", "minus-inf"):
        path = named(found, words)
        message = json.loads((path / "bundle.json").read_text())["message"]
        done = subprocess.run([sys.executable, "reproduce.py"], cwd=path, capture_output=True, text=True)
        got, expected = (line.split()[1] for line in done.stdout.splitlines())
        assert f" is {got}, expected {expected}" in message


def test_the_text_has_all_that_a_reader_needs(found):
    path = named(found, "accumulation-naive")
    text, record = (path / "issue.md").read_text(), json.loads((path / "bundle.json").read_text())
    assert text.startswith(f"# GlobalLpPool-2, float: wrong value: {record['message']}\n")
    assert f"```python\n{(path / 'reproduce.py').read_text()}```\n" in text
    assert f"case `{record['case']['id']}` of cypool" in text
    assert "onnxruntime 1." in text and "Python 3." in text
    assert "How exact must the sum be" in text and "*naive*" in text
    assert "It is not the same every time" not in text
    (shown,) = [block for block in text.split("```") if "ir_version" in block]
    (read,), (kept,) = onnx.parser.parse_model(shown).graph.node, onnx.load(path / "model.onnx").graph.node
    assert (read.op_type, read.attribute) == (kept.op_type, kept.attribute)


def test_the_text_names_other_cases_of_the_same_kind_and_their_number(found):
    path = named(found, "accumulation-naive")
    line = next(line for line in (path / "issue.md").read_text().splitlines() if line.startswith("- the same in `"))
    ids = {case.id for case in ASKED}
    assert line.count("`") == 2 * 5 and all(id in ids for id in line.split("`")[1::2])
    assert line.endswith(" more")


def test_of_an_invalid_model_the_text_says_what_is_wrong_with_it(found):
    text = (named(found, "on-p-range") / "issue.md").read_text()
    assert "accepted what is invalid: p is 0" in text
    assert "expected: an error, because p is 0" in text
    assert "got Y float[" in text


def test_read_back_it_asks_what_was_asked(found):
    for path in found:
        read = bundle.read(path)
        case = next(case for case in ASKED if case.id == read.case.id)
        assert read.request == runner.request_of(case)
        assert (read.runtime, read.ulp) == ("onnxruntime", None)
        assert (read.case.inputs, read.case.fault, read.case.alternatives) == (case.inputs, case.fault, case.alternatives)
        if case.fault is None:
            assert (read.case.expected, read.case.readings) == (case.expected, case.readings)


def test_replayed_it_is_found_again(found):
    path = named(found, "nan-restart")
    read = bundle.read(path)
    with closing(Isolated("onnxruntime", 20)) as runtime:
        result = read.replay(runtime)
    assert (result.verdict, result.message, result.reading) == (read.verdict, read.message, "restart")
    with closing(Isolated("cypool", 20)) as runtime:
        assert read.replay(runtime).verdict == "pass"


class Fakes:
    """Runs fake runtimes on a few cases, and writes bundles of what they did."""

    def __init__(self, directory):
        self.directory = directory

    def results(self, name, ulp=None, cases=SMALL):
        with closing(Isolated(f"fake_runtimes:{name}", 20)) as runtime:
            return list(runner.run([runtime], cases, criterion(ulp)))

    def write(self, name, results, ulp=None):
        with closing(Isolated(f"fake_runtimes:{name}", 20)) as runtime:
            return bundle.write_bundles(self.directory / name, runtime, results, ASKED, ulp)

    def __call__(self, name, ulp=None):
        return self.write(name, self.results(name, ulp), ulp)


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    fake_answers.write(tmp_path / "answers.json", SMALL)
    return Fakes(tmp_path)


def test_where_all_is_right_there_is_none(fakes):
    assert fakes("Right") == []


def test_what_was_not_run_has_none(fakes, tmp_path):
    case = dataclasses.replace(SMALL[0], variant="no-optimization")
    with closing(Isolated("fake_runtimes:Wrong", 20)) as runtime:
        results = list(runner.run([runtime], [case]))
        assert [result.verdict for result in results] == ["not run"]
        assert bundle.write_bundles(tmp_path, runtime, results, [case], None) == []


def test_the_example_is_the_smallest_that_is_not_empty(fakes):
    chosen = sorted((case for case in ASKED if case.fault is None), key=lambda case: case.inputs[0].array.size)
    sizes = [case.inputs[0].array.size for case in chosen]
    assert sizes[0] == 0 < sizes[-1]
    results = fakes.results("RaisesAtLoad", cases=[chosen[0], *chosen[-3:]])
    (path,) = fakes.write("RaisesAtLoad", results)
    assert bundle.read(path).case.inputs[0].array.size == sizes[-3]
    (path,) = fakes.write("RaisesAtLoad", [result for result in results if result.elements == 0])
    assert bundle.read(path).case.inputs[0].array.size == 0


def test_a_crash_keeps_the_last_words_and_explains_no_silence(fakes):
    """The case turns on a ruling, but dying is no reading of it."""
    case = next(case for case in SMALL if case.fault is None and case.rulings and (case.inputs[0].array < 0).any())
    (path,) = fakes.write("Aborts", fakes.results("Aborts", cases=[case]))
    assert path.parent.name == "fake_runtimes-Aborts"
    text = (path / "issue.md").read_text()
    assert "killed by SIGABRT" in text and "The last lines on standard error:\n\n```\nfree(): invalid pointer\n```" in text
    assert "Why something else" not in text


def test_what_is_not_the_same_twice_is_said_to_be_so(fakes):
    results = [dataclasses.replace(result, message="Y[0] is 7.0, expected 8.0") for result in fakes.results("Wrong")]
    text = (fakes.write("Wrong", results)[0] / "issue.md").read_text()
    assert "It is not the same every time. Before, among other cases, it was:\n\n```\nwrong value: Y[0] is 7.0, expected 8.0\n```" in text


def test_backticks_in_a_message_end_no_block(fakes):
    results = [dataclasses.replace(result, message="```\n# not a title") for result in fakes.results("Wrong")]
    assert "````\nwrong value: ```\n# not a title\n````" in (fakes.write("Wrong", results)[0] / "issue.md").read_text()


def test_the_distance_that_decided_decides_again(fakes):
    path, *_ = fakes("OneUlpOff", 0)
    read = bundle.read(path)
    assert read.ulp == 0
    with closing(Isolated("fake_runtimes:OneUlpOff", 20)) as runtime:
        assert read.replay(runtime).verdict == "wrong value"
        assert dataclasses.replace(read, ulp=None).replay(runtime).verdict == "pass"


@pytest.mark.parametrize("variant", ["initializers", "symbolic", "if-branch", "function"])
def test_a_variant_is_kept_as_it_was_asked(variant, tmp_path):
    case = dataclasses.replace(SMALL[0], id=f"{SMALL[0].id}@21+{variant}", opset=21, variant=variant)
    wrong = dataclasses.replace(case, answer=lambda reading: tuple(protos.from_bytes(protos.to_bytes(t), "Y") for t in SMALL[7].expected))
    with closing(Isolated("cypool", 20)) as runtime:
        (path,) = bundle.write_bundles(tmp_path, runtime, list(runner.run([runtime], [wrong])), [wrong], None)
        assert bundle.read(path).replay(runtime).verdict == bundle.read(path).verdict != "error"
    assert onnx.load(path / "model.onnx") == models.model(case)
    read = bundle.read(path)
    assert (read.request, read.case.inputs, read.case.attributes) == (runner.request_of(case), case.inputs, case.attributes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: (path / "bundle.json").unlink(), "bundle.json: No such file or directory"),
        (lambda path: (path / "request.jsonl").unlink(), "request.jsonl: No such file or directory"),
        (lambda path: (path / "bundle.json").write_text("[]"), "is no bundle: TypeError"),
        (lambda path: (path / "bundle.json").write_text('{"format": 2}'), "is a bundle of format 2, not 1"),
        (lambda path: (path / "test_data_set_0" / "input_0.pb").write_bytes(b"five"), "input_0.pb holds no TensorProto"),
    ],
)
def test_what_is_no_bundle_is_refused(fakes, change, message):
    path = fakes("Wrong")[0]
    change(path)
    with pytest.raises(BundleError, match=message):
        bundle.read(path)
