"""Write a run as Markdown, short enough for the summary of a CI job.

There is no width to mind, and text has to be kept from being read as markup.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cypool.conformance.expectations.strict import Held
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.diff import Difference, groups
from cypool.conformance.reports.fingerprint import Followed, fingerprints
from cypool.conformance.reports.summary import Finding

MOST_FINDINGS = 50
"""How many findings of a runtime are shown; runtimes that say something else in every message would
fill the page.
"""

CHANGED = ("broke", "fixed", "different")
"""The chapters of a difference, the worst first."""


def markdown(header: Header, results: Sequence[Result], held: Mapping[str, Held] | None = None) -> str:
    """Return the run: a line a runtime, what is not as its list says, the matrix with its legend,
    the fingerprints, then the findings, folded.
    """
    by_runtime = {name: summary.of_runtime(name, results) for name in header.runtimes}
    parts = [
        "\n".join(f"- {escaped(str(summary.summarize(header, name, own)))}" for name, own in by_runtime.items()),
        *(_held(header.title(name), own) for name, own in (held or {}).items()),
        _matrix(header, results),
        "\n".join(f"- *{word}*: {meaning}" for word, meaning in summary.legend(results)),
        *_fingerprints(header, results),
    ]
    for name, own in by_runtime.items():
        found = summary.findings(own)
        if found:
            table_of_it = findings_table(header, [(finding.verdict, finding) for finding in found])
            parts += folded(f"Findings: {header.title(name)} ({len(found)})", table_of_it)
    parts.append(f"cypool {escaped(header.cypool)}, {header.cases:,} cases, tolerance: {escaped(header.tolerance)}")
    return "\n\n".join(parts) + "\n"


def diff_markdown(header: Header, found: Sequence[Difference]) -> str:
    """Return the changes between two runs as Markdown; ``header`` is the new run's."""
    parts: list[str] = []
    for difference in found:
        parts.append("\n".join(f"- {escaped(str(told))}" for told in (difference.old, difference.new)))
        parts.append(f"**{difference.changes}**")
        for word in CHANGED:
            changed = groups(getattr(difference.changes, word))
            if changed:
                parts += [f"#### {word}", findings_table(header, changed)]
        if difference.readings:
            rows = [(new.op, new.ruling.id, old.name, new.name) for old, new in difference.readings]
            parts += ["#### readings", table(("operator", "where the standard is silent", "before", "after"), rows)]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Return the text in one line, shortened, as it is to be read: nothing in it is markup, nor the
    border of a cell.

    >>> escaped("a|b <i> *c*")
    'a&#124;b &lt;i&gt; &#42;c&#42;'
    """
    line = html.escape(summary.shortened(text, 100, 200), quote=False)
    return "".join(f"&#{ord(character)};" if character in "|*_`[]~\\" else character for character in line)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def folded(title: str, content: str) -> Iterator[str]:
    """Yield a part that opens when its title is clicked."""
    yield f"<details><summary>{html.escape(title)}</summary>"
    yield content
    yield "</details>"


def findings_table(header: Header, found: Sequence[tuple[str, Finding]]) -> str:
    """Findings with their verdicts, a row each: how many cases, what it is called, the most telling
    case and the smallest.
    """
    rows = [
        (
            f"{f.count:,}",
            _what(header, verdict, f),
            "<br>".join(f"`{example.case}`<br>{escaped(example.message)}" for example in f.examples),
        )
        for verdict, f in found[:MOST_FINDINGS]
    ]
    more = f"\n\nand {len(found) - MOST_FINDINGS:,} more" if len(found) > MOST_FINDINGS else ""
    return table(("cases", "finding", "most telling case, and the smallest"), rows) + more


def _what(header: Header, verdict: str, finding: Finding) -> str:
    text = header.explain(finding.name)
    return f"**{verdict}**" + (f": {escaped(finding.name)}" if finding.name else "") + (f"<br>{escaped(text)}" if text else "")


def _held(title: str, held: Held) -> str:
    line = f"**{escaped(title)} and its list: {held}**"
    rows = [
        (f"{len(s.results):,}" if s.results else "", f"**{s.kind}**: {escaped(s.text)}", "".join(f"`{r.case}`" for r in s.examples[:1]))
        for s in held.surprises[:MOST_FINDINGS]
    ]
    return "\n\n".join([line, *([table(("cases", "not as listed", "smallest example"), rows)] if rows else [])])


def _matrix(header: Header, results: Sequence[Result]) -> str:
    matrix = summary.matrix(header, results)
    rows = [(*row, *(", ".join(summary.in_words(matrix.cell(row, name))) for name in matrix.columns)) for row in matrix.rows]
    rows.append(("**all**", "", *(", ".join(summary.in_words(matrix.total(name))) for name in matrix.columns)))
    return table(("operator-version", "type", *(escaped(header.title(name)) for name in matrix.columns)), rows)


def _fingerprints(header: Header, results: Sequence[Result]) -> Iterator[str]:
    found = fingerprints(header, results)
    if found:
        titles = ("operator", "where the standard is silent", *(escaped(header.title(name)) for name in header.runtimes))
        rows = [(op, ruling.id, *(_followed(own.get(name)) for name in header.runtimes)) for op, ruling, own in found]
        yield from folded("Readings followed", table(titles, rows))


def _followed(reading: Followed | None) -> str:
    """Return a reading; in bold if it is a fault, in italics if it is a reading that is not
    cypool's.
    """
    if reading is None:
        return ""
    text = reading.name + (f" ({reading.count} of {reading.of})" if reading.count < reading.of else "")
    return text if reading.as_ruled else f"*{text}*" if reading.legitimate else f"**{text}**"
