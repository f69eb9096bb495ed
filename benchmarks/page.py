"""``python -m benchmarks.page``: write table and picture of docs/performance.md from ``figures/performance.json``; needs matplotlib.

The record is what ``python -m benchmarks --quick --json benchmarks/figures/performance.json`` wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks import plot
from benchmarks.figures import DOCS, FOLDER, put
from benchmarks.machine import sentence
from benchmarks.report import factor, seconds
from benchmarks.settings import LIMIT, ONE_THREAD

RECORD = FOLDER / "performance.json"
PAGE = "performance.md"
ORT = "ORT"

STATISTICS = {"best": "least", "median": "median"}
"""The entry of a record's times by what was compared."""

TITLES = ("work", "cypool, 1 thread", "fastest peer", "ONNX Runtime", "limit")


def block() -> str:
    """What stands in the page: the machine, the table, and the ratios in a sentence."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    (statistic,) = {result["statistic"] for result in record["results"]}
    lines = [
        f"{sentence(record['machine'])}. {versions}. Times and ratios are of {statistic} samples.",
        "",
        row(TITLES),
        "|---" * len(TITLES) + "|",
    ]
    by_name: dict[str, list[dict[str, Any]]] = {}
    for result in record["results"]:
        by_name.setdefault(result["name"], []).append(result)
    lines += [row((name, *cells(results))) for name, results in by_name.items()]
    return "\n".join([*lines, "", ratios(record["results"])])


def row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def cells(results: list[dict[str, Any]]) -> tuple[str, ...]:
    """What one piece of work took, and how many times as long others, with each number of threads."""
    first = results[0]
    peers = {peer: [result["ratios"].get(peer) for result in results] for peer in first["peers"]}
    fastest = min(peers, key=lambda peer: peers[peer][0] or 1e9, default="")
    return (
        seconds(first["times"]["cypool"][STATISTICS[first["statistic"]]])
        + ("" if first["threads"] == 1 else f" ({first['threads']} threads)"),
        f"{several(peers[fastest])} ({fastest})" if fastest else "",
        several(peers.get(ORT, [])),
        several([result["ratios"].get(LIMIT) for result in results]),
    )


def several(values: list[float | None]) -> str:
    """Ratios, with one comma between."""
    return ", ".join(factor(value) for value in values if value is not None)


def ratios(results: list[dict[str, Any]]) -> str:
    """The ranges of cypool's own ratios."""

    def span(values: list[float]) -> str:
        return f"{min(values):.1f} to {max(values):.1f}"

    own = [
        ("Rescaled rows take {} times a plain one's time", [1 / r["ratios"]["plain"] for r in results if r["ratios"].get("plain")]),
        (
            "channels last {} times the contiguous",
            [1 / r["ratios"]["contiguous"] for r in results if r["ratios"].get("contiguous")],
        ),
        ("two threads do {} times one's work", [r["ratios"][ONE_THREAD] for r in results if r["ratios"].get(ONE_THREAD)]),
    ]
    return ", ".join(words.format(span(values)) for words, values in own if values) + "."


def main() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    put(PAGE, "figures", block())
    plot.draw(record["results"], DOCS / "performance.png", sentence(record["machine"]))


if __name__ == "__main__":
    main()
