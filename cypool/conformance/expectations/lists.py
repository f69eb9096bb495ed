"""A list of expectations, as its TOML file states it.

Apart from what is done with one, so that whoever runs cases otherwise, a test runner or a harness in another language, can read it too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
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
    _check_keys("at the top", record, {"runtime": str, "versions": str, "expect": list}, {"runtime"})
    default = record.get("versions", "")
    return Expectations(
        record["runtime"], tuple(_entry(f"entry {n}", entry, default) for n, entry in enumerate(record.get("expect", ()), 1))
    )


KEYS = {"cases": (str, list), "except": (str, list), "verdict": (str, list), "reason": str, "issue": str, "versions": str}
NEEDED = {"cases", "verdict", "reason"}


def _entry(place: str, record: Any, versions: str) -> Entry:
    if not isinstance(record, dict):
        raise ListError(f"{place} is no table: write [[expect]] above it")
    _check_keys(place, record, KEYS, NEEDED)
    entry = Entry(
        _texts(place, "cases", record["cases"]),
        _texts(place, "except", record.get("except", [])),
        _texts(place, "verdict", record["verdict"]),
        record["reason"],
        record.get("issue", ""),
        record.get("versions", versions),
    )
    for name, texts in (("cases", entry.cases), ("verdict", entry.verdicts), ("reason", entry.reason.strip())):
        if not texts:
            raise ListError(f"{place}: {name} is empty")
    for verdict in entry.verdicts:
        if verdict not in VERDICTS:
            raise ListError(f"{place}: {verdict!r} is no verdict; there are {', '.join(VERDICTS)}")
    if CONFORMS.issuperset(entry.verdicts):
        raise ListError(f"{place}: only what does not conform is listed, and {' or '.join(entry.verdicts)} does")
    try:
        within("", entry.versions)
    except ValueError as error:
        raise ListError(f"{place}: {error}") from None
    return entry


def _check_keys(place: str, record: Mapping[str, Any], known: Mapping[str, Any], needed: Iterable[str]) -> None:
    for key in record:
        if key not in known:
            raise ListError(f"{place}: unknown key {key!r}; there are {', '.join(known)}")
        if not isinstance(record[key], known[key]):
            raise ListError(f"{place}: {key} is {record[key]!r}")
    for key in needed:
        if key not in record:
            raise ListError(f"{place}: {key} is missing")


def _texts(place: str, key: str, value: str | list[Any]) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not all(isinstance(text, str) for text in texts):
        raise ListError(f"{place}: {key} is {value!r}")
    return tuple(texts)
