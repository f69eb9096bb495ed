"""Tell what changed from one run to another: broke, was fixed, is otherwise different, came, went.

The two runs may be of two versions of a runtime, or of two runtimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from cypool.conformance.judging import compare
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.fingerprint import Followed, fingerprint
from cypool.conformance.reports.merge import Run
from cypool.conformance.reports.summary import Finding, Summary

Pair = tuple[Result, Result]
"""The old and the new result of one case."""


class NotComparable(ValueError):
    """Two runs that have no runtime in common, and several to choose from."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The cases that changed, by what that means for the runtime.

    ``different``: another verdict or reading, no better and no worse.
    """

    broke: tuple[Pair, ...]
    fixed: tuple[Pair, ...]
    different: tuple[Pair, ...]
    came: tuple[Result, ...]
    went: tuple[Result, ...]
    same: int

    def __str__(self) -> str:
        """The numbers in a line."""
        numbers = {name: getattr(self, name) for name in (field.name for field in fields(self)) if name != "same"}
        return ", ".join([*(f"{len(cases):,} {name}" for name, cases in numbers.items() if cases), f"{self.same:,} the same"])


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes for one runtime: its old and new summary, the cases, the readings before and
    after.
    """

    old: Summary
    new: Summary
    changes: Changes
    readings: tuple[tuple[Followed, Followed], ...]


def differences(old: Run, new: Run) -> list[Difference]:
    """Return the differences, runtime by runtime: those that both runs name, or, where they share
    no name, the one of each.
    """
    names = [(name, name) for name in old[0].runtimes if name in new[0].runtimes]
    if not names and len(old[0].runtimes) == len(new[0].runtimes) == 1:
        names = list(zip(old[0].runtimes, new[0].runtimes, strict=True))
    if not names:
        raise NotComparable(f"the runs have no runtime in common: {', '.join(old[0].runtimes)} and {', '.join(new[0].runtimes)}")
    return [_difference(old, new, before, after) for before, after in names]


def groups(pairs: Sequence[Pair]) -> list[tuple[str, Finding]]:
    """Changed cases, grouped as findings are, with their verdicts before and after:
    ``pass → error``.

    A finding is the new one; the old one where the new result is right.
    """
    by_verdicts: dict[str, list[Result]] = {}
    for old, new in pairs:
        told = new if not new.conforms or old.verdict == compare.PASS else old
        by_verdicts.setdefault(f"{old.verdict} → {new.verdict}", []).append(told)
    found = [(verdicts, finding) for verdicts, results in by_verdicts.items() for finding in summary.findings(results)]
    return sorted(found, key=lambda group: -group[1].count)


def _difference(old: Run, new: Run, before: str, after: str) -> Difference:
    olds, news = summary.of_runtime(before, old[1]), summary.of_runtime(after, new[1])
    return Difference(
        summary.summarize(old[0], before, olds),
        summary.summarize(new[0], after, news),
        _changes({result.case: result for result in olds}, {result.case: result for result in news}),
        _readings(old[0], olds, new[0], news),
    )


def _changes(olds: dict[str, Result], news: dict[str, Result]) -> Changes:
    pairs = [(olds[case], result) for case, result in news.items() if case in olds]
    changed = [(a, b) for a, b in pairs if (a.verdict, a.reading) != (b.verdict, b.reading)]
    return Changes(
        broke=tuple((a, b) for a, b in changed if a.conforms and not b.conforms),
        fixed=tuple((a, b) for a, b in changed if b.conforms and not a.conforms),
        different=tuple((a, b) for a, b in changed if a.conforms == b.conforms),
        came=tuple(result for case, result in news.items() if case not in olds),
        went=tuple(result for case, result in olds.items() if case not in news),
        same=len(pairs) - len(changed),
    )


def _readings(old: Header, olds: Sequence[Result], new: Header, news: Sequence[Result]) -> tuple[tuple[Followed, Followed], ...]:
    before = {(followed.op, followed.ruling.id): followed for followed in fingerprint(old, olds)}
    after = {(followed.op, followed.ruling.id): followed for followed in fingerprint(new, news)}
    return tuple((before[key], followed) for key, followed in after.items() if key in before and before[key].name != followed.name)
