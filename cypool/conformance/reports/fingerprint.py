"""A runtime's fingerprint: which reading it follows, ruling by ruling.

Unlike findings, it says what a runtime does where nothing went wrong, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cypool.conformance.judging import compare
from cypool.conformance.judging.compare import AS_RULED, OR
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.oracle import JOIN
from cypool.conformance.reports import summary
from cypool.spec.model import Ruling

REFUSED = (compare.LOAD_ERROR, compare.ERROR)
OTHERWISE = {
    compare.ACCEPTED_INVALID: "accepts what is invalid",
    **dict.fromkeys(REFUSED, "refuses what is valid"),
    compare.WRONG_VALUE: "none recorded",
}
"""What to call an answer that is no recorded reading's."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The reading that a runtime follows most for one ruling, in ``count`` of the ``of`` cases that
    tell.

    ``name`` is a recorded reading's name, or one of ``OTHERWISE``; ``text`` says it in a sentence
    or two.
    """

    op: str
    ruling: Ruling
    name: str
    text: str
    as_ruled: bool
    legitimate: bool
    count: int
    of: int

    def __str__(self) -> str:
        """``nan: restart``, with numbers where the cases do not agree."""
        return f"{self.ruling.id}: {self.name}" + (f" ({self.count} of {self.of})" if self.count < self.of else "")


def fingerprint(header: Header, results: Iterable[Result]) -> list[Followed]:
    """Return the readings that one runtime follows, by operator and ruling in the spec's order.

    Rulings of which no case tells anything are left out.
    """
    results = list(results)
    at_home = _where_most_is_computed(results)
    rulings = {(op, ruling.id): ruling for op, of_op in header.rulings.items() for ruling in of_op}
    agreed: dict[tuple[str, str], Counter[str]] = {}
    told: Counter[tuple[str, str]] = Counter()
    for result in results:
        for key in ((result.op, id) for id in dict.fromkeys((*result.rulings, *result.readings)) if (result.op, id) in rulings):
            names = _evidence(result, rulings[key], header.computed, _place(result) in at_home)
            if names:
                agreed.setdefault(key, Counter()).update(names)
                told[key] += 1
    return [_followed(op, ruling, agreed[op, id], told[op, id]) for (op, id), ruling in rulings.items() if told[op, id]]


def fingerprints(header: Header, results: Sequence[Result]) -> list[tuple[str, Ruling, dict[str, Followed]]]:
    """Return the fingerprints of all runtimes side by side: operator, ruling, reading of each
    runtime.
    """
    rows = {(op, ruling.id): (op, ruling, dict[str, Followed]()) for op, of_op in header.rulings.items() for ruling in of_op}
    for name in header.runtimes:
        for followed in fingerprint(header, summary.of_runtime(name, results)):
            rows[followed.op, followed.ruling.id][2][name] = followed
    return [row for row in rows.values() if row[2]]


Place: TypeAlias = tuple[str, str, int, str]
"""Version, type, opset, variant of the model."""


def _place(result: Result) -> Place:
    return result.version, result.type, result.opset, result.variant


def _where_most_is_computed(results: Iterable[Result]) -> set[Place]:
    """Return the cells in which a runtime gives outputs in most valid cases.

    Elsewhere, one more refusal tells nothing.
    """
    balance: Counter[Place] = Counter()
    for result in results:
        if result.fault is None:
            balance[_place(result)] += 1 if result.verdict in summary.COMPUTED else -1
    return {place for place, more in balance.items() if more > 0}


def _evidence(result: Result, ruling: Ruling, computed: Iterable[str], at_home: bool) -> tuple[str, ...]:
    """Return the readings of the ruling that the result agrees with; none if it tells nothing.

    Where the answers of other readings are known, outputs alone tell. Otherwise a pass tells, and
    so does a wrong result of a case that turns on this ruling alone. A refusal tells only in cells
    in which the runtime computes most cases.
    """
    if ruling.id in result.readings:
        return result.readings[ruling.id] if _is_sure(result, ruling.id) else ()
    if result.reading:  # which explains what came; of other rulings it tells nothing
        return ()
    refused = result.verdict in REFUSED or (result.fault is not None and result.verdict == compare.PASS)
    by_values = any(reading.name in computed for reading in ruling.readings)
    if refused and (not at_home or (by_values and result.fault is None)):
        return ()
    if result.verdict == compare.PASS and (result.fault is not None or not by_values):
        return (AS_RULED,)
    return (OTHERWISE[result.verdict],) if result.rulings == (ruling.id,) and result.verdict in OTHERWISE else ()


def _is_sure(result: Result, ruling: str) -> bool:
    """Tell whether every explanation of the result, where there are several, holds a reading of
    this ruling.
    """
    own = set(result.readings[ruling])
    return all(own.intersection(names.split(JOIN)) for names in result.reading.split(OR)) if OR in result.reading else True


def _followed(op: str, ruling: Ruling, agreed: Counter[str], told: int) -> Followed:
    recorded = {reading.name: reading.text for reading in ruling.readings}
    texts = {AS_RULED: ruling.choice, **recorded, **dict.fromkeys(OTHERWISE.values(), "")}
    name = max(texts, key=lambda name: agreed[name])  # of equals the first
    legitimate = name == AS_RULED or any(reading.name == name and reading.legitimate for reading in ruling.readings)
    word = ruling.chosen if name == AS_RULED else name
    return Followed(op, ruling, word, texts[name], name == AS_RULED, legitimate, agreed[name], told)
