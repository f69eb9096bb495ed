"""Runs along the axes: what is run, what is not, and that it is the same by however
many workers.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from all_cases import every

from cypool.cli import group, selection
from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.cases import instances
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import records

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

ONE = "GlobalLpPool-2/float/odd/p2/all-equal"
FEW = "GlobalLpPool-2/float/odd/*"


class Done(NamedTuple):
    code: object
    stdout: str
    stderr: str


Cypool = Callable[..., Done]


def some(variants: tuple[str, ...] = ()) -> list[Case]:
    return list(instances.spread((case for case in every() if case.id.startswith(FEW[:-1])), every_opset=True, variants=variants))


@pytest.fixture
def cypool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cypool:
    """Runs a command in this process, on cases that are made once, with the fake runtimes within
    reach.
    """
    fake_answers.write(tmp_path / "answers.json", some(("symbolic", "if-branch")))

    def generate(ops: Iterable[str] | None, wanted: Callable[[str], bool]) -> list[Case]:
        return [case for case in every() if ops is None or case.version.op in ops]

    monkeypatch.setattr(selection.cases, "generate", generate)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["cypool", *arguments])
        with pytest.raises(SystemExit) as ended:
            group.run()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return run


def checked(cypool: Cypool, jsonl: Path, *options: str, runtime: str = "fake_runtimes:Right") -> list[records.Result]:
    cypool("check", runtime, "--jsonl", str(jsonl), *options)
    return records.read(jsonl.read_text().splitlines())[1]


@pytest.mark.parametrize(
    ("options", "marks"),
    [
        (("-k", ONE), ["", "@21"]),
        (("-k", f"{ONE}@21"), ["@21"]),
        (("-k", ONE, "--variant", "symbolic"), ["", "+symbolic", "@21", "@21+symbolic"]),
        (
            ("-k", f"{ONE}*+*", "--variant", "symbolic", "--variant", "if-branch"),
            ["+if-branch", "+symbolic", "@21+if-branch", "@21+symbolic"],
        ),
        (("-k", f"{ONE}@1?", "--all-opsets"), [f"@{opset}" for opset in range(10, 20)]),
    ],
)
def test_what_is_asked_for_is_run(cypool: Cypool, tmp_path: Path, options: tuple[str, ...], marks: list[str]) -> None:
    results = checked(cypool, tmp_path / "run.jsonl", *options)
    assert [result.case.removeprefix(ONE) for result in results] == marks
    assert {result.verdict for result in results} == {"pass"}
    for result in results:
        opset, _, variant = result.case.removeprefix(ONE).removeprefix("@").partition("+")
        assert (result.opset, result.variant) == (int(opset or 2), variant)


def test_the_record_says_what_was_asked_for(cypool: Cypool, tmp_path: Path) -> None:
    checked(cypool, tmp_path / "run.jsonl", "-k", ONE, "--variant", "symbolic")
    selected = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])["selection"]
    assert (selected["opsets"], selected["variants"]) == ("first and last", ["symbolic"])


def test_a_variant_that_the_runtime_cannot_be_asked_for_is_not_run_and_no_pass(cypool: Cypool, tmp_path: Path) -> None:
    options = "-k", ONE, "--variant", "no-optimization"
    results = checked(cypool, tmp_path / "run.jsonl", *options)
    assert [(result.variant, result.verdict) for result in results] == [("", "pass"), ("no-optimization", "not run")] * 2
    assert results[1].message == "fake_runtimes:Right has no option 'optimize'"
    assert cypool("check", "fake_runtimes:Right", *options).code == 1


def test_too_few_cases_are_a_failure_before_anything_runs(cypool: Cypool) -> None:
    assert cypool("check", "fake_runtimes:Right", "-k", ONE, "--min-cases", "2").code == 0
    done = cypool("check", "fake_runtimes:Aborts", "-k", ONE, "--min-cases", "3")
    assert (done.code, done.stdout, done.stderr) == (2, "", "cypool: 2 cases are selected, fewer than --min-cases 3\n")


def test_a_pattern_that_selects_none_is_wrong_usage(cypool: Cypool) -> None:
    done = cypool("check", "fake_runtimes:Right", "-k", f"{ONE}@22")
    assert (done.code, done.stdout) == (2, "")
    assert "no case matches" in done.stderr


def test_an_unknown_variant_is_wrong_usage_that_lists_those_known(cypool: Cypool) -> None:
    done = cypool("check", "--variant", "upside-down")
    assert (done.code, done.stdout) == (2, "")
    assert "'if-branch'" in done.stderr


@pytest.mark.parametrize(("fake", "many"), [("Right", 40), ("OneUlpOff", 40), ("RaisesAtRun", 40), ("Aborts", 9)])
def test_results_are_the_same_by_however_many_workers(fake: str, many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [case for case in some() if case.fault is None][:many]
    fake_answers.write(tmp_path / "answers.json", asked)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))

    def by(workers: int) -> list[records.Result]:
        with closing(Isolated(f"fake_runtimes:{fake}", 20)) as runtime:
            return list(runner.run([runtime], asked, workers=workers))

    alone = by(1)
    assert len(alone) == len(asked)
    assert by(3) == alone


def test_every_result_is_told_and_workers_beside_the_first_end_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [case for case in some() if case.fault is None][:10]
    fake_answers.write(tmp_path / "answers.json", asked)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    told: list[int] = []
    twins: list[Isolated] = []
    twin = Isolated.twin

    def noted(runtime: Isolated) -> Isolated:
        twins.append(twin(runtime))
        return twins[-1]

    monkeypatch.setattr(Isolated, "twin", noted)
    with closing(Isolated("fake_runtimes:Right", 20)) as runtime:
        list(runner.run([runtime], asked, done=functools.partial(told.append, 1), workers=3))
        assert len(told) == len(asked)
        assert [other._process for other in twins] == [None, None]


def test_a_run_that_is_broken_off_ends_its_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [case for case in some() if case.fault is None][:40]
    fake_answers.write(tmp_path / "answers.json", asked)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    told: list[int] = []
    with closing(Isolated("fake_runtimes:Right", 20)) as runtime:
        results = runner.run([runtime], asked, done=functools.partial(told.append, 1), workers=2)
        next(results)
        results.close()  # as when what reads them fails
        assert len(told) < len(asked)
