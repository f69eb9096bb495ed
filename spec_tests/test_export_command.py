"""``cypool cases export`` as a process: what it prints, and how it refuses."""

import hashlib
import subprocess
import sys

import pytest

from cypool.conformance import corpus


def cypool(*arguments):
    return subprocess.run([sys.executable, "-m", "cypool.cli", "cases", "export", *map(str, arguments)], capture_output=True, text=True)


def test_cases_are_selected_and_the_hash_is_told(tmp_path):
    done = cypool(tmp_path / "some", "-k", "GlobalLpPool-2/float/rank2/*", "-k", "*/invalid/no-X")
    assert (done.returncode, done.stderr) == (0, "")
    found = corpus.read(tmp_path / "some")
    assert {case.id.split("/")[2] for case in found} == {"rank2", "invalid"}
    assert done.stdout.startswith(f"{tmp_path / 'some'}: some cases of corpus 1, {len(found)} cases in ")
    assert done.stdout.endswith(f", sha256 {hashlib.sha256((tmp_path / 'some' / 'manifest.json').read_bytes()).hexdigest()}\n")


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [("full", 2, "full exists and is not an empty directory"), ("no/where", 1, "no/where: No such file or directory")],
)
def test_where_nothing_can_be_written_it_says_so_in_a_line(tmp_path, place, code, message):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    done = cypool(tmp_path / place, "-k", "*/invalid/no-X")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("cypool: ") and done.stderr.endswith(f"{message}\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]
