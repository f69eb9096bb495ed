"""A program that does not keep the protocol costs its own case, little time and little memory."""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from cypool.conformance.asking import pipes
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.protocol import Outcome, run_request

HELLO = json.dumps({"name": "x", "version": "1", "protocol": 1})
REFUSAL = json.dumps({"id": "c", "status": "error", "phase": "run", "message": "no"})
REQUEST = run_request("c", b"", [], [])


def program(body: str, hello: str = HELLO) -> str:
    """A program that answers ``describe``, then does ``body`` at each request."""
    lines = ["import os, sys, time", "sys.stdin.readline()", f"print({hello!r}, flush=True)", "for line in sys.stdin:", f"    {body}"]
    return "\n".join(lines)


def ask(body: str, seconds: float = 10) -> Outcome:
    with closing(Isolated("a program", seconds, (sys.executable, "-c", program(body)))) as runtime:
        return runtime.run("c", REQUEST)


def say(text: str, end: str = "\\n") -> str:
    return f"sys.stdout.write({text!r} + '{end}'); sys.stdout.flush()"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (say("hello"), "crashed", "broke the protocol: not JSON: b'hello\\n'"),
        ("os.write(1, bytes(range(128, 256)) + b'\\n')", "crashed", "broke the protocol: not JSON: b'\\x80"),
        (say(""), "crashed", "broke the protocol: not JSON: b'\\n'"),
        (say("[" * 100_000), "crashed", "broke the protocol: not JSON"),
        (say(REFUSAL.replace('"c"', '"d"')), "crashed", "broke the protocol: an answer for 'd'"),
        (say(REFUSAL.replace('"c"', "null")), "crashed", "broke the protocol: an answer for None"),
        (say(REFUSAL[:20], end="") + "; os._exit(0)", "crashed", "ended with code 0"),
        (say(REFUSAL[:20], end="") + "; time.sleep(60)", "timed out", "no answer in 1 s"),
        ("time.sleep(60)", "timed out", "no answer in 1 s"),
        ("os._exit(7)", "crashed", "ended with code 7"),
        ("os.kill(os.getpid(), 11)", "crashed", "killed by SIGSEGV"),
        ("os.close(1); time.sleep(60)", "crashed", "closed its standard output"),
        ("os.close(0); time.sleep(60)", "timed out", "no answer in 1 s"),
    ],
    ids=["garbage", "no UTF-8", "an empty line", "brackets", "wrong id", "no id", "half a line, then the end", "half a line", "silence",
         "exit", "a signal", "closed output", "closed input"],
)  # fmt: skip
def test_the_case_is_lost_and_the_verdict_says_how(body: str, status: str, message: str) -> None:
    start = time.monotonic()
    outcome = ask(body, 1 if status == "timed out" else 10)
    assert (outcome.status, outcome.message[: len(message)]) == (status, message)
    assert time.monotonic() - start < 8


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_is_read_within_bounds(stream: str) -> None:
    flood = f"[os.write(sys.{stream}.fileno(), chunk) for chunk in [b'x' * (1 << 20)] * 1024]; time.sleep(60)"
    tracemalloc.start()
    try:
        outcome = ask(flood, 5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if stream == "stdout":
        assert (outcome.status, outcome.message) == ("crashed", "an answer of more than 64 MiB")
        assert peak < 3 * pipes.LONGEST_ANSWER
    else:
        assert outcome.status == "timed out"
        assert len(outcome.stderr) == pipes.KEPT_STDERR
        assert peak < 1 << 22


def test_a_gigabyte_of_lines_is_not_read_either() -> None:
    flood = "[os.write(1, chunk) for chunk in [b'hello\\n' * (1 << 17)] * 1400]"
    start = time.monotonic()
    assert ask(flood).message.startswith("broke the protocol: not JSON: b'hello")
    assert time.monotonic() - start < 5


def test_standard_error_goes_with_its_own_case_though_an_answer_came() -> None:
    body = f"sys.stderr.write('about case ' + str(len(line)) + '\\n'); sys.stderr.flush(); {say(REFUSAL)}"
    with closing(Isolated("a program", 10, (sys.executable, "-c", program(body)))) as runtime:
        outcomes = [runtime.run("c", run_request("c", b"x" * n, [], [])) for n in (0, 30, 3000)]
    assert {outcome.status for outcome in outcomes} == {"error"}
    noted = [int(outcome.stderr.removeprefix("about case ")) for outcome in outcomes]
    assert noted == [len(run_request("c", b"x" * n, [], [])) for n in (0, 30, 3000)]


def test_the_last_lines_of_standard_error_are_kept() -> None:
    outcome = ask(f"[print(n, file=sys.stderr) for n in range(100)]; sys.stderr.flush(); {say(REFUSAL)}")
    assert outcome.stderr.splitlines() == [str(n) for n in range(80, 100)]


def test_a_program_that_writes_much_before_it_reads_does_not_block() -> None:
    """The request and the noise both exceed what a pipe holds."""
    body = f"os.write(2, b'x' * (1 << 20)); sys.stdin.readline(); {say(REFUSAL)}"
    large = run_request("c", bytes(1 << 20), [], [])
    with closing(Isolated("a program", 10, (sys.executable, "-c", program(body)))) as runtime:
        assert runtime.run("c", large + large).status == "error"


def test_one_that_does_not_start_again_leaves_the_rest_not_run(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    once = f"import os, sys\nif os.path.exists({str(seen)!r}): sys.exit('gone for good')\nopen({str(seen)!r}, 'w')\n" + program(
        "os._exit(1)"
    )
    with closing(Isolated("a program", 10, (sys.executable, "-c", once))) as runtime:
        assert [runtime.run("c", REQUEST).status for _ in range(3)] == ["crashed", "not run", "not run"]
        assert "gone for good" in runtime.run("c", REQUEST).message


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("exec:/no/such/program", "No such file or directory (is the program there, and may it be run?)"),
        ("exec:/etc", "Permission denied"),
        ("exec:", "no program is named"),
        (f"exec:{sys.executable} -c 'print(7)'", "broke the protocol: not an object"),
        (f"exec:{sys.executable} -c 'import sys; sys.exit(\"no licence\")'", "no licence"),
        (f"exec:{sys.executable} -c 'pass'", "ended with code 0"),
    ],
)
def test_a_program_that_cannot_serve_is_not_available(name: str, why: str) -> None:
    with pytest.raises(Unavailable) as raised:
        Isolated(name, 10)
    assert str(raised.value).startswith(f"runtime {name} is not available: {why}")
    assert "\n" not in str(raised.value)


def test_options_are_those_that_the_worker_says() -> None:
    for said, options in (('["optimize"]', {"optimize"}), ('["a", 1]', {"a", "1"}), ('"optimize"', set()), ("null", set())):
        hello = HELLO[:-1] + f', "options": {said}}}'
        with closing(Isolated("a program", 10, (sys.executable, "-c", program("pass", hello)))) as runtime:
            assert runtime.options == options
