"""Picks few combinations out of a full product so that chosen groups of axes meet in every way they can.

Apart from the cases because it is pure combinatorics: it knows labels only. Greedy, and deterministic: the same axes give the same choice.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple, TypeAlias

Axes: TypeAlias = Mapping[str, Sequence[str]]
Choice: TypeAlias = dict[str, str]
Meeting: TypeAlias = tuple[tuple[str, str], ...]
"""Labels of several axes, as (axis, label) in the order of the axes."""


class Constraint(NamedTuple):
    """What labels of some axes may go together; ``allows`` is given their labels, in this order, whatever other constraints say of them."""

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
    open_ = _Open(tuple(zip(group, labels, strict=True)) for group in sorted_groups for labels in product(*(axes[axis] for axis in group)))
    chosen: list[Choice] = []
    used: Counter[tuple[str, str]] = Counter()

    @functools.cache
    def permitted(constraint: Constraint, axis: str, others: Meeting) -> frozenset[str]:
        """The labels of an axis that a constraint lets go with those of all its other axes."""
        return frozenset(label for label in axes[axis] if allowed({**dict(others), axis: label}, [constraint]))

    def complete(choice: Choice) -> Choice | None:
        """The choice with all axes, each with the most preferred label that leads anywhere; None where the constraints allow none."""
        axis = next((axis for axis in order if axis not in choice), None)
        if axis is None:
            return choice
        possible = set(axes[axis])
        for constraint in constraints:
            if (others := _others(constraint.axes, axis, choice)) is not None:
                possible &= permitted(constraint, axis, others)
        gains: Counter[str] = Counter()
        for group in sorted_groups if possible else ():
            if (others := _others(group, axis, choice)) is not None:
                gains.update(open_.labels(axis, others))
        ranked = sorted(axes[axis], key=lambda label: (-gains[label], label in sparing, used[axis, label]))  # of equals, the first
        found = (complete({**choice, axis: label}) for label in ranked if label in possible)
        return next((choice for choice in found if choice is not None), None)

    while open_.meetings:
        target = next(iter(open_.meetings))
        open_.close(target)
        choice = complete(dict(target)) if allowed(dict(target), constraints) else None
        if choice is None:  # the constraints forbid it
            continue
        chosen.append({axis: choice[axis] for axis in order})
        used.update(choice.items())
        for group in sorted_groups:
            open_.close(tuple((axis, choice[axis]) for axis in group))
    return sorted(chosen, key=lambda choice: [axes[axis].index(choice[axis]) for axis in order])


def _others(group: Sequence[str], axis: str, choice: Choice) -> Meeting | None:
    """What the axis meets in this group, where it is one of it and all others have labels."""
    if axis not in group or not all(other in choice for other in group if other != axis):
        return None
    return tuple([(other, choice[other]) for other in group if other != axis])


class _Open:
    """The meetings that are still to come, in order; and by all labels but one, which labels they lack."""

    def __init__(self, meetings: Iterable[Meeting]) -> None:
        self.meetings = dict.fromkeys(meetings)
        self._labels: defaultdict[tuple[str, Meeting], set[str]] = defaultdict(set)
        for axis, rest, label in chain.from_iterable(map(_without_one, self.meetings)):
            self._labels[axis, rest].add(label)

    def labels(self, axis: str, rest: Meeting) -> set[str]:
        """Which labels of an axis are still to meet these of other axes."""
        return self._labels[axis, rest]

    def close(self, meeting: Meeting) -> None:
        """Take one off, if it is there."""
        if meeting in self.meetings:
            del self.meetings[meeting]
            for axis, rest, label in _without_one(meeting):
                self._labels[axis, rest].discard(label)


def _without_one(meeting: Meeting) -> Iterator[tuple[str, Meeting, str]]:
    """Each axis of a meeting, the meeting without it, and its label."""
    for i, (axis, label) in enumerate(meeting):
        yield axis, meeting[:i] + meeting[i + 1 :], label


def allowed(choice: Choice, constraints: Sequence[Constraint]) -> bool:
    """Whether a choice, which may be incomplete, breaks no constraint."""
    return all(
        constraint.allows(*(choice[axis] for axis in constraint.axes))
        for constraint in constraints
        if all(axis in choice for axis in constraint.axes)
    )
