"""``cypool report`` as a process: which report goes where, exit codes, one-line errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import report_runs
from report_runs import KEPT, NEW, OLD

from cypool.conformance.judging import records
from cypool.conformance.reports.merge import Run


def cypool(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cypool.cli", "report", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "PYTHONPATH": str(Path(records.__file__).parents[3]), "PYTHONUTF8": "1"},
        cwd=folder,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("runs")
    for name, run in {"old.jsonl": OLD, "new.jsonl": NEW}.items():
        (found / name).write_text("".join(lines(run)), encoding="utf-8")
    return found


def lines(run: Run) -> list[str]:
    header, results = run
    return [records.line(record) for record in (header.to_json(), *(result.to_json() for result in results), records.end(len(results)))]


def kept(name: str) -> str:
    return (KEPT / name).read_text(encoding="utf-8")


def stripped(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def test_a_file_alone_goes_to_the_terminal(folder: Path) -> None:
    done = cypool("old.jsonl", folder=folder)
    assert (done.returncode, stripped(done.stdout), done.stderr) == (0, kept("run.txt"), "")


def test_each_form_goes_where_it_is_told_and_nothing_else_is_said(folder: Path, tmp_path: Path) -> None:
    paths = {form: tmp_path / form for form in ("markdown", "junit", "html")}
    done = cypool("old.jsonl", *(part for form, path in paths.items() for part in (f"--{form}", path)), folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert paths["markdown"].read_text(encoding="utf-8") == kept("run.md")
    assert ElementTree.fromstring(paths["junit"].read_text(encoding="utf-8")).get("tests") == "22"
    assert report_runs._bare(paths["html"].read_text(encoding="utf-8")) == kept("run.html")


@pytest.mark.parametrize("form", [(), ("--markdown", "-"), ("--html", "-")])
def test_each_form_says_what_is_not_as_a_list_says(folder: Path, form: tuple[str, ...]) -> None:
    (folder / "some.toml").write_text(
        'runtime = "blunt"\n[[expect]]\ncases = "*/no-such-thing"\nverdict = "crashed"\nreason = "known"\n', encoding="utf-8"
    )
    plain = cypool("old.jsonl", *form, folder=folder).stdout
    done = cypool("old.jsonl", *form, "--expect", "some.toml", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("0 cases are as listed; not as listed:", "not listed", "matches no case", "no-such-thing"):
        assert said in done.stdout and said not in plain


def test_junit_is_held_to_lists_of_expectations(folder: Path) -> None:
    (folder / "blunt.toml").write_text(
        'runtime = "blunt"\n[[expect]]\ncases = "*"\nverdict = "crashed"\nreason = "known"\n', encoding="utf-8"
    )
    document = ElementTree.fromstring(cypool("old.jsonl", "--junit", "-", "--expect", "blunt.toml", folder=folder).stdout)
    assert [found.get("message") for found in document.iter("skipped")] == ["as listed: known"]
    assert sum((found.get("message") or "").startswith("listed, but it conforms") for found in document.iter("failure")) == 2


def test_a_dash_is_standard_output(folder: Path) -> None:
    assert cypool("old.jsonl", "--markdown", "-", folder=folder).stdout == kept("run.md")


def test_several_files_stand_side_by_side(folder: Path) -> None:
    done = cypool("old.jsonl", "new.jsonl", "--markdown", "-", folder=folder)
    assert "| operator-version | type | sharp 2.1 | blunt 0.9 | blunt 1.0 |" in done.stdout


def test_a_difference_in_which_something_broke_is_code_1(folder: Path) -> None:
    done = cypool("--diff", "old.jsonl", "new.jsonl", folder=folder)
    assert (done.returncode, stripped(done.stdout)) == (1, kept("diff.txt"))
    done = cypool("--diff", "old.jsonl", "new.jsonl", "--markdown", "-", folder=folder)
    assert (done.returncode, done.stdout) == (1, kept("diff.md"))


def test_a_difference_in_which_nothing_broke_is_code_0(folder: Path) -> None:
    done = cypool("--diff", "new.jsonl", "new.jsonl", folder=folder)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "11 the same")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE...'"),
        (["nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["."], "'.' is a directory"),
        (["cut.jsonl"], "cut.jsonl: not a complete run of format 1"),
        (["binary.jsonl"], "binary.jsonl: not the record of a run: "),
        (["empty.jsonl"], "empty.jsonl: not the record of a run: "),
        (["old.jsonl", "--html", "nowhere/page.html"], "nowhere/page.html: No such file or directory"),
        (["--diff", "old.jsonl", "new.jsonl", "--expect", "shipped"], "no option but --markdown"),
        (["old.jsonl", "--junit", "-", "--expect", "nowhere.toml"], "--expect nowhere.toml: no such file"),
        (["--diff", "old.jsonl"], "--diff takes two FILEs, the old run and the new one"),
        (["--diff", "old.jsonl", "new.jsonl", "new.jsonl"], "--diff takes two FILEs"),
        (["--diff", "old.jsonl", "new.jsonl", "--html", "x.html"], "no option but --markdown"),
        (["--diff", "old.jsonl", "third.jsonl"], "the runs have no runtime in common: sharp, blunt and third"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "cut.jsonl").write_text("".join(lines(OLD)[:-1]), encoding="utf-8")
    (folder / "binary.jsonl").write_bytes(b"\x80\x81\n")
    (folder / "empty.jsonl").write_bytes(b"")
    third = "".join(lines(NEW)).replace('"blunt"', '"third"')
    (folder / "third.jsonl").write_text(third, encoding="utf-8")
    done = cypool(*arguments, folder=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("cypool: ")
    assert message in done.stderr
