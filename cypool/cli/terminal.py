"""A run's report on a terminal, and what changed between two.

The report itself knows nothing of widths and colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cypool.conformance.judging import compare
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.diff import Difference, groups
from cypool.conformance.reports.fingerprint import Followed, fingerprint
from cypool.conformance.reports.summary import Finding

STYLES = {compare.PASS: "green", compare.READS_DIFFERENTLY: "cyan", compare.UNSUPPORTED: "dim"}
BAD = "red"
LOST = (compare.CRASHED, compare.TIMED_OUT)
"""Where what the worker wrote to standard error may be all that it said."""

NARROWEST = 16  # of a runtime's column
LABELS = 28  # what the two columns of row labels take, with their padding


def render(header: Header, results: Sequence[Result], console: Console) -> RenderableType:
    """Return the matrix with its legend, then what each runtime did, grouped."""
    names = list(header.runtimes)
    abreast = max(1, (console.width - LABELS) // (NARROWEST + 2))
    parts: list[RenderableType] = [
        _matrix(header, results, names[start : start + abreast], console.width) for start in range(0, len(names), abreast)
    ]
    parts.append(_legend(results))
    for name in header.runtimes:
        parts += ["", _runtime(header, name, summary.of_runtime(name, results))]
    return Group(*parts)


def _matrix(header: Header, results: Sequence[Result], names: Sequence[str], width: int) -> Table:
    """Return the matrix of these runtimes, as many as fit side by side."""
    matrix = summary.matrix(header, results)
    room = max(NARROWEST, (width - LABELS) // len(names) - 2)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_footer=True, footer_style="")
    table.add_column("", footer="all", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in names:
        title = Text(header.title(name))
        table.add_column(title, footer=_cell(matrix.total(name), room), overflow="fold", max_width=room)
    previous = ""
    for version, type in matrix.rows:
        if previous and version != previous:
            table.add_row()
        cells = [_cell(matrix.cell((version, type), name), room) for name in names]
        table.add_row("" if version == previous else version, type, *cells)
        previous = version
    return table


def _cell(counts: Counter[str], room: int) -> Text:
    """Return the counts in words, broken only between verdicts."""
    text = Text()
    column = 0
    for verdict in compare.VERDICTS:
        if not counts[verdict]:
            continue
        (word,) = summary.in_words(Counter({verdict: counts[verdict]}))
        if column:
            lead = "  " if column + 2 + len(word) <= room else "\n"
            column = column + 2 if lead == "  " else 0
            text.append(lead)
        text.append(word, STYLES.get(verdict, BAD))
        column += len(word)
    return text


def _legend(results: Sequence[Result]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for word, meaning in summary.legend(results):
        grid.add_row(word, Text(meaning, "dim"))
    return grid


def _runtime(header: Header, name: str, results: Sequence[Result]) -> RenderableType:
    parts: list[RenderableType] = [Text(str(summary.summarize(header, name, results)), "bold")]
    parts.append(_findings(header, [(finding.verdict, finding) for finding in summary.findings(results)]))
    followed = fingerprint(header, results)
    if followed:
        parts.append(Text("fingerprint: ").append(Text(", ").join(Text(str(reading), _style(reading)) for reading in followed)))
    return Group(*parts)


def _findings(header: Header, found: Iterable[tuple[str, Finding]]) -> Table:
    """Findings under what to call their verdicts."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right")
    grid.add_column(overflow="fold")
    for verdict, finding in found:
        text = Text(verdict, STYLES.get(finding.verdict, BAD))
        text.append(f": {finding.name}" if finding.name else "", "default")
        details = [header.explain(finding.name), *_examples(finding)]
        text.append("".join(f"\n{detail}" for detail in details if detail and detail != finding.name), "dim")
        grid.add_row(f"{finding.count:,}", text)
    return grid


def _examples(finding: Finding) -> list[str]:
    """Return the lines about the most telling case and the smallest; what both say is said once."""
    lines: list[str] = []
    for example in finding.examples:
        lines.append(f"the smallest: {example.case}" if lines else example.case)
        said = [example.message, example.stderr if finding.verdict in LOST else ""]
        lines += [line for line in map(summary.shortened, said) if line not in lines]
    return lines


def _style(reading: Followed) -> str:
    return "" if reading.as_ruled else STYLES[compare.READS_DIFFERENTLY] if reading.legitimate else BAD


def render_diff(header: Header, found: Iterable[Difference]) -> RenderableType:
    """Render what changed, runtime by runtime; ``header`` is the new run's."""
    parts: list[RenderableType] = []
    for difference in found:
        parts += [Text(f"old: {difference.old}"), Text(f"new: {difference.new}"), Text(str(difference.changes), "bold")]
        for word in CHANGED:
            changed = groups(getattr(difference.changes, word))
            if changed:
                parts += ["", Text(word, CHANGED[word]), _findings(header, changed)]
        readings = [Text(f"{old} → {new.name}", _style(new)) for old, new in difference.readings]
        if readings:
            parts.append(Text("fingerprint: ").append(Text(", ").join(readings)))
        parts.append("")
    return Group(*parts[:-1])


CHANGED = {"broke": "bold red", "fixed": "bold green", "different": "bold"}
"""The chapters of a difference, the worst first."""
