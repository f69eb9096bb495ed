"""What the results of a run say, in the order a reader asks: the matrix, the findings, a line a runtime.

Pure functions of a run's records, apart from how any of it is shown, so that a kept file gives the same report at any time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cypool.conformance import compare
from cypool.conformance.oracle import JOIN
from cypool.conformance.records import AND, EITHER, Header, Result, reading_name

SHORT = {
    compare.PASS: "pass",
    compare.READS_DIFFERENTLY: "differ",
    compare.WRONG_VALUE: "wrong",
    compare.WRONG_SHAPE: "shape",
    compare.WRONG_TYPE: "type",
    compare.UNSUPPORTED: "unsupported",
    compare.LOAD_ERROR: "load error",
    compare.ERROR: "error",
    compare.ACCEPTED_INVALID: "accepted",
    compare.CRASHED: "crashed",
    compare.TIMED_OUT: "timed out",
    compare.NOT_RUN: "not run",
}
"""The word for each verdict in a cell of the matrix."""

LEGEND = {
    compare.PASS: "the right answer; of an invalid model or input: refused",
    compare.READS_DIFFERENTLY: "another recorded reading of a place where the standard is silent, be it an answer or a refusal",
    compare.WRONG_VALUE: "a value that no reading of the standard gives",
    compare.WRONG_SHAPE: "an output of the wrong shape",
    compare.WRONG_TYPE: "an output of the wrong element type",
    compare.UNSUPPORTED: "the runtime says that it does not have this operator version or type",
    compare.LOAD_ERROR: "a valid model was refused",
    compare.ERROR: "a valid model was taken in, and valid inputs then refused",
    compare.ACCEPTED_INVALID: "an invalid model or input was not refused",
    compare.CRASHED: "the process died",
    compare.TIMED_OUT: "no answer within the time limit",
    compare.NOT_RUN: "the runtime could not be asked",
}
"""What each verdict means, in a line."""

TYPE_ORDER = ("float16", "float", "double", "bfloat16")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts by verdict: ``rows`` are (operator-version, type), ``columns`` the runtimes as named in the run."""

    rows: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    counts: dict[tuple[str, str, str], Counter[str]]  # version, type, runtime

    def cell(self, row: tuple[str, str], column: str) -> Counter[str]:
        """The counts of one cell."""
        return self.counts[(*row, column)]

    def total(self, column: str) -> Counter[str]:
        """The counts of one runtime over all rows."""
        return sum((self.cell(row, column) for row in self.rows), Counter())


def matrix(header: Header, results: Iterable[Result]) -> Matrix:
    """The matrix of a run: rows by operator, version and type, in ONNX's order of types."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    order: dict[tuple[str, str], tuple[str, int, int, str]] = {}
    for result in results:
        row = result.version, result.type
        order[row] = result.op, result.since_version, (*TYPE_ORDER, result.type).index(result.type), result.type
        counts.setdefault((*row, result.runtime), Counter())[result.verdict] += 1
    rows = tuple(sorted(order, key=order.__getitem__))
    for row in rows:
        for runtime in header.runtimes:
            counts.setdefault((*row, runtime), Counter())
    return Matrix(rows, tuple(header.runtimes), counts)


def in_words(counts: Counter[str]) -> list[str]:
    """The counts of a cell in their short words, verdicts in their usual order.

    >>> in_words(Counter({"pass": 3, "wrong value": 1}))
    ['3 pass', '1 wrong']
    """
    return [f"{counts[verdict]} {SHORT[verdict]}" for verdict in compare.VERDICTS if counts[verdict]]


def legend(results: Iterable[Result]) -> list[tuple[str, str]]:
    """The words used and what they mean, only those that occur."""
    seen = {result.verdict for result in results}
    return [(SHORT[verdict], LEGEND[verdict]) for verdict in compare.VERDICTS if verdict in seen]


@dataclass(frozen=True, slots=True)
class Finding:
    """Cases of one runtime that went wrong in one way.

    ``name`` is the way's, where it has one: the ruling and the recorded reading or fault followed, what was let through, or the rulings at
    stake; what went by the same message shows that in ``example``, the case with the smallest inputs.
    """

    verdict: str
    name: str
    results: tuple[Result, ...]

    @property
    def count(self) -> int:
        """How many cases they are."""
        return len(self.results)

    @property
    def example(self) -> Result:
        """The one to look at."""
        return min(self.results, key=lambda result: (result.elements, len(result.case), result.case))


def _name(result: Result) -> str:
    if result.reading:
        rulings = {name: ruling for ruling, names in result.readings.items() for name in names}
        explanations = [[reading_name(rulings[name], name) for name in names.split(JOIN)] for names in result.reading.split(compare.OR)]
        return EITHER.join(AND.join(names) for names in explanations)
    if result.verdict in BY_RULING and result.rulings:
        return f"on {', '.join(result.rulings)}"
    return (result.verdict == compare.ACCEPTED_INVALID and result.fault) or ""


BY_RULING = frozenset({compare.WRONG_VALUE, compare.WRONG_SHAPE, compare.WRONG_TYPE, compare.ACCEPTED_INVALID})
BY_MESSAGE = frozenset({compare.LOAD_ERROR, compare.ERROR, compare.CRASHED, compare.NOT_RUN})


def _gist(result: Result) -> str:
    """What tells one message from another, once all that differs from case to case is taken out: quoted names, numbers, further lines."""
    first = result.message.partition("\n")[0] if result.verdict in BY_MESSAGE else ""
    return re.sub(r"\d[\d.e+-]*", "#", re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)", "…", first))


def findings(results: Iterable[Result]) -> list[Finding]:
    """What one runtime did other than pass, grouped, verdicts in their usual order and larger groups first."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.verdict != compare.PASS:
            groups.setdefault((result.verdict, _name(result), _gist(result)), []).append(result)
    found = [Finding(verdict, name, tuple(group)) for (verdict, name, _), group in groups.items()]
    return sorted(found, key=lambda finding: (compare.VERDICTS.index(finding.verdict), -finding.count, finding.name))


def printable(text: str) -> str:
    r"""The text without what would colour a terminal, or make it do worse, and XML forbids; lines and tabs stay.

    >>> printable("\x1b[31mred\x1b[0m")
    '�[31mred�[0m'
    """
    return re.sub(r"[^\t\n\x20-\x7E\xA0-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "\N{REPLACEMENT CHARACTER}", text)


def shortened(message: str, head: int = 80, tail: int = 120) -> str:
    """The message in one printable line, without its middle if it is long: what matters stands at the ends."""
    line = printable(" ".join(message.split()))
    return line if len(line) <= head + tail else f"{line[:head]} … {line[-tail:]}"


@dataclass(frozen=True, slots=True)
class Summary:
    """One runtime in one line: how many of its cases conform, in how many cells it computed anything, and how far off it was at most."""

    title: str
    conforming: int
    cases: int
    cells_computed: int
    cells: int
    ulp: int | None  # the largest of any case that passed

    def __str__(self) -> str:
        """The line."""
        verdict = "conforms" if self.conforming == self.cases else "deviates"
        distance = "" if self.ulp is None else f", at most {self.ulp:,} ULP off where it passes"
        return (
            f"{self.title} {verdict}: {self.conforming:,} of {self.cases:,} cases conform; "
            f"it computes in {self.cells_computed} of {self.cells} cells{distance}"
        )


COMPUTED = frozenset({compare.PASS, compare.READS_DIFFERENTLY, compare.WRONG_VALUE, compare.WRONG_SHAPE, compare.WRONG_TYPE})


def of_runtime(runtime: str, results: Iterable[Result]) -> list[Result]:
    """The results of one runtime."""
    return [result for result in results if result.runtime == runtime]


def cells_computed(results: Iterable[Result]) -> set[tuple[str, str]]:
    """The (operator-version, type) in which one runtime gave any output to a valid case."""
    return {(result.version, result.type) for result in results if result.fault is None and result.verdict in COMPUTED}


def summary(header: Header, runtime: str, results: Sequence[Result]) -> Summary:
    """The summary of one runtime, from its own results."""
    valid = [result for result in results if result.fault is None]
    cells = {(result.version, result.type) for result in valid}
    return Summary(
        header.title(runtime),
        sum(result.conforms for result in results),
        len(results),
        len(cells_computed(results)),
        len(cells),
        max((result.ulp for result in valid if result.verdict == compare.PASS and result.ulp is not None), default=None),
    )
