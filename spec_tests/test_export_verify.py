"""What a harness wrote is judged as if its runtime had been asked: each outcome, what is missing,
what is garbage.
"""

import json
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from all_cases import every
from onnx import numpy_helper

from cypool.conformance.corpus import corpus, verify
from cypool.conformance.corpus.corpus import CorpusError
from cypool.conformance.corpus.export import export
from cypool.conformance.judging import records
from cypool.conformance.judging.compare import within_ulps

CASES = [case for case in every() if case.id.startswith("GlobalLpPool-2/float/")]
LP = "GlobalLpPool-2/float/"
PLAIN = f"{LP}odd/p2/all-equal"
NAIVE = f"{LP}odd/p1099511627776/ramp"
INVALID = f"{LP}invalid/p-0"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    directory = tmp_path_factory.mktemp("verify") / "corpus"
    export(CASES, directory)
    return directory


class Harness:
    """A harness that answers as it is told, with onnx alone: it reads the manifest and copies what
    is expected.
    """

    def __init__(self, exported, outputs):
        self.exported, self.outputs = exported, outputs
        manifest = json.loads((exported / "manifest.json").read_text())
        self.facts = {facts["id"]: facts for kind in ("valid", "invalid") for facts in manifest[kind]}

    def place(self, id):
        place = self.outputs / self.facts[id]["path"]
        place.mkdir(parents=True, exist_ok=True)
        return place

    def right(self):
        for id, facts in self.facts.items():
            if "fault" in facts:
                self.say(id, {"status": "error", "phase": "load", "message": "no"})
            else:
                shutil.copy(self.exported / facts["path"] / "test_data_set_0" / "output_0.pb", self.place(id))
        return self

    def give(self, id, array, number=0):
        onnx.save_tensor(numpy_helper.from_array(array), self.place(id) / f"output_{number}.pb")

    def say(self, id, record):
        (self.place(id) / "outcome.json").write_text(json.dumps(record))

    def expected(self, id):
        return numpy_helper.to_array(onnx.load_tensor(self.exported / self.facts[id]["path"] / "test_data_set_0" / "output_0.pb"))

    def verdict(self, id, criterion=verify.onnx_tolerance):
        (result,) = verify.verify("it", [case for case in corpus.read(self.exported) if case.id == id], self.outputs, criterion)
        return result.verdict, result.message


@pytest.fixture
def harness(exported, tmp_path):
    return Harness(exported, tmp_path / "outputs")


def test_who_writes_what_is_expected_conforms(harness):
    results = list(verify.verify("it", corpus.read(harness.right().exported), harness.outputs))
    assert [result.case for result in results] == sorted(case.id for case in CASES)
    assert {result.verdict for result in results} == {"pass"}


def test_wrong_outputs_get_their_verdict(harness):
    right = harness.expected(PLAIN)
    harness.give(PLAIN, right + 1)
    assert harness.verdict(PLAIN)[0] == "wrong value"
    harness.give(PLAIN, right.astype(np.float64))
    assert harness.verdict(PLAIN) == ("wrong type", "Y is double, expected float")
    harness.give(PLAIN, right[..., 0])
    assert harness.verdict(PLAIN)[0] == "wrong shape"
    harness.give(PLAIN, right)
    harness.give(PLAIN, right, 1)
    assert harness.verdict(PLAIN) == ("wrong shape", "2 outputs, expected 1")


def test_a_known_fault_is_named_from_the_files_alone(harness):
    harness.give(NAIVE, np.full_like(harness.expected(NAIVE), np.inf))
    assert harness.verdict(NAIVE) == (
        "wrong value",
        "Y[0, 0, 0, 0] is inf, expected 15.0, 2 of 2 elements wrong; known fault: naive",
    )


def test_distance_can_decide(harness):
    harness.give(PLAIN, np.nextafter(harness.expected(PLAIN), np.float32(np.inf)))
    assert harness.verdict(PLAIN)[0] == "pass"
    assert harness.verdict(PLAIN, within_ulps(0))[0] == "wrong value"


@pytest.mark.parametrize(
    ("record", "valid", "invalid"),
    [
        ({"status": "unsupported", "phase": "load", "message": "none"}, ("unsupported", "none"), ("unsupported", "none")),
        ({"status": "error", "phase": "run", "message": "no"}, ("error", "no"), ("pass", "no")),
        ({"status": "crashed", "message": "SIGSEGV"}, ("crashed", "SIGSEGV"), ("crashed", "SIGSEGV")),
        ({"status": "timed out"}, ("timed out", ""), ("timed out", "")),
        ({"status": "ok"}, ("wrong shape", "0 outputs, expected 1"), ("accepted what is invalid", "p is 0")),
    ],
)
def test_what_a_harness_says_is_the_outcome(harness, record, valid, invalid):
    for id, verdict in ((PLAIN, valid), (INVALID, invalid)):
        harness.say(id, record)
        assert harness.verdict(id) == verdict


def test_outputs_of_an_invalid_case_are_its_acceptance(harness):
    harness.give(INVALID, np.zeros((1, 1), np.float32))
    assert harness.verdict(INVALID) == ("accepted what is invalid", "p is 0")


def test_a_case_about_which_nothing_is_written_was_not_run(harness):
    assert harness.verdict(PLAIN) == harness.verdict(INVALID) == ("not run", "the harness wrote nothing about it")
    harness.place(PLAIN)
    assert harness.verdict(PLAIN)[0] == "not run"


@pytest.mark.parametrize("id", [PLAIN, INVALID])
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("output_0.pb", b"half a tens\xff"),
        ("output_1.pb", b""),
        ("outcome.json", b"{"),
        ("outcome.json", b"[]"),
        ("outcome.json", b"{}"),
        ("outcome.json", b'{"status": "fine", "phase": "run"}'),
        ("outcome.json", b'{"status": "error", "phase": "lunch"}'),
    ],
)
def test_garbage_is_no_refusal_and_no_answer(harness, id, file, content):
    (harness.place(id) / file).write_bytes(content)
    verdict, message = harness.verdict(id)
    assert verdict == "crashed" and "holds no usable answer" in message


def test_whose_outputs_they_are(harness):
    harness.outputs.mkdir()
    assert verify.describe(harness.outputs) == verify.Description("outputs", "")
    (harness.outputs / "runtime.json").write_text('{"name": "mine", "version": "1.5"}')
    assert verify.describe(harness.outputs) == verify.Description("mine", "1.5")
    (harness.outputs / "runtime.json").write_text("mine")
    with pytest.raises(CorpusError, match=r"runtime\.json: "):
        verify.describe(harness.outputs)


def test_a_harness_that_ran_nothing_or_misspells_its_directories_is_refused(harness):
    harness.outputs.mkdir()
    with pytest.raises(CorpusError, match=f"holds nothing about any of {len(CASES)} cases"):
        verify.require_answers(harness.outputs, CASES)
    harness.right()
    verify.require_answers(harness.outputs, CASES)
    (harness.outputs / "valid" / "test_GlobalLpPool").mkdir()
    with pytest.raises(CorpusError, match="holds valid/test_GlobalLpPool, which is no case of this corpus"):
        verify.require_answers(harness.outputs, CASES)


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "cypool.cli", "cases", "verify", *map(str, arguments)], capture_output=True, text=True)


def test_the_command_reports_and_keeps_records(harness, tmp_path):
    harness.right().give(PLAIN, harness.expected(PLAIN) + 1)
    (harness.outputs / "runtime.json").write_text('{"name": "mine", "version": "1.5"}')
    done = command(harness.exported, harness.outputs, "--jsonl", tmp_path / "run.jsonl")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"mine 1.5 deviates: {len(CASES) - 1} of {len(CASES)} cases conform" in done.stdout
    header, results = records.read((tmp_path / "run.jsonl").read_text().splitlines())
    assert header.runtimes["mine"].version == "1.5"
    assert [result.case for result in results if not result.conforms] == [PLAIN]
    done = command(harness.exported, harness.outputs, "-k", f"{LP}invalid/*", "-k", f"{LP}rank2/*")
    assert done.returncode == 0 and "mine 1.5 conforms" in done.stdout


def test_wrong_usage_is_a_line(harness, tmp_path):
    harness.outputs.mkdir()
    for arguments, message in (
        ((tmp_path, harness.outputs), "manifest.json: No such file or directory"),
        ((harness.exported, harness.outputs), "holds nothing about any of"),
    ):
        done = command(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert message in done.stderr
