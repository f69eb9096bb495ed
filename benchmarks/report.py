"""Tables on the terminal and JSON: results to read.

Apart from the race because a result is made once and shown in several ways.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.race import CYPOOL, Result
from benchmarks.settings.goals import LIMIT, ONE_THREAD, Goal

WIDTH = 100


def console() -> Console:
    return Console(width=WIDTH, highlight=False)


def seconds(value: float) -> str:
    """Three digits and a unit."""
    unit, size = next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3)) if value >= size), ("us", 1e-6))
    return f"{value / size:.3g} {unit}"


def factor(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def race_table(results: Iterable[Result], peers: Sequence[str]) -> Table:
    """cypool's median, and how many times as long the limit, one thread and each peer took."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("setting", no_wrap=True)
    table.add_column("T", justify="right")
    for name in (CYPOOL, "±", LIMIT, ONE_THREAD, *peers, "beside"):
        table.add_column(
            name.replace("ORT Reduce", "ORT-R").replace("OpenVINO", "OV").replace(ONE_THREAD, "1 T"), justify="right", no_wrap=True
        )
    for result in results:
        own = result.times[CYPOOL]
        beside = " ".join(f"{name} {factor(result.ratio(name))}" for name in result.setting.beside)
        others = ["differs" if peer in result.differ else factor(result.ratio(peer)) for peer in peers]
        table.add_row(
            result.setting.name,
            str(result.threads),
            seconds(min(own.all) if result.best else own.median),
            f"{own.spread:.0%}",
            factor(result.ratio(LIMIT)),
            "BITS" if ONE_THREAD in result.differ else factor(result.ratio(ONE_THREAD)),
            *others,
            beside,
        )
    return table


def goal_name(goal: Goal) -> str:
    return f"{goal.against}" + (f" (or {goal.unless[1]} of {goal.unless[0]})" if goal.unless else "")


def target_table(results: Iterable[Result]) -> Table:
    """One line a row of the target table and goal: how many settings meet it, and the one that is
    worst off.
    """
    groups: dict[tuple[str, str, float, int], list[tuple[float, bool, str]]] = defaultdict(list)
    for result in results:
        for goal, reached, met in result.verdicts():
            groups[result.setting.row, goal_name(goal), goal.at_least, result.threads].append((reached, met, result.setting.name))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for name, justify in (
        ("target", "left"),
        ("against", "left"),
        ("T", "right"),
        ("asked", "right"),
        ("reached", "right"),
        ("met", "right"),
        ("worst", "left"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for (row, against, asked, threads), lines in groups.items():
        worst = min(lines, key=lambda line: (line[1], line[0]))
        enough = sum(line[1] for line in lines)
        style = "" if enough == len(lines) else "red"
        table.add_row(row, against, str(threads), factor(asked), factor(worst[0]), f"{enough}/{len(lines)}", worst[2], style=style)
    return table


def missed_table(results: Iterable[Result]) -> Table:
    """Every goal that was not reached."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for name, justify in (("missed", "left"), ("T", "right"), ("against", "left"), ("asked", "right"), ("reached", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for result in results:
        for goal, reached, met in result.verdicts():
            if not met:
                table.add_row(result.setting.name, str(result.threads), goal_name(goal), factor(goal.at_least), factor(reached))
    return table


def as_json(results: Iterable[Result], machine: dict[str, Any], versions: dict[str, str]) -> dict[str, Any]:
    """Everything that was measured; times are seconds a call."""
    return {
        "machine": machine,
        "versions": versions,
        "results": [
            {
                "row": result.setting.row,
                "name": result.setting.name,
                "op": result.setting.work.op,
                "threads": result.threads,
                "statistic": "best" if result.best else "median",
                "read_bytes": result.setting.work.read_bytes,
                "written_bytes": result.setting.work.written_bytes,
                "times": {
                    name: {"median": times.median, "least": min(times.all), "spread": times.spread, "samples": len(times.all)}
                    for name, times in result.times.items()
                },
                "ratios": {name: result.ratio(name) for name in result.times if name != CYPOOL},
                "peers": result.peers,
                "differ": result.differ,
                "goals": [
                    {"against": goal_name(goal), "asked": goal.at_least, "reached": reached, "met": met}
                    for goal, reached, met in result.verdicts()
                ],
            }
            for result in results
        ],
    }
