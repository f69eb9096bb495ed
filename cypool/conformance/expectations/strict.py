"""A run held against a list, to the letter: all that is not as listed, and all in the list that is about nothing.

Apart from the list, and pure, so that it can be done again on kept records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from cypool.conformance import report
from cypool.conformance.expectations.globs import matching
from cypool.conformance.expectations.lists import Entry, Expectations
from cypool.conformance.records import Result

NOT_LISTED = "not listed"
CONFORMS = "listed, but it conforms"
OTHERWISE = "listed, but as another verdict"
TWICE = "listed twice"
NOTHING = "matches no case"


@dataclass(frozen=True, slots=True)
class Surprise:
    """What is not as listed: one of the words above, the entry or the glob it is about, and the cases, where it is about cases."""

    kind: str
    text: str
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """What came of it: how many cases are as listed, by how many entries in force, and everything else. None is well."""

    listed: int
    entries: int
    surprises: tuple[Surprise, ...]


def hold(expectations: Expectations, version: str, results: Sequence[Result], known: Callable[[], Collection[str]] = tuple) -> Held:
    """Hold the results of one runtime, of that version, against its list.

    ``known`` gives the ids of all cases that there are. It is called only where a glob matches none of the results, for a run may be of a
    part of the cases: such a glob is a surprise where there is no such case at all.
    """
    entries = expectations.in_force(version)
    by_id = {result.case: result for result in results}
    entry_of: dict[str, Entry] = {}
    surprises: list[Surprise] = []
    as_listed = 0
    for entry in entries:
        listed = [by_id[id] for id in entry.listed(by_id)]
        right = [result for result in listed if result.verdict in entry.verdicts]
        as_listed += len(right)
        wrong = [result for result in listed if result.verdict not in entry.verdicts]
        surprises += _surprises(CONFORMS, entry.title, (result for result in wrong if result.conforms))
        surprises += _surprises(OTHERWISE, entry.title, (result for result in wrong if not result.conforms))
        surprises += _surprises(TWICE, entry.title, (result for result in listed if result.case in entry_of))
        entry_of |= dict.fromkeys((result.case for result in listed), entry)
    for finding in report.findings(result for result in results if not result.conforms and result.case not in entry_of):
        surprises.append(Surprise(NOT_LISTED, ": ".join(filter(None, (finding.verdict, finding.name))), finding.results))
    surprises += [Surprise(NOTHING, f"{glob} (of {entry.title})") for entry in entries for glob in idle(entry, by_id, known)]
    order = NOT_LISTED, OTHERWISE, CONFORMS, TWICE, NOTHING
    return Held(as_listed, len(entries), tuple(sorted(surprises, key=lambda surprise: order.index(surprise.kind))))


def _surprises(kind: str, text: str, results: Iterable[Result]) -> list[Surprise]:
    found = tuple(results)
    return [Surprise(kind, text, found)] if found else []


def idle(entry: Entry, run: Iterable[str], known: Callable[[], Collection[str]]) -> list[str]:
    """The globs of an entry that do nothing: they match no case of the run and none that there is, or an exception takes nothing off."""
    quiet = [glob for glob in entry.cases if not matching(run, [glob])]
    listed = matching(run, entry.cases)
    quiet += [glob for glob in entry.excepted if not matching(listed, [glob])]
    if not quiet:
        return []
    listed = matching(known(), entry.cases)
    return [glob for glob in quiet if not matching(listed, [glob])]
