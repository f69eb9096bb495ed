"""Brings a list up to date with a run, and says what it changed; reasons and comments stay.

Apart from reading one, which needs neither a search for globs nor a package that writes TOML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cypool.conformance import report
from cypool.conformance.expectations.blocks import cut, edited, written
from cypool.conformance.expectations.family import Family, families
from cypool.conformance.expectations.globs import Puzzle, matching
from cypool.conformance.expectations.lists import Entry, read
from cypool.conformance.expectations.strict import Known, behind, idle
from cypool.conformance.expectations.versions import within
from cypool.conformance.records import Result

UNEXPLAINED = "to be explained"
"""How the reason of an entry starts that nobody has written one for."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one entry: a word for it, its title, and the globs that went and came, exceptions with ``except`` before them."""

    what: str  # changed, added, removed
    title: str
    gone: tuple[str, ...]
    come: tuple[str, ...]

    def __str__(self) -> str:
        """As a difference reads."""
        return "\n".join([f"{self.what}: {self.title}", *(f"  - {glob}" for glob in self.gone), *(f"  + {glob}" for glob in self.come)])


@dataclass(slots=True)
class _Plan:
    """An entry in force: what it lists, as far as none above it does, what of that is right, and what is to be listed besides."""

    entry: Entry
    listed: set[str]
    right: set[str]
    adopted: set[str] = field(default_factory=set)

    @property
    def target(self) -> set[str]:
        return self.right | self.adopted


def update(
    text: str, version: str, results: Sequence[Result], unasked: Collection[str] = (), known: Known = tuple
) -> tuple[str, list[Change]]:
    """The text of the list after a run of its runtime, of that version, and what changed.

    What is as listed stays so. What is listed and came out otherwise is taken off, and an entry of which nothing is left goes. A deviation
    that is not listed goes to the entry that has others of its family, else to a new entry. Entries that are about other versions are not
    touched, nor what is said of cases that were not asked. ``unasked`` are the ids of those that the run could have been about at its
    opsets and in its variants; ``known`` gives all that there are.
    """
    blocks = cut(text)
    by_id = {result.case: result for result in results}
    puzzle = Puzzle({*by_id, *unasked})
    entries = read(text).entries
    plans = _plans(entries, version, by_id, puzzle.ids)
    new = _adopt(plans, results)
    changes, emptied = [], []
    above: set[str] = set()
    for place, plan in plans.items():
        quiet = {*idle(plan.entry, puzzle.ids, known)}
        if not plan.listed and behind(plan.entry, (plans[other].entry for other in plans if other < place), puzzle.ids, known):
            quiet.update(plan.entry.cases)
        if plan.target != plan.listed or quiet:
            globs = _rewritten(plan, puzzle, above, quiet)
            changes.append(_change(plan.entry, *globs))
            if globs[0]:
                blocks.entries[place] = edited(blocks.entries[place], dict(zip(("cases", "except"), globs, strict=True)))
            else:
                emptied.append(place)
        above |= plan.target
    for place in reversed(emptied):
        blocks.remove(place)
    for family, members in new.items():
        entry = _entry(family, members, puzzle, above)
        above |= {result.case for result in members}
        record = {"cases": entry.cases, "except": entry.excepted, "verdict": entry.verdicts[0], "reason": entry.reason}
        blocks.append(written({key: value for key, value in record.items() if value}))
        changes.append(Change("added", entry.title, (), _lines(entry.cases, entry.excepted)))
    return str(blocks), changes


def _plans(entries: Iterable[Entry], version: str, by_id: Mapping[str, Result], ids: Iterable[str]) -> dict[int, _Plan]:
    """The entries in force, by their place. What is wrong in one is left to those below it."""
    plans = {}
    left = set(ids)
    for place, entry in enumerate(entries):
        if within(version, entry.versions):
            listed = set(entry.listed(left))
            right = {id for id in listed if id not in by_id or by_id[id].verdict in entry.verdicts}
            plans[place] = _Plan(entry, listed, right)
            left -= right
    return plans


def _adopt(plans: Mapping[int, _Plan], results: Sequence[Result]) -> dict[Family, list[Result]]:
    """Gives the deviations that none lists to the entry that has most of their family; gives back those of which no entry has any."""
    owner = {id: place for place, plan in plans.items() for id in plan.right}
    new = {}
    for family, members in families(results).items():
        loose = [result for result in members if result.case not in owner]
        owners = Counter(owner[result.case] for result in members if result.case in owner)
        homes = [
            place for place, _ in owners.most_common() if len(plans[place].entry.verdicts) == 1
        ]  # what is left to chance takes in none
        if homes:
            plans[homes[0]].adopted |= {result.case for result in loose}
        elif loose:
            new[family] = loose
    return new


def _rewritten(plan: _Plan, puzzle: Puzzle, above: set[str], quiet: Collection[str]) -> tuple[list[str], list[str]]:
    """The globs and exceptions with which the entry lists what it is to list: what it has, as far as that makes a short list.

    They may match what entries above list, whose word counts.
    """
    excepted = [glob for glob in plan.entry.excepted if glob not in quiet and not matching(plan.target, [glob])]
    reach = set(puzzle.ids) - set(matching(puzzle.ids, excepted)) - above
    matched = {glob: set(matching(reach, [glob])) for glob in plan.entry.cases if glob not in quiet}
    # a glob that matches no case of this run at all is about other runs
    in_part = {glob: ids for glob, ids in matched.items() if ids & plan.target or not matching(puzzle.ids, [glob])}
    untainted = {glob: ids for glob, ids in in_part.items() if ids <= plan.target}
    ways = [way for kept in (in_part, untainted) if (way := _completed(kept, plan.target, reach, puzzle)) is not None]
    globs, but = min(ways, key=lambda way: len(way[0]) + len(way[1]))
    listed = matching(puzzle.ids, globs)
    excepted = [glob for glob in excepted if matching(listed, [glob]) or not matching(puzzle.ids, [glob])]
    return sorted({*globs}), sorted({*excepted, *but})


def _completed(kept: Mapping[str, set[str]], target: set[str], reach: set[str], puzzle: Puzzle) -> tuple[list[str], list[str]] | None:
    """The globs that are kept and further ones for what they do not match, and exceptions from both, where there are such."""
    inside = set().union(*kept.values())
    taken_off = puzzle.pure(inside - target, target)
    if taken_off is None:
        return None
    further, but = puzzle.cover(target - inside, reach - target, target & inside)
    return [*kept, *further], [*taken_off, *but]


def _entry(family: Family, members: Sequence[Result], puzzle: Puzzle, above: set[str]) -> Entry:
    """A new entry for results of one family; somebody has to write its reason yet."""
    ids = {result.case for result in members}
    cases, excepted = puzzle.cover(ids, set(puzzle.ids) - ids - above)
    verdict, name, _ = family
    example = report.Finding(verdict, name, tuple(members)).smallest
    told = ": ".join(filter(None, (name, example.case, report.shortened(example.message, 40, 80))))
    return Entry(tuple(cases), tuple(excepted), (verdict,), f"{UNEXPLAINED}; {told}", "", "")


def _change(entry: Entry, cases: Sequence[str], excepted: Sequence[str]) -> Change:
    before, after = _lines(entry.cases, entry.excepted), _lines(cases, excepted)
    gone, come = (tuple(line for line in a if line not in b) for a, b in ((before, after), (after, before)))
    return Change("changed" if cases else "removed", entry.title, gone, come)


def _lines(cases: Iterable[str], excepted: Iterable[str]) -> tuple[str, ...]:
    return (*cases, *(f"except {glob}" for glob in excepted))
