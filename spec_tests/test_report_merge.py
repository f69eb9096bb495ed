"""Several runs as one."""

from __future__ import annotations

import dataclasses

import pytest
from report_runs import NAN, NEW, OLD, RANGE

from cypool.conformance.reports.merge import Run, merge


def renamed(run: Run, name: str) -> Run:
    header, results = run
    (description,) = header.runtimes.values()
    return dataclasses.replace(header, runtimes={name: description}), [dataclasses.replace(result, runtime=name) for result in results]


def test_one_run_stays_as_it_is() -> None:
    assert merge([OLD]) is OLD


def test_no_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="no run"):
        merge([])


def test_runtimes_of_different_names_keep_them() -> None:
    header, results = merge([OLD, renamed(NEW, "third")])
    assert list(header.runtimes) == ["sharp", "blunt", "third"]
    assert [result.runtime for result in results[-1:]] == ["third"]
    assert len(results) == len(OLD[1]) + len(NEW[1])


def test_two_versions_of_a_runtime_are_told_apart_by_them() -> None:
    header, results = merge([OLD, NEW])
    assert list(header.runtimes) == ["sharp", "blunt 0.9", "blunt 1.0"]
    assert [header.title(name) for name in header.runtimes] == ["sharp 2.1", "blunt 0.9", "blunt 1.0"]
    assert {result.runtime for result in results} == set(header.runtimes)


def test_runs_of_one_version_are_numbered() -> None:
    header, _ = merge([NEW, NEW, NEW])
    assert list(header.runtimes) == ["blunt 1.0", "blunt 1.0 (2)", "blunt 1.0 (3)"]


def test_cases_are_counted_once_and_headers_are_joined() -> None:
    other = dataclasses.replace(NEW[0], cypool="0.2.0", tolerance="2 ULP", rulings={"MaxRoiPool": (RANGE,)}, computed=("exact",))
    header, _ = merge([OLD, (other, NEW[1])])
    assert header.cases == 12
    assert (header.cypool, header.tolerance) == ("0.1.0, 0.2.0", "onnx, 2 ULP")
    assert header.rulings == {"GlobalLpPool": (RANGE,), "MaxRoiPool": (NAN, RANGE)}
    assert header.computed == ("exact", "last", "never")
