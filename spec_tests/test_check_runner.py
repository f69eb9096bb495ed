"""Each verdict, by fake runtimes in real worker processes."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from cypool import spec
from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.protocol import run_request
from cypool.conformance.cases.case import Case, TypedValue
from cypool.conformance.judging.records import Result
from cypool.conformance.tensors import DTYPES, Tensor
from cypool.spec.model import Reading, Ruling

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

READINGS = Reading("another", "that", legitimate=True), Reading("faulty", "no", legitimate=False)
SILENCE = Ruling("silence", "?", "this", "", READINGS, (22,))
VERSION = dataclasses.replace(spec.version("GlobalLpPool-22"), rulings=(SILENCE,))


def case(id: str, x: Sequence[float], y: float, type: str = "float", fault: str | None = None, p: int = 2, **readings: float) -> Case:
    def tensor(name: str, values: Sequence[float], shape: tuple[int, ...]) -> Tensor:
        return Tensor.of(name, np.array(values, DTYPES[type]).reshape(shape))

    answers = {None: y, **readings}
    return Case(
        f"made-up/{id}",
        VERSION,
        type,
        (tensor("X", x, (1, 1, len(x))),),
        (("p", TypedValue("INT", p)),),
        rulings=("silence",) if readings else (),
        alternatives=tuple(readings),
        fault=fault,
        answer=None if fault else lambda reading: (tensor("Y", [answers[reading]], (1, 1, 1)),),
    )


PLAIN = case("plain", [3, 4], 5)
NEGATIVE = case("negative", [-3, 4], 5)
INVALID = case("p0", [3, 4], 0, fault="p is 0", p=0)
SILENT = case("silent", [6, 8], 10, another=11, faulty=12)


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    return tmp_path / "answers.json"


def check(answers: Path, names: Sequence[str], cases: Sequence[Case], seconds: float = 20) -> list[Result]:
    fake_answers.write(answers, cases)
    with ExitStack() as stack:
        runtimes = [stack.enter_context(closing(Isolated(f"fake_runtimes:{name}", seconds))) for name in names]
        return list(runner.run(runtimes, cases))


@pytest.mark.parametrize(
    ("fake", "case", "verdict", "ulp", "phase", "message"),
    [
        ("Right", PLAIN, "pass", 0, "", ""),
        ("Right", INVALID, "pass", None, "run", "ValueError: refused: p is 0"),
        ("Right", SILENT, "pass", 0, "", ""),
        ("OneUlpOff", PLAIN, "pass", 1, "", ""),
        ("Wrong", PLAIN, "wrong value", 0x200000, "", "Y[0, 0, 0] is 6.0, expected 5.0"),
        ("WrongShape", PLAIN, "wrong shape", None, "", "Y has shape (1, 1, 1, 1), expected (1, 1, 1)"),
        ("WrongType", PLAIN, "wrong type", None, "", "Y is double, expected float"),
        ("OneOutputTooMany", PLAIN, "error", None, "run", "ValueError: zip() argument 2 is longer than argument 1"),
        ("RaisesAtLoad", PLAIN, "load error", None, "load", "RuntimeError: I do not like\nthis model"),
        ("RaisesAtLoad", INVALID, "pass", None, "load", "RuntimeError: I do not like\nthis model"),
        ("RaisesAtRun", PLAIN, "error", None, "run", "MemoryError: out of luck"),
        ("SaysUnsupported", PLAIN, "unsupported", None, "load", "not mine"),
        ("SaysUnsupported", INVALID, "unsupported", None, "load", "not mine"),
        ("IsIncompatible", PLAIN, "unsupported", None, "load", "is_compatible says no"),
        ("LacksItAtRun", PLAIN, "unsupported", None, "run", "no such kernel"),
        ("AcceptsEverything", INVALID, "accepted what is invalid", None, "", "p is 0"),
        ("AnotherReading", SILENT, "reads it differently", 0x100000, "", "Y[0, 0, 0] is 11.0, expected 10.0"),
        ("KnownFault", SILENT, "wrong value", 0x200000, "", "Y[0, 0, 0] is 12.0, expected 10.0; known fault: faulty"),
        ("Prints", PLAIN, "pass", 0, "", ""),
        ("ReadsStdin", PLAIN, "pass", 0, "", ""),
    ],
    ids=lambda value: value.id if isinstance(value, Case) else None,
)
def test_each_fake_gets_its_verdict(answers: Path, fake: str, case: Case, verdict: str, ulp: int | None, phase: str, message: str) -> None:
    (result,) = check(answers, [fake], [case])
    assert (result.verdict, result.ulp, result.phase, result.message) == (verdict, ulp, phase, message)


def test_an_output_that_is_no_array_of_numbers_is_an_error(answers: Path) -> None:
    (result,) = check(answers, ["NoArray"], [PLAIN])
    assert (result.verdict, result.phase) == ("error", "run")
    assert result.message.startswith("TypeError: Y holds <U4")


@pytest.mark.parametrize(
    ("fake", "seconds", "verdict", "message", "stderr"),
    [
        ("Aborts", 20, "crashed", "killed by SIGABRT", "free(): invalid pointer"),
        ("Exits", 20, "crashed", "ended with code 3", ""),
        ("Hangs", 1, "timed out", "no answer in 1 s", ""),
        ("Fabricates", 20, "crashed", "broke the protocol: an answer for 'another case'", ""),
        ("Chatters", 20, "crashed", "broke the protocol: not JSON: b'hello\\n'", ""),
    ],
)
def test_losing_the_process_costs_one_case(answers: Path, fake: str, seconds: float, verdict: str, message: str, stderr: str) -> None:
    lost, *rest = check(answers, [fake], [NEGATIVE, PLAIN, SILENT], seconds)
    assert (lost.verdict, lost.message, lost.stderr) == (verdict, message, stderr)
    assert [result.verdict for result in rest] == ["pass", "pass"]


def test_a_crash_on_what_is_invalid_is_no_refusal(answers: Path) -> None:
    invalid = case("p0", [-3, 4], 0, fault="p is 0", p=0)
    (result,) = check(answers, ["Aborts"], [invalid])
    assert result.verdict == "crashed"


@pytest.mark.parametrize("type", ["float16", "float", "double", "bfloat16"])
def test_every_type_crosses_the_border_unchanged(answers: Path, type: str) -> None:
    (result,) = check(answers, ["Right"], [case("plain", [3, 4], 5, type)])
    assert (result.verdict, result.type, result.ulp) == ("pass", type, 0)


def test_results_come_by_runtime_and_case_however_long_each_takes(answers: Path) -> None:
    results = check(answers, ["Hangs", "Right"], [PLAIN, SILENT, NEGATIVE], seconds=1)
    assert [(result.runtime, result.case, result.verdict) for result in results] == [
        ("fake_runtimes:Hangs", "made-up/negative", "timed out"),
        ("fake_runtimes:Hangs", "made-up/plain", "pass"),
        ("fake_runtimes:Hangs", "made-up/silent", "pass"),
        ("fake_runtimes:Right", "made-up/negative", "pass"),
        ("fake_runtimes:Right", "made-up/plain", "pass"),
        ("fake_runtimes:Right", "made-up/silent", "pass"),
    ]


def test_a_result_carries_what_a_report_needs_of_its_case(answers: Path) -> None:
    (result,) = check(answers, ["AnotherReading"], [SILENT])
    assert (result.version, result.type, result.elements, result.rulings) == ("GlobalLpPool-22", "float", 2, ("silence",))
    assert (result.reading, result.readings) == ("another", {"silence": ("another",)})


def test_a_backend_is_described_by_its_place_and_its_package() -> None:
    with closing(Isolated("fake_runtimes:Right", 20)) as runtime:
        assert (runtime.description.name, runtime.description.version) == ("fake_runtimes:Right", "7.0")


def test_a_runtime_that_is_not_installed_is_named_with_what_to_install() -> None:
    with pytest.raises(Unavailable) as raised:
        Isolated("no_such_module", 20)
    install = "install what provides the module 'no_such_module', or name one of: cypool, onnxruntime, "
    missing = "ModuleNotFoundError: No module named 'no_such_module'"
    assert str(raised.value).startswith(f"runtime no_such_module is not available: {missing} ({install}")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fake_runtimes:Nobody", "AttributeError: module 'fake_runtimes' has no attribute 'Nobody'"),
        ("fake_runtimes:NOT_A_BACKEND", "ImportError: fake_runtimes:NOT_A_BACKEND is no ONNX Backend: it has no function 'prepare'"),
        ("dies_on_import", "libfake.so: cannot open"),
    ],
)
def test_a_runtime_that_is_there_and_cannot_start_is_named_with_what_it_says(name: str, why: str) -> None:
    with pytest.raises(Unavailable) as raised:
        Isolated(name, 20)
    assert str(raised.value) == f"runtime {name} is not available: {why}"


def say(record: object, end: str = "\n") -> str:
    return f"print({json.dumps(record)!r}, end={end!r}, flush=True)"


def foreign(body: str, protocol: int = 1) -> Isolated:
    """A program that answers ``describe``, then does ``body`` at each request."""
    describe = say({"name": "x", "version": "1", "protocol": protocol})
    program = f"import sys, time\nsys.stdin.readline()\n{describe}\nfor line in sys.stdin:\n    {body}"
    return Isolated("a program", 0.5, (sys.executable, "-c", program))


SHORT_OF_BYTES = {"name": "Y", "type": "float", "shape": [2], "data": ""}
OF_NO_TYPE = {"name": "Y", "type": "complex", "shape": [0], "data": ""}


@pytest.mark.parametrize(
    ("body", "verdict", "message"),
    [
        ("pass", "timed out", "no answer in 0.5 s"),
        (say([1, 2]), "crashed", "broke the protocol: not an object: b'[1, 2]\\n'"),
        (say({"id": "c"}), "crashed", "broke the protocol: an answer without a usable 'status'"),
        (say({"id": "c", "status": "fine", "phase": "run"}), "crashed", "broke the protocol: status 'fine' in phase 'run'"),
        (say({"id": "c", "status": "error", "phase": 1}), "crashed", "broke the protocol: status 'error' in phase 1"),
        (say({"id": "c", "status": "ok", "outputs": [SHORT_OF_BYTES]}), "crashed",
         "broke the protocol: an answer without a usable Y: 0 bytes for float[2]"),
        (say({"id": "c", "status": "ok", "outputs": [OF_NO_TYPE]}), "crashed", "broke the protocol: an answer without a usable 'complex'"),
        (say({"id": "c"}, end="") + "; sys.exit(0)", "crashed", "ended with code 0"),
        (say({"id": "c"}, end="") + "; time.sleep(60)", "timed out", "no answer in 0.5 s"),
    ],
)  # fmt: skip
def test_a_program_that_breaks_the_protocol_has_crashed(body: str, verdict: str, message: str) -> None:
    with closing(foreign(body)) as runtime:
        outcome = runtime.run("c", run_request("c", b"", [], []))
        assert (outcome.status, outcome.message) == (verdict, message)
        assert runtime.run("c", run_request("c", b"", [], [])).status == verdict  # and again, by a new process


def test_a_program_that_does_not_read_is_late_and_not_waited_for() -> None:
    large = [Tensor.of("X", np.zeros(10**6, np.float32))]
    with closing(foreign("time.sleep(60)")) as runtime:
        start = time.monotonic()
        assert runtime.run("c", run_request("c", b"", large, []) * 3).status == "timed out"
        assert time.monotonic() - start < 5


def test_a_worker_of_another_protocol_is_not_available() -> None:
    with pytest.raises(Unavailable, match="it speaks protocol 2, not 1"):
        foreign("sys.exit()", protocol=2)


def test_what_a_lost_worker_started_ends_with_it() -> None:
    """A grandchild holds the pipes open; the run must not wait for it."""
    body = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid, file=sys.stderr, flush=True); time.sleep(60)"
    with closing(foreign(body)) as runtime:
        outcome = runtime.run("c", run_request("c", b"", [], []))
    assert outcome.status == "timed out"
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _is_running(int(outcome.stderr)):
        time.sleep(0.05)
    assert not _is_running(int(outcome.stderr))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
