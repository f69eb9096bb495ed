"""Refusals that a reading explains: which those are, and that the same with other
inputs decides.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import onnx
import pytest
from all_cases import valid
from onnx import numpy_helper

from cypool import spec
from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.cases import instances
from cypool.conformance.cases.case import Case
from cypool.conformance.corpus import corpus, verify
from cypool.conformance.judging import explained_refusals
from cypool.conformance.judging.records import Result
from cypool.spec.model import REFUSABLE_WINDOWS
from cypool.spec.shapes import fits
from cypool.spec.windows import Axis

FAKES = Path(__file__).with_name("fakes")
sys.path.append(str(FAKES))
import fake_answers  # noqa: E402

FLAT = next(case for case in valid() if case.id.startswith("GlobalLpPool-22/double/rank2/p3/"))
DEEP = next(case for case in valid() if case.id.startswith("GlobalLpPool-22/double/rank6/p3/"))
PLAIN = next(case for case in valid() if case.id.startswith("GlobalLpPool-22/double/odd/p3/"))
(READING,) = (reading for _, reading in explained_refusals.explanations(FLAT))

Check = Callable[..., Result]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Asks a fake runtime for one case; it has the answers of that one and of what is asked
    instead.
    """
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))

    def run(fake: str, case: Case) -> Result:
        others = [explained_refusals.control(case, reading) for _, reading in explained_refusals.explanations(case)]
        fake_answers.write(tmp_path / "answers.json", [case, *(other for other in others if other)])
        with closing(Isolated(f"fake_runtimes:{fake}", 20)) as runtime:
            (result,) = runner.run([runtime], [case])
        return result

    return run


def test_a_refusal_that_the_text_allows_is_another_reading(check: Check) -> None:
    result = check("NoRank2", FLAT)
    assert (result.verdict, result.reading, result.readings) == ("reads it differently", "no-rank-2", {"rank": ("no-rank-2",)})
    assert result.message == "ValueError: too flat" and result.conforms


def test_a_refusal_that_the_text_does_not_allow_is_an_error_that_is_named(check: Check) -> None:
    result = check("NoRank6", DEEP)
    assert (result.verdict, result.reading, result.readings) == ("error", "at-most-5", {"rank": ("at-most-5",)})
    assert result.message == "ValueError: too deep; known fault: at-most-5"


@pytest.mark.parametrize(
    ("fake", "verdict"), [("RaisesAtRun", "error"), ("RaisesAtLoad", "load error"), ("SaysUnsupported", "unsupported")]
)
def test_who_refuses_everything_reads_nothing_differently(check: Check, fake: str, verdict: str) -> None:
    result = check(fake, FLAT)
    assert (result.verdict, result.reading, result.readings) == (verdict, "", {})


def test_unsupported_stays_unsupported_whatever_else_is_computed() -> None:
    judgement = explained_refusals.Judgement("unsupported", "no rank 2")
    assert explained_refusals.explain_refusal(FLAT, judgement, lambda case: pytest.fail("nothing to ask")) is judgement


def test_another_shape_or_an_invalid_case_is_explained_by_nothing() -> None:
    assert explained_refusals.explanations(PLAIN) == []
    assert [reading.name for _, reading in explained_refusals.explanations(FLAT)] == ["no-rank-2"]
    assert [reading.name for _, reading in explained_refusals.explanations(DEEP)] == ["at-most-5"]


def test_what_is_asked_instead_differs_in_nothing_but_what_is_refused() -> None:
    for case in instances.spread([FLAT], variants=["symbolic"]):
        other = explained_refusals.control(case, READING)
        assert other is not None and other.id == f"{instances.base(other.id)}{case.id.removeprefix(FLAT.id)}"
        assert (other.type, other.attributes, other.opset, other.variant) == (case.type, case.attributes, case.opset, case.variant)
        assert len(other.inputs[0].shape) > 2 and other.rulings == ()


def test_what_the_reading_refuses_too_is_not_asked_instead_however_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plainest = dataclasses.replace(FLAT, id=f"{FLAT.id}-again", rulings=())
    taken = dataclasses.replace(PLAIN, attributes=FLAT.attributes, rulings=("sign", "rank"))
    monkeypatch.setattr(explained_refusals, "_valid", lambda version: (plainest, taken))
    assert explained_refusals.control(FLAT, READING) == dataclasses.replace(taken, opset=FLAT.opset)
    monkeypatch.setattr(explained_refusals, "_valid", lambda version: (plainest,))
    assert explained_refusals.control(FLAT, READING) is None


def test_what_is_asked_instead_has_the_same_outputs() -> None:
    found = [
        case for case in valid() if case.version.name == "MaxPool-12" and case.type == "float" and explained_refusals.explanations(case)
    ]
    assert {case.outputs for case in found} == {("Y",), ("Y", "Indices")}
    for case in found[:60]:
        others = [explained_refusals.control(case, reading) for _, reading in explained_refusals.explanations(case)]
        assert {other.outputs for other in others if other} <= {case.outputs}


def test_every_case_that_a_reading_refuses_has_another_to_ask() -> None:
    found = [(case, reading) for case in valid() for _, reading in explained_refusals.explanations(case)]
    assert len(found) > 200
    assert all(explained_refusals.control(case, reading) for case, reading in found)


def test_readings_refuse_inputs_that_there_are_in_shapes_that_the_version_has() -> None:
    for version in spec.versions():
        for name, rule in [pair for ruling in version.rulings for reading in ruling.readings for pair in reading.refuses]:
            shapes = {operand.name: operand.shape for operand in version.inputs}
            assert fits(shapes[name], (1,) * len(rule.split()))


@pytest.mark.parametrize(
    ("kind", "auto_pad", "axis", "refused"),
    [
        ("pads-reach-kernel", "NOTSET", Axis(5, 8, -2, 1, 2, 1, 7), True),
        ("pads-reach-kernel", "NOTSET", Axis(5, 7, -2, 1, 2, 2, 6), True),  # dilations do not count
        ("pads-reach-kernel", "NOTSET", Axis(5, 7, 0, 1, 2, 1, 7), True),
        ("pads-reach-kernel", "NOTSET", Axis(5, 6, -1, 1, 2, 1, 6), False),
        ("pads-reach-kernel", "SAME_UPPER", Axis(6, 6, -2, 1, 2, 5, 9), False),  # not given as pads
        ("kernel-beyond-input", "NOTSET", Axis(3, 0, 0, 1, 4, 1, 3), True),
        ("kernel-beyond-input", "NOTSET", Axis(3, 0, 0, 1, 2, 3, 3), True),
        ("kernel-beyond-input", "NOTSET", Axis(3, 1, -1, 1, 4, 1, 3), False),
        ("cropped", "SAME_LOWER", Axis(9, 3, 0, 3, 1, 1, 9), True),
        ("cropped", "SAME_LOWER", Axis(9, 3, 0, 3, 3, 1, 9), False),
        ("cropped", "VALID", Axis(9, 3, 0, 3, 1, 1, 9), False),
        ("windows-beyond-output", "NOTSET", Axis(5, 3, 0, 2, 2, 1, 5), True),
        ("windows-beyond-output", "NOTSET", Axis(6, 3, 0, 2, 2, 1, 6), False),
        ("windows-beyond-output", "NOTSET", Axis(4, 3, -1, 2, 2, 1, 5), False),
        ("windows-beyond-output", "NOTSET", Axis(0, 0, 0, 2, 2, 1, 0), False),
    ],
)
def test_windows_that_a_reading_may_refuse(kind: str, auto_pad: str, axis: Axis, refused: bool) -> None:
    assert explained_refusals.REFUSED_WINDOWS[kind](axis, auto_pad.startswith("SAME")) == refused
    assert set(explained_refusals.REFUSED_WINDOWS) == set(REFUSABLE_WINDOWS)


def test_what_a_harness_refused_is_settled_by_what_it_wrote_of_the_other(tmp_path: Path) -> None:
    def write(case: Case, array: np.ndarray | None) -> None:
        place = tmp_path / corpus.case_path(case)
        place.mkdir(parents=True, exist_ok=True)
        if array is None:
            (place / "outcome.json").write_text(json.dumps({"status": "error", "phase": "run", "message": "too flat"}))
        else:
            onnx.save_tensor(numpy_helper.from_array(array), place / "output_0.pb")

    write(FLAT, None)
    assert [result.verdict for result in verify.verify("some", [FLAT], tmp_path)] == ["error"]
    other = explained_refusals.control(FLAT, READING)
    assert other is not None
    write(other, other.expected[0].array)
    assert [result.verdict for result in verify.verify("some", [FLAT], tmp_path)] == ["reads it differently"]
