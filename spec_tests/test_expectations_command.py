"""``cypool check --expect`` and ``--update-expectations``: exit codes, what is said, the file; and
the lists that come with cypool.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from all_cases import every
from test_check_cli import GLOB, Cypool, cypool, every_case, few, process  # noqa: F401

from cypool.cli import expecting
from cypool.conformance.cases.case import Case
from cypool.conformance.expectations.lists import read
from cypool.conformance.expectations.shipped import shipped
from cypool.conformance.expectations.strict import idle

WRONG, OTHER, RIGHT = "fake_runtimes:WrongShape", "fake_runtimes:WrongType", "fake_runtimes:Right"
HERE = [name for name in shipped() if importlib.util.find_spec(name)]


def entry(cases: str, verdict: str = "wrong shape", more: str = "") -> str:
    return f'[[expect]]\ncases = "{cases}"\nverdict = "{verdict}"\nreason = "it adds an axis"\n{more}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.toml"
    path.write_text(f'runtime = "{WRONG}"\n{entry(GLOB)}', encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def every_id(every_case: list[Case]) -> frozenset[str]:  # noqa: F811
    return frozenset(expecting.instances.ids(every_case, every_opset=True, variants=tuple(expecting.VARIANTS)))


@pytest.fixture(autouse=True)
def known(every_id: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All ids, without the time that it takes to make the cases again."""
    monkeypatch.setattr(expecting, "every_id", lambda: every_id)


def test_a_runtime_that_is_wrong_as_listed_exits_with_0(cypool: Cypool, file: Path, few: list[Case]) -> None:  # noqa: F811
    done = cypool("check", WRONG, "-k", GLOB, "--expect", str(file))
    assert (done.code, done.stderr) == (0, "")
    assert "fake_runtimes:WrongShape 7.0 deviates" in done.stdout
    assert f"wrong.toml: {len(few)} cases are as listed, and all others conform" in " ".join(done.stdout.split())


def test_without_its_list_it_exits_with_1(cypool: Cypool) -> None:  # noqa: F811
    assert cypool("check", WRONG, "-k", GLOB).code == 1


def test_what_is_not_as_listed_is_told_and_exits_with_1(cypool: Cypool, file: Path, few: list[Case]) -> None:  # noqa: F811
    file.write_text(f'runtime = "{WRONG}"\n{entry("*@21")}{entry("*/no-such-thing")}', encoding="utf-8")
    done = cypool("check", WRONG, "-k", GLOB, "--expect", str(file))
    said = " ".join(done.stdout.split())
    assert done.code == 1
    assert f"{len(few) // 2} cases are as listed; not as listed:" in said
    assert "not listed: wrong shape" in said
    assert "matches no case: */no-such-thing (of wrong shape: it adds an axis)" in said


def test_a_runtime_that_conforms_in_spite_of_its_list_exits_with_1(cypool: Cypool, file: Path) -> None:  # noqa: F811
    file.write_text(file.read_text().replace(WRONG, RIGHT), encoding="utf-8")
    done = cypool("check", RIGHT, "-k", GLOB, "--expect", str(file))
    assert done.code == 1
    assert "listed, but it conforms: wrong shape: it adds an axis" in done.stdout


def test_entries_for_other_versions_are_counted_out(cypool: Cypool, file: Path) -> None:  # noqa: F811
    file.write_text(f'runtime = "{WRONG}"\n{entry(GLOB, more=chr(10) + "versions = " + chr(34) + "<7" + chr(34))}', encoding="utf-8")
    done = cypool("check", WRONG, "-k", GLOB, "--expect", str(file))
    assert done.code == 1
    assert "wrong.toml, of whose 1 entries 0 are about this version: 0 cases are as listed; not as listed:" in " ".join(done.stdout.split())


def test_each_runtime_has_its_own_list_and_one_without_has_to_conform(cypool: Cypool, file: Path) -> None:  # noqa: F811
    assert cypool("check", WRONG, RIGHT, "-k", GLOB, "--expect", str(file)).code == 0
    assert cypool("check", WRONG, OTHER, "-k", GLOB, "--expect", str(file)).code == 1
    gated = cypool("check", WRONG, OTHER, "-k", GLOB, "--expect", str(file), "--gate", WRONG)
    assert gated.code == 0


def test_a_list_can_be_made_by_a_run_and_the_next_is_as_listed(cypool: Cypool, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "new.toml"
    done = cypool("check", WRONG, "-k", GLOB, "--expect", str(path), "--update-expectations")
    assert (done.code, done.stderr) == (0, "")
    assert "entries changed" in done.stdout
    assert "added: wrong shape: to be explained; on " in done.stdout
    expectations = read(path.read_text(encoding="utf-8"))
    assert expectations.runtime == WRONG
    assert {entry.verdicts for entry in expectations.entries} == {("wrong shape",)}
    assert cypool("check", WRONG, "-k", GLOB, "--expect", str(path)).code == 0
    again = path.read_text(encoding="utf-8")
    done = cypool("check", WRONG, "-k", GLOB, "--expect", str(path), "--update-expectations")
    assert (done.code, path.read_text(encoding="utf-8")) == (0, again)
    assert "new.toml: as it was" in done.stdout


def test_an_update_takes_off_what_was_fixed(cypool: Cypool, file: Path) -> None:  # noqa: F811
    file.write_text(file.read_text().replace(WRONG, RIGHT), encoding="utf-8")
    done = cypool("check", RIGHT, "-k", GLOB, "--expect", str(file), "--update-expectations")
    assert done.code == 0
    assert f"removed: wrong shape: it adds an axis - {GLOB}" in " ".join(done.stdout.split())
    assert file.read_text(encoding="utf-8") == f'runtime = "{RIGHT}"\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--expect", "nowhere.toml"], "--expect nowhere.toml: no such file; --update-expectations makes one, for one runtime"),
        (["--expect", "."], "--expect .: "),
        (["--update-expectations"], "--update-expectations needs --expect FILE; a list that comes with cypool stays as it is"),
        (["--expect", "shipped", "--update-expectations"], "--update-expectations needs --expect FILE"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(cypool: Cypool, arguments: list[str], message: str) -> None:  # noqa: F811
    done = cypool("check", WRONG, "-k", GLOB, *arguments)
    assert (done.code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"cypool: {message}")


def test_a_file_that_is_no_list_or_for_another_runtime_is_refused_before_anything_runs(cypool: Cypool, file: Path) -> None:  # noqa: F811
    done = cypool("check", RIGHT, "-k", GLOB, "--expect", str(file))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == f"cypool: {file} is for {WRONG}, none of the runtimes of this run: {RIGHT}\n"
    file.write_text("[[expect]]", encoding="utf-8")
    done = cypool("check", RIGHT, "-k", GLOB, "--expect", str(file))
    assert (done.code, done.stdout, done.stderr) == (2, "", f"cypool: --expect {file}: at the top: runtime is missing\n")


def test_cypool_ships_no_list_for_itself_and_one_for_runtimes_that_deviate() -> None:
    assert {"onnxruntime", "openvino", "tract"} <= set(shipped())
    assert "cypool" not in shipped()
    for name, text in shipped().items():
        assert read(text).runtime == name


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_shipped_list_is_short_says_why_and_is_about_cases_that_there_are(name: str, every_id: frozenset[str]) -> None:
    expectations = read(shipped()[name])
    assert 5 < len(expectations.entries) < 80
    assert all(entry.reason and entry.versions and "to be explained" not in entry.reason for entry in expectations.entries)
    plain = [case.id for case in every()]
    assert [glob for entry in expectations.entries for glob in idle(entry, plain, lambda: every_id)] == []


@pytest.mark.parametrize("name", HERE)
def test_a_runtime_that_is_here_does_what_its_shipped_list_says(name: str) -> None:
    parts = [option for glob in ("*/rank3/*", "*/one-element/*", "*/float/invalid/no-*", "MaxRoiPool-*/odd/*") for option in ("-k", glob)]
    done = process("check", name, *parts, "--expect", "shipped")
    assert done.code == 0, done.stdout
    assert "cases are as listed, and all others conform" in " ".join(done.stdout.split())
