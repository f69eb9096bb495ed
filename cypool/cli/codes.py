"""The exit codes of the command line, and the sentence about them that each command's help ends
with.
"""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
DEVIATES = 1
WRONG_USAGE = 2
UNAVAILABLE = 3
NOT_WRITTEN = 4
INTERNAL = 70
INTERRUPTED = 130

COMMON = {WRONG_USAGE: "wrong usage", NOT_WRITTEN: "output could not be written", INTERRUPTED: "interrupted"}
"""The codes that every command can end with, beside 0; 70 is a fault in cypool itself, and comes
with a traceback.
"""

LEAD = "Exit code: "


def told(done: str = "done", others: Mapping[int, str] | None = None) -> str:
    """Return the sentence about a command's exit codes.

    >>> for part in told("all conform", {DEVIATES: "one deviates"}).split(", "):
    ...     print(part)
    Exit code: 0 all conform
    1 one deviates
    2 wrong usage
    4 output could not be written
    130 interrupted.
    """
    meanings = {DONE: done, **COMMON, **(others or {})}
    return LEAD + ", ".join(f"{code} {meanings[code]}" for code in sorted(meanings)) + "."
