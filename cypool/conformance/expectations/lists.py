"""A list of expectations, as its TOML file states it.

Apart from what is done with one, so that whoever runs cases otherwise, a test runner or a harness in another language, can read it too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cypool.conformance.compare import CONFORMS, VERDICTS
from cypool.conformance.expectations.globs import matching
from cypool.conformance.expectations.versions import within


class ListError(ValueError):
    """A list that can't be read as one; the message says where and what, in one line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Cases of which something else than conforming is expected, and why.

    ``cases`` and ``excepted`` are globs on whole ids. ``verdicts`` holds one verdict, or several, of which one can be ``pass``, where what
    comes is left to chance. ``versions`` limits those of the runtime, unless it is ""; ``issue`` is a link, or "".
    """

    cases: tuple[str, ...]
    excepted: tuple[str, ...]
    verdicts: tuple[str, ...]
    reason: str
    issue: str
    versions: str

    def listed(self, ids: Iterable[str]) -> list[str]:
        """Those of the ids that the entry is about."""
        found = matching(ids, self.cases)
        spared = set(matching(found, self.excepted))
        return [id for id in found if id not in spared]

    @property
    def title(self) -> str:
        """``unsupported: no kernels for version 22``."""
        return f"{' or '.join(self.verdicts)}: {' '.join(self.reason.split())}"


@dataclass(frozen=True, slots=True)
class Expectations:
    """A runtime's list. ``runtime`` is its name, as it calls itself or as one asks for it."""

    runtime: str
    entries: tuple[Entry, ...]

    def in_force(self, version: str) -> list[Entry]:
        """The entries that are about this version of the runtime."""
        return [entry for entry in self.entries if within(version, entry.versions)]

    def listed(self, version: str, ids: Iterable[str]) -> dict[str, Entry]:
        """The entry that counts, for each id that is listed for this version: the first of those in force that list it."""
        left = dict.fromkeys(ids)
        found: dict[str, Entry] = {}
        for entry in self.in_force(version):
            for id in entry.listed(left):
                del left[id]
                found[id] = entry
        return found


def read(text: str) -> Expectations:
    """The list in a TOML file's text; ListError where it is none.

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
    >>> made.in_force("0.4")[0].listed(["GlobalLpPool-2/float16/rank2/p1/inf", "GlobalLpPool-2/float16/invalid/p-0"])
    ['GlobalLpPool-2/float16/rank2/p1/inf']
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


def _entry(place: str, table: Any, versions: tuple[str, ...]) -> Entry:
    if not isinstance(table, dict):
        raise ListError(f"{place} is no table: write [[expect]] above it")
    needed = {"cases": True, "except": False, "verdict": True, "reason": True, "issue": False, "versions": False}
    texts = _texts(place, table, needed, ("cases", "except", "verdict"))
    for verdict in texts["verdict"]:
        if verdict not in VERDICTS:
            raise ListError(f"{place}: {verdict!r} is no verdict; there are {', '.join(VERDICTS)}")
    if CONFORMS.issuperset(texts["verdict"]):
        raise ListError(f"{place}: only what does not conform is listed, and {' or '.join(texts['verdict'])} does")
    _check_versions(place, texts["versions"])
    reason, issue, limits = ("".join(texts[key] or default) for key, default in (("reason", ()), ("issue", ()), ("versions", versions)))
    return Entry(texts["cases"], texts["except"], texts["verdict"], reason, issue, limits)


def _texts(place: str, table: Mapping[str, Any], needed: Mapping[str, bool], lists: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The texts that a table holds for each key that it may have, and must where that is needed; in brackets where it may hold several."""
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
