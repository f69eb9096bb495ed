"""``pytest --pyargs cypool.conformance.suite`` as a process, from outside the tree: ids, outcomes,
xdist, and how it refuses.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from all_cases import every

import cypool
from cypool.conformance.cases import instances

ROOT = Path(cypool.__file__).parent.parent
SOME = "GlobalLpPool-2/float/odd or MaxRoiPool-22/bfloat16/invalid"
RIGHT, WRONG = "GlobalLpPool-2/float/odd/p2/all-equal", "GlobalLpPool-2/float/odd/p1099511627776/ramp@21"
CELLS = ("GlobalLpPool-2/float/odd/", "MaxRoiPool-22/bfloat16/invalid/")
CASES = [case.id for case in instances.spread(every()) if case.id.startswith(CELLS)]

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """Runs pytest in an empty folder; the plugin is found as from an installed package: by the
    entry point that the project declares.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    metadata = site / "cypool-0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cypool\nVersion: 0.0\n")
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["pytest11"].items())
    (metadata / "entry_points.txt").write_text(f"[pytest11]\n{points}")

    def run(*arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, site, FAKES)))
        command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    return run


def test_ids_of_cases_are_ids_of_items_and_nothing_starts_to_list_them(suite):
    done = suite("cypool.conformance.suite", "--cypool-runtime", "no_such_module", "--collect-only", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert listed == [case.id for case in instances.spread(every())]


LIST = """
runtime = "onnxruntime"

[[expect]]
cases = "MaxRoiPool-22/bfloat16/invalid/y*"
verdict = "unsupported"
reason = "no such kernel"

[[expect]]
cases = ["MaxRoiPool-22/bfloat16/invalid/x1-nan", "MaxRoiPool-22/bfloat16/invalid/y1-nan"]
verdict = "crashed"
reason = "dies of it"

[[expect]]
cases = "GlobalLpPool-2/float/odd/p2/all-equal@21"
verdict = "wrong value"
reason = "is wrong"

[[expect]]
cases = "MaxRoiPool-22/bfloat16/invalid/x2-nan"
verdict = "unsupported"
reason = "of another release"
versions = "<0.1"
"""


@pytest.fixture(scope="module")
def outcomes(suite, tmp_path_factory):
    """By id, from JUnit's XML of a run with xdist and a list of expectations."""
    folder = tmp_path_factory.mktemp("outcomes")
    (folder / "list.toml").write_text(LIST)
    options = "--cypool-expect", str(folder / "list.toml"), "-n", "2", f"--junit-xml={folder / 'junit.xml'}"
    done = suite("cypool.conformance.suite", "--cypool-runtime", "onnxruntime", "-k", SOME, *options)
    assert done.returncode == 1
    return {case.get("name"): case for case in ElementTree.parse(folder / "junit.xml").iter("testcase")}


def facts(case):
    return {entry.get("name"): entry.get("value") for entry in case.iter("property")}


def outcome(case):
    return next(((child.tag, child.get("message")) for child in case if child.tag != "properties"), ("pass", ""))


def test_each_case_has_its_outcome_once(outcomes):
    assert sorted(outcomes) == sorted(CASES)
    wrong, right = outcomes[WRONG], outcomes[RIGHT]
    assert outcome(wrong)[0] == "failure" and outcome(right) == ("pass", "")
    assert (facts(wrong)["verdict"], facts(wrong)["reading"]) == ("wrong value", "naive")
    assert facts(right)["verdict"] == "pass" and int(facts(right)["ulp"]) < 10


def test_unsupported_is_never_a_pass(outcomes):
    unsupported = [case for case in outcomes.values() if facts(case)["verdict"] == "unsupported"]
    assert len(unsupported) > 20 and all(outcome(case)[0] != "pass" for case in unsupported)


def test_a_failure_says_what_was_wrong(outcomes):
    text = outcomes[WRONG].find("failure").text
    assert "wrong value: Y[0, 0, 0, 0] is inf, expected" in text
    for line in ("p: INT 1099511627776", "X float[2, 1, 5, 3] = ", "expected Y float[2, 1, 1, 1] = ", "got Y float[2, 1, 1, 1] = inf"):
        assert f"\n{line}" in text
    assert text.endswith(f"again, alone: cypool check onnxruntime -k {WRONG}")


def test_what_is_listed_is_an_expected_failure_and_nothing_else_is(outcomes):
    of = {id.partition("/invalid/")[2]: outcome(case) for id, case in outcomes.items() if id.startswith("MaxRoiPool-22/bfloat16/invalid/")}
    assert of["y2-nan"] == ("skipped", "unsupported: no such kernel")
    assert of["y1-nan"] == ("skipped", "unsupported: no such kernel"), "of two entries the first counts"
    for kind, message, start in (
        (*of["x1-nan"], "listed as crashed: dies of it, but unsupported: "),
        (*of["x2-nan"], "unsupported: "),
        (*outcome(outcomes[f"{RIGHT}@21"]), "listed as wrong value: is wrong, but pass"),
    ):
        assert kind == "failure" and message.startswith(start)


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
        (["--cypool-runtime", "cypool", "--cypool-expect", "nowhere.toml"], "--cypool-expect nowhere.toml: [Errno 2] No such file"),
    ],
)
def test_without_a_runtime_or_a_list_nothing_runs_and_it_fails(suite, arguments, message):
    done = suite("cypool.conformance.suite", *arguments)
    assert done.returncode == 2
    assert message in done.stdout and "1 error in" in done.stdout


def test_the_options_cost_no_import_of_cypool():
    program = (
        "import sys, pytest, pytest_cypool; print([name for name in sys.modules if name.split('.')[0] in ('cypool', 'numpy', 'onnx')])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
