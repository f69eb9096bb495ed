"""The example harness in C, compiled and held to what it says of itself."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import cypool
from cypool.conformance import cases
from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.protocol import encode, run_request
from cypool.conformance.asking.smoke import OK, WRONG, Smoke
from cypool.conformance.cases import models
from cypool.conformance.cases.case import Case
from cypool.conformance.cases.instances import spread
from cypool.conformance.judging.compare import within_ulps

SOURCE = Path(cypool.__file__).parent.parent / "examples/harness/global_lp_pool.c"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiled(folder: Path, *flags: str) -> Path:
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is what this project is built with"
    program = folder / "a harness"
    subprocess.run([compiler, *flags, "-o", str(program), str(SOURCE), "-lm"], check=True)
    return program


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Isolated]:
    with closing(Isolated(f"exec:'{compiled(tmp_path_factory.mktemp('c'), '-O2', *STRICT)}'", 20)) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def norms() -> list[Case]:
    return list(cases.generate(["GlobalLpPool"]))


def test_it_conforms_for_its_operator_and_type_to_the_last_bit(harness: Isolated, norms: list[Case]) -> None:
    asked = list(spread(case for case in norms if case.type == "float"))
    results = list(runner.run([harness], asked, within_ulps(0)))
    assert len(results) > 600
    assert [(result.case, result.verdict, result.message) for result in results if result.verdict != "pass"] == []


def test_it_says_unsupported_of_other_types_and_operators(harness: Isolated, norms: list[Case]) -> None:
    asked = [case for case in (*norms, *cases.generate(["MaxRoiPool"])) if case.type != "float" or case.version.op != "GlobalLpPool"]
    verdicts = Counter(result.verdict for result in runner.run([harness], [case for case in asked if case.fault is None][::5]))
    assert verdicts.keys() == {"unsupported"}


def test_smoke_finds_nothing_wrong(harness: Isolated) -> None:
    checks = list(Smoke(harness).checks())
    assert [check for check in checks if check.verdict == WRONG] == []
    assert {"float comes back unchanged", "4 MiB come back", "an id comes back, whatever is in it"} <= {
        check.fact for check in checks if check.verdict == OK
    }


def spoilt(draw: random.Random, data: bytes) -> bytes:
    """The data with some bits flipped, or cut short."""
    changed = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed[: draw.choice((len(changed), draw.randrange(len(changed))))])


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Here, a read or a write out of bounds ends the program, and it says so."""
    return compiled(tmp_path_factory.mktemp("c"), *SANITIZED)


def test_it_survives_what_is_no_model(sanitized: Path, norms: list[Case]) -> None:
    draw = random.Random(1)
    some = [case for case in norms if case.type == "float" and "odd" in case.id][:20]
    whole = [models.model(case).SerializeToString() for case in some]
    asked = [run_request("a", spoilt(draw, model), case.inputs, ["Y"]) for model, case in zip(whole, some, strict=True) for _ in range(40)]
    done = subprocess.run([sanitized], input=b"".join(asked), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = Counter(json.loads(line)["status"] for line in done.stdout.splitlines())
    assert answers.total() == len(asked)
    assert answers.keys() == {"ok", "error", "unsupported"}


@pytest.mark.parametrize(
    "shape",
    [[2**64 + 1, 1, 2], [2**62, 2**2, 0, 1], [2**33, 2**31], [-1, 2], [0, 2**40, 2**40], [1.5, 2], ["1", 2], [None, 2], [[1], 2], [], [2]],
)
def test_it_refuses_shapes_that_the_bytes_do_not_fill(sanitized: Path, norms: list[Case], shape: list[object]) -> None:
    plain = next(case for case in norms if case.fault is None and case.type == "float")
    request = json.loads(runner.request_of(plain))
    request["inputs"][0]["shape"] = shape
    done = subprocess.run([sanitized], input=encode(request), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["status"] == "error"


@pytest.mark.parametrize("line", [b"\n", b"{", b'{"cmd":"describe","x":' + b"[" * 10**5 + b"\n", b'{"cmd":"run"}\n', b'"\\u12\n', b'{"a\\'])
def test_what_it_does_not_understand_ends_it(sanitized: Path, line: bytes) -> None:
    done = subprocess.run([sanitized], input=line, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_it_survives_what_is_no_request(sanitized: Path, norms: list[Case]) -> None:
    draw = random.Random(2)
    request = runner.request_of(next(case for case in norms if case.type == "float" and "odd" in case.id))
    for _ in range(60):
        line = spoilt(draw, request).replace(b"\n", b" ") + b"\n"
        done = subprocess.run([sanitized], input=line, capture_output=True, check=False)
        assert (done.returncode in (0, 1), done.stderr) == (True, b"")
