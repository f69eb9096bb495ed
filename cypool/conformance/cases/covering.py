"""Pick few combinations out of a full product so that chosen groups of factors meet in every way
they can.

This is a greedy covering array, as in pairwise testing: it knows factors and their labels only. It
is deterministic: the same factors give the same choices.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple, TypeAlias

Factors: TypeAlias = Mapping[str, Sequence[str]]
Choice: TypeAlias = dict[str, str]
Meeting: TypeAlias = tuple[tuple[str, str], ...]
"""Labels of several factors, as (factor, label) in the order of the factors."""


class Constraint(NamedTuple):
    """A limit to which labels of some factors go together.

    ``allows`` is given one label of each factor, in this order, and is asked of all labels,
    also of those that other constraints forbid.
    """

    factors: tuple[str, ...]
    allows: Callable[..., bool]


def pairs(factors: Factors) -> list[tuple[str, ...]]:
    """Return all groups of two factors."""
    return list(combinations(factors, 2))


def cover(
    factors: Factors, groups: Sequence[Sequence[str]], constraints: Sequence[Constraint] = (), sparing: Container[str] = ()
) -> list[Choice]:
    """Choices, one label a factor, in which the factors of each group meet in all combinations that
    the constraints let any choice have.

    Where several labels would do, the one used least is taken, but one of those in ``sparing`` only
    for want of any other.

    >>> factors = {"a": ["1", "2"], "b": ["x", "y"], "c": ["p", "q"]}
    >>> [" ".join(choice.values()) for choice in cover(factors, pairs(factors))]
    ['1 x p', '1 y q', '2 x q', '2 y p']
    """
    order = list(factors)
    sorted_groups = [tuple(sorted(group, key=order.index)) for group in groups]
    open_ = _Open(
        tuple(zip(group, labels, strict=True)) for group in sorted_groups for labels in product(*(factors[factor] for factor in group))
    )
    chosen: list[Choice] = []
    used: Counter[tuple[str, str]] = Counter()

    @functools.cache
    def permitted(constraint: Constraint, factor: str, others: Meeting) -> frozenset[str]:
        """Return the labels of a factor that a constraint lets go with those of all its other
        factors.
        """
        return frozenset(label for label in factors[factor] if allowed({**dict(others), factor: label}, [constraint]))

    def complete(choice: Choice) -> Choice | None:
        """Return the choice with all factors, each with the most preferred label that leads
        anywhere; None where the constraints allow none.
        """
        factor = next((factor for factor in order if factor not in choice), None)
        if factor is None:
            return choice
        possible = set(factors[factor])
        for constraint in constraints:
            if (others := _others(constraint.factors, factor, choice)) is not None:
                possible &= permitted(constraint, factor, others)
        gains: Counter[str] = Counter()
        for group in sorted_groups if possible else ():
            if (others := _others(group, factor, choice)) is not None:
                gains.update(open_.labels(factor, others))
        ranked = sorted(factors[factor], key=lambda label: (-gains[label], label in sparing, used[factor, label]))  # of equals, the first
        found = (complete({**choice, factor: label}) for label in ranked if label in possible)
        return next((choice for choice in found if choice is not None), None)

    while open_.meetings:
        target = next(iter(open_.meetings))
        open_.close(target)
        choice = complete(dict(target)) if allowed(dict(target), constraints) else None
        if choice is None:  # the constraints forbid it
            continue
        chosen.append({factor: choice[factor] for factor in order})
        used.update(choice.items())
        for group in sorted_groups:
            open_.close(tuple((factor, choice[factor]) for factor in group))
    return sorted(chosen, key=lambda choice: [factors[factor].index(choice[factor]) for factor in order])


def _others(group: Sequence[str], factor: str, choice: Choice) -> Meeting | None:
    """Return what the factor meets in this group; None where it is not in it, or another has no
    label.
    """
    if factor not in group or not all(other in choice for other in group if other != factor):
        return None
    return tuple([(other, choice[other]) for other in group if other != factor])


class _Open:
    """The meetings that are still to come, in order; and by all labels but one, which labels they
    lack.
    """

    def __init__(self, meetings: Iterable[Meeting]) -> None:
        self.meetings = dict.fromkeys(meetings)
        self._labels: defaultdict[tuple[str, Meeting], set[str]] = defaultdict(set)
        for factor, rest, label in chain.from_iterable(map(_without_one, self.meetings)):
            self._labels[factor, rest].add(label)

    def labels(self, factor: str, rest: Meeting) -> set[str]:
        """Return the labels of a factor that are still to meet these of other factors."""
        return self._labels[factor, rest]

    def close(self, meeting: Meeting) -> None:
        """Take one off, if it is there."""
        if meeting in self.meetings:
            del self.meetings[meeting]
            for factor, rest, label in _without_one(meeting):
                self._labels[factor, rest].discard(label)


def _without_one(meeting: Meeting) -> Iterator[tuple[str, Meeting, str]]:
    """Yield each factor of a meeting, the meeting without it, and its label."""
    for i, (factor, label) in enumerate(meeting):
        yield factor, meeting[:i] + meeting[i + 1 :], label


def allowed(choice: Choice, constraints: Sequence[Constraint]) -> bool:
    """Tell whether a choice, which may be incomplete, breaks no constraint."""
    return all(
        constraint.allows(*(choice[factor] for factor in constraint.factors))
        for constraint in constraints
        if all(factor in choice for factor in constraint.factors)
    )
