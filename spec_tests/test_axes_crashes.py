"""A crash is the case's own: what other cases left behind in a process decides no verdict, and
hides none.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing

from all_cases import invalid, valid

from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.pipes import POISONED_HEAP
from cypool.conformance.asking.protocol import run_request
from cypool.conformance.cases.case import Case

HELLO = json.dumps({"name": "x", "version": "1", "protocol": 1})
REFUSE = "print(json.dumps({'id': json.loads(line)['id'], 'status': 'error', 'phase': 'run', 'message': 'no'}), flush=True)"


def program(body: str) -> Isolated:
    lines = ["import json, os, sys", "sys.stdin.readline()", f"print({HELLO!r}, flush=True)", "for n, line in enumerate(sys.stdin):"]
    return Isolated("a program", 10, (sys.executable, "-c", "\n".join([*lines, *("    " + line for line in body.splitlines())])))


def verdicts(body: str, cases: list[Case]) -> list[str]:
    with closing(program(body)) as runtime:
        return [result.verdict for result in runner.run([runtime], cases)]


SECOND_DIES = f"if n == 1: os.abort()\n{REFUSE}"
ALL_DIE = "os.abort()"


def test_a_case_that_dies_of_what_others_left_is_asked_again_alone() -> None:
    assert verdicts(SECOND_DIES, list(valid()[:4])) == ["error"] * 4


def test_a_crash_becomes_no_pass() -> None:
    """To refuse is right here, and so it does when it is fresh; but it died."""
    assert verdicts(SECOND_DIES, list(invalid()[:4])) == ["pass", "crashed", "crashed", "crashed"]


def test_a_case_that_dies_alone_too_has_crashed() -> None:
    assert verdicts(ALL_DIE, list(valid()[:3])) == ["crashed"] * 3


def test_memory_that_nothing_was_written_to_is_not_zero_by_luck() -> None:
    with closing(program("print(os.environ['MALLOC_PERTURB_'], file=sys.stderr, flush=True)\n" + REFUSE)) as runtime:
        assert runtime.run("c", run_request("c", b"", [], [])).stderr == POISONED_HEAP["MALLOC_PERTURB_"]
