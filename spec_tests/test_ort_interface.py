"""The positions of ONNX Runtime's interface that the plug-in uses, and that they answer as
expected: here, and in versions old and new.
"""

import json
import sys

import ort_work
import pytest

import cypool.ort
from cypool.ort import plugin

LAST = {"ort_api": {1: 101, 8: 169, 14: 238, 15: 254, 17: 275, 22: 317, 23: 389, 24: 414}}
"""The last position that a version of the interface added, where it is known: versions go on from
there.
"""


def test_no_position_is_newer_than_the_version_that_is_asked_for():
    assert {since for *_, since in plugin.positions()} <= set(range(1, 25))


def test_a_position_lies_between_those_of_its_version():
    for name, table, position, since in plugin.positions():
        last = LAST.get(table, {})
        assert position <= last.get(since, position), name
        assert all(position > newest for version, newest in last.items() if version < since), name


def test_every_function_has_a_position_of_its_own():
    places = [(table, position) for _, table, position, _ in plugin.positions()]
    assert len(places) == len(set(places)) > 30


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return ort_work.write(tmp_path_factory.mktemp("ort") / "work.jsonl")


def test_everything_answers_as_expected_and_no_later_position_is_read(work):
    """`make test-ort-versions` does the same with versions old and new."""
    done = ort_work.run(sys.executable, work)
    assert (done.returncode, done.stderr) == (0, "")
    cells = sum(len(each["T"]) for each in cypool.ort.supported().values() if "T" in each)
    assert int(done.stdout.split()[-2]) > 3 * cells


def test_the_program_notices_what_is_wrong(work, tmp_path):
    lines = [json.loads(line) for line in work.read_text().splitlines()]
    (branch,) = (line for line in lines if line["id"] == "a branch")
    valid = {**branch, "outputs": [{**branch["outputs"][0], "data": "AABAQA=="}]}
    for changed, words in ((valid, "a branch: y is wrong"), ({**branch, "error": "x"}, "a branch: an error was expected")):
        path = tmp_path / "changed.jsonl"
        path.write_text(json.dumps(changed))
        done = ort_work.run(sys.executable, path)
        assert done.returncode == 1
        assert words in done.stderr
