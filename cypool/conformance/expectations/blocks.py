"""The text of a list cut into its entries and what stands between them, so that one is changed and
nothing else.

The update decides what to change; TOML as text is handled here and nowhere else.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import Array

from cypool.conformance.expectations.lists import ListError, read

HEADER = re.compile(r"^[ \t]*\[\[[ \t]*expect[ \t]*\]\][ \t]*(#.*)?$", re.MULTILINE)


@dataclass(slots=True)
class Blocks:
    """A list's text: what comes before each entry, comments and empty lines, the entries, and what
    comes after the last.
    """

    between: list[str]
    entries: list[str]

    def __str__(self) -> str:
        """The text, put together again."""
        return "".join(text for pair in zip(self.between, [*self.entries, ""], strict=True) for text in pair)

    def remove(self, place: int) -> None:
        """Take an entry out, with the comment that stands right above it; one that an empty line
        parts from it stays.
        """
        del self.entries[place]
        before = re.sub(r"([ \t]*#.*\n)+\Z", "", self.between.pop(place))
        self.between[place] = re.sub(r"\n{3,}", "\n\n", before + self.between[place])
        if place == len(self.entries):
            self.between[place] = re.sub(r"\n+\Z", "\n", self.between[place])

    def append(self, entry: str) -> None:
        """Put an entry after everything else, and an empty line before it."""
        text = str(self)
        self.between[-1] += "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        self.entries.append(entry)
        self.between.append("")


def split(text: str) -> Blocks:
    """Return the blocks of a list's text; ListError where entries are written otherwise than as
    tables of their own.
    """
    starts = [match.start() for match in HEADER.finditer(text)]
    if len(starts) != len(read(text).entries):
        raise ListError("only a list whose entries each begin with a line [[expect]] can be updated")
    blocks = Blocks([text[: starts[0] if starts else len(text)]], [])
    for start, end in itertools.pairwise([*starts, len(text)]):
        entry = re.sub(r"(^[ \t]*(#.*)?\n)*([ \t]*(#.*)?)?\Z", "", text[start:end], flags=re.MULTILINE)
        blocks.entries.append(entry)
        blocks.between.append(text[start + len(entry) : end])
    return blocks


def edited(entry: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return the entry with these lists of globs in it, an empty one being no key at all.

    Comments stand where they stood.

    >>> entry = '[[expect]]\\ncases = [\\n    "a",  # why\\n    "c",\\n]\\nverdict = "error"\\n'
    >>> print(edited(entry, {"cases": ["a", "b"]}), end="")
    [[expect]]
    cases = [
        "a",  # why
        "b",
    ]
    verdict = "error"
    """
    document = tomlkit.parse(entry)
    (table,) = document["expect"]
    for key, globs in lists.items():
        if not globs:
            table.pop(key, None)
        elif isinstance(table.get(key), str) and [table[key]] == list(globs):
            continue
        elif not isinstance(table.get(key), Array):
            table[key] = _array(globs)
        else:
            _put(table[key], globs)
    return document.as_string()


def written(record: Mapping[str, str | Sequence[str]]) -> str:
    """Return a new entry."""
    table = tomlkit.table()
    for key, value in record.items():
        table[key] = value if isinstance(value, str) else _array(value)
    return f"[[expect]]\n{table.as_string()}"


def _array(globs: Sequence[str]) -> Array:
    array = tomlkit.array()
    array.extend(globs)
    return array.multiline(len(globs) > 1)


def _put(array: Any, globs: Sequence[str]) -> None:
    """Make an array hold these globs: those that it has not, each before the first that
    is greater.
    """
    if len(globs) > 1 and "\n" not in array.as_string():
        array.multiline(True)
    for glob in set(array) - set(globs):
        array.remove(glob)
    for glob in globs:
        if glob not in array:
            array.insert(bisect.bisect(list(array), glob), glob)
