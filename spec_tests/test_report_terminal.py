"""The report on terminals of several widths."""

from __future__ import annotations

import dataclasses
import io

import pytest
from report_runs import OLD
from rich.console import Console

from cypool.cli.terminal import render
from cypool.conformance.reports import summary
from cypool.conformance.reports.merge import Run, merge


def many(runtimes: int) -> Run:
    header, results = OLD
    runs = []
    for i in range(runtimes):
        name = f"runtime{i}"
        own = [dataclasses.replace(found, runtime=name) for found in results if found.runtime == "blunt"]
        runs.append((dataclasses.replace(header, runtimes={name: header.runtimes["blunt"]}), own))
    return merge(runs)


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_count_is_broken_and_no_line_is_too_long_however_many_runtimes_there_are(width: int) -> None:
    header, results = many(7)
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(render(header, results, console))
    shown = console.file.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    matrix = summary.matrix(header, results)
    for row in matrix.rows:
        for words in summary.in_words(matrix.cell(row, "runtime0")):
            assert shown.count(words) >= 7
    assert all(f"runtime{i} 0.9" in shown for i in range(7))
