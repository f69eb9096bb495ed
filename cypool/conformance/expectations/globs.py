"""Globs on case ids, and few of them that select many cases and no other.

Apart from the lists that hold them, because finding them is a puzzle of its own: each field of an id (operator, version, type, shape, ...)
is either kept or left open, and what is left open may let in no case that is not meant.
"""

from __future__ import annotations

import fnmatch
import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cypool.conformance.axes import base

MOST_KEPT = 4
"""How many fields the search keeps at most. Whatever else the cases of a glob agree in is filled in afterwards."""

BROADEST = 10
"""How many globs that let in too much are tried with exceptions."""

ENDS = 3
"""The last segment of an id is three fields: ``ramp``, ``@21``, ``+symbolic``, the last two of which may be missing."""

Mask: TypeAlias = npt.NDArray[np.bool_]  # of ids, or of groups
Groups: TypeAlias = npt.NDArray[np.intp]  # of each id, the number of its group


@functools.lru_cache(4096)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs) or r"(?!)")


def matcher(globs: Iterable[str]) -> Callable[[str], bool]:
    """A function that says whether one of the globs matches an id: the whole of it, or the whole of it without opset and variant.

    ``*`` is any text, slashes too, ``?`` a character, ``[12]`` one of these.

    >>> matches = matcher(["MaxRoiPool-?/*/odd", "*@28"])
    >>> [matches(id) for id in ("MaxRoiPool-1/float/odd", "MaxRoiPool-1/float/odd@21", "MaxRoiPool-22/float/odd")]
    [True, True, False]
    """
    match = _compiled(tuple(globs)).match
    return lambda id: bool(match(id) or match(base(id)))


def matching(ids: Iterable[str], globs: Iterable[str]) -> list[str]:
    """The ids that one of the globs matches."""
    return list(filter(matcher(globs), ids))


class Puzzle:
    """Ids taken apart, and for each choice of fields to keep the group that each id is in: with those that agree in these fields."""

    def __init__(self, ids: Iterable[str]) -> None:
        """Takes a while for thousands of ids; any number of questions about them can be asked."""
        self.ids = sorted(set(ids))
        self._bases = [base(id) for id in self.ids]
        split = [_fields(id) for id in self.ids]
        width = max(map(len, split), default=ENDS)
        self._fields = [(*fields[:-ENDS], *[""] * (width - len(fields)), *fields[-ENDS:]) for fields in split]
        self._columns = [np.unique(column, return_inverse=True)[1] for column in zip(*self._fields, strict=True)]
        self._groupings: list[Groups] = []
        self._sayable: list[Mask] = []
        self._add(np.zeros(len(self.ids), np.intp), np.zeros(len(self.ids), bool), range(width), MOST_KEPT)
        plain = functools.reduce(self._refined, range(width - 2), self._groupings[0])
        self._groupings += [plain, np.arange(len(self.ids))]
        self._sayable += [np.ones(plain.max(initial=0) + 1, bool), np.ones(len(self.ids), bool)]

    def _add(self, groups: Groups, unsaid: Mask, places: Sequence[int], more: int) -> None:
        """Note the grouping, and all that keep up to so many more fields; ``unsaid`` are ids of which one can't be kept."""
        self._groupings.append(groups)
        self._sayable.append(np.bincount(groups[unsaid], minlength=groups.max(initial=0) + 1) == 0)
        for n, place in enumerate(places if more else ()):
            # that there is no opset, or no variant, can't be said by a glob
            missing = np.array([not fields[place] for fields in self._fields], bool) if place >= len(self._columns) - 2 else unsaid
            self._add(self._refined(groups, place), unsaid | missing, places[n + 1 :], more - 1)

    def _refined(self, groups: Groups, place: int) -> Groups:
        refined: Groups = np.unique(groups * len(self.ids) + self._columns[place], return_inverse=True)[1]
        return refined

    def cover(self, wanted: Collection[str], others: Collection[str], spared: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """Few globs that match every id that is wanted, and few for the exceptions from these, so that none of the others is left.

        What is ``spared`` may be matched, but no exception is about it; of all further ids nothing is asked. The globs are not the fewest,
        which would take too long to find, but each step takes what matches most.

        >>> ids = ["A-1/x/ramp", "A-1/x/nan", "A-1/x/ramp@21", "A-1/x/nan@21", "A-1/y/ramp", "A-1/y/nan", "B-1/y/inf"]
        >>> Puzzle(ids).cover(ids[:4], ids[4:])
        (['A-1/x/*'], [])
        >>> Puzzle(ids).cover(ids[:2] + ids[4:], ids[2:4])
        (['*-1/*'], ['A-1/x/*@21*'])
        """
        right, wrong = self._mask(wanted), self._mask(others)
        safe = right | self._mask(spared)
        # what matches an id matches the same case at other opsets and in variants: where these are wrong, nothing but an exception helps
        taken_off = self._solve(wrong & np.isin(self._bases, list(wanted)), safe)
        globs = self._solve(right, wrong & ~self._matched(taken_off))
        assert taken_off is not None and globs is not None  # ids themselves would do
        best = globs, taken_off
        for glob in self._broadest(right, wrong):
            inside = self._matched([glob])
            fewest = len(best[0]) + len(best[1])
            excepted = self._solve(inside & wrong, safe, fewest - 2)
            # further globs match nothing wrong, and exceptions nothing else: the two do not meet
            further = excepted and self._solve(right & ~inside, wrong & ~self._matched(excepted), fewest - 2 - len(excepted))
            if excepted and further is not None:
                best = sorted([glob, *further]), excepted
        return best

    def pure(self, wanted: Collection[str], others: Collection[str]) -> list[str] | None:
        """Few globs that match every id that is wanted and none of the others; None where there are none.

        There are none where a case is wanted at its first opset, and at another it is among the others.
        """
        return self._solve(self._mask(wanted), self._mask(others))

    def _mask(self, ids: Collection[str]) -> Mask:
        return np.isin(self.ids, list(ids)) if ids else np.zeros(len(self.ids), bool)

    def _matched(self, globs: Collection[str] | None) -> Mask:
        match = _compiled(tuple(globs or ())).match
        return np.array([bool(match(id) or match(plain)) for id, plain in zip(self.ids, self._bases, strict=True)], bool)

    def _solve(self, wanted: Mask, others: Mask, most: float = math.inf) -> list[str] | None:
        """At most so many globs that match all the wanted and none of the others; None where it finds none."""
        pairs = zip(self._groupings, self._sayable, strict=True)
        clean = [(np.bincount(groups[others], minlength=len(sayable)) == 0) & sayable for groups, sayable in pairs]
        found: list[str] = []
        left = wanted.copy()
        while left.any():
            counts = [np.bincount(groups[left], minlength=len(of)) * of for groups, of in zip(self._groupings, clean, strict=True)]
            best = max(range(len(counts)), key=lambda choice: counts[choice].max())
            group = counts[best].argmax()
            if not counts[best][group] or len(found) >= most:
                return None
            glob = self._tightest(wanted & (self._groupings[best] == group))
            matched = self._matched([glob])
            if (matched & others).any():  # what is open may hold slashes
                clean[best][group] = False
            else:
                found.append(glob)
                left &= ~matched
        return sorted(found)

    def _tightest(self, members: Mask) -> str:
        """The glob that keeps all the fields in which these ids agree; but where no id has a variant, a glob is about all of them."""
        (first, *_) = np.flatnonzero(members)
        kept = [bool((column[members] == column[first]).all()) for column in self._columns]
        kept[-1] &= bool(self._columns[-1].any())
        return _glob(self._fields[first], kept)

    def _broadest(self, wanted: Mask, others: Mask) -> list[str]:
        """The globs that match most of what is wanted, after what they should not is taken off."""
        found: dict[str, int] = {}
        for groups in self._groupings:
            right, wrong = (np.bincount(groups[mask], minlength=groups.max(initial=0) + 1) for mask in (wanted, others))
            counts = np.where(right, right - wrong, -len(self.ids))
            group = counts.argmax()
            if right[group] and wrong[group]:
                glob = self._tightest(groups == group)
                found[glob] = max(found.get(glob, 0), int(counts[group]))
        return sorted(found, key=lambda glob: (-found[glob], glob))[:BROADEST]


def _fields(id: str) -> list[str]:
    """The fields of an id, of which all but the operator and what stands at the end may be any number.

    >>> _fields("GlobalLpPool-2/float/rank3/p3/ramp@21+symbolic")
    ['GlobalLpPool', '2', 'float', 'rank3', 'p3', 'ramp', '@21', '+symbolic']
    """
    head, *middle = id.split("/")
    last = middle.pop() if middle else ""
    op, _, since = head.partition("-")
    match = re.fullmatch(r"([^@+]*)(@[^+]*)?(\+.*)?", last)
    return [op, since, *middle, *((part or "") for part in (match.groups() if match else (last, "", "")))]


def _glob(fields: Sequence[str], kept: Sequence[bool]) -> str:
    """The glob that keeps some of the fields; where an empty one stands beside an open one, there is nothing to keep.

    >>> _glob(["A", "1", "float", "odd", "ramp", "@21", ""], [True, False, True, False, True, False, True])
    'A-*/float/*/ramp'
    >>> _glob(["A", "1", "float", "odd", "ramp", "@21", ""], [False, False, True, True, False, True, False])
    '*/float/odd/*@21*'
    """
    texts = [_literal(field) if keep else "*" for field, keep in zip(fields, kept, strict=True)]
    head = "*" if texts[:2] == ["*", "*"] else "-".join(filter(None, texts[:2]))
    value, opset, variant = texts[-ENDS:]
    axes = "" if {opset, variant} <= {"*", ""} else opset + variant  # without them, a glob is about all opsets and variants
    segments = [head, *texts[2:-ENDS], value + axes]
    return re.sub(r"\*(/?\*)+", "*", "/".join(filter(None, segments)))  # an open field is open to slashes, too


def _literal(text: str) -> str:
    return re.sub(r"[*?[]", r"[\g<0>]", text)
