"""Applies what an entry says has changed to the version before it.

The only place that knows the three verbs: ``add`` brings what was not there, ``replace`` puts a whole new record in the place of one that
was, ``remove`` lists names that go. For a type constraint that is there, ``add`` and ``remove`` list element types.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cypool.spec import records
from cypool.spec.model import TypeConstraint
from cypool.spec.strict import Table

Fields: TypeAlias = dict[str, Any]
"""A version under construction: the model's field names; collections are dicts by record name."""

Constraints: TypeAlias = dict[str, TypeConstraint]

COLLECTIONS: Mapping[str, Callable[[Table, str], dict[str, Any]]] = {
    "attributes": records.attributes,
    "inputs": records.operands,
    "outputs": records.operands,
    "types": records.constraints,
}

SINGLES: Mapping[str, Callable[[Table, str], Any]] = {
    "summary": lambda table, key: table.take(key, str),
    "function": lambda table, key: table.take(key, bool),
    "support_level": lambda table, key: table.choice(key, ("common", "experimental")),
    "deprecated": lambda table, key: table.take(key, bool),
    "shape_inference": lambda table, key: table.take(key, bool),
    "inference_gaps": records.gaps,
}

UNSAID: Mapping[str, Any] = {"attributes": {}, "function": False, "support_level": "common", "deprecated": False, "inference_gaps": ()}
"""What a first entry may leave out, and what that means."""


def first(entry: Table) -> Fields:
    """The fields of an operator's first version, which says everything."""
    readers = {**COLLECTIONS, **SINGLES}
    return {key: UNSAID[key] if key in UNSAID and key not in entry else read(entry, key) for key, read in readers.items()}


def changed(before: Fields, entry: Table) -> Fields:
    """The fields of a later version, from those of the one before; SpecValueError where a verb does not fit them."""
    after = {key: dict(value) if isinstance(value, dict) else value for key, value in before.items()}
    for verb, apply in (("replace", _replace), ("add", _add), ("remove", _remove)):
        if verb in entry:
            with entry.table(verb) as delta:
                apply(before, after, delta)
    return after


def _add(before: Fields, after: Fields, delta: Table) -> None:
    for key, read in COLLECTIONS.items():
        if key not in delta:
            continue
        if key == "types":
            _widen(before[key], after[key], delta)
            continue
        for name, record in read(delta, key).items():
            if name in before[key]:
                delta.refuse("is there already; replace it", f"{key}.{name}")
            after[key][name] = record


def _widen(before: Constraints, after: Constraints, delta: Table) -> None:
    """Take in constraints that are new, given whole, and types that are new to one that was there, given as a list."""
    with delta.table("types") as entries:
        for name in entries:
            if name not in before:
                after[name] = records.constraint(name, entries)
                continue
            more = records.element_types(entries, name)
            if again := set(more) & set(before[name].allowed):
                entries.refuse(f"{', '.join(sorted(again))} is there already", name)
            after[name] = dataclasses.replace(after[name], allowed=after[name].allowed + more)


def _replace(before: Fields, after: Fields, delta: Table) -> None:
    for key, read_all in COLLECTIONS.items():
        if key in delta:
            for name, record in read_all(delta, key).items():
                if name not in before[key]:
                    delta.refuse("is not there to be replaced; add it", f"{key}.{name}")
                if record == before[key][name]:
                    delta.refuse("is what it was", f"{key}.{name}")
                after[key][name] = record
    for key, read in SINGLES.items():
        if key in delta:
            after[key] = read(delta, key)
            if after[key] == before[key]:
                delta.refuse("is what it was", key)


def _remove(before: Fields, after: Fields, delta: Table) -> None:
    for key in COLLECTIONS:
        if key not in delta:
            continue
        if key == "types":
            _narrow(before[key], after[key], delta)
            continue
        for name in delta.list_of(key, str):
            if name not in before[key]:
                delta.refuse(f"{name!r} is not there to be removed", key)
            del after[key][name]


def _narrow(before: Constraints, after: Constraints, delta: Table) -> None:
    """Take the listed types out of constraints."""
    with delta.table("types") as entries:
        for name in entries:
            if name not in before:
                entries.refuse("is not there to be narrowed", name)
            fewer = records.element_types(entries, name)
            if unknown := set(fewer) - set(before[name].allowed):
                entries.refuse(f"{', '.join(sorted(unknown))} is not there to be removed", name)
            after[name] = dataclasses.replace(after[name], allowed=tuple(t for t in after[name].allowed if t not in fewer))
