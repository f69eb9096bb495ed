"""What a case turns on: the rulings it carries, and no other place where the standard is silent."""

import numpy as np
import pytest
from all_cases import core, valid

from cypool import spec
from cypool.conformance import cases, oracle
from cypool.conformance.judging.compare import misfit, onnx_tolerance
from cypool.conformance.judging.explained_refusals import refuses

LEGITIMATE = {
    reading.name for version in spec.versions() for ruling in version.rulings for reading in ruling.readings if reading.legitimate
}


FINE = {"in-t"}
"""Readings that differ by no more than the steps of a 16-bit type."""


def differs(case, reading):
    """Whether a reading gives other bits, zeros of both signs being one."""
    answers = zip(case.answer(reading), case.expected, strict=True)
    return not all(np.array_equal(*map(comparable, pair), equal_nan=True) for pair in answers)


def comparable(tensor):
    """The elements in a type that holds them all and has one zero."""
    return tensor.array if tensor.array.dtype.kind in "iu" else tensor.array.astype(np.float64)


def is_refused(case, ruling):
    """Whether a reading of a ruling does not take the case."""
    return any(refuses(reading, case) for reading in case.version.ruling(ruling).readings)


def test_a_case_turns_on_each_ruling_it_carries():
    for case in valid():
        for ruling, readings in oracle.computable(case.version).items():
            if ruling in case.rulings:
                touched = any(differs(case, reading) for reading in readings) or is_refused(case, ruling)
                assert touched, f"{case.id} does not turn on {ruling}"


def test_a_case_turns_on_no_other_true_silence():
    for case in core():
        for ruling, readings in oracle.computable(case.version).items():
            if ruling not in case.rulings:
                assert not any(differs(case, reading) for reading in LEGITIMATE & set(readings)), f"{case.id} turns on {ruling}"


def test_alternatives_are_the_computable_readings_of_its_rulings():
    for case in valid():
        computable = oracle.computable(case.version)
        assert case.alternatives == tuple(name for ruling in case.rulings for name in computable.get(ruling, ())), case.id


def test_a_tolerance_tells_the_readings_apart():
    for case in valid():
        told = any(misfit(outputs, case.expected, onnx_tolerance) for outputs in case.readings.values())
        told = told or not case.alternatives or any(is_refused(case, ruling) for ruling in case.rulings)
        assert told or set(case.alternatives) <= FINE, case.id


def test_rulings_without_readings_say_what_is_there():
    for case in valid():
        x, y = case.inputs[0].array.astype(np.float64), case.expected[0].array.astype(np.float64)
        rulings = set(case.rulings)
        if case.version.op == "GlobalLpPool":
            assert ("empty-batch" in rulings) == (0 in x.shape[:2]), case.id
            if 0 in x.shape:
                continue
            rows = x.reshape(*x.shape[:2], -1)
            finite = np.isfinite(rows).all(axis=2)
            assert ("nan-and-inf" in rulings) == (not finite.all()), case.id
            assert ("overflow-to-inf" in rulings) == bool(np.isinf(y.reshape(x.shape[:2])[finite]).any()), case.id
            assert ("rank" in rulings) == (x.ndim == 2 or x.ndim > 5), case.id
        if case.version.op == "MaxRoiPool":
            assert ("no-rois" in rulings) == (y.size == 0), case.id
            assert ("nan" in rulings) == bool(np.isnan(y).any()), case.id
            assert ("all-minus-inf" in rulings) == bool(np.isneginf(y).any()), case.id


@pytest.mark.parametrize("version", ["RoiAlign-10", "RoiAlign-16", "RoiAlign-22"])
def test_rulings_are_told_from_few_pieces_of_the_answers(version, monkeypatch):
    made = list(cases.valid(spec.version(version)))
    whole = sum(case.arrays[1].shape[0] * case.arrays[0].shape[1] for case in made)
    evaluated = []
    plain = oracle.evaluate

    def counted(version, inputs, attributes, reading=None):
        outputs = plain(version, inputs, attributes, reading)
        evaluated.append(outputs[0].shape[0] * outputs[0].shape[1])
        return outputs

    monkeypatch.setattr(oracle, "evaluate", counted)
    assert {ruling for case in made for ruling in case.rulings} > {"max-of-what"}
    assert 0 < sum(evaluated) < whole / 2, "as many regions and channels were answered as there are in all cases together"
