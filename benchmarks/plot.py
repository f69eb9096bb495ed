"""The ratio peer/cypool by setting, as a picture.

Apart from the report because only this needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.settings import LIMIT


def draw(results: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Draw results as their record has them: a dot a peer, a line a setting, the limit a bar; right of 1 is slower than cypool."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    shown = [result for result in results if result["peers"]]
    names = sorted({peer for result in shown for peer in result["peers"]})
    counts = sorted({result["threads"] for result in shown})
    height = 1.5 + 0.19 * max((sum(result["threads"] == count for result in shown) for count in counts), default=1)
    figure, axes = pyplot.subplots(1, len(counts) or 1, figsize=(6.5 * max(1, len(counts)), height), squeeze=False, sharex=True)
    for axis, count in zip(axes[0], counts, strict=False):
        lines = [result for result in shown if result["threads"] == count]
        rows = range(len(lines))
        for place, name in enumerate(names):  # a peer has its colour in every panel, whoever else is there
            points = [(result["ratios"][name], row) for row, result in zip(rows, lines, strict=True) if name in result["peers"]]
            if points:
                axis.plot(*zip(*points, strict=True), "o", color=f"C{place}", markersize=4, label=name)
        limits = [(result["ratios"][LIMIT], row) for row, result in zip(rows, lines, strict=True) if result["ratios"].get(LIMIT)]
        if limits:
            axis.plot(*zip(*limits, strict=True), "|", color="black", markersize=7, label="limit")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_yticks(list(rows), [result["name"] for result in lines], fontsize=6)
        axis.invert_yaxis()
        axis.grid(axis="x", which="both", linewidth=0.2)
        axis.set_xlabel("time / cypool's time")
        axis.set_title(f"{count} thread{'s' if count > 1 else ''}", fontsize=9)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=len(names) + 1, fontsize=7)
    figure.suptitle(title, fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
