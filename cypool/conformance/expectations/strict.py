"""A run held against a list, to the letter: all that is not as listed, and all in the list that is about nothing.

Apart from the list, and pure, so that it can be done again on kept records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cypool.conformance import report
from cypool.conformance.axes import base
from cypool.conformance.expectations.globs import matcher
from cypool.conformance.expectations.lists import Entry, Expectations
from cypool.conformance.records import Result

NOT_LISTED = "not listed"
OTHERWISE = "listed, but as another verdict"
CONFORMS = "listed, but it conforms"
NOTHING = "matches no case"
BEHIND = "entries above it list all its cases"

Known: TypeAlias = Callable[[], Collection[str]]
"""The ids of all cases that there are, worked out when it is called."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """What is not as listed: one of the words above, the entry or the glob it is about, and the cases, where it is about cases."""

    kind: str
    text: str
    results: tuple[Result, ...] = ()

    @property
    def examples(self) -> list[Result]:
        """The results, those of the smallest inputs first."""
        return sorted(self.results, key=lambda result: (result.elements, len(result.case), result.case))


@dataclass(frozen=True, slots=True)
class Held:
    """What came of it: how many cases are as listed, how many entries are in force, and everything else. Nothing else is well."""

    listed: int
    entries: int
    surprises: tuple[Surprise, ...]

    def __str__(self) -> str:
        """In a line, without what is not as listed."""
        return f"{self.listed:,} cases are as listed" + ("; not as listed:" if self.surprises else ", and all others conform")


def hold(expectations: Expectations, version: str, results: Sequence[Result], known: Known = tuple) -> Held:
    """Hold the results of one runtime, of that version, against its list. Of several entries that list a case the first counts.

    ``known`` is called only where something in the list is about none of the results, for a run may be of a part of the cases: that is a
    surprise where it is about no case at all.
    """
    entries = expectations.in_force(version)
    by_id = {result.case: result for result in results}
    owner = expectations.listed(version, by_id)
    surprises: list[Surprise] = []
    for place, entry in enumerate(entries):
        listed = [by_id[id] for id in owner if owner[id] is entry]
        wrong = [result for result in listed if result.verdict not in entry.verdicts]
        surprises += _surprises(OTHERWISE, entry.title, (result for result in wrong if not result.conforms))
        surprises += _surprises(CONFORMS, entry.title, (result for result in wrong if result.conforms))
        surprises += [Surprise(NOTHING, f"{glob} (of {entry.title})") for glob in idle(entry, by_id, known)]
        if not listed and behind(entry, entries[:place], by_id, known):
            surprises.append(Surprise(BEHIND, entry.title))
    for finding in report.findings(result for id, result in by_id.items() if id not in owner and not result.conforms):
        surprises += _surprises(NOT_LISTED, ": ".join(filter(None, (finding.verdict, finding.name))), finding.results)
    as_listed = sum(by_id[id].verdict in entry.verdicts for id, entry in owner.items())
    order = NOT_LISTED, OTHERWISE, CONFORMS, NOTHING, BEHIND
    return Held(as_listed, len(entries), tuple(sorted(surprises, key=lambda surprise: order.index(surprise.kind))))


def _surprises(kind: str, text: str, results: Iterable[Result]) -> list[Surprise]:
    found = tuple(results)
    return [Surprise(kind, text, found)] if found else []


def idle(entry: Entry, run: Collection[str], known: Known) -> list[str]:
    """The globs of an entry that do nothing: they match no case of the run and none that there is, or an exception takes nothing off."""
    within = matcher(entry.cases)
    quiet = [glob for glob in (*entry.cases, *entry.excepted) if not any(map(matcher([glob]), filter(within, run)))]
    return [glob for glob in quiet if not any(map(matcher([glob]), filter(within, known())))]


def behind(entry: Entry, above: Iterable[Entry], run: Collection[str], known: Known) -> bool:
    """Whether other entries list all that this one lists in the run, and the same cases at all other opsets and in all variants."""
    bases = {base(id) for id in entry.listed(run)}
    if not bases:
        return False
    left = set(entry.listed([*run, *(id for id in known() if base(id) in bases)]))
    for other in above:
        left.difference_update(other.listed(left))
    return not left
