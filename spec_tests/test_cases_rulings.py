"""What a case turns on: the rulings it carries, and no other place where the standard is silent."""

import numpy as np
from all_cases import valid

from cypool import spec
from cypool.conformance import oracle
from cypool.conformance.compare import misfit, onnx_tolerance

LEGITIMATE = {
    reading.name for version in spec.versions() for ruling in version.rulings for reading in ruling.readings if reading.legitimate
}


def differs(case, reading):
    """Whether a reading gives other bits, zeros of both signs being one."""
    answers = zip(case.answer(reading), case.expected, strict=True)
    return not all(np.array_equal(*(tensor.array.astype(np.float64) for tensor in pair), equal_nan=True) for pair in answers)


def test_a_case_turns_on_each_ruling_it_carries():
    for case in valid():
        for ruling, readings in oracle.computable(case.version).items():
            if ruling in case.rulings:
                assert any(differs(case, reading) for reading in readings), f"{case.id} does not turn on {ruling}"


def test_a_case_turns_on_no_other_true_silence():
    for case in valid():
        for ruling, readings in oracle.computable(case.version).items():
            if ruling not in case.rulings:
                assert not any(differs(case, reading) for reading in LEGITIMATE & set(readings)), f"{case.id} turns on {ruling}"


def test_alternatives_are_the_computable_readings_of_its_rulings():
    for case in valid():
        computable = oracle.computable(case.version)
        assert case.alternatives == tuple(name for ruling in case.rulings for name in computable.get(ruling, ())), case.id


def test_a_tolerance_tells_the_readings_apart():
    told = [case for case in valid() if any(misfit(outputs, case.expected, onnx_tolerance) for outputs in case.readings.values())]
    with_readings = [case for case in valid() if case.alternatives]
    assert len(told) == len(with_readings)


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
        else:
            assert ("no-rois" in rulings) == (y.size == 0), case.id
            assert ("nan" in rulings) == bool(np.isnan(y).any()), case.id
            assert ("all-minus-inf" in rulings) == bool(np.isneginf(y).any()), case.id
