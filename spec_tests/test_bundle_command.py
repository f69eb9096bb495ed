"""``cypool check --bundle`` and ``cypool replay`` as processes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from cypool.cli.selection import select
from cypool.conformance.cases import instances
from cypool.conformance.findings.bundle import find_bundles

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

ID = "GlobalLpPool-2/float/odd/p2/all-equal"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    path = tmp_path_factory.mktemp("fakes") / "answers.json"
    fake_answers.write(path, select([ID], spread=instances.spread))
    return {**os.environ, "PYTHONPATH": str(FAKES), "FAKE_ANSWERS": str(path), "COLUMNS": "100"}


@pytest.fixture
def cypool(environment):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "cypool.cli", *map(str, arguments)], capture_output=True, text=True, env=environment)

    return run


@pytest.fixture(scope="module")
def wrong(environment, tmp_path_factory):
    directory = tmp_path_factory.mktemp("bundles") / "found"
    command = ["check", "fake_runtimes:Wrong", "fake_runtimes:Right", "-k", ID + "*", "--bundle", str(directory)]
    command += ["--html", str(directory.parent / "page.html"), "--jsonl", str(directory.parent / "run.jsonl")]
    done = subprocess.run([sys.executable, "-m", "cypool.cli", *command], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (1, "")
    return directory


def test_check_writes_a_bundle_for_each_finding_of_each_runtime(wrong):
    (path,) = find_bundles(wrong)
    assert path == wrong / "fake_runtimes-Wrong" / "01-wrong-value-on-sum-or-mean"
    assert {file.name for file in path.iterdir()} >= {"model.onnx", "test_data_set_0", "got", "reproduce.py", "issue.md", "bundle.json"}


def test_a_page_leads_to_the_files_of_its_findings(cypool, wrong, tmp_path):
    done = cypool("report", wrong.parent / "run.jsonl", "--html", tmp_path / "later.html", "--bundle", wrong)
    assert (done.returncode, done.stderr) == (0, "")
    for page in (wrong.parent / "page.html", tmp_path / "later.html"):
        links = [unquote(link) for link in re.findall(r'href="([^"#]+)"', page.read_text()) if not link.startswith("data:")]
        assert {Path(link).name for link in links} >= {"issue.md", "reproduce.py", "bundle.json"}
        assert all((page.parent / link).exists() for link in links)


def test_replay_says_what_was_and_what_is(cypool, wrong):
    (path,) = find_bundles(wrong)
    done = cypool("replay", path)
    assert (done.returncode, done.stderr) == (1, "")
    first, was, now = done.stdout.splitlines()
    assert first == f"{path}: {ID}@21 on fake_runtimes:Wrong 7.0"
    assert was.startswith("  was: wrong value: Y[0, 0, 0, 0] is ")
    assert now == was.replace("was:", "now:")


def test_replay_on_another_runtime_and_of_all_bundles_below_a_directory(cypool, wrong):
    done = cypool("replay", wrong, "--runtime", "fake_runtimes:Right")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "  now: pass")


def test_where_no_bundles_can_be_it_is_refused_before_anything_runs(cypool, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    for place, message in (("full", f": {tmp_path / 'full'} exists and is not an empty directory"), ("no/where", None)):
        done = cypool("check", "no_such_module", "-k", ID, "--bundle", tmp_path / place)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"cypool: --bundle{message or f' {tmp_path / place}: No such file or directory'}\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["full", "mine"]


def test_wrong_usage_of_replay_is_a_line(cypool, wrong, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "bundle.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    for arguments, code, message in (
        ([tmp_path / "empty"], 2, f"{tmp_path / 'empty'} holds no bundle"),
        ([tmp_path / "nowhere"], 2, "does not exist"),
        ([tmp_path / "broken"], 2, "broken is no bundle: KeyError: 'format'"),
        ([wrong, "--runtime", "no_such_module"], 3, "runtime no_such_module is not available"),
    ):
        done = cypool("replay", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
        assert message in done.stderr
