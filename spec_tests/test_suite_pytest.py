"""``pytest --pyargs cypool.conformance.suite`` as a process, from outside the tree: ids, outcomes, xdist, and how it refuses."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from all_cases import every

import cypool
from cypool.conformance import axes

ROOT = Path(cypool.__file__).parent.parent
SOME = "GlobalLpPool-2/float/odd or MaxRoiPool-22/bfloat16/invalid"
RIGHT = "GlobalLpPool-2/float/odd/p2/all-equal"
CASES = [case.id for case in axes.spread(every()) if case.id.startswith(("GlobalLpPool-2/float/odd/", "MaxRoiPool-22/bfloat16/invalid/"))]

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Runs pytest in an empty folder; the plugin is found as from an installed package: by the entry point that the project declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    metadata = tmp_path / "site" / "cypool-0.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cypool\nVersion: 0.0\n")
    (metadata / "entry_points.txt").write_text(
        "[pytest11]\n" + "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["pytest11"].items())
    )
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def run(*arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, tmp_path / "site", FAKES)))
        command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    return run


def test_ids_of_cases_are_ids_of_items_and_nothing_starts_to_list_them(suite):
    done = suite("cypool.conformance.suite", "--cypool-runtime", "no_such_module", "--collect-only", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert listed == [case.id for case in axes.spread(every())]


def test_each_case_has_its_outcome_also_under_xdist_and_a_failure_says_what_was_wrong(suite, tmp_path):
    done = suite(
        "cypool.conformance.suite", "--cypool-runtime", "onnxruntime", "-k", SOME, "-n", "2", f"--junit-xml={tmp_path / 'junit.xml'}"
    )
    assert done.returncode == 1
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "junit.xml").iter("testcase")}
    assert sorted(cases) == sorted(CASES)
    properties = {
        name: {entry.get("name"): entry.get("value") for entry in case.iter("property")} | {"failed": case.find("failure") is not None}
        for name, case in cases.items()
    }
    wrong = properties["GlobalLpPool-2/float/odd/p1099511627776/ramp@21"]
    assert (wrong["verdict"], wrong["reading"], wrong["failed"]) == ("wrong value", "naive", True)
    right = properties[RIGHT]
    assert (right["verdict"], right["failed"]) == ("pass", False) and int(right["ulp"]) < 10
    unsupported = [facts for facts in properties.values() if facts["verdict"] == "unsupported"]
    assert len(unsupported) > 20 and all(facts["failed"] for facts in unsupported), "unsupported is never a pass"
    text = cases["GlobalLpPool-2/float/odd/p1099511627776/ramp@21"].find("failure").text
    assert "wrong value: Y[0, 0, 0, 0] is inf, expected" in text
    for line in ("p: INT 1099511627776", "X float[2, 1, 5, 3] = ", "expected Y float[2, 1, 1, 1] = ", "got Y float[2, 1, 1, 1] = inf"):
        assert f"\n{line}" in text
    assert text.endswith("again, alone: cypool check onnxruntime -k GlobalLpPool-2/float/odd/p1099511627776/ramp@21")


def test_one_case_is_run_by_its_id_and_by_another_distance(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    fake_answers.write(tmp_path / "answers.json", [case for case in every() if case.id == RIGHT])
    done = suite(f"cypool.conformance.suite.cases::{RIGHT}", "--cypool-runtime", "fake_runtimes:OneUlpOff", "--cypool-ulp", "0", "-q")
    assert (done.returncode, done.stdout.splitlines()[-1].split(" in ")[0]) == (1, "1 failed")
    assert "wrong value: Y[" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which runtime? --cypool-runtime NAME says it"),
        (["--cypool-runtime", "no_such_module"], "runtime no_such_module is not available: ModuleNotFoundError"),
    ],
)
def test_without_a_runtime_nothing_runs_and_it_fails(suite, arguments, message):
    done = suite("cypool.conformance.suite", *arguments)
    assert done.returncode == 2
    assert message in done.stdout and "1 error in" in done.stdout


def test_the_options_cost_no_import_of_cypool():
    program = (
        "import sys, pytest, pytest_cypool; print([name for name in sys.modules if name.split('.')[0] in ('cypool', 'numpy', 'onnx')])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
