"""``cypool smoke`` tells what is wrong with an adapter, and nothing else."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from registering import register

from cypool.cli.smoke import command
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.smoke import OK, UNTOLD, WRONG, Check, Smoke

FAKES = Path(__file__).with_name("fakes")
BITS = "keeps zeros, subnormals, infinities and NaN"
ORDER = "outputs come as they are asked for, not in the model's order"
ALONE = "an output that is not asked for does not come"
GARBAGE = "what is no model is an error while loading"
UNKNOWN = "an operator that nobody has is unsupported, or an error while loading"

FAULTS: dict[str, dict[str, str]] = {
    "Sound": {},
    "Nameless": {"it says its name and its version": "Description(name='nameless', version='')"},
    "HalvesAlike": {
        "bfloat16 comes back unchanged": "a_out: float16[2, 3, 1] came, expected a_out: bfloat16[2, 3, 1]",
        f"bfloat16 {BITS}": "a_out: float16[2, 5, 1] came, expected a_out: bfloat16[2, 5, 1]",
    },
    "ThroughFloat": {
        f"double {BITS}": "a_out is [0.0, -0.0, inf, -inf, nan, -1.5, 0.0, 0.0, -0.0, -0.0], expected "
        "[0.0, -0.0, inf, -inf, nan, -1.5, 5e-324, 1.5e-323, -5e-324, -1.5e-323]"
    },
    "NoScalars": {"shape [] comes back": "a_out: float[1] came, expected a_out: float[]"},
    "ByName": {"inputs go in as the model orders them": "y is [-4.0, -5.0], expected [4.0, 5.0]", ORDER: "…", ALONE: "…"},
    "Shuffles": {
        ORDER: "b_out: float[2, 3, 1], a_out: float[1, 2, 1] came, expected a_out: float[1, 2, 1], b_out: float[2, 3, 1]",
    },
    "AllOutputs": {
        ORDER: "b_out: float[2, 3, 1], a_out: float[1, 2, 1] came, expected a_out: float[1, 2, 1], b_out: float[2, 3, 1]",
        ALONE: "b_out: float[2, 3, 1], a_out: float[1, 2, 1] came, expected a_out: float[1, 2, 1]",
    },
    "LoadsLate": {GARBAGE: "error (run) DecodeError"},
    "Guesses": {GARBAGE: "unsupported (load)"},
    "AcceptsAll": {GARBAGE: "ok", UNKNOWN: "ok"},
    "SmallOnly": {"4 MiB come back": "a_out is [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, …], expected [1.0"},
    "NoSwitch": {"it heeds the option it says it has": "error (load) NotImplementedError"},
    "HasNothing": {"at least one tensor went through": "it has neither Identity nor a pool"},
}


@pytest.fixture(autouse=True)
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(tmp_path, dict.fromkeys((*FAULTS, "Remembers", "LivesOn"), "fake_adapters:connect"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(FAKES)]))
    monkeypatch.syspath_prepend(str(tmp_path))


def smoke(name: str) -> Iterator[Check]:
    with closing(Isolated(name, 20)) as runtime:
        yield from Smoke(runtime).checks()


def wrong(name: str) -> dict[str, str]:
    return {check.fact: check.message for check in smoke(name) if check.verdict == WRONG}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_seen_and_nothing_else(name: str) -> None:
    found = wrong(name)
    assert found.keys() == FAULTS[name].keys()
    for fact, message in FAULTS[name].items():
        assert message == "…" or found[fact].startswith(message)


def test_an_adapter_that_remembers_gives_old_answers() -> None:
    assert "nothing is kept from one case to the next" in wrong("Remembers")


def test_one_that_does_not_end_is_ended() -> None:
    assert list(wrong("LivesOn")) == ["it ends when it is told to stop", "it ends when its input ends"]


def test_what_a_runtime_lacks_is_untold() -> None:
    checks = list(smoke("HasNothing"))
    told = {check.fact for check in checks if check.verdict == OK}
    assert GARBAGE in told
    assert {check.message for check in checks if check.verdict == UNTOLD} == {"not even that"}


@pytest.mark.parametrize("name", ["cypool", "onnxruntime", "onnxruntime+cypool", "reference", "openvino", "tract"])
def test_the_adapters_that_are_built_in_are_right(name: str) -> None:
    checks = list(smoke(name))
    assert [check for check in checks if check.verdict == WRONG] == []
    lacking = {check.fact for check in checks if check.verdict == UNTOLD}
    assert lacking == ({"bfloat16 comes back unchanged", f"bfloat16 {BITS}"} if name == "tract" else set())


def test_the_command_says_what_is_wrong_and_ends_accordingly() -> None:
    sound, alike, nobody = (CliRunner().invoke(command, [name]) for name in ("Sound", "HalvesAlike", "no_such_runtime"))
    assert (sound.exit_code, alike.exit_code, nobody.exit_code) == (0, 1, 3)
    assert "Sound: 33 ok, 0 wrong, 0 untold" in sound.output
    assert "wrong   bfloat16 comes back unchanged\n        a_out: float16[2, 3, 1] came" in alike.output
    assert "no_such_runtime is not available" in nobody.output


def example(name: str, folder: Path) -> Path:
    """A file of the documents, as its reader would have it."""
    pages = "".join((Path(__file__).parent.parent / "docs" / page).read_text() for page in ("runtimes.md", "protocol.md"))
    (text,) = re.findall(rf"```python\n(# {name}\.py\n.*?)```", pages, re.DOTALL)
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


def test_the_backend_and_the_adapter_of_the_documents_are_right(tmp_path: Path) -> None:
    example("first_try", tmp_path)
    example("halves", tmp_path)
    (entry_points,) = tmp_path.glob("*.dist-info/entry_points.txt")
    entry_points.write_text("[cypool.runtimes]\nhalves = halves:connect\n")
    for name in ("first_try", "halves"):
        assert wrong(name) == {}


def test_the_worker_of_the_documents_is_told_what_they_say_it_is_told(tmp_path: Path) -> None:
    assert list(wrong(f"exec:{sys.executable} {example('nothing', tmp_path)}")) == [GARBAGE, "at least one tensor went through"]
