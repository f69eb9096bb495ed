"""Bring a list up to date with a run: remove what was mended, propose what is new by finding.

Reasons and comments stay. A proposal is a beginning: somebody has to write the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cypool.conformance.cases.instances import base
from cypool.conformance.expectations.blocks import edited, split, written
from cypool.conformance.expectations.lists import Entry, Place, about, matches, read
from cypool.conformance.expectations.strict import Known, idle, unasked_of, useless
from cypool.conformance.expectations.versions import within
from cypool.conformance.judging.compare import OR
from cypool.conformance.judging.explanations import Against, by_readings
from cypool.conformance.judging.records import Result
from cypool.conformance.oracle import JOIN
from cypool.conformance.reports import summary

UNEXPLAINED = "to be explained"
"""How the reason of an entry starts that nobody has written one for."""

INVALID = "*/invalid/*"

KEYS = {
    "operator": "operators",
    "type": "types",
    "ruling": "rulings",
    "fault": "faults",
    "cases": "cases",
    "except": "excepted",
}
"""The keys of a proposal that say what it is about, and the fields of an entry that hold them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change to an entry: a word for it, its title, and the lines removed and added."""

    what: str  # changed, added, removed
    title: str
    gone: tuple[str, ...]
    come: tuple[str, ...]

    def __str__(self) -> str:
        """As a difference reads."""
        return "\n".join([f"{self.what}: {self.title}", *(f"  - {line}" for line in self.gone), *(f"  + {line}" for line in self.come)])


def update(
    text: str, version: str, results: Sequence[Result], known: Known = tuple, against: Against = by_readings
) -> tuple[str, list[Change]]:
    """Return the text of the list after a run of its runtime, of that version, and the changes.

    Entries that are as listed stay to the byte. A listed case with another result becomes an
    exception; an entry without any case left is removed, and so are globs about nothing. Deviations
    that are not listed get entries by finding. Entries about other versions are not touched, nor
    are cases that were not run. ``known`` gives the ids of all existing cases.
    """
    blocks = split(text)
    changes: list[Change] = []
    while (found := _mended(read(str(blocks)).entries, version, results, known, against)) is not None:
        place, before, after = found
        if after is None:
            blocks.remove(place)
        else:
            blocks.entries[place] = edited(blocks.entries[place], {"cases": after.cases, "except": after.excepted})
        changes.append(_change(before, after))
    entries = read(str(blocks)).in_force(version)
    for entry in _proposals(entries, results, against):
        blocks.append(written(_record(entry)))
        changes.append(Change("added", entry.title, (), _lines(entry)))
    return str(blocks), changes


def _mended(
    entries: Sequence[Entry], version: str, results: Sequence[Result], known: Known, against: Against
) -> tuple[int, Entry, Entry | None] | None:
    """Return the place of the first entry that has to change, the entry, and what becomes of it;
    None of an entry that goes.
    """
    in_force = [entry for entry in entries if within(version, entry.versions)]
    owners = [(result, about(in_force, result, against)) for result in results]
    for place, entry in enumerate(entries):
        if entry not in in_force:
            continue
        own = [result for result, owner in owners if owner is entry]
        right = [result.case for result in own if entry.takes(result)]
        wrong = [result.case for result in own if not entry.takes(result)]
        quiet = idle(entry, {result.case for result in results}, known)
        never = not own and not quiet and useless(entry, in_force, results, known)
        unasked = unasked_of(entry, {result.case for result in results}, known) if wrong else []
        if never or (wrong and not right and not unasked):
            return place, entry, None
        if wrong or quiet:
            kept = [glob for glob in entry.cases if glob not in quiet]
            cases = tuple(glob for glob in kept if not _matching(wrong, glob) or _matching([*right, *unasked], glob))
            exceptions = _shortest([id for id in wrong if not cases or matches(id, cases)], right)
            excepted = (*(glob for glob in entry.excepted if glob not in quiet), *exceptions)
            gone = bool(entry.cases) and not cases
            return place, entry, None if gone else dataclasses.replace(entry, cases=cases, excepted=tuple(sorted(excepted)))
    return None


def _matching(ids: Iterable[str], glob: str) -> bool:
    return any(matches(id, (glob,)) for id in ids)


def _shortest(ids: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the ids as globs: one for a case at every opset and in every variant, where none of
    the others is of that case.
    """
    taken = {base(id) for id in others}
    return sorted({id if base(id) in taken else base(id) for id in ids})


def _proposals(entries: Sequence[Entry], results: Sequence[Result], against: Against) -> Iterator[Entry]:
    """Give new entries for the deviations that are not listed: those that faults explain first,
    then the other findings.
    """
    listed = list(entries)
    free = list(results)
    for group_by in (_by_fault, _by_finding):
        free = [result for result in free if about(listed, result, against) is None]
        for entry, members in group_by([result for result in free if not result.conforms]):
            ids = {result.case for result in members}
            others = [result for result in free if result.case not in ids and about(listed, result, against) is None]
            for exact in _exact(entry, members, others, against):
                listed.append(exact)
                yield exact


def _by_fault(results: Iterable[Result]) -> Iterator[tuple[Entry, list[Result]]]:
    """Give an entry for each fault that explains any of these results, by verdict, and those that
    it explains.
    """
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        for name in result.reading.partition(OR)[0].split(JOIN) if result.reading else ():
            found.setdefault((result.verdict, name), []).append(result)
    for (verdict, name), members in sorted(found.items(), key=lambda pair: -len(pair[1])):
        yield Entry((verdict,), _reason(verdict, members), faults=(name,)), members


def _by_finding(results: Sequence[Result]) -> Iterator[tuple[Entry, list[Result]]]:
    """Give an entry for each other finding, and its results: what is valid and what is
    not apart.
    """
    for finding in summary.findings(results):
        for invalid in (False, True):
            members = [result for result in finding.results if (result.fault is not None) == invalid]
            if members:
                yield Entry((finding.verdict,), _reason(finding.verdict, members)), members


def _reason(verdict: str, members: Sequence[Result]) -> str:
    """Return what stands for a reason until somebody writes one."""
    (finding, *_) = summary.findings(members)
    example = finding.telling
    told = ": ".join(filter(None, (finding.name, example.case, summary.shortened(example.message, 40, 80))))
    return f"{UNEXPLAINED}; {told}"


def _exact(entry: Entry, members: Sequence[Result], others: Sequence[Result], against: Against) -> list[Entry]:
    """Return the entry with the broadest scope that holds the members and none of the others, or
    one an operator-version and type.
    """
    for narrower in _narrowings(entry, members, others):
        if not any(_is_about(narrower, result, against) for result in others):
            return [narrower]
    for part in ("version", "type"):
        parts: dict[str, list[Result]] = {}
        for result in members:
            parts.setdefault(getattr(result, part), []).append(result)
        if len(parts) > 1:
            rest = {value: [result for result in members if getattr(result, part) != value] for value in parts}
            return [found for value, own in parts.items() for found in _exact(entry, own, [*others, *rest[value]], against)]
    cases = tuple(_shortest([result.case for result in members], [result.case for result in others]))
    excepted = tuple(sorted(result.case for result in others if matches(result.case, cases)))
    return [dataclasses.replace(entry, faults=(), cases=cases, excepted=excepted)]


def _is_about(entry: Entry, result: Result, against: Against) -> bool:
    """Tell whether an entry would speak of a result; one with faults speaks of right answers that
    these contradict.
    """
    return entry.in_scope(result) and (not entry.faults or not set(entry.faults).isdisjoint(against(result, entry.faults)))


MOST = 6
"""How many globs a proposal has at most, unless it lists cases one by one."""


def _narrowings(entry: Entry, members: Sequence[Result], others: Sequence[Result]) -> Iterator[Entry]:
    """Give scopes that hold all members, the broadest first."""
    places = [Place.of(result.case) for result in members]
    plain = dataclasses.replace(entry, operators=tuple(sorted({place.version for place in places})))
    typed = dataclasses.replace(plain, types=tuple(sorted({place.type for place in places})))
    first, last = min(place.opset for place in places), max(place.opset for place in places)
    for opsets in ("", f"<={last}", f">={first}"):
        for scope in (plain, typed):
            yield from _parts(dataclasses.replace(scope, opsets=opsets), members, others)


def _parts(scope: Entry, members: Sequence[Result], others: Sequence[Result]) -> Iterator[Entry]:
    """Give parts of a scope that hold all members: by being valid or not, by rulings, by what
    stands at one place of their ids.
    """
    yield scope
    if scope.faults:
        return
    invalid = all(result.fault is not None for result in members)
    kind = dataclasses.replace(scope, cases=(INVALID,)) if invalid else dataclasses.replace(scope, excepted=(INVALID,))
    yield kind
    rulings = sorted({ruling for result in members for ruling in result.rulings})
    if all(result.rulings for result in members):
        yield dataclasses.replace(kind, rulings=tuple(rulings))
    inside = [result for result in others if kind.in_scope(result)]
    start = 3 if invalid else 2
    ids, other_ids = ([base(result.case).split("/")[start:] for result in some] for some in (members, inside))
    for place in range(max(map(len, ids))):
        own, foreign = (_globs(some, place) for some in (ids, other_ids))
        if own:
            yield dataclasses.replace(scope, cases=own)
        if foreign and not set(foreign).intersection(own):
            yield dataclasses.replace(kind, excepted=(*kind.excepted, *foreign))


def _globs(ids: Sequence[Sequence[str]], place: int) -> tuple[str, ...]:
    """Return globs for the values that stand at one place of ids; none where they are many, or
    where an id has no such place.
    """
    if not ids or any(len(id) <= place for id in ids):
        return ()
    found = sorted({f"*/{id[place]}" + "/*" * (place < len(id) - 1) for id in ids})
    return tuple(found) if len(found) <= MOST else ()


def _record(entry: Entry) -> Mapping[str, str | Sequence[str]]:
    """Return what is written of a proposal."""
    texts = {key: getattr(entry, name) for key, name in KEYS.items()}
    scope = {key: found[0] if len(found) == 1 else found for key, found in texts.items() if found}
    opsets = {"opsets": entry.opsets} if entry.opsets else {}
    return {**scope, **opsets, "verdict": entry.verdicts[0], "reason": entry.reason}


def _change(before: Entry, after: Entry | None) -> Change:
    if after is None:
        return Change("removed", before.title, _lines(before), ())
    gone, come = (tuple(line for line in _lines(a) if line not in _lines(b)) for a, b in ((before, after), (after, before)))
    return Change("changed", before.title, gone, come)


def _lines(entry: Entry) -> tuple[str, ...]:
    """Return what an entry is about, a line each."""
    lines = [f"{key} {text}" if key != "cases" else text for key, name in KEYS.items() for text in getattr(entry, name)]
    return (*lines, *([f"opsets {entry.opsets}"] if entry.opsets else []))
