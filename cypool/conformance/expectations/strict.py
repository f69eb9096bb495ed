"""Hold a run against a list: report results that are not as listed, and entries about nothing.

It is pure, so that it can be done again on kept records.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cypool.conformance.cases.instances import base
from cypool.conformance.expectations.lists import Entry, Expectations, about, matches
from cypool.conformance.judging.explanations import Against, by_readings
from cypool.conformance.judging.records import Result
from cypool.conformance.reports import summary

NOT_LISTED = "not listed"
OTHERWISE = "listed, but as another verdict"
BUT_CONFORMS = "listed, but it conforms"
NOTHING = "matches no case"
BEHIND = "entries above it list all its cases"

Known: TypeAlias = Callable[[], Collection[str]]
"""The ids of all cases that there are, worked out when it is called."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """One thing that is not as listed: one of the words above, the entry or glob, and the cases if
    any.
    """

    kind: str
    text: str
    results: tuple[Result, ...] = ()

    @property
    def examples(self) -> list[Result]:
        """The results, those of the smallest inputs first."""
        return sorted(self.results, key=lambda result: (result.elements, len(result.case), result.case))


@dataclass(frozen=True, slots=True)
class Held:
    """The outcome of holding a run against a list: how many cases are as listed, how many entries
    are in force, and all surprises. A run is as listed if there is no surprise.
    """

    listed: int
    entries: int
    surprises: tuple[Surprise, ...]

    def __str__(self) -> str:
        """In a line, without what is not as listed."""
        return f"{self.listed:,} cases are as listed" + ("; not as listed:" if self.surprises else ", and all others conform")


def hold(expectations: Expectations, version: str, results: Sequence[Result], known: Known = tuple, against: Against = by_readings) -> Held:
    """Hold the results of one runtime, of that version, against its list.

    Of several entries that list a case the first counts.

    ``known`` is called only where something in the list is about none of the results, for a run may
    be of a part of the cases: that is a surprise where it is about no case at all.
    """
    entries = expectations.in_force(version)
    by_id = {result.case: result for result in results}
    owner = expectations.listed(version, results, against)
    surprises: list[Surprise] = []
    for entry in entries:
        listed = [by_id[id] for id in owner if owner[id] is entry]
        wrong = [result for result in listed if not entry.takes(result)]
        surprises += _surprises(OTHERWISE, entry.title, (result for result in wrong if not result.conforms))
        surprises += _surprises(BUT_CONFORMS, entry.title, (result for result in wrong if result.conforms))
        quiet = idle(entry, by_id, known)
        surprises += [Surprise(NOTHING, f"{glob} (of {entry.title})") for glob in quiet]
        if not listed and not quiet and (kind := useless(entry, entries, results, known)):
            surprises.append(Surprise(kind, entry.title))
    for finding in summary.findings(result for id, result in by_id.items() if id not in owner and not result.conforms):
        surprises += _surprises(NOT_LISTED, ": ".join(filter(None, (finding.verdict, finding.name))), finding.results)
    as_listed = sum(entry.takes(by_id[id]) for id, entry in owner.items())
    order = NOT_LISTED, OTHERWISE, BUT_CONFORMS, NOTHING, BEHIND
    return Held(as_listed, len(entries), tuple(sorted(surprises, key=lambda surprise: order.index(surprise.kind))))


def _surprises(kind: str, text: str, results: Iterable[Result]) -> list[Surprise]:
    found = tuple(results)
    return [Surprise(kind, text, found)] if found else []


def idle(entry: Entry, run: Collection[str], known: Known) -> list[str]:
    """Return globs that match no case of the run nor any existing case, and exceptions that except
    nothing.
    """
    within = replace(entry, excepted=())
    quiet = [glob for glob in (*entry.cases, *entry.excepted) if not any(matches(id, (glob,)) and within.holds(id) for id in run)]
    return [glob for glob in quiet if not any(matches(id, (glob,)) and within.holds(id) for id in known())]


def useless(entry: Entry, entries: Sequence[Entry], results: Sequence[Result], known: Known) -> str:
    """Say why one of the entries, which lists nothing of a run, never counts; "" where it does in
    part, or another run may need it.
    """
    run = {result.case for result in results}
    others = [other for other in entries if other is not entry]
    if entry.faults or entry.rulings:  # what these are about shows in results alone
        helps = any(about(others, result) is not about(entries, result) for result in results)  # to explain what several faults do
        if helps or not _covers(entry, run, known):
            return ""
        return BEHIND if any(about([entry], result) for result in results) else NOTHING
    if not any(map(entry.holds, run)):
        return "" if any(map(entry.holds, known())) else NOTHING
    by_id_alone = [other for other in entries[: entries.index(entry)] if not (other.faults or other.rulings)]
    elsewhere = (id for id in known() if id not in run and entry.holds(id))
    return BEHIND if all(any(other.holds(id) for other in by_id_alone) for id in elsewhere) else ""


def _covers(entry: Entry, run: Collection[str], known: Known) -> bool:
    """Tell whether the run has every case in the scope of an entry, at the opsets and in the
    variants that the run has at all.
    """
    return not unasked_of(entry, run, known) and any(map(entry.holds, run))


def unasked_of(entry: Entry, run: Collection[str], known: Known) -> list[str]:
    """Return the cases in the scope of an entry that a run left out, at the opsets and in the
    variants that the run has at all.
    """
    marks = frozenset(id.removeprefix(base(id)) for id in run)
    return [id for id in _marked(known, marks) if id not in run and entry.holds(id)]


@functools.lru_cache(4)
def _marked(known: Known, marks: frozenset[str]) -> tuple[str, ...]:
    """Return the ids with one of these marks of opset and variant; each entry of a list asks."""
    return tuple(id for id in known() if id.removeprefix(base(id)) in marks)
