"""The composite action for teams that hold a runtime to a list: its steps, run as GitHub runs them,
in bash with inputs as variables.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ACTION = (ROOT / ".github/actions/cypool-check/action.yml").read_text()


def step(name):
    """The script of a step."""
    part = ACTION[ACTION.index(f"- name: {name}") :]
    return textwrap.dedent(re.search(r"^ +run: \|\n((?: {8}.*\n?)+)", part, re.MULTILINE)[1])


def check(tmp_path, **inputs):
    """Run the step that checks; the exit code, the file of results and the summary."""
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.touch()
    command = tmp_path / "bin" / "cypool"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cypool_command "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    env = os.environ | {name: str(file) for name, file in files.items()} | inputs
    env |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION": "check", "PATH": path, "PYTHONPATH": str(ROOT)}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Check")]
    done = subprocess.run(bash, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    results = Path(files["GITHUB_OUTPUT"].read_text().strip().removeprefix("results="))
    return done, results, files["GITHUB_STEP_SUMMARY"].read_text()


def test_a_runtime_that_conforms_passes(tmp_path):
    done, results, summary = check(tmp_path, RUNTIME="cypool", EXPECT="", OPTIONS="-k GlobalLpPool-22/float/rank3/p2/*")
    assert done.returncode == 0, done.stderr
    assert len(results.read_text().splitlines()) > 2
    assert "GlobalLpPool-22" in summary


def test_a_runtime_that_deviates_fails(tmp_path):
    done, results, summary = check(tmp_path, RUNTIME="reference", EXPECT="", OPTIONS="-k GlobalLpPool-22/float/rank3/p2/*")
    assert done.returncode == 1, done.stderr
    assert "unsupported" in summary
    assert results.exists()


LIST = """runtime = "reference"
[[expect]]
cases = "*"
verdict = "unsupported"
reason = "It has none of them."
"""


def test_a_runtime_that_does_what_its_list_says_passes(tmp_path):
    (tmp_path / "a list.toml").write_text(LIST)
    done, _, _ = check(tmp_path, RUNTIME="reference", EXPECT="a list.toml", OPTIONS="-k GlobalLpPool-22/float/rank3/p2/*")
    assert done.returncode == 0, done.stderr


def test_inputs_reach_scripts_as_variables_alone():
    """A script that expressions are pasted into runs what a pull request puts there."""
    assert "${{" not in step("Check") + step("Install")


@pytest.mark.parametrize("name", re.findall(r"^  ([\w-]+):\n    description", ACTION.partition("\noutputs:")[0], re.MULTILINE))
def test_the_page_names_each_input(name):
    assert f"| `{name}` |" in (ROOT / "docs/expectations.md").read_text()
