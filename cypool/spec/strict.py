"""A table of a data file that is read strictly: each key is asked for with its type, and a key
nobody asked for is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from cypool.errors import SpecValueError

T = TypeVar("T")

_REQUIRED: Any = object()


class Table:
    """A TOML table and where it stands; as a context manager it refuses, at the end, the keys that
    nobody took.

    >>> with Table({"since": 2, "sinse": 3}, "Op.toml", "version[2]") as table:
    ...     since = table.take("since", int)
    Traceback (most recent call last):
    cypool.errors.SpecValueError: Op.toml: version[2]: unknown key 'sinse'
    """

    def __init__(self, entries: Mapping[str, Any], file: str, path: str = "") -> None:
        """Nothing is checked before a key is taken."""
        self._entries = dict(entries)
        self._file = file
        self._path = path

    @classmethod
    def parse(cls, text: str, file: str) -> Table:
        """Return the root table of a TOML text."""
        try:
            return cls(tomllib.loads(text), file)
        except tomllib.TOMLDecodeError as error:
            raise SpecValueError(f"{file}: {error}") from None

    def __enter__(self) -> Table:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Refuse left-over keys, unless an error is under way already."""
        if kind is None and self._entries:
            self.refuse("unknown key " + ", ".join(map(repr, sorted(self._entries))))

    def __contains__(self, key: str) -> bool:
        """Tell whether the key is there and was not taken yet."""
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        """Return the keys not taken yet, in the file's order; taking one on the way is allowed."""
        return iter(list(self._entries))

    def refuse(self, message: str, key: str = "") -> NoReturn:
        """Raise SpecValueError: file, path, what is wrong there."""
        path = self._below(key) if key else self._path
        raise SpecValueError(": ".join(part for part in (self._file, path, message) if part))

    def take(self, key: str, kind: type[T], default: T = _REQUIRED) -> T:
        """Return the key's value, which must be of exactly this type (True is no int, 2
        no float).
        """
        if key not in self._entries:
            if default is _REQUIRED:
                self.refuse(f"{key!r} is missing")
            return default
        value = self._entries.pop(key)
        if type(value) is not kind:
            self.refuse(f"expected {_words(kind)}, got {value!r}", key)
        if value == "":
            self.refuse("is empty", key)
        return value

    def maybe(self, key: str, kind: type[T]) -> T | None:
        """Return the key's value as ``take`` gives it, or None where the key is absent."""
        return self.take(key, kind) if key in self._entries else None

    def choice(self, key: str, options: Collection[str]) -> str:
        """Return the key's value, which must be one of the options."""
        value = self.take(key, str)
        if value not in options:
            self.refuse(f"expected one of {', '.join(options)}, got {value!r}", key)
        return value

    def sizes(self, key: str) -> tuple[int, ...]:
        """Return a list of sizes, each 0 or more."""
        values = self.list_of(key, int)
        if any(value < 0 for value in values):
            self.refuse(f"expected sizes of 0 or more, got {list(values)}", key)
        return values

    def is_table(self, key: str) -> bool:
        """Tell whether a table stands under the key."""
        return isinstance(self._entries.get(key), dict)

    def put(self, key: str, value: Any) -> None:
        """Give the key another value, as if the file had it."""
        self._entries[key] = value

    def at(self, entries: Mapping[str, Any]) -> Table:
        """Return other entries that stand in this table's place."""
        return Table(entries, self._file, self._path)

    def take_any(self, key: str) -> Any:
        """Take the key's value of any type; the caller judges it."""
        return self._entries.pop(key)

    def number(self, key: str) -> float | None:
        """Return an integer or a float, or None where the key is absent."""
        if key not in self._entries:
            return None
        value = self._entries.pop(key)
        if type(value) not in (int, float):
            self.refuse(f"expected a number, got {value!r}", key)
        return float(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return a list of integers and floats."""
        values = self.take(key, list)
        for value in values:
            if type(value) not in (int, float):
                self.refuse(f"expected a list of numbers, got {value!r} in it", key)
        return tuple(map(float, values))

    def list_of(self, key: str, kind: type[T], default: tuple[T, ...] = _REQUIRED) -> tuple[T, ...]:
        """Return a list whose elements are all of exactly this type."""
        if key not in self._entries and default is not _REQUIRED:
            return default
        values = self.take(key, list)
        for value in values:
            if type(value) is not kind:
                self.refuse(f"expected a list of {_words(kind)}, got {value!r} in it", key)
        return tuple(values)

    def table(self, key: str) -> Table:
        """Return the table under a key."""
        return Table(self.take(key, dict), self._file, self._below(key))

    def tables(self, key: str, label: str | None = None) -> list[Table]:
        """Return the tables in a list, [] where it is absent; ``label`` is the key whose value
        tells them apart in messages.
        """
        entries = self.list_of(key, dict, ())
        names = [entry.get(label, index) if label else index for index, entry in enumerate(entries)]
        return [Table(entry, self._file, f"{self._below(key)}[{name}]") for name, entry in zip(names, entries, strict=True)]

    def _below(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


def _words(kind: type) -> str:
    return {str: "text", int: "an integer", float: "a float", bool: "true or false", list: "a list", dict: "a table"}[kind]
