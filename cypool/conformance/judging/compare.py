"""Compare outputs with the answer, and give the verdict: types, shapes, values, readings.

A verdict is a pure function, so that it can be reached again from kept outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cypool.conformance.asking.protocol import Outcome
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import known_faults
from cypool.conformance.oracle import JOIN
from cypool.conformance.tensors import DTYPES, Tensor

PASS = "pass"
READS_DIFFERENTLY = "reads it differently"
WRONG_VALUE = "wrong value"
WRONG_SHAPE = "wrong shape"
WRONG_TYPE = "wrong type"
UNSUPPORTED = "unsupported"
LOAD_ERROR = "load error"
ERROR = "error"
ACCEPTED_INVALID = "accepted what is invalid"
CRASHED = "crashed"
TIMED_OUT = "timed out"
NOT_RUN = "not run"

VERDICTS = (
    PASS,
    READS_DIFFERENTLY,
    WRONG_VALUE,
    WRONG_SHAPE,
    WRONG_TYPE,
    LOAD_ERROR,
    ERROR,
    ACCEPTED_INVALID,
    CRASHED,
    TIMED_OUT,
    UNSUPPORTED,
    NOT_RUN,
)
CONFORMS = frozenset({PASS, READS_DIFFERENTLY})
"""The verdicts that do not count against a runtime.

Unsupported is not one of them: who has not answered has not passed.
"""

AS_RULED = "as ruled"
"""What a runtime follows where it reads a silence as cypool does."""

OR = "|"
"""What stands between the explanations of one output, each of which suffices, in
``Judgement.reading``.
"""

KNOWN = "; known fault"
"""What parts a message from the faults that explain it."""

Array: TypeAlias = npt.NDArray[Any]
Criterion: TypeAlias = Callable[[Array, Array], npt.NDArray[np.bool_]]
"""Which floats are near enough: got, expected (both of one type and shape, both finite) -> a mask.

Other elements have to be equal.
"""

ATOL = 1e-7
RTOL = {DTYPES[name]: rtol for name, rtol in {"float16": 1e-3, "bfloat16": 2.0**-6, "float": 1e-3, "double": 1e-3}.items()}
"""ONNX's own tolerance (``onnx.backend.test.runner``): one epsilon of float16 and two of bfloat16
for the half types. Other types have none.
"""


def onnx_tolerance(got: Array, expected: Array) -> npt.NDArray[np.bool_]:
    """Apply the criterion of ONNX's backend suite:
    ``|got - expected| <= atol + rtol * |expected|``.

    Both numbers come from ``tolerance``.
    """
    rtol, atol = tolerance(expected)
    with np.errstate(over="ignore", invalid="ignore"):  # a signalling NaN is invalid even to a cast
        wide, right = got.astype(np.float64), expected.astype(np.float64)
        mask: npt.NDArray[np.bool_] = np.abs(wide - right) <= atol + rtol * np.abs(right)
    return mask


def tolerance(expected: Array) -> tuple[float, float]:
    """Return ``rtol`` and ``atol`` for an output: ONNX's, with one condition more.

    In ONNX, atol is 1e-7 for all data. An output of 1e-30 is then never looked at: zero passes for
    it. So atol here is no more than rtol times the largest expected magnitude, plus one step of the
    type's subnormals. It makes a difference only where every expected value is below 1e-4.

    >>> tolerance(np.array([2e-30, 1e-30], np.float64))
    (0.001, 2e-33)
    """
    if expected.dtype not in RTOL:
        return 0.0, 0.0
    rtol = RTOL[expected.dtype]
    right = expected.astype(np.float64)
    scale = float(np.abs(right).max(initial=0.0, where=np.isfinite(right)))
    step = float(np.array(1, _bits(expected.dtype)).view(expected.dtype))
    return rtol, max(min(ATOL, rtol * scale), step)


def within_ulps(limit: int) -> Criterion:
    """Return the criterion that accepts at most ``limit`` representable values of distance."""

    def criterion(got: Array, expected: Array) -> npt.NDArray[np.bool_]:
        return ulp_distance(got, expected) <= limit

    return criterion


def criterion(ulp: int | None) -> Criterion:
    """ONNX's tolerance, or a distance where one is given."""
    return onnx_tolerance if ulp is None else within_ulps(ulp)


def _bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"u{dtype.itemsize}")


def ulp_distance(a: Array, b: Array) -> npt.NDArray[np.uint64]:
    """Count the representable values from each element of ``a`` to that of ``b``.

    The bits of floats are subtracted as ordered integers. Zeros of both signs are one value;
    infinity is one past the largest finite value; NaN has a place after infinity, of no meaning.
    For integers it is the difference.

    >>> a, b = np.array([[1.0, -0.0], [1.0000001, 1e-45]], np.float32)
    >>> ulp_distance(a, b).tolist()
    [1, 1]
    >>> ulp_distance(np.array([-1, -128], np.int8), np.array([1, 127], np.int8)).tolist()
    [2, 255]
    """
    return _magnitude_difference(_ordered(a), _ordered(b))


def _ordered(array: Array) -> Array:
    if array.dtype not in RTOL:
        return array.astype(np.int64 if array.dtype.kind == "i" else np.uint64)
    bits = array.view(_bits(array.dtype)).astype(np.uint64)
    sign = np.uint64(1 << (8 * array.dtype.itemsize - 1))
    magnitude = (bits & ~sign).astype(np.int64)
    return np.where(bits & sign != 0, -magnitude, magnitude)


def _magnitude_difference(a: Array, b: Array) -> npt.NDArray[np.uint64]:
    # the difference can exceed an int64, but as an unsigned number it is right
    difference: npt.NDArray[np.uint64] = np.maximum(a, b).view(np.uint64) - np.minimum(a, b).view(np.uint64)
    return difference


def near(got: Array, expected: Array, criterion: Criterion) -> npt.NDArray[np.bool_]:
    """Tell which elements agree.

    NaN agrees with NaN, an infinity with itself, and neither with anything else; integers agree if
    equal.
    """
    if expected.dtype not in RTOL:
        equal: npt.NDArray[np.bool_] = got == expected
        return equal
    finite = np.isfinite(got) & np.isfinite(expected)
    same: npt.NDArray[np.bool_] = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return np.where(finite, criterion(got, expected), same)


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first thing wrong with outputs: a verdict, a sentence, and the flat index of the element
    in the output of that name.
    """

    verdict: str
    message: str
    output: str = ""
    at: int = 0


def misfit(got: Sequence[Tensor], expected: Sequence[Tensor], criterion: Criterion) -> Misfit | None:
    """Return the first thing wrong with the outputs; None where they are right."""
    if len(got) != len(expected):
        return Misfit(WRONG_SHAPE, f"{len(got)} outputs, expected {len(expected)}")
    for ours, theirs in zip(expected, got, strict=True):
        if theirs.type != ours.type:
            return Misfit(WRONG_TYPE, f"{ours.name} is {theirs.type}, expected {ours.type}")
        if theirs.shape != ours.shape:
            return Misfit(WRONG_SHAPE, f"{ours.name} has shape {theirs.shape}, expected {ours.shape}")
        wrong = ~near(theirs.array, ours.array, criterion)
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            count = f", {wrong.sum()} of {wrong.size} elements wrong" if wrong.sum() > 1 else ""
            values = f"is {theirs.array[where]!s}, expected {ours.array[where]!s}"  # !s: the shortest digits of the type itself
            return Misfit(WRONG_VALUE, f"{ours.name}{list(where)} {values}{count}", ours.name, int(wrong.argmax()))
    return None


def largest_ulp(got: Sequence[Tensor], expected: Sequence[Tensor]) -> int | None:
    """Return the largest ULP distance of any float.

    None means that there is no distance: other types or shapes, or a NaN against a number.
    """
    largest = 0
    if [(tensor.type, tensor.shape) for tensor in got] != [(tensor.type, tensor.shape) for tensor in expected]:
        return None
    for theirs, ours in zip(got, expected, strict=True):
        a, b = theirs.array, ours.array
        if b.dtype not in RTOL:
            continue
        if (np.isnan(a) != np.isnan(b)).any():
            return None
        largest = max(largest, int(ulp_distance(a, b).max(initial=0, where=~np.isnan(a))))
    return largest


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what goes with it.

    ``readings`` holds, for each ruling that this case tells something about, the readings that the
    outputs agree with: ``AS_RULED``, or names of recorded ones.
    """

    verdict: str
    message: str = ""
    ulp: int | None = None
    reading: str = ""  # the recorded reading that the outputs follow, where not as ruled; + joins faults that act at once, | alternatives
    readings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    output: str = ""  # the one that holds a wrong element,
    at: int = 0  # and the first such, by its flat index


STATUS_VERDICTS = {"unsupported": UNSUPPORTED, "error": ERROR, "crashed": CRASHED, "timed out": TIMED_OUT, "not run": NOT_RUN}


def _unanswered(outcome: Outcome) -> Judgement:
    """Return the verdict where no outputs came."""
    verdict = LOAD_ERROR if (outcome.status, outcome.phase) == ("error", "load") else STATUS_VERDICTS[outcome.status]
    return Judgement(verdict, outcome.message)


def judge(case: Case, outcome: Outcome, criterion: Criterion = onnx_tolerance) -> Judgement:
    """Return the verdict on what a runtime made of a case."""
    if case.fault is not None:
        return _judge_invalid(case.fault, outcome)
    if outcome.status != "ok":
        return _unanswered(outcome)
    return _judge_outputs(case, outcome.outputs, criterion)


def _judge_invalid(fault: str, outcome: Outcome) -> Judgement:
    """Judge an invalid case: it has to be refused, while loading or while running.

    Neither *unsupported* nor a crash is a refusal.
    """
    if outcome.status == "ok":
        return Judgement(ACCEPTED_INVALID, fault)
    if outcome.status == "error":
        return Judgement(PASS, outcome.message)
    return _unanswered(outcome)


def _judge_outputs(case: Case, outputs: Sequence[Tensor], criterion: Criterion) -> Judgement:
    found = misfit(outputs, case.expected, criterion)
    others = {name: misfit(outputs, answer, criterion) is None for name, answer in case.readings.items()}
    readings = _evidence(case, found is None, others)
    ulp = largest_ulp(outputs, case.expected)
    if found is None:
        return Judgement(PASS, ulp=ulp, readings=readings)
    verdict, message, place = found.verdict, found.message, (found.output, found.at)
    known = {reading.name: reading.legitimate for ruling in case.version.rulings for reading in ruling.readings}
    followed = sorted((name for name, agrees in others.items() if agrees), key=lambda name: not known[name])
    if followed and known[followed[0]]:
        return Judgement(READS_DIFFERENTLY, message, ulp, followed[0], readings, *place)
    faults: list[tuple[str, ...]] = [(name,) for name in followed]
    if verdict in (WRONG_VALUE, WRONG_SHAPE) and not faults:
        faults = known_faults.explaining(case, lambda answer: misfit(outputs, answer, criterion) is None)
        for names in faults:
            for ruling, own in known_faults.rulings(case.version, names).items():
                readings[ruling] = tuple(dict.fromkeys((*readings.get(ruling, ()), *own)))
    for names in faults:
        if all(known[name] for name in names):
            return Judgement(READS_DIFFERENTLY, message, ulp, JOIN.join(names), readings, *place)
    message = named(message, [[name for name in names if not known[name]] for names in faults])
    return Judgement(verdict, message, ulp, OR.join(JOIN.join(names) for names in faults), readings, *place)


def named(message: str, faults: Sequence[Sequence[str]]) -> str:
    """Return the message with the known faults that explain it: each of ``faults`` alone does, all
    names of it together.

    >>> named("Y is 1", [["naive"], ["mean", "no-abs"]])
    'Y is 1; known faults: naive or mean, no-abs'
    """
    plain = message.partition(KNOWN)[0]
    if not faults:
        return plain
    several = any(len(names) > 1 for names in faults)
    return f"{plain}{KNOWN}{'s' if several else ''}: {' or '.join(', '.join(names) for names in faults)}"


def _evidence(case: Case, as_ruled: bool, others: dict[str, bool]) -> dict[str, tuple[str, ...]]:
    """Return, for each ruling that the outputs tell apart, the readings that they agree with.

    Where all answers agree, outputs tell nothing.
    """
    evidence = {}
    for ruling in case.version.rulings:
        names = [reading.name for reading in ruling.readings if ruling.id in case.rulings and reading.name in others]
        agreeing = tuple(name for name in names if others[name])
        if as_ruled and len(agreeing) < len(names):
            evidence[ruling.id] = (AS_RULED, *agreeing)
        elif agreeing and not as_ruled:
            evidence[ruling.id] = agreeing
    return evidence
