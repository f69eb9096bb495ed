"""The rulings: which silences are ruled on, by which names cases and reports know their readings,
and figures that the texts state.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from cypool import spec

RULINGS = {
    "GlobalLpPool": {
        "output-rank": ["four-dimensional"],  # of version 1 alone
        "sign": ["no-abs"],
        "sum-or-mean": ["mean"],
        "p-range": ["any-p"],
        "accumulation": ["naive"],
        "double-precision": ["float32"],
        "half-precision": ["narrow", "rounded-root"],
        "overflow-to-inf": [],
        "nan-and-inf": [],
        "rank": ["no-rank-2", "at-most-5"],
        "empty-plane": [],
        "empty-batch": [],
    },
    "MaxRoiPool": {
        "bin-precision": ["exact"],
        "coordinate-ties": ["half-to-even", "floor-plus-half"],
        "nan": ["restart", "never", "only-first"],
        "all-minus-inf": ["lowest-finite"],
        "double-precision": ["float32"],
        "batch-index": ["truncate"],
        "coordinate-finite": ["accepted"],
        "large-coordinates": ["wrap"],
        "scale-range": ["any-scale"],
        "pooled-shape": [],
        "shapes": [],
        "no-rois": [],
        "signed-zero": [],
    },
}


def test_ids_and_readings_stay_what_reports_know_them_by() -> None:
    for op, rulings in RULINGS.items():
        first, *later = spec.operator(op).versions
        assert {ruling.id: [reading.name for reading in ruling.readings] for ruling in first.rulings} == rulings
        for version in later:
            found = {ruling.id: [reading.name for reading in ruling.readings] for ruling in version.rulings}
            assert found == {id: readings for id, readings in rulings.items() if id != "output-rank"}, version.name


FAMILY = json.loads(Path(__file__).with_name("data").joinpath("rulings_family.json").read_text())
"""Of each other operator: the id of every ruling, the versions that it holds for, and
its readings.
"""


@pytest.mark.parametrize("op", sorted(set(FAMILY) & set(spec.operators())))
def test_ids_and_readings_of_the_family_stay_too(op: str) -> None:
    for version in spec.operator(op).versions:
        found = {ruling.id: [reading.name for reading in ruling.readings] for ruling in version.rulings}
        assert found == {id: readings for id, versions, readings in FAMILY[op] if version.since_version in versions}, version.name


def test_every_operator_has_its_ids_written_down() -> None:
    assert set(spec.operators()) <= {*RULINGS, *FAMILY}


def test_only_readings_of_a_true_silence_are_legitimate() -> None:
    versions = [version for version in spec.versions() if version.op in RULINGS]
    legitimate = {reading.name for v in versions for ruling in v.rulings for reading in ruling.readings if reading.legitimate}
    assert legitimate == {"exact", "half-to-even", "floor-plus-half", "no-rank-2", "four-dimensional"}


def test_a_reading_says_who_follows_it_or_is_one_that_the_text_allows() -> None:
    assert all(reading.followed_by or reading.legitimate for v in spec.versions() for ruling in v.rulings for reading in ruling.readings)


def _evidence(op: str, id: str) -> str:
    ruling = spec.resolve(op).ruling(id)
    assert ruling is not None
    return " ".join([ruling.choice, ruling.evidence, *(reading.text for reading in ruling.readings)])


def test_as_many_pairs_of_extent_and_bins_hang_on_precision_as_the_ruling_says() -> None:
    parted = 0
    for bins in range(1, 33):
        extents = np.arange(1, 1025)[:, None]
        index = np.arange(bins)
        width = extents.astype(np.float32) / np.float32(bins)
        starts, ends = np.floor(index.astype(np.float32) * width), np.ceil((index + 1).astype(np.float32) * width)
        parted += int(np.any((starts != index * extents // bins) | (ends != -(-(index + 1) * extents // bins)), axis=1).sum())
    assert parted == 963
    assert "Of the 32768 pairs of an extent up to 1024 and up to 32 bins, 963 have bounds" in _evidence("MaxRoiPool", "bin-precision")


def test_the_bounds_that_the_ruling_on_precision_names() -> None:
    text = _evidence("MaxRoiPool", "bin-precision")
    assert math.ceil(np.float32(7) * (np.float32(57) / np.float32(7))) == 58
    assert math.ceil(np.float32(21) * (np.float32(3) / np.float32(21))) == 4
    assert "extent of 57 in 7 bins the last ends at 58" in text
    assert "extent 3 in 21 bins at 3" in text
    assert np.float32(5) * np.float32(0.7) == 3.5
    assert 5 * float(np.float32(0.7)) < 3.5
    assert "coordinate 5 at a spatial_scale of 0.7 (in float32 a little less) is 3, not 4" in text


def test_the_numbers_that_the_rulings_on_norms_name() -> None:
    assert "gives 2.0800838" in _evidence("GlobalLpPool", "sign")
    assert math.isclose(9 ** (1 / 3), 2.0800838, rel_tol=1e-7)
    assert "gives 3.5355" in _evidence("GlobalLpPool", "sum-or-mean")
    assert math.isclose(math.sqrt(25 / 2), 3.5355, rel_tol=1e-4)
    assert "float [1e30, 1e30] gives 1.4142135e30, float16 [300, 300] gives 424.25" in _evidence("GlobalLpPool", "accumulation")
    assert np.float32(math.sqrt(2) * float(np.float32(1e30))) == np.float32(1.4142135e30)
    assert np.float16(math.hypot(300, 300)) == 424.25


def test_the_numbers_that_the_rulings_on_precision_name() -> None:
    text = _evidence("GlobalLpPool", "half-precision")
    assert "float16 [300, 300] gives inf" in text and "90000 is no float16" in text
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(90000)) and np.isinf(np.float16(2**40)) and "2^40 is infinite" in text
    assert abs((46900.0**3) ** float(np.float16(1 / 3)) - 46800) < 30
    assert "float16 46900 alone gives about 46800" in text
    assert "1e300 gives 3.4028235e38" in _evidence("GlobalLpPool", "double-precision")
