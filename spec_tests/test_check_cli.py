"""The commands ``check`` and ``cases``: exit codes, one-line errors, files, and the table; in this
process where that tells as much.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from cypool import spec
from cypool.cli import group, selection
from cypool.conformance import cases
from cypool.conformance.cases import instances
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import records

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

GLOB = "GlobalLpPool-2/float/rank3/*"


class Done(NamedTuple):
    """What came of a command."""

    code: object
    stdout: str
    stderr: str


Cypool = Callable[..., Done]


@pytest.fixture(scope="module")
def every_case() -> list[Case]:
    return list(cases.generate())


@pytest.fixture
def few(every_case: list[Case]) -> list[Case]:
    return list(instances.spread(case for case in every_case if case.id.startswith(GLOB.removesuffix("*"))))


@pytest.fixture
def cypool(
    every_case: list[Case], few: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cypool:
    """Runs a command in this process, on cases that are made once, with the fake runtimes within
    reach.
    """
    fake_answers.write(tmp_path / "answers.json", few)

    def generate(ops: Iterable[str] | None, wanted: Callable[[str], bool]) -> list[Case]:
        heads = {f"{version.name}/{type}/" for version in spec.versions() for type in cases.types_of(version)}
        chosen = set(filter(wanted, heads))
        return [case for case in every_case if (ops is None or case.version.op in ops) and f"{case.version.name}/{case.type}/" in chosen]

    monkeypatch.setattr(selection.cases, "generate", generate)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["cypool", *arguments])
        with pytest.raises(SystemExit) as ended:
            group.run()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return run


def process(*arguments: str, path: Path | None = None, python: tuple[str, ...] = ()) -> Done:
    """Runs a command in a process of its own."""
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    command = sys.executable, *python, "-m", "cypool.cli", *arguments
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_runtime_that_is_right_conforms(cypool: Cypool, few: list[Case], tmp_path: Path) -> None:
    jsonl = tmp_path / "run.jsonl"
    done = cypool("check", "fake_runtimes:Right", "-k", GLOB, "--jsonl", str(jsonl))
    assert (done.code, done.stderr) == (0, "")
    assert "fake_runtimes:Right 7.0 conforms" in done.stdout
    header, results = records.read(jsonl.read_text().splitlines())
    assert [result.case for result in results] == sorted(case.id for case in few)
    assert (header.cases, header.selection["globs"], header.tolerance) == (len(few), [GLOB], "onnx")
    assert {result.verdict for result in results} == {"pass"}


def test_unsupported_is_no_pass_and_the_gate_alone_decides(cypool: Cypool) -> None:
    both = "fake_runtimes:Right", "fake_runtimes:SaysUnsupported", "-k", GLOB
    assert cypool("check", *both).code == 1
    assert cypool("check", *both, "--gate", "fake_runtimes:Right").code == 0
    assert cypool("check", *both, "--gate", "fake_runtimes:SaysUnsupported").code == 1


def test_a_distance_of_zero_is_stricter_than_the_tolerance_of_onnx(cypool: Cypool, few: list[Case]) -> None:
    plain = next(case.id for case in few if not case.rulings)
    one_off = "fake_runtimes:OneUlpOff", "-k", plain
    assert cypool("check", *one_off).code == 0
    assert cypool("check", *one_off, "--ulp", "1").code == 0
    assert cypool("check", *one_off, "--ulp", "0").code == 1


def test_the_table_fits_the_terminal(cypool: Cypool) -> None:
    done = cypool("check", "fake_runtimes:Right", "fake_runtimes:SaysUnsupported", "fake_runtimes:Wrong", "-k", GLOB)
    assert "fake_runtimes:Wrong 7.0 deviates" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "-k", "nothing"], "no case matches 'nothing', which has to match whole ids: '*nan*' selects those with nan in them"),
        (["check", "--op", "MaxPol"], "unknown operator 'MaxPol'; there are " + ", ".join(spec.operators())),
        (["check", "--type", "float8"], "no case of type 'float8'; there are: "),
        (["check", "--op", "MaxRoiPool", "-k", GLOB], f"no case matches '{GLOB}'"),
        (["check", "--gate", "onnxruntime"], "--gate onnxruntime is none of the runtimes of this run: cypool"),
        (["check", "--timeout", "0"], "Invalid value for '--timeout'"),
        (["check", "--ulp", "-1"], "Invalid value for '--ulp'"),
        (["check", "--jsonl", "/nowhere/at/all"], "--jsonl /nowhere/at/all: No such file or directory"),
        (["check", "--nonsense"], "No such option"),
        (["cases", "list", "nothing"], "no case matches 'nothing'"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(cypool: Cypool, arguments: list[str], message: str) -> None:
    done = cypool(*arguments)
    assert (done.code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("cypool: ")
    assert message in done.stderr


def test_a_runtime_that_is_not_there_is_code_3_and_nothing_runs(cypool: Cypool, tmp_path: Path) -> None:
    jsonl = tmp_path / "run.jsonl"
    done = cypool("check", "fake_runtimes:Right", "no_such_module", "-k", GLOB, "--jsonl", str(jsonl))
    assert (done.code, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith("cypool: runtime no_such_module is not available: ModuleNotFoundError: ")
    assert not jsonl.exists()


def missing(package: str, path: Path) -> None:
    """In this folder, a module that behaves as if the package were not installed."""
    (path / f"{package}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')")


def test_a_runtime_that_is_not_installed_is_named_with_its_command(cypool: Cypool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing("onnxruntime", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = cypool("check", "onnxruntime")
    assert done.code == 3
    assert done.stderr.endswith("No module named 'onnxruntime' (pip install onnxruntime)\n")


@pytest.mark.parametrize("package", ["click", "rich", "onnx"])
def test_without_the_extra_a_sentence_says_what_to_install(package: str, tmp_path: Path) -> None:
    missing(package, tmp_path)
    done = process("check", path=tmp_path)
    assert done == (3, "", f"cypool: this needs the package {package}: pip install 'cypool[check]'\n")


def test_help_loads_no_command_and_not_onnx() -> None:
    done = process("--help", python=("-X", "importtime"))
    assert done.code == 0
    assert "Hold ONNX runtimes to the standard." in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & {"onnx", "rich", "flint", "cypool.cli.check", "cypool.conformance.cases.case"}


def test_the_version_is_told() -> None:
    assert process("--version").stdout.startswith("cypool 0.")


def test_every_command_in_the_table_is_there(cypool: Cypool) -> None:
    for name in group.COMMANDS:
        done = cypool(name, "--help")
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: cypool {name} ")


def test_a_listing_that_is_piped_is_a_line_a_case(few: list[Case]) -> None:
    done = process("cases", "list", GLOB)
    assert (done.code, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [case.id for case in few if "@" not in case.id]
    assert all(row[1:4] == ["GlobalLpPool-2", "float", "valid"] for row in rows)
    assert any(row[4] for row in rows)


def test_a_listing_on_a_terminal_says_what_is_special(cypool: Cypool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cypool.cli.cases.on_terminal", lambda: True)
    done = cypool("cases", "list", "GlobalLpPool-2/float/invalid/p-0")
    assert done == (0, "GlobalLpPool-2/float/invalid/p-0  invalid: p is 0; ruling: p-range\n", "1 case, 1 invalid\n")
