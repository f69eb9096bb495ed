"""Apply what an entry says has changed to the version before it.

The only place that knows the three verbs, and it works on the tables as the file has them, field by
field: ``add`` brings what was not there, ``replace`` gives a field that was there another value,
``remove`` lists names that go. A list grows and shrinks by its elements. What the tables mean is
read afterwards, of each version anew.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cypool.spec.strict import Table

Fields: TypeAlias = dict[str, Any]
"""A version as the data file would have it, had it been written out whole."""

UNSAID: Mapping[str, Any] = {"attributes": {}, "function": False, "support_level": "common", "deprecated": False, "inference_gaps": []}
"""What a first entry may leave out, and what that means."""


def first(entry: Table) -> Fields:
    """Return the fields of an operator's first version, which says everything."""
    return {**copy.deepcopy(dict(UNSAID)), **{key: entry.take_any(key) for key in entry}}


def changed(before: Fields, entry: Table) -> Fields:
    """Return the fields of a later version; SpecValueError where a verb does not fit those of the
    version before.
    """
    after = copy.deepcopy(before)
    for verb, apply in (("replace", _replace), ("add", _add), ("remove", _remove)):
        if verb in entry:
            with entry.table(verb) as delta:
                _write_out_types(before, delta)
                apply(before, after, delta)
    return after


def _write_out_types(before: Fields, delta: Table) -> None:
    """``types.T = [...]`` is short for ``types.T.allowed = [...]``, where T is there."""
    if delta.is_table("types"):
        known = before.get("types", {})
        types = delta.take("types", dict)
        delta.put(
            "types", {name: {"allowed": value} if name in known and isinstance(value, list) else value for name, value in types.items()}
        )


def _walk(before: Fields, after: Fields, delta: Table, leaf: Callable[[Fields, Fields, str, Any, Table], None]) -> None:
    """Go through a delta beside what it changes; where one of the two is no table, ``leaf``
    decides.
    """
    for key in delta:
        if isinstance(before.get(key), dict) and delta.is_table(key):
            with delta.table(key) as inner:
                _walk(before[key], after[key], inner, leaf)
        else:
            leaf(before, after, key, delta.take_any(key), delta)


def _add(before: Fields, after: Fields, delta: Table) -> None:
    _walk(before, after, delta, _added)


def _added(before: Fields, after: Fields, key: str, value: Any, place: Table) -> None:
    if key not in before:
        after[key] = value
    elif isinstance(before[key], list) and isinstance(value, list):
        if again := [item for item in value if item in before[key]]:
            place.refuse(f"{', '.join(map(str, again))} is there already", key)
        after[key] = after[key] + value
    else:
        place.refuse("is there already; replace it", key)


def _replace(before: Fields, after: Fields, delta: Table) -> None:
    _walk(before, after, delta, _replaced)


def _replaced(before: Fields, after: Fields, key: str, value: Any, place: Table) -> None:
    if key not in before:
        place.refuse("is not there to be replaced; add it", key)
    if (type(value), value) == (type(before[key]), before[key]):
        place.refuse("is what it was", key)
    after[key] = value


def _remove(before: Fields, after: Fields, delta: Table) -> None:
    _walk(before, after, delta, _removed)


def _removed(before: Fields, after: Fields, key: str, value: Any, place: Table) -> None:
    if key not in before:
        place.refuse("is not there to be narrowed", key)
    if not isinstance(value, list) or not isinstance(before[key], dict | list):
        place.refuse("expected a list of what goes", key)
    if missing := [item for item in value if item not in before[key]]:
        place.refuse(f"{', '.join(map(repr, missing))} is not there to be removed", key)
    after[key] = (
        [item for item in after[key] if item not in value]
        if isinstance(before[key], list)
        else {name: field for name, field in after[key].items() if name not in value}
    )
