"""A made-up operator comes in with one file each of data, cases and oracle: nothing else in a copy
of cypool is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import cypool

MADE_UP = Path(__file__).parent / "data" / "made_up"

PLACES = {
    "GlobalMinPool.toml": "cypool/spec/data/GlobalMinPool.toml",
    "cases.py": "cypool/conformance/cases/global_min_pool.py",
    "oracle.py": "cypool/conformance/oracle/global_min_pool.py",
    "backends.py": "backends.py",
}


def link_or_copy(source: str, target: str) -> None:
    (os.symlink if source.endswith(".so") else shutil.copyfile)(source, target)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of cypool in which the operator's files stand."""
    folder = tmp_path_factory.mktemp("made_up")
    ignored = shutil.ignore_patterns("*.c", "*.pyx", "__pycache__")
    shutil.copytree(Path(cypool.__file__).parent, folder / "cypool", copy_function=link_or_copy, ignore=ignored)
    for name, place in PLACES.items():
        assert not (folder / place).exists()
        shutil.copyfile(MADE_UP / name, folder / place)
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_its_cases_are_generated_and_its_pages_written(folder: Path) -> None:
    listed = python(folder, "-m", "cypool", "cases", "list", "GlobalMinPool-*")
    ids = [line.split("\t")[0] for line in listed.stdout.splitlines()]
    first = {f"GlobalMinPool-1/float/{shape}/{values}" for shape in ("row", "image") for values in ("random", "nan")}
    assert {id for id in ids if id.startswith("GlobalMinPool-1/") and "/invalid/" not in id} == first
    assert {f"{version}/invalid/type-int8" for version in ("GlobalMinPool-1/float", "GlobalMinPool-20/float")} <= set(ids)
    assert {id.rpartition("/")[2] for id in ids if id.startswith("GlobalMinPool-20/double/")} >= {"random", "nan", "unknown-attribute"}
    page = python(folder, "-c", "from cypool import pages, spec; print(pages.page(spec.operator('GlobalMinPool')))").stdout
    assert page.startswith("<!--") and "\n# GlobalMinPool\n" in page and "NaN is passed over: [NaN, 2] gives 2." in page
    assert "Y = [[[-4.],\n      [ 5.]]]" in page
    assert "GlobalMinPool-20" in python(folder, "-m", "cypool", "spec", "show", "GlobalMinPool").stdout


def test_runtimes_are_asked_for_it_and_a_fault_of_its_data_is_named(folder: Path) -> None:
    command = "-m", "cypool", "check", "backends:Right", "backends:Skips", "--op", "GlobalMinPool", "--all", "--jsonl", "run.jsonl"
    assert python(folder, *command).returncode == 1
    results = [record for record in map(json.loads, (folder / "run.jsonl").read_text().splitlines()) if "case" in record]
    valid = [result for result in results if "/invalid/" not in result["case"]]
    with_nan = Counter(result["runtime"] for result in valid if "/nan" in result["case"])
    told = Counter((result["runtime"], result["verdict"], result["reading"]) for result in valid)
    assert with_nan["backends:Skips"] == told["backends:Skips", "wrong value", "skipped"] > 4
    assert told["backends:Right", "pass", ""] == len(valid) / 2 > with_nan["backends:Right"]
    assert {result["verdict"] for result in results if "/invalid/unknown" in result["case"]} == {"accepted what is invalid"}
