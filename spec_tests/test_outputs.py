"""The bits of cypool's outputs are those on record, which other platforms are held to as well:
``python platforms/check.py``.
"""

import numpy as np
import pytest

from platforms import check


def test_outputs_are_those_on_record(build):
    """Cells that have no record yet are told by check.py; ``make manifest`` records them."""
    recorded = {"/".join(cell) for cell in check.recorded()}
    assert [cell for cell in check.differences() if cell in recorded] == []


def test_known_answers_are_right(build):
    check.known_answers()


def test_another_bit_in_one_output_is_noticed(monkeypatch):
    run = check.cypool.run

    def a_bit_off(op, inputs, attributes, **options):
        outputs = run(op, inputs, attributes, **options)
        if op == "MaxRoiPool" and outputs[0].dtype == np.float64 and outputs[0].size:
            outputs[0].view(np.uint8).ravel()[0] ^= 1
        return outputs

    monkeypatch.setattr(check.cypool, "run", a_bit_off)
    assert {"MaxRoiPool-1/double", "MaxRoiPool-22/double"} <= set(check.differences())
    assert "MaxRoiPool-22/float" not in check.differences()


def test_a_cell_without_a_record_is_noticed(monkeypatch):
    before = set(check.differences())
    record = check.recorded()
    cell = next(iter(record))
    monkeypatch.setattr(check, "recorded", lambda: {other: found for other, found in record.items() if other != cell})
    assert set(check.differences()) - before == {"/".join(cell)}


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "<i8"])
def test_byte_order_and_the_kind_of_nan_do_not_count(dtype):
    y = np.array([1, 2, 3], dtype)
    assert check.canonical(y) == y.astype(y.dtype.newbyteorder("<")).tobytes()
    if y.dtype.kind == "f":
        assert check.canonical(y * -np.nan) == check.canonical(y * np.nan)
