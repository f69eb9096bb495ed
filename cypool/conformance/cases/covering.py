"""Picks few combinations out of a full product so that chosen groups of axes meet in every way they can.

Apart from the cases because it is pure combinatorics: it knows labels only. Greedy, and deterministic: the same axes give the same choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

Axes: TypeAlias = Mapping[str, Sequence[str]]
Choice: TypeAlias = dict[str, str]
Meeting: TypeAlias = tuple[tuple[str, str], ...]
"""Labels of several axes, as (axis, label) in the order of the axes."""


class Constraint(NamedTuple):
    """What labels of some axes may go together; ``allows`` is given their labels, in this order."""

    axes: tuple[str, ...]
    allows: Callable[..., bool]


def pairs(axes: Axes) -> list[tuple[str, ...]]:
    """All groups of two axes."""
    return list(combinations(axes, 2))


def covering(
    axes: Axes, groups: Sequence[Sequence[str]], constraints: Sequence[Constraint] = (), sparing: Container[str] = ()
) -> list[Choice]:
    """Choices, one label an axis, in which the axes of each group meet in all combinations that the constraints let any choice have.

    Where several labels would do, the one used least is taken, but one of those in ``sparing`` only for want of any other.

    >>> axes = {"a": ["1", "2"], "b": ["x", "y"], "c": ["p", "q"]}
    >>> [" ".join(choice.values()) for choice in covering(axes, pairs(axes))]
    ['1 x p', '1 y q', '2 x q', '2 y p']
    """
    order = list(axes)
    sorted_groups = [tuple(sorted(group, key=order.index)) for group in groups]
    groups_of = {axis: [group for group in sorted_groups if axis in group] for axis in order}
    open_: dict[Meeting, None] = {}
    for group in sorted_groups:
        open_.update(dict.fromkeys(tuple(zip(group, labels, strict=True)) for labels in product(*(axes[axis] for axis in group))))
    chosen: list[Choice] = []
    used: Counter[tuple[str, str]] = Counter()

    def preference(axis: str, label: str, choice: Choice) -> tuple[int, bool, int]:
        filled = {**choice, axis: label}
        gain = sum(
            tuple((other, filled[other]) for other in group) in open_
            for group in groups_of[axis]
            if all(other in filled for other in group)
        )
        return -gain, label in sparing, used[axis, label]

    while open_:
        target = next(iter(open_))
        del open_[target]
        choice = _complete(dict(target), axes, constraints, preference)
        if choice is None:  # the constraints forbid it
            continue
        chosen.append({axis: choice[axis] for axis in order})
        used.update(choice.items())
        for group in sorted_groups:
            open_.pop(tuple((axis, choice[axis]) for axis in group), None)
    return sorted(chosen, key=lambda choice: [axes[axis].index(choice[axis]) for axis in order])


def _complete(
    choice: Choice, axes: Axes, constraints: Sequence[Constraint], preference: Callable[[str, str, Choice], tuple[int, bool, int]]
) -> Choice | None:
    """The choice with all axes filled in, each with the most preferred label that leads anywhere; None where the constraints allow none."""
    if not allowed(choice, constraints):
        return None
    axis = next((axis for axis in axes if axis not in choice), None)
    if axis is None:
        return choice
    for label in sorted(axes[axis], key=lambda label: preference(axis, label, choice)):  # stable: of equals, the first
        found = _complete({**choice, axis: label}, axes, constraints, preference)
        if found is not None:
            return found
    return None


def allowed(choice: Choice, constraints: Sequence[Constraint]) -> bool:
    """Whether a choice, which may be incomplete, breaks no constraint."""
    return all(
        constraint.allows(*(choice[axis] for axis in constraint.axes))
        for constraint in constraints
        if all(axis in choice for axis in constraint.axes)
    )
