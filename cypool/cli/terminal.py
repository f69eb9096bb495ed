"""A run's report on a terminal.

Apart from the report itself, which knows nothing of widths and colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cypool.conformance import compare, report
from cypool.conformance.records import Header, Result
from cypool.conformance.reports.fingerprint import Followed, fingerprint

STYLES = {compare.PASS: "green", compare.READS_DIFFERENTLY: "cyan", compare.UNSUPPORTED: "dim"}
BAD = "red"
NARROWEST = 16  # of a runtime's column
LABELS = 28  # what the two columns of row labels take, with their padding


def render(header: Header, results: Sequence[Result], console: Console) -> RenderableType:
    """The matrix with its legend, then what each runtime did, grouped."""
    parts: list[RenderableType] = [_matrix(header, results, console.width), _legend(results)]
    for name in header.runtimes:
        parts += ["", _runtime(header, name, report.of_runtime(name, results))]
    return Group(*parts)


def _matrix(header: Header, results: Sequence[Result], width: int) -> Table:
    matrix = report.matrix(header, results)
    room = max(NARROWEST, (width - LABELS) // len(matrix.columns) - 2)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_footer=True, footer_style="")
    table.add_column("", footer="all", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in matrix.columns:
        title = Text(header.title(name))
        table.add_column(title, footer=_cell(matrix.total(name), room), overflow="fold", max_width=room)
    previous = ""
    for version, type in matrix.rows:
        if previous and version != previous:
            table.add_row()
        cells = [_cell(matrix.cell((version, type), name), room) for name in matrix.columns]
        table.add_row("" if version == previous else version, type, *cells)
        previous = version
    return table


def _cell(counts: Counter[str], room: int) -> Text:
    """The counts in words, broken only between verdicts."""
    text = Text()
    column = 0
    for verdict in compare.VERDICTS:
        if not counts[verdict]:
            continue
        (word,) = report.in_words(Counter({verdict: counts[verdict]}))
        if column:
            lead = "  " if column + 2 + len(word) <= room else "\n"
            column = column + 2 if lead == "  " else 0
            text.append(lead)
        text.append(word, STYLES.get(verdict, BAD))
        column += len(word)
    return text


def _legend(results: Sequence[Result]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for word, meaning in report.legend(results):
        grid.add_row(word, Text(meaning, "dim"))
    return grid


def _runtime(header: Header, name: str, results: Sequence[Result]) -> RenderableType:
    summary = report.summary(header, name, results)
    parts: list[RenderableType] = [Text(str(summary), "bold")]
    found = Table.grid(padding=(0, 2, 0, 0))
    found.add_column(justify="right")
    found.add_column(overflow="fold")
    for finding in report.findings(results):
        text = Text(finding.verdict, STYLES.get(finding.verdict, BAD))
        text.append(f": {finding.name}" if finding.name else "", "default")
        details = header.readings.get(finding.name), finding.example.case, _short(finding.example.message)
        text.append("".join(f"\n{detail}" for detail in details if detail and detail != finding.name), "dim")
        found.add_row(f"{finding.count:,}", text)
    parts.append(found)
    followed = fingerprint(header, results)
    if followed:
        parts.append(Text("fingerprint: ").append(Text(", ").join(Text(str(reading), _style(reading)) for reading in followed)))
    return Group(*parts)


def _style(reading: Followed) -> str:
    return "" if reading.as_ruled else STYLES[compare.READS_DIFFERENTLY] if reading.legitimate else BAD


def _short(message: str, head: int = 80, tail: int = 120) -> str:
    """The message in one line, without its middle if it is long: what matters stands at the ends."""
    line = " ".join(message.split())
    return line if len(line) <= head + tail else f"{line[:head]} … {line[-tail:]}"
