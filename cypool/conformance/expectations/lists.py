"""Read a list of expectations from its TOML file.

It is read here and used elsewhere, so that other test runners and harnesses can read it too.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cypool import spec
from cypool.conformance.cases.instances import base
from cypool.conformance.expectations.versions import within
from cypool.conformance.judging.compare import CONFORMS, OR, VERDICTS
from cypool.conformance.judging.explanations import Against, by_readings
from cypool.conformance.judging.records import Result
from cypool.conformance.oracle import JOIN


class ListError(ValueError):
    """A list that can't be read as one; the message says where and what, in one line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A group of results that are expected not to conform, and the reason.

    Its scope is every case that ``operators``, ``types``, ``opsets``, ``rulings``, ``cases`` and
    ``excepted`` let through; an empty one lets everything through. With ``faults``, the entry is
    about the results that these recorded faults explain. ``verdicts`` holds one verdict or several;
    one of them can be ``pass``, where the result varies from run to run. ``versions`` limits the
    runtime's versions.
    """

    verdicts: tuple[str, ...]
    reason: str
    operators: tuple[str, ...] = ()  # globs on operator-versions
    types: tuple[str, ...] = ()
    opsets: str = ""  # limits
    rulings: tuple[str, ...] = ()  # that a case turns on, one of them
    faults: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()  # globs on whole ids
    excepted: tuple[str, ...] = ()
    message: str = ""  # a part of what the runtime says
    issue: str = ""
    versions: str = ""

    def holds(self, id: str) -> bool:
        """Tell whether a case is in the scope, as far as its id tells: all but the rulings."""
        place = Place.of(id)
        return (
            (not self.operators or any(fnmatch.fnmatchcase(place.version, glob) for glob in self.operators))
            and (not self.types or place.type in self.types)
            and within(str(place.opset), self.opsets)
            and (not self.cases or matches(id, self.cases))
            and not matches(id, self.excepted)
        )

    def in_scope(self, result: Result) -> bool:
        """Tell whether a result is in the scope."""
        return (not self.rulings or not set(self.rulings).isdisjoint(result.rulings)) and self.holds(result.case)

    def takes(self, result: Result) -> bool:
        """Tell whether a result that the entry is about is as the entry says."""
        return result.verdict in self.verdicts and " ".join(self.message.split()) in " ".join(result.message.split())

    @property
    def title(self) -> str:
        """``unsupported: no kernels for version 22``."""
        return f"{' or '.join(self.verdicts)}: {' '.join(self.reason.split())}"


class Place(NamedTuple):
    """The parts of a case's id: operator-version, type, opset and the rest."""

    version: str
    type: str
    opset: int

    @classmethod
    @functools.cache
    def of(cls, id: str) -> Place:
        """Take an id apart.

        >>> plain = "MaxRoiPool-1/float/odd/ramp"
        >>> Place.of(f"{plain}@21+symbolic"), Place.of(plain).opset
        (Place(version='MaxRoiPool-1', type='float', opset=21), 1)
        """
        version, type = (*id.split("/"), "")[:2]
        opset = re.search(r"@(\d+)", id) or re.search(r"-(\d+)$", version)
        return cls(version, type, int(opset[1]) if opset else 0)


def matches(id: str, globs: tuple[str, ...]) -> bool:
    """Tell whether one of the globs matches an id: the whole of it, or the whole of it without
    opset and variant.

    >>> ids = ("MaxRoiPool-1/float/odd", "MaxRoiPool-1/float/odd@21", "X-1/y/z")
    >>> [matches(id, ("MaxRoiPool-?/*/odd", "*@28")) for id in ids]
    [True, True, False]
    """
    pattern = _compiled(globs)
    return bool(pattern.match(id) or pattern.match(base(id)))


@functools.lru_cache(4096)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs) or r"(?!)")


@dataclass(frozen=True, slots=True)
class Expectations:
    """A runtime's list. ``runtime`` is its name, as it calls itself or as one asks for it."""

    runtime: str
    entries: tuple[Entry, ...]

    def in_force(self, version: str) -> list[Entry]:
        """Return the entries that are about this version of the runtime."""
        return [entry for entry in self.entries if within(version, entry.versions)]

    def listed(self, version: str, results: Iterable[Result], against: Against = by_readings) -> dict[str, Entry]:
        """Return the entry that counts, by id, for each result that is listed for this version."""
        entries = self.in_force(version)
        found = ((result.case, about(entries, result, against)) for result in results)
        return {id: entry for id, entry in found if entry is not None}


def about(entries: Sequence[Entry], result: Result, against: Against = by_readings) -> Entry | None:
    """Return the entry that counts for a result: the first that is about it; None where none is.

    An entry without faults is about all that is in its scope. One with faults is about what these
    explain, alone or together with those of other entries, and about right answers where one of
    these would have given another, which ``against`` says: that was mended.
    """
    scope = [entry for entry in entries if entry.in_scope(result)]
    named = {fault for entry in scope for fault in entry.faults}
    alternatives = [set(names.split(JOIN)) for names in result.reading.split(OR) if result.reading]
    explaining = set().union(*(names for names in alternatives if names <= named))
    spoken_against = set(against(result, named)) if named else set()
    for entry in scope:
        if not entry.faults or not explaining.isdisjoint(entry.faults) or not spoken_against.isdisjoint(entry.faults):
            return entry
    return None


def read(text: str) -> Expectations:
    """Return the list in a TOML file's text; ListError where it is none.

    >>> made = read('''
    ... runtime = "first_try"
    ...
    ... [[expect]]
    ... cases = "GlobalLpPool-2/float16/*"
    ... except = "*/invalid/*"
    ... verdict = "error"
    ... reason = "it has float only, and does not say so"
    ... versions = ">=0.3"
    ... ''')
    >>> entry = made.in_force("0.4")[0]
    >>> [entry.holds(f"GlobalLpPool-2/float16/{name}") for name in ("rank2/p1/inf", "invalid/p-0")]
    [True, False]
    """
    try:
        record = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ListError(f"not TOML: {error}") from None
    tables = record.pop("expect", [])
    top = _texts("at the top", record, {"runtime": True, "versions": False}, ())
    _check_versions("at the top", top["versions"])
    if not isinstance(tables, list):
        raise ListError("at the top: write [[expect]] for an entry, in two brackets")
    entries = [_entry(f"entry {number}", table, top["versions"]) for number, table in enumerate(tables, 1)]
    return Expectations("".join(top["runtime"]), tuple(entries))


SEVERAL = ("operator", "type", "ruling", "fault", "cases", "except", "verdict")
"""The keys that can hold several texts, in brackets."""

KEYS = {
    "operator": False,
    "type": False,
    "opsets": False,
    "ruling": False,
    "fault": False,
    "cases": False,
    "except": False,
    "verdict": True,
    "message": False,
    "reason": True,
    "issue": False,
    "versions": False,
}
"""The keys of an entry, and whether each is needed."""

NARROWING = ("operator", "type", "opsets", "ruling", "fault", "cases")
"""The keys that say what an entry is about; it has one of them at least."""


def _entry(place: str, table: Any, versions: tuple[str, ...]) -> Entry:
    if not isinstance(table, dict):
        raise ListError(f"{place} is no table: write [[expect]] above it")
    texts = _texts(place, table, KEYS, SEVERAL)
    if not any(texts[key] for key in NARROWING):
        raise ListError(f"{place} says not what it is about: by {', '.join(NARROWING[:-1])} or {NARROWING[-1]}")
    for verdict in texts["verdict"]:
        if verdict not in VERDICTS:
            raise ListError(f"{place}: {verdict!r} is no verdict; there are {', '.join(VERDICTS)}")
    if CONFORMS.issuperset(texts["verdict"]):
        raise ListError(f"{place}: only what does not conform is listed, and {' or '.join(texts['verdict'])} does")
    _check_names(place, texts)
    _check_versions(place, (*texts["versions"], *texts["opsets"]))
    return Entry(
        verdicts=texts["verdict"],
        reason="".join(texts["reason"]),
        operators=texts["operator"],
        types=texts["type"],
        opsets="".join(texts["opsets"]),
        rulings=texts["ruling"],
        faults=texts["fault"],
        cases=texts["cases"],
        excepted=texts["except"],
        message="".join(texts["message"]),
        issue="".join(texts["issue"]),
        versions="".join(texts["versions"] or versions),
    )


def _check_names(place: str, texts: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a fault or a ruling that no version on record has."""
    rulings = [ruling for version in spec.versions() for ruling in version.rulings]
    faults = [reading.name for ruling in rulings for reading in ruling.readings if not reading.legitimate]
    for key, known in (("ruling", [ruling.id for ruling in rulings]), ("fault", faults)):
        for name in texts[key]:
            if name not in known:
                raise ListError(f"{place}: {name!r} is no {key} on record; there are {', '.join(sorted(set(known)))}")


def _texts(place: str, table: Mapping[str, Any], needed: Mapping[str, bool], lists: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the texts that a table holds for each key that it may have, and must where that is
    needed; in brackets where it may hold several.
    """
    found = {}
    for key in table:
        if key not in needed:
            raise ListError(f"{place}: unknown key {key!r}; there are {', '.join(needed)}")
    for key, is_needed in needed.items():
        if key not in table and is_needed:
            raise ListError(f"{place}: {key} is missing")
        value = table.get(key, [])
        texts = value if isinstance(value, list) and (key in lists or key not in table) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise ListError(f"{place}: {key} is {value!r}, not a text{' or a list of texts' if key in lists else ''}")
        if not all(text.strip() for text in texts) or (is_needed and not texts):
            raise ListError(f"{place}: {key} is empty, or has an empty text")
        found[key] = tuple(texts)
    return found


def _check_versions(place: str, limits: Iterable[str]) -> None:
    try:
        for limit in limits:
            within("", limit)
    except ValueError as error:
        raise ListError(f"{place}: {error}") from None
