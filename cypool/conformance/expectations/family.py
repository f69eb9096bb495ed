"""Deviations that have one cause, as far as results tell: what an entry of a list is about.

Apart from the findings of a report, which are finer where it helps to see (a case on two rulings) and coarser where it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cypool.conformance import compare, report
from cypool.conformance.records import Result

Family = tuple[str, str, str]
"""A verdict; the recorded fault, or the rulings at stake, or what was let through; what the runtime said, or the operator version it
lacks."""

TELLING = frozenset({compare.LOAD_ERROR, compare.ERROR, compare.CRASHED, compare.TIMED_OUT, compare.NOT_RUN})
"""The verdicts that come with a message of the runtime, or about it."""


def families(results: Iterable[Result]) -> dict[Family, list[Result]]:
    """The results that do not conform, by family, large ones first."""
    found: dict[Family, list[Result]] = {}
    for finding in report.findings(result for result in results if not result.conforms):
        for result in finding.results:
            said = gist(result.message) if result.verdict in TELLING else result.version if result.verdict == compare.UNSUPPORTED else ""
            found.setdefault((result.verdict, finding.name, said), []).append(result)
    return dict(sorted(found.items(), key=lambda family: -len(family[1])))


def gist(message: str) -> str:
    """What tells one message from another: the text without what is in brackets or quotes, and without numbers.

    >>> gist("Node 'Y' (GlobalLpPool): expected {rank: [3, 4]}, got 2")
    'Node … …: expected …, got #'
    """
    before, text = "", " ".join(message.split())
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|'[^']*'|\"[^\"]*\"", "…", text)
    return re.sub(r"\d[\d.e+-]*", "#", text)
