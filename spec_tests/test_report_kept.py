"""Every report of a made-up run is, to the byte, the one in data/reports, where a reviewer reads
it.
"""

from __future__ import annotations

import pytest
import report_runs

REPORTS = report_runs.reports()


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_the_kept_one(name: str) -> None:
    kept = (report_runs.KEPT / name).read_text(encoding="utf-8")
    assert REPORTS[name] == kept, "write it anew with python spec_tests/report_runs.py and read what changed"


def test_nothing_is_kept_that_is_no_report() -> None:
    assert {path.name for path in report_runs.KEPT.iterdir()} == set(REPORTS)


@pytest.mark.parametrize("name", REPORTS)
def test_what_a_runtime_said_colours_no_terminal(name: str) -> None:
    assert "\x1b" not in REPORTS[name]
    assert "31mred" in REPORTS[name] or name.startswith("diff"), "the text is there, but for its escape"
