"""``python -m benchmarks.page``: write table and picture of docs/performance.md from
``figures/performance.json``; needs matplotlib.

The record is what ``python -m benchmarks --quick --json benchmarks/figures/performance.json``
wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks import plot
from benchmarks.figures import DOCS, FOLDER, put
from benchmarks.machine import sentence
from benchmarks.report import factor, seconds
from benchmarks.settings.goals import ELSEWHERE, FASTEST, LIMIT

RECORD = FOLDER / "performance.json"
PAGE = "performance.md"

STATISTICS = {"best": "least", "median": "median"}
"""The entry of a record's times by what was compared."""

TITLES = ("work", "cypool", "beside", "asked", "1 thread", "2 threads", "limit")

MANY = 6
"""Settings of a row beyond which only the least and the largest ratio are shown."""

Results = list[dict[str, Any]]


def block() -> str:
    """Return the made part of the page: the machine, and a table an operator."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    (statistic,) = {result["statistic"] for result in record["results"]}
    parts = [f"{sentence(record['machine'])}. {versions}. Times and ratios are of {statistic} samples."]
    for op, results in grouped(record["results"], "op").items():
        lines = [line(TITLES), "|---" * len(TITLES) + "|"]
        for name, group in grouped(results, "row").items():
            lines += table_rows(name.removeprefix(op).strip(", ") or "all", group)
        parts += [f"**{op}**", "\n".join(lines)]
    return "\n\n".join(parts)


def grouped(results: Results, key: str) -> dict[str, Results]:
    """Results by an entry, in their order."""
    groups: dict[str, Results] = {}
    for result in results:
        groups.setdefault(result[key], []).append(result)
    return groups


def line(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def table_rows(name: str, results: Results) -> list[str]:
    """A row of the settings' table: one line for all that it is held against."""
    ones = [result for result in results if result["threads"] == min(r["threads"] for r in results)]
    times = [result["times"]["cypool"][STATISTICS[result["statistic"]]] for result in ones]
    limits = [result["ratios"][LIMIT] for result in ones if LIMIT in result["ratios"]]
    beside = list(dict.fromkeys(goal["against"] for result in results for goal in result["goals"])) or [FASTEST]
    own = [
        (
            goal,
            asked(results, goal),
            *(reached([result for result in results if result["threads"] == count], goal) for count in (1, 2)),
        )
        for goal in beside
    ]
    first, *others = [cells for cells in own if any(cells[2:])] or own[:1]
    return [
        line((name, span(list(map(seconds, sorted(times)))), *first, span([factor(value) for value in sorted(limits)]))),
        *(line(("", "", *cells, "")) for cells in others),
    ]


def span(words: list[str]) -> str:
    """Return the first and the last of some figures."""
    return " to ".join(dict.fromkeys(words[:1] + words[-1:]))


def asked(results: Results, against: str) -> str:
    """Say how many times as fast cypool is to be: one number, or one a setting."""
    by_name = {result["name"]: goal["asked"] for result in results for goal in result["goals"] if goal["against"] == against}
    values = [factor(value) for value in by_name.values()]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def reached(results: Results, against: str) -> str:
    """Say how many times as fast it is, setting by setting; what falls short in bold."""
    values = []
    for result in results:
        goals = [goal for goal in result["goals"] if goal["against"] == against]
        values += [(goal["reached"], goal["met"]) for goal in goals]
        if not goals and against == FASTEST and (rivals := [result["ratios"][peer] for peer in result["peers"] if peer not in ELSEWHERE]):
            values.append((min(rivals), True))
    words = [factor(value) if met else f"**{factor(value)}**" for value, met in values]
    if len(words) <= MANY:
        return ", ".join(words)
    short = sum(not met for _, met in values)
    least, most = (words[values.index(choose(values))] for choose in (min, max))
    return f"{least} to {most}" + (f" (short {short} of {len(values)})" if short else "")


def main() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    put(PAGE, "figures", block())
    plot.draw(record["results"], DOCS / "performance.png", sentence(record["machine"]))


if __name__ == "__main__":
    main()
