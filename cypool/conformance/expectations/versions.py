"""Ranges of runtime versions: ``>=1.32, <1.34``.

No packaging standard is followed: runtimes in Python, C++ and Rust number their releases each in
their way.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def within(version: str, limits: str) -> bool:
    """Tell whether a version meets all the limits, which commas separate; "" has none.

    Versions are compared by their leading numbers, a missing one being 0. The rest, such as ``rc1``
    or ``+cpu``, is ignored. A version without leading numbers, such as "", is within no limits but
    "". ValueError is raised for a limit that cannot be read.

    >>> within("1.32.0", ">=1.32, <1.33"), within("1.33.0rc1", "<1.33")
    (True, False)
    >>> within("2026.4.1", "==2026.4.1"), within("main", "")
    (True, True)
    """
    numbers = _numbers(version)
    return all(numbers and compare(numbers, limit) for compare, limit in _limits(limits))


def _limits(limits: str) -> list[tuple[Callable[[Any, Any], bool], tuple[int, ...]]]:
    found = []
    for limit in filter(None, (text.strip() for text in limits.split(","))):
        match = re.fullmatch(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)", limit)
        if match is None:
            raise ValueError(f"{limit!r} is no limit on versions; one reads >=1.32, with one of {' '.join(COMPARISONS)}")
        found.append((COMPARISONS[match[1]], _numbers(match[2])))
    return found


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers, without zeros at the end: 1.32 and 1.32.0 are one."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    numbers = [int(number) for number in match[1].split(".")] if match else []
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
