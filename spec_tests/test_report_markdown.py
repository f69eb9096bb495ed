"""The Markdown report: its tables hold together, nothing in it is markup that should not be, and it
stays short.
"""

from __future__ import annotations

import re

import pytest
from report_runs import HOSTILE, NEW, OLD, result

from cypool.conformance.asking.protocol import Description
from cypool.conformance.judging.records import Header
from cypool.conformance.reports.diff import differences
from cypool.conformance.reports.markdown import MOST_FINDINGS, diff_markdown, escaped, markdown

GITHUB_LIMIT = 1024 * 1024
"""Bytes of a step's summary on GitHub."""


@pytest.mark.parametrize("text", [markdown(*OLD), diff_markdown(NEW[0], differences(OLD, NEW))])
def test_the_rows_of_a_table_have_the_cells_of_its_title(text: str) -> None:
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert blocks
    for block in blocks:
        assert len({row.count("|") for row in block}) == 1, block


def test_what_a_runtime_says_is_no_markup() -> None:
    assert not re.search(r"[|*_`\[\]~\\<>]", escaped(HOSTILE))
    assert "\n" not in escaped(HOSTILE)


def test_what_opens_is_closed() -> None:
    text = markdown(*OLD)
    assert text.count("<details>") == text.count("</details>") == 3


def test_five_runtimes_that_say_something_else_each_time_and_at_length_fit_a_summary() -> None:
    names = [f"r{i}" for i in range(5)]
    results = [
        result(name, f"MaxRoiPool-1/float/{'x' * 60}{i}", "error", f"{'|<' * 200} {chr(0x4E00 + i)} {'*' * 200}")
        for name in names
        for i in range(2000)
    ]
    header = Header("0.1.0", {name: Description(name, "1") for name in names}, 2000, "onnx")
    text = markdown(header, results)
    assert text.count(f"and {2000 - MOST_FINDINGS:,} more") == 5
    assert len(text.encode()) < GITHUB_LIMIT
