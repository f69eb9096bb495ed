"""``python -m benchmarks``: run the races and print how cypool stands beside its peers, the limit
and the targets.

Apart from everything else because it alone reads the command line and sets the process up.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import time
from pathlib import Path

from benchmarks import imports, machine, peers, plot, race, report, sweep, timing
from benchmarks.peers import cypool_peer
from benchmarks.settings import SLOW_TO_COMPILE, all_settings
from benchmarks.settings.goals import Setting


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer settings and rounds: some minutes, or a minute for an operator")
    parser.add_argument("--op", default="", metavar="NAMES", help="only these operators, comma between")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, for all alike (1,2)")
    parser.add_argument(
        "-k", dest="pattern", default="", metavar="WORDS", help="only settings whose name or row holds all WORDS; a glob if it has *"
    )
    parser.add_argument("--peers", default="", metavar="NAMES", help="only these peers, comma between; 'none' for none")
    parser.add_argument("--best", action="store_true", help="compare best samples instead of medians, for a machine that others use too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measurements to FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ratios, as PNG")
    parser.add_argument("--sweep", action="store_true", help="how cost grows with size, instead of the races")
    parser.add_argument("--list", action="store_true", help="name the settings and stop")
    return parser.parse_args()


def wanted(setting: Setting, pattern: str) -> bool:
    """Whether a setting is asked for."""
    if "*" in pattern:
        return fnmatch.fnmatchcase(setting.name, pattern) or fnmatch.fnmatchcase(setting.row, pattern)
    return all(word in f"{setting.name} {setting.row}" for word in pattern.split())


def main() -> None:
    options = arguments()
    counts = [int(word) for word in options.threads.split(",")]
    out = report.console()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: max(counts)])  # as many for everybody, whatever they default to
    effort = timing.QUICK if options.quick else timing.FULL
    if options.sweep:
        swept = []
        for item in sweep.SWEEPS:
            for threads in counts:
                if options.pattern in item.name:
                    lines = sweep.run(item, threads, effort, options.best)
                    out.print(sweep.title(item, lines, threads), sweep.table(lines), "", sep="\n")
                    swept += [(item, lines)] if threads == counts[0] else []
        if options.plot:
            sweep.draw(swept, options.plot)
        return
    operators = sorted({s.work.op for s in all_settings()})
    chosen = options.op.split(",") if options.op else operators
    if unknown := set(chosen) - set(operators):
        raise SystemExit(f"no settings of {', '.join(sorted(unknown))}; there are some of {', '.join(operators)}")
    settings = [s for s in all_settings() if s.work.op in chosen and wanted(s, options.pattern) and (s.quick or not options.quick)]
    if not settings:
        raise SystemExit(f"no setting matches {options.pattern!r}; --list names them")
    if options.list:
        for setting in settings:
            out.print(f"{setting.row:36} {setting.name}")
        return

    start = time.perf_counter()
    found = peers.load()
    ways = {name: way for name, way in found.ways.items() if not options.peers or name in options.peers.split(",")}
    facts = machine.description(max(counts))
    versions = {"cypool": cypool_peer.VERSION, **found.versions}
    out.print(machine.sentence(facts))
    out.print(", ".join(f"{name} {version}" for name, version in versions.items()))
    if found.missing:
        out.print(f"not installed: {', '.join(found.missing)} (pip install -r benchmarks/requirements.txt)")

    results = []
    with out.status("") as status:
        for setting in settings:
            slow = SLOW_TO_COMPILE.get(setting.work.op, ()) if options.quick else ()
            taking_part = {name: way for name, way in ways.items() if name not in slow}
            for threads in counts:
                if threads in setting.threads or (threads > 1 and max(setting.threads) > 1):
                    status.update(f"{setting.name}, {threads} T")
                    results.append(race.run(setting, threads, threads == max(counts) > 1, taking_part, effort, options.best))
                    if options.json:
                        options.json.write_text(json.dumps(report.as_json(results, facts, versions), indent=1) + "\n")
    imported = None if options.pattern or options.op else imports.measure(5 if options.quick else 15)

    statistic = "best" if options.best else "median"
    out.print(f"\ncypool's {statistic} time, ± half the quartile distance, and how many times as long others took;")
    out.print("1 T: cypool on one thread; beside: cypool on other work\n")
    for row in dict.fromkeys(result.setting.row for result in results):
        group = [result for result in results if result.setting.row == row]
        columns = [name for name in ways if any(name in result.peers or name in result.differ for result in group)]
        out.print(f"[bold]{row}", report.race_table(group, columns), "", sep="\n")
    for result in results:
        for name, fault in result.differ.items():
            out.print(f"left out: {name} in {result.setting.name}, {result.threads} T: {fault}")
    out.print("", report.target_table(results), "", report.missed_table(results), sep="\n")
    if imported:
        out.print(
            f"\nimport cypool: {imported.beyond * 1e3:.1f} ms beyond numpy's {imported.numpy * 1e3:.0f} ms (asked: under 30 ms, "
            f"nothing of {', '.join(imports.HEAVY)}) {'met' if imported.met else 'MISSED ' + ' '.join(imported.heavy)}"
        )
    if options.plot:
        plot.draw(report.as_json(results, facts, versions)["results"], options.plot, machine.sentence(facts))
    out.print(f"\n{len(results)} races, {time.perf_counter() - start:.0f} s")


main()
