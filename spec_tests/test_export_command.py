"""``cypool cases export`` as a process: what it prints, and how it refuses."""

import hashlib
import subprocess
import sys

import pytest

from cypool.conformance.corpus import corpus
from cypool.conformance.corpus.export import VERSION


def cypool(*arguments):
    return subprocess.run([sys.executable, "-m", "cypool.cli", "cases", "export", *map(str, arguments)], capture_output=True, text=True)


def test_cases_are_selected_and_the_hash_is_told(tmp_path):
    done = cypool(tmp_path / "some", "-k", "GlobalLpPool-2/float/rank2/*", "-k", "*/invalid/no-X")
    assert (done.returncode, done.stderr) == (0, "")
    found = corpus.read(tmp_path / "some")
    assert {case.id.split("/")[2] for case in found} == {"rank2", "invalid"}
    assert done.stdout.startswith(f"{tmp_path / 'some'}: some cases of corpus {VERSION}, {len(found)} cases in ")
    assert done.stdout.endswith(f", sha256 {hashlib.sha256((tmp_path / 'some' / 'manifest.json').read_bytes()).hexdigest()}\n")


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [("full", 2, "full exists and is not an empty directory"), ("no/where", 2, "no/where: No such file or directory")],
)
def test_where_nothing_can_be_written_it_says_so_in_a_line(tmp_path, place, code, message):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    done = cypool(tmp_path / place, "-k", "*/invalid/no-X")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("cypool: ") and done.stderr.endswith(f"{message}\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]


FILL = """
import sys, time
from pathlib import Path
from cypool.conformance.corpus.atomic_directory import whole_directory
with whole_directory(Path(sys.argv[1])) as filling:
    (filling / "half").write_text("half")
    print("filling", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def filling(tmp_path):
    """A process that is half-way through writing ``out``."""
    with subprocess.Popen([sys.executable, "-c", FILL, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "filling\n"
        yield process
        process.kill()


def test_what_a_killed_export_left_is_removed_by_the_next(tmp_path, filling):
    filling.kill()
    filling.wait()
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    assert cypool(tmp_path / "out", "-k", "*/invalid/no-X").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_another_export_is_writing_is_left_alone(tmp_path, filling):
    assert cypool(tmp_path / "out", "-k", "*/invalid/no-X").returncode == 0
    (part,) = tmp_path.glob("*.part")
    assert (part / "whole" / "half").exists()
