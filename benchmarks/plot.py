"""The ratio peer/cypool by row of the targets, as a picture.

Apart from the report because only this needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.settings.goals import FASTEST, LIMIT

Results = Sequence[dict[str, Any]]
Values = Sequence[tuple[dict[str, Any], float | None]]


def draw(results: Results, path: Path, title: str) -> None:
    """Draw results as their record has them: a line a row, a dot for each of its settings and
    peers; right of 1 is slower than cypool.

    Thin bars are memory's limit, thick ones what is asked against the fastest peer.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    shown = [result for result in results if result["peers"]]
    names = sorted({peer for result in shown for peer in result["peers"]})
    rows = list(dict.fromkeys(label(result) for result in shown))
    counts = sorted({result["threads"] for result in shown})
    size = (4 + 4.5 * max(1, len(counts)), 1.5 + 0.17 * len(rows))
    figure, axes = pyplot.subplots(1, len(counts) or 1, figsize=size, squeeze=False, sharex=True, sharey=True)
    for axis, count in zip(axes[0], counts, strict=False):
        these = [result for result in shown if result["threads"] == count]
        for place, name in enumerate(names):  # a peer has its colour in every panel
            points(axis, rows, [(result, result["ratios"].get(name)) for result in these], "o", f"C{place}", 3, name)
        points(axis, rows, [(result, result["ratios"].get(LIMIT)) for result in these], "|", "gray", 5, LIMIT)
        goals = [(result, goal["asked"]) for result in these for goal in result["goals"] if goal["against"] == FASTEST]
        points(axis, rows, goals, "|", "black", 9, "asked")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_yticks(range(len(rows)), rows, fontsize=6)
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.grid(axis="both", which="major", linewidth=0.2)
        axis.set_xlabel("time / cypool's time")
        axis.set_title(f"{count} thread{'s' if count > 1 else ''}", fontsize=9)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=len(names) + 2, fontsize=7)
    figure.suptitle(title, fontsize=8)
    figure.tight_layout(rect=(0, 0.5 / size[1], 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def label(result: dict[str, Any]) -> str:
    """The name of a line: operator and row."""
    return str(result["row"] if result["row"].startswith(result["op"]) else f"{result['op']} {result['row']}")


def points(
    axis: Any, rows: list[str], values: Sequence[tuple[dict[str, Any], float | None]], marker: str, colour: str, size: int, name: str
) -> None:
    """Draw a value each of some results, where they have one."""
    at = [(value, rows.index(label(result))) for result, value in values if value]
    if at:
        axis.plot(*zip(*at, strict=True), marker, color=colour, markersize=size, label=name)
